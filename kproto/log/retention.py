"""Which groups of a partition are too old or too many (``retention.ms``, ``retention.bytes``). Pure.

Compaction has its place beside this: it would choose groups to rewrite instead of groups to drop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class GroupState(NamedTuple):
    """A group as retention sees it. ``newest_ms`` is its newest timestamp, or when it was opened if there
    is none.
    """

    end_offset: int
    size: int
    newest_ms: int


def new_log_start(
    groups: Iterable[GroupState],
    now_ms: int,
    total_bytes: int,
    retention_ms: int,
    retention_bytes: int,
    durable: int,
) -> int | None:
    """Where the log should start now; None when nothing has to go.

    ``groups`` come oldest first and are looked at only as far as needed; the open one comes last if it is
    not empty. As in Kafka a group goes when its newest record is older than ``retention_ms``, or when
    without it the partition still has ``retention_bytes``; -1 switches a limit off. Nothing at or above
    ``durable`` goes.
    """
    start = None
    excess = total_bytes - retention_bytes if retention_bytes >= 0 else -1
    for group in groups:
        too_old = retention_ms >= 0 and now_ms - group.newest_ms > retention_ms
        too_much = 0 < group.size <= excess
        if not (too_old or too_much) or group.end_offset > durable:
            break
        excess -= group.size
        start = group.end_offset
    return start
