"""Owners that said that what is not in any copy is not in their journal either. Pure.

No record has that: a controller that starts anew asks again. (Of listed copies the record itself says so,
`VsegRecord.denied`.)
"""

from __future__ import annotations

from collections.abc import Callable

from kproto.metadata.vlogs import VsegId


class Denials:
    """What owners said, by virtual segment."""

    __slots__ = ("_owners",)

    def __init__(self) -> None:
        self._owners: set[VsegId] = set()

    def by_owner(self, vseg: VsegId) -> None:
        """Its owner was asked for its own copy, and has none."""
        self._owners.add(vseg)

    def owner_has_none(self, vseg: VsegId) -> bool:
        """The owner said so."""
        return vseg in self._owners

    def keep_owners(self, counts: Callable[[VsegId], bool]) -> None:
        """Only while it ``counts`` what the owner said: one that is not here with its old data directory may
        come back with that."""
        self._owners = set(filter(counts, self._owners))
