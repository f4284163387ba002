"""Addresses on the command line: ``HOST:PORT``, an IPv6 address in brackets; no host is this machine."""

from __future__ import annotations

from typing import Final

import click

THIS_MACHINE: Final = "127.0.0.1"
LAST_PORT: Final = 65_535


class NotAnAddress(click.ClickException):
    """One clear line and exit code 2, as for any bad config."""

    exit_code = 2


def address(flag: str, text: str) -> tuple[str, int]:
    """Host and port of an address that ``flag`` was given. What is none ends the command (`NotAnAddress`)."""
    host, _, port = text.strip().rpartition(":")
    if not (port.isascii() and port.isdigit()):
        raise NotAnAddress(f"{flag} {text}: expected HOST:PORT")
    if int(port) > LAST_PORT:
        raise NotAnAddress(f"{flag} {text}: there is no port beyond {LAST_PORT}")
    return host.strip("[]") or THIS_MACHINE, int(port)
