"""What is run: the paper's modes and sizes, and how many clients of which kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

from bench.workers import FASTEST, Spec

BURST, MB_LIMITED, EVENTS_LIMITED, END_TO_END = "burst", "mb-limited", "events-limited", "end-to-end"
MODES = (BURST, MB_LIMITED, EVENTS_LIMITED, END_TO_END)
SIZES = (10, 100, 1_000, 10_000, 100_000)
RATES = {MB_LIMITED: 1.0, EVENTS_LIMITED: 500.0, END_TO_END: 500.0}
"""MB/s or events/s where none is asked for: what every size reaches on a small machine."""

CLIENTS = {BURST: (10, 0), MB_LIMITED: (10, 0), EVENTS_LIMITED: (10, 0), END_TO_END: (1, 1)}
"""Producers and consumers of the paper's figures 4, 5, 9 to 12 and 14 to 16."""

BUFFER_BYTES = 32 << 20
"""Of a producer, Kafka's default."""
PARTITIONS = 15
MIN_EVENT_BYTES = 8
"""An event that is read carries the moment it was due."""


LATE = 3
"""Times the measured part; see `Scale.late_s`."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How long."""

    seconds: float
    warmup_s: float
    window_s: float = 1.0

    @property
    def late_s(self) -> float:
        """How much longer than planned a schedule may take before the run gives up the rest of it."""
        return LATE * self.seconds


@dataclass(frozen=True, slots=True)
class Case:
    """One load."""

    mode: str
    event_bytes: int
    scale: Scale
    rate: float = 0.0
    """MB/s (mb-limited) or events/s; in bursts without meaning."""
    producers: int = 1
    consumers: int = 0
    partitions: int = PARTITIONS
    copies: int = 1
    flush: bool = False
    wait_each: bool = False
    linger_ms: int = 0
    poll_records: int = 500
    workers: int = 1

    @property
    def reads_only(self) -> bool:
        """Consumers read what was written before."""
        return self.producers == 0

    @property
    def events_per_s(self) -> float:
        """Of all producers together; `FASTEST` in bursts."""
        if self.mode == BURST:
            return FASTEST
        return self.rate * 1e6 / self.event_bytes if self.mode == MB_LIMITED else self.rate

    @property
    def events(self) -> int | None:
        """That are due in the measured part; None in bursts."""
        if self.mode == BURST:
            return None
        return ceil(self.events_per_s * self.scale.seconds)

    @property
    def name(self) -> str:
        """Of the case in its result, which is about one mode."""
        rates = {MB_LIMITED: f", {self.rate:,.12g} MB/s", BURST: ", read" if self.reads_only else ""}
        rate = rates.get(self.mode, f", {self.rate:,.12g}/s")
        return f"{size_text(self.event_bytes)}{rate}"

    def parameters(self) -> dict[str, Any]:
        """For the result."""
        return {
            "mode": self.mode,
            "event_bytes": self.event_bytes,
            "rate": "as fast as it goes" if self.mode == BURST else self.rate,
            "producers": self.producers,
            "consumers": self.consumers,
            "partitions": self.partitions,
            "copies": self.copies,
            "flush": self.flush,
            "wait_each": self.wait_each,
            "linger_ms": self.linger_ms,
            "workers": self.workers,
            "warmup_s": self.scale.warmup_s,
            "seconds": self.scale.seconds,
            "window_s": self.scale.window_s,
        }

    def topic_configs(self) -> dict[str, str]:
        """What the topic is made with. Its files go away soon after it: the next run needs the disk."""
        configs = {"file.delete.delay.ms": "1000"}
        return {**configs, "flush.messages": "1"} if self.flush else configs

    def specs(self, bootstrap: str, topic: str, raw: Sequence[str] | None = None) -> list[Spec]:
        """The clients of each worker; ``raw``: a file per worker for every event.

        Producers and consumers are dealt out evenly; a consumer reads its share of the partitions.
        """
        producers = [{"topic": topic}] * self.producers
        consumers = [
            {"topic": topic, "partitions": list(range(n, self.partitions, self.consumers))}
            for n in range(self.consumers)
        ]
        return [
            Spec(
                common={"bootstrap.servers": bootstrap},
                producer=self.producer_settings(),
                consumer={"max.poll.records": str(self.poll_records)},
                producers=producers[worker :: self.workers],
                consumers=consumers[worker :: self.workers],
                payload={"bytes": self.event_bytes},
                end_to_end="payload",
                flush_each=self.wait_each,
                threads=max(1, len(producers[worker :: self.workers])),
                raw=None if raw is None else raw[worker],
            )
            for worker in range(self.workers)
        ]

    def producer_settings(self) -> dict[str, str]:
        """The paper's, with Apache Kafka's names."""
        return {
            "acks": "all",
            "enable.idempotence": "true",
            "batch.size": "16384",
            "buffer.memory": str(BUFFER_BYTES),
            "linger.ms": str(self.linger_ms),
            "max.request.size": str(max(1_048_576, 2 * self.event_bytes)),
        }


def size_text(count: int) -> str:
    """``1000`` -> ``"1 KB"``: decimal, as in the paper."""
    return f"{count // 1_000} KB" if count >= 1_000 and count % 1_000 == 0 else f"{count} B"


def check(case: Case) -> None:
    """Raises ValueError for what cannot be run."""
    if case.event_bytes < MIN_EVENT_BYTES:
        raise ValueError(f"an event has at least {MIN_EVENT_BYTES} bytes")
    if case.mode != BURST and case.producers == 0:
        raise ValueError(f"{case.mode} needs producers; only bursts can be of consumers alone")
    if case.mode != BURST and not 0 < case.rate < inf:
        raise ValueError(f"a rate of {case.rate:g}: it must be more than 0")
    if case.mode == END_TO_END and case.consumers == 0:
        raise ValueError("end-to-end needs consumers")
    if case.producers == case.consumers == 0:
        raise ValueError("neither producers nor consumers")
    if case.consumers > case.partitions:
        raise ValueError(f"{case.consumers} consumers, but only {case.partitions} partitions")


def cases_of(
    mode: str,
    sizes: tuple[int, ...],
    rates: tuple[float, ...],
    producers: int | None,
    consumers: int | None,
    base: Case,
) -> list[Case]:
    """The cases of a mode. Raises ValueError for what cannot be run."""
    default = CLIENTS[mode]
    clients = (default[0] if producers is None else producers, default[1] if consumers is None else consumers)
    wanted = (0.0,) if mode == BURST else rates or (RATES[mode],)
    found = [
        replace(base, mode=mode, event_bytes=size, rate=rate, producers=clients[0], consumers=clients[1])
        for size in dict.fromkeys(sizes)
        for rate in dict.fromkeys(wanted)
    ]
    for case in found:
        check(case)
    return found
