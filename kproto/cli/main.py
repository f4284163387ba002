"""Entry point of the ``kproto`` command; commands are imported when they are called."""

import importlib
from typing import Final

import click

import kproto

_COMMANDS: Final = {
    "serve": ("kproto.cli.serve", "serve", "Run one broker until SIGTERM or SIGINT."),
    "config": ("kproto.cli.serve", "config", "Print the effective settings."),
    "cluster": ("kproto.cli.cluster_command", "cluster", "Run a whole cluster on this machine."),
    "vlogs": ("kproto.cli.inspect_cluster", "vlogs", "Show the virtual logs of every broker."),
    "recovery": ("kproto.cli.inspect_cluster", "recovery", "Show recoveries, running and past."),
    "topic": ("kproto.cli.topic", "topic", "List, create, describe, alter and delete topics."),
    "group": ("kproto.cli.group", "group", "List, describe and delete consumer groups."),
    "produce": ("kproto.cli.produce", "produce", "Write lines of standard input to a topic."),
    "consume": ("kproto.cli.consume", "consume", "Print the records of a topic."),
    "get-offsets": ("kproto.cli.offsets", "get_offsets", "Print the first and next offset of partitions."),
    "dump-log": ("kproto.cli.dump_log", "dump_log", "Show streamlets, groups, segments and chunks on disk."),
}


class _LazyGroup(click.Group):
    """A click group whose commands live in modules that are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry[0]), entry[1])
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry[0]}.{entry[1]} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kproto.__version__, prog_name="kproto")
def main() -> None:
    """A Kafka-wire-compatible broker with virtual log-structured storage."""


if __name__ == "__main__":
    main()
