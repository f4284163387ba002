"""Frames and headers: an int32 length, then a request or response header, then the body.

Request header v1: API key, version, correlation id, client id; v2 adds tagged fields, but its client id
keeps the old length (KIP-482). v0, without a client id, is what ControlledShutdown v0 had; no living API
uses it.
"""

from struct import Struct
from struct import error as StructError
from typing import Any, Final

from kproto.wire.messages import Codec, codec
from kproto.wire.primitives import Buf, WireError, skip_tags

LENGTH: Final = Struct(">i")
LENGTH_SIZE: Final = 4
REQUEST_HEADER: Final = Struct(">hhih")
"""API key, version, correlation id, length of the client id (-1: null)."""
MAX_RESPONSE_BYTES: Final = 1 << 30


def append_request_header(
    out: bytearray, messages: Codec, version: int, correlation_id: int, client_id: str | None
) -> None:
    """Append the header that ``version`` asks for."""
    name = b"" if client_id is None else client_id.encode()
    out += REQUEST_HEADER.pack(messages.key, version, correlation_id, -1 if client_id is None else len(name))
    out += name
    if messages.request_header_version(version) >= 2:
        out.append(0)


def request_frame(
    key: int, version: int, message: Any, correlation_id: int, client_id: str | None = "kproto"
) -> bytes:
    """A whole request frame, its length included."""
    messages = codec(key)
    out = bytearray(LENGTH_SIZE)
    append_request_header(out, messages, version, correlation_id, client_id)
    messages.write_request(version, message, out)
    LENGTH.pack_into(out, 0, len(out) - LENGTH_SIZE)
    return bytes(out)


def response_frame(messages: Codec, version: int, correlation_id: int, message: Any) -> bytes:
    """A whole response frame, its length included."""
    out = bytearray(LENGTH_SIZE)
    out += LENGTH.pack(correlation_id)
    if messages.response_header_version(version) >= 1:
        out.append(0)
    if isinstance(message, bytes):
        out += message
    else:
        messages.write_response(version, message, out)
    LENGTH.pack_into(out, 0, len(out) - LENGTH_SIZE)
    return bytes(out)


def parse_response_frame(key: int, version: int, frame: Buf) -> tuple[int, Any]:
    """``(correlation id, message)`` of a response frame without its length."""
    messages = codec(key)
    try:
        correlation_id: int = LENGTH.unpack_from(frame)[0]
        pos = LENGTH_SIZE
        if messages.response_header_version(version) >= 1:
            pos = skip_tags(frame, pos + 1, frame[pos])
    except (StructError, IndexError) as error:
        raise WireError(f"response header: {error}") from error
    message, _end = messages.parse_response(version, frame, pos)
    return correlation_id, message
