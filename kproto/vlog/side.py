"""References to old chunks for a side virtual log (rule 45): pushed again verbatim, because no copy has them.

A side virtual log is one more virtual log of its class: own virtual segments, the same rules. What is
appended to it is stored in synced segment files already and moves no high watermark, so its references name
stand-ins for partition and segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kproto.log.ports import EVERYTHING
from kproto.wire.batch import CRC_FROM, hop
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.log.chunk import ChunkRef
    from kproto.log.ports import LogPartition, LogSegment

SIDE: Final = -1
"""Number, inside its class, of the virtual log that takes no new chunks."""
FIRST_SIDE_ID: Final = 1 << 30
"""Side virtual logs are numbered from here on: any later leader has to know them. Unlike in others, offsets
in them may go back, and their state frames tell of nobody."""


def is_side(vlog_id: int) -> bool:
    """Whether a virtual log, of any owner, is a side virtual log."""
    return vlog_id >= FIRST_SIDE_ID


class DamagedError(Exception):
    """A chunk in a file here is not what it was; the message says which."""


class StoredSegment:
    """Stands for the segment of a chunk that is in a synced file: what a virtual log with backups looks at of
    a ``log.ports.LogSegment``."""

    number = 0
    group_base = 0
    flushed = EVERYTHING
    synced = EVERYTHING

    def flush(self, upto: int) -> None:
        """Nothing is to be written."""

    def sync(self) -> None:
        """Nothing is to be synced."""

    def before(self) -> tuple[LogSegment, ...]:
        """Nothing has to be in files first: as far as it is not, it is in the journal that has the chunks."""
        return ()


_STORED: Final = StoredSegment()


class OldChunks:
    """Stands for ``partition`` in references to chunks that it has had for long. As far as a pusher looks it
    is a ``log.ports.LogPartition``."""

    def __init__(self, partition: LogPartition) -> None:
        self.topic_id = partition.topic_id
        self.index = partition.index
        self.config = partition.config
        self.high_watermark = 0

    def on_durable(self, end_offset: int) -> None:
        """They were durable before."""

    def references(self, data: memoryview, begin: int, end: int) -> list[ChunkRef]:
        """Those to the chunks in ``data`` (whole ones, in order) with an offset in ``[begin, end)``. The
        memory must not change. Raises DamagedError."""
        found: list[ChunkRef] = []
        for at, size, fields in hop(data):
            base, after = fields[0], fields[0] + fields[6] + 1
            if after <= begin or base >= end:
                continue
            if crc32c(data[at + CRC_FROM : at + size]) != fields[4]:
                raise DamagedError(f"the chunk at offset {base} does not match its checksum")
            ref = (self, _STORED, 0, base, after, fields[2], size, fields[4], data, at)
            found.append(ref)  # type: ignore[arg-type]
        return found
