"""Kafka's rules of topic names. Pure."""

from __future__ import annotations

from typing import Final

NAME_MAX_LENGTH: Final = 249
"""A directory named after topic and partition has to fit into 255 characters in Apache Kafka."""

_ALLOWED: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")

OFFSETS_TOPIC: Final = "__consumer_offsets"
TRANSACTION_TOPIC: Final = "__transaction_state"
INTERNAL_TOPICS: Final = frozenset({OFFSETS_TOPIC, TRANSACTION_TOPIC, "__share_group_state"})
PROHIBITED_TOPIC: Final = "__cluster_metadata"
"""Apache Kafka keeps its metadata log under this name; no client may create it."""


def is_internal(name: str) -> bool:
    """True for topics that the broker itself writes."""
    return name in INTERNAL_TOPICS


def name_problem(name: str) -> str | None:
    """Why ``name`` cannot be a topic's name, or None when it can."""
    if not name:
        return "A topic needs a name."
    if name in (".", ".."):
        return f"{name!r} is not a topic name."
    if len(name) > NAME_MAX_LENGTH:
        return f"A topic name has at most {NAME_MAX_LENGTH} characters, this one has {len(name)}."
    if not _ALLOWED.issuperset(name):
        return f"{name!r} is not a topic name: only ASCII letters, digits, '.', '_' and '-' are allowed."
    return None


def folded(name: str) -> str:
    """Names with the same folded form collide: Kafka's metric names do not tell '.' from '_'."""
    return name.replace(".", "_")
