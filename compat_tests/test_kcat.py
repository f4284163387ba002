"""kcat, the Debian package (an older librdkafka than confluent-kafka's)."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.support.confluent import producer, read_samples, send_all
from compat_tests.support.ports import PATIENCE_S, wait_until
from compat_tests.support.records import BASE_TIME_MS, CODECS, Sample, plain

MakeTopic = Callable[..., str]


def kcat(bootstrap: str, *args: str, stdin: bytes = b"", timeout_s: float = 180) -> bytes:
    """Run it to its end; its standard output. A failure shows what it complained about."""
    done = subprocess.run(
        ["kcat", "-b", bootstrap, "-q", *args],
        input=stdin,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("codec", CODECS)
def test_produce_and_consume(bootstrap: str, new_topic: MakeTopic, codec: str, acks: str) -> None:
    topic = new_topic()
    lines = [f"key {n}\tvalue {n} \u2603" for n in range(500)]
    text = ("\n".join(lines) + "\n").encode()
    settings = ("-z", codec, "-X", f"acks={acks}", "-X", "max.in.flight=1")
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", "-K", "\t", "-H", "source=kcat", *settings, stdin=text)
    read = kcat(
        bootstrap, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-c", "500", "-f", "%o %k\t%s %h\n"
    )
    assert read.decode().splitlines() == [f"{n} {line} source=kcat" for n, line in enumerate(lines)]


def test_null_keys_and_values(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", "-K", ":", "-Z", stdin=b"a:\n:b\n:\nc:d\n")
    found = read_samples(bootstrap, topic, 0)
    assert [(one.key, one.value) for one in found] == [(b"a", None), (None, b"b"), (None, None), (b"c", b"d")]
    read = kcat(bootstrap, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-c", "4", "-J")
    described = [json.loads(line) for line in read.splitlines()]
    assert [(one["key"], one["payload"]) for one in described] == [
        ("a", None),
        (None, "b"),
        (None, None),
        ("c", "d"),
    ]


def test_a_message_of_900_kb(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    value = bytes(33 + n % 90 for n in range(900_000))
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", "-z", "zstd", "-D", "\n", stdin=value + b"\n")
    assert kcat(bootstrap, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-c", "1", "-f", "%s") == value


def test_offsets_by_time_and_metadata(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic(partitions=2)
    sent = [Sample(None, b"%d" % n, (), BASE_TIME_MS + 10 * n) for n in range(200)]
    send_all(producer(bootstrap, batch_num_messages=9), topic, 1, sent)
    wanted = ("77", BASE_TIME_MS + 770), ("78", BASE_TIME_MS + 771), ("0", 5)
    for offset, time_ms in wanted:
        assert (
            kcat(bootstrap, "-Q", "-t", f"{topic}:1:{time_ms}")
            .decode()
            .strip()
            .endswith(f"[1] offset {offset}")
        )
    some = kcat(bootstrap, "-C", "-t", topic, "-p", "1", "-o", "-3", "-c", "3", "-f", "%s ").decode()
    assert some == "197 198 199 "
    listed = json.loads(kcat(bootstrap, "-L", "-J", "-t", topic))
    assert [part["partition"] for part in listed["topics"][0]["partitions"]] == [0, 1]
    assert len(listed["brokers"]) == 1


def test_commit_and_resume(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    topic = new_topic()
    send_all(producer(bootstrap, batch_num_messages=7), topic, 0, plain(b"n%d" % n for n in range(100)))
    for turn in range(3):
        settings = ("-X", "auto.offset.reset=earliest", "-c", "20", "-f", "%o ")
        read = kcat(bootstrap, "-G", group, *settings, topic).decode().split()
        assert read == [str(offset) for offset in range(turn * 20, turn * 20 + 20)]


@pytest.mark.parametrize("leaving", [signal.SIGKILL, signal.SIGTERM])
def test_balanced_consumers(
    bootstrap: str, new_topic: MakeTopic, group: str, tmp_path: Path, leaving: signal.Signals
) -> None:
    """Two kcat members share four partitions; one is killed, or leaves long before its session would end, the
    other takes over and loses nothing."""
    topic = new_topic(partitions=4)
    session_ms = 6000 if leaving is signal.SIGKILL else int(PATIENCE_S * 1000) + 60_000
    command = ["kcat", "-b", bootstrap, "-u", "-G", group, "-X", f"session.timeout.ms={session_ms}"]
    command += ["-X", "auto.offset.reset=earliest", "-X", "heartbeat.interval.ms=300", "-f", "%s\n", topic]
    outputs = [tmp_path / "first", tmp_path / "second"]
    members: list[subprocess.Popen[bytes]] = []
    feed = producer(bootstrap)
    sent: set[bytes] = set()

    def send(count: int) -> set[bytes]:
        fresh = [b"n%d" % (len(sent) + number) for number in range(count)]
        for partition in range(4):
            send_all(feed, topic, partition, plain(fresh[partition::4]))
        sent.update(fresh)
        return set(fresh)

    def got(number: int) -> set[bytes]:
        return set(outputs[number].read_bytes().rpartition(b"\n")[0].split())

    try:
        for output in outputs:
            with output.open("wb") as out:
                members.append(subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL))
        wait_until("both members to get records", lambda: bool(send(4)) and got(0) and got(1), every_s=0.2)
        # what kcat is given while it ends it commits and does not print
        wait_until("all of them to be printed", lambda: got(0) | got(1) == sent)
        members[0].send_signal(leaving)
        members[0].wait(PATIENCE_S)
        late = send(40)
        wait_until("the survivor to get the rest", lambda: late <= got(1))
    finally:
        for member in members:
            member.kill()
            member.wait()
    assert got(0) | got(1) == sent
