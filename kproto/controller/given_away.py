"""Whose own files are no copy any more, because others lead what is in them (rules 2b, 12b, 33). Pure.

An owner's journal and segment files count as a copy of its virtual segments as long as nobody else led its
streamlets since. Every transaction that gives streamlets to others notes for whom that ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kproto.controller import rules
from kproto.controller.sources import Sources
from kproto.metadata import MetadataImage
from kproto.metadata.records import MOVED, StreamletRecord
from kproto.metadata.vlogs import VlogTable, given_key, moved_from_key


class GivenAway:
    """What one transaction has to note: `note` each streamlet that it gives to a leader, then take `puts`."""

    __slots__ = ("_image", "_notes", "_sources", "_table")

    def __init__(self, image: MetadataImage, table: VlogTable, sources: Sources) -> None:
        self._image = image
        self._table = table
        self._sources = sources
        self._notes: dict[str, int] = {}
        """Key -> up to which owner epoch."""

    def note(self, record: StreamletRecord, leader: int) -> None:
        """``leader`` leads the streamlet, which is ``record`` before that."""
        for node_id, epoch in self._givers(record, leader):
            key = self._key(record, node_id, epoch)
            if key is not None:
                self._notes[key] = max(epoch, self._notes.get(key, -1))

    def puts(self) -> dict[str, bytes]:
        """The notes, as they are stored."""
        return {key: str(epoch).encode() for key, epoch in sorted(self._notes.items())}

    def _key(self, record: StreamletRecord, node_id: int, epoch: int) -> str | None:
        """Where to note that the owner's files are no copy any more: of none of its virtual segments, nor of
        any that are of its node's owner epochs before; or, while some of these without chunks of this
        streamlet wait for their ends or for a copy, which the node may have, of the others only. None: it is
        known."""
        table, sources = self._table, self._sources
        if epoch <= table.moved_upto.get(node_id, -1):
            return None
        others = [
            vseg
            for vseg in sources.missing()
            if vseg.node_id == node_id
            and vseg.id.owner_epoch <= epoch
            and not (vseg.id.owner_epoch in record.sources and sources.is_for(record, vseg))
        ]
        if not others:
            return f"{MOVED}{node_id}"
        floor = self._image.topic_of(record).floor
        since = epoch if any(vseg.id.owner_epoch < epoch and vseg.may_hold(floor) for vseg in others) else 0
        known = table.moved_from.get((node_id, floor, since), -1)
        return moved_from_key(node_id, floor, since) if epoch > known else None

    def _givers(self, record: StreamletRecord, leader: int) -> Iterator[tuple[int, int]]:
        """Owners whose own files will be no copy of the streamlet any more, because another one leads it now.
        Of those that handed it over, or live, it was noted then (12b), and what they opened since is not of
        it."""
        for epoch in record.sources:
            node_id = self._table.node_of(epoch)
            if node_id is None or node_id == leader or epoch in record.given:
                continue
            if not rules.is_current(self._image, node_id, epoch):
                yield node_id, epoch


def given_puts(table: VlogTable, epoch: int, upto: Iterable[tuple[int, int]]) -> dict[str, bytes]:
    """How far a live owner gave away what is in its virtual logs: up to these (virtual log, number)."""
    return {
        given_key(epoch, vlog): str(seq).encode()
        for vlog, seq in upto
        if seq > table.given_upto.get((epoch, vlog), -1)
    }
