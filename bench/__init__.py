"""Benchmarks: kproto beside Apache Kafka, in turn, under the same load. `kproto bench --help` has the list.

A suite measures and writes `Result` files; the report makes one page of any set of them. To see the whole
thing small: `kproto bench all --quick`. To add a suite: a module with a click command that fills a
`results.Result` and ends with `options.show` and `finish`, a line in `cli.py`, and one in `everything.py`.

What everything rests on:

    results.py      the one form of what was measured; ratios of pairs, targets, who loses: the arithmetic
    tables.py       results as text and as tables of the terminal
    options.py      options that all commands share, and the end of a run
    environment.py  where it was measured
    cli.py          `kproto bench`, a plug-in of kproto's command line: names only, imports nothing

Brokers:

    jars.py         Apache Kafka's jars by Maven (pom.xml); our Java (java/), compiled and kept
    brokers.py      one broker of either kind as a process, and what the kernel says it used
    quorum.py       several Apache Kafka nodes as one cluster
    clusters.py     the two clusters of four brokers; what is compared, started and stopped together
    peers.py        `kproto bench peers`: Apache Kafka installed, started, stopped
    topics.py       the topics of a load: ready before it, gone after it

Load:

    generator.py    java/LoadGenerator.java: one process, both ends of every record
    histogram.py    latencies counted exactly: percentiles over every event
    workers.py      java/Worker.java: any number of producers and consumers in several processes
    librdkafka.py   the same load as generator.py's, by librdkafka
    page_cache.py   memory full of page cache before a run, where the machine is virtual
    stolen.py       how long the host kept the machine from running
    rawclient.py    the few requests that start-up and recovery measurements send
    spread.py       a topic over the brokers of a cluster, filled by them
    selftest.py     what the load reaches against a sink that does nothing

Suites:

    single_broker.py, cases.py   one broker: CPU per GB and per record, throughput, latencies
    cluster.py      four brokers, three copies, many partitions
    omb/            OpenMessaging workloads
    kera/           the figures of KerA's paper
    pravega/        the modes of Pravega's benchmark
    analysis/       exact percentiles over all events, on Spark (spark_connector/)
    startup.py      start to first ack, idle memory, thousands of partitions
    idle.py         what four idle brokers use
    recovery.py     a lost broker's data comes back
    stall.py        a backup that stops
    soak.py         topics, groups and clients come and go for an hour: what grows
    failover/       brokers killed under load, nothing lost
    everything.py   all of them, one after another

Afterwards:

    page/           the report: HTML, and Markdown for docs/

Parts of kproto by themselves, for whoever tunes them: `python -m bench.micro_log` and its sisters.

Import order, each from those before it: ``results tables options``, ``jars brokers environment quorum topics
clusters peers``, ``rawclient spread page_cache stolen generator librdkafka histogram workers cases``,
``spark_connector analysis``, then the suites ``selftest single_broker cluster omb kera pravega startup idle
recovery stall soak failover``, ``page``, ``everything``, ``cli``, and ``micro_log micro_net micro_peers
micro_replica micro_request micro_vlog micro_many micro_wire``. All may import kproto, which imports nothing
of bench.
"""
