"""Groups on several brokers, with real logs: they are where their partition is led, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kproto.controller import NewTopic, TopicRef
from kproto.errors import ErrorCode
from kproto.handlers.groups import coordinator
from kproto.handlers.groups.offsets import Committed
from kproto.handlers.groups.records import partition_of
from kproto.metadata.records import RECOVERING
from kproto.wire.generated.join_group import JoinGroupRequestProtocol
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_fetch import OffsetFetchRequestTopic
from tests.groups.nodes import Cluster, Node, run, running, until
from tests.groups.world import COMMIT, FETCH, FIND, HEARTBEAT, JOIN, LIST, SYNC

GROUP = "g"
INDEX = partition_of(GROUP, 50)


@asynccontextmanager
async def prepared(tmp_path: Path, brokers: int = 2) -> AsyncIterator[tuple[Cluster, Node, Node]]:
    """Brokers: all, the coordinator of GROUP, and another one. The topic ``t`` exists."""
    async with running(tmp_path, brokers) as cluster:
        await cluster.controller.create_topics([NewTopic("t", 1, 1)])
        await cluster.nodes[1].call(FIND, 3, key=GROUP)
        here = cluster.leader(INDEX)
        yield cluster, cluster.nodes[here], cluster.nodes[1 if here == 2 else 2]


async def load_slowly(cluster: Cluster, here: Node, there: Node) -> None:
    """The group has been ``there``; now it is to be loaded ``here`` again, which is held up."""
    await cluster.lead(INDEX, there.node_id)
    here.port.gate.clear()
    await cluster.lead(INDEX, here.node_id)


def end_terms(node: Node) -> None:
    """The broker hears that it leads nothing any more, before its logs do."""
    node.groups._terms.clear()
    node.groups._end_terms()


async def commit(node: Node, offset: int) -> int:
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="t", partitions=[part])
    response = await node.call(COMMIT, 9, group_id=GROUP, topics=[topic])
    code: int = response.topics[0].partitions[0].error_code
    return code


async def committed(node: Node) -> tuple[int, int]:
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    response = await node.call(FETCH, 7, group_id=GROUP, topics=[topic])
    return response.error_code, response.topics[0].partitions[0].committed_offset if response.topics else -2


async def join(node: Node, member_id: str = "") -> Any:
    return await node.call(
        JOIN,
        3,
        group_id=GROUP,
        member_id=member_id,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


async def beat(node: Node) -> int:
    answer = await node.call(HEARTBEAT, 3, group_id=GROUP, generation_id=1, member_id="m")
    code: int = answer.error_code
    return code


async def found_by(node: Node, version: int = 3) -> tuple[int, int, str]:
    if version < 4:
        found = await node.call(FIND, version, key=GROUP)
    else:
        found = (await node.call(FIND, version, coordinator_keys=[GROUP])).coordinators[0]
    return found.error_code, found.node_id, found.host


def test_every_broker_knows_the_coordinator(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path, 3) as (cluster, here, there):
            for node in cluster.nodes.values():
                for version in range(7):
                    assert await found_by(node, version) == (0, here.node_id, f"host{here.node_id}")
            leaders = {cluster.leader(index) for index in range(50)}
            assert leaders == {1, 2, 3}, "the groups are spread over the brokers"
            await cluster.lead(INDEX, there.node_id)
            assert {await found_by(node) for node in cluster.nodes.values()} == {
                (0, there.node_id, f"host{there.node_id}")
            }

    run(scenario)


def test_a_group_moves_with_its_partition_and_comes_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit(here, 7) == 0
            assert await commit(there, 8) == ErrorCode.NOT_COORDINATOR
            assert await beat(there) == ErrorCode.NOT_COORDINATOR
            await cluster.lead(INDEX, there.node_id)
            assert await commit(here, 9) == ErrorCode.NOT_COORDINATOR
            assert await committed(there) == (0, -1), "one copy: its bytes stayed behind"
            assert await commit(there, 10) == 0
            await cluster.lead(INDEX, here.node_id)
            assert await committed(here) == (0, 7), "read again from its own log"
            assert await commit(there, 11) == ErrorCode.NOT_COORDINATOR
            assert await commit(here, 12) == 0
            assert await committed(here) == (0, 12)

    run(scenario)


def test_a_change_that_was_not_seen_is_with_the_next_one(tmp_path: Path) -> None:
    """Whatever that is about: an image says what became of the one before it, and of no other."""

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit(here, 3) == 0
            here.groups._closed = True
            await cluster.lead(INDEX, there.node_id)
            here.groups._closed = False
            assert here.loaded == [INDEX]
            image = cluster.controller.image
            here.groups.on_image(image._at(image.revision + 1))
            assert here.loaded == []

    run(scenario)


def test_what_is_taken_over_is_loaded_without_being_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert there.loaded == [], "a new offsets topic is loaded when it is used"
            await cluster.lead(INDEX, there.node_id)
            await until(lambda: there.loaded == [INDEX])
            assert INDEX not in here.loaded

    run(scenario)


def test_whoever_waits_is_sent_away_when_the_term_ends(tmp_path: Path) -> None:
    """Also when the broker leads again at once, in another leader epoch: what it knew is not enough."""

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            for epochs, leader in ((2, here), (1, there)):
                first = await join(here)
                assert first.error_code == 0
                waiting = asyncio.ensure_future(join(here))
                await asyncio.sleep(0.02)
                assert not waiting.done(), "it waits for the first member to join again"
                await cluster.lead(INDEX, leader.node_id, epochs)
                assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR

    run(scenario)


def test_nothing_is_written_after_the_term(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (_, here, _):
            assert await commit(here, 1) == 0
            shard = here.groups._shards[INDEX]
            end = here.offsets_partition(INDEX).log_end_offset
            answer = shard.commit(GROUP, [("t", 0, Committed(5, -1, "", 0))])
            shard.unload(ErrorCode.NOT_COORDINATOR)
            assert answer.result() is ErrorCode.NOT_COORDINATOR
            await asyncio.sleep(0.02)
            assert here.offsets_partition(INDEX).log_end_offset == end

    run(scenario)


def test_a_leader_that_rebuilds_its_partition_asks_for_patience(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            await cluster.lead(INDEX, there.node_id, state=RECOVERING)
            assert await found_by(here) == (0, there.node_id, f"host{there.node_id}")
            assert await commit(there, 1) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert (await join(there)).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert await beat(there) == 0, "blindly, as while a group is being loaded"
            assert await commit(here, 1) == ErrorCode.NOT_COORDINATOR
            assert await beat(here) == ErrorCode.NOT_COORDINATOR
            assert there.loaded == []
            assert (await there.call(LIST, 4)).error_code == 0
            await cluster.lead(INDEX, there.node_id, epochs=0)
            await until(lambda: INDEX in there.loaded)
            assert await commit(there, 2) == 0

    run(scenario)


def test_a_dead_leader_coordinates_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, _):
            for leader, state in ((9, 0), (9, RECOVERING), (-1, 0)):
                await cluster.lead(INDEX, leader, state=state)
                code, node_id, _ = await found_by(here)
                assert (code, node_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1)
                assert await commit(here, 1) == ErrorCode.NOT_COORDINATOR

    run(scenario)


def test_a_term_that_ends_while_loading_ends_the_loading(tmp_path: Path) -> None:
    """Requests that waited for the load are sent away, and a later term loads anew beside the old one."""

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit(here, 3) == 0
            await load_slowly(cluster, here, there)
            waiting = asyncio.ensure_future(commit(here, 4))
            await until(lambda: here.port.waiting == 1)
            await cluster.lead(INDEX, there.node_id)
            here.port.gate.set()
            assert await waiting == ErrorCode.NOT_COORDINATOR
            assert here.loaded == []
            here.port.gate.clear()
            await cluster.lead(INDEX, here.node_id)
            waiting = asyncio.ensure_future(commit(here, 4))
            await until(lambda: here.port.waiting == 1)
            await cluster.lead(INDEX, there.node_id)
            early, here.port.gate = here.port.gate, asyncio.Event()
            await cluster.lead(INDEX, here.node_id)
            later = asyncio.ensure_future(committed(here))
            await until(lambda: here.port.waiting == 2)
            early.set()
            assert await waiting == ErrorCode.NOT_COORDINATOR
            assert here.loaded == [], "what was loaded for the term before is not used"
            here.port.gate.set()
            assert await later == (0, 3)
            assert await commit(here, 5) == 0

    run(scenario)


def test_a_load_that_takes_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "LOAD_PATIENCE_S", 0.05)

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            there.port.gate.clear()
            await cluster.lead(INDEX, there.node_id)
            assert await commit(there, 4) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert await beat(there) == 0
            there.port.gate.set()
            assert await commit(there, 4) == 0
            assert await committed(there) == (0, 4)
            assert INDEX not in here.loaded

    run(scenario)


def test_a_load_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "LOAD_RETRY_S", 0.02)

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, _, there):
            there.port.gate = None  # type: ignore[assignment]
            await cluster.lead(INDEX, there.node_id)
            await until(lambda: there.port.waiting >= 2)
            assert there.loaded == []
            there.port.gate = asyncio.Event()
            there.port.gate.set()
            await until(lambda: there.loaded == [INDEX])

    run(scenario)


def test_commits_fail_when_ownership_is_lost(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (_, here, _):
            assert await commit(here, 3) == 0
            partition = here.offsets_partition(INDEX)
            shard = here.groups._shards[INDEX]
            end = partition.log_end_offset
            answer = shard.commit(GROUP, [("t", 0, Committed(5, -1, "", 0))])
            shard.log._flush()
            assert partition.log_end_offset == end + 1, "appended, not durable yet"
            here.lose_ownership()
            assert answer.result() is ErrorCode.NOT_COORDINATOR
            assert (await committed(here))[1] == 3, "what may not survive is not shown"
            assert await commit(here, 6) == ErrorCode.NOT_COORDINATOR
            assert partition.log_end_offset == end + 1

    run(scenario)


def test_offsets_that_waited_for_a_commit_are_not_told_when_the_group_moved(tmp_path: Path) -> None:
    """No offset without an error would mean that there is none: the consumer would begin elsewhere."""

    async def scenario() -> None:
        async with prepared(tmp_path) as (_, here, _):
            assert await commit(here, 3) == 0
            shard = here.groups._shards[INDEX]
            shard.commit(GROUP, [("t", 0, Committed(5, -1, "", 0))])
            topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
            asked = asyncio.ensure_future(
                here.call(FETCH, 7, group_id=GROUP, topics=[topic], require_stable=True)
            )
            await asyncio.sleep(0)
            assert not shard.log.idle, "appended, not durable yet"
            end_terms(here)
            here.lose_ownership()
            answer = await asked
            assert (answer.error_code, answer.topics) == (ErrorCode.NOT_COORDINATOR, [])

    run(scenario)


def test_a_group_that_moves_when_it_has_just_been_read_has_no_offsets_to_tell(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit(here, 3) == 0
            await load_slowly(cluster, here, there)
            asked = asyncio.ensure_future(committed(here))
            await asyncio.sleep(0)

            moves: asyncio.Future[None] = asyncio.Future()
            here.groups._loading[INDEX].waiting[moves] = lambda _: end_terms(here)
            here.port.gate.set()
            assert await asked == (ErrorCode.NOT_COORDINATOR, -2)

    run(scenario)


def test_a_deleted_offsets_topic_has_no_coordinators(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, _):
            assert await commit(here, 3) == 0
            await cluster.controller.delete_topics([TopicRef(name="__consumer_offsets")])
            assert here.loaded == []
            assert await commit(here, 4) == ErrorCode.NOT_COORDINATOR
            assert (await found_by(here))[0] == 0, "created anew"

    run(scenario)


def test_what_was_being_read_of_a_deleted_offsets_topic_is_not_used_for_the_next(tmp_path: Path) -> None:
    """That begins with the same leader epochs. Its groups were refused for ever: their log was closed."""

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, _):
            early, later = asyncio.Event(), asyncio.Event()
            here.port.gate = early
            waiting = asyncio.ensure_future(commit(here, 3))
            await until(lambda: here.port.waiting == 1)
            term, loading = here.groups._terms[INDEX], here.groups._loading[INDEX].task
            here.port.gate = later
            await cluster.controller.delete_topics([TopicRef(name="__consumer_offsets")])
            assert await waiting == ErrorCode.NOT_COORDINATOR
            assert (await found_by(here))[:2] == (0, here.node_id)
            assert here.groups._terms[INDEX] == term
            early.set()
            await asyncio.wait([loading])
            later.set()
            assert await commit(here, 4) == 0
            assert await committed(here) == (0, 4)

    run(scenario)


def test_groups_are_listed_while_one_of_their_partitions_leaves(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            await here.call(LIST, 4)
            assert await commit(here, 3) == 0
            others = [index for index in here.loaded if index != INDEX]
            await load_slowly(cluster, here, there)
            listing = asyncio.ensure_future(here.call(LIST, 4))
            await until(lambda: here.port.waiting)
            await cluster.lead(INDEX, there.node_id)
            here.port.gate.set()
            answer = await listing
            assert (answer.error_code, answer.groups) == (0, [])
            assert here.loaded == others

    run(scenario)


def test_offsets_of_a_deleted_topic_go_wherever_their_group_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit(here, 3) == 0
            await cluster.lead(INDEX, there.node_id)
            await cluster.lead(INDEX, here.node_id)
            await until(lambda: INDEX in here.loaded)
            end = here.offsets_partition(INDEX).log_end_offset
            await cluster.controller.delete_topics([TopicRef(name="t")])
            await until(lambda: here.offsets_partition(INDEX).log_end_offset == end + 1)
            await cluster.controller.create_topics([NewTopic("t", 1, 1)])
            assert await committed(here) == (0, -1)

    run(scenario)


def test_a_member_that_syncs_while_its_group_is_loaded_joins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Apache Kafka: COORDINATOR_LOAD_IN_PROGRESS is an answer that Java's clients do not know here."""
    monkeypatch.setattr(coordinator, "LOAD_PATIENCE_S", 0.05)

    async def scenario() -> None:
        async with prepared(tmp_path) as (cluster, here, _):
            first = await join(here)
            assert first.error_code == 0

            async def sync() -> ErrorCode:
                member = {"generation_id": first.generation_id, "member_id": first.member_id}
                return ErrorCode((await here.call(SYNC, 3, group_id=GROUP, **member)).error_code)

            await cluster.lead(INDEX, here.node_id, state=RECOVERING)
            assert await sync() is ErrorCode.REBALANCE_IN_PROGRESS
            here.port.gate.clear()
            await cluster.lead(INDEX, here.node_id)
            assert await sync() is ErrorCode.REBALANCE_IN_PROGRESS

    run(scenario)
