"""Owners that said that what is not in any copy is not in their journal either. Pure.

No record has that: a controller that starts anew asks again. (Of listed copies the record itself says so,
`VsegRecord.denied`.)
"""

from __future__ import annotations

from collections.abc import Collection

from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import VsegId, VsegRecord


class Denials:
    """What owners said, by virtual segment: each counts for the process that said it. With another one the
    node may be back with its old data directory."""

    __slots__ = ("_owners",)

    def __init__(self) -> None:
        self._owners: dict[VsegId, int] = {}

    def by_owner(self, vseg: VsegId, epoch: int) -> None:
        """Its owner's node, registered under ``epoch``, was asked for its own copy, and has none."""
        self._owners[vseg] = epoch

    def owner_has_none(self, image: MetadataImage, vseg: VsegRecord) -> bool:
        """The process that is there now said so."""
        return image.is_member(vseg.node_id, self._owners.get(vseg.id, -1))

    def forget_owners(self, but: Collection[VsegId]) -> None:
        """Only of ``but`` it matters any more what their owners said."""
        self._owners = {vseg: epoch for vseg, epoch in self._owners.items() if vseg in but}
