"""A stream (a topic) and its streamlets (runs of ``kproto.active.groups`` partitions) as the log knows them.

Streams are made when the first partition of a topic is used; partitions too. What nobody uses costs nothing
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kproto.config import TopicConfig
    from kproto.log.partition import Partition
    from kproto.metadata import MetadataImage, TopicRecord


class Stream:
    """A topic with at least one open partition."""

    __slots__ = ("config", "partitions", "record")

    def __init__(self, record: TopicRecord, config: TopicConfig) -> None:
        self.record = record
        self.config = config
        self.partitions: dict[int, Partition] = {}

    def streamlet_of(self, index: int) -> int:
        """The streamlet partition ``index`` belongs to: the unit of leadership and placement."""
        return index // self.record.active_groups

    def update(self, record: TopicRecord, config: TopicConfig, image: MetadataImage) -> list[Partition]:
        """Take a newer record; returns the open partitions, with leader epochs and configs brought up to
        date, whose config or number of copies changed.
        """
        configured = config != self.config
        self.record = record
        self.config = config
        changed: list[Partition] = []
        for index, partition in self.partitions.items():
            streamlet = image.streamlet(record.topic_id, self.streamlet_of(index))
            copies = record.copies_of(streamlet)
            if configured or copies != partition.copies:
                partition.configure(config)
                partition.copies = copies
                changed.append(partition)
            partition.only_here = not streamlet.sources
            if streamlet.leader_epoch != partition.leader_epoch:
                partition.leader_epoch = streamlet.leader_epoch
                partition.notify()
        return changed
