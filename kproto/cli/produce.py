"""``kproto produce``: lines of standard input become records of a topic."""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import click

from kproto.cli.cluster import NO_LEADER, Cluster, bootstrap_option, require
from kproto.cli.patience import Passing, Patience
from kproto.errors import ErrorCode
from kproto.log.producers import MAX_SEQUENCE
from kproto.wire.compression import NAMES
from kproto.wire.generated.init_producer_id import InitProducerIdRequest
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import NO_PRODUCER, Producer, Record, build_batch

if TYPE_CHECKING:
    from io import BufferedIOBase

PRODUCE: Final = 0
INIT_PRODUCER_ID: Final = 22
TOO_LARGE: Final = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)
LINES_PER_BATCH: Final = 500
READ_BYTES: Final = 1 << 16
LINE_BYTES: Final = 100 * 1024 * 1024 - 2 * READ_BYTES
"""Of one line, which shares a request with the lines that were read with it: as much as there may be in one,
unless ``socket.request.max.bytes`` says otherwise."""
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
    """Write each line of standard input to TOPIC as one record, with acks=all.

    While a partition has no leader, or a broker that answered at the start does not, it is tried again for
    30 s; no line is stored twice by that.
    """
    from kproto.cli.output import progress

    if key_separator == "":
        raise click.UsageError("--key-separator: an empty text separates nothing")
    written = 0
    with Cluster(bootstrap) as cluster, progress("producing", None) as advance:
        found = cluster.topic(topic, create=True)
        writer = _Writer(cluster, found, NAMES[compression])
        if partition is not None and partition not in writer.leaders:
            raise click.ClickException(f"{topic} has no partition {partition}")
        try:
            for turn, lines in enumerate(_batches(cast("BufferedIOBase", sys.stdin.buffer))):
                records = [_record(line, key_separator) for line in lines]
                for index, chosen in _by_partition(records, partition, writer.leaders, turn).items():
                    writer.write(index, chosen)
                    written += len(chosen)
                    advance(len(chosen))
        except (click.ClickException, KeyboardInterrupt) as error:
            problem = error.message if isinstance(error, click.ClickException) else "stopped"
            if not written:
                raise
            raise click.ClickException(f"{problem}; {written} written before that") from None
    click.echo(f"{written} {'record' if written == 1 else 'records'} written to {topic}", err=True)


class _Writer:
    """Sends one batch at a time to the leader of its partition and waits for the ack. It is an idempotent
    producer: a batch is sent again until somebody says what became of it."""

    def __init__(self, cluster: Cluster, topic: Any, codec: int) -> None:
        self._cluster = cluster
        self._codec = codec
        self._producer_id = NO_PRODUCER.id
        self._sequences: defaultdict[int, int] = defaultdict(int)
        self._outdated = False
        self._see(topic)

    def _see(self, topic: Any) -> None:
        self._topic = topic
        self.leaders = {part.partition_index: part.leader_id for part in topic.partitions}
        """Node id by partition, or `NO_LEADER`."""

    def write(self, index: int, records: list[Record]) -> None:
        """In one batch, or in more when that is too large. Raises ClickException."""
        waiting = [records]
        while waiting:
            some = waiting.pop()
            answer = self._answer(index, some)
            if answer.error_code in TOO_LARGE and len(some) > 1:
                waiting += (some[len(some) // 2 :], some[: len(some) // 2])
                continue
            require(answer.error_code, f"{self._topic.name}-{index}", answer.error_message)
            self._sequences[index] = (self._sequences[index] + len(some)) & MAX_SEQUENCE

    def _answer(self, index: int, records: list[Record]) -> Any:
        """What the leader says of a batch: that it is stored, or too large. Raises ClickException."""
        patience = Patience()
        while True:
            try:
                if self._outdated:
                    self._see(self._cluster.topic_again(self._topic.name))
                    self._outdated = False
                return self._ask(index, records)
            except Passing as problem:
                self._outdated = True
                patience.wait(problem)

    def _ask(self, index: int, records: list[Record]) -> Any:
        if self._producer_id == NO_PRODUCER.id:
            self._producer_id = self._new_producer_id()
        leader = self.leaders.get(index, NO_LEADER)
        if leader == NO_LEADER:
            raise Passing(f"no leader: {self._topic.name}-{index}")
        producer = Producer(self._producer_id, 0, self._sequences[index])
        batch = memoryview(build_batch(records, codec=self._codec, producer=producer))
        data = TopicProduceData(
            name=self._topic.name,
            topic_id=self._topic.topic_id,
            partition_data=[PartitionProduceData(index=index, records=batch)],
        )
        request = ProduceRequest(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=[data])
        answer = self._cluster.node(leader).call(PRODUCE, request).responses[0].partition_responses[0]
        if answer.error_code not in TOO_LARGE:
            require(answer.error_code, f"{self._topic.name}-{index}", answer.error_message, passing=True)
        return answer

    def _new_producer_id(self) -> int:
        answer = self._cluster.any.call(INIT_PRODUCER_ID, InitProducerIdRequest(transactional_id=None))
        require(answer.error_code, "a producer id", passing=True)
        return int(answer.producer_id)


def _batches(stream: BufferedIOBase) -> Iterator[list[bytes]]:
    """Lines as they come: what a terminal or a pipe has is sent at once, a file's lines by the hundred.
    Raises ClickException for one that is too long."""
    number = 1
    begun: list[bytes] = []
    size = 0
    while data := stream.read1(READ_BYTES):
        end, *lines = data.split(b"\n")
        begun.append(end)
        size += len(end)
        if size > LINE_BYTES:
            raise click.ClickException(f"line {number} has more than {LINE_BYTES} bytes")
        if not lines:
            continue
        *lines, rest = b"".join(begun), *lines
        number += len(lines)
        begun, size = [rest], len(rest)
        for first in range(0, len(lines), LINES_PER_BATCH):
            yield [line.rstrip(b"\r") for line in lines[first : first + LINES_PER_BATCH]]
    if size:
        yield [b"".join(begun).rstrip(b"\r")]


def _record(line: bytes, separator: str | None) -> Record:
    now_ms = time.time_ns() // 1_000_000
    if separator is None:
        return Record(timestamp=now_ms, key=None, value=line)
    key, found, value = line.partition(os.fsencode(separator))  # bytes that are no UTF-8, too
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
