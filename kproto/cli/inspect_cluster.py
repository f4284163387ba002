"""``kproto vlogs`` and ``kproto recovery``: what brokers say about themselves on their metrics endpoints."""

from __future__ import annotations

import json
import sys
from http.client import HTTPException
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import click

from kproto.cli.cluster_command import DEFAULT_DATA_DIR
from kproto.cli.lazy import LazyGroup
from kproto.cli.output import print_json, print_rows
from kproto.local_cluster import DEAD, ClusterError, LocalCluster

TIMEOUT_S: Final = 5.0
_OPTIONS: Final = (
    click.option("--data-dir", metavar="DIR", default=DEFAULT_DATA_DIR, help="A cluster of kproto cluster."),
    click.option(
        "--metrics",
        "addresses",
        multiple=True,
        metavar="HOST:PORT",
        help="Metrics endpoint of a broker, instead of --data-dir; may be repeated.",
    ),
    click.option("--json", "as_json", is_flag=True, help="JSON instead of a table."),
)
_VLOG_COLUMNS: Final = (
    "broker",
    "vlog",
    "copies",
    "policy",
    "vseg",
    "backups",
    "filled",
    "pushes",
    "chunks_per_push",
    "bytes_per_push",
    "rest_ms",
    "lag",
    "durable",
    "replaced",
)
_RECOVERY_COLUMNS: Final = (
    "node",
    "epoch",
    "cause",
    "fenced_s",
    "sealed_s",
    "assigned_s",
    "committed_s",
    "streamlets",
    "uncommitted",
    "leaders",
    "bytes",
)


def _with_options(function: Any) -> Any:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def _endpoints(data_dir: str, addresses: tuple[str, ...]) -> list[tuple[str, str]]:
    """(name, host:port) of every broker to ask."""
    if addresses:
        return [(address, address) for address in addresses]
    cluster = LocalCluster.open(data_dir)
    alive = [node for node in cluster.nodes if cluster.state(node) != DEAD]
    return [(str(node.node), f"127.0.0.1:{node.metrics_port}") for node in alive]


def _page(address: str, path: str) -> Any:
    """What a broker says there. Raises ClusterError when it says nothing, or is no broker."""
    try:
        with urlopen(f"http://{address}{path}", timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise ClusterError(f"{address}: {getattr(reason, 'strerror', None) or reason}") from None


def _fail(message: str) -> None:
    click.echo(f"kproto: {message}", err=True)
    sys.exit(2)


@click.command()
@_with_options
def vlogs(data_dir: str, addresses: tuple[str, ...], as_json: bool) -> None:
    """Virtual logs of every broker: open segment, backups, fill, chunks and bytes per push, lag."""
    rows: list[dict[str, Any]] = []
    try:
        for name, address in _endpoints(data_dir, addresses):
            rows += [{"broker": name, **row} for row in _page(address, "/vlogs")]
    except ClusterError as error:
        _fail(str(error))
    if not as_json:
        rows = [
            {**row, **{key: round(row[key], 2) for key in row if isinstance(row[key], float)}} for row in rows
        ]
    print_rows(rows, _VLOG_COLUMNS, as_json=as_json, title="Virtual logs")


_RECOVERY_COMMANDS: Final = {
    "accept-loss": ("kproto.cli.accept_loss:accept_loss", "Serve partitions again that may lack records."),
}


@click.group(cls=LazyGroup, table=_RECOVERY_COMMANDS, invoke_without_command=True)
@_with_options
@click.pass_context
def recovery(ctx: click.Context, data_dir: str, addresses: tuple[str, ...], as_json: bool) -> None:
    """Recoveries that are running and the latest that are done, with their times in seconds."""
    if ctx.invoked_subcommand is not None:
        return
    try:
        found = _page(_endpoints(data_dir, addresses)[0][1], "/recovery")
    except (ClusterError, IndexError) as error:
        _fail(str(error) if isinstance(error, ClusterError) else "no broker is running")
    if as_json:
        print_json(found)
        return
    print_rows(found["recoveries"], _RECOVERY_COLUMNS, as_json=False, title="Recoveries")
    for line in (*found["waiting"], *found["lost"]):
        click.echo(line)
    repairs = found["repairs"]
    click.echo(f"copies missing: {repairs.get('short', 0)}, being made: {repairs.get('running', 0)}")
