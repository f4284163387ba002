"""Copies that go, but not at once: somebody waits for a sync."""

from __future__ import annotations

from collections.abc import Callable

from kproto.metadata.vlogs import VsegId
from kproto.vlog.classes import FlushPolicy
from tests.replica.support import ME, OTHER, Metadata, Owner, Station
from tests.replica.test_store import filled


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
