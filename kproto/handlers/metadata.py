"""Metadata (key 3), versions 0 to 13: brokers, topics, partitions and their leaders.

Behaviour: all topics for a null list (version 0: for an empty one); a topic asked for twice is answered once.
Missing topics are created when broker (``auto.create.topics.enable``) and client (v4+) allow it, and the
answer waits for that and tells the new topic at once, where Apache Kafka lets the client ask again. A
partition without a live leader has leader -1 and LEADER_NOT_AVAILABLE; ``isr`` is the live part of the
replicas.
Version notes: v1 rack, controller; v2 cluster id; v4 allow_auto_topic_creation; v5 offline replicas; v7
leader epoch; v8-10 cluster operations, v8+ topic operations (KIP-430); v10 topic ids in the answer, v12 in
the request (KIP-516); v13 a top-level error code, unused here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Final

from kproto.controller.names import is_internal, name_problem
from kproto.errors import ErrorCode
from kproto.handlers.authorized import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.partitions import partition_states
from kproto.metadata import MetadataImage, TopicRecord
from kproto.wire.generated.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ZERO_UUID: Final = bytes(16)


def handle(ctx: RequestContext, request: MetadataRequest) -> MetadataResponse | Awaitable[MetadataResponse]:
    """Answer from the image; awaitable only when topics have to be created first."""
    if request.topics is None or (ctx.version == 0 and not request.topics):
        return _answer(ctx, request, None)
    wanted = _distinct(request.topics)
    creatable = _creatable(ctx, request, wanted)
    if creatable:
        return _create_and_answer(ctx, request, wanted, creatable)
    return _answer(ctx, request, wanted)


def _distinct(topics: Iterable[MetadataRequestTopic]) -> list[MetadataRequestTopic]:
    """Each topic once, in the order of the request."""
    return list({(topic.topic_id, topic.name): topic for topic in topics}.values())


def _creatable(
    ctx: RequestContext, request: MetadataRequest, wanted: Sequence[MetadataRequestTopic]
) -> list[str]:
    """Names to create before answering; before v4 the client cannot say that it does not want it."""
    if not ctx.broker.settings.auto_create_topics_enable:
        return []
    if ctx.version >= 4 and not request.allow_auto_topic_creation:
        return []
    known = ctx.broker.image().topics
    return [
        topic.name
        for topic in wanted
        if topic.topic_id == ZERO_UUID
        and topic.name is not None
        and topic.name not in known
        and name_problem(topic.name) is None
    ]


async def _create_and_answer(
    ctx: RequestContext,
    request: MetadataRequest,
    wanted: Sequence[MetadataRequestTopic],
    creatable: Sequence[str],
) -> MetadataResponse:
    outcomes = await ctx.broker.controller.auto_create(creatable)
    refused = {
        outcome.name: outcome.error.code
        for outcome in outcomes
        if outcome.error is not None and outcome.error.code is not ErrorCode.TOPIC_ALREADY_EXISTS
    }
    response = _answer(ctx, request, wanted)
    for topic in response.topics:
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and topic.name in refused:
            topic.error_code = refused[topic.name]
    return response


def _answer(
    ctx: RequestContext, request: MetadataRequest, wanted: Sequence[MetadataRequestTopic] | None
) -> MetadataResponse:
    image = ctx.broker.image()
    topic_operations = TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED
    response = MetadataResponse(
        brokers=_brokers(image), cluster_id=image.cluster_id, controller_id=image.controller_id
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    if wanted is None:
        response.topics = [_topic(image, topic, topic_operations) for topic in image.topics.values()]
    else:
        response.topics = [_asked(image, topic, topic_operations, ctx.version) for topic in wanted]
    return response


def _brokers(image: MetadataImage) -> list[MetadataResponseBroker]:
    return [
        MetadataResponseBroker(node_id=each.node_id, host=each.host, port=each.port, rack=each.rack)
        for each in image.brokers.values()
    ]


def _asked(
    image: MetadataImage, asked: MetadataRequestTopic, operations: int, version: int
) -> MetadataResponseTopic:
    """The answer for one topic of the request; an id wins over a name."""
    if asked.topic_id != ZERO_UUID:
        by_id = image.topics_by_id.get(asked.topic_id)
        if by_id is not None:
            return _topic(image, by_id, operations)
        name = None if version >= 12 else ""
        return _error(ErrorCode.UNKNOWN_TOPIC_ID, name, asked.topic_id, operations)
    name = asked.name
    if name is None:
        return _error(ErrorCode.INVALID_REQUEST, "", ZERO_UUID, operations)
    topic = image.topics.get(name)
    if topic is not None:
        return _topic(image, topic, operations)
    if name_problem(name) is not None:
        return _error(ErrorCode.INVALID_TOPIC_EXCEPTION, name, ZERO_UUID, operations)
    return _error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name, ZERO_UUID, operations)


def _error(code: ErrorCode, name: str | None, topic_id: bytes, operations: int) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=is_internal(name or ""),
        topic_authorized_operations=operations,
    )


def _topic(image: MetadataImage, topic: TopicRecord, operations: int) -> MetadataResponseTopic:
    partitions = [
        MetadataResponsePartition(
            error_code=state.error,
            partition_index=state.index,
            leader_id=state.leader,
            leader_epoch=state.leader_epoch,
            replica_nodes=state.replicas,
            isr_nodes=state.isr,
            offline_replicas=state.offline,
        )
        for state in partition_states(image, topic, 0, topic.partitions)
    ]
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=partitions,
        topic_authorized_operations=operations,
    )


HANDLER = Handler(key=3, min_version=0, max_version=13, handle=handle)
