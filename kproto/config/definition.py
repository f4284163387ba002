"""What one configuration key is: its type, default, limits and how a text becomes a value.

Texts are read and written as by Apache Kafka, which leaves both to Java: what a script sets there (``+5``,
``1e-1f``, ``" TRUE "``) it may set here, and what is refused there is refused here.

Imports nothing of kproto; the tables in ``topic_configs`` and ``broker_configs`` are made of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple

ConfigValue = bool | int | float | str | tuple[str, ...] | None
"""A parsed value: LIST keys are tuples of strings, PASSWORD and CLASS keys are strings."""

Validator = Callable[[ConfigValue], str | None]
"""Returns why a value is refused (a clause such as "must be at least 1"), or None when it is fine."""

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1

_BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java trims: no other blanks, but every control character."""
_WHOLE: Final = re.compile(r"[+-]?\d+")
"""Digits of any script; Java has no others than those below U+10000."""
_DECIMAL: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX](?:[\da-fA-F]+\.?|[\da-fA-F]*\.[\da-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII
)
_YES_NO: Final = {"TRUE": True, "FALSE": False}
_COMMA: Final = re.compile(r"\s*,\s*", re.ASCII)


class ConfigError(ValueError):
    """A configuration key or value is refused; ``str(error)`` is one line for the operator."""


class ConfigType(IntEnum):
    """Types of configuration values; the numbers are those of DescribeConfigs v3+ (KIP-569)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


_INTEGER_BITS: Final = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


class ConfigSource(IntEnum):
    """Where a value comes from; the numbers are those of DescribeConfigs v1+ (KIP-226)."""

    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5


class ConfigDef(NamedTuple):
    """One key of a table.

    ``synonym`` is the broker key a topic key inherits from; ``scaled`` are further broker keys in coarser
    units, as ``(key, milliseconds per unit)``. ``enforced`` is False for keys that are stored and described
    but do not change what kproto does. ``dynamic`` broker keys can be changed while the broker runs. An entry
    of a LIST counts once, unless it ``repeats``.
    """

    name: str
    type: ConfigType
    default: ConfigValue
    doc: str
    validator: Validator | None = None
    synonym: str | None = None
    scaled: tuple[tuple[str, int], ...] = ()
    enforced: bool = True
    dynamic: bool = False
    repeats: bool = False

    @property
    def sensitive(self) -> bool:
        """Its values are shown to nobody."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str | None) -> ConfigValue:
        """Value of ``text``; raises :class:`ConfigError` when type or limits do not allow it."""
        if text is None:
            if self.default is None:
                return None
            raise ConfigError(f"{self.name}: a value is required")
        value = self._typed(text)
        problem = self.validator(value) if self.validator is not None else None
        if problem is not None:
            raise ConfigError(f"{self.name}: {self._shown(text)} {problem}")
        return value

    def _shown(self, text: str) -> str:
        return "the value" if self.sensitive else repr(text)

    def _typed(self, text: str) -> ConfigValue:
        trimmed = trim(text)
        if self.type is ConfigType.BOOLEAN:
            value: ConfigValue = _YES_NO.get(trimmed.upper())
        elif self.type is ConfigType.DOUBLE:
            value = _double(trimmed)
        elif self.type in _INTEGER_BITS:
            value = _integer(trimmed, _INTEGER_BITS[self.type])
        elif self.type is ConfigType.LIST:
            entries = _COMMA.split(trimmed) if trimmed else ()
            value = tuple(entries if self.repeats else dict.fromkeys(entries))
        else:
            value = trimmed
        if value is None:
            is_yes_no = self.type is ConfigType.BOOLEAN
            problem = "neither true nor false" if is_yes_no else f"not a number of type {self.type.name}"
            raise ConfigError(f"{self.name}: {text!r} is {problem}")
        return value


def trim(text: str) -> str:
    """The text without what Java regards as blank around it."""
    return text.strip(_BLANKS)


def _integer(trimmed: str, bits: int) -> int | None:
    if _WHOLE.fullmatch(trimmed) is None or max(trimmed) > "\uffff":
        return None
    try:
        value = int(trimmed)
    except ValueError:  # more digits than Python reads
        return None
    return value if -(1 << (bits - 1)) <= value < 1 << (bits - 1) else None


def _double(trimmed: str) -> float | None:
    number = trimmed.rstrip("fFdD")
    if _DECIMAL.fullmatch(trimmed) is not None:
        return float(number)
    if _HEXADECIMAL.fullmatch(trimmed) is None:
        return None
    try:
        return float.fromhex(number)
    except OverflowError:
        return -math.inf if number.startswith("-") else math.inf


def value_text(value: ConfigValue) -> str | None:
    """The value the way Kafka writes it in DescribeConfigs (``true``, ``a,b``, ``0.5``)."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return _double_text(value) if isinstance(value, float) else readable(str(value))


def readable(text: str) -> str:
    """The text as it can be told: of file names Python has bytes that are no UTF-8 as lone surrogates, which
    no message to a client takes. They are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def _double_text(value: float) -> str:
    """As Java writes it: with an exponent below a thousandth and from ten millions on."""
    if not math.isfinite(value):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return str(value)
    shortest = next(text for digits in range(17) if float(text := f"{value:.{digits}e}") == value)
    mantissa, exponent = shortest.split("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}E{int(exponent)}"


def at_least(minimum: float) -> Validator:
    """Accepts numbers not below ``minimum``."""

    def validate(value: ConfigValue) -> str | None:
        return f"must be at least {minimum}" if isinstance(value, int | float) and value < minimum else None

    return validate


def between(minimum: float, maximum: float) -> Validator:
    """Accepts numbers from ``minimum`` to ``maximum``, both included."""

    def validate(value: ConfigValue) -> str | None:
        outside = not isinstance(value, int | float) or value < minimum or value > maximum  # NaN is neither
        return f"must be between {minimum} and {maximum}" if outside else None

    return validate


def one_of(*allowed: str) -> Validator:
    """Accepts one of the strings ``allowed``."""

    def validate(value: ConfigValue) -> str | None:
        return None if value in allowed else f"must be one of {', '.join(allowed)}"

    return validate


def list_of(*allowed: str, empty: bool = True) -> Validator:
    """Accepts lists whose entries are all in ``allowed``; ``empty`` allows none at all."""

    def validate(value: ConfigValue) -> str | None:
        entries = value if isinstance(value, tuple) else ()
        if not entries and not empty:
            return "must not be empty"
        if any(entry not in allowed for entry in entries):
            return f"must be a list out of {', '.join(allowed)}"
        return None

    return validate


def only(expected: ConfigValue) -> Validator:
    """Accepts just ``expected``: for keys whose other values ask for something kproto does not have."""

    def validate(value: ConfigValue) -> str | None:
        if value == expected:
            return None
        text = value_text(expected)
        return "is not supported" if text is None else f"is not supported; only {text!r} is"

    return validate
