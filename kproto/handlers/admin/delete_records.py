"""DeleteRecords (key 21), versions 0 to 2: everything below an offset is gone (KIP-107).

Behaviour: offset -1 means the high watermark; an offset above it or below -1 is OFFSET_OUT_OF_RANGE; one
below the log start changes nothing. Answers with the new log start, which consumers see at once; the files go
after ``file.delete.delay.ms``. Internal topics are refused with INVALID_TOPIC_EXCEPTION, topics that are only
compacted with POLICY_VIOLATION, as in Apache Kafka. Works on a full
disk: it frees space. ``timeout_ms`` never runs out.
"""

from __future__ import annotations

from typing import Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext, Services
from kproto.log.partition import Partition
from kproto.metadata import TopicRecord
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

HIGH_WATERMARK: Final = -1
UNKNOWN: Final = -1


def handle(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """Advance the log start of each partition; a fault in one does not stop the others."""
    services = ctx.broker
    image = services.image()
    wanted: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        partitions = wanted.setdefault(topic.name, {})
        partitions.update((each.partition_index, each) for each in topic.partitions)
    response = DeleteRecordsResponse()
    for name, partitions in wanted.items():
        results = [_delete(services, image.topics.get(name), partition) for partition in partitions.values()]
        if results:
            response.topics.append(DeleteRecordsTopicResult(name=name, partitions=results))
    return response


def _delete(
    services: Services, topic: TopicRecord | None, wanted: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    result = DeleteRecordsPartitionResult(partition_index=wanted.partition_index, low_watermark=UNKNOWN)
    try:
        partition = _partition(services, topic, wanted.partition_index)
        high_watermark = partition.high_watermark
        if "delete" not in partition.config.cleanup_policy:
            raise KafkaError(ErrorCode.POLICY_VIOLATION)
        before = high_watermark if wanted.offset == HIGH_WATERMARK else wanted.offset
        if not 0 <= before <= high_watermark:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        result.low_watermark = partition.delete_records(before)
    except KafkaError as error:
        result.error_code = error.code
    return result


def _partition(services: Services, topic: TopicRecord | None, index: int) -> Partition:
    if topic is not None and topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = services.logs.partition(topic.topic_id, index) if topic is not None else None
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return partition


HANDLER = Handler(key=21, min_version=0, max_version=2, handle=handle)
