"""What AlterConfigs and IncrementalAlterConfigs do with the changes that they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kproto.controller import ConfigChange
from kproto.errors import ErrorCode
from kproto.handlers.context import RequestContext
from kproto.handlers.turns import in_parts

R = TypeVar("R")


async def change_each(
    ctx: RequestContext, changes: Sequence[ConfigChange], validate_only: bool, result: Callable[..., R]
) -> list[R]:
    """Change each resource on its own, a part of them after the other; ``result`` makes an element of the
    answer."""

    async def change_some(some: Sequence[ConfigChange]) -> list[R]:
        errors = await ctx.broker.controller.alter_configs(some, validate_only=validate_only)
        return [
            result(
                error_code=error.code if error is not None else ErrorCode.NONE,
                error_message=error.message if error is not None else None,
                resource_type=change.resource_type,
                resource_name=change.resource_name,
            )
            for change, error in zip(some, errors, strict=True)
        ]

    return await in_parts(changes, lambda change: (change.resource_type, change.resource_name), change_some)
