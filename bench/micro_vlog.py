"""What a push costs: us per chunk for several push sizes, and from which size direct writes pay.

    python -m bench.micro_vlog [data directory]

Part 1 measures append + push + durable for pushes of 1 .. 512 chunks of 1 KB over as many partitions (at
most 64), with the system call and without it. Part 2 measures chunks of 1 KB .. 1 MB of one partition,
inline (the journal, later the segment file) against direct (segment file, the journal holds a reference);
both columns include bringing the bytes to the segment file, in pieces of 256 KiB when inline. The last column
of part 1 is a virtual log of three copies whose backups answer at once: what replication costs its owner, but
for the two requests.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kproto.disk import Disk
from kproto.metadata.vlogs import CopyTarget
from kproto.vlog.ports import OpenVseg, PushAnswer, PushOutcome
from tests.vlog.support import Partition, World, chunk_crc

FLUSH_PIECE = 262_144
RING = 1 << 20
FULL_SIZE: dict[str, Any] = {
    "kproto__virtual__segment__bytes": "67108864",
    "kproto__journal__bytes": "1073741824",
}


class ManualLoop:
    """An event loop that runs what was scheduled when told to."""

    def __init__(self) -> None:
        self.ready: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        self.ready.append((callback, args))

    call_soon_threadsafe = call_soon

    def call_later(self, _delay: float, callback: Callable[..., object], *args: Any) -> None:
        self.ready.append((callback, args))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        raise context["exception"]

    def turn(self) -> None:
        ready, self.ready = self.ready, []
        for callback, args in ready:
            callback(*args)


class NoWrite(Disk):
    """A disk whose frame writes cost nothing, to see the Python part alone."""

    __slots__ = ()

    def pwritev(self, fd: int, buffers: Any, position: int, length: int = -1) -> int:
        return length if length >= 0 else super().pwritev(fd, buffers, position)


def make_ref(partition: Partition, size: int) -> tuple[Any, ...]:
    partition.append(size)
    ref: tuple[Any, ...] = partition.vlog.pending.pop()
    partition.vlog.end -= 1
    return ref


class InstantBackups:
    """Backups, and a store, that say yes before they are done being asked."""

    def __init__(self) -> None:
        self.position = 1 << 62

    def push(self, _target: Any, _first: Any, _pieces: Any, done: Callable[[PushAnswer], object]) -> None:
        done(PushAnswer(PushOutcome.STORED, self.position))

    def open_next(self, request: OpenVseg, done: Callable[..., object]) -> None:
        done(tuple(CopyTarget(node, "") for node in range(1, request.copies)))

    def on_ownership_lost(self) -> None:
        raise AssertionError("nobody fences here")


def push_cost(directory: str, disk: Disk, count: int, size: int = 1024, copies: int = 1) -> float:
    """us per chunk for pushes of ``count`` chunks, append included; the journal recycles as in real life."""
    loop = ManualLoop()
    world = World.start(directory, loop, disk=disk, kproto__direct__bytes="0", **FULL_SIZE)
    if copies > 1:
        backups = InstantBackups()
        world.manager.replicate(backups, backups, lambda *_: copies)
    parts = [world.partition(index=i) for i in range(min(count, 64))]
    refs = [make_ref(parts[i % len(parts)], size) for i in range(count)]
    for part in parts:
        part.segment.flushed = part.segment.synced = 1 << 62
    append = parts[0].vlog.append
    rounds = max(200, 60_000 // count)
    best = float("inf")
    for _ in range(4):
        began = time.perf_counter()
        for _ in range(rounds):
            for ref in refs:
                append(ref)
            loop.turn()
            while parts[0].vlog.durable != parts[0].vlog.end:  # a new journal file is being prepared
                loop.turn()
        best = min(best, time.perf_counter() - began)
    world.manager.close()
    return best / rounds / count * 1e6


class RingSegment:
    """A segment whose memory is a ring that is reused, as pooled blocks are; writes go round in an 8 MiB
    file."""

    def __init__(self, path: str, disk: Disk) -> None:
        self.number = self.group_base = 0
        self.disk = disk
        self.fd = disk.open(path, create=True)
        self.memory = memoryview(bytearray(2 * RING))
        self.end = self.flushed = 0
        self.synced = 1 << 62

    def flush(self, upto: int) -> None:
        size = upto - self.flushed
        if size > 0:
            at = self.flushed % RING
            self.disk.pwritev(self.fd, [self.memory[at : at + size]], self.flushed % (8 << 20), size)
            self.flushed = upto

    def sync(self) -> None:
        """Nothing: writing to the medium is no part of this measurement."""

    def before(self) -> tuple[()]:
        """It is the only one."""
        return ()


def size_cost(directory: str, size: int, direct: bool) -> float:
    """us per chunk of ``size`` bytes, one partition, one chunk per push, segment file included."""
    loop = ManualLoop()
    world = World.start(directory, loop, kproto__direct__bytes="1" if direct else "0", **FULL_SIZE)
    part = world.partition()
    segment = RingSegment(os.path.join(directory, "ring"), world.disk)
    part.append(size)
    crc = chunk_crc(memoryview(part.segment.memory)[:size])
    part.vlog.pending.clear()
    part.vlog.end = 0
    loop.turn()
    rounds = max(300, (256 << 20) // size // 4 if size > 4096 else 20_000)
    best = float("inf")
    vlog = part.vlog
    for _ in range(4):
        began = time.perf_counter()
        for i in range(rounds):
            at = segment.end
            vlog.append((part, segment, at, i, i + 1, 0, size, crc, segment.memory, at % RING))
            segment.end = at + size
            loop.turn()
            while vlog.durable != vlog.end:
                loop.turn()
            if not direct and segment.end - segment.flushed >= FLUSH_PIECE:
                segment.flush(segment.end)
        best = min(best, time.perf_counter() - began)
    world.manager.close()
    return best / rounds * 1e6


def main() -> None:
    root = sys.argv[1] if len(sys.argv) > 1 else None
    print(f"{'chunks per push':>16} {'us/chunk':>10} {'without write':>14} {'3 copies':>10}")
    for count in (1, 16, 64, 512):
        with tempfile.TemporaryDirectory(dir=root) as one, tempfile.TemporaryDirectory(dir=root) as two:
            full, bare = push_cost(one, Disk(), count), push_cost(two, NoWrite(), count)
        with tempfile.TemporaryDirectory(dir=root) as three:
            copied = push_cost(three, Disk(), count, copies=3)
        print(f"{count:>16} {full:>10.2f} {bare:>14.2f} {copied:>10.2f}")
    print(f"\n{'chunk bytes':>16} {'inline us':>10} {'direct us':>10}")
    for size in (1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 262_144, 1 << 20):
        with tempfile.TemporaryDirectory(dir=root) as one, tempfile.TemporaryDirectory(dir=root) as two:
            inline, direct = size_cost(one, size, direct=False), size_cost(two, size, direct=True)
        print(f"{size:>16} {inline:>10.2f} {direct:>10.2f}{'  <-' if direct < inline else ''}")


if __name__ == "__main__":
    main()
