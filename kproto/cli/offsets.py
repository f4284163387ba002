"""``kproto get-offsets``, and the look-up of offsets that other commands share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

import click

from kproto.cli.cluster import (
    NO_LEADER,
    Cluster,
    bootstrap_option,
    json_option,
    require,
    require_leaders,
    unled,
)
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

LIST_OFFSETS: Final = 2
LATEST: Final = -1
EARLIEST: Final = -2
MILLISECONDS: Final = click.IntRange(0, 2**63 - 1)


def look_up(cluster: Cluster, topics: Iterable[Any], timestamp: int) -> dict[tuple[str, int], int]:
    """Offset per (topic, partition) for a timestamp in ms, or :data:`LATEST` or :data:`EARLIEST`.

    ``topics`` are topics of a Metadata answer. A timestamp nobody wrote after gives -1; partitions that
    nobody leads are left out.
    """
    by_leader: defaultdict[int, list[ListOffsetsTopic]] = defaultdict(list)
    for topic in topics:
        of_leader: defaultdict[int, list[ListOffsetsPartition]] = defaultdict(list)
        for partition in topic.partitions:
            asked = ListOffsetsPartition(partition_index=partition.partition_index, timestamp=timestamp)
            of_leader[partition.leader_id].append(asked)
        of_leader.pop(NO_LEADER, None)
        for leader, partitions in of_leader.items():
            by_leader[leader].append(ListOffsetsTopic(name=topic.name, partitions=partitions))
    found: dict[tuple[str, int], int] = {}
    for leader, asked_topics in by_leader.items():
        request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=asked_topics)
        for topic in cluster.node(leader).call(LIST_OFFSETS, request).topics:
            for answer in topic.partitions:
                require(answer.error_code, f"{topic.name}-{answer.partition_index}")
                found[topic.name, answer.partition_index] = answer.offset
    return found


@click.command("get-offsets")
@click.argument("topics", nargs=-1)
@click.option(
    "--time", "timestamp", type=MILLISECONDS, help="Also the first offset at or after this time (ms)."
)
@bootstrap_option
@json_option
def get_offsets(topics: tuple[str, ...], timestamp: int | None, bootstrap: str, as_json: bool) -> None:
    """Print the first and the next offset of every partition of TOPICS (default: all but internal ones).

    Where a partition has no leader there are none, and the exit code is 1.
    """
    from kproto.cli.output import print_rows

    with Cluster(bootstrap) as cluster:
        found = cluster.metadata(topics or None).topics
        for topic in found:
            require(topic.error_code, topic.name)
        wanted = [topic for topic in found if topics or not topic.is_internal]
        earliest, latest = look_up(cluster, wanted, EARLIEST), look_up(cluster, wanted, LATEST)
        every = sorted((topic.name, p.partition_index) for topic in wanted for p in topic.partitions)
        rows: list[dict[str, Any]] = [
            {
                "topic": name,
                "partition": index,
                "earliest": earliest.get((name, index)),
                "latest": latest.get((name, index)),
            }
            for name, index in every
        ]
        columns = ["topic", "partition", "earliest", "latest"]
        if timestamp is not None:
            at = look_up(cluster, wanted, timestamp)
            columns.append("at")
            for row in rows:
                row["at"] = at.get((row["topic"], row["partition"]))
        print_rows(rows, columns, as_json=as_json)
    require_leaders(unled(wanted))
