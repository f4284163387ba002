"""One run of a case: the load, the windows in which it is looked at, what the brokers used meanwhile."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.analysis.raw import SUFFIX, Origin, describe
from bench.clusters import Cluster
from bench.histogram import Histogram
from bench.omb.compare import Watch
from bench.pravega.cases import BUFFER_BYTES, BURST, Case
from bench.topics import await_files_gone
from bench.workers import KINDS, Counters, Workers

TOPIC_PREFIX = "pravega"
TAIL_S = 0.1
"""Length of the windows after the planned end."""

KEPT_OF_EVENT = 256
"""Bytes that a producer has in memory beside an event that waits: its future and callback."""
RECEIVE_TIMEOUT_S = 120.0
WARMUP, MEASURED, TAIL = "warm-up", "measured", "tail"


@dataclass(slots=True)
class Window:
    """What happened between two looks at the workers."""

    part: str
    """`WARMUP`, `MEASURED`, or `TAIL`: after the planned end, what was late."""
    end_s: float
    """Seconds since the load began."""
    done: Counters
    """In this window; ``seconds`` is its length."""
    histograms: dict[str, Histogram]
    """Of what was acked or received since they were taken before; in bursts most windows have none."""


@dataclass(slots=True)
class Outcome:
    """What a run gave."""

    case: Case
    windows: list[Window] = field(default_factory=list)
    unsent: int = 0
    """Events that were due and never sent: the rate was not reached, far from it."""
    cpu_s: float | None = None
    """Of the brokers in the measured part; None for brokers that are not ours."""
    peak_rss_bytes: int = 0
    written_bytes: int = 0
    stolen_percent: float | None = None
    """How long the host kept this machine from running, of the measured part."""

    def during(self) -> Counters:
        """Of the measured part."""
        windows = [window.done for window in self.windows if window.part == MEASURED]
        found = Counters()
        for done in windows:
            found = found.plus(done)
        found.at_us = sum(done.at_us for done in windows)
        return found

    def histograms(self) -> dict[str, Histogram]:
        """Of the measured part and its tail: late events are in, or nothing would be late."""
        found = {kind: Histogram() for kind in KINDS}
        for window in self.windows:
            if window.part != WARMUP:
                for kind, histogram in window.histograms.items():
                    found[kind].add(histogram)
        return found


@dataclass(frozen=True, slots=True)
class Raw:
    """Where every event of a run is kept, and what is said about it; see `bench.analysis`."""

    directory: Path
    run: str
    system: str
    case: str
    pair: int

    def paths(self, workers: int) -> list[Path]:
        """A file for each worker."""
        letters = "".join(letter if letter.isalnum() else " " for letter in f"{self.case} {self.system}")
        stem = "-".join([self.run, *letters.split(), str(self.pair)])
        self.directory.mkdir(parents=True, exist_ok=True)
        return [(self.directory / f"{stem}-w{worker}{SUFFIX}").resolve() for worker in range(workers)]

    def describe(self, paths: list[Path], case: Case, began_us: int, from_us: int, until_us: int) -> None:
        """What the analysis has to know about the files: when the load began, and its measured part."""
        for worker, path in enumerate(paths):
            origin = Origin(
                suite="pravega",
                run=self.run,
                system=self.system,
                case=self.case,
                pair=self.pair,
                begin_us=began_us,
                from_us=from_us,
                until_us=until_us,
                worker=worker,
                parameters=case.parameters(),
            )
            describe(path, origin)


class _Look:
    """Takes windows off the workers, one after another."""

    def __init__(self, workers: Workers, outcome: Outcome) -> None:
        self._workers = workers
        self._outcome = outcome
        self.last = workers.take().counters
        self.began_us = self.last.at_us
        """When the load began, by the workers' clock."""

    def take(self, part: str) -> Counters:
        """One window, from the last look until now; the counters so far. Raises RuntimeError after errors."""
        taken = self._workers.take()
        return self._window(part, taken.counters, taken.histograms)

    def count(self, part: str) -> Counters:
        """The same without histograms, which the next `take` has: of bursts they are large."""
        return self._window(part, self._workers.counters(), {})

    def extend(self) -> None:
        """Let the last window last until now: reading the answer took a while."""
        window = self._outcome.windows.pop()
        self.last = self.last.minus(window.done)
        self._window(window.part, self._workers.counters(), window.histograms)

    def _window(self, part: str, now: Counters, histograms: dict[str, Histogram]) -> Counters:
        if now.errors or now.first_error:
            raise RuntimeError(f"{now.errors} events failed: {now.first_error}")
        end_s = (now.at_us - self.began_us) / 1e6
        self._outcome.windows.append(Window(part, end_s, now.minus(self.last), histograms))
        self.last = now
        return now


def run(target: Cluster, case: Case, raw: Raw | None = None, ours: bool = True) -> Outcome:
    """Run a case on a topic of its own. ``ours``: the brokers run here, what they use can be seen.

    Raises RuntimeError when an event fails, or an acknowledged one was not received in time.
    """
    outcome = Outcome(case)
    watch = Watch(target) if ours else None
    if case.reads_only:
        _read(target, case, outcome, watch)
    else:
        _write(target, case, outcome, watch, raw)
    if watch is not None and watch.usage is not None:
        before, after = watch.usage
        outcome.cpu_s = after.cpu_s - before.cpu_s
        outcome.peak_rss_bytes = after.peak_rss_bytes
        outcome.written_bytes = watch.written
        outcome.stolen_percent = watch.stolen_percent
    return outcome


def heap(case: Case) -> str:
    """Of a worker: its producers' buffers, with what the client keeps of each event in them, and room for
    what is read. As fast as it goes, three hundred thousand events of 100 B wait in one buffer."""
    waiting = BUFFER_BYTES // case.event_bytes * KEPT_OF_EVENT if case.mode == BURST else 0
    producer = (BUFFER_BYTES + waiting >> 20) + 8
    clients = producer * case.producers + 60 * case.consumers
    return f"{min(4096, 512 + clients // case.workers)}M"


@contextlib.contextmanager
def _topic(workers: Workers, target: Cluster, case: Case) -> Iterator[str]:
    """A topic for as long as it is needed."""
    name = f"{TOPIC_PREFIX}-{uuid.uuid4().hex[:8]}"
    common = {"bootstrap.servers": target.bootstrap}
    wanted = {"partitions": case.partitions, "replicas": case.copies, "configs": case.topic_configs()}
    workers.create_topics(common, [{"name": name, **wanted}])
    try:
        yield name
    finally:
        with contextlib.suppress(RuntimeError):
            workers.delete_topics(common, [name])
        if target.pids:  # brokers that run here
            await_files_gone(target, TOPIC_PREFIX)


def _write(target: Cluster, case: Case, outcome: Outcome, watch: Watch | None, raw: Raw | None) -> None:
    """Producers, and consumers if there are any. Events of a run that fails are not kept: nothing describes
    them."""
    paths = raw.paths(case.workers) if raw else []
    try:
        began_us, from_us, until_us = _load(target, case, outcome, watch, paths)
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise
    if raw:
        raw.describe(paths, case, began_us, from_us, until_us)


def _load(
    target: Cluster, case: Case, outcome: Outcome, watch: Watch | None, paths: list[Path]
) -> tuple[int, int, int]:
    """The load itself, its events into ``paths``: when it began, from and until when it was measured."""
    window_s, warmup_s = case.scale.window_s, case.scale.warmup_s
    with Workers(case.workers, heap(case)) as workers, _topic(workers, target, case) as topic:
        workers.open(case.specs(target.bootstrap, topic, [str(path) for path in paths] if paths else None))
        look = _Look(workers, outcome)
        workers.rate(case.events_per_s)
        _windows(look, warmup_s, window_s, WARMUP, case.mode != BURST)
        look.take(WARMUP)
        look.extend()
        if watch:
            watch.begin()
        # A schedule of its own: all of its events are sent, however late, and none is due after the end.
        due = None if case.events is None else look.last.sent + case.events
        from_us = workers.counters().at_us
        workers.rate(case.events_per_s, case.events)
        until_us = workers.counters().at_us + int(case.scale.seconds * 1e6)
        _windows(look, case.scale.seconds, window_s, MEASURED, case.mode != BURST)
        if watch:
            watch.end()
        if case.mode == BURST:
            workers.rate(0)
        look.take(TAIL)
        if due is not None:
            outcome.unsent = _send_the_rest(look, due, case.scale.late_s)
        workers.flush()
        if case.consumers and not workers.await_received(timeout=RECEIVE_TIMEOUT_S):
            counted = workers.counters()
            raise RuntimeError(f"{counted.received} events received of {counted.acked}")
        look.take(TAIL)
        workers.stop()
    return look.began_us, from_us, until_us


def _read(target: Cluster, case: Case, outcome: Outcome, watch: Watch | None) -> None:
    """A burst fills the topic; consumers that begin afterwards are measured until they have everything."""
    writing = replace(case, producers=case.consumers, consumers=0)
    with Workers(case.workers, heap(writing)) as writers, _topic(writers, target, case) as topic:
        writers.open(writing.specs(target.bootstrap, topic))
        writers.rate(writing.events_per_s)
        time.sleep(case.scale.seconds)
        writers.flush()
        written = writers.counters()
        writers.stop()
        if written.errors:
            raise RuntimeError(f"{written.errors} events failed: {written.first_error}")
        with Workers(case.workers, heap(case)) as readers:
            look = _Look(readers, outcome)
            if watch:
                watch.begin()
            readers.open(case.specs(target.bootstrap, topic))
            _until_read(look, case.scale.window_s, written.acked)
            if watch:
                watch.end()
            readers.stop()


def _windows(look: _Look, seconds: float, window_s: float, part: str, histograms: bool) -> None:
    """From now on, look at the end of each window; the last one may be shorter."""
    began, end_s = time.monotonic(), 0.0
    while end_s < seconds - 1e-9:
        end_s = min(end_s + window_s, seconds)
        time.sleep(max(0.0, began + end_s - time.monotonic()))
        look.take(part) if histograms else look.count(part)


def _send_the_rest(look: _Look, due: int, late_s: float) -> int:
    """Wait until so many events were sent and no more come; how many were not when it took too long."""
    deadline = time.monotonic() + late_s
    before, sent = -1, look.take(TAIL).sent
    while (sent < due or sent > before) and time.monotonic() < deadline:
        time.sleep(TAIL_S)
        before, sent = sent, look.take(TAIL).sent
    return max(0, due - sent)


def _until_read(look: _Look, window_s: float, events: int) -> None:
    """Windows until so many were received. Raises RuntimeError when nothing comes for too long."""
    progress, received = time.monotonic(), 0
    while received < events:
        time.sleep(
            window_s / 4
        )  # the last window ends soon after the last event, or the rate would be too low
        now = look.count(MEASURED).received
        if now > received:
            progress, received = time.monotonic(), now
        elif time.monotonic() - progress > RECEIVE_TIMEOUT_S:
            raise RuntimeError(f"{received} events received of {events}")
