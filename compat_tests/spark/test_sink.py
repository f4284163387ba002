"""writeStream to Kafka: what arrives, where, and that a restarted query goes on where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.spark.conftest import Filled
from compat_tests.spark.queries import finish, stream
from compat_tests.spark.records import Stored, new_topic, produce, read_topic, sample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter


def to_kafka(frame: DataFrame, bootstrap: str, topic: str | None, checkpoint: Path) -> DataStreamWriter:
    writer = frame.writeStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    if topic is not None:
        writer = writer.option("topic", topic)
    return writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)


def contents(records: list[Stored]) -> list[tuple[object, ...]]:
    """What a copy keeps of a record, in an order of its own."""
    return sorted(((r.partition, r.key, r.value, r.headers) for r in records), key=repr)


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_copies_a_topic_with_keys_headers_and_partitions(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path, codec: str
) -> None:
    topic = new_topic(bootstrap, filled.partitions)
    options = {"startingOffsets": "earliest", "includeHeaders": True, "maxOffsetsPerTrigger": 350}
    frame = stream(session, bootstrap, filled.topic, **options).select("key", "value", "headers", "partition")
    writer = to_kafka(frame, bootstrap, topic, tmp_path).option("includeHeaders", True)
    batches = finish(writer.option("kafka.compression.type", codec).start())
    assert len(batches) == 3
    assert contents(read_topic(bootstrap, topic, filled.partitions)) == contents(filled.records)


def test_routes_rows_by_their_topic_column(
    session: SparkSession, bootstrap: str, filled: Filled, tmp_path: Path
) -> None:
    from pyspark.sql import functions as f

    even, odd = new_topic(bootstrap, 1), new_topic(bootstrap, 1)
    frame = stream(session, bootstrap, filled.topic, startingOffsets="earliest").where("value IS NOT NULL")
    routed = frame.select("value", f.when(f.col("offset") % 2 == 0, even).otherwise(odd).alias("topic"))
    finish(to_kafka(routed, bootstrap, None, tmp_path).start())
    for topic, rest in ((even, 0), (odd, 1)):
        found = sorted(record.value or b"" for record in read_topic(bootstrap, topic, 1))
        assert found == sorted(
            r.value for r in filled.records if r.value is not None and r.offset % 2 == rest
        )


def test_a_restarted_query_copies_only_what_is_new(
    session: SparkSession, bootstrap: str, tmp_path: Path
) -> None:
    source, target = new_topic(bootstrap, 2), new_topic(bootstrap, 2)
    expected: list[Stored] = []
    for run in range(3):
        records = sample(150, 2, start=run * 150)
        produce(bootstrap, source, records, "lz4")
        expected += records
        frame = stream(session, bootstrap, source, startingOffsets="earliest").select(
            "key", "value", "partition"
        )
        finish(to_kafka(frame, bootstrap, target, tmp_path).start())
        found = read_topic(bootstrap, target, 2)
        assert sorted((r.partition, r.key or b"", r.value or b"") for r in found) == sorted(
            (r.partition, r.key or b"", r.value or b"") for r in expected
        )
