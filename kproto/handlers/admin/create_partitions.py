"""CreatePartitions (key 37), versions 0 to 3: more partitions for topics (KIP-195).

Behaviour: new partitions first fill the last streamlet (its leader and epoch are theirs), then begin new
ones; an assignment has to agree with that. Apache Kafka lets ``__consumer_offsets`` grow, whereupon the
offsets of most groups are not found any more; here that is INVALID_REQUEST. ``validate_only``
decides without creating.
Version notes: v2 flexible; v3 as v2.
"""

from __future__ import annotations

from kproto.controller import NewPartitions, TopicOutcome
from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import for_each
from kproto.wire.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


async def handle(ctx: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Grow topics, each on its own."""
    wanted: list[NewPartitions] = await for_each(request.topics, _wanted)
    outcomes = await ctx.broker.controller.create_partitions(wanted, validate_only=request.validate_only)
    return CreatePartitionsResponse(results=await for_each(outcomes, _result))


def _wanted(topic: CreatePartitionsTopic) -> NewPartitions:
    assignments = topic.assignments
    members = None if assignments is None else [tuple(each.broker_ids) for each in assignments]
    return NewPartitions(topic.name, topic.count, members)


def _result(outcome: TopicOutcome) -> CreatePartitionsTopicResult:
    error = outcome.error
    return CreatePartitionsTopicResult(
        name=outcome.name or "",
        error_code=error.code if error is not None else ErrorCode.NONE,
        error_message=error.message if error is not None else None,
    )


HANDLER = Handler(key=37, min_version=0, max_version=3, handle=handle)
