"""The streaming job: flights out of the topic, one row per carrier.

A run reads what is in the topic when it starts (AvailableNow), in micro-batches; its checkpoint lets the next
run go on with what came later.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demos.flights.figures import CarrierFigures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "carrier STRING, tailnum STRING, dep_time INT, dep_delay INT"
BATCH_RECORDS = 60_000
TABLE = "flights_per_carrier"


def per_carrier(records: DataFrame) -> DataFrame:
    """Kafka records with a flight's JSON as their value -> carrier, flights, departures, delay_minutes."""
    from pyspark.sql import functions as f

    flight = records.select(f.from_json(f.col("value").cast("string"), SCHEMA).alias("flight")).select(
        "flight.*"
    )
    return flight.groupBy("carrier").agg(
        f.count(f.lit(1)).alias("flights"),
        f.count("dep_time").alias("departures"),
        f.coalesce(f.sum("dep_delay"), f.lit(0)).alias("delay_minutes"),
    )


def run_job(
    session: SparkSession,
    bootstrap: str,
    topic: str,
    checkpoint: Path,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, CarrierFigures]:
    """Run the job over what the topic holds now and return its final table.

    `progress` is called with the number of records read so far. Raises pyspark's StreamingQueryException.
    """
    records = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", BATCH_RECORDS)
        .load()
    )
    query = (
        per_carrier(records)
        .writeStream.format("memory")
        .queryName(TABLE)
        .outputMode("complete")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        while not query.awaitTermination(1):
            progress(_records_read(query.recentProgress))
    finally:
        query.stop()
    progress(_records_read(query.recentProgress))
    rows = session.table(TABLE).collect()
    return {
        row["carrier"]: CarrierFigures(row["flights"], row["departures"], row["delay_minutes"])
        for row in rows
    }


def _records_read(batches: list[Any]) -> int:
    return sum(batch["numInputRows"] for batch in batches)
