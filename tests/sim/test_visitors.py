"""What visitors ask for, where a seed that shows it is rare."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from kproto.controller import NewTopic
from kproto.errors import ErrorCode, KafkaError

from .clients import Clients
from .plan import plan_of
from .visitors import Visitors
from .world import World

ROUNDS = 300


@pytest.mark.parametrize("seed", range(3))
def test_a_visitors_topic_never_has_as_many_copies_as_brokers_say(seed: int) -> None:
    """That is one: where disks are lost, what was acknowledged would be lost with it (seed 923591)."""
    world = World(seed, plan_of(seed))
    visitors = Visitors(world, Clients(world))
    asked: list[NewTopic] = []

    class Acting:
        def create_topics(self, topics: list[NewTopic], **_: Any) -> None:
            asked.extend(topics)
            raise KafkaError(ErrorCode.NOT_CONTROLLER)

    async def decide(work: Any) -> None:
        work(Acting())

    visitors._decide = decide  # type: ignore[method-assign]

    async def create() -> None:
        for _ in range(ROUNDS):
            with contextlib.suppress(KafkaError):
                await visitors.create()
            visitors.visits.clear()

    asyncio.run(create())
    world.close()
    assert len(asked) >= ROUNDS
    assert any(topic.assignments for topic in asked)
    assert all(topic.assignments or topic.replication_factor > 0 for topic in asked)
