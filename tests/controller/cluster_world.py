"""A cluster as the pure decisions see it: image and table, one committed decision after the other."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from kproto.config import load
from kproto.controller import NewTopic, TopicRef
from kproto.controller.decision import Decision
from kproto.controller.denials import Denials
from kproto.controller.fencing import decide_fence
from kproto.controller.recovery import Attempt, decide_assign, decide_commit, due_streamlets, led_now
from kproto.controller.registration import Registration, decide_register
from kproto.controller.sealing import Ask, Sealing, SealPlan, decide_close
from kproto.controller.topics import decide_create, decide_delete
from kproto.controller.vsegs import Opening, decide_open_vseg
from kproto.metadata import BrokerRecord, Change, MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.replica.messages import Sealed

Answer = TypeVar("Answer")
SETTINGS = load()
STALL = 0.5
PATIENCE = 10.0


class World:
    """Every method decides on the newest image and table and commits at once."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self.table = VlogTable()
        self.last_epoch = 0
        self.sealing = Sealing(STALL, PATIENCE)
        self.now = 100.0
        self.sent: dict[tuple[VsegId, CopyTarget], Ask] = {}
        self.told: dict[tuple[VsegId, CopyTarget], Sealed] = {}
        self._topic_ids = itertools.count(1)

    def commit(self, decision: Decision[Answer]) -> Answer:
        if decision.writes:
            change = Change(self.image.revision + 1, decision.puts, tuple(decision.deletes))
            self.image = self.image.apply(change)
            self.table.apply(change)
        return decision.answer

    def register(
        self, *nodes: int, store: str = "", rack: str | None = None, power_lost: bool = False
    ) -> BrokerRecord:
        """Register brokers in order; each has its own data directory unless ``store`` says which."""
        for node in nodes:
            registration = Registration(
                node, f"h{node}", 9092, rack, f"i{node}", 19092, store or f"store{node}", power_lost
            )
            broker = self.commit(decide_register(self.image, self.table, registration, self.last_epoch))
            self.last_epoch = broker.epoch
        return broker

    def epoch(self, node: int) -> int:
        return self.image.brokers[node].epoch

    def fence(self, node: int) -> None:
        assert self.commit(decide_fence(self.image, node, self.epoch(node))) is not None

    def topic(
        self,
        name: str,
        partitions: int,
        copies: int,
        leaders: Sequence[int] = (),
        configs: Mapping[str, str | None] | None = None,
    ) -> bytes:
        """Create a topic; with ``leaders``, one per partition, the others follow in order."""
        topic_id = next(self._topic_ids).to_bytes(16, "big")
        new = NewTopic(name, partitions, copies, configs=configs)
        if leaders:
            nodes = sorted(self.image.brokers)
            rows = []
            for partition, leader in enumerate(leaders):
                others = [node for node in nodes if node != leader]
                rows.append((partition, (leader, *others[: copies - 1])))
            new = NewTopic(name, assignments=tuple(rows), configs=configs)
        (outcome,) = self.commit(decide_create(self.image, [new], SETTINGS, lambda: topic_id, Counter()))
        assert outcome.error is None, outcome.error
        return topic_id

    def delete(self, name: str) -> None:
        (outcome,) = self.commit(decide_delete(self.image, [TopicRef(name)], SETTINGS))
        assert outcome.error is None

    def open(
        self,
        node: int,
        seq: int = 0,
        start: int = 0,
        copies: int = 3,
        vlog: int = 0,
        exclude: tuple[int, ...] = (),
        epoch: int | None = None,
        policy: int = 0,
    ) -> VsegRecord:
        vseg = VsegId(self.epoch(node) if epoch is None else epoch, vlog, seq)
        opening = Opening(node, vseg, copies, policy, start, frozenset(exclude))
        self.commit(decide_open_vseg(self.image, self.table, opening))
        return self.table.vsegs[vseg]

    def plan(self) -> SealPlan:
        """What the controller would ask and close now; the SEALs are on their way then."""
        plan = self.sealing.plan(self.image, self.table, self.now)
        for ask in plan.asks:
            self.sealing.asked(ask, self.now)
            self.sent[ask.vseg, ask.target] = ask
        return plan

    def answer(
        self, ask: Ask, position: int, limbo: bool = False, torn: bool = False, durable: int = 0
    ) -> None:
        """What it was asked last, be that to read its copy or not."""
        sealed = Sealed(position, limbo, torn, durable)
        ask = self.sent.get((ask.vseg, ask.target), ask)
        self.told[ask.vseg, ask.target] = sealed
        self.sealing.answered(ask, sealed, self.epoch(ask.target.node_id), self.now)

    def say_again(self) -> None:
        """Who may be listed alone has read its copy by now, and says what it said before (24c)."""
        asks = self.plan().asks
        assert asks
        for ask in asks:
            assert ask.thorough
            self.answer(ask, *self.told[ask.vseg, ask.target])

    def close(self) -> list[VsegRecord]:
        """Close whatever can be."""
        plan = self.sealing.plan(self.image, self.table, self.now)
        return self.commit(decide_close(self.image, self.table, plan.closes))

    def seal_all(self, position: int) -> None:
        """Every copy that is a member answers with ``position``."""
        for _ in range(2):  # who may be listed alone reads its copy, and says it again (24c)
            for ask in self.plan().asks:
                self.answer(ask, position)
        self.close()

    def assign(self) -> list[StreamletRecord]:
        due = due_streamlets(self.image)
        return self.commit(decide_assign(self.image, self.table, due, led_now(self.image)))

    def commit_all(self, records: Sequence[StreamletRecord]) -> list[bool]:
        """The leaders of recovering streamlets commit them."""
        done = []
        for record in records:
            attempt = Attempt(record.topic_id, record.index, record.leader_epoch)
            epoch = self.epoch(record.leader)
            done += self.commit(decide_commit(self.image, self.table, record.leader, epoch, [attempt]))
        return done

    def streamlet(self, name: str, index: int = 0) -> StreamletRecord:
        return self.image.streamlet(self.image.topics[name].topic_id, index)


def reading(ask: Ask) -> Ask:
    """The same copy is asked once more, when it may answer for others: it reads its file."""
    return ask._replace(thorough=True)


def nodes(targets: Sequence[CopyTarget]) -> list[int]:
    return [target.node_id for target in targets]


def no_other_has_any(world: World) -> Denials:
    """All were asked for copies of what they are not listed for, and have none."""
    denials = Denials()
    for vseg in world.table.vsegs:
        for broker in world.image.brokers.values():
            denials.by_other(vseg, broker.epoch)
    return denials


def no_owner_has_any(world: World) -> Denials:
    """Owners of virtual segments were asked for their own copies, too, and have none."""
    denials = no_other_has_any(world)
    for vseg in world.table.vsegs.values():
        owner = world.image.brokers.get(vseg.node_id)
        if owner is not None:
            denials.by_owner(vseg.id, owner.epoch)
    return denials


def cluster(brokers: int, **topics: Any) -> World:
    """Brokers 1..n; topics as ``name=(partitions, copies, [leaders])``, or with configs behind that."""
    world = World()
    world.register(*range(1, brokers + 1))
    for name, fields in topics.items():
        world.topic(name, *fields)
    return world
