"""A whole cluster on virtual time: kproto's own brokers on simulated machines, disks and a network.

Underneath: ``loop`` is the event loop and the processes on it, ``disk`` the file systems, ``net`` the
connections between brokers, ``parts`` puts these into the places of sockets, threads and files. ``world`` is
the cluster.

A run: ``plan`` is what a seed does, ``sizes`` what is small in it, ``run`` carries it out. Meanwhile
``faults`` break things (``two_disks``: two at once; ``bereft``: two that were all; ``blackout``: the power
of all; ``damage``: files of leaders) within the budget, ``clients`` produce and consume, the ``hasty`` wait
for one copy only, ``visitors`` come and go, and ask for what is ``refused``, ``operators`` and ``moves`` ask
for other leaders and replicas, some send ``rubbish`` to brokers, ``late`` has acks of topics with records
wait for syncs. ``groups`` are members of consumer groups, and others who commit.
``checks`` has the invariants, ``leading`` those about leaders, ``media`` those about what a power loss would
leave, ``garbage`` those about what is left over, ``group_checks`` those about coordinators of groups;
``patience`` says how long to wait for rest, ``reading`` is the last look.

``mutations`` are the rules that can be taken out, ``simulate`` is the command (``make simulate SEEDS=n``).
May import everything of kproto.

Everything follows from the seed: the order of callbacks, delays, ids, faults. Nothing sleeps, no thread runs.
"""
