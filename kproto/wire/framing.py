"""Frames and headers: an int32 length, then a request or response header, then the body.

Request header v1: API key, version, correlation id, client id; v2 adds tagged fields, but its client id
keeps the old length (KIP-482). v0, without a client id, is what ControlledShutdown v0 had; no living API
uses it.
"""

from struct import Struct
from struct import error as StructError
from typing import Any, Final, NamedTuple

from kproto.wire.messages import Codec, codec
from kproto.wire.primitives import Buf, WireError, skip_tags

LENGTH: Final = Struct(">i")
LENGTH_SIZE: Final = 4
REQUEST_HEADER: Final = Struct(">hhih")
"""API key, version, correlation id, length of the client id (-1: null)."""
REQUEST_HEADER_V0: Final = Struct(">hhi")
CORRELATION_AT: Final = 4
MAX_RESPONSE_BYTES: Final = 1 << 30


class RequestHeader(NamedTuple):
    """``body_pos`` is where the request itself begins."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_pos: int


def check_frame_length(length: int, limit: int) -> None:
    """WireError unless a frame may be ``length`` bytes long; to be asked before anything is allocated."""
    if not REQUEST_HEADER_V0.size <= length <= limit:
        raise WireError(f"a frame of {length} bytes (the limit is {limit})")


def parse_request_header(buf: Buf, pos: int = 0, version: int | None = None) -> RequestHeader:
    """The header at ``pos``; ``version`` None: as API and version ask for (1 if unknown).

    WireError if it does not fit into ``buf``, or the client id is not UTF-8.
    """
    try:
        if version == 0:
            key, api_version, correlation_id = REQUEST_HEADER_V0.unpack_from(buf, pos)
            return RequestHeader(key, api_version, correlation_id, None, pos + REQUEST_HEADER_V0.size)
        key, api_version, correlation_id, size = REQUEST_HEADER.unpack_from(buf, pos)
        pos += REQUEST_HEADER.size
        client_id = None
        if size >= 0:
            client_id = str(buf[pos : pos + size], "utf-8")
            pos += size
        if version is None:
            version = header_version(key, api_version)
        if version >= 2:
            pos = skip_tags(buf, pos + 1, buf[pos])
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"request header: {error}") from error
    if pos > len(buf):
        raise WireError("a request header ends behind its frame")
    return RequestHeader(key, api_version, correlation_id, client_id, pos)


def header_version(api_key: int, api_version: int) -> int:
    """The version of the request header; 1 for an API that does not exist, so that it can be reported."""
    try:
        return codec(api_key).request_header_version(api_version)
    except WireError:
        return 1


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
