"""What clients are shown of a streamlet: its leader, replicas and in-sync replicas, in every situation."""

from __future__ import annotations

import pytest

from kproto.errors import ErrorCode
from kproto.handlers import metadata_wire
from kproto.handlers.partitions import leader_of, node_lists, partition_states, shortages_of
from kproto.metadata import BrokerRecord, MetadataImage, StreamletRecord, TopicRecord
from kproto.metadata.records import NO_LEADER, ONLINE, RECOVERING
from kproto.metadata.store import Entry
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord

TOPIC = bytes(range(16))


def image_of(record: StreamletRecord, *live: int) -> MetadataImage:
    """Broker n is registered with epoch 10 * n."""
    topic = TopicRecord("t", TOPIC, 2, len(record.replicas), 2, {}, False)
    return MetadataImage(
        revision=1,
        brokers={n: BrokerRecord(n, 10 * n, f"host{n}", 9092, None) for n in live},
        topics={"t": topic},
        topics_by_id={TOPIC: topic},
        streamlets={TOPIC: (record,)},
    )


def streamlet(leader: int, state: int = ONLINE, sources: tuple[int, ...] = (10,)) -> StreamletRecord:
    return StreamletRecord(TOPIC, 0, leader, 3, (1, 2, 3), state, sources)


def shown(image: MetadataImage, table: VlogTable | None = None) -> list[tuple[object, ...]]:
    shortages = shortages_of(table or VlogTable(), image)
    states = list(partition_states(image, image.topics["t"], 0, 5, shortages))
    return [(s.partition, s.error, s.leader, s.replicas, s.isr, s.offline) for s in states]


@pytest.mark.parametrize(
    ("record", "live", "leader"),
    [
        (streamlet(1), (1, 2, 3), 1),
        (streamlet(1), (2, 3), NO_LEADER),  # fenced
        (streamlet(1, sources=(5,)), (1, 2, 3), NO_LEADER),  # rule 19b: what its last life had
        (streamlet(1, RECOVERING), (1, 2, 3), NO_LEADER),  # rule 27: not committed yet
        (streamlet(2, RECOVERING), (2, 3), NO_LEADER),
        (streamlet(2, sources=(10, 20)), (2, 3), 2),
        (streamlet(2, sources=(20, 10)), (1, 2, 3), NO_LEADER),  # another owner's epoch came later
        (StreamletRecord(TOPIC, 0, 1, 3, (1,)), (1, 2), 1),  # one copy: no sources
        (StreamletRecord(TOPIC, 0, 1, 3, (1,)), (2,), NO_LEADER),
        (streamlet(NO_LEADER), (1, 2, 3), NO_LEADER),
    ],
)
def test_who_serves(record: StreamletRecord, live: tuple[int, ...], leader: int) -> None:
    image = image_of(record, *live)
    assert leader_of(image, record) == leader
    error = ErrorCode.NONE if leader != NO_LEADER else ErrorCode.LEADER_NOT_AVAILABLE
    assert [(row[1], row[2]) for row in shown(image)] == [(error, leader)] * 2


def test_in_sync_is_the_live_part_of_the_assignment() -> None:
    image = image_of(streamlet(2, sources=(10, 20)), 2, 3, 4)
    assert shown(image)[0][3:] == ([1, 2, 3], [2, 3], [1])


def test_a_leader_outside_the_assignment_is_in_sync() -> None:
    image = image_of(streamlet(4, sources=(10, 40)), 3, 4)
    assert shown(image)[0][3:] == ([1, 2, 3], [4, 3], [1, 2])


def table_of(*records: VsegRecord) -> VlogTable:
    table = VlogTable()
    table.load(1, [Entry(record.key, record.encode(), 1) for record in records])
    return table


def vseg(
    owner: int, backups: tuple[int, ...], epoch: int = 0, end: int | None = None, seq: int = 1
) -> VsegRecord:
    copies = tuple(CopyTarget(node, "s") for node in backups)
    return VsegRecord(VsegId(epoch or 10 * owner, 0, seq), owner, "s", 3, 0, 0, end, copies)


@pytest.mark.parametrize(
    ("table", "isr"),
    [
        (table_of(), [1, 2, 3]),
        (table_of(vseg(1, (2, 4))), [1, 2, 3]),
        (table_of(vseg(1, (3,))), [1, 2]),
        (table_of(vseg(1, ())), [1]),
        (table_of(vseg(1, (), end=9)), [1, 2, 3]),  # closed: not where new records go
        (table_of(vseg(1, (), epoch=7)), [1, 2, 3]),  # of an earlier life
        (table_of(vseg(2, ())), [1, 2, 3]),  # somebody else's
        (table_of(vseg(1, (3,)), vseg(1, (), seq=2)), [1]),  # the worst of several
    ],
)
def test_in_sync_is_cut_to_the_copies_there_are(table: VlogTable, isr: list[int]) -> None:
    image = image_of(streamlet(1), 1, 2, 3)
    assert shown(image, table)[0][4] == isr


def test_a_short_leader_in_the_middle_stays() -> None:
    image = image_of(streamlet(3, sources=(30,)), 1, 2, 3)
    assert node_lists(image, image.streamlets[TOPIC][0], 3, {(3, 3): 1})[1] == [3]
    assert node_lists(image, image.streamlets[TOPIC][0], 3, {(3, 3): 2})[1] == [1, 3]


def test_the_memo_knows_no_shortage() -> None:
    """Bytes made while copies were short must not be served later, nor the other way round."""
    image = image_of(streamlet(1), 1, 2, 3)
    topic = image.topics["t"]
    full = metadata_wire.topic_entry(image, topic, 12)
    short = metadata_wire.topic_entry(image, topic, 12, {(1, 3): 1})
    assert full != short
    assert metadata_wire.topic_entry(image, topic, 12) == full
    assert metadata_wire.topic_entry(image_of(streamlet(1), 1, 2, 3), topic, 12, {(1, 3): 1}) == short
