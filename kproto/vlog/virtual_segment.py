"""One virtual segment: header (next free), durable header, and how far each copy got. Pure.

Positions are bytes of the virtual log, growing over all its segments; a segment covers ``[start, end)``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kproto.check import check

if TYPE_CHECKING:
    from kproto.disk import Buffer
    from kproto.log.chunk import ChunkRef


class Progress:
    """How far one copy of a virtual segment is. Invariant: ``acked <= sent <= queued``.

    The next thing to send is derived from these values alone, so the thirtieth failure takes the same way
    through the code as the first (STYLE 1.3): ``sent`` of a failed copy goes back.
    """

    __slots__ = ("acked", "queued", "sent")

    def __init__(self, start: int) -> None:
        self.queued = start
        self.sent = start
        self.acked = start

    def check(self) -> None:
        if not self.acked <= self.sent <= self.queued:
            check(False, f"copy progress: acked {self.acked}, sent {self.sent}, queued {self.queued}")


class Frame:
    """One push: what was taken from the pending references, its place, and what becomes durable with it.

    ``pieces`` are the buffers to write, in order; they and ``refs`` are kept until every copy has acked, so
    that the frame can be sent again. ``ends`` maps each partition to the end offset that becomes durable;
    ``upto`` is the append count of the virtual log that the frame completes.
    """

    __slots__ = ("chain", "ends", "length", "pieces", "position", "refs", "upto")

    def __init__(
        self,
        position: int,
        length: int,
        pieces: list[Buffer],
        refs: list[ChunkRef],
        ends: dict[Any, int],
        upto: int,
        chain: int,
    ) -> None:
        self.position = position
        self.length = length
        self.pieces = pieces
        self.refs = refs
        self.ends = ends
        self.upto = upto
        self.chain = chain


class Stripe:
    """A stretch of a virtual segment for the cleaner and the checkpoint: which segments it needs, up to
    where.

    ``extents`` maps a segment to the segment position that must be in its file (flushed: a scan need not
    begin before the next stripe; synced: the stripe is not needed at all). ``chain`` continues at ``start``.
    """

    __slots__ = ("chain", "extents", "start")

    def __init__(self, start: int, chain: int) -> None:
        self.start = start
        self.chain = chain
        self.extents: dict[Any, int] = {}


class VirtualSegment:
    """An ordered list of frames with one `Progress` for each copy (index 0: the owner's journal).

    Invariants: ``start <= durable <= end``; ``durable`` is the least ``acked`` and never falls (rule 9);
    frames are contiguous; nothing is added once ``closed``.
    """

    __slots__ = (
        "_done_chain",
        "capacity",
        "chain",
        "closed",
        "copies",
        "durable",
        "end",
        "frames",
        "number",
        "start",
        "stripe_bytes",
        "stripes",
    )

    def __init__(self, number: int, start: int, capacity: int, copies: int, chain: int) -> None:
        self.number = number
        self.start = start
        self.capacity = capacity
        self.end = start
        self.durable = start
        self.chain = chain
        """Of the last frame below `end`."""
        self._done_chain = chain
        """Of the last one that `finished` returned."""
        self.closed = False
        self.copies = [Progress(start) for _ in range(copies)]
        self.frames: deque[Frame] = deque()
        """Frames that are not durable yet, oldest first."""
        self.stripe_bytes = max(capacity // 8, 1)
        self.stripes = [Stripe(start, chain)]

    def room(self) -> int:
        """Bytes that still fit."""
        return self.start + self.capacity - self.end

    def stripe(self) -> Stripe:
        """The stretch that the next frame belongs to."""
        last = self.stripes[-1]
        if self.end - last.start >= self.stripe_bytes:
            last = Stripe(self.end, self.chain)
            self.stripes.append(last)
        return last

    def add(self, frame: Frame) -> None:
        """Queue ``frame`` for every copy; it must begin where the last one ended and fit."""
        end = frame.position + frame.length
        if self.closed or frame.position != self.end or end > self.start + self.capacity:
            check(
                False,
                f"frame {frame.position}+{frame.length} does not continue vseg {self.number} "
                f"({self.start}..{self.end}, capacity {self.capacity}, closed {self.closed})",
            )
        self.end = end
        self.chain = frame.chain
        self.frames.append(frame)
        for copy in self.copies:
            copy.queued = end

    def unsent(self, copy: int) -> Frame | None:
        """The next frame that ``copy`` needs; None when all are on their way."""
        sent = self.copies[copy].sent
        if sent == self.end:
            return None
        return next((frame for frame in self.frames if frame.position >= sent), None)

    def lacks(self, copy: int, count: int, size: int) -> list[Frame]:
        """The next frames that ``copy`` needs: only so many that no more than ``count``, nor than ``size``
        bytes but for a single one, are on their way to it then."""
        progress = self.copies[copy]
        found: list[Frame] = []
        flying = 0
        for frame in self.frames:
            if frame.position < progress.acked:
                continue
            if flying and (flying == count or frame.position + frame.length > progress.acked + size):
                break
            flying += 1
            if frame.position >= progress.sent:
                found.append(frame)
        return found

    def takes(self, copy: int, frame: Frame, size: int) -> bool:
        """Whether ``copy`` was sent all before ``frame``, and no more than ``size`` bytes, but for a single
        frame, are on their way to it with this one."""
        progress, position = self.copies[copy], frame.position
        if progress.sent != position:
            return False
        return progress.acked == position or position + frame.length - progress.acked <= size

    def sent(self, copy: int, frame: Frame) -> None:
        """``frame`` is on its way to ``copy``."""
        progress = self.copies[copy]
        if progress.sent != frame.position:
            check(False, f"frame {frame.position} sent after {progress.sent}: a gap in a copy")
        progress.sent = sent = frame.position + frame.length
        if not progress.acked <= sent <= progress.queued:
            progress.check()

    def acked(self, copy: int, position: int) -> None:
        """``copy`` holds everything below ``position``; may move the durable header.

        An old answer (at or below what is acked already) changes nothing (rule 6: the same bytes again are
        acked again).
        """
        progress = self.copies[copy]
        if position <= progress.acked:
            return
        progress.acked = position
        if position > progress.sent:
            progress.check()
        copies = self.copies
        self._advance(position if len(copies) == 1 else min([one.acked for one in copies]))

    def _advance(self, durable: int) -> None:
        """Move the durable header; the only place that does."""
        if not self.durable <= durable <= self.end:
            check(False, f"durable {durable} outside {self.durable}..{self.end}")
        self.durable = durable

    def finished(self) -> list[Frame]:
        """Remove and return the frames below the durable header, in order."""
        done: list[Frame] = []
        frames = self.frames
        while frames and frames[0].position + frames[0].length <= self.durable:
            done.append(frames.popleft())
        if done:
            self._done_chain = done[-1].chain
        return done

    def failed(self, copy: int, position: int) -> None:
        """What was sent to ``copy`` from ``position`` on must be sent again. What was sent before that may be
        acked yet."""
        progress = self.copies[copy]
        progress.sent = max(min(progress.sent, position), progress.acked)

    def close(self, end: int) -> list[Frame]:
        """No more frames; the segment ends at ``end`` (rule 13: at its durable header when a copy is lost).

        Returns the frames at or above ``end``, which have no place any more, oldest first.
        """
        check(
            self.durable <= end <= self.end,
            f"vseg {self.number} closed at {end}, outside {self.durable}..{self.end}",
        )
        dropped: list[Frame] = []
        while self.frames and self.frames[-1].position >= end:
            dropped.append(self.frames.pop())
        self.end = end
        self.chain = self.frames[-1].chain if self.frames else self._done_chain
        for copy in self.copies:
            copy.queued = end
            copy.sent = min(copy.sent, end)
            copy.acked = min(copy.acked, end)
        while len(self.stripes) > 1 and self.stripes[-1].start >= end:
            self.stripes.pop()
        self.closed = True
        dropped.reverse()
        return dropped

    def forget_done(self) -> Iterator[None]:
        """Forget extents that are done, wherever they are, and with them the partitions; a stripe a step."""
        for stripe in list(self.stripes):
            stripe.extents = _pending(stripe, "synced")
            yield

    def needed_from(self, level: str) -> Stripe | None:
        """The first stripe with a chunk whose segment file is not ``level`` ("flushed" or "synced") that far;
        synced counts only when all segments before it are, too: what the partition has in other virtual logs.

        Forgets extents that are done. None: the whole segment is in segment files.
        """
        for stripe in self.stripes:
            pending = _pending(stripe, level)
            if level == "synced":
                stripe.extents = pending
            if pending:
                return stripe
        return None


def _pending(stripe: Stripe, level: str) -> dict[Any, int]:
    synced = level == "synced"
    return {
        segment: end
        for segment, end in stripe.extents.items()
        if getattr(segment, level) < end or (synced and segment.before())
    }
