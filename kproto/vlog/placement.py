"""Which virtual log a partition belongs to. Pure.

One class of virtual logs per (copies, flush policy), and with backups one more for topics whose records stay
for ever; inside it ``kproto.vlogs.per.broker`` of them, or ``kproto.vlogs`` of a topic's own. A partition is
in exactly one (rule 12); those of one streamlet may be in different ones, because order is kept per
partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from kproto.vlog.classes import VlogClass, flush_policy

if TYPE_CHECKING:
    from kproto.config import TopicConfig


class Place(NamedTuple):
    """A class of virtual logs and the number of one of them (from 0)."""

    klass: VlogClass
    number: int


def place(topic_id: bytes, index: int, config: TopicConfig, vlogs_per_broker: int, copies: int = 1) -> Place:
    """Where partition ``index`` of a topic belongs; neighbouring partitions are spread evenly."""
    own = config.vlogs
    lasting = copies > 1 and config.lasting
    klass = VlogClass(copies, flush_policy(config), topic_id if own else b"", lasting)
    return Place(klass, (crc32(topic_id) + index) % max(own or vlogs_per_broker, 1))
