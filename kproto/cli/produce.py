"""``kproto produce``: lines of standard input become records of a topic."""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import click

from kproto.cli.cluster import NO_LEADER, Cluster, bootstrap_option, require, require_leaders
from kproto.wire.compression import NAMES
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Record, build_batch

if TYPE_CHECKING:
    from io import BufferedIOBase

PRODUCE: Final = 0
LINES_PER_BATCH: Final = 500
READ_BYTES: Final = 1 << 16
TIMEOUT_MS: Final = 30_000


@click.command()
@click.argument("topic")
@click.option("--key-separator", metavar="TEXT", help="Text before it is the key of the line.")
@click.option("--partition", type=int, help="Default: by key, else in turn among those with a leader.")
@click.option("--compression", type=click.Choice([*NAMES]), default="none", show_default=True, help="Codec.")
@bootstrap_option
def produce(
    topic: str, key_separator: str | None, partition: int | None, compression: str, bootstrap: str
) -> None:
    """Write each line of standard input to TOPIC as one record, with acks=all."""
    from kproto.cli.output import progress

    if key_separator == "":
        raise click.UsageError("--key-separator: an empty text separates nothing")
    written = 0
    with Cluster(bootstrap) as cluster, progress("producing", None) as advance:
        found = cluster.topic(topic, create=True)
        leaders = {p.partition_index: p.leader_id for p in found.partitions}
        if partition is not None and partition not in leaders:
            raise click.ClickException(f"{topic} has no partition {partition}")
        writer = _Writer(cluster, found, leaders, NAMES[compression])
        for turn, lines in enumerate(_batches(cast("BufferedIOBase", sys.stdin.buffer))):
            records = [_record(line, key_separator) for line in lines]
            for index, chosen in _by_partition(records, partition, leaders, turn).items():
                writer.write(index, chosen)
                written += len(chosen)
                advance(len(chosen))
    click.echo(f"{written} {'record' if written == 1 else 'records'} written to {topic}", err=True)


class _Writer:
    """Sends one batch at a time to the leader of its partition and waits for the ack."""

    def __init__(self, cluster: Cluster, topic: Any, leaders: dict[int, int], codec: int) -> None:
        self._cluster = cluster
        self._topic = topic
        self._leaders = leaders
        self._codec = codec

    def write(self, index: int, records: list[Record]) -> None:
        batch = memoryview(build_batch(records, codec=self._codec))
        data = TopicProduceData(
            name=self._topic.name,
            topic_id=self._topic.topic_id,
            partition_data=[PartitionProduceData(index=index, records=batch)],
        )
        request = ProduceRequest(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=[data])
        leader = self._leaders[index]
        if leader == NO_LEADER:
            require_leaders([(self._topic.name, index)])
        answer = self._cluster.node(leader).call(PRODUCE, request)
        found = answer.responses[0].partition_responses[0]
        require(found.error_code, f"{self._topic.name}-{index}", found.error_message)


def _batches(stream: BufferedIOBase) -> Iterator[list[bytes]]:
    """Lines as they come: what a terminal or a pipe has is sent at once, a file's lines by the hundred."""
    rest = b""
    while data := stream.read1(READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for first in range(0, len(lines), LINES_PER_BATCH):
            yield [line.rstrip(b"\r") for line in lines[first : first + LINES_PER_BATCH]]
    if rest:
        yield [rest.rstrip(b"\r")]


def _record(line: bytes, separator: str | None) -> Record:
    now_ms = time.time_ns() // 1_000_000
    if separator is None:
        return Record(timestamp=now_ms, key=None, value=line)
    key, found, value = line.partition(separator.encode())
    return Record(timestamp=now_ms, key=key if found else None, value=value if found else line)


def _by_partition(
    records: list[Record], fixed: int | None, leaders: dict[int, int], turn: int
) -> dict[int, list[Record]]:
    """Records per partition: ``fixed``, else by the key's CRC-32 as
    librdkafka does, else all to the one whose turn it is among those that have a leader."""
    chosen: dict[int, list[Record]] = {}
    led = [index for index in sorted(leaders) if leaders[index] != NO_LEADER] or sorted(leaders)
    for record in records:
        if fixed is not None:
            index = fixed
        elif record.key is not None:
            index = zlib.crc32(record.key) % len(leaders)
        else:
            index = led[turn % len(led)]
        chosen.setdefault(index, []).append(record)
    return chosen
