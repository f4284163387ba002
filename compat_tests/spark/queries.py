"""Readers and streaming queries the Spark tests share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compat_tests.spark.records import Stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

QUERY_TIMEOUT_S = 180


def offsets_json(topic: str, offsets: Mapping[int, int]) -> str:
    """Spark's form of per-partition offsets or timestamps; -2 is earliest, -1 latest."""
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})


def batch(session: SparkSession, bootstrap: str, topic: str, **options: object) -> DataFrame:
    """`spark.read` of a topic; options by Spark's names."""
    reader = (
        session.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    )
    return reader.options(**options).load()  # type: ignore[arg-type]


def stream(session: SparkSession, bootstrap: str, topic: str, **options: object) -> DataFrame:
    """`spark.readStream` of a topic; options by Spark's names."""
    reader = session.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    return reader.option("subscribe", topic).options(**options).load()  # type: ignore[arg-type]


def stored(frame: DataFrame) -> list[Stored]:
    """The rows of a frame with the Kafka source's columns, sorted; headers where the frame has them."""
    from pyspark.sql import functions as f

    rows = frame.withColumn("ms", f.unix_millis("timestamp")).collect()
    return sorted(_stored(row) for row in rows)


def _stored(row: Any) -> Stored:
    headers = row.asDict().get("headers")
    return Stored(
        row["partition"],
        row["offset"],
        None if row["key"] is None else bytes(row["key"]),
        None if row["value"] is None else bytes(row["value"]),
        row["ms"],
        tuple((header["key"], bytes(header["value"])) for header in headers or ()),
    )


def start_to_files(
    frame: DataFrame, directory: Path, *, available_now: bool = False, every: str = "0 seconds"
) -> StreamingQuery:
    """Write a stream into Parquet files (a sink that takes each batch exactly once), checkpoint beside."""
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(directory / "checkpoint"))
    trigger = {"availableNow": True} if available_now else {"processingTime": every}
    return writer.trigger(**trigger).start(str(directory / "files"))  # type: ignore[arg-type]


def finish(query: StreamingQuery) -> list[dict[str, Any]]:
    """Wait for the end of an AvailableNow query; its progress reports with the batches that had rows."""
    try:
        assert query.awaitTermination(QUERY_TIMEOUT_S), f"the query did not end: {query.status}"
    finally:
        query.stop()
    return [report for report in map(dict, query.recentProgress) if report["numInputRows"]]


def files_of(session: SparkSession, directory: Path) -> list[Stored]:
    """What the sink of `start_to_files` holds."""
    return stored(session.read.parquet(str(directory / "files")))


def run_to_files(
    session: SparkSession, frame: DataFrame, directory: Path
) -> tuple[list[Stored], list[dict[str, Any]]]:
    """One AvailableNow run of a stream into files: all that the sink then holds, and the run's batches."""
    batches = finish(start_to_files(frame, directory, available_now=True))
    return files_of(session, directory), batches


def wait_for(query: StreamingQuery, what: str, condition: Callable[[], bool]) -> None:
    """Return when the condition holds; AssertionError after three minutes or when the query has failed."""
    deadline = time.monotonic() + QUERY_TIMEOUT_S
    while not condition():
        assert query.isActive, f"the query ended: {query.exception()}"
        assert time.monotonic() < deadline, f"waited in vain: {what}; {query.status}"
        time.sleep(0.05)
