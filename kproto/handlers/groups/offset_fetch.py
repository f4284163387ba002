"""OffsetFetch: key 9, versions 1-10.

The committed offsets of groups; -1 for partitions (or groups) without one. Only durable commits are shown,
and those under way of what is asked for are waited for: Apache Kafka, too, tells a connection what it has
just committed. That is as long as the commits themselves are waited for; then the offsets are told as they
were, or with require_stable these partitions have UNSTABLE_OFFSET_COMMIT, at which clients ask again. Where
thousands are asked for, each is as it is when its turn comes. What was committed for an earlier topic of the
same name is not shown. A group that is named very often is answered once, as the last time says (see
``repeats``).

Version notes: v1 group errors stand at every partition; v2 null topics mean all of the group's offsets, and
group errors have a field; v5 leader epochs; v7 (KIP-447) require_stable; v8 (KIP-709) several groups; v9
member id and epoch (KIP-848), which classic groups do not look at; v10 topic ids (UNKNOWN_TOPIC_ID for
unknown ones; offsets of topics without an id are left out of "all").
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, Final

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.offsets import Committed, Offsets
from kproto.handlers.groups.shard import Shard, TopicPartition
from kproto.handlers.repeats import few_repeats
from kproto.handlers.turns import Steps, for_each
from kproto.metadata import MetadataImage
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

FIRST_WITH_GROUPS: Final = 8
FIRST_WITH_IDS: Final = 10
_NO_TOPIC_ID: Final = bytes(16)
_NONE: Final = Committed(-1, -1, "", -1)
_UNSTABLE: Final = Committed(-1, -1, "", -1)
"""In place of an offset that is not told, since a commit of it does not become durable."""

Found = Offsets | ErrorCode
"""The offsets of a group, or why they are not to be had."""


def handle(
    ctx: RequestContext, request: OffsetFetchRequest
) -> Steps[OffsetFetchResponse | Awaitable[Steps[OffsetFetchResponse]]]:
    """Find the groups, then tell their offsets; awaitable only when one of them has to be waited for."""
    groups = few_repeats(request.groups, lambda group: group.group_id)
    if ctx.version < FIRST_WITH_GROUPS:
        topics: list[Any] | None = request.topics  # as far as older versions go they are the same
        groups = [OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)]
    found: list[Found] = []
    for group in groups:
        one = _find(ctx, group, request.require_stable)
        if isinstance(one, Awaitable):
            return _answer_when_found(ctx, request.require_stable, groups, found, one)
        found.append(one)
        yield
    return (yield from _answer(ctx, groups, found))


async def _answer_when_found(
    ctx: RequestContext,
    require_stable: bool,
    groups: Sequence[OffsetFetchRequestGroup],
    found: list[Found],
    coming: Awaitable[Found],
) -> Steps[OffsetFetchResponse]:
    """``found`` are the first ones, ``coming`` is the next."""
    found.append(await coming)
    rest = groups[len(found) :]
    found += await for_each(rest, lambda group: _find(ctx, group, require_stable))
    return _answer(ctx, groups, found)


def _find(
    ctx: RequestContext, group: OffsetFetchRequestGroup, require_stable: bool
) -> Found | Awaitable[Found]:
    def look_up(shard: Shard) -> Found | Awaitable[Found]:
        waits = not shard.log.idle and _unsettled(ctx, group, shard)
        return look_up_later(shard) if waits else offsets(shard)

    async def look_up_later(shard: Shard) -> Found:
        outcome = await shard.settled()
        if shard.unloaded:
            return ErrorCode.NOT_COORDINATOR
        found = offsets(shard)
        if require_stable and outcome is not ErrorCode.NONE:
            return _without(found, _unsettled(ctx, group, shard))
        return found

    def offsets(shard: Shard) -> Offsets:
        entry = shard.find(group.group_id)
        return entry.offsets if entry is not None else Offsets()

    def fail(error: ErrorCode) -> Found:
        return error

    return ctx.broker.groups.on_shard(group.group_id, look_up, fail)


def _unsettled(ctx: RequestContext, group: OffsetFetchRequestGroup, shard: Shard) -> set[TopicPartition]:
    """What of the offsets that are asked for is on its way to the log."""
    underway = shard.unsettled(group.group_id)
    if not underway or group.topics is None:
        return underway
    names = {topic for topic, _ in underway}
    asked: set[TopicPartition] = set()
    for topic in group.topics:
        name = topic.name
        if ctx.version >= FIRST_WITH_IDS:
            record = ctx.broker.image().topics_by_id.get(topic.topic_id)
            name = record.name if record is not None else ""
        if name in names:
            asked.update((name, index) for index in topic.partition_indexes)
    return underway & asked


def _without(offsets: Offsets, unsettled: Iterable[TopicPartition]) -> Offsets:
    """``offsets`` with `_UNSTABLE` in the places of those that are ``unsettled``."""
    told = Offsets()
    told.topics = {topic: dict(partitions) for topic, partitions in offsets.topics.items()}
    for topic, partition in unsettled:
        told.put(topic, partition, _UNSTABLE)
    return told


def _answer(
    ctx: RequestContext, groups: Sequence[OffsetFetchRequestGroup], found: Sequence[Found]
) -> Steps[OffsetFetchResponse]:
    image = ctx.broker.image()
    answers: list[OffsetFetchResponseGroup] = []
    for group, one in zip(groups, found, strict=True):
        answer = OffsetFetchResponseGroup(group_id=group.group_id, topics=[])
        if isinstance(one, ErrorCode):
            answer.error_code = one
            if ctx.version == 1:
                for topic in group.topics or ():
                    nothing = ((index, None) for index in topic.partition_indexes)
                    answer.topics.append((yield from _told(topic.name, _NO_TOPIC_ID, nothing, one)))
        elif group.topics is None:
            yield from _all(ctx.version, image, one, answer.topics)
        else:
            for topic in group.topics:
                answer.topics.append((yield from _asked(ctx.version, image, one, topic)))
        answers.append(answer)
        yield
    if ctx.version >= FIRST_WITH_GROUPS:
        return OffsetFetchResponse(groups=answers)
    (answer,) = answers
    topics: list[Any] = answer.topics
    return OffsetFetchResponse(topics=topics, error_code=answer.error_code if ctx.version >= 2 else 0)


def _all(
    version: int, image: MetadataImage, offsets: Offsets, told: list[OffsetFetchResponseTopics]
) -> Steps[None]:
    for name, partitions in list(offsets.topics.items()):
        record = image.topics.get(name)
        if record is None and version >= FIRST_WITH_IDS:
            continue
        topic_id = record.topic_id if record is not None else _NO_TOPIC_ID
        pairs = [(index, one) for index, one in partitions.items() if record is None or one.is_of(topic_id)]
        if pairs:
            told.append((yield from _told(name, topic_id, pairs)))


def _asked(
    version: int, image: MetadataImage, offsets: Offsets, topic: OffsetFetchRequestTopics
) -> Steps[OffsetFetchResponseTopics]:
    name, topic_id = topic.name, _NO_TOPIC_ID
    if version >= FIRST_WITH_IDS:
        topic_id = topic.topic_id
        record = image.topics_by_id.get(topic_id)
        if record is None:
            nothing = ((index, None) for index in topic.partition_indexes)
            return (yield from _told("", topic_id, nothing, ErrorCode.UNKNOWN_TOPIC_ID))
        name = record.name
    else:
        record = image.topics.get(name)
    now = record.topic_id if record is not None else None
    pairs = ((index, _valid(offsets.get(name, index), now)) for index in topic.partition_indexes)
    return (yield from _told(name, topic_id, pairs))


def _valid(committed: Committed | None, topic_id: bytes | None) -> Committed | None:
    """``committed``, unless it is of an earlier topic of this name: its deletion is not durable yet, or was
    refused."""
    if committed is None or topic_id is None or committed.is_of(topic_id):
        return committed
    return None


def _told(
    name: str,
    topic_id: bytes,
    pairs: Iterable[tuple[int, Committed | None]],
    error: ErrorCode = ErrorCode.NONE,
) -> Steps[OffsetFetchResponseTopics]:
    """One topic of the answer; ``pairs`` are partitions with what was committed for them."""
    partitions: list[OffsetFetchResponsePartitions] = []
    for index, committed in pairs:
        offset, epoch, metadata = (committed or _NONE)[:3]
        code = ErrorCode.UNSTABLE_OFFSET_COMMIT if committed is _UNSTABLE else error
        partitions.append(OffsetFetchResponsePartitions(index, offset, epoch, metadata, code))
        yield
    return OffsetFetchResponseTopics(name, topic_id, partitions)


HANDLER = Handler(key=9, min_version=1, max_version=10, handle=handle)
