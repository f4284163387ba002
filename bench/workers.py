"""The load workers: Java processes with any number of Kafka producers and consumers, driven from here.

A `Worker` is one process (java/Worker.java); `Workers` are several of them as one. Commands go to a worker's
standard input as JSON lines of one field, the command's name; each is answered by one line:

    {"createTopics": {"common": {...}, "topics": [{"name", "partitions", "replicas", "configs": {}}]}}
        creates topics, at most 500 at a time, and waits until all partitions serve
    {"deleteTopics": {"common": {...}, "topics": [names]}}
    {"open": spec}                  makes the clients, see `Spec`; nothing is sent yet
    {"probe": true}                 each producer sends one 10-byte record with the key "key"
    {"rate": {"perSecond": x, "events": n}}
        x events per second by all producers together, on a schedule that begins now; -1: as fast as they go;
        0: none. After n events (all when left out) nothing more is sent until the next `rate`
    {"endSchedule": true}           -> {"due": n}: what comes due from now on is not sent, what was due still
        is, however late; n events were since the last `rate` (none without producers)
    {"pauseConsumers": true}, {"resumeConsumers": true}
    {"counters": true}              -> {"counters": {...}}, see `Counters`
    {"take": true}                  -> counters, and the histograms since the last `take`
    {"flush": true}                 rate 0, and waits until all that was sent is acknowledged
    {"stop": true}                  closes the clients; topics can still be deleted. The process ends with its
                                    standard input

The answer is {"reply": command, ...} or {"failed": command, "error": text}. Once a second, while clients are
open, {"second": n, "counters": {...}} comes unasked.

Histograms count every event, keyed by microseconds: exact up to 262 ms, to 1 part in 131,072 above (the
highest latency of its bucket, as OMB reports it). There are four: `PUBLISH` (call of send to ack), `DELAY`
(when the schedule wanted the event to when it was sent), `INTENDED` (schedule to ack: free of coordinated
omission) and `END_TO_END` (see `Spec.end_to_end`). Probes are in none of them.

With `Spec.raw` a worker writes every event as a row of `RAW_FIELDS` (little-endian, 24 bytes): kind 0 is an
acknowledged record (intended: when the schedule wanted it; latency: from then to the ack), kind 1 a received
one (intended: the time it carries; latency: from then until the consumer had it). Rows are in the order of
their clients' buffers, not of time, and include what was sent before the first `take`: compare with
`Counters.at_us`. The file is whole when `stop` has answered.

Clock: System.nanoTime, tied to the epoch when the worker starts; workers of a machine agree to microseconds.
May be used by every suite; imports the standard library, bench.generator, bench.histogram and bench.jars.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Self

from bench.generator import exact_timers
from bench.histogram import Histogram
from bench.jars import worker_classpath

HEAP = "1G"
ANSWER_TIMEOUT_S = 120.0
FLUSH_TIMEOUT_S = 180.0
"""A producer gives a record up after two minutes (delivery.timeout.ms)."""
FASTEST = -1.0
ENDED = ""
"""The command that fails when a worker has ended."""

PUBLISH, DELAY, INTENDED, END_TO_END = "publish", "delay", "intended", "end_to_end"
KINDS = (PUBLISH, DELAY, INTENDED, END_TO_END)

RAW_FIELDS = [
    ("intended_us", "<i8"),
    ("delay_us", "<i4"),
    ("latency_us", "<i4"),
    ("bytes", "<i4"),
    ("kind", "<i2"),
    ("client", "<i2"),
]
"""A row of a raw file, for numpy.dtype; the times are microseconds since the epoch, or long."""


@dataclass(slots=True)
class Counters:
    """What a worker, or several together, did since the clients were opened. Probes are counted apart."""

    at_us: int = 0
    """When, microseconds since the epoch (of several workers: the latest)."""
    sent: int = 0
    """Handed to the producers, acknowledged or not."""
    acked: int = 0
    acked_bytes: int = 0
    """Of values."""
    errors: int = 0
    received: int = 0
    received_bytes: int = 0
    probes_acked: int = 0
    probes_received: int = 0
    produce_requests: int = 0
    """All requests of the producers to brokers, by the clients' own count."""
    consume_requests: int = 0
    """The same for the consumers: fetches, commits, heartbeats."""
    cpu_s: float = 0.0
    """Of the whole process since its start: all threads, compiler and garbage collector included."""
    first_error: str | None = None

    def plus(self, other: Counters) -> Counters:
        """Both together."""
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__slots__
            if name not in ("at_us", "first_error")
        }
        first = self.first_error or other.first_error
        return Counters(at_us=max(self.at_us, other.at_us), first_error=first, **sums)

    def minus(self, earlier: Counters) -> Counters:
        """What happened since `earlier`; ``at_us`` is then the time between."""
        rest = {
            name: getattr(self, name) - getattr(earlier, name)
            for name in self.__slots__
            if name != "first_error"
        }
        return Counters(first_error=self.first_error, **rest)

    @property
    def seconds(self) -> float:
        """Of a difference: the time between."""
        return self.at_us / 1e6


@dataclass(slots=True)
class Taken:
    """Counters, and the histograms since they were taken before."""

    counters: Counters
    histograms: dict[str, Histogram]

    @classmethod
    def empty(cls) -> Self:
        return cls(Counters(), {kind: Histogram() for kind in KINDS})

    def add(self, other: Taken) -> None:
        """Another worker's share of the same moment."""
        self.counters = self.counters.plus(other.counters)
        for kind, histogram in other.histograms.items():
            self.histograms[kind].add(histogram)


@dataclass(frozen=True, slots=True)
class Spec:
    """The clients of one worker."""

    common: Mapping[str, str]
    """Client properties of both kinds: bootstrap.servers above all."""
    producer: Mapping[str, str] = field(default_factory=dict)
    consumer: Mapping[str, str] = field(default_factory=dict)
    producers: Sequence[Mapping[str, Any]] = ()
    """Each ``{"topic": name}``, or with ``"partitions": [numbers]``, which it then takes in turn."""
    consumers: Sequence[Mapping[str, Any]] = ()
    """Each ``{"topic", "group"}`` (a member; commits asynchronously after a poll unless enable.auto.commit),
    or ``{"topic", "partitions": [numbers]}`` (reads them from their beginning, commits nothing)."""
    payload: Mapping[str, Any] = field(default_factory=lambda: {"bytes": 1024})
    """``{"bytes": n, "randomRatio": 1.0, "pool": 1}``: random bytes, then zeros, one of a pool; or
    ``{"file": path}``."""
    keys: str = "NO_KEY"
    """Or KEY_ROUND_ROBIN (10,000 keys of 10 characters in turn), RANDOM_NANO (one of them by the clock)."""
    end_to_end: str = "record"
    """From where the end-to-end time counts: ``record``, the record's timestamp in whole milliseconds
    (latencies of 0 are left out, as OMB does), or ``payload``: when the schedule wanted the event, in
    microseconds since the epoch, which the producer then writes into the first 8 bytes of each value."""
    flush_each: bool = False
    """A producer waits for each acknowledgement before its next record."""
    threads: int | None = None
    """That send; each serves its share of the producers in turn. None: one per processor, as in OMB, or one
    per producer with `flush_each`."""
    raw: str | None = None
    """File for a row per event."""

    def command(self) -> dict[str, Any]:
        """As the worker reads it."""
        wanted = {
            "common": dict(self.common),
            "producer": dict(self.producer),
            "consumer": dict(self.consumer),
            "producers": [dict(each) for each in self.producers],
            "consumers": [dict(each) for each in self.consumers],
            "payload": dict(self.payload),
            "keys": self.keys,
            "endToEnd": self.end_to_end,
            "flushEach": self.flush_each,
            "threads": self.threads,
            "raw": self.raw,
        }
        return {name: value for name, value in wanted.items() if value is not None}


class WorkerError(RuntimeError):
    """A worker refused a command, or is gone."""


class Worker:
    """One worker process. To be closed (a context manager)."""

    def __init__(self, heap: str = HEAP, exact: bool = True) -> None:
        """Starts the process; compiles it on first use. Raises RuntimeError as Maven or javac say.

        ``exact``: its threads wake when they asked to, not up to 50 microseconds later, Linux's default.
        """
        command = ["java", f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseG1GC", "-cp", worker_classpath(), "Worker"]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        with exact_timers() if exact else contextlib.nullcontext():
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                start_new_session=True,  # Ctrl-C is for us: it deletes topics first
            )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.seconds: list[Counters] = []
        """One entry per second since the clients were opened."""
        self._said = ""
        """The last line that was no answer."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        for line in self._process.stdout or ():
            try:
                found: dict[str, Any] = json.loads(line)
            except ValueError:  # Not from the worker: the JVM says something.
                self._said = line
                continue
            if "second" in found:
                self.seconds.append(Counters(**found["counters"]))
            else:
                self._answers.put(found)
        self._answers.put({"failed": ENDED, "error": "the worker ended"})

    def send(self, command: str, value: object = True) -> None:
        """Give a command and do not wait. Raises WorkerError when the worker is gone."""
        if self._process.stdin is None:
            raise WorkerError("the worker has no standard input")
        try:
            self._process.stdin.write(json.dumps({command: value}) + "\n")
            self._process.stdin.flush()
        except OSError as gone:
            raise WorkerError(f"the worker ended: {self._last_words()}") from gone

    def answer(self, timeout: float = ANSWER_TIMEOUT_S, command: str | None = None) -> dict[str, Any]:
        """The answer to the oldest unanswered command; with ``command`` to the oldest of that name: who asked
        for others before it was interrupted. Raises WorkerError when it failed or is late."""
        while True:
            try:
                found = self._answers.get(timeout=timeout)
            except queue.Empty:
                raise WorkerError(f"the worker did not answer in {timeout} s: {self._last_words()}") from None
            if command is None or found.get("reply", found.get("failed")) in (command, ENDED):
                break
        if "failed" in found:
            asked = f"{found['failed']}: " if found["failed"] != ENDED else ""
            raise WorkerError(f"{asked}{found['error']} {self._last_words()}")
        return found

    def ask(self, command: str, value: object = True, timeout: float = ANSWER_TIMEOUT_S) -> dict[str, Any]:
        """Give a command and wait for its answer; raises as `send` and `answer`."""
        self.send(command, value)
        return self.answer(timeout, command)

    def _last_words(self) -> str:
        self._errors.seek(0)
        return self._said + self._errors.read()[-2000:]

    def close(self) -> None:
        """End the process, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        self._reader.join()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Workers:
    """Several workers as one. To be closed (a context manager). All methods raise as `Worker.ask`."""

    def __init__(self, count: int, heap: str = HEAP, exact: bool = True) -> None:
        """``count`` of them; heap and ``exact`` as in `Worker`."""
        self.each: list[Worker] = []
        try:
            for _ in range(count):
                self.each.append(Worker(heap, exact))
        except BaseException:
            self.close()
            raise
        self._sending = 0
        self._open = False
        """There are clients."""

    def ask(
        self, command: str, value: object = True, timeout: float = ANSWER_TIMEOUT_S
    ) -> list[dict[str, Any]]:
        """The same command to all of them at once; their answers."""
        for worker in self.each:
            worker.send(command, value)
        return [worker.answer(timeout, command) for worker in self.each]

    def create_topics(self, common: Mapping[str, str], topics: Sequence[Mapping[str, Any]]) -> None:
        """By the first worker; see the module's text."""
        wanted = {"common": dict(common), "topics": [dict(topic) for topic in topics]}
        self.each[0].ask("createTopics", wanted, timeout=600)

    def delete_topics(self, common: Mapping[str, str], names: Sequence[str]) -> None:
        """By the first worker; while clients are open by a new one, and these end: for one that goes on the
        brokers would make its topic again."""
        wanted = {"common": dict(common), "topics": list(names)}
        if not self._open:
            self.each[0].ask("deleteTopics", wanted)
            return
        self.close()
        with Worker() as other:
            other.ask("deleteTopics", wanted)

    def open(self, specs: Sequence[Spec]) -> None:
        """One spec per worker. Rates are shared out among those that have producers."""
        self._sending = sum(1 for spec in specs if spec.producers)
        self._open = True
        for worker, spec in zip(self.each, specs, strict=True):
            worker.send("open", spec.command())
        for worker in self.each:
            worker.answer()

    def rate(self, per_second: float, events: int | None = None) -> None:
        """Events per second (and events) of all workers together; `FASTEST` and 0 as in the module's text."""
        share = max(self._sending, 1)
        wanted = {"perSecond": per_second if per_second < 0 else per_second / share}
        if events is not None:
            wanted["events"] = ceil(events / share)
        self.ask("rate", wanted)

    def end_schedule(self) -> int:
        """Nothing more comes due; how many events were, since the last `rate`. They are still sent."""
        return sum(answer["due"] for answer in self.ask("endSchedule"))

    def probe(self) -> None:
        self.ask("probe")

    def pause_consumers(self) -> None:
        self.ask("pauseConsumers")

    def resume_consumers(self) -> None:
        self.ask("resumeConsumers")

    def counters(self) -> Counters:
        """All together, now."""
        found = Counters()
        for answer in self.ask("counters"):
            found = found.plus(Counters(**answer["counters"]))
        return found

    def take(self) -> Taken:
        """All together: counters, and the histograms since the last time."""
        found = Taken.empty()
        for answer in self.ask("take"):
            parsed = {kind: Histogram.parse(answer["histograms"][kind]) for kind in KINDS}
            found.add(Taken(Counters(**answer["counters"]), parsed))
        return found

    def flush(self) -> None:
        """Send no more; returns when all is acknowledged (or failed)."""
        self.ask("flush", timeout=FLUSH_TIMEOUT_S)

    def await_received(self, times: int = 1, timeout: float = 60.0) -> bool:
        """Whether, in time, what was acknowledged was received `times` times (the groups that read it)."""
        deadline = time.monotonic() + timeout
        while True:
            now = self.counters()
            if now.received >= times * now.acked:
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)

    def seconds(self) -> list[Counters]:
        """The per-second counters so far, all workers together."""
        merged: list[Counters] = []
        for row in zip(*(worker.seconds for worker in self.each), strict=False):
            found = Counters()
            for part in row:
                found = found.plus(part)
            merged.append(found)
        return merged

    def stop(self) -> None:
        """Close the clients; afterwards the raw files are whole."""
        self.ask("stop")
        self._open = False

    def close(self) -> None:
        """End the processes, whatever they do."""
        for worker in self.each:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
