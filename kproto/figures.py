"""What is measured of a running broker: the values behind its metrics endpoint. Reads state, changes nothing.

May import everything before ``broker``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kproto.handlers.partitions import leader_of
from kproto.handlers.turns import Pauses
from kproto.metadata.records import NO_LEADER
from kproto.metrics import Metric
from kproto.wire.messages import codec

if TYPE_CHECKING:
    from kproto.handlers.dispatch import Dispatcher
    from kproto.handlers.groups.shard import Shard
    from kproto.log.manager import LogManager
    from kproto.metadata import MetadataImage
    from kproto.net.server import Server
    from kproto.replica.service import ReplicaService
    from kproto.vlog.manager import VlogManager

LENGTH_BYTES: Final = 4
"""Before each request."""
NO_LABELS: Final[Mapping[str, str]] = {}
_VLOG_COUNTERS: Final = (
    ("pushes", "kproto_vlog_pushes", "Frames sent to backups."),
    ("appended", "kproto_vlog_chunks", "Chunks appended."),
    ("replaced", "kproto_vlog_backups_replaced", "Backups replaced because they failed or stalled."),
    ("stalls", "kproto_vlog_stalls", "Pushes that a backup did not answer in time."),
)
_VLOG_GAUGES: Final = (
    ("lag", "kproto_vlog_lag_chunks", "Chunks that are not durable yet."),
    ("filled", "kproto_vlog_filled", "Share of the open virtual segment that is used."),
    ("live_copies", "kproto_vlog_live_copies", "Copies that new appends get."),
    ("chunks_per_push", "kproto_vlog_chunks_per_push", "Chunks per frame since the start."),
    ("bytes_per_push", "kproto_vlog_bytes_per_push", "Bytes per frame since the start."),
    ("rest_ms", "kproto_vlog_rest_ms", "How long it waits for more chunks at most, after the last frame."),
)


def served(server: Server, dispatcher: Dispatcher) -> Iterator[Metric]:
    """What clients ask."""
    for key, (requests, size) in dispatcher.requests.items():
        labels = {"api": codec(key).name}
        yield Metric("kproto_requests", "Requests of clients.", requests, labels, counter=True)
        received = size + requests * LENGTH_BYTES
        yield Metric("kproto_request_bytes", "Bytes of requests.", received, labels, counter=True)
    for key, latency in dispatcher.latencies.items():
        text, labels = "From a request to its answer.", {"api": codec(key).name}
        yield Metric("kproto_request_seconds", text, latency.seconds, labels, buckets=latency.buckets())
    answered = server.answered_bytes
    yield Metric("kproto_response_bytes", "Bytes of answers.", answered, NO_LABELS, counter=True)
    yield Metric("kproto_connections_open", "Connections of clients.", server.connections, NO_LABELS)
    accepted = server.accepted
    yield Metric("kproto_connections", "Connections accepted.", accepted, NO_LABELS, counter=True)
    used = server.budget.used
    yield Metric("kproto_request_memory_bytes", "Held for requests and answers.", used, NO_LABELS)


def cluster(image: MetadataImage, node_id: int) -> Iterator[Metric]:
    """What this broker knows of the cluster. The same on all brokers but for the moment a change takes."""
    led = offline = 0
    for record in image.every_streamlet():
        topic = image.topic_of(record)
        partitions = min(topic.active_groups, topic.partitions - record.index * topic.active_groups)
        leader = leader_of(image, record)
        led += partitions if leader == node_id else 0
        offline += partitions if leader == NO_LEADER else 0
    yield Metric("kproto_brokers", "Live brokers.", len(image.brokers), NO_LABELS)
    is_controller = image.controller_id == node_id
    yield Metric("kproto_active_controller", "1 on the acting controller.", is_controller, NO_LABELS)
    yield Metric("kproto_partitions_led", "Partitions that this broker serves.", led, NO_LABELS)
    yield Metric("kproto_partitions_offline", "Partitions nobody serves at the moment.", offline, NO_LABELS)


async def topics(
    image: MetadataImage, node_id: int, logs: LogManager, shards: Iterable[Shard]
) -> list[Metric]:
    """Partitions that this broker serves, and what groups that it coordinates have committed. There may be
    thousands: others get their turn in between. Of what is deleted meanwhile nothing is shown."""
    found: list[Metric] = []
    pause = Pauses()
    for topic in image.topics.values():
        for index in range(topic.partitions):
            await pause()
            if leader_of(image, image.partition_streamlet(topic, index)) != node_id:
                continue
            labels = {"topic": topic.name, "partition": str(index)}
            start, end = logs.extent(topic.topic_id, index)
            size = logs.size_bytes(topic.topic_id, index)
            found += (
                Metric("kproto_partition_start_offset", "Where the log begins.", start, labels),
                Metric("kproto_partition_end_offset", "The high watermark.", end, labels),
                Metric("kproto_partition_bytes", "Bytes of its record batches.", size, labels),
            )
    for entry in [entry for shard in shards for entry in shard.entries.values()]:
        group = {"group": entry.group.group_id}
        members = len(entry.group.members)
        found.append(Metric("kproto_group_members", "Members of a group.", members, group))
        for name, index, committed in list(entry.offsets.all()):
            await pause()
            labels = {**group, "topic": name, "partition": str(index)}
            text = "The offset a group has committed."
            found.append(Metric("kproto_group_committed_offset", text, committed.offset, labels))
    now = logs.leadership.image or image
    deleted = {topic.name for topic in image.topics.values() if topic.topic_id not in now.topics_by_id}
    return [metric for metric in found if metric.labels.get("topic") not in deleted] if deleted else found


def stored(vlogs: VlogManager, logs: LogManager, replicas: ReplicaService | None) -> Iterator[Metric]:
    """Virtual logs, and what is kept."""
    for row in vlogs.state():
        labels = {"vlog": str(row["vlog"]), "copies": str(row["copies"]), "policy": str(row["policy"])}
        for key, name, text in _VLOG_COUNTERS:
            if key in row:
                yield Metric(name, text, float(row[key]), labels, counter=True)
        for key, name, text in _VLOG_GAUGES:
            if key in row:
                yield Metric(name, text, float(row[key]), labels)
    opened = sum(1 for _ in logs.partitions_open())
    yield Metric("kproto_partitions_open", "Partitions in use.", opened, NO_LABELS)
    yield Metric("kproto_journal_bytes", "Bytes of journal files.", vlogs.journal.bytes, NO_LABELS)
    if replicas is not None:
        kept = len(replicas.store.copies)
        yield Metric("kproto_replica_vsegs", "Virtual segments kept for other brokers.", kept, NO_LABELS)
        yield Metric("kproto_replica_pushes", "Pushes received.", replicas.pushes, NO_LABELS, counter=True)
        size = replicas.push_bytes
        yield Metric("kproto_replica_push_bytes", "Bytes of pushes received.", size, NO_LABELS, counter=True)
        refused = replicas.refused
        yield Metric(
            "kproto_replica_refused", "Pushes that were not stored.", refused, NO_LABELS, counter=True
        )
