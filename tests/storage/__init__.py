"""One broker's whole storage on virtual time: log, virtual logs, journal and directory, as `kproto.broker`
wires them, killed at any operation of its disk and started again.

``disk`` kills who uses it; the file system under it, its power losses and its want of room are those of
``tests.sim``. ``node`` is the process over it, with loop and threads in the hands of the run. ``model`` is
what was sent, acknowledged and deleted, ``checks`` has the invariants. ``plan`` says which faults a seed has,
``operations`` are what clients, operators and time do, ``run`` is a seed from begin to end, ``mutations`` are
mends that can be taken back, and ``simulate`` is the command (``make simulate-storage SEEDS=n``).

May import everything of kproto, ``tests.log.support``, ``tests.vlog.conftest``, and of ``tests.sim`` what
stands for machines and runs seeds; nothing imports it. What a broker does with others is in ``tests.sim``.

Everything follows from the seed. Nothing sleeps, no thread runs, nothing is written to real files.
"""
