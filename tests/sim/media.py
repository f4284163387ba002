"""What was said to be synced is on the medium (rules 8, 17, 20, 36); what a failed sync may cost.

A power loss shows such a mistake only when it comes between the answer and a later sync of the same file, and
takes the right bytes, on all copies. So the simulated files are asked themselves, whenever somebody says that
something would survive, and at every look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kproto.log.files import CHUNKS, STREAMS
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.replica.fences import FILE_NAME, _record
from kproto.replica.stored_file import file_name
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import (
    DIRECT,
    ENTRY,
    ENTRY_SIZE,
    FILE_HEADER_SIZE,
    FRAME_SIZE,
    Entry,
    FrameHeader,
    decode_frame_header,
)
from kproto.vlog.kept import KEPT, vseg_of_name
from kproto.vlog.manager import JOURNAL_DIRECTORY
from kproto.wire.batch import hop

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.replica.copies import Copy
    from kproto.vlog.virtual_log import VirtualLog
    from kproto.vlog.virtual_segment import VirtualSegment

    from .disk import Inode, Machine
    from .world import Node, World


def is_unsynced(inode: Inode, start: int, end: int) -> bool:
    """A power loss may change bytes ``[start, end)`` of the file."""
    for position, data, _, _, length in inode.pending:
        if data is None:
            if min(position, length) < end:
                return True
        elif position < end and position + len(data) > start:
            return True
    return False


def frames_in(inode: Inode, vseg: tuple[int, int, int]) -> Iterator[tuple[int, FrameHeader]]:
    """Where the frames of a virtual segment are in a file, and their headers; not one that is cut off (seed
    30244038)."""
    at = FILE_HEADER_SIZE
    while (header := decode_frame_header(inode.data, at)) is not None:
        if (header.owner_epoch, header.vlog, header.vseg) != vseg or at + header.length > len(inode.data):
            return
        yield at, header
        at += header.length


def entries_of(inode: Inode, at: int, header: FrameHeader) -> Iterator[Entry]:
    """The chunks of the frame at ``at``."""
    first = at + FRAME_SIZE
    for place in range(first, first + header.chunks * ENTRY_SIZE, ENTRY_SIZE):
        yield Entry._make(ENTRY.unpack_from(inode.data, place))


class Media:
    """Looks at the files of a world. One per seed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.kept: dict[VirtualLog, list[VirtualSegment]] = {}
        """The virtual segments that were there at the last look, whose journal files were needed."""

    # What was answered just now

    def sealed(self, number: int, epoch: int) -> None:
        """A broker said that it refuses an owner epoch for ever (rule 20)."""
        if not self._has_fence(self.world.machines[number], epoch):
            self.world.failed(f"S7: n{number} said that {epoch} is fenced, a power loss may undo it")

    def _has_fence(self, machine: Machine, epoch: int) -> bool:
        folder, record = f"{machine.root}/replicas", _record(epoch)
        inode = machine.find(f"{folder}/{FILE_NAME}")
        at = -1 if inode is None else inode.data.find(record)
        if inode is None or at < 0 or FILE_NAME in unsynced_names(machine, folder):
            return False
        return not is_unsynced(inode, at, at + len(record))

    def repaired(self, number: int, record: VsegRecord) -> None:
        """A broker said that it has a whole copy (rule 17)."""
        end = FILE_HEADER_SIZE + (record.end or 0) - record.start
        self._survives(number, record.id, end, "rule 17")

    def pushed(self, number: int, vseg: VsegId, end: int) -> None:
        """A broker said that it has everything below position ``end`` (rule 8)."""
        record = self.world.table.vsegs.get(vseg)
        if record is not None and record.policy == FlushPolicy.SYNCED:
            self._survives(number, vseg, FILE_HEADER_SIZE + end - record.start, "rule 8")

    def _survives(self, number: int, vseg: VsegId, end: int, rule: str) -> None:
        machine = self.world.machines[number]
        folder, name = f"{machine.root}/replicas", file_name(vseg)
        inode = machine.find(f"{folder}/{name}")
        if inode is None:
            return
        lost = "its name" if name in unsynced_names(machine, folder) else ""
        lost = lost or ("bytes" if is_unsynced(inode, 0, end) else "")
        if lost:
            self.world.failed(f"{rule}: n{number} has {tuple(vseg)}, but a power loss may take {lost}")

    # What is believed

    def look(self, node: Node) -> None:
        """What a broker that serves takes for synced. A damaged file is what it is, and half of it may be
        written again when the disk is full: when it is whole, it is synced."""
        assert node.broker is not None
        for partition in node.broker._logs.partitions_open():
            name = partition.topic, partition.index
            damaged = name in self.world.ruined or self.world.is_damaged(node.number, *name)
            if not partition.deleted and not damaged:
                self._look_at_segments(node, partition)
                self._look_at_checkpoint(node, partition)
                self._look_at_only_copy(node, partition)
        for pusher in node.broker._vlogs._pushers.values():
            self._look_at_journal(node, pusher.vlog)
        self._watch_copies(node)

    def _watch_copies(self, node: Node) -> None:
        """Rules 17 and 30: a broker deletes no copy that counts, at any time; a look from time to time would
        see that only when the last one is gone, and needed."""
        store = node.store
        if "give_up" not in vars(store.files):
            give_up = partial(self._given_up, node.number, store.me, store.files.give_up)
            store.files.give_up = give_up  # type: ignore[method-assign]

    def _given_up(self, number: int, me: CopyTarget, give_up: Callable[[Copy], None], copy: Copy) -> None:
        record = self.world.table.vsegs.get(copy.vseg)
        if record is not None and me in record.backups and not record.unread:
            self.world.failed(f"rule 30: n{number} deletes its copy of {tuple(copy.vseg)}, which is listed")
        self.world.count("copies given up")
        give_up(copy)

    def _look_at_segments(self, node: Node, partition: Partition) -> None:
        for segment in partition.segments:
            self._is_synced(node, partition, segment, segment.synced, "the log")

    def _look_at_checkpoint(self, node: Node, partition: Partition) -> None:
        """What a start after a power loss goes on from (`Checkpoint.distrust_unsynced`). A segment below the
        one that the checkpoint names is trusted when it ends there, too: if what was begun there is lost, the
        last one before is read and checked (`log.opening.scan`)."""
        assert node.broker is not None
        entry = node.broker._logs.checkpointing.file.get(partition.topic_id, partition.index)
        if entry is None:
            return
        segments = partition.segments
        for number, segment in enumerate(segments):
            later = number + 1 < len(segments)
            if segment.base_offset == entry.synced_base:
                self._is_synced(node, partition, segment, entry.synced, "the checkpoint")
            elif later and segments[number + 1].base_offset <= entry.synced_base:
                self._is_synced(node, partition, segment, segment.flushed, "the checkpoint")

    def _look_at_only_copy(self, node: Node, partition: Partition) -> None:
        """Where acks wait for syncs, a power loss takes nothing that clients can read (rules 8 and 9): what
        it may take from a file is in a journal, too."""
        assert node.broker is not None
        vlogs, logs, machine = node.broker._vlogs, node.broker._logs, node.machine
        pusher = None if partition.vlog is None else vlogs._of.get(partition.vlog)  # type: ignore[call-overload]
        if pusher is None or pusher.klass.policy is not FlushPolicy.SYNCED:
            return
        if partition in pusher.older:
            self.world.came[partition] = partition.log_end_offset
        came = self.world.came.get(partition, -1)
        if partition.high_watermark <= max(came, self._inherited(node, partition)):
            return  # that is synced before the first ack behind it
        if partition in logs._proving or partition.copies > 1 or not partition.only_here:
            return
        offset = max(partition.segments[-1].flushed_offset, partition.log_start_offset)
        end = partition.high_watermark
        wanted = {at for at in self._only_in_cache(node, partition) if at < end}
        if not wanted and offset >= end:
            return
        journals = self._synced_in_journals(machine, partition)
        for begin, after in sorted(journals.items()):
            offset = after if begin <= offset < after else offset
        self.world.count("only copies with something in journals")
        lost = sorted(wanted - journals.keys()) or [offset] * (offset < end)
        if lost:
            self.world.failed(f"8: n{node.number} {partition!r}: a power loss takes {lost[0]}")

    def _inherited(self, node: Node, partition: Partition) -> int:
        """Up to where journals of a class without syncs, of earlier processes, have it (-1: nothing)."""
        assert node.broker is not None
        inherited, key = node.broker._vlogs._inherited, (partition.topic_id, partition.index)
        files = [] if inherited is None else [one for some in inherited._recovered.files for one in some]
        unsynced = [one for one in files if one.header.policy != FlushPolicy.SYNCED and not one.synced]
        return max((one.needed.get(key, -1) for one in unsynced), default=-1)

    def _only_in_cache(self, node: Node, partition: Partition) -> Iterator[int]:
        """Base offsets of the chunks that a power loss may take from its files."""
        for segment in partition.segments:
            inode = node.machine.find(segment.path)
            if inode is None or inode in node.machine.torn:
                continue
            folder, _, name = segment.path.rpartition("/")
            unnamed = name in unsynced_names(node.machine, folder)
            for at, size, fields in hop(bytes(inode.data[: segment.flushed])):
                live = fields[0] + fields[6] >= partition.log_start_offset
                if live and (unnamed or is_unsynced(inode, at, at + size)):
                    yield fields[0]

    def _synced_in_journals(self, machine: Machine, partition: Partition) -> dict[int, int]:
        """Offsets at which chunks of a partition begin, and end, that a power loss leaves there."""
        folder = f"{machine.root}/{JOURNAL_DIRECTORY}"
        unnamed = unsynced_names(machine, folder)
        return {
            entry.base_offset: entry.base_offset + entry.offsets
            for name, inode in machine.folders.get(folder, {}).items()
            if name not in unnamed and (vseg := vseg_of_name(name)) is not None
            for at, header in frames_in(inode, vseg)
            if not is_unsynced(inode, at, at + header.length)
            for entry in entries_of(inode, at, header)
            if entry[:2] == (partition.topic_id, partition.index)
            and not entry.flags & DIRECT
            and entry.leader_epoch == partition.epochs.of_offset(entry.base_offset + entry.offsets - 1)
        }

    def _is_synced(self, node: Node, partition: Partition, segment: Any, end: int, who: str) -> None:
        """What lies below the log start is needed by nobody, and counts as synced (`log.ports`). What was
        damaged, and mended in part when its process was killed, is as the medium should have had it: who
        gives other copies up for it syncs it."""
        if segment.next_offset <= partition.log_start_offset:
            return
        inode = node.machine.find(segment.path)
        if inode is not None and inode not in node.machine.torn and is_unsynced(inode, 0, end):
            self.world.failed(
                f"36: n{node.number} {partition!r}: {who} takes {end} bytes of the segment at "
                f"{segment.base_offset} for synced"
            )

    def _look_at_journal(self, node: Node, vlog: VirtualLog) -> None:
        """A virtual segment is forgotten, and its journal file given back, when all its chunks are in synced
        segment files."""
        for segment in self.kept.get(vlog, ()):
            if segment in vlog.segments:
                continue
            self.world.count("journal files given back")
            if segment.needed_from("synced") is not None:
                self.world.failed(
                    f"the journal: n{node.number} gave the journal of vseg {vlog.owner_epoch}/{vlog.vlog_id}/"
                    f"{segment.number} back, and not all of its chunks are in synced files"
                )
        self.kept[vlog] = list(vlog.segments)

    # What a sync that failed may cost

    def is_only_copy(self, machine: Machine, path: str) -> bool:
        """A sync of a segment file failed, and of what it did not write something is nowhere else: no broker
        is a source of the partition, and no journal has it. A start after a kill gives back the journals of
        what its checkpoint says is in files, and of large chunks journals have references only
        (kproto.direct.bytes): these are in the page cache, and an ack without syncs is worth no more. Of what
        else was written since, a journal must have everything."""
        inode = machine.find(path)
        if inode is None or not inode.unkept or not path.endswith(CHUNKS) or f"/{STREAMS}/" not in path:
            return False
        folder, place, _ = path.rpartition(f"/{STREAMS}/")[2].split("/")
        topic_id, index = bytes.fromhex(folder), int(place.partition(".")[2])
        image = self.world.image
        topic = image.topics_by_id.get(topic_id)
        if topic is None or topic.weakest or image.partition_streamlet(topic, index).sources:
            return False
        there, referred = self._in_journals(machine, topic_id, index)
        alone = [
            at + size <= inode.before or fields[0] in referred
            for at, size, fields in hop(inode.data)
            if fields[0] not in there
            and any(begin < at + size and at < begin + length for begin, length, _ in inode.unkept)
        ]
        return bool(alone) and all(alone)

    def _in_journals(self, machine: Machine, topic_id: bytes, index: int) -> tuple[set[int], set[int]]:
        """Base offsets of the chunks of a partition that a start finds in journals; of those that journals
        refer to."""
        there: set[int] = set()
        referred: set[int] = set()
        for name, inode in machine.folders.get(f"{machine.root}/{JOURNAL_DIRECTORY}", {}).items():
            vseg = None if name.endswith(KEPT) else vseg_of_name(name)
            for at, header in frames_in(inode, vseg) if vseg is not None else ():
                for entry in entries_of(inode, at, header):
                    if entry[:2] == (topic_id, index):
                        (referred if entry.flags & DIRECT else there).add(entry.base_offset)
        return there, referred


def unsynced_names(machine: Machine, folder: str) -> set[str]:
    """Names in a folder that a power loss may take."""
    return {name for change in machine.changes.get(folder, ()) for name in change[1:3]}
