"""Requests that name one thing very often: a request of megabytes would make gigabytes of answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeVar

A = TypeVar("A")

MOST_REPEATS: Final = 100
"""So often things may be named again in one request."""


def few_repeats(items: Sequence[A], thing: Callable[[A], Hashable]) -> Sequence[A]:
    """``items``; with more than ``MOST_REPEATS`` about a ``thing`` that was named already, each thing's last
    one only."""
    once = {thing(item): item for item in items}
    return list(once.values()) if len(items) - len(once) > MOST_REPEATS else items
