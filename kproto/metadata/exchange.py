"""What brokers and the acting controller say to each other: the bodies of the control requests.

===========  ==============================================  ===============================================
request      body                                            body of the answer
===========  ==============================================  ===============================================
REGISTER     JSON ``{"broker": [...], "cluster_id",          JSON ``{"broker": [...], "cluster_id",
             "power_lost"}``, the last one if it was         "revision"}``
HEARTBEAT    JSON ``{"revision"}``: applied so far           JSON ``{"revision"}``: the newest
CHANGES      JSON ``{"revision", "wait_ms"}``                an :class:`Update`
PROPOSE      JSON ``{"kind", "args"}``                       JSON ``{"revision", "value"}``
FORWARD      JSON ``{"peer"}`` and a client's request frame  JSON ``{"revision"}`` and the whole answer frame
===========  ==============================================  ===============================================

A client's frame begins behind its length when it is a request and with it when it is an answer. ``revision``
in an answer is one that has the effect of the request; who asked waits until it has applied it (rule 34).
Answers with an error: NOT_CONTROLLER, FENCED (the caller's broker epoch is not the one registered), REFUSED
with the JSON ``[Kafka error code, message]``. Every proposal can be repeated: the answer to one may be lost.

Proposals that the handlers of every broker make (kind: args -> value)::

    auto_create     [topic name, ...] -> [[name, Kafka error code, message or null], ...]
    offsets_topic   null -> null; it exists then
    producer_ids    null -> [first, count]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from struct import error as StructError
from typing import Any, Final, NamedTuple, TypeVar

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.history import NOTHING, Seen
from kproto.metadata.records import BrokerRecord
from kproto.metadata.store import Change, Entry
from kproto.wire import WireError
from kproto.wire.internal import decode_json, decode_mixed, encode_json, encode_mixed
from kproto.wire.primitives import Buf

T = TypeVar("T")

ITEMS_MAX: Final = 10_000
"""Entries in a list of a proposal; more are refused."""
SNAPSHOT: Final = "snapshot"
_CHANGE: Final = Struct(">QII")
"""Revision, number of puts, number of deletes."""
_ENTRY: Final = Struct(">QI")
"""Revision of an entry, length of its key."""
_SIZE: Final = Struct(">I")


def parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """``rows`` as lists that proposals may have; none for none."""
    for at in range(0, len(rows), ITEMS_MAX):
        yield rows[at : at + ITEMS_MAX]


class Update(NamedTuple):
    """Answer to CHANGES: every change after the revision asked for, or the whole store instead.

    ``revision`` is that of the newest change (of the snapshot; the one asked for when nothing happened);
    ``controller_id`` the node that answers.
    """

    controller_id: int
    revision: int
    changes: Sequence[Change] = ()
    snapshot: Sequence[Entry] | None = None


def encode_update(update: Update) -> tuple[Buf, ...]:
    """The pieces of an answer to CHANGES."""
    head = {
        "controller": update.controller_id,
        "revision": update.revision,
        SNAPSHOT: update.snapshot is not None,
    }
    out = bytearray()
    if update.snapshot is not None:
        for entry in update.snapshot:
            key = entry.key.encode()
            out += _ENTRY.pack(entry.revision, len(key))
            out += key
            _put(out, entry.value)
    else:
        for change in update.changes:
            out += _CHANGE.pack(change.revision, len(change.puts), len(change.deletes))
            for name, value in change.puts.items():
                _put(out, name.encode())
                _put(out, value)
            for name in change.deletes:
                _put(out, name.encode())
    return encode_mixed(head, out)


def decode_update(body: Buf) -> Update:
    """The update in the body of an answer. Raises WireError."""
    head, blob = decode_mixed(body)
    fields = _object(head)
    reader = _Reader(blob)
    try:
        controller_id, revision = int(fields["controller"]), int(fields["revision"])
        if fields[SNAPSHOT]:
            return Update(controller_id, revision, (), list(reader.entries()))
        return Update(controller_id, revision, list(reader.changes()))
    except (KeyError, TypeError, ValueError, StructError) as error:
        raise WireError(f"an update of the metadata: {error!r}") from error


def encode_broker(
    broker: BrokerRecord,
    cluster_id: str,
    revision: int | None = None,
    *,
    power_lost: bool = False,
    seen: Seen = NOTHING,
) -> bytes:
    """Body of REGISTER, and of its answer (which has a revision). ``power_lost``: since the broker's process
    before this one. ``seen``: how far its directory followed the metadata."""
    value: dict[str, object] = {"broker": list(broker), "cluster_id": cluster_id}
    if revision is not None:
        value["revision"] = revision
    if power_lost:
        value["power_lost"] = True
    if seen != NOTHING:
        value["seen"] = list(seen)
    return encode_json(value)


def decode_broker(body: Buf) -> tuple[BrokerRecord, str, int]:
    """``(broker, cluster id, revision or 0)`` of REGISTER or its answer. Raises WireError."""
    fields = _object(decode_json(body))
    try:
        broker = BrokerRecord(*fields["broker"])
        wanted: tuple[Any, ...] = (int, int, str, int, (str, type(None)), str, int, str)
        if not all(isinstance(part, kind) for part, kind in zip(broker, wanted, strict=True)):
            raise TypeError("a field of the wrong type")
        return broker, str(fields["cluster_id"]), int(fields.get("revision", 0))
    except (KeyError, TypeError, ValueError) as error:
        raise WireError(f"a registration: {error!r}") from error


def told_power_lost(body: Buf) -> bool:
    """What REGISTER says of that. Raises WireError."""
    return _object(decode_json(body)).get("power_lost") is True


def told_seen(body: Buf) -> Seen:
    """What REGISTER and CHANGES say of that. Raises WireError."""
    told = _object(decode_json(body)).get("seen", list(NOTHING))
    match told:
        case [str(term), int(revision)]:
            return Seen(term, revision)
    raise WireError(f"who asks has seen {told!r}")


def encode_refusal(error: KafkaError) -> bytes:
    """Body of an answer with the error REFUSED."""
    return encode_json([int(error.code), error.message])


def decode_refusal(body: Buf) -> KafkaError:
    """The error in the body of a refused request; UNKNOWN_SERVER_ERROR when it cannot be read."""
    try:
        code, message = decode_json(body)
        return KafkaError(ErrorCode(code), message)
    except (WireError, TypeError, ValueError):
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "refused without a reason")


def field_of(value: object, name: str) -> Any:
    """A field of a JSON object. Raises WireError when it is none or has no such field."""
    fields = _object(value)
    if name not in fields:
        raise WireError(f"a body without {name!r}")
    return fields[name]


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WireError(f"a body that is a {type(value).__name__}, not an object")
    return value


def _put(out: bytearray, data: bytes) -> None:
    out += _SIZE.pack(len(data))
    out += data


class _Reader:
    """Takes an update's bytes apart; ValueError or struct.error when they end too early."""

    __slots__ = ("_blob", "_position")

    def __init__(self, blob: memoryview) -> None:
        self._blob = blob
        self._position = 0

    def entries(self) -> Iterable[Entry]:
        while self._position < len(self._blob):
            revision, size = self._unpack(_ENTRY)
            key = str(self._take(size), "utf-8")
            yield Entry(key, self._value(), revision)

    def changes(self) -> Iterable[Change]:
        while self._position < len(self._blob):
            revision, puts, deletes = self._unpack(_CHANGE)
            written = {}
            for _ in range(puts):
                key = self._text()
                written[key] = self._value()
            yield Change(revision, written, tuple(self._text() for _ in range(deletes)))

    def _text(self) -> str:
        return str(self._take(self._unpack(_SIZE)[0]), "utf-8")

    def _value(self) -> bytes:
        return bytes(self._take(self._unpack(_SIZE)[0]))

    def _unpack(self, form: Struct) -> tuple[Any, ...]:
        fields = form.unpack_from(self._blob, self._position)
        self._position += form.size
        return fields

    def _take(self, size: int) -> memoryview:
        start, end = self._position, self._position + size
        if end > len(self._blob):
            raise ValueError(f"{size} bytes at {start} of {len(self._blob)}")
        self._position = end
        return self._blob[start:end]
