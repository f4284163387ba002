"""Planned moves while everything else goes on (rule 12b): other replicas, other leaders, again and again."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from kproto.controller.moves import Wish, decide_moves
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.errors import KafkaError

if TYPE_CHECKING:
    from .world import World


class Moves:
    """Moves of one seed, ordered at the controller."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.random = Random(f"moves {world.seed}")
        self.pace = self.random.choice((0.05, 0.2, 0.8))

    async def run(self) -> None:
        """Until the faults end."""
        end = self.world.loop.now + self.world.plan.seconds
        while self.world.loop.now < end:
            await asyncio.sleep(2 * self.pace * self.random.random())
            self.move()

    def move(self) -> None:
        """Other leaders, or other replicas, for some partitions of a topic with copies."""
        acting = self.world.acting()
        if acting is None:
            return
        process, controller = acting
        topics = [one for one in self.world.plan.topics if one.copies > 1]
        topic = self.random.choice(topics)
        some = self.random.sample(range(topic.partitions), self.random.randint(1, topic.partitions))
        numbers = list(self.world.nodes)
        if self.random.random() < 0.5:
            record = controller.image.topics.get(topic.name)
            if record is None:
                return
            copies = {
                index: len(controller.image.partition_streamlet(record, index).replicas) for index in some
            }
            wanted = [
                NewReplicas(topic.name, index, tuple(self.random.sample(numbers, copies[index])))
                for index in some
            ]
            process.spawn(self._reassign(controller, wanted))
        else:
            targets = [(index, self.random.choice(numbers)) for index in some]
            process.spawn(self._lead(controller, topic.name, targets))

    async def _reassign(self, controller: Any, wanted: list[NewReplicas]) -> None:
        try:
            await controller.decide(lambda: decide_reassign(controller.image, controller.table, wanted))
        except KafkaError:
            return
        self.world.count("reassignment", len(wanted))

    async def _lead(self, controller: Any, name: str, targets: list[tuple[int, int]]) -> None:
        topic = controller.image.topics.get(name)
        if topic is None:
            return
        wishes = [Wish(topic.topic_id, index, target) for index, target in targets]
        try:
            moves = await controller.decide(lambda: decide_moves(controller.image, controller.table, wishes))
        except KafkaError:
            return
        self.world.count("move", len(moves))
