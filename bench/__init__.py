"""Benchmarks: kproto beside Apache Kafka, in turn, under the same load.

    single_broker.py  CPU per GB and per record, throughput, latencies: `python -m bench.single_broker`
    cluster.py        four brokers, three copies, many partitions: `python -m bench.cluster`
    clusters.py       the two clusters
    startup.py        start to first ack, idle memory, thousands of partitions: `python -m bench.startup`
    brokers.py        the two brokers as processes, and what the kernel says they used
    failover/         brokers killed under load, nothing lost: `python -m bench.failover`
    rawclient.py      the few requests that start-up measurements send
    generator.py      compiles and runs java/LoadGenerator.java, the load both get
    jars.py           Apache Kafka's jars by Maven (pom.xml)
    cases.py          the single-broker cases and the targets, as data
    report.py         medians, ratios of pairs, targets; tables for the terminal and in Markdown
    micro_*.py        parts of kproto by themselves

May import the standard library, click, rich and (micro_*.py) kproto.
"""
