"""OpenMessaging benchmark: its workload, driver and result files, its way of measuring, and a comparison.

    settings.py   workload and driver YAML as the OpenMessaging benchmark reads them
    rate.py       the search for the greatest rate that consumers keep up with (``producerRate: 0``)
    runner.py     one workload on one cluster, step by step as the OpenMessaging benchmark runs it
    result.py     the result JSON with the OpenMessaging benchmark's keys
    compare.py    the workloads on kproto and Apache Kafka in turn, as a `bench.results.Result`
    command.py    ``kproto bench omb``
    drivers/      for the stock benchmark and for ours: kproto and Apache Kafka, one copy and three
    workloads/    for both, too

May import bench's other modules, the standard library, click, rich and yaml.
"""
