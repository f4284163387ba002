"""Checked access to the arguments of proposals: JSON that another broker sent (rule 46). Pure."""

from __future__ import annotations

from typing import Any

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.exchange import ITEMS_MAX


def malformed(what: str) -> KafkaError:
    """The error for arguments of the wrong form."""
    return KafkaError(ErrorCode.INVALID_REQUEST, f"A proposal of the wrong form: {what}.")


class Arguments:
    """A JSON object whose fields are taken out with their type checked; errors are :class:`KafkaError`."""

    __slots__ = ("_fields",)

    def __init__(self, value: object) -> None:
        if not isinstance(value, dict):
            raise malformed("the arguments are no object")
        self._fields: dict[str, Any] = value

    def integer(self, name: str, least: int = -(2**63), most: int = 2**63 - 1) -> int:
        return integer(self._fields.get(name), name, least, most)

    def text(self, name: str, default: str | None = None) -> str:
        value = self._fields.get(name, default)
        if not isinstance(value, str):
            raise malformed(f"{name} is no text")
        return value

    def integers(self, name: str) -> list[int]:
        """A list of integers; empty when it is missing."""
        return [integer(each, name) for each in items(self._fields.get(name, []), name)]

    def rows(self, name: str, length: int) -> list[list[Any]]:
        """A list of lists of ``length``."""
        return rows(self._fields.get(name), length, name)


def integer(value: object, name: str, least: int = -(2**63), most: int = 2**63 - 1) -> int:
    """``value`` as an integer between the bounds, both included."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise malformed(f"{name} is no number from {least} to {most}")
    return value


def items(value: object, name: str) -> list[Any]:
    """``value`` as a list of bounded length."""
    if not isinstance(value, list) or len(value) > ITEMS_MAX:
        raise malformed(f"{name} is no list of at most {ITEMS_MAX}")
    return value


def rows(value: object, length: int, name: str) -> list[list[Any]]:
    """``value`` as a list of lists of ``length``."""
    found = items(value, name)
    if any(not isinstance(row, list) or len(row) != length for row in found):
        raise malformed(f"{name} is no list of rows of {length}")
    return found


def topic_id(value: object) -> bytes:
    """A topic id written as 32 hex digits."""
    try:
        raw = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        raw = b""
    if len(raw) != 16:
        raise malformed("a topic id is 32 hex digits")
    return raw
