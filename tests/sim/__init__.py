"""A whole cluster on virtual time: kproto's own brokers on simulated machines, disks and a network.

``loop`` is the event loop and the processes on it, ``disk`` the file systems, ``net`` the connections between
brokers, ``parts`` puts these into the places of sockets, threads and files, ``world`` is the cluster and its
faults, ``clients`` produces and consumes, ``checks`` has the invariants, ``mutations`` the rules that can be
taken out, ``simulate`` is the command (``make simulate SEEDS=n``). May import everything of kproto.

Everything follows from the seed: the order of callbacks, delays, ids, faults. Nothing sleeps, no thread runs.
"""
