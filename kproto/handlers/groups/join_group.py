"""JoinGroup: key 11, versions 0-9.

A member asks to be part of the next generation. The answer comes when the generation begins: the leader
gets all members' metadata to assign from. Bounds: ``group.min/max.session.timeout.ms``.

Version notes: v0 has no rebalance timeout, the session timeout counts; v4 (KIP-394) a member without an id
is given one by MEMBER_ID_REQUIRED and asks again; v5 (KIP-345) static members; v7 nullable protocol name;
v8 (KIP-800) a reason, for the client's log only; v9 (KIP-814) SkipAssignment for a returning static leader.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.answers import answered, new_member_id
from kproto.handlers.groups.model import Join, JoinReply
from kproto.handlers.groups.records import fits
from kproto.wire.generated.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember


def handle(
    ctx: RequestContext, request: JoinGroupRequest
) -> JoinGroupResponse | Awaitable[JoinGroupResponse]:
    def respond(reply: JoinReply) -> JoinGroupResponse:
        return _response(ctx.version, reply)

    def fail(error: ErrorCode, member_id: str = "") -> JoinGroupResponse:
        return _response(ctx.version, JoinReply(None, error, member_id))

    settings = ctx.broker.settings
    if not request.group_id:
        return fail(ErrorCode.INVALID_GROUP_ID, request.member_id)
    bounds = (settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms)
    if not bounds[0] <= request.session_timeout_ms <= bounds[1]:
        return fail(ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id)
    if not all(map(fits, _names(request))):  # the group could not be stored: others would wait in vain
        return fail(ErrorCode.INVALID_REQUEST, request.member_id)
    join = _join(ctx, request)
    return ctx.broker.groups.on_shard(
        request.group_id, lambda shard: answered(shard.join(request.group_id, join), respond), fail
    )


def _names(request: JoinGroupRequest) -> Iterator[str]:
    """What is stored as text beside the group id."""
    yield request.group_instance_id or ""
    yield request.protocol_type
    for protocol in request.protocols:
        yield protocol.name


def _join(ctx: RequestContext, request: JoinGroupRequest) -> Join:
    client_id = ctx.client_id or ""
    rebalance_timeout = request.rebalance_timeout_ms if ctx.version >= 1 else request.session_timeout_ms
    protocols: dict[str, bytes] = {}
    for protocol in request.protocols:
        protocols.setdefault(protocol.name, bytes(protocol.metadata))
    return Join(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        new_id=new_member_id(client_id if request.group_instance_id is None else request.group_instance_id),
        client_id=client_id,
        client_host="/" + ctx.peer,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout,
        protocol_type=request.protocol_type,
        protocols=tuple(protocols.items()),
        id_required=ctx.version >= 4,
        can_skip_assignment=ctx.version >= 9,
    )


def _response(version: int, reply: JoinReply) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=reply.error,
        generation_id=reply.generation,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol if version >= 7 else reply.protocol or "",
        leader=reply.leader,
        skip_assignment=reply.skip_assignment,
        member_id=reply.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member.member_id, group_instance_id=member.instance_id, metadata=member.metadata
            )
            for member in reply.members
        ],
    )


HANDLER = Handler(key=11, min_version=0, max_version=9, handle=handle, open_ended=True)
