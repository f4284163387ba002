"""Small things the group handlers share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

Reply = TypeVar("Reply")
Response = TypeVar("Response")

_LONGEST_PREFIX: Final = 255


def answered(
    reply: asyncio.Future[Reply], convert: Callable[[Reply], Response]
) -> Response | Awaitable[Response]:
    """The response of a reply: at once when it is there, else when it comes."""
    return convert(reply.result()) if reply.done() else _later(reply, convert)


async def _later(reply: asyncio.Future[Reply], convert: Callable[[Reply], Response]) -> Response:
    return convert(await reply)


def new_member_id(prefix: str) -> str:
    """A member id nobody else has: the beginning of the client or instance id, then a random UUID. Ids that
    were told to a client, which may never come back, are kept for its session timeout."""
    digits = os.urandom(16).hex()
    prefix = prefix.encode()[:_LONGEST_PREFIX].decode(errors="ignore")
    return f"{prefix}-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
