"""The invariants of one broker's storage.

S1  What was acknowledged is there after a kill, and after a clean stop; after a loss of power what was
    acknowledged when acks waited for syncs. In any class, with any settings, before and after.
S2  From log start to end there is what was sent, byte for byte, at the offsets that were told, and nothing
    else; ends come back to no later place.
S3  A log start is where deletion and retention brought it, or, after a kill, before. After a clean stop it is
    where it was.
S4  A batch that is sent again is told its first offset, and a new one is taken. A log knows as many batches
    of a producer as that may have in flight, deleted ones, too (rule 40), and none that nobody sent. After a
    loss of power, or when the disk was full, it may have forgotten those that were deleted.
S5  Storage is not poisoned, nothing is raised on the loop, and operators are told of no error, where there is
    room and the power stays.
S6  What is not needed goes: after a clean stop there is no journal file, and no open descriptor; in the end
    there are the files of what the log has, and no others.
S7  Starts, stops and partitions that wait for threads come to their end.
"""

from __future__ import annotations

from enum import IntEnum

from kproto.log.partition import Partition
from kproto.vlog.manager import JOURNAL_DIRECTORY
from kproto.wire.batch import hop
from tests.log.support import everything
from tests.sim.world import Violation

from .model import IN_FLIGHT, Batch, Key, Model, Sender
from .node import TURN_S, Node

BEHIND_OFFSET = 61
"""Where a batch's own bytes begin: before them is what the broker stamps."""
SEGMENTS = (".chunks", ".index")
FETCHES = (3000, 1 << 20)
QUIET_TURNS = 120


class End(IntEnum):
    """How a process ended; of several, the largest says what must hold."""

    CLEAN = 0
    KILL = 1
    POWER = 2


class Checks:
    """Compares a node with models of its partitions."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.models: dict[Key, Model] = {}

    def model(self, key: Key) -> Model:
        return self.models.setdefault(key, Model())

    def look(self) -> None:
        """S5, and where log starts are now."""
        node = self.node
        require(not node.poison, f"S5: poisoned: {node.poison}")
        require(not node.loop.errors, f"S5: raised on the loop: {node.loop.errors}")
        require(not node.told.lines, f"S5: operators are told: {node.told.lines}")
        self.see_starts()

    def see_starts(self) -> None:
        for key, partition in self.node.opened().items():
            if key[0] in self.node.topics:
                self.model(key).saw_start(partition.log_start_offset)

    def restarted(self, end: End) -> None:
        """All partitions, after a start: what they lost is forgotten where it may be lost."""
        self.see_starts()
        for key in self.node.partitions():
            partition = self.node.patiently(key)
            model = self.model(key)
            self._ends(key, partition, model, end)
            self._senders(key, partition, model, end)
            model.ended_at(partition.log_end_offset)
            if end is not End.CLEAN:
                model.start = partition.log_start_offset
            self.read(key, partition)
        self.node.cover["looked at all"] += 1
        self.look()

    def _ends(self, key: Key, partition: Partition, model: Model, how: End) -> None:
        start, end = partition.log_start_offset, partition.log_end_offset
        least = model.synced if how is End.POWER else model.acked
        require(end >= least, f"S1: {key}: acknowledged up to {least}, found {end} after {how.name}")
        require(partition.high_watermark == end, f"S2: {key}: {end} is not durable after a start")
        require(end <= max(model.end, model.start), f"S2: {key}: sent up to {model.end}, found {end}")
        kept = max((batch.end for batch in model.sent.values() if batch.end <= end), default=0)
        require(end in (kept, start) or end <= model.start, f"S2: {key}: {end} is amid a batch")
        require(
            start <= model.start, f"S3: {key}: begins at {start}, nothing after {model.start} was deleted"
        )
        if how is End.CLEAN and not self.node.plan.full:
            require(start == model.start, f"S3: {key}: began at {model.start}, after a clean stop at {start}")

    def _senders(self, key: Key, partition: Partition, model: Model, how: End) -> None:
        """S4."""
        forgetful = how is End.POWER or self.node.plan.full
        end, from_ = partition.log_end_offset, partition.log_start_offset if forgetful else 0
        for sender in model.senders.values():
            sender.ever = {one for one in sender.ever if one[1][2] < end}
            found = partition.producers.get(sender.pid)
            epoch = found.epoch if found is not None else -1
            have = [tuple(one[:3]) for one in found.batches if one[0] >= 0] if found is not None else []
            invented = [one for one in have if (epoch, one) not in sender.ever]
            require(not invented, f"S4: {key}: nobody sent {invented} of {sender.pid} in epoch {epoch}")
            must = _must_know(sender, end, from_)
            whole = not must or (epoch == must[-1].epoch and have[-len(must) :] == [b.known for b in must])
            require(
                whole,
                f"S4: {key}: of {sender.pid} epoch {epoch} {have} is known after {how.name}, "
                f"not {[(batch.epoch, batch.known) for batch in must]}; {partition}",
            )
            _goes_on(sender, end, epoch, have)

    def read(self, key: Key, partition: Partition) -> None:
        """S2."""
        model = self.model(key)
        model.saw_start(partition.log_start_offset)
        start, end = partition.log_start_offset, partition.high_watermark
        data = everything(partition, self.node.random.choice(FETCHES))
        found = {fields[0]: data[at + BEHIND_OFFSET : at + size] for at, size, fields in hop(data)}
        sent = {b.base: b.data[BEHIND_OFFSET:] for b in model.sent.values() if b.end > start and b.end <= end}
        wrong = sorted(base for base in found.keys() | sent.keys() if found.get(base) != sent.get(base))
        require(not wrong, f"S2: {key}: not what was sent at {wrong[:10]} of {partition}")

    def stopped(self, clean: bool) -> None:
        """S6, when the process is gone."""
        node = self.node
        self.see_starts()
        require(not node.poison, f"S5: poisoned: {node.poison}")
        open_files = [path for _, path in node.machine.open_files.values()]
        require(not clean or not open_files, f"S6: a stop leaves open {open_files}")
        journal = node.machine.folders.get(f"{node.machine.root}/{JOURNAL_DIRECTORY}", {})
        if clean and not node.power_was_lost and not node.plan.full:
            require(not journal, f"S6: a clean stop leaves {sorted(journal)}")

    def garbage(self) -> None:
        """S6: some time after everything was opened. Nobody sends anything."""
        node = self.node
        for key in node.partitions():
            node.patiently(key)
        for _ in range(QUIET_TURNS):
            node.keep_house(10 * TURN_S)
            node.rest()
        known = {
            path for one in node.opened().values() for s in one.segments for path in (s.path, s.index_path)
        }
        streams = f"{node.machine.root}/streams"
        found = {
            f"{folder}/{name}"
            for folder, names in node.machine.folders.items()
            if folder.startswith(streams)
            for name in names
            if name.endswith(SEGMENTS) or "deleted" in name
        }
        require(found <= known, f"S6: nobody needs {sorted(found - known)}")
        require(not node.vlogs._inherited, "S6: journals of earlier processes stay")
        self.look()


def require(holds: object, told: str) -> None:
    if not holds:
        raise Violation(told)


def _must_know(sender: Sender, end: int, from_: int) -> list[Batch]:
    """What a log that ends at ``end`` has to know of it: as many batches as it may still have in flight
    beside those that were lost."""
    lost = sum(batch.end > end for batch in sender.batches)
    kept = [batch for batch in sender.batches if batch.end <= end]
    window = kept[-(IN_FLIGHT - lost) :] if lost < IN_FLIGHT else []
    return [batch for batch in window if batch.epoch == kept[-1].epoch and batch.base >= from_]


def _goes_on(sender: Sender, end: int, epoch: int, have: list[tuple[int, ...]]) -> None:
    """Behind the last batch that is known; anew, if that is none."""
    kept = [batch for batch in sender.batches if batch.end <= end]
    last = kept[-1] if kept else None
    sender.batches = [batch for batch in kept if batch.epoch == epoch and batch.known in have]
    if last is None or last not in sender.batches:
        sender.begin_anew()
    else:
        sender.epoch, sender.sequence = last.epoch, (last.known[1] + 1) & 0x7FFFFFFF
