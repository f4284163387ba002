"""All partitions of one broker: opens them on first use, flushes, ages, checkpoints and deletes them in
small slices.

Nothing here costs anything per partition that is not in use: partitions are made by `LogManager.partition`,
and only those with bytes that are not in files, or that changed since the last checkpoint, are in a list.
"""

from __future__ import annotations

import errno
import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from kproto.config import ConfigError, TopicConfig, topic_config
from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.log.adopting import TakenOver, open_taken_over, taken_over
from kproto.log.blocks import BlockPool
from kproto.log.checkpoint import Checkpoint
from kproto.log.due import Due
from kproto.log.files import STREAMS, OpenFiles, partition_directory, stream_directory
from kproto.log.opening import open_partition
from kproto.log.partition import Partition
from kproto.log.reader import IndexCache
from kproto.log.stream import Stream
from kproto.log.trash import Trash
from kproto.metadata.records import NO_LEADER, ONLINE

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.disk import Disk
    from kproto.log.checkpoint import Entry
    from kproto.log.ports import JournalRun, LogPorts, Snapshot
    from kproto.log.segment import Segment
    from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord

log = logging.getLogger(__name__)

SLICE_S: Final = 0.001
"""A tick does not work longer than this at once."""
RETRY_S: Final = 1.0
"""How long to wait after the disk was full."""
TRIM_S: Final = 60.0
BLOCKS_PER_SLICE: Final = 500
RELEASED_KEPT_S: Final = 300.0
"""How long the files of a partition stay that another broker leads now; since a start, too."""
OPENED_PER_LOOK: Final = 64
CHECKPOINT_BATCH: Final = 150
CHECKPOINT_AT_ONCE: Final = 600
CHECKPOINT_SLICES: Final = 40
"""After so many slices the rest is written at once, lest partitions that change all the time hold it up."""
SYNC_ALL_FROM: Final = 100
INDEXES_KEPT: Final = 128
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class LogManager:
    """Everything on the event loop; see `Partition` for what threads may do."""

    __slots__ = (
        "_busy",
        "_changed",
        "_checkpoint",
        "_checkpoint_retry",
        "_deletions",
        "_due",
        "_dynamic",
        "_exact",
        "_full_until",
        "_going",
        "_image",
        "_known_at_start",
        "_next_checkpoint",
        "_next_retention",
        "_next_trim",
        "_recovered",
        "_released",
        "_retaining",
        "_room_at",
        "_slices",
        "_static",
        "_sweep_at",
        "_sync_checkpoint",
        "_taken",
        "_taken_streamlets",
        "_to_open",
        "clock",
        "data_dir",
        "dirty",
        "disk",
        "files",
        "flush_bytes",
        "indexes",
        "now_ms",
        "owner_epoch",
        "pool",
        "ports",
        "settings",
        "streams",
        "trash",
    )

    def __init__(
        self,
        data_dir: str,
        disk: Disk,
        clock: Clock,
        settings: Settings,
        ports: LogPorts,
        left_as: LeftAs = LeftAs.KILLED,
        owner_epoch: int = -1,
    ) -> None:
        self.data_dir = data_dir
        self.disk = disk
        self.clock = clock
        self.settings = self._static = settings
        """In force, and as they were at the start: dynamic broker configs lie over them."""
        self._dynamic: Mapping[str, str] = {}
        self.ports = ports
        self.owner_epoch = owner_epoch
        """This process's broker epoch: a streamlet with no other source began here."""
        self.now_ms = clock.wall_ms
        self.flush_bytes = settings.kproto_flush_bytes
        memory = settings.kproto_log_memory_bytes
        limit = memory + settings.kproto_request_memory_bytes
        self.pool = BlockPool(memory, limit, self._make_room, self._disk_is_full)
        self.files = OpenFiles(disk, settings.kproto_open_files)
        self.indexes = IndexCache(INDEXES_KEPT)
        self.streams: dict[bytes, Stream] = {}
        self.dirty: dict[Partition, float] = {}
        """Partitions with bytes that are only in memory and the journal, and since when; oldest first."""
        self.trash = Trash(disk)
        self._checkpoint = Checkpoint(disk, data_dir)
        if left_as is LeftAs.POWER_LOST:
            self._checkpoint.distrust_unsynced()
        self._exact = left_as is LeftAs.CLEAN and self._checkpoint.exact
        self._image: MetadataImage | None = None
        self._known_at_start: dict[bytes, int] = {}
        """Topic id -> partitions that may have files from before this process."""
        self._recovered: dict[tuple[bytes, int], list[JournalRun]] = {}
        self._taken: dict[bytes, dict[int, TakenOver]] = {}
        """By topic id: partitions taken over and not opened yet."""
        self._to_open: dict[tuple[bytes, int], None] = {}
        """Those of them with chunks, which are memory until they are opened."""
        self._taken_streamlets: dict[tuple[bytes, int], int] = {}
        """Leader epoch under which a streamlet was taken over."""
        self._going: set[tuple[bytes, int]] = set()
        """Streamlets that are being handed over: what is opened of them takes no appends."""
        self._released: dict[tuple[bytes, int], Entry] = {}
        """Where partitions stood when another broker became their leader."""
        self._changed: dict[Partition, None] = {}
        self._due = Due(self._flush, ports.defer)
        self._full_until = 0.0
        self._room_at = 0.0
        self._retaining: Iterator[Partition] | None = None
        self._deletions = 0
        self._slices = 0
        self._busy = False
        """Something was produced since memory was last given back."""
        self._sync_checkpoint = False
        self._checkpoint_retry = 0.0
        now = clock.monotonic()
        self._next_checkpoint = now + settings.kproto_checkpoint_interval_ms / 1000
        self._next_retention = now + min(30.0, settings.log_retention_check_interval_ms / 1000)
        self._next_trim = now + TRIM_S
        self._sweep_at = now + RELEASED_KEPT_S

    # Metadata

    def apply_image(self, image: MetadataImage) -> None:
        """Take a newer metadata image: new configs and leader epochs, deleted topics."""
        before = self._image
        self._image = image
        inherited_changed = self._take_broker_configs(image)
        if before is None:
            self._first_image(image)
            return
        if image.base_revision == before.revision:
            touched = image.touched
        else:
            touched = frozenset(before.topics_by_id) | frozenset(image.topics_by_id)
        if inherited_changed:
            touched |= self.streams.keys()
        for topic_id in touched:
            record = image.topics_by_id.get(topic_id)
            stream = self.streams.get(topic_id)
            if record is None:
                if topic_id in before.topics_by_id:
                    self._delete_topic(topic_id, self.streams.pop(topic_id, None))
                continue
            self._release_lost(record, image)
            if stream is not None:
                for partition in stream.update(record, self._config(record.configs), image):
                    partition.vlog = self.ports.assign_vlog(partition)

    def _take_broker_configs(self, image: MetadataImage) -> bool:
        """Put the dynamic broker configs over the settings of the start; True when they changed."""
        dynamic = image.broker_configs(self.settings.node_id)
        if dynamic == self._dynamic:
            return False
        self._dynamic = dynamic
        try:
            self.settings = self._static.with_texts(dynamic) if dynamic else self._static
        except ConfigError as error:  # another broker's file allows it, this one's does not
            log.warning("dynamic configs that do not go with this broker's own are not used: %s", error)
            return False
        return True

    def _first_image(self, image: MetadataImage) -> None:
        self._known_at_start = {
            topic_id: record.partitions for topic_id, record in image.topics_by_id.items()
        }
        now = self.clock.monotonic()
        known = {topic_id.hex() for topic_id in image.topics_by_id}
        for name in self.disk.listdir(os.path.join(self.data_dir, STREAMS)):
            if name not in known:
                log.info("%s belongs to no topic any more: it will be removed", name)
                self.trash.add(now + self.settings_delay(), os.path.join(self.data_dir, STREAMS, name))

    def settings_delay(self) -> float:
        """file.delete.delay.ms of a topic without overrides, in seconds."""
        return self._config({}).file_delete_delay_ms / 1000

    def _config(self, overrides: Mapping[str, str]) -> TopicConfig:
        return topic_config(overrides, self.settings)

    def _delete_topic(self, topic_id: bytes, stream: Stream | None) -> None:
        for partition in stream.partitions.values() if stream is not None else ():
            self.dirty.pop(partition, None)
            self._changed.pop(partition, None)
            self._due.pop(partition, None)
            for segment in partition.segments:
                self.files.close(segment.path)
            partition.close_deleted()
        delay = stream.config.file_delete_delay_ms / 1000 if stream is not None else self.settings_delay()
        self._checkpoint.forget(topic_id)
        self._known_at_start.pop(topic_id, None)
        self._taken.pop(topic_id, None)
        known = (self._recovered, self._taken_streamlets, self._released, self._to_open)
        entries: dict[tuple[bytes, int], Any]
        for entries in known:
            for key in [key for key in entries if key[0] == topic_id]:
                del entries[key]
        self.trash.add(self.clock.monotonic() + delay, stream_directory(self.data_dir, topic_id))

    # Partitions

    def partition(self, topic_id: bytes, index: int) -> Partition | None:
        """The partition, opened if need be; None when there is no such partition. OSError from opening
        passes. Raises NOT_LEADER_OR_FOLLOWER for a partition with several copies that this broker has not
        taken over (or that is not online yet).
        """
        stream = self.streams.get(topic_id)
        if stream is not None:
            partition = stream.partitions.get(index)
            if partition is not None:
                return partition
        return self._open(topic_id, index)

    def _open(self, topic_id: bytes, index: int) -> Partition | None:
        image = self._image
        record = image.topics_by_id.get(topic_id) if image is not None else None
        if image is None:
            return None
        if record is None or not 0 <= index < record.partitions:
            self._recovered.pop((topic_id, index), None)  # the topic was deleted while its chunks were away
            return None
        streamlet = image.streamlet(topic_id, index // record.active_groups)
        if not self._is_here(streamlet):
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        stream = self.streams.get(topic_id)
        if stream is None:
            stream = Stream(record, self._config(record.configs))
        partition = Partition(
            self,
            record.name,
            topic_id,
            index,
            streamlet.leader_epoch,
            stream.config,
            partition_directory(self.data_dir, topic_id, record.active_groups, index),
            record.copies_of(streamlet),
        )
        if streamlet.sources:
            self._open_replicated(partition)
        elif index < self._known_at_start.get(topic_id, 0):
            self._open_known(partition)
        else:
            partition.begin(0)
        partition.vlog = self.ports.assign_vlog(partition)
        if (topic_id, streamlet.index) in self._going:
            partition.hand_over(True)
        self.streams.setdefault(topic_id, stream).partitions[index] = partition
        return partition

    def _open_known(self, partition: Partition) -> None:
        """Open a partition that may have files or journal chunks; when that fails nothing of it stays."""
        key = partition.topic_id, partition.index
        try:
            open_partition(partition, self._checkpoint.get(*key), self._exact, self._recovered.get(key, []))
        except BaseException:
            self._give_up(partition)
            raise
        self._recovered.pop(key, None)

    def _give_up(self, partition: Partition) -> None:
        for waiting in (self.dirty, self._due, self._changed):
            waiting.pop(partition, None)
        partition.close_deleted()

    def _correct(self, partition: Partition) -> None:
        """The checkpoint vouches for files that are gone: what comes in their place must not be trusted."""
        self.note_down([partition])
        self.checkpoint_soon(partition)

    def note_down(self, partitions: Iterable[Partition], sync: bool = False) -> None:
        """Have the checkpoint say where ``partitions`` stand. OSError passes through."""
        entries = [(one.topic_id, one.index, one.entry()) for one in partitions]
        self._checkpoint.write(entries, self._checkpoint.point, sync=sync)

    # Several copies

    def take_over(
        self,
        topic_id: bytes,
        index: int,
        leader_epoch: int,
        snapshot: Snapshot | None,
        chunks: Sequence[memoryview],
        log_start: int,
    ) -> int:
        """This broker leads a partition from ``leader_epoch`` on, once the image says that its streamlet is
        online (rule 27b). Returns the sealed end.

        ``chunks``: runs of whole chunks in order of offset, from the end of ``snapshot`` (None: from 0) to
        the sealed end; ``log_start`` is the store's. Nothing is opened: that happens on first use, or, when
        there are chunks, soon (`unopened`). Raises `GapError`.
        """
        taken = taken_over(leader_epoch, snapshot, chunks, log_start)
        self.release(topic_id, index)
        self._taken.setdefault(topic_id, {})[index] = taken
        if chunks:
            self._to_open[topic_id, index] = None
        if self._image is not None and (record := self._image.topics_by_id.get(topic_id)) is not None:
            self._taken_streamlets[topic_id, index // record.active_groups] = leader_epoch
        return taken.end

    def hand_over(self, topic_id: bytes, streamlet: int, going: bool) -> list[Partition]:
        """Take no appends for the partitions of a streamlet that another broker is about to lead (rule 12b),
        or take them again. Returns those that are open: the others have appended nothing."""
        (self._going.add if going else self._going.discard)((topic_id, streamlet))
        stream = self.streams.get(topic_id)
        found: list[Partition] = []
        for partition in stream.partitions.values() if stream is not None else ():
            if stream is not None and stream.streamlet_of(partition.index) == streamlet:
                partition.hand_over(going)
                found.append(partition)
        return found

    def release(self, topic_id: bytes, index: int) -> None:
        """Another broker leads the partition: who waits for it is told, its files stay for a while in case it
        comes back. `apply_image` does it, too."""
        due = self.clock.monotonic() + RELEASED_KEPT_S
        waiting = self._taken.get(topic_id)
        if waiting is not None and waiting.pop(index, None) is not None:
            self._to_open.pop((topic_id, index), None)
            self.trash.lend(due, self._directory(topic_id, index))
        stream = self.streams.get(topic_id)
        partition = stream.partitions.pop(index, None) if stream is not None else None
        if partition is None:
            return
        self._released[topic_id, index] = partition.entry()
        for segment in partition.segments:
            self.files.close(segment.path)
        for pending in (self.dirty, self._due, self._changed):
            pending.pop(partition, None)
        partition.close_deleted(lost=True)
        self.trash.lend(due, partition.directory)

    def _directory(self, topic_id: bytes, index: int) -> str:
        record = self._image.topics_by_id.get(topic_id) if self._image is not None else None
        groups = record.active_groups if record is not None else 1
        return partition_directory(self.data_dir, topic_id, groups, index)

    def _sweep(self) -> None:
        """Files of earlier processes of partitions that turned out to be led elsewhere: remove them."""
        image = self._image
        for topic_id in self._known_at_start if image is not None else ():
            record = image.topics_by_id.get(topic_id) if image is not None else None
            if image is None or record is None:
                continue
            directory = stream_directory(self.data_dir, topic_id)
            for name in self.disk.listdir(directory):
                index = name.rpartition(".")[2]
                if index.isdecimal() and int(index) < record.partitions:
                    streamlet = image.streamlet(topic_id, int(index) // record.active_groups)
                    if self._is_elsewhere(streamlet) and streamlet.state == ONLINE:
                        self.trash.lend(self.clock.monotonic(), os.path.join(directory, name))

    def may_lack(self, topic_id: bytes, index: int) -> bool:
        """Whether other brokers may have data of a partition led here that is in no file here. Opens
        nothing."""
        taken = self._taken.get(topic_id, {}).get(index)
        if taken is not None:
            return taken.base > taken.log_start
        stream = self.streams.get(topic_id)
        partition = stream.partitions.get(index) if stream is not None else None
        return partition is not None and next(partition.holes(), None) is not None

    def has_data(self, topic_id: bytes, index: int) -> bool:
        """Whether anything was ever appended to a partition led here. Opens nothing."""
        taken = self._taken.get(topic_id, {}).get(index)
        if taken is not None:
            return taken.end > 0
        stream = self.streams.get(topic_id)
        partition = stream.partitions.get(index) if stream is not None else None
        return partition is not None and partition.log_end_offset > 0

    def _release_lost(self, record: TopicRecord, image: MetadataImage) -> None:
        """Release what this broker does not lead any more, or not under the same leader epoch."""
        topic_id, streamlets = record.topic_id, image.streamlets[record.topic_id]
        stream = self.streams.get(topic_id)
        held = [(one.index, one.leader_epoch) for one in stream.partitions.values()] if stream else []
        held += [(index, taken.leader_epoch) for index, taken in self._taken.get(topic_id, {}).items()]
        for index, leader_epoch in held:
            streamlet = streamlets[index // record.active_groups]
            newer = streamlet.leader_epoch > leader_epoch  # of the only copy it is still here
            if self._is_elsewhere(streamlet) or (newer and streamlet.sources):
                self.release(topic_id, index)

    def _is_elsewhere(self, streamlet: StreamletRecord) -> bool:
        """Another broker leads it; one of a single copy stays where it is while nobody does."""
        return streamlet.leader not in (self.settings.node_id, *(() if streamlet.sources else (NO_LEADER,)))

    def _is_here(self, streamlet: StreamletRecord) -> bool:
        """It may be opened: taken over, or its only copy is here."""
        return self._serves(streamlet) if streamlet.sources else not self._is_elsewhere(streamlet)

    def _serves(self, streamlet: StreamletRecord) -> bool:
        """Rules 5 and 27: led here, online, and either taken over under this leader epoch or begun here."""
        if streamlet.leader != self.settings.node_id or streamlet.state != ONLINE:
            return False
        taken = self._taken_streamlets.get((streamlet.topic_id, streamlet.index))
        return taken == streamlet.leader_epoch or streamlet.sources == (self.owner_epoch,)

    def _open_replicated(self, partition: Partition) -> None:
        """Open a partition that was taken over, or is new."""
        topic_id, index = partition.topic_id, partition.index
        waiting = self._taken.get(topic_id, {})
        taken = waiting.get(index)
        released = self._released.get((topic_id, index))
        if taken is None:
            if released is not None:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            partition.begin(0)
            return
        self.trash.take_back(partition.directory)
        entry = released or self._checkpoint.get(topic_id, index)
        try:
            end = open_taken_over(partition, taken, entry, self._recovered.get((topic_id, index), ()))
            noted = self._checkpoint.get(topic_id, index)
            if noted is not None and noted.next_offset > end:
                self._correct(partition)
        except BaseException:
            self._give_up(partition)
            raise
        del waiting[index]
        self._to_open.pop((topic_id, index), None)
        self._released.pop((topic_id, index), None)
        self._recovered.pop((topic_id, index), None)

    def size_bytes(self, topic_id: bytes, index: int) -> int:
        """Bytes of a partition, without opening it: by its checkpoint entry and its chunks in the journal.

        0 for an unknown partition. Exact for an open one, else as of the last checkpoint.
        """
        stream = self.streams.get(topic_id)
        if stream is not None and (partition := stream.partitions.get(index)) is not None:
            return partition.size_bytes()
        entry = self._checkpoint.get(topic_id, index)
        end = entry.next_offset if entry is not None else 0
        runs = self._recovered.get((topic_id, index), ())
        in_journal = sum(run.length for run in runs if run.base_offset >= end)
        return in_journal + (entry.size if entry is not None else 0)

    def partitions_open(self) -> Iterator[Partition]:
        """The partitions in use."""
        for stream in self.streams.values():
            yield from stream.partitions.values()

    # Start

    @property
    def scan_from(self) -> bytes:
        """What `LogPorts.scan_point` said at the last checkpoint; empty when there is none."""
        return self._checkpoint.point

    def recovered(self, topic_id: bytes, index: int, runs: list[JournalRun]) -> None:
        """Chunks of a partition found in old journals, ordered by offset; applied when it is opened."""
        self._recovered.setdefault((topic_id, index), []).extend(runs)

    def unopened(self) -> list[tuple[bytes, int]]:
        """Partitions with recovered chunks that nobody has opened yet; not all when there are many."""
        waiting = chain(self._recovered, self._to_open)
        found = (key for key in waiting if self._may_open(*key))
        return list(islice(found, OPENED_PER_LOOK))

    def _streamlet(self, topic_id: bytes, index: int) -> StreamletRecord | None:
        image = self._image
        record = image.topics_by_id.get(topic_id) if image is not None else None
        if image is None or record is None or index >= record.partitions:
            return None
        return image.partition_streamlet(record, index)

    def _may_open(self, topic_id: bytes, index: int) -> bool:
        """Of one in virtual segments with backups, what is sealed has to be known first."""
        streamlet = self._streamlet(topic_id, index)
        return streamlet is None or self._is_here(streamlet)

    def settled(self, topic_id: bytes, index: int, end_offset: int) -> bool:
        """Old journals need not have what lies below ``end_offset``: it is in synced files, or deleted."""
        stream = self.streams.get(topic_id)
        partition = stream.partitions.get(index) if stream is not None else None
        if partition is not None:
            end = max(partition.synced_offset, partition.log_start_offset)
            return self.starts_known and end_offset <= end
        streamlet = self._streamlet(topic_id, index)
        if streamlet is not None and (streamlet.sources or self._is_elsewhere(streamlet)):
            return self._led_elsewhere(topic_id, index)
        return self._image is not None and topic_id not in self._image.topics_by_id

    @property
    def starts_known(self) -> bool:
        """The synced checkpoint has all log starts: a partition is not missed what lies below its own."""
        return not self._deletions

    def _led_elsewhere(self, topic_id: bytes, index: int) -> bool:
        """A partition with several copies has a leader elsewhere, who needs nothing of what is here."""
        image, streamlet = self._image, self._streamlet(topic_id, index)
        if image is None or streamlet is None:
            return True
        others = image.brokers.keys() - {self.settings.node_id}
        if streamlet.state != ONLINE or streamlet.leader not in others:
            return False
        self._recovered.pop((topic_id, index), None)
        return True

    # Flushing

    def note_dirty(self, partition: Partition) -> None:
        """``partition`` has its first byte that is not in a file."""
        self.dirty.setdefault(partition, self.clock.monotonic())
        self._busy = True

    def flush_soon(self, partition: Partition) -> None:
        """Flush ``partition`` at the end of this turn of the event loop, or of one of the next."""
        self._due.add(partition)

    def _flush(self, partition: Partition) -> bool:
        if not partition.deleted and not partition.flush():
            return False
        self.dirty.pop(partition, None)
        return True

    def write(self, segment: Segment) -> bool:
        """Flush one segment and, when it is closed, write its index. False when the disk is full (tried
        again later); any other error poisons the data directory (rule 35).
        """
        try:
            segment.flush(segment.size)
            if segment.footer is not None:
                segment.write_index()
        except OSError as error:
            if error.errno not in _FULL:
                self.ports.on_poison(f"{segment.path}: {error.strerror}")
            elif self.clock.monotonic() >= self._full_until:
                log.warning(
                    "%s: %s; its data stays in the journal and in memory", segment.path, error.strerror
                )
            self._full_until = self.clock.monotonic() + RETRY_S
            return False
        return True

    def _make_room(self) -> bool:
        """Flush the partition that has been dirty longest, so that its memory can be reused; half of the time
        at most, as long as there is some memory left.
        """
        began = self.clock.monotonic()
        if began < max(self._full_until, 0.0 if self.pool.short else self._room_at):
            return False
        partition = next(iter(self.dirty), None)
        if partition is None or not self._flush(partition):
            return False
        now = self.clock.monotonic()
        self._room_at = now + (now - began)
        return True

    def _disk_is_full(self) -> bool:
        return self.clock.monotonic() < self._full_until

    def flush_all(self) -> bool:
        """Flush every partition; False when the disk is full."""
        failed = [partition for partition in tuple(self.dirty) if not self._flush(partition)]
        return not failed

    # Ageing

    def tick(self, now: float) -> bool:
        """Do what is due at monotonic time ``now`` (s), for about a millisecond; True: call again soon,
        more is waiting. To be called a few times a second.
        """
        deadline = self.clock.monotonic() + SLICE_S
        more = self._flush_old(now, deadline)
        due = now >= self._next_checkpoint or self._sync_checkpoint
        if due and now >= self._checkpoint_retry:
            more |= self._write_checkpoint(now)
        more |= self._remove_files(now, deadline)
        more |= self._retain_some(now, deadline)
        if now >= self._sweep_at:
            self._sweep_at = math.inf
            self._sweep()
        if now >= self._next_trim:
            self._next_trim = now + TRIM_S
            more |= self._rest()
        return more

    def _rest(self) -> bool:
        """Nothing was produced for a while: give the memory back. True when there is more to give."""
        if self.dirty or self._busy:
            self._busy = False
            return False
        for _ in range(BLOCKS_PER_SLICE):
            if not self.pool.evict():
                self.pool.trim()
                return False
        self._next_trim = 0.0
        return True

    def _flush_old(self, now: float, deadline: float) -> bool:
        if now < self._full_until:
            return False
        oldest = now - self.settings.kproto_flush_age_ms / 1000
        while self.dirty:
            partition, since = next(iter(self.dirty.items()))
            if since > oldest:
                return False
            partition.idle()
            if not self._flush(partition):
                return False
            if self.clock.monotonic() >= deadline:
                return True
        return False

    def _remove_files(self, now: float, deadline: float) -> bool:
        while self.trash.is_due(now):
            if self._deletions:
                self._sync_checkpoint = True
                return now >= self._checkpoint_retry
            try:
                self.trash.remove_one()
            except OSError as error:
                log.warning("a deleted file stays: %s", error)
            if self.clock.monotonic() >= deadline:
                return True
        return False

    def _retain_some(self, now: float, deadline: float) -> bool:
        """Retention and expiry of producers, partition by partition."""
        if self._retaining is None:
            if now < self._next_retention:
                return False
            self._next_retention = now + self.settings.log_retention_check_interval_ms / 1000
            self._retaining = self._due_for_retention()
        expiry = self.settings.producer_id_expiration_ms
        for partition in self._retaining:
            if not partition.deleted:
                partition.retain()
                partition.producers.expire(self.now_ms(), expiry)
            if self.clock.monotonic() >= deadline:
                return True
        self._retaining = None
        return False

    def _due_for_retention(self) -> Iterator[Partition]:
        """Open partitions, and those that are not open but whose checkpoint entry says that something may
        have to go.
        """
        yield from list(self.partitions_open())
        for topic_id, index in list(self._checkpoint.keys()):
            record = self._image.topics_by_id.get(topic_id) if self._image is not None else None
            entry = self._checkpoint.get(topic_id, index)
            stream = self.streams.get(topic_id)
            if (
                record is None
                or entry is None
                or record.replication_factor > 1
                or not self._may_open(topic_id, index)
                or (stream is not None and index in stream.partitions)
            ):
                continue
            config = stream.config if stream is not None else self._config(record.configs)
            too_old = 0 <= config.retention_ms < self.now_ms() - entry.oldest_ms
            too_much = 0 <= config.retention_bytes < entry.size
            if entry.size and "delete" in config.cleanup_policy and (too_old or too_much):
                partition = self.partition(topic_id, index)
                if partition is not None:
                    yield partition

    def discard(self, partition: Partition, segments: list[Segment]) -> None:
        """Segments left ``partition``: remove their files after ``file.delete.delay.ms``."""
        due = self.clock.monotonic() + partition.config.file_delete_delay_ms / 1000
        for segment in segments:
            self.files.close(segment.path)
            self.trash.add(due, segment.path)
            self.trash.add(due, segment.index_path)
        self.checkpoint_soon(partition)

    def random_below(self, limit: int) -> int:
        """For segment.jitter.ms."""
        import random

        return random.randrange(limit)

    # Checkpoint

    def checkpoint_soon(self, partition: Partition) -> None:
        """The log start of ``partition`` moved: the next tick writes a checkpoint, and syncs it."""
        self._changed[partition] = None
        self._deletions += 1
        self._next_checkpoint = self.clock.monotonic()

    def checkpoint_now(self) -> None:
        """More of the journal is in segment files: the next tick writes a checkpoint."""
        self._next_checkpoint = self.clock.monotonic()

    def note_flushed(self, partition: Partition) -> None:
        """Bytes of ``partition`` went into a file."""
        self._changed[partition] = None

    def _write_checkpoint(self, now: float) -> bool:
        """Write the entries of some changed partitions; True when more are waiting.

        Only the frame that leaves none waiting may move the journal point: a partition that has nothing in
        the journal behind the point must have its newest entry in the file.
        """
        last = len(self._changed) <= CHECKPOINT_AT_ONCE or self._slices >= CHECKPOINT_SLICES
        batch = list(self._changed) if last else list(self._changed)[:CHECKPOINT_BATCH]
        sync = bool(self._deletions) and last
        if batch or sync:
            entries = [(one.topic_id, one.index, one.entry()) for one in batch if not one.deleted]
            point = self.ports.scan_point() if last else self._checkpoint.point
            try:
                self._checkpoint.write(entries, point, sync=sync)
            except OSError as error:
                self._checkpoint_retry = now + RETRY_S
                log.warning("no checkpoint could be written: %s", error.strerror)
                return False
            for partition in batch:
                del self._changed[partition]
        if not last:
            self._slices += 1
            return True
        self._slices = 0
        self._deletions = 0
        self._sync_checkpoint = False
        self._next_checkpoint = now + self.settings.kproto_checkpoint_interval_ms / 1000
        return False

    def close(self) -> bool:
        """A clean stop: everything into files, synced, a last checkpoint. False, so not to be marked as one,
        when that failed or an earlier process left journal chunks or unsynced files that nobody opened."""
        opened = {(one.topic_id, one.index): one for one in self.partitions_open()}
        clean = self.flush_all() and not self._recovered and (self._exact or self._checkpoint.proven(opened))
        self._changed.update(dict.fromkeys(opened.values()))
        try:
            self._sync_all()
            entries = [(one.topic_id, one.index, one.entry()) for one in self._changed if not one.deleted]
            self._checkpoint.write(entries, self.ports.scan_point(), sync=True)
            self._deletions = 0
        except OSError as error:
            log.warning("the stop is not clean: %s", error.strerror)
            clean = False
        self.files.close_all()
        return clean

    def _sync_all(self) -> None:
        unsynced = [segment for partition in self.partitions_open() for segment in partition.unsynced()]
        if len(unsynced) <= SYNC_ALL_FROM:
            for segment in unsynced:
                segment.sync()
            return
        # One sync(2) instead of an fdatasync for each of perhaps thousands of files.
        os.sync()
        for segment in unsynced:
            segment.mark_synced()
