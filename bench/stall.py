"""`kproto bench stall`: one broker of four, a backup that leads nothing, gets SIGSTOP for 5 s under load.

The three others lead all partitions, three copies each. One client per leader produces to all of its
partitions, one request in flight, acks=all. Measured: the longest time without an ack of any partition, from
just before the stop until 5 s after SIGCONT (by then the broker was fenced and has started anew), and beside
it the same over a quiet stretch of the same length. Apache Kafka has no backups apart from followers, which
lead as well: there is nothing to compare, only a limit.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import click

from bench import options
from bench.environment import environment
from bench.rawclient import NONE, RawClient, one_record_batch
from bench.results import KPROTO, Result, Run
from bench.spread import by_leader, create, leaders, write
from kproto.local_cluster import LocalCluster

TOPIC = "stalled"
BROKERS = 4
STOPPED = 3
LIMITS = {"longest_gap_s": 1.0}
SEGMENT_BYTES = 8 << 20
"""Small, so that a broker that is back is soon a backup again."""
BACK_S = 60.0


class Load(threading.Thread):
    """Produces to some partitions of one leader, and notes the longest gap between acks of each."""

    def __init__(self, port: int, partitions: list[int], batch: bytes, pause_s: float) -> None:
        super().__init__(daemon=True)
        self._client = RawClient(port)
        self._partitions = partitions
        self._batch = batch
        self._pause_s = pause_s
        self._ended = False
        self._lock = threading.Lock()
        self._heard: dict[int, float] = {}
        self._gaps: dict[int, float] = {}
        self.acked = 0
        self.errors: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        """Measure from now on."""
        with self._lock:
            self._heard = dict.fromkeys(self._partitions, time.monotonic())
            self._gaps = dict.fromkeys(self._partitions, 0.0)

    def gaps(self) -> dict[int, float]:
        """Partition -> seconds, a gap that lasts included."""
        with self._lock:
            now = time.monotonic()
            return {one: max(gap, now - self._heard[one]) for one, gap in self._gaps.items()}

    def run(self) -> None:
        while not self._ended:
            self._client.send_produce(TOPIC, [(partition, self._batch) for partition in self._partitions])
            codes = self._client.receive_produce(TOPIC)
            with self._lock:
                now = time.monotonic()
                for partition, code in zip(self._partitions, codes, strict=True):
                    if code == NONE:
                        self._gaps[partition] = max(self._gaps[partition], now - self._heard[partition])
                        self._heard[partition] = now
                        self.acked += 1
                    else:
                        self.errors[code] = self.errors.get(code, 0) + 1
            time.sleep(self._pause_s)

    def end(self) -> None:
        self._ended = True
        self.join()
        self._client.close()


def longest(loads: list[Load]) -> float:
    return max(gap for load in loads for gap in load.gaps().values())


def totals(loads: list[Load]) -> tuple[int, int]:
    """Batches acknowledged and refused so far."""
    return sum(load.acked for load in loads), sum(sum(load.errors.values()) for load in loads)


def backup_of(cluster: LocalCluster) -> int:
    """How many virtual logs have the broker to stop among the backups of their open segment."""
    count = 0
    for node in cluster.nodes:
        count += sum(STOPPED in row["backups"] for row in node.page("/vlogs") if row["copies"] > 1)
    return count


def wait_back(cluster: LocalCluster) -> None:
    """Until the stopped broker, which was fenced, is a member and a backup again."""
    deadline = time.monotonic() + BACK_S
    while time.monotonic() < deadline:
        client = RawClient(cluster.node(1).port)
        known = client.broker_ids()
        client.close()
        if STOPPED in known and backup_of(cluster):
            return
        time.sleep(0.05)
    raise RuntimeError("the stopped broker does not come back")


def measure(
    work: Path,
    rounds: int,
    seconds: float,
    partitions: int,
    batch_bytes: int,
    note: Callable[[int, dict[str, float]], None],
) -> None:
    """``note`` gets each round's number and figures; see the module's text."""
    settings = {"kproto.virtual.segment.bytes": str(SEGMENT_BYTES)}
    cluster = LocalCluster.create(str(work / "stall"), BROKERS, 0, settings)
    others = [node.node for node in cluster.nodes if node.node != STOPPED]
    try:
        cluster.start()
        assignment = [
            [others[n % 3], STOPPED if n % 2 else others[(n + 1) % 3], others[(n + 2) % 3]]
            for n in range(partitions)
        ]
        create(cluster.bootstrap_servers, TOPIC, partitions, assignment=assignment)
        batch = one_record_batch(b"x" * batch_bytes)
        write(cluster.bootstrap_servers, TOPIC, batch)
        led = by_leader(leaders(cluster.bootstrap_servers, TOPIC))
        loads = [Load(port, mine, batch, 0.002) for port, mine in led.items()]
        for load in loads:
            load.start()
        time.sleep(2)
        for number in range(rounds):
            acked, refused = totals(loads)
            for load in loads:
                load.begin()
            time.sleep(seconds * 2)
            quiet = longest(loads)
            wait_back(cluster)
            backups = backup_of(cluster)
            for load in loads:
                load.begin()
            cluster.pause(STOPPED)
            time.sleep(seconds)
            cluster.resume(STOPPED)
            time.sleep(seconds)
            figures = {
                "longest_gap_s": longest(loads),
                "longest_gap_quiet_s": quiet,
                "backup_of_vlogs": backups,
                "acked_batches": totals(loads)[0] - acked,
                "refused_batches": totals(loads)[1] - refused,
            }
            note(number, figures)
        for load in loads:
            load.end()
    finally:
        for node in cluster.nodes:
            if cluster.state(node) != "dead":
                cluster.kill(node.node)
        shutil.rmtree(cluster.directory, ignore_errors=True)


@click.command()
@options.quick_option
@click.option("--rounds", type=click.IntRange(1), help="5, or 1 with --quick.")
@click.option(
    "--seconds",
    type=options.ABOVE_ZERO,
    default=5.0,
    show_default=True,
    help="How long the broker is stopped.",
)
@click.option("--partitions", type=click.IntRange(1), default=32, show_default=True)
@click.option("--batch-bytes", type=click.IntRange(1), default=1000, show_default=True)
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    rounds: int | None,
    seconds: float,
    partitions: int,
    batch_bytes: int,
    data_dir: Path | None,
    out: Path,
) -> None:
    """How long a stopped backup stops acks."""
    case, about = f"stopped for {seconds:g} s", {"partitions": partitions, "batch_bytes": batch_bytes}
    result = Result(
        "stall", "stall", "A backup is stopped under load", options.command_line("stall"), environment()
    )
    result.limits[case] = dict(LIMITS)
    screen = options.console()

    def note(number: int, figures: dict[str, float]) -> None:
        result.runs.append(Run(KPROTO, case, number, about, figures))
        result.save(out)
        screen.print(f"round {number}: longest gap {figures['longest_gap_s']:.2f} s", highlight=False)

    with options.workspace(data_dir) as work:
        measure(work, rounds or (1 if quick else 5), seconds, partitions, batch_bytes, note)
    options.show(result, out, screen)
    options.finish(result)
