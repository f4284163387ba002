"""Apache Kafka's tools for leaders and replicas, by the classes behind bin/*.sh, on a cluster of four."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_tests.support.cluster import ClusterLoad, own_cluster
from compat_tests.support.java import Jvm, ToolResult
from compat_tests.support.moving import Admin, rotated
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import unique
from kproto.local_cluster import LocalCluster

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
ELECTION = "org.apache.kafka.tools.LeaderElectionCommand"
CLUSTER = "org.apache.kafka.tools.ClusterTool"
CONFIGS = "kafka.admin.ConfigCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"

pytestmark = [pytest.mark.owns_broker]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with own_cluster(tmp_path_factory.mktemp("tools")) as running:
        yield running


@pytest.fixture(scope="module")
def tools(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jvm]:
    driver = Jvm(cluster.bootstrap_servers, tmp_path_factory.mktemp("jvm") / "stderr.log")
    yield driver
    driver.close()


def run(tools: Jvm, main: str, *args: object) -> ToolResult:
    result = tools.tool(main, "--bootstrap-server", tools.bootstrap, *args)
    assert result.exit == 0, f"{main} {args}: exit {result.exit}\n{result.stdout}\n{result.stderr}"
    return result


def plan(path: Path, topic: str, replicas: dict[int, list[int]]) -> Path:
    partitions = [
        {"topic": topic, "partition": index, "replicas": nodes} for index, nodes in sorted(replicas.items())
    ]
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return path


def test_reassign_partitions(cluster: LocalCluster, tools: Jvm, tmp_path: Path) -> None:
    """--execute moves leaders that are no replicas any more, --verify agrees, --list has nothing left."""
    with Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, name=unique("tools"))
        load.await_progress()
        before = admin.replicas(load.topic)
        after = {p: rotated([n for n in (1, 2, 3, 4) if n != nodes[0]], p) for p, nodes in before.items()}
        moves = plan(tmp_path / "moves.json", load.topic, after)
        load.listen()
        said = run(tools, REASSIGN, "--reassignment-json-file", moves, "--execute").stdout
        assert "Successfully started partition reassignments" in said
        assert f'"topic":"{load.topic}"' in said  # the assignment before, for a way back
        wait_until("the reassignment", lambda: admin.reassigning() == 0)
        said = run(tools, REASSIGN, "--reassignment-json-file", moves, "--verify").stdout
        for index in before:
            assert f"Reassignment of partition {load.topic}-{index} is completed." in said, said
        assert "No partition reassignments found." in run(tools, REASSIGN, "--list").stdout
        assert admin.replicas(load.topic) == after
        assert all(leader in after[p] for p, leader in admin.leaders(load.topic).items())
        load.await_progress()
        print(f"longest silence {max(load.silences().values()):.2f} s")
        assert load.finish() > 100


def test_cancel_ends_that_the_first_copies_are_made(tmp_path: Path) -> None:
    """--cancel of a topic of one copy; so slow that none of its leaders is done."""
    with own_cluster(tmp_path, settings={"kproto.recovery.read.bytes.per.second": "8192"}) as own:
        driver = Jvm(own.bootstrap_servers, tmp_path / "stderr.log")
        try:
            with Admin(own.bootstrap_servers) as admin:
                load = ClusterLoad(own, partitions=8, producers=2, replicas=1)
                wait_until("4 MB", lambda: sum(load.acked().values()) * 250 > 4 << 20)
                before = admin.replicas(load.topic)
                more = {
                    p: [*nodes, *[n for n in (1, 2, 3, 4) if n not in nodes][:2]]
                    for p, nodes in before.items()
                }
                path = plan(tmp_path / "more.json", load.topic, more)
                run(driver, REASSIGN, "--reassignment-json-file", path, "--execute")
                assert admin.reassigning() == 8
                said = run(driver, REASSIGN, "--reassignment-json-file", path, "--cancel").stdout
                assert "Successfully cancelled partition reassignments" in said, said
                assert "No partition reassignments found." in run(driver, REASSIGN, "--list").stdout
                assert admin.replicas(load.topic) == before
                said = run(driver, REASSIGN, "--reassignment-json-file", path, "--cancel").stdout
                assert "None of the specified partition reassignments are active." in said, said
                load.await_progress()
                assert load.finish() > 100
        finally:
            driver.close()


def test_generate_proposes_what_execute_takes(cluster: LocalCluster, tools: Jvm, tmp_path: Path) -> None:
    with Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=4, producers=1, name=unique("tools"))
        load.await_progress()
        topics = tmp_path / "topics.json"
        topics.write_text(json.dumps({"version": 1, "topics": [{"topic": load.topic}]}))
        said = run(
            tools, REASSIGN, "--topics-to-move-json-file", topics, "--broker-list", "2,3,4", "--generate"
        ).stdout
        proposed = tmp_path / "proposed.json"
        proposed.write_text(
            said.splitlines()[said.splitlines().index("Proposed partition reassignment configuration") + 1]
        )
        run(tools, REASSIGN, "--reassignment-json-file", proposed, "--execute")
        wait_until("the reassignment", lambda: admin.reassigning() == 0)
        said = run(tools, REASSIGN, "--reassignment-json-file", proposed, "--verify").stdout
        assert said.count("is completed.") == 4, said
        assert all(1 not in nodes for nodes in admin.replicas(load.topic).values())
        assert load.finish() > 0


def test_a_throttle_is_set_and_taken_back(tools: Jvm, tmp_path: Path) -> None:
    """--execute --throttle moves all the same, and --verify leaves nothing of the throttle behind."""
    name = unique("slowed")
    run(tools, TOPICS, "--create", "--topic", name, "--partitions", 2, "--replication-factor", 2)
    with Admin(tools.bootstrap) as admin:
        after = {p: rotated([1, 2, 3, 4], nodes[0])[:2] for p, nodes in admin.replicas(name).items()}
        moves = ("--reassignment-json-file", plan(tmp_path / "moves.json", name, after))
        said = run(tools, REASSIGN, *moves, "--execute", "--throttle", 1_000_000).stdout
        assert "The inter-broker throttle limit was set to 1000000 B/s" in said, said
        broker = ("--describe", "--entity-type", "brokers", "--entity-name", 1)
        said = run(tools, CONFIGS, *broker).stdout
        for side in ("leader", "follower"):
            assert f"{side}.replication.throttled.rate=1000000 " in said, said
        wait_until("the reassignment", lambda: admin.reassigning() == 0)
        said = run(tools, REASSIGN, *moves, "--verify").stdout
        assert "Clearing broker-level throttles" in said, said
        assert admin.replicas(name) == after
        assert "throttled" not in run(tools, CONFIGS, *broker).stdout
        topic = ("--describe", "--entity-type", "topics", "--entity-name", name)
        assert "throttled" not in run(tools, CONFIGS, *topic).stdout


def test_what_execute_printed_leads_back(cluster: LocalCluster, tools: Jvm, tmp_path: Path) -> None:
    """It names log directories; they are those that the replicas are in, or will be."""
    name = unique("back")
    run(tools, TOPICS, "--create", "--topic", name, "--partitions", 4, "--replication-factor", 2)
    with Admin(tools.bootstrap) as admin:
        before = admin.replicas(name)
        after = {p: [n for n in (1, 2, 3, 4) if n not in nodes] for p, nodes in before.items()}
        path = plan(tmp_path / "moves.json", name, after)
        said = run(tools, REASSIGN, "--reassignment-json-file", path, "--execute").lines()
        wait_until("the reassignment", lambda: admin.reassigning() == 0)
        assert admin.replicas(name) == after
        path.write_text(next(line for line in said if line.startswith("{")))
        assert str(Path(cluster.directory, "broker-1")) in path.read_text()
        said = run(tools, REASSIGN, "--reassignment-json-file", path, "--execute").lines()
        assert sum("Successfully started moving log directory to" in line for line in said) == 4, said
        wait_until("the way back", lambda: admin.reassigning() == 0)
        assert admin.replicas(name) == before


def test_preferred_leaders_are_elected(cluster: LocalCluster, tools: Jvm, tmp_path: Path) -> None:
    with Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=4, producers=1, name=unique("tools"))
        load.await_progress()
        admin.reassign(load.topic, {p: rotated(nodes, 1) for p, nodes in admin.replicas(load.topic).items()})
        name = re.escape(load.topic)
        one = ("--election-type", "preferred", "--topic", load.topic, "--partition", 0)
        said = run(tools, ELECTION, *one).stdout
        assert re.search(
            rf"Successfully completed leader election \(PREFERRED\) for partitions {name}-0", said
        )
        assert "already elected" in run(tools, ELECTION, *one).stdout
        run(tools, ELECTION, "--election-type", "preferred", "--all-topic-partitions")
        preferred = {p: nodes[0] for p, nodes in admin.replicas(load.topic).items()}
        assert admin.leaders(load.topic) == preferred
        said = run(
            tools, ELECTION, "--election-type", "unclean", "--topic", load.topic, "--partition", 0
        ).stdout
        assert "already elected" in said
        load.await_progress()
        assert load.finish() > 0


def test_unregister(cluster: LocalCluster, tools: Jvm) -> None:
    """The last test: a broker less."""
    alive = tools.tool(CLUSTER, "unregister", "--bootstrap-server", tools.bootstrap, "--id", 4)
    assert "alive" in alive.stdout + alive.stderr
    cluster.stop([4])
    said = tools.tool(CLUSTER, "unregister", "--bootstrap-server", tools.bootstrap, "--id", 4)
    assert "Broker 4 is no longer registered." in said.stdout, said
    again = tools.tool(CLUSTER, "unregister", "--bootstrap-server", tools.bootstrap, "--id", 4)
    assert "not currently registered" in again.stdout + again.stderr
    with Admin(f"127.0.0.1:{cluster.nodes[0].port}") as admin:
        assert admin.reassigning() == 0
