"""Batches that were refused before there was a partition to remember it: this broker has not heard of the
topic yet, or not that it leads it, cannot open it, or has too few copies.

What their producers sent behind them, without waiting, arrives when that may be over. An unknown producer may
begin with any sequence, and librdkafka takes what lies before one that was stored for stored, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kproto.errors import ErrorCode
from kproto.log.producers import Producers
from kproto.wire.batch import HEADER, HEADER_SIZE

if TYPE_CHECKING:
    from kproto.handlers.produce_wire import Key
    from kproto.log.partition import Partition
    from kproto.wire.primitives import Buf

KEPT: Final = 1_000
"""Batches that are remembered; more are forgotten together."""
LONGEST_KEY: Final = 256
"""No topic has a longer name, however large a request may be."""
_COMES_AGAIN: Final = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)


class RefusedEarly:
    """By what a request calls the topic, and partition."""

    __slots__ = ("_count", "_known")

    def __init__(self) -> None:
        self._known: dict[tuple[Key, int], Producers] = {}
        self._count = 0

    def note(self, key: Key, index: int, code: ErrorCode, batch: Buf | None, now_ms: int) -> None:
        """``batch`` was refused with ``code``."""
        if code not in _COMES_AGAIN or len(key) > LONGEST_KEY:
            return
        if batch is None or len(batch) < HEADER_SIZE:
            return
        pid, epoch, sequence = HEADER.unpack_from(batch)[9:12]
        if pid < 0:
            return
        if self._count >= KEPT:
            self._known.clear()
            self._count = 0
        self._count += 1
        self._known.setdefault((key, index), Producers()).refused(pid, epoch, sequence, now_ms)

    def tell(self, key: Key, index: int, partition: Partition) -> None:
        """The partition is there."""
        known = self._known.pop((key, index), None) if self._known else None
        if known is not None:
            partition.producers.refused_before(known)
