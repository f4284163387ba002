"""The topics of a load: ready before it, gone after it.

A topic is ready when each of its partitions has acknowledged a record with acks=all. Apache Kafka answers for
a partition as soon as its leader is there, while its followers still make their directories and files, one
after the other: seconds for a few hundred partitions. Deleted topics are waited for, too: their files go in
the background, and making files where thousands were just deleted is slow on some file systems.

Apache Kafka maps two index files into memory for every copy of a partition, 10 MB each and empty at first.
The first entry of each, after 4 KB of records, makes the kernel read ahead: zeros, as many as the disk's
read-ahead says. Where that is 8 MB (`read_ahead_kb`; Linux's own default is 128) 512 partitions with three
copies fill 25 GB of page cache before they take more than a few thousand records a second, and again whenever
the pages were dropped. `segment.index.bytes` is therefore set smaller where partitions are many, for both
systems.

May import the standard library and `bench.brokers`; confluent_kafka on use.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.brokers import ApacheKafka, Target

TIMEOUT_S = 180.0
DELETE_DELAY_MS = 1000
KAFKA_DATA = ("data", "*/data")
"""Where a broker of Apache Kafka has a directory for each partition; a cluster's brokers, side by side."""
KPROTO_STREAMS = "*/streams/*"
"""Where a broker of kproto has a directory for each topic; a cluster's brokers, side by side."""
AT_ONCE = 500
INDEX_BUDGET = 256 << 20
LEAST_INDEX, MOST_INDEX, INDEX_STEP = 64 << 10, 10 << 20, 4096
"""Bytes of an index file; the most is Apache Kafka's default, the least is full after 20 MB of records."""
MESSAGE_OVERHEAD = 4096
"""Bytes of a message beside its value, with room."""
BLOCK_BYTES = 512
"""What the kernel counts a file's blocks in."""


def index_bytes(replicas: int) -> int:
    """How large an index file of Apache Kafka may be, so that those of all replicas fit `INDEX_BUDGET`."""
    fair = INDEX_BUDGET // (2 * replicas) // INDEX_STEP * INDEX_STEP
    return max(LEAST_INDEX, min(MOST_INDEX, fair))


def modest_files(replicas: int) -> dict[str, str]:
    """Configs of a load's topics, of so many copies of partitions; the module's text says why."""
    return {"file.delete.delay.ms": str(DELETE_DELAY_MS), "segment.index.bytes": str(index_bytes(replicas))}


def directories(target: Target) -> Path | None:
    """Where the data of all brokers of the target is, if it knows."""
    found = getattr(target, "directory", None)
    return found if isinstance(found, Path) else None


def disk_bytes(directory: Path) -> int:
    """What the files below it occupy (blocks, as `du` counts: files with holes count what they have)."""
    found = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                found += os.lstat(os.path.join(parent, name)).st_blocks * BLOCK_BYTES
    return found


def await_files_gone(target: Target, prefix: str) -> None:
    """Wait until the files of deleted topics whose names begin like that are deleted, too: what the disk and
    the page cache get back during the next run would be in its figures."""
    directory = directories(target)
    deadline = time.monotonic() + TIMEOUT_S
    quiet = 0
    while directory is not None and quiet < 3 and time.monotonic() < deadline:
        quiet = 0 if _files_left(target, directory, prefix) else quiet + 1
        time.sleep(0.2)


def _files_left(target: Target, directory: Path, prefix: str) -> bool:
    """kproto's directories have topic ids for names: there are as many as topics, at most, in the end."""
    if target.name == ApacheKafka.name:
        return any(any(directory.glob(f"{place}/{prefix}-*")) for place in KAFKA_DATA)
    streams = {stream.name for stream in directory.glob(KPROTO_STREAMS)}
    return len(streams) > len(admin(target).list_topics(timeout=TIMEOUT_S).topics)


def admin(target: Target) -> Any:
    """A client of it."""
    from confluent_kafka.admin import AdminClient

    return AdminClient({"bootstrap.servers": target.bootstrap, "log_level": 0})


class Topics:
    """``count`` topics of the same form on one cluster."""

    def __init__(
        self,
        target: Target,
        count: int,
        partitions: int,
        copies: int,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        self.target = target
        self.name = f"bench-{uuid.uuid4().hex[:8]}"
        """Of the only one, or what their names begin with."""
        self.names = [self.name] if count == 1 else [f"{self.name}-{number}" for number in range(count)]
        self.partitions = partitions
        self.copies = copies
        self._configs = {**modest_files(count * partitions * copies), **(configs or {})}

    def create(self, value_bytes: int = 100) -> float:
        """Seconds until every partition had acknowledged a record. Raises RuntimeError when one does not."""
        from confluent_kafka.cimpl import NewTopic

        began = time.monotonic()
        client = admin(self.target)
        for first in range(0, len(self.names), AT_ONCE):
            wanted = [
                NewTopic(name, self.partitions, self.copies, config=dict(self._configs))
                for name in self.names[first : first + AT_ONCE]
            ]
            for future in client.create_topics(wanted, request_timeout=TIMEOUT_S).values():
                future.result(TIMEOUT_S)
        self._write_to_all(value_bytes)
        return time.monotonic() - began

    def _write_to_all(self, value_bytes: int) -> None:
        from confluent_kafka import Producer

        failed: list[str] = []

        def answered(problem: Any, _message: Any) -> None:
            if problem is not None:
                failed.append(str(problem))

        producer = Producer(
            {
                "bootstrap.servers": self.target.bootstrap,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": int(TIMEOUT_S * 1000),
                "message.max.bytes": value_bytes + MESSAGE_OVERHEAD,
                "log_level": 0,
            }
        )
        for name in self.names:
            for partition in range(self.partitions):
                producer.produce(name, bytes(value_bytes), partition=partition, on_delivery=answered)
        left = producer.flush(TIMEOUT_S)
        if failed or left:
            raise RuntimeError(f"{self.target.name}: {left} partitions do not answer, {failed[:3]}")

    def delete(self) -> None:
        """Delete them and wait until their files are deleted."""
        client = admin(self.target)
        for first in range(0, len(self.names), AT_ONCE):
            names = self.names[first : first + AT_ONCE]
            for future in client.delete_topics(names, request_timeout=TIMEOUT_S).values():
                future.result(TIMEOUT_S)
        await_files_gone(self.target, self.name)
