"""Topics whose acks are to wait for syncs when they have records already (rules 8 and 12c).

What was acknowledged before may be lost with the power until something was acknowledged since, and what has
copies until those are in closed virtual segments that backups have synced. So no power is lost before. From
then on everything that ever was acknowledged must be there.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kproto.controller import ConfigChange, ConfigOp, Controller, OpType, ResourceType
from kproto.errors import KafkaError
from kproto.replica.stored_file import file_name
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.virtual_log import VirtualLog

from .clients import Clients, Unanswered
from .media import is_unsynced, unsynced_names

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.metadata import MetadataImage

    from .faults import Faults
    from .world import Node, World

MESSAGES = "flush.messages"
LOOK_S = 0.02


class Late:
    """Sets flush.messages=1 some time after the start, and sees when it is wholly in force."""

    def __init__(self, world: World, clients: Clients, faults: Faults) -> None:
        self.world = world
        self.clients = clients
        self.faults = faults
        synced = world.plan.kind == "synced"
        self.late = {topic for topic in world.plan.topics if synced and MESSAGES not in topic.configs}
        self.seen: dict[tuple[str, Partition], int] = {}
        """How far a virtual log has to be durable, so that what a partition had before is synced."""
        world.power_may_go = not self.late

    async def run(self) -> None:
        """Until it is in force, or the faults end."""
        if not self.late:
            return
        end = self.world.loop.now + self.world.plan.seconds
        await asyncio.sleep(self.world.plan.late_s)
        while not self._is_set() and self.world.loop.now < end:
            await asyncio.sleep(LOOK_S)
            await self._set()
        while not self.world.power_may_go and self.world.loop.now < end:
            await asyncio.sleep(LOOK_S)
            self.world.power_may_go = self._is_in_force()
        if self.world.power_may_go:
            self.world.note("flush.messages=1 is in force")
            self.world.count("late flush.messages in force")
            if self.world.plan.outage:
                self.faults.power_loss_of_all()

    def _is_set(self) -> bool:
        return self._has(self.world.image)

    def _has(self, image: MetadataImage) -> bool:
        """A broker that has just started may not know the topics yet."""
        known = [image.topics.get(topic.name) for topic in self.late]
        return all(topic is not None and topic.configs.get(MESSAGES) == "1" for topic in known)

    async def _set(self) -> None:
        changes = [
            ConfigChange(ResourceType.TOPIC, topic.name, [ConfigOp(MESSAGES, OpType.SET, "1")])
            for topic in self.world.plan.topics
            if topic in self.late
        ]
        acting = self.world.acting()
        if acting is not None:

            async def work(broker: object) -> None:
                controller = acting[1]
                assert isinstance(controller, Controller)
                await controller.alter_configs(changes)

            try:
                await self.clients.ask(acting[0].node, work)
            except (KafkaError, Unanswered):
                self.world.count("late flush.messages refused")

    def _is_in_force(self) -> bool:
        nodes = self.world.nodes.values()
        return all(node.serving and self._knows(node) for node in nodes) and self._is_on_media()

    def _knows(self, node: Node) -> bool:
        """The broker has the config, and what it had of topics without copies is synced."""
        broker = node.broker
        assert broker is not None
        assert node.process is not None
        image, logs = broker._logs.leadership.image, broker._logs
        if image is None or not self._has(image):
            return False
        for topic in self.late:
            record = image.topics[topic.name]
            stream = logs.streams.get(record.topic_id)
            for index in range(record.partitions):
                partition = stream.partitions.get(index) if stream is not None else None
                leads = image.partition_streamlet(record, index).leader == node.number
                if partition is None:
                    if leads and topic.least == 1:
                        return False
                elif not self._is_synced(node, partition):
                    return False
        return True

    def _is_synced(self, node: Node, partition: Partition) -> bool:
        vlog, vlogs = partition.vlog, node.broker._vlogs  # type: ignore[union-attr]
        if not isinstance(vlog, VirtualLog):
            return False
        pusher = vlogs._of[vlog]
        if pusher.klass.policy is not FlushPolicy.SYNCED or partition in pusher.older:
            return False
        key = (node.process.name, partition)  # type: ignore[union-attr]
        return vlog.durable >= self.seen.setdefault(key, vlog.end)

    def _is_on_media(self) -> bool:
        """No copy that was acknowledged without a sync is in limbo, or torn, after a loss of power."""
        for record in self.world.table.vsegs.values():
            if record.policy == FlushPolicy.SYNCED or record.unread:
                continue
            if record.open or not record.backups:
                return False
            for target in record.backups:
                machine = self.world.machines[target.node_id]
                folder, name = f"{machine.root}/replicas", file_name(record.id)
                inode = machine.find(f"{folder}/{name}")
                if inode is None or name in unsynced_names(machine, folder):
                    return False
                if is_unsynced(inode, 0, len(inode.data)):
                    return False
        return True
