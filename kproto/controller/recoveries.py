"""What became of every broker that was lost or started again: the figures behind ``kproto recovery``. Pure.

Times are seconds since the loss was noticed. A recovery belongs to the owner epoch that ended; it is over
when all its virtual segments are closed and all streamlets it led were committed by others (or deleted).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VsegRecord

KEPT: Final = 100
"""Recoveries that are remembered."""

StreamletName = tuple[bytes, int]


@dataclass(slots=True)
class Recovery:
    """One owner epoch that ended. Seconds are None until the step is done."""

    node_id: int
    epoch: int
    cause: str
    wall_ms: int
    noticed: float
    fenced: float | None = None
    sealed: float | None = None
    assigned: float | None = None
    committed: float | None = None
    vsegs: int = 0
    """Virtual segments that it left open."""
    bytes: int = 0
    """What they hold up to their ends."""
    streamlets: int = 0
    """Streamlets that got a leader."""
    attempts: int = 0
    """Times that a streamlet was given to a leader; more than streamlets when leaders were lost, too."""
    leaders: set[int] = field(default_factory=set)
    waiting: set[StreamletName] = field(default_factory=set)

    def row(self) -> dict[str, Any]:
        """JSON; seconds rounded to microseconds."""
        return {
            "node": self.node_id,
            "epoch": self.epoch,
            "cause": self.cause,
            "wall_ms": self.wall_ms,
            "fenced_s": _since(self.noticed, self.fenced),
            "sealed_s": _since(self.noticed, self.sealed),
            "assigned_s": _since(self.noticed, self.assigned),
            "committed_s": _since(self.noticed, self.committed),
            "vsegs": self.vsegs,
            "bytes": self.bytes,
            "streamlets": self.streamlets,
            "attempts": self.attempts,
            "leaders": sorted(self.leaders),
            "uncommitted": len(self.waiting),
        }


class Recoveries:
    """The latest recoveries, newest last. All times are of one monotonic clock."""

    __slots__ = ("_all", "_by_epoch")

    def __init__(self) -> None:
        self._all: deque[Recovery] = deque()
        self._by_epoch: dict[int, Recovery] = {}

    def ended(self, node_id: int, epoch: int, cause: str, noticed: float, now: float, wall_ms: int) -> None:
        """An owner epoch is no member any more: it was fenced (rule 19) or its broker started again (2)."""
        recovery = Recovery(node_id, epoch, cause, wall_ms, noticed, fenced=now)
        self._all.append(recovery)
        self._by_epoch[epoch] = recovery
        if len(self._all) > KEPT:
            oldest = self._all.popleft()
            if self._by_epoch.get(oldest.epoch) is oldest:  # one found at the start ends once more
                del self._by_epoch[oldest.epoch]

    def closed(self, vsegs: Iterable[VsegRecord], now: float) -> None:
        """Ends of virtual segments were written."""
        for vseg in vsegs:
            recovery = self._by_epoch.get(vseg.id.owner_epoch)
            if recovery is not None and vseg.end is not None:
                recovery.vsegs += 1
                recovery.bytes += vseg.end - vseg.start
                recovery.sealed = now

    def assigned(self, records: Iterable[StreamletRecord], now: float) -> None:
        """Streamlets were given to leaders that rebuild them."""
        for record in records:
            recovery = self._of(record)
            if recovery is not None:
                name = record.topic_id, record.index
                recovery.streamlets += name not in recovery.waiting
                recovery.attempts += 1
                recovery.waiting.add(name)
                recovery.leaders.add(record.leader)
                recovery.assigned = now
                recovery.committed = None

    def committed(self, records: Iterable[StreamletRecord], now: float) -> None:
        """Streamlets went online; ``records`` as they were just before."""
        for record in records:
            self._done(record, now)

    def deleted(self, topic_ids: Set[bytes], now: float) -> None:
        """Streamlets of deleted topics need no recovery."""
        for recovery in self._all:
            names = {name for name in recovery.waiting if name[0] in topic_ids}
            if names:
                recovery.waiting -= names
                if not recovery.waiting:
                    recovery.committed = now

    def rows(self) -> list[dict[str, Any]]:
        """All that are remembered, newest last, as JSON."""
        return [recovery.row() for recovery in self._all]

    def _of(self, record: StreamletRecord) -> Recovery | None:
        return self._by_epoch.get(record.sources[-1]) if record.sources else None

    def _done(self, record: StreamletRecord, now: float) -> None:
        recovery = self._of(record)
        if recovery is not None:
            recovery.waiting.discard((record.topic_id, record.index))
            if not recovery.waiting:
                recovery.committed = now


def summary(
    rows: Sequence[dict[str, Any]], stuck: Sequence[str], repairs: dict[str, int], lost: Sequence[str] = ()
) -> dict[str, Any]:
    """The answer to the proposal ``recoveries``."""
    return {"recoveries": list(rows), "waiting": list(stuck), "repairs": repairs, "lost": list(lost)}


def _since(began: float, at: float | None) -> float | None:
    return None if at is None else round(at - began, 6)
