"""New leaders for streamlets whose owner is gone, and their commit (rules 2b, 19b, 27, 27b, 29). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.denials import Denials
from kproto.metadata import MetadataImage
from kproto.metadata.records import MOVED, StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegRecord, moved_from_key

STREAMLETS_PER_TRANSACTION: Final = 100
"""Stores allow 128 operations per transaction (rule 19b)."""


class Attempt(NamedTuple):
    """What a new leader commits: the streamlet and the leader epoch under which it was rebuilt."""

    topic_id: bytes
    streamlet: int
    leader_epoch: int


def due_streamlets(image: MetadataImage) -> list[StreamletRecord]:
    """Streamlets with several copies that nobody serves or recovers, by topic and index."""
    return [
        record
        for topic_id in sorted(image.streamlets)
        for record in image.streamlets[topic_id]
        if rules.is_due(image, record)
    ]


class Sources:
    """What the virtual segments of owner epochs allow, looked up once per epoch. Without ``denials`` every
    listed copy counts."""

    __slots__ = ("_denials", "_image", "_known", "_table")

    def __init__(self, image: MetadataImage, table: VlogTable, denials: Denials | None = None) -> None:
        self._image = image
        self._table = table
        self._denials = denials or Denials()
        self._known: dict[int, tuple[list[VsegRecord], list[VsegRecord]]] = {}

    def sealed(self, record: StreamletRecord) -> bool:
        """No virtual segment that may hold its chunks is still waiting for its end."""
        return not self._those(record, 0)

    def orphans(self, record: StreamletRecord) -> list[VsegRecord]:
        """Those that no member has a listed copy of (rule 27b wants one of each)."""
        return self._those(record, 1)

    def missing(self, epoch: int) -> list[VsegRecord]:
        """Those of an owner that wait for their ends, or for a copy."""
        sealing, orphans = self._of(epoch)
        return sealing + orphans

    def _those(self, record: StreamletRecord, which: int) -> list[VsegRecord]:
        return [
            vseg for epoch in record.sources for vseg in self._of(epoch)[which] if self.is_for(record, vseg)
        ]

    def is_for(self, record: StreamletRecord, vseg: VsegRecord) -> bool:
        """It may hold chunks of the streamlet, if its owner is one of the sources of that."""
        return rules.may_have(self._image, record, vseg) and not rules.came_later(
            self._image, self._table, record, vseg
        )

    def _of(self, epoch: int) -> tuple[list[VsegRecord], list[VsegRecord]]:
        """Virtual segments that wait for their ends, and closed ones that wait for a copy."""
        known = self._known.get(epoch)
        if known is None:
            vsegs = self._table.of_owner(epoch)
            sealing = [vseg for vseg in vsegs if rules.is_sealing(self._image, vseg)]
            orphans = [
                vseg
                for vseg in vsegs
                if not vseg.open and rules.needs_copy(vseg) and not self._has_copy(vseg)
            ]
            known = self._known[epoch] = (sealing, orphans)
        return known

    def _has_copy(self, vseg: VsegRecord) -> bool:
        copies = rules.live_copies(self._image, vseg)
        return not all(self._denials.is_disowned(self._image, vseg, copy.node_id) for copy in copies)


def candidates(
    image: MetadataImage, table: VlogTable, record: StreamletRecord, sources: Sources
) -> list[int]:
    """Members that can rebuild the streamlet: all, or the owner alone whose own files are the last copy."""
    orphans = sources.orphans(record)
    return [
        node_id
        for node_id in sorted(image.brokers)
        if all(vseg.node_id == node_id and owner_has(image, table, record, vseg) for vseg in orphans)
    ]


def owner_has(image: MetadataImage, table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """The owner's files are a copy of what the virtual segment holds of this streamlet (2b, 33): it never
    gave it away, even if others. To whom somebody else is told to rebuild it may be a move's target."""
    kept = not rules.was_given(table, vseg) or _has_stayed(table, record, vseg)
    return kept and rules.owner_holds(image, table, vseg)


def _has_stayed(table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """Since then nobody but this owner's node led the streamlet, or was told to; none of its sources since
    gave it away, but perhaps the last one, to have it back."""
    since = record.sources[record.sources.index(vseg.id.owner_epoch) :]
    others = any(one.node_id != vseg.node_id for epoch in since for one in table.of_owner(epoch)[:1])
    once = len(since) == len(set(since)) and set(since[:-1]).isdisjoint(record.given)
    return record.leader == vseg.node_id and once and not others


def choose_leader(record: StreamletRecord, able: Sequence[int], load: Counter[int]) -> int:
    """The leader it had when that is back (2b), else of its replicas, else of all, who leads the fewest.

    A leader that is back and leads more than the preferred one gives it back to that: so what one broker
    gathered while others were away is spread again.
    """
    preferred = record.replicas[0]
    if record.leader in able:
        gathered = preferred in able and load[preferred] < load[record.leader]
        return preferred if gathered else record.leader
    members = [node_id for node_id in record.replicas if node_id in able]
    return min(members or able, key=lambda node_id: (load[node_id], node_id))


def awaits_preferred(image: MetadataImage, table: VlogTable, record: StreamletRecord) -> bool:
    """Its leader is back, and its preferred one, which may be starting, too, has left or died before."""
    preferred = record.replicas[0]
    return record.leader in image.brokers and preferred in table.fenced and preferred not in image.brokers


def led_now(image: MetadataImage) -> Counter[int]:
    """Streamlets per live leader, those being recovered included."""
    return Counter(
        record.leader
        for part in image.streamlets.values()
        for record in part
        if record.leader in image.brokers and not rules.is_due(image, record)
    )


def decide_assign(
    image: MetadataImage, table: VlogTable, due: Iterable[StreamletRecord], load: Counter[int]
) -> Decision[list[StreamletRecord]]:
    """Give streamlets whose sources are sealed a leader to recover them, at most 100 at a time (19b).

    The answer: the new records. ``due`` may be older than the image. ``load`` counts streamlets per leader
    and is kept up to date. Streamlets that cannot be recovered yet are left as they are: see :func:`stuck`.
    """
    decision: Decision[list[StreamletRecord]] = Decision([])
    sources = Sources(image, table)
    moved: dict[str, int] = {}
    for each in due:
        if len(decision.answer) == STREAMLETS_PER_TRANSACTION:
            break
        record = find_streamlet(image, each.topic_id, each.index)
        if record is None or not rules.is_due(image, record) or not sources.sealed(record):
            continue
        able = candidates(image, table, record, sources)
        able = [node for node in able if not rules.is_draining(image, node)] or able
        if not able:
            continue
        leader = choose_leader(record, able, load)
        load[leader] += 1
        assigned = record.recovering(leader)
        decision.puts[assigned.key] = assigned.encode()
        decision.answer.append(assigned)
        note_moved(image, table, record, leader, sources, moved)
    decision.puts.update(moved_puts(moved))
    return decision


def note_moved(
    image: MetadataImage,
    table: VlogTable,
    record: StreamletRecord,
    leader: int,
    sources: Sources,
    moved: dict[str, int],
) -> None:
    """Add to ``moved`` whose own files are no copy any more when ``leader`` leads the streamlet: the key of
    that note, and up to which owner epoch."""
    for node_id, epoch in _given_away(image, table, record, leader):
        key = _moved_key(image, table, record, sources, node_id, epoch)
        if key is not None:
            moved[key] = max(epoch, moved.get(key, -1))


def moved_puts(moved: dict[str, int]) -> dict[str, bytes]:
    """The notes, as they are stored."""
    return {key: str(epoch).encode() for key, epoch in sorted(moved.items())}


def _moved_key(
    image: MetadataImage,
    table: VlogTable,
    record: StreamletRecord,
    sources: Sources,
    node_id: int,
    epoch: int,
) -> str | None:
    """Where to note that the owner's files are no copy any more: of none of its virtual segments, nor of any
    that are of its node's owner epochs before; or, while some of these without chunks of this streamlet wait
    for their ends or for a copy, which the node may have, of the others only. None: it is known."""
    if epoch <= table.moved_upto.get(node_id, -1):
        return None
    others = [
        vseg
        for owner in table.owners
        if owner <= epoch
        for vseg in sources.missing(owner)
        if vseg.node_id == node_id and not (owner in record.sources and sources.is_for(record, vseg))
    ]
    if not others:
        return f"{MOVED}{node_id}"
    floor = image.topics_by_id[record.topic_id].floor
    since = epoch if any(vseg.id.owner_epoch < epoch and vseg.may_hold(floor) for vseg in others) else 0
    known = table.moved_from.get((node_id, floor, since), -1)
    return moved_from_key(node_id, floor, since) if epoch > known else None


def _given_away(
    image: MetadataImage, table: VlogTable, record: StreamletRecord, leader: int
) -> Iterable[tuple[int, int]]:
    """Owners whose own files will be no copy of the streamlet any more, because another one leads it now. Of
    those that handed it over, or live, it was noted then (12b), and what they opened since is not of it."""
    for epoch in record.sources:
        vsegs = table.of_owner(epoch)
        alive = vsegs and rules.is_current(image, vsegs[0].node_id, epoch)
        if vsegs and vsegs[0].node_id != leader and not alive and epoch not in record.given:
            yield vsegs[0].node_id, epoch


def stuck(image: MetadataImage, table: VlogTable, due: Iterable[StreamletRecord]) -> list[str]:
    """One line for each virtual segment without which streamlets cannot be recovered; nothing is given up."""
    sources = Sources(image, table)
    waiting: Counter[VsegRecord] = Counter()
    for each in due:
        record = find_streamlet(image, each.topic_id, each.index)
        if record is None or not rules.is_due(image, record):
            continue
        if sources.sealed(record) and not candidates(image, table, record, sources):
            waiting.update(sources.orphans(record))
    lines = []
    for vseg, count in sorted(waiting.items()):
        holders = sorted({vseg.node_id, *(target.node_id for target in vseg.backups)})
        name = "/".join(map(str, vseg.id))
        lines.append(
            f"{count} streamlets wait for virtual segment {name}: "
            f"no broker with a copy is here; copies were on {', '.join(map(str, holders))}"
        )
    return lines


def decide_commit(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, attempts: Sequence[Attempt]
) -> Decision[list[bool]]:
    """The commit point (27, 27b): streamlets that their new leader has rebuilt go online.

    One answer per attempt, False for one that is not the newest any more. The same again gives the same.
    """
    decision: Decision[list[bool]] = Decision([])
    sources = Sources(image, table)
    for attempt in attempts:
        record = find_streamlet(image, attempt.topic_id, attempt.streamlet)
        done = rules.leads(image, record, node_id, epoch)
        if record is not None and rules.may_commit(image, record, node_id, epoch, attempt.leader_epoch):
            done = sources.sealed(record)
            if done:
                again = epoch in record.sources  # by a move back: see `owner_has`
                online = (record if again else _pruned(image, table, record)).online(epoch)
                decision.puts[online.key] = online.encode()
        elif record is not None:
            done = done and record.leader_epoch == attempt.leader_epoch
        decision.answer.append(done)
    return decision


def _pruned(image: MetadataImage, table: VlogTable, record: StreamletRecord) -> StreamletRecord:
    """Without the sources that have no virtual segment left: they hold nothing (rule 4). A live owner may
    still write down what it knew of the streamlet when it handed that over, and lead it again: it stays."""
    live = {broker.epoch for broker in image.brokers.values()}
    return record.read_from(tuple(one for one in record.sources if one in live or table.of_owner(one)))


def find_streamlet(image: MetadataImage, topic_id: bytes, index: int) -> StreamletRecord | None:
    """The record of a streamlet; None when there is no such one (any more)."""
    part = image.streamlets.get(topic_id, ())
    return part[index] if 0 <= index < len(part) else None
