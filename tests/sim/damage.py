"""Damage in the files of leaders: segments, and indexes.

A segment of a partition with copies may get other bytes, lose its end, be gone or not be given back by the
medium. What has copies in closed virtual segments must be mended (37), whoever reads meanwhile; clients
check the CRC, and until then they may get anything of such a partition. Of one of a single copy, a visitor's,
they may get anything from then on, or errors, and all else goes on. Indexes may be damaged at any time,
with whatever they are made again from. Their first bytes alone are believed as they are (`decode_summary`),
and stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from kproto.controller.names import OFFSETS_TOPIC
from kproto.log.files import CHUNKS, INDEX, STREAMS
from kproto.log.segment import SUMMARY_BYTES

from .disk import Inode

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.log.segment import Segment

    from .checks import Checks
    from .disk import Machine
    from .world import Node, World


@dataclass
class Damaged:
    """A segment file. ``bytes`` are what it should have."""

    node: int
    topic: str
    index: int
    inode: Inode
    bytes: bytes


class Damage:
    """All of one seed."""

    def __init__(self, world: World, checks: Checks) -> None:
        self.world = world
        self.checks = checks
        self.random = Random(f"damage {world.seed}")
        self.segments: dict[str, Damaged] = {}
        world.is_damaged = self.is_damaged
        world.ruin = self.ruin

    def is_damaged(self, node: int, topic: str, index: int) -> bool:
        """Whether a leader may hand out anything of a partition."""
        return any((one.node, one.topic, one.index) == (node, topic, index) for one in self.segments.values())

    # Segments

    def harm_segment(self, node: Node) -> bool:
        """One that copies can make good; whether there is one."""
        able = self._able(node) if node.serving else []
        if not able:
            return False
        random, machine = self.random, node.machine
        partition, segment = random.choice(able)
        inode = machine.find(segment.path)
        if inode is None or not inode.length or segment.path in self.segments or inode in machine.unreadable:
            return False
        good = inode.read(0, inode.length)
        self.segments[segment.path] = Damaged(node.number, partition.topic, partition.index, inode, good)
        at = random.randrange(len(good))
        what = random.choice(("bit", "bits", "bits", "cut", "gone", "unreadable"))
        self.world.note(f"n{node.number}: {segment.path.rpartition('/')[2]} of {partition!r}: {what} at {at}")
        self.world.count(f"segment damaged: {what}")
        self._harm(machine, segment.path, inode, what, at)
        return True

    def ruin(self, node: Node, topic: str, index: int) -> None:
        """One of a partition of a single copy, if that is led there."""
        able = [
            (partition, segment)
            for partition in (node.running._logs.partitions_open() if node.serving else ())
            if (partition.topic, partition.index) == (topic, index) and not partition.deleted
            for segment in partition.segments
            if segment.closed and segment.size > 0 and segment.footer is None
        ]
        if not able:
            return
        partition, segment = self.random.choice(able)
        inode = node.machine.find(segment.path)
        if inode is None or not inode.length:
            return
        what = self.random.choice(("bit", "bits", "cut", "unreadable"))
        self.world.ruined.add((topic, index))
        self.world.note(f"n{node.number}: the only copy of {partition!r}: {what}")
        self.world.count(f"only copy damaged: {what}")
        self._harm(node.machine, segment.path, inode, what, self.random.randrange(inode.length))

    def _harm(self, machine: Machine, path: str, inode: Inode, what: str, at: int) -> None:
        if what == "unreadable":
            machine.unreadable.add(inode)
        elif what == "gone":
            folder, _, name = path.rpartition("/")
            del machine.folders[folder][name]
        elif what == "cut":
            del inode.data[at:]
            inode.length = at
        else:
            inode.data.extend(bytes(inode.length - len(inode.data)))
            machine.rot(inode, at, 1 if what == "bit" else 200)

    def _able(self, node: Node) -> list[tuple[Partition, Segment]]:
        """Closed segments of what has copies and keeps them, as far as closed virtual segments reach."""
        topics = {topic.name for topic in self.world.plan.topics if topic.least > 1}
        if self.world.plan.groups:
            topics.add(OFFSETS_TOPIC)
        found: list[tuple[Partition, Segment]] = []
        for partition in node.running._logs.partitions_open():
            if partition.topic not in topics or partition.copies < 2 or partition.deleted:
                continue
            end = self._copied(partition)
            found += [
                (partition, segment)
                for segment in partition.segments
                if segment.closed
                and segment.size > 0
                and segment.footer is None
                and segment.torn_end < 0
                and partition.log_start_offset < segment.next_offset <= end
            ]
        return found

    def _copied(self, partition: Partition) -> int:
        """The end of what the virtual segments have that are closed, by what was pushed."""
        key, table = (partition.topic_id, partition.index), self.world.table
        ends = [
            end
            for vseg, frames in self.checks.contents.items()
            if (record := table.vsegs.get(vseg)) is not None and not record.open
            for at, (_, chunks) in frames.items()
            if at < (record.end or 0)
            for each, end in chunks
            if each == key
        ]
        return max(ends, default=0)

    def look(self) -> str:
        """What is not mended yet and should be: where it is led. What nobody leads there is a cache, which is
        as it was from now on, so that its partition may come back when no copies are left."""
        for path, one in list(self.segments.items()):
            node = self.world.nodes[one.node]
            if not node.serving:
                return f"37: n{one.node} does not serve, and has a damaged {path}"
            machine, segment = node.machine, self._led(node, path, one)
            there = machine.find(path)
            if segment is None:
                machine.unreadable.discard(one.inode)
                if there is one.inode:
                    there.data[:] = one.bytes
                    there.length = len(one.bytes)
                self.world.count("damaged where nobody leads")
            else:
                size = min(segment.size, len(one.bytes))
                whole = there is not None and there.read(0, size) == one.bytes[:size]
                if not whole or there in machine.unreadable or segment.torn_end >= 0:
                    return f"37: n{one.node} has not mended {path}, of {one.topic}-{one.index}"
                self.world.count("segment mended")
            del self.segments[path]
        return ""

    def _led(self, node: Node, path: str, one: Damaged) -> Segment | None:
        """The segment, when its node leads the partition and has not deleted it."""
        for partition in node.running._logs.partitions_open():
            if (partition.topic, partition.index) == (one.topic, one.index):
                for segment in partition.segments:
                    if segment.path == path and segment.next_offset > partition.log_start_offset:
                        return segment
        return None

    # Indexes

    def harm_index(self, node: Node) -> None:
        """Any index file of a machine, whoever runs there."""
        random, machine = self.random, node.machine
        streams = f"{machine.root}/{STREAMS}/"
        paths = [
            f"{folder}/{name}"
            for folder, names in machine.folders.items()
            if folder.startswith(streams)
            for name in names
            if name.endswith(INDEX)
        ]
        inode = machine.find(path) if paths and (path := random.choice(paths)) else None
        if inode is None or path.removesuffix(INDEX) + CHUNKS in self.segments:
            return
        what = random.choice(("gone", "cut", "bits", "unreadable"))
        at = random.randrange(max(inode.length, 1))
        if what == "bits" and at < SUMMARY_BYTES:
            what = "gone"
        self.world.count(f"index damaged: {what}")
        self._harm(machine, path, inode, what, at)

    def heal(self) -> None:
        """The medium gives back what it has."""
        for machine in self.world.machines.values():
            streams = f"{machine.root}/{STREAMS}/"
            for folder, names in machine.folders.items():
                if folder.startswith(streams):
                    machine.unreadable.difference_update(names.values())
