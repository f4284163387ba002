"""`kproto bench recovery`: a broker that leads 1 GB is lost, and 2, 3, 5 or 7 others recover it.

Everything is written to partitions that one broker leads, with three copies; then it gets SIGKILL. From the
kill on:

    first ack    until a new leader has acked a record: of the first and of the last partition
    brought      until the new leaders have all old data in files of their own
    whole        until no virtual segment lacks a copy (with two brokers left there is no third one)

All backups together read every byte twice for that, once for a new leader and once for a new copy; MB/s
counts what they read, from the first read to the last. Runs with `--limit` show how that grows with the
number of backups when each reads so much per second at most (``kproto.recovery.read.bytes.per.second``);
runs without a limit show the CPU time of all brokers left, from the kill until all is over. Missing copies
are made after `--repair-delay` ms, not after the default of 10 s. For many partitions: `--partitions 5000
--gb 0`.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import click

from bench import options
from bench.brokers import together, usage
from bench.environment import environment
from bench.rawclient import NONE, RawClient, one_record_batch
from bench.results import KPROTO, Result, Run
from bench.spread import by_leader, create, write
from kproto.local_cluster import LocalCluster

TOPIC = "lost"
VICTIM = 2
REPLICAS = 3
GIVE_UP_S = 300.0
AT_ONCE = 100
LOOK_S = 0.1
NOTICED_S = 5.0
ASK_S = 0.02
"""Between two Metadata requests of the client that waits for new leaders."""

SHOWN = [
    "first_ack_s",
    "last_first_ack_s",
    "brought_s",
    "whole_s",
    "commit_s",
    "read_mb_per_s",
    "brought_mb_per_s",
    "cpu_s_per_gb",
]


def first_acks(ports: Sequence[int], topic: str, partitions: int, began: float) -> dict[int, float]:
    """Partition -> seconds since ``began`` until a record was acked; asks like any client, patiently."""
    acked: dict[int, float] = {}
    batch = one_record_batch(b"after")
    clients = {port: RawClient(port, GIVE_UP_S) for port in ports}
    try:
        while len(acked) < partitions:
            asked = time.monotonic()
            led = clients[ports[0]].leader_ports(topic)
            waiting = {
                partition: port
                for partition, port in led.items()
                if partition not in acked and port in clients
            }
            threads = [
                threading.Thread(target=_produce, args=(clients[port], topic, mine, batch, acked, began))
                for port, mine in by_leader(waiting).items()
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            took = time.monotonic() - asked
            if time.monotonic() - began > GIVE_UP_S:
                raise RuntimeError(f"{partitions - len(acked)} partitions take no records")
            time.sleep(max(ASK_S, took) if len(acked) < partitions else 0)
    finally:
        for client in clients.values():
            client.close()
    return acked


def _produce(
    client: RawClient,
    topic: str,
    partitions: Sequence[int],
    batch: bytes,
    acked: dict[int, float],
    began: float,
) -> None:
    """One try for each."""
    for first in range(0, len(partitions), AT_ONCE):
        some = partitions[first : first + AT_ONCE]
        client.send_produce(topic, [(partition, batch) for partition in some])
        codes = client.receive_produce(topic)
        now = time.monotonic() - began
        acked.update({one: now for one, code in zip(some, codes, strict=True) if code == NONE})


def assignment(nodes: int, partitions: int) -> list[list[int]]:
    """Nodes of each partition: all are led by the victim."""
    others = [node for node in range(1, nodes + 1) if node != VICTIM]
    return [
        [VICTIM, others[number % len(others)], others[(number + 1) % len(others)]]
        for number in range(partitions)
    ]


def follow(cluster: LocalCluster, began: float, whole: bool, after_s: float) -> list[dict[str, float]]:
    """Look until all old data is brought over and, with ``whole``, no copy is missing: what was seen. Copies
    are known to be missing ``after_s`` seconds after the loss."""
    seen: list[dict[str, float]] = []
    left = [node for node in cluster.nodes if node.node != VICTIM]
    lacked = False
    while True:
        here = [node.page("/recovery/here") for node in left]
        found = left[0].page("/recovery")
        repairs = found["repairs"]
        lacked |= repairs["short"] > 0 or time.monotonic() - began > after_s
        short = repairs["short"] + repairs["running"] if lacked or not whole else 1
        row = {
            "s": time.monotonic() - began,
            "brought_bytes": sum(one["bring_over"]["bytes"] for one in here),
            "lacking": sum(one["bring_over"]["partitions"] for one in here),
            "copied_bytes": sum(one["copied_bytes"] for one in here),
            "read_bytes": sum(one["read_bytes"] for one in here),
            "short": short,
        }
        seen.append(row)
        if not row["lacking"] and not (whole and short):
            return seen
        if row["s"] > GIVE_UP_S:
            raise RuntimeError(f"the recovery does not end: {row}")
        time.sleep(LOOK_S)


def rate(seen: Sequence[Mapping[str, float]], name: str) -> float:
    """MB/s between the first and the last change of a figure."""
    first, last = seen[0][name], seen[-1][name]
    begin = max((row["s"] for row in seen if row[name] == first), default=0.0)
    end = min(row["s"] for row in seen if row[name] == last)
    return (last - first) / 1e6 / (end - begin) if end > begin else 0.0


def when(seen: Sequence[Mapping[str, float]], done: Callable[[Mapping[str, float]], bool]) -> float:
    """When it was done for good."""
    at = seen[-1]["s"]
    for row in reversed(seen):
        if not done(row):
            break
        at = row["s"]
    return at


def measure(
    work: Path,
    left: int,
    gb: float,
    partitions: int,
    batch_bytes: int,
    limit: int,
    repair_delay_ms: int,
    spread: bool,
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """One broker of ``left + 1`` is lost; see the module's text. The figures, and what was seen meanwhile."""
    settings = {
        "kproto.recovery.read.bytes.per.second": str(limit),
        "kproto.repair.delay.ms": str(repair_delay_ms),
    }
    cluster = LocalCluster.create(str(work / f"{left}-left"), left + 1, 0, settings)
    try:
        cluster.start()
        bootstrap = f"127.0.0.1:{cluster.nodes[0].port}"
        nodes = None if spread else assignment(left + 1, partitions)
        create(bootstrap, TOPIC, partitions, assignment=nodes)
        batch = one_record_batch(b"x" * batch_bytes)
        rounds = round(gb * 1e9 / (len(batch) * partitions))
        begin = time.monotonic()
        write(bootstrap, TOPIC, batch, rounds=max(rounds, 1), at_once=max(2_000_000 // len(batch), 1))
        filled = time.monotonic() - begin
        survivors = [node for node in cluster.nodes if node.node != VICTIM]
        before = together(usage(node.pid) for node in survivors)
        began = time.monotonic()
        cluster.kill(VICTIM)
        acks = first_acks([node.port for node in survivors], TOPIC, partitions, began)
        at_acks = together(usage(node.pid) for node in survivors)
        seen = follow(cluster, began, left >= REPLICAS, repair_delay_ms / 1000 + NOTICED_S)
        after = together(usage(node.pid) for node in survivors)
        commit = survivors[0].page("/recovery")["recoveries"][-1]
        client = RawClient(survivors[0].port)
        led = client.leader_ports(TOPIC)
        client.close()
        _check_ends(led, partitions, max(rounds, 1) + 1)
    except Exception as error:
        said = "\n".join(Path(cluster.log_path(node.node)).read_text()[-2000:] for node in cluster.nodes)
        raise RuntimeError(f"{error}; the brokers said:\n{said}") from error
    finally:
        for node in cluster.nodes:
            if cluster.state(node) != "dead":
                cluster.kill(node.node)
        shutil.rmtree(cluster.directory, ignore_errors=True)
    times = sorted(acks.values())
    stored = max(rounds, 1) * len(batch) * partitions
    found = {
        "lost_gb": stored / 1e9,
        "fill_s": filled,
        "first_ack_s": times[0],
        "median_first_ack_s": median(times),
        "last_first_ack_s": times[-1],
        "brought_s": when(seen, lambda row: not row["lacking"]),
        "read_mb_per_s": rate(seen, "read_bytes"),
        "brought_mb_per_s": rate(seen, "brought_bytes"),
        "copied_mb_per_s": rate(seen, "copied_bytes"),
        "cpu_s_to_last_ack": at_acks.cpu_s - before.cpu_s,
        "cpu_s_per_gb": (after.cpu_s - before.cpu_s) / (stored / 1e9),
        "leaders": len(by_leader(led)),
        "commit_s": commit["committed_s"],
    }
    if left >= REPLICAS:
        found["whole_s"] = when(seen, lambda row: not row["short"])
    return found, seen


def _check_ends(led: Mapping[int, int], partitions: int, end: int) -> None:
    """Every partition ends where it must: all that was acked, and one record afterwards. Records that were
    acked after a lost answer may be there twice."""
    for port, mine in by_leader(led).items():
        client = RawClient(port)
        ends = client.end_offsets(TOPIC, partitions)
        client.close()
        wrong = {partition: ends[partition] for partition in mine if ends[partition] != (NONE, end)}
        if wrong:
            raise RuntimeError(f"ends that are not {end}: {wrong}")


@click.command()
@options.quick_option
@click.option(
    "--left",
    callback=options.listed(int),
    help="Brokers left, numbers with commas: 2,3,5,7, or 2,3 with --quick.",
)
@click.option(
    "--gb",
    "sizes",
    callback=options.listed(float),
    help="GB that are lost, numbers with commas: 1, or 0.1 with --quick.",
)
@click.option("--partitions", type=click.IntRange(1), default=32, show_default=True)
@click.option("--batch-bytes", type=click.IntRange(1), default=16_000, show_default=True)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=50_000_000,
    show_default=True,
    help="Bytes/s that a backup reads; 0: no.",
)
@click.option("--no-free", is_flag=True, help="Leave out the runs without a limit.")
@click.option("--repair-delay", default=1000, show_default=True, help="kproto.repair.delay.ms.")
@click.option("--spread", is_flag=True, help="Let all brokers lead, so that all have something to do.")
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    left: str | None,
    sizes: str | None,
    partitions: int,
    batch_bytes: int,
    limit: int,
    no_free: bool,
    repair_delay: int,
    spread: bool,
    data_dir: Path | None,
    out: Path,
) -> None:
    """How fast what a lost broker led is back."""
    left, sizes = left or ("2,3" if quick else "2,3,5,7"), sizes or ("0.1" if quick else "1")
    screen = options.console()
    result = Result(
        "recovery",
        "recovery",
        "A lost broker's data comes back",
        options.command_line("recovery"),
        environment(),
        x="brokers_left",
        shown=SHOWN,
        notes=["Apache Kafka's replicas copy nothing until an operator moves them: nothing to compare."],
    )
    with options.workspace(data_dir) as work:
        for gb in map(float, sizes.split(",")):
            for most in dict.fromkeys((limit,) if no_free else (limit, 0)):
                for number in map(int, left.split(",")):
                    screen.print(f"{gb:g} GB, {number} brokers left, limit {most:,} B/s", highlight=False)
                    about = {"brokers_left": number, "gb": gb, "limit": most, "partitions": partitions}
                    about |= {"batch_bytes": batch_bytes, "repair_delay_ms": repair_delay}
                    limited = f"{most / 1e6:g} MB/s each" if most else "no limit"
                    case = f"{number} left, {gb:g} GB"
                    with options.noted(f"{case}, {limited},", result.notes, screen):
                        figures, seen = measure(
                            work, number, gb, partitions, batch_bytes, most, repair_delay, spread
                        )
                        run = Run(f"{KPROTO}, {limited}", case, 0, about, figures, series(seen))
                        result.runs.append(run)
                    result.save(out)
    options.show(result, out, screen)
    options.finish(result)


def series(seen: Sequence[Mapping[str, float]]) -> dict[str, list[list[float]]]:
    """What was seen over time, seconds since the loss, in MB."""
    names = {"brought_bytes": "brought_mb", "copied_bytes": "copied_mb"}
    return {named: [[row["s"], row[name] / 1e6] for row in seen] for name, named in names.items()}
