"""Arguments with a form of their own: settings (``--set NAME=VALUE``), addresses (``HOST:PORT``) and numbers
with an end; and how a command ends that cannot do what it was called for."""

from __future__ import annotations

import sys
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from kproto.config import THIS_MACHINE, host_and_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LAST_PORT: Final = 65_535
CONFIG_ERROR_EXIT: Final = 2


class FiniteRange(click.FloatRange):
    """A number of that range. Neither infinity nor nan is one, though nan is in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As any range's."""
        found: float = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is no number of that range", param, ctx)
        return found


class BadArgument(click.ClickException):
    """One clear line and exit code 2, as for any bad config."""

    exit_code = CONFIG_ERROR_EXIT


def fail(message: str) -> NoReturn:
    """One clear line on standard error and exit code 2."""
    click.echo(f"kproto: {message}", err=True)
    sys.exit(CONFIG_ERROR_EXIT)


def set_option(parameter: str, about: str, flag: str = "--set") -> Callable[[Any], Any]:
    """A click option, given any number of times, whose ``parameter`` is a dict by name; of a name that is
    given twice the last value counts. Spaces around name and value do not. What has no ``=``, or no name,
    ends the command (`BadArgument`)."""
    return click.option(
        flag, parameter, multiple=True, metavar="NAME=VALUE", help=about, callback=_by_name(flag)
    )


def _by_name(flag: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], dict[str, str]]:
    def convert(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
        split = [(pair, *pair.partition("=")) for pair in given]
        for pair, name, separator, _ in split:
            if not separator or not name.strip():
                raise BadArgument(f"{flag} {pair}: expected NAME=VALUE")
        return {name.strip(): value.strip() for _, name, _, value in split}

    return convert


def address(flag: str, text: str) -> tuple[str, int]:
    """Host and port of an address that ``flag`` was given, an IPv6 one in brackets; no host is this machine.
    What is none ends the command (`BadArgument`)."""
    port = text.strip().rpartition(":")[2]
    if not (port.isascii() and port.isdigit()):
        raise BadArgument(f"{flag} {text}: expected HOST:PORT")
    if int(port) > LAST_PORT:
        raise BadArgument(f"{flag} {text}: there is no port beyond {LAST_PORT}")
    host, number = host_and_port(text.strip())
    return host or THIS_MACHINE, number
