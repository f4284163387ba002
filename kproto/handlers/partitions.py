"""Partitions as clients see them: leader, replicas, in-sync replicas out of streamlet records. Pure.

``replicas`` is the stored assignment, the preferred leader first; where the copies really are is decided for
each virtual segment and is not Kafka's business. ``isr`` is the leader with the live part of the assignment,
cut to the number of copies that new records get.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.errors import ErrorCode
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.metadata.records import NO_LEADER, ONLINE

if TYPE_CHECKING:
    from kproto.metadata.vlogs import VlogTable

Shortages = Mapping[tuple[int, int], int]
"""(Leader, replication factor) -> copies that its new records get, where these are fewer than the factor."""
NO_SHORTAGES: Final[Shortages] = {}


class PartitionState(NamedTuple):
    """One partition. The lists are shared between the partitions of a streamlet: not to be changed."""

    partition: int
    error: ErrorCode
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline: list[int]


def leader_of(image: MetadataImage, record: StreamletRecord) -> int:
    """The broker that serves a streamlet at ``image``; NO_LEADER while there is none.

    A streamlet with more than one copy is served once its leader has committed it (rule 27b) under the epoch
    it is registered with: what a fenced or earlier owner had is recovering by derivation (rule 19b).
    """
    broker = image.brokers.get(record.leader)
    if broker is None or record.state != ONLINE:
        return NO_LEADER
    if record.sources and record.sources[-1] != broker.epoch:
        return NO_LEADER
    return record.leader


def node_lists(
    image: MetadataImage, record: StreamletRecord, leader: int, shortages: Shortages = NO_SHORTAGES
) -> tuple[list[int], list[int], list[int]]:
    """Replicas, in-sync replicas and offline replicas of a streamlet that ``leader`` serves."""
    live = image.brokers
    replicas = list(record.replicas)
    isr = [node for node in replicas if node in live]
    if not record.sources and len(replicas) > 1:
        isr = [leader] if leader != NO_LEADER else []  # other copies are being made
    offline = [node for node in replicas if node not in live]
    if leader != NO_LEADER and leader not in isr:
        isr.insert(0, leader)
    copies = min(len(replicas), shortages.get((leader, len(replicas)), len(replicas)))
    if len(isr) > copies:
        others = [node for node in isr if node != leader][: copies - 1]
        isr = [node for node in isr if node == leader or node in others]
    return replicas, isr, offline


def shortages_of(table: VlogTable, image: MetadataImage) -> Shortages:
    """Which leaders have virtual logs whose open segment has fewer copies than it should (rule 18)."""
    shortages: dict[tuple[int, int], int] = {}
    for vseg in table.open_vsegs():
        copies = 1 + len(vseg.backups)
        owner = image.brokers.get(vseg.node_id)
        if copies < vseg.copies and owner is not None and owner.epoch == vseg.id.owner_epoch:
            key = vseg.node_id, vseg.copies
            shortages[key] = min(copies, shortages.get(key, copies))
    return shortages


def partition_states(
    image: MetadataImage, topic: TopicRecord, first: int, end: int, shortages: Shortages = NO_SHORTAGES
) -> Iterator[PartitionState]:
    """Partitions ``first`` up to ``end`` (not included; the topic may have fewer)."""
    records = image.streamlets[topic.topic_id]
    groups = topic.active_groups
    seen: StreamletRecord | None = None
    for index in range(first, min(end, topic.partitions)):
        record = records[index // groups]
        if record is not seen:
            seen = record
            leader = leader_of(image, record)
            replicas, isr, offline = node_lists(image, record, leader, shortages)
            error = ErrorCode.NONE if leader != NO_LEADER else ErrorCode.LEADER_NOT_AVAILABLE
        yield PartitionState(index, error, leader, record.leader_epoch, replicas, isr, offline)
