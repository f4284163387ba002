"""Files that are not what they were, memory that is not there, work that is interrupted."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kproto.directory import LeftAs
from kproto.disk import Buffer, Disk
from kproto.errors import ErrorCode, KafkaError
from kproto.log import reader
from kproto.log.blocks import SIZES, size_class_for
from kproto.log.checks import MOST_UNPACKED, MOST_WALKED
from kproto.log.files import DELETED
from kproto.log.index import SparseIndex, Summary, decode, encode
from kproto.log.leadership import Leadership
from kproto.log.partition import Partition
from kproto.log.reader import FileRange, RemoteRange, load_blocking, load_nowait
from kproto.log.times import check_records
from kproto.log.trash import Trash
from kproto.wire.batch import hop
from kproto.wire.crc import crc32c
from tests.log.support import Log, batch, everything, looked_up
from tests.log.test_blocks import pool

START = 1_700_000_000_000


def in_files(tmp_path: Path, **settings: str) -> Log:
    """A log of 20 records of which none is in memory any more."""
    log = Log(tmp_path, {"segment.bytes": "1048576", **settings})
    for i in range(20):
        log.partition().append(batch(5_000, time=START + i))
    log.restart(LeftAs.CLEAN)
    return log


def range_of(partition: Partition, offset: int = 0) -> FileRange:
    (piece,) = [one for one in partition.read(offset, 1 << 20).pieces if isinstance(one, FileRange)]
    return piece


def refused(call: Any, *arguments: Any) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.parametrize("in_journal", [False, True])
@pytest.mark.parametrize("left", [0, 5_000])
def test_what_comes_in_the_place_of_lost_bytes_is_not_trusted_after_a_power_loss(
    tmp_path: Path, left: int, in_journal: bool
) -> None:
    """The checkpoint knew that more of the file was synced than is there now."""
    log = Log(tmp_path, {"segment.bytes": "1048576"})
    for _ in range(10):
        log.partition().append(batch(1_000))
    log.restart(LeftAs.CLEAN)
    path = Path(log.partition().segments[0].path)
    os.truncate(path, left)
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    before = everything(partition)
    partition.append(batch(500))
    partition.flush()
    after = everything(partition)
    log.journal.stored = log.journal.stored if in_journal else {}
    with path.open("r+b") as file:  # what the power loss leaves of it
        file.seek(-100, os.SEEK_END)
        file.write(b"torn" * 25)
    log.restart(LeftAs.POWER_LOST)
    assert everything(log.partition()) == (after if in_journal else before)


def test_a_file_that_is_gone_is_a_storage_error_and_no_end_of_the_log(tmp_path: Path) -> None:
    log = in_files(tmp_path)
    load_blocking([range_of(log.partition())])
    piece = range_of(log.partition())
    assert piece.position >= 0, "its index was loaded with it"
    log.manager.files.close_all()
    os.unlink(piece.file)
    assert refused(load_blocking, [piece]) is ErrorCode.KAFKA_STORAGE_ERROR
    assert refused(load_nowait, [piece]) is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_file_that_is_shorter_than_it_was_gives_nothing_away(tmp_path: Path) -> None:
    """Half a chunk must not go to a consumer."""
    log = in_files(tmp_path)
    piece = range_of(log.partition())
    assert len(load_blocking([piece])[0]) > 90_000
    piece = range_of(log.partition())
    os.truncate(piece.file, 4_000)
    assert load_nowait([piece]) is None
    assert refused(load_blocking, [piece]) is ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("asked", [0, 7])
@pytest.mark.parametrize("byte", range(17))
@pytest.mark.parametrize("number", [0, 7, 12, 19])
def test_no_consumer_is_led_astray_by_what_no_crc_covers(
    tmp_path: Path, number: int, byte: int, asked: int
) -> None:
    """Found by simulation (seed 30045405): one went on behind the offset of a damaged header, 4294967296, and
    was told that this is out of range."""
    log = in_files(tmp_path)
    whole = bytes(load_blocking([range_of(log.partition(), asked)])[0])
    piece = range_of(log.partition(), asked)
    size = os.path.getsize(piece.file) // 20
    with open(piece.file, "r+b") as file:
        file.seek(number * size + byte)
        changed = file.read(1)[0] ^ 0x10
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([changed]))
    if number == asked:
        assert refused(load_blocking, [piece]) is ErrorCode.KAFKA_STORAGE_ERROR
        assert refused(load_nowait, [range_of(log.partition(), asked)]) is ErrorCode.KAFKA_STORAGE_ERROR
    else:
        good = whole[: (number - asked) * size] if number > asked else whole
        assert bytes(load_blocking([piece])[0]) == good
        again = load_nowait([range_of(log.partition(), asked)])
        assert again is not None
        assert bytes(again[0]) == good
    assert set(log.manager.suspects) == ({piece.segment} if number >= asked else set())


def change_offset(path: str, number: int, to: int) -> None:
    """The base offset of one of the 20 chunks of a file, which no CRC covers."""
    with open(path, "r+b") as file:
        file.seek(number * (os.path.getsize(path) // 20))
        file.write(to.to_bytes(8, "big"))


@pytest.mark.parametrize("load", [load_nowait, load_blocking])
def test_what_lies_before_the_damage_is_read_though_newer_chunks_are_in_memory(
    tmp_path: Path, load: Any
) -> None:
    """They were an error as long as there was something newer in memory. That is no part of the answer."""
    log = in_files(tmp_path)
    whole = bytes(load_blocking([range_of(log.partition())])[0])
    log.partition().append(batch(5_000))
    first, memory = log.partition().read(0, 1 << 20).pieces
    assert isinstance(first, FileRange)
    assert isinstance(memory, memoryview)
    assert bytes(load([first])[0]) == whole
    assert not first.short
    change_offset(first.file, 7, 1_007)
    piece = range_of(log.partition())
    assert bytes(load([piece])[0]) == whole[: len(whole) // 20 * 7]
    assert piece.short
    assert refused(load, [range_of(log.partition(), 7)]) is ErrorCode.KAFKA_STORAGE_ERROR


def test_no_look_up_by_time_passes_over_the_damage_to_what_is_in_memory(tmp_path: Path) -> None:
    log = in_files(tmp_path, **{"index.interval.bytes": "1048576"})
    change_offset(range_of(log.partition()).file, 7, 1_007)
    log.partition().append(batch(5_000, time=START + 20))
    found = asyncio.run(looked_up(log.partition().offset_for_time(START + 6)))
    assert found is not None
    assert found.offset == 6
    lookup = looked_up(log.partition().offset_for_time(START + 10))
    assert refused(asyncio.run, lookup) is ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("load", [load_nowait, load_blocking])
@pytest.mark.parametrize("to", [1_007, 12])
@pytest.mark.parametrize("index_interval", ["1048576", "20000"])
def test_what_lies_behind_the_damage_is_found_by_its_offset(
    tmp_path: Path, index_interval: str, to: int, load: Any
) -> None:
    """It was an error until the next place that the index knows. A damaged chunk may have its offset."""
    log = in_files(tmp_path, **{"index.interval.bytes": index_interval})
    whole = bytes(load_blocking([range_of(log.partition())])[0])
    change_offset(range_of(log.partition()).file, 7, to)
    size = len(whole) // 20
    for offset in range(8, 20):
        (loaded,) = load([range_of(log.partition(), offset)])
        assert bytes(loaded) == whole[offset * size :]
    assert refused(load, [range_of(log.partition(), 7)]) is ErrorCode.KAFKA_STORAGE_ERROR


def test_an_offset_with_which_nothing_goes_on_is_not_believed(tmp_path: Path) -> None:
    """The true chunk does not say its own any more, and a damaged one has it."""
    log = in_files(tmp_path, **{"index.interval.bytes": "1048576"})
    path = range_of(log.partition()).file
    change_offset(path, 7, 12)
    change_offset(path, 12, 1_012)
    assert refused(load_blocking, [range_of(log.partition(), 12)]) is ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("number", [11, 5])
def test_only_what_the_page_cache_lacks_is_read_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """EAGAIN says that it lacks it; EIO is an error at once."""
    log = in_files(tmp_path)
    load_blocking([range_of(log.partition())])
    piece = range_of(log.partition())
    assert load_nowait([piece]) is not None

    def fail(*_: object) -> int:
        raise OSError(number, "made up")

    monkeypatch.setattr(os, "preadv", fail)
    piece = range_of(log.partition())
    if number == 11:
        assert load_nowait([piece]) is None
    else:
        assert refused(load_nowait, [piece]) is ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("prepared", [False, True])
def test_little_of_much_that_was_read_does_not_keep_all_of_it(tmp_path: Path, prepared: bool) -> None:
    """It counts as little, for as long as its answer waits for whoever asked."""
    log = in_files(tmp_path, **{"index.interval.bytes": "1048576"})
    for max_bytes in (1, 20_000, 30_000, 90_000):
        (piece,) = log.partition().read(11, max_bytes).pieces
        assert isinstance(piece, FileRange)
        if prepared:
            piece.prepare()
        for loaded in (load_nowait([piece]), load_blocking([piece])):
            assert loaded is not None
            kept: Any = loaded[0].obj
            assert next(hop(loaded[0]))[2][0] == 11
            assert len(kept) <= 4 * len(loaded[0])


def test_a_look_up_reads_in_a_thread_what_would_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = in_files(tmp_path)
    monkeypatch.setattr(reader, "_RWF_NOWAIT", 0)
    asked: list[int] = []

    async def blocking(load: Any, ranges: Sequence[FileRange]) -> list[memoryview]:
        asked.append(len(ranges))
        loaded: list[memoryview] = load(ranges)
        return loaded

    found = asyncio.run(looked_up(log.partition().offset_for_time(START + 7), blocking))
    assert found is not None
    assert (found.timestamp, found.offset) == (START + 7, 7)
    assert asked


def test_what_is_elsewhere_is_an_error_where_nobody_can_be_asked(tmp_path: Path) -> None:
    log = in_files(tmp_path)
    assert log.manager.ports.remote is None
    missing = RemoteRange(log.partition(), 0, 5, 100, True)
    assert refused(missing.load) is ErrorCode.KAFKA_STORAGE_ERROR


def test_an_index_that_cannot_be_read_is_made_again(tmp_path: Path) -> None:
    """ListOffsets by time was answered with UNKNOWN_SERVER_ERROR and a traceback: the records are there."""
    log = Log(tmp_path, {"segment.bytes": "1048576", "kproto.segment.file.bytes": "1048576"})
    for i in range(300):
        log.partition().append(batch(9_000, time=START + i))
        log.run_deferred()
    log.restart(LeftAs.CLEAN)
    partition = log.partition()
    indexes = sorted(tmp_path.rglob("*.index"))
    assert len(indexes) >= 2
    for path in indexes:
        path.unlink()
        path.mkdir()  # EISDIR stands for EIO
    found = asyncio.run(looked_up(partition.offset_for_time(START + 7)))
    assert found is not None
    assert (found.timestamp, found.offset) == (START + 7, 7)


@pytest.mark.parametrize("more", [-1, 1, 20])
def test_an_index_that_is_shorter_or_longer_than_it_says_is_none(more: int) -> None:
    """Its checksum is right: it was written by something else. It is made again from the headers."""
    index = SparseIndex()
    index.add(10, 4_096, START + 5)
    data = encode(index, Summary(0, 0, 20, 9_000, START + 9, 10, 0, 0, 0), b"producers", b"epochs")
    assert decode(data) is not None
    other = bytearray(data[:more] if more < 0 else data + bytes(more))
    other[8:12] = crc32c(memoryview(other)[12:]).to_bytes(4, "little")
    assert decode(bytes(other)) is None


def test_large_and_given_memory_stays_within_the_budget() -> None:
    blocks = pool(SIZES[3], stuck=True)
    first = blocks.take_large(SIZES[3])
    assert first is not None
    assert blocks.take_large(1) is None, "the disk is full: nothing goes out, so nothing comes in"
    assert blocks.adopt(memoryview(bytearray(100))) is None
    assert blocks.used == SIZES[3]
    blocks.release(first)
    assert blocks.used == 0
    assert blocks.adopt(memoryview(bytearray(100))) is not None
    assert size_class_for(SIZES[-1] + 1) == -1, "a block of its own"


def test_memory_beyond_the_budget_is_not_kept() -> None:
    blocks = pool(SIZES[3])
    first, second = blocks.take(3), blocks.take(3)
    assert first is not None
    assert second is not None
    blocks.release(second)
    assert blocks.used == SIZES[3]


def test_a_batch_that_never_fits_into_memory_is_too_large_and_not_to_be_tried_again(tmp_path: Path) -> None:
    megabyte = 1 << 20
    small = {"kproto.log.memory.bytes": str(megabyte), "kproto.request.memory.bytes": str(megabyte)}
    log = Log(tmp_path, {"max.message.bytes": str(8 * megabyte)}, settings=small)
    partition = log.partition()
    large = memoryview(bytearray(batch(3 * megabyte)))
    assert refused(partition.append, large) is ErrorCode.MESSAGE_TOO_LARGE
    partition.append(memoryview(bytearray(batch(megabyte))))
    assert partition.log_end_offset == 1, "what fits is taken"


class Stubborn(Disk):
    """Some files cannot be removed."""

    __slots__ = ("stays",)

    def __init__(self) -> None:
        super().__init__()
        self.stays = ""

    def unlink(self, path: str) -> None:
        if self.stays and self.stays in path:
            raise OSError(5, "made up")
        super().unlink(path)


def test_what_a_smaller_segment_would_not_take_any_more_is_there_after_a_crash(tmp_path: Path) -> None:
    """It could not be restored: the partition was not to be opened until somebody raised the config again."""
    log = Log(tmp_path, {"max.message.bytes": "10000000"})
    large = batch(3_000_000)
    assert log.partition().append(large)[0] == 0
    log.configs = {**log.configs, "segment.bytes": "1048576"}
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 1
    with pytest.raises(KafkaError) as caught:
        log.partition().append(batch(3_000_000))
    assert caught.value.code is ErrorCode.RECORD_LIST_TOO_LARGE
    assert log.partition().append(batch(1_000_000))[0] == 1


def test_a_file_that_cannot_be_removed_keeps_no_other_one(tmp_path: Path) -> None:
    disk = Stubborn()
    configs = {"segment.ms": "1000", "file.delete.delay.ms": "0"}
    log = Log(tmp_path, configs, disk=disk)
    partition = log.partition()
    for second in (0, 50, 100):
        partition.append(batch(b"x", time=START + second * 1000))
        log.tick(60.0)
    partition.flush()
    disk.stays = partition.segments[0].path
    partition.delete_records(-1)
    for _ in range(4):
        log.tick(6.0)
    left = [str(path) for path in tmp_path.rglob("*.chunks*")]
    assert left == [disk.stays + DELETED]
    assert not log.poisoned, "space is lost, nothing else"
    log.restart(LeftAs.CLEAN)
    assert log.partition().log_start_offset == 3


def test_retention_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at one partition may take all the time that one tick has."""
    log = Log(tmp_path, {"retention.ms": "1000", "segment.ms": "1000"}, partitions=5)
    for index in range(5):
        log.partition(index).append(batch(b"x", time=START))
    retain = Partition.retain

    def slow(self: Partition) -> None:
        retain(self)
        log.clock.advance(0.5)

    monkeypatch.setattr(Partition, "retain", slow)
    log.clock.advance(10_000.0)
    log.tick(10_000_000.0)
    ticks = 0
    while any(log.partition(index).log_start_offset == 0 for index in range(5)):
        log.tick(0.0)
        ticks += 1
        assert ticks < 50
    assert [everything(log.partition(index)) for index in range(5)] == [b""] * 5


def unopened(directory: Path) -> Log:
    """Five partitions with a record each, none of them open."""
    log = Log(directory, partitions=5)
    for index in range(5):
        log.partition(index).append(batch(b"x", time=START))
    log.restart(LeftAs.CLEAN)
    return log


def test_retention_passes_over_no_more_partitions_at_once_than_there_is_time_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20,000 that nobody has opened and that need nothing all were looked at in one piece: 50 ms."""
    log = unopened(tmp_path)
    looks = looks_that_take_a_tick(log, monkeypatch, Leadership, "may_open")
    log.clock.advance(40.0)
    for number in range(1, 5):
        assert log.manager.tick(log.clock.monotonic())
        assert len(looks) == number
    log.tick()
    assert len(looks) == 5
    log.tick()
    assert len(looks) == 5, "until the next round"


def test_a_look_for_files_of_earlier_processes_is_made_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It held the event loop for 70 ms where there were 5,000 topics."""
    log = unopened(tmp_path)
    log.tick(200.0)
    looks = looks_that_take_a_tick(log, monkeypatch, Trash, "is_lent")
    log.clock.advance(101.0)
    while not looks:
        assert log.manager.tick(log.clock.monotonic())
    for number in range(2, 6):
        assert log.manager.tick(log.clock.monotonic())
        assert len(looks) == number
    for _ in range(3):
        log.tick(301.0)
    assert len(looks) == 5, "once: all of them are led here"


def looks_that_take_a_tick(log: Log, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[Any]:
    """One for each call of that method, which takes more time than a tick has."""
    looks: list[Any] = []
    method = getattr(owner, name)

    def slow(self: Any, *args: Any) -> Any:
        looks.append(args)
        log.clock.advance(0.5)
        return method(self, *args)

    monkeypatch.setattr(owner, name, slow)
    return looks


@pytest.mark.parametrize("opened", [True, False])
def test_a_file_that_cannot_be_read_keeps_no_other_partition_from_retention(
    tmp_path: Path, opened: bool
) -> None:
    """Nor what comes after it in the same piece of housekeeping."""
    log = Log(tmp_path, {"retention.ms": "1000", "segment.ms": "1000"}, partitions=2)
    for index in range(2):
        for second in range(3):
            log.partition(index).append(batch(b"x", time=START + 2000 * second))
    log.restart(LeftAs.CLEAN)
    first = next(path for path in sorted(tmp_path.rglob("*.index")) if path.parent.name.endswith(".00000"))
    if opened:
        log.partition(0)
        log.partition(1)
    else:
        first = max(first.parent.glob("*.chunks"))
    first.unlink()
    first.mkdir()
    log.tick(10_000_000.0)
    assert log.partition(1).log_start_offset == 3


def test_a_partition_whose_topic_goes_while_retention_is_under_way(tmp_path: Path) -> None:
    log = Log(tmp_path, {"retention.ms": "1000"}, partitions=2)
    log.partition(0).append(batch(b"x", time=START))
    second = log.partition(1)
    second.append(batch(b"x", time=START))
    second.close_deleted()
    log.tick(10_000_000.0)
    assert log.partition(0).log_start_offset == 1
    assert second.log_start_offset == 0, "nothing of it is touched any more"


def test_the_full_look_refuses_records_that_cannot_be_read() -> None:
    good = batch(b"a", b"b")
    check_records(good)
    bad = memoryview(bytearray(good))
    bad[-3] = 0xFF
    assert refused(check_records, bad) is ErrorCode.INVALID_RECORD


def test_the_full_look_does_not_hold_the_loop() -> None:
    """Produce takes it in one piece."""
    many = bytearray(batch(*[1] * (MOST_WALKED + 1), codec=4))
    many[42] += 1  # the header's greatest timestamp: known to be wrong by who looks at all records
    check_records(memoryview(many))
    large = batch(*[MOST_UNPACKED // 4] * 4, codec=4)
    assert refused(check_records, large) is ErrorCode.INVALID_RECORD


def test_what_lasts_is_not_said_every_second(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A disk that is full for five minutes has room for some files, and a checkpoint, now and then."""

    class Full(Disk):
        full = False

        def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
            if self.full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().pwritev(fd, buffers, position, length)

    disk = Full()
    log = Log(tmp_path, disk=disk, partitions=2)
    log.partition(0).append(batch(5_000))
    assert log.manager.flushing.flush_all()
    disk.full = True
    for second in range(300):
        disk.full = bool(second % 7)
        log.partition(second % 2).append(batch(5_000))
        log.tick(1.0)
        log.manager.flushing.flush_all()
    flushing = [line for line in caplog.messages if line.startswith("data stays in the journal")]
    checkpoints = [line for line in caplog.messages if line.startswith("no checkpoint could be written")]
    assert len(flushing) == 5
    assert all("No space left" in line for line in flushing)
    assert checkpoints
    assert len(checkpoints) <= 100
    caplog.clear()
    disk.full = False
    for _ in range(30):
        log.partition().append(batch(5_000))
        log.tick(1.0)
        assert log.manager.flushing.flush_all()
    assert [line for line in caplog.messages if "works again" in line][-1:] == [
        "data stays in the journal and in memory: it works again"
    ]
