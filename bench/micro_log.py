"""Micro benchmark of the log: microseconds per call, the CRC included, on one core.

    python -m bench.micro_log [--seconds 0.5]

Rows: appends of 1 KB and 16 KB chunks (with the reference handed to a virtual log that only counts, so
without journal), the same with an idempotent producer, adopted 1 MB chunks, a read at the tail, a read from
the page cache.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kproto.clock import SystemClock
from kproto.config import load
from kproto.directory import LeftAs
from kproto.disk import Disk
from kproto.log.manager import LogManager
from kproto.log.partition import Partition
from kproto.log.ports import LogPorts
from kproto.log.reader import FileRange, load_nowait
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.wire.crc import crc32c
from kproto.wire.records import Producer, Record, build_batch

TOPIC_ID = bytes(16)


class Counter:
    """A virtual log where everything is durable at once."""

    def __init__(self) -> None:
        self.end = self.durable = 0
        self.blocked = self.lost = self.retiring = False
        self.copies = self.live_copies = 1

    def places(self) -> list[tuple[int, int, int]]:
        return []

    def append(self, ref: tuple) -> None:  # type: ignore[type-arg]
        self.end += 1
        ref[0].on_durable(ref[4])

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:  # noqa: ARG002
        callback()

    when_written = when_durable


def open_partition(path: Path) -> tuple[LogManager, Partition]:
    topic = TopicRecord("bench", TOPIC_ID, 1, 1, 1, {}, False)
    image = MetadataImage(
        revision=1,
        topics={"bench": topic},
        topics_by_id={TOPIC_ID: topic},
        streamlets={TOPIC_ID: (StreamletRecord(TOPIC_ID, 0, 1, 0, (1,)),)},
    )
    counter = Counter()
    ports = LogPorts(lambda _: counter, lambda callback: callback(), print)
    manager = LogManager(str(path), Disk(), SystemClock(), load(None, {}), ports, LeftAs.NEW)
    manager.apply_image(image)
    partition = manager.partition(TOPIC_ID, 0)
    assert partition is not None
    return manager, partition


def measure(name: str, seconds: float, call: Callable[[], object], size: int) -> None:
    """Print the median of blocks of 100 calls, in us, and GB/s."""
    call()
    samples = []
    stop = time.perf_counter() + seconds
    begin_all = time.process_time()
    calls = 0
    while time.perf_counter() < stop:
        begin = time.perf_counter()
        for _ in range(100):
            call()
        samples.append((time.perf_counter() - begin) / 100)
        calls += 100
    mean = (time.process_time() - begin_all) / calls
    middle = sorted(samples)[len(samples) // 2]
    rate = f"{size / mean / 1e9:6.2f} GB/s"
    print(f"{name:34} median {middle * 1e6:8.2f} us   CPU mean {mean * 1e6:8.2f} us   {rate}")


def produce_rows(seconds: float) -> None:
    for size in (1000, 16_000, 64_000):
        with tempfile.TemporaryDirectory() as directory:
            _, partition = open_partition(Path(directory))
            chunk = memoryview(build_batch([Record(None, bytes(size), 1_700_000_000_000)]))
            measure(f"CRC-32C {size} B", seconds / 4, partial(crc32c, chunk[21:]), size)
            measure(f"append {size} B, flushes included", seconds, partial(partition.append, chunk), size)
    with tempfile.TemporaryDirectory() as directory:
        _, partition = open_partition(Path(directory))
        sequence = 0

        def idempotent() -> None:
            nonlocal sequence
            PRODUCER_BATCH[53:57] = sequence.to_bytes(4, "big")
            PRODUCER_BATCH[17:21] = crc32c(memoryview(PRODUCER_BATCH)[21:]).to_bytes(4, "big")
            partition.append(memoryview(PRODUCER_BATCH))
            sequence += 1

        measure("append 1000 B, idempotent (+1 CRC)", seconds, idempotent, 1000)
    with tempfile.TemporaryDirectory() as directory:
        _, partition = open_partition(Path(directory))
        frame = build_batch([Record(None, bytes(1_000_000), 1_700_000_000_000)])
        measure(
            "append 1 MB, owned (+1 copy)",
            seconds,
            lambda: partition.append(memoryview(bytearray(frame)), True),
            1_000_000,
        )


PRODUCER_BATCH = build_batch([Record(None, bytes(1000), 1_700_000_000_000)], producer=Producer(1, 0, 0))


def fetch_rows(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as directory:
        _, partition = open_partition(Path(directory))
        chunk = memoryview(build_batch([Record(None, bytes(1000), 1_700_000_000_000)]))
        for _ in range(200_000):
            partition.append(chunk)
        last = partition.log_end_offset - 4
        measure("read tail, 4 chunks of 1 KB", seconds, lambda: partition.read(last, 1 << 20), 4000)
        at = 0

        def from_file() -> None:
            nonlocal at
            read = partition.read(at, 262_144)
            ranges = [piece for piece in read.pieces if isinstance(piece, FileRange)]
            loaded = load_nowait(ranges)
            at = ranges[-1].until if ranges and loaded is not None else 0

        partition.manager.pool.budget = 0
        while partition.manager.pool.evict():
            pass
        for segment in partition.segments:
            segment.load_index()
        measure("read file, 256 KB", seconds, from_file, 262_144)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="per row")
    seconds = parser.parse_args().seconds
    produce_rows(seconds)
    fetch_rows(seconds)


if __name__ == "__main__":
    main()
