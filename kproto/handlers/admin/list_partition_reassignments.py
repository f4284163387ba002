"""ListPartitionReassignments (key 46), version 0 (KIP-455).

Behaviour: a reassignment is under way until the leader has moved; partitions that are unknown or have none
are left out, as in Apache Kafka.
"""

from __future__ import annotations

from itertools import groupby

from kproto.controller.reassignment import ongoing
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def handle(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """What is under way of what was asked for; without topics: everything."""
    asked = None
    if request.topics is not None:
        asked = [(topic.name, topic.partition_indexes) for topic in request.topics]
    found = ongoing(ctx.broker.image(), ctx.broker.controller.table, asked)
    response = ListPartitionReassignmentsResponse(error_message=None)
    for name, partitions in groupby(found, lambda each: each.topic):
        response.topics.append(
            OngoingTopicReassignment(
                name=name,
                partitions=[
                    OngoingPartitionReassignment(
                        partition_index=each.partition,
                        replicas=each.replicas,
                        adding_replicas=each.adding,
                        removing_replicas=each.removing,
                    )
                    for each in partitions
                ],
            )
        )
    return response


HANDLER = Handler(key=46, min_version=0, max_version=0, handle=handle)
