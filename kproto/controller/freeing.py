"""When virtual segments and log starts may be forgotten (rules 30, 43, 44). Pure.

A leader reports the virtual segments in which no chunk of its streamlets is live, and those whose live chunks
it has pushed again; an :class:`Unneeded` for each keeps that until all leaders concerned agree. It is
volatile: leaders repeat their reports.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.metadata import MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord, start_key


class Start(NamedTuple):
    """A partition's new log start offset."""

    topic_id: bytes
    partition: int
    offset: int


class Concerned(NamedTuple):
    """Who still reads an owner's virtual logs: leaders (node id, broker epoch), who can be asked, and whoever
    rebuilds the streamlets that ``wait``, or will. Of those that need the same of it one tells for all."""

    leaders: frozenset[tuple[int, int]]
    waiting: tuple[StreamletRecord, ...]


def concerned(image: MetadataImage, pushed_again: bool = False) -> dict[int, Concerned]:
    """By owner epoch: who leads the streamlets that have it among their sources, or waits for a leader.

    Who makes the first copies of a streamlet will be its source, and may need all of them; but of what was
    lost it can push that streamlet's chunks again, too (``pushed_again``), and is a leader like others.
    """
    leaders: dict[int, set[tuple[int, int]]] = {}
    waiting: dict[int, dict[object, StreamletRecord]] = {}
    alike: dict[tuple[object, ...], StreamletRecord] = {}
    for record in image.every_streamlet():
        if record.sources:  # thousands have the same ones, leader and state: one of them tells for all
            alike[record.sources, record.leader, record.state] = record
        elif image.topic_of(record).is_copying(record) and record.leader in image.brokers:
            own = image.brokers[record.leader].epoch
            if pushed_again:
                leaders.setdefault(own, set()).add((record.leader, own))
            else:
                waiting.setdefault(own, {})[None] = record
    unserved: set[tuple[object, ...]] = set()
    for key, record in alike.items():
        if rules.is_served(image, record):
            for epoch in record.sources:
                leaders.setdefault(epoch, set()).add((record.leader, record.sources[-1]))
        else:
            unserved.add(key)
    for record in _different(image, unserved):
        floor = image.topic_of(record).floor
        for epoch in record.sources:
            waiting.setdefault(epoch, {})[floor, epoch in record.given] = record
    return {
        epoch: Concerned(frozenset(leaders.get(epoch, ())), tuple(waiting.get(epoch, {}).values()))
        for epoch in leaders.keys() | waiting.keys()
    }


def _different(image: MetadataImage, which: Container[tuple[object, ...]]) -> Iterable[StreamletRecord]:
    """Of the streamlets with ``which`` sources, leader and state, those that may need something else."""
    found: dict[tuple[object, ...], StreamletRecord] = {}
    for record in image.every_streamlet() if which else ():
        if (record.sources, record.leader, record.state) in which:
            found[record.sources, record.given, record.topic_id] = record
    return found.values()


NOBODY: Final = Concerned(frozenset(), ())


NEWEST: Final = 1 << 62


def is_informed(revision: int, since: int) -> bool:
    """The leader that made a report at ``revision`` of the metadata knew all its streamlets: the last ones
    came with a transaction that was decided at ``since``."""
    return revision > since


class Unneeded:
    """Reports of leaders, by virtual segment. ``start``: the revision at which this begins to keep them."""

    __slots__ = ("_reports", "_since", "_start")

    def __init__(self, start: int = 0) -> None:
        self._reports: dict[VsegId, set[tuple[int, int]]] = {}
        self._since: dict[tuple[int, int], int] = {}
        """By leader: the revision at which its last streamlets were given to it."""
        self._start = start - 1

    def report(self, node_id: int, epoch: int, vsegs: Sequence[VsegId], revision: int = NEWEST) -> None:
        """None of the chunks that ``node_id`` leads as ``epoch`` at ``revision`` is live in these."""
        if is_informed(revision, self._since.get((node_id, epoch), self._start)):
            for vseg in vsegs:
                self._reports.setdefault(vseg, set()).add((node_id, epoch))

    def took_over(
        self, node_id: int, epoch: int, streamlets: Sequence[StreamletRecord], revision: int = 0
    ) -> None:
        """A leader gets streamlets by a transaction decided at ``revision``: what it said before about their
        sources, or says without knowing of it, was said without them. Its own virtual logs are among these:
        it may have led them before (18b)."""
        self._since[node_id, epoch] = max(revision, self._since.get((node_id, epoch), self._start))
        sources = {epoch, *(source for record in streamlets for source in record.sources)}
        for vseg, names in self._reports.items():
            if vseg.owner_epoch in sources:
                names.discard((node_id, epoch))

    def free(self, image: MetadataImage, table: VlogTable, pushed_again: bool = False) -> list[VsegId]:
        """Closed virtual segments that nobody needs, in order; reports about unknown ones are dropped, and
        what is known of leaders that are gone. ``pushed_again``: see `concerned`."""
        by_epoch = concerned(image, pushed_again)
        self._reports = {vseg: names for vseg, names in self._reports.items() if vseg in table.vsegs}
        self._since = {name: since for name, since in self._since.items() if image.is_member(*name)}
        return [
            vseg.id
            for _, vseg in sorted(table.vsegs.items())
            if not vseg.open
            and is_unneeded(
                image,
                table,
                vseg,
                by_epoch.get(vseg.id.owner_epoch, NOBODY),
                self._reports.get(vseg.id, set()),
            )
        ]


def is_unneeded(
    image: MetadataImage, table: VlogTable, vseg: VsegRecord, who: Concerned, reports: set[tuple[int, int]]
) -> bool:
    """Every leader of a streamlet that may have chunks in it said no, and no recovery reads it (rule 30). Of
    one that is over nobody has to say so: nothing is read from it any more, whoever leads."""
    return (vseg.is_over or who.leaders <= reports) and not any(
        _may_read(image, table, record, vseg) for record in who.waiting
    )


def _may_read(image: MetadataImage, table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """Whoever rebuilds a streamlet that waits, or makes its first copies, may need what is in it."""
    return not record.sources or rules.is_for(image, table, record, vseg)


def decide_free(image: MetadataImage, table: VlogTable, unneeded: Unneeded) -> Decision[list[VsegId]]:
    """Delete the records of virtual segments that nobody needs; backups delete their files then (rule 30).

    From the front of each virtual log, so that what is left of it has no gap. Behind one that is needed they
    are marked as emptied, so that one old record does not hold up all that came later (45); neighbours become
    one record, which begins where the first of them did, or there would be ever more of them.
    """
    decision: Decision[list[VsegId]] = Decision([])
    free = set(unneeded.free(image, table))
    before: VsegRecord | None = None
    for _, record in sorted(table.vsegs.items()) if free else ():
        if len(decision.puts) + len(decision.deletes) >= PER_TRANSACTION:
            break
        if before is not None and before.id[:2] != record.id[:2]:
            before = None
        if record.id not in free:
            before = record
        elif before is None:
            decision.deletes.append(record.key)
            decision.answer.append(record.id)
        else:
            kept = _without_copies(record)
            if before.id in free and not before.gave_up and not record.gave_up:
                kept = kept._replace(start=before.start)
                decision.puts.pop(before.key, None)
                decision.deletes.append(before.key)
            if kept != record:
                decision.puts[kept.key] = kept.encode()
                decision.answer.append(record.id)
            before = kept
    return decision


def _without_copies(vseg: VsegRecord) -> VsegRecord:
    return vseg._replace(backups=(), emptied=True, denied=())


def decide_emptied(image: MetadataImage, table: VlogTable, rewritten: Unneeded) -> Decision[list[VsegId]]:
    """Give up virtual segments without any copy when every leader concerned has pushed what is live in them
    again (rules 30, 45). Their records stay until they are at the front, so that no virtual log has a gap.
    """
    decision: Decision[list[VsegId]] = Decision([])
    for each in rewritten.free(image, table, pushed_again=True):
        vseg = table.vsegs[each]
        if len(decision.answer) == PER_TRANSACTION:
            break
        if not vseg.empty and not rules.sound_copies(image, vseg):
            gone = _without_copies(vseg)
            decision.puts[gone.key] = gone.encode()
            decision.answer.append(each)
    return decision


def decide_starts(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, starts: Sequence[Start]
) -> Decision[list[bool]]:
    """Write log start offsets before chunks are freed (rule 44); they only grow. Also of streamlets that get
    their first copies.

    One answer per entry: True when the store knows this offset or a later one, False for who does not lead.
    """
    decision: Decision[list[bool]] = Decision([])
    for start in starts:
        topic = image.topics_by_id.get(start.topic_id)
        if topic is None or not 0 <= start.partition < topic.partitions:
            decision.answer.append(False)
            continue
        record = image.partition_streamlet(topic, start.partition)
        leading = rules.leads(image, record, node_id, epoch) or rules.is_copying(
            image, record, node_id, epoch
        )
        key = start_key(start.topic_id, start.partition)
        newest = max(table.log_start(start.topic_id, start.partition), int(decision.puts.get(key, b"0")))
        if leading and start.offset > newest:
            decision.puts[key] = str(start.offset).encode()
        decision.answer.append(leading)
    return decision
