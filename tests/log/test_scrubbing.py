"""A leader's own segment files are cut, changed or deleted: what copies have is written again, and nobody is
led past what is gone."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kproto.directory import LeftAs
from kproto.disk import Buffer, Disk, SyncError
from kproto.errors import ErrorCode, KafkaError
from kproto.log import scrubbing
from kproto.log import segment as segments
from kproto.log.above import DIRECTORIES_ABOVE
from kproto.log.reader import FileRange, RemoteRange, load_blocking
from kproto.log.scrubbing import Place, Scrub, check_piece, cut, overwrite
from kproto.log.segment import Segment, hop_file
from kproto.wire.batch import hop
from tests.log.replicated import ME, OTHER, START, Replicated, Sealed, check_all, run
from tests.log.support import Log, batch, looked_up

CHUNKS = 60
SMALL = {"kproto.segment.file.bytes": "65536", "index.interval.bytes": "12000"}
Damage = Callable[[str], None]


def cut_in_a_chunk(path: str) -> None:
    os.truncate(path, 30_000)


def cut_behind_a_chunk(path: str) -> None:
    data = Path(path).read_bytes()
    os.truncate(path, [at for at, _, _ in hop(data)][4])


def cut_from_the_middle(path: str) -> None:
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[:20_000] + data[33_333:])


def whole_chunks_cut_from_the_middle(path: str) -> None:
    data = Path(path).read_bytes()
    places = [at for at, _, _ in hop(data)]
    Path(path).write_bytes(data[: places[3]] + data[places[5] :])


def emptied(path: str) -> None:
    os.truncate(path, 0)


def deleted(path: str) -> None:
    os.unlink(path)


SHORTER = [
    cut_in_a_chunk,
    cut_behind_a_chunk,
    cut_from_the_middle,
    whole_chunks_cut_from_the_middle,
    emptied,
    deleted,
]


def records_changed(path: str) -> None:
    with Path(path).open("r+b") as file:
        file.seek(22_000)
        file.write(b"!!!!")


def header_changed(path: str) -> None:
    """The chunk does not say any more where it ends."""
    data = bytearray(Path(path).read_bytes())
    at = [at for at, _, _ in hop(data)][4]
    data[at + 8 : at + 12] = b"\x7f\xff\xff\x00"
    Path(path).write_bytes(data)


def offset_changed(path: str) -> None:
    """No checksum covers it."""
    data = bytearray(Path(path).read_bytes())
    at = [at for at, _, _ in hop(data)][4]
    data[at] ^= 1
    Path(path).write_bytes(data)


def epoch_changed(path: str) -> None:
    """No checksum covers it."""
    data = bytearray(Path(path).read_bytes())
    at = [at for at, _, _ in hop(data)][4]
    data[at + 15] ^= 1
    Path(path).write_bytes(data)


def one_copy(tmp_path: Path) -> Log:
    """A log of one copy in several files, which nobody has opened since a clean stop."""
    log = Log(tmp_path, SMALL)
    for i in range(CHUNKS):
        log.partition().append(batch(5_000, time=START + i))
    assert len(log.partition().segments) > 3
    log.restart(LeftAs.CLEAN)
    return log


def damage_of(log: Log, damage: Damage, number: int = 1) -> tuple[str, int, int]:
    """Damage a closed file of a log that is not running; path, first offset, end."""
    directory = next(path for path in (log.path / "streams").glob("*/*") if path.is_dir())
    paths = sorted(str(path) for path in directory.glob("*.chunks"))
    begins = [int(path.split(".")[-2]) for path in paths]
    damage(paths[number])
    return paths[number], begins[number], begins[number + 1]


def offsets_or_error(log: Log, offset: int, max_bytes: int = 20_000) -> list[int] | ErrorCode:
    try:
        pieces = log.partition().read(offset, max_bytes).pieces
        for piece in pieces:
            if isinstance(piece, RemoteRange):
                run(piece.load())
        loaded = load_blocking([piece for piece in pieces if isinstance(piece, FileRange)])
        data = b"".join([*loaded, *(piece for piece in pieces if isinstance(piece, memoryview))])
    except KafkaError as error:
        return error.code
    return [fields[0] for _, _, fields in hop(data)]


def consumed(log: Log, max_bytes: int = 20_000) -> list[int]:
    """Which offsets cannot be read; the others come in order, without a gap."""
    missing: list[int] = []
    for offset in range(CHUNKS):
        found = offsets_or_error(log, offset, max_bytes)
        if isinstance(found, ErrorCode):
            assert found is ErrorCode.KAFKA_STORAGE_ERROR
            missing.append(offset)
        else:
            assert found == list(range(offset, offset + len(found))) != [], f"at {offset}"
    return missing


async def at_once(call: Callable[[], Any]) -> Any:
    return call()


def scrubbed(log: Log, done: Callable[[Scrub], bool], **more: float) -> Scrub:
    """Scrub until something is so."""

    async def go() -> Scrub:
        scrub = Scrub(log.manager, at_once, **{"pause_s": 0.0, "piece_bytes": 20_000, **more})  # type: ignore[arg-type]
        scrub.start()
        try:
            async with asyncio.timeout(20):
                while not done(scrub):
                    await asyncio.sleep(0.001)
        finally:
            await scrub.close()
        return scrub

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrubbing, "LOOK_S", 0.001)
    monkeypatch.setattr(scrubbing, "ROUND_S", 0.001)
    monkeypatch.setattr(scrubbing, "RETRY_S", 0.01)


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]


# One copy


@pytest.mark.parametrize("max_bytes", [20_000, 1 << 20])
@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
@pytest.mark.parametrize("index", ["kept", "lost"])
@pytest.mark.parametrize("damage", SHORTER)
def test_nobody_is_led_past_what_a_start_does_not_find(
    tmp_path: Path,
    damage: Damage,
    index: str,
    left_as: LeftAs,
    max_bytes: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Reads behind the cut returned nothing, for ever, or what comes next; nobody was told."""
    log = one_copy(tmp_path)
    if left_as is LeftAs.KILLED:
        log.partition()
        log.restart(left_as)
    _, begin, end = damage_of(log, damage)
    if index == "lost":
        for path in tmp_path.glob("streams/*/*/*.index"):
            path.unlink()
    missing = consumed(log, max_bytes)
    assert missing
    assert missing == list(range(missing[0], end))
    assert missing[0] >= begin
    (line,) = errors(caplog)
    assert f"t-0: offsets {missing[0]} to {end - 1} are missing in" in line
    assert ".chunks" in line
    assert f"begins at offset {end}" in line


def test_the_scrub_says_what_is_missing_once_though_nobody_reads_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = one_copy(tmp_path)
    path, begin, end = damage_of(log, cut_in_a_chunk)
    log.partition()
    scrubbed(log, lambda scrub: scrub.rounds > 3, again_s=0.0)
    (line,) = errors(caplog)
    assert f"t-0: offsets {begin + 5} to {end - 1} are missing in {path}" in line
    assert consumed(log) == list(range(begin + 5, end))


def test_first_files_that_are_gone_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = one_copy(tmp_path)
    _, _, end = damage_of(log, deleted, 0)
    assert offsets_or_error(log, 0) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.partition().log_start_offset == end
    (line,) = errors(caplog)
    assert f"t-0: offsets 0 to {end - 1} are lost" in line


@pytest.mark.parametrize("chunks", [0, 2])
def test_an_end_that_is_gone_is_named(tmp_path: Path, chunks: int, caplog: pytest.LogCaptureFixture) -> None:
    log = one_copy(tmp_path)
    path = log.partition().segments[-1].path
    base = log.partition().segments[-1].base_offset
    log.restart(LeftAs.CLEAN)
    os.truncate(path, chunks * (os.path.getsize(path) // (CHUNKS - base)))
    assert log.partition().log_end_offset == base + chunks
    (line,) = errors(caplog)
    assert f"t-0: offsets {base + chunks} to {CHUNKS - 1} are lost" in line


@pytest.mark.parametrize("max_bytes", [20_000, 1 << 20])
@pytest.mark.parametrize("damage", [records_changed, header_changed, offset_changed])
def test_changed_bytes_are_named_once_and_what_follows_from_that(
    tmp_path: Path, damage: Damage, max_bytes: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What the CRC covers is handed out: clients check it. Where a chunk ends that does not say so is known
    from the index. Nobody gets a chunk with another offset; it was said that they did."""
    log = one_copy(tmp_path)
    path, begin, end = damage_of(log, damage)
    log.partition()
    scrubbed(log, lambda scrub: scrub.rounds > 3, again_s=0.0)
    (line,) = errors(caplog)
    first, last = (begin + 4, begin + 5) if damage is header_changed else (begin + 4, begin + 4)
    assert f"t-0: offsets {first} to {last} are damaged in {path}" in line
    missing = consumed(log, max_bytes)
    if damage is records_changed:
        assert "clients get the bytes as they are" in line
        assert not missing
    else:
        assert (
            f"reads of them fail (KAFKA_STORAGE_ERROR), what comes behind begins at offset {last + 1}" in line
        )
        assert first in missing
        assert set(missing) <= {first, last}
        assert offsets_or_error(log, last + 1) not in ([], ErrorCode.KAFKA_STORAGE_ERROR)
    assert end < CHUNKS


def test_retention_goes_on_behind_what_is_missing(tmp_path: Path) -> None:
    configs = {"kproto.segment.file.bytes": "1048576", "segment.bytes": "1048576"}
    log = Log(tmp_path, {**configs, "retention.bytes": "1200000"})
    for i in range(CHUNKS):
        log.partition().append(batch(80_000, time=START + i))
    log.restart(LeftAs.CLEAN)
    damage_of(log, cut_in_a_chunk)
    log.partition().retain()
    assert log.partition().log_start_offset >= log.partition().segments[-2].base_offset


def test_times_behind_what_is_missing_are_found(tmp_path: Path) -> None:
    log = one_copy(tmp_path)
    _, _, end = damage_of(log, cut_in_a_chunk)

    consumed(log)
    for offset in (0, end, CHUNKS - 1):
        found = asyncio.run(looked_up(log.partition().offset_for_time(START + offset)))
        assert found is not None
        assert found.offset == offset
    found = asyncio.run(looked_up(log.partition().max_timestamp_offset()))
    assert found is not None
    assert found.offset == CHUNKS - 1


# Several copies


class Copies:
    """What other brokers have, when they answer."""

    def __init__(self, sealed: Sealed) -> None:
        self.sealed = sealed
        self.silent = 0
        self.freed = 0
        self.reads = 0

    async def _read(self, wanted: RemoteRange) -> memoryview:
        self.reads += 1
        if wanted.offset < self.freed:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "nobody has that any more")
        if self.silent:
            self.silent -= 1
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "nobody answers")
        return await self.sealed.read(wanted)

    def read(self, wanted: RemoteRange) -> Awaitable[memoryview]:
        return self._read(wanted)


def three_copies(tmp_path: Path) -> tuple[Replicated, Copies]:
    """A log that was taken over; all of it is in files here, of which nothing is in memory."""
    sealed = Sealed()
    log = Replicated(tmp_path, sealed)
    log.sources = (7,)
    log.lead(OTHER)
    for i in range(CHUNKS):
        sealed.add(batch(5_000, time=START + i), log.epoch)
    log.lead(ME)
    log.take_over(0)
    log.partition().flush()
    log.restart(LeftAs.CLEAN)
    log.take_over(CHUNKS)
    log.partition()
    assert not list(log.partition().holes())
    copies = Copies(sealed)
    log.manager.ports.copies = copies
    return log, copies


def append(log: Replicated, count: int) -> None:
    for _ in range(count):
        log.partition().append(batch(5_000, time=START))
        log.sealed.add(batch(5_000, time=START), log.epoch)
    log.journal.push()
    log.partition().flush()


def closed(log: Log) -> Segment:
    """The second segment."""
    segment = log.partition().segments[1]
    assert segment.closed
    return segment


def test_sound_files_are_left_alone_and_no_copy_is_asked(tmp_path: Path) -> None:
    log, copies = three_copies(tmp_path)
    scrub = scrubbed(log, lambda scrub: scrub.rounds > 1)
    sizes = [one.measure() for one in log.partition().segments if one.closed]
    assert scrub.bytes == sum(sizes) > 250_000
    assert not copies.reads


@pytest.mark.parametrize("damage", [*SHORTER, records_changed, header_changed, epoch_changed])
def test_what_is_damaged_is_written_again_from_copies(
    tmp_path: Path, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    log, _ = three_copies(tmp_path)
    segment = closed(log)
    good = Path(segment.path).read_bytes()
    log.manager.files.close_all()
    damage(segment.path)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    assert Path(segment.path).read_bytes() == good
    check_all(log)
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert [line for line in said if "was damaged" in line and f"t-0: {segment.path}" in line] == said
    log.restart(LeftAs.KILLED)
    log.take_over(CHUNKS)
    assert not list(log.partition().holes())
    check_all(log)


@pytest.mark.parametrize("number", [1, -1])
@pytest.mark.parametrize("damage", [*SHORTER[:3], *SHORTER[4:]])
def test_what_a_read_complains_of_is_mended_at_once(tmp_path: Path, damage: Damage, number: int) -> None:
    """It was KAFKA_STORAGE_ERROR until the next start. Also in the file that still grows."""
    log, _ = three_copies(tmp_path)
    append(log, 8)
    check_all(log)
    log.manager.files.close_all()
    segment = log.partition().segments[number]
    damage(segment.path)
    offset = segment.base_offset + 5
    for block in list(segment.blocks):
        segment.evict(block)
    found = [offsets_or_error(log, one) for one in range(offset, segment.base_offset + 8)]
    assert ErrorCode.KAFKA_STORAGE_ERROR in found
    scrubbed(log, lambda scrub: bool(scrub.mended), pause_s=100.0)
    check_all(log)
    append(log, 1)
    check_all(log)


class BadSector:
    """Bytes of a file that the disk cannot read until they are written again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: str, at: int) -> None:
        self._path, self._at = path, at
        self._pread = os.pread
        self._good = Path(path).read_bytes()
        data = bytearray(self._good)
        data[at : at + 4] = b"!!!!"
        Path(path).write_bytes(data)
        monkeypatch.setattr(os, "pread", self.pread)

    def pread(self, descriptor: int, length: int, at: int) -> bytes:
        inside = os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        data = self._pread(descriptor, length, at)
        if inside and at <= self._at < at + length and data != self._good[at : at + length]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return data


def test_what_the_disk_cannot_read_is_written_again_from_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said every ten seconds, for ever, that the file cannot be verified."""
    log, _ = three_copies(tmp_path)
    segment = closed(log)
    good = Path(segment.path).read_bytes()
    BadSector(monkeypatch, segment.path, 22_000)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    assert Path(segment.path).read_bytes() == good
    check_all(log)


def test_that_the_only_copy_cannot_be_read_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = one_copy(tmp_path)
    segment = closed(log)
    BadSector(monkeypatch, segment.path, 22_000)
    scrubbed(log, lambda scrub: scrub.rounds > 3, again_s=0.0)
    said = [one.getMessage() for one in caplog.records if segment.path in one.getMessage()]
    assert said == [f"{segment.path} cannot be verified: {os.strerror(errno.EIO)}"]


@pytest.mark.parametrize("moved", [False, True])
def test_files_that_nobody_has_synced_are_verified(tmp_path: Path, moved: bool) -> None:
    """Nobody need sync those of an earlier time as leader: they were never looked at."""
    log, _ = three_copies(tmp_path)
    append(log, CHUNKS)
    if moved:
        log.lead(OTHER)
        log.lead(ME)
        log.take_over(2 * CHUNKS)
    closed = [one for one in log.partition().segments if one.closed]
    segment = next(one for one in closed if one.synced_offset < one.next_offset)
    records_changed(segment.path)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    check_all(log)
    segment.sync()
    assert segment.synced == segment.size


def test_copies_that_do_not_answer_are_asked_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log, copies = three_copies(tmp_path)
    copies.silent = 3
    segment = closed(log)
    records_changed(segment.path)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    check_all(log)
    said = [one.getMessage() for one in caplog.records if "can be read yet" in one.getMessage()]
    assert len(said) == 1
    assert segment.path in said[0]


@pytest.mark.parametrize("damage", [records_changed, header_changed, epoch_changed])
def test_what_is_below_the_log_start_does_not_keep_the_rest_from_being_mended(
    tmp_path: Path, damage: Damage
) -> None:
    """Copies of it are gone: it was asked for again and again, and what is behind never looked at."""
    log, copies = three_copies(tmp_path)
    segment = closed(log)
    good = Path(segment.path).read_bytes()
    places = [at for at, _, _ in hop(good)]
    log.partition().start_at(segment.base_offset + 8)
    copies.freed = segment.base_offset + 8
    damage(segment.path)
    with Path(segment.path).open("r+b") as file:
        file.seek(places[10] + 100)
        file.write(b"!!!!")
    scrubbed(log, lambda scrub: bool(scrub.mended))
    assert Path(segment.path).read_bytes()[places[8] :] == good[places[8] :]


def test_what_is_below_the_log_start_is_mended_when_it_keeps_the_rest_from_being_found(
    tmp_path: Path,
) -> None:
    log, _ = three_copies(tmp_path)
    segment = closed(log)
    good = Path(segment.path).read_bytes()
    log.partition().start_at(segment.base_offset + 8)
    log.manager.files.close_all()
    emptied(segment.path)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    assert Path(segment.path).read_bytes() == good


def test_the_batch_amid_which_the_log_starts_has_its_leader_epoch(tmp_path: Path) -> None:
    """Nothing is known of where it begins, and so it was never compared."""
    sealed = Sealed()
    for count in (3, 3):
        sealed.add(batch(*[100] * count), 4)
    path = tmp_path / "file"
    path.write_bytes(b"".join(chunk.data for chunk in sealed.chunks))
    epochs = sealed.fold(2)[0]
    epochs.cut_front(1)
    assert check_piece(str(path), Place(0, 0), 6, 1 << 20, epochs) == (Place(path.stat().st_size, 6), True)
    with path.open("r+b") as file:
        file.seek(15)
        file.write(b"\5")
    assert check_piece(str(path), Place(0, 0), 6, 1 << 20, epochs) == (Place(0, 0), False)


def test_a_copy_of_another_leader_epoch_is_not_taken(tmp_path: Path) -> None:
    log, copies = three_copies(tmp_path)
    segment = closed(log)
    records_changed(segment.path)
    bad = Path(segment.path).read_bytes()
    copies.sealed = Sealed()
    for i in range(CHUNKS):
        copies.sealed.add(batch(5_000, time=START + i), log.epoch + 1)
    scrub = scrubbed(log, lambda scrub: copies.reads > 2)
    assert not scrub.mended
    assert Path(segment.path).read_bytes() == bad


def test_what_a_full_disk_takes_is_synced(tmp_path: Path) -> None:
    """It may be all that was missing, and nobody looks at what is whole (36). Found by simulation (seed
    12100170)."""
    synced: list[str] = []

    class Full(Disk):
        def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
            super().pwritev(fd, [bytes(buffers[0])[:50]], position)
            raise OSError(errno.ENOSPC, "full")

        def datasync(self, fd: int) -> None:
            synced.append(f"{os.fstat(fd).st_size} bytes")
            super().datasync(fd)

        def sync_directory(self, path: str) -> None:
            synced.append(path)
            super().sync_directory(path)

    path = tmp_path / "streams" / "file"
    with pytest.raises(OSError, match="full"):
        overwrite(Full(), str(path), Place(0, 0), memoryview(batch(1)), 1)
    assert synced == ["50 bytes", str(path.parent)]


def test_directories_that_are_made_again_are_synced_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the partition goes back to one copy (36)."""
    log, _ = three_copies(tmp_path)
    segment = closed(log)
    size = segment.measure()
    segment.sync_directories()
    shutil.rmtree(tmp_path / "streams")
    scrubbed(log, lambda scrub: scrub.mended >= size)
    synced: list[str] = []
    monkeypatch.setattr(Disk, "sync_directory", lambda _, path: synced.append(path))
    segment.sync_directories()
    assert synced == [str(one) for one in Path(segment.path).parents[: 1 + DIRECTORIES_ABOVE]]


def test_what_cannot_be_synced_when_it_is_cut_is_poison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file may have more that nobody has synced: a later sync would say that it has got to the medium
    (35)."""
    log, _ = three_copies(tmp_path)
    segment = closed(log)
    with Path(segment.path).open("r+b") as file:
        file.write(b"!!!!")
        file.seek(0, os.SEEK_END)
        file.write(b"behind")

    def no_sync(disk: Disk, path: str, size: int) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Disk, "datasync", failing)
            cut(disk, path, size)

    def failing(_: Disk, fd: int) -> None:
        raise SyncError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(scrubbing, "cut", no_sync)
    scrubbed(log, lambda _: bool(log.poisoned))
    assert log.poisoned == [f"{segment.path}: [Errno {errno.EIO}] {os.strerror(errno.EIO)}"]


def test_a_partition_that_is_led_elsewhere_is_left_alone(tmp_path: Path) -> None:
    log, copies = three_copies(tmp_path)
    segment = closed(log)
    records_changed(segment.path)
    log.manager.suspects.append(segment)
    log.lead(OTHER)
    scrubbed(log, lambda scrub: scrub.rounds > 2)
    assert not copies.reads


def test_who_was_reading_a_file_before_it_was_mended_does_not_leave_it_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that makes the index of a damaged file again may say that it is torn when it is whole again.
    What it had there was read from others, as long as they had it, though all of it was here."""
    log, copies = three_copies(tmp_path)
    segment = closed(log)
    log.manager.files.close_all()
    cut_in_a_chunk(segment.path)
    os.unlink(segment.index_path)
    segment.index = None
    begun, go_on = threading.Event(), threading.Event()

    def held(path: str, start: int, end: int) -> list[tuple[int, int, tuple[int, ...]]]:
        found = hop_file(path, start, end)
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go_on.wait(20)
        return found

    monkeypatch.setattr(segments, "hop_file", held)
    thread = threading.Thread(target=segment.load_index)
    thread.start()
    assert begun.wait(20)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    go_on.set()
    thread.join()
    assert segment.torn_end > segment.next_offset
    scrubbed(log, lambda _: segment.torn_end < 0)
    copies.freed = CHUNKS
    assert not consumed(log)
