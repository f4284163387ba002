"""What goes wrong, and the budget: no more is broken at once than the rules promise to survive.

Of the faults that the rules document names (section 3): requests and answers are lost, repeated and overtaken
with connections that are reset (`drop`) and the tries that follow; slow links; cuts of one direction or both;
swizzle-clog; pauses; kills of one and all, of the controller, in the middle of a write; loss of power of one
and all, silent until the machine is back, with torn writes; stray writes, flipped bits and unreadable files
in copies, closed (`rot`) and open (`rot_open`), in segments and indexes (`damage`); failing writes, syncs and
other operations; full and nearly full, slow and lost disks, of backups also while ends are looked for; files
that cannot be opened because too many are; wall clocks that jump; a store that is slow, away or out of reach
of some; a lease that is lost by who acts; requests that make no sense or come once more, and answers that are
none (`rubbish`).

Not here: damage in journals that the machine does not notice, in what came last to an open copy, and in
segment files of a single copy (the client's checksum shows it), monotonic clocks that run at another speed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from kproto.controller.election import CONTROLLER_LEASE
from kproto.replica.stored_file import file_name
from kproto.vlog.frame import FILE_HEADER_SIZE, decode_frame_header

from . import rubbish

if TYPE_CHECKING:
    from kproto.metadata.vlogs import VsegId

    from .checks import Checks
    from .clients import Clients
    from .damage import Damage
    from .disk import Inode
    from .world import Node, World


OPERATIONS = (
    *("write", "sync") * 4,
    "open",
    "read",
    "allocate",
    "truncate",
    "rename",
    "unlink",
    "folder",
)
PLACES = ("", "", "/streams/", "/journal/", "/replicas", ".index", "checkpoint", "fences", ".copying")


WRITTEN = ("", "/replicas/", "/replicas/", "/journal/", "/streams/", "checkpoint")


class Faults:
    """Faults of one seed, one after the other."""

    def __init__(self, world: World, clients: Clients, checks: Checks, damage: Damage) -> None:
        self.world = world
        self.clients = clients
        self.checks = checks
        self.damage = damage
        self.random = world.random
        self.numbers = list(world.nodes)
        self.healed = False
        self.open_ones = Random(f"open copies {world.seed}")
        """For what happens to them: other faults are what they would be without."""
        strange = Random(f"strange {world.seed}")
        if strange.random() < 0.5:
            world.network.spoil = lambda api, answer: (
                answer if self.healed else rubbish.spoil(world, api, answer, strange)
            )

    async def run(self) -> None:
        """Break something every now and then."""
        world, random = self.world, self.random
        end = world.loop.now + world.plan.seconds
        while world.loop.now < end:
            await asyncio.sleep(world.plan.calm * 2 * random.random())
            what = random.choices(list(self._kinds()), list(self._kinds().values()))[0]
            what()
            if world.plan.rot and self.open_ones.random() < 0.4:
                self.rot_open()
            self.checks.look()
            world.look()

    def _kinds(self) -> dict[Callable[[], object], float]:
        plan = self.world.plan
        kinds: dict[Callable[[], object], float] = {
            self.kill: 3,
            self.kill_and_start: 3,
            self.start_one: 6,
            self.resume_all: 3,
            self.drop: 2,
            self.heal_network: 2,
            self.kill_all: 0.2,
            self.stop_one: 1.2,
            self.change_vlogs: 0.5,
        }
        if plan.zombies:
            kinds |= {self.pause: 2, self.cut: 1.5, self.nap: 1.5, self.clog: 0.5, self.slow_link: 1}
        if plan.kind == "synced" and self.world.power_may_go:
            kinds |= {self.power_loss: 2, self.power_loss_of_all: 0.6}
        if plan.kind == "disks":
            kinds |= {self.lose_disk: 3}
        if plan.kind == "disks" and plan.hectic:
            kinds |= {self.lose_disk_meanwhile: 3}
        if plan.trouble:
            kinds |= {self.slow: 1, self.full: 1.5, self.break_disk: 2}
        if plan.scarce:
            kinds |= {self.descriptors: 2}
        if plan.rot:
            kinds |= {self.rot: 4}
        if plan.harmed:
            kinds |= {self.harm_index: 1.5}
        if plan.harmed and plan.kind != "synced":
            kinds |= {self.harm_segment: 6}
        if plan.torn:
            kinds |= {self.kill_writing: 4}
        if plan.clocks:
            kinds |= {self.jump: 1}
        if plan.outages:
            kinds |= {self.store_away: 2, self.store_slow: 1}
        if plan.outages and plan.shared:
            kinds |= {self.store_out_of_reach: 3}
        if plan.shared:
            kinds |= {self.kill_controller: 1, self.unseat: 1}
        if plan.shared and plan.zombies:
            kinds |= {self.nap_of_controller: 2}
        return kinds

    def _controller(self) -> int:
        """The node whose broker is the controller, or thinks so."""
        acting = self.world.acting()
        return acting[0].node if acting is not None else self._some()

    def _some(self) -> int:
        return self.random.choice(self.numbers)

    # Processes

    def kill(self) -> None:
        number = self._some()
        if self.checks.may_kill(number):
            self.world.crash(number)

    def kill_and_start(self) -> None:
        """Back before anybody could have noticed, or soon after (rule 2b)."""
        number = self._some()
        if self.checks.may_kill(number):
            self.world.crash(number)
            later = self.world.loop.now + self.random.choice((0.001, 0.1, 0.5))
            self.world.loop.deliver(None, later, self.world.start, number)

    def kill_writing(self) -> None:
        """The next write of some file ends in the middle, and with it the process; perhaps those of others
        do so, too."""
        for number in self.random.sample(self.numbers, self.random.choice((1, 1, 2, len(self.numbers)))):
            if self.checks.may_kill(number):
                self.world.crash_writing(number, self.random.choice(WRITTEN))

    def kill_all(self) -> None:
        if all(self.checks.may_kill(number) for number in self.numbers):
            for number in self.numbers:
                self.world.crash(number)
                later = self.world.loop.now + 0.5 * self.random.random()
                self.world.loop.deliver(None, later, self.world.start, number)

    def stop_one(self) -> None:
        """A clean stop."""
        number = self._some()
        node = self.world.nodes[number]
        if node.serving and not node.stopping and self.checks.may_kill(number):
            process, broker = node.process, node.broker
            assert process is not None
            assert broker is not None
            node.told_to_stop = process
            self.world.note(f"stop n{number}")
            self.world.count("clean stop")

            async def stop() -> None:
                await broker.stop()
                if node.process is process:
                    node.kill()
                    self.world.loop.deliver(None, self.world.loop.now + 0.3, self.world.start, number)

            process.spawn(stop())

    def start_one(self) -> None:
        down = [number for number in self.numbers if not self.world.nodes[number].up]
        if down:
            self.world.start(self.random.choice(down))

    def pause(self) -> None:
        number = self._some()
        if self.checks.may_kill(number):
            self.world.pause(number)

    def nap(self) -> None:
        """A pause, mostly shorter than the session."""
        self._nap(self._some())

    def _nap(self, number: int) -> None:
        if self.checks.may_kill(number):
            self._pause(number, self.random)

    def _pause(self, number: int, random: Random) -> None:
        self.world.pause(number)
        later = self.world.loop.now + random.choice((0.1, 0.4, 0.9, 1.5, 3.0))
        self.world.loop.deliver(None, later, self.world.resume, number)

    def resume_all(self) -> None:
        for number in self.numbers:
            self.world.resume(number)

    # Who decides

    def kill_controller(self) -> None:
        number = self._controller()
        if self.checks.may_kill(number):
            self.world.crash(number)

    def nap_of_controller(self) -> None:
        """When it wakes up another one acts."""
        self._nap(self._controller())

    def unseat(self) -> None:
        """The lease is gone while its holder acts: two brokers think that they are the controller."""
        holder = self.world.store._leases.holder(CONTROLLER_LEASE)
        if holder is not None:
            self.world.note("the lease is gone")
            self.world.count("unseated")
            self.world.store._leases.release(CONTROLLER_LEASE, holder)

    def store_away(self) -> None:
        """Nobody reaches the store, for a while."""
        store, loop = self.world.store, self.world.loop
        if not store.down:
            self._outage("the store is away")
            store.down = True
            loop.deliver(None, loop.now + self.random.choice((0.1, 0.5, 2.0)), self._store_back)

    def _outage(self, line: str) -> None:
        self.world.note(line)
        self.world.count("store away")

    def _store_back(self) -> None:
        self.world.note("the store is back")
        self.world.store.down = False

    def store_slow(self) -> None:
        self.world.store.slow = self.random.choice((1.0, 20.0, 100.0))

    def store_out_of_reach(self) -> None:
        """One broker does not reach the store, or does again."""
        number = self._controller() if self.random.random() < 0.5 else self._some()
        away = self.world.store.away
        if number in away:
            away.discard(number)
        elif len(away) < len(self.numbers) - 1:
            self._outage(f"n{number} does not reach the store")
            away.add(number)

    def jump(self) -> None:
        """A wall clock is set, forward or back."""
        self.world.ahead[self._some()] = self.random.choice((0, 1000, -1000, 3_600_000, -3_600_000))
        self.world.count("clock set")

    # Network

    def cut(self) -> None:
        """One direction, or both, between a node and another, or all others."""
        one, other = self.random.sample(self.numbers, 2)
        if self.random.random() < 0.4:
            controller = self._controller()
            other = controller if one != controller else other
        if not (self.checks.may_kill(one) and self.checks.may_kill(other)):
            return
        others = [other] if self.random.random() < 0.6 else [n for n in self.numbers if n != one]
        both = self.random.random() < 0.5
        self.world.note(f"cut n{one} -> {others}{' and back' if both else ''}")
        self.world.count("cut")
        for other in others:
            self.world.network.cut(one, other)
            if both:
                self.world.network.cut(other, one)

    def heal_network(self) -> None:
        if self.world.network.cuts or self.world.network.slow:
            self.world.note("the network is whole")
            self.world.network.heal()

    def clog(self) -> None:
        """Swizzle: some nodes get cut off, one after the other, and come back in another order."""
        loop, network = self.world.loop, self.world.network
        some = self.random.sample(self.numbers, self.random.randint(1, len(self.numbers) - 1))
        if not all(self.checks.may_kill(number) for number in self.numbers):
            return
        self.world.note(f"clog {some}")
        self.world.count("clog")
        for number in some:
            begin = loop.now + self.random.random()
            end = loop.now + 1.0 + self.random.random()
            for other in self.numbers:
                if other != number:
                    for direction in ((number, other), (other, number)):
                        loop.deliver(None, begin, self._clogged, direction)
                        loop.deliver(None, end, network.mend, *direction)

    def _clogged(self, direction: tuple[int, int]) -> None:
        if not self.healed:
            self.world.network.cut(*direction)

    def slow_link(self) -> None:
        """One direction takes long."""
        one, other = self.random.sample(self.numbers, 2)
        self.world.network.slow[one, other] = self.random.choice((10.0, 100.0, 600.0))
        self.world.count("slow link")

    def drop(self) -> None:
        one, other = self.random.sample(self.numbers, 2)
        self.world.network.drop(one, other)

    # Disks

    def lose_disk(self) -> None:
        number = self._some()
        if self.checks.may_lose_disk(number):
            self._lose_disk(number)

    def _lose_disk(self, number: int) -> None:
        """All of it, or what was not synced."""
        if self.random.random() < 0.5:
            self._lose_power(number)
        else:
            self.checks.losing_disk(number)
            self.world.wipe(number)

    def lose_disk_meanwhile(self) -> None:
        """An owner dies, perhaps one of its backups is late, and another one's disk is lost before the end
        of what they have is known."""
        some = [one for one in self.world.table.open_vsegs() if len(one.backups) > 1]
        if not some:
            return
        record = self.random.choice(some)
        late, number = (target.node_id for target in self.random.sample(record.backups, 2))
        self.world.crash(record.node_id)
        if self.random.random() < 0.6:
            self._nap(late)
        wait = self.random.choice((0.0, 0.05, 0.3, 1.0)) * self.random.random()
        self.world.loop.deliver(None, self.world.loop.now + wait, self._lose_disk_now, number)

    def _lose_disk_now(self, number: int) -> None:
        if not self.healed and self.checks.may_lose_disk_meanwhile(number):
            self.world.count("disk lost, owners being dead")
            self._lose_disk(number)

    def _lose_power(self, number: int) -> None:
        self.checks.losing_power(number)
        self.world.power_loss(number)

    def power_loss(self) -> None:
        self._lose_power(self._some())

    def power_loss_of_all(self) -> None:
        for number in self.numbers:
            self._lose_power(number)
            later = self.world.loop.now + self.random.random()
            self.world.loop.deliver(None, later, self.world.start, number)

    def slow(self) -> None:
        machine = self.world.machines[self._some()]
        machine.slow = self.random.choice((1.0, 30.0, 200.0))

    def full(self) -> None:
        """There is no room, or not much of it, or some again."""
        machine = self.world.machines[self._some()]
        if self.random.random() < 0.5:
            machine.room = self.random.choice((None, 0, 100, 2_000, 20_000))
        else:
            machine.full = not machine.full
        self.world.count("disk full")

    def descriptors(self) -> None:
        """There are none, or not always one, or enough again."""
        machine = self.world.machines[self._some()]
        machine.scarce = self.random.choice((0.0, 0.05, 0.4, 1.0))
        self.world.count("descriptors are scarce", machine.scarce > 0)

    def break_disk(self) -> None:
        """The next write or sync fails, of any file or of one kind: the process must end, and what it
        acknowledged be there. Or something else does, which it need not survive."""
        number = self._some()
        if self.checks.may_kill(number) and not any(node.in_doubt for node in self.world.nodes.values()):
            machine = self.world.machines[number]
            machine.fail_next = self.random.choice(OPERATIONS)
            machine.fail_where = self.random.choice(PLACES)
            self.world.count(f"EIO: {machine.fail_next}")

    def harm_segment(self) -> None:
        any(map(self.damage.harm_segment, self._nodes()))

    def _nodes(self) -> list[Node]:
        """All of them, in any order."""
        return [self.world.nodes[number] for number in self.random.sample(self.numbers, len(self.numbers))]

    def harm_index(self) -> None:
        self.damage.harm_index(self.world.nodes[self._some()])

    def rot(self) -> None:
        """A copy of a closed virtual segment is not what it was: flipped bits, a stray write, or the medium
        does not give it back."""
        number = self._some()
        able = self.checks.may_rot(number)
        vseg = self.random.choice(able) if able else None
        inode = None if vseg is None else self._file_of(number, vseg)
        if vseg is not None and inode is not None and inode.data:
            self.world.count("rot")
            self._rot(number, vseg, inode, self.random, len(inode.data))

    def _file_of(self, number: int, vseg: VsegId) -> Inode | None:
        machine = self.world.machines[number]
        return machine.find(f"{machine.root}/replicas/{file_name(vseg)}")

    def _rot(self, number: int, vseg: VsegId, inode: Inode, random: Random, end: int) -> None:
        """Somewhere in the first ``end`` bytes of its file."""
        machine = self.world.machines[number]
        self.checks.rotting(number, vseg)
        kind = random.random()
        if kind < 0.2:
            told = "unreadable"
            machine.unreadable.add(inode)
        else:
            at, length = random.randrange(end), 1 if kind < 0.6 else 512
            told = f"{length} bytes at {at} of {end}"
            machine.rot(inode, at, min(length, end - at))
        self.world.note(f"n{number}: its copy of {tuple(vseg)} is damaged: {told}")

    def rot_open(self) -> None:
        """The same of an open one, where a later frame in the file says that it was acknowledged: of the last
        frame nobody can tell (24b, 24c), and who has it is not waited for very long. Perhaps the owner dies
        then, or who has the copy begins anew and looks at the file, or another one is late."""
        random, world = self.open_ones, self.world
        able = self.checks.may_rot_open()
        if not able:
            return
        number, vseg = random.choice(able)
        record, inode = world.table.vsegs[vseg], self._file_of(number, vseg)
        end = 0 if inode is None else proven_bytes(inode, record.start)
        if inode is None or not end:
            return
        world.count("rot of an open copy")
        self._rot(number, vseg, inode, random, end)
        if random.random() < 0.5:
            world.crash(record.node_id)
        if random.random() < 0.5:
            world.crash(number)
            later = world.loop.now + random.choice((0.001, 0.1, 0.5))
            world.loop.deliver(None, later, world.start, number)
        if random.random() < 0.3:
            self._pause(
                random.choice([one.node_id for one in record.backups if one.node_id != number]), random
            )

    def change_vlogs(self) -> None:
        """Another kproto.vlogs.per.broker, while everything goes on."""
        node = self.world.nodes[self._some()]
        if node.serving:
            assert node.process is not None
            broker = node.broker
            assert broker is not None
            with node.process.here():
                settings = node.settings._replace(kproto_vlogs_per_broker=self.random.choice((1, 2, 3)))
                broker._vlogs.apply_settings(settings, list(broker._logs.partitions_open()))
            self.world.count("vlogs.per.broker")

    # The end

    def heal(self) -> None:
        """All faults end."""
        world = self.world
        world.note("faults end")
        self.healed = True
        world.store.down, world.store.slow = False, 1.0
        world.store.away.clear()
        world.pace = plan_pace_at_rest(world.plan.pace)
        self.heal_network()
        self.resume_all()
        for machine in world.machines.values():
            machine.full, machine.room, machine.slow, machine.fail_next = False, None, 1.0, None
            machine.scarce, machine.cut_in = 0.0, None
        self.damage.heal()
        for number in self.numbers:
            world.start(number)


def proven_bytes(inode: Inode, start: int) -> int:
    """How many bytes of the file of a copy that begins at position ``start`` are durable, as a sound frame in
    it says."""
    at, durable = FILE_HEADER_SIZE, start
    while (header := decode_frame_header(inode.data, at)) is not None:
        if at != FILE_HEADER_SIZE + header.position - start:
            break
        durable = max(durable, header.durable)
        at += header.length
    return FILE_HEADER_SIZE + durable - start if durable > start else 0


def plan_pace_at_rest(pace: float) -> float:
    """Nothing happens any more: clients need not be quick."""
    return max(pace, 4.0)
