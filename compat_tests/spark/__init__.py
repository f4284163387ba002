"""Spark's own Kafka source and sink: one Spark session, one broker, contents compared exactly.

    records.py        sample records, and reading a topic back without Spark
    queries.py        readers and streaming queries the tests share
    driver.py         a Spark driver of its own, to be killed
    test_batch.py     spark.read and df.write
    test_stream.py    spark.readStream: where it starts, how much it takes
    test_sink.py      writeStream to Kafka
    test_recovery.py  restarts from a checkpoint, a killed broker, deleted records
    test_flights.py   demos/flights: its pure parts, and a slice of the real data
    test_bench_analysis.py  bench/analysis: its percentiles are numpy's

May import demos, bench, kproto.testing and compat_tests.support.
"""
