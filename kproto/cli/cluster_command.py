"""``kproto cluster``: a whole cluster on this machine, one process per broker, to try out and test with."""

from __future__ import annotations

import os
from typing import Final

import click
from click.core import ParameterSource

from kproto.cli.arguments import CONFIG_ERROR_EXIT, FiniteRange, fail, set_option
from kproto.cli.output import print_rows
from kproto.local_cluster import FILE, ClusterError, LocalCluster, NotYetError, check_settings

DEFAULT_DATA_DIR: Final = "./kproto-cluster"
COMMAND_LINE: Final = ParameterSource.COMMANDLINE
_DATA_DIR: Final = click.option(
    "--data-dir",
    metavar="DIR",
    default=DEFAULT_DATA_DIR,
    help=f"Where the cluster is (default {DEFAULT_DATA_DIR}).",
)
_NODE: Final = click.option("--node", type=int, required=True, help="Which broker.")


class _Group(click.Group):
    """Says what is wrong in one line, exit code 2."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ClusterError as error:
            fail(str(error))
        except click.ClickException as error:
            if error.exit_code == CONFIG_ERROR_EXIT:  # it was called wrongly
                raise
            fail(error.format_message())
        except BrokenPipeError:  # of who reads what is printed: click knows
            raise
        except OSError as error:
            what = error.strerror or str(error)
            fail(f"{error.filename}: {what}" if error.filename else what)


@click.group(cls=_Group)
def cluster() -> None:
    """A whole cluster on this machine, one process per broker."""


@cluster.command()
@click.option("--brokers", type=click.IntRange(1, 100), default=4, help="How many (default 4).")
@click.option(
    "--base-port",
    type=click.IntRange(0, 60_000),
    default=9092,
    help="Node n listens for clients on this port + n - 1, for other brokers 1000 and for who asks for "
    "metrics 2000 higher; 0: free ports.",
)
@set_option("given", "One setting of every broker; may be repeated.")
@click.option(
    "--metadata",
    default="sqlite",
    metavar="sqlite|etcd://HOST:PORT,.../PREFIX",
    help="Where the metadata is: in a file of broker 1, or in etcd, where any broker may be controller.",
)
@_DATA_DIR
def start(brokers: int, base_port: int, given: dict[str, str], metadata: str, data_dir: str) -> None:
    """Start a cluster, or those brokers of it that are not running."""
    settings = given if metadata == "sqlite" else {"kproto.metadata.store": metadata} | given
    if LocalCluster.exists(data_dir):
        local = LocalCluster.open(data_dir)
        _check_agrees(local, brokers, base_port, settings)
        local.start()
    else:
        local = LocalCluster.create(data_dir, brokers, base_port, settings)
        try:
            local.start()
        except BaseException as error:  # Ctrl-C above all
            local.discard()
            if isinstance(error, NotYetError):
                raise ClusterError(f"all brokers are stopped again: {error}") from None
            raise
    click.echo(f"{len(local.nodes)} brokers; bootstrap servers: {local.bootstrap_servers}")


def _check_agrees(local: LocalCluster, brokers: int, base_port: int, settings: dict[str, str]) -> None:
    """What was said on the command line, and the cluster that is there. Raises ClusterError."""
    check_settings(settings)
    source = click.get_current_context().get_parameter_source
    first = local.nodes[0]
    other = {
        "brokers": brokers != len(local.nodes),
        "base_port": base_port not in (0, first.port - first.node + 1),
    }
    wrong = [name for name, differs in other.items() if differs and source(name) is COMMAND_LINE]
    there = f"{local.directory} has a cluster of {len(local.nodes)} brokers from port {first.port} on"
    if wrong:
        raise ClusterError(f"{there}: start it without options, or another one with --data-dir")
    if any(local.settings.get(name) != value for name, value in settings.items()):
        raise ClusterError(
            f"{there}, with settings of its own: start it without options. A dynamic setting is changed with "
            f"kafka-configs --alter while it runs, others in {os.path.join(local.directory, FILE)} "
            '("settings") while it is stopped'
        )


@cluster.command()
@click.option("--json", "as_json", is_flag=True, help="A JSON array instead of a table.")
@_DATA_DIR
def status(as_json: bool, data_dir: str) -> None:
    """Node, pid, port and state of every broker: running, paused, stopped (cleanly) or dead."""
    local = LocalCluster.open(data_dir)
    rows = [
        {
            "node": each.node,
            "pid": each.pid or None,
            "port": each.port,
            "internal_port": each.internal_port,
            "metrics_port": each.metrics_port,
            "state": local.shown_state(each),
        }
        for each in local.nodes
    ]
    columns = ("node", "pid", "port", "internal_port", "metrics_port", "state")
    print_rows(rows, columns, as_json=as_json, title="Cluster")


@cluster.command()
@_NODE
@_DATA_DIR
def kill(node: int, data_dir: str) -> None:
    """SIGKILL one broker, as a crash would."""
    LocalCluster.open(data_dir).kill(node)


@cluster.command()
@_NODE
@_DATA_DIR
def pause(node: int, data_dir: str) -> None:
    """SIGSTOP one broker."""
    LocalCluster.open(data_dir).pause(node)


@cluster.command()
@_NODE
@_DATA_DIR
def resume(node: int, data_dir: str) -> None:
    """SIGCONT one broker."""
    LocalCluster.open(data_dir).resume(node)


@cluster.command()
@_NODE
@_DATA_DIR
def restart(node: int, data_dir: str) -> None:
    """Stop one broker cleanly (when it runs) and start it again."""
    LocalCluster.open(data_dir).restart(node)


@cluster.command()
@_NODE
@click.option("--timeout", "timeout_s", type=FiniteRange(0), default=600.0, help="Seconds (default 600).")
@_DATA_DIR
def decommission(node: int, timeout_s: float, data_dir: str) -> None:
    """Take one broker out for good: move what it leads, copy what it has, stop it, forget it."""
    from kproto.cli.decommission import decommission as take_out

    take_out(LocalCluster.open(data_dir), node, timeout_s)
    click.echo(f"broker {node} is no part of the cluster any more")


@cluster.command()
@click.option("--node", type=int, help="Only this broker.")
@_DATA_DIR
def stop(node: int | None, data_dir: str) -> None:
    """Stop one broker or all of them cleanly; the data stays."""
    LocalCluster.open(data_dir).stop(None if node is None else [node])
