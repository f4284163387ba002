"""The same load by librdkafka: a process for each producer and each consumer.

The processes (`python -m bench.librdkafka`) read one JSON line that says what they are, then a word a line:
each is answered by a line with what was done so far, the CPU time of the process, and when that was: what
many busy processes did between two words is known only by the clock of each. Their CPU is reported as the
clients'; much of it is Python's, one call for each record. librdkafka puts one partition into each
Produce request. Latencies are those of every 17th record, from the call of produce; of several producers the
worst is reported.

May import the standard library and bench's generator, brokers and topics; confluent_kafka on use.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from bench.brokers import Target
from bench.generator import Load, Measured
from bench.stolen import Stolen
from bench.topics import Topics

SAMPLE_EVERY = 17
"""Partitions get theirs in turn: every 16th record is for the same few, 2 of 32, which one broker leads."""
POLL_EVERY = 64
"""Records between two looks for acknowledgements. With a buffer of millions of records there would be none
for seconds if only a full one made the producer look."""
CONSUMED_AT_ONCE = 2000
DRAIN_S = 60.0
NOTE = (
    f"Latencies are of every {SAMPLE_EVERY}th record, from the call of produce; each percentile is the worst "
    "producer's."
)
PERCENTS = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9, "max": 100.0}


def percentiles(latencies_s: Sequence[float]) -> dict[str, float] | None:
    """As the Java generator reports them: microseconds, the least that so many percent do not exceed."""
    ordered = sorted(latencies_s)
    if not ordered:
        return None
    found = {"count": float(len(ordered))}
    for name, percent in PERCENTS.items():
        rank = -(-len(ordered) * percent // 100)
        found[name] = ordered[max(int(rank) - 1, 0)] * 1e6
    return found


def settings(load: Load, bootstrap: str) -> dict[str, Any]:
    """What the Java producer has, by librdkafka's names: idempotent, acks=all, five requests at a time."""
    buffer = load.buffer_bytes or 1 << 25
    found: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "enable.idempotence": True,
        "linger.ms": load.linger_ms,
        "batch.size": load.batch_bytes,
        "message.max.bytes": max(1_000_000, load.batch_bytes + 1024),
        "queue.buffering.max.kbytes": buffer // 1024,
        "queue.buffering.max.messages": max(1000, buffer // max(load.value_bytes, 1)),
    }
    if load.in_flight:
        found["max.in.flight.requests.per.connection"] = load.in_flight
    return found


def places(names: Sequence[str], partitions: int) -> list[tuple[str, int]]:
    """Every partition of every topic, in the Java generator's order."""
    return [(name, partition) for name in names for partition in range(partitions)]


class _Producing:
    """One producer, as fast as it goes."""

    def __init__(self, spec: dict[str, Any], load: Load, share: int) -> None:
        from confluent_kafka import Producer

        self.done = 0
        self.samples: list[float] = []
        self.problem = ""
        self.running = True
        self._client = Producer({**settings(load, spec["bootstrap"]), "log_level": 0})
        everywhere = places(spec["names"], load.partitions)
        mine = [place for place in everywhere if place[1] % load.entries == share % load.entries]
        self._thread = threading.Thread(target=self._run, args=(mine, load.value_bytes, share), daemon=True)
        self._thread.start()

    def _run(self, mine: list[tuple[str, int]], value_bytes: int, share: int) -> None:
        value = random.Random(share).randbytes(value_bytes)
        number, count, client = share, len(mine), self._client
        while self.running and not self.problem:
            name, partition = mine[number % count]
            callback = self._sampled(time.monotonic()) if number % SAMPLE_EVERY == 0 else self._acked
            try:
                client.produce(name, value, partition=partition, on_delivery=callback)
                number += 1
                if number % POLL_EVERY == 0:
                    client.poll(0)
            except BufferError:
                client.poll(0.05)
        client.flush(DRAIN_S)

    def _acked(self, problem: Any, _message: Any) -> None:
        if problem is None:
            self.done += 1
        else:
            self.problem = str(problem)

    def _sampled(self, sent: float) -> Callable[[Any, Any], None]:
        def acked(problem: Any, message: Any) -> None:
            self._acked(problem, message)
            self.samples.append(time.monotonic() - sent)

        return acked

    def finish(self) -> None:
        """Send no more; returns when all is acknowledged."""
        self.running = False
        self._thread.join()


class _Consuming:
    """One consumer of its share of the partitions, from their ends when it begins."""

    def __init__(self, spec: dict[str, Any], load: Load, share: int) -> None:
        from confluent_kafka import OFFSET_END, Consumer, TopicPartition

        self.done = 0
        self.samples: list[float] = []
        self.problem = ""
        self.running = True
        self._client = Consumer(
            {"bootstrap.servers": spec["bootstrap"], "group.id": "bench", "enable.auto.commit": False}
        )
        mine = places(spec["names"], load.partitions)[share :: load.consumers]
        ends = []
        for name, partition in mine:
            _, end = self._client.get_watermark_offsets(TopicPartition(name, partition), timeout=30)
            ends.append(TopicPartition(name, partition, end if end >= 0 else OFFSET_END))
        self._client.assign(ends)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while self.running:
            for message in self._client.consume(CONSUMED_AT_ONCE, 0.1):
                if message.error() is None:
                    self.done += 1
        self._client.close()

    def finish(self) -> None:
        """Read no more."""
        self.running = False
        self._thread.join()


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _worker() -> None:
    spec = json.loads(sys.stdin.readline())
    load = Load(**spec["load"])
    kind = _Producing if spec["role"] == "producer" else _Consuming
    client = kind(spec, load, spec["share"])
    for line in sys.stdin:
        word = line.strip()
        if word == "finish":
            client.finish()
        answer: dict[str, Any] = {"done": client.done, "at_s": time.monotonic(), "cpu_s": _cpu_s()}
        if word == "begin":
            client.samples.clear()
        answer["latency"] = percentiles(client.samples) if word == "end" else None
        answer["problem"] = client.problem
        print(json.dumps(answer), flush=True)
        if word == "finish":
            return


class _Process:
    def __init__(self, role: str, share: int, target: Target, load: Load, topics: Topics) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bench.librdkafka"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        spec = {"role": role, "share": share, "bootstrap": target.bootstrap, "names": topics.names}
        self._tell(json.dumps({**spec, "load": asdict(load)}))

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def tell(self, word: str) -> None:
        """Without waiting for what it answers."""
        self._tell(word)

    def hear(self) -> dict[str, Any]:
        """Raises RuntimeError when the process has ended or its client failed."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"problem": "the process ended"}
        if answer["problem"]:
            raise RuntimeError(f"librdkafka: {answer['problem']}")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def _all(processes: Sequence[_Process], word: str) -> list[dict[str, Any]]:
    for each in processes:
        each.tell(word)
    return [each.hear() for each in processes]


def per_second(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> float:
    """What processes did between their answers, each by its own clock, together."""
    rates: list[float] = [
        (late["done"] - early["done"]) / (late["at_s"] - early["at_s"])
        for early, late in zip(before, after, strict=True)
    ]
    return sum(rates)


def measure(
    broker: Target,
    load: Load,
    during: Callable[[int, float], None] | None = None,
    topics: Topics | None = None,
    ended: Callable[[], None] | None = None,
) -> Measured:
    """`bench.generator.measure` by librdkafka; ``load.rate`` must be 0 and the topics given.

    Raises RuntimeError when a client fails or when an acked record was not consumed.
    """
    if topics is None or load.rate:
        raise ValueError("librdkafka runs on topics that are there, as fast as it goes")
    consumers, producers = [], []
    try:
        consumers = [_Process("consumer", n, broker, load, topics) for n in range(load.consumers)]
        _all(consumers, "ready")
        producers = [_Process("producer", n, broker, load, topics) for n in range(load.producers)]
        return _run(broker, load, producers, consumers, during, ended)
    finally:
        for each in producers + consumers:
            each.end()


def _run(
    broker: Target,
    load: Load,
    producers: list[_Process],
    consumers: list[_Process],
    during: Callable[[int, float], None] | None,
    ended: Callable[[], None] | None,
) -> Measured:
    everybody = producers + consumers
    _all(everybody, "ready")
    time.sleep(load.warmup_seconds)
    if during is not None:
        during(broker.pid, load.seconds)
    broker.reset_peak()
    before, begin, began = _all(everybody, "begin"), broker.usage(), time.monotonic()
    stolen = Stolen()
    time.sleep(load.seconds)
    wall, withheld = time.monotonic() - began, stolen.percent()
    end, after = broker.usage(), _all(everybody, "end")
    if ended is not None:
        ended()
    sent = sum(answer["done"] for answer in _all(producers, "finish"))
    read, deadline = 0, time.monotonic() + DRAIN_S
    while read < sent and time.monotonic() < deadline:
        time.sleep(0.1)
        read = sum(answer["done"] for answer in _all(consumers, "look"))
    if consumers and read != sent:
        raise RuntimeError(f"{broker.name}: {sent} acked, {read} consumed")
    count = len(producers)
    acked = round(wall * per_second(before[:count], after[:count]))
    latencies = [answer["latency"] for answer in after[:count] if answer["latency"]]
    result: dict[str, Any] = {
        "seconds": wall,
        "acked_records": acked,
        "acked_bytes": acked * load.value_bytes,
        "generator_cpu_s": sum(b["cpu_s"] - a["cpu_s"] for a, b in zip(before, after, strict=True)),
        "ack_us": {name: max(each[name] for each in latencies) for name in PERCENTS} if latencies else None,
        "end_to_end_us": None,
        "acked_total": sent,
    }
    return Measured(result, end.cpu_s - begin.cpu_s, wall, end.peak_rss_bytes, withheld)


if __name__ == "__main__":
    _worker()
