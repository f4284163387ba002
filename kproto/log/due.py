"""Partitions that are to be written to their files soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.log.partition import Partition

BYTES_A_TURN: Final = 8 * 1024 * 1024
"""After so many bytes the others wait for the next turn of the event loop: writing holds it up."""
A_PARTITION: Final = 64 * 1024
"""Counted for each beside its bytes: opening a file or two takes as long as writing so many."""


class Due(dict["Partition", None]):
    """Writes each at the end of this turn of the event loop, or of one of the next; first come first. One
    with more than a turn's bytes, a batch of tens of megabytes say, takes several.

    Invariant: while there is a partition a turn is deferred, or goes on.
    """

    __slots__ = ("_defer", "_flush")

    def __init__(
        self, flush: Callable[[Partition], object], defer: Callable[[Callable[[], object]], object]
    ) -> None:
        super().__init__()
        self._flush = flush
        self._defer = defer

    def add(self, partition: Partition) -> None:
        """Write ``partition`` soon, unless it is taken out before."""
        if not self:
            self._defer(self._turn)
        self[partition] = None

    def _turn(self) -> None:
        left = BYTES_A_TURN
        try:
            while self and left > 0:
                partition = next(iter(self))
                dirty = partition.dirty_bytes
                if dirty > BYTES_A_TURN and _write_ahead(partition):
                    break
                left -= dirty + A_PARTITION
                del self[partition]
                self._flush(partition)
        finally:  # one that fails keeps nobody else from being written
            if self:
                self._defer(self._turn)


def _write_ahead(partition: Partition) -> int:
    """Bytes written in this turn; what fails does so again, when it is flushed, and is dealt with there."""
    try:
        return partition.write_ahead(BYTES_A_TURN)
    except OSError:
        return 0
