"""Other replicas for streamlets, and what of it is under way (KIP-455). Pure.

The replicas of a streamlet say who should lead it, no more: where the copies are is decided for each virtual
segment. So a reassignment is done at once, but for the leader, who moves when it is no replica any more
(rule 12b). Until then it can be cancelled.

Another number of replicas means other virtual logs for new records, and more copies of what is there. A topic
with one copy is not in virtual segments that anybody else could have: its leader pushes everything again
first (`replica.widening`), and the streamlet has no sources until then. So long the leader's own files are
all that counts, and going back to one copy means that no others are made. A streamlet that has its sources
goes back when its leader has all of it in files of its own (`controller.single`); until then it is served,
and recovered, as others are. The only copy goes to another broker by both: it gets others, moves, and is one
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.moves import current_move
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, TopicRecord
from kproto.metadata.records import TRANSIT_COPIES, StreamletRecord
from kproto.metadata.vlogs import Move, VlogTable, start_key


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

    The partitions of a streamlet have the same replicas: those of them that are named must agree. How many
    copies there are is a matter of the whole topic: it changes when all its partitions are named, and that
    its first copies are made is cancelled in the same way.
    """
    decision: Decision[list[KafkaError | None]] = Decision([])
    agreed: dict[tuple[bytes, int], tuple[int, ...] | None] = {}
    factors = _factors(image, wanted) if may_change_factor else {}
    cancelled = _cancelled(wanted)
    for each in wanted:
        try:
            topic, record = _streamlet(image, each.topic, each.partition)
            key = record.topic_id, record.index
            if agreed.setdefault(key, each.replicas) != each.replicas:
                raise KafkaError(
                    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                    f"Partition {each.partition} is in one streamlet with others and needs their replicas.",
                )
            if each.replicas is None and gets_first_copies(image, topic):
                _stay_single(image, table, topic, record, cancelled[topic.name], decision)
            elif each.replicas is None:
                _cancel(table, topic, record, decision)
            else:
                factor = factors.get(topic.name, topic.replication_factor)
                _check(image, table, topic, record, each.replicas, factor)
                _assign(image, table, topic, record, each.replicas, decision)
        except KafkaError as error:
            decision.answer.append(error)
            continue
        decision.answer.append(None)
    for name, factor in factors.items():
        mine = [at for at, each in enumerate(wanted) if each.topic == name]
        if all(decision.answer[at] is None for at in mine):
            _change_factor(image, table, image.topics[name], factor, decision)
            continue
        for record in image.streamlets[image.topics[name].topic_id]:
            decision.puts.pop(record.key, None)
            decision.puts.pop(Move(record.topic_id, record.index, 0, 0, 0).key, None)
        for at in mine:
            decision.answer[at] = decision.answer[at] or KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR, "Another partition of the topic cannot be changed."
            )
    return decision


def _factors(image: MetadataImage, wanted: Sequence[NewReplicas]) -> dict[str, int]:
    """Topics all of whose partitions are to have the same other number of replicas, and that number."""
    found: dict[str, int] = {}
    named: dict[str, dict[int, int]] = {}
    for each in wanted:
        if each.replicas is not None:
            named.setdefault(each.topic, {})[each.partition] = len(each.replicas)
    for name, lengths in named.items():
        topic = image.topics.get(name)
        if topic is not None and lengths.keys() == set(range(topic.partitions)):
            (length, *others) = set(lengths.values())
            if not others and length != topic.replication_factor:
                found[name] = length
    return found


def _cancelled(wanted: Sequence[NewReplicas]) -> dict[str, set[int]]:
    """The partitions of each topic whose reassignment is to be cancelled."""
    found: dict[str, set[int]] = {}
    for each in wanted:
        if each.replicas is None:
            found.setdefault(each.topic, set()).add(each.partition)
    return found


def _change_factor(
    image: MetadataImage,
    table: VlogTable,
    topic: TopicRecord,
    factor: int,
    decision: Decision[list[KafkaError | None]],
) -> None:
    """The new number of copies, for what is written from now on; what is there already gets more copies by
    repair, never fewer."""
    records = image.streamlets[topic.topic_id]
    changed = topic.with_copies(factor)
    decision.puts[changed.key] = changed.encode()
    least = max(topic.replication_factor, TRANSIT_COPIES)
    for epoch in sorted({epoch for record in records for epoch in record.sources}):
        for vseg in table.of_owner(epoch):
            if least <= vseg.copies < factor:
                decision.puts[vseg.key] = vseg._replace(copies=factor).encode()


def more_internal_copies(image: MetadataImage, able: Collection[int], most: int) -> list[NewReplicas]:
    """More replicas for internal topics that were made when fewer brokers were there: as many as are ``able``
    now, up to ``most``. One step waits for the one before; those with the fewest replicas come first."""
    found: list[NewReplicas] = []
    able = [node for node in sorted(able) if node in image.brokers and image.brokers[node].internal_host]
    load = Counter(node for part in image.streamlets.values() for one in part for node in one.replicas)
    for topic in image.topics.values():
        records = image.streamlets[topic.topic_id]
        factor = topic.replication_factor
        wanted = min(most, len(able))
        waits = factor > 1 and any(not record.sources for record in records)
        if not topic.internal or wanted <= factor or waits:
            continue
        for record in records:
            replicas = list(record.replicas)
            others = [node for node in able if node not in replicas]
            for node in sorted(others, key=lambda node: (load[node], node))[: wanted - len(replicas)]:
                replicas.append(node)
                load[node] += 1
            first = record.index * topic.active_groups
            found += [
                NewReplicas(topic.name, index, tuple(replicas))
                for index in range(first, min(first + topic.active_groups, topic.partitions))
            ]
    return found


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
        topic = image.topics_by_id.get(each.topic_id)
        part = image.streamlets.get(each.topic_id, ())
        record = part[each.streamlet] if each.streamlet < len(part) else None
        done = (
            topic is not None
            and record is not None
            and rules.is_copying(image, record, node_id, epoch)
            and record.leader_epoch == each.leader_epoch
        )
        decision.answer.append(done)
        if done and record is not None and topic is not None:
            copied = record.copied_by(epoch)
            decision.puts[copied.key] = copied.encode()
            for at, start in enumerate(each.starts):
                index = each.streamlet * topic.active_groups + at
                newest = max(start, table.log_start(each.topic_id, index))
                decision.puts[start_key(each.topic_id, index)] = str(newest).encode()
    return decision


def _streamlet(image: MetadataImage, name: str, partition: int) -> tuple[TopicRecord, StreamletRecord]:
    topic = image.topics.get(name)
    if topic is None or not 0 <= partition < topic.partitions:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic, image.partition_streamlet(topic, partition)


def _cancel(
    table: VlogTable,
    topic: TopicRecord,
    record: StreamletRecord,
    decision: Decision[list[KafkaError | None]],
) -> None:
    move, copies = current_move(table, record), topic.replication_factor
    single = copies == 1 and topic.copies_of(record) > 1
    before = move.before if move is not None else ()
    if single and not before and record.leader not in record.replicas:
        before = (record.leader,)  # the only copy was to go elsewhere, and is here yet
    if not before and not single:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    if len(before) != copies:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"{topic.name} is to have {copies} copies of each partition, which cannot be cancelled: ask for "
            "the replicas that it should have, of all its partitions.",
        )
    decision.puts[record.key] = _given_replicas(topic, record, before).encode()
    if move is not None:
        decision.deletes.append(move.key)


def reassigned(topic: TopicRecord, record: StreamletRecord, replicas: tuple[int, ...]) -> StreamletRecord:
    """A streamlet of ``topic``, as that is, with other replicas."""
    if not is_copying(topic, record):
        return record.assigned_to(replicas)
    return _given_replicas(topic._replace(replication_factor=len(replicas)), record, replicas)


def _given_replicas(
    topic: TopicRecord, record: StreamletRecord, replicas: tuple[int, ...]
) -> StreamletRecord:
    """A streamlet of ``topic``, as that will be, with other replicas.

    When no first copies are made after all, the next leader epoch voids what its leader pushed for it: if it
    is to get copies once more, what was appended in between must be pushed, too.
    """
    given = record.assigned_to(replicas)
    stays = not record.sources and topic.copies_of(given) == 1
    return given.led_by(record.leader) if stays else given


def is_copying(topic: TopicRecord, record: StreamletRecord) -> bool:
    """The streamlet is to have more copies than its leader's, which is the only one yet."""
    return not record.sources and topic.copies_of(record) > 1


def gets_first_copies(image: MetadataImage, topic: TopicRecord) -> bool:
    """A topic that had one copy gets more, and is not done."""
    records = image.streamlets[topic.topic_id]
    return topic.replication_factor > 1 and any(is_copying(topic, record) for record in records)


def _stay_single(
    image: MetadataImage,
    table: VlogTable,
    topic: TopicRecord,
    record: StreamletRecord,
    named: Set[int],
    decision: Decision[list[KafkaError | None]],
) -> None:
    """The topic of a streamlet is to have one copy after all: its leader is the only replica again. What has
    more goes back to one (`controller.single`)."""
    if named != set(range(topic.partitions)):
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"{topic.name} is to have {topic.replication_factor} copies; to cancel that, all of its "
            "partitions have to be named.",
        )
    changed = topic.with_copies(1)
    decision.puts[changed.key] = changed.encode()
    alive = [node for node in (record.leader, *record.replicas) if node in image.brokers]
    stays = alive[0] if alive and record.sources else record.leader
    decision.puts[record.key] = _given_replicas(changed, record, (stays,)).encode()
    move = current_move(table, record)
    if move is not None:
        decision.deletes.append(move.key)


def _check(
    image: MetadataImage,
    table: VlogTable,
    topic: TopicRecord,
    record: StreamletRecord,
    replicas: tuple[int, ...],
    factor: int,
) -> None:
    """Raise what Apache Kafka answers to an assignment that cannot be; ``factor`` copies are wanted."""
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
    if len(replicas) != factor:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"{topic.name} has {topic.replication_factor} copies of each partition, not {len(replicas)}: how "
            "many is a matter of the whole topic here, so name all of its partitions, each with as many "
            "replicas, to change it.",
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
) -> None:
    """The new record, and the move of its leader if that is no replica any more."""
    known = current_move(table, record)
    if replicas == record.replicas and known is None:
        return
    decision.puts[record.key] = reassigned(topic, record, replicas).encode()
    target = next((node_id for node_id in replicas if node_id in image.brokers), record.leader)
    if record.leader not in replicas and rules.may_begin_move(image, record, target):
        single = topic.replication_factor == 1
        before = known.before if known is not None else ()
        before = before or ((record.leader,) if single else record.replicas)
        name = record.topic_id, record.index
        move = Move(*name, target, record.leader_epoch, image.revision + 1, before)
        decision.puts[move.key] = move.encode()
    elif known is not None:
        decision.deletes.append(known.key)


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
            if any(_is_under_way(image, topic, record) for record in image.streamlets[topic.topic_id])
        }
        asked = [(name, range(image.topics[name].partitions)) for name in sorted(topics)]
    found: list[Ongoing] = []
    for name, partitions in asked:
        topic = image.topics.get(name)
        for partition in partitions if topic is not None else ():
            if topic is None or not 0 <= partition < topic.partitions:
                continue
            record = image.partition_streamlet(topic, partition)
            move = current_move(table, record)
            before = move.before if move is not None else ()
            if before or _is_under_way(image, topic, record):
                old, new = before or (record.leader,), record.replicas
                removing = [node_id for node_id in old if node_id not in new]
                adding = [node_id for node_id in new if node_id not in old]
                found.append(Ongoing(name, partition, [*new, *removing], adding, removing))
    return found


def _is_under_way(image: MetadataImage, topic: TopicRecord, record: StreamletRecord) -> bool:
    """Copies of a streamlet are made or given up: to or from a single one for its whole topic, or for itself
    when the only one goes to another broker."""
    if topic.replication_factor == 1:
        return topic.copies_of(record) > 1
    return gets_first_copies(image, topic)
