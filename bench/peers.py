"""`kproto bench peers`: Apache Kafka from Maven Central, installed, started and stopped, to compare with.

``peer.json`` in the data directory holds nodes, ports and processes. A process is recognised by its pid
together with the time it was started, so that nothing else is ever signalled.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

from bench.brokers import HEAP
from bench.jars import installed_kafka, kafka_jars, kafka_version
from bench.quorum import kafka_nodes, start

FILE: Final = "peer.json"
DEFAULT_DATA_DIR: Final = "./kafka-peer"
STOP_TIMEOUT_S: Final = 60.0
_PEER = click.argument("peer", type=click.Choice(["kafka"]))
_DATA_DIR = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=DEFAULT_DATA_DIR,
    show_default=True,
    help="Where its data, logs and peer.json are.",
)


@dataclass(frozen=True, slots=True)
class Node:
    """A node that was started; ``born`` is the process's start time in ticks."""

    node: int
    port: int
    pid: int
    born: int

    @property
    def running(self) -> bool:
        return _born(self.pid) == self.born


class _Group(click.Group):
    """Says what is wrong without a traceback, exit code 1."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.exceptions.Exit:  # A RuntimeError, too: the end of --help.
            raise
        except RuntimeError as error:
            raise click.ClickException(str(error)) from error
        except FileNotFoundError as error:
            raise click.ClickException(f"{error.filename} is missing: it takes Java 17 and Maven") from error


@click.group(cls=_Group)
def command() -> None:
    """Apache Kafka, to compare with."""


@command.command("install")
@_PEER
def install_command(peer: str) -> None:  # noqa: ARG001
    """Download its jars from Maven Central, once."""
    fetched = installed_kafka() is None
    where = kafka_jars()
    click.echo(f"Apache Kafka {kafka_version()} {'installed' if fetched else 'is already'} in {where}")
    if shutil.which("java") is None:
        click.echo("java is missing: it takes Java 17 to run")


@command.command("start")
@_PEER
@click.option("--brokers", type=click.IntRange(1, 20), default=1, show_default=True)
@click.option(
    "--base-port",
    type=click.IntRange(1, 60_000),
    default=9092,
    show_default=True,
    help="Node n listens on this port + n - 1, controllers 1000 higher.",
)
@_DATA_DIR
def start_command(peer: str, brokers: int, base_port: int, data_dir: Path) -> None:  # noqa: ARG001
    """Start it with the settings it ships with; wait until clients can connect."""
    if any(node.running for node in known(data_dir)):
        raise click.ClickException(
            f"it runs already; stop it: kproto bench peers stop kafka --data-dir {data_dir}"
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    nodes = kafka_nodes(data_dir.resolve(), brokers, base_port)
    try:
        start(nodes)
    except BaseException:
        for node in nodes:
            node.stop(signal.SIGKILL)
        raise
    rows = [Node(number, node.port, node.pid, _born(node.pid) or 0) for number, node in enumerate(nodes, 1)]
    (data_dir / FILE).write_text(json.dumps([asdict(row) for row in rows], indent=1))
    click.echo(
        f"Apache Kafka {kafka_version()}, {brokers} {'brokers' if brokers > 1 else 'broker'}, "
        f"heap {HEAP} each, bootstrap {','.join(node.bootstrap for node in nodes)}"
    )


@command.command("stop")
@_PEER
@_DATA_DIR
def stop_command(peer: str, data_dir: Path) -> None:  # noqa: ARG001
    """SIGTERM to what was started there, SIGKILL after a minute; the data stays."""
    running = [node for node in known(data_dir) if node.running]
    if not running:
        raise click.ClickException(f"nothing was started in {data_dir} that still runs")
    for node in running:
        os.kill(node.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while any(node.running for node in running):
        if time.monotonic() > deadline:
            for node in running:
                if node.running:
                    os.kill(node.pid, signal.SIGKILL)
        time.sleep(0.05)
    click.echo(f"stopped: {', '.join(f'node {node.node}' for node in running)}")


@command.command("list")
@_DATA_DIR
def list_command(data_dir: Path) -> None:
    """What is installed, and what runs."""
    where = installed_kafka()
    click.echo(
        f"kafka {kafka_version()}: {where if where else 'not installed: kproto bench peers install kafka'}"
    )
    for node in known(data_dir):
        state = f"runs, pid {node.pid}" if node.running else "stopped"
        click.echo(f"  node {node.node}: 127.0.0.1:{node.port}, {state}")


def known(data_dir: Path) -> list[Node]:
    """The nodes that were started there last. Raises RuntimeError when the file is damaged."""
    path = data_dir / FILE
    try:
        return [Node(**row) for row in json.loads(path.read_text())] if path.exists() else []
    except (TypeError, ValueError) as problem:
        raise RuntimeError(f"{path} is damaged: {problem}") from problem


def _born(pid: int) -> int | None:
    """Ticks at which the process started; None when it is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])
