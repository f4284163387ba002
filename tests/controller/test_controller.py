"""The controller's shell: commits, published images, restarts, rivals."""

from __future__ import annotations

import asyncio
import gc
import itertools
import time
from pathlib import Path

import pytest

from kproto.config import load
from kproto.controller import (
    ConfigChange,
    ConfigOp,
    Controller,
    NewPartitions,
    NewTopic,
    OpType,
    ResourceType,
    TopicRef,
)
from kproto.controller.decision import Decision
from kproto.controller.fencing import decide_fence
from kproto.controller.leader_choice import decide_unregister
from kproto.controller.registration import Registration
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, StoreError
from kproto.metadata.memory import MemoryStore
from kproto.metadata.sqlite import SqliteStore

from .worlds import run, started

RETENTION = ConfigOp("retention.ms", OpType.SET, "5")


def test_images_are_published_in_order_before_the_call_returns() -> None:
    async def body() -> None:
        controller = await started()
        seen: list[MetadataImage] = []
        controller.subscribe(seen.append)
        await controller.create_topics([NewTopic("a"), NewTopic("b")])
        assert [sorted(image.topics) for image in seen] == [["a", "b"]]
        await asyncio.gather(*(controller.create_topics([NewTopic(f"c{number}")]) for number in range(5)))
        await controller.delete_topics([TopicRef("a")])
        await controller.create_partitions([NewPartitions("b", 3)])
        assert [image.revision for image in seen] == [seen[0].revision + step for step in range(8)]
        assert all(after.base_revision == before.revision for before, after in itertools.pairwise(seen))
        assert seen[-1] is controller.image
        assert seen[-1].topics["b"].partitions == 3

    run(body)


def test_a_broker_that_is_away_has_configs() -> None:
    """Until it is forgotten: what was said about it can be taken back meanwhile."""

    async def body() -> None:
        controller = await started(brokers=2)

        async def change(op: int, value: str | None) -> KafkaError | None:
            ops = [ConfigOp("kproto.drain", op, value)]
            (error,) = await controller.alter_configs([ConfigChange(ResourceType.BROKER, "2", ops)])
            return error

        assert await change(OpType.SET, "true") is None
        epoch = controller.image.brokers[2].epoch
        await controller.decide(lambda: decide_fence(controller.image, 2, epoch))
        assert 2 not in controller.image.brokers
        assert await change(OpType.DELETE, None) is None
        assert not controller.image.broker_configs(2)
        await controller.decide(lambda: decide_unregister(controller.image, controller.table, 2))
        error = await change(OpType.DELETE, None)
        assert error is not None
        assert error.code is ErrorCode.INVALID_REQUEST

    run(body)


def test_what_a_listener_makes_of_an_image_is_no_matter_of_who_proposed_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was committed: who had asked for it got the error of somebody else, and the others no image."""

    async def body() -> None:
        controller = await started()
        seen: list[MetadataImage] = []
        changed: list[int] = []

        def fail(_: object) -> None:
            raise ValueError("what is this?")

        controller.subscribe(fail)
        controller.subscribe(seen.append)
        controller.subscribe_changes(fail)
        controller.subscribe_changes(lambda change: changed.append(change.revision))
        (outcome,) = await controller.create_topics([NewTopic("a")])
        assert outcome.error is None
        assert seen == [controller.image]
        assert changed == [controller.image.revision]

    run(body)
    assert len(caplog.messages) == 2


def test_validate_only_and_refusals_change_nothing() -> None:
    async def body() -> None:
        controller = await started()
        before = controller.image
        outcome = (await controller.create_topics([NewTopic("a", 3, 1)], validate_only=True))[0]
        assert outcome.error is None
        assert outcome.topic is not None
        assert outcome.topic.partitions == 3
        await controller.create_topics([NewTopic("a/b")])
        await controller.delete_topics([TopicRef("none")])
        change = ConfigChange(ResourceType.BROKER, "1", [ConfigOp("log.retention.ms", OpType.SET, "5")])
        assert await controller.alter_configs([change], validate_only=True) == [None]
        assert controller.image is before

    run(body)


def test_a_restart_bumps_the_leader_epochs_of_the_brokers_own_streamlets(tmp_path: Path) -> None:
    """Rules 2 and 2b: a new broker epoch at every start, leader epoch + 1 for everything it leads."""

    async def body() -> None:
        store = await SqliteStore.open(tmp_path / "metadata.db")
        controller = await started(store, brokers=2)
        await controller.create_topics([NewTopic("one", 3, 1, ((0, (1,)), (1, (2,)), (2, (1,))), {})])
        refused = controller.image.topics.get("one")
        assert refused is None, "partitions and an assignment exclude each other"
        await controller.create_topics([NewTopic("one", assignments=((0, (1,)), (1, (2,)), (2, (1,))))])
        cluster_id = controller.image.cluster_id
        await store.close()

        store = await SqliteStore.open(tmp_path / "metadata.db")
        controller = Controller(store, load(), 1)
        await controller.start()
        broker = await controller.register_broker(Registration(1, "elsewhere", 1234, "rack"))
        assert broker.epoch == 3
        image = controller.image
        assert image.cluster_id == cluster_id
        assert len(cluster_id) == 22
        assert image.brokers[1].host == "elsewhere"
        assert [image.leader_epoch("one", partition) for partition in range(3)] == [1, 0, 1]
        assert image.controller_id == 1
        await store.close()

    run(body)


def test_producer_ids_are_never_given_twice() -> None:
    async def body() -> None:
        store = MemoryStore()
        controller = await started(store)
        first = await asyncio.gather(*(controller.next_producer_id() for _ in range(2500)))
        again = await started(store)
        second = [await again.next_producer_id() for _ in range(10)]
        blocks = [await again.allocate_producer_ids() for _ in range(2)]
        assert sorted(first) == list(range(2500))
        assert second == list(range(3000, 3010))
        assert blocks == [(4000, 1000), (5000, 1000)]

    run(body)


def test_a_controller_that_was_replaced_commits_nothing() -> None:
    async def body() -> None:
        store = MemoryStore()
        old = await started(store)
        old.others_answer = True
        await old.create_topics([NewTopic("before")])
        new = await started(store)
        await new.create_topics([NewTopic("mine")])
        raised = [
            old.create_topics([NewTopic("late")]),
            old.auto_create(["late"]),
            old.create_partitions([NewPartitions("before", 3)]),
            old.delete_topics([TopicRef("before")]),
            old.alter_configs([ConfigChange(ResourceType.TOPIC, "before", [RETENTION])]),
            old.register_broker(Registration(1, "h", 1)),
        ]
        for call in raised:
            with pytest.raises(KafkaError) as refused:
                await call
            assert refused.value.code is ErrorCode.NOT_CONTROLLER
        old.others_answer = False  # nobody would ask the next one: clients are told
        (late,) = await old.create_topics([NewTopic("late")])
        assert late.error is not None
        assert late.error.code is ErrorCode.NOT_CONTROLLER
        assert set(old.image.topics) == {"before"}
        assert set((await started(store)).image.topics) == {"before", "mine"}

    run(body)


def test_two_controllers_starting_at_once_leave_one() -> None:
    async def body() -> None:
        store = MemoryStore()

        class Slow(MemoryStore):
            async def range(self, prefix: str):  # type: ignore[no-untyped-def]
                found = await store.range(prefix)
                await asyncio.sleep(0.01)
                return found

            async def transact(self, *args, **kwargs):  # type: ignore[no-untyped-def]
                return await store.transact(*args, **kwargs)

        results = await asyncio.gather(
            *(Controller(Slow(), load(), node).start() for node in (1, 2)), return_exceptions=True
        )
        failed = [each for each in results if isinstance(each, StoreError)]
        assert len(failed) == 1

    run(body)


def test_a_caller_that_goes_away_does_not_tear_image_and_store_apart() -> None:
    async def body() -> None:
        store = MemoryStore()
        controller = await started(store)
        call = asyncio.ensure_future(controller.create_topics([NewTopic("kept")]))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await controller.create_topics([NewTopic("next")]))[0].error is None
        revision, entries = await store.range("topics/")
        assert sorted(controller.image.topics) == ["kept", "next"] == [entry.key[7:] for entry in entries]
        assert revision == controller.image.revision

    run(body)


@pytest.mark.parametrize("end", ["another controller", "a stop"])
def test_nobody_waits_for_what_is_refused_at_the_end_of_a_controller(tmp_path: Path, end: str) -> None:
    """The caller was cancelled, as loops are when the lease is gone, or a broker with the controller stops
    while something is proposed: no traceback in the log for the rest."""

    async def body() -> None:
        store = await SqliteStore.open(tmp_path / "metadata.db")
        controller = await started(store)
        told: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: told.append(said["message"]))
        async with controller._busy:
            call = asyncio.ensure_future(controller.allocate_producer_ids())
            for _ in range(3):
                await asyncio.sleep(0)
            call.cancel()
            if end == "a stop":
                await store.close()
            else:
                controller._depose("another controller has taken over")
        with pytest.raises(asyncio.CancelledError):
            await call
        while controller._running:
            await asyncio.sleep(0)
        gc.collect()
        assert told == []

    run(body)


def test_a_decision_that_fails_is_told_though_nobody_waits(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Decision[None]:
        raise ZeroDivisionError

    async def body() -> None:
        controller = await started()
        call = asyncio.ensure_future(controller.decide(broken))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while controller._running:
            await asyncio.sleep(0)
        assert "a decision failed that nobody waits for any more" in caplog.text
        assert "ZeroDivisionError" in caplog.text

    run(body)


def test_a_full_store_is_an_error_code_for_every_item_and_the_next_call_works(tmp_path: Path) -> None:
    async def limit(store: SqliteStore, pages: int) -> None:
        await store._submit(
            lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        )

    async def body() -> None:
        store = await SqliteStore.open(tmp_path / "metadata.db")
        controller = await started(store)
        await controller.create_topics([NewTopic("old")])
        before = controller.image
        await limit(
            store,
            await store._submit(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0]),
        )
        big = NewTopic("big", 2000, 1)
        throttled = ConfigOp("leader.replication.throttled.replicas", OpType.SET, ",".join(["0:1"] * 8_000))
        change = ConfigChange(ResourceType.TOPIC, "old", [throttled])
        outcomes = await controller.create_topics([big, NewTopic("other")])
        outcomes += await controller.create_partitions([NewPartitions("old", 2000)])
        errors = [outcome.error for outcome in outcomes] + await controller.alter_configs([change])
        assert [error.code if error else None for error in errors] == [ErrorCode.KAFKA_STORAGE_ERROR] * 4
        assert controller.image is before
        await limit(store, 100_000)
        assert (await controller.create_topics([big]))[0].error is None
        await store.close()
        (gone,) = await controller.delete_topics([TopicRef("old")])
        assert gone.error is not None
        assert gone.error.code is ErrorCode.KAFKA_STORAGE_ERROR

    run(body)


def test_offsets_topic_is_created_once() -> None:
    async def body() -> None:
        controller = await started()
        topics = await asyncio.gather(*(controller.ensure_offsets_topic() for _ in range(3)))
        assert len({topic.topic_id for topic in topics}) == 1
        assert topics[0].partitions == 50
        auto = await controller.auto_create(["__consumer_offsets", "mine"])
        assert [outcome.error.code if outcome.error else None for outcome in auto] == [
            ErrorCode.TOPIC_ALREADY_EXISTS,
            None,
        ]

    run(body)


def test_five_thousand_partitions_are_created_and_restarted_fast(tmp_path: Path) -> None:
    """Ten batches of 500 topics, then one topic of 5,000; then a restart that bumps 10,000 leader epochs."""

    async def body() -> None:
        store = await SqliteStore.open(tmp_path / "metadata.db")
        controller = await started(store)
        began = time.process_time()
        for batch in range(10):
            outcomes = await controller.create_topics([NewTopic(f"t-{batch}-{n}", 1, 1) for n in range(500)])
            assert all(outcome.error is None for outcome in outcomes)
        assert (await controller.create_topics([NewTopic("big", 5000, 1)]))[0].error is None
        created = time.process_time() - began
        await store.close()

        store = await SqliteStore.open(tmp_path / "metadata.db")
        controller = Controller(store, load(), 1)
        began = time.process_time()
        await controller.start()
        await controller.register_broker(Registration(1, "h", 1))
        restarted = time.process_time() - began
        assert controller.image.leader_epoch("big", 4999) == 1
        assert created < 10, "0.3 s of CPU time on a quick machine; minutes if each topic cost what all cost"
        assert restarted < 10, "0.2 s; the same"
        await store.close()

    run(body)
