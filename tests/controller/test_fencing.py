"""Fences and registrations: one key decides, everything else is derived (rules 1, 2, 3, 16, 19, 19b)."""

from __future__ import annotations

from kproto.controller import rules
from kproto.controller.fencing import decide_fence
from kproto.controller.registration import Registration, decide_register
from kproto.metadata.records import streamlet_key

from .cluster_world import cluster


def test_a_fence_is_one_transaction_on_the_brokers_key() -> None:
    world = cluster(3, t=(100, 3, [1] * 100))
    world.open(1)
    broker = world.image.brokers[1]
    decision = decide_fence(world.image, 1, 1)
    assert decision.deletes == ["brokers/1"]
    assert decision.puts == {"fenced/1": broker.encode()}
    world.commit(decision)
    assert world.table.fenced == {1: broker}
    assert 1 not in world.image.brokers
    assert all(
        rules.is_due(world.image, record) for record in world.image.streamlets[(1).to_bytes(16, "big")]
    )
    assert all(rules.is_sealing(world.image, vseg) for vseg in world.table.open_vsegs())


def test_only_the_epoch_that_is_meant_is_fenced_and_only_once() -> None:
    world = cluster(2)
    assert not decide_fence(world.image, 1, 7).writes
    world.register(1)
    assert decide_fence(world.image, 1, 1).answer is None
    world.fence(1)
    assert decide_fence(world.image, 1, 3).answer is None


def test_a_broker_that_comes_back_is_a_member_under_a_new_epoch() -> None:
    world = cluster(2)
    world.fence(2)
    assert world.register(2).epoch == 3
    assert world.table.fenced == {}
    assert world.table.moved_upto == {}


def test_registering_with_another_directory_gives_up_the_old_files() -> None:
    """Rule 3: at once, and after a fence, too."""
    world = cluster(3)
    world.register(2, store="new")
    assert world.table.moved_upto == {2: 2}
    world.fence(3)
    world.register(3, store="other")
    assert world.table.moved_upto == {2: 2, 3: 3}


def test_streamlets_of_one_copy_stay_with_their_broker_as_ever() -> None:
    """Rules 2 and 18b; those with more copies are not touched: their recovery follows by derivation."""
    world = cluster(2, single=(2, 1, [1, 2]), many=(1, 2, [1]))
    many = world.streamlet("many")
    world.fence(1)
    assert world.streamlet("single").leader == 1
    assert not rules.is_due(world.image, world.streamlet("single"))
    registration = Registration(1, "h", 1, None, "i", 2, "store1")
    decision = decide_register(world.image, world.table, registration, world.last_epoch)
    single = streamlet_key(world.image.topics["single"].topic_id, 0)
    assert [key for key in decision.puts if key.startswith("streamlets/")] == [single]
    world.commit(decision)
    assert world.streamlet("single").leader_epoch == 1
    assert world.streamlet("single", 1).leader_epoch == 0
    assert world.streamlet("many") == many
    assert rules.is_due(world.image, many)


def test_a_second_registration_supersedes_the_first() -> None:
    """Its answer may have been lost."""
    world = cluster(1)
    first = world.register(2)
    second = world.register(2)
    assert (first.epoch, second.epoch) == (2, 3)
    assert rules.is_current(world.image, 2, 3)
    assert not rules.is_current(world.image, 2, 2)
