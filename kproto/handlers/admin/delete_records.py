"""DeleteRecords (key 21), versions 0 to 2: everything below an offset is gone (KIP-107).

Behaviour: offset -1 means the high watermark; an offset above it or below -1 is OFFSET_OUT_OF_RANGE; one
below the log start changes nothing. Answers with the new log start, which consumers see at once; the files go
after ``file.delete.delay.ms``. Internal topics are refused with INVALID_TOPIC_EXCEPTION, topics that are only
compacted with POLICY_VIOLATION, as in Apache Kafka. Works on a full disk: it frees space.

Where there are several copies the new log start is in the metadata before anything is done, so that no later
leader brings back what is gone (rule 44); REQUEST_TIMED_OUT when the controller cannot be reached. Otherwise
``timeout_ms`` never runs out. This broker's checkpoint knows it, too, before the answer: after a kill the
next process goes by that where there is one copy, or will be.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from typing import Final, NamedTuple

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext, Services
from kproto.handlers.leading import led_here
from kproto.handlers.turns import Steps
from kproto.log.partition import Partition
from kproto.metadata import TopicRecord
from kproto.metadata.exchange import parts
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

log = logging.getLogger(__name__)

HIGH_WATERMARK: Final = -1
UNKNOWN: Final = -1


class _Deletion(NamedTuple):
    """One partition that is to begin at ``before``, and where its outcome goes."""

    partition: Partition
    before: int
    result: DeleteRecordsPartitionResult


def handle(
    ctx: RequestContext, request: DeleteRecordsRequest
) -> Steps[DeleteRecordsResponse | Awaitable[DeleteRecordsResponse]]:
    """Advance the log start of each partition; a fault in one does not stop the others."""
    services = ctx.broker
    wanted: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        partitions = wanted.setdefault(topic.name, {})
        partitions.update((each.partition_index, each) for each in topic.partitions)
        yield
    response = DeleteRecordsResponse()
    copied: list[_Deletion] = []
    single: list[_Deletion] = []
    for name, partitions in wanted.items():
        results: list[DeleteRecordsPartitionResult] = []
        yield
        for index, each in partitions.items():
            yield
            record = services.image().topics.get(name)
            result = DeleteRecordsPartitionResult(partition_index=index, low_watermark=UNKNOWN)
            results.append(result)
            try:
                deletion = _Deletion(*_checked(services, record, each), result)
            except KafkaError as error:
                result.error_code = error.code
                continue
            if deletion.partition.copies > 1:  # also while the first copies are made
                copied.append(deletion)
            else:
                _delete(deletion)
                single.append(deletion)
        if results:
            response.topics.append(DeleteRecordsTopicResult(name=name, partitions=results))
    _note_down(services, single)
    return _delete_copied(services, copied, response) if copied else response


def _checked(
    services: Services, topic: TopicRecord | None, wanted: DeleteRecordsPartition
) -> tuple[Partition, int]:
    """The partition and where it is to begin. Raises KafkaError."""
    if topic is not None and topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = led_here(services, topic, wanted.partition_index)
    high_watermark = partition.high_watermark
    if partition.config.keyed and "delete" not in partition.config.cleanup_policy:
        raise KafkaError(ErrorCode.POLICY_VIOLATION)
    before = high_watermark if wanted.offset == HIGH_WATERMARK else wanted.offset
    if not 0 <= before <= high_watermark:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    return partition, before


def _delete(deletion: _Deletion) -> None:
    partition, before, result = deletion
    try:
        if partition.deleted:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        result.low_watermark = partition.delete_records(before)
    except KafkaError as error:
        result.error_code = error.code


async def _delete_copied(
    services: Services, deletions: Sequence[_Deletion], response: DeleteRecordsResponse
) -> DeleteRecordsResponse:
    """Have the log starts written down, then delete where that was done."""
    done = 0
    try:
        for some in parts(deletions):
            rows = [[one.partition.topic_id.hex(), one.partition.index, one.before] for one in some]
            known = await services.controller.propose("starts", rows)
            for deletion, is_known in zip(some, known, strict=True):
                if is_known:
                    _delete(deletion)
                else:
                    deletion.result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            done += len(some)
    except KafkaError as error:
        log.warning("the controller did not take new log starts: %s", error)
        for deletion in deletions[done:]:
            deletion.result.error_code = ErrorCode.REQUEST_TIMED_OUT
    _note_down(services, deletions)
    return response


def _note_down(services: Services, deletions: Sequence[_Deletion]) -> None:
    """Nobody sees again what was deleted before a kill (38). A full disk only means that this is not sure."""
    partitions = [one.partition for one in deletions if not (one.result.error_code or one.partition.deleted)]
    try:
        if partitions:
            services.logs.checkpointing.note_down(partitions)
    except OSError as error:
        log.warning("%d log starts are not in the checkpoint yet: %s", len(partitions), error.strerror)


HANDLER = Handler(key=21, min_version=0, max_version=2, handle=handle)
