"""A leader makes copies of partitions that had only one, because they are to have more, or because the only
one is to be on another broker (KIP-455).

From the moment at which the metadata says so, new records go into virtual logs with backups. What was there
before is pushed again, verbatim, into the leader's side virtual log (`rewriting`). When all of it is on
backups, and a state frame tells of each partition, the controller is told: from then on the owner epoch is
the source of the streamlet (rule 27b), which any broker can recover. Before that nothing has changed: without
its leader there is no other (rule 18b), a process that starts anew begins anew, and the reassignment can be
cancelled. Then what was pushed is of no use: the leader epoch is another one, and what is appended until
there are to be copies again is in virtual logs without backups. A failure stops it where it is, and it goes
on there.

When partitions that have copies are to have more, or acks are to wait for syncs, they go on in other virtual
logs; what they leave behind is in segments of those that they left, which are closed then, so that
backups sync them, and want as many copies. A virtual log that nobody appends to any more has no open segment:
with fewer copies, or after a loss of power in limbo, it would hold up others. Those that nobody has any more
(`VlogManager.ended`) have none either, nor those that nobody appends to while a backup of theirs is drained.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, Protocol

from kproto.metadata.records import ONLINE, StreamletRecord
from kproto.metadata.vlogs import VsegId
from kproto.replica.handing_over import Vlogs as Rolling
from kproto.replica.looking import Looking, Waits, if_changed
from kproto.replica.rewriting import NOT_NOW, NotHereError, Stretch

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.partition import Partition
    from kproto.metadata import TopicRecord
    from kproto.replica.messages import PartitionKey
    from kproto.replica.reach import Metadata
    from kproto.replica.rewriting import Logs, Rewriting

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 1.0
MOST_RETRY_SECONDS: Final = 30.0
"""What cannot be pushed is tried again after so long, twice as much each time."""
ROLL_LOOK_SECONDS: Final = 0.05
PER_PROPOSAL: Final = 50
NO_VSEG: Final = VsegId(-1, 0, 0)
"""Nothing is to be freed."""
Reign = tuple[bytes, int, int]
"""A streamlet (topic id and number) under a leader epoch."""


class Vlogs(Rolling, Protocol):
    """The part of `VlogManager` that is used."""

    def take_outgrown(self) -> dict[int, int]: ...

    def ended(self) -> list[int]: ...

    def rest(self, vlog_ids: Iterable[int]) -> list[tuple[int, int, int]]: ...

    def rested(self, ends: Iterable[tuple[int, int, int]]) -> None: ...


class Widening:
    """See the module's text. ``epoch`` is this broker's; ``knows`` as for `Rewriting`; ``done(partition)`` is
    called for each that has copies now."""

    def __init__(
        self,
        node_id: int,
        metadata: Metadata,
        logs: Logs,
        vlogs: Vlogs,
        rewriting: Rewriting,
        epoch: Callable[[], int],
        knows: Callable[[VsegId, frozenset[PartitionKey]], bool],
        done: Callable[[Partition], object],
        clock: Clock,
    ) -> None:
        self._node_id = node_id
        self._metadata = metadata
        self._logs = logs
        self._vlogs = vlogs
        self._outgrown: dict[int, int] = {}
        self._rewriting = rewriting
        self._epoch = epoch
        self._knows = knows
        self._tell = done
        self._clock = clock
        self._pushed: dict[Partition, Stretch] = {}
        """What was in one copy under a leader epoch; as far as it was pushed it is on its way to others, or
        there."""
        self._waits: Waits[Reign] = Waits(RETRY_SECONDS, MOST_RETRY_SECONDS)
        self._again_at: dict[Reign, float] = {}
        """When those are tried again that could not be pushed."""
        self._looking = Looking("making more copies")
        self._rolling = Looking("having more copies made")
        self._closing = Looking("closing virtual logs that nobody appends to")

    def start(self) -> None:
        """Look every second from now on. Pushing everything of a partition may take hours, and what needs no
        more than a word to the controller, or disks that sync it, does not wait for that."""
        self._looking.start(LOOK_SECONDS, if_changed(self._metadata, self.look))
        self._rolling.start(LOOK_SECONDS, self.roll)
        self._closing.start(LOOK_SECONDS, self.close_ended)

    async def close(self) -> None:
        """Stop."""
        await self._closing.close()
        await self._rolling.close()
        await self._looking.close()

    async def look(self) -> int:
        """Go on with all that have to get copies; how many streamlets. Raises LostError, and KafkaError when
        the controller refuses."""
        wanted = list(self._wanted())
        self._forget(wanted)
        ready: list[tuple[StreamletRecord, list[Partition]]] = []
        for topic, record in wanted:
            try:
                partitions = self._partitions(topic, record)
            except NOT_NOW as error:
                log.info("%s/%d has one copy yet: %s", topic.name, record.index, error)
                continue
            if await self._are_pushed(partitions, record):
                ready.append((record, partitions))
        everything = [partition for _, partitions in ready for partition in partitions]
        await self._rewriting.durable()
        keys = frozenset((one.topic_id, one.index) for one in everything)
        if keys and self._knows(NO_VSEG, keys) and self._rewriting.is_copied(lambda _: True):
            for at in range(0, len(ready), PER_PROPOSAL):
                await self._propose(ready[at : at + PER_PROPOSAL])
        return len(wanted)

    async def close_ended(self) -> None:
        """Close virtual logs that are to `rest` (`VlogManager.ended`). It waits for nothing else: the journal
        has room again once the controller knows these ends, and all that is pushed here may wait for that
        room. Raises KafkaError when the controller refuses."""
        await self._rest(self._vlogs.ended())

    async def roll(self) -> None:
        """Close what partitions have left for virtual logs with more copies, or syncs, and have that copied
        as often. Raises KafkaError when the controller refuses."""
        for vlog, copies in self._vlogs.take_outgrown().items():
            self._outgrown[vlog] = max(copies, self._outgrown.get(vlog, 0))
        if not self._outgrown:
            return
        outgrown = dict(self._outgrown)
        await self._rest(outgrown)
        await self._rewriting.durable()  # what is not yet would go into the segment after these
        marks = self._vlogs.leave_behind()
        while not self._vlogs.left_behind(marks):
            await asyncio.sleep(ROLL_LOOK_SECONDS)
        await self._rest(outgrown)  # one that was not at rest before has another segment now, an empty one
        rows = [[vlog, marks.get(vlog, 0), copies] for vlog, copies in outgrown.items()]
        await self._metadata.propose("widen", {"vlogs": rows})
        for vlog in outgrown:
            del self._outgrown[vlog]

    async def _rest(self, vlogs: Iterable[int]) -> None:
        ends = self._vlogs.rest(vlogs)
        if ends:
            await self._metadata.propose("close_vsegs", {"vsegs": [list(end) for end in ends]})
            self._vlogs.rested(ends)

    def _wanted(self) -> Iterator[tuple[TopicRecord, StreamletRecord]]:
        image = self._metadata.image
        if len(image.brokers) < 2:
            return
        for record in image.every_streamlet():
            if record.leader == self._node_id and record.state == ONLINE:
                topic = image.topic_of(record)
                if topic.is_copying(record):
                    yield topic, record

    def _partitions(self, topic: TopicRecord, record: StreamletRecord) -> list[Partition]:
        """Those of a streamlet, open."""
        found: list[Partition] = []
        for index in topic.partitions_of(record.index):
            partition = self._logs.partition(topic.topic_id, index)
            if partition is None or partition.vlog is None or partition.vlog.copies == 1:
                raise NotHereError(f"partition {index} still appends without copies")
            found.append(partition)
        return found

    def _forget(self, wanted: Iterable[tuple[TopicRecord, StreamletRecord]]) -> None:
        """What was pushed for reassignments that are no more."""
        now = {(record.topic_id, record.index): record.leader_epoch for _, record in wanted}
        groups = {topic.topic_id: topic.active_groups for topic, _ in wanted}
        self._pushed = {
            one: stretch
            for one, stretch in self._pushed.items()
            if stretch.leader_epoch == now.get((one.topic_id, one.index // groups.get(one.topic_id, 1)))
        }
        reigns = {_reign(record) for _, record in wanted}
        self._waits.keep(reigns)
        self._again_at = {reign: at for reign, at in self._again_at.items() if reign in reigns}

    async def _are_pushed(self, partitions: Iterable[Partition], record: StreamletRecord) -> bool:
        """Whether all of them are now; else it goes on later where it stopped."""
        reign = _reign(record)
        if self._clock.monotonic() < self._again_at.get(reign, 0.0):
            return False
        try:
            for partition in partitions:
                await self._push(partition, record)
        except NOT_NOW as error:
            level = logging.WARNING if self._is_wanted(record) else logging.INFO
            log.log(level, "what has one copy cannot be pushed to others: %s", error)
            self._again_at[reign] = self._clock.monotonic() + self._waits.longer(reign)
            return False
        return True

    async def _push(self, partition: Partition, record: StreamletRecord) -> None:
        """Once, all that is there at the first try: what comes later has backups. Not when the reassignment
        is cancelled meanwhile."""
        stretch = self._pushed.get(partition)
        if stretch is None:
            begin, end = partition.log_start_offset, partition.high_watermark
            stretch = self._pushed[partition] = Stretch(partition, begin, end, record.leader_epoch)
        if stretch.at < stretch.end:
            await self._rewriting.push(stretch, lambda: self._is_wanted(record))

    def _is_wanted(self, record: StreamletRecord) -> bool:
        """The streamlet is still to get its first copies, under this leader epoch."""
        image = self._metadata.image
        topic = image.topics_by_id.get(record.topic_id)
        if topic is None:
            return False
        now = image.streamlet(record.topic_id, record.index)
        return topic.copies_of(now) > 1 and now.leader_epoch == record.leader_epoch

    async def _propose(self, ready: list[tuple[StreamletRecord, list[Partition]]]) -> None:
        rows = [
            [record.topic_id.hex(), record.index, record.leader_epoch, [one.log_start_offset for one in some]]
            for record, some in ready
        ]
        answers = await self._metadata.propose("copied", {"streamlets": rows})
        for (record, partitions), answer in zip(ready, answers, strict=True):
            if answer:
                log.info("streamlet %s/%d has copies now", record.topic_id.hex(), record.index)
                for partition in partitions:
                    self._pushed.pop(partition, None)
                    self._tell(partition)  # its log start may have moved since


def _reign(record: StreamletRecord) -> Reign:
    return record.topic_id, record.index, record.leader_epoch
