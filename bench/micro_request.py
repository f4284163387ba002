"""`python -m bench.micro_request`: what one produced chunk costs a running broker, to the microsecond.

A client in this process sends a window of Produce requests at once, waits for the answers, lets an
incremental fetch that was waiting bring the records back, and goes on. The broker's CPU time is read from the
scheduler's nanosecond counter after every round. The least of many rounds is what the code costs; the median
tells how noisy the machine is. Page faults show memory that is not used again; the first 64 MB of a broker
are such in any case. Nothing here says how fast a client would be: that is `single_broker`.

The second table is a consumer that reads back what has long been in files.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click
import crc32c
from rich.console import Console
from rich.table import Table

from bench import options
from bench.brokers import Kproto
from bench.rawclient import RawClient, varint
from kproto.wire.framing import parse_response_frame, request_frame
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from kproto.wire.generated.init_producer_id import InitProducerIdRequest
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData

PRODUCE, FETCH, METADATA, INIT_PRODUCER_ID = 0, 1, 3, 22
VERSIONS = {PRODUCE: 13, FETCH: 18, METADATA: 12, INIT_PRODUCER_ID: 4}
BATCH_HEAD = struct.Struct(">hiqqqhii")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request holds, and how many are under way at once."""

    name: str
    chunk_bytes: int
    partitions: int = 1
    window: int = 5
    fetch: bool = True


SHAPES = (
    Shape("1 KB, 1 request", 1024, window=1),
    Shape("1 KB, 1 request, no consumer", 1024, window=1, fetch=False),
    Shape("1 KB, 5 requests", 1024),
    Shape("1 KB, 5 requests, no consumer", 1024, fetch=False),
    Shape("16 KB, 5 requests", 16 * 1024),
    Shape("16 KB, 5 requests, no consumer", 16 * 1024, fetch=False),
    Shape("64 KB, 5 requests", 64 * 1024),
    Shape("1 MB, 2 requests", 1024 * 1024 - 4096, window=2),
    Shape("64 x 1 KB, 2 requests", 1024, partitions=64, window=2),
    Shape("64 x 16 KB, 2 requests", 16 * 1024, partitions=64, window=2),
    Shape("64 x 64 KB, 1 request", 64 * 1024, partitions=64, window=1),
)
OLD = (
    Shape("old, 1 KB, 64 partitions", 1024, partitions=64, window=4, fetch=False),
    Shape("old, 64 KB, 16 partitions", 64 * 1024, partitions=16, window=1, fetch=False),
    Shape("old, 1 MB, 16 partitions", 1024 * 1024 - 4096, partitions=16, window=1, fetch=False),
)
FLUSHED_AFTER_S = 6.0
"""By then everything is in segment files."""


def cpu_ns(pid: int) -> int:
    """CPU time of all threads of a process, nanoseconds."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def page_faults(pid: int) -> int:
    """Pages that a process got from the system so far."""
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[7])


class Connection:
    """One connection that speaks through kproto's own codecs."""

    def __init__(self, port: int) -> None:
        self.raw = RawClient(port)

    def send(self, *messages: tuple[int, Any]) -> None:
        self.raw.sock.sendall(
            b"".join(request_frame(key, VERSIONS[key], message, 1) for key, message in messages)
        )

    def receive(self, key: int) -> Any:
        return parse_response_frame(key, VERSIONS[key], memoryview(b"\0\0\0\1" + self.raw.receive()))[1]

    def ask(self, key: int, message: Any) -> Any:
        self.send((key, message))
        return self.receive(key)


class Driver:
    """A topic, an idempotent producer and a consumer of it."""

    def __init__(self, port: int, topic: str, shape: Shape) -> None:
        self.shape, self.port = shape, port
        self.producer, self.consumer = Connection(port), Connection(port)
        if code := self.producer.raw.create_topic(topic, shape.partitions):
            raise RuntimeError(f"creating the topic: error {code}")
        wanted = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        self.topic_id = self.producer.ask(METADATA, wanted).topics[0].topic_id
        granted = self.producer.ask(INIT_PRODUCER_ID, InitProducerIdRequest(transaction_timeout_ms=1))
        self.producer_id, self.epoch = granted.producer_id, granted.producer_epoch
        self.value = b"z" * (shape.chunk_bytes - 96)
        self.sequence = 0
        self.fetched = [0] * shape.partitions
        self.session, self.session_epoch = 0, 0
        if shape.fetch:
            self.fetch(range(shape.partitions))

    def chunk(self) -> bytes:
        """The next batch of one record, in the producer's sequence."""
        body = b"\0\0\0" + varint(-1) + varint(len(self.value)) + self.value + b"\0"
        now = int(time.time() * 1000)
        head = BATCH_HEAD.pack(0, 0, now, now, self.producer_id, self.epoch, self.sequence, 1)
        checked = head + varint(len(body)) + body
        crc = struct.pack(">ibI", -1, 2, crc32c.crc32c(checked))
        return struct.pack(">qi", 0, len(crc) + len(checked)) + crc + checked

    def requests(self) -> list[tuple[int, Any]]:
        """One window of Produce requests."""
        found = []
        for _ in range(self.shape.window):
            records = memoryview(self.chunk())
            rows = [PartitionProduceData(index=p, records=records) for p in range(self.shape.partitions)]
            topic = TopicProduceData(topic_id=self.topic_id, partition_data=rows)
            found.append((PRODUCE, ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])))
            self.sequence += 1
        return found

    def fetch(self, changed: Any) -> None:
        """Send a fetch from where each changed partition was read to."""
        rows = [
            FetchPartition(partition=p, fetch_offset=self.fetched[p], partition_max_bytes=1 << 20)
            for p in changed
        ]
        request = FetchRequest(
            max_wait_ms=5_000,
            min_bytes=1,
            max_bytes=50 << 20,
            session_id=self.session,
            session_epoch=self.session_epoch,
            topics=[FetchTopic(topic_id=self.topic_id, partitions=rows)] if rows else [],
        )
        self.session_epoch += 1
        self.consumer.send((FETCH, request))

    def start_over(self) -> None:
        """Be another consumer, which has read nothing."""
        self.consumer.raw.close()
        self.consumer = Connection(self.port)
        self.session, self.session_epoch = 0, 0
        self.fetched = [0] * self.shape.partitions

    def close(self) -> None:
        self.producer.raw.close()
        self.consumer.raw.close()

    def fetched_again(self) -> None:
        """Take the answer of the fetch under way and send the next."""
        answer = self.consumer.receive(FETCH)
        if answer.error_code:
            raise RuntimeError(f"fetch: error {answer.error_code}")
        self.session = answer.session_id
        changed = []
        for topic in answer.responses:
            for row in topic.partitions:
                records = row.records
                if row.error_code or not records:
                    continue
                changed.append(row.partition_index)
                pos = 0
                while pos + 61 <= len(records):
                    base, length = struct.unpack_from(">qi", records, pos)
                    if pos + 12 + length > len(records):
                        break
                    self.fetched[row.partition_index] = base + 1
                    pos += 12 + length
        self.fetch(changed)

    def window(self) -> int:
        """Send, wait for all answers, read everything back; the number of chunks."""
        self.producer.send(*self.requests())
        for _ in range(self.shape.window):
            for topic in self.producer.receive(PRODUCE).responses:
                if any(row.error_code for row in topic.partition_responses):
                    raise RuntimeError(f"produce: errors in {topic}")
        while self.shape.fetch and min(self.fetched) < self.sequence:
            self.fetched_again()
        return self.shape.window * self.shape.partitions


def measure(broker: Kproto, shape: Shape, rounds: int, megabytes: float) -> tuple[list[float], float]:
    """Microseconds of broker CPU per chunk, one figure per round; page faults per GB."""
    driver = Driver(broker.port, f"micro-{time.monotonic_ns()}", shape)
    per_window = shape.window * shape.partitions
    windows = max(2, min(60, int(megabytes * 1e6 / (per_window * shape.chunk_bytes))))
    costs = []
    faults = 0
    for number in range(rounds + 3):
        if number == 3:
            faults = page_faults(broker.pid)
        before = cpu_ns(broker.pid)
        chunks = sum(driver.window() for _ in range(windows))
        costs.append((cpu_ns(broker.pid) - before) / 1e3 / chunks)
    gigabytes = rounds * windows * per_window * shape.chunk_bytes / 1e9
    driver.close()
    return costs[3:], (page_faults(broker.pid) - faults) / gigabytes


def catch_up(broker: Kproto, shape: Shape, rounds: int, megabytes: float) -> tuple[list[float], float]:
    """The same for reading everything from its begin, when most of it is in files only."""
    driver = Driver(broker.port, f"micro-{time.monotonic_ns()}", shape)
    per_window = shape.window * shape.partitions
    chunks = sum(driver.window() for _ in range(int(megabytes * 1e6 / (per_window * shape.chunk_bytes))))
    time.sleep(FLUSHED_AFTER_S)
    costs, faults = [], 0
    for number in range(rounds + 1):
        if number == 1:
            faults = page_faults(broker.pid)
        driver.start_over()
        before = cpu_ns(broker.pid)
        driver.fetch(range(shape.partitions))
        while min(driver.fetched) < driver.sequence:
            driver.fetched_again()
        costs.append((cpu_ns(broker.pid) - before) / 1e3 / chunks)
    driver.close()
    return costs[1:], (page_faults(broker.pid) - faults) / (rounds * chunks * shape.chunk_bytes / 1e9)


@click.command()
@click.option("--rounds", default=40, show_default=True)
@click.option("--case", "pattern", default="", help="Only shapes whose name contains this.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the broker keeps its data.")
def main(rounds: int, pattern: str, data_dir: Path | None) -> None:
    """Broker CPU per chunk."""
    work = options.new_directory("kproto-bench-", data_dir)
    broker = Kproto(work / "broker")
    tables = []
    try:
        broker.start()
        for title, shapes, measured, megabytes in (
            ("produced and fetched", SHAPES, measure, 12),
            ("fetched from files", OLD, catch_up, 200),
        ):
            table = Table("request", "least us/chunk", "median", "least s/GB", "page faults/GB", title=title)
            tables.append(table)
            for shape in shapes:
                if pattern in shape.name:
                    costs, faults = measured(broker, shape, rounds, megabytes)
                    least = min(costs)
                    per_gb = least / shape.chunk_bytes * 1e3
                    row = f"{least:.1f}", f"{median(costs):.1f}", f"{per_gb:.2f}", f"{faults:,.0f}"
                    table.add_row(shape.name, *row)
    finally:
        broker.stop()
        broker.remove()
        work.rmdir()
    for table in tables:
        if table.row_count:
            Console().print(table)


if __name__ == "__main__":
    main()
