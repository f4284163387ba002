"""Exact percentiles over every single event of every run, computed by Spark: `kproto bench analyze`.

`kproto bench pravega --raw DIR` keeps what its workers measured: 24 bytes per event in `NAME.events`, and
beside it `NAME.json`, which says where the events come from (run, host, system, case, pair, worker) and which
part of them is measured. Copy such directories together from any number of machines; then

    kproto bench analyze DIR... --output out/bench          # by way of Parquet
    kproto bench analyze DIR... --topic bench-events        # and through a topic of a kproto of its own
    kproto bench analyze DIR... --topic T --bootstrap HOST:PORT --land-only   # on each machine, then once:
    kproto bench analyze --topic T --bootstrap HOST:PORT --output out/bench

lands the events as Parquet (and in the topic), and writes two results for the report: `analysis-NAME.json`,
one figure per case and system over all runs and machines, and `analysis-NAME-runs.json`, run by run with
series per window. With directories and a topic both ways are computed; figures that differ are an error.

How: the events are counted by latency (microseconds), the counts are summed up in the order of the latencies,
and percentile p is the smallest latency with at least p % of the events at or below it. That is exact, it
names a latency that did occur (numpy calls it `inverted_cdf`), and what has to be sorted is the number of
different latencies, not of events. Percentiles of runs are never averaged: the counts are added.

Windows: throughput counts an event when it was acked or received; latencies count in the window in which the
event was due, so a pause shows where it began. Percentiles take the measured part, series the warm-up, too.
Clocks: every file has one clock, and times are relative to the beginning that its own machine noted; machines
need not agree on the time. End-to-end latencies are only as good as the clock that sender and reader share.

    raw.py      the format: events and their origins, found and read
    land.py     into Parquet (pyarrow) and into a topic (confluent-kafka)
    job.py      the Spark job
    figures.py  its rows -> bench.results
    command.py  the command

May import the standard library, click, rich, bench.results, bench.options, bench.environment, bench.workers
(the form of a row), bench.spark_connector, kproto.testing; and inside functions numpy, pyarrow, pyspark and
confluent-kafka.
"""
