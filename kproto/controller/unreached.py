"""Who was told to rebuild a streamlet, and did not reach the copies of it. Pure.

No record has that: a controller that starts anew is told again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.metadata import MetadataImage

KEPT_SECONDS: Final = 300.0
"""So long others are asked before. A network that is cut in part is mended sooner or later; nobody tells."""

Key = tuple[bytes, int]
"""Topic id and streamlet."""
NodesOf = Callable[[Key], Collection[int]]


def nobody(_: Key) -> Collection[int]:
    """No broker said anything of it."""
    return ()


class Unreached:
    """Times are seconds of one monotonic clock."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until: dict[Key, dict[tuple[int, int], float]] = {}
        """By node id and broker epoch."""

    def __bool__(self) -> bool:
        """Something is remembered."""
        return bool(self._until)

    def said(self, key: Key, node_id: int, epoch: int, now: float) -> None:
        """The broker does not reach copies of it."""
        self._until.setdefault(key, {})[node_id, epoch] = now + KEPT_SECONDS

    def reached(self, key: Key, node_id: int, epoch: int) -> None:
        """It does now, and has rebuilt it."""
        self._until.get(key, {}).pop((node_id, epoch), None)

    def at(self, image: MetadataImage, now: float) -> NodesOf:
        """The members that said so not long ago, and have not been started again since."""
        if not self._until:
            return nobody

        def by(key: Key) -> Collection[int]:
            known = self._until.get(key, {}).items()
            return [node for (node, epoch), end in known if now < end and image.is_member(node, epoch)]

        return by

    def forget(self, now: float) -> None:
        """Keep only what was said not long ago."""
        for key, known in list(self._until.items()):
            if all(end <= now for end in known.values()):
                del self._until[key]
