"""A leader gets ready to be the only one: what is written down before the controller is told (18b)."""

from __future__ import annotations

import asyncio
import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kproto.directory import LeftAs
from kproto.disk import Disk, SyncError
from kproto.errors import ErrorCode, KafkaError
from kproto.log import kept_producers
from kproto.log.above import DIRECTORIES_ABOVE
from kproto.log.checkpointing import Checkpointing
from kproto.log.epochs import EpochCache
from kproto.log.flushing import Flushing
from kproto.log.kept_producers import FILE
from kproto.log.scrubbing import is_sound
from kproto.log.segment import Segment
from kproto.metadata import MetadataImage
from kproto.metadata.records import RECOVERING
from kproto.metadata.vlogs import Move, VlogTable
from kproto.replica import narrowing
from kproto.replica.narrowing import Narrowing
from kproto.wire.records import Producer
from tests.log.replicated import ME, OTHER, Replicated, check_all
from tests.log.support import TOPIC_ID, batch
from tests.log.test_take_over import Stints


class AtOnce:
    """A thread whose jobs are done when they are given to it; ``problems`` come out of the next ones."""

    def __init__(self) -> None:
        self.problems: list[OSError] = []

    def submit(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        if self.problems:
            done(self.problems.pop())
            return
        call()
        done(None)


class Single(Replicated):
    """Its topic is to have one copy, or has."""

    copies = 3

    def image(self, **changes: Any) -> MetadataImage:
        found = super().image(**changes)
        if self.copies == 1:
            single = tuple(one.assigned_to((ME,)) for one in found.streamlets[TOPIC_ID])
            found.streamlets[TOPIC_ID] = single  # type: ignore[index]
        return found


class Case(Stints):
    """A log with holes, or without, as takeovers left it; the controller takes away what it is told of."""

    def __init__(self, path: Path, seed: int) -> None:
        super().__init__(path, seed)
        self.log = Single(path, self.sealed)
        self.table = VlogTable()
        self.jobs = AtOnce()
        self.told: list[Any] = []
        self.poisoned: str | None = None
        self.done = True
        self.survived: dict[str, int] = {}
        """Bytes of each file that were there after the last start."""
        here: Any = self
        self.narrowing = Narrowing(ME, here, here, self.jobs, lambda: 0, self.log.clock, here)

    # What `Narrowing` sees of metadata and log

    @property
    def image(self) -> MetadataImage:
        return self.log.image()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.log.manager, name)

    async def propose(self, kind: str, args: Any) -> list[bool]:
        self.told.append((kind, args))
        if self.done:
            self.log.sources = ()
            self.log.epoch += 1
            self.log.apply()
        return [self.done for _ in args["streamlets"]]

    def poison(self, reason: str) -> None:
        assert self.poisoned is None, "nothing is tried again"
        self.poisoned = reason

    # Steps

    def one_copy(self) -> None:
        self.log.copies = 1
        self.log.apply()

    def taken(self, chunks: int = 20, known: int = 10) -> None:
        """Another broker led it, and its newest state is behind ``known`` chunks."""
        self.log.lead(OTHER)
        for _ in range(chunks):
            self.sealed.add(self.chunk(), self.log.epoch)
        self.log.lead(ME)
        self.log.take_over(known)
        self.one_copy()

    def unsealed(self) -> None:
        """This broker led it, and is killed with chunks in its journal that no backup has."""
        log = self.log
        log.lead(ME)
        log.take_over(len(self.sealed.chunks))
        self.append()
        for _ in range(self.random.randint(1, 3)):
            log.partition().append(memoryview(bytearray(self.chunk())))
        log.journal.push()
        log.restart(LeftAs.KILLED)

    def whole(self) -> None:
        """Everything is brought over."""
        partition = self.log.partition()
        while next(partition.holes(), None) is not None:
            before = list(partition.segments)
            self.fill()
            (segment,) = (one for one in partition.segments if one not in before)
            segment.flushed = segment.synced = segment.measure()
            epochs = EpochCache.decode(partition.epochs.encode())
            epochs.cut_end(segment.next_offset)
            segment.footer = (b"", epochs.encode())
            segment.write_index()

    def stop(self) -> None:
        """What others have is taken from them."""
        self.log.journal.stored.clear()
        super().stop()

    def append(self) -> None:
        """All of it becomes durable."""
        for _ in range(self.random.choice((0, 3, 30))):
            chunk = self.chunk()
            self.log.partition().append(memoryview(bytearray(chunk)))
            self.sealed.add(chunk, self.log.epoch)
        self.log.journal.push()

    def check(self) -> None:
        """It is the fold of all chunks. Which producer was there first is not kept."""
        partition = self.log.partition()
        _, producers = self.sealed.fold(len(self.sealed.chunks))
        known = {pid: (one.epoch, one.batches) for pid, one in partition.producers.items()}
        assert known == {pid: (one.epoch, one.batches) for pid, one in producers.items()}
        partition.producers = producers
        check_all(self.log, 5)

    def look(self) -> int:
        return asyncio.run(self.narrowing.look())

    def lose(self, left_as: LeftAs) -> None:
        """The process ends."""
        if left_as is LeftAs.POWER_LOST:
            for segment in self.log.partition().segments:
                kept = max(segment.synced, self.survived.get(segment.path, 0))
                if kept < segment.flushed:
                    os.truncate(segment.path, self.random.randint(kept, segment.flushed))
        self.log.restart(left_as)
        files = Path(self.log.path).rglob("*.chunks")
        self.survived = {str(file): file.stat().st_size for file in files}


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setattr(narrowing, "PATIENCE_SECONDS", 0.0)
    return Case(tmp_path, 7)


@given(
    seed=st.integers(0, 1 << 32), left_as=st.sampled_from([LeftAs.KILLED, LeftAs.POWER_LOST, LeftAs.CLEAN])
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_start_finds_everything_that_was_there(seed: int, left_as: LeftAs) -> None:
    with tempfile.TemporaryDirectory() as directory:
        case = Case(Path(directory), seed)
        for _ in range(case.random.choice((0, 2, 4))):
            case.random.choice((case.mine, case.mine, case.others, case.stop))()
        count = case.random.randint(1, 40)
        if case.random.random() < 0.5:
            case.unsealed()
            count = 0 if case.sealed.chunks else 1
        count += len(case.sealed.chunks)
        fresh = count - len(case.sealed.chunks)
        case.taken(fresh, case.random.choice((0, count, case.random.randint(0, count))))
        if case.random.random() < 0.5:
            case.append()
        case.whole()
        assert case.look() == 1
        assert (len(case.told), case.log.partition().copies) == (1, 1)
        case.append()
        for _ in range(2):
            case.lose(left_as)
            case.check()
            case.append()
        assert not case.poisoned


@pytest.mark.parametrize("then", ["nothing", "appended", "appended and deleted"])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_what_no_backup_had_is_no_part_of_it(case: Case, then: str, length: int) -> None:
    """It is in the journal of an earlier process here yet, at the offset of what is appended now (15, 33)."""
    log = case.log
    first, stale, new = batch(5), batch(*[7] * 3, producer=Producer(1, 0, 0)), batch(*[3] * length)
    log.partition().append(memoryview(bytearray(first)))
    case.sealed.add(first, log.epoch)
    log.partition().append(memoryview(bytearray(stale)))
    log.journal.push()
    log.restart(LeftAs.KILLED)
    case.taken(0, 1)
    case.whole()
    assert case.look() == 1
    if then != "nothing":
        log.partition().append(memoryview(bytearray(new)))
        case.sealed.add(new, log.epoch)
        log.journal.push()
    if then == "appended and deleted":
        log.tick(100.0)  # it is in files, and not looked for in the journal any more
        del log.journal.stored[TOPIC_ID, 0][2]
        case.sealed.log_start = log.partition().delete_records(-1)
        log.tick(100.0)
    for left_as in (LeftAs.KILLED, LeftAs.CLEAN, LeftAs.KILLED):
        case.lose(left_as)
        partition = log.partition()
        ends = partition.log_start_offset, partition.log_end_offset, partition.high_watermark
        assert ends == (case.sealed.log_start, case.sealed.end, case.sealed.end)
        if then != "appended and deleted":  # nobody knows leader epochs of what is deleted
            case.check()


def test_the_controller_is_told_of_the_leader_epoch_under_which_it_was_ready(case: Case) -> None:
    case.taken(known=0)
    epoch = case.log.epoch
    assert case.look() == 1
    assert case.told == [("alone", {"streamlets": [[TOPIC_ID.hex(), 0, epoch]]})]
    assert case.look() == 0, "nothing is left to do"


def test_what_is_not_here_yet_is_waited_for(case: Case) -> None:
    case.taken()
    assert (case.look(), case.told) == (1, [])
    assert case.log.manager.may_lack(TOPIC_ID, 0)
    case.whole()
    case.look()
    assert len(case.told) == 1


@pytest.mark.parametrize("damage", ["changed", "cut"])
def test_what_is_damaged_is_mended_before_others_give_up_theirs(case: Case, damage: str) -> None:
    """It was found an hour later, when there was no other copy any more."""
    case.taken()
    case.whole()
    log = case.log
    segment = next(one for one in log.partition().segments if one.closed and one.measure() > 100)
    file = Path(segment.path)
    good = file.read_bytes()
    file.write_bytes(good[:-30] if damage == "cut" else good[:80] + bytes([good[80] ^ 1]) + good[81:])
    case.look()
    assert not case.told
    assert segment in log.manager.suspects
    file.write_bytes(good)
    case.look()
    assert len(case.told) == 1
    case.lose(LeftAs.KILLED)
    case.check()


@pytest.mark.parametrize("since", ["a read fails", "the scrub looked", "long ago"])
def test_what_was_read_once_is_not_believed_whatever_happens(case: Case, since: str) -> None:
    """It was until the controller said yes, though others could have mended it."""
    case.taken()
    case.whole()
    case.done = False
    case.look()
    assert len(case.told) == 1
    log = case.log
    segment = next(one for one in log.partition().segments if one.closed and one.measure() > 100)
    file = Path(segment.path)
    good = file.read_bytes()
    file.write_bytes(good[:80] + bytes([good[80] ^ 1]) + good[81:])
    if since == "a read fails":
        log.manager.suspects.append(segment)
    elif since == "the scrub looked":
        segment.checked_at = 5.0
    else:
        log.clock.advance(narrowing.BELIEVED_SECONDS)
    case.done = True
    case.look()
    assert len(case.told) == 1
    log.manager.suspects.clear()
    file.write_bytes(good)
    case.look()
    assert len(case.told) == 2


def test_what_was_read_lately_is_not_read_every_second(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    case.taken()
    case.whole()
    case.done = False
    reads: list[Segment] = []

    async def counted(segment: Segment, *rest: Any) -> bool:
        reads.append(segment)
        return await is_sound(segment, *rest)

    monkeypatch.setattr(narrowing, "is_sound", counted)
    for _ in range(3):
        case.look()
    closed = [segment for segment in case.log.partition().segments if segment.closed]
    assert closed
    assert [reads.count(segment) for segment in closed] == [1] * len(closed)


@pytest.mark.parametrize("problem", [None, errno.EIO, errno.ENOENT])
def test_what_was_synced_before_is_synced_again(
    case: Case, monkeypatch: pytest.MonkeyPatch, problem: int | None
) -> None:
    """It may have been damaged since, and mended by a process that was killed before it had synced that; or
    brought here by one that was killed before it had synced its name (36)."""
    case.taken()
    case.whole()
    synced: list[str] = []

    def sync_file(_: Disk, path: str) -> None:
        if problem is not None:
            raise OSError(problem, os.strerror(problem), path)
        synced.append(path)

    monkeypatch.setattr(Disk, "sync_file", sync_file)
    monkeypatch.setattr(Disk, "sync_directory", lambda _, path: synced.append(path))
    case.look()
    closed = [segment for segment in case.log.partition().segments if segment.closed and segment.size]
    assert closed
    for segment in closed if problem is None else ():
        assert synced[synced.index(segment.path) + 1] == segment.partition.directory
    assert bool(case.told) == (problem is None)
    assert bool(case.poisoned) == (problem == errno.EIO)


@pytest.mark.parametrize("why", ["moves", "led elsewhere", "not served", "another replica", "copies"])
def test_others_are_left_alone(case: Case, why: str) -> None:
    case.taken(known=0)
    log = case.log
    if why == "moves":
        case.table.moves[TOPIC_ID, 0] = Move(TOPIC_ID, 0, OTHER, log.epoch, 1)
    elif why == "led elsewhere":
        log.lead(OTHER)
    elif why == "not served":
        log.state = RECOVERING
    elif why == "another replica":
        case.narrowing._node_id = 9
    else:
        log.copies = 2
    assert case.look() == 0
    assert not case.told


def test_what_is_not_durable_yet_is_not_told(case: Case) -> None:
    case.taken(known=0)
    partition = case.log.partition()
    partition.append(memoryview(bytearray(batch(10))))
    case.look()
    assert not case.told
    case.log.journal.push()
    case.look()
    assert len(case.told) == 1


@pytest.mark.parametrize("when", ["producers", "segments", "checkpoint", "files"])
def test_a_disk_that_does_not_take_it(case: Case, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The controller is told nothing; where a sync fails nothing is trusted any more (rule 35)."""
    case.taken(known=0)
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patch:
        if when == "producers":
            case.jobs.problems = [full]
        elif when == "segments":
            patch.setattr(Segment, "sync", fail(full))
        elif when == "checkpoint":
            patch.setattr(Checkpointing, "note_down", fail(full))
        else:
            patch.setattr(Flushing, "write", lambda *_: False)
        if when == "segments":
            case.jobs.submit = lambda call, done: done(problem(call))  # type: ignore[method-assign]
        case.look()
    assert not case.told
    assert bool(case.poisoned) == (when == "segments")
    case.poisoned = None  # another process
    del case.jobs.__dict__["problems"]
    case.jobs = case.narrowing._jobs = AtOnce()
    case.look()
    assert len(case.told) == 1


@pytest.mark.parametrize("what", ["producers", "leader-epochs", "checkpoint", "its directory"])
def test_a_sync_that_failed_is_not_tried_again(
    case: Case, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one succeeded, whatever was on the medium, and the controller took the other copies away."""
    case.taken(known=0)
    datasync, sync_directory = Disk.datasync, Disk.sync_directory

    def fails(disk: Disk, fd: int) -> None:
        if os.readlink(f"/proc/self/fd/{fd}").removesuffix(".tmp").endswith(f"/{what}"):
            raise SyncError(errno.EIO, os.strerror(errno.EIO))
        datasync(disk, fd)

    def directory_fails(disk: Disk, path: str) -> None:
        if what == "its directory" and path == case.log.partition().directory:
            raise SyncError(errno.EIO, os.strerror(errno.EIO), path)
        sync_directory(disk, path)

    case.log.manager.ports.on_poison = case.poison
    with monkeypatch.context() as patch:
        patch.setattr(Disk, "datasync", fails)
        patch.setattr(Disk, "sync_directory", directory_fails)
        case.jobs.submit = lambda call, done: done(problem(call))  # type: ignore[method-assign]
        case.look()
    assert case.poisoned
    case.look()
    assert not case.told


def test_what_is_written_down_of_producers_is_not_gone_with_its_directory(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be no file of records: the directory is made for this one (36)."""
    case.taken(known=0)
    partition = case.log.partition()
    synced: list[str] = []
    monkeypatch.setattr(Disk, "sync_directory", lambda _, path: synced.append(path))
    kept_producers.write(partition, kept_producers.packed(partition), sync=True)
    above = Path(partition.directory).parents[:DIRECTORIES_ABOVE]
    assert set(synced) == {partition.directory, *map(str, above)}
    synced.clear()
    kept_producers.write(partition, kept_producers.packed(partition), sync=True)
    assert synced == [partition.directory], "those above are synced once"


def fail(error: OSError) -> Callable[..., Any]:
    def failing(*_: Any, **__: Any) -> None:
        raise error

    return failing


def problem(call: Callable[[], object]) -> BaseException | None:
    try:
        call()
    except OSError as error:
        return error
    return None


def test_a_controller_that_says_no_is_told_again(case: Case) -> None:
    case.taken(known=0)
    case.done = False
    case.look()
    case.look()
    assert len(case.told) == 2

    async def away(kind: str, args: Any) -> list[bool]:
        raise KafkaError(ErrorCode.NOT_CONTROLLER)

    case.propose = away  # type: ignore[method-assign]
    with pytest.raises(KafkaError):
        case.look()


def test_producers_are_written_down_though_there_are_none_now(case: Case) -> None:
    """What an earlier time as the only one left must not come back."""
    case.taken(known=0)
    case.log.partition().producers.clear()
    path = Path(case.log.partition().directory) / FILE
    case.look()
    assert path.exists()
    case.lose(LeftAs.KILLED)
    assert not case.log.partition().producers


def test_what_was_never_used_has_no_file(case: Case) -> None:
    case.one_copy()
    case.look()
    assert len(case.told) == 1
    assert not Path(case.log.partition().directory).exists()


def test_it_looks_again_when_something_changed_or_is_left_to_do(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrowing, "LOOK_SECONDS", 0.001)
    looks: list[int] = []
    look = case.narrowing.look

    async def counted() -> int:
        looks.append(await look())
        return looks[-1]

    case.narrowing.look = counted  # type: ignore[method-assign]

    async def body() -> None:
        case.narrowing.start()
        async with asyncio.timeout(60):
            while len(looks) < 3:
                await asyncio.sleep(0.001)
            case.whole()
            while looks[-1]:
                await asyncio.sleep(0.001)
            before = len(looks)
            await asyncio.sleep(0.01)
            assert len(looks) == before, "nothing to do, and nothing changed"
            case.log.apply()
            while len(looks) == before:
                await asyncio.sleep(0.001)
        await case.narrowing.close()

    case.taken()
    asyncio.run(body())
    assert len(case.told) == 1
