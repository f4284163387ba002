"""L4: garbage returns to its bound. At the end all records are deleted; then nothing may be left of them.
Before that those of one partition stay; then there may be no copy of anything else.

Records of virtual segments go when no leader needs them (rules 30, 43, 44); copies go when their record does
not name their store any more, or is gone; journals of earlier processes go, and of this one's all but what is
open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kproto.replica.copy_files import SPARE_PREFIX, SPARES_KEPT
from kproto.replica.stored_file import SUFFIX, vseg_of_name
from kproto.vlog.journal import SPARE_PREFIX as JOURNAL_SPARE
from kproto.vlog.journal import SUFFIX as JOURNAL_SUFFIX
from kproto.vlog.kept import vseg_of_name as vseg_of_journal
from kproto.vlog.scan import JournalReader

from .disk import SimDisk

if TYPE_CHECKING:
    from kproto.metadata.vlogs import VsegRecord

    from .checks import Checks
    from .clients import Clients, Ledger
    from .world import Node, World

SECONDS = 60.0
"""Without one virtual segment less. Their number does not count: few go at a time in some seeds."""


class Garbage:
    """What is left of deleted records in a world at rest."""

    def __init__(self, world: World, checks: Checks) -> None:
        self.world = world
        self.checks = checks

    async def clear(self, clients: Clients) -> None:
        """Delete the records of all partitions but one, then of that one, too; each time wait until what
        nobody needs any more is gone."""
        kept = next(
            (one for one in clients.ledgers if one.topic not in self.checks.singles), clients.ledgers[-1]
        )
        if await self._gone(clients, [one for one in clients.ledgers if one is not kept], self.needless):
            self.world.count("copies gone beside live ones")
            if await self._gone(clients, [kept], self.left_over):
                self.world.count("all garbage gone")

    async def _gone(self, clients: Clients, ledgers: Sequence[Ledger], left_over: Callable[[], str]) -> bool:
        """Delete the records of these partitions, and wait until nothing is ``left_over``."""
        world = self.world
        world.note(f"records of {len(ledgers)} partitions are deleted")
        left, least = list(ledgers), self._most()
        until = world.loop.now + SECONDS
        wrong = ""
        while world.loop.now < until:
            left = [ledger for ledger in left if not await clients.delete(ledger, -1)]
            await asyncio.sleep(0.5)
            self.checks.look()
            world.look()
            wrong = f"{left[0].name} is not deleted" if left else left_over()
            if not wrong:
                return True
            if self._most() < least:
                least, until = self._most(), world.loop.now + SECONDS
        if any(_has_no_room(node) for node in world.nodes.values()):
            world.count("a state frame fits nowhere")
            return False
        world.failed(f"L4: nothing that is deleted has gone for {SECONDS:.0f} s: {wrong}")
        world.look()
        return False

    def _most(self) -> int:
        """What is there, of records and of copies."""
        vsegs = self.world.table.vsegs.values()
        return len(vsegs) + sum(len(record.backups) for record in vsegs if not record.open)

    def needless(self) -> str:
        """A closed virtual segment that has copies, though nothing in it is live (30, 43)."""
        for record in self.world.table.vsegs.values():
            known = record.id in self.checks.contents and not record.empty
            if known and not record.open and record.backups and not self.checks._live(record):
                return f"nothing is live in vseg {tuple(record.id)}, which has copies"
        return ""

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
        store = self.checks.store_of(node.number)
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
            if found is not None and found[0] != epoch and not _is_headless(node, name):
                return f"n{node.number} still has the journal {name}"
            count += name.endswith(JOURNAL_SUFFIX) and not name.startswith(JOURNAL_SPARE)
        bound = JOURNALS_PER_VLOG * len(self.world.nodes)
        return f"n{node.number} has {count} journal files" if count > bound else ""


JOURNALS_PER_VLOG = 8
"""Open ones, and closed ones that wait for a sync that is worth it."""


def _is_headless(node: Node, name: str) -> bool:
    """The power took its header. A start that had no room for another name leaves it to the next one (37)."""
    reader = JournalReader(SimDisk(node.machine), f"{node.machine.root}/journal/{name}")
    try:
        return reader.header is None
    finally:
        reader.close()


def _has_no_room(node: Node) -> bool:
    """A state frame is larger than a virtual log's share of the journal, which is small in some seeds: it is
    never written, and what only it would make unneeded stays (40)."""
    member = node.broker._member if node.broker is not None else None
    vlogs = member._vlogs if member is not None else None
    pushers = vlogs._replicated() if vlogs is not None else []
    return any(one.states.last_bytes > one._space.most for one in pushers)


def _names(record: VsegRecord | None, store: str) -> bool:
    return record is not None and any(target.store_id == store for target in record.backups)
