"""docs/operating.md names all metrics, pages and columns that operators are shown, and no others."""

import asyncio
import re
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.cli.inspect_cluster import _RECOVERY_COLUMNS, _VLOG_COLUMNS
from kproto.figures import _VLOG_COUNTERS, _VLOG_GAUGES, cluster, served, stored, topics
from kproto.handlers.latency import Latency
from kproto.local_cluster import free_port
from kproto.metadata import MetadataImage
from kproto.metadata.records import ONLINE
from kproto.metrics import Metric
from kproto.testing import kafka_broker

PAGE = Path(__file__).parents[1] / "docs" / "operating.md"


def first_column(heading: str, first: str) -> list[str]:
    """Names in the first column of the table below a heading that begins with ``first``."""
    section = PAGE.read_text().partition(f"# {heading}\n")[2]
    rows = section.partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def of_clients() -> tuple[Any, Any]:
    """What `served` reads, of a broker that was asked something."""
    budget = SimpleNamespace(used=1)
    server = SimpleNamespace(connections=1, accepted=1, answered_bytes=1, budget=budget)
    return server, SimpleNamespace(requests={0: [1, 1]}, latencies={0: Latency()})


def of_a_member() -> tuple[Any, Any, Any]:
    """What `stored` reads, of a broker that shows all there is."""
    row = dict.fromkeys([key for key, *_ in (*_VLOG_COUNTERS, *_VLOG_GAUGES)], 1)
    vlogs = SimpleNamespace(
        state=lambda: [row | {"vlog": 1, "copies": 3, "policy": "memory"}], journal=SimpleNamespace(bytes=1)
    )
    logs = SimpleNamespace(partitions_open=list)
    replicas = SimpleNamespace(store=SimpleNamespace(copies={}), pushes=1, push_bytes=1, refused=0)
    return vlogs, logs, replicas


def of_topics() -> list[Metric]:
    """What `topics` tells, of a broker that has a partition and a group."""
    topic = SimpleNamespace(name="t", topic_id=b"t", partitions=1)
    streamlet = SimpleNamespace(leader=1, state=ONLINE, sources=())
    image: Any = SimpleNamespace(
        topics={"t": topic},
        topics_by_id={b"t": topic},
        brokers={1: True},
        partition_streamlet=lambda *_: streamlet,
    )
    leadership = SimpleNamespace(image=image)
    logs: Any = SimpleNamespace(extent=lambda *_: (0, 1), size_bytes=lambda *_: 1, leadership=leadership)
    group = SimpleNamespace(group_id="g", members={})
    offsets = SimpleNamespace(all=lambda: [("t", 0, SimpleNamespace(offset=1))])
    shards: Any = [SimpleNamespace(entries={"g": SimpleNamespace(group=group, offsets=offsets)})]
    return asyncio.run(topics(image, 1, logs, shards))


def test_metrics_and_their_types() -> None:
    told = (*served(*of_clients()), *cluster(MetadataImage(), 1), *stored(*of_a_member()), *of_topics())
    shown = {
        each.name + ("_total" if each.counter else ""): (
            "histogram" if each.buckets else "counter" if each.counter else "gauge"
        )
        for each in told
    }
    rows = re.findall(r"^\| `(kproto_\w+)` \| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == len(shown)
    assert dict(rows) == shown


def test_pages_and_metrics_of_a_broker() -> None:
    port = free_port()

    def ask(path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    with kafka_broker({"kproto.metrics.listen": f"127.0.0.1:{port}"}):
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            ask("/nothing")
        pages = refused.value.read().decode().removeprefix("try ").split()
        assert first_column("What to watch", "page") == pages
        families = set(re.findall(r"^# TYPE (kproto_\w+)", ask("/metrics"), re.MULTILINE))
    assert families
    assert families <= set(re.findall(r"`(kproto_\w+)` \|", PAGE.read_text()))


def test_columns() -> None:
    vlogs = first_column("The columns of `kproto vlogs`", "column")
    recovery = first_column("The columns of `kproto recovery`", "column")
    assert sorted(vlogs) == sorted(_VLOG_COLUMNS)
    assert sorted(recovery) == sorted(_RECOVERY_COLUMNS)
