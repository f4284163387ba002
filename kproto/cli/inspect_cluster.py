"""``kproto vlogs`` and ``kproto recovery``: what brokers say about themselves on their metrics endpoints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import click

from kproto.cli.arguments import address, fail
from kproto.cli.cluster_command import DEFAULT_DATA_DIR
from kproto.cli.lazy import LazyGroup
from kproto.cli.output import print_json, print_rows
from kproto.config import address_text
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


class _Said(NamedTuple):
    """What a broker said: a page, or nothing and why. ``broker`` is its node id, or its address."""

    broker: str
    address: str
    page: Any
    error: str = ""

    def complain(self) -> None:
        where = self.address if self.broker == self.address else f"broker {self.broker} at {self.address}"
        click.echo(f"kproto: {where}: {self.error}", err=True)


def _endpoints(data_dir: str, addresses: tuple[str, ...]) -> list[tuple[str, str]]:
    """(name, host:port) of every broker to ask, of which there are some. What is wrong with the options ends
    the command with exit code 2."""
    if addresses:
        return [(text, address_text(*address("--metrics", text))) for text in dict.fromkeys(addresses)]
    try:
        cluster = LocalCluster.open(data_dir)
    except ClusterError as error:
        fail(str(error))
    alive = [node for node in cluster.nodes if cluster.state(node) != DEAD]
    if not alive:
        fail("no broker is running")
    return [(str(node.node), f"127.0.0.1:{node.metrics_port}") for node in alive]


def _answers(endpoints: list[tuple[str, str]], path: str) -> Iterator[_Said]:
    """What each of them says, as it comes: all are asked at once, and who has heard enough does not wait for
    those that hang."""
    said: SimpleQueue[_Said] = SimpleQueue()

    def ask(broker: str, where: str) -> None:
        said.put(_page(broker, where, path))

    for each in endpoints:
        Thread(target=ask, args=each, daemon=True).start()
    for _ in endpoints:
        yield said.get()


def _in_order(said: Iterable[_Said], endpoints: list[tuple[str, str]]) -> list[_Said]:
    by_broker = {one.broker: one for one in said}
    return [by_broker[broker] for broker, _ in endpoints]


def _first_page(endpoints: list[tuple[str, str]], path: str) -> Any:
    """The first that comes; where none does, the command ends with exit code 1."""
    silent = []
    for one in _answers(endpoints, path):
        if not one.error:
            return one.page
        silent.append(one)
    for one in _in_order(silent, endpoints):
        one.complain()
    sys.exit(1)


def _are_rows(page: Any) -> bool:
    return isinstance(page, list) and all(isinstance(row, dict) for row in page)


def _is_recovery(page: Any) -> bool:
    if not isinstance(page, dict) or not isinstance(page.get("repairs"), dict):
        return False
    lists = all(isinstance(page.get(name), list) for name in ("waiting", "lost"))
    numbers = all(isinstance(value, int) for value in page["repairs"].values())
    return lists and numbers and _are_rows(page.get("recoveries"))


_IS_PAGE: Final = {"/vlogs": _are_rows, "/recovery": _is_recovery}


def _page(broker: str, where: str, path: str) -> _Said:
    """The answer has an error when the broker says nothing, or is no broker."""
    try:
        with urlopen(f"http://{where}{path}", timeout=TIMEOUT_S) as answer:
            page = json.load(answer)
        if not _IS_PAGE[path](page):
            return _Said(broker, where, None, "what answers there is no broker of kproto")
        return _Said(broker, where, page)
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            reason = f"no answer in {TIMEOUT_S:g} s"
        return _Said(broker, where, None, str(getattr(reason, "strerror", None) or reason))


@click.command()
@_with_options
def vlogs(data_dir: str, addresses: tuple[str, ...], as_json: bool) -> None:
    """Virtual logs of every broker: open segment, backups, fill, chunks and bytes per push, lag.

    A broker that does not answer is told on standard error, the others are shown, and the exit code is 1. In
    JSON it has one row, of "broker" and "error".
    """
    endpoints = _endpoints(data_dir, addresses)
    said = _in_order(_answers(endpoints, "/vlogs"), endpoints)
    silent = [each for each in said if each.error]
    rows: list[dict[str, Any]] = [{"broker": each.broker, **row} for each in said for row in each.page or ()]
    if as_json:
        rows += [{"broker": each.broker, "error": each.error} for each in silent]
    else:
        rows = [
            {**row, **{key: round(row[key], 2) for key in row if isinstance(row[key], float)}} for row in rows
        ]
    if as_json or len(silent) < len(said):
        print_rows(rows, _VLOG_COLUMNS, as_json=as_json, title="Virtual logs")
    for each in silent:
        each.complain()
    if silent:
        sys.exit(1)


def _drained(page: Any) -> Iterator[str]:
    """Whoever began that may be gone: it goes on until it is taken back."""
    for node, left in page.get("draining", {}).items():
        has = f"{left['streamlets']} streamlets and {left['copies']} copies that others need"
        yield f"broker {node} is being drained (kproto.drain): it still has {has}"


_RECOVERY_COMMANDS: Final = {
    "accept-loss": ("kproto.cli.accept_loss:accept_loss", "Serve partitions again that may lack records."),
}


@click.group(cls=LazyGroup, table=_RECOVERY_COMMANDS, invoke_without_command=True)
@_with_options
@click.pass_context
def recovery(ctx: click.Context, data_dir: str, addresses: tuple[str, ...], as_json: bool) -> None:
    """Recoveries that are running and the latest that are done, with their times in seconds.

    Any broker can tell; when none does, the exit code is 1.
    """
    if ctx.invoked_subcommand is not None:
        return
    found = _first_page(_endpoints(data_dir, addresses), "/recovery")
    if as_json:
        print_json(found)
        return
    print_rows(found["recoveries"], _RECOVERY_COLUMNS, as_json=False, title="Recoveries")
    for line in (*found["waiting"], *found["lost"], *_drained(found)):
        click.echo(line)
    repairs = found["repairs"]
    missing = repairs.get("short", 0)
    if repairs.get("seen", 0) < repairs.get("changes", 0):
        missing = f"not looked yet since the last change ({missing} before)"
    click.echo(f"copies missing: {missing}, being made: {repairs.get('running', 0)}")
