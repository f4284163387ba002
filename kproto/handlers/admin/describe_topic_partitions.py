"""DescribeTopicPartitions (key 75), version 0: topics in pages of partitions (KIP-966).

Behaviour: topics come sorted by name, all of them for an empty list; a page ends after the smaller of the
client's limit and ``max.request.partition.size.limit`` partitions (at least one) and names where the next one
begins, which may be at a topic that does not exist. A partition without leader has leader -1 and, other than
in Metadata, no error. A cursor on a topic that is not in the client's list is INVALID_REQUEST for all of
them. There are no eligible leader replicas in kproto: both lists are empty.
"""

from __future__ import annotations

from bisect import bisect_left

from kproto.controller.names import name_problem
from kproto.errors import ErrorCode
from kproto.handlers.authorized import NOT_ASKED, TOPIC_OPERATIONS
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.partitions import Shortages, partition_states, shortages_of
from kproto.handlers.turns import Steps
from kproto.metadata import MetadataImage, TopicRecord
from kproto.wire.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)


def handle(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> Steps[DescribeTopicPartitionsResponse]:
    """One page of the description."""
    image = ctx.broker.image()
    limit = max(
        1, min(request.response_partition_limit, ctx.broker.settings.max_request_partition_size_limit)
    )
    listed = {topic.name for topic in request.topics}
    names = sorted(listed or image.topics)
    start = 0
    if request.cursor is not None:
        cursor = request.cursor
        if cursor.partition_index < 0 or (listed and cursor.topic_name not in listed):
            return _refused(names)
        names = names[bisect_left(names, cursor.topic_name) :]
        start = cursor.partition_index if names and names[0] == cursor.topic_name else 0
    yield
    return (yield from _page(image, shortages_of(ctx.broker.table, image), names, start, limit))


def _refused(names: list[str]) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[_problem(name, ErrorCode.INVALID_REQUEST, NOT_ASKED) for name in names]
    )


def _page(
    image: MetadataImage, shortages: Shortages, names: list[str], start: int, limit: int
) -> Steps[DescribeTopicPartitionsResponse]:
    """Topics ``names`` from partition ``start`` of the first one, at most ``limit`` partitions."""
    response = DescribeTopicPartitionsResponse()
    for name in names:
        yield
        if limit == 0:
            response.next_cursor = ResponseCursor(topic_name=name, partition_index=0)
            break
        topic = image.topics.get(name)
        if topic is None:
            unknown = name_problem(name) is None
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if unknown else ErrorCode.INVALID_TOPIC_EXCEPTION
            response.topics.append(_problem(name, code, TOPIC_OPERATIONS))
            start = 0
            continue
        shown = _topic(image, shortages, topic, start, start + limit)
        response.topics.append(shown)
        limit -= len(shown.partitions)
        end = start + len(shown.partitions)
        if end < topic.partitions:
            response.next_cursor = ResponseCursor(topic_name=name, partition_index=end)
            break
        start = 0
    return response


def _problem(name: str, code: ErrorCode, operations: int) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, topic_authorized_operations=operations
    )


def _topic(
    image: MetadataImage, shortages: Shortages, topic: TopicRecord, first: int, end: int
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=state.partition,
                leader_id=state.leader,
                leader_epoch=state.leader_epoch,
                replica_nodes=state.replicas,
                isr_nodes=state.isr,
                eligible_leader_replicas=[],
                last_known_elr=[],
                offline_replicas=state.offline,
            )
            for state in partition_states(image, topic, first, end, shortages)
        ],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


HANDLER = Handler(key=75, min_version=0, max_version=0, handle=handle)
