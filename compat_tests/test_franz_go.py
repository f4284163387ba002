"""franz-go (scenarios in go/)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.support import franz
from compat_tests.support.confluent import producer, send_all
from compat_tests.support.ports import wait_until
from compat_tests.support.records import plain
from compat_tests.support.topics import unique

MakeTopic = Callable[..., str]


def test_every_codec_with_every_acks(bootstrap: str, new_topic: MakeTopic) -> None:
    facts = franz.run(bootstrap, "produceConsume", topic=new_topic(partitions=15), count=500)
    assert facts == {"rounds": 15}


def test_messages_of_900_kb(bootstrap: str, new_topic: MakeTopic) -> None:
    assert franz.run(bootstrap, "large", topic=new_topic()) == {"messages": 8}


@pytest.mark.parametrize("scenario", ["seek", "pause"])
def test_places_in_a_partition(bootstrap: str, new_topic: MakeTopic, scenario: str) -> None:
    franz.run(bootstrap, scenario, topic=new_topic(partitions=2))


def test_commit_and_resume(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    assert franz.run(bootstrap, "resume", topic=new_topic(), group=group) == {"turns": 3}


def test_cooperative_group(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    facts = franz.run(bootstrap, "group", topic=new_topic(partitions=6), partitions=6, group=group)
    assert facts == {"records": 4 * 6 * 50}


def test_admin(bootstrap: str, group: str) -> None:
    topic = unique("franz")
    assert franz.run(bootstrap, "admin", topic=topic, group=group) == {"topic": topic}


def test_killed_member(bootstrap: str, new_topic: MakeTopic, group: str, tmp_path: Path) -> None:
    """One of two members is killed; the survivor gets what comes for all partitions."""
    topic = new_topic(partitions=4)
    logs = [tmp_path / "a", tmp_path / "b"]
    members = []
    feed = producer(bootstrap)
    sent: list[str] = []

    def send(count: int) -> set[str]:
        fresh = [f"n{len(sent) + number}" for number in range(count)]
        for partition in range(4):
            send_all(feed, topic, partition, plain(value.encode() for value in fresh[partition::4]))
        sent.extend(fresh)
        return set(fresh)

    def got(log: Path) -> list[str]:
        lines = log.read_text().rpartition("\n")[0].splitlines()
        return [value for line in lines for value in json.loads(line).get("got", [])]

    try:
        for log in logs:
            with log.open("wb") as out:
                members.append(
                    subprocess.Popen(franz.command(bootstrap, "member", topic=topic, group=group), stdout=out)
                )
        wait_until(
            "both members to get records",
            lambda: bool(send(4)) and all(got(log) for log in logs),
            every_s=0.2,
        )
        members[0].kill()
        members[0].wait()
        late = send(100)
        wait_until("the survivor to get the rest", lambda: late <= set(got(logs[1])))
        members[1].terminate()
        assert members[1].wait(120) == 0
    finally:
        for member in members:
            member.kill()
            member.wait()
    assert set(got(logs[0])) | set(got(logs[1])) == set(sent)
