"""The broker for other people's tests: context manager, both kinds, and the pytest fixture."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from bench.failover.promises import wait_until
from kproto import testing
from kproto.broker import Broker, StartError
from kproto.config import ConfigError
from kproto.local_cluster import free_port, process_of
from kproto.net.client import Client
from kproto.testing import InProcessBroker, SubprocessBroker, kafka_broker
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Record, build_batch

PRODUCE, METADATA = 0, 3


def produce_one(port: int, topic: str) -> int:
    """Create ``topic`` by asking for it, write one record with acks=all; its offset."""
    with Client("127.0.0.1", port) as client:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
        assert client.call(METADATA, 9, asked).brokers[0].port == port
        batch = memoryview(build_batch([Record(None, b"v", timestamp=1)]))
        data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
        request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data])
        found = client.call(PRODUCE, 9, request).responses[0].partition_responses[0]
        assert found.error_code == 0
        return int(found.base_offset)


@pytest.mark.parametrize("subprocess", [False, True])
def test_a_broker_starts_empty_and_leaves_nothing(subprocess: bool) -> None:
    with kafka_broker(subprocess=subprocess) as broker:
        assert broker.bootstrap_servers == f"127.0.0.1:{broker.port}"
        assert produce_one(broker.port, "t") == 0
        assert os.path.isdir(broker.data_dir)
    assert not os.path.exists(broker.data_dir)
    with pytest.raises(OSError, match="refused"):
        Client("127.0.0.1", broker.port)


@pytest.mark.parametrize("kind", [InProcessBroker, SubprocessBroker])
def test_a_broker_that_is_never_started_leaves_nothing(
    kind: type[InProcessBroker] | type[SubprocessBroker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody stops it. One that is started has a directory of its own, which nobody else may read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second = kind(), kind()
    assert first.data_dir != second.data_dir
    assert os.listdir(tmp_path) == []
    first.start()
    try:
        assert [path.name for path in tmp_path.iterdir()] == [os.path.basename(first.data_dir)]
        assert os.stat(first.data_dir).st_mode & 0o777 == 0o700
    finally:
        first.stop()
    assert os.listdir(tmp_path) == []


def test_files_of_the_current_directory_are_not_taken_for_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('of somebody else')")
    monkeypatch.chdir(tmp_path)
    with kafka_broker(subprocess=True) as broker:
        assert produce_one(broker.port, "t") == 0


def test_a_killed_broker_starts_again_with_its_data(tmp_path: Path) -> None:
    broker = SubprocessBroker(data_dir=str(tmp_path))
    broker.start()
    assert produce_one(broker.port, "t") == 0
    broker.kill()
    broker.start()
    assert produce_one(broker.port, "t") == 1
    assert broker.terminate() == 0
    broker.start()
    assert produce_one(broker.port, "t") == 2
    broker.stop()
    assert tmp_path.exists(), "a directory that was given stays"


def test_clients_are_served_in_a_process_that_has_half_its_descriptors_open() -> None:
    """They belong to the tests, not to the broker, which took them for its clients' connections."""
    code = """
import os, resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (400, hard))
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(220)]
from kproto.testing import kafka_broker
from tests.test_testing import produce_one
with kafka_broker() as broker:
    print(produce_one(broker.port, "t"), produce_one(broker.port, "t"))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.stdout == "0 1\n", done.stderr


def test_several_brokers_at_once_have_nothing_in_common() -> None:
    with kafka_broker() as one, kafka_broker() as other:
        assert one.port != other.port
        assert [produce_one(one.port, "t"), produce_one(one.port, "t"), produce_one(other.port, "t")] == [
            0,
            1,
            0,
        ]


def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    with kafka_broker(data_dir=str(tmp_path)):
        second = InProcessBroker(data_dir=str(tmp_path))
        with pytest.raises(Exception, match="another broker is running"):
            second.start()
    with pytest.raises(Exception, match=r"no\.such\.key"):
        InProcessBroker({"no.such.key": "1"}, str(tmp_path)).start()
    with pytest.raises(RuntimeError, match=r"no\.such\.key"):
        SubprocessBroker({"no.such.key": "1"}, str(tmp_path)).start()


def test_a_broker_that_runs_is_not_started_again() -> None:
    """It goes on, and can be stopped."""
    with kafka_broker() as broker:
        port = broker.port
        with pytest.raises(RuntimeError, match="is running already"):
            broker.start()
        assert produce_one(port, "t") == 0
    assert not os.path.exists(broker.data_dir)
    assert not serves(port)


def test_a_start_that_fails_when_its_port_is_bound_says_why() -> None:
    """The kernel takes connections then, and nobody will ever answer."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(RuntimeError, match=f"(?s)did not start: .*cannot listen on {address}"),
            kafka_broker({"kproto.metrics.listen": address}, subprocess=True),
        ):
            raise AssertionError("it started")


def test_a_broker_that_waits_for_its_cluster_has_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "START_TIMEOUT_S", 3)
    internal = {"kproto.internal.listen": "127.0.0.1:0", "kproto.join": f"127.0.0.1:{free_port()}"}
    with (
        pytest.raises(RuntimeError, match="the broker did not start"),
        kafka_broker({"node.id": 2, **internal}, subprocess=True),
    ):
        raise AssertionError("it started")


def test_a_start_that_fails_gives_everything_back(tmp_path: Path) -> None:
    with kafka_broker() as other:
        taken = {"listeners": f"PLAINTEXT://127.0.0.1:{other.port}"}
        with pytest.raises(Exception, match="cannot listen"):
            InProcessBroker(taken, str(tmp_path)).start()
        with kafka_broker(data_dir=str(tmp_path)) as broker:
            assert produce_one(broker.port, "t") == 0


pytest_plugins = ["pytester"]


@pytest.mark.parametrize("subprocess", [False, True])
def test_a_start_that_fails_leaves_no_directory(
    subprocess: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        pytest.raises((ConfigError, RuntimeError), match=r"log\.segment\.bytes"),
        kafka_broker({"log.segment.bytes": "no size"}, subprocess=subprocess),
    ):
        raise AssertionError("it started")
    assert not list(tmp_path.iterdir())


def test_who_has_its_port_is_not_taken_for_the_broker() -> None:
    broker = SubprocessBroker()
    taken = f"somebody listens on port {broker.port} already"
    with socket.create_server(("127.0.0.1", broker.port)), pytest.raises(RuntimeError, match=taken):
        broker.start()
    broker.stop()


def test_a_broker_that_does_not_stop_is_killed_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = SubprocessBroker()
    broker.start()
    pid = broker.pid
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(testing, "START_TIMEOUT_S", 0.3)
    with pytest.raises(TimeoutError, match="did not stop within"):
        broker.stop()
    assert not os.path.exists(broker.data_dir)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_broker_ends_with_the_test_process_that_was_killed(tmp_path: Path) -> None:
    """Another process that the tests have started meanwhile, and that goes on, has no hold on it. It stops as
    after SIGTERM: with the mark of a clean end."""
    code = """
import subprocess, sys, time
from kproto.testing import SubprocessBroker
broker = SubprocessBroker(data_dir=sys.argv[1])
broker.start()
other = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
print(broker.pid, other.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as tests:
        assert tests.stdout is not None
        pid, other = map(int, tests.stdout.readline().split())
        born = [process_of(each) for each in (pid, other)]
        tests.kill()
    try:
        wait_until("the broker ends", lambda: (found := process_of(pid)) is None or found.is_dead)
        assert (tmp_path / "clean").exists()
        assert process_of(other) is not None
    finally:
        for each, was in zip((pid, other), born, strict=True):
            found = process_of(each)
            if found is not None and was is not None and found.born == was.born:
                os.kill(each, signal.SIGKILL)


def test_a_start_that_takes_too_long_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    async def start(_: Broker) -> None:
        await asyncio.to_thread(never.wait)

    monkeypatch.setattr(Broker, "start", start)
    monkeypatch.setattr(testing, "START_TIMEOUT_S", 0.05)
    try:
        with pytest.raises(TimeoutError, match="did not start"), kafka_broker(data_dir=tmp_path):
            raise AssertionError("it started")
    finally:
        never.set()


def test_a_broker_inside_a_test_that_does_not_stop_keeps_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it has: its thread uses it."""
    go_on, stop = threading.Event(), Broker.stop

    async def slow(broker: Broker) -> None:
        await asyncio.to_thread(go_on.wait)
        await stop(broker)

    monkeypatch.setattr(Broker, "stop", slow)
    broker = InProcessBroker()
    broker.start()
    with monkeypatch.context() as impatient:
        impatient.setattr(testing, "START_TIMEOUT_S", 0.1)
        with pytest.raises(TimeoutError, match="did not stop within"):
            broker.stop()
    assert os.path.isdir(broker.data_dir)
    go_on.set()
    broker.stop()
    assert not os.path.exists(broker.data_dir)


def serves(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("subprocess", [False, True])
def test_who_stops_a_broker_that_failed_is_told(subprocess: bool, tmp_path: Path) -> None:
    broker = SubprocessBroker(data_dir=tmp_path) if subprocess else InProcessBroker(data_dir=tmp_path)
    broker.start()
    assert produce_one(broker.port, "t") == 0
    for file in (tmp_path / "journal").iterdir():
        file.unlink()
    wait_until("it has ended", lambda: not serves(broker.port))
    said = r"exit code 1\).*somebody deleted it" if subprocess else "its storage failed"
    with pytest.raises(RuntimeError, match=f"(?s){said}"):
        broker.stop()
    broker.stop()


def test_who_stops_a_broker_that_was_fenced_is_told() -> None:
    """A process of its own would start anew; a broker inside a test cannot, and serves no longer."""
    internal = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    first = InProcessBroker({"node.id": 1, "kproto.internal.listen": internal[0]})
    member = {"node.id": 2, "kproto.internal.listen": internal[1], "kproto.join": internal[0]}
    second = InProcessBroker({**member, "kproto.controller.grace.ms": 1000})
    first.start()
    try:
        second.start()
    finally:
        first.stop()
    wait_until("it has ended", lambda: not serves(second.port))
    with pytest.raises(RuntimeError, match="it was fenced"):
        second.stop()
    assert not os.path.exists(second.data_dir)


@pytest.mark.parametrize("where", ["in-process", "subprocess"])
def test_the_fixture_gives_each_test_a_broker(pytester: pytest.Pytester, where: str) -> None:
    pytester.makepyfile(
        """
        import pytest, socket
        seen = []

        def test_one(kafka_broker):
            socket.create_connection((kafka_broker.host, kafka_broker.port)).close()
            seen.append(kafka_broker.data_dir)

        @pytest.mark.parametrize("kafka_broker", [{"num.partitions": "3"}], indirect=True)
        def test_two(kafka_broker):
            assert kafka_broker.data_dir not in seen
            assert type(kafka_broker).__name__ == KIND
        """.replace("KIND", repr("InProcessBroker" if where == "in-process" else "SubprocessBroker"))
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", f"--kproto-broker={where}")
    result.assert_outcomes(passed=2)


def test_another_place_in_the_ini_file_is_refused_before_any_test(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nkproto_broker = elsewhere\n")
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines == ["ERROR: kproto_broker = elsewhere: in-process or subprocess", ""]


@pytest.mark.parametrize(("wanted", "policy"), [("batch", os.SCHED_BATCH), ("normal", os.SCHED_OTHER)])
def test_a_process_of_its_own_is_scheduled_as_configured(wanted: str, policy: int) -> None:
    with kafka_broker({"kproto.cpu.scheduling": wanted}, subprocess=True) as broker:
        assert os.sched_getscheduler(broker.pid) == policy


def test_another_policy_that_a_process_was_started_with_stays() -> None:
    code = (
        "import os; from kproto import broker; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0));"
        "broker._be_patient(); print(os.sched_getscheduler(0))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) == os.SCHED_IDLE


def test_a_system_that_tells_no_policy_is_no_reason_not_to_start() -> None:
    """With musl, the C library of Alpine Linux, the question is an error."""
    code = (
        "import errno, os; from kproto import broker\n"
        "def unknown(*_): raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))\n"
        "os.sched_getscheduler = os.sched_setscheduler = unknown\n"
        "broker._be_patient()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_broker_inside_a_test_leaves_its_process_as_it_is() -> None:
    before = os.sched_getscheduler(0)
    with kafka_broker():
        assert os.sched_getscheduler(0) == before


@pytest.mark.parametrize("subprocess", [False, True])
def test_settings_may_be_numbers_and_the_directory_a_path(tmp_path: Path, subprocess: bool) -> None:
    settings = {"num.partitions": 3, "delete.topic.enable": False}
    with kafka_broker(settings, subprocess=subprocess, data_dir=tmp_path / "new") as broker:
        assert produce_one(broker.port, "t") == 0
    assert (tmp_path / "new" / "metadata.sqlite").exists()


@pytest.mark.parametrize("subprocess", [False, True])
@pytest.mark.parametrize("port", [0, None])
def test_the_address_may_be_a_setting(subprocess: bool, port: int | None) -> None:
    wanted = free_port() if port is None else port
    with kafka_broker({"listeners": f"PLAINTEXT://localhost:{wanted}"}, subprocess=subprocess) as broker:
        assert broker.port == wanted or not wanted
        assert broker.bootstrap_servers == f"localhost:{broker.port}"
        with Client("localhost", broker.port) as client:
            answer = client.call(METADATA, 9, MetadataRequest(topics=[]))
        assert [(each.host, each.port) for each in answer.brokers] == [("localhost", broker.port)]


def test_clients_are_never_told_port_0() -> None:
    with kafka_broker({"advertised.listeners": "PLAINTEXT://localhost:0"}) as broker:
        assert produce_one(broker.port, "t") == 0


@pytest.mark.parametrize("subprocess", [False, True])
@pytest.mark.parametrize("name", ["log.dirs", "log.dir"])
def test_the_directory_may_be_a_setting(tmp_path: Path, subprocess: bool, name: str) -> None:
    """It is somebody's then, and stays, metadata included."""
    for offset in (0, 1):
        with kafka_broker({name: str(tmp_path / "new")}, subprocess=subprocess) as broker:
            assert broker.data_dir == str(tmp_path / "new")
            assert produce_one(broker.port, "t") == offset


@pytest.mark.parametrize("subprocess", [False, True])
@pytest.mark.parametrize("setting", [False, True])
def test_a_relative_directory_stays_where_it_is_when_a_test_changes_the_working_directory(
    tmp_path: Path, subprocess: bool, setting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker died, as it no longer found its files; a later start began an empty directory elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    kind = SubprocessBroker if subprocess else InProcessBroker
    broker = kind({"log.dirs": "data"}) if setting else kind(data_dir="data")
    for offset in (0, 2):
        broker.start()
        assert produce_one(broker.port, "t") == offset
        monkeypatch.chdir("elsewhere" if offset == 0 else tmp_path)
        assert produce_one(broker.port, f"t{offset}") == 0
        assert produce_one(broker.port, "t") == offset + 1
        broker.stop()
    assert not list((tmp_path / "elsewhere").iterdir())
    assert broker.data_dir == str(tmp_path / "data")


@pytest.mark.parametrize("subprocess", [False, True])
def test_two_directories_are_refused(
    tmp_path: Path, subprocess: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings = {"log.dirs": str(tmp_path / "one")}
    with (
        pytest.raises(ValueError, match=r"^log\.dirs: .*one' contradicts data_dir = .*other'$"),
        kafka_broker(settings, subprocess=subprocess, data_dir=tmp_path / "other"),
    ):
        raise AssertionError("it started")
    assert not list(tmp_path.iterdir())


def test_a_member_inside_a_test_needs_an_address_for_other_brokers() -> None:
    """That of clients, port + 1000, as `kproto serve` has it, is known too late."""
    with (
        pytest.raises(ValueError, match=r"needs kproto\.internal\.listen"),
        kafka_broker({"kproto.join": "127.0.0.1:1", "node.id": 2}),
    ):
        raise AssertionError("it started")


def test_a_directory_whose_metadata_is_gone_is_left_alone(tmp_path: Path) -> None:
    with kafka_broker(data_dir=str(tmp_path)):
        pass
    for file in tmp_path.glob("metadata.sqlite*"):
        file.unlink()
    with pytest.raises(StartError, match="the metadata is empty"), kafka_broker(data_dir=str(tmp_path)):
        pass
