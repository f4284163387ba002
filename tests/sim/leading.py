"""What leaders believe and show: who leads (S6), what is durable, and that nothing else is shown (S4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproto.metadata.vlogs import VsegId
from kproto.vlog.replicated import ReplicatedPusher
from kproto.vlog.side import is_side

if TYPE_CHECKING:
    from kproto.log.partition import Partition

    from .checks import Checks, PartitionKey
    from .world import Node, World


class Leading:
    """Watches the leaders of a world."""

    def __init__(self, world: World, checks: Checks) -> None:
        self.world = world
        self.checks = checks
        self.leaders: dict[tuple[bytes, int, int], str] = {}
        """Partition and leader epoch to the process that served it."""
        self.placed: dict[tuple[int, PartitionKey, int], tuple[VsegId, int]] = {}
        """By owner epoch, partition and next offset of a chunk, the virtual segment that it is in, and where
        its frame ends."""

    def framed(self, vseg: VsegId, end: int, key: PartitionKey, next_offset: int) -> None:
        """A chunk is in a frame that ends at ``end``: perhaps no more in one that was given up (13)."""
        if not is_side(vseg.vlog):
            self.placed[vseg.owner_epoch, key, next_offset] = vseg, end

    def look(self, node: Node) -> None:
        """S6, that offsets are in order, and that consumers see nothing else than what is durable."""
        assert node.process is not None
        for partition in node.running._logs.partitions_open():
            low, stable, high = (
                partition.log_start_offset,
                partition.last_stable_offset,
                partition.high_watermark,
            )
            if not low <= stable <= high <= partition.log_end_offset:
                self.world.failed(f"S12: n{node.number} {partition!r}: {low} {stable} {high}")
            if partition.copies > 1:
                self._look_at_shown(node, partition)
                key = partition.topic_id, partition.index, partition.leader_epoch
                known = self.leaders.setdefault(key, node.process.name)
                if known != node.process.name:
                    self.world.failed(
                        f"S6: {known} and {node.process.name} lead {partition.topic}-{partition.index} under "
                        f"epoch {partition.leader_epoch}"
                    )

    def look_at_owner(self, vseg: VsegId) -> None:
        """S4, while a push arrives: with several in flight an owner may take an answer for more than it
        says, and a moment later that is true."""
        for node in self.world.nodes.values():
            if node.up and node.ready and self.world.epoch_of(node) == vseg.owner_epoch:
                for pusher in node.running._vlogs._replicated():
                    if pusher.vlog.vlog_id == vseg.vlog:
                        self.look_at_copies(node, pusher)
                for partition in node.running._logs.partitions_open():
                    if partition.copies > 1:
                        self._look_at_shown(node, partition)

    def look_at_copies(self, node: Node, pusher: ReplicatedPusher) -> None:
        """S4: what is durable is on all copies of the open segment."""
        vlog, segment = pusher.vlog, pusher.vlog.open_segment
        if segment is None or segment.durable == segment.start:
            return
        vseg = VsegId(vlog.owner_epoch, vlog.vlog_id, segment.number)
        record = self.world.table.vsegs.get(vseg)
        if record is None or not record.open:
            return
        if not any(broker.epoch == vseg.owner_epoch for broker in self.world.image.brokers.values()):
            return
        for target in pusher._targets:
            other = self.world.nodes[target.node_id]
            if not (other.up and other.ready) or self.checks.store_of(target.node_id) != target.store_id:
                continue
            if vseg in self.checks.lost.get(target.store_id, ()):
                continue
            copy = other.store.copies.get(vseg)
            if copy is None or (copy.loaded and copy.end < segment.durable):
                self.world.failed(
                    f"S4: n{node.number} takes {segment.durable} of {tuple(vseg)} for durable; "
                    f"n{target.node_id} has {'nothing' if copy is None else copy.end}"
                )

    def _look_at_shown(self, node: Node, partition: Partition) -> None:
        """S4: the last chunk below the high watermark is durable in its virtual segment, if this process
        appended it."""
        key = partition.topic_id, partition.index
        place = self.placed.get((self.world.epoch_of(node), key, partition.high_watermark))
        if place is None:
            return
        vseg, position = place
        for pusher in node.running._vlogs._replicated():
            segment = pusher.vlog.open_segment
            if segment is None or (pusher.vlog.vlog_id, segment.number) != (vseg.vlog, vseg.seq):
                continue
            self.world.count("high watermarks")
            if segment.durable < position:
                self.world.failed(
                    f"S4: n{node.number} shows {partition!r}, but of {tuple(vseg)} {segment.durable} is "
                    f"durable, and the last chunk is in the frame up to {position}"
                )
