"""Virtual logs on their owner: many partitions share one ordered, replicated log (KerA's paper, section III).

May import ``errors check clock disk directory config wire net metadata log``; ``asyncio`` appears in
``worker`` only (elsewhere the event loop comes in as its small ``Loop`` protocol).

Pure, without I/O: ``frame`` (bytes of a push), ``classes`` (what is synced when), ``virtual_segment``,
``virtual_log``, ``placement``, ``states`` (frames that tell of partitions; ``large_states`` warns of those
that find no room), ``gathering`` (how long the next frame waits for more), ``patience`` (how long a backup
that fails is waited for), ``crossing`` and ``older`` (what a partition had before it came to another virtual
log).

Shells: ``journal`` (the owner's files), ``space`` (room for them), ``pusher`` (the only sender),
``replicated`` (the same with backups; ``replication`` and ``peer_backups``), ``side`` (old chunks pushed
again), ``worker`` (a thread for the disk), ``group_sync``, ``cleaner`` and ``kept``, ``recovery`` with
``scan`` and ``scan_point``, ``inherited`` (files of earlier processes, until nobody needs them), ``ports``
(what all this expects of network and controller), ``later`` (a call that is asked for often and made once),
``manager`` (wires one broker's vlogs together; what ``broker`` uses). ``dump`` reads a journal file for
people.

The way of a chunk: ``log.Partition.append`` -> ``VirtualLog.append`` (a reference) -> ``Pusher`` takes all
references of this turn of the loop -> ``frame.encode`` -> one ``pwritev`` by ``JournalFile`` ->
``VirtualLog.ack`` -> durable ->
``Partition.on_durable`` and the ``when_durable`` callbacks, in order of position.
"""
