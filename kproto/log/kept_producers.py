"""What was known of the producers of a partition when records were deleted from it last (rule 40).

Else a start could learn about them only from the chunks and indexes that are left, and would take what they
repeat for something new. The file holds the state at one offset, the end of the log at that time: whoever
folds the chunks again takes it when he gets there (`Producers.kept`). For partitions of one copy: the state
of the others is in state frames (rule 28b), and comes here when they go back to one copy.

When records are deleted it is not synced: after a power loss it may be missing, and the producers forgotten.
"""

from __future__ import annotations

import logging
import os
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.disk import NO_SPACE
from kproto.log.epochs import UNDEFINED, EpochCache
from kproto.log.producers import Producers
from kproto.log.segment import read_file
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kproto.log.partition import Partition
    from kproto.log.ports import JournalRun

log = logging.getLogger(__name__)

FILE: Final = "producers"
EPOCHS: Final = "leader-epochs"
"""The same of leader epochs, written when a partition goes back to one copy: indexes of segments that were
brought over, or adopted, do not know those before them. Journals of earlier processes may have chunks of then
that are stale. Also written when they have some behind the end of the log."""
_HEAD: Final = Struct(">Iq")
"""CRC-32C of the rest, offset; the state follows (`Producers.encode`)."""
_CRC_SIZE: Final = 4
_LED: Final = Struct(">i")
"""In front of leader epochs: the one under which they were written down."""


class Floor(NamedTuple):
    """Where a partition went back to one copy, and under which leader epoch."""

    offset: int
    epoch: int

    def is_stale(self, next_offset: int, epoch: int) -> bool:
        """A chunk of ``epoch`` that ends at ``next_offset`` is no part of the log: when all of that was below
        ``offset``, the leader appended under newer ones already. A process before it left the chunk in its
        journal; backups had not got it when its virtual segments were sealed (rules 15 and 33)."""
        return next_offset > self.offset and epoch < self.epoch


def keep(partition: Partition) -> None:
    """Write down what is known at the end of the log. A full disk only means that it is forgotten."""
    if not partition.producers:
        return
    try:
        write(partition, packed(partition), sync=False)
    except OSError as error:
        log.warning("the producers of %r cannot be written down: %s", partition, error.strerror)


def packed(partition: Partition) -> bytes:
    """What is known at the end of the log, as the file has it."""
    return _packed(partition.log_end_offset, partition.producers.encode())


def packed_epochs(partition: Partition) -> bytes:
    """The same of leader epochs, for `complete_epochs` and `floor`."""
    return _packed(partition.log_end_offset, _LED.pack(partition.leader_epoch) + partition.epochs.encode())


def _packed(offset: int, state: bytes) -> bytes:
    rest = _HEAD.pack(0, offset)[_CRC_SIZE:] + state
    return crc32c(rest).to_bytes(_CRC_SIZE, "big") + rest


def write(partition: Partition, data: bytes, sync: bool, file: str = FILE) -> None:
    """Write the file; in any thread. OSError passes through."""
    partition.manager.above.make(partition.directory)
    partition.disk.write_atomically(os.path.join(partition.directory, file), data, sync=sync)
    if sync:
        partition.manager.above.sync(partition.directory)  # it may be the first file there


def _read(partition: Partition, file: str) -> tuple[int, bytes] | None:
    """Offset and state; None when nothing sound is there."""
    data = read_file(os.path.join(partition.directory, file))
    if len(data) >= _HEAD.size and crc32c(data[_CRC_SIZE:]) == _HEAD.unpack_from(data)[0]:
        return _HEAD.unpack_from(data)[1], data[_HEAD.size :]
    return None


def _read_epochs(partition: Partition) -> tuple[Floor, EpochCache] | None:
    kept = _read(partition, EPOCHS)
    if kept is None:
        return None
    offset, state = kept
    return Floor(offset, *_LED.unpack_from(state)), EpochCache.decode(state[_LED.size :])


def floor(partition: Partition) -> Floor:
    """Before the chunks in old journals are looked at: which of them are stale."""
    kept = _read_epochs(partition)
    return kept[0] if kept is not None else Floor(0, UNDEFINED)


def forget_behind(partition: Partition, runs: Iterable[JournalRun]) -> None:
    """It is open, and what old journals have behind its end is stale: something before that was lost with the
    power. So it is when the log has gone on, and all of that was deleted. Written down once, since a journal
    may stay for many starts."""
    behind = [run for run in runs if run.next_offset > partition.log_end_offset]
    if behind:
        known = floor(partition)
        if not all(known.is_stale(run.next_offset, run.epoch) for run in behind):
            _write_epochs(partition)


def _write_epochs(partition: Partition) -> None:
    """A full disk only means that they are not noted."""
    try:
        write(partition, packed_epochs(partition), sync=True, file=EPOCHS)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        log.warning("the leader epochs of %r cannot be written down: %s", partition, error.strerror)


def complete_epochs(partition: Partition) -> None:
    """It is open: below the offset at which leader epochs were written down, those are the true ones."""
    kept = _read_epochs(partition)
    if kept is None:
        return
    if kept[0].offset > partition.log_end_offset:
        _write_epochs(partition)  # the log was longer: they are none of what comes in the place of that
        return
    (offset, _), known = kept
    found = partition.epochs
    for epoch, start in zip(found.epochs, found.starts, strict=True):
        if start >= offset:
            known.note(epoch, start)
    known.cut_front(partition.log_start_offset)
    partition.epochs = known


def recall(partition: Partition) -> int:
    """Before a partition (just made, empty) is opened: have what was kept in mind. Of which offset that is;
    0 if there is none."""
    kept = partition.producers.kept = _read(partition, FILE)
    return kept[0] if kept is not None else 0


def settle(partition: Partition, recalled: int) -> None:
    """It is open. What is of a longer log, whose end was lost, or never in the journal, is nothing that may
    be met later; what it says of this one is written down instead. So is what deleted records told that are
    there still, if a loss of power took what was kept of them: ``recalled`` is below the log start."""
    partition.producers.reach(partition.log_end_offset)
    if partition.producers.kept is None:
        if recalled < partition.log_start_offset and (partition.copies == 1 or partition.only_here):
            keep(partition)
        return
    (_, state), partition.producers.kept = partition.producers.kept, None
    partition.producers.complete(Producers.decode(state), partition.log_end_offset)
    partition.disk.unlink(os.path.join(partition.directory, FILE))
    partition.disk.sync_directory(partition.directory)
    keep(partition)


def replace(partition: Partition, producers: Producers, offset: int) -> None:
    """``producers`` are those at ``offset``, where the fold begins. What was kept of a later one stays in
    mind, and of the same one: where others led before, the index of a segment does not know all of them.
    What was kept of an earlier one is older than chunks that are gone, and would miss those sequences."""
    kept = partition.producers.kept
    producers.kept = kept if kept is not None and offset <= kept[0] else None
    partition.producers = producers
