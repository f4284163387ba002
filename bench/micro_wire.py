"""What the codecs cost: Produce for 1, 16 and 512 partitions, batch headers, import time.

    python -m bench.micro_wire [--json]

Figures are microseconds per call, the best of several rounds; imports are milliseconds of a fresh process.
"""

import json
import os
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from typing import Any

from kproto.wire.batch import HEADER, STAMP, crc_of
from kproto.wire.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kproto.wire.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kproto.wire.messages import codec
from kproto.wire.records import Record, build_batch, iter_records, iter_times

PARTITIONS = (1, 16, 512)
PRODUCE_VERSION = 12
METADATA_VERSION = 12
IMPORTS = "import kproto.wire.messages as m; [m.codec(key) for key in (0, 1, 3)]"


def best_us(function: Callable[[], object], seconds: float = 0.3) -> float:
    """Microseconds per call: the best of five rounds that together take about ``seconds``."""
    timer = timeit.Timer(function)
    once = max(timer.timeit(3) / 3, 1e-7)
    number = max(1, int(seconds / 5 / once))
    return min(timer.repeat(5, number)) / number * 1e6


def produce_request(partitions: int, chunk: memoryview) -> bytes:
    """A request body with one chunk for each partition of one topic."""
    parts = [PartitionProduceData(index=index, records=chunk) for index in range(partitions)]
    topic = TopicProduceData(name="a-topic", partition_data=parts)
    out = bytearray()
    codec(0).write_request(
        PRODUCE_VERSION, ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic]), out
    )
    return bytes(out)


def produce_response(partitions: int) -> bytearray:
    """Build and write an answer without errors, objects included."""
    parts = [
        PartitionProduceResponse(
            index=index, base_offset=123_456_789, log_append_time_ms=-1, log_start_offset=0
        )
        for index in range(partitions)
    ]
    out = bytearray()
    response = ProduceResponse(responses=[TopicProduceResponse(name="a-topic", partition_responses=parts)])
    codec(0).write_response(PRODUCE_VERSION, response, out)
    return out


def metadata_response(partitions: int) -> MetadataResponse:
    """One topic on four brokers."""
    parts = [
        MetadataResponsePartition(
            partition_index=index, leader_id=index % 4, replica_nodes=[0, 1, 2], isr_nodes=[0, 1, 2]
        )
        for index in range(partitions)
    ]
    brokers = [MetadataResponseBroker(node_id=node, host="127.0.0.1", port=9092 + node) for node in range(4)]
    return MetadataResponse(brokers=brokers, topics=[MetadataResponseTopic(name="a-topic", partitions=parts)])


def import_ms(statement: str) -> float:
    """Milliseconds a fresh interpreter takes for ``statement`` with its bytecode cached, the best of five."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-c", code]
        runs = [subprocess.run(command, check=True, capture_output=True, env=environment) for _ in range(6)]
    return min(float(run.stdout) for run in runs[1:]) * 1e3


def measure() -> dict[str, float]:
    """Name -> microseconds (milliseconds where the name says so)."""
    chunk = memoryview(bytes(build_batch([Record(b"k", b"v" * 900, 1)])))
    figures = {}
    for count in PARTITIONS:
        frame = memoryview(produce_request(count, chunk))
        figures[f"parse produce request, {count} partitions"] = best_us(
            lambda frame=frame: codec(0).parse_request(PRODUCE_VERSION, frame)  # type: ignore[misc]
        )
        figures[f"build and write produce response, {count} partitions"] = best_us(
            lambda count=count: produce_response(count)  # type: ignore[misc]
        )
    answer = metadata_response(64)
    figures["write metadata response, 64 partitions"] = best_us(
        lambda: codec(3).write_response(METADATA_VERSION, answer, bytearray())
    )
    target: Any = bytearray(chunk)
    figures["read a batch header"] = best_us(lambda: HEADER.unpack_from(target))
    figures["stamp a batch"] = best_us(lambda: STAMP.pack_into(target, 0, 5, len(target) - 12, 7))
    figures["CRC of a 1 KiB batch"] = best_us(lambda: crc_of(target))
    records = [Record(b"key", b"v" * 100, 1000 + index) for index in range(100)]
    many = bytes(build_batch(records))
    figures["build a batch of 100 records"] = best_us(lambda: build_batch(records))
    figures["parse 100 records"] = best_us(lambda: list(iter_records(many)))
    figures["times of 100 records"] = best_us(lambda: list(iter_times(many)))
    figures["import produce, fetch, metadata (ms)"] = import_ms(IMPORTS)
    return figures


def main() -> None:
    figures = measure()
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{value:10.2f}  {name}")


if __name__ == "__main__":
    main()
