"""Copies that go, but not at once: their records may be unheard of, or somebody waits for a sync."""

from __future__ import annotations

from collections.abc import Callable

from kproto.metadata.vlogs import VsegId
from kproto.replica.store import HELD_S
from kproto.vlog.classes import FlushPolicy
from tests.replica.support import ME, OTHER, Metadata, Owner, Station
from tests.replica.test_store import VSEG, filled


class BusyWorker:
    """A worker that has other things to do until it is told to `finish` a job."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Callable[[], object], Callable[[BaseException | None], object]]] = []

    def submit(self, job: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        self.jobs.append((job, done))

    def finish(self) -> None:
        job, done = self.jobs.pop(0)
        try:
            job()
        except OSError as error:
            done(error)
        else:
            done(None)

    def close(self) -> None:
        """Nothing is under way."""


def test_a_copy_whose_record_came_and_went_unheard_is_garbage() -> None:
    """Its owner lives and has no newer one: nobody appends there any more. The owner reached this backup,
    metadata did not: a snapshot has neither the record nor a trace of it."""
    station, metadata, owner = Station(cut_off_s=3 * HELD_S), Metadata(5, 6), Owner(VSEG)
    filled(station, owner)
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(4 * HELD_S)
    assert VSEG in station.store.copies, "this broker may be cut off, and the record there"
    station.loop.run(3 * HELD_S)
    assert VSEG not in station.store.copies


def test_who_was_stopped_waits_anew_for_the_record() -> None:
    station, metadata, owner = Station(), Metadata(5), Owner(VSEG)
    station.store.apply(metadata.table, metadata.live)
    filled(station, owner)
    station.loop.run(1.0)
    station.loop.now += 2 * HELD_S
    station.loop.run(1.0)
    assert VSEG in station.store.copies
    metadata.put(owner.record())
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(2 * HELD_S)
    assert VSEG in station.store.copies


def test_a_copy_goes_after_the_sync_that_somebody_waits_for() -> None:
    """Found by simulation (seed 520110): its file was gone when its turn came: the process ended."""
    station, metadata = Station(), Metadata(5)
    first, second = (Owner(VsegId(5, vlog, 1), policy=FlushPolicy.SYNCED) for vlog in (1, 2))
    for owner in (first, second):
        filled(station, owner)
    station.restart()
    busy = BusyWorker()
    station.store.workers = station.store.workers._replace(acks=busy)
    answers: list[tuple[int, bool]] = []
    for owner in (first, second):
        station.store.seal(owner.vseg, 6, lambda *answer: answers.append(answer))
        station.loop.run(0.01)
        metadata.put(owner.record(owner.end, [ME] if owner is first else [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    while busy.jobs:
        busy.finish()
    station.loop.run(1.0)
    assert not station.poison
    assert answers == [(first.end, True), (second.end, True)]
    assert set(station.store.copies) == {first.vseg}
