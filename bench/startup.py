"""`python -m bench.startup`: how soon a broker serves, its idle memory, what thousands of partitions cost.

    first ack    process start to the first acked record of a new topic; a client that runs already tries to
                 connect every 2 ms, then creates the topic and produces, repeating on "not yet" errors
    idle memory  resident size some seconds later, with that one topic
    fixture      kproto.testing: entering the in-process broker, in a fresh Python and again in the same one
    partitions   one topic of 5,000: from the CreateTopics request until the last partition takes a record,
                 memory; then 200 KB into each, kill -9, and restart to the first ack of a record for the last
                 partition; every partition must still end where it did

With --peer the same is done with Apache Kafka (it takes minutes).
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.brokers import KINDS, BrokerProcess, usage
from bench.rawclient import NONE, TOPIC_ALREADY_EXISTS, RawClient, one_record_batch

TRY_EVERY_S = 0.002
GIVE_UP_S = 300.0
CHUNK_BYTES = 20_000
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


def first_ack(port: int, topic: str, partition: int, create: bool) -> None:
    """Return when a record is acked; reconnects as long as the broker is not there."""
    batch = one_record_batch(b"x" * 100)
    created = not create

    def attempt() -> bool:
        nonlocal created
        client = RawClient(port)
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

    until(f"an ack from port {port}", attempt)


def start_to_first_ack(broker: BrokerProcess, topic: str, partition: int = 0, create: bool = True) -> float:
    """Seconds from starting the process."""
    broker.prepare()
    begin = time.monotonic()
    broker.spawn()
    first_ack(broker.port, topic, partition, create)
    return time.monotonic() - begin


def measure_start(kind: str, work: Path, runs: int) -> dict[str, Any]:
    """First ack on empty data (each run its own), then the idle memory of the last."""
    times = []
    for run in range(runs):
        broker = KINDS[kind](work / f"{kind}-start-{run}")
        try:
            times.append(start_to_first_ack(broker, "first"))
            if run == runs - 1:
                time.sleep(5)
                before = usage(broker.pid)
                time.sleep(5)
                after = usage(broker.pid)
        finally:
            broker.stop()
            broker.remove()
    return {
        "first_ack_s": {"median": median(times), "all": times},
        "idle_rss_mb": after.rss_bytes / 1e6,
        "idle_cpu_percent": (after.cpu_s - before.cpu_s) / 5 * 100,
    }


def measure_fixture() -> dict[str, float]:
    """Seconds to enter `kproto.testing.kafka_broker()`: with the imports, and again."""
    done = subprocess.run([sys.executable, "-c", FIXTURE_PROGRAM], capture_output=True, text=True, check=True)
    first, again = map(float, done.stdout.split())
    return {"first_with_imports_s": first, "again_s": again}


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


def measure_partitions(kind: str, work: Path, partitions: int, bytes_each: int) -> dict[str, Any]:
    """Create, fill, kill, restart. Raises RuntimeError when a partition ends elsewhere afterwards."""
    broker = KINDS[kind](work / f"{kind}-partitions")
    found: dict[str, Any] = {"partitions": partitions, "bytes_each": bytes_each}
    try:
        broker.start()
        time.sleep(1)
        found["rss_before_mb"] = usage(broker.pid).rss_bytes / 1e6
        client = RawClient(broker.port, GIVE_UP_S)
        begin, cpu = time.monotonic(), usage(broker.pid).cpu_s
        if code := client.create_topic("many", partitions, GIVE_UP_S):
            raise RuntimeError(f"creating {partitions} partitions: error {code}")
        found["create_request_s"] = time.monotonic() - begin
        first_ack(broker.port, "many", partitions - 1, create=False)
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


def flat(results: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested results as dotted names and short texts."""
    rows: dict[str, str] = {}
    for name, value in results.items():
        if isinstance(value, dict):
            rows.update(flat(value, f"{prefix}{name}."))
        elif isinstance(value, list):
            rows[prefix + name] = " ".join(f"{item:.3g}" for item in value)
        else:
            rows[prefix + name] = f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
    return rows


@click.command()
@click.option("--runs", default=5, show_default=True, help="Starts to take the median of.")
@click.option("--partitions", default=5_000, show_default=True)
@click.option("--bytes-each", default=200_000, show_default=True, help="Written into each partition.")
@click.option("--peer", is_flag=True, help="Also Apache Kafka.")
@click.option("--only", type=click.Choice(["start", "fixture", "partitions"]), help="One part.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the brokers keep their data.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/bench"), show_default=True)
def main(
    runs: int,
    partitions: int,
    bytes_each: int,
    peer: bool,
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """Start-up, idle memory and thousands of partitions."""
    work = Path(tempfile.mkdtemp(prefix="kproto-bench-", dir=data_dir))
    results: dict[str, Any] = {}
    console = Console()
    try:
        for kind in ("kproto", "kafka") if peer else ("kproto",):
            part = results.setdefault(kind, {})
            if only in {None, "start"}:
                console.print(f"{kind}: {runs} starts")
                part["start"] = measure_start(kind, work, runs)
            if only in {None, "fixture"} and kind == "kproto":
                part["fixture"] = measure_fixture()
            if only in {None, "partitions"}:
                console.print(f"{kind}: {partitions:,} partitions of {bytes_each:,} bytes")
                part["partitions"] = measure_partitions(kind, work, partitions, bytes_each)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "startup.json").write_text(json.dumps(results, indent=1))
    table = Table("figure", *results)
    columns = {kind: flat(part) for kind, part in results.items()}
    for name in dict.fromkeys(name for rows in columns.values() for name in rows):
        table.add_row(name, *(rows.get(name, "-") for rows in columns.values()))
    console.print(table)


if __name__ == "__main__":
    main()
