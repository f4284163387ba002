"""OffsetCommit: key 8, versions 2-10.

A member commits the offsets up to which it has worked, with its generation; a simple consumer (no
membership) or an administrator commits with generation -1 while the group has no members. The answer comes
when the records are durable, all partitions of a request in one batch.

Errors per partition: UNKNOWN_TOPIC_OR_PARTITION (v10: UNKNOWN_TOPIC_ID), OFFSET_METADATA_TOO_LARGE
(``offset.metadata.max.bytes``); the group's errors go to every partition that exists.
Version notes: v2-4 a retention time of its own; v6 leader epochs; v7 (KIP-345) static members; v9 an unknown
group is GROUP_ID_NOT_FOUND instead of ILLEGAL_GENERATION; v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, NamedTuple

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.answers import answered
from kproto.handlers.groups.offsets import Committed
from kproto.handlers.groups.shard import Shard
from kproto.wire.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_LAST_MS: Final = (1 << 63) - 1
"""The last moment that a record can name."""
_OF_GROUP: Final = (ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE)
"""Partitions with these get the group's error, if it has one: it is known before metadata is looked at."""


class _Judged(NamedTuple):
    """The request with each partition's own error, and what remains to be written."""

    errors: list[list[ErrorCode]]
    accepted: list[tuple[str, int, Committed]]


def handle(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Awaitable[OffsetCommitResponse]:
    judged = _judge(ctx, request)

    def respond(error: ErrorCode) -> OffsetCommitResponse:
        return _response(request, judged, error)

    def commit(shard: Shard) -> OffsetCommitResponse | Awaitable[OffsetCommitResponse]:
        group_id = request.group_id
        error = shard.check_commit(
            group_id, request.member_id, request.group_instance_id, request.generation_id_or_member_epoch
        )
        if error is ErrorCode.GROUP_ID_NOT_FOUND and ctx.version < 9:
            error = ErrorCode.ILLEGAL_GENERATION
        if error is not ErrorCode.NONE or not judged.accepted:
            return respond(error)
        return answered(shard.commit(group_id, judged.accepted), respond)

    if request.topics and not any(own in _OF_GROUP for row in judged.errors for own in row):
        return respond(ErrorCode.NONE)
    return ctx.broker.groups.on_shard(request.group_id, commit, respond)


def _judge(ctx: RequestContext, request: OffsetCommitRequest) -> _Judged:
    """Resolve topics and check partitions and metadata sizes."""
    now_ms = ctx.broker.clock.wall_ms()
    retention_ms = request.retention_time_ms
    expire_ms = min(now_ms + retention_ms, _LAST_MS) if retention_ms >= 0 else -1
    limit = ctx.broker.settings.offset_metadata_max_bytes
    image = ctx.broker.image()
    judged = _Judged([], [])
    for topic in request.topics:
        record = image.topics_by_id.get(topic.topic_id) if ctx.version >= 10 else image.topics.get(topic.name)
        row: list[ErrorCode] = []
        for partition in topic.partitions:
            error = ErrorCode.NONE
            metadata = partition.committed_metadata or ""
            if record is None and ctx.version >= 10:
                error = ErrorCode.UNKNOWN_TOPIC_ID
            elif record is None or not 0 <= partition.partition_index < record.partitions:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif len(metadata) > limit:
                error = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                offset = Committed(
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    metadata,
                    now_ms,
                    expire_ms,
                    record.topic_id,
                )
                judged.accepted.append((record.name, partition.partition_index, offset))
            row.append(error)
        judged.errors.append(row)
    return judged


def _response(request: OffsetCommitRequest, judged: _Judged, error: ErrorCode) -> OffsetCommitResponse:
    topics = [
        _topic_response(topic, row, error) for topic, row in zip(request.topics, judged.errors, strict=True)
    ]
    return OffsetCommitResponse(topics=topics)


def _topic_response(
    topic: OffsetCommitRequestTopic, row: list[ErrorCode], error: ErrorCode
) -> OffsetCommitResponseTopic:
    partitions = [
        OffsetCommitResponsePartition(
            partition_index=partition.partition_index, error_code=error if error and own in _OF_GROUP else own
        )
        for partition, own in zip(topic.partitions, row, strict=True)
    ]
    return OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)


HANDLER = Handler(key=8, min_version=2, max_version=10, handle=handle)
