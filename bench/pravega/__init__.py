"""Pravega's benchmark, with Kafka's clients, on kproto and Apache Kafka in turn: `kproto bench pravega`.

After S. Kumar and K. Munegowda, "Distributed Streaming Storage Performance Benchmarking: Kafka and Pravega"
(2019): its four modes, its sizes (10 B to 100 KB), its topic and clients (15 partitions, acks from all,
idempotent producers, batches of 16 KB, 32 MB of buffer, no linger, no compression), and its way of counting:
every event, no sampling, in an array indexed by the latency (for bursts one per run, not per window).

    burst           as fast as producers, or consumers alone (`--producers 0`), go
    mb-limited      so many MB/s: the latency that a throughput costs
    events-limited  so many events/s
    end-to-end      producers and consumers; from when an event was due until a consumer has it

`--flush` is the paper's "log.flush.interval.messages set to 1" (each event on disk before its ack),
`--wait-each` its tool's flush after each event (a producer waits for each ack).

Different from the paper's tool: latencies are in microseconds. At a limited rate every event has a moment at
which it is due, and `intended` latencies count from there, so a stalled client hides nothing; `publish` is
the paper's figure, from the call of send. Events that are late are sent nevertheless, and a run says when it
could not keep up. Consumers take up to 500 records per poll; `--poll-records 1` is the paper's.

    cases.py    what is run: modes, sizes, clients
    load.py     one run of a case on a broker or cluster
    figures.py  what it measured as a `bench.results.Run`, and as CSV in the columns of the paper's tool
    compare.py  the cases on the systems in turn
    command.py  `kproto bench pravega`

May import bench's other modules, the standard library, click and rich.
"""
