"""The replication rules that the controller keeps, each as one small predicate.

Everything is derived from the records: who is a live member, which owners are fenced, which copies count.
So a controller that has just started decides as the one before it would have (rule 19b). Tests replace one
predicate at a time and must then see a rule broken.

Who has what a virtual segment holds is asked in several ways:

=====================  =======================================================================================
`live_copies`          listed copies whose brokers are members, with that data directory
`sound_copies`         those that can be read now: their brokers did not say that they have none
`missing`              of these, which count, which last, and how many there are to be
`owner_holds`          its owner's own files are a copy, too, and here: nobody else led its streamlets since
`owner_has_all`        they are one of everything in it: nothing was handed over, nor lost with the power
`sources.owner_has`    they are one of what it has of one streamlet, whatever became of the others
`lacks_copies`         listed ones are missing that others could have: its owner's files are to stay a copy
`may_come_back`        who may have all of it, but is no member, or one with another data directory
`is_away`              one of these is no member: to lose what it has, an operator must name partitions
`denials.Denials`      who said that it has none that is not listed, owners also of their journals
`giving_up.lacking`    no member has a listed copy, nor the owner in its files
`giving_up.hopeless`   of these, what all members said that they have not got: it can be given up
=====================  =======================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

from kproto.config import BROKER_CONFIGS, TOPIC_CONFIGS
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.records import DEFAULT_BROKER, RECOVERING, StreamletRecord, TopicRecord
from kproto.metadata.vlogs import CopyTarget, Move, VlogTable, VsegRecord

DRAIN: Final = "kproto.drain"
UNCLEAN: Final = "unclean.leader.election.enable"


def is_current(image: MetadataImage, node_id: int, epoch: int) -> bool:
    """The broker is a live member under exactly this epoch: only then may it change anything (16, 19b)."""
    return image.is_member(node_id, epoch)


def check_member(image: MetadataImage, node_id: int, epoch: int) -> None:
    """Raise :class:`KafkaError` STALE_BROKER_EPOCH when `is_current` does not hold: its ownership is over."""
    if not is_current(image, node_id, epoch):
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, f"Broker {node_id} is no member as {epoch}.")


def is_sealing(image: MetadataImage, vseg: VsegRecord) -> bool:
    """An open virtual segment of a fenced or restarted owner is sealing, without a write of its own (19b)."""
    return vseg.open and not is_current(image, vseg.node_id, vseg.id.owner_epoch)


def may_hold(image: MetadataImage, target: CopyTarget) -> bool:
    """The broker that has the copy is a member, with the data directory that the copy is in (rules 3, 22)."""
    broker = image.brokers.get(target.node_id)
    return broker is not None and broker.store_id == target.store_id


def owner_is_here(image: MetadataImage, vseg: VsegRecord) -> bool:
    """The owner's node is a member with its old data directory: its journal may be there yet (18b)."""
    return may_hold(image, CopyTarget(vseg.node_id, vseg.store_id))


def owner_holds(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> bool:
    """The owner is back with the same data directory, and nobody else has led its streamlets since (2b, 33).

    Its own journal and segment files are then a copy of what the virtual segment holds.
    """
    return not table.is_moved(vseg) and owner_is_here(image, vseg)


def is_draining(image: MetadataImage, node_id: int) -> bool:
    """The broker is to be rid of everything (``kproto.drain``): it gets nothing new, and what it has counts
    as missing once others can have it."""
    own = image.configs.get(str(node_id))
    return own is not None and DRAIN in own and bool(BROKER_CONFIGS[DRAIN].parse(own[DRAIN]))


def was_given(table: VlogTable, vseg: VsegRecord) -> bool:
    """It holds chunks of streamlets that its live owner handed over (12b): for those the owner's own files
    are no copy any more."""
    return table.given_upto.get((vseg.id.owner_epoch, vseg.id.vlog), -1) >= vseg.id.seq


def owner_has_all(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> bool:
    """The owner's own files are a copy of all that is in it, and here: nothing of it was given to others, nor
    lost with the power. (What others have synced, the owner may have had in memory only: any flush policy.)
    """
    return kept_its_power(table, vseg) and not was_given(table, vseg) and owner_holds(image, table, vseg)


def leaves(table: VlogTable, record: StreamletRecord) -> bool:
    """The streamlet has several copies, and is to be led by another broker (12b)."""
    return len(record.replicas) > 1 and table.current_move(record) is not None


def is_leaving(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> bool:
    """Of two copies the owner's own files are one, and something in it leaves that owner: with the other one
    alone nothing could be lost then, so there are to be two before (17)."""
    if vseg.copies != 2 or not table.moves:
        return False
    return (vseg.node_id, vseg.id.owner_epoch) in _left(image, table)


def _left(image: MetadataImage, table: VlogTable) -> Set[tuple[int, int]]:
    """Owners (node id, owner epoch) that something leaves. Looked up once per image: there may be thousands
    of moves, and ten thousand virtual segments are asked about."""
    known = table.left
    if known is None or known[0] is not image:
        records = (image.find_streamlet(*key) for key in table.moves)
        left = {
            (record.leader, epoch)
            for record in records
            if record is not None and leaves(table, record)
            for epoch in record.sources
        }
        known = table.left = image, left
    return known[1]


def kept_its_power(table: VlogTable, vseg: VsegRecord) -> bool:
    """The owner's machine has not lost its power since that owner epoch."""
    return vseg.id.owner_epoch > table.power_lost_upto.get(vseg.node_id, -1)


def came_later(image: MetadataImage, table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """Its owner opened it after it had handed the streamlet over, and so has nothing of that in it (12b): the
    last time that it led it ended so, or it lives and does not lead it. Who died may have led it to the end.
    """
    epoch = vseg.id.owner_epoch
    gone = not record.is_served_by(epoch) and is_current(image, vseg.node_id, epoch)
    return (epoch in record.given or gone) and not was_given(table, vseg)


def may_begin_move(image: MetadataImage, record: StreamletRecord, target: int) -> bool:
    """Only a served streamlet with several copies moves, to another member (12b, 18b)."""
    return is_served(image, record) and target != record.leader and target in image.brokers


def may_hand_over(
    image: MetadataImage, record: StreamletRecord | None, move: Move | None, node_id: int, epoch: int
) -> bool:
    """Who hands the streamlet over leads it, and still should hand it over, to a member (12b, 16)."""
    return (
        record is not None
        and move is not None
        and move.leader_epoch == record.leader_epoch
        and move.target in image.brokers
        and leads(image, record, node_id, epoch)
    )


def is_that_move(move: Move, leader_epoch: int, began: int) -> bool:
    """The leader means this very move: after one that was given up it took appends again (12b)."""
    return (move.leader_epoch, move.began) == (leader_epoch, began)


def is_rolled(table: VlogTable, epoch: int, upto: Sequence[tuple[int, int]]) -> bool:
    """Every virtual segment that may hold chunks of what is handed over is closed (12b)."""
    ends = dict(upto)
    return not any(vseg.open and vseg.id.seq <= ends.get(vseg.id.vlog, -1) for vseg in table.of_owner(epoch))


def live_copies(image: MetadataImage, vseg: VsegRecord) -> list[CopyTarget]:
    """Listed copies that count (rule 22), in the order of the list."""
    return [target for target in vseg.backups if may_hold(image, target)]


def sound_copies(image: MetadataImage, vseg: VsegRecord) -> list[CopyTarget]:
    """Listed copies that can be read now, as far as is known."""
    without = vseg.deniers(image.is_member)
    return [target for target in live_copies(image, vseg) if target.node_id not in without]


def may_have(image: MetadataImage, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """A virtual segment of its sources may hold chunks of the streamlet: not with fewer copies than its topic
    ever had, nor with a weaker flush policy than its topic always had (12c)."""
    topic = image.topics_by_id.get(record.topic_id)
    return topic is None or vseg.may_hold(topic.floor)


def is_for(image: MetadataImage, table: VlogTable, record: StreamletRecord, vseg: VsegRecord) -> bool:
    """It may hold chunks of the streamlet, if its owner is one of the sources of that."""
    return may_have(image, record, vseg) and not came_later(image, table, record, vseg)


def needs_copy(vseg: VsegRecord) -> bool:
    """A virtual segment that was closed without a byte needs no copy (rule 23), nor does one that was given
    up."""
    return not vseg.unread


def is_due(image: MetadataImage, record: StreamletRecord) -> bool:
    """The streamlet has more than one copy and nobody who serves or recovers it (rules 2b, 19, 29)."""
    if not record.sources:
        return False
    if record.state == RECOVERING:
        return record.leader not in image.brokers
    return not is_current(image, record.leader, record.sources[-1])


def only_copy_away(image: MetadataImage, record: StreamletRecord) -> bool:
    """The streamlet has one copy, and the broker with it is no member: nobody else can lead it."""
    return not record.sources and record.leader not in image.brokers


def may_commit(
    image: MetadataImage, record: StreamletRecord | None, node_id: int, epoch: int, leader_epoch: int
) -> bool:
    """The attempt is still the newest of this streamlet, and whoever made it still a member (16, 27, 29)."""
    return (
        record is not None
        and record.state == RECOVERING
        and record.leader == node_id
        and record.leader_epoch == leader_epoch
        and is_current(image, node_id, epoch)
    )


def leads(image: MetadataImage, record: StreamletRecord | None, node_id: int, epoch: int) -> bool:
    """The broker serves the streamlet under this epoch."""
    return (
        record is not None
        and record.leader == node_id
        and record.is_served_by(epoch)
        and is_current(image, node_id, epoch)
    )


def is_served(image: MetadataImage, record: StreamletRecord) -> bool:
    """The streamlet has several copies, and a leader that serves it."""
    return bool(record.sources) and leads(image, record, record.leader, record.sources[-1])


def is_copying(image: MetadataImage, record: StreamletRecord, node_id: int, epoch: int) -> bool:
    """The broker has the only copy of the streamlet, and makes more: it is to have more, or another broker is
    to lead it."""
    more = image.topic_of(record).is_copying(record)
    return more and record.leader == node_id and is_current(image, node_id, epoch)


def may_be_alone(image: MetadataImage, record: StreamletRecord, node_id: int, epoch: int) -> bool:
    """The broker serves a streamlet that is to have one copy, and is where that is to be (18b)."""
    return record.replicas == (record.leader,) and leads(image, record, node_id, epoch)


def lacks_copies(image: MetadataImage, vseg: VsegRecord) -> bool:
    """A closed one has fewer listed copies than it should have beside its owner's files, and than the other
    members could have: there are to be more (17)."""
    live = sound_copies(image, vseg)
    wanted = vseg.copies - 1
    if vseg.open or not needs_copy(vseg) or len(live) >= wanted:
        return False
    able = {node_id for node_id in image.brokers if not is_draining(image, node_id)}
    able.update(target.node_id for target in live)
    return len(live) < min(wanted, len(able - {vseg.node_id}))


def topics_in(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> Iterator[TopicRecord]:
    """The topics that may have chunks in it: those whose recoveries wait for it."""
    for topic_id, part in image.streamlets.items():
        if any(vseg.id.owner_epoch in one.sources and is_for(image, table, one, vseg) for one in part):
            yield image.topics_by_id[topic_id]


def may_lose(image: MetadataImage, table: VlogTable, vseg: VsegRecord, by_default: bool) -> bool:
    """Every topic that may have chunks in it prefers being served to being complete: by its own
    ``unclean.leader.election.enable``, else by that of all brokers, else ``by_default``."""
    unclean = TOPIC_CONFIGS[UNCLEAN]
    of_all = image.configs.get(DEFAULT_BROKER, {}).get(UNCLEAN)
    default = by_default if of_all is None else unclean.parse(of_all)
    own = (topic.configs.get(UNCLEAN) for topic in topics_in(image, table, vseg))
    return all(default if text is None else unclean.parse(text) for text in own)


def answers_for_others(vseg: VsegRecord, away: Set[CopyTarget], given_up: bool) -> bool:
    """Listed copies are ``away``, or ``given_up`` because they are late, torn or in limbo: who answers may be
    all that is listed then, and has to read what it has. Else nobody may be left to mend it (24c, S8)."""
    return given_up or not away.isdisjoint(vseg.backups)


def may_come_back(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> frozenset[CopyTarget]:
    """Who is no member and may have all of it: listed copies, and its owner's own files (2b, 33)."""
    owner = () if table.is_moved(vseg) else (CopyTarget(vseg.node_id, vseg.store_id),)
    return frozenset(target for target in (*vseg.backups, *owner) if not may_hold(image, target))


def is_away(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> bool:
    """A broker that may have all of it is no member, so that it may come back with it. One that is a member
    with another data directory has nothing to bring."""
    return any(target.node_id not in image.brokers for target in may_come_back(image, table, vseg))


def is_any_there(image: MetadataImage, copies: Iterable[CopyTarget]) -> bool:
    """Somebody who has what a virtual segment is closed with is a member still (22): who is not listed then
    has no copy any more (15), whatever it has."""
    return any(may_hold(image, target) for target in copies)


def sealed_end(start: int, positions: Sequence[int]) -> int:
    """Where a sealing virtual segment ends: what all copies hold that answered (rule 21).

    Every copy holds at least what was durable, so the end is not below it; the shortest one decides, so that
    each of them has all of it.
    """
    return max(start, min(positions))


def has_all(vseg: VsegRecord, position: int, durable: int) -> bool:
    """A copy that ends at ``position`` has what another one says was ``durable``: what is durable is on every
    copy, so one that is shorter was damaged where its file does not show it (24c)."""
    return max(vseg.start, position) >= durable


def fence_of(vseg: VsegRecord) -> int:
    """The fence that SEAL carries: pushes of this owner and of all before it are refused (rule 20)."""
    return vseg.id.owner_epoch + 1
