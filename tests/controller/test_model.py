"""The decisions against brokers that crash, lose power, are wiped, are fenced while alive, and answer late.

A model of what really is on every disk runs beside the records; after each step the records must be true:
nothing durable is beyond an end, every copy that counts holds what it is listed for, chains have no gap,
nobody leads before its sources are sealed. Each rule that can be taken out is taken out in turn, and the
model must notice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.controller import rules
from kproto.controller.recovery import Attempt, decide_commit
from kproto.controller.repair import Repairs, decide_repaired
from kproto.controller.repair_pairs import Repair
from kproto.controller.sealing import Ask, Sealing
from kproto.errors import KafkaError
from kproto.metadata.records import ONLINE, RECOVERING
from kproto.metadata.vlogs import VsegId, VsegRecord

from .cluster_world import PATIENCE, STALL, World

BROKERS = 5
COPIES = 3


@dataclass
class Store:
    """One data directory: what outlives the process."""

    store_id: str
    copies: dict[VsegId, int] = field(default_factory=dict)
    fences: dict[int, int] = field(default_factory=dict)
    """By owner node; here one fence for all epochs below it."""
    journal: dict[int, int] = field(default_factory=dict)
    """End of the own journal by owner epoch."""
    limbo: set[VsegId] = field(default_factory=set)
    lost_journals: set[int] = field(default_factory=set)


@dataclass
class Process:
    node: int
    epoch: int
    store: Store
    vseg: VsegRecord
    end: int = 0
    owner: bool = True
    attempts: dict[tuple[bytes, int], int] = field(default_factory=dict)


class Model:
    """Steps are (kind, a, b); what a step means depends on the state, so every list of them is valid."""

    def __init__(self) -> None:
        self.world = World()
        self.stores: dict[str, Store] = {}
        self.current: dict[int, Store] = {}
        self.up: dict[int, Process] = {}
        self.zombies: list[Process] = []
        self.durable: dict[int, int] = {}
        self.asks: list[Ask] = []
        self.orders: list[Repair] = []
        self.leader_epochs: dict[str, int] = {}
        self.wipes = 0
        for node in range(1, BROKERS + 1):
            self.current[node] = self.stores[f"store{node}"] = Store(f"store{node}")
        self.world.register(*range(1, BROKERS + 1))
        for node in range(1, BROKERS + 1):
            self.start_process(node, self.world.epoch(node))
        self.world.topic("t", 6, COPIES)
        self.steps: list[Callable[[int, int], None]] = [
            *[self.push] * 6, *[self.roll] * 2, self.replace, self.crash, self.fence, *[self.restart] * 2,
            self.wipe, self.power_loss, *[self.ask] * 2, *[self.deliver] * 5, self.wait, *[self.close] * 2,
            *[self.assign] * 2, self.take_over, *[self.commit] * 2, self.order, self.repaired,
            self.round, self.new_controller,
        ]  # fmt: skip

    def start_process(self, node: int, epoch: int) -> None:
        before = self.up.pop(node, None)
        if before is not None:
            self.zombies.append(before)
        vseg = self.world.open(node, copies=COPIES)
        self.durable[epoch] = 0
        self.current[node].journal[epoch] = 0
        self.up[node] = Process(node, epoch, self.current[node], vseg)

    def process(self, a: int) -> Process | None:
        """A live process, or one that was fenced and does not know it."""
        everybody = [self.up[node] for node in sorted(self.up)] + self.zombies[-3:]
        return everybody[a % len(everybody)] if everybody else None

    # --- what brokers do

    def push(self, a: int, b: int) -> None:
        """Append and send to some of the backups; durable when all have it (rule 9)."""
        owner = self.process(a)
        if owner is None or not owner.owner:
            return
        owner.end += 1 + b % 7
        owner.store.journal[owner.epoch] = owner.end
        held = [owner.end]
        for place, target in enumerate(owner.vseg.backups):
            backup = self.up.get(target.node_id)
            at = owner.vseg.start
            if backup is not None and backup.store.store_id == target.store_id:
                copies = backup.store.copies
                if b >> place & 1 == 0 and self.accepts(backup.store, owner):
                    copies[owner.vseg.id] = owner.end
                at = copies.get(owner.vseg.id, at) if self.accepts(backup.store, owner) else at
            held.append(at)
        if len(held) == len(owner.vseg.backups) + 1:
            self.durable[owner.epoch] = max(self.durable[owner.epoch], min(held))

    def accepts(self, store: Store, owner: Process) -> bool:
        """Rules 6 and 20."""
        return owner.epoch >= store.fences.get(owner.node, 0) and owner.vseg.id not in store.limbo

    def open_next(self, owner: Process, start: int, exclude: tuple[int, ...]) -> None:
        vseg = owner.vseg.id
        try:
            owner.vseg = self.world.open(
                owner.node, vseg.seq + 1, start, COPIES, exclude=exclude, epoch=owner.epoch
            )
        except KafkaError:
            owner.owner = False

    def roll(self, a: int, b: int) -> None:
        owner = self.process(a)
        if owner is not None and owner.owner and self.durable[owner.epoch] == owner.end:
            self.open_next(owner, owner.end, ())

    def replace(self, a: int, b: int) -> None:
        """Rule 13: close at the durable head, go on with others."""
        owner = self.process(a)
        if owner is not None and owner.owner and owner.vseg.backups:
            failed = owner.vseg.backups[b % len(owner.vseg.backups)].node_id
            self.open_next(owner, self.durable[owner.epoch], (failed,))

    def crash(self, a: int, b: int) -> None:
        if self.all_but_one():
            self.up.pop(a % BROKERS + 1, None)

    def all_but_one(self) -> bool:
        """Faults that lose something come one at a time, mostly."""
        return len([node for node in self.up if node in self.world.image.brokers]) >= BROKERS - 1

    def fence(self, a: int, b: int) -> None:
        """May be wrong: the process goes on as a zombie."""
        node = a % BROKERS + 1
        if node in self.world.image.brokers and len(self.world.image.brokers) > 2:
            self.world.fence(node)

    def restart(self, a: int, b: int) -> None:
        everybody = range(1, BROKERS + 1)
        gone = [node for node in everybody if node not in self.up or node not in self.world.image.brokers]
        if not gone and b % 8:
            return
        node = (gone or everybody)[a % len(gone or everybody)]
        broker = self.world.register(node, store=self.current[node].store_id)
        self.up.pop(node, None)
        self.start_process(node, broker.epoch)

    def wipe(self, a: int, b: int) -> None:
        node = a % BROKERS + 1
        if not self.all_but_one() or b % 3:
            return
        self.wipes += 1
        store = Store(f"store{node}-{self.wipes}")
        self.up.pop(node, None)
        self.current[node] = self.stores[store.store_id] = store

    def power_loss(self, a: int, b: int) -> None:
        """Tails are lost; the directory knows that it does not know (rules 3 and 8)."""
        node = a % BROKERS + 1
        if not self.all_but_one() or b % 3:
            return
        self.up.pop(node, None)
        store = self.current[node]
        for vseg, end in sorted(store.copies.items()):
            record = self.world.table.vsegs.get(vseg)
            store.copies[vseg] = max(record.start if record else 0, end - b % 5)
            store.limbo.add(vseg)
        store.lost_journals |= store.journal.keys()

    # --- what the controller does

    def ask(self, a: int, b: int) -> None:
        asks = self.world.plan().asks
        for ask in asks:
            broker = self.world.image.brokers.get(ask.target.node_id)
            assert broker is not None, "nobody is there"
            assert broker.store_id == ask.target.store_id, "a wiped directory would say that it had nothing"
        self.asks += asks

    def round(self, a: int, b: int) -> None:
        """The controller gets on for once."""
        self.ask(a, b)
        while self.asks:
            self.deliver(a, 1 + b % 4)
        self.world.now += STALL
        self.close(a, b)
        self.assign(a, b)

    def deliver(self, a: int, b: int) -> None:
        """A SEAL arrives, or does not; perhaps at another data directory, which does not answer it."""
        if not self.asks:
            return
        ask = self.asks.pop(a % len(self.asks))
        broker = self.world.image.brokers.get(ask.target.node_id)
        process = self.up.get(ask.target.node_id)
        if process is None or process.store.store_id != ask.target.store_id or broker is None or b % 5 == 0:
            self.world.sealing.failed(ask, self.world.now)
            return
        store = process.store
        if ask.journal:
            if ask.vseg.owner_epoch in store.lost_journals or broker.epoch == ask.vseg.owner_epoch:
                self.world.sealing.failed(ask, self.world.now)
            else:
                self.world.answer(ask, store.journal[ask.vseg.owner_epoch])
            return
        owner = self.world.table.vsegs[ask.vseg].node_id if ask.vseg in self.world.table.vsegs else 0
        store.fences[owner] = max(store.fences.get(owner, 0), ask.fence)
        self.world.answer(ask, store.copies.get(ask.vseg, -1), ask.vseg in store.limbo)

    def wait(self, a: int, b: int) -> None:
        self.world.now += (0.05, 0.2, 0.6, 20.0)[b % 4]

    def close(self, a: int, b: int) -> None:
        for vseg in self.world.close():
            if vseg.end != vseg.start and not vseg.backups:
                store = self.stores[vseg.store_id]
                assert store.journal[vseg.id.owner_epoch] >= (vseg.end or 0)
                assert self.current[vseg.node_id] is store

    def assign(self, a: int, b: int) -> None:
        for record in self.world.assign():
            self.check_sources(record.sources)
            assert record.leader in self.world.image.brokers

    def take_over(self, a: int, b: int) -> None:
        """A leader sees that it is to recover; its commit may come much later."""
        process = self.process(a)
        for record in self.recovering():
            if process is not None and record.leader == process.node:
                process.attempts[record.topic_id, record.index] = record.leader_epoch

    def recovering(self) -> list[Any]:
        parts = self.world.image.streamlets.values()
        return [record for part in parts for record in part if record.state == RECOVERING]

    def commit(self, a: int, b: int) -> None:
        process = self.process(a)
        if process is None or not process.attempts:
            return
        name = sorted(process.attempts)[b % len(process.attempts)]
        attempt = process.attempts[name]
        before = self.world.image.streamlet(*name)
        decision = decide_commit(
            self.world.image, self.world.table, process.node, process.epoch, [Attempt(*name, attempt)]
        )
        if self.world.commit(decision) == [True]:
            broker = self.world.image.brokers.get(process.node)
            assert broker is not None, "a fenced broker leads"
            assert broker.epoch == process.epoch, "a former process leads"
            assert (before.leader, before.leader_epoch) == (process.node, attempt), "an older attempt"
            self.check_sources(before.sources, copies=False)

    def order(self, a: int, b: int) -> None:
        plan = Repairs(0).plan(self.world.image, self.world.table, self.world.now)
        self.orders += plan.orders[: 1 + b % 3]

    def repaired(self, a: int, b: int) -> None:
        """Some repair that was ordered is done, unless source or target cannot."""
        if not self.orders:
            return
        order = self.orders.pop(a % len(self.orders))
        source, target = self.up.get(order.source), self.up.get(order.target.node_id)
        if source is None or target is None or target.store.store_id != order.target.store_id:
            return
        vseg, end = order.vseg, order.vseg.end or 0
        if vseg.id in source.store.limbo or source.store.copies.get(vseg.id, -1) < end:
            return
        target.store.copies[vseg.id] = max(end, target.store.copies.get(vseg.id, 0))
        target.store.limbo.discard(vseg.id)
        self.world.commit(decide_repaired(self.world.image, self.world.table, order))

    def new_controller(self, a: int, b: int) -> None:
        if b % 3:
            return
        self.world.sealing = Sealing(STALL, PATIENCE)
        self.asks.clear()

    # --- what must be true

    def run(self, steps: list[tuple[int, int, int]]) -> None:
        for kind, a, b in steps:
            self.steps[kind % len(self.steps)](a, b)
            self.check()

    def check(self) -> None:
        table, image = self.world.table, self.world.image
        last: dict[int, VsegRecord] = {}
        for _, vseg in sorted(table.vsegs.items()):
            before = last.get(vseg.id.owner_epoch)
            assert before is None or before.end == vseg.start, f"a gap before {vseg}"
            last[vseg.id.owner_epoch] = vseg
            if vseg.end is not None:
                self.check_copies(vseg, vseg.end)
        for epoch, vseg in last.items():
            if vseg.end is not None and any(rules.topics_in(image, table, vseg)):
                assert self.durable[epoch] <= vseg.end, f"acked beyond the end of {vseg}"
        for part in image.streamlets.values():
            for record in part:
                assert record.leader_epoch >= self.leader_epochs.get(record.key, 0)
                self.leader_epochs[record.key] = record.leader_epoch

    def check_copies(self, vseg: VsegRecord, end: int) -> None:
        for target in vseg.backups:
            store = self.stores[target.store_id]
            if vseg.id not in store.limbo:
                assert store.copies.get(vseg.id, vseg.start) >= end, f"{target} does not hold {vseg}"

    def check_sources(self, sources: tuple[int, ...], copies: bool = True) -> None:
        """All sealed, and each with a copy on a member's present directory (rule 27b)."""
        members = {broker.node_id: broker for broker in self.world.image.brokers.values()}
        for vseg in (each for epoch in sources for each in self.world.table.of_owner(epoch)):
            owner = members.get(vseg.node_id)
            if owner is None or owner.epoch != vseg.id.owner_epoch:
                assert vseg.end is not None, f"{vseg} is not sealed"
            if copies and vseg.end is not None and vseg.end > vseg.start:
                holders = [*vseg.backups, (vseg.node_id, vseg.store_id)]
                assert any(node in members and members[node].store_id == store for node, store in holders), (
                    f"nobody holds {vseg}"
                )

    def settle(self) -> None:
        """Without faults everything comes to rest, unless the only copies are gone for good."""
        for node in range(1, BROKERS + 1):
            if node not in self.up or node not in self.world.image.brokers:
                self.restart(0, 0)
        for _ in range(12):
            self.world.now += PATIENCE
            self.ask(0, 0)
            while self.asks:
                self.deliver(0, 1)
            self.close(0, 0)
            self.assign(0, 0)
            for node in sorted(self.up):
                for record in self.recovering():
                    if record.leader == node:
                        attempt = Attempt(record.topic_id, record.index, record.leader_epoch)
                        epoch = self.up[node].epoch
                        self.world.commit(
                            decide_commit(self.world.image, self.world.table, node, epoch, [attempt])
                        )
            self.check()


KINDS = len(Model().steps)
Steps = st.lists(st.tuples(st.integers(0, KINDS - 1), st.integers(0, 30), st.integers(0, 30)), max_size=150)


@settings(deadline=None, max_examples=150)
@given(Steps)
def test_records_are_true_whatever_happens(steps: list[tuple[int, int, int]]) -> None:
    Model().run(steps)


def random_steps(seed: int, count: int, kinds: int = KINDS) -> list[tuple[int, int, int]]:
    rng = random.Random(seed)
    return [(rng.randrange(kinds), rng.randrange(30), rng.randrange(30)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_records_stay_true_over_long_runs(seed: int) -> None:
    Model().run(random_steps(seed, 1500))


@pytest.mark.parametrize("seed", range(30))
def test_without_losses_everything_is_served_again(seed: int) -> None:
    """L1: crashes, fences and lost answers alone never leave a streamlet without leader."""
    model = Model()
    harmful = {model.steps.index(model.wipe), model.steps.index(model.power_loss)}
    model.run([step for step in random_steps(seed, 400) if step[0] not in harmful])
    model.settle()
    for record in model.world.image.streamlets[model.world.image.topics["t"].topic_id]:
        assert record.state == ONLINE
        assert rules.is_current(model.world.image, record.leader, record.sources[-1])


def is_violated(seed: int) -> bool:
    try:
        Model().run(random_steps(seed, 1200))
    except AssertionError:
        return True
    return False


MUTATIONS: dict[str, tuple[str, Any]] = {
    "the longest copy decides (21, 23)": ("sealed_end", lambda start, ends: max(start, *ends)),
    "nothing seals (19b, 20)": ("is_sealing", lambda image, vseg: False),
    "SEAL does not fence (20)": ("fence_of", lambda vseg: 0),
    "a wiped directory counts (3)": (
        "may_hold", lambda image, target: target.node_id in image.brokers
    ),
    "any attempt may commit (29)": (
        "may_commit",
        lambda image, record, node_id, epoch, leader_epoch: record is not None
        and record.state == RECOVERING
        and record.leader == node_id,
    ),
    "copies of brokers that are away count (22)": ("live_copies", lambda image, vseg: list(vseg.backups)),
}  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_model_notices_a_rule_that_is_gone(mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, function = MUTATIONS[mutation]
    monkeypatch.setattr(rules, name, function)
    assert any(map(is_violated, range(48)))
