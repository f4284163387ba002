"""ElectLeaders (key 43), versions 0 to 2: the preferred replica leads, or any at all (KIP-183, KIP-460).

Behaviour: PREFERRED moves the leader as a planned move and answers when it leads (at most some seconds, else
REQUEST_TIMED_OUT). UNCLEAN is for partitions that nobody can lead because every copy that is left may lack
acknowledged records (they lost power): that loss is accepted, and with it that of all partitions that share
virtual segments with them; also for partitions with leaders whose old records nobody has, where the request
names them. ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE and
ELIGIBLE_LEADERS_NOT_AVAILABLE as in Apache Kafka; who asks for all partitions is not told where nothing was
to be done.
Version notes: v0 PREFERRED only; v1 election type and error code; v2 flexible.
"""

from __future__ import annotations

from itertools import groupby

from kproto.controller import Controller
from kproto.controller.leader_choice import ElectionType, all_partitions, elect
from kproto.errors import TABLE, ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)


async def handle(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Elect, wait, and tell for each partition what became of it."""
    controller = ctx.broker.controller
    response = ElectLeadersResponse()
    try:
        if not isinstance(controller, Controller):
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        if request.election_type not in ElectionType.__members__.values():
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        kind = ElectionType(request.election_type)
        asked = request.topic_partitions
        if asked is None:
            names = all_partitions(controller.image)
        else:
            names = [(topic.topic, partition) for topic in asked for partition in topic.partitions]
        seconds = request.timeout_ms / 1000
        errors = await elect(controller, kind, names, seconds, named=asked is not None)
    except KafkaError as error:
        response.error_code = error.code
        return response
    outcomes = [
        (name, error)
        for name, error in zip(names, errors, strict=True)
        if asked is not None or error is None or error.code is not ErrorCode.ELECTION_NOT_NEEDED
    ]
    for topic, group in groupby(outcomes, lambda outcome: outcome[0][0]):
        results = [_result(name[1], error) for name, error in group]
        response.replica_election_results.append(ReplicaElectionResult(topic=topic, partition_result=results))
    return response


def _result(partition: int, error: KafkaError | None) -> PartitionResult:
    if error is None:
        return PartitionResult(partition_id=partition, error_code=0, error_message=None)
    message = error.message or TABLE[error.code].message
    return PartitionResult(partition_id=partition, error_code=error.code, error_message=message)


HANDLER = Handler(key=43, min_version=0, max_version=2, handle=handle)
