"""Settings on the command line: ``--set NAME=VALUE``, as often as there are settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class NotAPair(click.ClickException):
    """One clear line and exit code 2, as for any bad config."""

    exit_code = 2


def set_option(parameter: str, about: str, flag: str = "--set") -> Callable[[Any], Any]:
    """A click option, given any number of times, whose ``parameter`` is a dict by name; of a name that is
    given twice the last value counts. Spaces around name and value do not. What has no ``=``, or no name,
    ends the command (`NotAPair`)."""
    return click.option(
        flag, parameter, multiple=True, metavar="NAME=VALUE", help=about, callback=_by_name(flag)
    )


def _by_name(flag: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], dict[str, str]]:
    def convert(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
        split = [(pair, *pair.partition("=")) for pair in given]
        for pair, name, separator, _ in split:
            if not separator or not name.strip():
                raise NotAPair(f"{flag} {pair}: expected NAME=VALUE")
        return {name.strip(): value.strip() for _, name, _, value in split}

    return convert
