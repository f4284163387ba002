"""What clients ask of the controller and must not get: topics, partitions and configs that cannot be."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from kproto.controller import ConfigChange, ConfigOp, NewPartitions, NewTopic, OpType, ResourceType
from kproto.controller.names import OFFSETS_TOPIC, PROHIBITED_TOPIC
from kproto.controller.topics import PARTITIONS_PER_REQUEST

if TYPE_CHECKING:
    from kproto.controller import Controller

    from .world import World

MANY = PARTITIONS_PER_REQUEST + 1
SET, TOPIC, BROKER = OpType.SET, ResourceType.TOPIC, ResourceType.BROKER
TOPICS: tuple[NewTopic, ...] = (
    NewTopic("", 1, 1),
    NewTopic("a b", 1, 1),
    NewTopic(PROHIBITED_TOPIC, 1, 1),
    NewTopic("three", 1, 1),
    NewTopic("never", 0, 1),
    NewTopic("never", 1, 0),
    NewTopic("never", 1, 9),
    NewTopic("never", MANY, 1),
    NewTopic("never", 1, 1, (), {"nonsense": "1"}),
    NewTopic("never", 1, -1, ((0, (1,)),)),
    NewTopic("never", assignments=((1, (1,)),)),
    NewTopic("never", assignments=((0, ()),)),
    NewTopic("never", assignments=((0, (1, 1)),)),
    NewTopic("never", assignments=((0, (99,)),)),
    NewTopic("never", assignments=((0, (1, 2)), (1, (1,)))),
    NewTopic("never", assignments=((0, (1,)), (1, (2,))), configs={"kproto.active.groups": "2"}),
    NewTopic("never", assignments=tuple((index, (1,)) for index in range(MANY))),
)
PARTITIONS: tuple[NewPartitions, ...] = (
    NewPartitions("nobody", 3),
    NewPartitions(OFFSETS_TOPIC, 9),
    NewPartitions("three", 0),
    NewPartitions("three", 1),
    NewPartitions("three", MANY + 9),
    NewPartitions("three", 9, [(1, 2, 3)]),
    NewPartitions("three", 4, [()]),
    NewPartitions("three", 4, [(1, 2, 99)] * 3),
)
CONFIGS: tuple[ConfigChange, ...] = (
    ConfigChange(TOPIC, "", [ConfigOp("retention.ms", SET, "1")]),
    ConfigChange(TOPIC, "a b", [ConfigOp("retention.ms", SET, "1")]),
    ConfigChange(TOPIC, "nobody", [ConfigOp("retention.ms", SET, "1")]),
    ConfigChange(TOPIC, "three", [ConfigOp("retention.ms", SET, "soon")]),
    ConfigChange(TOPIC, "three", [ConfigOp("retention.ms", SET, None)]),
    ConfigChange(TOPIC, "three", [ConfigOp("retention.ms", OpType.APPEND, "1")]),
    ConfigChange(TOPIC, "three", [ConfigOp("retention.ms", 9, "1")]),
    ConfigChange(TOPIC, "three", [ConfigOp("nonsense", SET, "1")], True),
    ConfigChange(TOPIC, "three", [ConfigOp("kproto.active.groups", SET, "7")]),
    ConfigChange(TOPIC, "three", [ConfigOp("retention.ms", SET, "1"), ConfigOp("retention.ms", SET, "2")]),
    ConfigChange(BROKER, "two", [ConfigOp("kproto.direct.bytes", SET, "1")]),
    ConfigChange(BROKER, "99", [ConfigOp("kproto.direct.bytes", SET, "1")]),
    ConfigChange(BROKER, "", [ConfigOp("no such thing", SET, "1")]),
    ConfigChange(BROKER, "", [ConfigOp("node.id", SET, "1")]),
    ConfigChange(BROKER, "", [ConfigOp("kproto.direct.bytes", SET, "many")]),
    ConfigChange(ResourceType.BROKER_LOGGER, "1", [ConfigOp("kproto", SET, "DEBUG")]),
)


async def ask(world: World, controller: Controller, random: Random) -> None:
    """Some of these in one request."""
    what = random.choice((TOPICS, PARTITIONS, CONFIGS))
    some: list[Any] = random.sample(what, random.randint(1, 4))
    errors: list[object]
    if what is TOPICS:
        errors = [outcome.error for outcome in await controller.create_topics(some)]
    elif what is PARTITIONS:
        errors = [outcome.error for outcome in await controller.create_partitions(some)]
    else:
        errors = list(await controller.alter_configs(some))
    if None in errors:
        world.failed(f"{some} is nothing that could be done: {errors}")
    world.count("requests that must be refused", len(errors))
