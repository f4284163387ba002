"""AlterConfigs (key 33), versions 0 to 2: the older way, which replaces all overrides of a resource.

Behaviour: keys that are not in the request go back to what they inherit, except those fixed when a topic is
created. Newer clients use IncrementalAlterConfigs (KIP-339).
"""

from __future__ import annotations

from kproto.controller import ConfigChange, ConfigOp, OpType
from kproto.handlers.admin.changed_configs import change_each
from kproto.handlers.context import Handler, RequestContext
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

    responses = await change_each(ctx, changes, request.validate_only, AlterConfigsResourceResponse)
    return AlterConfigsResponse(responses=responses)


HANDLER = Handler(key=33, min_version=0, max_version=2, handle=handle)
