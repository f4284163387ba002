"""Frames between brokers: requests, answers, and the two forms their bodies have.

Request: ``length i32 | api i16 | version i16 | correlation i32 | sender node i32 | sender epoch i64 | body``;
answer: ``length i32 | correlation i32 | error i16 | body``, in any order. Bodies of control requests are
compact JSON; an answer that carries bytes is ``u32 JSON length | JSON | bytes``; PUSH has a body of its own.
Every length is checked before memory is taken for it (rule 46). Errors: :class:`WireError`.
"""

from __future__ import annotations

import json
from enum import IntEnum
from struct import Struct
from typing import Any, Final

from kproto.wire.primitives import Buf, WireError

VERSION: Final = 0
"""The only version of all internal APIs so far."""
REQUEST: Final = Struct(">ihhiiq")
"""Length (of what follows it), API, version, correlation, sender's node id, sender's broker epoch."""
REQUEST_HEADER: Final = Struct(">hhiiq")
"""The same behind the length."""
RESPONSE: Final = Struct(">iih")
"""Length (of what follows it), correlation, error."""
LENGTH_BYTES: Final = 4
REQUEST_OVERHEAD: Final = REQUEST.size - LENGTH_BYTES
RESPONSE_OVERHEAD: Final = RESPONSE.size - LENGTH_BYTES
MAX_JSON_BYTES: Final = 16 * 1024 * 1024
MAX_FRAME_BYTES: Final = 256 * 1024 * 1024
"""Twice the largest batch that a client may send, so that a frame around it fits, too."""
MAX_CORRELATION: Final = 0x7FFFFFFF

_JSON_LENGTH: Final = Struct(">I")


class Api(IntEnum):
    """What one broker asks of another."""

    HELLO = 1000
    REGISTER = 1001
    HEARTBEAT = 1002
    CHANGES = 1003
    PROPOSE = 1004
    FORWARD = 1005
    PUSH = 1010
    SEAL = 1011
    STATE = 1012
    READ = 1013
    RAW = 1014
    REPAIR = 1015
    PING = 1016
    CATALOG = 1017


class InternalError(IntEnum):
    """Why a request between brokers was not done."""

    NONE = 0
    FENCED = 1
    """The owner epoch is below a fence (rules 6 and 20)."""
    GAP = 2
    """The frame does not begin where the copy ends (rule 7)."""
    CONFLICT = 3
    """Other bytes are stored there already (rule 7)."""
    LIMBO = 4
    """The copy may have lost what it acknowledged (rules 3 and 8)."""
    FULL = 5
    """No room on the disk."""
    UNKNOWN = 6
    """There is no such thing here."""
    NOT_CONTROLLER = 7
    REFUSED = 8
    """Understood and not done; the body may be JSON that says why."""
    BAD_REQUEST = 9
    WAIT = 10
    """The limit on reads has not let it have its turn yet: it keeps its place when it is asked again soon."""


def encode_json(value: object) -> bytes:
    """A body: compact JSON. Raises WireError for what JSON cannot hold, or too much of it."""
    try:
        body = _ENCODER.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"not to be written as JSON: {error}") from error
    if len(body) > MAX_JSON_BYTES:
        raise WireError(f"{len(body)} bytes of JSON, {MAX_JSON_BYTES} allowed")
    return body


def decode_json(body: Buf) -> Any:
    """The value of a JSON body. Raises WireError for rubbish."""
    if len(body) > MAX_JSON_BYTES:
        raise WireError(f"{len(body)} bytes of JSON, {MAX_JSON_BYTES} allowed")
    try:
        return _DECODER.decode(str(body, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from error


def encode_mixed(value: object, *blob: Buf) -> tuple[Buf, ...]:
    """The pieces of a body that is JSON followed by bytes; ``blob`` is not copied."""
    body = encode_json(value)
    return (_JSON_LENGTH.pack(len(body)) + body, *blob)


def decode_mixed(body: Buf) -> tuple[Any, memoryview]:
    """The value and the bytes behind it, as a view into ``body``. Raises WireError for rubbish."""
    if len(body) < _JSON_LENGTH.size:
        raise WireError(f"a body of {len(body)} bytes has no JSON length")
    end = _JSON_LENGTH.size + _JSON_LENGTH.unpack_from(body)[0]
    if end > len(body):
        raise WireError(f"JSON up to byte {end} in a body of {len(body)} bytes")
    view = memoryview(body)
    return decode_json(view[_JSON_LENGTH.size : end]), view[end:]


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number")


_ENCODER: Final = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
"""Made once: ``json.dumps`` and ``json.loads`` make new ones for each call with options."""
