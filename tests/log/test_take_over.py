"""Partitions with several copies: what is served after another broker, or an earlier process, led them."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.log import opening
from kproto.log.adopting import GapError
from kproto.log.partition import Partition
from kproto.log.segment import Group, Segment
from kproto.metadata.records import ONLINE, RECOVERING
from kproto.wire.batch import hop
from kproto.wire.records import NO_PRODUCER, Producer, iter_times
from tests.log.replicated import (
    CONFIGS,
    ME,
    OTHER,
    START,
    Replicated,
    Sealed,
    State,
    Stored,
    check_all,
    read,
    run,
)
from tests.log.support import TOPIC_ID, batch, looked_up


class Stints:
    """Leaders come and go: this broker with its files, and others."""

    def __init__(self, path: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.sealed = Sealed()
        self.log = Replicated(path, self.sealed)
        self.sequence = 0
        self.released: list[Segment] = []
        """What the partition had here when another broker became its leader."""

    def chunk(self) -> memoryview:
        values = [self.random.choice((5, 100, 3000, 20_000))] * self.random.randint(1, 3)
        producer = NO_PRODUCER
        if self.random.random() < 0.5:
            producer = Producer(self.random.randint(1, 3), self.sequence, 0)
            self.sequence += 1
        return batch(*values, time=START + self.random.randint(-500, 500), producer=producer)

    def others(self) -> None:
        for one in self.log.manager.partitions_open():
            if self.random.random() < 0.5:
                one.hand_over(True)
                self.log.run_deferred()
        self.released += [each for one in self.log.manager.partitions_open() for each in one.segments]
        self.log.lead(OTHER)
        with pytest.raises(KafkaError) as refused:
            self.log.partition()
        assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        for _ in range(self.random.choice((0, 1, 20, 60))):
            self.sealed.add(self.chunk(), self.log.epoch)
        if self.random.random() < 0.3:
            self.sealed.log_start = self.random.randint(self.sealed.log_start, self.sealed.end)

    def mine(self) -> None:
        log = self.log
        log.lead(ME)
        count = len(self.sealed.chunks)
        known = self.random.choice((0, count, self.random.randint(0, count)))
        assert log.take_over(known) == self.sealed.end
        check_all(log, 5)
        self.released = []
        if self.random.random() < 0.3:
            self.fill()
            check_all(log, 5)
        if self.random.random() < 0.2:
            self.sealed.log_start = self.random.randint(self.sealed.log_start, self.sealed.end)
            log.partition().delete_records(self.sealed.log_start)
            check_all(log, 5)
        self.append()

    def append(self) -> None:
        """Some of it becomes durable, some more of it gets sealed, the rest is lost."""
        partition = self.log.partition()
        fresh: list[memoryview] = []
        for _ in range(self.random.choice((0, 3, 30, 60))):
            fresh.append(self.chunk())
            partition.append(memoryview(bytearray(fresh[-1])))
            if self.random.random() < 0.1:
                partition.flush()
            if self.random.random() < 0.05:
                partition.hand_over(True)
                partition.hand_over(False)
            self.log.run_deferred()
        if self.random.random() < 0.5:
            self.log.tick(self.random.choice((0.1, 20.0, 70.0)))
        for chunk in fresh[: self.random.randint(0, len(fresh))]:
            self.sealed.add(chunk, self.log.epoch)

    def fill(self) -> None:
        """Bring a piece of the first hole over."""
        partition = self.log.partition()
        hole = next(partition.holes(), None)
        if hole is None:
            return
        inside = [chunk for chunk in self.sealed.chunks if hole[0] < chunk.end and chunk.end <= hole[1]]
        inside = inside[: self.random.randint(1, len(inside))]
        segment = Segment(partition, Group(inside[0].base, START), 0, inside[0].base)
        os.makedirs(partition.directory, exist_ok=True)
        Path(segment.path).write_bytes(b"".join(chunk.data for chunk in inside))
        segment.closed = True
        segment.size = segment.max_ts_base = -1
        segment.next_offset = segment.flushed_offset = segment.synced_offset = inside[-1].end
        assert partition.fill(segment)

    def stop(self) -> None:
        """The process ends somehow; journal files of an earlier process do not count."""
        left_as = self.random.choice((LeftAs.KILLED, LeftAs.CLEAN, LeftAs.POWER_LOST))
        if left_as is LeftAs.POWER_LOST:
            opened = [each for one in self.log.manager.partitions_open() for each in one.segments]
            for segment in opened + self.released:
                if 0 <= segment.synced < segment.flushed and os.path.exists(segment.path):
                    keep = self.random.randint(segment.synced, segment.flushed)
                    os.truncate(segment.path, keep)
        self.log.owner += 1
        self.log.restart(left_as)

    def go(self, rounds: int) -> None:
        for _ in range(rounds):
            self.random.choice((self.mine, self.mine, self.others, self.stop))()
        self.mine()
        assert not self.log.poisoned


@given(seed=st.integers(0, 1 << 32), rounds=st.integers(1, 9))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_served_is_the_fold_of_all_chunks(seed: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        Stints(Path(directory), seed).go(rounds)


@pytest.mark.parametrize("known", [0, 2])
@pytest.mark.parametrize(("stale", "records"), [(3, 3), (3, 2), (1, 2), (1, 3)])
def test_a_log_that_starts_amid_a_batch_has_nothing_stale_there(
    tmp_path: Path, stale: int, records: int, known: int
) -> None:
    """What this broker had appended and nobody acknowledged began below the new log start, where nothing was
    compared: it was served, or its end, amid a batch, kept the partition from being opened (33; simulation,
    seeds 30031062 and 30031473)."""
    sealed = Sealed()
    log = Replicated(tmp_path, sealed)
    log.lead(ME)
    log.take_over(0)
    partition = log.partition()
    partition.append(memoryview(bytearray(batch(*[7] * stale))))
    log.run_deferred()
    partition.flush()
    log.lead(OTHER)
    sealed.add(batch(*[9] * records), log.epoch)
    sealed.add(batch(11), log.epoch)
    sealed.log_start = 1
    log.lead(ME)
    assert log.take_over(known) == records + 1
    check_all(log)


@pytest.mark.parametrize("records", [[], [3], [3, 4, 1]])
def test_an_old_journal_has_nothing_sealed_amid_the_log_start_when_that_was_given_up(
    tmp_path: Path, records: list[int]
) -> None:
    """A batch of ten was acknowledged, and records deleted up to its middle; an operator gave up what no copy
    had, that batch too, and another leader went on at the log start. Who comes back with the batch in its
    journal showed it in the place of what was acknowledged since, or did not open the partition (33)."""
    sealed = Sealed()
    log = Replicated(tmp_path, sealed)
    log.lead(ME)
    log.take_over(0)
    for fill in (b"a", b"b"):
        log.partition().append(memoryview(bytearray(batch(*[fill] * 10))))
    log.journal.push()
    sealed.add(batch(*[b"a"] * 10), log.epoch)
    epochs = sealed.fold(1)[0].encode()
    log.restart(LeftAs.KILLED)
    log.lead(OTHER)
    sealed.chunks = [Stored(10, 15, b"")]
    for count in records:
        sealed.add(batch(*[b"c"] * count), log.epoch)
    chunks = [memoryview(chunk.data) for chunk in sealed.chunks[1:]]
    log.lead(ME)
    assert log.manager.take_over(TOPIC_ID, 0, log.epoch, State(15, 15, epochs, b""), chunks, 15) == sealed.end
    partition = log.partition()
    assert (partition.log_start_offset, partition.high_watermark) == (15, 15 + sum(records))
    assert read(partition, 15) == b"".join(chunks)


def filled(tmp_path: Path, count: int = 20) -> Replicated:
    """A log that another broker filled; this one leads it now."""
    sealed = Sealed()
    log = Replicated(tmp_path, sealed)
    log.sources = (7,)
    log.lead(OTHER)
    for i in range(count):
        sealed.add(batch(100, 100, time=START + 10 * i), log.epoch)
    log.lead(ME)
    return log


def led_six_times(path: Path, size: int = 50, hands_over: bool = False) -> Stints:
    """A hundred records each time, in a file; then another broker leads, and appends one."""
    stints = Stints(path, 7)
    log = stints.log
    for _ in range(6):
        log.lead(ME)
        log.take_over(len(stints.sealed.chunks))
        for _ in range(100):
            stints.sealed.add(batch(size, time=START), log.epoch)
            log.partition().append(memoryview(bytearray(batch(size, time=START))))
            log.run_deferred()
        if hands_over:
            log.partition().hand_over(True)
            log.run_deferred()
        else:
            log.partition().flush()
        log.lead(OTHER)
        stints.sealed.add(batch(50, time=START), log.epoch)
    log.tick(20.0)
    return stints


def led_again(stints: Stints) -> Partition:
    stints.log.lead(ME)
    stints.log.take_over(len(stints.sealed.chunks))
    return stints.log.partition()


@pytest.mark.parametrize("left_as", [None, LeftAs.CLEAN, LeftAs.KILLED])
@pytest.mark.parametrize(("hands_over", "most"), [(False, 150), (True, 50)])
def test_what_it_led_before_is_not_looked_through_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_as: LeftAs | None, hands_over: bool, most: int
) -> None:
    """Leaders come and go, and processes: what the files here have was known when another broker became the
    leader, and where each time ended was found out then. The last time alone is looked at as a whole, unless
    it ended with handing over."""
    looked: list[int] = []
    hop_over = opening.chunks_of

    def counted(path: str, trusted: int, at: int = 0) -> Iterator[Any]:
        for found in hop_over(path, trusted, at):
            looked.append(found[0])
            yield found

    stints = led_six_times(tmp_path, 200, hands_over)
    if left_as is not None:
        stints.log.owner += 1
        stints.log.restart(left_as)
    monkeypatch.setattr(opening, "chunks_of", counted)
    assert len(led_again(stints).segments) == 6 + 1
    assert 0 < len(looked) < most
    check_all(stints.log)


def test_an_index_is_not_believed_of_a_file_that_was_never_synced(tmp_path: Path) -> None:
    """The power was lost: the file has its length, and not what was written into it."""
    stints = led_six_times(tmp_path)
    segment = led_again(stints).segments[0]
    assert segment.synced_offset < segment.next_offset
    with open(segment.path, "r+b") as changed:
        changed.seek(segment.size // 2)
        changed.write(bytes(200))
    stints.log.owner += 1
    stints.log.restart(LeftAs.POWER_LOST)
    led_again(stints)
    check_all(stints.log)


def test_an_index_that_does_not_know_leader_epochs_is_not_asked(tmp_path: Path) -> None:
    """That of a file that was brought over, above all: its chunks are looked at, and are the log's."""
    stints = led_six_times(tmp_path)
    segment = led_again(stints).segments[0]
    segment.load_index()
    segment.footer = (b"", b"")
    segment.write_index()
    stints.log.lead(OTHER)
    assert len(led_again(stints).segments) == 6 + 1
    check_all(stints.log)


def test_nothing_is_served_before_it_is_taken_over(tmp_path: Path) -> None:
    log = filled(tmp_path)
    for state in (1, 0):
        log.state = state
        log.apply()
        with pytest.raises(KafkaError) as refused:
            log.partition()
        assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.state = 1
    log.apply()
    log.take_over(20)
    with pytest.raises(KafkaError):
        log.partition()
    log.state = 0
    log.apply()
    check_all(log)


def test_a_partition_that_began_here_needs_no_take_over(tmp_path: Path) -> None:
    log = Replicated(tmp_path, Sealed())
    assert log.partition().append(batch(b"x"))[0] == 0
    log.manager.release(TOPIC_ID, 0)
    with pytest.raises(KafkaError):
        log.partition()


def test_an_idle_partition_costs_no_files_and_is_not_opened(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(20)
    log.tick(100.0)
    assert not log.manager.to_open()
    assert not list(log.manager.partitions_open())
    log.take_over(18)
    assert log.manager.to_open() == [(TOPIC_ID, 0)]
    check_all(log)
    assert not log.manager.to_open()


def test_a_gap_is_refused(tmp_path: Path) -> None:
    log = filled(tmp_path)
    with pytest.raises(GapError, match="offset 20 is missing, the log goes on at 22"):
        log.take_over(10, log.sealed.from_(11))
    log.sealed.log_start = 41
    with pytest.raises(GapError):
        log.take_over(10)


def test_who_waits_is_told_when_the_leadership_is_gone(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(20)
    partition = log.partition()
    told: list[int] = []
    partition.waiters.append(lambda: told.append(partition.high_watermark))
    log.lead(OTHER)
    assert told == [40]
    with pytest.raises(KafkaError) as refused:
        partition.append(batch(b"x"))
    assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_the_files_of_a_lost_partition_go_after_a_while(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(10)
    log.partition().flush()
    directory = Path(log.partition().directory)
    log.lead(OTHER)
    assert list(directory.iterdir())
    log.tick(200.0)
    log.lead(ME)
    log.take_over(10)
    log.partition()
    log.tick(200.0)
    assert list(directory.iterdir()), "it came back"
    log.lead(OTHER)
    log.tick(301.0)
    log.tick(1.0)
    assert not directory.exists()
    log.lead(ME)
    log.take_over(5)
    check_all(log)


@pytest.mark.parametrize("flushed", [False, True])
def test_deleted_files_of_a_partition_that_comes_back_are_decided_about_anew(
    tmp_path: Path, flushed: bool
) -> None:
    """Found by simulation: what was written there in the meantime was removed in their place."""
    log = filled(tmp_path, 3)
    log.take_over(0)
    if flushed:
        log.partition().flush()
    log.partition().delete_records(log.sealed.end)
    log.sealed.log_start = log.sealed.end
    log.lead(OTHER)
    for i in range(20):
        log.sealed.add(batch(100, 100, time=START + 10 * i), log.epoch)
    log.lead(ME)
    log.take_over(0)
    partition = log.partition()
    partition.flush()
    log.tick(61.0)
    log.tick(1.0)
    assert all(os.path.exists(segment.path) for segment in partition.segments if segment.flushed)
    log.restart(LeftAs.KILLED)
    log.take_over(23)
    check_all(log)
    partition = log.partition()
    assert partition.directory
    partition.delete_records(log.sealed.end)
    log.tick(61.0)
    log.tick(1.0)
    kept = {os.path.basename(segment.path) for segment in partition.segments}
    assert {name for name in os.listdir(partition.directory) if name.endswith(".chunks")} <= kept


def test_files_that_an_earlier_process_left_go_when_another_broker_leads(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(10)
    log.partition().flush()
    directory = Path(log.partition().directory)
    log.leader = OTHER
    log.restart(LeftAs.KILLED)
    log.tick(200.0)
    assert list(directory.iterdir())
    log.tick(101.0)
    log.tick(1.0)
    assert not directory.exists()
    log.lead(ME)
    log.take_over(10)
    log.partition().flush()
    log.restart(LeftAs.KILLED)
    log.tick(301.0)
    log.tick(1.0)
    assert list(directory.iterdir()), "it is led here, or will be"


def test_files_that_an_earlier_process_left_go_when_a_long_recovery_elsewhere_is_over(
    tmp_path: Path,
) -> None:
    """They were looked at once, and stayed until the next start."""
    log = filled(tmp_path)
    log.take_over(10)
    log.partition().flush()
    directory = Path(log.partition().directory)
    log.leader, log.state = OTHER, RECOVERING
    log.restart(LeftAs.KILLED)
    for _ in range(2):
        log.tick(301.0)
        log.tick(1.0)
        assert list(directory.iterdir()), "it may be led here yet"
    log.state = ONLINE
    log.apply()
    log.tick(301.0)
    log.tick(1.0)
    assert not directory.exists()


def test_a_look_for_files_of_earlier_processes_leaves_those_their_time_that_were_led_here_since(
    tmp_path: Path,
) -> None:
    log = filled(tmp_path)
    log.take_over(10)
    log.partition().flush()
    directory = Path(log.partition().directory)
    log.restart(LeftAs.KILLED)
    log.take_over(10)
    log.tick(200.0)
    log.lead(OTHER)
    log.tick(101.0)
    log.tick(1.0)
    assert list(directory.iterdir())
    log.tick(200.0)
    log.tick(1.0)
    assert not directory.exists()


@pytest.mark.parametrize("left_as", [None, LeftAs.KILLED])
@pytest.mark.parametrize("gone", [False, True])
def test_a_clean_stop_vouches_only_for_synced_files_of_what_others_lead(
    tmp_path: Path, left_as: LeftAs | None, gone: bool
) -> None:
    """The next start would believe them though the machine lost its power in between; and those that are gone
    stood in the way of every clean stop after a crash."""
    log = filled(tmp_path)
    log.take_over(10)
    log.partition().flush()
    log.lead(OTHER)
    log.tick(20.0)
    if left_as is not None:
        log.restart(left_as)
    if gone:
        log.tick(301.0)
        log.tick(1.0)
    noted = log.manager.checkpointing.file.get(TOPIC_ID, 0)
    assert noted is not None
    assert noted.unsynced
    log.run_deferred()
    assert log.manager.close()
    log.restart(LeftAs.CLEAN)
    left = log.manager.checkpointing.file.get(TOPIC_ID, 0)
    assert left == (noted.only_synced() if gone else noted.all_synced())


def test_files_that_are_here_are_not_read_from_others(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(0)
    check_all(log)
    assert list(log.partition().holes()) == []
    log.restart(LeftAs.CLEAN)
    log.take_over(20)
    check_all(log)
    assert log.sealed.reads == 0


def long_log(path: Path) -> Replicated:
    """A log in several groups of several files with several chunks of one record; all was flushed."""
    log = Replicated(path, Sealed())
    log.sources = (7,)
    log.lead(OTHER)
    for _ in range(30):
        log.sealed.add(batch(20_000, time=START), log.epoch)
    log.lead(ME)
    log.take_over(0)
    log.partition().flush()
    return log


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
@pytest.mark.parametrize("index", ["kept", "lost"])
@pytest.mark.parametrize("number", [0, 1, -3, -2])
@pytest.mark.parametrize("count", [0, 30])
def test_what_is_missing_at_the_end_of_a_file_is_read_from_others(
    tmp_path: Path, count: int, number: int, index: str, left_as: LeftAs
) -> None:
    """Found by damaging files of a cluster: half a chunk stayed part of the file, could never be read, and
    the copies were not asked."""
    log = long_log(tmp_path)
    segment = log.partition().segments[number]
    assert len({one.group.base_offset for one in log.partition().segments[-3:-1]}) == 1
    log.restart(left_as)
    os.truncate(segment.path, 30_000)
    if index == "lost" and os.path.exists(segment.index_path):
        os.unlink(segment.index_path)
    log.take_over(count)
    told: list[Partition] = []
    log.manager.ports.on_hole = told.append
    assert log.manager.may_lack(TOPIC_ID, 0) == (count > 0), "else only opening tells"
    (hole,) = log.partition().holes()
    assert told == [log.partition()], "nobody would bring it over"
    assert hole[0] == segment.base_offset + 1
    assert hole[1] in (segment.next_offset, log.sealed.end)
    check_all(log)


def no_length(chunk: memoryview) -> None:
    """It does not say any more where it ends."""
    chunk[8:12] = b"\x7f\xff\xff\x00"


def far_end(chunk: memoryview) -> None:
    """It says that it has hundreds of millions of records."""
    chunk[23] ^= 0x10


def one_more(chunk: memoryview) -> None:
    """It says that it has one record more."""
    chunk[26] += 1


def changed(path: str, number: int, change: Callable[[memoryview], None]) -> int:
    """Change one chunk of a file; returns its offset."""
    data = bytearray(Path(path).read_bytes())
    at, size, fields = list(hop(data))[number]
    change(memoryview(data)[at : at + size])
    Path(path).write_bytes(data)
    return fields[0]


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
@pytest.mark.parametrize("number", [0, 1, -3, -2, -1])
@pytest.mark.parametrize("change", [no_length, far_end, one_more])
def test_a_file_does_not_end_where_a_changed_chunk_says(
    tmp_path: Path, change: Callable[[memoryview], None], number: int, left_as: LeftAs
) -> None:
    """Found by simulation (seeds 3032621 and 3030382): the checkpoint vouches for the file, so nothing of it
    was verified. The log went on where the last chunk said, and files behind it were removed."""
    log = long_log(tmp_path)
    files = [segment.path for segment in log.partition().segments]
    segment = log.partition().segments[number]
    log.restart(left_as)
    offset = changed(segment.path, -1, change)
    Path(segment.index_path).unlink(missing_ok=True)
    log.take_over(30)
    assert list(log.partition().holes()) == [(offset, offset + 1)]
    assert all(os.path.exists(file) for file in files)
    check_all(log)


def spoil_index(segment: Segment) -> None:
    """What it says of the file is still there."""
    data = bytearray(Path(segment.index_path).read_bytes())
    data[-1] ^= 1
    Path(segment.index_path).write_bytes(data)


def test_the_last_file_with_something_in_it_is_torn(tmp_path: Path) -> None:
    """Found by simulation (seed 3030393): one with a damaged index that was trusted, and found to be torn,
    was to get a new one as if it was whole."""
    log = long_log(tmp_path)
    segment, last = log.partition().segments[-2:]
    log.restart(LeftAs.CLEAN)
    offset = changed(segment.path, 1, no_length)
    spoil_index(segment)
    os.truncate(last.path, 0)
    log.take_over(30)
    assert list(log.partition().holes()) == [(offset, 30)]
    assert os.path.getsize(segment.path) == log.partition().segments[-2].size
    check_all(log)


def test_a_file_without_any_whole_chunk_is_followed_by_others(tmp_path: Path) -> None:
    """The last of them was removed in its place."""
    log = long_log(tmp_path)
    segment, last = log.partition().segments[-2:]
    log.restart(LeftAs.CLEAN)
    changed(segment.path, 0, no_length)
    spoil_index(segment)
    log.take_over(30)
    assert os.path.exists(last.path)
    assert last.base_offset in log.partition().bases
    check_all(log)


async def no_file_read(*_: object) -> list[memoryview]:
    raise AssertionError("no file is read")


def test_times_are_found_in_a_hole(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(15)
    partition = log.partition()
    assert list(partition.holes()) == [(0, 30)]

    for i in range(20):
        found = run(looked_up(partition.offset_for_time(START + 10 * i - 1), no_file_read))
        assert found == (START + 10 * i, 2 * i, 1)
    data = bytearray(log.sealed.chunks[7].data)
    assert next(iter(iter_times(memoryview(data))))[0] == START + 70
    assert run(looked_up(partition.max_timestamp_offset(), no_file_read)) == (START + 190, 38, 1)


def test_the_newest_time_is_found_when_nothing_is_here_yet(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.take_over(20)
    partition = log.partition()
    assert list(partition.holes()) == [(0, 40)]
    assert run(looked_up(partition.max_timestamp_offset(), no_file_read)) == (START + 190, 38, 1)


def test_retention_waits_for_what_is_in_a_hole(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.configs = {**CONFIGS, "retention.ms": "1000", "segment.ms": "1000"}
    log.lead(ME)
    log.take_over(15)
    partition = log.partition()
    partition.append(batch(b"x", time=START))
    log.journal.push()
    log.tick(4000.0)
    assert partition.log_start_offset == 0


def test_retention_where_there_are_copies_waits_until_the_store_knows(tmp_path: Path) -> None:
    """Rules 38 and 44: a leader that dies before would let clients see the log start go back."""
    log = Replicated(tmp_path, Sealed())
    log.configs = {**CONFIGS, "retention.ms": "1000", "segment.ms": "1000"}
    log.lead(ME)
    log.take_over(0)
    wanted: list[int] = []
    log.manager.ports.on_log_start = lambda partition, offset: wanted.append(offset)
    partition = log.partition()
    partition.append(batch(b"x", time=START))
    log.journal.push()
    for _ in range(4):
        log.tick(2000.0)
    assert partition.log_start_offset == 0
    assert set(wanted) == {1}
    partition.start_at(1)
    assert partition.log_start_offset == 1


def test_files_stay_when_it_leads_again_though_nobody_opens_the_partition(tmp_path: Path) -> None:
    """They went when the time was over that the files of a partition are kept that is led elsewhere."""
    log = Replicated(tmp_path, Sealed())
    log.lead(ME)
    log.take_over(0)
    chunk = batch(5000, time=START)
    log.partition().append(memoryview(bytearray(chunk)))
    log.sealed.add(chunk, log.epoch)
    log.journal.push()
    log.partition().flush()
    files = sorted(path.name for path in tmp_path.rglob("*.chunks"))
    assert files
    log.lead(OTHER)
    log.tick(10.0)
    log.lead(ME)
    log.take_over(1)
    for _ in range(10):
        log.tick(100.0)
    assert sorted(path.name for path in tmp_path.rglob("*.chunks")) == files
