"""spark.read and df.write: whole topics, slices by offset and by time, several ways to name the topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.spark.conftest import Filled
from compat_tests.spark.queries import batch, offsets_json, stored
from compat_tests.spark.records import (
    FIRST_TIMESTAMP_MS,
    STEP_MS,
    Stored,
    new_topic,
    produce,
    read_topic,
    sample,
    without_headers,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_reads_every_record_with_headers(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    frame = batch(session, bootstrap, filled.topic, includeHeaders=True)
    assert stored(frame) == sorted(filled.records)
    assert [row.asDict() for row in frame.select("topic", "timestampType").distinct().collect()] == [
        {"topic": filled.topic, "timestampType": 0}
    ]


def test_headers_are_left_out_unless_asked_for(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    frame = batch(session, bootstrap, filled.topic)
    assert "headers" not in frame.columns
    assert stored(frame) == without_headers(filled.records)


def test_reads_between_offsets(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    frame = batch(
        session,
        bootstrap,
        filled.topic,
        startingOffsets=offsets_json(filled.topic, {0: 17, 1: -2, 2: 333}),
        endingOffsets=offsets_json(filled.topic, {0: 20, 1: 5, 2: -1}),
    )
    inside = {0: (17, 20), 1: (0, 5), 2: (333, filled.ends[2])}
    expected = [r for r in filled.records if inside[r.partition][0] <= r.offset < inside[r.partition][1]]
    assert stored(frame) == without_headers(expected)


def test_reads_between_timestamps(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    first, last = FIRST_TIMESTAMP_MS + 100 * STEP_MS - 1, FIRST_TIMESTAMP_MS + 200 * STEP_MS
    frame = batch(session, bootstrap, filled.topic, startingTimestamp=first, endingTimestamp=last)
    expected = [r for r in filled.records if first <= r.timestamp_ms < last]
    assert len(expected) == 100
    assert stored(frame) == without_headers(expected)


def test_reads_from_a_timestamp_per_partition(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    starts = {0: FIRST_TIMESTAMP_MS + 600 * STEP_MS, 1: FIRST_TIMESTAMP_MS, 2: FIRST_TIMESTAMP_MS + 997_500}
    by_time = offsets_json(filled.topic, starts)
    frame = batch(session, bootstrap, filled.topic, startingOffsetsByTimestamp=by_time)
    expected = [r for r in filled.records if r.timestamp_ms >= starts[r.partition]]
    assert stored(frame) == without_headers(expected)


def test_a_timestamp_after_the_last_record_is_an_error_or_the_end(
    session: SparkSession, bootstrap: str, filled: Filled
) -> None:
    late = FIRST_TIMESTAMP_MS + 10_000 * STEP_MS
    with pytest.raises(Exception, match="No offset matched"):
        batch(session, bootstrap, filled.topic, startingTimestamp=late).count()
    latest = {"startingTimestamp": late, "startingOffsetsByTimestampStrategy": "latest"}
    assert batch(session, bootstrap, filled.topic, **latest).count() == 0


def test_min_partitions_splits_without_changing_the_content(
    session: SparkSession, bootstrap: str, filled: Filled
) -> None:
    frame = batch(session, bootstrap, filled.topic, minPartitions=11)
    assert batch(session, bootstrap, filled.topic).rdd.getNumPartitions() == 3
    assert frame.rdd.getNumPartitions() >= 11
    assert stored(frame) == without_headers(filled.records)


def test_small_fetches_see_the_same_records(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    limits = {
        "kafka.max.poll.records": 7,
        "kafka.max.partition.fetch.bytes": 600,
        "kafka.fetch.max.bytes": 900,
    }
    assert stored(batch(session, bootstrap, filled.topic, **limits)) == without_headers(filled.records)


def test_topics_by_pattern_and_by_assignment(session: SparkSession, bootstrap: str, filled: Filled) -> None:
    reader = session.read.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    by_pattern = reader.option("subscribePattern", f"{filled.topic[:-1]}.").load()
    assert stored(by_pattern) == without_headers(filled.records)
    reader = session.read.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    assigned = reader.option("assign", f'{{"{filled.topic}": [2]}}').load()
    assert stored(assigned) == without_headers(r for r in filled.records if r.partition == 2)


def test_offsets_found_by_a_consumer_of_a_group(
    session: SparkSession, bootstrap: str, filled: Filled
) -> None:
    name = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
    session.conf.set(name, "true")
    try:
        assert stored(batch(session, bootstrap, filled.topic)) == without_headers(filled.records)
    finally:
        session.conf.unset(name)


def test_append_time_is_the_broker_s(session: SparkSession, bootstrap: str) -> None:
    topic = new_topic(bootstrap, 1, {"message.timestamp.type": "LogAppendTime"})
    produce(bootstrap, topic, sample(20, 1))
    rows = stored(batch(session, bootstrap, topic))
    assert [row.timestamp_ms for row in rows] == [r.timestamp_ms for r in read_topic(bootstrap, topic, 1)]
    assert all(row.timestamp_ms > FIRST_TIMESTAMP_MS + 100_000 * STEP_MS for row in rows)
    assert {row["timestampType"] for row in batch(session, bootstrap, topic).collect()} == {1}


def test_an_empty_topic_has_no_rows(session: SparkSession, bootstrap: str) -> None:
    assert stored(batch(session, bootstrap, new_topic(bootstrap, 5))) == []


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_writes_a_frame(session: SparkSession, bootstrap: str, filled: Filled, codec: str) -> None:
    topic = new_topic(bootstrap, 3)
    source = batch(session, bootstrap, filled.topic, includeHeaders=True)
    writer = source.select("key", "value", "headers", "partition").write.format("kafka")
    options = {"kafka.bootstrap.servers": bootstrap, "topic": topic, "kafka.compression.type": codec}
    writer.options(**options, includeHeaders="true").save()

    def content(records: list[Stored]) -> list[tuple[object, ...]]:
        return sorted(((r.partition, r.key, r.value, r.headers) for r in records), key=repr)

    assert content(read_topic(bootstrap, topic, 3)) == content(filled.records)
