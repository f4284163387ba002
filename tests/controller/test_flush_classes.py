"""After a loss of all power, topics that always had flush.messages=1 come back by themselves, whatever else
was led by the same brokers (rules 8, 12c, 22)."""

from __future__ import annotations

import pytest

from kproto.controller import ConfigChange, ConfigOp, OpType, ResourceType, rules
from kproto.controller.config_changes import decide_alter
from kproto.controller.decision import Decision
from kproto.controller.giving_up import hopeless
from kproto.controller.leader_choice import losses
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.metadata.records import Floor, StreamletRecord, TopicRecord
from kproto.metadata.vlogs import VsegRecord
from kproto.vlog.classes import FlushPolicy

from .cluster_world import SETTINGS, World, cluster, no_owner_has_any

SYNC = {"flush.messages": "1"}
MEMORY, TIMED, SYNCED = FlushPolicy.MEMORY, FlushPolicy.TIMED, FlushPolicy.SYNCED


def alter(world: World, name: str, op: OpType, value: str | None = None, key: str = "flush.messages") -> None:
    change = ConfigChange(ResourceType.TOPIC, name, [ConfigOp(key, op, value)])
    assert world.commit(decide_alter(world.image, [change], SETTINGS)) == [None]


def opened(loose: dict[str, str] | None = None, safe: dict[str, str] | None = None) -> World:
    """Broker 1 leads two topics, and has a virtual log of each class open; all three brokers have copies."""
    world = cluster(3, loose=(1, 3, [1], loose or {}), safe=(1, 3, [1], SYNC if safe is None else safe))
    world.open(1, vlog=0, policy=MEMORY)
    world.open(1, vlog=1, policy=SYNCED)
    return world


def lose_power(world: World, back: tuple[int, ...] = (1, 2, 3)) -> None:
    """Of all; copies that no ack had synced are in limbo, journals, too."""
    for node in (1, 2, 3):
        world.fence(node)
    world.register(*back)
    for _ in range(4):
        world.now += 30
        for ask in world.plan().asks:
            synced = world.table.vsegs[ask.vseg].policy == SYNCED
            world.answer(ask, 70, limbo=not synced)
        world.close()


def names(world: World, records: list[StreamletRecord]) -> list[str]:
    return [world.image.topics_by_id[record.topic_id].name for record in records]


def unsynced(world: World) -> VsegRecord:
    (record,) = (record for record in world.table.vsegs.values() if record.policy == MEMORY)
    return record


def test_a_topic_that_always_synced_does_not_wait_for_what_others_may_have_lost() -> None:
    world = opened()
    lose_power(world)
    assigned = world.assign()
    assert names(world, assigned) == ["safe"]
    assert world.commit_all(assigned) == [True]
    assert unsynced(world).open


def test_the_loss_that_brings_back_the_others_is_none_of_it() -> None:
    world = opened()
    lose_power(world)
    world.commit_all(world.assign())
    assert losses(world.image, world.table, [world.streamlet("safe")]) == []
    wanted = losses(world.image, world.table, [world.streamlet("loose")])
    assert wanted == [unsynced(world).id]
    assert world.sealing.accept_loss(wanted) == [True]
    (closed,) = world.close()
    assert (closed.id, closed.end) == (wanted[0], 70)
    assert names(world, world.assign()) == ["loose"]


def test_closed_ones_without_a_copy_hold_up_nothing_that_always_synced() -> None:
    world = opened()
    record = unsynced(world)
    closed = record._replace(end=50, backups=())
    world.commit(Decision(None, {closed.key: closed.encode()}))
    lose_power(world, back=(2, 3))
    assert names(world, world.assign()) == ["safe"]
    denials = no_owner_has_any(world)
    never = hopeless(world.image, world.table, world.streamlet("loose"), denials)
    assert [vseg.id for vseg in never] == [record.id]
    assert hopeless(world.image, world.table, world.streamlet("safe"), denials) == []


def test_the_owner_has_still_its_copy_of_the_others() -> None:
    """It comes back later than its backups, one of which leads the topic that synced by then."""
    world = opened()
    lose_power(world, back=(2, 3))
    (record,) = world.assign()
    assert record.leader in (2, 3)
    assert world.table.moved_from == {(1, Floor(3, SYNCED), 0): 1}
    world.register(1)
    safe = next(vseg for vseg in world.table.vsegs.values() if vseg.policy == SYNCED)
    assert rules.owner_holds(world.image, world.table, unsynced(world))
    assert not rules.owner_holds(world.image, world.table, safe)


@pytest.mark.parametrize("how", ["it begins without", "it is taken away", "it is taken away for a while"])
def test_a_topic_that_did_not_always_sync_waits(how: str) -> None:
    world = opened(safe={} if how == "it begins without" else SYNC)
    if how != "it begins without":
        alter(world, "safe", OpType.DELETE)
    if how != "it is taken away":
        alter(world, "safe", OpType.SET, "1")
    lose_power(world)
    assert world.assign() == []


def test_the_weakest_policy_is_kept() -> None:
    world = cluster(3, t=(1, 3, [1], SYNC))
    policies = [world.image.topics["t"].weakest]
    alter(world, "t", OpType.SET, "7", "retention.ms")
    policies.append(world.image.topics["t"].weakest)
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (1, 2))]))
    policies.append(world.image.topics["t"].weakest)
    alter(world, "t", OpType.SET, "10")
    policies.append(world.image.topics["t"].weakest)
    alter(world, "t", OpType.SET, "1")
    policies.append(world.image.topics["t"].weakest)
    alter(world, "t", OpType.DELETE)
    policies.append(world.image.topics["t"].weakest)
    assert policies == [SYNCED, SYNCED, SYNCED, TIMED, TIMED, MEMORY]
    assert world.image.topics["t"].floor == Floor(2, MEMORY)


@pytest.mark.parametrize(
    ("configs", "policy"),
    [
        ({}, MEMORY),
        ({"flush.messages": "1", "flush.ms": "5"}, SYNCED),
        ({"flush.messages": "2"}, TIMED),
        ({"flush.ms": "5"}, TIMED),
        ({"flush.ms": str(2**63 - 1)}, MEMORY),
    ],
)
def test_only_the_own_configs_of_a_topic_count(configs: dict[str, str], policy: FlushPolicy) -> None:
    """Each broker may have its own defaults, and what they were when it started the controller does not know:
    a broker in the other class writes where it must not be overlooked."""
    world = cluster(3)
    for name in ("", "1"):
        sync = ConfigOp("log.flush.interval.messages", OpType.SET, "1")
        change = ConfigChange(ResourceType.BROKER, name, [sync])
        assert world.commit(decide_alter(world.image, [change], SETTINGS)) == [None]
    world.topic("t", 1, 3, configs=configs)
    assert world.image.topics["t"].weakest == policy


def test_a_default_of_all_brokers_that_is_taken_back_lets_nothing_be_overlooked() -> None:
    """It syncs because brokers do, then because of its own config, then because of neither."""
    world = cluster(3, t=(1, 3, [1]))
    for op in (OpType.SET, OpType.DELETE):
        change = ConfigChange(ResourceType.BROKER, "", [ConfigOp("log.flush.interval.messages", op, "1")])
        assert world.commit(decide_alter(world.image, [change], SETTINGS)) == [None]
        if op is OpType.SET:
            alter(world, "t", OpType.SET, "1")
            alter(world, "t", OpType.DELETE)
    world.open(1, vlog=0, policy=MEMORY)
    world.open(1, vlog=1, policy=SYNCED)
    lose_power(world)
    assert world.assign() == []


def test_the_stored_form_is_that_of_older_versions_as_long_as_nothing_syncs() -> None:
    topic = TopicRecord("t", bytes(16), 3, 2, 1, {}, False)
    old = topic.encode()
    assert old.endswith(b",{},0]")
    assert TopicRecord.decode(topic.key, old).weakest == MEMORY
    assert topic.with_copies(0, 3).encode().endswith(b",{},0,2]")
    for one in (topic, topic.with_copies(0, 3)):
        synced = one._replace(weakest=SYNCED)
        assert TopicRecord.decode(topic.key, synced.encode()) == synced
