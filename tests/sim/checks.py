"""The invariants that are seen from outside the clients (rules document, section 3), and the fault budget.

What is watched all the time: PUSH and SEAL on the network (S7, S10, S16), every transaction of the store
(S6, S9, S15, and that nothing is sealed below what was durable). `look` compares what brokers believe
with what is true (S8; `leading`: S4, S6), `settle` waits for rest (L1-L4), `reading` reads everything again
(S1, S5, S13, S14). What was said to be synced is looked for on the medium (`media`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os.path import basename
from typing import TYPE_CHECKING, Any

from kproto.controller.missing import wanted_copies
from kproto.controller.rules import kept_its_power, may_lose, topics_in
from kproto.metadata.records import ONLINE, Floor
from kproto.metadata.store import Change
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.replica import messages
from kproto.replica.repair import is_whole
from kproto.replica.rules import Presence
from kproto.replica.stored_file import file_name, inspect, vseg_of_name
from kproto.vlog import kept
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import (
    ENTRY,
    ENTRY_SIZE,
    FILE_HEADER_SIZE,
    FRAME_SIZE,
    KIND_CHUNKS,
    PartitionSnapshot,
    decode_frame_header,
    decode_state,
)
from kproto.vlog.journal import file_name as journal_name
from kproto.vlog.manager import JOURNAL_DIRECTORY
from kproto.vlog.side import is_side
from kproto.wire.internal import Api, InternalError
from kproto.wire.push import PushHead

from .clients import Clients
from .disk import Machine, SimDisk
from .leading import Leading
from .media import Media, frames_in
from .patience import Patience
from .world import SESSION_S

if TYPE_CHECKING:
    from kproto.net.internal import Caller

    from .world import World

Told = Any
PartitionKey = tuple[bytes, int]
Chunk = tuple[PartitionKey, int]
"""Partition and next offset."""


class Checks:
    """Watches a world. One per seed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.media = Media(world)
        self.leading = Leading(world, self)
        self.sealed: dict[str, set[int]] = {}
        """Store id to the owner epochs that it said it had fenced."""
        self.frames: dict[tuple[str, VsegId], dict[int, int]] = {}
        """What a store acknowledged: position to chain."""
        self.contents: dict[VsegId, dict[int, tuple[int, list[tuple[PartitionKey, int]]]]] = {}
        """Of each virtual segment, position to end and (partition, next offset) of the chunks of a frame."""
        self.framed: dict[PartitionKey, int] = {}
        """By partition, the largest next offset of a chunk in any frame that was pushed."""
        self.unseen = False
        """Some virtual segment had no backup: its frames were in no push."""
        self.recorded: set[VsegId] = set()
        """Virtual segments that the store knew at some time."""
        self.durable: dict[VsegId, int] = {}
        """What owners took for durable."""
        self.led: dict[tuple[bytes, int], tuple[int, int]] = {}
        """Streamlet to its leader epoch, and who led it then (-1: nobody yet)."""
        self.lost: dict[str, set[VsegId]] = {}
        """Store id to copies that may have lost something."""
        self.open_rot: set[VsegId] = set()
        """Virtual segments that were open when a copy of them was damaged."""
        self.gone: set[str] = set()
        """Stores that exist no more."""
        self.accepted: set[VsegId] = set()
        """Given up by command, with what the power took of all their copies, and of their owner's."""
        self.at_owner: set[VsegId] = set()
        """Virtual segments that may be nowhere but with their owner for a while."""
        self.singles = {topic.name for topic in world.plan.topics if topic.least == 1}
        """Topics of which partitions have one copy, at some time."""
        self.copied: dict[tuple[bytes, int], int] = {}
        """Streamlets of them that have others, and who led them when they got these."""
        self.stores: dict[int, str] = {}
        self.left: dict[int, float] = {}
        """When a node was no member any more."""
        self.members: set[int] = set()
        self.floors: dict[int, dict[bytes, Floor]] = {}
        """By owner epoch that is over, the floors of topics then: what they allow later it never wrote."""
        self.still_damaged: Callable[[], str] = lambda: ""
        """What is to be mended before all is at rest (`damage`)."""
        for machine in world.machines.values():
            machine.needed = partial(self._is_needed, machine.node)
            machine.forgot = partial(self._forgot, machine.node)
            machine.alone = partial(self._is_alone, machine.node)
        world.network.watch = self._watch
        world.on_change.append(self._changed)

    # The network

    def _watch(self, number: int, caller: Caller, api: int, body: bytes) -> Told:
        if api == Api.PUSH:
            return self._watch_push(number, body)
        if api == Api.SEAL:
            return self._watch_seal(number, body)
        if api == Api.REPAIR:
            return self._watch_repair(number, body)
        return None

    def store_of(self, number: int) -> str:
        """The store id of a node's data directory, as the last process said that opened it."""
        directory = getattr(self.world.nodes[number].broker, "_directory", None)
        if directory is not None:
            self.stores[number] = directory.store_id
        return self.stores.get(number, "")

    def _watch_push(self, number: int, body: bytes) -> Told:
        head = PushHead.decode(body)
        at = head.end + (FILE_HEADER_SIZE if head.first else 0)
        header = decode_frame_header(body, at)
        if header is None:
            self.world.failed(f"a push to n{number} has no frame")
            return None
        store = self.store_of(number)
        vseg = VsegId(header.owner_epoch, header.vlog, header.vseg)
        fenced = header.owner_epoch in self.sealed.get(store, ())

        def told(error: int, _: bytes) -> None:
            if error != InternalError.NONE:
                self.world.count(f"push: {InternalError(error).name}")
                return
            self.world.count("pushes")
            if wrong:
                self.world.failed(wrong)
            if self.world.nodes[number].running.failed.is_set():
                self.world.failed(f"S16: n{number} took a push of {tuple(vseg)} though its storage failed")
            if fenced:
                self.world.failed(f"S7: n{number} took a push of epoch {vseg.owner_epoch}, fenced before")
            if vseg not in self.recorded:
                self.world.failed(f"rule 4: n{number} took a push of {tuple(vseg)}, unknown to the store")
            self.media.pushed(number, vseg, header.position + header.length)
            known = self.frames.setdefault((store, vseg), {})
            if known.setdefault(header.position, header.chain) != header.chain:
                self.world.failed(f"S10: n{number} has two frames at {header.position} of {tuple(vseg)}")

        wrong = ""
        if header.kind == KIND_CHUNKS:
            self._index(vseg, header, body, at)
        else:
            wrong = self._wrong_states(number, vseg, decode_state(memoryview(body)[at : at + header.length]))
        self.leading.look_at_owner(vseg)
        return told

    def _wrong_states(self, number: int, vseg: VsegId, states: list[PartitionSnapshot] | None) -> str:
        """28b: a state frame that is taken tells of no chunk that is not in a frame before it. A reader would
        go on from there, and never look for it."""
        if states is None:
            return f"28b: n{number} got a state frame of {tuple(vseg)} that is none"
        topics = {topic.name for topic in self.world.plan.topics if topic.least > 1}
        for state in states:
            key = state.topic_id, state.index
            topic = self.world.image.topics_by_id.get(state.topic_id)
            seen = self.framed.get(key, 0)
            if topic is not None and topic.name in topics and not self.unseen and state.end_offset > seen:
                return (
                    f"28b: a state frame of {tuple(vseg)} says that {topic.name}-{state.index} ends at "
                    f"{state.end_offset}, frames have it up to {seen}"
                )
        return ""

    def _index(self, vseg: VsegId, header: Any, body: bytes, at: int) -> None:
        found = self.contents.setdefault(vseg, {})
        if header.position in found:
            return
        chunks: list[tuple[PartitionKey, int]] = []
        for number in range(header.chunks):
            entry = ENTRY.unpack_from(body, at + FRAME_SIZE + number * ENTRY_SIZE)
            key, end = (entry[0], entry[1]), entry[5] + entry[8]
            self._look_at_class(vseg, *key)
            chunks.append((key, end))
            self.framed[key] = max(self.framed.get(key, 0), end)
            self.leading.framed(vseg, header.position + header.length, key, end)
        found[header.position] = (header.position + header.length, chunks)

    def _look_at_class(self, vseg: VsegId, topic_id: bytes, index: int) -> None:
        """12c: recoveries do not wait for what a virtual segment below a topic's floor holds. A push for
        first copies that were cancelled is no part of the log, and the floor is that of later ones."""
        topic, record = self.world.image.topics_by_id.get(topic_id), self.world.table.vsegs.get(vseg)
        if topic is None or record is None or record.may_hold(topic.floor):
            return
        if self._counts(record, topic_id, index):
            self.world.failed(f"12c: {record} has a chunk of {topic.name}, whose floor is {topic.floor}")

    def _index_file(self, number: int, path: str, vseg: VsegId, end: int = 1 << 62) -> bool:
        """What was in its owner's journal only was never seen in a push. False when there is no such file."""
        machine = self.world.machines[number]
        inode = machine.find(f"{machine.root}/{path}")
        if inode is None:
            return False
        for at, header in frames_in(inode, vseg):
            if header.position + header.length > end:
                break
            if header.kind == KIND_CHUNKS:
                self._index(vseg, header, bytes(inode.data), at)
        return True

    def _index_journal(self, record: VsegRecord) -> None:
        """Nobody but its owner's journal told where a virtual segment ended (18b): frames in it may be in no
        push that arrived, and are part of the log from now on (10, 21)."""
        path = f"{JOURNAL_DIRECTORY}/{journal_name(*record.id)}"
        for name in (path, path + kept.KEPT):
            if self._index_file(record.node_id, name, record.id, record.end or 0):
                self.world.count("closed by a journal")

    def _watch_seal(self, number: int, body: bytes) -> Told:
        seal = messages.Seal.decode(body)
        store = self.store_of(number)

        def told(error: int, _: bytes) -> None:
            self.world.count("seals")
            if error == InternalError.NONE and not seal.journal:
                self.sealed.setdefault(store, set()).add(seal.vseg.owner_epoch)
                self.media.sealed(number, seal.vseg.owner_epoch)

        return told

    def _watch_repair(self, number: int, body: bytes) -> Told:
        record = messages.Repair.decode(body).record
        vseg = record.id
        store = self.store_of(number)

        def told(error: int, _: bytes) -> None:
            if error == InternalError.NONE:
                self.world.count("repairs")
                self.media.repaired(number, record)
                self.lost.get(store, set()).discard(vseg)
                self._index_file(number, f"replicas/{file_name(vseg)}", vseg)

        return told

    # The store

    def _changed(self, change: Change, before: dict[VsegId, VsegRecord] | None) -> None:
        world, table = self.world, self.world.table
        if before is not None:
            for key, value in change.puts.items():
                if key.startswith("vsegs/"):
                    self._vseg_changed(VsegRecord.decode(key, value), before)
            if any(key.startswith("vsegs/") for key in change.deletes):
                for vseg in [vseg for vseg in before if vseg not in table.vsegs]:
                    self._freed(before[vseg])
        for key in change.puts:
            if key.startswith("starts/"):
                world.count("log starts stored")
            elif key.startswith("streamlets/"):
                _, topic_id, index = key.split("/")
                self._look_at_leadership(bytes.fromhex(topic_id), int(index, 16))
                self._look_at_first_copies(bytes.fromhex(topic_id), int(index, 16))
        for key in change.deletes:
            if key.startswith("brokers/"):
                self.left[int(key.removeprefix("brokers/"))] = world.loop.now
        if any(key.startswith("brokers/") for key in (*change.puts, *change.deletes)):
            self._members_changed()

    def _members_changed(self) -> None:
        image = self.world.image
        members = {broker.epoch for broker in image.brokers.values()}
        for epoch in self.members - members:
            self.floors[epoch] = {topic.topic_id: topic.floor for topic in image.topics.values()}
        self.members = members

    def _vseg_changed(self, record: VsegRecord, before: dict[VsegId, VsegRecord]) -> None:
        """S9; rule 21: never below what was durable; a closed one never changes its end."""
        world, table = self.world, self.world.table
        vseg, name = record.id, tuple(record.id)
        self.recorded.add(vseg)
        known = before.get(vseg)
        if known is not None and known.end is not None and known.end != record.end:
            world.failed(f"S9: vseg {name} ended at {known.end} and ends at {record.end} now")
        former = table.vsegs.get(vseg._replace(seq=vseg.seq - 1))
        later = table.vsegs.get(vseg._replace(seq=vseg.seq + 1))
        if former is not None and former.end != record.start:
            world.failed(f"S9: vseg {name} begins at {record.start}, the one before ends at {former.end}")
        if later is not None and later.start != record.end:
            world.failed(f"S9: vseg {name} ends at {record.end}, the one behind begins at {later.start}")
        if record.end is not None and (known is None or known.end is None):
            world.count("closed" if record.end > record.start else "closed empty")
            self.note_durable()
            if self.durable.get(vseg, 0) > record.end:
                self._lost_end(record, before[vseg])
            self._look_at_listed(record)
            if not record.backups and not record.empty:
                self._index_journal(record)
        targets = [target.node_id for target in record.backups]
        if known is None and (len(set(targets)) != len(targets) or record.node_id in targets):
            world.failed(f"rule 4: vseg {name} of n{record.node_id} has its copies on {targets}")
        if known is None and len(targets) < record.copies - 1:
            world.count("smaller sets")
            self.unseen |= not targets
        if known is not None:
            self._look_at_gained(record, known)
            gone = record.policy != FlushPolicy.SYNCED and not kept_its_power(table, record)
            if record.lost and not known.lost and gone and not self._copies(known):
                self.accepted.add(vseg)
                world.count("given up with the power")
        if record.emptied and known is not None and not known.emptied:
            world.count("pushed again")
            self._elsewhere(record)

    def _lost_end(self, record: VsegRecord, before: VsegRecord) -> None:
        """Rule 21: a virtual segment is closed below what was durable. Allowed where no topic has anything in
        it, or all that have prefer being served, and whoever has all of it has been away for a session."""
        world, durable = self.world, self.durable[record.id]
        floors, topics_by_id = self.floors.get(record.id.owner_epoch, {}), world.image.topics_by_id
        able = {
            topic_id: part
            for topic_id, part in world.image.streamlets.items()
            if before.may_hold(floors.get(topic_id, topics_by_id[topic_id].floor))
        }
        image = replace(world.image, streamlets=able)
        topics = list(topics_in(image, world.table, before))
        wrong = f"rule 21: vseg {tuple(record.id)} is closed at {record.end}, {durable} was durable"
        if not topics:
            world.count("closed, nobody's")
        elif not may_lose(image, world.table, before, False):
            world.failed(f"{wrong}; {[topic.name for topic in topics]}")
        else:
            owner = () if world.table.is_moved(before) else (CopyTarget(before.node_id, before.store_id),)
            for target in (*before.backups, *owner):
                away = world.loop.now - self.left.get(target.node_id, -1e9)
                if self.intact(record.id, target, durable) and (
                    target.node_id in world.image.brokers or away < SESSION_S
                ):
                    world.failed(f"{wrong}; n{target.node_id} has it, and left {away:.1f} s ago if at all")
            world.count("lost, as the configs of topics allow")

    def _look_at_listed(self, record: VsegRecord) -> None:
        """Rule 23, of one that was closed just now: who is listed has all of it. (Rotten ones aside, and
        those that could not be read a moment ago though they are whole: their broker says so, rule 24.)"""
        assert record.end is not None
        for target in self._copies(record) if not record.empty and not self.world.plan.rot else ():
            node = self.world.nodes[target.node_id]
            if node.up and node.ready and self.store_of(target.node_id) == target.store_id:
                store = node.store
                copy, limbo = store.copies.get(record.id), store.state.limbo
                if copy is None or (copy.loaded and copy.end < record.end and record.id not in limbo):
                    failed = copy is not None and copy.presence is Presence.UNREADABLE
                    if failed and self._is_whole(record, node.machine, store.path_of(record.id)):
                        self.world.count("listed as a read of it failed")
                        continue
                    self.world.failed(
                        f"rule 23: vseg {tuple(record.id)} is closed at {record.end}, n{target.node_id} is "
                        f"listed and has {'nothing' if copy is None else copy.end}"
                    )

    def _is_whole(self, record: VsegRecord, machine: Machine, path: str) -> bool:
        """On its disk, when no read fails."""
        if machine.find(path) in machine.unreadable:
            return False
        due, machine.fail_next = machine.fail_next, None
        try:
            return is_whole(inspect(SimDisk(machine), path, record.id, True), record)
        finally:
            machine.fail_next = due

    def _look_at_gained(self, record: VsegRecord, known: VsegRecord) -> None:
        """Rule 17: a copy is listed only where it was made, and still is."""
        for target in record.backups:
            if target in known.backups or not self.intact(record.id, target):
                continue
            machine = self.world.machines[target.node_id]
            there = machine.find(f"{machine.root}/replicas/{file_name(record.id)}") is not None
            if not there and self.store_of(target.node_id) == target.store_id:
                self.world.failed(
                    f"rule 17: n{target.node_id} is listed for vseg {tuple(record.id)}, and has no copy"
                )

    def _live(self, record: VsegRecord) -> list[Chunk]:
        """The chunks in a virtual segment that are not below the start of their log."""
        world = self.world
        end = record.end if record.end is not None else 1 << 62
        return [
            ((topic_id, index), next_offset)
            for stop, chunks in self.contents.get(record.id, {}).values()
            for (topic_id, index), next_offset in (chunks if stop <= end else ())
            if topic_id in world.image.topics_by_id
            and next_offset > world.table.log_start(topic_id, index)
            and self._counts(record, topic_id, index)
        ]

    def _counts(self, record: VsegRecord, topic_id: bytes, index: int) -> bool:
        """What was pushed for a topic of one copy is of use only if it was not cancelled. Visitors make some,
        too, whose only copies leave a broker that is drained, or are to."""
        topic = self.world.image.topics_by_id[topic_id]
        streamlet = self.world.image.partition_streamlet(topic, index)
        if streamlet.sources and len(streamlet.replicas) > 1 and topic.name not in self.singles:
            return True
        return record.id.owner_epoch in streamlet.sources

    def _look_at_leadership(self, topic_id: bytes, index: int) -> None:
        """S6: leader epochs only grow, and another leader has another one."""
        if topic_id not in self.world.image.topics_by_id:
            return
        streamlet = self.world.image.streamlet(topic_id, index)
        epoch, leader = self.led.get((topic_id, index), (-1, -1))
        if streamlet.leader_epoch < epoch or (
            streamlet.leader_epoch == epoch
            and -1 not in (leader, streamlet.leader)
            and leader != streamlet.leader
        ):
            self.world.failed(f"S6: {leader} under epoch {epoch} is followed by {streamlet!r}")
        if streamlet.leader == -1 and streamlet.leader_epoch == epoch:
            return  # whoever it was may come back under its epoch
        self.led[topic_id, index] = (streamlet.leader_epoch, streamlet.leader)

    def _look_at_first_copies(self, topic_id: bytes, index: int) -> None:
        """Rule 45, of a streamlet that just got sources: what was given up before was not checked for it."""
        topic = self.world.image.topics_by_id.get(topic_id)
        if topic is None or topic.name not in self.singles:
            return
        streamlet = self.world.image.streamlet(topic_id, index)
        sources = streamlet.sources
        if not sources:
            before = self.copied.pop((topic_id, index), None)
            if before is not None:
                self.world.count("one copy again" if before == streamlet.leader else "one copy, elsewhere")
            return
        if (topic_id, index) in self.copied:
            return
        self.copied[topic_id, index] = streamlet.leader
        missing: set[Chunk] = set()
        there: set[Chunk] = set()
        for record in self.world.table.of_owner(sources[-1]):
            found = {one for one in self._live(record) if one[0] == (topic_id, index)}
            if record.emptied:
                missing |= found
            else:
                there |= found
        self.world.count("first copies")
        self.world.count("first copies, some lost meanwhile", bool(missing))
        if missing - there:
            self.world.failed(f"S15: {topic.name} has its first copies, but nothing has {missing - there}")

    def _elsewhere(self, record: VsegRecord) -> None:
        """S15, rule 45: what was live in it is in other virtual segments, too, but for an accepted loss."""
        if record.id in self.accepted:
            return
        missing = set(self._live(record))
        for other in self.world.table.vsegs.values():
            if missing and other.id != record.id and not other.emptied:
                missing.difference_update(self._live(other))
        if missing:
            self.world.failed(f"S15: vseg {tuple(record.id)} was given up, but nothing else has {missing}")

    def _freed(self, record: VsegRecord) -> None:
        """S15: nothing in it was live, or it was pushed again there for who had just handed it over (12b)."""
        self.world.count("freed")
        if is_side(record.id.vlog) and not record.emptied:
            self._elsewhere(record)
        elif not record.emptied and record.id not in self.accepted and (live := self._live(record)):
            starts = {key: self.world.table.log_start(*key) for key, _ in live}
            self.world.failed(f"S15: vseg {tuple(record.id)} is freed, but holds {live}; starts: {starts}")

    # What brokers believe

    def note_durable(self) -> None:
        """Remember what owners, dead ones aside, take for durable."""
        for node in self.world.nodes.values():
            if node.up and node.ready and node.broker is not None:
                for pusher in node.broker._vlogs._replicated():
                    vlog = pusher.vlog
                    for segment in vlog.segments:
                        vseg = VsegId(vlog.owner_epoch, vlog.vlog_id, segment.number)
                        self.durable[vseg] = max(self.durable.get(vseg, 0), segment.durable)

    def look(self) -> None:
        """What can be seen at any moment."""
        self.note_durable()
        for node in self.world.nodes.values():
            if node.up and node.ready and node.broker is not None:
                self.leading.look(node)
                for pusher in node.broker._vlogs._replicated():
                    self.leading.look_at_copies(node, pusher)
                fences = node.store.fences.epochs
                missing = self.sealed.get(self.store_of(node.number), set()) - fences
                if missing:
                    self.world.failed(f"S7: n{node.number} has forgotten the fences of {sorted(missing)}")
                for epoch in self.sealed.get(self.store_of(node.number), ()):
                    self.media.sealed(node.number, epoch)
                self.media.look(node)
        self._look_at_budget()

    # The budget

    def intact(self, vseg: VsegId, target: CopyTarget, end: int | None = None) -> bool:
        """The store is there, and lost nothing of the copy, or had it made again, or nothing that counts:
        below ``end``, or where it was closed.

        Where the power failed a copy may be named that never was: one of a virtual segment that was opened
        before that was noticed. Its broker will not know that nothing is missing.
        """
        if target.store_id in self.gone:
            return False
        lost = self.lost.get(target.store_id)
        if lost is None:
            return True
        record = self.world.table.vsegs.get(vseg)
        machine = self.world.machines[target.node_id]
        path = f"{machine.root}/replicas/{file_name(vseg)}"
        if record is not None and record.open and machine.find(path) is None:
            return False
        if end is None and record is not None:
            end = record.end
        if vseg in lost and end is not None:
            found = inspect(SimDisk(machine), path, vseg, True)
            if found.header is not None and found.end >= end:
                lost.discard(vseg)
        return vseg not in lost

    def _copies(self, record: VsegRecord, without: int = -1) -> list[CopyTarget]:
        """Those that are, and that their brokers do not disown (seed 30091096)."""
        nodes = self.world.nodes
        return [
            target
            for target in record.backups
            if target.node_id != without
            and self.intact(record.id, target)
            and not nodes[target.node_id].may_disown(record)
        ]

    def _is_needed(self, number: int, path: str) -> bool:
        """The file has a copy of which there is no other: its broker disowns what it cannot read, or it is a
        journal file that metadata does not know, of a single copy, or a segment file (`media`)."""
        if self.media.is_only_copy(self.world.machines[number], path):
            return True
        vseg, journal = vseg_of_name(basename(path)), kept.vseg_of_name(basename(path))
        record = self.world.table.vsegs.get(vseg or VsegId(*journal or (-1, -1, -1)))
        return not self._copies(record, without=number) if record is not None else journal is not None

    def _forgot(self, number: int, path: str) -> None:
        """The file may be a copy, which is none any more: the disk of another one is not to be lost then, as
        if this one were there yet (seed 30063704)."""
        vseg = vseg_of_name(basename(path))
        if vseg is not None:
            self.lost.setdefault(self.store_of(number), set()).add(vseg)

    def _is_alone(self, number: int) -> bool:
        """All backups failed, and it went on without: what it has is in doubt when its disk fails, too."""
        return any(
            record.node_id == number and not record.empty and not self._copies(record)
            for record in self.world.table.vsegs.values()
        )

    def _look_at_budget(self) -> None:
        """S8: every virtual segment in use has a copy."""
        if self.world.plan.kind != "disks":
            return
        for record in self.world.table.vsegs.values():
            if record.open or record.empty or record.id in self.at_owner:
                continue
            if record.backups and not self._copies(record) and not self._has_unlisted(record):
                self.world.failed(f"S8: no copy is left of vseg {tuple(record.id)}")

    def _has_unlisted(self, record: VsegRecord) -> bool:
        """Of one with a copy that was damaged while it was open there is another one, which was late when its
        end was looked for and is not listed, or its owner's."""
        if record.id not in self.open_rot:
            return False
        journal = f"{JOURNAL_DIRECTORY}/{journal_name(*record.id)}"
        places = [(machine, f"replicas/{file_name(record.id)}") for machine in self.world.machines.values()]
        places += [(self.world.machines[record.node_id], name) for name in (journal, journal + kept.KEPT)]
        there = any(self._is_whole(record, machine, f"{machine.root}/{name}") for machine, name in places)
        self.world.count("whole where it is not listed", there)
        return there

    def may_kill(self, number: int) -> bool:
        """Processes may die at any time: their disks stay."""
        return True

    def may_lose_disk(self, number: int) -> bool:
        """Everything has another copy, and nothing is being decided about copies."""
        world = self.world
        if (
            world.network.cuts
            or world.store.down
            or not all(node.ready or not node.up for node in world.nodes.values())
        ):
            return False
        if any(node.paused or not node.up for node in world.nodes.values()):
            return False
        members = {broker.epoch for broker in world.image.brokers.values()}
        for record in world.table.vsegs.values():
            if record.open and record.id.owner_epoch not in members:
                return False
            if record.empty:
                continue
            if not record.backups and record.node_id == number:
                return False
            if record.backups and not self._copies(record, without=number):
                return False
        return all(
            streamlet.state == ONLINE for part in world.image.streamlets.values() for streamlet in part
        )

    def may_lose_disk_meanwhile(self, number: int) -> bool:
        """The same while owners are dead and ends are looked for: everything has another copy, be its broker
        up or not, and nobody is just writing down who has some."""
        world = self.world
        if not all(node.ready or not node.up for node in world.nodes.values()):
            return False
        if any(node.is_deciding_by(number) for node in world.nodes.values()):
            return False
        return all(
            record.empty
            or (bool(self._copies(record, without=number)) if record.backups else record.node_id != number)
            for record in world.table.vsegs.values()
        )

    def may_rot(self, number: int) -> list[VsegId]:
        """Closed virtual segments that have another copy than the one on a node."""
        store = self.store_of(number)
        return [
            vseg
            for vseg, record in self.world.table.vsegs.items()
            if not record.open
            and not record.empty
            and any(target.store_id == store for target in self._copies(record))
            and self._copies(record, without=number)
        ]

    def may_rot_open(self) -> list[tuple[int, VsegId]]:
        """Nodes with copies of open virtual segments of which there is another one, while their owners and
        all that have copies are here."""
        nodes = self.world.nodes
        found: list[tuple[int, VsegId]] = []
        for record in self.world.table.open_vsegs():
            copies = self._copies(record)
            here = [nodes[number] for number in (record.node_id, *(one.node_id for one in record.backups))]
            alive = all(node.serving and not node.stopping for node in here)
            if len(copies) < 2 or len(copies) < len(record.backups) or not alive:
                continue
            if self.world.epoch_of(here[0]) == record.id.owner_epoch:
                found += [(target.node_id, record.id) for target in copies]
        return found

    def rotting(self, number: int, vseg: VsegId) -> None:
        """Before the copy of a virtual segment is damaged."""
        record = self.world.table.vsegs.get(vseg)
        if record is not None and record.open:
            self.open_rot.add(vseg)
        self.lost.setdefault(self.store_of(number), set()).add(vseg)

    def losing_power(self, number: int) -> None:
        """Before a power loss: which copies are not wholly on the medium."""
        store, machine = self.store_of(number), self.world.machines[number]
        lost = self.lost.setdefault(store, set())
        folder = f"{machine.root}/replicas"
        unsynced = {name for change in machine.changes.get(folder, ()) for name in change[1:3]}
        for record in self.world.table.vsegs.values():
            if any(target.store_id == store for target in record.backups) and record.policy != 2:
                name = file_name(record.id)
                inode = machine.find(f"{folder}/{name}")
                if record.open or inode is None or inode.pending or name in unsynced:
                    lost.add(record.id)
        for key in [key for key in self.frames if key[0] == store]:
            del self.frames[key]

    def losing_disk(self, number: int) -> None:
        """Before a wipe."""
        self.gone.add(self.store_of(number))

    # Rest

    async def settle(self, clients: Clients) -> None:
        """L1-L4: wait until all is as it should be."""
        world = self.world
        if world.loop.current is not None:
            world.failed(f"the simulation itself is part of {world.loop.current.name}, and would end with it")
        acks = {id(ledger): len(ledger.acked) for ledger in clients.ledgers}
        patience = Patience(world, self.missing_bytes())
        wrong = ""
        while not patience.over:
            await asyncio.sleep(0.5)
            self.look()
            world.look()
            wrong = self._unsettled(clients, acks)
            if not wrong:
                return
        acting = world.acting()
        stuck = list(acting[1].proposals.loop.stuck()) if acting is not None else ["there is no controller"]
        world.failed(f"L: {patience.seconds:.0f} s after the last fault: {wrong} {stuck}")
        world.look()

    def compare_copies(self) -> None:
        """S9, S11: frames of a closed virtual segment are the same in all copies, byte for byte. (What is
        behind the header of a file, before its first frame, is nothing's.) All is at rest."""
        for record in self.world.table.vsegs.values():
            if record.end is None or record.empty:
                continue
            size = record.end - record.start
            found: dict[bytes, list[int]] = {}
            for target in self._copies(record):
                machine = self.world.machines[target.node_id]
                inode = machine.find(f"{machine.root}/replicas/{file_name(record.id)}")
                data = b"" if inode is None else bytes(inode.data[FILE_HEADER_SIZE:][:size])
                found.setdefault(data, []).append(target.node_id)
            self.world.count("copies compared", sum(map(len, found.values())))
            if len(found) > 1 or any(len(data) < size for data in found):
                self.world.failed(f"S11: copies of vseg {tuple(record.id)} differ: {list(found.values())}")

    def missing_bytes(self) -> int:
        """All that missing copies are to have; one broker may have to read it."""
        records = self.world.table.vsegs.values()
        return sum(self._lacking(one)[0] * (one.end - one.start) for one in records if one.end is not None)

    def _unsettled(self, clients: Clients, acks: dict[int, int]) -> str:
        world = self.world
        for node in world.nodes.values():
            if not node.serving or node.stopping:
                return f"L1: n{node.number} does not serve, or not for long"
            member = world.image.brokers.get(node.number)
            if member is None or member.epoch != world.epoch_of(node):
                return f"L1: n{node.number} does not know that it was fenced"
        for topic_id, part in world.image.streamlets.items():
            for streamlet in part:
                broker = world.image.brokers.get(streamlet.leader)
                if broker is None or streamlet.state != ONLINE:
                    return f"L1: {world.image.topics_by_id[topic_id].name}/{streamlet.index} is not online"
                if streamlet.sources and streamlet.sources[-1] != broker.epoch:
                    return (
                        f"L1: {world.image.topics_by_id[topic_id].name}/{streamlet.index} has an old leader"
                    )
                topic = world.image.topics_by_id[topic_id]
                copies = len(streamlet.replicas)
                if bool(streamlet.sources) != (copies > 1):
                    return f"L3: {topic.name}/{streamlet.index} is to have {copies} copies"
                if streamlet.was:
                    return f"L3: {topic.name}/{streamlet.index} had {streamlet.was}, and is under way"
                if not streamlet.sources and streamlet.leader not in streamlet.replicas:
                    return (
                        f"L3: the only copy of {topic.name}/{streamlet.index} is on n{streamlet.leader} yet"
                    )
        for ledger in clients.ledgers:
            if len(ledger.acked) <= acks[id(ledger)]:
                return f"L2: nothing is acknowledged on {ledger.name}"
        for record in world.table.vsegs.values():
            wrong = self._short(record)
            if wrong:
                return wrong
            if doubted := self._doubted(record):
                return f"L3: n{doubted} has yet to read its copy of vseg {tuple(record.id)}"
        return self.still_damaged()

    def _doubted(self, record: VsegRecord) -> list[int]:
        """Who may lack what was not synced of a closed virtual segment, and has not looked yet."""
        if record.end is None or record.empty:
            return []
        stores = {one.node_id: self.world.nodes[one.node_id].store for one in self._copies(record)}
        copies = {number: store.copies.get(record.id) for number, store in stores.items()}
        return [
            number
            for number, copy in copies.items()
            if copy is not None and not copy.loaded and record.id in stores[number].state.unread
        ]

    def _short(self, record: VsegRecord) -> str:
        """L3: copies are missing."""
        members = {broker.epoch for broker in self.world.image.brokers.values()}
        if record.open and record.id.owner_epoch not in members:
            return f"L3: vseg {tuple(record.id)} is open without an owner"
        if record.open or record.empty:
            return ""
        lacking, wanted = self._lacking(record)
        told = f"L3: vseg {tuple(record.id)} has {wanted - lacking} copies, not {wanted}: {record}"
        return told if lacking else ""

    def _lacking(self, record: VsegRecord) -> tuple[int, int]:
        """How many copies are missing, of how many there should be."""
        wanted = wanted_copies(self.world.image, self.world.table, record)
        there = {one.node_id for one in self._copies(record) if self.store_of(one.node_id) == one.store_id}
        own = {record.node_id} if wanted < record.copies else set()  # its files are one, on the same disk
        wanted = min(wanted, len(self.world.nodes) - len(own))
        return max(wanted - len(there - own), 0), wanted
