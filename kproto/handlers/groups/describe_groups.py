"""DescribeGroups: key 15, versions 0-6.

State, protocol and members of groups. Metadata and the protocol's name are shown only of a stable group. One
that is named very often is described once (see ``repeats``).

Version notes: v3 authorized operations (there is no authorizer: all); v4 (KIP-345) instance ids; v6 an
unknown group is GROUP_ID_NOT_FOUND with a message, before that it looks like a dead group without error.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.groups.group import Group
from kproto.handlers.groups.shard import Shard
from kproto.handlers.groups.states import State
from kproto.handlers.repeats import few_repeats
from kproto.handlers.turns import for_each
from kproto.wire.generated.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS = 3, 6, 8, 10, 11
ALL_OPERATIONS: Final = sum(1 << op for op in (_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS))
"""Bit field of the operations that exist for groups."""
NOT_ASKED: Final = -(1 << 31)


async def handle(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    operations = ALL_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    wanted = few_repeats(request.groups, lambda group_id: group_id)
    groups = await for_each(wanted, lambda group_id: _describe(ctx, group_id, operations))
    return DescribeGroupsResponse(groups=groups)


def _describe(
    ctx: RequestContext, group_id: str, operations: int
) -> DescribedGroup | Awaitable[DescribedGroup]:
    def look_up(shard: Shard) -> DescribedGroup:
        entry = shard.find(group_id)
        if entry is None:
            return _missing(ctx.version, group_id, operations)
        return _described(entry.group, operations)

    def fail(error: ErrorCode) -> DescribedGroup:
        return DescribedGroup(group_id=group_id, error_code=error)

    return ctx.broker.groups.on_shard(group_id, look_up, fail)


def _missing(version: int, group_id: str, operations: int) -> DescribedGroup:
    known = version >= 6
    return DescribedGroup(
        error_code=ErrorCode.GROUP_ID_NOT_FOUND if known else ErrorCode.NONE,
        error_message=f"Group {group_id} not found." if known else None,
        group_id=group_id,
        group_state=State.DEAD.value,
        authorized_operations=NOT_ASKED if known else operations,
    )


def _described(group: Group, operations: int) -> DescribedGroup:
    stable = group.state is State.STABLE
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=group.protocol or "" if stable else "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(group.protocol) if stable else b"",
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
        authorized_operations=operations,
    )


HANDLER = Handler(key=15, min_version=0, max_version=6, handle=handle)
