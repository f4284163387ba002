"""CreatePartitions (key 37), versions 0 to 3: more partitions for topics (KIP-195).

Behaviour: new partitions first fill the last streamlet (its leader and epoch are theirs), then begin new
ones; an assignment has to agree with that. Apache Kafka lets ``__consumer_offsets`` grow, whereupon the
offsets of most groups are not found any more; here that is INVALID_REQUEST. ``validate_only``
decides without creating.
Version notes: v2 flexible; v3 as v2.
"""

from __future__ import annotations

from kproto.controller import NewPartitions
from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


async def handle(ctx: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Grow topics, each on its own."""
    outcomes = await ctx.broker.controller.create_partitions(
        [_wanted(topic) for topic in request.topics], validate_only=request.validate_only
    )
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(
                name=outcome.name or "",
                error_code=outcome.error.code if outcome.error is not None else ErrorCode.NONE,
                error_message=outcome.error.message if outcome.error is not None else None,
            )
            for outcome in outcomes
        ]
    )


def _wanted(topic: CreatePartitionsTopic) -> NewPartitions:
    assignments = topic.assignments
    members = None if assignments is None else [tuple(each.broker_ids) for each in assignments]
    return NewPartitions(topic.name, topic.count, members)


HANDLER = Handler(key=37, min_version=0, max_version=3, handle=handle)
