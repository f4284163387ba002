"""What one configuration key is: its type, default, limits and how a text becomes a value.

Imports nothing of kproto; the tables in ``topic_configs`` and ``broker_configs`` are made of these.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple

ConfigValue = bool | int | float | str | tuple[str, ...] | None
"""A parsed value: LIST keys are tuples of strings, PASSWORD and CLASS keys are strings."""

Validator = Callable[[ConfigValue], str | None]
"""Returns why a value is refused (a clause such as "must be at least 1"), or None when it is fine."""

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1

_INTEGER_BITS: Final = {"SHORT": 16, "INT": 32, "LONG": 64}


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
    but do not change what kproto does. ``dynamic`` broker keys can be changed while the broker runs.
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
    sensitive: bool = False

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
        trimmed = text.strip()
        if self.type is ConfigType.BOOLEAN:
            if trimmed.lower() in ("true", "false"):
                return trimmed.lower() == "true"
            raise ConfigError(f"{self.name}: {text!r} is neither true nor false")
        if self.type in (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG):
            return self._integer(trimmed)
        if self.type is ConfigType.DOUBLE:
            try:
                return float(trimmed)
            except ValueError:
                raise ConfigError(f"{self.name}: {text!r} is not a number") from None
        if self.type is ConfigType.LIST:
            return tuple(part.strip() for part in trimmed.split(",")) if trimmed else ()
        return trimmed

    def _integer(self, trimmed: str) -> int:
        try:
            value = int(trimmed) if "_" not in trimmed and trimmed.isascii() else None
        except ValueError:
            value = None
        bits = _INTEGER_BITS[self.type.name]
        if value is None or not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise ConfigError(f"{self.name}: {trimmed!r} is not a number of type {self.type.name}")
        return value


def value_text(value: ConfigValue) -> str | None:
    """The value the way Kafka writes it in DescribeConfigs (``true``, ``a,b``, ``0.5``)."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value)


def at_least(minimum: float) -> Validator:
    """Accepts numbers not below ``minimum``."""

    def validate(value: ConfigValue) -> str | None:
        return f"must be at least {minimum}" if isinstance(value, int | float) and value < minimum else None

    return validate


def between(minimum: float, maximum: float) -> Validator:
    """Accepts numbers from ``minimum`` to ``maximum``, both included."""

    def validate(value: ConfigValue) -> str | None:
        inside = isinstance(value, int | float) and minimum <= value <= maximum
        return None if inside else f"must be between {minimum} and {maximum}"

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
        return None if value == expected else f"is not supported; only {value_text(expected)!r} is"

    return validate
