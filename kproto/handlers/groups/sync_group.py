"""SyncGroup: key 14, versions 0-5.

Every member of a new generation asks for its assignment; the leader's request carries all of them. The
answers go out when the assignment is durable.

Version notes: v3 (KIP-345) static members; v5 (KIP-559) protocol type and name must be given and fit.
"""

from __future__ import annotations

from collections.abc import Awaitable

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.answers import answered
from kproto.handlers.groups.model import Sync, SyncReply
from kproto.wire.generated.sync_group import SyncGroupRequest, SyncGroupResponse


def handle(
    ctx: RequestContext, request: SyncGroupRequest
) -> SyncGroupResponse | Awaitable[SyncGroupResponse]:
    def fail(error: ErrorCode) -> SyncGroupResponse:
        loading = error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # no client expects it here
        return _response(SyncReply(None, ErrorCode.REBALANCE_IN_PROGRESS if loading else error))

    if ctx.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        return fail(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.group_id:
        return fail(ErrorCode.INVALID_GROUP_ID)
    sync = Sync(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        request.protocol_type,
        request.protocol_name,
        tuple((given.member_id, bytes(given.assignment)) for given in request.assignments),
    )
    return ctx.broker.groups.on_shard(
        request.group_id, lambda shard: answered(shard.sync(request.group_id, sync), _response), fail
    )


def _response(reply: SyncReply) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=reply.error,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol,
        assignment=reply.assignment,
    )


HANDLER = Handler(key=14, min_version=0, max_version=5, handle=handle, open_ended=True)
