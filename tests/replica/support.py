"""A file system in memory that can lose power, an owner that makes frames, and a loop in virtual time."""

from __future__ import annotations

import errno
import heapq
import os
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from random import Random
from typing import Any

from kproto.disk import NO_DATA, Buffer, Disk
from kproto.metadata.records import BROKERS, FENCED, BrokerRecord
from kproto.metadata.store import Change
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.replica.rules import Push
from kproto.replica.store import ReplicaStore, Workers
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import (
    ENTRY,
    FRAME_SIZE,
    PartitionSnapshot,
    encode_file_header,
    encode_state,
    seal,
)
from tests.vlog.support import chunk, chunk_crc

ME = CopyTarget(7, "a" * 32)
OTHER = CopyTarget(8, "b" * 32)
OTHERS = (OTHER, CopyTarget(9, "d" * 32))
"""As many as there should be."""
OWNER_NODE = 3
BOOT = bytes(range(1, 17))
TOPIC = bytes(range(16))


class VirtualLoop:
    """call_soon, call_later, call_soon_threadsafe and a clock, driven by `run`."""

    def __init__(self) -> None:
        self.ready: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.later: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []
        self.now = 0.0
        self._order = count()

    def monotonic(self) -> float:
        return self.now

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self.now * 1000)

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        self.ready.append((callback, args))

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> None:
        heapq.heappush(self.later, (self.now + delay, next(self._order), callback, args))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        raise AssertionError(context)

    def run(self, seconds: float = 0.0) -> None:
        """Everything that is ready, and timers of the next ``seconds``."""
        end = self.now + seconds
        while True:
            while self.ready:
                callback, args = self.ready.popleft()
                callback(*args)
            if not self.later or self.later[0][0] > end:
                self.now = end
                return
            when, _, callback, args = heapq.heappop(self.later)
            self.now = max(self.now, when)  # later than planned, when a test was ahead
            callback(*args)


class LoopWorker:
    """A worker whose jobs run when the loop does; one at a time, in order."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def submit(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        self._loop.call_soon(self._run, call, done)

    def _run(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        error: BaseException | None = None
        try:
            call()
        except Exception as raised:
            error = raised
        self._loop.call_soon(done, error)

    def close(self) -> None:
        """Nothing to end."""


class _Inode:
    def __init__(self) -> None:
        self.data = bytearray()
        self.synced = b""
        self.pending: list[tuple[int, bytes | None]] = []
        """Since the last sync: writes, or (length, None) for a change of the size."""

    def write(self, position: int, data: bytes) -> None:
        if len(self.data) < position:
            self.data.extend(bytes(position - len(self.data)))
        self.data[position : position + len(data)] = data
        self.pending.append((position, data))

    def resize(self, length: int) -> None:
        del self.data[length:]
        self.data.extend(bytes(length - len(self.data)))
        self.pending.append((length, None))

    def sync(self) -> None:
        self.synced = bytes(self.data)
        self.pending.clear()

    def lose_power(self, random: Random) -> None:
        """Every unsynced write is there, is not, or is torn, whatever the others are."""
        pending = self.pending
        self.data = bytearray(self.synced)
        for position, data in pending:
            fate = random.choice(("kept", "lost", "torn"))
            if data is None:
                if fate == "kept":
                    self.resize(position)
            elif fate == "kept":
                self.write(position, data)
            elif fate == "torn":
                self.write(position, data[: random.randrange(len(data) + 1)])
        self.sync()


class MemoryDisk(Disk):
    """A disk of one flat directory tree. ``room`` bytes may still be reserved (None: any); ``fail`` may raise
    before an operation, given its name."""

    __slots__ = ("_names", "_next", "_open", "_pending", "_synced", "dropped", "fail", "room", "syncs")

    def __init__(self) -> None:
        self._names: dict[str, _Inode] = {}
        self._synced: dict[str, _Inode] = {}
        self._pending: list[tuple[str, str | None, _Inode | None]] = []
        """Changes of the directory since its last sync: (name, former name, inode), inode None: deleted."""
        self._open: dict[int, _Inode] = {}
        self._next = 3
        self.room: int | None = None
        self.fail: Callable[[str], object] = lambda operation: None
        self.syncs = 0
        self.dropped: list[int] = []
        """Bytes of each file that need not be cached any more; one that is not synced stays."""

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        self.fail("open")
        inode = self._names.get(path)
        if inode is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, path)
            inode = self._names[path] = _Inode()
            self._pending.append((path, None, inode))
        self._next += 1
        self._open[self._next] = inode
        return self._next

    def close(self, fd: int) -> None:
        del self._open[fd]

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        self.fail("write")
        data = b"".join(map(bytes, buffers))
        self._open[fd].write(position, data)
        return len(data)

    def pread(self, fd: int, length: int, position: int) -> bytes:
        self.fail("read")
        return bytes(self._open[fd].data[position : position + length])

    def next_data(self, fd: int, position: int) -> int:
        return position if position < len(self._open[fd].data) else NO_DATA

    def read_nothing_ahead(self, fd: int) -> None:
        """It never does."""

    def allocate(self, fd: int, position: int, length: int) -> None:
        self.fail("allocate")
        if self.room is not None:
            if length > self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room -= length
        inode = self._open[fd]
        inode.resize(max(len(inode.data), position + length))

    def truncate(self, fd: int, length: int) -> None:
        self._open[fd].resize(length)

    def datasync(self, fd: int) -> None:
        self.fail("sync")
        self.syncs += 1
        self._open[fd].sync()

    def drop_cached(self, fd: int) -> None:
        inode = self._open[fd]
        self.dropped.append(0 if inode.pending else len(inode.data))

    def size(self, fd: int) -> int:
        return len(self._open[fd].data)

    def is_deleted(self, fd: int) -> bool:
        return self._open[fd] not in self._names.values()

    def rename(self, source: str, target: str) -> None:
        if source not in self._names:
            raise FileNotFoundError(errno.ENOENT, source)
        inode = self._names[target] = self._names.pop(source)
        self._pending.append((target, source, inode))

    def unlink(self, path: str) -> None:
        if path not in self._names:
            raise FileNotFoundError(errno.ENOENT, path)
        del self._names[path]
        self._pending.append((path, None, None))

    def makedirs(self, path: str) -> None:
        """Directories exist."""

    def listdir(self, path: str) -> list[str]:
        return [os.path.basename(name) for name in self._names if os.path.dirname(name) == path]

    def sync_directory(self, path: str) -> None:
        self.fail("sync")
        self._synced = dict(self._names)
        self._pending.clear()

    def kill(self) -> None:
        """The process is gone, what it wrote is there."""
        self._open.clear()

    def lose_power(self, random: Random) -> None:
        """Unsynced bytes and names may be gone."""
        self._open.clear()
        names = dict(self._synced)
        for name, former, inode in self._pending[: random.randrange(len(self._pending) + 1)]:
            if former is not None:
                names.pop(former, None)
            if inode is None:
                names.pop(name, None)
            else:
                names[name] = inode
        for inode in dict.fromkeys((*names.values(), *self._names.values())):
            inode.lose_power(random)
        self._names = names
        self._synced = dict(names)
        self._pending.clear()

    def content(self, path: str) -> bytearray:
        """The bytes of a file, to be damaged by a test."""
        return self._names[path].data


class Owner:
    """A virtual segment on its owner: makes frames in order and remembers all of them."""

    def __init__(
        self,
        vseg: VsegId,
        start: int = 0,
        policy: FlushPolicy = FlushPolicy.MEMORY,
        size: int = 1 << 20,
    ) -> None:
        self.vseg = vseg
        self.start = start
        self.policy = policy
        self.first, self.chain = encode_file_header(
            vseg.vlog, vseg.owner_epoch, vseg.seq, start, size, 3, policy, BOOT
        )
        self.end = start
        self.durable: int | None = None
        """What frames say that is durable; None: all before them."""
        self.frames: list[tuple[int, bytes]] = []
        """Position and bytes."""
        self.chunks: list[tuple[tuple[bytes, int], int, int, bytes, int]] = []
        """Partition, base offset, next offset, bytes, position of the frame."""
        self.states: list[tuple[int, list[PartitionSnapshot]]] = []
        self._offsets: dict[tuple[bytes, int], int] = {}

    def make(self, parts: Sequence[tuple[bytes, int]], sizes: Sequence[int], fill: int = 7) -> bytes:
        """A frame with one chunk for each of ``parts``; `keep` makes it the next one."""
        head = bytearray(FRAME_SIZE)
        body = b""
        offsets = dict(self._offsets)
        for (topic, index), size in zip(parts, sizes, strict=True):
            base = offsets.get((topic, index), 0)
            records = 1 + size % 3
            data = chunk(base, size, records, 5, fill + base)
            head += ENTRY.pack(topic, index, 0, 0, 0, base, 5, 5, records, len(data), chunk_crc(data), 0)
            body += data
            offsets[topic, index] = base + records
        length = len(head) + len(body)
        durable = self.end if self.durable is None else self.durable
        seal(head, *self._identity(), self.end, length, self.chain, durable, len(parts))
        return bytes(head) + body

    def push(self, parts: Sequence[tuple[bytes, int]], sizes: Sequence[int], fill: int = 7) -> bytes:
        """Make the next frame."""
        frame = self.make(parts, sizes, fill)
        at = FRAME_SIZE + ENTRY.size * len(parts)
        for (topic, index), size in zip(parts, sizes, strict=True):
            base = self._offsets.get((topic, index), 0)
            after = base + 1 + size % 3
            self.chunks.append(((topic, index), base, after, frame[at : at + size], self.end))
            self._offsets[topic, index] = after
            at += size
        self._keep(frame)
        return frame

    def push_state(self) -> bytes:
        """Make the next frame a state frame of what the owner has so far."""
        snapshots = [
            PartitionSnapshot(topic, index, 0, end, b"epochs%d" % index, b"producers" * (end % 3))
            for (topic, index), end in self._offsets.items()
        ]
        frame, _ = encode_state(
            [one.encode() for one in snapshots], *self._identity(), self.end, self.chain, self.end
        )
        self.states.append((self.end, snapshots))
        self._keep(bytes(frame))
        return bytes(frame)

    def _identity(self) -> tuple[int, int, int]:
        return self.vseg.vlog, self.vseg.owner_epoch, self.vseg.seq

    def _keep(self, frame: bytes) -> None:
        self.frames.append((self.end, frame))
        self.end += len(frame)
        self.chain = int.from_bytes(frame[4:8], "big")

    def header_for(self, position: int) -> bytes | None:
        """The file header goes with the first frame."""
        return self.first if position == self.start else None

    def record(self, end: int | None = None, backups: Sequence[CopyTarget] = (ME, OTHER)) -> VsegRecord:
        return VsegRecord(self.vseg, OWNER_NODE, "c" * 32, 3, self.policy, self.start, end, tuple(backups))


class Metadata:
    """The store's view: a table and live epochs, changed record by record."""

    def __init__(self, *live: int) -> None:
        self.table = VlogTable()
        self.live = frozenset(live)

    def put(self, record: VsegRecord) -> None:
        self._change({record.key: record.encode()}, ())

    def delete(self, record: VsegRecord) -> None:
        self._change({}, (record.key,))

    def fence(self, epoch: int) -> None:
        broker = BrokerRecord(OWNER_NODE, epoch, "host", 1, None)
        self.live -= {epoch}
        self._change({f"{FENCED}{OWNER_NODE}": broker.encode()}, (f"{BROKERS}{OWNER_NODE}",))

    def _change(self, puts: dict[str, bytes], deletes: Sequence[str]) -> None:
        self.table.apply(Change(self.table.revision + 1, puts, tuple(deletes)))


class Replying:
    """A `kproto.net.internal.Reply` that tells what it was called with, as long as it is ``wanted``."""

    wanted = True

    def __init__(self, tell: Callable[..., object]) -> None:
        self._tell = tell

    def __call__(self, error: int, *pieces: Any) -> None:
        self._tell(error, *pieces)


class Station:
    """A store on a disk, and what it answered."""

    def __init__(
        self,
        disk: Disk | None = None,
        boot: bytes = BOOT,
        new: bool = True,
        data_dir: str = "data",
        cut_off_s: float = 0.0,
    ) -> None:
        self.disk: Any = disk or MemoryDisk()
        self.loop = VirtualLoop()
        self.boot = boot
        self.data_dir = data_dir
        self.cut_off_s = cut_off_s
        self.poison: list[str] = []
        self.store = self._make(new)

    def _make(self, new: bool) -> ReplicaStore:
        worker = LoopWorker(self.loop)
        return ReplicaStore(
            self.data_dir,
            self.disk,
            self.loop,
            self.loop,
            Workers(worker, worker, worker, worker),
            self.boot,
            ME,
            self.poison.append,
            new,
            self.cut_off_s,
        )

    def restart(self) -> None:
        """Kill and start: nothing is lost."""
        self.loop = VirtualLoop()
        self.disk.kill()
        self.store = self._make(False)

    def lose_power(self, seed: int) -> None:
        """The machine goes down and comes back."""
        self.loop = VirtualLoop()
        self.disk.lose_power(Random(seed))
        self.boot = bytes([self.boot[0] % 255 + 1]) * 16
        self.store = self._make(False)

    def push(
        self, first: bytes | None, frame: bytes, run: bool = True, known: int = 0
    ) -> tuple[Push, int] | None:
        """The verdict; None when there is no answer yet."""
        answers: list[tuple[Push, int]] = []
        self.store.push(first, memoryview(frame), lambda verdict, end: answers.append((verdict, end)), known)
        if run:
            self.loop.run()
        return answers[0] if answers else None

    def seal(self, vseg: VsegId, fence: bool = True) -> tuple[int, bool] | None:
        """Position and whether it is eligible."""
        answers: list[tuple[int, bool]] = []
        number = vseg.owner_epoch + 1 if fence else 0
        self.store.seal(vseg, number, lambda position, usable: answers.append((position, usable)))
        self.loop.run()
        return answers[0] if answers else None

    def file(self, vseg: VsegId) -> bytearray:
        content: bytearray = self.disk.content(self.store.path_of(vseg))
        return content
