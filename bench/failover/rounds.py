"""One round after another: something is killed under load, comes back, and what was promised is checked."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from bench.failover.clusters import Cluster, await_whole, elect_preferred, leaders
from bench.failover.load import FailoverLoad

WHOLE_TIMEOUT_S: Final = 180.0
PAUSE_S: Final = 8.0
"""How long a stopped broker stays stopped: longer than its session."""
AWAY_S: Final = (0.0, 0.3, 1.0, 3.0)
"""How long a broker that keeps its data stays away: shorter or longer than a session."""
KILL, TWO, ALL, PAUSE, RESTART = "kill", "two", "all", "pause", "restart"


@dataclass(slots=True)
class Round:
    """What happened and how long clients felt it; gaps are between acknowledgements of one partition."""

    number: int
    kind: str
    victims: list[int]
    wiped: bool
    away_s: float = 0.0
    """From the kill until the start (or from SIGSTOP to SIGCONT)."""
    gap_s: float = 0.0
    """The longest gap of any partition around the kill."""
    led: int = 0
    """How many partitions the victims led."""
    gaps: list[float] = field(default_factory=list)
    """That of every partition, by its number."""
    steps: list[tuple[int, int, float]] = field(default_factory=list)
    """Of a rolling restart: broker, how many partitions it led, the longest gap until it was back."""
    recovered_s: float | None = None
    """From the kill until all that the victims led was led again, as the controller saw it."""
    back_s: float = 0.0
    """From the kill until every partition had an acknowledgement after it."""
    return_gap_s: float = 0.0
    """The longest gap of any partition while the victims came back."""
    whole_s: float | None = None
    """From the start until every copy was there again; None when nobody waited for it."""
    records: int = 0
    """Acknowledged so far."""
    checked: int = 0
    """Records read again after the round."""


class Rounds:
    """Runs them, ``note(round)`` after each. ``keep_two``: two that die together keep their data; ``spare``:
    acks go on with so many brokers away."""

    def __init__(
        self,
        cluster: Cluster,
        load: FailoverLoad,
        chance: random.Random,
        note: Callable[[Round], object],
        keep_two: bool = False,
        spare: int = 2,
    ) -> None:
        self._cluster = cluster
        self._load = load
        self._chance = chance
        self._note = note
        self._keep_two = keep_two
        self._spare = spare
        self._killed_ms = 0
        self._ends = [dict.fromkeys(range(load.partitions), 0)] * 2
        """Ends of what was acknowledged after the last two rounds: the next one reads on from the older."""

    def kill(self, number: int) -> None:
        """One broker; every second time with its data; every tenth time two, when all copies are there."""
        double = number % 10 == 9
        wiped = number % 2 == 1 and not (double and self._keep_two)
        victims = self._chance.sample(list(self._cluster.victims), 2 if double else 1)
        if wiped or double:
            self._whole()
        this = Round(number, TWO if double else KILL, sorted(victims), wiped)
        self._fall(this)
        if wiped:
            for victim in victims:
                self._cluster.wipe(victim)
        else:
            this.away_s = self._chance.choice(AWAY_S)
            time.sleep(this.away_s)
        self._return(this, victims)
        self._check(this)

    def all_at_once(self, number: int) -> None:
        """All brokers are killed; all start again with their data."""
        this = Round(number, ALL, list(self._cluster.nodes), False)
        self._listen(this)
        self._cluster.kill(*this.victims)
        began = time.monotonic()
        self._cluster.start(this.victims)
        self._load.await_progress()
        this.back_s = time.monotonic() - began
        self._gaps(this)
        self._check(this)

    def pause(self, number: int) -> None:
        """SIGSTOP for longer than the session, then SIGCONT: a zombie that has to notice."""
        victim = self._chance.choice(list(self._cluster.victims))
        this = Round(number, PAUSE, [victim], False, PAUSE_S)
        self._listen(this)
        began = time.monotonic()
        self._cluster.pause(victim)
        self._load.await_progress()
        this.back_s = time.monotonic() - began
        self._gaps(this)
        time.sleep(max(0.0, PAUSE_S - this.back_s))
        self._load.listen()
        self._cluster.resume(victim)
        self._settle(this)
        self._check(this)

    def restart_all(self, number: int) -> None:
        """Every broker is stopped with SIGTERM and started again, one after the other, each when all copies
        are there: the gap is the longest of the whole round."""
        this = Round(number, RESTART, list(self._cluster.nodes), False)
        self._whole()
        self._listen(this)
        began = time.monotonic()
        longest: list[float] = []
        for node in this.victims:
            led = leaders(self._cluster, self._load.topic).count(node)
            self._load.listen()
            self._cluster.stop(node)
            self._cluster.start([node])
            self._load.await_progress()
            self._whole()
            self._gaps(this)
            this.steps.append((node, led, this.gap_s))
            longest = list(map(max, longest or this.gaps, this.gaps))
        this.back_s = time.monotonic() - began
        this.gaps, this.gap_s = longest, max(longest)
        self._check(this)

    def _listen(self, this: Round) -> None:
        """The last moment before the fault: all brokers lead, all partitions are written to."""
        elect_preferred(self._cluster, self._load.topic, self._load.partitions)
        self._load.await_progress()
        led = leaders(self._cluster, self._load.topic)
        this.led = sum(leader in this.victims for leader in led)
        self._load.listen()
        self._killed_ms = int(time.time() * 1000)

    def _fall(self, this: Round) -> None:
        self._listen(this)
        began = time.monotonic()
        self._cluster.kill(*this.victims)
        waits = this.wiped or self._chance.random() < 0.5
        if waits and len(this.victims) <= self._spare:
            # Otherwise it may be back before others lead what it led.
            self._load.await_progress()
            this.back_s = time.monotonic() - began
            self._gaps(this)
            self._load.listen()

    def _return(self, this: Round, victims: Sequence[int]) -> None:
        began = time.monotonic()
        self._cluster.start(sorted(victims))
        self._settle(this)
        if not this.gaps:
            this.back_s = time.monotonic() - began + this.away_s
            self._gaps(this)
        if this.wiped:
            self._whole()
            this.whole_s = time.monotonic() - began

    def _settle(self, this: Round) -> None:
        """The victims are back: acknowledgements go on, also when leaders move back."""
        self._load.await_progress()
        time.sleep(0.5)
        self._load.await_progress()
        this.return_gap_s = max(self._load.silences().values())

    def _gaps(self, this: Round) -> None:
        silences = self._load.silences()
        this.gaps = [round(silences[partition], 4) for partition in sorted(silences)]
        this.gap_s = max(this.gaps)

    def _whole(self) -> None:
        await_whole(self._cluster, self._load.topic, WHOLE_TIMEOUT_S)

    def _check(self, this: Round) -> None:
        """Everything acknowledged in this round and the one before is there, once, in order."""
        fallen = this.victims if this.kind != RESTART else []
        told = [self._cluster.recovered_s(victim, self._killed_ms) for victim in fallen]
        this.recovered_s = max((seconds for seconds in told if seconds is not None), default=None)
        ends = self._load.acked()
        if not self._load.problems:
            try:
                ends = self._load.await_read()
                this.checked = self._load.verify(self._ends[0], ends)
            except AssertionError as error:
                self._load.forgive(error)
        self._ends = [self._ends[1], ends]
        this.records = sum(ends.values())
        self._note(this)


def row(this: Round) -> dict[str, Any]:
    """JSON of a round."""
    return asdict(this)
