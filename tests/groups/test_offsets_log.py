"""The durable map: packing, order, loading, and that a checkpoint loses nothing, wherever it is cut."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups.offsets_log import OLDEST_MS, KeyedLog
from tests.groups.memory_log import MemoryLog


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 120))


def keyed(port: MemoryLog, garbage_bytes: int = 1 << 40) -> KeyedLog:
    return KeyedLog(port, 0, lambda: 1234, garbage_bytes)


async def reload(port: MemoryLog) -> dict[bytes, bytes]:
    log = keyed(port)
    await log.load()
    return {key: stored.value for key, stored in log.live.items()}


def test_all_writes_of_one_turn_leave_as_one_batch() -> None:
    async def scenario() -> None:
        port = MemoryLog()
        log = keyed(port)
        done: list[ErrorCode] = []
        for i in range(100):
            log.put([(b"k%d" % i, b"v")], done.append)
        await asyncio.sleep(0)
        assert port.appends == 1
        assert done == [ErrorCode.NONE] * 100
        assert len(await reload(port)) == 100

    run(scenario())


def test_what_is_replaced_in_its_turn_is_not_written_and_ends_with_what_replaces_it() -> None:
    async def scenario() -> None:
        port = MemoryLog(auto=False)
        log = keyed(port)
        done: list[str] = []

        def put(name: str, *keys: bytes) -> None:
            log.put([(key, name.encode()) for key in keys], lambda code: done.append(f"{name} {code.name}"))

        for i in range(3):
            put(f"group {i}", b"g")
        put("other", b"o")
        put("both", b"o", b"g")
        put("last", b"g")
        put("last but one", b"h")
        put("group", b"g")
        assert len(log._queue) == 5
        idle: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        log.when_idle(idle)
        await asyncio.sleep(0)
        assert port.partition(0).end == 6
        assert not done
        assert sorted(log.keys_underway()) == [b"g", b"h", b"o"]
        port.partition(0).sync()
        names = ["group 0", "group 1", "group 2", "other", "both", "last but one", "last", "group"]
        assert done == [f"{name} NONE" for name in names]
        assert idle.done()
        assert log.idle
        assert not log.keys_underway()
        assert await reload(port) == {b"g": b"group", b"h": b"last but one", b"o": b"both"}
        put("refused", b"g")
        put("refused, too", b"g")
        log.close()
        await asyncio.sleep(0)
        assert done[-2:] == ["refused NOT_LEADER_OR_FOLLOWER", "refused, too NOT_LEADER_OR_FOLLOWER"]
        assert log.idle
        assert not log.keys_underway()

    run(scenario())


def test_large_writes_are_split_between_batches_never_inside() -> None:
    async def scenario() -> None:
        port = MemoryLog()
        log = keyed(port)
        for i in range(10):
            log.put([(b"a%d" % i, bytes(40_000)), (b"b%d" % i, bytes(40_000))], None)
        await asyncio.sleep(0)
        assert 2 <= port.appends <= 5
        assert len(await reload(port)) == 20

    run(scenario())


def test_no_batch_is_larger_than_the_log_takes_and_one_refused_write_takes_no_other_with_it() -> None:
    async def scenario() -> None:
        port = MemoryLog()
        port.most = 10_000
        log = keyed(port, garbage_bytes=100_000)
        done: list[ErrorCode] = []
        for i in range(1000):
            log.put([(b"k%d" % (i % 100), bytes(i))], done.append)
            if i == 500:
                log.put([(b"large", bytes(10_000))], done.append)
            if i % 100 == 99:
                await asyncio.sleep(0)
        assert done.count(ErrorCode.NONE) == 1000
        assert done.count(ErrorCode.MESSAGE_TOO_LARGE) == 1
        while not log.checkpoints:
            await asyncio.sleep(0)
        assert log.checkpoints == 1
        assert len(await reload(port)) == 100

    run(scenario())


def test_a_write_that_fails_in_a_way_nobody_expects_ends() -> None:
    """Groups wait for what they store without a deadline, and who asks for offsets for what is under way."""

    class Full(MemoryLog):
        failures = 1

        def append(
            self, index: int, batch: bytearray, done: Callable[[int, KafkaError | None], None]
        ) -> None:
            if self.failures:
                self.failures -= 1
                raise MemoryError
            super().append(index, batch, done)

    async def scenario() -> None:
        port = Full()
        port.most = 1000
        log = keyed(port)
        done: list[ErrorCode] = []
        log.put([(b"first", bytes(700))], done.append)
        log.put([(b"second", bytes(700))], done.append)
        await asyncio.sleep(0)
        assert done == [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE]
        assert log.idle
        assert not log.keys_underway()
        log.put([(b"first", b"again")], done.append)
        await asyncio.sleep(0)
        assert done[2:] == [ErrorCode.NONE]
        assert (await reload(port)).keys() == {b"first", b"second"}

    run(scenario())


@pytest.mark.parametrize("fails", ["told", "noted", "told of a refusal"])
def test_a_write_that_ends_in_a_way_nobody_expects_keeps_no_other(
    monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """As above; nor is anything said to be stored that is not in the map."""

    async def scenario() -> None:
        port = MemoryLog(auto=False)
        port.most = 1000
        log = keyed(port)
        done: list[ErrorCode] = []
        apply = log._apply

        def failing(*_: object) -> None:
            monkeypatch.setattr(log, "_apply", apply)
            raise MemoryError

        log.put([(b"first", bytes(700))], failing if fails != "noted" else done.append)
        if fails == "noted":
            monkeypatch.setattr(log, "_apply", failing)
        elif fails == "told of a refusal":
            port.room = 700
        log.put([(b"second", b"2")], done.append)
        log.put([(b"third", bytes(400))], done.append)
        idle: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        log.when_idle(idle)
        await asyncio.sleep(0)
        while port.partition(0).waiting:
            try:
                port.partition(0).sync(1)
            except MemoryError:  # the virtual log goes on with the others, too
                pass
        refused = ErrorCode.KAFKA_STORAGE_ERROR
        expected = {
            "told": [ErrorCode.NONE, ErrorCode.NONE],
            "noted": [refused, refused, ErrorCode.NONE],
            "told of a refusal": [refused, ErrorCode.NONE],
        }
        assert done == expected[fails]
        assert log.live.keys() == ({b"first", b"second", b"third"} if fails == "told" else {b"third"})
        assert idle.done()
        assert log.idle
        assert not log.keys_underway()

    run(scenario())


def test_a_checkpoint_that_fails_is_not_tried_with_every_write() -> None:
    """Each try writes anew what is live."""

    async def scenario() -> None:
        port = MemoryLog()
        log = keyed(port, garbage_bytes=20_000)
        for i in range(50):
            log.put([(b"live%d" % i, bytes(50))], None)
        log.put([(b"large", bytes(5_000))], None)
        await asyncio.sleep(0)
        port.most = 1_000
        for _ in range(1000):
            log.put([(b"k", bytes(100))], None)
            await asyncio.sleep(0)
        written = sum(len(batch) for _, _, batch in port.partition(0).batches)
        assert written < 2 * 1000 * 200
        port.most = 10_000
        for _ in range(3_000):
            log.put([(b"k", bytes(100))], None)
            await asyncio.sleep(0)
        assert log.checkpoints
        assert len(await reload(port)) == 52

    run(scenario())


def test_nothing_is_reported_or_visible_before_it_is_durable() -> None:
    async def scenario() -> None:
        port = MemoryLog(auto=False)
        log = keyed(port)
        done: list[str] = []
        log.put([(b"k", b"1")], lambda _: done.append("1"))
        await asyncio.sleep(0)
        log.put([(b"k", b"2")], lambda _: done.append("2"))
        idle = asyncio.get_running_loop().create_future()
        log.when_idle(idle)
        log.put([(b"k", None)], lambda _: done.append("deleted"))
        await asyncio.sleep(0)
        assert not done
        assert not log.live
        port.partition(0).sync(1)
        assert done == ["1"]
        assert log.live[b"k"].value == b"1"
        assert not idle.done()
        port.partition(0).sync()
        assert done == ["1", "2", "deleted"]
        assert idle.done()
        assert not log.live
        assert log.idle

    run(scenario())


def test_who_waits_no_more_for_a_write_that_hangs_is_forgotten() -> None:
    """A fetch of offsets gives up after ``offsets.commit.timeout.ms`` and comes again: each was kept until
    the write was durable. One that waits without a limit, as a checkpoint does, is before them and stays."""

    async def scenario() -> None:
        port = MemoryLog(auto=False)
        log = keyed(port)
        log.put([(b"k", b"1")], None)
        await asyncio.sleep(0)
        patient, *others = (asyncio.get_running_loop().create_future() for _ in range(4))
        for waiter in (patient, *others):
            log.when_idle(waiter)
        others[0].set_result(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        others[1].cancel()
        await asyncio.sleep(0)
        assert list(log._idle_waiters) == [patient, others[2]]
        others[2].set_result(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        port.partition(0).sync()
        assert patient.result() is ErrorCode.NONE
        assert others[2].result() is ErrorCode.COORDINATOR_NOT_AVAILABLE
        await asyncio.sleep(0)
        assert not log._idle_waiters

    run(scenario())


def test_a_refused_write_changes_nothing_and_later_ones_work() -> None:
    async def scenario() -> None:
        port = MemoryLog()
        log = keyed(port)
        log.put([(b"k", b"1")], None)
        await asyncio.sleep(0)
        port.refuse = ErrorCode.KAFKA_STORAGE_ERROR
        done: list[ErrorCode] = []
        log.put([(b"k", b"2")], done.append)
        await asyncio.sleep(0)
        assert done == [ErrorCode.KAFKA_STORAGE_ERROR]
        assert log.live[b"k"].value == b"1"
        with pytest.raises(KafkaError):
            await log.checkpoint()
        port.refuse = None
        log.put([(b"k", b"3")], done.append)
        await asyncio.sleep(0)
        assert await reload(port) == {b"k": b"3"}
        await log.checkpoint()
        assert await reload(port) == {b"k": b"3"}

    run(scenario())


def test_what_is_old_is_written_again_though_it_is_little() -> None:
    """In a cluster an old commit keeps copies of whatever else is in its virtual segment."""
    now = 0

    async def scenario() -> None:
        nonlocal now
        port = MemoryLog()
        log = KeyedLog(port, 0, lambda: now, 1 << 40)

        async def commit(key: bytes, size: int = 20) -> None:
            log.put([(key, bytes(size))], None)
            while log._checkpoint is not None or not log.idle:
                await asyncio.sleep(0)

        await commit(b"quiet", 5_000)
        for _ in range(60):
            now += OLDEST_MS // 30
            await commit(b"busy")
        assert log.checkpoints == 1
        now += OLDEST_MS
        port.most, before = 1_000, port.appends  # the quiet one cannot be written again
        for _ in range(20):
            await commit(b"busy")
        assert log.checkpoints == 1
        assert port.appends < before + 25, "a try that failed is not made again with every write"
        port.most = 10_000
        now += OLDEST_MS + 1
        await commit(b"busy")
        assert log.checkpoints == 2
        again = KeyedLog(port, 0, lambda: now, 1 << 40)
        await again.load()
        assert again.live.keys() == {b"quiet", b"busy"}
        now += OLDEST_MS + 1
        again.put([(b"busy", b"last")], None)
        while again._checkpoint is not None or not again.idle:
            await asyncio.sleep(0)
        assert again.checkpoints == 1, "also of what an earlier process wrote"

    run(scenario())


def test_the_log_stays_bounded_under_endless_commits() -> None:
    async def scenario() -> None:
        port = MemoryLog()
        log = keyed(port, garbage_bytes=20_000)
        for i in range(5_000):
            log.put([(b"key-%d" % (i % 20), b"value-%d" % i)], None)
            if i % 3 == 0:
                await asyncio.sleep(0)
        while log._checkpoint is not None or not log.idle:
            await asyncio.sleep(0)
        assert log.checkpoints >= 3
        kept = sum(len(batch) for _, _, batch in port.partition(0).batches)
        assert kept < 45_000
        latest = {b"key-%d" % (i % 20): b"value-%d" % i for i in range(5_000)}
        assert await reload(port) == latest
        again = keyed(port)
        await again.load()
        assert again.garbage_bytes < 25_000

    run(scenario())


def test_while_copies_lack_nothing_is_given_up_that_may_have_more() -> None:
    """What was committed long ago would be on the copies that are left alone."""

    async def scenario() -> None:
        port = MemoryLog()
        log = keyed(port, garbage_bytes=20_000)

        async def commit(times: int) -> None:
            for _ in range(times):
                log.put([(b"busy", bytes(1_000))], None)
                await asyncio.sleep(0)
            while log._checkpoint is not None:
                await asyncio.sleep(0)

        log.put([(b"quiet", b"1")], None)
        await asyncio.sleep(0)
        port.lacking = True
        await commit(100)
        assert (log.checkpoints, port.appends) == (0, 101), "nothing is written again either"
        with pytest.raises(KafkaError):
            await log.checkpoint()
        assert (port.partition(0).start, port.appends) == (0, 101)
        port.lacking = False
        await commit(1)
        assert log.checkpoints == 1, "as soon as the copies are back"
        assert port.partition(0).start == 102

    run(scenario())


def test_where_copies_lack_for_ever_the_log_stays_bounded() -> None:
    async def scenario() -> None:
        port = MemoryLog()
        port.lacking = True
        log = keyed(port, garbage_bytes=20_000)
        for i in range(1_000):
            log.put([(b"key-%d" % (i % 20), bytes(1_000))], None)
            await asyncio.sleep(0)
        while log._checkpoint is not None:
            await asyncio.sleep(0)
        assert 2 <= log.checkpoints <= 6
        assert sum(len(batch) for _, _, batch in port.partition(0).batches) < 400_000
        assert len(await reload(port)) == 20

    run(scenario())


@pytest.mark.parametrize("others", [True, False], ids=["a write of somebody else", "what is written again"])
@pytest.mark.parametrize("told", [True, False], ids=["refused", "allowed"])
def test_what_gets_too_few_copies_during_a_checkpoint_replaces_nothing(others: bool, told: bool) -> None:
    """Whether min.insync.replicas refuses it or not; copies that are back do not have it."""

    async def scenario() -> None:
        port = MemoryLog(auto=False)
        log = keyed(port)
        log.put([(b"k", b"1")], None)
        await asyncio.sleep(0)
        port.partition(0).sync()
        checkpoint = asyncio.get_running_loop().create_task(log.checkpoint())
        if others:
            log.put([(b"k", b"2")], None)
        while not port.partition(0).waiting:
            await asyncio.sleep(0)
        port.lacking = True
        port.partition(0).sync(error=ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND if told else ErrorCode.NONE)
        port.lacking = False
        with pytest.raises(KafkaError):
            await checkpoint
        assert port.partition(0).start == 0
        assert await reload(port) == {b"k": b"2" if others else b"1"}
        again = asyncio.get_running_loop().create_task(log.checkpoint())
        while not again.done():
            port.partition(0).sync()
            await asyncio.sleep(0)
        assert port.partition(0).start == 2
        assert log.checkpoints == 1

    run(scenario())


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_a_crash_anywhere_in_a_checkpoint_loses_nothing(seed: int) -> None:
    """Random writes, deletions, durability and refusals; checkpoints in between; then a crash and a reload:
    every key has its last acknowledged value or a later one that was written but not acknowledged."""
    rng = random.Random(seed)

    async def scenario() -> None:
        port = MemoryLog(auto=False)
        log = keyed(port)
        acked: dict[bytes, int] = {}
        history: dict[bytes, list[bytes | None]] = {}
        checkpoint: asyncio.Task[None] | None = None
        for _ in range(rng.randrange(1, 60)):
            action = rng.random()
            if action < 0.5:
                pairs: list[tuple[bytes, bytes | None]] = []
                for key in rng.sample([b"a", b"b", b"c", b"d", b"e"], rng.randrange(1, 4)):
                    versions = history.setdefault(key, [None])
                    value = None if rng.random() < 0.2 else b"%s%d" % (key, len(versions))
                    versions.append(value)
                    pairs.append((key, value))
                numbers = {key: len(history[key]) - 1 for key, _ in pairs}
                log.put(pairs, lambda code, numbers=numbers: acked.update(numbers) if not code else None)
            elif action < 0.75:
                port.partition(0).sync(rng.randrange(1, 3))
            elif action < 0.85 and (checkpoint is None or checkpoint.done()):
                checkpoint = asyncio.get_running_loop().create_task(log.checkpoint())
            else:
                port.refuse = ErrorCode.KAFKA_STORAGE_ERROR if rng.random() < 0.2 else None
            for _ in range(rng.randrange(3)):
                await asyncio.sleep(0)
        if checkpoint is not None:
            checkpoint.cancel()
            await asyncio.gather(checkpoint, return_exceptions=True)
        port.partition(0).crash()
        found = await reload(port)
        for key, versions in history.items():
            allowed = versions[acked.get(key, 0) :]
            assert found.get(key) in allowed, (
                f"{key!r}: {found.get(key)!r} is older than what was acknowledged"
            )

    run(scenario())


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_a_checkpoint_under_load_ends_and_keeps_what_is_live(seed: int) -> None:
    rng = random.Random(seed)

    async def scenario() -> None:
        port = MemoryLog(auto=False)
        log = keyed(port)
        truth: dict[bytes, bytes] = {}
        checkpoint: asyncio.Task[None] | None = None
        for i in range(60):
            key = b"k%d" % rng.randrange(8)
            if rng.random() < 0.15:
                log.put([(key, None)], None)
                truth.pop(key, None)
            else:
                log.put([(key, b"%d" % i)], None)
                truth[key] = b"%d" % i
            if i == 20:
                checkpoint = asyncio.get_running_loop().create_task(log.checkpoint())
            if rng.random() < 0.6:
                port.partition(0).sync(rng.randrange(1, 4))
            await asyncio.sleep(0)
        assert checkpoint is not None
        while not checkpoint.done():
            port.partition(0).sync()
            await asyncio.sleep(0)
        checkpoint.result()
        port.partition(0).sync()
        await asyncio.sleep(0)
        port.partition(0).sync()
        assert port.partition(0).start > 0
        assert {key: stored.value for key, stored in log.live.items()} == truth
        assert await reload(port) == truth

    run(scenario())
