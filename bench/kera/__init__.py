"""The evaluation of KerA's paper (IEEE Cluster 2021, section V): its figures 8 to 21 on this machine.

    figures.py    what each figure varies and holds, and where the paper says so: data
    scale.py      what of it this machine runs: clients, seconds, pairs: pure
    plan.py       what several figures show is one point: pure
    runner.py     the points of figures on running clusters, the systems in turn
    drawing.py    a figure as the paper draws it, broker CPU beside throughput
    command.py    ``kproto bench kera``

May import bench's other modules, the standard library, click and rich; matplotlib on use.
"""
