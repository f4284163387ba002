"""Jepsen's checks for Kafka, ported (docs/replication-rules.md, section 5): stock clients send and poll at
random while brokers and clients fail; what they saw is searched for what a log may never do.

    history.py  what one client did and saw, and reading it back from the clients' files
    checker.py  the anomalies in a history: pure
    client.py   one client as a process of its own, to be killed at any moment
    run.py      a cluster, its clients and its faults, from a seed

May import the standard library, confluent_kafka, kafka-python, kproto.local_cluster and compat_tests.support.
"""
