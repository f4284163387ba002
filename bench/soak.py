"""`kproto bench soak`: an hour or a day under a small steady load, while everything else comes and goes.

One broker, or four with three copies. A producer sends records of 1 KB at a steady rate to a topic that keeps
so little that all of it is replaced several times an hour, and a consumer reads them: each acknowledged
record has to come, in order, once. Beside it *guests* come, `GUESTS` at a time: each makes a topic, is a new
idempotent producer and a new group of two members on it, commits, deletes both, and leaves a connection with
half a request on it. Meanwhile memory, descriptors, threads, files and latencies of acks are noted.

What is judged is growth: the median of the last quarter over that of the second (the first one is warm-up). A
broker that keeps something of every guest, or of every record, grows with the length of the run.
"""

from __future__ import annotations

import itertools
import os
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import click
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from bench import options
from bench.brokers import usage
from bench.clusters import Cluster, running
from bench.environment import environment
from bench.histogram import Histogram
from bench.results import Result, Run
from bench.spread import create
from bench.topics import DELETE_DELAY_MS, disk_bytes

TOPIC: Final = "soak"
PARTITIONS: Final = 12
VALUE: Final = 1000
KEPT: Final = {
    "segment.bytes": str(2 << 20),
    "retention.bytes": str(8 << 20),
    "file.delete.delay.ms": str(DELETE_DELAY_MS),
}
"""Of the steady topic: at 500 records a second of 1 KB all of it is replaced every few minutes."""
GUESTS: Final = 4
GUEST_RECORDS: Final = 100
GUEST_PARTITIONS: Final = 4
ANSWER_S: Final = 60.0
LOOKS: Final = 120
"""Measurements of a run."""
LEAST_LOOK_S: Final = 0.5
MOST_GROWTH: Final = 1.2
GROWING: Final = ("rss_mb", "descriptors", "files")
LIMITS: Final = dict.fromkeys((f"{name}_growth" for name in GROWING), MOST_GROWTH)
SHOWN: Final = [
    *(text for name in GROWING for text in (name, f"{name}_growth")),
    *("disk_mb", "publish_p50_ms", "publish_p99_ms", "cores", "records", "guests"),
]


class Steady:
    """A producer that keeps to its rate and a consumer that checks what it reads. ``failures``: what must not
    be."""

    def __init__(self, bootstrap: str, rate: float) -> None:
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": TOPIC,
                "auto.offset.reset": "earliest",
                "log_level": 0,
            }
        )
        self._rate = rate
        self.ended = threading.Event()
        self._lock = threading.Lock()
        self._counts: Counter[int] = Counter()
        self.acked = Counter[int]()
        """Partition -> records acknowledged; they are numbered from 0 on."""
        self.read = Counter[int]()
        self.failures: list[str] = []
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._produce, self._consume)]

    def start(self) -> None:
        """Begin. The topic must be there."""
        self._consumer.subscribe([TOPIC])
        for thread in self._threads:
            thread.start()

    def window(self) -> Histogram:
        """Latencies of the acknowledgements since the last call."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return Histogram(counts)

    def _produce(self) -> None:
        began, number, padding = time.monotonic(), 0, bytes(VALUE - 8)
        while not self.ended.is_set():
            partition, mine = number % PARTITIONS, number // PARTITIONS
            due = began + number / self._rate
            while (left := due - time.monotonic()) > 0:
                self._producer.poll(min(left, 0.1))
            told = self._teller(partition, due)
            self._producer.produce(
                TOPIC, struct.pack(">q", mine) + padding, partition=partition, on_delivery=told
            )
            self._producer.poll(0)
            number += 1
        if left := self._producer.flush(ANSWER_S):
            self.failures.append(f"{left} records were never acknowledged")

    def _teller(self, partition: int, due: float) -> Callable[[KafkaError | None, Message], None]:
        def told(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                self.failures.append(f"{TOPIC}-{partition}: {error}")
                return
            self.acked[partition] += 1
            with self._lock:
                self._counts[int((time.monotonic() - due) * 1e6)] += 1

        return told

    def _consume(self) -> None:
        deadline = None
        while True:
            message = self._consumer.poll(0.2)
            if message is not None and message.error() is None:
                self._check(message)
            elif self.ended.is_set() and not self._threads[0].is_alive():
                deadline = deadline or time.monotonic() + ANSWER_S
                if self.read.total() >= self.acked.total() or time.monotonic() > deadline:
                    break
        self._consumer.close()

    def _check(self, message: Message) -> None:
        partition, value = message.partition() or 0, message.value()
        number = struct.unpack(">q", value[:8])[0] if isinstance(value, bytes) else -1
        if number != self.read[partition]:
            self.failures.append(f"{TOPIC}-{partition}: {number} came instead of {self.read[partition]}")
        self.read[partition] = number + 1

    def stop(self) -> None:
        """Send no more, and wait until all that was acknowledged was read. Raises RuntimeError for what must
        not be."""
        self.ended.set()
        for thread in self._threads:
            thread.join(2 * ANSWER_S)
        if self.read != self.acked:
            self.failures.append(f"{self.acked.total()} were acknowledged, {self.read.total()} were read")
        if self.failures:
            raise RuntimeError("; ".join(self.failures[:3]))


class Guests:
    """Some at a time, each with its own topic, group, producer and connections."""

    def __init__(self, cluster: Cluster, copies: int) -> None:
        self._cluster = cluster
        self._copies = copies
        self.ended = threading.Event()
        self._numbers = itertools.count(1)
        self.left = 0
        """How many have been there."""
        self.failures: list[str] = []
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(GUESTS)]

    def start(self) -> None:
        """The first ones come."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """The last one leaves. Raises RuntimeError when one failed."""
        self.ended.set()
        for thread in self._threads:
            thread.join(4 * ANSWER_S)
        if self.failures:
            raise RuntimeError(f"{len(self.failures)} of {self.left} guests failed, {self.failures[0]}")

    def _run(self) -> None:
        while not self.ended.is_set():
            name = f"guest-{next(self._numbers)}"
            try:
                visit(self._cluster.bootstrap, name, self._copies)
            except (KafkaException, OSError, RuntimeError) as error:
                self.failures.append(f"{name}: {error}")
            self.left += 1


def visit(bootstrap: str, name: str, copies: int) -> None:
    """One guest. Raises KafkaException, OSError, or RuntimeError when records do not come."""
    create(bootstrap, name, GUEST_PARTITIONS, copies)
    settings: dict[str, Any] = {"bootstrap.servers": bootstrap, "client.id": name, "log_level": 0}
    producer = Producer({**settings, "enable.idempotence": True})
    for number in range(GUEST_RECORDS):
        producer.produce(name, b"%d" % number, key=b"%d" % number)
    members = [
        Consumer({**settings, "group.id": name, "auto.offset.reset": "earliest", "enable.auto.commit": False})
        for _ in range(2)
    ]
    if producer.flush(ANSWER_S):
        raise RuntimeError("its records were never acknowledged")
    read, deadline = 0, time.monotonic() + ANSWER_S
    for member in members:
        member.subscribe([name])
    while read < GUEST_RECORDS:
        if time.monotonic() > deadline:
            raise RuntimeError(f"read {read} of {GUEST_RECORDS} records")
        for member in members:
            got = [one for one in member.consume(GUEST_RECORDS, 0.05) if one.error() is None]
            read += len(got)
            if got:
                member.commit(asynchronous=False)
    for member in members:
        member.close()
    half_a_request(bootstrap)
    admin = AdminClient(settings)
    admin.delete_consumer_groups([name])[name].result(ANSWER_S)
    admin.delete_topics([name])[name].result(ANSWER_S)


def half_a_request(bootstrap: str) -> None:
    """A connection that goes in the middle of a request of 1,000 bytes."""
    host, _, port = bootstrap.split(",", maxsplit=1)[0].rpartition(":")
    with socket.create_connection((host, int(port)), ANSWER_S) as connection:
        connection.sendall(struct.pack(">i", 1000) + bytes(500))


def look(cluster: Cluster) -> dict[str, float]:
    """What all brokers together have now."""
    pids = cluster.pids
    found = [names for _, _, names in os.walk(cluster.directory)]
    return {
        "rss_mb": sum(usage(pid).rss_bytes for pid in pids) / 1e6,
        "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids),
        "threads": sum(len(os.listdir(f"/proc/{pid}/task")) for pid in pids),
        "files": sum(map(len, found)),
        "disk_mb": disk_bytes(cluster.directory) / 1e6,
    }


def at_the_end(values: Sequence[float]) -> float:
    """The median of the last quarter."""
    return median(values[-max(len(values) // 4, 1) :])


def growth(values: Sequence[float]) -> float:
    """That over the median of the second quarter."""
    quarter = max(len(values) // 4, 1)
    before = median(values[quarter : 2 * quarter] or values)
    return at_the_end(values) / before if before else 1.0


def figures(series: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, float]:
    """Of the last quarter, and how much it grew; see the module's text."""
    found: dict[str, float] = {}
    for name, points in series.items():
        values = [value for _, value in points]
        found[name] = at_the_end(values)
        if name in GROWING:
            found[f"{name}_growth"] = growth(values)
    return found


def measure(
    cluster: Cluster, copies: int, minutes: float, rate: float
) -> tuple[dict[str, float], dict[str, list[list[float]]]]:
    """Figures and series of a run. Raises RuntimeError when something that must not be was."""
    create(cluster.bootstrap, TOPIC, PARTITIONS, copies, configs=KEPT)
    steady, guests = Steady(cluster.bootstrap, rate), Guests(cluster, copies)
    series: dict[str, list[list[float]]] = {}
    pause = max(minutes * 60 / LOOKS, LEAST_LOOK_S)
    try:
        steady.start()
        guests.start()
        began = time.monotonic()
        cpu = cluster.usage().cpu_s
        while (passed := time.monotonic() - began) < minutes * 60:
            time.sleep(pause)
            p50, p99 = steady.window().percentiles([50, 99])
            seen = {**look(cluster), "publish_p50_ms": p50 / 1000, "publish_p99_ms": p99 / 1000}
            for name, value in seen.items():
                series.setdefault(name, []).append([passed + pause, value])
        cores = (cluster.usage().cpu_s - cpu) / passed
        guests.stop()
        steady.stop()
    finally:  # whatever happened: nothing of it is to load the next system
        guests.ended.set()
        steady.ended.set()
    return {
        **figures(series),
        "cores": cores,
        "records": steady.acked.total(),
        "guests": guests.left,
    }, series


@click.command()
@options.quick_option
@click.option("--minutes", type=options.ABOVE_ZERO, help="60, or 1 with --quick.")
@click.option(
    "--rate",
    type=options.ABOVE_ZERO,
    default=500.0,
    show_default=True,
    help="Records per second.",
)
@click.option("--copies", type=click.Choice(["1", "3"]), default="3", help="Three: four brokers. One: one.")
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    minutes: float | None,
    rate: float,
    copies: str,
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """What grows while clients, topics and groups come and go."""
    minutes, number = minutes or (1.0 if quick else 60.0), int(copies)
    case = f"{minutes:g} minutes, {copies} {'copy' if number == 1 else 'copies'}"
    line = options.command_line("soak")
    result = Result("soak", f"rf{copies}", "Topics, groups and clients come and go", line, environment())
    result.limits[case], result.shown = dict(LIMITS), SHOWN
    about, screen = {"minutes": minutes, "records_per_s": rate, "copies": number}, options.console()
    for kind in options.systems(only):
        screen.print(f"{case} on {kind}", highlight=False)
        with options.noted(f"{case} on {kind}", result.notes, screen):
            with options.workspace(data_dir) as work, running([kind], number, work) as clusters:
                found, series = measure(clusters[kind], number, minutes, rate)
            result.runs.append(Run(kind, case, 0, about, found, series))
        result.save(out)
    options.show(result, out, screen)
    options.finish(result)
