"""`kproto bench startup`: how soon a broker serves, its idle memory, what thousands of partitions cost.

    first ack    process start to the first acked record of a new topic; a client that runs already tries to
                 connect every 2 ms, then creates the topic and produces, repeating on "not yet" errors
    idle memory  resident size some seconds later, with that one topic
    fixture      kproto.testing: entering the in-process broker, in a fresh Python and again in the same one;
                 Apache Kafka has nothing to compare
    partitions   one topic of 5,000: from the CreateTopics request until the last partition takes a record,
                 memory; then 200 KB into each, kill -9, and restart to the first ack of a record for the last
                 partition; every partition must still end where it did

Both systems in turn, start by start. Thousands of partitions take Apache Kafka minutes.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from bench import options
from bench.brokers import KINDS, BrokerProcess, usage
from bench.environment import environment
from bench.rawclient import NONE, TOPIC_ALREADY_EXISTS, RawClient, one_record_batch
from bench.results import KPROTO, Result, Run

TRY_EVERY_S = 0.002
GIVE_UP_S = 300.0
CHUNK_BYTES = 20_000
REST_S = 5.0
PARTS = {
    "start": "Start and idle",
    "fixture": "kproto.testing: a broker inside the test's process",
    "partitions": "Thousands of partitions",
}
PARTITION_PAIRS = 2
PARTITIONS_PER_REQUEST = 50
PIPELINE = 4

FIXTURE_PROGRAM = """
import time
begin = time.perf_counter()
from kproto.testing import kafka_broker
times = []
for _ in range(5):
    with kafka_broker():
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
print(times[0], sorted(times[1:])[1])
"""


def until(what: str, attempt: Callable[[], bool]) -> None:
    """Repeat until it works; refused and broken connections count as not yet."""
    deadline = time.monotonic() + GIVE_UP_S
    while True:
        try:
            if attempt():
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {GIVE_UP_S:.0f} s in vain: {what}")
        time.sleep(TRY_EVERY_S)


def first_ack(broker: BrokerProcess, topic: str, partition: int, create: bool) -> None:
    """Return when a record is acked; reconnects as long as the broker is not there. Raises RuntimeError when
    that takes too long, or its process has ended."""
    batch = one_record_batch(b"x" * 100)
    created = not create

    def attempt() -> bool:
        nonlocal created
        broker.must_run()
        client = RawClient(broker.port)
        try:
            if not created:
                created = client.create_topic(topic, 1) in {NONE, TOPIC_ALREADY_EXISTS}
            while created:
                if client.produce(topic, partition, batch) == NONE:
                    return True
                time.sleep(TRY_EVERY_S)
            return False
        finally:
            client.close()

    until(f"an ack from {broker.bootstrap}", attempt)


def start_to_first_ack(broker: BrokerProcess, topic: str, partition: int = 0, create: bool = True) -> float:
    """Seconds from starting the process."""
    broker.prepare()
    begin = time.monotonic()
    broker.spawn()
    first_ack(broker, topic, partition, create)
    return time.monotonic() - begin


def measure_start(kind: str, work: Path, pair: int) -> dict[str, float]:
    """First ack on empty data, then what the broker uses when nothing happens."""
    broker = KINDS[kind](work / f"{kind}-start-{pair}")
    try:
        took = start_to_first_ack(broker, "first")
        time.sleep(REST_S)
        before = usage(broker.pid)
        time.sleep(REST_S)
        after = usage(broker.pid)
    finally:
        broker.stop()
        broker.remove()
    return {
        "first_ack_s": took,
        "idle_rss_mb": after.rss_bytes / 1e6,
        "idle_cpu_percent": (after.cpu_s - before.cpu_s) / REST_S * 100,
    }


def measure_fixture() -> dict[str, float]:
    """Seconds to enter `kproto.testing.kafka_broker()`: with the imports, and again."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", FIXTURE_PROGRAM], capture_output=True, text=True, check=True
    )
    first, again = map(float, done.stdout.split())
    return {"fixture_first_s": first, "fixture_again_s": again}


def fill(client: RawClient, topic: str, partitions: int, bytes_each: int) -> None:
    """Chunks of `CHUNK_BYTES` into every partition, several partitions a request, requests pipelined."""
    batch = one_record_batch(b"y" * (CHUNK_BYTES - 80))
    requests = [
        [(partition, batch) for partition in range(first, min(first + PARTITIONS_PER_REQUEST, partitions))]
        for _ in range(bytes_each // CHUNK_BYTES)
        for first in range(0, partitions, PARTITIONS_PER_REQUEST)
    ]
    for number, request in enumerate(requests):
        client.send_produce(topic, request)
        if number >= PIPELINE:
            _all_acked(client.receive_produce(topic))
    for _ in range(min(PIPELINE, len(requests))):
        _all_acked(client.receive_produce(topic))


def _all_acked(codes: list[int]) -> None:
    if any(codes):
        raise RuntimeError(f"produce failed: error codes {sorted(set(codes))}")


def end_offsets(client: RawClient, topic: str, partitions: int) -> dict[int, int]:
    """Once every partition answers without an error: partition -> high watermark."""
    found: dict[int, tuple[int, int]] = {}

    def attempt() -> bool:
        nonlocal found
        found = client.end_offsets(topic, partitions)
        return len(found) == partitions and all(code == NONE for code, _ in found.values())

    until("offsets of all partitions", attempt)
    return {partition: offset for partition, (_, offset) in found.items()}


def measure_partitions(kind: str, work: Path, partitions: int, bytes_each: int) -> dict[str, float]:
    """Create, fill, kill, restart. Raises RuntimeError when a partition ends elsewhere afterwards."""
    broker = KINDS[kind](work / f"{kind}-partitions")
    found: dict[str, float] = {}
    try:
        broker.start()
        time.sleep(1)
        found["rss_before_mb"] = usage(broker.pid).rss_bytes / 1e6
        client = RawClient(broker.port, GIVE_UP_S)
        begin, cpu = time.monotonic(), usage(broker.pid).cpu_s
        if code := client.create_topic("many", partitions, GIVE_UP_S):
            raise RuntimeError(f"creating {partitions} partitions: error {code}")
        found["create_request_s"] = time.monotonic() - begin
        first_ack(broker, "many", partitions - 1, create=False)
        found["created_s"] = time.monotonic() - begin
        end_offsets(client, "many", partitions)
        found["rss_created_mb"] = usage(broker.pid).rss_bytes / 1e6
        found["create_cpu_s"] = usage(broker.pid).cpu_s - cpu
        begin = time.monotonic()
        fill(client, "many", partitions, bytes_each)
        found["fill_s"] = time.monotonic() - begin
        ends = end_offsets(client, "many", partitions)
        found["rss_filled_mb"] = usage(broker.pid).rss_bytes / 1e6
        found["peak_rss_mb"] = usage(broker.pid).peak_rss_bytes / 1e6
        client.close()
        broker.stop(signal.SIGKILL)
        begin = time.monotonic()
        found["restart_after_kill_s"] = start_to_first_ack(broker, "many", partitions - 1, create=False)
        ends[partitions - 1] += 1
        client = RawClient(broker.port, GIVE_UP_S)
        if end_offsets(client, "many", partitions) != ends:
            raise RuntimeError("partitions do not end where they did before the crash")
        found["restart_all_answer_s"] = time.monotonic() - begin
        found["rss_restarted_mb"] = usage(broker.pid).rss_bytes / 1e6
        client.close()
        broker.stop()
        found["restart_after_stop_s"] = start_to_first_ack(broker, "many", partitions - 1, create=False)
    finally:
        broker.stop(signal.SIGKILL)
        broker.remove()
    return found


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    parts: tuple[str, ...]
    partitions: int
    bytes_each: int
    partition_pairs: int
    """Rounds of the part with thousands of partitions: it takes long and varies little."""


def measure_round(
    results: dict[str, Result],
    pair: int,
    kinds: list[str],
    work: Path,
    plan: Plan,
    out: Path,
    screen: Console,
) -> None:
    """One run of each part on each system in turn; results are written after each."""

    def note(part: str, kind: str, case: str, measured: Callable[[], dict[str, float]]) -> None:
        screen.print(f"{part} on {kind}, round {pair + 1}")
        with options.noted(f"{case} on {kind}", results[part].notes, screen):
            results[part].runs.append(Run(kind, case, pair, asdict(plan), measured()))
        results[part].save(out)

    if "start" in plan.parts:
        for kind in kinds:
            note("start", kind, "one partition", partial(measure_start, kind, work, pair))
    if "fixture" in plan.parts and KPROTO in kinds:
        note("fixture", KPROTO, "in-process", measure_fixture)
    if "partitions" in plan.parts and pair < plan.partition_pairs:
        for kind in kinds:
            measured = partial(measure_partitions, kind, work, plan.partitions, plan.bytes_each)
            note("partitions", kind, f"{plan.partitions:,} partitions", measured)


@click.command()
@options.quick_option
@options.pairs_option
@click.option("--partitions", type=click.IntRange(1), help="Of the one topic; 5,000, or 500 with --quick.")
@click.option(
    "--bytes-each",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    help="Written into each partition.",
)
@click.option("--part", type=click.Choice(list(PARTS)), help="One part.")
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    pairs: int | None,
    partitions: int | None,
    bytes_each: int,
    part: str | None,
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """Start-up, idle memory and thousands of partitions."""
    pairs = pairs or (2 if quick else 5)
    wanted = (part,) if part else tuple(PARTS)
    plan = Plan(
        wanted,
        partitions or (500 if quick else 5_000),
        bytes_each,
        1 if quick else min(pairs, PARTITION_PAIRS),
    )
    screen = options.console()
    line, about = options.command_line("startup"), environment()
    results = {name: Result("startup", name, PARTS[name], line, about) for name in wanted}
    with options.workspace(data_dir) as work:
        for pair in range(pairs):
            measure_round(results, pair, options.systems(only), work, plan, out, screen)
    for result in results.values():
        if result.runs or result.notes:
            options.show(result, out, screen)
    options.finish(*results.values())
