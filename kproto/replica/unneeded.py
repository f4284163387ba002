"""A leader tells the controller which closed virtual segments hold nothing live of its own (30, 43, 44).

Live is what lies at or above the log start that the store knows. One catalog of a virtual segment says how
far each partition goes in it. While one chunk that it told of is live nothing is asked again. Of topics that
cannot be in it (12c) nothing is asked: without others nobody needs a copy to say so.

What a virtual segment says about the state of partitions must be in newer state frames first, lest the next
leader forgets producers and leader epochs (40). When all leaders agree, the backups delete their files: at
the front of a virtual log because the controller deletes the record, behind one in which something is live
because it marks the record as emptied. Reports are repeated as long as there is something to free: a
controller that starts anew has forgotten them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from kproto.metadata import MetadataImage
from kproto.metadata.exchange import parts
from kproto.metadata.records import Floor
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord
from kproto.replica.looking import Looking
from kproto.replica.messages import Look, PartitionKey, decode_catalog
from kproto.replica.reach import Metadata, NoCopyError, Reach
from kproto.replica.takeover import floors_of, may_be_in
from kproto.wire.internal import Api

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 10.0
AT_ONCE: Final = 64
"""Virtual segments of one virtual log that are reported with one look, and for whose catalogs it asks."""


class Contents(NamedTuple):
    """End offsets of the partitions that a virtual segment holds chunks of; ``asked`` is about whom that is
    known."""

    asked: frozenset[PartitionKey]
    ends: list[tuple[PartitionKey, int]]


def is_dead(contents: Contents, keys: frozenset[PartitionKey], table: VlogTable) -> bool:
    """Every chunk of the partitions lies below the log start that the store knows (rule 44). What was deleted
    since the contents were asked for is not among them."""
    return all(end <= table.log_start(*key) for key, end in contents.ends if key in keys)


class UnneededReports:
    """See the module's text. ``epoch`` is this broker's. ``knows(vseg, partitions)``: what is to be known of
    these partitions is in state frames of this broker that are no part of ``vseg``, nor older (rule 28b).
    ``lacks(topic id, partition)``: it is not all in files here."""

    def __init__(
        self,
        reach: Reach,
        metadata: Metadata,
        epoch: Callable[[], int],
        knows: Callable[[VsegId, frozenset[PartitionKey]], bool],
        lacks: Callable[[bytes, int], bool],
    ) -> None:
        self._reach = reach
        self._metadata = metadata
        self._epoch = epoch
        self._knows = knows
        self._lacks = lacks
        self._contents: dict[VsegId, Contents] = {}
        """Of those in which nothing was live."""
        self._live: dict[VsegId, Contents] = {}
        """Of the others one of the partitions with live chunks in it: no more is kept of thousands."""
        self._stopped_at: dict[tuple[int, int], int] = {}
        """By owner epoch and virtual log, the number at which the last look stopped before the end."""
        self._looking = Looking("reporting virtual segments that can be freed")

    def start(self) -> None:
        """Look every few seconds from now on."""
        self._looking.start(LOOK_SECONDS, self.look)

    async def close(self) -> None:
        """Stop."""
        await self._looking.close()

    async def look(self) -> int:
        """Report once; the number of virtual segments. Raises KafkaError when the controller refuses."""
        dead: list[tuple[frozenset[PartitionKey], list[VsegId]]] = []
        seen: set[VsegId] = set()
        table, revision = self._metadata.table, self._metadata.image.revision
        wanted = {vseg.owner_epoch for vseg, record in table.vsegs.items() if not record.open}
        led = led_from(self._metadata.image, self._reach.node_id, self._epoch(), wanted)
        # All of one revision: what comes while somebody is asked is in virtual segments closed later.
        vlogs = [(vlog, keys) for epoch, keys in led.items() for vlog in _vlogs(table, epoch)]
        for vlog, keys in vlogs:
            closed = [record for record in vlog if not record.open and not record.is_over]
            seen.update(record.id for record in closed)
            if closed:
                dead.append((keys, await self._dead(closed, keys)))
        for known in (self._contents, self._live):
            for vseg in known.keys() - seen:
                del known[vseg]
        present = {vseg[:2] for vseg in seen}
        self._stopped_at = {vlog: seq for vlog, seq in self._stopped_at.items() if vlog in present}
        found = [vseg for keys, some in dead if not self._is_handed_over(keys) for vseg in some]
        for some in parts([list(vseg) for vseg in found]):
            await self._metadata.propose("unneeded", {"vsegs": some, "revision": revision})
        return len(found)

    async def _dead(self, closed: Sequence[VsegRecord], keys: frozenset[PartitionKey]) -> list[VsegId]:
        """Some of a virtual log's that hold nothing live. A look goes on where the last one stopped: what is
        dead here and live for another leader, or cannot be read, is not to hold up the others."""
        dead: list[VsegId] = []
        floors, asked = floors_of(self._metadata.image, keys), 0
        vlog = closed[0].id[:2]
        stopped_at = self._stopped_at.pop(vlog, -1)
        behind = [record for record in closed if record.id.seq > stopped_at]
        for record in (*behind, *closed[: len(closed) - len(behind)]):
            if self._is_live(record, keys):
                continue
            try:
                if await self._is_dead(record, keys, floors) and self._knows(record.id, keys):
                    dead.append(record.id)
                asked += 1
            except NoCopyError as error:  # it takes seconds to find out: one of them with each look
                log.info("%s", error)
                asked = AT_ONCE
            if asked == AT_ONCE:
                self._stopped_at[vlog] = record.id.seq
                break
            await asyncio.sleep(0)  # with hundreds of partitions each takes a while
        return dead

    def _is_live(self, record: VsegRecord, keys: frozenset[PartitionKey]) -> bool:
        """A chunk that was live at the last look is."""
        known = self._live.get(record.id)
        return known is not None and not is_dead(known, keys, self._metadata.table)

    def _is_handed_over(self, keys: frozenset[PartitionKey]) -> bool:
        """Some may be in the hands of another leader soon, who reads only what was closed for that (12b): the
        state frames that make a virtual segment unneeded here may be in later ones."""
        image, moves = self._metadata.image, self._metadata.table.moves
        return bool(moves) and any(
            (topic_id, index // image.topics_by_id[topic_id].active_groups) in moves
            for topic_id, index in keys
            if topic_id in image.topics_by_id
        )

    async def _is_dead(
        self, record: VsegRecord, keys: frozenset[PartitionKey], floors: Mapping[bytes, Floor]
    ) -> bool:
        """Nothing that the virtual segment holds of the partitions is live. No copy is asked where none of
        them can be: all may be lost, and the topics deleted that had something there. Raises NoCopyError."""
        table = self._metadata.table
        held = may_be_in(set(floors.values()), [record])
        asked = sorted(key for key in keys if floors[key[0]] in held)
        if not asked:
            return True
        if record.shortened and any(self._lacks(*key) for key in asked):
            return False  # that the log starts behind what they lack is known from this one alone
        if record.empty:
            return True
        known = self._contents.get(record.id)
        if known is None or not known.asked.issuperset(asked):
            request = Look(record.id, record.end or 0, asked)
            rows = await self._reach.ask(record, Api.CATALOG, request, decode_catalog)
            ends = [(key, row.end) for key, row in zip(asked, rows, strict=True) if row.frame >= 0]
            known = Contents(frozenset(asked), ends)
        if is_dead(known, keys, table):
            self._contents[record.id] = known
            return True
        live = [(key, end) for key, end in known.ends if key in keys]
        lasts = max(live, key=lambda one: one[1] - table.log_start(*one[0]))
        self._live[record.id] = Contents(frozenset(), [lasts])
        self._contents.pop(record.id, None)
        return False


def led_from(
    image: MetadataImage, node_id: int, epoch: int, owners: Collection[int], copying: bool = False
) -> dict[int, frozenset[PartitionKey]]:
    """For each of the ``owners`` (epochs): the partitions that the broker leads and that have it among their
    sources; with ``copying`` also those that will have it, because their first copies are being made."""
    alike: dict[tuple[int, ...], list[PartitionKey]] = {}
    for topic_id, index, sources in _served(image, node_id, epoch, copying):
        alike.setdefault(sources, []).append((topic_id, index))  # thousands have the same ones
    groups = list(alike.values())
    having: dict[int, list[int]] = {}
    for number, sources in enumerate(alike):
        for source in set(sources):
            if source in owners:
                having.setdefault(source, []).append(number)
    joined: dict[tuple[int, ...], frozenset[PartitionKey]] = {}
    led: dict[int, frozenset[PartitionKey]] = {}
    for source, numbers in sorted(having.items()):
        which = tuple(numbers)
        if which not in joined:
            joined[which] = frozenset(chain.from_iterable(groups[number] for number in which))
        led[source] = joined[which]
    return led


def _served(
    image: MetadataImage, node_id: int, epoch: int, copying: bool
) -> Iterator[tuple[bytes, int, tuple[int, ...]]]:
    """Topic id, partition and sources of all partitions with copies that the broker serves."""
    for record in image.every_streamlet():
        topic = image.topic_of(record)
        copies = copying and topic.is_copying(record)
        if record.leader == node_id and (record.is_served_by(epoch) or copies):
            for index in topic.partitions_of(record.index):
                yield record.topic_id, index, record.sources or (epoch,)


def _vlogs(table: VlogTable, epoch: int) -> list[list[VsegRecord]]:
    """The virtual segments of an owner, a list for each virtual log, oldest first."""
    by_vlog: dict[int, list[VsegRecord]] = {}
    for record in table.of_owner(epoch):
        by_vlog.setdefault(record.id.vlog, []).append(record)
    return list(by_vlog.values())
