"""Idempotent producers of one partition: epochs, sequences, the last five batches (KIP-98, rule 40). Pure.

The state is the fold of the chunks (S13): `add` for every chunk with a producer id, in order. What is
checked and how it is refused follows ``ProducerAppendInfo`` and ``ProducerStateEntry`` of Apache Kafka 4.x:
an unknown producer may start at any sequence, so UNKNOWN_PRODUCER_ID is never answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final

from kproto.errors import ErrorCode, KafkaError

MAX_SEQUENCE: Final = 0x7FFF_FFFF
BATCHES_KEPT: Final = 5
_PRODUCER: Final = Struct(">qhB")
_BATCH: Final = Struct(">iiqq")
_BATCH_SIZE: Final = _BATCH.size
_LAST_AT: Final = _BATCH_SIZE * (BATCHES_KEPT - 1)
_NO_BATCHES: Final = _BATCH.pack(-1, -1, -1, -1) * BATCHES_KEPT
_NO_SEQUENCE: Final = _NO_BATCHES[0]
"""First byte of a place that no batch has been in: no sequence is negative."""
_pack_batch: Final = _BATCH.pack_into

REFUSED_KEPT: Final = 1_000
"""Producers of one partition whose refused chunks are remembered; more are forgotten together."""
REFUSED_MS: Final = 10_000
"""So long after the last refusal: a client that gave the refused chunk up is told of the gap."""

Batch = tuple[int, int, int, int]
"""first sequence, last sequence, base offset, max timestamp."""


class Producer:
    """One producer id. ``next_seq`` is the only sequence that continues.

    The last five batches are kept packed, in memory of their own that is written over: as objects they would
    be most of what an append touches, and a broker has a producer for every producer id and partition.
    """

    __slots__ = ("_at", "_ring", "epoch", "next_seq")

    def __init__(self, epoch: int) -> None:
        self.begin(epoch)

    def begin(self, epoch: int) -> None:
        """Start over in ``epoch``."""
        self.epoch = epoch
        self.next_seq = 0
        self._ring = bytearray(_NO_BATCHES)
        self._at = 0
        """Where the next batch goes: the oldest one is there."""

    def add(self, first: int, last: int, base_offset: int, max_timestamp: int) -> None:
        """A batch with the sequences ``first`` to ``last`` was appended."""
        self.next_seq = (last + 1) & MAX_SEQUENCE
        at = self._at
        _pack_batch(self._ring, at, first, last, base_offset, max_timestamp)
        self._at = at + _BATCH_SIZE if at < _LAST_AT else 0

    @property
    def packed(self) -> bytearray:
        """The last five batches, oldest first, as a snapshot has them."""
        ring, at = self._ring, self._at
        never_filled = ring[at] == _NO_SEQUENCE
        return ring[:at] if never_filled else ring[at:] + ring[:at]

    @property
    def batches(self) -> list[Batch]:
        """The same, unpacked."""
        return list(_BATCH.iter_unpack(self.packed))

    @property
    def last_timestamp(self) -> int:
        """Max timestamp of the newest batch, ms; expiry counts from it."""
        newest: int = _BATCH.unpack_from(self._ring, self._at - _BATCH_SIZE if self._at else _LAST_AT)[3]
        return newest


def _records(batch: Batch) -> int:
    """How many a batch has."""
    return ((batch[1] - batch[0]) & MAX_SEQUENCE) + 1


def last_sequence(first: int, records: int) -> int:
    """Sequence of the last of ``records`` records; after 2**31 - 1 comes 0."""
    return (first + records - 1) & MAX_SEQUENCE


class Producers(dict[int, Producer]):
    """Producer id -> :class:`Producer`. ``kept``: an offset, and the state there (`encode`) as it was written
    down once; `add` and `reach` take it when they get to that offset.
    """

    __slots__ = ("_refused", "kept")

    def __init__(self) -> None:
        super().__init__()
        self.kept: tuple[int, bytes] | None = None
        self._refused: dict[int, tuple[int, int, int]] = {}
        """Producer id -> epoch and sequence of the first chunk that was refused since its last append, and
        when the last one was (ms of the monotonic clock, as all ``now_ms`` of these)."""

    def refused(self, pid: int, epoch: int, seq: int, now_ms: int) -> None:
        """A chunk was refused through no fault of its own: it will be sent again, and what its producer sent
        behind it, without waiting, is coming."""
        if pid < 0:
            return
        if self.follows_refused(pid, epoch, seq, now_ms):
            seq = self._refused[pid][1]
        elif len(self._refused) >= REFUSED_KEPT:
            self._refused.clear()
        self._refused[pid] = epoch, seq, now_ms

    def refused_before(self, others: Producers) -> None:
        """So were these, before there was a partition to tell of it, or while another one was there."""
        for pid, (epoch, seq, now_ms) in others._refused.items():
            self.refused(pid, epoch, seq, now_ms)

    def follows_refused(self, pid: int, epoch: int, seq: int, now_ms: int) -> bool:
        """Whether a chunk was sent behind one that was refused and has not come again.

        To call that a gap in the sequences, or to let an unknown producer begin with it, would be wrong: for
        a gap librdkafka begins a new epoch for all partitions, and what others have without its having heard
        of it is stored twice.
        """
        was = self._refused.get(pid)
        if was is None or was[0] != epoch or now_ms - was[2] > REFUSED_MS:
            return False
        producer = self.get(pid)
        if (
            producer is not None
            and producer.epoch >= epoch
            and (producer.epoch, producer.next_seq) != was[:2]
        ):
            return False  # it came again
        return 0 < (seq - was[1]) & MAX_SEQUENCE <= MAX_SEQUENCE // 2

    def examine(self, pid: int, epoch: int, seq: int, records: int) -> Batch | None:
        """Whether a chunk may be appended.

        None: yes. A batch: it is a repetition of that one. Raises INVALID_RECORD, INVALID_PRODUCER_EPOCH or
        OUT_OF_ORDER_SEQUENCE_NUMBER.
        """
        if pid < 0 or epoch < 0 or seq < 0:
            raise KafkaError(
                ErrorCode.INVALID_RECORD,
                f"producer id {pid}, epoch {epoch} and sequence {seq} do not go together",
            )
        producer = self.get(pid)
        if producer is None:
            return None
        if epoch < producer.epoch:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {pid} has epoch {producer.epoch} already, the batch has {epoch}",
            )
        if epoch > producer.epoch:
            if seq != 0:
                raise KafkaError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"producer {pid} must begin epoch {epoch} with sequence 0, not {seq}",
                )
            return None
        last = last_sequence(seq, records)
        for batch in producer.batches:
            if batch[0] == seq and batch[1] == last:
                return batch
        if seq != producer.next_seq:
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {pid} sent sequence {seq}, {producer.next_seq} is next",
            )
        return None

    def add(self, pid: int, epoch: int, seq: int, records: int, base_offset: int, max_timestamp: int) -> None:
        """A chunk of ``pid`` was appended."""
        if self.kept is not None:
            self.reach(base_offset)
        producer = self.get(pid)
        if producer is None:
            producer = self[pid] = Producer(epoch)
        elif producer.epoch != epoch:
            producer.begin(epoch)
        producer.add(seq, last_sequence(seq, records), base_offset, max_timestamp)

    def reach(self, offset: int) -> None:
        """The fold is at ``offset``. Chunks without a producer id are not told of: if it is at or behind that
        of what was kept, that is the state now."""
        if self.kept is not None and offset >= self.kept[0]:
            known, self.kept = Producers.decode(self.kept[1]), None
            self.clear()
            self.update(known)

    def complete(self, others: Producers, end: int) -> None:
        """The log ends at ``end``; ``others`` are those of a longer one, whose end was lost. What they know
        of batches below is true of this one, too; not of one that went on behind ``end``."""
        for pid, other in others.items():
            producer = self.get(pid)
            if producer is not None and producer.epoch != other.epoch:
                continue
            mine = producer.batches if producer is not None else []
            first = mine[0][2] if mine else end
            before = [each for each in other.batches if each[2] + _records(each) <= first]
            if before:
                whole = self[pid] = Producer(other.epoch)
                for batch in (*before, *mine):
                    whole.add(*batch)

    def expire(self, now_ms: int, after_ms: int) -> int:
        """Forget producers whose newest batch is at least ``after_ms`` old; returns how many."""
        gone = [pid for pid, producer in self.items() if now_ms - producer.last_timestamp >= after_ms]
        for pid in gone:
            del self[pid]
        return len(gone)

    def encode(self) -> bytes:
        """A snapshot; only a speed-up (rule 40)."""
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes | bytearray]:
        for pid, producer in self.items():
            batches = producer.packed
            yield _PRODUCER.pack(pid, producer.epoch, len(batches) // _BATCH_SIZE)
            yield batches

    @classmethod
    def decode(cls, data: bytes) -> Producers:
        """Read a snapshot whose checksum was verified."""
        producers = cls()
        at = 0
        while at < len(data):
            pid, epoch, count = _PRODUCER.unpack_from(data, at)
            at += _PRODUCER.size
            producer = producers[pid] = Producer(epoch)
            for _ in range(count):
                first, last, base, timestamp = _BATCH.unpack_from(data, at)
                at += _BATCH.size
                producer.add(first, last, base, timestamp)
        return producers
