"""Streamlets move between live brokers while clients go on: reassignments, elections, decommission.

Every acknowledged record is checked afterwards, byte by byte, at the offset that was acknowledged.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from compat_tests.support.cluster import ClusterLoad, own_cluster
from compat_tests.support.load import MemberLoad, verify_seen
from compat_tests.support.moving import Admin, rotated

pytestmark = [pytest.mark.owns_broker]


def test_streamlets_move_back_and_forth_under_load(tmp_path: Path) -> None:
    with own_cluster(tmp_path) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=16, producers=4)
        member = MemberLoad(cluster.bootstrap_servers, load.topic, "movers")
        worst = 0.0
        for turn in range(8):
            load.await_progress()
            replicas = admin.replicas(load.topic)
            load.listen()
            began = time.monotonic()
            admin.reassign(load.topic, {p: rotated(nodes, 1 + turn % 2) for p, nodes in replicas.items()})
            admin.elect_preferred(load.topic, sorted(replicas))
            took = time.monotonic() - began
            load.await_progress()
            silences = load.silences()
            worst = max(worst, *silences.values())
            line = " ".join(f"{silences[p]:.2f}" for p in sorted(silences))
            print(f"turn {turn}: 16 leaders moved in {took:.2f} s; longest silence by partition, s: {line}")
        print(f"{load.finish()} records exactly once, longest silence {worst:.2f} s")
        member.finish()
        for each in load.producers:
            verify_seen(cluster.bootstrap_servers, member, each)
