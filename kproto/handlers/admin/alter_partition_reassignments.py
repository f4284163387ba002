"""AlterPartitionReassignments (key 45), versions 0 to 1: other replicas for partitions (KIP-455).

Behaviour: nothing is copied, since where copies are is decided for each virtual segment; a leader that is no
replica any more moves to the first live one, which takes milliseconds. Partitions of a topic may have
different numbers of replicas, those of one streamlet have the same replicas: for another number all of them
must be named (else INVALID_REPLICA_ASSIGNMENT). From, to and of a single copy it takes until everything is
where it is to be. Without replicas a reassignment that is under way is cancelled (else
NO_REASSIGNMENT_IN_PROGRESS).
Version notes: v1 KIP-860, whether the number of replicas may change; the answer repeats it (true where no
topics are named, as in Apache Kafka).
"""

from __future__ import annotations

from kproto.controller import Controller
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.errors import TABLE, ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


async def handle(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Begin, change or cancel reassignments, each on its own."""
    controller = ctx.broker.controller
    if not request.topics:
        return AlterPartitionReassignmentsResponse()
    wanted = [
        NewReplicas(topic.name, each.partition_index, None if each.replicas is None else tuple(each.replicas))
        for topic in request.topics
        for each in topic.partitions
    ]
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, error_message=None
    )
    try:
        if not isinstance(controller, Controller):
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        may_change = request.allow_replication_factor_change
        errors = await controller.decide(
            lambda: decide_reassign(controller.image, controller.table, wanted, may_change)
        )
    except KafkaError as error:
        response.error_code, response.error_message = error.code, error.message
        return response
    left = iter(errors)
    for topic in request.topics:
        answers = [_answer(each.partition_index, next(left)) for each in topic.partitions]
        response.responses.append(ReassignableTopicResponse(name=topic.name, partitions=answers))
    return response


def _answer(partition: int, error: KafkaError | None) -> ReassignablePartitionResponse:
    if error is None:
        return ReassignablePartitionResponse(partition_index=partition, error_code=0, error_message=None)
    message = error.message or TABLE[error.code].message
    return ReassignablePartitionResponse(
        partition_index=partition, error_code=error.code, error_message=message
    )


HANDLER = Handler(key=45, min_version=0, max_version=1, handle=handle)
