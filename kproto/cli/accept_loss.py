"""``kproto recovery accept-loss``: partitions are served again though acknowledged records may be missing.

It is Kafka's unclean leader election (ElectLeaders, KIP-460) for partitions that nobody can lead because
every copy that is left may lack something, or none is left; also for partitions with a leader that has not
got all of their old records, when nobody else has them either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from kproto.cli.cluster import Cluster, bootstrap_option, json_option
from kproto.cli.output import print_rows
from kproto.errors import TABLE, ErrorCode
from kproto.wire.generated.elect_leaders import ElectLeadersRequest, TopicPartitions

if TYPE_CHECKING:
    from collections.abc import Iterable

ELECT_LEADERS: Final = 43
UNCLEAN: Final = 1
TIMEOUT_MS: Final = 8_000
COLUMNS: Final = ("topic", "partition", "result", "message")


@click.command("accept-loss")
@click.argument("names", metavar="TOPIC[-PARTITION]...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@bootstrap_option
@json_option
def accept_loss(names: tuple[str, ...], yes: bool, bootstrap: str, as_json: bool) -> None:
    """Serve partitions again, giving up acknowledged records that no copy can prove, or that none has.

    Of a TOPIC, the partitions without a leader. Named itself, a partition also gives up old records that its
    leader lacks; it starts behind them. Brokers with copies may only be away: start them first. Other
    partitions of the same brokers share virtual segments with these: their loss is accepted, too. Those with
    one copy have no other leader: start their broker, with an empty directory if its own is lost.
    """
    with Cluster(bootstrap) as cluster:
        wanted = _named(cluster, names)
        count = sum(map(len, wanted.values()))
        if count and not yes:
            click.confirm(
                f"Acknowledged records of {count} partitions may be lost for good. Go on?",
                abort=True,
                err=True,
            )
        request = ElectLeadersRequest(
            election_type=UNCLEAN,
            topic_partitions=[TopicPartitions(topic=name, partitions=some) for name, some in wanted.items()],
            timeout_ms=TIMEOUT_MS,
        )
        answer = cluster.any.call(ELECT_LEADERS, request) if wanted else None
    rows = _rows(answer, wanted) if answer is not None else []
    rows = [row for row in rows if row["result"] != ErrorCode.ELECTION_NOT_NEEDED.name]
    if not rows and not as_json:
        click.echo("nothing to do: all of these partitions have leaders, and wait for nothing that is lost")
        return
    refused = any(row["result"] != ErrorCode.NONE.name for row in rows)
    title = "Not all loss was accepted" if refused else "Loss accepted"
    print_rows(rows, COLUMNS, as_json=as_json, title=title)
    if refused:
        raise SystemExit(1)


def _named(cluster: Cluster, names: Iterable[str]) -> dict[str, list[int]]:
    """Topic to partitions: of whole topics, those that nobody leads."""
    known = {topic.name: topic for topic in cluster.metadata(None).topics}
    wanted: dict[str, set[int]] = {}
    for name in names:
        topic, _, number = name.rpartition("-")
        if name in known:
            parts = known[name].partitions
            topic, some = name, {part.partition_index for part in parts if part.leader_id < 0}
        else:
            parts = known[topic].partitions if topic in known else ()
            some = {part.partition_index for part in parts if str(part.partition_index) == number}
            if not some:
                raise click.ClickException(f"there is no topic or partition {name}")
        wanted.setdefault(topic, set()).update(some)
    return {topic: sorted(some) for topic, some in wanted.items() if some}


def _rows(answer: Any, wanted: dict[str, list[int]]) -> list[dict[str, Any]]:
    """What became of each partition."""
    if answer.error_code:
        name = TABLE[ErrorCode(answer.error_code)].name
        return [
            {"topic": topic, "partition": partition, "result": name, "message": ""}
            for topic, some in wanted.items()
            for partition in some
        ]
    return [
        {
            "topic": topic.topic,
            "partition": part.partition_id,
            "result": TABLE[ErrorCode(part.error_code)].name,
            "message": part.error_message or "",
        }
        for topic in answer.replica_election_results
        for part in topic.partition_result
    ]
