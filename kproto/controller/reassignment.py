"""Other replicas for streamlets, and what of it is under way (KIP-455). Pure.

The replicas of a streamlet say who should lead it, no more: where the copies are is decided for each virtual
segment. So a reassignment is done at once, but for the leader, who moves when it is no replica any more
(rule 12b). Until then it can be cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.moves import current_move
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, TopicRecord
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import Move, VlogTable


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
    image: MetadataImage, table: VlogTable, wanted: Sequence[NewReplicas]
) -> Decision[list[KafkaError | None]]:
    """Change or restore replicas; one entry of the answer per partition. A fault in one stops no other.

    The partitions of a streamlet have the same replicas: those of them that are named must agree.
    """
    decision: Decision[list[KafkaError | None]] = Decision([])
    agreed: dict[tuple[bytes, int], tuple[int, ...] | None] = {}
    for each in wanted:
        try:
            topic, record = _streamlet(image, each.topic, each.partition)
            key = record.topic_id, record.index
            if agreed.setdefault(key, each.replicas) != each.replicas:
                raise KafkaError(
                    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                    f"Partition {each.partition} is in one streamlet with others and needs their replicas.",
                )
            if each.replicas is None:
                _cancel(table, record, decision)
            else:
                _check(image, table, topic, record, each.replicas)
                _assign(image, table, record, each.replicas, decision)
        except KafkaError as error:
            decision.answer.append(error)
            continue
        decision.answer.append(None)
    return decision


def _streamlet(image: MetadataImage, name: str, partition: int) -> tuple[TopicRecord, StreamletRecord]:
    topic = image.topics.get(name)
    if topic is None or not 0 <= partition < topic.partitions:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic, image.partition_streamlet(topic, partition)


def _cancel(table: VlogTable, record: StreamletRecord, decision: Decision[list[KafkaError | None]]) -> None:
    move = current_move(table, record)
    if move is None or not move.before:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    decision.puts[record.key] = record.assigned_to(move.before).encode()
    decision.deletes.append(move.key)


def _check(
    image: MetadataImage,
    table: VlogTable,
    topic: TopicRecord,
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
    if len(replicas) != topic.replication_factor:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"{topic.name} has {topic.replication_factor} copies, which cannot be changed.",
        )
    if replicas == record.replicas:
        return
    if not record.sources:
        raise _misassigned("A partition with one copy stays where that is: make a topic with more copies.")
    if not any(node_id in image.brokers for node_id in replicas):
        raise _misassigned("None of the brokers in the manual partition assignment is alive.")


def _assign(
    image: MetadataImage,
    table: VlogTable,
    record: StreamletRecord,
    replicas: tuple[int, ...],
    decision: Decision[list[KafkaError | None]],
) -> None:
    """The new record, and the move of its leader if that is no replica any more."""
    known = current_move(table, record)
    if replicas == record.replicas and known is None:
        return
    decision.puts[record.key] = record.assigned_to(replicas).encode()
    target = next((node_id for node_id in replicas if node_id in image.brokers), record.leader)
    if record.leader not in replicas and rules.may_begin_move(image, record, target):
        before = known.before if known is not None and known.before else record.replicas
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
        asked = [(name, range(image.topics[name].partitions)) for name in sorted(topics)]
    found: list[Ongoing] = []
    for name, partitions in asked:
        topic = image.topics.get(name)
        for partition in partitions if topic is not None else ():
            if topic is None or not 0 <= partition < topic.partitions:
                continue
            record = image.partition_streamlet(topic, partition)
            move = current_move(table, record)
            if move is not None and move.before:
                old, new = move.before, record.replicas
                removing = [node_id for node_id in old if node_id not in new]
                adding = [node_id for node_id in new if node_id not in old]
                found.append(Ongoing(name, partition, [*new, *removing], adding, removing))
    return found
