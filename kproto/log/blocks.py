"""Segment memory: blocks of a few size classes from one budget, reused because fresh pages cost
(docs/architecture.md, "Memory").

A block holds consecutive chunks of one segment. It is reused only when four things are over: the segment
file has its bytes, they are durable (until then a push may repeat them), it has left its segment, and
nobody looks at the memory any more. For the last one the ``bytearray`` itself is asked: it cannot be
resized while an answer on its way to a socket exports it.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kproto.memory import Spares, untouched

if TYPE_CHECKING:
    from kproto.log.segment import Segment

SIZES: Final = (4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144)
LARGEST: Final = SIZES[-1]
_RETRIES: Final = 8
_FUTILE: Final = 8
"""Flushes in a row that may free nothing, because what was flushed is not durable yet."""


class Block:
    """Memory of one segment from ``position`` on.

    ``used`` bytes are filled, chunk *i* starts at ``starts[i]`` and has base offset ``offsets[i]``;
    ``end_offset`` is where the last one ends. No chunk may go beyond ``limit``, which is the smaller of
    what the memory and the segment take.
    """

    __slots__ = (
        "base_offset",
        "data",
        "end_offset",
        "limit",
        "offsets",
        "position",
        "queued",
        "segment",
        "size_class",
        "starts",
        "used",
        "view",
        "weight",
    )

    def __init__(self, data: bytearray | memoryview, size_class: int, weight: int) -> None:
        self.data = data
        self.view = memoryview(data)
        self.size_class = size_class
        """Index into `SIZES`, or -1 for memory that is not reused."""
        self.weight = weight
        """Bytes it counts in the budget."""
        self.limit = len(data)
        self.used = 0
        self.position = 0
        self.base_offset = 0
        self.end_offset = 0
        self.queued = False
        """Waits in `BlockPool.clean`."""
        self.segment: Segment | None = None
        self.offsets = array("q")
        self.starts = array("I")


NO_BLOCK: Final = Block(bytearray(0), -1, 0)
"""The tail of a partition that has no memory: nothing fits in."""
NO_BLOCK.base_offset = 1 << 63


class BlockPool:
    """All segment memory of a broker.

    Invariant: ``used`` is the sum of the weights of all blocks given out, waiting in ``_resting`` or free.
    """

    __slots__ = (
        "_adopted",
        "_free",
        "_resting",
        "budget",
        "clean",
        "largest",
        "limit",
        "make_room",
        "spares",
        "stuck",
        "used",
    )

    def __init__(
        self,
        budget: int,
        limit: int,
        make_room: Callable[[], bool],
        stuck: Callable[[], bool],
        largest: int = 0,
    ) -> None:
        self.budget = budget
        """``kproto.log.memory.bytes``: beyond it blocks are flushed and evicted."""
        self.limit = limit
        """What may be used while everything beyond the budget is on its way to the journal."""
        self.largest = max(largest, limit)
        """Chunks up to this size are taken while little is used, though that goes beyond the limit."""
        self.stuck = stuck
        """Whether flushing is impossible (the disk is full): then the budget is the limit."""
        self.used = 0
        self.clean: OrderedDict[Block, None] = OrderedDict()
        """Blocks whose bytes are in their segment file, longest ago first: the read cache."""
        self.make_room = make_room
        """Flush something and return True, or return False when nothing can be flushed."""
        self._free: list[list[bytearray]] = [[] for _ in SIZES]
        self._resting: deque[tuple[int, bytearray]] = deque()
        """Memory that answers on their way still look at."""
        self._adopted: dict[int, list[int]] = {}
        self.spares = Spares()
        """Takes adopted memory when no block is left in it."""

    def take(self, size_class: int) -> Block | None:
        """An empty block of ``SIZES[size_class]`` bytes; None when nothing more may be used."""
        size = SIZES[size_class]
        free = self._free[size_class]
        if not free and self.used + size > self.budget:
            self._reclaim(size, size_class)
        if not free and self._resting:
            self._wake()
        if free:
            return Block(free.pop(), size_class, size)
        if not self._may_grow(size):
            return None
        return self._new(size_class, size)

    def take_large(self, size: int) -> Block | None:
        """A block for one chunk larger than the largest class; None as in `take`."""
        if self.used + size > self.budget:
            self._reclaim(size, -1)
            if not self._may_grow(size):
                return None
        return self._new(-1, size)

    def _new(self, size_class: int, size: int) -> Block:
        """Counted when it is there: MemoryError passes through."""
        block = Block(bytearray(size), size_class, size)
        self.used += size
        return block

    def adopt(self, chunk: memoryview) -> Block | None:
        """Make memory that its owner gives away a block, without copying; None as in `take`.

        What counts is the whole object behind the view, once, however many of its chunks are kept.
        """
        owner = chunk.obj
        kept = self._adopted.get(id(owner))
        if kept is None:
            size = memoryview(owner).nbytes
            if self.used + size > self.budget:
                self._reclaim(size, -1)
                if not self._may_grow(size):
                    return None
            kept = self._adopted[id(owner)] = [0, size]
            self.used += size
        kept[0] += 1
        return Block(chunk, -1, -1)

    def release(self, block: Block) -> None:
        """Take back a block that no segment holds any more."""
        data = block.data
        if block.weight < 0:
            assert isinstance(data, memoryview)
            owner = data.obj
            kept = self._adopted[id(owner)]
            kept[0] -= 1
            if kept[0] == 0:
                del self._adopted[id(owner)]
                self.used -= kept[1]
                self.spares.give(owner)  # type: ignore[arg-type]
            return
        if block.size_class < 0:
            self.used -= block.weight
            return
        assert isinstance(data, bytearray)
        block.view.release()
        if self.used > self.budget:
            self.used -= block.weight
        elif untouched(data):
            self._free[block.size_class].append(data)
        else:
            self._resting.append((block.size_class, data))

    def forget(self, block: Block) -> None:
        """The block's data is deleted, but a push may still read it: leave the memory to the garbage
        collector.
        """
        if block.weight < 0:
            self.release(block)
        else:
            self.used -= block.weight
        block.segment = None
        if block.queued:  # else the queue kept its memory until somebody wants room, which may be never
            block.queued = False
            del self.clean[block]

    def written(self, block: Block) -> None:
        """All bytes of ``block`` are in the segment file: it may be evicted when memory is needed."""
        if not block.queued:
            block.queued = True
            self.clean[block] = None

    def evict(self) -> bool:
        """Evict the block that was written longest ago; False when none can go."""
        for _ in range(min(len(self.clean), _RETRIES)):
            block, _none = self.clean.popitem(last=False)
            block.queued = False
            segment = block.segment
            if segment is None or block.position + block.used > segment.flushed:
                continue
            if segment.evict(block):
                return True
            self.written(block)
        return False

    def _reclaim(self, size: int, size_class: int) -> None:
        """Evict, flushing when that is needed, until ``size`` more bytes fit or a block of the class is
        free.
        """
        futile = 0
        while self.used + size > self.budget and not (size_class >= 0 and self._free[size_class]):
            if self.evict():
                futile = 0
            elif futile == _FUTILE or not self.make_room():
                return
            else:
                futile += 1
            if size_class < 0:
                self._drop_free(size)

    @property
    def short(self) -> bool:
        """More than half of what may be used beyond the budget is used."""
        return self.used > (self.budget + self.limit) // 2

    def _may_grow(self, size: int) -> bool:
        """Whether ``size`` more bytes may be used, perhaps instead of free ones of other classes."""
        if self.used + size <= self.budget or self._drop_free(size):
            return True
        fits = self.used + size <= self.limit or (size <= self.largest and not self.short)
        return fits and not self.stuck()

    def _wake(self) -> None:
        """See whether memory that rested is free now."""
        for _ in range(min(len(self._resting), _RETRIES)):
            size_class, data = self._resting.popleft()
            if untouched(data):
                self._free[size_class].append(data)
            else:
                self._resting.append((size_class, data))

    def _drop_free(self, size: int) -> bool:
        """Give free blocks of other classes back to the system until ``size`` more bytes fit."""
        for free, each in zip(reversed(self._free), reversed(SIZES), strict=True):
            while free and self.used + size > self.budget:
                free.pop()
                self.used -= each
        return self.used + size <= self.budget

    def trim(self) -> None:
        """Give all free memory back to the system; for a log that has become idle."""
        self._wake()
        self._drop_free(self.budget)
        self.spares.shrink(0)


def size_class_for(size: int) -> int:
    """The smallest class that holds ``size`` bytes, or -1."""
    for i, each in enumerate(SIZES):
        if size <= each:
            return i
    return -1
