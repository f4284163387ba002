"""IncrementalAlterConfigs (key 44), versions 0 to 1: set, delete, append, subtract single keys (KIP-339).

Behaviour: topics, one broker, or (under an empty name) every broker. Of the broker's keys only those that
`config.broker_configs` calls dynamic can be changed while it runs; the others are refused with
INVALID_REQUEST, as read-only keys are in Apache Kafka. ``validate_only`` decides without changing.
"""

from __future__ import annotations

from kproto.controller import ConfigChange, ConfigOp
from kproto.handlers.admin.changed_configs import change_each
from kproto.handlers.context import Handler, RequestContext
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

    responses = await change_each(ctx, changes, request.validate_only, AlterConfigsResourceResponse)
    return IncrementalAlterConfigsResponse(responses=responses)


HANDLER = Handler(key=44, min_version=0, max_version=1, handle=handle)
