"""Operators: elections, drained brokers, reassignments that are taken back, figures, and requests that make
no sense. What they change is as before when the faults end, but for how many copies partitions have, and
where the only one is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TYPE_CHECKING, Any

from kproto.controller import ConfigChange, ConfigOp, OpType, ResourceType
from kproto.controller.leader_choice import (
    ElectionType,
    all_partitions,
    decide_unregister,
    elect,
    examine,
)
from kproto.controller.reassignment import NewReplicas, decide_reassign, ongoing
from kproto.controller.rules import DRAIN
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.records import parse_value

from . import rubbish
from .clients import Clients, Unanswered, services_of
from .loop import RUNNING

if TYPE_CHECKING:
    from kproto.broker import Broker
    from kproto.controller import Controller
    from kproto.controller.decision import Decision
    from kproto.metadata import StreamletRecord

    from .world import World

SYNCS = (("flush.messages", "1"), ("flush.messages", "3"), ("flush.ms", "100"))
NONSENSE: tuple[tuple[str, Any], ...] = (
    ("no such thing", {}),
    ("open_vseg", []),
    ("open_vseg", {"vlog": "one"}),
    ("open_vseg", {"vlog": 0, "seq": 1 << 40}),
    ("commit", {"streamlets": [["zz", 0, 0]]}),
    ("commit", {"streamlets": [[1]]}),
    ("commit", {"streamlets": [["00" * 16, 0, 0]]}),
    ("starts", {"starts": 3}),
    ("unneeded", {"vsegs": [[1, 2, 3]], "revision": "x"}),
    ("auto_create", {"names": [7]}),
    ("accept_loss", {"vsegs": [[1 << 40, 2, 3]]}),
    ("disown", {"vsegs": [[1 << 70, 1, 1]]}),
    ("recoveries", {}),
    ("producer_ids", {}),
)
"""What a broker may propose that nobody should do anything about."""


class Operators:
    """All operators of one seed."""

    def __init__(self, world: World, clients: Clients) -> None:
        self.world = world
        self.clients = clients
        self.random = Random(f"operators {world.seed}")
        self.there = self.random.random() < 0.5
        self.drained: set[int] = set()
        self.choices = Random(f"copies {world.seed}")
        single = [topic.name for topic in world.plan.topics if topic.copies == 1]
        self.single = single if self.choices.random() < 0.5 else []
        """Topics of one copy that are to have more, for a while."""
        self.numbers = Random(f"numbers {world.seed}")
        self.varied = [topic for topic in world.plan.topics if topic.fewest]
        """Topics whose partitions are to have different numbers of copies."""

    async def run(self) -> None:
        """Until the faults end; then no broker is drained any more."""
        await asyncio.gather(self._run(), self.change_copies(), self.change_numbers())

    async def change_numbers(self) -> None:
        """Have other numbers of copies of some partitions of a topic, and take that back."""
        world = self.world
        end = world.loop.now + world.plan.seconds
        while self.varied and world.loop.now < end and self.clients.running:
            await asyncio.sleep(self.numbers.choice((0.05, 0.5, 2.0)) * self.numbers.random())
            await self._try(self._other_numbers)
            if self.numbers.random() < 0.4:
                await asyncio.sleep(self.numbers.choice((0.0, 0.3, 1.0)) * self.numbers.random())
                await self._try(self._numbers_back)

    async def _other_numbers(self) -> None:
        random, nodes = self.numbers, list(self.world.nodes)
        topic = random.choice(self.varied)
        some = random.sample(range(topic.partitions), random.randint(1, topic.partitions))
        wanted = [
            NewReplicas(topic.name, index, tuple(random.sample(nodes, random.randint(topic.fewest, 3))))
            for index in some
        ]

        async def work(controller: Controller) -> set[int]:
            await self._reassign(controller, wanted)
            image = controller.image
            return {len(one.replicas) for one in image.streamlets[image.topics[topic.name].topic_id]}

        self.world.count("other numbers of copies", len(wanted))
        self.world.count("different numbers of copies", len(await self._decide(work)) > 1)

    async def _numbers_back(self) -> None:
        """What is under way is as it was: the replicas that there were are those again."""
        topic = self.numbers.choice(self.varied)

        async def work(controller: Controller) -> int:
            def decide() -> Decision[list[KafkaError | None]]:
                image = controller.image
                records = [one for one in image.streamlets[image.topics[topic.name].topic_id] if one.was]
                wanted = [NewReplicas(topic.name, one.index, None) for one in records]
                decision = decide_reassign(image, controller.table, wanted)
                for old in records:
                    new = parse_value(decision.puts[old.key])
                    if new[2] != [*old.was]:
                        self.world.failed(f"{old} was cancelled, and is to be {new}")
                return decision

            answers = await controller.decide(decide)
            return len(answers)

        self.world.count("numbers of copies taken back", await self._decide(work))

    async def change_copies(self) -> None:
        """Have the first copies of a topic made, and cancel that, or have it in one copy again, some time
        later; have the only copy somewhere else."""
        world = self.world
        end = world.loop.now + world.plan.seconds
        while self.single and world.loop.now < end and self.clients.running:
            await asyncio.sleep(self.choices.choice((0.05, 0.5, 2.0)) * self.choices.random())
            await self._try(self._more_copies)
            await asyncio.sleep(self.choices.choice((0.0, 0.3, 2.0)) * self.choices.random())
            await self._try(self._one_copy if self.choices.random() < 0.4 else self._elsewhere)
            if self.choices.random() < 0.5:
                await asyncio.sleep(self.choices.choice((0.3, 2.0)) * self.choices.random())
                await self._try(self._elsewhere)

    async def _more_copies(self) -> None:
        name = self.choices.choice(self.single)
        chance = self.choices.random()

        async def work(controller: Controller) -> None:
            wanted = []
            for index in range(controller.image.topics[name].partitions):
                leader = controller.image.partition_streamlet(controller.image.topics[name], index).leader
                others = [node for node in self.world.nodes if node != leader]
                wanted.append(NewReplicas(name, index, (leader, *others[: 1 + (chance < 0.5)])))
            await self._reassign(controller, wanted)

        await self._decide(work)
        self.world.count("first copies are wanted")

    async def _one_copy(self) -> None:
        name = self.single[0]

        async def work(controller: Controller) -> None:
            topic = controller.image.topics[name]
            wanted = [NewReplicas(name, index, None) for index in range(topic.partitions)]
            before: list[StreamletRecord] = []

            def decide() -> Decision[list[KafkaError | None]]:
                before[:] = controller.image.streamlets[topic.topic_id]
                return decide_reassign(controller.image, controller.table, wanted)

            answers = await controller.decide(decide)
            after = controller.image.streamlets[topic.topic_id]
            if any(
                error is None and new.leader_epoch <= old.leader_epoch and not old.sources
                for error, old, new in zip(answers, before, after, strict=True)
            ):
                self.world.failed(f"what was pushed for {name} is not void: {after}")

        await self._decide(work)
        self.world.count("first copies are cancelled")

    async def _elsewhere(self) -> None:
        """One copy of each partition, wherever."""
        name, targets = self.single[0], self.choices.sample(list(self.world.nodes), 3)

        async def work(controller: Controller) -> None:
            topic = controller.image.topics[name]
            wanted = [NewReplicas(name, index, (targets[index % 3],)) for index in range(topic.partitions)]
            await self._reassign(controller, wanted)

        await self._decide(work)
        self.world.count("one copy is wanted")

    async def _reassign(self, controller: Controller, wanted: list[NewReplicas]) -> None:
        """Raises what the controller says of any partition."""
        answers = await controller.decide(lambda: decide_reassign(controller.image, controller.table, wanted))
        for error in answers:
            if error is not None:
                raise error

    async def _run(self) -> None:
        if not self.there:
            return
        world = self.world
        end = world.loop.now + world.plan.seconds
        doings = (
            *(self.elect, self.drain, self.nonsense, self.take_back, self.figures, self.unregister),
            *(self.accept, self.forget, self.change_class, self.offsets, self.rubbish, self.rubbish),
        )
        while world.loop.now < end and self.clients.running:
            await asyncio.sleep(0.4 * self.random.random())
            await self._try(self.random.choice(doings))
        while self.drained and not world.hopeless:
            await self._try(self._undrain)
            await asyncio.sleep(0.1)

    async def _try(self, doing: Callable[[], Awaitable[object]]) -> None:
        try:
            await doing()
        except (KafkaError, Unanswered) as error:
            code = error.code.name if isinstance(error, KafkaError) else "unanswered"
            self.world.count(f"operators: {code}")

    async def _decide(self, work: Callable[[Controller], Awaitable[Any]]) -> Any:
        acting = self.world.acting()
        if acting is None:
            raise Unanswered("there is no controller")
        process, controller = acting
        return await self.clients.ask(process.node, lambda _: work(controller))

    async def elect(self) -> None:
        """Preferred leaders, of all partitions; whether an unclean election is needed."""

        async def work(controller: Controller) -> int:
            names = [*all_partitions(controller.image), ("nobody", 0)]
            for name in names:
                examine(controller.image, ElectionType.UNCLEAN, name)
            answers = await elect(controller, ElectionType.PREFERRED, names, 0.5)
            return sum(answer is None for answer in answers)

        self.world.count("elected", await self._decide(work))

    async def accept(self) -> None:
        """Everything is to be led, whatever that costs, unless who is away may have it: all come back, and
        lose nothing, where only processes die."""

        async def work(controller: Controller) -> int:
            names = all_partitions(controller.image)
            answers = await elect(controller, ElectionType.UNCLEAN, names, 0.2, named=False)
            return sum(answer is None for answer in answers)

        if self.world.plan.kind == "kills":
            self.world.count("elected, unclean or not", await self._decide(work))

    async def change_class(self) -> None:
        """How often a topic is synced, while it is in use: no matter where only processes die."""
        name, value = self.random.choice((*SYNCS, *SYNCS, ("flush.messages", None)))
        topic = self.random.choice(self.world.plan.topics)
        ops = [ConfigOp(name, OpType.DELETE if value is None else OpType.SET, value)]
        if self.world.plan.kind == "kills":
            change = ConfigChange(ResourceType.TOPIC, topic.name, ops)
            (error,) = await self._decide(lambda one: one.alter_configs([change]))
            if error is not None:
                raise error
            self.world.count("another class")

    async def rubbish(self) -> None:
        """Brokers are asked what makes no sense, or once more what made sense."""
        what = self.random.choice((rubbish.send, rubbish.send, rubbish.peek, rubbish.repeat, rubbish.repeat))
        for listener in list(self.world.network.listeners.values()):
            if listener.process.state is RUNNING:
                what(self.world, listener, self.random)

    async def offsets(self) -> None:
        """The topic of groups' offsets, with as many copies as there are brokers at first."""

        async def work(controller: Controller) -> None:
            await controller.ensure_offsets_topic()

        if self.world.plan.kind == "kills" and self.random.random() < 0.5:
            await self._decide(work)
            self.world.count("offsets topic")

    async def forget(self) -> None:
        """A broker that is away is not registered any more; it will be, when it comes back. Nothing is lost
        but what else its journal alone would tell."""
        gone = sorted(self.world.table.fenced)
        if not gone or self.world.plan.kind != "kills":
            return
        number = self.random.choice(gone)

        async def work(controller: Controller) -> None:
            await controller.decide(lambda: decide_unregister(controller.image, controller.table, number))

        await self._decide(work)
        self.world.count("unregistered")

    async def unregister(self) -> None:
        """Of brokers that are there, or never were: refused."""
        number = self.random.choice([99, *self.world.nodes])

        async def work(controller: Controller) -> None:
            def decision() -> Any:
                if number != 99 and number not in controller.image.brokers:
                    raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "it may have died while this waited")
                decided = decide_unregister(controller.image, controller.table, number)
                self.world.failed(f"broker {number} is alive and was unregistered")
                return decided

            if number in controller.image.brokers or number == 99:
                await controller.decide(decision)

        await self._decide(work)

    async def drain(self) -> None:
        """Have a broker give away everything, or let it be as before."""
        if self.drained:
            await self._undrain()
        elif len(self.world.nodes) > 3:
            number = self.random.choice(list(self.world.nodes))
            self.drained.add(number)
            await self._set(number, OpType.SET)
            self.world.count("drained")

    async def _undrain(self) -> None:
        for number in sorted(self.drained):
            await self._set(number, OpType.DELETE)
            self.drained.discard(number)

    async def _set(self, number: int, op: OpType) -> None:
        change = ConfigChange(ResourceType.BROKER, str(number), [ConfigOp(DRAIN, op, "true")])
        (error,) = await self._decide(lambda one: one.alter_configs([change]))
        if error is not None:
            raise error

    async def take_back(self) -> None:
        """Other replicas for some partitions, and at once the old ones again."""
        topic = self.random.choice([one for one in self.world.plan.topics if one.copies > 1])
        members = tuple(self.random.sample(list(self.world.nodes), topic.copies))
        index = self.random.randrange(topic.partitions + 1)
        wanted = [NewReplicas(topic.name, index, members), NewReplicas(topic.name, 0, (*members[1:], 99))]
        cancelled = [NewReplicas(topic.name, index, None)]

        async def work(controller: Controller) -> None:
            for what in (wanted, cancelled):
                await controller.decide(
                    lambda what=what: decide_reassign(controller.image, controller.table, what)  # type: ignore[misc]
                )
                list(ongoing(controller.image, controller.table, None))

        await self._decide(work)
        self.world.count("reassigned and taken back")

    async def nonsense(self) -> None:
        """Proposals that nobody makes."""
        kind, args = self.random.choice(NONSENSE)

        async def work(controller: Controller) -> None:
            brokers = list(controller.image.brokers.items())
            if not brokers:  # the controller is the first to come
                return
            node_id, broker = self.random.choice(brokers)
            epoch = broker.epoch - (self.random.random() < 0.2)
            await controller.proposals.handle(node_id, epoch, kind, args)

        await self._decide(work)

    async def figures(self) -> None:
        """Sizes of partitions, virtual logs and recoveries, as tools show them."""
        number = self.random.choice(list(self.world.nodes))

        async def work(broker: Broker) -> None:
            services = services_of(broker)
            image = services.image()
            for topic in image.topics.values():
                for index in range(topic.partitions):
                    if image.partition_streamlet(topic, index).leader == number:
                        try:
                            services.logs.size_bytes(topic.topic_id, index)
                        except KafkaError as error:
                            if error.code is not ErrorCode.NOT_LEADER_OR_FOLLOWER:
                                raise
            broker._vlogs.state()
            assert broker._member is not None
            broker._member.recovering()

        await self.clients.ask(number, work)
        self.world.count("figures")
