"""What a backup pays for a push: us per push and per chunk at 1 .. 512 chunks of 1 KB per push.

    python -m bench.micro_replica [data directory]

"store" is the handler of PUSH with its write, called directly; "no write" is the same on a disk whose writes
cost nothing, the Python part alone. Connections are not in it: ``micro_net.py`` has them. The last line is
what a read of an eighth of the partitions costs per chunk looked at.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kproto.clock import SystemClock
from kproto.disk import Disk
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId
from kproto.net.internal import Caller
from kproto.replica.reading import Extent, select
from kproto.replica.service import ReplicaService
from kproto.replica.store import ReplicaStore, Workers
from kproto.vlog.frame import ENTRY, FRAME_SIZE, encode_file_header, seal
from kproto.wire.push import PUSH_FIRST
from tests.vlog.support import chunk, chunk_crc

CHUNK = 1024
VSEG_BYTES = 64 << 20
PARTITIONS = 64
BOOT = bytes(range(16))
CALLER = Caller(1, 5)
TOPIC = bytes(16)


class Inline:
    """Worker and loop of a process that does one thing at a time."""

    def submit(self, call: Any, done: Any) -> None:
        call()
        done(None)

    def call_later(self, _delay: float, _callback: Any, *_args: Any) -> None:
        """Nothing is due while it runs."""

    call_soon = call_soon_threadsafe = call_exception_handler = call_later


class NoWrite(Disk):
    """Frames are not written, to see the Python part alone."""

    __slots__ = ()

    def pwritev(self, fd: int, buffers: Any, position: int, length: int = -1) -> int:
        if position:
            return sum(map(len, buffers))
        return super().pwritev(fd, buffers, position, length)


def bodies(vseg: VsegId, count: int, pushes: int) -> list[memoryview]:
    """Bodies of PUSH that fill a virtual segment."""
    first, chain = encode_file_header(vseg.vlog, vseg.owner_epoch, vseg.seq, 0, VSEG_BYTES, 3, 0, BOOT)
    data = [chunk(base, CHUNK) for base in range(count)]
    body = b"".join(data)
    found: list[memoryview] = []
    position = 0
    for number in range(pushes):
        head = bytearray(FRAME_SIZE)
        for i, one in enumerate(data):
            head += ENTRY.pack(TOPIC, i % PARTITIONS, 0, 0, 0, i, 0, 0, 1, CHUNK, chunk_crc(one), 0)
        length = len(head) + len(body)
        chain = seal(head, vseg.vlog, vseg.owner_epoch, vseg.seq, position, length, chain, position, count)
        flags = bytes([PUSH_FIRST]) + first if number == 0 else b"\0"
        found.append(memoryview(flags + head + body))
        position += length
    return found


def service_on(directory: str, disk: Disk) -> ReplicaService:
    inline: Any = Inline()
    me = CopyTarget(2, "store")
    workers = Workers(inline, inline, inline, inline)
    store = ReplicaStore(directory, disk, SystemClock(), inline, workers, BOOT, me, print, True)
    store.apply(VlogTable(), frozenset((5,)))
    return ReplicaService(store, inline, directory)


def push_cost(disk: Disk, directory: str, count: int) -> float:
    """us per push, the best of some rounds; each round fills another virtual segment of up to 32 MB."""
    pushes = max(min(2000, 32_000 // count), 8)
    best = float("inf")
    for round_number in range(5):
        shutil.rmtree(directory, ignore_errors=True)
        Path(directory).mkdir()
        service = service_on(directory, disk)
        errors: list[int] = []
        todo = bodies(VsegId(5, 1, round_number + 1), count, pushes)

        def note(error: int, *_pieces: Any, errors: list[int] = errors) -> None:
            if error:
                errors.append(error)

        reply: Any = note
        service.push(CALLER, todo[0], reply)
        handler = service.push
        begin = time.perf_counter()
        for body in todo[1:]:
            handler(CALLER, body, reply)
        best = min(best, (time.perf_counter() - begin) / (pushes - 1))
        assert not errors
        service.store.close()
    return best * 1e6


def read_cost(directory: str) -> float:
    """us per chunk looked at, for a read of 8 of 64 partitions of a virtual segment of 32 MB."""
    shutil.rmtree(directory, ignore_errors=True)
    Path(directory).mkdir()
    service = service_on(directory, Disk())
    vseg = VsegId(5, 1, 1)

    def note(*_: Any) -> None:
        """Nobody waits for it."""

    reply: Any = note
    for body in bodies(vseg, 128, 250):
        service.push(CALLER, body, reply)
    copy = service.store.copies[vseg]
    extent = Extent(copy.path, vseg, copy.base, copy.start, copy.end)
    wanted = [(TOPIC, i) for i in range(8)]
    begin = time.perf_counter()
    chosen = select(service.store.disk, extent, wanted, (), 1 << 30)
    took = time.perf_counter() - begin
    assert len(chosen.rows) == 128 * 250 // 8
    service.store.close()
    return took / (128 * 250) * 1e6


def main() -> None:
    root = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=root) as directory:
        data = f"{directory}/data"
        print(f"Python {sys.version.split()[0]}, chunks of {CHUNK} bytes\n")
        print("chunks/push   us/push  us/chunk   no write: us/push  us/chunk")
        for count in (1, 16, 128, 512):
            stored, bare = push_cost(Disk(), data, count), push_cost(NoWrite(), data, count)
            print(
                f"{count:11d} {stored:9.1f} {stored / count:9.2f} {bare:19.1f} {bare / count:9.2f}",
                flush=True,
            )
        print(f"\nread of an eighth of the partitions: {read_cost(data):.2f} us per chunk looked at")


if __name__ == "__main__":
    main()
