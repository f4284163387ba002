"""Replicas of a partition are in racks of their own as far as there are such, whoever chose them."""

from __future__ import annotations

from kproto.controller.config_changes import ConfigChange, ConfigOp, OpType, ResourceType, decide_alter
from kproto.controller.draining import decide_replacements, replacements
from kproto.controller.reassignment import more_internal_copies
from kproto.controller.topics import NewPartitions, decide_create_partitions

from .cluster_world import SETTINGS, World


def in_racks(**brokers: str) -> World:
    """Brokers by name, ``b1="a"``: broker 1 is in rack a."""
    world = World()
    for name, rack in brokers.items():
        world.register(int(name.removeprefix("b")), rack=rack)
    return world


def racks(world: World, replicas: tuple[int, ...] | None) -> str:
    """The racks of the replicas, in the order of their names."""
    return "".join(sorted(world.image.brokers[node].rack or "-" for node in replicas or ()))


def test_new_partitions_have_a_replica_in_each_rack() -> None:
    world = in_racks(b1="a", b2="a", b3="b", b4="b", b5="c", b6="c")
    world.topic("t", 24, 3)
    world.topic("two", 24, 2)
    request = NewPartitions("t", 48)
    (outcome,) = world.commit(decide_create_partitions(world.image, [request], {}))
    assert outcome.error is None
    assert {racks(world, world.streamlet("t", index).replicas) for index in range(48)} == {"abc"}
    assert {racks(world, world.streamlet("two", index).replicas) for index in range(24)} <= {"ab", "ac", "bc"}
    world.topic("four", 24, 4)
    found = {racks(world, world.streamlet("four", index).replicas) for index in range(24)}
    assert found <= {"aabc", "abbc", "abcc"}


def test_racks_of_different_sizes() -> None:
    world = in_racks(b1="a", b2="b", b3="c", b4="a", b5="a")
    world.topic("t", 40, 3)
    assert {racks(world, world.streamlet("t", index).replicas) for index in range(40)} == {"abc"}


def test_more_replicas_of_internal_topics_come_to_other_racks() -> None:
    world = in_racks(b1="a", b2="a", b3="a", b4="b", b5="c")
    topic_id = world.topic("t", 6, 1, [1, 2, 3, 4, 5, 1])
    inner = world.image.topics["t"]._replace(internal=True)
    world.image.topics["t"] = inner  # type: ignore[index]
    world.image.topics_by_id[topic_id] = inner  # type: ignore[index]
    wanted = more_internal_copies(world.image, {1, 2, 3, 4, 5}, 3, ())
    assert [racks(world, each.replicas) for each in wanted] == ["abc"] * 6


def test_who_replaces_a_drained_broker_is_in_its_rack_or_one_without_a_replica() -> None:
    world = in_racks(b1="a", b2="b", b3="c", b4="a", b5="b")
    world.topic("t", 40, 3)
    ops = [ConfigOp("kproto.drain", OpType.SET, "true")]
    change = ConfigChange(ResourceType.BROKER, "2", ops)
    assert world.commit(decide_alter(world.image, [change], SETTINGS)) == [None]
    wanted = replacements(world.image, 100)
    assert wanted
    world.commit(decide_replacements(world.image, world.table, wanted))
    for index in range(40):
        replicas = world.streamlet("t", index).replicas
        assert 2 not in replicas
        assert racks(world, replicas) == "abc"
