"""A virtual log on its owner: pending references, ordered virtual segments, what is durable, who waits. Pure.

Two scales: *append counts* (``end``, ``durable``: how many references were appended, how many of them are
durable; what partitions and waiters use) and *positions* (bytes of frames; what copies and files use).
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from kproto.check import check
from kproto.vlog.virtual_segment import Frame, VirtualSegment

if TYPE_CHECKING:
    from kproto.log.chunk import ChunkRef

OWNER: Final = 0
"""Index of the owner's own copy, the journal; backups follow."""
_POSITION = itemgetter(0)


def _nobody() -> None:
    """The wake-up of a virtual log that has no pusher."""


class VirtualLog:
    """One virtual log of ``copies`` copies (1: only the owner's journal).

    Invariants: ``durable <= framed <= end``; ``end - framed == len(pending)``; exactly the last segment may
    be open; segment *i* ends where segment *i+1* starts (rule 11); a reference is in ``pending`` or in one
    undurable frame. Implements ``log.ports.VirtualLogPort``.
    """

    __slots__ = (
        "blocked",
        "copies",
        "durable",
        "end",
        "framed",
        "hurried",
        "hurry",
        "live_copies",
        "lost",
        "numbered",
        "owner_epoch",
        "pending",
        "position",
        "retiring",
        "segments",
        "unfinished",
        "vlog_id",
        "waiters",
        "wake",
        "written",
    )

    def __init__(self, vlog_id: int, owner_epoch: int, copies: int = 1) -> None:
        self.vlog_id = vlog_id
        self.owner_epoch = owner_epoch
        self.copies = copies
        self.end = 0
        self.framed = 0
        self.durable = 0
        self.pending: list[ChunkRef] = []
        self.position = 0
        """Where the next frame goes."""
        self.segments: list[VirtualSegment] = []
        """Those whose files are still needed, oldest first; only the last may be open."""
        self.unfinished: deque[VirtualSegment] = deque()
        """Segments with frames that are not durable, oldest first."""
        self.numbered = 0
        self.blocked = False
        """Appends must be refused: the disk is full, the journal poisoned, or the virtual log `lost`."""
        self.retiring = False
        """Its partitions are being handed over (rule 12b): appends are refused, what was appended becomes
        durable."""
        self.lost = False
        """The owner epoch is over (rule 16): nothing becomes durable any more, whoever waits is called."""
        self.live_copies = copies
        """Copies that new appends get; fewer than ``copies`` while backups lack (rule 18)."""
        self.waiters: list[tuple[int, Callable[[], object]]] = []
        self.wake: Callable[[], object] = _nobody
        """Called when a reference arrives and none was pending."""
        self.written = 0
        """So many appends have been in the owner's journal, whoever has copies of them."""
        self.hurried: list[tuple[int, Callable[[], object]]] = []
        """Who waits for the journal only."""
        self.hurry: Callable[[], object] = _nobody
        """Called when somebody does."""

    # What partitions call

    def places(self) -> list[tuple[int, int, int]]:
        """See `VirtualLogPort`: the one before may have been closed since."""
        numbers = range(max(self.numbered - 1, 1), self.numbered + 1)
        return [(self.owner_epoch, self.vlog_id, number) for number in numbers]

    def append(self, ref: ChunkRef) -> None:
        """Add a reference; it is pushed with everything else of this turn of the loop."""
        pending = self.pending
        if not pending:
            self.wake()
        pending.append(ref)
        self.end += 1

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        """Call ``callback()`` once the first ``position`` appends are durable; at once when they are.

        Callbacks fire by position, those of one position in order of registration, after the high watermarks
        have moved. When the virtual log is lost, all of them are called: look at ``lost``, for such an
        append is neither durable nor refused (rule 10).
        """
        if position > self.end:
            check(False, f"waiting for append {position}, only {self.end} were made")
        if position <= self.durable or self.lost:
            callback()
        elif not self.waiters or self.waiters[-1][0] <= position:
            self.waiters.append((position, callback))
        else:
            insort(self.waiters, (position, callback), key=_POSITION)

    def when_written(self, position: int, callback: Callable[[], object]) -> None:
        """The same once the first ``position`` appends are in the owner's journal (acks=1)."""
        if self.copies == 1:
            self.when_durable(position, callback)
        elif position <= self.written or self.lost:
            callback()
        else:
            self.hurried.append((position, callback))
            self.hurry()

    # What the pusher calls

    def note_written(self, upto: int) -> list[Callable[[], object]]:
        """The first ``upto`` appends are in the journal; returns whom to tell, in order."""
        if upto <= self.written:
            return []
        self.written = upto
        told = [callback for position, callback in self.hurried if position <= upto]
        self.hurried = [one for one in self.hurried if one[0] > upto]
        return told

    @property
    def open_segment(self) -> VirtualSegment | None:
        """The segment that takes frames; None before the first one and between two."""
        if self.segments and not self.segments[-1].closed:
            return self.segments[-1]
        return None

    def take(self, count: int) -> list[ChunkRef]:
        """Remove the oldest ``count`` references from ``pending``; they must go into the next frame."""
        if count >= len(self.pending):
            taken, self.pending = self.pending, []
        else:
            taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def add(self, frame: Frame) -> None:
        """Queue ``frame``, made of the references taken last."""
        segment = self.segments[-1]
        if frame.upto != self.framed + len(frame.refs) or frame.upto + len(self.pending) != self.end:
            check(
                False,
                f"frame completes append {frame.upto}, but {self.framed} are framed and {len(self.pending)} "
                f"of {self.end} pending: were references lost?",
            )
        segment.add(frame)
        if len(segment.frames) == 1:
            self.unfinished.append(segment)
        self.framed = frame.upto
        self.position = segment.end

    def open(self, capacity: int, chain: int, copies: int = 0) -> VirtualSegment:
        """Open the next segment where the last one ended (its copies' places are reserved already, rule
        11), with ``copies`` of them when there are fewer than usual (rule 18)."""
        check(self.open_segment is None, f"vlog {self.vlog_id} has an open segment already")
        self.numbered += 1
        self.live_copies = copies or self.copies
        segment = VirtualSegment(self.numbered, self.position, capacity, self.live_copies, chain)
        self.segments.append(segment)
        return segment

    def close(self) -> None:
        """Close the open segment at its end; what is on its way to copies still becomes durable."""
        segment = self.open_segment
        if segment is not None:
            segment.close(segment.end)

    def abandon(self) -> None:
        """Rule 13: close the open segment at its durable header; what was not durable is pending again."""
        segment = self.segments[-1]
        dropped = segment.close(segment.durable)
        self.position = segment.end
        again = [ref for frame in dropped for ref in frame.refs]
        self.pending = again + self.pending
        self.framed -= len(again)
        self.unfinished = deque(one for one in self.unfinished if one.frames)
        check(self.durable <= self.framed, f"abandoned {len(again)} references, below durable {self.durable}")

    def ack(self, copy: int, segment: VirtualSegment, position: int) -> list[Frame]:
        """``copy`` holds ``segment`` up to ``position``; returns the frames to apply, durable now, in order.

        A frame is durable only when every earlier one is: those of a later segment wait for the segment
        before.
        """
        segment.acked(copy, position)
        done: list[Frame] = []
        unfinished = self.unfinished
        while unfinished:
            done += unfinished[0].finished()
            if unfinished[0].frames:
                break
            unfinished.popleft()
        if done:
            upto = done[-1].upto
            if not self.durable <= upto <= self.framed:
                check(False, f"durable would go from {self.durable} to {upto}, framed {self.framed}")
            self.durable = upto
        return done

    def fired(self) -> list[tuple[int, Callable[[], object]]]:
        """The waiters whose position is durable, removed, in order."""
        waiters = self.waiters
        durable = self.durable
        if not waiters or waiters[0][0] > durable:
            return []
        if waiters[-1][0] <= durable:
            self.waiters = []
            return waiters
        count = next(i for i, waiter in enumerate(waiters) if waiter[0] > durable)
        self.waiters = waiters[count:]
        return waiters[:count]

    def fail(self) -> list[Callable[[], object]]:
        """The owner epoch is over (rule 16): take nothing more; returns whom to tell, in order."""
        self.lost = True
        self.blocked = True
        waiters, self.waiters = self.waiters + self.hurried, []
        self.hurried = []
        return [callback for _, callback in waiters]

    def forget(self, segment: VirtualSegment) -> None:
        """Drop the oldest closed segment, all of whose chunks are in synced segment files."""
        check(
            segment is self.segments[0] and segment.closed, f"vseg {segment.number} is open or not the oldest"
        )
        check(not segment.frames, f"vseg {segment.number} still has frames in flight")
        del self.segments[0]

    def state(self) -> dict[str, Any]:
        """The values an operator asks for (``kproto vlogs``)."""
        return {
            "vlog": self.vlog_id,
            "owner_epoch": self.owner_epoch,
            "copies": self.copies,
            "appended": self.end,
            "durable": self.durable,
            "pending": len(self.pending),
            "segments": [(s.number, s.start, s.end, s.durable, s.closed) for s in self.segments],
            "blocked": self.blocked,
            "lost": self.lost,
        }
