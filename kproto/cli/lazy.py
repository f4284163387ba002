"""A click group whose commands are imported when called: help and other commands do not pay for them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """Commands by name: ("module:attribute", one line of help).

    ``missing``: top-level module -> how to get it. A command that needs such a module, and finds it not
    installed, says that in one line, exit code 1.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, tuple[str, str]] | None = None,
        missing: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._table = dict(table or {})
        self._missing = dict(missing or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """In the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import it; None for a name that is not there."""
        entry = self._table.get(cmd_name)
        if entry is None:
            return None
        try:
            return imported(entry[0])
        except ModuleNotFoundError as error:
            raise self._explained(error) from error

    def invoke(self, ctx: click.Context) -> Any:
        """The command may import the module that is missing only when it runs."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            raise self._explained(error) from error

    def help_lines(self) -> list[tuple[str, str]]:
        """Names and their line of help, without importing the commands."""
        return [(name, entry[1]) for name, entry in self._table.items()]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """As click's, from `help_lines`."""
        with formatter.section("Commands"):
            formatter.write_dl(self.help_lines())

    def _explained(self, error: ModuleNotFoundError) -> Exception:
        hint = self._missing.get((error.name or "").partition(".")[0])
        return error if hint is None else click.ClickException(f"{error.name} is not installed: {hint}")


def imported(target: str) -> click.Command:
    """The command at "module:attribute". Raises TypeError when something else is there."""
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{target} is not a command")
    return command
