"""Random values of kio's entities, and kio's bytes of them: the oracle for every API and version."""

import datetime
import random
import types
import typing
import uuid
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from io import BytesIO

from kio.index import load_payload_module
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType
from kio.static.primitive import Interval

from kproto.wire import ZERO_UUID
from kproto.wire.generated import APIS

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def cases() -> list[tuple[int, int, str]]:
    """(key, version, "request" or "response") of everything both kio and kproto know."""
    found = []
    for key, name in sorted(api_key_map.items()):
        if key not in APIS:
            continue
        for version, kinds in sorted(schema_name_map[name].items()):
            if APIS[key][2] <= version <= APIS[key][3]:
                found += [
                    (key, version, kind.name)
                    for kind in (EntityType.request, EntityType.response)
                    if kind in kinds
                ]
    return found


@cache
def entity(key: int, version: int, kind: str) -> type:
    """kio's class."""
    module = load_payload_module(key, version, EntityType[kind])
    return getattr(module, APIS[key][1] + kind.capitalize())


@cache
def _hints(cls: type) -> dict[str, object]:
    return typing.get_type_hints(cls)


def _text(rng: random.Random) -> str:
    size = rng.choice((0, 1, 3, 8, 126, 127, 128, 300)) if rng.random() < 0.2 else rng.randrange(6)
    return "".join(rng.choice("abcXYZ019._-é€😀") for _ in range(size))


def _integer(kind: type[Interval], rng: random.Random) -> int:
    low, high = kind.__low__, kind.__high__
    return rng.choice((low, high, 0, 1, max(low, -1), rng.randint(low, high)))


def _milliseconds(kind: type, rng: random.Random) -> datetime.timedelta:
    limit = 2**31 - 1 if kind.__name__.startswith("i32") else 10**12
    return datetime.timedelta(milliseconds=rng.randrange(limit))


def value(kind: typing.Any, rng: random.Random) -> typing.Any:
    """A random value of a kio type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType or origin is typing.Union:
        if rng.random() < 0.25:
            return None
        return value(next(a for a in arguments if a is not type(None)), rng)
    if origin is tuple:
        return tuple(value(arguments[0], rng) for _ in range(rng.choice((0, 1, 1, 2, 3))))
    if origin is typing.Annotated:
        return value(arguments[0], rng)
    if is_dataclass(kind):
        return build(kind, rng)
    if issubclass(kind, Enum):
        return rng.choice(list(kind))
    if issubclass(kind, Interval):
        return _integer(kind, rng)
    if issubclass(kind, datetime.timedelta):
        return _milliseconds(kind, rng)
    if issubclass(kind, datetime.datetime):
        return EPOCH + datetime.timedelta(milliseconds=rng.randrange(10**13))
    if issubclass(kind, uuid.UUID):
        return uuid.UUID(int=rng.getrandbits(128))
    if issubclass(kind, bool):
        return rng.random() < 0.5
    if issubclass(kind, str):
        return _text(rng)
    if issubclass(kind, bytes):
        return rng.randbytes(rng.choice((0, 1, 5, 127, 128, 200)))
    if issubclass(kind, float):
        return rng.uniform(-1e9, 1e9)
    return _integer(kind, rng)


def build(cls: type, rng: random.Random) -> typing.Any:
    """A random entity; a field with a default keeps it half the time, so that tags are absent too."""
    chosen = {}
    for f in fields(cls):
        if (f.default is not MISSING or f.default_factory is not MISSING) and rng.random() < 0.5:
            continue
        chosen[f.name] = value(_hints(cls)[f.name], rng)
    return cls(**chosen)


def write(instance: typing.Any) -> bytes:
    """kio's bytes."""
    buffer = BytesIO()
    entity_writer(type(instance))(buffer, instance)
    return buffer.getvalue()


def read(cls: type, data: bytes) -> typing.Any:
    """kio's reading of ``data``, which must be used up."""
    instance, size = entity_reader(cls)(data, 0)
    assert size == len(data)
    return instance


def plain(theirs: typing.Any) -> typing.Any:
    """kio's value as kproto has it; None in an array is kio's way to say the zero uuid."""
    if isinstance(theirs, uuid.UUID):
        return theirs.bytes
    if isinstance(theirs, tuple):
        return [ZERO_UUID if item is None else plain(item) for item in theirs]
    if isinstance(theirs, datetime.timedelta):
        return theirs // datetime.timedelta(milliseconds=1)
    if isinstance(theirs, datetime.datetime):
        return (theirs - EPOCH) // datetime.timedelta(milliseconds=1)
    if isinstance(theirs, Enum):
        return theirs.value
    return theirs
