"""All partitions of one broker: opened on first use, told of new metadata, released when another broker leads
them, aged and deleted in small slices.

Nothing here costs anything per partition that is not in use: partitions are made by `LogManager.partition`,
and only those with bytes that are not in files (`flushing`), or that changed since the last checkpoint
(`checkpointing`), are in a list. What is known of the others is in `unopened`.
"""

from __future__ import annotations

import logging
import math
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from errno import EIO
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from kproto.config import TopicConfig, topic_config
from kproto.directory import LeftAs
from kproto.disk import SyncError
from kproto.errors import ErrorCode, KafkaError
from kproto.log.above import Above
from kproto.log.adopting import open_taken_over, taken_over
from kproto.log.checkpointing import SYNC_ALL_FROM, Checkpointing, sync_all, sync_each
from kproto.log.files import STREAMS, OpenFiles, partition_directory, stream_directory
from kproto.log.flushing import Flushing
from kproto.log.leadership import Leadership
from kproto.log.opening import has_more_files, open_partition
from kproto.log.partition import Partition
from kproto.log.reader import IndexCache
from kproto.log.stream import Stream
from kproto.log.trash import Trash, leave_files, left_files
from kproto.log.unopened import Unopened
from kproto.metadata.records import ONLINE

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.disk import Disk
    from kproto.log.ports import LogPorts, Snapshot
    from kproto.log.segment import Segment
    from kproto.metadata import MetadataImage, TopicRecord

log = logging.getLogger(__name__)

SLICE_S: Final = 0.001
"""A tick does not work longer than this at once."""
RELEASED_KEPT_S: Final = 300.0
"""How long the files of a partition stay that another broker leads now; since a start, too."""
STRANGERS_NAMED: Final = 5
"""Directories of unknown topics that a start names."""
OPENED_PER_LOOK: Final = 64
INDEXES_KEPT: Final = 128
SUSPECTS_KEPT: Final = 256
PROVING_S: Final = 0.25
"""So long in all a start may hold the loop with syncs of partitions that are opened."""


class LogManager:
    """Everything on the event loop; see `Partition` for what threads may do."""

    __slots__ = (
        "_dynamic",
        "_known_at_start",
        "_next_retention",
        "_proved_s",
        "_proving",
        "_retaining",
        "_settling",
        "_static",
        "_sweep_at",
        "_sweeping",
        "above",
        "checkpointing",
        "clock",
        "data_dir",
        "disk",
        "files",
        "flushing",
        "indexes",
        "latest_ms",
        "leadership",
        "now_ms",
        "pool",
        "ports",
        "settings",
        "streams",
        "suspects",
        "trash",
        "unopened",
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
        self.now_ms = clock.wall_ms
        self.latest_ms = clock.wall_ms()
        """The newest wall time that was seen."""
        self.files = OpenFiles(disk, settings.kproto_open_files)
        self.above = Above(disk)
        self.indexes = IndexCache(INDEXES_KEPT)
        self.suspects: deque[Segment] = deque(maxlen=SUSPECTS_KEPT)
        """Segments whose files were not as they should be when somebody read them (in any thread)."""
        self.flushing = Flushing(clock, settings, ports)
        self.pool = self.flushing.pool
        interval = settings.kproto_checkpoint_interval_ms / 1000
        self.checkpointing = Checkpointing(data_dir, disk, clock, interval, ports, left_as)
        self.checkpointing.on_synced = lambda: ports.defer(self._remove_more)
        deletions = self.checkpointing.deletions
        self.trash = Trash(disk, ports.in_background, lambda: ports.defer(self._remove_more), deletions)
        self.leadership = Leadership(settings.node_id, owner_epoch)
        self.streams: dict[bytes, Stream] = {}
        self.unopened = Unopened()
        self._proving: set[Partition] = set()
        """Open, but a power loss may take what their files have: nobody uses them until a thread has synced
        these."""
        self._proved_s = 0.0
        """How long that was done on the loop."""
        self._known_at_start: dict[bytes, int] = {}
        """Topic id -> partitions that may have files from before this process."""
        self._settling: dict[tuple[bytes, int, int], int] = {}
        """Chunks in old journals (topic id, partition, end offset) that nobody needs once these deletions are
        known."""
        self._retaining: Iterator[Partition | None] | None = None
        now = clock.monotonic()
        for path in left_files(disk, data_dir):
            self.trash.add(now + self._delete_delay(), path)
        self._next_retention = now + min(30.0, settings.log_retention_check_interval_ms / 1000)
        self._sweep_at = now + RELEASED_KEPT_S
        self._sweeping: Iterator[None] | None = None

    # Metadata

    def apply_image(self, image: MetadataImage) -> None:
        """Take a newer metadata image: new configs and leader epochs, deleted topics."""
        before = self.leadership.image
        self.leadership.image = image
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
        self.settings, problems = self._static.with_what_goes(dynamic)
        for problem in problems:  # another broker's file allows it, this one's does not
            log.warning("a dynamic config does not go with this broker's own and is not used: %s", problem)
        return True

    def _first_image(self, image: MetadataImage) -> None:
        self._known_at_start = {
            topic_id: record.partitions for topic_id, record in image.topics_by_id.items()
        }
        self.checkpointing.file.forget_others(image.topics_by_id)
        known = {topic_id.hex() for topic_id in image.topics_by_id}
        streams, delay = os.path.join(self.data_dir, STREAMS), self._delete_delay()
        unknown = [name for name in self.disk.listdir(streams) if name not in known]
        for name in unknown:
            self.trash.add(self.clock.monotonic() + delay, os.path.join(streams, name))
        if unknown:
            named = ", ".join(sorted(unknown)[:STRANGERS_NAMED])
            more = f" and {len(unknown) - STRANGERS_NAMED} more" if len(unknown) > STRANGERS_NAMED else ""
            log.warning(
                "what %s has of topics that the metadata does not know, or no more, is removed in %g s"
                " (log.segment.delete.delay.ms); to keep it, stop this broker before: %s%s",
                streams,
                delay,
                named,
                more,
            )

    def _delete_delay(self) -> float:
        """file.delete.delay.ms of a topic without overrides, in seconds."""
        return self._config({}).file_delete_delay_ms / 1000

    def _config(self, overrides: Mapping[str, str]) -> TopicConfig:
        return topic_config(overrides, self.settings)

    def _delete_topic(self, topic_id: bytes, stream: Stream | None) -> None:
        for partition in stream.partitions.values() if stream is not None else ():
            self._close(partition)
        delay = stream.config.file_delete_delay_ms / 1000 if stream is not None else self._delete_delay()
        self._known_at_start.pop(topic_id, None)
        self.checkpointing.forget_topic(topic_id)
        self.unopened.forget(topic_id)
        self.leadership.forget(topic_id)
        self.ports.on_deleted(topic_id)
        directory = stream_directory(self.data_dir, topic_id)
        self.above.forget(directory)
        self.trash.add(self.clock.monotonic() + delay, directory)

    def _close(self, partition: Partition, lost: bool = False) -> None:
        """Keep nothing of ``partition``: it is deleted, led elsewhere (``lost``), or could not be opened."""
        for segment in partition.segments:
            self.files.close(segment.path)
        self.flushing.forget(partition)
        self.checkpointing.forget(partition)
        self._proving.discard(partition)
        partition.close_deleted(lost)

    # Partitions

    def partition(self, topic_id: bytes, index: int) -> Partition | None:
        """The partition, opened if need be; None when there is no such partition. OSError from opening
        passes. Raises NOT_LEADER_OR_FOLLOWER for a partition with several copies that this broker has not
        taken over (or that is not online yet), and while files of one are synced.
        """
        partition = self.open(topic_id, index)
        if partition in self._proving:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "its files are being synced")
        return partition

    def open(self, topic_id: bytes, index: int) -> Partition | None:
        """`partition`, for who does not use it: it may be that nobody may yet."""
        stream = self.streams.get(topic_id)
        if stream is not None:
            partition = stream.partitions.get(index)
            if partition is not None:
                return partition
        try:
            return self._open(topic_id, index)
        except SyncError as error:
            self.ports.on_poison(f"a partition is opened: {error}")
            raise

    def opened(self, topic_id: bytes, index: int) -> Partition | None:
        """The partition if it is in use."""
        stream = self.streams.get(topic_id)
        return stream.partitions.get(index) if stream is not None else None

    def partitions_open(self) -> Iterator[Partition]:
        """The partitions in use."""
        for stream in self.streams.values():
            yield from stream.partitions.values()

    def _open(self, topic_id: bytes, index: int) -> Partition | None:
        image = self.leadership.image
        if image is None:
            return None
        record = image.topics_by_id.get(topic_id)
        if record is None or not 0 <= index < record.partitions:
            self.unopened.drop_runs(topic_id, index)  # the topic was deleted while its chunks were away
            return None
        streamlet = image.streamlet(topic_id, index // record.active_groups)
        if not self.leadership.is_here(streamlet):
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
        partition.only_here = not streamlet.sources
        if streamlet.sources:
            self._open_replicated(partition)
        elif index < self._known_at_start.get(topic_id, 0):
            self._open_known(partition)
        else:
            partition.begin(0)
        partition.vlog = self.ports.assign_vlog(partition)
        if (topic_id, streamlet.index) in self.leadership.going:
            partition.hand_over(True)
        self.streams.setdefault(topic_id, stream).partitions[index] = partition
        return partition

    def _open_known(self, partition: Partition) -> None:
        """Open a partition that may have files or journal chunks; when that fails nothing of it stays."""
        key = partition.topic_id, partition.index
        entry, exact = self.checkpointing.file.get(*key), self.checkpointing.exact
        try:
            unproven = open_partition(partition, entry, exact, self.unopened.runs(*key))
            if unproven:
                self._prove(partition, unproven)
        except BaseException:
            self._close(partition)
            raise
        self.unopened.drop_runs(*key)

    def _prove(self, partition: Partition, segments: list[Segment]) -> None:
        """Sync what must be before anybody uses ``partition``: here, so that nobody has to ask again, or in a
        thread when that has held the loop for long enough."""
        began = self.clock.monotonic()
        if self._proved_s < PROVING_S:
            sync_each(segments)
            self._proved_s += self.clock.monotonic() - began
            return
        self._proving.add(partition)
        self.ports.in_background(partial(sync_each, segments), partial(self._proven, partition))

    def _proven(self, partition: Partition, error: BaseException | None) -> None:
        if error is not None:
            self.ports.on_poison(f"a partition is opened: {error}")
        else:
            self._proving.discard(partition)

    def _open_replicated(self, partition: Partition) -> None:
        """Open a partition that was taken over, or is new."""
        key = partition.topic_id, partition.index
        taken, released = self.unopened.taken(*key), self.unopened.released(*key)
        if taken is None:
            if released is not None:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            partition.begin(0)
            return
        self.trash.take_back(partition.directory)
        noted = self.checkpointing.file.get(*key)
        try:
            end = open_taken_over(partition, taken, released or noted, self.unopened.runs(*key))
            if noted is not None and noted.next_offset > end:
                # It vouches for files that are gone: what comes in their place must not be trusted.
                self.checkpointing.note_down([partition])
                self.checkpointing.sync_soon(partition)
        except BaseException:
            self._close(partition)
            raise
        self.unopened.drop(*key)
        self.checkpointing.opened(*key)
        if next(partition.holes(), None) is not None:
            self.ports.on_hole(partition)

    def extent(self, topic_id: bytes, index: int) -> tuple[int, int]:
        """Where a partition begins, and where what consumers get ends, without opening it. One that is not
        open is as old as its checkpoint entry, its chunks in the journal or its takeover; 0 and 0 for an
        unknown one."""
        partition = self.opened(topic_id, index)
        if partition is not None:
            return partition.log_start_offset, partition.high_watermark
        taken = self.unopened.taken(topic_id, index)
        if taken is not None:
            return taken.log_start, taken.end
        entry = self.checkpointing.file.get(topic_id, index)
        start, end = (entry.log_start, entry.next_offset) if entry is not None else (0, 0)
        return start, max((end, *(run.next_offset for run in self.unopened.runs(topic_id, index))))

    def size_bytes(self, topic_id: bytes, index: int) -> int:
        """Bytes of a partition, without opening it: by its checkpoint entry and its chunks in the journal.

        0 for an unknown partition. Exact for an open one, else as of the last checkpoint.
        """
        partition = self.opened(topic_id, index)
        if partition is not None:
            return partition.size_bytes()
        entry = self.checkpointing.file.get(topic_id, index)
        end = entry.next_offset if entry is not None else 0
        in_journal = sum(run.length for run in self.unopened.runs(topic_id, index) if run.base_offset >= end)
        return in_journal + (entry.size if entry is not None else 0)

    def may_lack(self, topic_id: bytes, index: int) -> bool:
        """Whether other brokers may have data of a partition led here that is in no file here. Opens
        nothing."""
        taken = self.unopened.taken(topic_id, index)
        if taken is not None:
            return taken.base > taken.log_start
        partition = self.opened(topic_id, index)
        return partition is not None and next(partition.holes(), None) is not None

    def has_data(self, topic_id: bytes, index: int) -> bool:
        """Whether anything was ever appended to a partition led here. Opens nothing."""
        taken = self.unopened.taken(topic_id, index)
        if taken is not None:
            return taken.end > 0
        partition = self.opened(topic_id, index)
        return partition is not None and partition.log_end_offset > 0

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
        there are chunks, soon (`to_open`). Raises `GapError`.
        """
        taken = taken_over(leader_epoch, snapshot, chunks, log_start)
        self.release(topic_id, index)
        self.trash.take_back(self.directory_of(topic_id, index))  # it may be long until somebody opens it
        self.unopened.take(topic_id, index, taken)
        self.leadership.taken_over(topic_id, index, leader_epoch)
        return taken.end

    def hand_over(self, topic_id: bytes, streamlet: int, going: bool) -> list[Partition]:
        """Take no appends for the partitions of a streamlet that another broker is about to lead (rule 12b),
        or take them again. Returns those that are open: the others have appended nothing."""
        if going:
            self.leadership.going.add((topic_id, streamlet))
        else:
            self.leadership.going.discard((topic_id, streamlet))
        stream = self.streams.get(topic_id)
        if stream is None:
            return []
        found = [one for one in stream.partitions.values() if stream.streamlet_of(one.index) == streamlet]
        for partition in found:
            partition.hand_over(going)
        return found

    def release(self, topic_id: bytes, index: int) -> None:
        """Another broker leads the partition: who waits for it is told, its files stay for a while in case it
        comes back. `apply_image` does it, too."""
        due = self.clock.monotonic() + RELEASED_KEPT_S
        if self.unopened.drop_taken(topic_id, index):
            self.trash.lend(due, self.directory_of(topic_id, index))
        stream = self.streams.get(topic_id)
        partition = stream.partitions.pop(index, None) if stream is not None else None
        if partition is not None:
            entry = partition.entry()
            self.unopened.release(topic_id, index, entry)
            self.checkpointing.released(topic_id, index, entry)
            self._close(partition, lost=True)
            self.trash.lend(due, partition.directory)

    def directory_of(self, topic_id: bytes, index: int) -> str:
        """Where the files of a partition are, or would be."""
        image = self.leadership.image
        record = image.topics_by_id.get(topic_id) if image is not None else None
        groups = record.active_groups if record is not None else 1
        return partition_directory(self.data_dir, topic_id, groups, index)

    def _release_lost(self, record: TopicRecord, image: MetadataImage) -> None:
        """Release what this broker does not lead any more, or not under the same leader epoch."""
        topic_id, streamlets = record.topic_id, image.streamlets[record.topic_id]
        stream = self.streams.get(topic_id)
        held = [(one.index, one.leader_epoch) for one in stream.partitions.values()] if stream else []
        held += [(index, taken.leader_epoch) for index, taken in self.unopened.taken_of(topic_id).items()]
        for index, leader_epoch in held:
            streamlet = streamlets[index // record.active_groups]
            newer = streamlet.leader_epoch > leader_epoch  # of the only copy it is still here
            if self.leadership.is_elsewhere(streamlet) or (newer and streamlet.sources):
                self.release(topic_id, index)

    def _sweep(self) -> Iterator[None]:
        """Files of earlier processes of partitions that turned out to be led elsewhere: remove them, one
        directory a step. Again later when some are being recovered, so that nobody knows yet."""
        unknown = False
        for topic_id in list(self._known_at_start):
            directory = stream_directory(self.data_dir, topic_id)
            for name in self.disk.listdir(directory):
                unknown |= self._sweep_directory(topic_id, name, os.path.join(directory, name))
                yield
            yield
        if not unknown:
            self._sweep_at = math.inf

    def _sweep_directory(self, topic_id: bytes, name: str, path: str) -> bool:
        """True: nobody knows yet who will lead that partition."""
        index = name.rpartition(".")[2]
        streamlet = self.leadership.streamlet(topic_id, int(index)) if index.isdecimal() else None
        if streamlet is None or self.trash.is_lent(path):
            return False
        if streamlet.state != ONLINE:
            return True
        if self.leadership.is_elsewhere(streamlet):
            self.trash.lend(self.clock.monotonic(), path)
        return False

    # Old journals

    def to_open(self) -> list[tuple[bytes, int]]:
        """Partitions with recovered chunks that nobody has opened yet; not all when there are many."""
        found = (key for key in self.unopened.waiting() if self.leadership.may_open(*key))
        return list(islice(found, OPENED_PER_LOOK))

    def settled(self, topic_id: bytes, index: int, end_offset: int) -> bool:
        """Old journals need not have what lies below ``end_offset``: it is in synced files, or deleted."""
        partition = self.opened(topic_id, index)
        if partition is not None:
            if end_offset > max(partition.synced_offset, partition.log_start_offset):
                return False
            chunk, deletions = (topic_id, index, end_offset), self.checkpointing.deletions
            if self._settling.setdefault(chunk, deletions.newest) > deletions.known:
                return False
            del self._settling[chunk]
            return True
        streamlet = self.leadership.streamlet(topic_id, index)
        if streamlet is None:
            image = self.leadership.image
            return image is not None and topic_id not in image.topics_by_id
        if not self.leadership.is_served_elsewhere(streamlet):
            return False
        self.unopened.drop_runs(topic_id, index)
        return True

    def unsynced(self, topic_id: bytes, index: int) -> list[Segment] | None:
        """Segments of a partition whose files are not synced yet; None when it is not open, or a thread is at
        it already."""
        partition = self.opened(topic_id, index)
        return None if partition is None or partition in self._proving else partition.unsynced()

    # Ageing

    def tick(self, now: float) -> bool:
        """Do what is due at monotonic time ``now`` (s), for about a millisecond; True: call again soon,
        more is waiting. To be called a few times a second.
        """
        deadline = self.clock.monotonic() + SLICE_S
        self._follow_clock()
        more = self.flushing.flush_old(now, self.settings.kproto_flush_age_ms / 1000, deadline)
        more |= self.checkpointing.tick(now, self.settings.kproto_checkpoint_interval_ms / 1000)
        more |= self._remove_files(now, deadline)
        more |= self._retain_some(now, deadline)
        more |= self._sweep_some(now, deadline)
        more |= self.flushing.rest(now)
        return more

    def _follow_clock(self) -> None:
        """Partitions know up to which timestamp nothing is too far ahead of the clock, which holds as long as
        that goes forward."""
        now = self.now_ms()
        if now < self.latest_ms:
            for partition in self.partitions_open():
                partition.clock_went_back()
        self.latest_ms = now

    def _remove_files(self, now: float, deadline: float) -> bool:
        """True: there is more to do for the loop; while the thread is at it, that goes on by itself."""
        while not self.trash.busy and self.trash.is_due(now):
            self.trash.remove_some()
            if self.clock.monotonic() >= deadline:
                return not self.trash.busy
        return False

    def _remove_more(self) -> None:
        now = self.clock.monotonic()
        self._remove_files(now, now + SLICE_S)

    def _retain_some(self, now: float, deadline: float) -> bool:
        """Retention and expiry of producers, partition by partition."""
        if self._retaining is None:
            if now < self._next_retention:
                return False
            self._next_retention = now + self.settings.log_retention_check_interval_ms / 1000
            self._retaining = self._due_for_retention()
        expiry = self.settings.producer_id_expiration_ms
        for partition in self._retaining:
            if partition is not None and not partition.deleted:
                try:
                    partition.retain()
                except OSError as error:  # of a file that cannot be read now: others are not kept from it
                    log.warning("%r: its retention waits: %s", partition, error)
                partition.producers.expire(self.now_ms(), expiry)
            if self.clock.monotonic() >= deadline:
                return True
        self._retaining = None
        return False

    def _sweep_some(self, now: float, deadline: float) -> bool:
        if self._sweeping is None:
            if now < self._sweep_at:
                return False
            self._sweep_at = now + RELEASED_KEPT_S
            self._sweeping = self._sweep()
        for _ in self._sweeping:
            if self.clock.monotonic() >= deadline:
                return True
        self._sweeping = None
        return False

    def _due_for_retention(self) -> Iterator[Partition | None]:
        """Open partitions, and those that are not open but whose checkpoint entry says that something may
        have to go. None: another one was passed over.
        """
        for topic_id in list(self.streams):
            stream = self.streams.get(topic_id)
            yield from list(stream.partitions.values()) if stream is not None else ()
        for topic_id, index in self.checkpointing.file.entries:
            yield self._retained_unopened(topic_id, index)

    def _retained_unopened(self, topic_id: bytes, index: int) -> Partition | None:
        """Open a partition that is not, when something of it may have to go."""
        image = self.leadership.image
        record = image.topics_by_id.get(topic_id) if image is not None else None
        entry = self.checkpointing.file.get(topic_id, index)
        stream = self.streams.get(topic_id)
        if (
            image is None
            or record is None
            or entry is None
            or not self.leadership.may_open(topic_id, index)
            or len(image.partition_streamlet(record, index).replicas) > 1
            or (stream is not None and index in stream.partitions)
        ):
            return None
        config = stream.config if stream is not None else self._config(record.configs)
        too_old = 0 <= config.retention_ms < self.now_ms() - entry.oldest_ms
        too_much = 0 <= config.retention_bytes < entry.size
        if entry.size and "delete" in config.cleanup_policy and (too_old or too_much):
            try:
                return self.open(topic_id, index)
            except (OSError, KafkaError) as error:
                log.warning("%s-%d: its retention waits: %s", record.name, index, error)
        return None

    def discard(self, partition: Partition, segments: list[Segment]) -> None:
        """Segments left ``partition``: remove their files after ``file.delete.delay.ms``."""
        self.checkpointing.sync_soon(partition)
        number = self.checkpointing.deletions.newest
        due = self.clock.monotonic() + partition.config.file_delete_delay_ms / 1000
        for segment in segments:
            self.files.close(segment.path)
            # An index without chunks would be found by nobody if the process were killed in between.
            self.trash.add(due, segment.index_path, number)
            self.trash.add(due, segment.path, number)

    def mono_ms(self) -> int:
        """For what lasts some time, whatever happens to the wall clock."""
        return int(self.clock.monotonic() * 1000)

    def random_below(self, limit: int) -> int:
        """For segment.jitter.ms."""
        import random

        return random.randrange(limit)

    # Stop

    def hasten(self) -> None:
        """Before a stop waits for the thread, which may have many partitions to sync."""
        if len(self._proving) > SYNC_ALL_FROM:
            os.sync()

    def _open_unknown(self) -> bool:
        """After a kill: partitions that have files of which the checkpoint does not know, and that nobody has
        opened since. The next start believes it without a look at their directories. False: one cannot be
        opened."""
        if self.checkpointing.exact or not self.checkpointing.file.exact:
            return True
        self._proved_s = -math.inf  # what fails in a thread would be told when the stop is over
        for key in self._not_opened():
            directory = self.directory_of(*key)
            try:
                if has_more_files(self.disk, directory, self.checkpointing.file.get(*key)):
                    self.open(*key)
            except (OSError, KafkaError) as error:
                log.warning("the stop is not clean: %s cannot be opened: %s", directory, error)
                return False
        return True

    def _not_opened(self) -> Iterator[tuple[bytes, int]]:
        """Partitions of one copy that are led here and may have files from before this process."""
        for topic_id, partitions in self._known_at_start.items():
            for index in range(partitions):
                streamlet = self.leadership.streamlet(topic_id, index)
                mine = streamlet is not None and not streamlet.sources and self.leadership.is_here(streamlet)
                if mine and self.opened(topic_id, index) is None:
                    yield topic_id, index

    def close(self) -> bool:
        """A clean stop: everything into files, synced, a last checkpoint. False, so not to be marked as one,
        when that failed or an earlier process left journal chunks that nobody opened."""
        clean = self._open_unknown()
        left = self.trash.close()
        opened = {(one.topic_id, one.index): one for one in self.partitions_open()}
        clean = self.flushing.flush_all() and clean and not self.unopened.has_runs
        try:
            sync_all(opened.values())
            self.checkpointing.sync_others(opened, self.directory_of, self.above)
        except OSError as error:
            self.ports.on_poison(f"fdatasync of a segment file: {error}")
            clean = False
        try:
            self.checkpointing.close(opened.values())
            leave_files(self.disk, self.data_dir, left)  # the checkpoint knows by now that they are to go
        except OSError as error:
            log.warning("the stop is not clean: %s", error.strerror)
            if error.errno == EIO:
                self.ports.on_poison(f"the last checkpoint: {error}")
            clean = False
        self.files.close_all()
        return clean
