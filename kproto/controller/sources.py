"""What a streamlet could be rebuilt from, and by whom (rules 2b, 12b, 22, 27b). Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from kproto.controller import rules
from kproto.controller.missing import closed_such
from kproto.metadata import MetadataImage
from kproto.metadata.records import ONLINE, StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegRecord


class Sources:
    """What the virtual segments of owner epochs allow, looked up once per epoch."""

    __slots__ = ("_found", "_image", "_lacking", "_lost", "_orphans", "_sealing", "_table")

    def __init__(self, image: MetadataImage, table: VlogTable) -> None:
        self._image = image
        self._table = table
        self._sealing: dict[int, list[VsegRecord]] = {}
        """By owner epoch, as the others: those that wait for their ends. There are few, so that this is
        known of all owners."""
        self._orphans: dict[int, list[VsegRecord]] | None = None
        """Closed ones that no member has a sound listed copy of, of all owners, too, once somebody asks."""
        self._found: dict[Hashable, list[VsegRecord]] = {}
        """`orphans` of those that are `alike`."""
        self._lost: dict[int, list[VsegRecord]] = {}
        """They were given up, and have not been emptied."""
        self._lacking: dict[int, list[VsegRecord]] | None = None
        """`rules.lacks_copies`, of all owners, too."""
        for vseg in table.open_vsegs():
            if rules.is_sealing(image, vseg):
                self._sealing.setdefault(vseg.id.owner_epoch, []).append(vseg)

    def sealed(self, record: StreamletRecord) -> bool:
        """No virtual segment that may hold its chunks is still waiting for its end."""
        return not any(self.is_for(record, vseg) for vseg in _those_of(record.sources, self._sealing))

    def orphans(self, record: StreamletRecord) -> Sequence[VsegRecord]:
        """Those that no member has a sound listed copy of (rule 27b wants one of each)."""
        orphans = _those_of(record.sources, self._orphaned())
        if not orphans:
            return orphans
        key = alike(self._image, record)
        if key not in self._found:
            self._found[key] = [vseg for vseg in orphans if self.is_for(record, vseg)]
        return self._found[key]

    def missing(self) -> list[VsegRecord]:
        """Those of all owners that wait for their ends, or for a copy."""
        return [
            vseg for found in (self._sealing, self._orphaned()) for those in found.values() for vseg in those
        ]

    def lack(self, epochs: Sequence[int]) -> bool:
        """Something of these owners is `missing`."""
        return not (self._sealing.keys().isdisjoint(epochs) and self._orphaned().keys().isdisjoint(epochs))

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
        return found and not self.keeps_leader(record)

    def keeps_leader(self, record: StreamletRecord) -> bool:
        """Something would be lost, or could be with one disk, if another one led it (17, 18b, 45)."""
        return self.is_saving(record) or self.needs_leader(record)

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
            for vseg in self._lost_of(epoch)
        )

    def last_leader(self, record: StreamletRecord) -> int:
        """Who served it last, as far as is known: whoever is to rebuild it now may have nothing of it yet."""
        served = None if record.state == ONLINE else self._table.node_of(record.sources[-1])
        return record.leader if served is None else served

    def is_for(self, record: StreamletRecord, vseg: VsegRecord) -> bool:
        """See `rules.is_for`."""
        return rules.is_for(self._image, self._table, record, vseg)

    def _orphaned(self) -> Mapping[int, Sequence[VsegRecord]]:
        known = self._orphans
        if known is None:
            known = self._orphans = {}
            lists = self._table.copy_lists()
            gone = [copies for copies in lists if not any(rules.may_hold(self._image, one) for one in copies)]
            closed = [vseg for copies in gone for vseg in self._table.closed_on(copies)]
            closed += [
                vseg
                for vseg in self._table.denied_vsegs()
                if vseg.backups not in gone and not rules.sound_copies(self._image, vseg)
            ]
            for vseg in sorted(closed):
                if rules.needs_copy(vseg):
                    known.setdefault(vseg.id.owner_epoch, []).append(vseg)
        return known

    def _lost_of(self, epoch: int) -> list[VsegRecord]:
        known = self._lost.get(epoch)
        if known is None:
            every = self._table.of_owner(epoch)
            known = self._lost[epoch] = [vseg for vseg in every if vseg.lost and not vseg.empty]
        return known

    def _lacking_of(self, epoch: int) -> Sequence[VsegRecord]:
        known = self._lacking
        if known is None:
            known = self._lacking = {}
            for vseg in closed_such(self._table, lambda vseg: rules.lacks_copies(self._image, vseg)):
                known.setdefault(vseg.id.owner_epoch, []).append(vseg)
        return known.get(epoch, ())


def _those_of(epochs: Sequence[int], found: Mapping[int, Sequence[VsegRecord]]) -> list[VsegRecord]:
    """What was found of these owners, in their order; an owner that is there twice counts twice."""
    if found.keys().isdisjoint(epochs):
        return []
    return [vseg for epoch in epochs for vseg in found.get(epoch, ())]


def alike(image: MetadataImage, record: StreamletRecord) -> Hashable:
    """The same for streamlets that wait for the same: one owner may have had thousands."""
    topic = image.topics_by_id.get(record.topic_id)
    return topic and topic.floor, record.sources, record.given, record.state, record.leader


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
