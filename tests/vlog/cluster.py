"""A virtual log's owner among simulated backups and metadata: everything arrives when the test says so.

Nothing here waits or takes real time: the disk is memory, the clock stands still until it is moved, and the
"threads" run at once. Every push, every answer and every proposal is a message in a list.
"""

from __future__ import annotations

import heapq
import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, pairwise
from typing import Any, NamedTuple

from kproto.clock import ManualClock
from kproto.config import TopicConfig, load
from kproto.config.topic_configs import topic_config
from kproto.disk import NO_DATA, Buffer, Disk
from kproto.metadata.vlogs import CopyTarget
from kproto.vlog.crossing import Crossing
from kproto.vlog.frame import (
    DIRECT,
    ENTRY,
    ENTRY_SIZE,
    FRAME_SIZE,
    KIND_STATE,
    decode_file_header,
    decode_frame_header,
    decode_state,
    head_is_sound,
)
from kproto.vlog.manager import VlogManager
from kproto.vlog.ports import OpenVseg, PushAnswer, PushOutcome
from kproto.vlog.replicated import ReplicatedPusher
from kproto.wire.batch import CRC_FROM
from kproto.wire.crc import crc32c
from tests.vlog.support import BOOT, SMALL_DISK, Partition, World

OWNER_NODE = 0


class MemoryDisk(Disk):
    """Files in memory. ``full``: nothing can be reserved; ``no_longer_names``: nor renamed."""

    __slots__ = ("files", "full", "names", "no_longer_names", "numbers")

    def __init__(self) -> None:
        self.names: dict[str, bytearray] = {}
        self.files: dict[int, bytearray] = {}
        self.numbers = count(100)
        self.full = self.no_longer_names = False

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        if path not in self.names:
            if not create:
                raise FileNotFoundError(path)
            self.names[path] = bytearray()
        fd = next(self.numbers)
        self.files[fd] = self.names[path]
        return fd

    def close(self, fd: int) -> None:
        del self.files[fd]

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        data = b"".join(buffers)
        file = self.files[fd]
        if len(file) < position:
            file.extend(bytes(position - len(file)))
        file[position : position + len(data)] = data
        return len(data)

    def pread(self, fd: int, length: int, position: int) -> bytes:
        return bytes(self.files[fd][position : position + length])

    def next_data(self, fd: int, position: int) -> int:
        return position if position < len(self.files[fd]) else NO_DATA

    def read_nothing_ahead(self, fd: int) -> None:
        """It never does."""

    def allocate(self, fd: int, position: int, length: int) -> None:
        if self.full:
            raise OSError(28, "no space left")
        file = self.files[fd]
        file.extend(bytes(max(position + length - len(file), 0)))

    def truncate(self, fd: int, length: int) -> None:
        del self.files[fd][length:]

    def datasync(self, fd: int) -> None:
        assert fd in self.files

    def drop_cached(self, fd: int) -> None:
        assert fd in self.files

    def size(self, fd: int) -> int:
        return len(self.files[fd])

    def is_deleted(self, fd: int) -> bool:
        return not any(self.files[fd] is file for file in self.names.values())

    def rename(self, source: str, target: str) -> None:
        if self.no_longer_names:
            raise OSError(28, "no space left")
        self.names[target] = self.names.pop(source)

    def unlink(self, path: str) -> None:
        del self.names[path]

    def makedirs(self, path: str) -> None:
        """Directories need no making."""

    def listdir(self, path: str) -> list[str]:
        return [os.path.basename(name) for name in self.names if os.path.dirname(name) == path]

    def sync_directory(self, path: str) -> None:
        """Nothing is ever lost."""


class SimLoop:
    """An event loop on a clock that the test moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.ready: deque[Callable[[], object]] = deque()
        self.timers: list[tuple[float, int, Callable[[], object]]] = []
        self.errors: list[dict[str, Any]] = []
        self._order = count()

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        self.ready.append(partial(callback, *args))

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> None:
        due = self.clock.monotonic() + max(delay, 0.0)
        heapq.heappush(self.timers, (due, next(self._order), partial(callback, *args)))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def turn(self) -> None:
        """Run all that is ready, and what that makes ready."""
        for _ in range(100_000):
            if not self.ready:
                return
            self.ready.popleft()()
        raise AssertionError("the loop never comes to rest")

    def advance(self, seconds: float) -> None:
        """Move the clock, timer by timer."""
        end = self.clock.monotonic() + seconds
        while self.timers and self.timers[0][0] <= end:
            due, _, callback = heapq.heappop(self.timers)
            self.clock.advance(max(due - self.clock.monotonic(), 0.0))
            callback()
            self.turn()
        self.clock.advance(max(end - self.clock.monotonic(), 0.0))


class SimWorker:
    """A thread that is done at once, but whose answer comes in a later turn, when ``held`` says so."""

    def __init__(self, loop: SimLoop, _name: str) -> None:
        self.loop = loop
        self.held = False
        self.jobs: list[Callable[[], object]] = []

    def submit(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        error: BaseException | None = None
        try:
            call()
        except OSError as raised:
            error = raised
        self.jobs.append(partial(done, error))
        if not self.held:
            self.release()

    def release(self) -> None:
        self.held = False
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            self.loop.call_soon(job)

    def close(self) -> None:
        """Nothing runs."""


class StoredChunk(NamedTuple):
    topic_id: bytes
    partition: int
    base: int
    data: bytes


class Copy:
    """One replica file, checked on arrival as rule 6 asks."""

    def __init__(self, first: bytes) -> None:
        header = decode_file_header(first)
        assert header is not None
        self.header = header
        self.data = bytearray()
        self.chain = header.chain
        self.frames: list[tuple[int, list[StoredChunk], dict[tuple[bytes, int], int] | None]] = []
        """End position, chunks, and for a state frame the end offset of each partition."""

    @property
    def end(self) -> int:
        return self.header.start + len(self.data)

    def append(self, frame: bytes) -> None:
        header = decode_frame_header(frame)
        assert header is not None
        assert header.previous == self.chain, "the chain is broken"
        assert head_is_sound(frame, 0, header)
        self.data += frame
        self.chain = header.chain
        if header.kind == KIND_STATE:
            states = decode_state(frame)
            assert states is not None
            ends = {(one.topic_id, one.index): one.end_offset for one in states}
            self.frames.append((self.end, [], ends))
            return
        at = FRAME_SIZE + ENTRY_SIZE * header.chunks
        chunks: list[StoredChunk] = []
        for fields in ENTRY.iter_unpack(frame[FRAME_SIZE:at]):
            assert not fields[11] & DIRECT
            data = frame[at : at + fields[9]]
            assert crc32c(data[CRC_FROM:]) == fields[10], "the memory of a chunk changed on its way"
            chunks.append(StoredChunk(fields[0], fields[1], fields[5], data))
            at += fields[9]
        assert at == header.length
        self.frames.append((self.end, chunks, None))

    def chunks(self, end: int) -> set[StoredChunk]:
        """What a reader clipped to ``end`` sees (rule 15)."""
        return {chunk for upto, chunks, _ in self.frames if upto <= end for chunk in chunks}


class Node:
    """One backup: copies by (vlog, seq)."""

    def __init__(self, node_id: int, vsegs: SimVsegs) -> None:
        self.target = CopyTarget(node_id, f"store-{node_id}")
        self.vsegs = vsegs
        self.copies: dict[tuple[int, int], Copy] = {}
        self.fence = 0
        self.full = self.refuses = False
        self.up = True
        self.silent = False
        """A member that takes nothing from the network."""
        self.drained = False

    def push(self, first: bytes | None, frame: bytes) -> PushAnswer:
        header = decode_frame_header(frame)
        assert header is not None
        if header.owner_epoch < self.fence:
            return PushAnswer(PushOutcome.FENCED)
        if self.refuses:
            return PushAnswer(PushOutcome.REFUSED)
        key = (header.vlog, header.vseg)
        record = self.vsegs.records[key]
        assert self.target in record.backups, "rule 4: pushed to a backup that the store does not list"
        copy = self.copies.get(key)
        if copy is None:
            if first is None:
                return PushAnswer(PushOutcome.GAP)
            if self.full:
                return PushAnswer(PushOutcome.FULL)
            copy = self.copies[key] = Copy(first)
        if header.position < copy.end:
            at = header.position - copy.header.start
            assert copy.data[at : at + len(frame)] == frame, "S10: other bytes at an old position"
        elif header.position > copy.end:
            return PushAnswer(PushOutcome.GAP, copy.end)
        elif self.full:
            return PushAnswer(PushOutcome.FULL, copy.end)
        else:
            copy.append(frame)
        return PushAnswer(PushOutcome.STORED, copy.end)


class Message(NamedTuple):
    node: Node
    first: bytes | None
    pieces: tuple[Buffer, ...]
    done: Callable[[PushAnswer], object]


class SimBackups:
    """The network to the backups: pushes wait in ``pushes``, answers in ``answers``."""

    def __init__(self, vsegs: SimVsegs) -> None:
        self.nodes = vsegs.nodes
        self.pushes: list[Message] = []
        self.answers: list[tuple[Message, PushAnswer]] = []
        self.instant = False

    def push(
        self,
        target: CopyTarget,
        first: bytes | None,
        pieces: Sequence[Buffer],
        done: Callable[[PushAnswer], object],
    ) -> None:
        message = Message(self.nodes[target.node_id], first, tuple(pieces), done)
        if self.instant:
            done(message.node.push(first, b"".join(pieces)))
        else:
            self.pushes.append(message)

    def deliver(self, choice: int) -> None:
        """One push arrives: any, but in order for each backup."""
        ready = [m for i, m in enumerate(self.pushes) if all(o.node is not m.node for o in self.pushes[:i])]
        ready = [m for m in ready if m.node.up and not m.node.silent]
        if ready:
            message = ready[choice % len(ready)]
            self.pushes.remove(message)
            self.answers.append((message, message.node.push(message.first, b"".join(message.pieces))))

    def answer(self, choice: int) -> None:
        """One answer arrives, in any order."""
        if self.answers:
            message, answer = self.answers.pop(choice % len(self.answers))
            message.done(answer)

    def cut(self, node: Node) -> None:
        """The connection breaks: what is on its way in either direction is lost."""
        lost = [m for m in self.pushes if m.node is node] + [m for m, _ in self.answers if m.node is node]
        self.pushes = [m for m in self.pushes if m.node is not node]
        self.answers = [one for one in self.answers if one[0].node is not node]
        for message in lost:
            message.done(PushAnswer(PushOutcome.UNREACHABLE))


class Record:
    """A virtual segment in the store."""

    def __init__(self, start: int, backups: tuple[CopyTarget, ...]) -> None:
        self.start = start
        self.end: int | None = None
        self.backups = backups


class SimVsegs:
    """The store; answers wait in ``answers``."""

    def __init__(self, others: int) -> None:
        self.records: dict[tuple[int, int], Record] = {}
        self.nodes = {i: Node(i, self) for i in range(1, others + 1)}
        self.answers: list[tuple[Callable[..., object], tuple[CopyTarget, ...] | None]] = []
        self.fenced = False
        self.instant = False
        self.told_lost = 0
        self.turns = 0
        self.requests: list[OpenVseg] = []

    def open_next(self, request: OpenVseg, done: Callable[[tuple[CopyTarget, ...] | None], object]) -> None:
        self.requests.append(request)
        if self.fenced:
            self._answer(done, None)
            return
        before = self.records.get((request.vlog, request.seq - 1))
        if request.seq > 1:
            assert before is not None
            assert before.end in (None, request.start), "closed twice"
            assert request.start >= before.start
            before.end = request.start
        else:
            assert request.start == 0
        assert (request.vlog, request.seq) not in self.records
        live = [n for n in self.nodes.values() if n.up and n.target.node_id not in request.exclude]
        live = [n for n in live if not n.drained] or live
        self.turns += 1
        first = self.turns % max(len(live), 1)
        chosen = (live[first:] + live[:first])[: request.copies - 1]
        backups = tuple(node.target for node in chosen)
        self.records[request.vlog, request.seq] = Record(request.start, backups)
        self._answer(done, backups)

    def _answer(self, done: Callable[..., object], backups: tuple[CopyTarget, ...] | None) -> None:
        if self.instant:
            done(backups)
        else:
            self.answers.append((done, backups))

    def answer(self) -> None:
        if self.answers:
            done, backups = self.answers.pop(0)
            done(backups)

    def on_ownership_lost(self) -> None:
        self.told_lost += 1


class ClusterWorld(World):
    """A `World` whose topics have ``copies`` copies; without ``others`` a broker that is no cluster."""

    loop: SimLoop
    vsegs: SimVsegs
    backups: SimBackups

    @staticmethod
    def begin(copies: int = 3, others: int = 3, **overrides: str) -> ClusterWorld:
        texts = SMALL_DISK | {"kproto.virtual.segment.bytes": "1048576", "kproto.journal.bytes": "33554432"}
        texts |= {name.replace("__", "."): value for name, value in overrides.items()}
        settings = load(None, texts)
        loop, poison = SimLoop(), list[str]()
        manager = VlogManager(
            "/data", settings, MemoryDisk(), loop.clock, loop, 1, poison.append, BOOT, partial(SimWorker)
        )
        world = ClusterWorld("/data", manager._disk, loop, 1, settings, manager, poison, [])
        world.vsegs = SimVsegs(others)
        world.backups = SimBackups(world.vsegs)
        if others:
            manager.replicate(world.backups, world.vsegs, lambda *_: copies)
        manager.members_changed(range(1, others + 1))
        return world

    def partition(self, topic: int = 1, index: int = 0, base: int = 0, **config: str) -> ClusterPartition:
        texts = {name.replace("__", "."): value for name, value in config.items()}
        one = ClusterPartition(self, topic, index, topic_config(texts, self.settings), base)
        self.partitions.append(one)
        return one

    @property
    def nodes(self) -> dict[int, Node]:
        return self.vsegs.nodes

    @property
    def parts(self) -> list[ClusterPartition]:
        return [part for part in self.partitions if isinstance(part, ClusterPartition)]

    @property
    def pushers(self) -> list[ReplicatedPusher]:
        return self.manager._replicated()

    def flow(self, rounds: int = 30) -> None:
        """Everything that is on its way arrives, for a while; no time passes."""
        for _ in range(rounds):
            self.loop.turn()
            if not (self.backups.pushes or self.backups.answers or self.vsegs.answers):
                return
            self.vsegs.answer()
            for _ in range(len(self.backups.pushes)):
                self.backups.deliver(0)
            for _ in range(len(self.backups.answers)):
                self.backups.answer(0)

    def pass_time(self, ticks: int) -> None:
        """So many times 0.6 s go by, with a tick of the manager, and everything arrives."""
        for _ in range(ticks):
            self.loop.advance(0.6)
            self.manager.tick()
            self.flow()

    def check(self) -> None:
        """S4 and S9, and what state frames say."""
        for pusher in self.pushers:
            self._check_chain(pusher)
        safe = self._on_all_copies()
        for part in self.parts:
            for base, data in part.chunks.items():
                if base < part.high_watermark:
                    found = StoredChunk(part.topic_id, part.index, base, data) in safe
                    assert found or part.on_own_disk(base), f"S4: {base} is exposed, not every copy has it"
        assert not self.loop.errors

    def _check_chain(self, pusher: ReplicatedPusher) -> None:
        vlog = pusher.vlog
        records = [r for key, r in sorted(self.vsegs.records.items()) if key[0] == vlog.vlog_id]
        for before, after in pairwise(records):
            assert before.end == after.start, "S9: the chain of virtual segments has a gap"
        for segment in vlog.segments:
            record = self.vsegs.records[vlog.vlog_id, segment.number]
            assert record.start == segment.start
            assert record.end is None or record.end == segment.end
            if vlog.lost:
                continue
            for target in record.backups if segment.durable > segment.start else ():
                copy = self.nodes[target.node_id].copies[vlog.vlog_id, segment.number]
                assert copy.end >= segment.durable, "rule 9: durable is what all copies have"

    def _on_all_copies(self) -> set[StoredChunk]:
        """Chunks that a recovery finds whichever eligible copies it asks (rules 15, 21 and 23)."""
        safe: set[StoredChunk] = set()
        for (vlog, seq), record in sorted(self.vsegs.records.items()):
            end = 1 << 62 if record.end is None else record.end
            everywhere: set[StoredChunk] | None = None
            for target in record.backups:
                copy = self.nodes[target.node_id].copies.get((vlog, seq))
                mine = copy.chunks(end) if copy is not None else set()
                everywhere = mine if everywhere is None else everywhere & mine
            safe |= everywhere or set()
        return safe

    def check_states(self) -> None:
        """A state frame stands exactly where it says: of each partition, every chunk before it in its virtual
        log ends at or below the end offset, every chunk behind it begins there or above, and what is below
        and not in this virtual log is in another (the partition moved)."""
        logs = self._frames()
        bases: dict[tuple[bytes, int], set[int]] = {}
        for frames in logs.values():
            for chunks, _ in frames:
                for chunk in chunks:
                    bases.setdefault(chunk[:2], set()).add(chunk.base)
        for frames in logs.values():
            for i, (_, states) in enumerate(frames):
                for part in [one for one in self.parts if states is not None and not one.deleted]:
                    key = (part.topic_id, part.index)
                    before = [c for chunks, _ in frames[:i] for c in chunks if c[:2] == key]
                    behind = [c.base for chunks, _ in frames[i:] for c in chunks if c[:2] == key]
                    end = (states or {}).get(key, 0)
                    assert all(_end(c) <= end for c in before), "a state frame lacks what is before it"
                    assert all(base >= end for base in behind), "a state frame tells of what is behind it"
                    below = {base for base in part.chunks if base < end} - part.alone
                    assert below <= bases.get(key, set()), "a state frame tells of what nobody has"

    def _frames(self) -> dict[int, list[tuple[list[StoredChunk], dict[tuple[bytes, int], int] | None]]]:
        """The frames of each virtual log in order, from the longest copies, clipped (rule 15)."""
        logs: dict[int, list[tuple[list[StoredChunk], dict[tuple[bytes, int], int] | None]]] = {}
        for (vlog, seq), record in sorted(self.vsegs.records.items()):
            copies = [self.nodes[target.node_id].copies.get((vlog, seq)) for target in record.backups]
            longest = max((copy for copy in copies if copy is not None), key=lambda c: c.end, default=None)
            for upto, chunks, states in longest.frames if longest is not None else ():
                if record.end is None or upto <= record.end:
                    logs.setdefault(vlog, []).append((chunks, states))
        return logs

    def heal(self) -> None:
        """Faults stop: all that was appended becomes durable, unless ownership is lost."""
        for node in self.nodes.values():
            node.up, node.full = True, False
        self.manager._disk.full = False  # type: ignore[attr-defined]
        self.manager._sync_worker.release()  # type: ignore[attr-defined]
        self.manager.members_changed(sorted(self.nodes))
        for _ in range(400):
            self.flow()
            if self.manager.lost or self.manager.drain():
                break
            self.loop.advance(0.25)
            self.manager.tick()
        if not self.manager.lost:
            for part in self.partitions:
                assert part.high_watermark == part.log_end_offset, "faults stopped, but not all is durable"


def _end(chunk: StoredChunk) -> int:
    """First offset behind it."""
    return chunk.base + int.from_bytes(chunk.data[57:61], "big")


class ClusterPartition(Partition):
    """A partition that remembers which chunks became durable without any backup (rule 18b)."""

    def __init__(self, world: World, topic: int, index: int, config: TopicConfig, base: int = 0) -> None:
        self.first = base
        self.alone: set[int] = set()
        super().__init__(world, topic, index, config, base)

    def on_durable(self, end_offset: int) -> None:
        if self.deleted:
            return
        assert end_offset > self.high_watermark, "the high watermark only goes up (rule 9)"
        assert not self.vlog.lost
        on_its_way = isinstance(self.vlog, Crossing) and not self.vlog.landed
        if (self.vlog.source if on_its_way else self.vlog).live_copies == 1:
            self.alone.update(base for base in self.chunks if self.high_watermark <= base < end_offset)
        super().on_durable(end_offset)

    def on_own_disk(self, base: int) -> bool:
        """Whether no backup was asked to hold this chunk."""
        return base in self.alone


def begun(copies: int = 3, others: int = 3, **overrides: str) -> tuple[ClusterWorld, ClusterPartition]:
    """A world with one partition, whose first chunk is on all copies."""
    world = ClusterWorld.begin(copies, others, **overrides)
    part = world.partition()
    part.append()
    world.flow()
    assert part.high_watermark == 1
    return world, part


def backups_of(world: ClusterWorld, seq: int, vlog: int = 1) -> list[int]:
    return [target.node_id for target in world.vsegs.records[vlog, seq].backups]
