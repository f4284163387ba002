"""L4: garbage returns to its bound. At the end all records are deleted; then nothing may be left of them.

Records of virtual segments go when no leader needs them (rules 30, 43, 44); copies go when their record does
not name their store any more, or is gone; journals of earlier processes go, and of this one's all but what is
open.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kproto.replica.copy_files import SPARE_PREFIX, SPARES_KEPT
from kproto.replica.stored_file import SUFFIX, vseg_of_name
from kproto.vlog.journal import SPARE_PREFIX as JOURNAL_SPARE
from kproto.vlog.journal import SUFFIX as JOURNAL_SUFFIX
from kproto.vlog.kept import vseg_of_name as vseg_of_journal

from .disk import SimDisk

if TYPE_CHECKING:
    from kproto.metadata.vlogs import VsegRecord

    from .checks import Checks
    from .clients import Clients
    from .world import Node, World

SECONDS = 60.0
"""Without one virtual segment less. Their number does not count: few go at a time in some seeds."""


class Garbage:
    """What is left of deleted records in a world at rest."""

    def __init__(self, world: World, checks: Checks) -> None:
        self.world = world
        self.checks = checks

    async def clear(self, clients: Clients) -> None:
        """Delete everything, and wait until it is gone."""
        world = self.world
        world.note("all records are deleted")
        left = list(clients.ledgers)
        least = len(world.table.vsegs)
        until = world.loop.now + SECONDS
        wrong = ""
        while world.loop.now < until:
            left = [ledger for ledger in left if not await clients.delete(ledger, -1)]
            await asyncio.sleep(0.5)
            self.checks.look()
            world.look()
            wrong = f"{left[0].name} is not deleted" if left else self.left_over()
            if not wrong:
                world.count("all garbage gone")
                return
            if len(world.table.vsegs) < least:
                least, until = len(world.table.vsegs), world.loop.now + SECONDS
        if any(_has_no_room(node) for node in world.nodes.values()):
            world.count("a state frame fits nowhere")
            return
        world.failed(f"L4: everything is deleted, and nothing has gone for {SECONDS:.0f} s: {wrong}")
        world.look()

    def left_over(self) -> str:
        """Something that should be gone."""
        table = self.world.table
        members = {broker.epoch for broker in self.world.image.brokers.values()}
        for record in table.vsegs.values():
            if not record.open and record.id.owner_epoch not in members:
                return f"vseg {tuple(record.id)} of an owner that is gone is still there: {record}"
        for node in self.world.nodes.values():
            wrong = self._replicas(node) or self._journals(node)
            if wrong:
                return wrong
        return ""

    def _names(self, node: Node, folder: str) -> list[str]:
        machine = node.machine
        return SimDisk(machine).listdir(f"{machine.root}/{folder}")

    def _replicas(self, node: Node) -> str:
        """Copies that nobody counts on."""
        store = self.checks._store(node.number)
        spares = 0
        for name in self._names(node, "replicas"):
            vseg = vseg_of_name(name)
            record = self.world.table.vsegs.get(vseg) if vseg is not None else None
            spares += name.startswith(SPARE_PREFIX)
            if vseg is not None and not _names(record, store):
                return f"n{node.number} still has its copy of {tuple(vseg)}"
            if vseg is None and name.endswith(SUFFIX) and not name.startswith(SPARE_PREFIX):
                return f"n{node.number} still has {name}"
        return f"n{node.number} has {spares} spare files" if spares > SPARES_KEPT else ""

    def _journals(self, node: Node) -> str:
        """Journal files of earlier processes, and more than a few of this one."""
        epoch, count = self.world.epoch_of(node), 0
        for name in self._names(node, "journal"):
            found = vseg_of_journal(name)
            if found is not None and found[0] != epoch:
                return f"n{node.number} still has the journal {name}"
            count += name.endswith(JOURNAL_SUFFIX) and not name.startswith(JOURNAL_SPARE)
        bound = JOURNALS_PER_VLOG * len(self.world.nodes)
        return f"n{node.number} has {count} journal files" if count > bound else ""


JOURNALS_PER_VLOG = 8
"""Open ones, and closed ones that wait for a sync that is worth it."""


def _has_no_room(node: Node) -> bool:
    """A state frame is larger than a virtual log's share of the journal, which is small in some seeds: it is
    never written, and what only it would make unneeded stays (40)."""
    member = node.broker._member if node.broker is not None else None
    vlogs = member._vlogs if member is not None else None
    pushers = vlogs._replicated() if vlogs is not None else []
    return any(one.states.last_bytes > one._space.most for one in pushers)


def _names(record: VsegRecord | None, store: str) -> bool:
    return record is not None and any(target.store_id == store for target in record.backups)
