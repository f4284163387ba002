"""What was sent to a broker, what it acknowledged, and how far it deleted: nothing of what it has."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_SEQUENCE = 0x7FFFFFFF
IN_FLIGHT = 5
"""Batches that an idempotent producer sends before the first of them is answered."""
Key = tuple[str, int]
"""Topic and partition."""
Known = tuple[int, int, int]
"""What a log knows of a producer's batch: its first and last sequence, its base offset."""


def after(sequence: int, records: int) -> int:
    return (sequence + records) & MAX_SEQUENCE


@dataclass(frozen=True)
class Batch:
    """Offsets ``base`` up to before ``end``. ``sequence`` counts if a `Sender` has it."""

    base: int
    end: int
    data: bytes
    epoch: int = -1
    sequence: int = -1

    @property
    def records(self) -> int:
        return self.end - self.base

    @property
    def known(self) -> Known:
        return self.sequence, after(self.sequence, self.records - 1), self.base


@dataclass
class Sender:
    """An idempotent producer: its next ``sequence``, and ``batches``, what it may send again."""

    pid: int
    sequence: int
    epoch: int = 0
    batches: list[Batch] = field(default_factory=list)
    ever: set[tuple[int, Known]] = field(default_factory=set)
    """Epoch and batch, of all that are in the log or were deleted."""

    def sent(self, batch: Batch) -> None:
        self.batches.append(batch)
        self.ever.add((batch.epoch, batch.known))
        self.sequence = after(self.sequence, batch.records)

    def begin_anew(self) -> None:
        """As it does when it heard that its records are unknown (KIP-360)."""
        self.epoch += 1
        self.sequence = 0
        self.batches.clear()

    def repeatable(self) -> list[Batch]:
        return [batch for batch in self.batches[-IN_FLIGHT:] if batch.epoch == self.epoch]


@dataclass
class Model:
    """Of one partition."""

    sent: dict[int, Batch] = field(default_factory=dict)
    """By base offset: what the log has, if it lost nothing that it may lose."""
    senders: dict[int, Sender] = field(default_factory=dict)
    acked: int = 0
    synced: int = 0
    """The end of what was acknowledged, and of what was when acks waited for syncs."""
    start: int = 0
    """The newest log start that was seen."""

    def saw_start(self, start: int) -> None:
        self.start = max(self.start, start)

    @property
    def end(self) -> int:
        return max((batch.end for batch in self.sent.values()), default=0)

    def ack(self, end: int, synced: bool) -> None:
        self.acked = max(self.acked, end)
        if synced:
            self.synced = max(self.synced, end)

    def ended_at(self, end: int) -> None:
        """What is behind was lost, as it may be."""
        self.sent = {base: batch for base, batch in self.sent.items() if batch.end <= end}
        self.acked = end
        self.synced = min(self.synced, end)
