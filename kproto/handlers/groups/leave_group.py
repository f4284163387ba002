"""LeaveGroup: key 13, versions 0-5.

Members go at once instead of by their session timeout. An administrator removes a static member by its
instance id alone (empty member id).

Version notes: v0-2 one member, its error is the answer's; v3 (KIP-345) several members, an error each; v5
(KIP-800) a reason, for the client's log only.
"""

from __future__ import annotations

from collections.abc import Awaitable

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.answers import answered
from kproto.handlers.groups.model import Leaving
from kproto.handlers.groups.shard import Shard
from kproto.wire.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse


def handle(
    ctx: RequestContext, request: LeaveGroupRequest
) -> LeaveGroupResponse | Awaitable[LeaveGroupResponse]:
    if ctx.version >= 3:
        leaving = [Leaving(member.member_id, member.group_instance_id) for member in request.members]
    else:
        leaving = [Leaving(request.member_id, None)]

    def leave(shard: Shard) -> LeaveGroupResponse | Awaitable[LeaveGroupResponse]:
        errors, stored = shard.leave(request.group_id, leaving)

        def response(outcome: ErrorCode) -> LeaveGroupResponse:
            return (
                _fail(outcome) if outcome is not ErrorCode.NONE else _response(ctx.version, leaving, errors)
            )

        return response(ErrorCode.NONE) if stored is None else answered(stored, response)

    if not request.group_id:
        return _fail(ErrorCode.INVALID_GROUP_ID)
    return ctx.broker.groups.on_shard(request.group_id, leave, _fail)


def _response(version: int, leaving: list[Leaving], errors: list[ErrorCode]) -> LeaveGroupResponse:
    if version < 3:
        return _fail(errors[0])
    members = [
        MemberResponse(member_id=one.member_id, group_instance_id=one.instance_id, error_code=error)
        for one, error in zip(leaving, errors, strict=True)
    ]
    return LeaveGroupResponse(members=members)


def _fail(error: ErrorCode) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=error)


HANDLER = Handler(key=13, min_version=0, max_version=5, handle=handle)
