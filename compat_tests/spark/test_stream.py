"""spark.readStream: where a stream starts and how much a batch takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compat_tests.spark.conftest import Filled
from compat_tests.spark.queries import (
    files_of,
    finish,
    offsets_json,
    run_to_files,
    start_to_files,
    stream,
    wait_for,
)
from compat_tests.spark.records import (
    FIRST_TIMESTAMP_MS,
    STEP_MS,
    new_topic,
    produce,
    sample,
    without_headers,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_from_the_earliest_in_limited_batches(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path
) -> None:
    options = {"startingOffsets": "earliest", "includeHeaders": True, "maxOffsetsPerTrigger": 300}
    rows, batches = run_to_files(session, stream(session, bootstrap, filled.topic, **options), tmp_path)
    assert rows == sorted(filled.records)
    assert sum(report["numInputRows"] for report in batches) == 1_000
    assert len(batches) == 4
    assert all(report["numInputRows"] <= 300 for report in batches)


def test_min_partitions_of_a_stream(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path
) -> None:
    options = {"startingOffsets": "earliest", "minPartitions": 8}
    rows, batches = run_to_files(session, stream(session, bootstrap, filled.topic, **options), tmp_path)
    assert rows == without_headers(filled.records)
    assert len(list((tmp_path / "files").glob("part-*.parquet"))) >= 8
    assert len(batches) == 1


def test_from_the_latest_sees_only_what_comes_later(
    session: SparkSession, bootstrap: str, tmp_path: Path
) -> None:
    topic = new_topic(bootstrap, 2)
    produce(bootstrap, topic, sample(50, 2))
    query = start_to_files(stream(session, bootstrap, topic, startingOffsets="latest"), tmp_path)
    try:
        query.processAllAvailable()
        later = sample(60, 2, start=50)
        produce(bootstrap, topic, later)
        wait_for(query, "60 rows", lambda: sum(r["numInputRows"] for r in query.recentProgress) >= 60)
    finally:
        query.stop()
    assert files_of(session, tmp_path) == without_headers(later)


def test_from_offsets_per_partition(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path
) -> None:
    start = {0: 100, 1: -1, 2: -2}
    frame = stream(session, bootstrap, filled.topic, startingOffsets=offsets_json(filled.topic, start))
    rows, _ = run_to_files(session, frame, tmp_path)
    first = {0: 100, 1: filled.ends[1], 2: 0}
    assert rows == without_headers(r for r in filled.records if r.offset >= first[r.partition])


def test_from_a_timestamp(session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path) -> None:
    start = FIRST_TIMESTAMP_MS + 700 * STEP_MS + 1
    rows, _ = run_to_files(
        session, stream(session, bootstrap, filled.topic, startingTimestamp=start), tmp_path
    )
    expected = [r for r in filled.records if r.timestamp_ms >= start]
    assert len(expected) == 299
    assert rows == without_headers(expected)


def test_from_a_timestamp_per_partition(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path
) -> None:
    starts = {p: FIRST_TIMESTAMP_MS + number * STEP_MS for p, number in enumerate((10, 500, 990))}
    by_time = offsets_json(filled.topic, starts)
    frame = stream(session, bootstrap, filled.topic, startingOffsetsByTimestamp=by_time)
    rows, _ = run_to_files(session, frame, tmp_path)
    assert rows == without_headers(r for r in filled.records if r.timestamp_ms >= starts[r.partition])


def test_a_running_stream_follows_the_topic_and_new_partitions(
    session: SparkSession, bootstrap: str, tmp_path: Path
) -> None:
    from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]

    topic = new_topic(bootstrap, 1)
    options = {"startingOffsets": "earliest", "kafka.metadata.max.age.ms": 300}
    query = start_to_files(stream(session, bootstrap, topic, **options), tmp_path)
    expected = []
    try:
        for part in range(3):
            records = sample(40, 1, start=part * 40)
            produce(bootstrap, topic, records)
            query.processAllAvailable()
            expected += records
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_partitions([NewPartitions(topic, 3)])[topic].result(timeout=120)
        spread = [record for record in sample(90, 3) if record.partition > 0]
        produce(bootstrap, topic, spread)
        expected += spread
        wait_for(query, "180 rows", lambda: sum(r["numInputRows"] for r in query.recentProgress) >= 180)
    finally:
        query.stop()
    assert files_of(session, tmp_path) == without_headers(expected)


def test_counts_by_window_and_key(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path
) -> None:
    """A stateful query: event-time windows over the records' timestamps."""
    from pyspark.sql import functions as f

    frame = stream(session, bootstrap, filled.topic, startingOffsets="earliest", maxOffsetsPerTrigger=400)
    counts = frame.groupBy(f.window("timestamp", "100 seconds")).count()
    writer = counts.writeStream.format("memory").queryName("windows").outputMode("complete")
    finish(writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start())
    rows = session.table("windows").select(f.unix_seconds("window.start").alias("start"), "count").collect()
    found = {row["start"]: row["count"] for row in rows}
    expected: dict[int, int] = {}
    for record in filled.records:
        start = record.timestamp_ms // 100_000 * 100
        expected[start] = expected.get(start, 0) + 1
    assert sum(found.values()) == 1_000
    assert found == expected
