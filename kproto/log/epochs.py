"""Which offsets were appended under which leader epoch (Kafka's LeaderEpochFileCache; rules 28 and 39). Pure.

The cache is the fold of the chunks' leader epochs (S14): `note` for every chunk, in order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from struct import Struct
from typing import Final

_ENTRY: Final = Struct(">iq")
UNDEFINED: Final = -1


class EpochCache:
    """Invariant: ``epochs`` and ``starts`` grow strictly and have the same length."""

    __slots__ = ("epochs", "starts")

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.starts: list[int] = []

    def note(self, epoch: int, base_offset: int) -> None:
        """A chunk of ``epoch`` starts at ``base_offset``."""
        if not self.epochs or epoch > self.epochs[-1]:
            if self.starts and self.starts[-1] >= base_offset:
                self.starts.pop()
                self.epochs.pop()
            self.epochs.append(epoch)
            self.starts.append(base_offset)

    @property
    def last(self) -> int:
        """The newest epoch with a chunk, or -1."""
        return self.epochs[-1] if self.epochs else UNDEFINED

    def of_offset(self, offset: int) -> int:
        """Epoch of the chunk at ``offset``, or -1 when nothing is known about it."""
        i = bisect_right(self.starts, offset) - 1
        return self.epochs[i] if i >= 0 else UNDEFINED

    def agrees(self, last: int, epoch: int) -> bool:
        """Whether a chunk may say that it is of ``epoch``: nothing else is known of its ``last`` offset. (It
        may begin below the log start, of which nothing is.) No checksum covers what it says."""
        return self.of_offset(last) in (epoch, UNDEFINED)

    def end_offset(self, epoch: int, leader_epoch: int, log_end_offset: int) -> tuple[int, int]:
        """``(epoch, end offset)`` as OffsetForLeaderEpoch answers (KIP-101, KIP-279); (-1, -1) when unknown.

        The leader's own epoch ends at the log's end, whether it has a chunk already or not. One below all
        that are known ends where these begin.
        """
        if epoch == leader_epoch:
            return epoch, log_end_offset
        if epoch == UNDEFINED or epoch > leader_epoch:
            return UNDEFINED, UNDEFINED
        i = bisect_right(self.epochs, epoch)
        end = self.starts[i] if i < len(self.starts) else log_end_offset
        return (self.epochs[i - 1] if i else epoch), end

    def cut_front(self, log_start: int) -> None:
        """Forget what lies below ``log_start``; the epoch that covers it now starts there."""
        i = bisect_right(self.starts, log_start) - 1
        if i >= 0:
            del self.epochs[:i], self.starts[:i]
            self.starts[0] = log_start

    def cut_end(self, end: int) -> None:
        """Forget what lies at or above offset ``end``."""
        keep = bisect_left(self.starts, end)
        del self.epochs[keep:], self.starts[keep:]

    def divergence(self, other: EpochCache, start: int, end: int) -> int:
        """The first offset in ``[start, end)`` whose chunk has another epoch in ``other``; ``end`` when there
        is none.

        A leader appends each offset once: chunks with the same offset and epoch are the same (rule 33).
        """
        steps = sorted({start, *self.starts, *other.starts})
        for offset in steps:
            if start <= offset < end and self.of_offset(offset) != other.of_offset(offset):
                return offset
        return end

    def encode(self) -> bytes:
        return b"".join(map(_ENTRY.pack, self.epochs, self.starts))

    @classmethod
    def decode(cls, data: bytes) -> EpochCache:
        cache = cls()
        for epoch, start in _ENTRY.iter_unpack(data):
            cache.note(epoch, start)
        return cache
