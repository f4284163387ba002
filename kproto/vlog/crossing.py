"""A partition on its way from one virtual log to another (rule 12).

It may append to the other one once everything it has in the first is durable. A busy partition always has
something on its way, so what is appended meanwhile waits here, and goes on in one piece. Nothing is refused,
and nobody else waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kproto.log.chunk import ChunkRef
    from kproto.log.ports import VirtualLogPort
    from kproto.vlog.virtual_log import VirtualLog


class Crossing:
    """Implements ``log.ports.VirtualLogPort``. Append counts are its own; after `land` they are looked up in
    the virtual log that has the chunks now.

    Invariants: ``refs`` and ``waiters`` are empty once it has landed, or is lost.
    """

    __slots__ = ("_base", "_lost", "ahead", "end", "refs", "source", "waiters")

    def __init__(self, source: VirtualLog, ahead: VirtualLog) -> None:
        self.source = source
        self.ahead: VirtualLogPort = ahead
        """Where it goes, as far as one can tell; since it landed, where it went."""
        self.end = 0
        self.refs: list[ChunkRef] = []
        self.waiters: list[tuple[int, bool, Callable[[], object]]] = []
        """Append count, whether the journal is enough, whom to tell."""
        self._base = -1
        """Append count there of the first one here; -1 on the way."""
        self._lost = False

    @property
    def landed(self) -> bool:
        """Everything went on."""
        return self._base >= 0

    @property
    def durable(self) -> int:
        return min(max(self.ahead.durable - self._base, 0), self.end) if self.landed else 0

    @property
    def lost(self) -> bool:
        return self._lost or self.ahead.lost or (self.source.lost and not self.landed)

    @property
    def retiring(self) -> bool:
        return self.ahead.retiring or self.source.retiring

    @property
    def blocked(self) -> bool:
        return self._lost or self.ahead.blocked or self.source.blocked

    @property
    def copies(self) -> int:
        """Of what the partition has so far: more are to come."""
        return self.ahead.copies if self.landed else self.source.copies

    @property
    def live_copies(self) -> int:
        return self.ahead.live_copies

    def places(self) -> list[tuple[int, int, int]]:
        """See `VirtualLogPort`."""
        return [*self.source.places(), *self.ahead.places()]

    def append(self, ref: ChunkRef) -> None:
        """See `VirtualLogPort`."""
        self.refs.append(ref)
        self.end += 1

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        """See `VirtualLogPort`."""
        self._when(position, False, callback)

    def when_written(self, position: int, callback: Callable[[], object]) -> None:
        """See `VirtualLogPort`."""
        self._when(position, True, callback)

    def _when(self, position: int, written: bool, callback: Callable[[], object]) -> None:
        if self.landed:
            when = self.ahead.when_written if written else self.ahead.when_durable
            when(self._base + position, callback)
        elif self._lost:
            callback()
        else:
            self.waiters.append((position, written, callback))

    def land(self, target: VirtualLog) -> None:
        """Everything the partition has in ``source`` is durable: go on in ``target``."""
        self.ahead = target
        self._base = target.end
        refs, self.refs = self.refs, []
        for ref in refs:
            target.append(ref)
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            self._when(*waiter)

    def sink(self) -> list[Callable[[], object]]:
        """The partition was closed, or ownership lost: nothing goes on. Returns whom to tell."""
        self._lost = True
        self.refs = []
        waiters, self.waiters = self.waiters, []
        return [callback for _, _, callback in waiters]
