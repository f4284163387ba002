"""``kproto serve`` and ``kproto config``: run one broker, or print the settings it would run with."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any, Final

import click

from kproto.cli.arguments import fail, set_option
from kproto.config import BROKER_CONFIGS, THIS_MACHINE, ConfigError, Settings, address_text, load

DEFAULT_DATA_DIR: Final = BROKER_CONFIGS["log.dirs"].default
DEFAULT_LISTEN: Final = "127.0.0.1:9092"
USUAL: Final = {"listeners": f"PLAINTEXT://{DEFAULT_LISTEN}"}
"""In place of Kafka's default, which is all interfaces."""
INTERNAL_PORT_OFFSET: Final = 1000
HIDDEN: Final = "(hidden)"

_OPTIONS: Final = (
    click.option("--node-id", type=int, help="Kafka's node.id of this broker (default 1)."),
    click.option("--listen", metavar="HOST:PORT", help=f"Address for clients (default {DEFAULT_LISTEN})."),
    click.option("--advertise", metavar="HOST:PORT", help="Address told to clients (default: --listen)."),
    click.option(
        "--internal-listen",
        metavar="HOST:PORT",
        help="Address for other brokers (with --join: by default that of --listen, port + 1000; any if 0).",
    ),
    click.option(
        "--join",
        metavar="HOST:PORT",
        help="Join the cluster that a broker with this internal address belongs to.",
    ),
    click.option(
        "--data-dir", metavar="DIR", help=f"Where everything is stored (default {DEFAULT_DATA_DIR})."
    ),
    click.option("--config", "config_file", metavar="FILE", help="A kproto.toml with Kafka's dotted names."),
    set_option("given", "One setting; may be repeated."),
)


def _with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def settings_from(
    node_id: int | None,
    listen: str | None,
    advertise: str | None,
    internal_listen: str | None,
    join: str | None,
    data_dir: str | None,
    config_file: str | None,
    given: dict[str, str],
) -> Settings:
    """The settings of a broker: the file, then ``--set``, then the flags. Exits with 2 on a bad one."""
    texts = dict(given)
    flags = {
        "node.id": None if node_id is None else str(node_id),
        "listeners": listen and f"PLAINTEXT://{listen}",
        "advertised.listeners": advertise and f"PLAINTEXT://{advertise}",
        "kproto.internal.listen": internal_listen,
        "kproto.join": join,
        "log.dirs": data_dir,
    }
    texts.update({name: value for name, value in flags.items() if value is not None})
    try:
        settings = load(config_file, texts, USUAL)
        if settings.kproto_join and not settings.kproto_internal_listen:
            host, port = settings.listen_address()
            own = address_text(host or THIS_MACHINE, port and port + INTERNAL_PORT_OFFSET)
            settings = settings.with_texts({"kproto.internal.listen": own})
        return settings
    except ConfigError as error:
        fail(str(error))


def _called() -> str:
    """How this command was called, so that what is printed can be typed: it may not be on the PATH."""
    name = sys.argv[0]
    folder, _, last = name.rpartition("/")
    known = not folder or folder in os.environ.get("PATH", "").split(":")
    return "kproto" if last != "kproto" or known else name


@click.command()
@_with_options
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
@click.option("--stop-with-stdin", is_flag=True, hidden=True)  # for `kproto.testing`
def serve(quiet: bool, stop_with_stdin: bool, **flags: Any) -> None:
    """Run one broker until SIGTERM or SIGINT, then drain and stop cleanly."""
    settings = settings_from(**flags)
    from kproto.broker import StartError, run

    def announce(host: str, port: int) -> None:
        if quiet:
            return
        told = address_text(*settings.told_address(port))
        where = "" if told == DEFAULT_LISTEN else f" --bootstrap {told}"
        with contextlib.suppress(OSError):  # a full disk, or a pipe that nobody reads: it serves all the same
            click.echo(f"kproto broker {settings.node_id} serves Kafka clients on {address_text(host, port)}")
            click.echo(f"data in {settings.log_dirs}; stop with Ctrl-C. Try next, in another terminal:")
            click.echo(f"  echo hello | {_called()} produce greetings{where}")
            click.echo(f"  {_called()} consume greetings --from-beginning{where}")

    try:
        sys.exit(run(settings, announce, stop_with_stdin=stop_with_stdin))
    except StartError as error:
        fail(str(error))


@click.command()
@_with_options
@click.option("--json", "as_json", is_flag=True, help="A JSON array instead of a table.")
def config(as_json: bool, **flags: Any) -> None:
    """Print the effective settings: file, --set, flags and defaults together."""
    settings = settings_from(**flags)
    from kproto.cli.output import print_rows

    rows = [
        {
            "name": name,
            "value": HIDDEN if value and BROKER_CONFIGS[name].sensitive else value,
            "source": "set" if explicit and value != USUAL.get(name) else "default",
        }
        for name, value, explicit in settings.effective()
    ]
    print_rows(rows, ("name", "value", "source"), as_json=as_json, title="Effective settings")
