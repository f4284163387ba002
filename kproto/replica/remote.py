"""Reading chunks that a new leader has not brought over yet, from copies of the sources (rule 27b).

Which virtual segments hold what of a partition is asked once (CATALOG) and kept for some partitions; sources
are closed, so it does not change while the leader epoch lasts. A consumer that reads on goes on at the frame
where its last read ended. Implements `log.ports.RemoteReader`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, StreamletRecord
from kproto.metadata.vlogs import VsegRecord
from kproto.replica.messages import Look, PartitionKey, Read, ReadAnswer, ReadChunk, decode_catalog
from kproto.replica.reach import Metadata, NoCopyError, Reach, gather
from kproto.replica.takeover import NotSealedError, older_sources, sources_of
from kproto.vlog.side import is_side
from kproto.wire.internal import Api

if TYPE_CHECKING:
    from kproto.log.reader import RemoteRange

MAPS_KEPT: Final = 256
PLACES_KEPT: Final = 4096
CATALOGS_AT_ONCE: Final = 16
MOST_BYTES: Final = 8 << 20


class Stretch(NamedTuple):
    """What one virtual segment holds of a partition: some of the offsets ``[first, end)``."""

    first: int
    end: int
    frame: int
    """Position of the first frame with a chunk of it."""
    bytes: int
    record: VsegRecord


class RemoteChunks:
    """See the module's text. All on one event loop."""

    def __init__(
        self,
        reach: Reach,
        metadata: Metadata,
        sources: Callable[[MetadataImage, int, StreamletRecord], tuple[int, ...]] = older_sources,
    ) -> None:
        self._reach = reach
        self._metadata = metadata
        self._sources = sources
        self._maps: OrderedDict[tuple[PartitionKey, int], list[Stretch]] = OrderedDict()
        """By partition and leader epoch."""
        self._places: OrderedDict[tuple[PartitionKey, int], tuple[Stretch, int]] = OrderedDict()
        """By partition and offset: in which segment, and from which position on, the chunk with it is."""
        self.reads = 0
        self.bytes = 0

    async def read(self, wanted: RemoteRange) -> memoryview:
        """See `log.ports.RemoteReader`."""
        partition = wanted.partition
        key = (partition.topic_id, partition.index)
        self.reads += 1
        try:
            data = await self._read(key, partition.leader_epoch, wanted)
        except (NoCopyError, NotSealedError) as error:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self.bytes += len(data)
        return data

    async def _read(self, key: PartitionKey, leader_epoch: int, wanted: RemoteRange) -> memoryview:
        place = self._places.pop((key, wanted.offset), None)
        if place is not None:
            data = await self._scan(key, *place, wanted)
            if data is not None:
                return data
        for stretch in await self._map(key, leader_epoch):
            if stretch.first <= wanted.offset < stretch.end:
                data = await self._scan(key, stretch, stretch.frame, wanted)
                if data is not None:
                    return data
        raise NoCopyError(f"no copy has offset {wanted.offset}")

    async def _scan(
        self, key: PartitionKey, stretch: Stretch, position: int, wanted: RemoteRange
    ) -> memoryview | None:
        """Chunks of one virtual segment from ``position`` on; None when the one with the offset is not
        there."""
        record = self._metadata.table.vsegs.get(stretch.record.id, stretch.record)  # copies move
        end = record.end or 0
        size = min(max(wanted.max_bytes, 1), MOST_BYTES)
        side = is_side(record.id.vlog)  # where later offsets may come first
        while position < end:
            request = Read(record.id, position, end, [key], size, [wanted.offset])
            answer = await self._reach.ask(record, Api.READ, request, ReadAnswer.decode)
            if answer.next <= position:
                raise NoCopyError(f"virtual segment {record.id}: reading does not get past {position}")
            if answer.chunks:
                taken = take(sorted(answer.chunks, key=_base) if side else answer.chunks, wanted)
                if taken is None and side:
                    position = answer.next
                    continue
                if taken is None:
                    return None
                whole = len(taken) == len(answer.chunks)
                if taken:
                    at = answer.next if whole else position
                    self._note(key, taken[-1].next_offset, stretch, at)
                return memoryview(b"".join(chunk.data for chunk in taken))
            position = answer.next
        return None

    def _note(self, key: PartitionKey, offset: int, stretch: Stretch, position: int) -> None:
        """Where to go on."""
        self._places[key, offset] = (stretch, position)
        if len(self._places) > PLACES_KEPT:
            self._places.popitem(last=False)

    async def _map(self, key: PartitionKey, leader_epoch: int) -> list[Stretch]:
        """The stretches of a partition by first offset."""
        known = self._maps.get((key, leader_epoch))
        if known is None:
            known = await self._ask_catalogs(key)
            self._maps[key, leader_epoch] = known
            if len(self._maps) > MAPS_KEPT:
                self._maps.popitem(last=False)
        else:
            self._maps.move_to_end((key, leader_epoch))
        return known

    async def _ask_catalogs(self, key: PartitionKey) -> list[Stretch]:
        image, table = self._metadata.image, self._metadata.table
        topic = image.topics_by_id.get(key[0])
        if topic is None:
            return []
        streamlet = image.partition_streamlet(topic, key[1])
        records = [
            record
            for epoch in self._sources(image, self._reach.node_id, streamlet)
            for vlog in sources_of(image, table, epoch, (topic.floor,), epoch in streamlet.given)
            for record in vlog
            if not record.unread
        ]
        found: list[Stretch] = []
        for at in range(0, len(records), CATALOGS_AT_ONCE):
            some = records[at : at + CATALOGS_AT_ONCE]
            found += await gather([self._ask_catalog(key, record) for record in some])
        return sorted(stretch for stretch in found if stretch.frame >= 0)

    async def _ask_catalog(self, key: PartitionKey, record: VsegRecord) -> Stretch:
        request = Look(record.id, record.end or 0, [key])
        (row,) = await self._reach.ask(record, Api.CATALOG, request, decode_catalog)
        return Stretch(row.first, row.end, row.frame, row.bytes, record)


class AllChunks:
    """The same of chunks that are in files here, which are damaged. This process's own virtual logs have some
    of them, in closed virtual segments, and these become more: nothing is remembered."""

    def __init__(self, reach: Reach, metadata: Metadata) -> None:
        self._reach = reach
        self._metadata = metadata

    async def read(self, wanted: RemoteRange) -> memoryview:
        """See `log.ports.RemoteReader`."""
        return await RemoteChunks(self._reach, self._metadata, _all_sources).read(wanted)


def _all_sources(_image: MetadataImage, _node_id: int, record: StreamletRecord) -> tuple[int, ...]:
    return tuple(dict.fromkeys(record.sources))


def _base(chunk: ReadChunk) -> int:
    return chunk.base_offset


def take(chunks: list[ReadChunk], wanted: RemoteRange) -> list[ReadChunk] | None:
    """The chunks from the one with the offset on, without a gap and within the limits; None when it is not
    among them."""
    taken: list[ReadChunk] = []
    size = 0
    end = wanted.offset
    for chunk in chunks:
        if chunk.next_offset <= end:
            continue
        if chunk.base_offset > end or chunk.base_offset >= wanted.limit:
            break
        size += len(chunk.data)
        if size > wanted.max_bytes and (taken or not wanted.at_least_one):
            return taken
        taken.append(chunk)
        end = chunk.next_offset
    return taken or None
