"""OffsetFetch: key 9, versions 1-10.

The committed offsets of groups; -1 for partitions (or groups) without one. Only durable commits are shown;
require_stable also waits for those under way.

Version notes: v1 group errors stand at every partition; v2 null topics mean all of the group's offsets, and
group errors have a field; v5 leader epochs; v7 (KIP-447) require_stable; v8 (KIP-709) several groups; v9
member id and epoch (KIP-848), which classic groups do not look at; v10 topic ids (UNKNOWN_TOPIC_ID for
unknown ones; offsets of topics without an id are left out of "all").
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import NamedTuple

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.offsets import Committed, Offsets
from kproto.handlers.groups.shard import Shard
from kproto.handlers.turns import for_each
from kproto.metadata import MetadataImage
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

Topics = Sequence[OffsetFetchRequestTopic] | Sequence[OffsetFetchRequestTopics] | None

_NO_TOPIC_ID = bytes(16)


class _Offset(NamedTuple):
    partition: int
    committed: Committed | None
    error: ErrorCode = ErrorCode.NONE


class _Topic(NamedTuple):
    name: str
    topic_id: bytes
    offsets: list[_Offset]


class _Answer(NamedTuple):
    group_id: str
    topics: list[_Topic]
    error: ErrorCode


def handle(
    ctx: RequestContext, request: OffsetFetchRequest
) -> OffsetFetchResponse | Awaitable[OffsetFetchResponse]:
    if ctx.version >= 8:
        return _several(ctx, request)
    answer = _fetch(ctx, request.group_id, request.topics, request.require_stable)
    if isinstance(answer, _Answer):
        return _single_response(ctx.version, answer)
    return _single(ctx.version, answer)


async def _single(version: int, answer: Awaitable[_Answer]) -> OffsetFetchResponse:
    return _single_response(version, await answer)


async def _several(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    answers = await for_each(
        request.groups, lambda group: _fetch(ctx, group.group_id, group.topics, request.require_stable)
    )
    return OffsetFetchResponse(groups=await for_each(answers, _group_response))


def _fetch(
    ctx: RequestContext, group_id: str, topics: Topics, require_stable: bool
) -> _Answer | Awaitable[_Answer]:
    def look_up(shard: Shard) -> _Answer | Awaitable[_Answer]:
        if require_stable and not shard.log.idle:
            return look_up_later(shard)
        entry = shard.find(group_id)
        offsets = entry.offsets if entry is not None else Offsets()
        return _Answer(group_id, _look_up(ctx, offsets, topics), ErrorCode.NONE)

    async def look_up_later(shard: Shard) -> _Answer:
        await shard.settled()
        if shard.unloaded:
            return fail(ErrorCode.NOT_COORDINATOR)
        entry = shard.find(group_id)
        offsets = entry.offsets if entry is not None else Offsets()
        return _Answer(group_id, _look_up(ctx, offsets, topics), ErrorCode.NONE)

    def fail(error: ErrorCode) -> _Answer:
        asked = [] if ctx.version >= 2 else [_failed(topic, error) for topic in topics or ()]
        return _Answer(group_id, asked, error)

    return ctx.broker.groups.on_shard(group_id, look_up, fail)


def _failed(topic: OffsetFetchRequestTopic | OffsetFetchRequestTopics, error: ErrorCode) -> _Topic:
    return _Topic(topic.name, _NO_TOPIC_ID, [_Offset(p, None, error) for p in topic.partition_indexes])


def _look_up(ctx: RequestContext, offsets: Offsets, topics: Topics) -> list[_Topic]:
    image = ctx.broker.image()
    if topics is None:
        return _all(image, offsets, ctx.version >= 10)
    return [_asked(image, offsets, topic, ctx.version >= 10) for topic in topics]


def _all(image: MetadataImage, offsets: Offsets, by_id: bool) -> list[_Topic]:
    found: list[_Topic] = []
    for name, partitions in offsets.topics.items():
        record = image.topics.get(name)
        if record is None and by_id:
            continue
        topic_id = record.topic_id if record is not None else _NO_TOPIC_ID
        found.append(_Topic(name, topic_id, [_Offset(p, committed) for p, committed in partitions.items()]))
    return found


def _asked(
    image: MetadataImage,
    offsets: Offsets,
    topic: OffsetFetchRequestTopic | OffsetFetchRequestTopics,
    by_id: bool,
) -> _Topic:
    name, topic_id = topic.name, _NO_TOPIC_ID
    if by_id:
        assert isinstance(topic, OffsetFetchRequestTopics)
        topic_id = topic.topic_id
        record = image.topics_by_id.get(topic_id)
        if record is None:
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
            return _Topic("", topic_id, [_Offset(p, None, unknown) for p in topic.partition_indexes])
        name = record.name
    return _Topic(name, topic_id, [_Offset(p, offsets.get(name, p)) for p in topic.partition_indexes])


_NONE = Committed(-1, -1, "", -1)


def _group_response(answer: _Answer) -> OffsetFetchResponseGroup:
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=one.partition,
                    committed_offset=(one.committed or _NONE).offset,
                    committed_leader_epoch=(one.committed or _NONE).leader_epoch,
                    metadata=(one.committed or _NONE).metadata,
                    error_code=one.error,
                )
                for one in topic.offsets
            ],
        )
        for topic in answer.topics
    ]
    return OffsetFetchResponseGroup(group_id=answer.group_id, topics=topics, error_code=answer.error)


def _single_response(version: int, answer: _Answer) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=one.partition,
                    committed_offset=(one.committed or _NONE).offset,
                    committed_leader_epoch=(one.committed or _NONE).leader_epoch,
                    metadata=(one.committed or _NONE).metadata,
                    error_code=one.error,
                )
                for one in topic.offsets
            ],
        )
        for topic in answer.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=answer.error if version >= 2 else ErrorCode.NONE)


HANDLER = Handler(key=9, min_version=1, max_version=10, handle=handle)
