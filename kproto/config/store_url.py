"""What ``kproto.metadata.store`` may say, and the parts of ``etcd://host:port[,host:port...]/prefix``.

Imports nothing of kproto.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

EMBEDDED: Final = ("sqlite", "memory")
SCHEME: Final = "etcd://"
_PREFIX: Final = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")


class EtcdUrl(NamedTuple):
    """Client addresses of the members of one etcd cluster, and the prefix of one kproto cluster's keys."""

    endpoints: tuple[str, ...]
    prefix: str


def parse_etcd_url(text: str) -> EtcdUrl:
    """The parts of an ``etcd://`` URL; ValueError with a clause ("must ...") when it is none."""
    if not text.startswith(SCHEME):
        raise ValueError("must be etcd://host:port[,host:port...]/prefix")
    addresses, slash, prefix = text[len(SCHEME) :].partition("/")
    endpoints = tuple(addresses.split(","))
    for endpoint in endpoints:
        host, _, port = endpoint.rpartition(":")
        if not _HOST.fullmatch(host) or not (port.isascii() and port.isdecimal() and 0 < int(port) <= 65_535):
            raise ValueError(f"must have host:port between etcd:// and the prefix, not {endpoint!r}")
    if len(set(endpoints)) != len(endpoints):
        raise ValueError("must name every member of etcd once")
    if not slash or not _PREFIX.fullmatch(prefix):
        raise ValueError("must end in /prefix: names of letters, digits, '.', '_' and '-' with '/' between")
    return EtcdUrl(endpoints, prefix)


def store_problem(value: object) -> str | None:
    """Why a value of ``kproto.metadata.store`` is refused, as a clause; None when it is fine."""
    if value in EMBEDDED:
        return None
    text = str(value)
    if not text.startswith(SCHEME):
        return f"must be one of {', '.join(EMBEDDED)} or {SCHEME}host:port[,host:port...]/prefix"
    try:
        parse_etcd_url(text)
    except ValueError as error:
        return str(error)
    return None
