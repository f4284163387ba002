"""What clients did and saw. A client writes a line before each operation and one after it.

A client that was killed leaves an operation without its second line: whether its records were stored is not
known then (`Result.INFO`), as when the client itself says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple


class Result(Enum):
    """How an operation or a record that was sent ended."""

    OK = "ok"
    FAIL = "fail"
    """Certainly not done."""
    INFO = "info"
    """Done or not: nobody knows."""


class Send(NamedTuple):
    """One record: ``value`` to partition ``key``; the offset that was acknowledged, else None."""

    key: int
    value: int
    result: Result
    offset: int | None


class Record(NamedTuple):
    """One record that was polled."""

    key: int
    offset: int
    value: int


class Poll(NamedTuple):
    """What one poll gave, in the order of the client."""

    records: tuple[Record, ...]


class Kind(Enum):
    """What a client does."""

    ASSIGN = "assign"
    SUBSCRIBE = "subscribe"
    MIX = "mix"
    """Some sends and polls, one after the other."""


class Op(NamedTuple):
    """One operation of the client ``process``, whose operations come one after the other.

    ``keys``: the partitions it reads from now on, for ASSIGN. ``rebalanced``: the group moved partitions
    while the client polled, so that what it reads next may begin anywhere.
    """

    process: int
    kind: Kind
    parts: tuple[Send | Poll, ...] = ()
    keys: frozenset[int] = frozenset()
    rebalanced: bool = False


def encode_begin(kind: Kind, sends: Iterable[tuple[int, int]], keys: Iterable[int]) -> str:
    """The line before an operation; ``sends`` are (key, value)."""
    return json.dumps({"begin": kind.value, "sends": list(sends), "keys": sorted(keys)})


def encode_end(parts: Iterable[Send | Poll], rebalanced: bool) -> str:
    """The line after it."""
    told: list[Any] = []
    for part in parts:
        if isinstance(part, Send):
            told.append({"send": [part.key, part.value, part.result.value, part.offset]})
        else:
            told.append({"poll": part.records})
    return json.dumps({"end": told, "rebalanced": rebalanced})


def decode(process: int, lines: Iterable[str]) -> list[Op]:
    """The operations of one client; the last line may be cut off."""
    found: list[Op] = []
    begun: dict[str, Any] | None = None
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            break
        if "begin" in entry:
            begun = entry
        elif begun is not None:
            found.append(_op(process, begun, _parts(entry["end"]), bool(entry["rebalanced"])))
            begun = None
    if begun is not None:
        unknown = tuple(Send(key, value, Result.INFO, None) for key, value in begun["sends"])
        found.append(_op(process, begun, unknown, False))
    return found


def _op(process: int, begun: dict[str, Any], parts: tuple[Send | Poll, ...], rebalanced: bool) -> Op:
    return Op(process, Kind(begun["begin"]), parts, frozenset(begun["keys"]), rebalanced)


def _parts(told: list[dict[str, Any]]) -> tuple[Send | Poll, ...]:
    found: list[Send | Poll] = []
    for part in told:
        if "send" in part:
            key, value, result, offset = part["send"]
            found.append(Send(key, value, Result(result), offset))
        else:
            found.append(Poll(tuple(Record(*record) for record in part["poll"])))
    return tuple(found)


def read(path: Path, process: int) -> list[Op]:
    """The operations in a client's file."""
    return decode(process, path.read_text().splitlines())
