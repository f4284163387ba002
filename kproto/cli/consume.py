"""``kproto consume``: print the records of a topic as lines or JSON."""

from __future__ import annotations

import json
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import click

from kproto.cli.arguments import FiniteRange
from kproto.cli.cluster import NO_LEADER, Cluster, bootstrap_option, names_of, require, require_leaders
from kproto.cli.offsets import EARLIEST, LATEST, MILLISECONDS, look_up
from kproto.cli.patience import Passing, Patience
from kproto.wire import WireError
from kproto.wire.batch import iter_batches, read_header
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from kproto.wire.records import Record, iter_records

FETCH: Final = 1
MAX_WAIT_MS: Final = 500
MAX_BYTES: Final = 8 * 1024 * 1024
PARTITION_MAX_BYTES: Final = 1024 * 1024
UNPACKED_BYTES: Final = 1024 * 1024 * 1024
"""Of one batch. Clients have no limit, but what unpacks to more is a bomb rather than a batch."""


class _Found(NamedTuple):
    partition: int
    record: Record


@click.command()
@click.argument("topic")
@click.option("--from-beginning", is_flag=True, help="Default: only what comes from now on.")
@click.option(
    "--from-time", type=MILLISECONDS, metavar="MS", help="From the first record at or after this time."
)
@click.option("--partition", "only", type=int, help="Only this partition.")
@click.option("--max-records", type=click.IntRange(1), help="Stop after so many.")
@click.option(
    "--timeout",
    "timeout_s",
    type=FiniteRange(0),
    metavar="SECONDS",
    help="Stop when nothing came so long; 0 prints what is there.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object per record; what is no UTF-8 as base64.",
)
@bootstrap_option
def consume(
    topic: str,
    from_beginning: bool,
    from_time: int | None,
    only: int | None,
    max_records: int | None,
    timeout_s: float | None,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Print the records of TOPIC until interrupted; no group, nothing is committed.

    Partitions that have no leader at the start are left out, which is said on standard error. When one has
    none later, or a broker does not answer then, it is tried again for 30 s.
    """
    if from_beginning and from_time is not None:
        raise click.UsageError("--from-beginning and --from-time: give one of them")
    left = max_records if max_records is not None else -1
    with Cluster(bootstrap) as cluster:
        reader = _Reader(cluster, topic, only)
        reader.seek(EARLIEST if from_beginning else LATEST if from_time is None else from_time)
        if reader.asks_several:
            cluster.hurry()
        try:
            for found in reader.records(timeout_s):
                _print(found, as_json)
                left -= 1
                if left == 0:
                    break
        except KeyboardInterrupt:
            pass
        except BrokenPipeError:
            sys.stderr.close()


class _Reader:
    """Fetches from all leaders of a topic in turn; keeps the next offset of each partition."""

    def __init__(self, cluster: Cluster, name: str, only: int | None) -> None:
        self._cluster = cluster
        self._topic = cluster.topic(name)
        self._patience = Patience()
        partitions = [p for p in self._topic.partitions if only is None or p.partition_index == only]
        if not partitions:
            raise click.ClickException(f"{name} has no partition {only}")
        self._leaders = {p.partition_index: p.leader_id for p in partitions if p.leader_id != NO_LEADER}
        missing = [(name, p.partition_index) for p in partitions if p.leader_id == NO_LEADER]
        if not self._leaders:
            require_leaders(missing)
        if missing:
            click.echo(f"left out, as nobody leads them: {names_of(missing)}", err=True)
        self._next: dict[int, int] = {}

    @property
    def asks_several(self) -> bool:
        """Partitions of one leader wait while another one is asked."""
        return len(set(self._leaders.values())) > 1

    def seek(self, timestamp: int) -> None:
        """Start at a timestamp in ms, or EARLIEST or LATEST; past the last record is LATEST."""
        found = look_up(self._cluster, [self._topic], timestamp)
        if -1 in found.values():
            latest = look_up(self._cluster, [self._topic], LATEST)
            found = {key: offset if offset >= 0 else latest[key] for key, offset in found.items()}
        self._next = {index: found[self._topic.name, index] for index in self._leaders}

    def records(self, timeout_s: float | None) -> Iterator[_Found]:
        """Records as they come, in order within each partition; ends when nothing came for ``timeout_s``.
        Raises ClickException when somebody cannot say by then."""
        heard = time.monotonic()
        more = True
        while more or timeout_s is None or time.monotonic() - heard < timeout_s:
            before = dict(self._next)
            for found in self._round():
                yield found
                heard = time.monotonic()
            more = self._next != before
        if self._patience.problem is not None:
            raise self._patience.problem

    def _round(self) -> Iterator[_Found]:
        """What each leader has. When one does not answer, or leads no more, the others do not wait."""
        problem = None
        for leader in sorted(set(self._leaders.values())):
            try:
                yield from self._fetch(leader)
            except Passing as its:
                problem = its
        if problem is None:
            self._patience.over()
            return
        self._patience.wait(problem)
        try:
            self._topic = self._cluster.topic_again(self._topic.name)
        except Passing:  # nobody answers: nor will they in the next round
            return
        now = {p.partition_index: p.leader_id for p in self._topic.partitions}
        self._leaders = {index: now.get(index, NO_LEADER) for index in self._leaders}

    def _fetch(self, leader: int) -> Iterator[_Found]:
        if leader == NO_LEADER:
            missing = [(self._topic.name, index) for index in self._leaders if self._leaders[index] == leader]
            raise Passing(f"no leader: {names_of(missing)}")
        session = self._cluster.node(leader)
        wanted = [
            FetchPartition(
                partition=index, fetch_offset=self._next[index], partition_max_bytes=PARTITION_MAX_BYTES
            )
            for index, owner in self._leaders.items()
            if owner == leader
        ]
        topic = FetchTopic(topic=self._topic.name, topic_id=self._topic.topic_id, partitions=wanted)
        request = FetchRequest(max_wait_ms=MAX_WAIT_MS, min_bytes=1, max_bytes=MAX_BYTES, topics=[topic])
        answer = session.call(FETCH, request)
        require(answer.error_code, self._topic.name, passing=True)
        for found_topic in answer.responses:
            for data in sorted(found_topic.partitions, key=lambda each: each.error_code != 0):
                require(data.error_code, f"{self._topic.name}-{data.partition_index}", passing=True)
                yield from self._records_of(data)

    def _records_of(self, data: Any) -> Iterator[_Found]:
        """What is new in the answer for one partition. A batch counts to its end: control batches have
        nothing to print, and compaction may have taken the last records of others."""
        index = data.partition_index
        for batch in iter_batches(data.records or b""):
            header = read_header(batch)
            try:
                for record in () if header.control else iter_records(batch, UNPACKED_BYTES):
                    if record.offset >= self._next[index]:
                        self._next[index] = record.offset + 1
                        yield _Found(index, record)
            except WireError as error:
                where = f"{self._topic.name}-{index}, the batch at offset {header.base_offset}"
                raise click.ClickException(f"{where}: {error}") from None
            self._next[index] = max(self._next[index], header.next_offset)


def _print(found: _Found, as_json: bool) -> None:
    record = found.record
    if as_json:
        document = {
            "partition": found.partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": _shown(record.key),
            "value": _shown(record.value),
            "headers": [[name, _shown(value)] for name, value in record.headers],
        }
        line = json.dumps(document, ensure_ascii=False).encode()
    else:
        line = record.value or b""
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


def _shown(data: bytes | None) -> str | dict[str, str] | None:
    """Text; bytes that are no UTF-8 as ``{"base64": ...}``, which no text can be mistaken for."""
    if data is None:
        return None
    try:
        return bytes(data).decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}
