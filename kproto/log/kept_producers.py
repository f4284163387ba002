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
from typing import TYPE_CHECKING, Final

from kproto.log.epochs import EpochCache
from kproto.log.producers import Producers
from kproto.log.segment import read_file
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.log.partition import Partition

log = logging.getLogger(__name__)

FILE: Final = "producers"
EPOCHS: Final = "epochs"
"""The same of leader epochs, written when a partition goes back to one copy: indexes of segments that were
brought over, or adopted, do not know those before them."""
_HEAD: Final = Struct(">Iq")
"""CRC-32C of the rest, offset; the state follows (`Producers.encode`)."""
_CRC_SIZE: Final = 4


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
    """The same of leader epochs."""
    return _packed(partition.log_end_offset, partition.epochs.encode())


def _packed(offset: int, state: bytes) -> bytes:
    rest = _HEAD.pack(0, offset)[_CRC_SIZE:] + state
    return crc32c(rest).to_bytes(_CRC_SIZE, "big") + rest


def write(partition: Partition, data: bytes, sync: bool, file: str = FILE) -> None:
    """Write the file; in any thread. OSError passes through."""
    partition.disk.makedirs(partition.directory)
    partition.disk.write_atomically(os.path.join(partition.directory, file), data, sync=sync)


def _read(partition: Partition, file: str) -> tuple[int, bytes] | None:
    """Offset and state; None when nothing sound is there."""
    data = read_file(os.path.join(partition.directory, file))
    if len(data) >= _HEAD.size and crc32c(data[_CRC_SIZE:]) == _HEAD.unpack_from(data)[0]:
        return _HEAD.unpack_from(data)[1], data[_HEAD.size :]
    return None


def complete_epochs(partition: Partition) -> None:
    """It is open: below the offset at which leader epochs were written down, those are the true ones."""
    kept = _read(partition, EPOCHS)
    if kept is None or kept[0] > partition.log_end_offset:
        return
    known, found = EpochCache.decode(kept[1]), partition.epochs
    for epoch, start in zip(found.epochs, found.starts, strict=True):
        if start >= kept[0]:
            known.note(epoch, start)
    known.cut_front(partition.log_start_offset)
    partition.epochs = known


def recall(partition: Partition) -> None:
    """Before a partition (just made, empty) is opened: have what was kept in mind."""
    partition.producers.kept = _read(partition, FILE)


def settle(partition: Partition) -> None:
    """It is open. What is of a longer log, which was lost, is nothing that may be met later."""
    kept = partition.producers.kept
    if kept is None:
        return
    if kept[0] <= partition.log_end_offset:
        partition.producers.catch_up()
        return
    partition.producers.kept = None
    partition.disk.unlink(os.path.join(partition.directory, FILE))
    partition.disk.sync_directory(partition.directory)


def replace(partition: Partition, producers: Producers, offset: int) -> None:
    """``producers`` are those at ``offset``; what was kept of a later one stays in mind, and of the same one:
    where other brokers led before, the index of a segment does not know all of them."""
    kept = partition.producers.kept
    producers.kept = kept if kept is not None and offset <= kept[0] else None
    partition.producers = producers
