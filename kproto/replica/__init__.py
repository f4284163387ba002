"""Copies of other brokers' virtual logs, and how new leaders get data back from them (rules 6-8, 14-25, 27b).

May import ``errors check clock trouble disk directory memory config wire net metadata log vlog``. Nothing
here touches sockets, clocks or threads but through what it is given. The side of a backup:

- Pure, without I/O: ``rules`` (may this push be stored, what is this file worth), ``messages`` (bodies of
  SEAL, STATE, READ, RAW, REPAIR, CATALOG), ``reading`` (which chunks of which frames somebody wants).
- ``store`` (the only writer) over ``copies``, ``copy_files`` (makes and deletes them), ``copy_syncs`` (syncs
  them), ``stored_file`` and ``store_state`` (what a start finds in a file, and what cannot be proved) and
  ``fences`` (owner epochs that may write no more); ``service`` answers other brokers from it, with
  ``awaited`` (what they still wait for) and ``catalogs`` (what a closed copy holds of each partition);
  ``repair`` makes a copy anew, ``scrub`` looks after all of them, ``disowning`` tells the controller of
  damaged ones.

The side of a new leader: ``reach`` (asks the copies of a virtual segment until one answers), ``survey``
(state and last chunks of partitions), ``takeover`` (rebuilds partitions and commits), ``remote`` (reads of
what is not here yet), ``bring_over`` (gets it here), ``unneeded`` (tells the controller what can be freed).

The side of any leader: ``handing_over`` (to another broker), ``rewriting`` (what lost all other copies is
pushed again), ``widening`` (copies for what had one only), ``narrowing`` (back to one copy); what looks for
work again and again is a ``looking``. ``pace`` limits what backups read for all this.

The way of a push: ``net.internal`` hands over the request body -> ``service`` -> ``rules.decide_push`` ->
one ``pwritev`` by ``store`` -> (class ``SYNCED`` only) a group fdatasync in a worker -> the answer.

The way of a new leader: ``takeover`` (what has to be recovered here) -> ``survey`` (state frames and the
chunks behind them, by ``reach`` from some copy) -> the log -> the commit. Older data: ``remote`` reads it for
consumers, ``bring_over`` puts it into files here.
"""
