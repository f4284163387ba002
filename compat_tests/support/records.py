"""Sample records with everything a record can have, the same for every Python client."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass

Headers = tuple[tuple[str, bytes | None], ...]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
BASE_TIME_MS = int(time.time() - 3600) * 1000
"""An hour ago: older than a topic keeps records, they could be deleted in the middle of a test."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One record to send, and what must come back. The timestamp is in ms."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: int


def plain(values: Iterable[bytes]) -> list[Sample]:
    """Records of nothing but a value, young enough to stay."""
    return [Sample(None, value, (), BASE_TIME_MS) for value in values]


def samples(count: int, seed: int = 1, gentle: bool = False) -> list[Sample]:
    """`count` records: null and empty keys and values, repeated header names, null header values, noise.

    `gentle` leaves out what some clients cannot send: null header values, key and value both null.
    """
    noise = random.Random(seed)
    made = []
    for number in range(count):
        key = None if number % 5 == 0 else f"key-{number % 97}".encode()
        size = 0 if number % 11 == 0 else noise.randrange(600)
        value = None if number % 7 == 3 and not (gentle and key is None) else noise.randbytes(size)
        headers: Headers = (("number", str(number).encode()),)
        if number % 3 == 0:
            nothing = b"" if gentle else None
            headers += (("twice", b"a"), ("twice", nothing), ("\u00fcnicode \u2603", b""))
        made.append(Sample(key, value, headers, BASE_TIME_MS + number))
    return made


def large_values(count: int = 8, size: int = 900_000) -> list[bytes]:
    noise = random.Random(5)
    return [noise.randbytes(size) for _ in range(count)]


def same_sequence(expected: Iterable[Sample], found: Iterable[Sample], where: str) -> None:
    """Both the same records in the same order; the first difference is named."""
    wanted, got = list(expected), list(found)
    for number, (one, other) in enumerate(zip(wanted, got, strict=False)):
        assert one == other, f"{where}: record {number}: sent {one}, received {other}"
    assert len(wanted) == len(got), f"{where}: sent {len(wanted)} records, received {len(got)}"
