"""The kproto command as its users call it: a broker of its own, every command as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat_tests.support.broker import answers
from compat_tests.support.ports import wait_until
from kproto.local_cluster import LocalCluster, free_port
from kproto.testing import SubprocessBroker

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

COMMAND = (sys.executable, "-m", "kproto.cli.main")


class Commands:
    """Runs commands against one broker."""

    def __init__(self, broker: SubprocessBroker) -> None:
        self.broker = broker

    def run(self, *words: str, given: str = "", code: int = 0) -> str:
        where = () if words[0] in ("dump-log", "config") else ("--bootstrap", self.broker.bootstrap_servers)
        done = subprocess.run(
            [*COMMAND, *words, *where], input=given, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))


@pytest.fixture
def kproto(tmp_path: Path) -> Iterator[Commands]:
    broker = SubprocessBroker({"kproto.flush.age.ms": "100"}, str(tmp_path))
    broker.start()
    yield Commands(broker)
    broker.stop()


def test_there_is_no_loss_to_accept_where_all_is_well(kproto: Commands) -> None:
    kproto.run("topic", "create", "orders-1", "--partitions", "2")
    assert "nothing to do" in kproto.run("recovery", "accept-loss", "orders-1", "orders-1-0", "--yes")
    for name in ("orders-0", "orders-1-2", "orders-1-x"):
        said = kproto.run("recovery", "accept-loss", name, code=1)
        assert f"there is no topic or partition {name}\n" in said


def test_topics_are_created_described_altered_and_deleted(kproto: Commands) -> None:
    kproto.run("topic", "create", "orders", "--partitions", "2", "--set", "retention.ms=60000")
    assert [(row["name"], row["partitions"]) for row in kproto.json("topic", "list")] == [("orders", 2)]
    kproto.run("topic", "alter", "orders", "--partitions", "3", "--set", "retention.bytes=5000000")
    kproto.run("topic", "alter", "orders", "--unset", "retention.ms")
    described = kproto.json("topic", "describe", "orders")
    assert described["configs"] == {"retention.bytes": "5000000"}
    assert [row["partition"] for row in described["partitions"]] == [0, 1, 2]
    assert "TOPIC_ALREADY_EXISTS" in kproto.run("topic", "create", "orders", code=1)
    assert "INVALID_CONFIG" in kproto.run("topic", "alter", "orders", "--set", "retention.ms=soon", code=1)
    kproto.run("topic", "delete", "orders")
    assert kproto.json("topic", "list") == []
    assert "UNKNOWN_TOPIC_OR_PARTITION" in kproto.run("topic", "describe", "orders", code=1)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_lines_go_in_and_come_out(kproto: Commands, codec: str) -> None:
    lines = [f"key{i}:value {i}" for i in range(1200)]
    kproto.run("topic", "create", "lines", "--partitions", "3")
    kproto.run(
        "produce", "lines", "--key-separator", ":", "--compression", codec, given="\n".join(lines) + "\n"
    )
    out = kproto.run("consume", "lines", "--from-beginning", "--max-records", "1200", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert sorted(f"{record['key']}:{record['value']}" for record in found) == sorted(lines)
    for partition in range(3):
        own = [record["offset"] for record in found if record["partition"] == partition]
        assert own == list(range(len(own)))
        assert own, "three partitions and 1,200 keys: each gets some"
    offsets = kproto.json("get-offsets", "lines")
    assert sum(row["latest"] for row in offsets) == 1200
    assert {row["earliest"] for row in offsets} == {0}


def test_what_is_no_text_is_base64_as_json(kproto: Commands) -> None:
    producer = Producer({"bootstrap.servers": kproto.broker.bootstrap_servers})
    looks_alike = '{"base64": "/wA="}'
    producer.produce(
        "bytes", key=b"\xff\x00", value=None, headers=[("trace", b"\x80"), ("text", "ü".encode())]
    )
    producer.produce("bytes", key=looks_alike, value="\\xff")
    assert producer.flush(60) == 0
    out = kproto.run("consume", "bytes", "--from-beginning", "--max-records", "2", "--json")
    first, second = (json.loads(line) for line in out.splitlines())
    assert (first["key"], first["value"]) == ({"base64": "/wA="}, None)
    assert first["headers"] == [["trace", {"base64": "gA=="}], ["text", "ü"]]
    assert (second["key"], second["value"]) == (looks_alike, "\\xff")


@pytest.mark.parametrize(
    "words", [("topic", "create"), ("topic", "describe"), ("produce",), ("consume",), ("group", "describe")]
)
def test_a_name_that_is_no_utf_8_is_the_callers_mistake(kproto: Commands, words: tuple[str, ...]) -> None:
    assert kproto.run(*words, os.fsdecode(b"t\xff"), code=2) == "Error: 't\\udcff' is no UTF-8\n"


def test_groups_are_listed_described_and_deleted(kproto: Commands) -> None:
    from confluent_kafka import Consumer

    kproto.run("topic", "create", "seen", "--partitions", "2")
    kproto.run("produce", "seen", "--partition", "0", given="a\nb\nc\n")
    consumer = Consumer(
        {
            "bootstrap.servers": kproto.broker.bootstrap_servers,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["seen"])
    assert len(consumer.consume(2, timeout=120)) == 2
    consumer.commit(asynchronous=False)
    assert [row["group"] for row in kproto.json("group", "list")] == ["readers"]
    described = kproto.json("group", "describe", "readers")
    assert described["state"] == "Stable"
    assert len(described["members"]) == 1
    member = described["members"][0]["member"]
    first = {"topic": "seen", "partition": 0, "committed": 2, "latest": 3, "lag": 1, "member": member}
    second = {"topic": "seen", "partition": 1, "committed": None, "latest": 0, "lag": None, "member": member}
    assert described["offsets"] == [first, second]
    assert "NON_EMPTY_GROUP" in kproto.run("group", "delete", "readers", code=1)
    consumer.close()
    left = kproto.json("group", "describe", "readers")
    assert (left["members"], left["offsets"]) == ([], [first | {"member": None}])
    told = kproto.run("group", "delete", "absent", "readers", "gone", code=1)
    for name in ("absent", "gone"):
        assert f"Error: {name}: GROUP_ID_NOT_FOUND" in told
    assert kproto.json("group", "list") == []


def test_a_wide_topic_is_few_streamlets_of_several_groups_of_several_segments(kproto: Commands) -> None:
    kproto.run(
        "topic",
        "create",
        "wide",
        *("--partitions", "10", "--set", "kproto.active.groups=4"),
        *("--set", "segment.bytes=1048576", "--set", "kproto.segment.file.bytes=262144"),
    )
    producer = Producer(
        {"bootstrap.servers": kproto.broker.bootstrap_servers, "linger.ms": 5, "batch.size": 16384}
    )
    for i in range(3000):
        producer.produce("wide", bytes(1000), partition=i % 3)
    assert producer.flush(180) == 0
    assert kproto.broker.terminate() == 0
    shown = kproto.json("dump-log", kproto.broker.data_dir, "--topic", "wide")
    assert [(row["partitions"], row["leader epoch"]) for row in shown["streamlets"]] == [
        ("0-3", 0),
        ("4-7", 0),
        ("8-9", 0),
    ]
    rows = [row for row in shown["segments"] if row["partition"] == 0]
    groups = sorted({row["group"] for row in rows})
    assert len(groups) == 1
    assert len(rows) >= 4, "a megabyte in files of a quarter of a megabyte"
    assert [row["first offset"] for row in rows[1:]] == [row["next offset"] for row in rows[:-1]]
    assert rows[-1]["next offset"] == 1000
    kproto.broker.start()
    producer = Producer(
        {"bootstrap.servers": kproto.broker.bootstrap_servers, "linger.ms": 5, "batch.size": 16384}
    )
    for _ in range(3000):
        producer.produce("wide", bytes(1000), partition=0)
    assert producer.flush(180) == 0
    assert kproto.broker.terminate() == 0
    shown = kproto.json("dump-log", kproto.broker.data_dir, "--topic", "wide", "--partition", "0")
    assert {row["leader epoch"] for row in shown["streamlets"]} == {1}
    by_group: dict[int, int] = {}
    for row in shown["segments"]:
        by_group[row["group"]] = by_group.get(row["group"], 0) + 1
    assert len(by_group) >= 3, "four megabytes in groups of one"
    assert max(by_group.values()) >= 3, "groups of several segments"
    chunks = kproto.json(
        "dump-log", kproto.broker.data_dir, "--topic", "wide", "--partition", "0", "--chunks"
    )
    assert {row["crc"] for row in chunks["chunks"]} == {"ok"}
    assert sum(row["records"] for row in chunks["chunks"]) == 4000


def test_settings_are_shown_and_a_bad_one_is_one_line(kproto: Commands, tmp_path: Path) -> None:
    file = tmp_path / "kproto.toml"
    file.write_text('"num.partitions" = 7\n[log]\nretention.hours = 2\n')
    given = ("--config", str(file), "--set", "node.id=3", "--set", "kproto.cluster.secret=S")
    shown = {row["name"]: row for row in kproto.json("config", *given)}
    assert shown["kproto.cluster.secret"]["value"] == "(hidden)"
    assert (shown["num.partitions"]["value"], shown["num.partitions"]["source"]) == ("7", "set")
    assert shown["log.retention.hours"]["value"] == "2"
    assert shown["node.id"]["value"] == "3"
    assert shown["fetch.max.bytes"] == {"name": "fetch.max.bytes", "value": "57671680", "source": "default"}
    for words in (
        ("--set", "num.partition=7"),
        ("--set", "num.partitions=many"),
        ("--config", str(tmp_path / "absent.toml")),
        ("--set", "num.partitions"),
    ):
        said = kproto.run("config", *words, code=2)
        assert said.count("\n") == 1, said


def test_a_second_broker_on_the_same_directory_or_port_is_refused(kproto: Commands, tmp_path: Path) -> None:
    broker = kproto.broker
    same_directory = ("serve", "--listen", f"127.0.0.1:{free_port()}", "--data-dir", broker.data_dir)
    same_port = ("serve", "--listen", broker.bootstrap_servers, "--data-dir", str(tmp_path / "other"))
    for words, what in ((same_directory, "another broker is running"), (same_port, "cannot listen")):
        done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 2
        assert what in done.stderr
        assert done.stderr.count("\n") == 1
    assert answers("127.0.0.1", broker.port)


def test_a_broker_serves_though_nobody_can_hear_it(tmp_path: Path) -> None:
    """Its standard output has no room left."""
    port = free_port()
    words = ("serve", "--listen", f"127.0.0.1:{port}", "--data-dir", str(tmp_path))
    with open("/dev/full", "w") as full, subprocess.Popen([*COMMAND, *words], stdout=full) as serving:
        wait_until("it serves", lambda: serving.poll() is not None or answers("127.0.0.1", port))
        serving.terminate()
        assert serving.wait(60) == 0


WRONG = {
    ("topic", "create", "t", "--partitions", "99999999999"): "not in the range",
    ("topic", "create", "t", "--replication", "70000"): "not in the range",
    ("topic", "create", "\udcff"): r"'\udcff' is no UTF-8",
    ("topic", "alter", "t", "--partitions", "99999999999"): "not in the range",
    ("get-offsets", "--time", "99999999999999999999"): "not in the range",
    ("consume", "t", "--from-time", "99999999999999999999"): "not in the range",
    ("produce", "t", "--key-separator", ""): "separates nothing",
    ("vlogs", "--metrics", "127.0.0.1:x"): "127.0.0.1:x: ",
    ("vlogs", "--metrics", "127.0.0.1:1"): "127.0.0.1:1: Connection refused",
    ("topic", "list", "--bootstrap", "127.0.0.1:99999"): "127.0.0.1:99999: ",
}


@pytest.mark.parametrize("words", WRONG, ids="-".join)
def test_a_wrong_word_is_answered_in_one_line(kproto: Commands, words: tuple[str, ...]) -> None:
    own = words[0] == "vlogs" or "--bootstrap" in words
    where = () if own else ("--bootstrap", kproto.broker.bootstrap_servers)
    raw = [os.fsencode(word) for word in (*COMMAND, *words, *where)]
    done = subprocess.run(raw, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode in (1, 2)
    last = done.stderr.decode().splitlines()[-1]
    assert WRONG[words] in last
    assert "Traceback" not in done.stderr.decode()


def test_the_first_of_several_brokers_that_answers_is_asked(kproto: Commands) -> None:
    there = kproto.broker.bootstrap_servers
    done = subprocess.run(
        [*COMMAND, "topic", "list", "--json", "--bootstrap", f"127.0.0.1:1, {there}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == []


def test_topics_that_were_deleted_are_named_beside_those_that_were_not(kproto: Commands) -> None:
    kproto.run("topic", "create", "there")
    words = ["topic", "delete", "absent", "there", "gone", "--bootstrap", kproto.broker.bootstrap_servers]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (1, "deleted there\n")
    assert done.stderr.count("\n") == 2
    for name in ("absent", "gone"):
        assert f"Error: {name}: UNKNOWN_TOPIC_OR_PARTITION" in done.stderr


def test_a_line_of_a_pipe_is_sent_at_once_and_long_lines_in_batches_that_fit(kproto: Commands) -> None:
    where = ("--bootstrap", kproto.broker.bootstrap_servers)
    with subprocess.Popen([*COMMAND, "produce", "piped", *where], stdin=subprocess.PIPE) as producing:
        assert producing.stdin is not None
        for number in range(2):
            producing.stdin.write(b"line\n")
            producing.stdin.flush()
            wait_until("the line", lambda: _stored(kproto, "piped") == number + 1)  # noqa: B023
    long = "x" * 5000 + "\n"
    kproto.run("produce", "long", given=long * 600 + "the end")
    assert _stored(kproto, "long") == 601


def _stored(kproto: Commands, topic: str) -> int:
    rows = kproto.json("get-offsets")
    return sum(row["latest"] for row in rows if row["topic"] == topic)


def test_chunks_are_shown_with_their_topic_and_other_directories_refused(
    kproto: Commands, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        kproto.run("produce", name, given="a\n")
    kproto.broker.terminate()
    shown = kproto.run("dump-log", kproto.broker.data_dir, "--chunks")
    assert "one" in shown.partition("Chunks")[2]
    (tmp_path / "other").mkdir()
    for words in ((), ("--journal",)):
        said = kproto.run("dump-log", str(tmp_path / "other"), *words, code=2)
        assert "is not the data directory of a broker" in said
    (Path(kproto.broker.data_dir) / "metadata.sqlite").unlink()
    assert "has no metadata" in kproto.run("dump-log", kproto.broker.data_dir, code=1)


def test_a_cluster_that_cannot_start_can_be_started_otherwise(tmp_path: Path) -> None:
    directory = str(tmp_path / "cluster")

    def start(*words: str) -> tuple[int, str]:
        command = [*COMMAND, "cluster", "start", "--data-dir", directory, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout + done.stderr

    code, said = start("--brokers", "1", "--base-port", "0", "--set", "num.partition=3")
    assert code == 2
    assert "num.partition: no such broker config" in said
    assert start("--brokers", "1", "--base-port", "0")[0] == 0
    try:
        for words in (("--brokers", "2"), ("--set", "num.partitions=3"), ("--metadata", "etcd://h:1/x")):
            code, said = start(*words)
            assert code == 2
            assert "has a cluster of 1 brokers" in said
        assert start("--brokers", "1")[0] == 0
    finally:
        LocalCluster.open(directory).stop()
    (tmp_path / "file").write_text("")
    directory = str(tmp_path / "file")
    code, said = start()
    assert code == 2
    assert "Traceback" not in said
