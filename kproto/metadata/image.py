"""The metadata image: an immutable picture of the store at one revision, cheap to derive from the last one.

Brokers answer Metadata from it and the storage opens partitions by it; nobody changes it. A delta copies the
outer dictionaries (some 25 us at 5,000 topics) and shares every record that did not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Final

from kproto.check import check
from kproto.metadata.records import (
    BROKERS,
    CLUSTER_KEY,
    CONFIGS,
    DEFAULT_BROKER,
    FORMAT,
    FORMAT_KEY,
    RESTORE,
    STREAMLETS,
    TERMS,
    TOPICS,
    BrokerRecord,
    StreamletRecord,
    TopicRecord,
    parse_value,
    parse_values,
    streamlet_of_key,
    unreadable,
)
from kproto.metadata.store import Change, Entry, StoreError

_PICTURED: Final = (STREAMLETS, TOPICS, BROKERS, CONFIGS, CLUSTER_KEY, FORMAT_KEY, TERMS)
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MetadataImage:
    """Everything brokers know about the cluster at ``revision``.

    ``touched`` are the ids of topics created, changed or deleted since ``base_revision``: who has applied
    the image of that revision needs to look at these only. Invariants: every topic has exactly
    ``TopicRecord.streamlets`` streamlet records; ``topics`` and ``topics_by_id`` hold the same records;
    ``revision`` never goes back.

    ``encoded`` is a memo by topic id for whoever derives bytes from a topic, its streamlets and the brokers
    alone: the next image inherits what its change did not touch. ``term`` is the mark of the controller's
    term that ``revision`` is of (``history``).
    """

    revision: int = 0
    cluster_id: str = ""
    controller_id: int = -1
    brokers: Mapping[int, BrokerRecord] = field(default_factory=dict)
    topics: Mapping[str, TopicRecord] = field(default_factory=dict)
    topics_by_id: Mapping[bytes, TopicRecord] = field(default_factory=dict)
    streamlets: Mapping[bytes, tuple[StreamletRecord, ...]] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    base_revision: int = 0
    touched: frozenset[bytes] = frozenset()
    encoded: dict[bytes, bytes] = field(default_factory=dict, compare=False, repr=False)
    term: str = ""

    def streamlet(self, topic_id: bytes, index: int) -> StreamletRecord:
        """The record of a streamlet; KeyError for an unknown topic, IndexError beyond its last streamlet."""
        return self.streamlets[topic_id][index]

    def find_streamlet(self, topic_id: bytes, index: int) -> StreamletRecord | None:
        """The same; None when there is no such one (any more)."""
        part = self.streamlets.get(topic_id, ())
        return part[index] if 0 <= index < len(part) else None

    def every_streamlet(self) -> Iterator[StreamletRecord]:
        """The records of all streamlets of all topics; those of one topic come together, by index."""
        return chain.from_iterable(self.streamlets.values())

    def streamlets_in_order(self) -> Iterator[StreamletRecord]:
        """The same by topic id and index, whichever topic is older: for who takes only the first ones."""
        return chain.from_iterable(self.streamlets[topic_id] for topic_id in sorted(self.streamlets))

    def is_member(self, node_id: int, epoch: int) -> bool:
        """Whether the broker is a live member under this very epoch (rules 2 and 19)."""
        broker = self.brokers.get(node_id)
        return broker is not None and broker.epoch == epoch

    def topic_of(self, record: StreamletRecord) -> TopicRecord:
        """The topic of one of this image's streamlets."""
        return self.topics_by_id[record.topic_id]

    def leader_epoch(self, topic: str, partition: int) -> int:
        """Leader epoch of a partition; KeyError or IndexError when there is no such partition."""
        return self.partition_streamlet(self.topics[topic], partition).leader_epoch

    def partition_streamlet(self, topic: TopicRecord, partition: int) -> StreamletRecord:
        """The streamlet record a partition belongs to."""
        if not 0 <= partition < topic.partitions:
            raise IndexError(f"{topic.name} has {topic.partitions} partitions, not {partition}")
        return self.streamlets[topic.topic_id][partition // topic.active_groups]

    def broker_configs(self, node_id: int) -> Mapping[str, str]:
        """Dynamic configs in force on a broker: its own over those of every broker."""
        common = self.configs.get(DEFAULT_BROKER, _NOTHING)
        own = self.configs.get(str(node_id), _NOTHING)
        return {**common, **own} if own and common else own or common

    def with_controller(self, node_id: int) -> MetadataImage:
        """The same picture with another acting controller, which is not part of the store."""
        return replace(self, controller_id=node_id)

    def apply(self, change: Change) -> MetadataImage:
        """The image after one store transaction, which must be the next one."""
        check(
            change.revision == self.revision + 1,
            f"metadata revision {change.revision} cannot follow {self.revision}; was a change lost?",
        )
        if not any(map(_is_pictured, change.puts)) and not any(map(_is_pictured, change.deletes)):
            return self._at(change.revision)
        draft = _Draft(self)
        draft.delete(change.deletes)
        draft.put(change.puts.items())
        return draft.image(change.revision)

    def _at(self, revision: int) -> MetadataImage:
        """The image after a transaction about something else, as most are in a cluster that is busy."""
        return MetadataImage(
            revision,
            self.cluster_id,
            self.controller_id,
            self.brokers,
            self.topics,
            self.topics_by_id,
            self.streamlets,
            self.configs,
            self.revision,
            frozenset(),
            self.encoded,
            self.term,
        )


def _is_pictured(key: str) -> bool:
    """Whether the image shows what is stored under a key."""
    return key.startswith(_PICTURED)


class _Draft:
    """Copies of the outer dictionaries while one delta is applied."""

    __slots__ = (
        "brokers",
        "by_id",
        "cluster_id",
        "configs",
        "old",
        "parts",
        "streamlets",
        "term",
        "topics",
        "touched",
    )

    def __init__(self, old: MetadataImage) -> None:
        self.old = old
        self.cluster_id = old.cluster_id
        self.term = old.term
        self.brokers = dict(old.brokers)
        self.topics = dict(old.topics)
        self.by_id = dict(old.topics_by_id)
        self.streamlets = dict(old.streamlets)
        self.configs = dict(old.configs)
        self.parts: dict[bytes, list[StreamletRecord]] = {}
        self.touched: set[bytes] = set()

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key.startswith(TOPICS):
                topic = self.topics.pop(key[len(TOPICS) :])
                self.by_id.pop(topic.topic_id)
                self.streamlets.pop(topic.topic_id, None)
                self.touched.add(topic.topic_id)
            elif key.startswith(BROKERS):
                self.brokers.pop(int(key[len(BROKERS) :]))
            elif key.startswith(CONFIGS):
                self.configs.pop(key[len(CONFIGS) :], None)

    def put(self, items: Iterable[tuple[str, bytes]]) -> None:
        streamlet_keys: list[str] = []
        streamlet_values: list[bytes] = []
        for key, value in items:
            if key.startswith(STREAMLETS):
                streamlet_keys.append(key)
                streamlet_values.append(value)
            elif key.startswith(TOPICS):
                self._put_topic(TopicRecord.decode(key, value))
            elif key.startswith(BROKERS):
                broker = BrokerRecord.decode(key, value)
                self.brokers[broker.node_id] = broker
            elif key.startswith(CONFIGS):
                self.configs[key[len(CONFIGS) :]] = parse_value(value)
            elif key == CLUSTER_KEY:
                self.cluster_id = value.decode()
            elif key.startswith(TERMS):  # the newest comes last
                self.term = value.decode()
            elif key == FORMAT_KEY:
                check(value == FORMAT, f"metadata has format {value!r}; which version of kproto wrote it?")
        self._put_streamlets(streamlet_keys, streamlet_values)

    def _put_topic(self, topic: TopicRecord) -> None:
        known = self.topics.get(topic.name)
        if known is not None and known.topic_id != topic.topic_id:
            self.by_id.pop(known.topic_id)
            self.streamlets.pop(known.topic_id, None)
            self.touched.add(known.topic_id)
        self.topics[topic.name] = topic
        self.by_id[topic.topic_id] = topic
        self.touched.add(topic.topic_id)

    def _put_streamlets(self, keys: list[str], values: list[bytes]) -> None:
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        for key, fields in zip(keys, parse_values(values), strict=True):
            topic_id, index = streamlet_of_key(key)
            self._put_streamlet(StreamletRecord.of_fields(topic_id, index, fields, shared))

    def _put_streamlet(self, record: StreamletRecord) -> None:
        part = self.parts.get(record.topic_id)
        if part is None:
            part = self.parts[record.topic_id] = list(self.streamlets.get(record.topic_id, ()))
        check(
            record.index <= len(part),
            f"streamlet {record.index} of topic {record.topic_id.hex()} comes after {len(part)} others; "
            "was a record lost?",
        )
        part[record.index : record.index + 1] = (record,)

    def image(self, revision: int) -> MetadataImage:
        for topic_id, part in self.parts.items():
            if topic_id in self.by_id:
                self.streamlets[topic_id] = tuple(part)
                self.touched.add(topic_id)
        for topic_id in self.touched:
            topic = self.by_id.get(topic_id)
            have = len(self.streamlets.get(topic_id, ()))
            want = topic.streamlets if topic is not None else 0
            check(have == want, f"topic {topic_id.hex()} has {have} streamlet records instead of {want}")
        return MetadataImage(
            revision,
            self.cluster_id,
            self.old.controller_id,
            self.brokers,
            self.topics,
            self.by_id,
            self.streamlets,
            self.configs,
            self.old.revision,
            frozenset(self.touched),
            self._inherited_memo(),
            self.term,
        )

    def _inherited_memo(self) -> dict[bytes, bytes]:
        if self.brokers != self.old.brokers:
            return {}
        memo = dict(self.old.encoded)
        for topic_id in self.touched:
            memo.pop(topic_id, None)
        return memo


EMPTY_IMAGE: Final = MetadataImage()


def load_image(revision: int, entries: Sequence[Entry]) -> MetadataImage:
    """The image of a whole store, read at ``revision``; entries in key order. Raises :class:`StoreError` for
    what no kproto of this version has written."""
    draft = _Draft(EMPTY_IMAGE)
    try:
        draft.put((entry.key, entry.value) for entry in entries)
        return draft.image(revision)
    except Exception as error:  # whatever comes of a value that is another one than it should be
        raise _refused(entries, error) from error


def _refused(entries: Sequence[Entry], error: Exception) -> StoreError:
    """The error that names the entry which cannot be read: the first one that fails when they come singly."""
    draft = _Draft(EMPTY_IMAGE)
    for entry in entries:
        try:
            draft.put([(entry.key, entry.value)])
        except Exception as reason:
            return unreadable(entry.key, reason)
    return StoreError(f"the metadata does not fit together ({error}): {RESTORE}")
