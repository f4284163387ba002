"""Who said that it has no copy of what nobody who is here is listed for: owners, also in their journals, and
others. Pure.

No record has that: a controller that starts anew asks again. (Of listed copies the record itself says so,
`VsegRecord.denied`.)
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Set

from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import VsegId, VsegRecord


class Denials:
    """What they said, by virtual segment: it counts for the process that said it, known by its broker epoch.
    With another one the node may be back with its old data directory, or another disk."""

    __slots__ = ("_others", "_owners", "_takers")

    def __init__(self) -> None:
        self._owners: dict[VsegId, int] = {}
        self._others: dict[VsegId, set[int]] = {}
        self._takers: dict[VsegId, set[int]] = {}
        """Who was to copy it, and has not said since that it has none."""

    def by_owner(self, vseg: VsegId, epoch: int) -> bool:
        """Its owner's node, registered under ``epoch``, was asked for its own copy, and has none; whether
        that was not known."""
        self.by_other(vseg, epoch)
        before, self._owners[vseg] = self._owners.get(vseg), epoch
        return before != epoch

    def owner_has_none(self, image: MetadataImage, vseg: VsegRecord) -> bool:
        """The process that is there now said so."""
        return image.is_member(vseg.node_id, self._owners.get(vseg.id, -1))

    def by_other(self, vseg: VsegId, epoch: int) -> None:
        """A broker registered under ``epoch`` was asked for a copy of its own, and has none."""
        self._others.setdefault(vseg, set()).add(epoch)
        self._takers.get(vseg, set()).discard(epoch)

    def may_have(self, vseg: VsegId, epoch: int, source_epoch: int) -> None:
        """A broker registered under ``epoch`` is to copy it from another one (17): it may have it from now
        on, whatever it said before, also of what it is listed for. Not from an owner that has none."""
        if self._owners.get(vseg) != source_epoch:
            self._others.get(vseg, set()).discard(epoch)
            self._takers.setdefault(vseg, set()).add(epoch)

    def others(self, vseg: VsegId) -> Set[int]:
        """The broker epochs of those who said so."""
        return self._others.get(vseg, frozenset())

    def takers(self, vseg: VsegId) -> Set[int]:
        """The broker epochs of those who were to copy it, and have not said since that they have none."""
        return self._takers.get(vseg, frozenset())

    def said(self, vseg: VsegId) -> Hashable:
        """The same for those of which the same was said."""
        return self._owners.get(vseg), frozenset(self.others(vseg)), frozenset(self.takers(vseg))

    def others_have_none(self, image: MetadataImage, vseg: VsegRecord) -> bool:
        """All that are there now said so, or that what they are listed for is none."""
        said = self.others(vseg.id) | ({epoch for _, epoch in vseg.denied} - self.takers(vseg.id))
        return all(broker.epoch in said for broker in image.brokers.values() if broker.internal_host)

    def forget(self, image: MetadataImage, but: Collection[VsegId]) -> None:
        """Only of ``but``, and of who is there, it matters any more what was said."""
        epochs = {broker.epoch for broker in image.brokers.values()}
        self._owners = {vseg: epoch for vseg, epoch in self._owners.items() if vseg in but}
        self._others = {vseg: said & epochs for vseg, said in self._others.items() if vseg in but}
        self._takers = {vseg: told & epochs for vseg, told in self._takers.items() if vseg in but}
