"""A leader gets ready to be the only one that has a partition, which is to have one copy (KIP-455).

Such a streamlet has sources, and is served and recovered as any other, until its leader is ready: nothing of
it is missing in files here, these were read and are sound (17; else the scrub mends them first), all of it
up to some offset is in synced segment files, what is known of
producers and leader epochs at that offset is written down, and a synced checkpoint knows the log start. What
is appended behind that offset is in this process's own journal, whichever virtual log it goes to, and a start
finds it there. Then the controller is told, which takes the sources away: from then on new records go into
virtual logs without backups, and nobody else can lead it (18b). Nothing is refused meanwhile.

A leader that is to hand the streamlet over waits with this: the next one is to be the only one that has it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from kproto.disk import poisoning
from kproto.errors import KafkaError
from kproto.log import kept_producers
from kproto.log.scrubbing import is_sound
from kproto.metadata.records import StreamletRecord
from kproto.replica.looking import Looking, if_changed
from kproto.vlog.worker import in_worker

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.disk import Poisonable
    from kproto.log.checkpointing import Checkpointing
    from kproto.log.flushing import Flushing
    from kproto.log.partition import Partition
    from kproto.log.segment import Segment
    from kproto.metadata import TopicRecord
    from kproto.replica.reach import Metadata
    from kproto.vlog.worker import Jobs

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
DURABLE_LOOK_SECONDS: Final = 0.005
PATIENCE_SECONDS: Final = 3.0
"""How long backups may take for what was appended when everything was written down."""
PER_PROPOSAL: Final = 50
BELIEVED_SECONDS: Final = 600.0
"""A file that was read so long ago is read again: it may have been damaged since."""


class Logs(Protocol):
    """The part of `LogManager` that is used."""

    def partition(self, topic_id: bytes, index: int) -> Partition | None: ...

    def may_lack(self, topic_id: bytes, index: int) -> bool: ...

    @property
    def flushing(self) -> Flushing: ...

    @property
    def checkpointing(self) -> Checkpointing: ...


class Ready(NamedTuple):
    """A streamlet of which nothing is missing here."""

    record: StreamletRecord
    partitions: Sequence[Partition]


class Narrowing:
    """See the module's text. ``epoch`` is this broker's; ``jobs`` is a thread. When ``vlogs`` are poisoned,
    what is in the data directory is not to be the only copy: nothing is synced again, nobody is told (35)."""

    def __init__(
        self,
        node_id: int,
        metadata: Metadata,
        logs: Logs,
        jobs: Jobs,
        epoch: Callable[[], int],
        clock: Clock,
        vlogs: Poisonable,
    ) -> None:
        self._node_id = node_id
        self._metadata = metadata
        self._logs = logs
        self._jobs = jobs
        self._epoch = epoch
        self._clock = clock
        self._vlogs = vlogs
        self._sound: dict[Segment, tuple[float, float]] = {}
        """Closed ones whose files were read: when, and when the scrub had looked at them last."""
        self._looking = Looking("going back to one copy")

    def start(self) -> None:
        """Look every second from now on."""
        self._looking.start(LOOK_SECONDS, if_changed(self._metadata, self.look))

    async def close(self) -> None:
        """Stop."""
        await self._looking.close()

    async def look(self) -> int:
        """Go on with all that are to have one copy; how many streamlets. Raises KafkaError when the
        controller refuses."""
        wanted = list(self._wanted()) if self._vlogs.poisoned is None else []
        for at in range(0, len(wanted), PER_PROPOSAL):  # the others are read when these are told of
            ready: list[Ready] = []
            for topic, record in wanted[at : at + PER_PROPOSAL]:
                partitions = self._partitions(topic, record)
                if partitions is not None and await self._are_sound(partitions):
                    ready.append(Ready(record, partitions))
                await asyncio.sleep(0)
            try:
                some = await self._written_down(ready) if ready else ()
            except OSError as error:
                log.warning("%d streamlets cannot go back to one copy yet: %s", len(ready), error)
                break
            await self._propose(some)
        if not wanted:
            self._sound.clear()
        return len(wanted)

    def _wanted(self) -> Iterator[tuple[TopicRecord, StreamletRecord]]:
        image, table = self._metadata.image, self._metadata.table
        for record in image.every_streamlet():
            mine = record.replicas == (self._node_id,) and record.leader == self._node_id
            if mine and record.is_served_by(self._epoch()) and table.current_move(record) is None:
                yield image.topic_of(record), record

    def _partitions(self, topic: TopicRecord, record: StreamletRecord) -> list[Partition] | None:
        """Those of a streamlet, open; None while something of them is elsewhere only."""
        found: list[Partition] = []
        try:
            for index in topic.partitions_of(record.index):
                lacks = self._logs.may_lack(topic.topic_id, index)
                partition = None if lacks else self._logs.partition(topic.topic_id, index)
                if partition is None or next(partition.holes(), None) is not None:
                    return None
                found.append(partition)
        except (KafkaError, OSError) as error:
            log.info("%s/%d cannot go back to one copy yet: %s", topic.name, record.index, error)
            return None
        return found

    async def _are_sound(self, partitions: Iterable[Partition]) -> bool:
        """Whether their files have what they should have: damage in them would be there for good."""
        segments = [segment for partition in partitions for segment in partition.segments]
        for segment in segments:
            if self._is_believed(segment):
                continue
            began = self._clock.monotonic(), segment.checked_at
            try:
                sound = await is_sound(segment, partial(in_worker, self._jobs))
            except OSError as error:
                log.warning("%s cannot be the only copy yet: %s", segment.path, error)
                return False
            if not sound or not await self._is_on_disk(segment):
                log.info("%s cannot be the only copy yet: it is damaged", segment.path)
                return False
            if segment.closed:
                self._sound[segment] = began
        return True

    async def _is_on_disk(self, segment: Segment) -> bool:
        """What is in its file is on the disk, too. It may have been damaged, and mended by a process that was
        killed before it had synced that: nobody else thinks of it, because it was synced before (rule 36)."""
        segment.measure()
        if not segment.flushed:
            return True
        try:
            await in_worker(self._jobs, partial(segment.partition.disk.sync_file, segment.path))
            await in_worker(self._jobs, segment.sync_directories)
        except FileNotFoundError:
            return False
        except OSError as error:
            self._vlogs.poison(f"fdatasync of a segment file: {error}")
            return False
        return True

    def _is_believed(self, segment: Segment) -> bool:
        """Its file was read and sound lately, and nobody has had a reason to look at it since."""
        read_at, looked_at = self._sound.get(segment, (-math.inf, -math.inf))
        lately = read_at > self._clock.monotonic() - BELIEVED_SECONDS
        suspects = segment.partition.manager.suspects
        return lately and looked_at == segment.checked_at and segment not in suspects

    async def _written_down(self, some: Sequence[Ready]) -> list[Ready]:
        """Those of ``some`` that a start of this broker would find here as they are. OSError passes."""
        partitions = [partition for one in some for partition in one.partitions]
        ends: dict[Partition, int] = {}
        known: list[tuple[Partition, bytes, bytes]] = []
        segments: list[Segment] = []
        for partition in partitions:
            ends[partition] = partition.log_end_offset
            if partition.log_end_offset > 0:
                kept = kept_producers.packed(partition), kept_producers.packed_epochs(partition)
                known.append((partition, *kept))
            for segment in partition.unsynced():
                if not self._logs.flushing.write(segment):
                    return []
                segments.append(segment)
            await asyncio.sleep(0)
        with poisoning(self._vlogs.poison, "what is known of producers"):
            await in_worker(self._jobs, lambda: _keep_all(known))
        try:
            await in_worker(self._jobs, lambda: _sync_all(segments))
        except OSError as error:
            self._vlogs.poison(f"fdatasync of a segment file: {error}")
            return []
        self._logs.checkpointing.note_down(partitions, sync=True)
        until = self._clock.monotonic() + PATIENCE_SECONDS
        while not all(one.deleted or one.high_watermark >= end for one, end in ends.items()):
            if self._clock.monotonic() >= until:
                break
            await asyncio.sleep(DURABLE_LOOK_SECONDS)
        return [
            each
            for each in some
            if not any(one.deleted or one.high_watermark < ends[one] for one in each.partitions)
        ]

    async def _propose(self, ready: Sequence[Ready]) -> None:
        if not ready or self._vlogs.poisoned is not None:
            return
        rows = [[one.record.topic_id.hex(), one.record.index, one.record.leader_epoch] for one in ready]
        answers = await self._metadata.propose("alone", {"streamlets": rows})
        for one, answer in zip(ready, answers, strict=True):
            if answer:
                log.info("streamlet %s/%d has one copy now", one.record.topic_id.hex(), one.record.index)


def _keep_all(known: Sequence[tuple[Partition, bytes, bytes]]) -> None:
    for partition, producers, epochs in known:
        kept_producers.write(partition, producers, sync=True)
        kept_producers.write(partition, epochs, sync=True, file=kept_producers.EPOCHS)


def _sync_all(segments: Sequence[Segment]) -> None:
    for segment in segments:
        segment.sync()
