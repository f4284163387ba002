"""Metadata (key 3), versions 0 to 13: brokers, topics, partitions and their leaders.

Behaviour: all topics for a null list (version 0: for an empty one); a topic asked for twice is answered once.
Missing topics are created when broker (``auto.create.topics.enable``) and client (v4+) allow it, and the
answer waits for that and tells the new topic at once, where Apache Kafka lets the client ask again; when
that is up to another broker, and takes more than a second, it has LEADER_NOT_AVAILABLE for them. A partition
without a live leader, or whose leader is still rebuilding it, has leader -1 and LEADER_NOT_AVAILABLE; for
``isr`` see ``partitions``. Brokers that have just ended stay listed (`suspects`).
Version notes: v0 names live replicas only, with REPLICA_NOT_AVAILABLE when others are missing; v1 rack,
controller; v2 cluster id; v4 allow_auto_topic_creation; v5 offline replicas; v7 leader epoch; v8-10 cluster
operations, v8+ topic operations (KIP-430); v10 topic ids in the answer, v12 in the request (KIP-516); v13 a
top-level error code, unused here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kproto.controller.names import is_internal, name_problem
from kproto.errors import ErrorCode
from kproto.handlers import metadata_wire
from kproto.handlers.authorized import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from kproto.handlers.context import Handler, RequestContext, Services
from kproto.handlers.partitions import Shortages, leader_of, partition_states, shortages_of
from kproto.handlers.turns import Steps
from kproto.metadata import MetadataImage, TopicRecord
from kproto.metadata.records import NO_LEADER
from kproto.metadata.suspects import SUSPICION_SECONDS, Suspects
from kproto.wire.generated.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ZERO_UUID: Final = bytes(16)
NAMES_ONLY: Final = (10, 11)
NOTHING: Final[Mapping[str, int]] = {}
AS_TOLD: Final = {ErrorCode.NOT_CONTROLLER: ErrorCode.LEADER_NOT_AVAILABLE}
"""What is no matter of the topic: clients are to ask again for it."""


Answer = MetadataResponse | bytes
"""A body of the flexible versions is written by hand: see ``metadata_wire``."""


def handle(ctx: RequestContext, request: MetadataRequest) -> Steps[Answer | Awaitable[Steps[Answer]]]:
    """Answer from the image; awaitable when topics have to be created first, and in a cluster, where leaders
    may just have died."""
    if request.topics is None or (ctx.version == 0 and not request.topics):
        return (yield from _answer_when_led(ctx, request, None))
    if ctx.version in NAMES_ONLY and any(_without_name(topic) for topic in request.topics):
        return _refused(request)
    wanted = _distinct(request.topics)
    yield
    creatable = yield from _creatable(ctx, request, wanted)
    if creatable:
        return _create_and_answer(ctx, request, wanted, creatable)
    return (yield from _answer_when_led(ctx, request, wanted))


def _without_name(topic: MetadataRequestTopic) -> bool:
    return topic.name is None or topic.topic_id != ZERO_UUID


def _refused(request: MetadataRequest) -> MetadataResponse:
    """Versions 10 and 11 have room for ids and null names, but do not allow them."""
    topics = [
        MetadataResponseTopic(
            error_code=ErrorCode.INVALID_REQUEST, name=topic.name or "", topic_id=topic.topic_id
        )
        for topic in request.topics or ()
    ]
    return MetadataResponse(controller_id=-1, topics=topics)


def _distinct(topics: Iterable[MetadataRequestTopic]) -> list[MetadataRequestTopic]:
    """Each topic once, in the order of the request."""
    return list({(topic.topic_id, topic.name): topic for topic in topics}.values())


def _creatable(
    ctx: RequestContext, request: MetadataRequest, wanted: Sequence[MetadataRequestTopic]
) -> Steps[list[str]]:
    """Names to create before answering; before v4 the client cannot say that it does not want it."""
    if not ctx.broker.settings.auto_create_topics_enable:
        return []
    if ctx.version >= 4 and not request.allow_auto_topic_creation:
        return []
    known = ctx.broker.image().topics
    creatable: list[str] = []
    for topic in wanted:
        name = topic.name
        if topic.topic_id == ZERO_UUID and name is not None and name not in known:
            if name_problem(name) is None:
                creatable.append(name)
            yield
    return creatable


async def _create_and_answer(
    ctx: RequestContext,
    request: MetadataRequest,
    wanted: Sequence[MetadataRequestTopic],
    creatable: Sequence[str],
) -> Steps[Answer]:
    outcomes = await ctx.broker.controller.auto_create(creatable)
    refused = {
        outcome.name or "": AS_TOLD.get(outcome.error.code, outcome.error.code)
        for outcome in outcomes
        if outcome.error is not None and outcome.error.code is not ErrorCode.TOPIC_ALREADY_EXISTS
    }
    return _answer(ctx, request, wanted, refused)


def _answer_when_led(
    ctx: RequestContext, request: MetadataRequest, wanted: Sequence[MetadataRequestTopic] | None
) -> Steps[Answer | Awaitable[Steps[Answer]]]:
    """While a broker seems to be dead, or a leader is not ready yet, wait a moment until all are led
    (`kproto.metadata.suspects`)."""
    suspects = ctx.broker.suspects
    if suspects is None or wanted == []:
        return (yield from _answer(ctx, request, wanted))

    async def wait() -> Steps[Answer]:
        await suspects.look()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + SUSPICION_SECONDS
        in_time = loop.call_at(deadline, suspects.notify)
        while _awaited(suspects, suspects.shown(ctx.broker.image()), wanted, loop.time() < deadline):
            await suspects.change()
        in_time.cancel()
        return _answer(ctx, request, wanted)

    return wait()


def _shown_image(ctx: RequestContext) -> MetadataImage:
    suspects, image = ctx.broker.suspects, ctx.broker.image()
    return image if suspects is None else suspects.shown(image)


def _awaited(
    suspects: Suspects,
    image: MetadataImage,
    wanted: Sequence[MetadataRequestTopic] | None,
    patient: bool,
) -> bool:
    """Whether something with more than one copy in these topics (None: in all) is likely to have a leader in
    a moment: its leader may be dead or, for who is ``patient``, was chosen just now."""
    if not suspects.any and not (patient and suspects.awaits(None)):
        return False
    if wanted is None:
        topics: Sequence[TopicRecord | None] = list(image.topics.values())
    else:
        topics = [_find(image, asked, NOTHING, 0).topic for asked in wanted]
    if patient and suspects.awaits({topic.topic_id for topic in topics if topic is not None}):
        return True
    return suspects.any and any(
        record.sources and leader_of(image, record) == NO_LEADER
        for topic in topics
        if topic is not None
        for record in image.streamlets[topic.topic_id]
    )


def _answer(
    ctx: RequestContext,
    request: MetadataRequest,
    wanted: Sequence[MetadataRequestTopic] | None,
    refused: Mapping[str, int] = NOTHING,
) -> Steps[Answer]:
    """``refused`` are the codes of topics whose creation failed just now."""
    version = ctx.version
    shortages = shortages_of(ctx.broker.table, ctx.broker.image())
    image = _shown_image(ctx)
    found = (
        (Found(topic, ErrorCode.NONE, topic.name, topic.topic_id) for topic in image.topics.values())
        if wanted is None
        else (_find(image, topic, refused, version) for topic in wanted)
    )
    operations = TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED
    on_cluster = CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
    controller_id = _controller_shown(ctx.broker, image)
    suspects = ctx.broker.suspects
    brokers = list(image.brokers.values()) if suspects is None else suspects.listed(image)
    if version >= metadata_wire.FIRST_VERSION:
        entries: list[bytes] = []
        for each in found:
            entries.append(_encoded(image, each, version, shortages))
            yield
        return metadata_wire.write_response(
            brokers, image.cluster_id, version, controller_id, entries, operations, on_cluster
        )
    topics: list[MetadataResponseTopic] = []
    for each in found:
        topics.append(_shown(image, each, operations, shortages, version))
        yield
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=each.node_id, host=each.host, port=each.port, rack=each.rack)
            for each in brokers
        ],
        cluster_id=image.cluster_id,
        controller_id=controller_id,
        topics=topics,
        cluster_authorized_operations=on_cluster,
    )


def _controller_shown(broker: Services, image: MetadataImage) -> int:
    """Where clients send administrative requests: here, if this broker hands them on.

    As with KRaft, where any broker is named (KIP-590), and for a better reason than the load: a client that
    asks the acting controller itself waits for half a minute when that hangs, and this broker goes on to the
    next one.
    """
    hands_on = broker.forward is not None and broker.node_id in image.brokers
    return broker.node_id if hands_on else image.controller_id


class Found(NamedTuple):
    """What a topic of the request turned out to be: ``topic``, or why there is none."""

    topic: TopicRecord | None
    code: int
    name: str | None
    topic_id: bytes


def _find(
    image: MetadataImage, asked: MetadataRequestTopic, refused: Mapping[str, int], version: int
) -> Found:
    """Look up one topic of the request; an id wins over a name."""
    if asked.topic_id != ZERO_UUID:
        topic = image.topics_by_id.get(asked.topic_id)
        if topic is None:
            return Found(None, ErrorCode.UNKNOWN_TOPIC_ID, None if version >= 12 else "", asked.topic_id)
        return Found(topic, ErrorCode.NONE, topic.name, topic.topic_id)
    name = asked.name
    if name is None:
        return Found(None, ErrorCode.INVALID_REQUEST, "", ZERO_UUID)
    topic = image.topics.get(name)
    if topic is not None:
        return Found(topic, ErrorCode.NONE, name, topic.topic_id)
    if name_problem(name) is not None:
        return Found(None, ErrorCode.INVALID_TOPIC_EXCEPTION, name, ZERO_UUID)
    return Found(None, refused.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), name, ZERO_UUID)


def _encoded(image: MetadataImage, found: Found, version: int, shortages: Shortages) -> bytes:
    if found.topic is not None:
        return metadata_wire.topic_entry(image, found.topic, version, shortages)
    internal = is_internal(found.name or "")
    return metadata_wire.error_entry(found.code, found.name, found.topic_id, internal, version)


def _shown(
    image: MetadataImage, found: Found, operations: int, shortages: Shortages, version: int
) -> MetadataResponseTopic:
    topic = found.topic
    return MetadataResponseTopic(
        error_code=found.code,
        name=found.name,
        topic_id=found.topic_id,
        is_internal=is_internal(found.name or ""),
        partitions=_partitions(image, topic, shortages, version) if topic is not None else [],
        topic_authorized_operations=operations,
    )


def _partitions(
    image: MetadataImage, topic: TopicRecord, shortages: Shortages, version: int
) -> list[MetadataResponsePartition]:
    shown = [
        MetadataResponsePartition(
            error_code=state.error,
            partition_index=state.partition,
            leader_id=state.leader,
            leader_epoch=state.leader_epoch,
            replica_nodes=state.replicas,
            isr_nodes=state.isr,
            offline_replicas=state.offline,
        )
        for state in partition_states(image, topic, 0, topic.partitions, shortages)
    ]
    for each in shown if version == 0 else ():
        if each.offline_replicas:
            each.replica_nodes = [node for node in each.replica_nodes if node in image.brokers]
            each.error_code = each.error_code or ErrorCode.REPLICA_NOT_AVAILABLE
    return shown


HANDLER = Handler(key=3, min_version=0, max_version=13, handle=handle)
