"""DeleteGroups: key 42, versions 0-2.

Deletes groups without members, with all their offsets. NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND per group.

Version notes: v2 flexible.
"""

from __future__ import annotations

from collections.abc import Awaitable

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import for_each
from kproto.wire.generated.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


async def handle(ctx: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    names = list(dict.fromkeys(request.groups_names))
    errors: list[ErrorCode] = await for_each(names, lambda name: _delete(ctx, name))
    results = [
        DeletableGroupResult(group_id=name, error_code=error)
        for name, error in zip(names, errors, strict=True)
    ]
    return DeleteGroupsResponse(results=results)


def _delete(ctx: RequestContext, group_id: str) -> ErrorCode | Awaitable[ErrorCode]:
    """Begun at once, where the group is loaded: a commit that comes behind it is not deleted."""
    return ctx.broker.groups.on_shard(
        group_id, lambda shard: shard.delete_group(group_id), lambda error: error
    )


HANDLER = Handler(key=42, min_version=0, max_version=2, handle=handle)
