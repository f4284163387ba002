"""Failover under load: `kproto bench failover --rounds 100 --out DIR`.

    command.py   the command: which cluster, which rounds, what is written where
    clusters.py  four brokers of kproto or of Apache Kafka, to be killed, paused, wiped and started
    promises.py  producers that remember what they were told; the tests of clients use them, too
    load.py      producers and consumers (librdkafka and Java) that know what they were promised
    census.py    at the end: how many of the acknowledged records are where they should be, or anywhere
    rounds.py    one round after another: kill, wait, check, wait for redundancy
    whole.py     whether no copy is missing, by what the controller saw
    copies.py    afterwards: all copies of every virtual segment compared byte by byte, the chains (S9)
    report.py    the table, and the runs for the report's page

May import the standard library, click, rich, confluent_kafka, kproto and the rest of bench.
"""
