"""Which groups of a partition are too old or too many (``retention.ms``, ``retention.bytes``).

Compaction has its place beside this: it would choose groups to rewrite instead of groups to drop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from kproto.log.segment import NO_TIME

if TYPE_CHECKING:
    from kproto.log.partition import Partition


class GroupState(NamedTuple):
    """A group as retention sees it. ``newest_ms`` is its newest timestamp, or when it was opened if there
    is none.
    """

    end_offset: int
    size: int
    newest_ms: int


def groups_of(partition: Partition) -> Iterator[GroupState]:
    """The groups of ``partition``, oldest first, as far as there is no hole. Reads summaries of indexes the
    first time; OSError passes through."""
    known = partition.log_start_offset
    for group, members in groupby(tuple(partition.segments), key=attrgetter("group")):
        segments = list(members)
        if segments[0].base_offset > known:
            return  # how old and how large a hole is, is known when it is filled
        for segment in segments:
            if not segment.load_summary():
                segment.load_index()
        size = sum(segment.measure() for segment in segments)
        newest = max(segment.max_ts for segment in segments)
        last = segments[-1]
        known = end = last.whole_end if last.closed else partition.log_end_offset
        if size:
            yield GroupState(end, size, newest if newest > NO_TIME else group.last_ms)


def new_log_start(
    groups: Iterable[GroupState],
    now_ms: int,
    total_bytes: int,
    retention_ms: int,
    retention_bytes: int,
    durable: int,
) -> int | None:
    """Where the log should start now; None when nothing has to go. Pure.

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
