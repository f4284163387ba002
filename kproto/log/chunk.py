"""A reference to one chunk in segment memory: what the log hands to a virtual log, and the virtual log
pushes.

A plain tuple, because one is made per chunk on the hot path; unpack it whole or use the index constants::

    partition, segment, position, base_offset, next_offset, leader_epoch, length, crc, block, start = ref
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.disk import Buffer
    from kproto.log.ports import LogPartition, LogSegment

ChunkRef = tuple["LogPartition", "LogSegment", int, int, int, int, int, int, "Buffer", int]

PARTITION: Final = 0
SEGMENT: Final = 1
"""The segment that holds the chunk."""
POSITION: Final = 2
"""Byte position inside the segment, the same in its file."""
BASE_OFFSET: Final = 3
NEXT_OFFSET: Final = 4
LEADER_EPOCH: Final = 5
LENGTH: Final = 6
"""Bytes of the whole chunk, header included."""
CRC: Final = 7
"""The chunk's own CRC-32C, as its header has it."""
BLOCK: Final = 8
"""The segment memory with the chunk, at ``BLOCK[START : START + LENGTH]``. It must stay unchanged until the
chunk is durable (``Partition.on_durable`` went past it): the push and its repetitions read it."""
START: Final = 9
