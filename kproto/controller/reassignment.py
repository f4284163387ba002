"""Other replicas for streamlets, and what of it is under way (KIP-455). Pure.

The replicas of a streamlet say who should lead it, no more: where the copies are is decided for each virtual
segment. So a reassignment is done at once, but for the leader, who moves when it is no replica any more
(rule 12b). Until then it can be cancelled.

Another number of replicas means other virtual logs for new records, and more copies of what is there. How
many there are is a matter of the streamlet: those of one topic may have different numbers. One with a single
copy is not in virtual segments that anybody else could have: its leader pushes everything again first
(`replica.widening`), and the streamlet has no sources until then. So long the leader's own files are all that
counts, and going back to one copy means that no others are made. A streamlet that has its sources goes back
when its leader has all of it in files of its own (`controller.single`); until then it is served, and
recovered, as others are. The only copy goes to another broker by both: it gets others, moves, and is one
again. While any of this is under way the record keeps the replicas that there were, for who cancels it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.placement import assigned_to, pick_spread
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, TopicRecord
from kproto.metadata.records import TRANSIT_COPIES, StreamletRecord
from kproto.metadata.vlogs import Move, VlogTable, VsegId, VsegRecord, start_key


class NewReplicas(NamedTuple):
    """What a client wants for a partition; without replicas: that a reassignment is cancelled."""

    topic: str
    partition: int
    replicas: tuple[int, ...] | None


class Ongoing(NamedTuple):
    """A partition whose reassignment is under way; ``replicas`` are the old and the new ones together."""

    topic: str
    partition: int
    replicas: list[int]
    adding: list[int]
    removing: list[int]


def decide_reassign(
    image: MetadataImage, table: VlogTable, wanted: Sequence[NewReplicas], may_change_factor: bool = True
) -> Decision[list[KafkaError | None]]:
    """Change or restore replicas; one entry of the answer per partition. A fault in one stops no other.

    The partitions of a streamlet have the same replicas: those of them that are named must agree, and when
    it is to have another number of them all must be named.
    """
    decision: Decision[list[KafkaError | None]] = Decision([])
    agreed: dict[tuple[bytes, int], tuple[int, ...] | None] = {}
    changed: dict[str, TopicRecord] = {}
    wider: dict[tuple[object, ...], tuple[StreamletRecord, int]] = {}
    named = frozenset(wanted)
    for each in wanted:
        try:
            topic, record = _streamlet(image, each.topic, each.partition)
            key = record.topic_id, record.index
            if agreed.setdefault(key, each.replicas) != each.replicas:
                raise _misassigned(
                    f"Partition {each.partition} is in one streamlet with others and needs their replicas."
                )
            if each.replicas is None:
                replicas = _cancelled(table, topic, record)
            else:
                replicas = each.replicas
                _check(image, table, record, replicas)
                _check_number(topic, record, replicas, named, may_change_factor)
        except KafkaError as error:
            decision.answer.append(error)
            continue
        decision.answer.append(None)
        _assign(image, table, topic, record, replicas, decision, each.replicas is None)
        before, now = len(record.replicas), len(replicas)
        if now != before:
            changed[topic.name] = changed.get(topic.name, topic).with_copies(record.index, now)
            if now > before:
                alike = record.topic_id, record.state, record.sources, record.given, before, now
                wider[alike] = record, now
    decision.puts.update((topic.key, topic.encode()) for topic in changed.values())
    decision.puts.update(
        (vseg.key, vseg.encode()) for vseg in _copied_more_often(image, table, wider.values())
    )
    return decision


def _check_number(
    topic: TopicRecord,
    record: StreamletRecord,
    replicas: tuple[int, ...],
    named: Set[NewReplicas],
    may_change: bool,
) -> None:
    """Raise when a streamlet cannot have another number of replicas by this request."""
    before, now = len(record.replicas), len(replicas)
    if before == now:
        return
    if not may_change:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {before} to {now}.",
        )
    partitions = topic.partitions_of(record.index)
    if any(NewReplicas(topic.name, partition, replicas) not in named for partition in partitions):
        raise _misassigned(
            f"Partitions {partitions[0]} to {partitions[-1]} of {topic.name} are streamlet {record.index}, "
            f"which has {before} copies: name all of them, with the same replicas, for {now}."
        )


def _copied_more_often(
    image: MetadataImage, table: VlogTable, wider: Collection[tuple[StreamletRecord, int]]
) -> Iterator[VsegRecord]:
    """What is there of streamlets that get more copies gets as many by repair; with fewer, it keeps what it
    has. What can have nothing of them (12c) is left alone."""
    copies: dict[VsegId, int] = {}
    for record, now in wider:
        least = max(len(record.replicas), TRANSIT_COPIES)
        for epoch in set(record.sources):
            for vseg in table.of_owner(epoch):
                if least <= vseg.copies < now and rules.is_for(image, table, record, vseg):
                    copies[vseg.id] = max(now, copies.get(vseg.id, now))
    for vseg_id, most in sorted(copies.items()):
        yield table.vsegs[vseg_id].with_more_copies(most)


def more_internal_copies(
    image: MetadataImage, able: Collection[int], most: int, fenced: Collection[int]
) -> list[NewReplicas]:
    """More replicas for internal topics that were made when fewer brokers were there: as many as are ``able``
    now, up to ``most``. One step waits for the one before; those with the fewest replicas come first. Members
    that are away are ``fenced``; whoever is no member any more is no replica of them either."""
    found: list[NewReplicas] = []
    able = [node for node in sorted(able) if node in image.brokers and image.brokers[node].internal_host]
    wanted = min(most, len(able))
    members = {*image.brokers, *fenced}
    internal = [topic for topic in image.topics.values() if topic.internal]
    lacking = [topic for topic in internal if _lacks(image, topic, wanted, members)]
    load = assigned_to(image) if lacking else Counter[int]()
    for topic in lacking:
        for record in image.streamlets[topic.topic_id]:
            replicas = [node for node in record.replicas if node in members]
            beside = [image.brokers[node] for node in replicas if node in image.brokers]
            others = [image.brokers[node] for node in able if node not in replicas]
            newcomers = pick_spread(others, wanted - len(replicas), beside, load)
            replicas += [broker.node_id for broker in newcomers]
            load.update(broker.node_id for broker in newcomers)
            if newcomers:
                found += [
                    NewReplicas(topic.name, index, tuple(replicas))
                    for index in topic.partitions_of(record.index)
                ]
    return found


def _lacks(image: MetadataImage, topic: TopicRecord, wanted: int, members: Collection[int]) -> bool:
    """Some of its streamlets have fewer replicas that are members, and nothing that was begun before is still
    under way."""
    records = image.streamlets[topic.topic_id]
    lacking = any(sum(node in members for node in record.replicas) < wanted for record in records)
    return lacking and not any(map(topic.is_copying, records))


class Copied(NamedTuple):
    """Others have everything of a streamlet by now; ``starts`` are the log starts of its partitions."""

    topic_id: bytes
    streamlet: int
    leader_epoch: int
    starts: Sequence[int]


def decide_copied(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, wanted: Sequence[Copied]
) -> Decision[list[bool]]:
    """Streamlets of one copy have more from now on, because their leader, as ``epoch``, has all of it in
    virtual segments with backups. One answer each: False for who does not lead under that leader epoch. Log
    starts that were stored meanwhile do not go back."""
    decision: Decision[list[bool]] = Decision([])
    for each in wanted:
        record = image.find_streamlet(each.topic_id, each.streamlet)
        done = (
            record is not None
            and rules.is_copying(image, record, node_id, epoch)
            and record.leader_epoch == each.leader_epoch
        )
        decision.answer.append(done)
        if done and record is not None:
            copied = record.copied_by(epoch)
            decision.puts[copied.key] = copied.encode()
            first = each.streamlet * image.topic_of(record).active_groups
            for index, start in enumerate(each.starts, first):
                newest = max(start, table.log_start(each.topic_id, index))
                decision.puts[start_key(each.topic_id, index)] = str(newest).encode()
    return decision


def _streamlet(image: MetadataImage, name: str, partition: int) -> tuple[TopicRecord, StreamletRecord]:
    topic = image.topics.get(name)
    if topic is None or not 0 <= partition < topic.partitions:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic, image.partition_streamlet(topic, partition)


def _cancelled(table: VlogTable, topic: TopicRecord, record: StreamletRecord) -> tuple[int, ...]:
    """The replicas of a streamlet when what is under way of it is cancelled."""
    before = way_back(table, topic, record)
    if not before:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    return before


def way_back(table: VlogTable, topic: TopicRecord, record: StreamletRecord) -> tuple[int, ...]:
    """The replicas that a reassignment under way replaces; empty when there is none, or no way back."""
    if record.was:
        return record.was
    move = table.current_move(record)
    if move is not None and move.before:
        return move.before
    return (record.leader,) if topic.is_copying(record) else ()  # older versions did not keep them


def reassigned(
    topic: TopicRecord, record: StreamletRecord, replicas: tuple[int, ...], before: tuple[int, ...]
) -> StreamletRecord:
    """A streamlet of ``topic`` with other replicas; ``before``: those that it has again when that is
    cancelled.

    When no first copies are made after all, the next leader epoch voids what its leader pushed for it: if it
    is to get copies once more, what was appended in between must be pushed, too.
    """
    given = record.assigned_to(replicas)
    if topic.is_copying(record) and topic.copies_of(given) == 1:
        return given.led_by(record.leader)
    kept = _is_under_way(topic, given) and before != replicas
    return given.assigned_to(replicas, before) if kept else given


def _check(
    image: MetadataImage,
    table: VlogTable,
    record: StreamletRecord,
    replicas: tuple[int, ...],
) -> None:
    """Raise what Apache Kafka answers to an assignment that cannot be."""
    if not replicas:
        raise _misassigned("The manual partition assignment includes an empty replica list.")
    if len(set(replicas)) != len(replicas):
        raise _misassigned(f"The manual partition assignment {list(replicas)} names a broker twice.")
    for node_id in replicas:
        if node_id not in image.brokers and node_id not in table.fenced:
            raise _misassigned(
                f"The manual partition assignment includes broker {node_id}, "
                "but no such broker is registered."
            )
    if replicas == record.replicas:
        return
    if (
        not record.sources
        and (record.leader,) != replicas
        and any(node in image.brokers and not image.brokers[node].internal_host for node in replicas)
    ):
        raise _misassigned("Brokers that are alone cannot keep copies.")
    if not any(node_id in image.brokers for node_id in replicas):
        raise _misassigned("None of the brokers in the manual partition assignment is alive.")


def _assign(
    image: MetadataImage,
    table: VlogTable,
    topic: TopicRecord,
    record: StreamletRecord,
    replicas: tuple[int, ...],
    decision: Decision[list[KafkaError | None]],
    back: bool,
) -> None:
    """The new record, and the move of its leader if that is no replica any more. ``back``: they are those
    that it had, and stay when that is cancelled."""
    known = table.current_move(record)
    if replicas == record.replicas and known is None and not back:
        return
    before = replicas if back else way_back(table, topic, record) or record.replicas
    decision.puts[record.key] = reassigned(topic, record, replicas, before).encode()
    move = leaders_move(image, record, replicas, before) if not back else None
    alike = (len(record.replicas) > 1) == (len(replicas) > 1)  # one that was to have one copy waited for none
    if move is not None and known is not None and move.target == known.target and alike:
        move = move._replace(began=known.began)  # what it waited for it need not wait for once more
    if move is not None:
        decision.puts[move.key] = move.encode()
    elif known is not None:
        decision.deletes.append(known.key)


def leaders_move(
    image: MetadataImage, record: StreamletRecord, replicas: Sequence[int], before: tuple[int, ...]
) -> Move | None:
    """The move of a leader that is none of the new replicas, to the first of them that is a member; None when
    it need not or cannot move."""
    target = next((node_id for node_id in replicas if node_id in image.brokers), record.leader)
    if record.leader in replicas or not rules.may_begin_move(image, record, target):
        return None
    return Move(record.topic_id, record.index, target, record.leader_epoch, image.revision + 1, before)


def _misassigned(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def ongoing(
    image: MetadataImage, table: VlogTable, asked: Iterable[tuple[str, Sequence[int]]] | None
) -> list[Ongoing]:
    """Reassignments that are under way, of the partitions ``asked`` for (None: of all), in their order."""
    if asked is None:
        topics = {
            image.topics_by_id[topic_id].name for topic_id, _ in table.moves if topic_id in image.topics_by_id
        }
        topics |= {
            topic.name
            for topic in image.topics.values()
            if any(_is_under_way(topic, record) for record in image.streamlets[topic.topic_id])
        }
        asked = [(name, range(image.topics[name].partitions)) for name in sorted(topics)]
    found: list[Ongoing] = []
    for name, partitions in asked:
        topic = image.topics.get(name)
        for partition in partitions if topic is not None else ():
            if topic is None or not 0 <= partition < topic.partitions:
                continue
            record = image.partition_streamlet(topic, partition)
            before = way_back(table, topic, record)
            if before or _is_under_way(topic, record):
                old, new = before or (record.leader,), record.replicas
                removing = [node_id for node_id in old if node_id not in new]
                adding = [node_id for node_id in new if node_id not in old]
                found.append(Ongoing(name, partition, [*new, *removing], adding, removing))
    return found


def _is_under_way(topic: TopicRecord, record: StreamletRecord) -> bool:
    """Copies of a streamlet are made or given up: to or from a single one, or because the only one goes to
    another broker."""
    return topic.copies_of(record) > 1 and (len(record.replicas) == 1 or not record.sources)
