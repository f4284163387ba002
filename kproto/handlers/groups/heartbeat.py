"""Heartbeat: key 12, versions 0-4.

A sign of life; the error tells the member what to do: REBALANCE_IN_PROGRESS rejoin, UNKNOWN_MEMBER_ID or
ILLEGAL_GENERATION begin anew, FENCED_INSTANCE_ID stop, somebody else has this name. While the group is
being loaded the answer is blindly yes: sessions begin anew after the load.

Version notes: v3 (KIP-345) static members; v4 flexible.
"""

from __future__ import annotations

from collections.abc import Awaitable

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.shard import Shard
from kproto.wire.generated.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(
    ctx: RequestContext, request: HeartbeatRequest
) -> HeartbeatResponse | Awaitable[HeartbeatResponse]:
    if not request.group_id:
        return _response(ErrorCode.INVALID_GROUP_ID)
    if ctx.broker.groups.is_loading(request.group_id):
        return _response(ErrorCode.NONE)

    def beat(shard: Shard) -> HeartbeatResponse:
        error = shard.heartbeat(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
        return _response(error)

    return ctx.broker.groups.on_shard(request.group_id, beat, _response)


def _response(error: ErrorCode) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=error)


HANDLER = Handler(key=12, min_version=0, max_version=4, handle=handle)
