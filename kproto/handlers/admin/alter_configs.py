"""AlterConfigs (key 33), versions 0 to 2: the older way, which replaces all overrides of a resource.

Behaviour: keys that are not in the request go back to what they inherit, except those fixed when a topic is
created. Newer clients use IncrementalAlterConfigs (KIP-339).
"""

from __future__ import annotations

from collections.abc import Sequence

from kproto.controller import ConfigChange, ConfigOp, OpType
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import in_parts
from kproto.wire.generated.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


async def handle(ctx: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    """Replace the overrides of each resource."""
    changes = [
        ConfigChange(
            resource.resource_type,
            resource.resource_name,
            [ConfigOp(config.name, OpType.SET, config.value) for config in resource.configs],
            replace=True,
        )
        for resource in request.resources
    ]

    async def alter(some: Sequence[ConfigChange]) -> list[AlterConfigsResourceResponse]:
        errors = await ctx.broker.controller.alter_configs(some, validate_only=request.validate_only)
        return [_result(change, error) for change, error in zip(some, errors, strict=True)]

    return AlterConfigsResponse(
        responses=await in_parts(changes, lambda change: (change.resource_type, change.resource_name), alter)
    )


def _result(change: ConfigChange, error: KafkaError | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=error.code if error is not None else ErrorCode.NONE,
        error_message=error.message if error is not None else None,
        resource_type=change.resource_type,
        resource_name=change.resource_name,
    )


HANDLER = Handler(key=33, min_version=0, max_version=2, handle=handle)
