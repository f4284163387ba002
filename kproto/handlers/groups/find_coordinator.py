"""FindCoordinator: key 10, versions 0-6.

Which broker coordinates a group: the leader of the group's partition of ``__consumer_offsets``, which is
created on the first question.

Version notes: v1 key types (0 group, 1 transaction, 2 share group) and error messages; v4 (KIP-699) several
keys at once; v5 and v6 only announce error codes and the share type.
There are no transactions and share groups yet. A transactional producer gets
TRANSACTIONAL_ID_AUTHORIZATION_FAILED: of all codes the one that every client takes as final at once (most
others make librdkafka ask again until it times out). Few show the message beside it, and it reads like a
missing ACL: the broker's log tells why. A share group gets INVALID_REQUEST, as from a broker
that does not know the type.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import for_each
from kproto.log.checks import NO_TRANSACTIONS
from kproto.wire.generated.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

log = logging.getLogger(__name__)

GROUP: Final = 0
TRANSACTION: Final = 1


class _Found(NamedTuple):
    key: str
    node_id: int = -1
    host: str = ""
    port: int = -1
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


async def handle(ctx: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    keys = request.coordinator_keys if ctx.version >= 4 else [request.key]
    key_type = request.key_type if ctx.version >= 1 else GROUP
    found = await _find_all(ctx, key_type, keys)
    if ctx.version < 4:
        one = found[0]
        return FindCoordinatorResponse(
            error_code=one.error, error_message=one.message, node_id=one.node_id, host=one.host, port=one.port
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=one.key,
                node_id=one.node_id,
                host=one.host,
                port=one.port,
                error_code=one.error,
                error_message=one.message,
            )
            for one in found
        ]
    )


async def _find_all(ctx: RequestContext, key_type: int, keys: Sequence[str]) -> list[_Found]:
    if key_type == TRANSACTION:
        error, message = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, NO_TRANSACTIONS
        if ctx.broker.refusals.is_due(ctx.peer):
            log.warning("client %.100r at %s is refused: %s", ctx.client_id, ctx.peer, NO_TRANSACTIONS)
    elif key_type != GROUP:
        error, message = ErrorCode.INVALID_REQUEST, f"coordinators of type {key_type} are not known here"
    else:
        return await for_each(keys, lambda key: _find_group(ctx, key))
    return [_Found(key, error=error, message=message) for key in keys]


async def _find_group(ctx: RequestContext, group_id: str) -> _Found:
    try:
        broker = await ctx.broker.groups.locate(group_id)
    except KafkaError as error:
        return _Found(group_id, error=error.code, message=error.message)
    return _Found(group_id, broker.node_id, broker.host, broker.port)


HANDLER = Handler(key=10, min_version=0, max_version=6, handle=handle)
