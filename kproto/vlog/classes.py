"""The flush classes of virtual logs: when an ack may be given and when data is synced (rule 12c).

===========  ==================================  ==========================================================
class        topic config                        meaning
===========  ==================================  ==========================================================
``MEMORY``   neither flush.* set (the default)   ack once written (page cache); synced when a file is closed
``TIMED``    flush.messages=N>1 or flush.ms=T    the ack does not wait, as in Kafka: a group fdatasync runs
                                                 once a partition has N unsynced records or T ms have passed
``SYNCED``   flush.messages=1                    the ack waits for a group fdatasync
===========  ==================================  ==========================================================

Every class survives the death of the process; only ``SYNCED`` survives a power loss without exception.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kproto.config import TopicConfig

NEVER: Final = 2**63 - 1
"""The value of flush.messages and flush.ms that switches them off."""


class FlushPolicy(IntEnum):
    """See the table above. The numbers are in journal file headers: never reuse one."""

    MEMORY = 0
    TIMED = 1
    SYNCED = 2


class VlogClass(NamedTuple):
    """What all partitions of one virtual log have in common."""

    copies: int
    policy: FlushPolicy
    topic_id: bytes
    """The topic that asked for virtual logs of its own (``kproto.vlogs``), else empty."""
    lasting: bool = False
    """Of topics that delete no records by themselves. With backups these share no virtual logs with others: a
    virtual segment stays as long as anything in it (rules 43, 45)."""


def flush_policy(config: TopicConfig) -> FlushPolicy:
    """The class that ``flush.messages`` and ``flush.ms`` ask for."""
    return _policy(config.flush_messages, config.flush_ms)


def least_policy(overrides: Mapping[str, str]) -> FlushPolicy:
    """The weakest class that a topic with these valid ``overrides`` can be in, whatever brokers are told:
    each may have configs of its own, and the controller does not know those of their starts."""
    messages, ms = (int(overrides.get(name, NEVER)) for name in ("flush.messages", "flush.ms"))
    return _policy(messages, ms)


def _policy(messages: int, ms: int) -> FlushPolicy:
    if messages <= 1:
        return FlushPolicy.SYNCED
    if messages < NEVER or ms < NEVER:
        return FlushPolicy.TIMED
    return FlushPolicy.MEMORY
