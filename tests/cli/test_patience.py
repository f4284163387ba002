"""``kproto produce`` and ``kproto consume`` go on where clients do."""

from __future__ import annotations

import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from click.testing import CliRunner, Result

from bench.failover.promises import wait_until
from kproto.cli import patience
from kproto.cli.cluster import Cluster
from kproto.cli.main import main
from kproto.cli.offsets import LATEST, look_up
from kproto.cli.patience import Passing, Patience
from kproto.errors import ErrorCode
from kproto.local_cluster import LocalCluster
from kproto.net.client import Client
from kproto.testing import SubprocessBroker

IDLE_MS = 500
PRODUCE = 0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[SubprocessBroker]:
    broker = SubprocessBroker({"connections.max.idle.ms": str(IDLE_MS)}, tmp_path)
    broker.start()
    yield broker
    broker.stop()


def run(address: str, *words: str, given: str = "") -> Result:
    done = CliRunner().invoke(main, [*words, "--bootstrap", address], input=given)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def stored(address: str, topic: str) -> int:
    with Cluster(address) as cluster:
        return sum(look_up(cluster, [cluster.topic(topic)], LATEST).values())


@contextmanager
def running(address: str, *words: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output of a command that has to end with 0 once its input does."""
    command = [sys.executable, "-m", "kproto.cli.main", *words, "--bootstrap", address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin, process.stdout  # type: ignore[misc]
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()


def heard(stream: BinaryIO) -> bytes:
    """A line of two bytes, as it comes."""
    assert select.select([stream], [], [], 20)[0], "nothing comes"
    return stream.read(2)


def test_a_pipe_may_be_silent_for_longer_than_a_connection(broker: SubprocessBroker) -> None:
    address = broker.bootstrap_servers
    with running(address, "produce", "t") as (lines, _):
        lines.write(b"a\n")
        wait_until("it is there", lambda: run(address, "topic", "describe", "t").exit_code == 0)
        time.sleep(3 * IDLE_MS / 1000)
        lines.write(b"b\n")
    assert run(address, "consume", "t", "--from-beginning", "--max-records", "2").stdout == "a\nb\n"


@pytest.mark.parametrize("killed", [False, True])
def test_both_go_on_after_a_restart(broker: SubprocessBroker, killed: bool) -> None:
    address = broker.bootstrap_servers
    run(address, "topic", "create", "t")
    with (
        running(address, "consume", "t", "--from-beginning", "--max-records", "2") as (_, seen),
        running(address, "produce", "t") as (lines, _),
    ):
        lines.write(b"a\n")
        assert heard(seen) == b"a\n"
        if killed:
            broker.kill()
        else:
            broker.terminate()
        lines.write(b"b\n")
        broker.start()
        assert heard(seen) == b"b\n"
    assert stored(address, "t") == 2


@contextmanager
def two_brokers(directory: Path) -> Iterator[tuple[LocalCluster, str]]:
    """A cluster, and the address of its first broker."""
    local = LocalCluster.create(str(directory / "cluster"), 2, 0, {})
    try:
        local.start()
        yield local, f"127.0.0.1:{local.nodes[0].port}"
    finally:
        local.stop()


def test_both_follow_a_leader_that_is_restarted(tmp_path: Path) -> None:
    """Another broker leads then, and whoever asks the old one is told so."""
    with two_brokers(tmp_path) as (local, address):
        # The metadata is on the first, which therefore stays; of two partitions the other leads one.
        run(address, "topic", "create", "t", "--partitions", "2", "--replication", "2")
        with Cluster(address) as cluster:
            (led,) = (p.partition_index for p in cluster.topic("t").partitions if p.leader_id == 2)
        words = ("t", "--partition", f"{led}")
        with (
            running(address, "consume", *words, "--from-beginning", "--max-records", "3") as (_, seen),
            running(address, "produce", *words) as (lines, _),
        ):
            lines.write(b"a\n")
            assert heard(seen) == b"a\n"
            local.restart(2)
            lines.write(b"b\n")
            assert heard(seen) == b"b\n"
            local.kill(2)
            lines.write(b"c\n")
            assert heard(seen) == b"c\n"
        assert stored(address, "t") == 3


def test_a_leader_that_hangs_holds_up_no_others_for_long(tmp_path: Path) -> None:
    """It was asked for 30 s, and nobody else meanwhile."""
    with two_brokers(tmp_path) as (local, address):
        run(address, "topic", "create", "t", "--partitions", "2", "--replication", "1")
        with Cluster(address) as cluster:
            led = {part.leader_id: f"{part.partition_index}" for part in cluster.topic("t").partitions}
        with running(address, "consume", "t", "--from-beginning", "--max-records", "3") as (_, seen):

            def goes_through(leader: int, line: str) -> None:
                assert run(address, "produce", "t", "--partition", led[leader], given=line).exit_code == 0
                assert heard(seen) == line.encode()

            goes_through(2, "a\n")
            local.pause(2)
            time.sleep(1)  # it is asked now, whoever was asked then
            goes_through(1, "b\n")
            local.resume(2)
            goes_through(2, "c\n")


def test_the_only_leader_may_take_its_time(broker: SubprocessBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else waits meanwhile."""
    monkeypatch.setattr(Cluster, "hurry", pytest.fail)
    address = broker.bootstrap_servers
    assert run(address, "produce", "t", given="a\nb\n").exit_code == 0
    assert run(address, "consume", "t", "--from-beginning", "--max-records", "2").stdout == "a\nb\n"


def test_what_may_be_stored_is_stored_once(broker: SubprocessBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection ends when the broker has stored a batch and before anybody heard of it."""
    call, lost = Client.call, []

    def losing(client: Client, key: int, version: int, message: Any) -> Any:
        answer = call(client, key, version, message)
        if key == PRODUCE and len(lost) < 2:
            lost.append(answer)
            client.close()
            raise ConnectionError("the broker closed the connection")
        return answer

    monkeypatch.setattr(Client, "call", losing)
    address = broker.bootstrap_servers
    assert run(address, "produce", "t", given="a\nb\n").exit_code == 0
    assert [each.responses[0].partition_responses[0].error_code for each in lost] == [0, 0]
    assert run(address, "consume", "t", "--from-beginning", "--max-records", "2").stdout == "a\nb\n"
    assert stored(address, "t") == 2


@pytest.mark.parametrize("command", ["produce", "consume"])
def test_what_lasts_is_said(command: str, broker: SubprocessBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    address = broker.bootstrap_servers
    run(address, "topic", "create", "t")
    monkeypatch.setattr(patience, "RETRY_S", 0.5)
    call = Client.call

    def dying(client: Client, key: int, version: int, message: Any) -> Any:
        if key in (0, 1):
            broker.kill()
        return call(client, key, version, message)

    monkeypatch.setattr(Client, "call", dying)
    done = run(address, command, "t", given="a\n")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {address}: ")
    assert done.stderr.endswith("; tried again for 0.5 s\n")
    assert ("whether it was done is unknown" in done.stderr) == (command == "produce")
    assert done.stderr.count("\n") == 1


def test_doubt_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PAUSE_S", 0)
    trying = Patience()
    trying.wait(Passing("refused"))
    trying.wait(Passing("closed; unknown", doubtful=True))
    monkeypatch.setattr(trying, "_until", 0.0)
    with pytest.raises(patience.click.ClickException) as failed:
        trying.wait(Passing("refused"))
    assert failed.value.message == "closed; unknown; tried again for 30 s"


def test_batches_are_as_small_as_they_have_to_be(broker: SubprocessBroker) -> None:
    """Lines that fit are stored though 500 of them do not; one that does not fit is named."""
    address = broker.bootstrap_servers
    run(address, "topic", "create", "t", "--set", "max.message.bytes=300")
    lines = [f"{number:0100d}" for number in range(7)]
    assert run(address, "produce", "t", given="\n".join(lines)).exit_code == 0
    done = run(address, "consume", "t", "--from-beginning", "--max-records", "7")
    assert done.stdout.split() == lines
    done = run(address, "produce", "t", given="x\n" + "y" * 300 + "\n")
    assert done.exit_code == 1
    assert ErrorCode.MESSAGE_TOO_LARGE.name in done.stderr
    assert stored(address, "t") == 8
