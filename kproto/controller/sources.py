"""What a streamlet could be rebuilt from, and by whom (rules 2b, 12b, 22, 27b). Pure."""

from __future__ import annotations

from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.denials import Denials
from kproto.metadata import MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegRecord


class _Owned(NamedTuple):
    """The virtual segments of one owner epoch that do not simply have copies."""

    sealing: list[VsegRecord]
    """They wait for their ends."""
    orphans: list[VsegRecord]
    """Closed ones that no member has a listed copy of."""
    lost: list[VsegRecord]
    """They were given up, and have not been emptied."""


class Sources:
    """What the virtual segments of owner epochs allow, looked up once per epoch. Without ``denials`` every
    listed copy counts."""

    __slots__ = ("_denials", "_image", "_known", "_lacking", "_table")

    def __init__(self, image: MetadataImage, table: VlogTable, denials: Denials | None = None) -> None:
        self._image = image
        self._table = table
        self._denials = denials or Denials()
        self._known: dict[int, _Owned] = {}
        self._lacking: dict[int, list[VsegRecord]] = {}
        """`rules.lacks_copies`, by owner epoch."""

    def sealed(self, record: StreamletRecord) -> bool:
        """No virtual segment that may hold its chunks is still waiting for its end."""
        return not any(
            self.is_for(record, vseg) for epoch in record.sources for vseg in self._of(epoch).sealing
        )

    def orphans(self, record: StreamletRecord) -> list[VsegRecord]:
        """Those that no member has a listed copy of (rule 27b wants one of each)."""
        return [
            vseg for epoch in record.sources for vseg in self._of(epoch).orphans if self.is_for(record, vseg)
        ]

    def missing(self, epoch: int) -> list[VsegRecord]:
        """Those of an owner that wait for their ends, or for a copy."""
        owned = self._of(epoch)
        return owned.sealing + owned.orphans

    def candidates(self, record: StreamletRecord) -> list[int]:
        """Members that can rebuild the streamlet: all, or the owner alone whose own files are the last
        copy."""
        orphans = self.orphans(record)
        return [
            node_id
            for node_id in sorted(self._image.brokers)
            if all(
                vseg.node_id == node_id and owner_has(self._image, self._table, record, vseg)
                for vseg in orphans
            )
        ]

    def could_lead(self, record: StreamletRecord, target: int) -> bool:
        """A member would find copies of all that the streamlet has in closed virtual segments, also when one
        that has some of them is lost with its disk before others are made (12b, 17, 27b)."""
        found = self.sealed(record) and target in self.candidates(record)
        return found and not self.is_saving(record) and not self.needs_leader(record)

    def needs_leader(self, record: StreamletRecord) -> bool:
        """Its leader's own files are a copy of something that others have too few copies of: they cease to be
        one when it hands the streamlet over (2b, 12b)."""
        return any(
            vseg.node_id == record.leader
            and self.is_for(record, vseg)
            and owner_has(self._image, self._table, record, vseg)
            for epoch in dict.fromkeys(record.sources)
            for vseg in self._lacking_of(epoch)
        )

    def is_saving(self, record: StreamletRecord) -> bool:
        """Something that may have its chunks was given up, and its leader has not said yet that it pushed
        again what it has of it: another leader would take all of that for lost (18b, 45)."""
        return any(
            rules.may_have(self._image, record, vseg)
            for epoch in record.sources
            for vseg in self._of(epoch).lost
        )

    def is_for(self, record: StreamletRecord, vseg: VsegRecord) -> bool:
        """It may hold chunks of the streamlet, if its owner is one of the sources of that."""
        return rules.may_have(self._image, record, vseg) and not rules.came_later(
            self._image, self._table, record, vseg
        )

    def _of(self, epoch: int) -> _Owned:
        known = self._known.get(epoch)
        if known is None:
            image, vsegs = self._image, self._table.of_owner(epoch)
            sealing = [vseg for vseg in vsegs if rules.is_sealing(image, vseg)]
            closed = [vseg for vseg in vsegs if not vseg.open]
            orphans = [vseg for vseg in closed if rules.needs_copy(vseg) and not self._has_copy(vseg)]
            lost = [vseg for vseg in vsegs if vseg.lost and not vseg.empty]
            known = self._known[epoch] = _Owned(sealing, orphans, lost)
        return known

    def _lacking_of(self, epoch: int) -> list[VsegRecord]:
        known = self._lacking.get(epoch)
        if known is None:
            every = self._table.of_owner(epoch)
            known = self._lacking[epoch] = [vseg for vseg in every if rules.lacks_copies(self._image, vseg)]
        return known

    def _has_copy(self, vseg: VsegRecord) -> bool:
        copies = rules.live_copies(self._image, vseg)
        return not all(self._denials.is_disowned(self._image, vseg, copy.node_id) for copy in copies)


def owner_has(image: MetadataImage, table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """The owner's files are a copy of what the virtual segment holds of this streamlet (2b, 33): it never
    gave it away, even if others. To whom somebody else is told to rebuild it may be a move's target."""
    kept = not rules.was_given(table, vseg) or _has_stayed(table, record, vseg)
    return kept and rules.owner_holds(image, table, vseg)


def _has_stayed(table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """Since then nobody but this owner's node led the streamlet, or was told to; none of its sources since
    gave it away, but perhaps the last one, to have it back."""
    since = record.sources[record.sources.index(vseg.id.owner_epoch) :]
    others = any(table.node_of(epoch) not in (None, vseg.node_id) for epoch in since)
    once = len(since) == len(set(since)) and set(since[:-1]).isdisjoint(record.given)
    return record.leader == vseg.node_id and once and not others
