"""Entry point of the ``kproto`` command; commands are imported when they are called.

Installed packages add commands of their own by the entry-point group ``kproto.commands`` (name ->
"module:click command"). They are looked for only when help is shown or no command of ours has the name: a
start of the broker does not pay for that.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

import kproto
from kproto.cli.lazy import LazyGroup, imported

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

PLUGINS: Final = "kproto.commands"
_COMMANDS: Final = {
    "serve": ("kproto.cli.serve:serve", "Run one broker until SIGTERM or SIGINT."),
    "config": ("kproto.cli.serve:config", "Print the effective settings."),
    "cluster": ("kproto.cli.cluster_command:cluster", "Run a whole cluster on this machine."),
    "vlogs": ("kproto.cli.inspect_cluster:vlogs", "Show the virtual logs of every broker."),
    "recovery": ("kproto.cli.inspect_cluster:recovery", "Show recoveries, running and past."),
    "topic": ("kproto.cli.topic:topic", "List, create, describe, alter and delete topics."),
    "group": ("kproto.cli.group:group", "List, describe and delete consumer groups."),
    "produce": ("kproto.cli.produce:produce", "Write lines of standard input to a topic."),
    "consume": ("kproto.cli.consume:consume", "Print the records of a topic."),
    "get-offsets": ("kproto.cli.offsets:get_offsets", "Print the first and next offset of partitions."),
    "dump-log": ("kproto.cli.dump_log:dump_log", "Show streamlets, groups, segments and chunks on disk."),
}


def _plugins() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group=PLUGINS)


def _open_standard_streams() -> None:
    """Those that whoever started this has closed: the next socket or file would get their number, which
    uvloop does not survive, and Python has None in their place."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _print_what_the_encoding_lacks() -> None:
    """Names of groups and files have letters, and bytes, that the encoding of standard output may lack: they
    are escaped, as on standard error, instead of ending the command, or the broker that says where its data
    is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


class _Main(LazyGroup):
    """kproto's own commands, then those of plug-ins."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """What is printed may go to a full disk: one line, exit code 1."""
        _open_standard_streams()
        _print_what_the_encoding_lacks()
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            click.echo(f"Error: cannot be written: {error.strerror}", err=True)
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *sorted(_plugins().names)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or self._plugin(cmd_name)

    def help_lines(self) -> list[tuple[str, str]]:
        return [*super().help_lines(), *((name, self._help_of(name)) for name in sorted(_plugins().names))]

    def _plugin(self, name: str) -> click.Command | None:
        found = _plugins().select(name=name)
        return imported(next(iter(found)).value) if found else None

    def _help_of(self, name: str) -> str:
        """A plug-in that is broken must not break kproto's own help."""
        try:
            command = self._plugin(name)
        except Exception as error:
            return f"cannot be loaded: {error}"
        return command.get_short_help_str(80) if command is not None else ""


@click.group(cls=_Main, table=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kproto.__version__, prog_name="kproto")
def main() -> None:
    """A Kafka-wire-compatible broker with virtual log-structured storage."""


if __name__ == "__main__":
    main()
