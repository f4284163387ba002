"""What is measured of a running broker: the values behind its metrics endpoint. Reads state, changes nothing.

May import everything before ``broker``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kproto.metrics import Metric

if TYPE_CHECKING:
    from kproto.log.manager import LogManager
    from kproto.replica.service import ReplicaService
    from kproto.vlog.manager import VlogManager

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


def metrics(vlogs: VlogManager, logs: LogManager, replicas: ReplicaService | None) -> Iterator[Metric]:
    """Everything for Prometheus."""
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
        stored = len(replicas.store.copies)
        yield Metric("kproto_replica_vsegs", "Virtual segments kept for other brokers.", stored, NO_LABELS)
        yield Metric("kproto_replica_pushes", "Pushes received.", replicas.pushes, NO_LABELS, counter=True)
        size = replicas.push_bytes
        yield Metric("kproto_replica_push_bytes", "Bytes of pushes received.", size, NO_LABELS, counter=True)
        refused = replicas.refused
        yield Metric(
            "kproto_replica_refused", "Pushes that were not stored.", refused, NO_LABELS, counter=True
        )
