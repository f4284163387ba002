"""Virtual logs on their owner: many partitions share one ordered, replicated log (paper 000, section III).

May import ``errors check clock disk config wire log``; ``asyncio`` appears in no module (the event loop
comes in as the small ``pusher.Loop`` protocol). Pure, without I/O: ``frame`` (bytes of a push),
``virtual_segment``, ``virtual_log``,
``placement``. Shells: ``journal`` (the owner's files), ``pusher`` (the only sender), ``cleaner``,
``recovery``,
``manager`` (wires one broker's vlogs together; what ``broker`` uses). ``dump`` reads a journal file for
people.

The way of a chunk: ``log.Partition.append`` -> ``VirtualLog.append`` (a reference) -> ``Pusher`` takes all
references of this turn of the loop -> ``frame.encode`` -> one ``pwritev`` by ``JournalFile`` ->
``VirtualLog.ack`` -> durable ->
``Partition.on_durable`` and the ``when_durable`` callbacks, in order of position.
"""
