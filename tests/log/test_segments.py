"""Groups, segments and their files: when they roll, what is in them, how damage is noticed."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.disk import Disk, SyncError
from kproto.log.files import parse_name
from kproto.log.index import FRONT, SparseIndex, Summary, decode, decode_summary, encode
from kproto.log.ports import Done
from kproto.log.reader import FileRange, load_blocking, load_nowait
from kproto.log.segment import UNUSED_BYTES, Segment, read_file
from kproto.wire import records
from kproto.wire.batch import hop
from kproto.wire.compression import Codec
from kproto.wire.crc import crc32c
from tests.log.support import TOPIC_ID, Log, batch, everything, looked_up

SMALL = {"kproto.segment.file.bytes": "65536", "segment.bytes": "1048576"}
START = 1_700_000_000_000


def files(log: Log, end: str = ".chunks") -> list[str]:
    found = []
    for directory, _, names in os.walk(log.path / "streams"):
        found += [os.path.join(directory, name) for name in names if name.endswith(end)]
    return sorted(found)


def fill(log: Log, count: int, size: int, index: int = 0) -> None:
    for _ in range(count):
        log.partition(index).append(batch(size))
        log.run_deferred()


def test_files_and_groups_have_the_sizes_of_the_config(tmp_path: Path) -> None:
    log = Log(tmp_path, SMALL)
    fill(log, 200, 20_000)
    log.partition().flush()
    groups: dict[int, int] = {}
    for path in files(log):
        name = parse_name(os.path.basename(path))
        assert name is not None
        size = os.path.getsize(path)
        assert size <= 65536
        groups[name.group_base] = groups.get(name.group_base, 0) + size
    assert len(groups) == 4
    assert max(groups.values()) <= 1048576
    assert len(everything(log.partition())) == log.partition().size_bytes()


def test_a_topic_that_is_deleted_leaves_no_segments_behind(tmp_path: Path) -> None:
    """They keep their partition, which may have thousands of others, and of producers."""
    log = Log(tmp_path, SMALL)
    fill(log, 20, 20_000)
    log.partition().flush()
    assert everything(log.partition())
    log.revision += 1
    log.manager.apply_image(log.image(topics={}, topics_by_id={}, streamlets={}))
    log.tick(100.0)
    gc.collect()
    left = [one for one in gc.get_objects() if isinstance(one, Segment)]
    assert not [one for one in left if one.partition.manager is log.manager]


def test_a_segment_that_is_deleted_while_a_thread_reads_it_is_not_kept(tmp_path: Path) -> None:
    log = Log(tmp_path, SMALL)
    fill(log, 20, 20_000)
    partition = log.partition()
    partition.flush()
    first = partition.segments[0]
    while first.blocks:
        assert first.evict(first.blocks[0])
    first.index = None
    ranges = [one for one in partition.read(0, 100_000).pieces if isinstance(one, FileRange)]
    partition.close_deleted()
    assert all(load_blocking(ranges))
    assert not log.manager.indexes._segments


def test_what_is_written_ahead_is_flushed_later_and_not_written_twice(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    for size in (40, 70_000, 300, 9_000):
        partition.append(batch(size))
    segment = partition.segments[0]
    assert segment.write_ahead(10, 5) == 5
    while partition.write_ahead(4_001) == 4_001:
        assert (segment.flushed, partition.dirty_bytes) == (0, segment.size)
        partition.append(batch(100))
    assert segment.ahead == os.path.getsize(segment.path) == segment.size
    partition.append(batch(500))
    partition.flush()
    assert segment.flushed == os.path.getsize(segment.path) == segment.size
    assert segment.write_ahead(10) == partition.write_ahead(10) == 0
    stored = b"".join(data for _, _, data in log.journal.stored[TOPIC_ID, 0])
    assert Path(segment.path).read_bytes() == stored


def test_a_chunk_that_was_written_ahead_in_part_is_cut_off_by_a_start(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(100))
    partition.flush()
    for size in (300, 90_000):
        partition.append(batch(size))
    before = everything(partition)
    partition.write_ahead(50_000)
    log.restart(LeftAs.KILLED)
    assert everything(log.partition()) == before
    log.partition().append(batch(100))
    log.partition().flush()
    (segment,) = log.partition().segments
    assert os.path.getsize(segment.path) == segment.size == len(everything(log.partition()))


def room(path: str) -> int:
    """Bytes that the file system holds for a file beyond its end."""
    return os.stat(path).st_blocks * 512 - os.path.getsize(path)


def test_space_is_taken_ahead_of_what_is_written(tmp_path: Path) -> None:
    log = Log(tmp_path, {"kproto.segment.file.bytes": "4194304"})
    partition = log.partition()
    fill(log, 40, 20_000)
    partition.flush()
    segment = partition.segments[0]
    assert segment.allocated == 0
    fill(log, 20, 20_000)
    partition.flush()
    assert segment.size < segment.allocated <= 2 * segment.size
    assert os.path.getsize(segment.path) == segment.size
    fill(log, 200, 20_000)
    partition.flush()
    assert segment.closed
    assert segment.allocated <= 4194304
    assert all(room(path) < 40_000 for path in files(log)[:-1]), "a segment takes no more than it may have"
    assert len(everything(partition)) == partition.size_bytes()


def test_much_space_is_given_back_when_a_segment_closes_early(tmp_path: Path) -> None:
    background: list[tuple[Callable[[], object], Done]] = []
    log = Log(
        tmp_path, {"segment.ms": "1000"}, in_background=lambda call, done: background.append((call, done))
    )
    partition = log.partition()
    for _ in range(2):
        for _ in range(100):
            partition.append(batch(20_000, time=START))
        assert partition.flush()
    (segment,) = partition.segments
    assert room(segment.path) < 40_000, "nobody waits for the space"
    for call, _ in background:
        call()
    assert room(segment.path) > UNUSED_BYTES
    partition.append(batch(b"x", time=START + 2_000))
    assert partition.flush()
    assert segment.closed
    assert room(segment.path) < 40_000
    for call, _ in background:
        call()
    assert room(segment.path) < 40_000, "what comes too late is not done"


def test_an_index_that_is_written_again_is_as_long_as_it_should_be(tmp_path: Path) -> None:
    log = Log(tmp_path, {"segment.ms": "1000"})
    partition = log.partition()
    partition.append(batch(b"x", time=START))
    partition.append(batch(b"x", time=START + 2_000))
    assert partition.flush()
    segment = partition.segments[0]
    content = read_file(segment.index_path, 1 << 20)
    with open(segment.index_path, "ab") as index:
        index.write(b"left" * 100)
    segment.footer = (partition.producers.encode(), partition.epochs.encode())
    segment.write_index()
    assert len(read_file(segment.index_path, 1 << 20)) == len(content)


def test_a_large_chunk_gets_a_file_of_its_own(tmp_path: Path) -> None:
    log = Log(tmp_path, SMALL)
    for size in (100, 500_000, 100):
        log.partition().append(batch(size))
    log.partition().flush()
    assert [os.path.getsize(path) > 400_000 for path in files(log)] == [False, True, False]


def test_an_old_group_rolls_by_its_first_timestamp(tmp_path: Path) -> None:
    log = Log(tmp_path, {"segment.ms": "1000"})
    partition = log.partition()
    for time in (START, START + 999, START + 1001, START + 1500):
        partition.append(batch(b"x", time=time))
    assert [segment.group_base for segment in partition.segments] == [0, 2]


def test_streamlets_show_in_the_path(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=10, active_groups=4)
    fill(log, 1, 10, index=9)
    log.partition(9).flush()
    assert files(log)[0].endswith(f"{TOPIC_ID.hex()}/00002.00009/{0:020d}.00000.{0:020d}.chunks")


def test_the_index_file_proves_itself() -> None:
    index = SparseIndex()
    for i in range(50):
        index.add(i * 3 + 1, i * 5000 + 5000, i * 7)
    content = encode(index, Summary(0, 0, 999, 300_000, 500, 30, 0, 0, 0), b"producers", b"epochs")
    found = decode(content)
    assert found is not None
    assert (found[0].offsets, found[0].positions, found[0].max_before) == (
        index.offsets,
        index.positions,
        index.max_before,
    )
    assert found[1].next_offset == 999
    assert found[2:] == (b"producers", b"epochs")
    for position in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 1
        assert decode(bytes(damaged)) is None
        assert decode(content[:position]) is None
    assert decode_summary(content[:128]) == decode_summary(content) == found[1]
    for bit in range(8 * FRONT.size):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        assert decode_summary(bytes(damaged)) is None


def as_older(content: bytes) -> bytes:
    """The index file as earlier versions wrote it."""
    old = bytearray(content)
    old[56:72] = struct.pack("<Qq", 1 << 40, START)
    old[:12] = b"KPROTOX1" + crc32c(old[12:]).to_bytes(4, "little")
    return bytes(old)


def test_an_older_index_file_is_believed_as_a_whole_only() -> None:
    index = SparseIndex()
    index.add(5, 5000, 7)
    content = encode(index, Summary(0, 0, 999, 300_000, 500, 30, 0, 0, 0), b"producers", b"epochs")
    new, old = decode(content), decode(as_older(content))
    assert new is not None
    assert old is not None
    assert old[0].offsets == new[0].offsets
    assert old[1]._replace(rest_crc=0) == new[1]._replace(rest_crc=0)
    assert old[2:] == new[2:]
    assert decode_summary(as_older(content)) is None
    for position in range(len(content)):
        damaged = bytearray(as_older(content))
        damaged[position] ^= 1
        assert decode(bytes(damaged)) is None


@pytest.mark.parametrize("version", ["older", "present"])
@pytest.mark.parametrize("at", [41, 42, 43])
def test_no_bit_of_an_index_makes_records_too_old_or_hides_them(
    tmp_path: Path, at: int, version: str
) -> None:
    """A time in it that was changed had retention delete what is not old, and ListOffsets pass it over."""
    log = Log(tmp_path, {"segment.bytes": "1048576", "retention.ms": "100000000"})
    for i in range(12):
        log.partition().append(batch(300_000, time=START + i))
        log.run_deferred()
    log.restart(LeftAs.CLEAN)
    for path in map(Path, files(log, ".index")[:-1]):  # from the last one a start learns of producers
        content = bytearray(as_older(path.read_bytes()) if version == "older" else path.read_bytes())
        content[at] ^= 0x42
        path.write_bytes(content)
    log.tick(1000.0)
    partition = log.partition()
    assert partition.log_start_offset == 0
    for i in range(12):
        found = asyncio.run(looked_up(partition.offset_for_time(START + i)))
        assert found is not None
        assert (found.timestamp, found.offset) == (START + i, i)
    newest = asyncio.run(looked_up(partition.max_timestamp_offset()))
    assert newest is not None
    assert newest.offset == 11


@pytest.mark.parametrize("start", [0, 100])
def test_look_ups_by_time_pause_among_the_records_of_a_batch(
    tmp_path: Path, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of 6 KB may unpack to ten million records."""
    log = Log(tmp_path)
    partition = log.partition()
    times = [START] * 9000
    times[50] = times[8500] = START + 5
    partition.append(batch(*[1] * len(times), times=times, codec=Codec.ZSTD))
    partition.delete_records(start)
    walked = 0

    def counted(chunk: memoryview) -> Iterator[tuple[int, int]]:
        nonlocal walked
        for found in real(chunk):
            walked += 1
            yield found

    async def pause() -> None:
        nonlocal walked
        steps.append(walked)
        walked = 0

    real = records.iter_times
    monkeypatch.setattr(records, "iter_times", counted)
    for look_up in (partition.max_timestamp_offset, partial(partition.offset_for_time, START + 5)):
        steps: list[int] = []
        found = asyncio.run(looked_up(look_up(), pause=pause))
        assert found == (START + 5, 8500 if start else 50, 0)
        assert max([*steps, walked]) <= 2000
        walked = 0


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_log_start_that_moves_in_a_pause_is_no_error(tmp_path: Path, number: int) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(*[50] * 3000, times=[START + 5] + [START] * 2999))
    partition.append(batch(b"goes, too", time=START + 5))
    partition.append(batch(b"stays", time=START + 6))
    partition.delete_records(1)

    async def pause() -> None:
        nonlocal number
        number -= 1
        if number == 0:
            partition.delete_records(3001)

    found = asyncio.run(looked_up(partition.offset_for_time(START + 5), pause=pause))
    assert found is not None
    assert found.offset == 3001
    assert number <= 0


def test_what_older_index_files_know_is_not_read_from_the_chunks(tmp_path: Path) -> None:
    log = Log(tmp_path, SMALL)
    fill(log, 40, 20_000)
    log.restart(LeftAs.CLEAN)
    for path in map(Path, files(log, ".index")):
        path.write_bytes(as_older(path.read_bytes()))
    partition = log.partition()
    for segment in partition.segments[:-1]:
        assert segment.load_summary()
        assert segment.max_ts_base == segment.base_offset


def test_a_lost_or_damaged_index_is_rebuilt_from_the_headers(tmp_path: Path) -> None:
    log = Log(tmp_path, {**SMALL, "index.interval.bytes": "500"})
    fill(log, 300, 1000)
    log.partition().flush()
    expected = everything(log.partition())
    indexes = files(log, ".index")
    assert len(indexes) >= 4
    os.unlink(indexes[0])
    os.truncate(indexes[1], 200)
    with open(indexes[2], "r+b") as file:
        file.seek(300)
        file.write(b"\xff")
    log.restart(LeftAs.CLEAN)
    partition = log.partition()
    middle = partition.segments[1].base_offset + 7
    read = partition.read(middle, 3000)
    first = next(hop(load_blocking([p for p in read.pieces if isinstance(p, FileRange)])[0]))
    assert first[2][0] == middle
    assert everything(partition) == expected


def test_a_consumer_in_files_reads_exact_ranges_without_blocking(tmp_path: Path) -> None:
    log = Log(tmp_path)
    fill(log, 2000, 1000)
    partition = log.partition()
    partition.flush()
    while log.manager.pool.evict():
        pass
    offset = 0
    while offset < partition.high_watermark:
        (piece,) = partition.read(offset, 100_000).pieces
        assert isinstance(piece, FileRange)
        assert piece.exact
        loaded = load_nowait([piece])
        assert loaded is not None
        fields = [fields for _, _, fields in hop(loaded[0])]
        assert fields[0][0] == offset
        offset = fields[-1][0] + 1
        assert offset == piece.until


def test_one_read_may_begin_in_a_file_and_end_in_memory(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    fill(log, 5, 1000)
    partition.flush()
    while log.manager.pool.evict():
        pass
    fill(log, 5, 1000)
    pieces = partition.read(2, 1 << 20).pieces
    assert [isinstance(piece, FileRange) for piece in pieces] == [True, False]
    log.run_deferred()
    loaded = load_blocking([piece for piece in pieces if isinstance(piece, FileRange)])
    offsets = [fields[0] for data in (*loaded, pieces[1]) for _, _, fields in hop(data)]  # type: ignore[arg-type]
    assert offsets == list(range(2, 10))


def test_reading_past_the_high_watermark_gives_nothing(tmp_path: Path) -> None:
    log = Log(tmp_path, automatic=False)
    partition = log.partition()
    for _ in range(3):
        partition.append(batch(b"x"))
    assert partition.read(0, 1000).size == 0
    log.journal.push()
    for _ in range(3):
        partition.append(batch(b"y"))
    (piece,) = partition.read(1, 1000).pieces
    assert [fields[0] for _, _, fields in hop(piece)] == [1, 2]  # type: ignore[arg-type]
    assert partition.read(4, 1000).size == 0
    partition.flush()
    while log.manager.pool.evict():
        pass
    assert partition.read(1, 1000).size == piece.nbytes  # type: ignore[union-attr]


def test_max_bytes_cuts_at_chunks_and_the_first_one_comes_anyway(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    fill(log, 4, 1000)
    one = partition.size_bytes() // 4
    assert partition.read(0, 1).size == one
    assert partition.read(0, 1, at_least_one=False).size == 0
    assert partition.read(0, 2 * one).size == 2 * one
    assert partition.read(1, 3 * one - 1).size == 2 * one


def test_jitter_makes_groups_roll_earlier_never_later(tmp_path: Path) -> None:
    log = Log(tmp_path, {"segment.ms": "1000", "segment.jitter.ms": "900"}, partitions=20)
    rolled = set()
    for index in range(20):
        partition = log.partition(index)
        for time in range(START, START + 1100, 50):
            partition.append(batch(b"x", time=time))
        rolled.add(partition.segments[1].group_base)
    assert min(rolled) >= 2
    assert max(rolled) <= 21
    assert len(rolled) > 1


@pytest.mark.parametrize("deleted", [0, 13])
def test_of_what_is_not_durable_yet_the_newest_time_is_found_by_headers(
    tmp_path: Path, deleted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody writes, the newest batch is above the high watermark: all others were unpacked for one
    question."""
    log = Log(tmp_path, {"index.interval.bytes": "4096"}, automatic=False)
    partition = log.partition()
    for i in range(60):
        partition.append(batch(500, 500, times=[START + 2 * i, START + 2 * i + 1]))
    log.journal.push()
    partition.append(batch(500, time=START + 1000))
    if deleted:
        partition.delete_records(deleted)
    unpacked: list[int] = []
    walk = records.iter_times

    def counted(chunk: memoryview) -> Iterator[tuple[int, int]]:
        unpacked.append(len(chunk))
        return walk(chunk)

    monkeypatch.setattr(records, "iter_times", counted)
    found = asyncio.run(looked_up(partition.max_timestamp_offset()))
    assert found is not None
    assert (found.timestamp, found.offset) == (START + 119, 119)
    assert len(unpacked) <= 2, "the one that begins below the log start, and the newest"


def test_on_a_full_disk_partitions_are_opened_without_an_index(tmp_path: Path) -> None:
    """Else retention and DeleteRecords, which free it, waited for room."""

    class NoIndexes(Disk):
        full = False

        def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
            if self.full and path.endswith(".index"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            return super().open(path, create=create, write=write)

    disk = NoIndexes()
    log = Log(tmp_path, SMALL, disk=disk)
    fill(log, 40, 5_000)
    log.restart(LeftAs.CLEAN)
    for path in files(log, ".index"):
        os.unlink(path)
    disk.full = True
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert (partition.log_end_offset, len(everything(partition))) == (40, partition.size_bytes())
    assert partition.delete_records(30) == 30
    assert files(log, ".index") == []


class Names(Disk):
    """What became of names, and whether that survives a loss of power."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.fails = False

    def unlink(self, path: str) -> None:
        super().unlink(path)
        self.done.append(f"unlink {os.path.basename(path)}")

    def sync_directory(self, path: str) -> None:
        if self.fails:
            raise SyncError(errno.EIO, os.strerror(errno.EIO), path)
        super().sync_directory(path)
        self.done.append("sync")


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_behind_a_torn_file_does_not_come_back_with_the_power(tmp_path: Path, fails: bool) -> None:
    """Others get its offsets, with as many bytes before them: it would connect, and be believed (36). When
    that cannot be synced nobody can tell, and nobody is acked any more (35)."""
    disk = Names()
    log = Log(tmp_path, {"kproto.segment.file.bytes": "65536"}, disk=disk)
    for _ in range(30):
        log.partition().append(batch(5_000))
    partition = log.partition()
    partition.flush()
    first, last = partition.segments[0], partition.segments[-1]
    log.journal.stored.clear()
    log.restart(LeftAs.POWER_LOST)
    os.truncate(first.path, os.stat(first.path).st_size - 10)
    disk.done, disk.fails = [], fails
    if fails:
        with pytest.raises(SyncError):
            log.partition()
        assert len(log.poisoned) == 1
    else:
        assert 0 < log.partition().log_end_offset < last.base_offset
        names = disk.done[disk.done.index(f"unlink {os.path.basename(last.path)}") :]
        assert "sync" in names
        assert not log.poisoned
