"""One workload on one cluster, step by step as the OpenMessaging benchmark runs it.

Topics, consumers, producers; one probe per producer until every subscription has received one; load and
warm-up; then the measured part, looked at every ten seconds (six times, when it is shorter than a minute).
What the warm-up showed is kept, too: nothing hides when a broker gets slower or faster. What was due by the
end of the measured part of a fixed rate is sent after it, and what was still on its way is taken once more:
else a stall at the end would show nowhere. OMB leaves both out, and so does its result.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from bench.histogram import Histogram
from bench.omb.rate import FIRST_RATE, PERIOD_S, RateSearch
from bench.omb.result import Period, result, together
from bench.omb.settings import Driver, Workload
from bench.workers import Counters, Spec, WorkerError, Workers

READY_TIMEOUT_S = 60.0
LOOK_EVERY_S = 10.0
LOOKS_MIN = 6
DRAINED_RECORDS = 1000
STEP_S = 0.05
TOPIC_PREFIX = "test-topic"
RECEIVE_TIMEOUT_S = 60.0
LATE_S = 60.0
"""How long after the measured part what was due in it is still sent."""
SHORT = 0.01
DEFAULT_BUFFER = 32 << 20
"""Bytes a producer buffers, without `buffer.memory`."""

Item = TypeVar("Item")


class NotReadyError(RuntimeError):
    """Not every subscription received its probe in a minute."""


def nothing() -> None:
    """A hook that nobody waits for."""


def silent(text: str) -> None:
    """The same for a line of text."""
    del text


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the caller wants to know while it goes on."""

    begin: Callable[[], None] = nothing
    """The measured part begins."""
    end: Callable[[], None] = nothing
    """It has ended; load may still be on."""
    look: Callable[[], None] = nothing
    """Regularly, with every look at the workers. May raise: that ends the run."""
    say: Callable[[str], None] = silent
    """A line for people."""


@dataclass(slots=True)
class Outcome:
    """What a run gave."""

    workload: Workload
    driver: Driver
    warmup: list[Period] = field(default_factory=list)
    measured: list[Period] = field(default_factory=list)
    during: Counters = field(default_factory=Counters)
    """Of the measured part, from `Hooks.begin` to `Hooks.end`."""
    whole: Counters = field(default_factory=Counters)
    """Of the whole run, when all was acknowledged and the consumers had time to read it."""
    rates: list[tuple[float, float]] = field(default_factory=list)
    """(seconds since the load began, records per second wanted from then on)."""
    build_s: float | None = None
    """How long the backlog took to build up."""
    built: int = 0
    """Records that were waiting then: looks come when they are due, and may all miss the most."""
    drain_s: float | None = None
    """How long it took to go away again."""
    late: dict[str, Histogram] = field(default_factory=dict)
    """Of what was acknowledged or received after the last look of the measured part."""
    unsent: int = 0
    """Records that were due in the measured part, or before, and were not sent `LATE_S` after it either."""

    def json(self) -> dict[str, Any]:
        """The OpenMessaging benchmark's result."""
        return result(self.workload, self.driver, self.measured)

    def histograms(self) -> dict[str, Histogram]:
        """Of the measured part, and of what was late."""
        found = together(self.measured)
        for kind, histogram in self.late.items():
            found.setdefault(kind, Histogram()).add(histogram)
        return found

    @property
    def short(self) -> bool:
        """The rate was out of reach: more than `SHORT` of what was due was not sent, however late."""
        return self.unsent > SHORT * self.workload.producerRate * self.during.seconds

    @property
    def missing(self) -> int:
        """Acknowledged records that some subscription did not receive in time (`RECEIVE_TIMEOUT_S`)."""
        return max(0, self.workload.subscriptionsPerTopic * self.whole.acked - self.whole.received)


def heap(producers: int, configs: Mapping[str, str]) -> str:
    """Of a worker with so many producers of these configs: a quarter more than they buffer, 1 to 4 GiB."""
    buffered = producers * int(configs.get("buffer.memory", DEFAULT_BUFFER)) >> 20
    return f"{min(4096, 1024 + buffered * 5 // 4)}M"


def shares(items: Sequence[Item], count: int) -> list[list[Item]]:
    """``items`` dealt out to ``count`` workers."""
    return [list(items[start::count]) for start in range(count)]


def topic_names(count: int) -> list[str]:
    """As the OpenMessaging benchmark names them."""
    return [f"{TOPIC_PREFIX}-{number:07d}-{secrets.token_urlsafe(5)}" for number in range(count)]


def specs(
    workload: Workload, driver: Driver, topics: list[str], payload: dict[str, Any], count: int
) -> list[Spec]:
    """The clients of ``count`` workers: of one everything, of more the first half (rounded down) produces.

    One group for each topic and subscription; clients are in random order, so that a topic's are spread.
    """
    consumers = []
    for topic in topics:
        for subscription in range(workload.subscriptionsPerTopic):
            group = f"sub-{subscription:03d}-{secrets.token_urlsafe(5)}"
            consumers += [{"topic": topic, "group": group}] * workload.consumerPerSubscription
    producers = [{"topic": topic} for topic in topics * workload.producersPerTopic]
    random.shuffle(consumers)
    random.shuffle(producers)
    producing = max(1, count // 2)
    reading = count - producing
    dealt: list[tuple[list[dict[str, str]], list[dict[str, str]]]]
    dealt = [(share, []) for share in shares(producers, producing)]
    if reading:
        dealt += [([], share) for share in shares(consumers, reading)]
    else:
        dealt = [(producers, consumers)]
    return [
        Spec(
            driver.commonConfig,
            driver.producerConfig,
            driver.consumerConfig,
            producers=some_producers,
            consumers=some_consumers,
            payload=payload,
            keys=workload.keyDistributor,
        )
        for some_producers, some_consumers in dealt
    ]


class _Backlog:
    """Stops the consumers until they are far behind, lets them catch up, waits another test duration."""

    def __init__(
        self, workload: Workload, workers: Workers, outcome: Outcome, say: Callable[[str], None]
    ) -> None:
        self._workload = workload
        self._workers = workers
        self._outcome = outcome
        self._say = say
        self._wanted = int(workload.consumerBacklogSizeGB * 2**30) // workload.messageSize
        self._since = time.monotonic()
        self._until: float | None = None
        workers.pause_consumers()
        say("consumers stopped, backlog builds up")

    def go_on(self, counters: Counters) -> bool:
        """Whether there is more to do, given the counters of now."""
        behind = self._workload.subscriptionsPerTopic * counters.acked - counters.received
        now = time.monotonic()
        if self._outcome.build_s is None:
            if behind >= self._wanted:
                self._outcome.build_s, self._since = now - self._since, now
                self._outcome.built = behind
                self._workers.resume_consumers()
                self._say(f"{behind} records waiting after {self._outcome.build_s:.1f} s, consumers go on")
        elif self._until is None:
            left = int((1.0 - self._workload.backlogDrainRatio) * self._wanted)
            if behind <= max(DRAINED_RECORDS, left):
                self._outcome.drain_s = now - self._since
                self._until = now + self._workload.testDurationMinutes * 60
                self._say(f"drained in {self._outcome.drain_s:.1f} s")
        return self._until is None or now < self._until


class Runner:
    """Runs a workload; use `run`."""

    def __init__(self, workload: Workload, driver: Driver, workers: Workers, hooks: Hooks) -> None:
        self._workload = workload
        self._workers = workers
        self._hooks = hooks
        self.outcome = Outcome(workload, driver)
        self.topics: list[str] = []
        """That were made."""
        self._began = 0.0
        self._last = Counters()
        self._search = RateSearch() if workload.producerRate == 0 else None
        self._searched = Counters()
        self._due = 0
        """Records that are to be sent, of a fixed rate, when its measured part is over."""

    def prepare(self, payload: dict[str, Any]) -> None:
        """Topics, clients, probes. Raises NotReadyError."""
        workload, driver = self._workload, self.outcome.driver
        topics = topic_names(workload.topics)
        wanted = {
            "partitions": workload.partitionsPerTopic,
            "replicas": driver.replicationFactor,
            "configs": driver.topicConfig,
        }
        self._workers.create_topics(driver.commonConfig, [{"name": name, **wanted} for name in topics])
        self.topics = topics
        self._workers.open(specs(workload, driver, topics, payload, len(self._workers.each)))
        self._workers.probe()
        deadline = time.monotonic() + READY_TIMEOUT_S
        expected = workload.topics * workload.subscriptionsPerTopic
        while (received := self._workers.counters().probes_received) < expected:
            if time.monotonic() > deadline:
                raise NotReadyError(f"{received} of {expected} subscriptions received a probe")
            time.sleep(0.1)

    def measure(self) -> None:
        """Load, warm-up, the measured part."""
        workload, workers = self._workload, self._workers
        self._began = time.monotonic()
        self._last = self._searched = workers.counters()
        self._set_rate(workload.producerRate or FIRST_RATE)
        if workload.warmupDurationMinutes > 0:
            self._watch(workload.warmupDurationMinutes * 60, self.outcome.warmup, None)
        workers.take()
        backlog = None
        if workload.consumerBacklogSizeGB > 0:
            backlog = _Backlog(workload, workers, self.outcome, self._hooks.say)
        self._hooks.begin()
        before = self._last = workers.counters()
        self._watch(workload.testDurationMinutes * 60, self.outcome.measured, backlog)
        # At one moment: the last look's histograms took the workers a while, in which brokers worked on.
        self._hooks.end()
        self.outcome.during = workers.counters().minus(before)
        if workload.fixed:
            self._due = workers.end_schedule()

    def finish(self) -> None:
        """What is late, and no more load; all subscriptions should receive what was acknowledged, see
        `Outcome.missing`."""
        self._workers.resume_consumers()
        deadline = time.monotonic() + LATE_S
        while (sent := self._workers.counters().sent) < self._due and time.monotonic() < deadline:
            time.sleep(STEP_S)
        self.outcome.unsent = max(0, self._due - sent)
        self._workers.flush()
        self._workers.await_received(self._workload.subscriptionsPerTopic, RECEIVE_TIMEOUT_S)
        taken = self._workers.take()
        self.outcome.late, self.outcome.whole = taken.histograms, taken.counters

    def _set_rate(self, rate: float) -> None:
        self.outcome.rates.append((time.monotonic() - self._began, rate))
        self._workers.rate(max(1.0, rate))

    def _watch(self, seconds: float, periods: list[Period], backlog: _Backlog | None) -> None:
        """Look at the workers regularly until the time is over and the backlog, if any, is dealt with."""
        every = min(LOOK_EVERY_S, seconds / LOOKS_MIN)
        start = time.monotonic()
        look = start + every
        control = start + PERIOD_S
        while True:
            time.sleep(STEP_S)
            now = time.monotonic()
            if backlog is not None and not backlog.go_on(self._workers.counters()):
                backlog = None
            if self._search is not None and now >= control:
                control = now + PERIOD_S
                self._control(self._search)
            if now >= look:
                look += every
                periods.append(self._period())
                self._hooks.look()
                # Half a step early counts: the last look is the one that was due when the time ended.
                if backlog is None and now >= start + seconds - STEP_S:
                    return

    def _control(self, search: RateSearch) -> None:
        now = self._workers.counters()
        seconds = now.minus(self._searched).seconds
        self._searched = now
        received = now.received // self._workload.subscriptionsPerTopic
        self._set_rate(search.next_rate(seconds, now.acked, received))

    def _period(self) -> Period:
        taken = self._workers.take()
        now = taken.counters
        since, self._last = now.minus(self._last), now
        behind = self._workload.subscriptionsPerTopic * now.acked - now.received
        period = Period(
            at_s=time.monotonic() - self._began,
            seconds=since.seconds,
            published=since.acked,
            errors=since.errors,
            received=since.received,
            backlog=max(0, behind),
            histograms=taken.histograms,
        )
        middle, late = period.histograms["publish"].percentiles((50, 99))
        self._hooks.say(
            f"{period.at_s:5.0f} s  published {since.acked / since.seconds:9.0f}/s"
            f"  received {since.received / since.seconds:9.0f}/s  waiting {period.backlog:8d}"
            f"  publish p50 {middle / 1000:8.2f} ms  p99 {late / 1000:8.2f} ms"
            + (f"  errors {since.errors} ({now.first_error})" if since.errors else "")
        )
        return period

    def delete_topics(self) -> None:
        """Those that were made. Why they stay is said, no more: what was measured, or what ended it (brokers
        that are gone, Ctrl-C), is what the caller has to know."""
        try:
            if self.topics:
                self._workers.delete_topics(self.outcome.driver.commonConfig, self.topics)
        except WorkerError as problem:
            self._hooks.say(f"topics were not deleted: {problem}")


def run(
    workload: Workload,
    driver: Driver,
    beside: Path,
    workers: int,
    hooks: Hooks | None = None,
    delete_topics: bool = False,
) -> Outcome:
    """Run a workload on the cluster that the driver names.

    ``beside``: where its payload files are. ``workers``: processes; one does both, of more half produces and
    half consumes. ``delete_topics``: the OpenMessaging benchmark never does.
    Raises NotReadyError, SettingsError, bench.workers.WorkerError.
    """
    payload = workload.payload(beside)
    producing = max(1, workers // 2)
    each = heap(ceil(workload.topics * workload.producersPerTopic / producing), driver.producerConfig)
    # Timers as they come: OMB's delays have the 50 microseconds of Linux's timers in them, too.
    with Workers(workers, each, exact=False) as processes:
        runner = Runner(workload, driver, processes, hooks or Hooks())
        try:
            runner.prepare(payload)
            runner.measure()
            runner.finish()
            processes.stop()
        finally:
            if delete_topics:
                runner.delete_topics()
    return runner.outcome
