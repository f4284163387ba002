"""A broker that ends in peace gives what it leads away while it is a member (rule 12b)."""

from __future__ import annotations

import pytest

from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.controller.missing import wanted_copies
from kproto.controller.retiring import Retired, decide_retire
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.records import ONLINE, RECOVERING
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.replica.takeover import sources_of
from tests.controller.cluster_world import World, cluster
from tests.controller.test_draining import drain


def retire(world: World, node: int, *closes: tuple[VsegRecord, int], epoch: int | None = None) -> Retired:
    epoch = world.epoch(node) if epoch is None else epoch
    ends = [(vseg.id, end) for vseg, end in closes]
    return world.commit(decide_retire(world.image, world.table, node, epoch, ends))


def leading(partitions: int = 3) -> tuple[World, VsegRecord]:
    """Broker 1 of four leads all of t; its open virtual segment 1 follows a closed one."""
    world = cluster(4, t=(partitions, 3, [1] * partitions))
    world.open(1, seq=0)
    return world, world.open(1, seq=1, start=500)


def test_others_lead_in_the_same_transaction_that_closes_its_virtual_segments() -> None:
    world, vseg = leading()
    epoch, revision = world.epoch(1), world.image.revision
    assert retire(world, 1, (vseg, 900)) == Retired(closed=True, given=3, more=False)
    assert world.image.revision == revision + 1
    assert world.table.vsegs[vseg.id].end == 900
    records = [world.streamlet("t", index) for index in range(3)]
    assert [record.leader for record in records] == [2, 3, 2], "of its replicas who leads the fewest"
    assert {(record.state, record.leader_epoch, record.given) for record in records} == {
        (RECOVERING, 1, (epoch,))
    }
    assert 1 in world.image.brokers
    floors = [world.image.topics["t"].floor]
    (read,) = sources_of(world.image, world.table, epoch, floors, given=True)
    assert [record.id.seq for record in read] == [0, 1]
    assert world.commit_all(records) == [True] * 3
    assert {world.streamlet("t", index).state for index in range(3)} == {ONLINE}


def test_the_files_of_who_left_are_no_copy() -> None:
    world, vseg = leading()
    retire(world, 1, (vseg, 900))
    assert {wanted_copies(world.image, world.table, one) for one in world.table.vsegs.values()} == {3}


def test_asking_again_changes_nothing() -> None:
    """The answer may have been lost."""
    world, vseg = leading()
    retire(world, 1, (vseg, 900))
    revision = world.image.revision
    decision = decide_retire(world.image, world.table, 1, world.epoch(1), [(vseg.id, 900)])
    assert decision.answer == Retired(closed=True, given=0, more=False)
    world.commit(decision)
    assert [world.streamlet("t", index).leader_epoch for index in range(3)] == [1, 1, 1]
    assert world.image.revision <= revision + 1


def test_nothing_is_given_while_a_virtual_segment_is_open_or_ends_elsewhere() -> None:
    """It may hold chunks that the next leader would not read."""
    world, vseg = leading()
    other = world.open(1, vlog=1)
    assert retire(world, 1, (vseg, 900)) == Retired(closed=True, given=0, more=False)
    assert world.table.vsegs[vseg.id].end == 900
    assert retire(world, 1, (vseg, 800), (other, 10)) == Retired(closed=False, given=0, more=False)
    assert [world.streamlet("t", index).leader for index in range(3)] == [1, 1, 1]
    assert not world.table.given_upto


def test_what_only_it_has_stays_with_it() -> None:
    """The last segment had no backups (18b); what is in virtual logs of other topics can be given."""
    world = cluster(3, t=(1, 3, [1]), u=(1, 2, [1]))
    two = world.open(1, vlog=0, copies=2)
    lonely = world.open(1, vlog=1, exclude=(2, 3))
    assert lonely.backups == ()
    assert retire(world, 1, (two, 10), (lonely, 20)).given == 0, "chunks of u may be in both"
    world = cluster(3, t=(1, 3, [1]), u=(1, 2, [1]))
    two = world.open(1, vlog=0, copies=2, exclude=(2, 3))
    three = world.open(1, vlog=1)
    assert retire(world, 1, (two, 10), (three, 20)).given == 1
    assert (world.streamlet("t").leader, world.streamlet("u").leader) == (2, 1)


def test_an_empty_last_segment_without_backups_holds_nothing_up() -> None:
    world = cluster(3, t=(1, 3, [1]))
    vseg = world.open(1, exclude=(2, 3))
    assert retire(world, 1, (vseg, 0)).given == 1


def test_what_somebody_else_lost_holds_it_up() -> None:
    """A closed segment of an earlier owner has no copy on a member: nobody could rebuild it now."""
    world, vseg = leading(1)
    first = world.table.vsegs[vseg.id._replace(seq=0)]._replace(backups=(CopyTarget(2, "wiped"),))
    change = first.key, first.encode()
    decision = decide_retire(world.image, world.table, 1, world.epoch(1), [])
    decision.puts.update([change])
    world.commit(decision)
    assert retire(world, 1, (vseg, 900)) == Retired(closed=True, given=0, more=False)


def test_many_streamlets_go_in_parts() -> None:
    many = PER_TRANSACTION + 20
    world, vseg = leading(many)
    first = retire(world, 1, (vseg, 900))
    assert first.more
    assert first.given < PER_TRANSACTION
    assert retire(world, 1, (vseg, 900)) == Retired(closed=True, given=many - first.given, more=False)
    assert 1 not in {world.streamlet("t", index).leader for index in range(many)}


def test_one_that_was_freed_between_two_parts_holds_nothing_up() -> None:
    """Its records were old, or its topic was deleted; the rest was not handed over, and nobody left."""
    many = PER_TRANSACTION + 20
    world, vseg = leading(many)
    other = world.open(1, vlog=1)
    first = retire(world, 1, (vseg, 900), (other, 10))
    assert first.more
    world.commit(Decision(None, {}, [other.key]))
    assert retire(world, 1, (vseg, 900), (other, 10)) == Retired(True, many - first.given, more=False)
    world.commit(Decision(None, {}, [one.key for one in world.table.of_owner(world.epoch(1))]))
    assert retire(world, 1, (vseg, 900), (other, 10)) == Retired(closed=True, given=0, more=False)


def test_what_only_it_has_stays_with_it_in_later_parts_too() -> None:
    """The virtual segment is closed by then, and no other broker has it."""
    many = PER_TRANSACTION + 20
    world = cluster(3, t=(many, 3, [1] * many), u=(1, 2, [1]))
    two = world.open(1, vlog=0, copies=2, exclude=(2, 3))
    freed, three = world.open(1, vlog=1), world.open(1, vlog=2)
    closes = (two, 10), (freed, 20), (three, 20)
    first = retire(world, 1, *closes)
    assert first.more
    world.commit(Decision(None, {}, [freed.key]))
    assert retire(world, 1, *closes) == Retired(True, many - first.given, more=False)
    assert world.streamlet("u").leader == 1


def test_who_is_drained_gets_nothing_while_others_can() -> None:
    world, vseg = leading(1)
    drain(world, 2)
    retire(world, 1, (vseg, 900))
    assert world.streamlet("t").leader == 3


def test_one_that_is_no_member_any_more_retires_nothing() -> None:
    world, vseg = leading()
    epoch = world.epoch(1)
    world.register(1)
    with pytest.raises(KafkaError) as raised:
        retire(world, 1, (vseg, 900), epoch=epoch)
    assert raised.value.code is ErrorCode.STALE_BROKER_EPOCH
    assert world.table.vsegs[VsegId(epoch, 0, 1)].open


def test_what_others_lead_is_not_touched() -> None:
    world = cluster(4, t=(2, 3, [1, 2]))
    vseg = world.open(1)
    assert retire(world, 1, (vseg, 900)).given == 1
    assert (world.streamlet("t", 1).leader, world.streamlet("t", 1).leader_epoch) == (2, 0)
