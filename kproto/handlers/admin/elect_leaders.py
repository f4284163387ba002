"""ElectLeaders (key 43), versions 0 to 2: the preferred replica leads, or any at all (KIP-183, KIP-460).

Behaviour: PREFERRED moves the leader as a planned move and answers when it leads (at most some seconds, else
REQUEST_TIMED_OUT). UNCLEAN is for partitions that nobody can lead because every copy that is left may lack
acknowledged records (they lost power): that loss is accepted, and with it that of all partitions that share
virtual segments with them; also for partitions with leaders whose old records nobody has, where the request
names them. ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE and
ELIGIBLE_LEADERS_NOT_AVAILABLE as in Apache Kafka; who asks for all partitions is told their topics, and not
the partitions where nothing was to be done. A type that is none is INVALID_REQUEST for each partition, too.
Version notes: v0 PREFERRED only; v1 election type and error code; v2 flexible.
"""

from __future__ import annotations

from collections.abc import Sequence
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

Topics = Sequence[tuple[str, Sequence[int]]]
"""Topics with those of their partitions that are to get leaders."""


async def handle(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Elect, wait, and tell for each partition what became of it."""
    controller = ctx.broker.controller
    asked = request.topic_partitions
    topics: Topics = [(each.topic, each.partitions) for each in asked or ()]
    if asked is not None and not asked:
        return ElectLeadersResponse()
    try:
        if not isinstance(controller, Controller):
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        if request.election_type not in ElectionType.__members__.values():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"There is no election {request.election_type}.")
        kind = ElectionType(request.election_type)
        if asked is None:
            every = groupby(all_partitions(controller.image), lambda name: name[0])
            topics = [(topic, [index for _, index in names]) for topic, names in every]
        names = [(topic, index) for topic, partitions in topics for index in partitions]
        seconds = request.timeout_ms / 1000
        errors = await elect(controller, kind, names, seconds, named=asked is not None)
    except KafkaError as error:
        errors = [error for _, partitions in topics for _ in partitions]
        return ElectLeadersResponse(
            error_code=error.code, replica_election_results=_results(topics, errors, True)
        )
    return ElectLeadersResponse(replica_election_results=_results(topics, errors, asked is not None))


def _results(topics: Topics, errors: Sequence[KafkaError | None], named: bool) -> list[ReplicaElectionResult]:
    """``errors`` are those of all partitions, in order."""
    left = iter(errors)
    return [
        ReplicaElectionResult(
            topic=topic,
            partition_result=[
                _result(index, error)
                for index, error in zip(partitions, left, strict=False)
                if named or error is None or error.code is not ErrorCode.ELECTION_NOT_NEEDED
            ],
        )
        for topic, partitions in topics
    ]


def _result(partition: int, error: KafkaError | None) -> PartitionResult:
    if error is None:
        return PartitionResult(partition_id=partition, error_code=0, error_message=None)
    message = error.message or TABLE[error.code].message
    return PartitionResult(partition_id=partition, error_code=error.code, error_message=message)


HANDLER = Handler(key=43, min_version=0, max_version=2, handle=handle)
