"""Where the scan of the journal begins after a restart: what the log's checkpoint keeps for the virtual
logs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from struct import Struct
from typing import Final, NamedTuple

_START: Final = Struct(">QQIQI")
_MOST: Final = 0xFFFF // _START.size
"""A checkpoint has room for so many. A virtual log without one is scanned from its oldest file on."""


class ScanStart(NamedTuple):
    """For one virtual log: everything before ``position`` is in segment files."""

    owner_epoch: int
    vlog: int
    vseg: int
    position: int
    chain: int
    """Chain of the frame before ``position``."""


def encode_starts(starts: Iterable[ScanStart]) -> bytes:
    """The bytes that go into the checkpoint."""
    return b"".join([_START.pack(*start) for start in islice(starts, _MOST)])


def decode_starts(data: bytes) -> list[ScanStart]:
    """What `encode_starts` wrote. Of bytes of another length nothing is believed: the scan starts at the
    oldest file, which is always right."""
    if len(data) % _START.size:
        return []
    return [ScanStart._make(fields) for fields in _START.iter_unpack(data)]
