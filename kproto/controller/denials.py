"""What brokers said that they have not, though records let them have it. Pure.

No record has that: a controller that starts anew asks again, or is told again.
"""

from __future__ import annotations

from collections.abc import Collection

from kproto.controller import rules
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord


class Denials:
    """Owners without a journal, and brokers without the last copy that is listed."""

    __slots__ = ("_disowned", "_owners")

    def __init__(self) -> None:
        self._owners: set[VsegId] = set()
        self._disowned: set[tuple[VsegRecord, int, int]] = set()

    def by_owner(self, vseg: VsegId) -> None:
        """Its owner was asked for its own copy, and has none."""
        self._owners.add(vseg)

    def owner_has_none(self, vseg: VsegId) -> bool:
        """The owner said so."""
        return vseg in self._owners

    def disowned(self, vseg: VsegRecord, node_id: int, epoch: int) -> None:
        """A broker cannot vouch for its copy, which stays listed because it is the last
        (`repair.decide_disowned`). That is so until copies of it are listed anew, or that broker is started
        again."""
        self._disowned.add((vseg, node_id, epoch))

    def is_disowned(self, image: MetadataImage, vseg: VsegRecord, node_id: int) -> bool:
        """The broker, as it is a member now, said so."""
        if not self._disowned:
            return False
        broker = image.brokers.get(node_id)
        return broker is not None and (vseg, node_id, broker.epoch) in self._disowned

    def without_any(self, image: MetadataImage, table: VlogTable) -> list[VsegRecord]:
        """Closed virtual segments of which every member that is listed said so."""
        return [
            vseg
            for vseg in {one[0] for one in self._disowned}
            if table.vsegs.get(vseg.id) == vseg
            and not vseg.open
            and all(self.is_disowned(image, vseg, copy.node_id) for copy in rules.live_copies(image, vseg))
        ]

    def of_last_copy(self, image: MetadataImage, vseg: VsegRecord) -> set[int]:
        """The brokers that are listed, and said so."""
        return {one.node_id for one in vseg.backups if self.is_disowned(image, vseg, one.node_id)}

    def without_copy(self, image: MetadataImage, table: VlogTable) -> set[VsegId]:
        """Virtual segments whose last listed copy is none. What was said of other lists is forgotten."""
        self._disowned = {one for one in self._disowned if table.vsegs.get(one[0].id) == one[0]}
        return {vseg.id for vseg, node_id, epoch in self._disowned if rules.is_current(image, node_id, epoch)}

    def forget_owners(self, but: Collection[VsegId]) -> None:
        """Only of ``but`` it matters any more what their owners said."""
        self._owners.intersection_update(but)
