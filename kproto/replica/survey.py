"""What the sealed copies of a virtual log say about some partitions: state and last chunks (rules 27b, 28b).

The newest state frame is looked for from the end backwards; the chunks of the partitions behind it are read,
filtered by the copies. So what is read does not depend on what is stored. A partition that is not in the
newest state frame has nothing in this virtual log before it; ``deep`` does not rely on that and goes back
until each partition was found, or to the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kproto.metadata.vlogs import VsegRecord
from kproto.replica.messages import (
    Look,
    PartitionKey,
    PartitionState,
    Read,
    ReadAnswer,
    ReadChunk,
    StateAnswer,
)
from kproto.replica.reach import NoCopyError, Reach
from kproto.wire.internal import Api

READ_BYTES: Final = 4 << 20


class Base(NamedTuple):
    """State of a partition behind its first chunks; a `log.ports.Snapshot`."""

    log_start: int
    end_offset: int
    epochs: bytes = b""
    producers: bytes = b""


class Found:
    """The result for one or more virtual logs. Chunks may be in any order."""

    __slots__ = ("chunks", "states")

    def __init__(self) -> None:
        self.states: dict[PartitionKey, Base] = {}
        self.chunks: dict[PartitionKey, list[ReadChunk]] = {}

    def note_states(self, keys: Sequence[PartitionKey], states: Iterable[PartitionState]) -> None:
        """The state with the largest end offset of a partition counts."""
        for one in states:
            key = keys[one.partition]
            known = self.states.get(key)
            if known is None or known.end_offset < one.end_offset:
                self.states[key] = Base(one.log_start, one.end_offset, one.epochs, one.producers)


async def survey(
    reach: Reach, vsegs: Sequence[VsegRecord], wanted: Mapping[PartitionKey, int], deep: bool = False
) -> Found:
    """Look at one virtual log. ``vsegs`` are its closed segments in order, ``wanted`` maps partitions to the
    first offset that matters. Raises `NoCopyError`."""
    found = Found()
    keys = list(wanted)
    vsegs = [record for record in vsegs if not record.unread]
    if not vsegs or not keys:
        return found
    number, position = await _states(reach, vsegs, keys, found, deep)
    offsets = []
    for key in keys:
        state = found.states.get(key)
        offsets.append(wanted[key] if state is None else max(wanted[key], state.end_offset))
    for record in vsegs[number:]:
        await _chunks(reach, record, max(position, record.start), keys, offsets, found)
    return found


async def _states(
    reach: Reach, vsegs: Sequence[VsegRecord], keys: Sequence[PartitionKey], found: Found, deep: bool
) -> tuple[int, int]:
    """Find states; returns number and position in ``vsegs`` from which on chunks have to be read."""
    missing = list(keys)
    for number in range(len(vsegs) - 1, -1, -1):
        record = vsegs[number]
        end = record.end or 0
        while end > record.start:
            request = Look(record.id, end, missing)
            answer = await reach.ask(record, Api.STATE, request, StateAnswer.decode)
            if answer.position < 0:
                break
            found.note_states(missing, answer.states)
            missing = [key for key in missing if key not in found.states]
            if not deep or not missing:
                return number, answer.after
            end = answer.position
    return 0, vsegs[0].start


async def _chunks(
    reach: Reach,
    record: VsegRecord,
    position: int,
    keys: Sequence[PartitionKey],
    offsets: Sequence[int],
    found: Found,
) -> None:
    """Read the chunks from ``position`` to the end of one segment."""
    end = record.end or 0
    while position < end:
        request = Read(record.id, position, end, keys, READ_BYTES, offsets)
        answer = await reach.ask(record, Api.READ, request, ReadAnswer.decode)
        for chunk in answer.chunks:
            found.chunks.setdefault(keys[chunk.partition], []).append(chunk)
        if answer.next <= position:
            raise NoCopyError(f"virtual segment {record.id}: reading does not get past {position}")
        position = answer.next


def ordered(chunks: Iterable[ReadChunk], base: int) -> tuple[list[ReadChunk], int | None]:
    """The chunks behind ``base`` by offset, each once, and the first offset that is missing before a later
    chunk (None: they are contiguous)."""
    run: list[ReadChunk] = []
    end = base
    for chunk in sorted(chunks, key=_offsets):
        if chunk.next_offset <= end:
            continue
        if chunk.base_offset != end:
            return run, end
        run.append(chunk)
        end = chunk.next_offset
    return run, None


def _offsets(chunk: ReadChunk) -> tuple[int, int]:
    return chunk.base_offset, chunk.next_offset
