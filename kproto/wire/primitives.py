"""What the generated modules share: error, limits, variable-length integers, tagged fields, struct base.

Encodings are those of Kafka's protocol guide: big endian; UNSIGNED_VARINT is 7 bits a byte, least
significant first.
"""

from typing import Any

MAX_ELEMENTS = 500_000
"""Elements of all arrays of one message together; more are refused, however many bytes follow: a byte on the
wire can become fifty in memory, and this bounds it."""
MAX_REQUEST_ELEMENTS = 100_000
"""The same for a request: parsing goes on in one piece, 50 ms of it for so many."""
MAX_TAGGED_FIELDS = 10_000
MAX_VARINT = 0x7FFFFFFF
ZERO_UUID = bytes(16)

Buf = bytes | bytearray | memoryview


class WireError(Exception):
    """The bytes are not what the format says (or, in writing, a value does not fit its field)."""


class EmptyDefault(list[Any]):
    """Marks "no list given" in constructors, because None may mean a null array."""


EMPTY: Any = EmptyDefault()

new = object.__new__


class WireStruct:
    """Base of the generated classes: comparison and display by field, for tests and logs; nothing hot."""

    __slots__: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name, '?')!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


def more(buf: Buf, pos: int, first: int) -> tuple[int, int]:
    """Finish an unsigned varint whose ``first`` byte was above 127: (value, position after it)."""
    value = first & 0x7F
    for shift in (7, 14, 21, 28):
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            if value > MAX_VARINT:
                break
            return value, pos
    raise WireError("variable-length integer is too long")


def read_uvarint(buf: Buf, pos: int) -> tuple[int, int]:
    """The unsigned varint at ``pos`` and the position after it; IndexError past the end."""
    byte = buf[pos]
    if byte < 128:
        return byte, pos + 1
    return more(buf, pos + 1, byte)


def uvarint(out: bytearray, value: int) -> None:
    """Append ``value`` (0 .. 2**31 - 1) as an unsigned varint."""
    while value > 127:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def skip_tags(buf: Buf, pos: int, count: int) -> int:
    """Step over tagged fields that this version knows nothing of; ``count`` is the first byte."""
    if count > 127:
        count, pos = more(buf, pos, count)
        if count > MAX_TAGGED_FIELDS:
            raise WireError(f"{count} tagged fields")
    for _ in range(count):
        _tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        pos += size
    return pos


def skip_counted_tags(buf: Buf, pos: int, before: int) -> tuple[int, int]:
    """Step over the tagged fields at ``pos``, their count included: the position behind them, and how many a
    request has up to there, of which ``before`` came before. WireError when these are too many, or one ends
    behind ``buf``."""
    count, pos = read_uvarint(buf, pos)
    tags = before + count
    if tags > MAX_TAGGED_FIELDS:
        raise WireError(f"a request with more than {MAX_TAGGED_FIELDS} tagged fields")
    for _ in range(count):
        _tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        pos += size
        if pos > len(buf):
            raise WireError("a tagged field ends behind the request")
    return pos, tags


def count_tags(buf: Buf, pos: int, count: int) -> tuple[int, int]:
    """Finish the number of tagged fields whose first byte was above 127."""
    count, pos = more(buf, pos, count)
    if count > MAX_TAGGED_FIELDS:
        raise WireError(f"{count} tagged fields")
    return count, pos


def bad_length(field: str) -> WireError:
    """A null or negative length where ``field`` does not allow one."""
    return WireError(f"{field}: null or negative length")


def bad_count(field: str, count: int) -> WireError:
    """An array of more elements than the bytes left can hold, or than any honest client sends."""
    return WireError(f"{field}: {count} elements cannot be right")


def bad_tag(field: str) -> WireError:
    """The declared size of a tagged field differs from what it holds."""
    return WireError(f"{field}: wrong size of a tagged field")
