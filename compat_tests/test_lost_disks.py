"""Disks that are lost together: what has no copy besides its owner's any more is copied again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from compat_tests.support.cluster import ClusterLoad, own_cluster
from compat_tests.support.ports import wait_until
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

SETTINGS = {
    "kproto.virtual.segment.bytes": str(1 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
    "kproto.journal.bytes": str(8 << 20),
    "kproto.repair.delay.ms": "1000",
}
"""Virtual segments are closed, and their journal files used again, all the time."""


def told(cluster: LocalCluster, node: int, path: str = "/recovery") -> dict[str, Any]:
    port = next(one.metrics_port for one in cluster.nodes if one.node == node)
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def is_whole(cluster: LocalCluster) -> bool:
    found = told(cluster, 1)
    return not (found["waiting"] or found["repairs"].get("short") or found["repairs"].get("running"))


def test_both_backups_lose_their_disks_and_then_the_owner_dies(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        wait_until("20 MB", lambda: sum(load.acked().values()) * 250 > 20 << 20, 120)
        wait_until("all copies are there", lambda: is_whole(cluster), 60)
        for node in (3, 4):
            cluster.kill(node)
        for node in (3, 4):
            cluster.wipe(node)
        load.await_progress()
        cluster.start([3, 4])
        load.await_progress()
        wait_until("all copies are there again", lambda: is_whole(cluster), 180)
        again = [told(cluster, node, "/recovery/here")["pushed_again_bytes"] for node in (1, 2)]
        print(f"pushed again: {again} bytes")
        assert sum(again) > 1 << 20, "nothing was lost but copies that could be copied"
        cluster.kill(2)
        cluster.wipe(2)
        load.await_progress()
        assert load.finish() > 100
