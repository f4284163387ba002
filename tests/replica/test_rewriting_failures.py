"""Pushing again what has no copy, when it cannot be done now, and old data that cannot be brought over."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.log.files import CHUNKS
from kproto.log.partition import Partition
from kproto.metadata.vlogs import VsegId
from kproto.net.ports import Answer
from kproto.replica import bring_over, rewriting
from kproto.replica.looking import LostError
from kproto.replica.messages import PartitionKey, Read, encode_read_answer
from kproto.replica.rewriting import Stretch
from kproto.vlog.side import FIRST_SIDE_ID
from kproto.wire.batch import hop
from kproto.wire.internal import Api, InternalError
from tests.replica.sealed_world import Chunk, Vlog
from tests.replica.test_bring_over import bringing, finished
from tests.replica.test_rewriting import Case, Side, directed
from tests.replica.test_takeover import Run, simulate

pytestmark = pytest.mark.usefixtures("impatient")


def first_lost(this: Case) -> list[VsegId]:
    """The first virtual segment with anything in it has no copy now."""
    lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
    this.lose(lost)
    return lost


def concerned(this: Case, lost: list[VsegId]) -> Partition:
    """A partition with chunks in it."""
    key: PartitionKey = min(one[0] for one in this.live_in(lost))
    return this.world.log.partition(key[1])


def damage(this: Case, partition: Partition, at: int = 70) -> Callable[[], None]:
    """Another byte in the first record; returns what makes it good again."""
    segment = partition.segments[0]
    with open(segment.path, "r+b") as file:
        before = file.read()
        file.seek(at)
        file.write(bytes([before[at] ^ 1]))

    def mend() -> None:
        with open(segment.path, "r+b") as file:
            file.write(before)

    return mend


def damage_epoch(this: Case, partition: Partition) -> Callable[[], None]:
    """Another leader epoch in the first chunk, which its checksum does not cover."""
    return damage(this, partition, 15)


def damage_epoch_amid_the_log_start(this: Case, partition: Partition) -> Callable[[], None]:
    """The same, where the log starts within the first chunk: nothing is known of where that begins."""
    with open(partition.segments[0].path, "rb") as file:
        first = next(fields for _, _, fields in hop(memoryview(file.read())))
    key = partition.topic_id, partition.index
    assert first[6] > 0, "it has several records"
    partition.log_start_offset = this.metadata.table.starts[key] = first[0] + 1
    partition.epochs.cut_front(first[0] + 1)
    return damage(this, partition, 15)


def damage_begin(this: Case, partition: Partition) -> Callable[[], None]:
    """A later chunk says that it begins within the one before."""
    with open(partition.segments[0].path, "rb") as file:
        chunks = list(hop(memoryview(file.read())))
    at = next(at for at, _, fields in chunks[1:] if fields[0] % 2)
    return damage(this, partition, at + 7)


def block(this: Case, partition: Partition) -> Callable[[], None]:
    this.side.blocked = True
    return lambda: setattr(this.side, "blocked", False)


def start(this: Case, partition: Partition) -> Callable[[], None]:
    """Records were deleted, and the store does not know yet: the chunks are to be pushed again, and are not
    here any more."""
    partition.log_start_offset = partition.high_watermark
    known = this.metadata.table.starts
    return lambda: known.__setitem__((partition.topic_id, partition.index), partition.log_start_offset)


def one_copy(this: Case, partition: Partition) -> Callable[[], None]:
    """A reassignment makes it one of a single copy, and is cancelled. It was pushed to a journal without
    backups, and what of it was large stopped that for ever (simulation, seed 30033592)."""
    copies, partition.copies = partition.copies, 1
    return lambda: setattr(partition, "copies", copies)


@pytest.mark.parametrize(
    "why", [block, start, damage, damage_epoch, damage_epoch_amid_the_log_start, damage_begin, one_copy]
)
def test_what_cannot_be_pushed_again_now_is_tried_later_and_not_reported(
    why: Callable[[Case, Partition], Callable[[], None]],
) -> None:
    async def go(this: Case) -> None:
        lost = first_lost(this)
        appended = this.live_in(list(this.metadata.table.vsegs))
        mend = why(this, concerned(this, lost))
        assert await this.look() == 1
        assert not this.reported, "there is no copy of it"
        assert this.side.chunks() <= appended, "nor is a copy made of what nobody appended"
        mend()
        await this.rewriting.look()
        assert not this.reported, "not at once"
        this.clock.advance(rewriting.RETRY_SECONDS)
        await this.rewriting.look()
        assert set(this.reported) == set(lost)

    directed(go)


def bases(this: Case, partition: Partition) -> list[int]:
    """Offsets of what was pushed again of a partition, in that order."""
    return [ref[3] for ref in this.side.refs if ref[0].index == partition.index]


async def looked_at(this: Case, seconds: int) -> None:
    """A look every second."""
    for _ in range(seconds):
        await this.rewriting.look()
        this.clock.advance(1.0)


def damage_third(this: Case, partition: Partition) -> Callable[[], None]:
    """Another byte in a record of the third chunk."""
    with open(partition.segments[0].path, "rb") as file:
        places = [at for at, _, _ in hop(memoryview(file.read()))]
    return damage(this, partition, places[2] + 70)


def block_third(this: Case, partition: Partition) -> Callable[[], None]:
    """Two chunks of it are taken, then no more."""
    append = this.side.append

    def two(ref: Any) -> None:
        append(ref)
        this.side.blocked = len(bases(this, partition)) == 2

    def mend() -> None:
        this.side.append, this.side.blocked = append, False  # type: ignore[method-assign]

    this.side.append = two  # type: ignore[method-assign]
    return mend


def side_lost(this: Case) -> tuple[list[VsegId], Partition, list[int]]:
    """The first virtual segment of a side virtual log has no copy, where everything of a partition was; the
    second one, which has the first two chunks again, has some. Both, the partition, and where its chunks
    begin."""
    key = this.world.keys[0]
    chunks = [Chunk(key, *one) for one in this.world.truth[key].chunks]
    side = Vlog(99, FIRST_SIDE_ID + 7)
    this.world.vlogs.append(side)
    for some in (chunks, chunks[:2]):
        side.add(some)
        side.starts.append(side.end)
    side.add([], {})
    this.side.side_vlogs = lambda: [side.number]  # type: ignore[method-assign]
    this.metadata.publish()
    vsegs = [VsegId(99, side.number, seq) for seq in (1, 2)]
    this.lose(vsegs[:1])
    return vsegs, this.world.log.partition(key[1]), [one.base for one in chunks]


@pytest.mark.parametrize("why", [damage_third, block_third])
def test_what_was_pushed_again_is_not_pushed_once_more_after_a_failure(
    why: Callable[[Case, Partition], Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With a damaged batch in the leader's file, all before it went to backups every five seconds, and
    nothing freed that; so it did after whatever did not last."""
    monkeypatch.setattr(rewriting, "READ_BYTES", 500)

    async def go(this: Case) -> None:
        vsegs, partition, chunks = side_lost(this)
        mend = why(this, partition)
        await looked_at(this, 10 + 100)
        assert bases(this, partition) == chunks[:2]
        told = [one.getMessage() for one in caplog.records if "cannot be pushed again" in one.getMessage()]
        assert len(told) == 6, "after 0, 5, 15, 35, 65 and 95 s"
        assert all(f"{partition.topic}-{partition.index}" in one for one in told)
        assert why is block_third or all(f"offset {chunks[2]}" in one for one in told)
        mend()
        await looked_at(this, 31)
        assert bases(this, partition) == chunks
        assert set(this.reported) == set(vsegs[:1])

    directed(go)


@pytest.mark.parametrize("together", [False, True])
def test_what_went_into_another_one_that_is_lost_is_pushed_once_more(
    together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was pushed for the first one before may have been in the second one alone."""
    monkeypatch.setattr(rewriting, "READ_BYTES", 500)

    async def go(this: Case) -> None:
        vsegs, partition, chunks = side_lost(this)
        mend = damage_third(this, partition)
        await looked_at(this, 20)
        assert bases(this, partition) == chunks[:2]
        this.side.refs.clear()
        this.lose(vsegs[1:])
        await looked_at(this, 1 if together else 60)
        assert not this.reported
        this.clock.advance(60.0)
        mend()
        await looked_at(this, 60)
        assert this.live_in(vsegs) <= this.side.chunks()
        assert set(this.reported) == set(vsegs)

    directed(go)


@pytest.mark.parametrize(
    ("begin", "epoch", "goes_on"),
    [(9, 4, False), (10, 4, True), (30, 4, True), (50, 4, True), (51, 4, False), (10, 5, False)],
)
def test_an_earlier_try_counts_if_it_had_all_up_to_where_it_stopped(
    begin: int, epoch: int, goes_on: bool
) -> None:
    """With another leader epoch it may have had one copy in between, and no sources."""
    partition: Any = object()
    former = Stretch(partition, 10, 90, 4)
    former.at, former.follows = 50, True
    again, reopened = Stretch(partition, begin, 95, epoch), Stretch(object(), begin, 95, epoch)  # type: ignore[arg-type]
    again.go_on(former)
    assert (again.begin, again.at, again.end) == ((10, 50, 95) if goes_on else (begin, begin, 95))
    assert again.follows == goes_on
    reopened.go_on(former)
    assert (reopened.at, reopened.follows) == (begin, False)


def test_records_that_are_deleted_while_they_are_pushed_do_not_hold_it_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Retention may be quicker than what is pushed at a limited pace: it began anew each time, for ever."""
    monkeypatch.setattr(rewriting, "READ_BYTES", 2_000)

    async def go(this: Case) -> None:
        lost = first_lost(this)
        partition = concerned(this, lost)
        key = partition.topic_id, partition.index
        append = this.side.append

        def delete_more(ref: Any) -> None:
            append(ref)
            start = min(ref[4] + 1, partition.high_watermark)
            if (ref[0].topic_id, ref[0].index) == key and start > partition.log_start_offset:
                this.metadata.table.starts[key] = this.world.truth[key].log_start = start
                partition.start_at(start)

        this.side.append = delete_more  # type: ignore[method-assign]
        assert await this.look() == 1
        assert partition.log_start_offset > 0
        assert set(this.reported) == set(lost)
        assert this.live_in(lost) <= this.side.chunks()

    directed(go, 60)


def test_what_is_to_have_more_copies_meanwhile_goes_on_where_it_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What went on into the virtual log before was never copied more often: that was asked for once (12c)."""
    monkeypatch.setattr(rewriting, "READ_BYTES", 500)

    async def go(this: Case) -> None:
        wider = Side()
        lost = sorted(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)
        this.lose(lost)
        monkeypatch.setattr(this.side, "side", lambda _: wider if this.side.refs else this.side)
        await this.look()
        assert len({ref[3] for ref in this.side.refs}) == 1, "one read"
        assert this.live_in(lost) <= this.side.chunks() | wider.chunks()
        assert sorted(set(this.reported)) == lost

    directed(go)


def test_only_so_much_is_on_its_way_to_backups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "READ_BYTES", 2_000)
    monkeypatch.setattr(rewriting, "WINDOW_BYTES", 4_000)

    async def go(this: Case) -> None:
        lost = sorted(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)
        this.lose(lost)
        this.side.held = True
        look = asyncio.ensure_future(this.look())
        pauses = 0
        while not look.done():
            while not this.side.waiters and not look.done():
                await asyncio.sleep(0)
            if this.side.waiters:
                pauses += 1
                assert this.rewriting._unacked <= 4_000 + 2_000 + 3 * 2_100, "a window, a read and a chunk"
                this.side.waiters.pop()()
                await asyncio.sleep(0)
        assert pauses > 2
        assert this.live_in(lost) <= this.side.chunks()
        assert sorted(set(this.reported)) == lost

    directed(go, 60)


def test_an_ownership_that_is_lost_while_it_waits_ends_it() -> None:
    async def go(this: Case) -> None:
        first_lost(this)
        this.side.held = True
        look = asyncio.ensure_future(this.look())
        while not this.side.waiters:
            await asyncio.sleep(0)
        this.side.lost = True
        this.side.waiters.pop()()
        with pytest.raises(LostError):
            await look
        assert not this.reported, "another one leads"

    directed(go)


def test_a_partition_that_went_meanwhile_is_not_spoken_for() -> None:
    """It may have come back from copies: what was pushed was of its former life, so it is done again."""

    async def go(this: Case) -> None:
        lost = first_lost(this)
        this.knows = False
        await this.look()
        assert this.side.refs
        concerned(this, lost).deleted = True
        this.knows = True
        await this.rewriting.look()
        assert not this.reported
        assert not this.rewriting._done

    directed(go)


def test_of_a_topic_that_is_gone_nothing_is_pushed_nor_is_a_virtual_log_made() -> None:
    """The one that it had was taken away with it, and nobody would take the new one."""

    async def go(this: Case) -> None:
        lost = first_lost(this)
        partition = concerned(this, lost)
        partition.deleted = True
        asked: list[Partition] = []
        this.side.side = lambda one: asked.append(one) or this.side  # type: ignore[method-assign,func-returns-value]
        with pytest.raises(rewriting.NotHereError):
            await this.rewriting.push(Stretch(partition, 0, partition.high_watermark, partition.leader_epoch))
        assert not asked

    directed(go)


def test_what_is_on_other_brokers_only_waits_until_it_is_here() -> None:
    async def go(run: Run) -> None:
        await run.online()
        this = Case(run.world, run)
        lost = first_lost(this)
        await this.look()
        assert not this.reported
        assert not this.side.refs, "it cannot be read here, and nobody else has it"
        assert lost

    simulate(4, 2, go)


def stuck(run: Run, times: int) -> list[int]:
    """So many answers to READ say that nothing follows, and have nothing. Returns how many are left."""
    call = run.world.peers.call
    left = [times]

    async def stopping(node: int, api: int, body: Any = b"", timeout: float = 1.0) -> Any:
        if api == Api.READ and left[0] > 0:
            left[0] -= 1
            pieces = encode_read_answer(Read.decode(body).begin, [], [])
            return Answer(InternalError.NONE, memoryview(b"".join(map(bytes, pieces))))
        return await call(node, api, body, timeout)

    run.world.peers.call = stopping  # type: ignore[method-assign,assignment]
    return left


def test_a_copy_that_does_not_get_on_is_no_endless_loop() -> None:
    """Neither while partitions are taken over nor while old data is brought over; later it works."""

    async def go(run: Run) -> None:
        left = stuck(run, 2)
        await run.online()
        assert left == [0]
        left[0] = 3
        bring = bringing(run)
        bring.add(run.world.keys)
        await finished(bring)
        assert left == [0]
        await run.check()

    simulate(4, 2, go)


def test_what_is_brought_over_is_forgotten_when_somebody_else_leads() -> None:
    async def go(run: Run) -> None:
        await run.online()
        bring = bringing(run)
        logs: Any = SimpleNamespace(may_lack=lambda *_: True, partition=partition)
        bring._logs = logs
        bring.add(run.world.keys[:1])
        await asyncio.sleep(0.03)
        assert bring.state()["partitions"] == 1, "a failing disk is looked at again"
        problem[0] = KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        await finished(bring)

    def partition(*_: object) -> None:
        raise problem[0]

    problem: list[Exception] = [OSError(5, "disk")]
    simulate(4, 2, go)


def test_a_file_whose_records_were_deleted_meanwhile_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hole that it was for is gone; a start would find a file that nobody knows."""
    complete = bring_over.BringOver._complete

    async def late(self: bring_over.BringOver, filling: Any) -> None:
        partition = filling.partition
        if filling.segment is not None and not partition.deleted and partition not in deleted:
            deleted.append(partition)
            partition.delete_records(-1)
        await complete(self, filling)

    deleted: list[Partition] = []

    async def go(run: Run) -> None:
        await run.online()
        monkeypatch.setattr(bring_over.BringOver, "_complete", late)
        bring = bringing(run)
        bring.add(run.world.keys)
        await finished(bring)
        assert deleted
        for partition in deleted:
            known = {os.path.basename(segment.path) for segment in partition.segments}
            folder = partition.directory
            there = (
                {name for name in os.listdir(folder) if name.endswith(CHUNKS)}
                if os.path.isdir(folder)
                else set()
            )
            assert there <= known, "files of nobody"

    simulate(4, 2, go)
