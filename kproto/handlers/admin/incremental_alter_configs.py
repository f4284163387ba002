"""IncrementalAlterConfigs (key 44), versions 0 to 1: set, delete, append, subtract single keys (KIP-339).

Behaviour: topics, one broker, or (under an empty name) every broker. Of the broker's keys only those can be
changed while it runs that topics inherit from; the others are refused with INVALID_REQUEST, as read-only keys
are in Apache Kafka. ``validate_only`` decides without changing.
"""

from __future__ import annotations

from collections.abc import Sequence

from kproto.controller import ConfigChange, ConfigOp
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import in_parts
from kproto.wire.generated.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


async def handle(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    """Change each resource on its own."""
    changes = [
        ConfigChange(
            resource.resource_type,
            resource.resource_name,
            [ConfigOp(config.name, config.config_operation, config.value) for config in resource.configs],
        )
        for resource in request.resources
    ]

    async def alter(some: Sequence[ConfigChange]) -> list[AlterConfigsResourceResponse]:
        errors = await ctx.broker.controller.alter_configs(some, validate_only=request.validate_only)
        return [_result(change, error) for change, error in zip(some, errors, strict=True)]

    return IncrementalAlterConfigsResponse(
        responses=await in_parts(changes, lambda change: (change.resource_type, change.resource_name), alter)
    )


def _result(change: ConfigChange, error: KafkaError | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=error.code if error is not None else ErrorCode.NONE,
        error_message=error.message if error is not None else None,
        resource_type=change.resource_type,
        resource_name=change.resource_name,
    )


HANDLER = Handler(key=44, min_version=0, max_version=1, handle=handle)
