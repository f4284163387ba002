"""The Spark job: events -> exact percentiles per run and over all runs, and series per window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.analysis.land import ORIGIN_HEADER, SCHEMA, columns, origin_of, wrongly_landed
from bench.analysis.raw import EVENT_BYTES, PUBLISHED, RECEIVED, LandingError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column, DataFrame, SparkSession

PERCENTILES = (
    *("1", "5", "10", "25", "50", "75", "90", "95"),
    *("99", "99.5", "99.9", "99.95", "99.99", "99.999", "100"),
)
WINDOW_PERCENTILES = ("50", "99", "100")
PARTS = 100_000
"""A percentile is a whole number of 1/100,000 of the events: no rounding decides which event it is."""

GROUP = ("suite", "system", "case")
RUN = (*GROUP, "run", "pair")

QUANTITIES = ("publish", "intended", "delay", "e2e")
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tables:
    """What the job computed. Latencies are in microseconds; a row has the columns named here."""

    runs: Rows
    """RUN, quantity (`_observed`), events, mean, and one column per percentile: the measured part."""
    groups: Rows
    """The same for GROUP: over all runs, machines and workers."""
    windows: Rows
    """The same for RUN and window, over all that was due in that window."""
    completed: Rows
    """RUN, kind, window, events, bytes: what was acked or received in that window."""
    origins: Rows
    """RUN, host, worker, begin_us, from_us, until_us, kind, events, measured_events, measured_bytes."""


def parts(percentile: str) -> int:
    """``"99.9"`` -> 99,900 parts of `PARTS`."""
    whole, _, fraction = percentile.partition(".")
    return int(whole) * 1000 + int((fraction + "000")[:3])


def from_parquet(session: SparkSession, directory: Path) -> DataFrame:
    """The events that `land.to_parquet` wrote."""
    return session.read.schema(SCHEMA).parquet(str(directory))


def from_topic(session: SparkSession, bootstrap: str, topic: str) -> DataFrame:
    """The events that the topic holds now. Raises LandingError when not each once."""
    from pyspark.sql import functions as f

    records = (
        session.read.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("endingOffsets", "latest")
        .option("includeHeaders", "true")
        .load()
    )
    origin = f"cast(filter(headers, h -> h.key = '{ORIGIN_HEADER}')[0].value as string) AS origin"
    landed = records.selectExpr(f"length(value) div {EVENT_BYTES} AS events", origin).groupBy("origin")
    rows = landed.agg(f.sum("events").alias("events")).collect()
    if wrong := wrongly_landed((row["origin"], row["events"]) for row in rows):
        raise LandingError(f"topic {topic} does not hold each event once: {'; '.join(wrong[:10])}")
    return records.selectExpr("value", origin).mapInArrow(_unpacked, SCHEMA)


def _unpacked(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Records with columns value and origin -> events, all records of an origin at once."""
    for batch in batches:
        values: dict[str, list[bytes]] = {}
        for origin, value in zip(batch.column("origin"), batch.column("value"), strict=True):
            values.setdefault(origin.as_py(), []).append(value.as_py())
        for text, rows in values.items():
            yield columns(b"".join(rows), origin_of(text))


def compute(events: DataFrame, window_s: float) -> Tables:
    """Run the job over events in the form of `land.SCHEMA`."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    window_us = int(window_s * 1_000_000)
    origins = _origins(events)
    names = _Names(origins)
    measured = (f.col("intended_us") >= f.col("from_us")) & (f.col("intended_us") < f.col("until_us"))
    numbered = events.join(f.broadcast(names.frame(events.sparkSession)), list(RUN))
    counted = (
        numbered.select(
            "run_number",
            "group_number",
            f.floor((f.col("intended_us") - f.col("begin_us")) / window_us).cast("int").alias("window"),
            measured.alias("measured"),
            f.explode(_observed()).alias("observed"),
        )
        .select("run_number", "group_number", "window", "measured", "observed.quantity", "observed.value")
        .groupBy("run_number", "group_number", "window", "measured", "quantity", "value")
        .count()
        .persist(StorageLevel.MEMORY_AND_DISK)
    )
    try:
        inside = counted.where("measured")
        return Tables(
            runs=names.named(_percentiles(inside, ("run_number", "quantity"), PERCENTILES)),
            groups=names.named(_percentiles(inside, ("group_number", "quantity"), PERCENTILES)),
            windows=names.named(
                _percentiles(counted, ("run_number", "quantity", "window"), WINDOW_PERCENTILES)
            ),
            completed=names.named(_completed(numbered, window_us)),
            origins=origins,
        )
    finally:
        counted.unpersist()


class _Names:
    """Numbers for runs, groups and quantities: what is shuffled by the million has no texts in it."""

    def __init__(self, origins: Rows) -> None:
        self._runs = sorted({tuple(row[name] for name in RUN) for row in origins})
        self._groups = sorted({run[: len(GROUP)] for run in self._runs})

    def frame(self, session: SparkSession) -> DataFrame:
        """RUN, run_number, group_number."""
        rows = [(*run, n, self._groups.index(run[: len(GROUP)])) for n, run in enumerate(self._runs)]
        texts = ", ".join(f"`{name}` {'BIGINT' if name == 'pair' else 'STRING'}" for name in RUN)
        return session.createDataFrame(rows, f"{texts}, run_number INT, group_number INT")

    def named(self, rows: Rows) -> Rows:
        """The same rows with names for numbers, in an order that does not depend on how Spark worked."""
        found = []
        for row in rows:
            rest = dict(row)
            run, group = rest.pop("run_number", None), rest.pop("group_number", None)
            names = self._groups[group] if run is None else self._runs[run]
            if "quantity" in rest:
                rest["quantity"] = QUANTITIES[rest["quantity"]]
            found.append({**dict(zip(RUN, names, strict=False)), **rest})
        return _ordered(found)


def _observed() -> Column:
    """What an event says. Published: intended (due to ack), delay (due to sent), publish (sent to ack).
    Received: e2e (due to received).
    """
    from pyspark.sql import functions as f

    def observed(kind: int, quantity: str, value: Column) -> Column:
        number = f.lit(QUANTITIES.index(quantity)).alias("quantity")
        return f.when(f.col("kind") == kind, f.struct(number, value.cast("int").alias("value")))

    latency, delay = f.col("latency_us"), f.col("delay_us")
    listed = f.array(
        observed(PUBLISHED, "publish", latency - delay),
        observed(PUBLISHED, "intended", latency),
        observed(PUBLISHED, "delay", delay),
        observed(RECEIVED, "e2e", latency),
    )
    return f.filter(listed, lambda each: each.isNotNull())


def _percentiles(counted: DataFrame, keys: tuple[str, ...], wanted: tuple[str, ...]) -> Rows:
    """Counts by value -> per key the number, mean and percentiles of the values."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    whole = Window.partitionBy(*keys)
    so_far = whole.orderBy("value").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    summed = (
        counted.groupBy(*keys, "value")
        .agg(f.sum("count").alias("count"))
        .withColumn("running", f.sum("count").over(so_far))
        .withColumn("events", f.sum("count").over(whole))
    )
    enough = [
        f.min(f.when(f.col("running") * PARTS >= f.col("events") * parts(text), f.col("value"))).alias(text)
        for text in wanted
    ]
    mean = (f.sum(f.col("value") * f.col("count")) / f.first("events")).alias("mean")
    return _collected(summed.groupBy(*keys).agg(f.first("events").alias("events"), mean, *enough))


def _completed(events: DataFrame, window_us: int) -> Rows:
    from pyspark.sql import functions as f

    done = f.floor((f.col("intended_us") + f.col("latency_us") - f.col("begin_us")) / window_us)
    grouped = events.withColumn("window", done).groupBy("run_number", "kind", "window")
    return _collected(grouped.agg(f.count(f.lit(1)).alias("events"), f.sum("bytes").alias("bytes")))


def _origins(events: DataFrame) -> Rows:
    """Each file's totals, and what it completed in its measured part (for rates)."""
    from pyspark.sql import functions as f

    done = f.col("intended_us") + f.col("latency_us")
    inside = (done >= f.col("from_us")) & (done < f.col("until_us"))
    keys = (*RUN, "host", "worker", "begin_us", "from_us", "until_us", "kind")
    found = _collected(
        events.groupBy(*keys).agg(
            f.count(f.lit(1)).alias("events"),
            f.count(f.when(inside, 1)).alias("measured_events"),
            f.coalesce(f.sum(f.when(inside, f.col("bytes"))), f.lit(0)).alias("measured_bytes"),
        )
    )
    return _ordered(found)


def _collected(frame: DataFrame) -> Rows:
    return [row.asDict() for row in frame.collect()]


def _ordered(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: [str(value).zfill(20) for value in row.values()])
