"""The commands on a cluster one of whose brokers is away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Consumer, TopicPartition

from bench.failover.promises import wait_until
from kproto.cli.cluster import Cluster
from kproto.cli.main import main
from kproto.cli.produce import LINES_PER_BATCH
from kproto.local_cluster import LocalCluster
from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalCluster]:
    """Two brokers; each leads one of the two partitions of t, which have one copy each."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {})
    try:
        cluster.start()
        placed = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=[index + 1]) for index in range(2)
        ]
        topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=placed)
        with Cluster(cluster.bootstrap_servers) as asked:
            answer = asked.any.call(19, CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
        assert [each.error_code for each in answer.topics] == [0]
        yield cluster
    finally:
        cluster.stop()


def first(local: LocalCluster) -> str:
    return f"127.0.0.1:{local.nodes[0].port}"


def run(local: LocalCluster, *words: str, given: str | None = None) -> Result:
    done = CliRunner().invoke(main, [*words, "--bootstrap", first(local)], input=given)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def kill_the_second(local: LocalCluster) -> None:
    """It is no member by then, and what it leads has no leader."""
    local.kill(2)

    def led() -> list[int]:
        with Cluster(first(local)) as cluster:
            return sorted(each.leader_id for each in cluster.topic("t").partitions)

    def members() -> list[int]:
        with Cluster(first(local)) as cluster:
            return cluster.members()

    wait_until("nobody leads it", lambda: led() == [-1, 1])
    wait_until("it is no member", lambda: members() == [1])


def test_partitions_that_nobody_leads_hold_no_command_up(local: LocalCluster) -> None:
    for index in range(2):
        assert run(local, "produce", "t", "--partition", f"{index}", given="a\nb\n").exit_code == 0
    committing = Consumer({"bootstrap.servers": first(local), "group.id": "g"})
    committing.commit(offsets=[TopicPartition("t", each, 1) for each in range(2)], asynchronous=False)
    committing.close()
    kill_the_second(local)
    nobody = "Error: no leader: t-1\n"

    def rows(*words: str) -> list[tuple[object, ...]]:
        done = run(local, *words, "--json")
        assert (done.exit_code, done.stderr) == (1, nobody)
        found = json.loads(done.stdout)
        return [tuple(row.values()) for row in (found["offsets"] if words[0] == "group" else found)]

    assert rows("get-offsets", "--time", "0") == [("t", 0, 0, 2, 0), ("t", 1, None, None, None)]
    assert rows("group", "describe", "g") == [("t", 0, 1, 2, 1, None), ("t", 1, 1, None, None, None)]
    done = run(local, "get-offsets")
    assert [line.split("│")[1:-1] for line in done.stdout.splitlines() if "│" in line][1] == [
        *(" t     ", " 1         ", " -        ", " -      ")
    ]
    more = [f"{number}" for number in range(3 * LINES_PER_BATCH)]
    assert run(local, "produce", "t", given="\n".join(more)).exit_code == 0
    done = run(local, "consume", "t", "--from-beginning", "--max-records", f"{len(more) + 2}")
    assert (done.exit_code, done.stdout.split()) == (0, ["a", "b", *more])
    assert done.stderr == "left out, as nobody leads them: t-1\n"
    listed = json.loads(run(local, "group", "list", "--json").stdout)
    assert [row["group"] for row in listed] == ["g"]
    done = run(local, "consume", "t", "--partition", "1")
    assert (done.exit_code, done.stderr) == (1, nobody)


def test_partitions_whose_only_copy_is_away_are_told(local: LocalCluster) -> None:
    """Nobody else can lead them, whatever loss is accepted; they begin anew where their broker does."""
    assert run(local, "produce", "t", "--partition", "1", given="a\nb\n").exit_code == 0
    assert offsets(local) == [0, 2]
    kill_the_second(local)
    told = CliRunner().invoke(main, ["recovery", "--data-dir", local.directory])
    assert "on broker 2 only, which is away: t-1\n" in told.stdout
    done = run(local, "recovery", "accept-loss", "t", "--yes", "--json")
    (row,) = json.loads(done.stdout)
    assert (done.exit_code, row["partition"], row["result"]) == (1, 1, "ELIGIBLE_LEADERS_NOT_AVAILABLE")
    assert row["message"].startswith("Broker 2 has the only copy: start it (if its directory is lost")
    shown = run(local, "recovery", "accept-loss", "t", "--yes")
    assert "Not all loss was accepted" in shown.stdout
    local.wipe(2)
    local.start([2])
    wait_until("it leads again", lambda: offsets(local) == [0, 0])
    told = CliRunner().invoke(main, ["recovery", "--data-dir", local.directory])
    assert "is away" not in told.stdout


def offsets(local: LocalCluster) -> list[int]:
    """Of partition 1: log start and end."""
    shown = run(local, "get-offsets", "t", "--json")
    if shown.exit_code:
        return []
    return list(json.loads(shown.stdout)[1].values())[2:4]
