"""``offsets_log``'s port on the partitions of ``kproto.log``."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.check import check
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.copies import copies_short
from kproto.handlers.partitions import leader_of
from kproto.log.reader import in_memory
from kproto.wire.batch import crc_of, hop

if TYPE_CHECKING:
    from kproto.log.manager import LogManager
    from kproto.log.partition import Partition
    from kproto.log.ports import VirtualLogPort
    from kproto.log.segment import Segment
    from kproto.metadata import MetadataImage

log = logging.getLogger(__name__)

TOPIC: Final = "__consumer_offsets"
READ_BYTES: Final = 1024 * 1024


def _nobody() -> None:
    """Waits for a commit in the journal of this broker only."""


class PartitionLog:
    """The partitions of ``__consumer_offsets`` that this broker leads."""

    def __init__(self, image: Callable[[], MetadataImage], node_id: int, logs: LogManager) -> None:
        self._image = image
        self._node_id = node_id
        self._logs = logs

    def append(self, index: int, batch: bytearray, done: Callable[[int, KafkaError | None], None]) -> None:
        """See :class:`~kproto.handlers.groups.offsets_log.OffsetsLogPort`.

        As with acks=all: NOT_ENOUGH_REPLICAS when there are too few copies, NOT_ENOUGH_REPLICAS_AFTER_APPEND
        when some went missing before it was durable (rule 18), NOT_LEADER_OR_FOLLOWER when ownership is lost
        before that (rule 10).
        """
        partition = self._partition(index)
        if self._is_short(partition):
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        base_offset = partition.append(memoryview(batch), owned=True)[0]
        vlog = partition.vlog
        assert vlog is not None  # else append had refused
        vlog.when_durable(vlog.end, partial(self._durable, partition, vlog, base_offset, done))
        vlog.when_written(vlog.end, _nobody)  # commits do not rest with the others (`vlog.gathering`)

    def _durable(
        self,
        partition: Partition,
        vlog: VirtualLogPort,
        base_offset: int,
        done: Callable[[int, KafkaError | None], None],
    ) -> None:
        if vlog.lost:
            why = "this broker owns its virtual logs no more"
            done(-1, KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, why))
        elif vlog.live_copies < vlog.copies and self._is_short(partition):
            done(base_offset, KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND))
        else:
            done(base_offset, None)

    def _is_short(self, partition: Partition) -> bool:
        image = self._image()
        topic = image.topics_by_id.get(partition.topic_id)
        return topic is not None and copies_short(partition, topic, image)

    def bounds(self, index: int) -> tuple[int, int]:
        partition = self._partition(index)
        return partition.log_start_offset, partition.log_end_offset

    def most_bytes(self, index: int) -> int:
        config = self._partition(index).config
        return min(config.max_message_bytes, config.segment_bytes)

    def lacks_copies(self, index: int) -> bool:
        try:
            return _lacks_copies(self._partition(index))
        except KafkaError:
            return True

    async def scan(self, index: int) -> AsyncIterator[memoryview]:
        """Batches of the live log. What is read is copied, so segment memory may be reused meanwhile.

        What was appended in an earlier term of this broker is waited for: it would become durable behind the
        back of whoever reads now."""
        partition = self._partition(index)
        await _settle(partition)
        offset = partition.log_start_offset
        while offset < partition.high_watermark:
            before = offset
            for piece in await in_memory(partition.read(offset, READ_BYTES).pieces):
                for position, size, fields in hop(piece):
                    if crc_of(piece, position, size) != fields[4]:
                        self._doubt(partition, fields[0])
                    offset = fields[0] + fields[6] + 1
                    yield piece[position : position + size]
            check(offset > before, f"{partition} returns nothing at {offset}; is a segment file damaged?")

    def _doubt(self, partition: Partition, offset: int) -> None:
        """A batch is not what was written. Others have copies: the scrub takes a sound one, and until then
        nothing can be loaded. A single copy is believed: there is nothing else."""
        log.error("%s: the batch at %d is damaged", partition, offset)
        if partition.has_other_copies:
            number = max(bisect_right(partition.bases, offset) - 1, 0)
            self._logs.suspects.append(partition.segments[number])
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{partition}: the batch at {offset} is damaged")

    async def truncate_prefix(self, index: int, offset: int) -> None:
        """Advance the log start; where there are several copies, once the store knows (rule 44): else no
        virtual segment with any of it would ever be freed. Where there is a single copy, or copies lack, what
        is kept is on the medium before: else a loss of power could take that with what was given up, however
        long it had been there. The open group is closed, so that the next call can drop it as a whole."""
        partition = self._partition(index)
        if partition.copies == 1 or partition.only_here or _lacks_copies(partition):
            await self._sync(partition)
        if partition.copies > 1:
            self._logs.ports.on_log_start(partition, offset)
        else:
            partition.delete_records(offset)
        partition.roll_group()

    async def _sync(self, partition: Partition) -> None:
        if not partition.flush():
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the disk is full")
        segments = partition.unsynced()
        try:
            await asyncio.get_running_loop().run_in_executor(None, _sync_all, segments)
        except OSError as error:
            self._logs.ports.on_poison(f"fdatasync of a segment file: {error}")
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        if partition.deleted:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def _partition(self, index: int) -> Partition:
        image = self._image()
        topic = image.topics.get(TOPIC)
        if topic is not None and leader_of(image, image.partition_streamlet(topic, index)) == self._node_id:
            try:
                partition = self._logs.partition(topic.topic_id, index)
            except OSError as error:  # of too many files, perhaps
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot open it: {error}") from error
            if partition is not None:
                return partition
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{TOPIC}-{index} is not led here")


def _lacks_copies(partition: Partition) -> bool:
    vlog = partition.vlog
    return vlog is not None and vlog.live_copies < vlog.copies


def _sync_all(segments: Sequence[Segment]) -> None:
    for segment in segments:
        segment.sync()


async def _settle(partition: Partition) -> None:
    """Wait until all that is appended is durable. KafkaError when it will not be."""
    vlog, end = partition.vlog, partition.log_end_offset
    if vlog is None or partition.high_watermark >= end:
        return
    settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    vlog.when_durable(vlog.end, lambda: None if settled.done() else settled.set_result(None))
    await settled
    if partition.high_watermark < end:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{partition} is led elsewhere")
