"""A partition and a segment of the smallest kind that keeps the promises of ``log.ports``, and chunks for
them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Any

from crc32c import crc32c

from kproto.clock import SystemClock
from kproto.config import Settings, TopicConfig, load
from kproto.config.topic_configs import topic_config
from kproto.disk import Buffer, Disk
from kproto.log.epochs import EpochCache
from kproto.log.producers import Producers
from kproto.vlog.manager import JOURNAL_DIRECTORY, VlogManager
from kproto.vlog.recovery import Recovered, recover

BOOT = bytes(range(1, 17))
HEADER = 61
SMALL_DISK = {"kproto.virtual.segment.bytes": "4194304", "kproto.journal.bytes": "134217728"}
"""Settings of every test that says nothing else: the usual 64 MiB per test would fill the disk."""


def chunk(base: int, size: int = 1024, records: int = 1, epoch: int = 0, fill: int = 7) -> bytes:
    """A record batch v2 of ``size`` bytes whose payload is rubbish inside a valid CRC."""
    body = pack(">hiqqqhii", 0, records - 1, 0, 0, -1, -1, -1, records) + bytes([fill % 256]) * (
        size - HEADER
    )
    return pack(">qiibI", base, size - 12, epoch, 2, crc32c(body)) + body


def chunk_crc(data: bytes | memoryview) -> int:
    return int.from_bytes(data[17:21], "big")


class Segment:
    """Memory and, when flushed, a file. Grows without end."""

    def __init__(self, path: str, disk: Disk, number: int = 0, group_base: int = 0) -> None:
        self.path = path
        self.disk = disk
        self.number = number
        self.group_base = group_base
        self.memory = bytearray(4 << 20)
        self.end = 0
        self.flushed = 0
        self.synced = 0
        self._fd = -1

    def flush(self, upto: int) -> None:
        upto = min(upto, self.end)
        if upto <= self.flushed:
            return
        if self._fd < 0:
            self._fd = self.disk.open(self.path, create=True)
        self.disk.pwritev(self._fd, [memoryview(self.memory)[self.flushed : upto]], self.flushed)
        self.flushed = upto

    def write_ahead(self, most: int, upto: int) -> int:
        """Everything is written by `flush`."""
        return 0

    def sync(self) -> None:
        if self._fd >= 0:
            flushed = self.flushed
            self.disk.datasync(self._fd)
            self.synced = flushed

    def before(self) -> list[Segment]:
        """Every partition has one."""
        return []

    def close(self) -> None:
        if self._fd >= 0:
            self.disk.close(self._fd)
            self._fd = -1


class Partition:
    """Appends ready-made chunks; remembers how the virtual log told it about durability."""

    def __init__(self, world: World, topic: int, index: int, config: TopicConfig, base: int = 0) -> None:
        self.topic_id = topic.to_bytes(16, "big")
        self.index = index
        self.config = config
        self.vlog: Any = None
        self.world = world
        self.log_end_offset = base
        self.high_watermark = base
        self.log_start_offset = base
        self.deleted = self.lost = False
        self.epochs = EpochCache()
        self.producers = Producers()
        self.history: list[int] = []
        self.leader_epoch = world.epoch
        self.segment = Segment(world.segment_path(self.topic_id, index, base, 0) or "", world.disk, 0, base)
        self.chunks: dict[int, bytes] = {}
        world.manager.assign(self)

    def append(self, size: int = 1024, records: int = 1) -> int:
        """Append one chunk; its position in the virtual log."""
        base = self.log_end_offset
        data = chunk(base, size, records, self.leader_epoch, fill=base + self.index)
        segment = self.segment
        at = segment.end
        if at + size > len(segment.memory):
            segment.memory = segment.memory + bytes(max(size, len(segment.memory)))
        segment.memory[at : at + size] = data
        segment.end = at + size
        self.chunks[base] = data
        self.epochs.note(self.leader_epoch, base)
        self.log_end_offset = base + records
        self.vlog.append(
            (
                self,
                segment,
                at,
                base,
                base + records,
                self.leader_epoch,
                size,
                chunk_crc(data),
                segment.memory,
                at,
            )
        )
        position: int = self.vlog.end
        return position

    def unsynced(self) -> list[Segment]:
        return [self.segment] if self.segment.synced < self.segment.end else []

    def sync_starts(self, partitions: Sequence[Any]) -> None:
        """Nothing is deleted."""

    def on_durable(self, end_offset: int) -> None:
        self.history.append(end_offset)
        self.high_watermark = end_offset


@dataclass
class World:
    """One process over one data directory: a manager and what it needs. ``settings`` are dotted names."""

    data_dir: str
    disk: Disk
    loop: Any
    epoch: int
    settings: Settings
    manager: VlogManager
    poison: list[str]
    partitions: list[Partition]

    @staticmethod
    def start(
        data_dir: str,
        loop: Any,
        epoch: int = 1,
        disk: Disk | None = None,
        boot: bytes = BOOT,
        **overrides: str,
    ) -> World:
        texts = SMALL_DISK | {name.replace("__", "."): value for name, value in overrides.items()}
        settings = load(None, texts)
        disk = disk or Disk()
        poison: list[str] = []
        manager = VlogManager(data_dir, settings, disk, SystemClock(), loop, epoch, poison.append, boot)
        return World(data_dir, disk, loop, epoch, settings, manager, poison, [])

    def segment_path(self, topic_id: bytes, partition: int, group: int, segment: int) -> str | None:
        return os.path.join(self.data_dir, f"{topic_id.hex()}-{partition}-{group}-{segment}.chunks")

    def partition(self, topic: int = 1, index: int = 0, base: int = 0, **config: str) -> Partition:
        texts = {name.replace("__", "."): value for name, value in config.items()}
        one = Partition(self, topic, index, topic_config(texts, self.settings), base)
        self.partitions.append(one)
        return one

    def journal_path(self) -> str:
        return os.path.join(self.data_dir, JOURNAL_DIRECTORY)

    def recover(
        self,
        starts: Sequence[Any] = (),
        boot: bytes = BOOT,
        accept_loss: bool = False,
        power_lost: bool = False,
    ) -> Recovered:
        return recover(self.disk, self.journal_path(), starts, boot, accept_loss, power_lost)


def recovered_bytes(world: World, recovered: Recovered, partition: Partition) -> dict[int, bytes]:
    """Base offset -> chunk bytes of what recovery found, read from where it says the bytes are."""
    found: dict[int, bytes] = {}
    for one in recovered.chunks.get((partition.topic_id, partition.index), []):
        path, at = one.path, one.file_position
        if at < 0:
            path = world.segment_path(partition.topic_id, partition.index, one.group, one.segment) or ""
            at = one.segment_position
        with open(path, "rb") as stream:
            stream.seek(at)
            found[one.base_offset] = stream.read(one.length)
    return found


class FaultyDisk(Disk):
    """A disk whose next calls fail on demand; ``full`` makes every write and reservation fail with ENOSPC."""

    __slots__ = ("allocations", "full", "no_longer_names", "syncs_fail", "write_errno", "writes_fail")

    def __init__(self) -> None:
        self.full = False
        self.writes_fail: Callable[[int], bool] | None = None
        self.write_errno = errno.EIO
        self.syncs_fail = False
        self.no_longer_names = False
        self.allocations = 0

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        if self.writes_fail is not None and self.writes_fail(fd):
            raise OSError(self.write_errno, os.strerror(self.write_errno))
        return super().pwritev(fd, buffers, position, length)

    def allocate(self, fd: int, position: int, length: int) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.allocations += 1
        super().allocate(fd, position, length)

    def rename(self, source: str, target: str) -> None:
        if self.no_longer_names and len(target) > len(source):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source)
        super().rename(source, target)

    def datasync(self, fd: int) -> None:
        if self.syncs_fail:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().datasync(fd)
