"""ListGroups: key 16, versions 0-5.

All groups this broker coordinates; COORDINATOR_LOAD_IN_PROGRESS beside them when some are not loaded in time,
at which clients ask again. What cannot be loaded is left out, as in Apache Kafka: else no client would ever
see the others. Filters match without regard to case; an unknown state or type matches nothing.

Version notes: v4 (KIP-518) states and a filter by state; v5 (KIP-848) types and a filter by type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.shard import Shard
from kproto.wire.generated.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

TYPE: Final = "classic"


async def handle(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    states = {state.strip().lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    if types and TYPE not in types:
        return ListGroupsResponse()
    coordinator = ctx.broker.groups
    shards = await coordinator.all_shards()
    error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if coordinator.loads else ErrorCode.NONE
    return ListGroupsResponse(error_code=error, groups=_listed(shards, states))


def _listed(shards: Sequence[Shard], states: set[str]) -> list[ListedGroup]:
    groups = (entry.group for shard in shards for entry in shard.entries.values())
    return [
        ListedGroup(
            group_id=group.group_id,
            protocol_type=group.protocol_type or "",
            group_state=group.state.value,
            group_type=TYPE,
        )
        for group in groups
        if not states or group.state.value.lower() in states
    ]


HANDLER = Handler(key=16, min_version=0, max_version=5, handle=handle)
