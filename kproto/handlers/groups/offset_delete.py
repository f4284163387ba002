"""OffsetDelete: key 47, version 0 (KIP-496).

Deletes committed offsets of a group without members, or of a consumer group for topics nobody in it
subscribes to (GROUP_SUBSCRIBED_TO_TOPIC otherwise). An offset that does not exist is no error.
"""

from __future__ import annotations

from collections.abc import Awaitable

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.answers import answered
from kproto.handlers.groups.shard import Shard, TopicPartition
from kproto.wire.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(
    ctx: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Awaitable[OffsetDeleteResponse]:
    def delete(shard: Shard) -> OffsetDeleteResponse | Awaitable[OffsetDeleteResponse]:
        return _delete(ctx, shard, request)

    if not request.group_id:
        return _fail(ErrorCode.INVALID_GROUP_ID)
    return ctx.broker.groups.on_shard(request.group_id, delete, _fail)


def _delete(
    ctx: RequestContext, shard: Shard, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Awaitable[OffsetDeleteResponse]:
    """It is decided at once: a commit that comes behind it is not deleted."""
    error = shard.delete_error(request.group_id)
    if error is not ErrorCode.NONE:
        return _fail(error)
    subscribed = shard.subscribed(request.group_id)
    errors = [_errors(ctx, subscribed, topic) for topic in request.topics]
    offsets: list[TopicPartition] = [
        (topic.name, partition.partition_index)
        for topic, row in zip(request.topics, errors, strict=True)
        for partition, own in zip(topic.partitions, row, strict=True)
        if own is ErrorCode.NONE
    ]

    def respond(error: ErrorCode) -> OffsetDeleteResponse:
        if error is not ErrorCode.NONE:
            return _fail(error)
        topics = [_topic_response(topic, row) for topic, row in zip(request.topics, errors, strict=True)]
        return OffsetDeleteResponse(topics=topics)

    deleted = shard.delete_offsets(request.group_id, offsets)
    return respond(deleted) if isinstance(deleted, ErrorCode) else answered(deleted, respond)


def _errors(
    ctx: RequestContext, subscribed: set[str] | None, topic: OffsetDeleteRequestTopic
) -> list[ErrorCode]:
    """One error per partition of the request. Where it is not known what is subscribed to, everything is."""
    record = ctx.broker.image().topics.get(topic.name)
    partitions = record.partitions if record is not None else 0
    free = subscribed is not None and topic.name not in subscribed
    allowed = ErrorCode.NONE if free else ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    return [
        allowed if 0 <= partition.partition_index < partitions else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for partition in topic.partitions
    ]


def _topic_response(topic: OffsetDeleteRequestTopic, errors: list[ErrorCode]) -> OffsetDeleteResponseTopic:
    partitions = [
        OffsetDeleteResponsePartition(partition_index=partition.partition_index, error_code=error)
        for partition, error in zip(topic.partitions, errors, strict=True)
    ]
    return OffsetDeleteResponseTopic(name=topic.name, partitions=partitions)


def _fail(error: ErrorCode) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=error)


HANDLER = Handler(key=47, min_version=0, max_version=0, handle=handle)
