"""``kproto group``: list, describe and delete consumer groups of any Kafka cluster."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import click

from kproto.cli.cluster import (
    Cluster,
    bootstrap_option,
    delete_each,
    json_option,
    require,
    require_leaders,
    unled,
)
from kproto.cli.offsets import LATEST, look_up
from kproto.wire.data import ASSIGNMENT, CONSUMER_PROTOCOL
from kproto.wire.generated.delete_groups import DeleteGroupsRequest
from kproto.wire.generated.describe_groups import DescribedGroup, DescribeGroupsRequest
from kproto.wire.generated.list_groups import ListGroupsRequest
from kproto.wire.generated.offset_fetch import OffsetFetchRequest
from kproto.wire.primitives import WireError

DESCRIBE_GROUPS: Final = 15
LIST_GROUPS: Final = 16
OFFSET_FETCH: Final = 9
OFFSET_FETCH_BY_NAME: Final = 7
"""The highest version that takes one group and names topics instead of ids."""
DELETE_GROUPS: Final = 42


@click.group()
def group() -> None:
    """List, describe and delete consumer groups."""


@group.command("list")
@bootstrap_option
@json_option
def list_groups(bootstrap: str, as_json: bool) -> None:
    """Print all consumer groups."""
    from kproto.cli.output import print_rows

    rows: list[dict[str, Any]] = []
    with Cluster(bootstrap) as cluster:
        for node_id in cluster.members():
            answer = cluster.node(node_id).call(LIST_GROUPS, ListGroupsRequest())
            require(answer.error_code, f"broker {node_id}")
            rows += [
                {
                    "group": g.group_id,
                    "protocol": g.protocol_type,
                    "state": g.group_state,
                    "type": g.group_type,
                }
                for g in answer.groups
            ]
    rows.sort(key=lambda row: str(row["group"]))
    print_rows(rows, ("group", "protocol", "state", "type"), as_json=as_json)


@group.command()
@click.argument("name")
@bootstrap_option
@json_option
def describe(name: str, bootstrap: str, as_json: bool) -> None:
    """Print the members of group NAME, which partitions they have, and how far behind it is.

    Where a partition has no leader nobody knows that, and the exit code is 1.
    """
    from kproto.cli.output import print_json, print_rows

    with Cluster(bootstrap) as cluster:
        session = cluster.coordinator(name)
        found = session.call(DESCRIBE_GROUPS, DescribeGroupsRequest(groups=[name])).groups[0]
        require(found.error_code, name)
        offsets, missing = _offsets(cluster, name, _assigned(found))
    members = [
        {"member": m.member_id, "client": m.client_id, "host": m.client_host, "instance": m.group_instance_id}
        for m in found.members
    ]
    if as_json:
        print_json({"group": name, "state": found.group_state, "members": members, "offsets": offsets})
    else:
        state = f"{name}: {found.group_state}"
        print_rows(members, ("member", "client", "host", "instance"), as_json=False, title=state)
        columns = ("topic", "partition", "committed", "latest", "lag", "member")
        print_rows(offsets, columns, as_json=False)
    require_leaders(missing)


def _assigned(found: DescribedGroup) -> dict[tuple[str, int], str]:
    """Which member has a partition: as its consumers say, so not where the protocol is another one."""
    owners: dict[tuple[str, int], str] = {}
    for member in found.members if found.protocol_type == CONSUMER_PROTOCOL else ():
        with suppress(WireError):  # one that has nothing yet, or rubbish
            assignment = ASSIGNMENT.parse_versioned(member.member_assignment)[1]
            for topic in assignment.assigned_partitions:
                owners.update(((topic.topic, index), member.member_id) for index in topic.partitions)
    return owners


def _offsets(
    cluster: Cluster, name: str, owners: Mapping[tuple[str, int], str]
) -> tuple[list[dict[str, Any]], list[tuple[str, int]]]:
    """A row for each partition that the group has committed an offset of, or a member has; and those of them
    that nobody leads."""
    session = cluster.coordinator(name)
    request = OffsetFetchRequest(group_id=name, topics=None)
    answer = session.call_version(OFFSET_FETCH, OFFSET_FETCH_BY_NAME, request)
    require(answer.error_code, name)
    committed = {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in answer.topics
        for partition in topic.partitions
    }
    shown = {*committed, *owners}
    alive = [t for t in cluster.metadata(sorted({t for t, _ in shown})).topics if t.error_code == 0]
    latest = look_up(cluster, alive, LATEST) if shown else {}
    rows = []
    for topic, index in sorted(shown):
        offset, end = committed.get((topic, index)), latest.get((topic, index))
        rows.append(
            {
                "topic": topic,
                "partition": index,
                "committed": offset,
                "latest": end,
                "lag": None if end is None or offset is None else end - offset,
                "member": owners.get((topic, index)),
            }
        )
    return rows, [each for each in unled(alive) if each in shown]


@group.command()
@click.argument("names", nargs=-1, required=True)
@bootstrap_option
def delete(names: tuple[str, ...], bootstrap: str) -> None:
    """Delete consumer groups NAMES (they must be empty)."""
    with Cluster(bootstrap) as cluster:

        def delete_one(name: str) -> None:
            request = DeleteGroupsRequest(groups_names=[name])
            answer = cluster.coordinator(name).call(DELETE_GROUPS, request).results[0]
            require(answer.error_code, name)

        delete_each(names, delete_one)
