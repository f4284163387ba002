"""Segment memory: reuse only when nobody looks, and a budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproto.config import load
from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.log.blocks import SIZES, BlockPool
from kproto.log.partition import Partition
from kproto.wire.records import Producer
from tests.log.support import Log, batch, everything, in_memory


def pool(budget: int = 1 << 20, *, stuck: bool = False) -> BlockPool:
    return BlockPool(budget, budget * 2, lambda: False, lambda: stuck)


def test_memory_is_reused_when_nobody_looks() -> None:
    blocks = pool()
    first = blocks.take(0)
    assert first is not None
    data = first.data
    blocks.release(first)
    second = blocks.take(0)
    assert second is not None
    assert second.data is data
    assert blocks.used == SIZES[0]


def test_memory_that_there_is_not_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing could be stored any more once there is memory again."""
    blocks = pool()

    def failing(size: int) -> bytearray:
        raise MemoryError(size)

    with monkeypatch.context() as patched:
        patched.setattr("kproto.log.blocks.bytearray", failing, raising=False)
        for take in (blocks.take, blocks.take_large):
            with pytest.raises(MemoryError):
                take(len(SIZES) - 1)
    assert blocks.used == 0


def test_memory_that_is_being_sent_rests() -> None:
    blocks = pool()
    first = blocks.take(0)
    assert first is not None
    data, answer = first.data, first.view[:100]
    blocks.release(first)
    other = blocks.take(0)
    assert other is not None
    assert other.data is not data
    answer.release()
    third = blocks.take(0)
    assert third is not None
    assert third.data is data


def test_the_budget_bends_while_data_is_on_its_way_and_not_when_the_disk_is_full() -> None:
    bending, full = pool(SIZES[3]), pool(SIZES[3], stuck=True)
    assert bending.take(3) is not None
    assert bending.take(3) is not None
    assert bending.take(3) is None
    assert full.take(3) is not None
    assert full.take(3) is None


def test_given_memory_counts_once_and_as_a_whole() -> None:
    blocks = pool()
    frame = bytearray(300_000)
    first, second = blocks.adopt(memoryview(frame)[:100_000]), blocks.adopt(memoryview(frame)[100_000:])
    assert first is not None
    assert second is not None
    assert blocks.used == 300_000
    blocks.release(first)
    assert blocks.used == 300_000
    blocks.release(second)
    assert blocks.used == 0


def test_a_fetch_keeps_its_bytes_while_the_block_is_evicted_and_others_write(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=2, settings={"kproto.log.memory.bytes": "1048576"})
    partition = log.partition(0)
    partition.append(batch(b"precious" * 100))
    piece = in_memory(partition)
    before = bytes(piece)
    partition.flush()
    while log.manager.pool.evict():
        pass
    for _ in range(300):
        log.partition(1).append(batch(30_000))
    assert bytes(piece) == before


def test_memory_stays_within_the_budget(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=40, settings={"kproto.log.memory.bytes": "1048576"})
    for i in range(2000):
        log.partition(i % 40).append(batch(i % 9000))
        if i % 50 == 0:
            log.run_deferred()
        assert log.manager.pool.used <= 1048576
    for i in range(40):
        partition = log.partition(i)
        assert len(everything(partition)) == partition.size_bytes()


def test_a_small_bound_for_everything_bounds_the_data_in_memory_too(tmp_path: Path) -> None:
    """Half of it at most: alone it was no bound, the data took the 64 MB that it may have by default."""
    log = Log(tmp_path, settings={"kproto.request.memory.bytes": "2097152"})
    for _ in range(30):
        log.partition().append(batch(100_000))
        log.run_deferred()
        assert log.manager.pool.used <= 1048576


def test_a_small_bound_for_everything_takes_a_large_batch_and_opens_what_was_written_before_it(
    tmp_path: Path,
) -> None:
    """Each one goes beyond the bound alone. They were refused as too large, those in the journal, too."""
    log = Log(tmp_path, {"max.message.bytes": "104857600"})
    for _ in range(3):
        log.partition().append(batch(4_000_000))
    log.settings = load(None, {"kproto.request.memory.bytes": "1048576"})
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert partition.log_end_offset == 3
    for size in (4_000_000, 10, 4_000_000):
        partition.append(batch(size))
        assert log.manager.pool.used <= 524288 + 4_100_000
    assert len(everything(partition)) == partition.size_bytes()


def test_undurable_data_is_never_evicted(tmp_path: Path) -> None:
    log = Log(tmp_path, automatic=False, settings={"kproto.log.memory.bytes": "1048576"})
    partition = log.partition()
    for _ in range(4):
        partition.append(batch(100_000))
    assert partition.flush()
    assert not log.manager.pool.evict()
    log.journal.push()
    assert log.manager.pool.evict()
    assert [len(data) for _, _, data in log.journal.stored[partition.topic_id, 0]] == [
        len(batch(100_000))
    ] * 4


def append_many(partition: Partition) -> None:
    for _ in range(100):
        partition.append(batch(100_000))


def test_a_stalled_journal_ends_in_an_error_not_in_memory_without_end(tmp_path: Path) -> None:
    settings = {"kproto.log.memory.bytes": "1048576", "kproto.request.memory.bytes": "1048576"}
    log = Log(tmp_path, automatic=False, settings=settings)
    partition = log.partition()

    with pytest.raises(KafkaError) as caught:
        append_many(partition)
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.manager.pool.used <= 2 * 1048576
    log.journal.push()
    end = partition.append(batch(100_000))[0] + 1
    log.journal.push()
    assert partition.high_watermark == end
    assert len(everything(partition)) == partition.size_bytes()


def test_adopted_memory_becomes_a_spare_when_nothing_of_it_is_kept() -> None:
    blocks = pool()
    owner = bytearray(blocks.spares.LEAST * 2)
    first = blocks.adopt(memoryview(owner)[:1000])
    second = blocks.adopt(memoryview(owner)[1000:])
    assert first is not None
    assert second is not None
    blocks.release(first)
    assert blocks.spares.bytes == 0
    answer = second.view[:10]
    blocks.release(second)
    del first, second
    assert blocks.used == 0
    assert blocks.spares.take(len(owner)) is None
    answer.release()
    taken = blocks.spares.take(len(owner))
    assert taken is not None
    assert taken.obj is owner


def test_what_is_not_durable_is_not_flushed_all_at_once() -> None:
    """A flush frees nothing while what was flushed is not durable: memory grows instead, within the limit."""
    flushes = 0

    def flush() -> bool:
        nonlocal flushes
        flushes += 1
        return True

    blocks = BlockPool(SIZES[0], SIZES[0] * 4, flush, lambda: False)
    assert blocks.take(0) is not None
    assert flushes == 0
    assert not blocks.short
    assert blocks.take(0) is not None
    assert 0 < flushes <= 10
    assert not blocks.short
    assert blocks.take(0) is not None
    assert blocks.short
    assert blocks.take(0) is not None
    assert blocks.take(0) is None


def test_what_is_behind_a_batch_that_found_no_room_does_not_overtake_it(tmp_path: Path) -> None:
    """It fits into the rest of a block; its producer sent it without waiting for the answer of the other."""
    settings = {"kproto.log.memory.bytes": "1048576", "kproto.request.memory.bytes": "1048576"}
    log = Log(tmp_path, automatic=False, settings=settings)
    partition = log.partition()

    with pytest.raises(KafkaError):
        append_many(partition)
    end = partition.log_end_offset
    large, small = (batch(size, producer=Producer(7, 0, seq)) for seq, size in ((0, 200_000), (1, 10)))
    with pytest.raises(KafkaError) as refused:
        partition.append(large)
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert partition.append(batch(10))[0] == end, "there is room for one like it"
    with pytest.raises(KafkaError) as behind:
        partition.append(small)
    assert behind.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.journal.push()
    assert [partition.append(one)[0] for one in (large, small)] == [end + 1, end + 2]


def test_deleted_data_gives_its_memory_back() -> None:
    """What was flushed waits in the read cache until somebody needs room, which nobody may ever do."""
    blocks = pool()
    for _ in range(100):
        block = blocks.take(0)
        assert block is not None
        blocks.written(block)
        blocks.forget(block)
    assert (blocks.used, len(blocks.clean)) == (0, 0)


def test_a_topic_that_is_deleted_leaves_no_memory_behind(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    for number in range(200):
        partition.append(batch(number))
    log.tick(60.0)
    assert log.manager.pool.clean, "it was flushed"
    partition.close_deleted()
    assert not log.manager.pool.clean
