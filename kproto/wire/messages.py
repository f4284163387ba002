"""Codecs by API key. The generated module of an API is imported when its codec is first asked for.

Sources: the message definitions of Apache Kafka 4.3 (see ``kproto.wire``); header versions as in KIP-482
and KIP-511.
"""

from collections.abc import Callable
from importlib import import_module
from struct import error as StructError
from typing import Any

from kproto.wire.generated import APIS
from kproto.wire.primitives import Buf, WireError

ParseFunction = Callable[[Buf, int], tuple[Any, int]]
WriteFunction = Callable[[Any, bytearray], None]

API_VERSIONS = 18
"""Its response header never has tagged fields, for it is read before versions are known (KIP-511)."""

# What the generated code runs into when bytes end early or lengths lie.
PARSE_ERRORS = (IndexError, StructError, UnicodeDecodeError)
# What it runs into when a value does not fit its field.
WRITE_ERRORS = (StructError, UnicodeEncodeError)


def parse_with(
    functions: dict[int, ParseFunction], name: str, version: int, buf: Buf, pos: int
) -> tuple[Any, int]:
    """Parse one message at ``pos``: (message, position behind it). Any flaw in the bytes is a WireError."""
    function = functions.get(version)
    if function is None:
        raise WireError(f"{name} has no version {version}")
    try:
        message, end = function(buf, pos)
    except PARSE_ERRORS as error:
        raise WireError(f"{name} v{version}: {error}") from error
    if end > len(buf):
        raise WireError(f"{name} v{version}: ends {end - len(buf)} bytes behind its frame")
    return message, end


def write_with(
    functions: dict[int, WriteFunction], name: str, version: int, message: Any, out: bytearray
) -> None:
    """Append one message to ``out``. WireError if a value does not fit (``out`` is then cut back)."""
    function = functions.get(version)
    if function is None:
        raise WireError(f"{name} has no version {version}")
    start = len(out)
    try:
        function(message, out)
    except WRITE_ERRORS as error:
        del out[start:]
        raise WireError(f"{name} v{version}: {error}") from error


class Codec:
    """Everything the wire knows of one API.

    ``flexible_from`` is the first version with compact types and tagged fields (None: there is none yet);
    ``unstable`` says that ``max_version`` is not released and must not be advertised.
    """

    __slots__ = (
        "_parse_request",
        "_parse_response",
        "_request_records",
        "_response_records",
        "_write_request",
        "_write_response",
        "flexible_from",
        "key",
        "max_version",
        "min_version",
        "name",
        "unstable",
    )

    def __init__(self, key: int) -> None:
        module, self.name, self.min_version, self.max_version, flexible, self.unstable, *records = APIS[key]
        self.key = key
        self.flexible_from: int | None = flexible if flexible < 32767 else None
        self._request_records, self._response_records = records
        generated = import_module(f"kproto.wire.generated.{module}")
        self._parse_request: dict[int, ParseFunction] = generated.PARSE_REQUEST
        self._write_request: dict[int, WriteFunction] = generated.WRITE_REQUEST
        self._parse_response: dict[int, ParseFunction] = generated.PARSE_RESPONSE
        self._write_response: dict[int, WriteFunction] = generated.WRITE_RESPONSE

    def flexible(self, version: int) -> bool:
        """Whether ``version`` has compact types and tagged fields."""
        return self.flexible_from is not None and version >= self.flexible_from

    def request_header_version(self, version: int) -> int:
        """1: with client id; 2: with tagged fields too."""
        return 2 if self.flexible(version) else 1

    def response_header_version(self, version: int) -> int:
        """0: the correlation id alone; 1: with tagged fields."""
        return 1 if self.flexible(version) and self.key != API_VERSIONS else 0

    def parse_request(self, version: int, buf: Buf, pos: int = 0) -> tuple[Any, int]:
        """(request, position behind it). ``records`` fields are views of ``buf``, all else is copied."""
        return parse_with(self._parse_request, self.name, version, _source(buf, self._request_records), pos)

    def parse_response(self, version: int, buf: Buf, pos: int = 0) -> tuple[Any, int]:
        """(response, position behind it). ``records`` fields are views of ``buf``, all else is copied."""
        return parse_with(self._parse_response, self.name, version, _source(buf, self._response_records), pos)

    def write_request(self, version: int, message: Any, out: bytearray) -> None:
        """Append the request's body to ``out``."""
        write_with(self._write_request, self.name, version, message, out)

    def write_response(self, version: int, message: Any, out: bytearray) -> None:
        """Append the response's body to ``out``."""
        write_with(self._write_response, self.name, version, message, out)


def _source(buf: Buf, records: bool) -> Buf:
    """What to parse from: a view if records are to point into it, else bytes, whose slices cost less."""
    if records:
        return buf if type(buf) is memoryview else memoryview(buf)
    return buf if type(buf) is bytes else bytes(buf)


_codecs: dict[int, Codec] = {}


def codec(api_key: int) -> Codec:
    """The codec of ``api_key``; WireError if Kafka 4.3 has no such API."""
    found = _codecs.get(api_key)
    if found is None:
        if api_key not in APIS:
            raise WireError(f"there is no API {api_key}")
        found = _codecs[api_key] = Codec(api_key)
    return found


def api_keys() -> list[int]:
    """Every key that has a schema, in order."""
    return sorted(APIS)
