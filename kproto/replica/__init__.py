"""Copies of other brokers' virtual logs, and how new leaders get data back from them (rules 6-8, 14-25).

May import ``errors check clock disk directory memory config wire net metadata log vlog``. Pure, without I/O:
``rules`` (may this push be stored, what is this file worth), ``messages`` (bodies of SEAL, STATE, READ, RAW,
REPAIR, CATALOG), ``reading`` (which chunks of which frames somebody wants). Shells: ``store`` (the files of
copies, the only writer), ``stored_file`` (what a start finds in one of them), ``fences`` (owner epochs that
may write no more), ``service`` (answers other brokers' requests from the store), ``scrub`` (reads closed
copies again in the background). Nothing here touches sockets, clocks or threads but through what it is given.

The way of a push: ``net.internal`` hands over the request body -> ``service`` -> ``rules.decide_push`` ->
one ``pwritev`` by ``store`` -> (class ``SYNCED`` only) a group fdatasync in the worker -> the answer.
"""
