"""The table of virtual segments: records, keys, and the fold of changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.metadata import (
    BrokerRecord,
    Change,
    CopyTarget,
    Entry,
    StoreError,
    StreamletRecord,
    TopicRecord,
    VlogTable,
    VsegId,
    VsegRecord,
)
from kproto.metadata.image import load_image
from kproto.metadata.records import RECOVERING
from kproto.metadata.vlogs import start_key, vseg_key, vseg_of_key

TOPIC = bytes(range(16))


def vseg(owner: int, vlog: int, seq: int, start: int = 0, end: int | None = None) -> VsegRecord:
    backups = (CopyTarget(2, "b" * 32), CopyTarget(3, "c" * 32))
    return VsegRecord(VsegId(owner, vlog, seq), 1, "a" * 32, 3, 0, start, end, backups)


@given(st.integers(0, 2**63), st.integers(0, 2**31), st.integers(0, 2**31))
def test_keys_come_back_and_sort_as_numbers(owner: int, vlog: int, seq: int) -> None:
    one = VsegId(owner, vlog, seq)
    assert vseg_of_key(vseg_key(one)) == one
    assert vseg_key(one) < vseg_key(VsegId(owner, vlog, seq + 1)) < vseg_key(VsegId(owner, vlog + 1, 0))


def test_operators_read_the_same_name_in_every_line() -> None:
    """Some lines had the tuple: VsegId(owner_epoch=258, vlog=3, seq=20)."""
    assert f"{VsegId(258, 3, 20)}" == "258/3/20"


def test_a_record_comes_back() -> None:
    short = vseg(5, 1, 2, 7, 7)._replace(shortened=True)
    for record in (vseg(5, 1, 1), vseg(5, 1, 2, 100, 200), vseg(5, 1, 2, 7, 7), short):
        assert VsegRecord.decode(record.key, record.encode()) == record
    assert vseg(5, 1, 2, 7, 7).empty
    assert not vseg(5, 1, 2, 7).empty
    assert [one.is_over for one in (vseg(5, 1, 2, 7, 7), short, short._replace(emptied=True))] == [1, 0, 1]
    assert vseg(5, 1, 2, 7).open


def test_the_table_is_the_fold_of_the_changes() -> None:
    table = VlogTable()
    first, second, other = vseg(5, 1, 1), vseg(5, 1, 2, 100), vseg(6, 1, 1)
    table.apply(Change(1, {first.key: first.encode(), other.key: other.encode()}, ()))
    closed = first._replace(end=100)
    table.apply(Change(2, {closed.key: closed.encode(), second.key: second.encode()}, ()))
    assert table.of_owner(5) == [closed, second]
    assert table.open_vsegs() == [second, other]
    table.apply(Change(3, {start_key(TOPIC, 3): b"17"}, (closed.key,)))
    assert table.of_owner(5) == [second]
    assert (table.log_start(TOPIC, 3), table.log_start(TOPIC, 4)) == (17, 0)
    table.apply(Change(4, {}, (second.key, start_key(TOPIC, 3))))
    assert (table.of_owner(5), table.open_vsegs(), table.log_start(TOPIC, 3)) == ([], [other], 0)
    assert table.revision == 4


LISTS = ((), (CopyTarget(2, "b"), CopyTarget(3, "c")), (CopyTarget(3, "c"), CopyTarget(2, "b")))
VSEGS = st.builds(VsegId, st.integers(5, 7), st.integers(1, 2), st.integers(1, 3))
VALUES = st.tuples(st.sampled_from(LISTS), st.none() | st.just(9), st.booleans())
CHANGES = st.lists(st.tuples(VSEGS, st.none() | VALUES))


@given(CHANGES)
def test_what_is_looked_up_is_what_a_look_at_all_finds(
    changes: list[tuple[VsegId, tuple[tuple[CopyTarget, ...], int | None, bool] | None]],
) -> None:
    """Opened, closed, given other copies, emptied and freed, in any order."""
    table = VlogTable()
    for revision, (number, value) in enumerate(changes, 1):
        puts, deletes = {}, (vseg_key(number),)
        if value is not None:
            backups, end, emptied = value
            denied = ((1, revision),) if revision % 3 == 0 else ()
            record = VsegRecord(number, 1, "a", 3, 0, 0, end, backups, emptied, denied=denied)
            puts, deletes = {record.key: record.encode()}, ()
        table.apply(Change(revision, puts, deletes))
    every = sorted(table.vsegs.values())
    assert table.open_vsegs() == [one for one in every if one.open]
    assert table.denied_vsegs() == [one for one in every if one.denied]
    assert sorted(table.owners) == sorted({one.id.owner_epoch for one in every})
    for owner in range(5, 8):
        assert table.of_owner(owner) == [one for one in every if one.id.owner_epoch == owner]
    closed = [one for one in every if not one.open and not one.emptied]
    assert set(table.copy_lists()) == {one.backups for one in closed}
    for backups in LISTS:
        assert table.closed_on(backups) == [one for one in closed if one.backups == backups]
    groups = [[table.vsegs[number] for number in group] for group in table.closed_alike()]
    assert sorted(one for group in groups for one in group) == closed
    kinds = [{(*one.id[:2], one.backups, one.unread, one.denied) for one in group} for group in groups]
    assert all(len(kind) == 1 for kind in kinds)
    assert len(set.union(set(), *kinds)) == len(groups), "no two groups are alike"


def test_fenced_brokers_and_what_moved_away() -> None:
    broker = BrokerRecord(7, 3, "host", 9092, None, "host", 10092, "d" * 32)
    table = VlogTable()
    table.apply(Change(1, {broker.fenced_key: broker.encode(), "moved/7": b"3"}, (broker.key,)))
    assert (table.fenced, table.moved_upto) == ({7: broker}, {7: 3})
    table.apply(Change(2, {broker.key: broker.encode()}, (broker.fenced_key,)))
    assert (table.fenced, table.moved_upto) == ({}, {7: 3})
    table.apply(Change(3, {"power-lost/7": b"5"}, ()))
    assert (table.power_lost_upto, table.moved_upto) == ({7: 5}, {7: 3})
    table.apply(Change(4, {}, ("power-lost/7",)))
    assert table.power_lost_upto == {}


def test_load_forgets_what_was_known() -> None:
    table = VlogTable()
    old, new = vseg(5, 1, 1), vseg(9, 2, 1)
    table.apply(Change(1, {old.key: old.encode()}, ()))
    table.load(8, [Entry(new.key, new.encode(), 8), Entry("topics/a", b"[]", 2)])
    assert (table.revision, table.open_vsegs(), table.of_owner(5)) == (8, [new], [])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (vseg(5, 1, 1).key, b"[1,"),
        (vseg(5, 1, 1).key, b"{}"),
        ("vsegs/5", vseg(5, 1, 1).encode()),
        (start_key(TOPIC, 3), b""),
        ("fenced/2", b"\xff"),
    ],
)
def test_a_store_that_cannot_be_read_is_told_in_one_line(key: str, value: bytes) -> None:
    with pytest.raises(StoreError, match=f"under '{key}' cannot be read") as caught:
        VlogTable().load(8, [Entry("topics/a", b"[]", 2), Entry(key, value, 8)])
    assert str(caught.value).endswith("restore the metadata from a backup")
    assert len(str(caught.value).splitlines()) == 1


def test_a_streamlet_with_sources_comes_back_and_old_records_are_read() -> None:
    record = StreamletRecord(TOPIC, 2, 1, 4, (1, 2, 3), sources=(5,))
    assert record.encode() == b"[1,4,[1,2,3],0,[5]]"
    assert StreamletRecord(TOPIC, 2, 1, 4, (1,)).encode() == b"[1,4,[1]]"
    moved = record.recovering(2)
    assert (moved.leader, moved.leader_epoch, moved.state, moved.sources) == (2, 5, RECOVERING, (5,))
    committed = moved.online(8)
    assert (committed.leader_epoch, committed.state, committed.sources) == (5, 0, (5, 8))
    assert committed.online(8).sources == (5, 8, 8), "its files went meanwhile: the next time is another"
    assert committed.online(8).online(8).sources == (5, 8, 8)


def test_what_replicas_it_had_is_stored_while_a_reassignment_is_under_way() -> None:
    records = (
        StreamletRecord(TOPIC, 0, 1, 4, (1, 2), was=(1,)),
        StreamletRecord(TOPIC, 1, 1, 4, (3,), sources=(5,), was=(1, 2)),
        StreamletRecord(TOPIC, 2, 1, 4, (3,), RECOVERING, (5,), (6,), (7,), (1, 2)),
    )
    assert records[0].encode() == b"[1,4,[1,2],0,[],[],[],[1]]"
    topic = TopicRecord("t", TOPIC, 3, 2, 1, {}, False)
    entries = [Entry(one.key, one.encode(), 2) for one in (topic, *records)]
    assert load_image(2, entries).streamlets[TOPIC] == records
    copied, alone = records[0].copied_by(5), records[1].alone(())
    assert (copied.was, alone.was, records[1].copied_by(5).was) == ((), (), (1, 2))


def test_who_gave_a_streamlet_away_is_known_until_it_leads_it_again_or_is_no_source() -> None:
    record = StreamletRecord(TOPIC, 2, 1, 4, (1, 2, 3), sources=(5, 8))
    given = record.handed_over(2, 8)
    assert (given.leader, given.leader_epoch, given.state, given.given) == (2, 5, RECOVERING, (8,))
    assert given.encode() == b"[2,5,[1,2,3],1,[5,8],[8]]"
    assert given.recovering(3).online(9).given == (8,)
    assert given.assigned_to((2, 3)).led_by(3).given == (8,)
    assert given.online(9).handed_over(1, 9).given == (8, 9)
    assert given.online(8).given == ()
    assert given.read_from((5,)).given == ()
    assert given != record.recovering(2)
    assert BrokerRecord.decode("brokers/7", b'[3,"host",9092,null]') == BrokerRecord(7, 3, "host", 9092, None)
