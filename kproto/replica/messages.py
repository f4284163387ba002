"""Bodies of the requests to a backup, as named tuples; the rest of a frame is `kproto.wire.internal`'s.

Requests are JSON; answers that carry bytes are JSON followed by the bytes. Positions are bytes of the virtual
log (not of the file), ends are exclusive. Partitions are ``[topic id as hex, index]``. Rubbish from the wire
is a `WireError`. PUSH, the one on the data path, is in `kproto.wire.push`; its answer is ``position u64``:
how far the copy goes now.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Any, Final, NamedTuple

from kproto.metadata.vlogs import VsegId, VsegRecord, vseg_key
from kproto.wire.internal import decode_json, decode_mixed, encode_json, encode_mixed
from kproto.wire.primitives import WireError

Buffer = bytes | bytearray | memoryview
PartitionKey = tuple[bytes, int]

PUSH_ANSWER: Final = Struct(">Q")
NOTHING: Final = -1
"""Position in the answer to SEAL: the store has nothing of this vseg (and, unless limbo, never had)."""
MAX_PARTITIONS: Final = 200_000
MAX_READ_BYTES: Final = 64 << 20


class Seal(NamedTuple):
    """Body of SEAL. ``fence``: owner epochs below it push no more to this store; persisted before the answer
    (rule 20). ``store_id`` (empty: whichever) is the data directory that is meant: another one answers
    UNKNOWN, or a wiped broker would say that there was nothing (rule 3). ``journal``: the owner itself is
    asked, for its own copy, which is in the journal of an earlier process of it (rule 18b). ``thorough``:
    others that are listed cannot tell, so the file is read again before the answer (24c).
    """

    vseg: VsegId
    fence: int
    store_id: str = ""
    journal: bool = False
    thorough: bool = False

    def encode(self) -> bytes:
        fields: dict[str, Any] = {**_vseg(self.vseg), "fence": self.fence, "store": self.store_id}
        if self.journal:
            fields["journal"] = True
        if self.thorough:
            fields["thorough"] = True
        return encode_json(fields)

    @classmethod
    def decode(cls, body: Buffer) -> Seal:
        fields = _fields(body)
        return cls(
            _vseg_of(fields),
            _count(fields, "fence"),
            str(fields.get("store", "")),
            fields.get("journal") is True,
            fields.get("thorough") is True,
        )


class Sealed(NamedTuple):
    """Answer to SEAL: the copy holds the vseg up to ``position`` (`NOTHING`: it holds nothing). ``limbo``:
    the copy is not eligible, it may have lost what it acknowledged (rule 22). ``torn``: a frame was begun
    there that is not sound; it was torn before it was acknowledged, or damaged afterwards (24b, 24c).
    ``durable``: the largest position that a frame of it says is durable."""

    position: int
    limbo: bool
    torn: bool = False
    durable: int = 0

    def encode(self) -> bytes:
        fields = {"position": self.position, "limbo": self.limbo, "durable": self.durable}
        if self.torn:
            fields["torn"] = True
        return encode_json(fields)

    @classmethod
    def decode(cls, body: Buffer) -> Sealed:
        fields = _fields(body)
        position = _count(fields, "position", least=NOTHING)
        durable = _count(fields, "durable")
        return cls(position, bool(fields.get("limbo")), fields.get("torn") is True, durable)


class Look(NamedTuple):
    """Body of STATE and CATALOG: what is below ``end`` about ``partitions``. ``fence`` as in `Seal`, 0 for
    none: recovery reads of an open vseg carry one. ``patience_ms``: so long who asks waits, 0: for ever."""

    vseg: VsegId
    end: int
    partitions: Sequence[PartitionKey]
    fence: int = 0
    patience_ms: int = 0

    def encode(self) -> bytes:
        return encode_json(
            {
                **_vseg(self.vseg),
                "end": self.end,
                "partitions": encode_partitions(self.partitions),
                "fence": self.fence,
                "patience": self.patience_ms,
            }
        )

    @classmethod
    def decode(cls, body: Buffer) -> Look:
        fields = _fields(body)
        numbers = _count(fields, "fence"), _count(fields, "patience")
        return cls(_vseg_of(fields), _count(fields, "end"), _partitions(fields), *numbers)


class Read(NamedTuple):
    """Body of READ: chunks of ``partitions`` in frames at ``[begin, end)``; ``begin`` must be where a frame
    begins. The answer holds at least one frame's chunks and ends with the frame that exceeds ``max_bytes``.
    ``offsets``, empty or one per partition: chunks that end at or below it are left out. ``background``:
    nobody waits for it (`kproto.replica.pace`). ``patience_ms`` as in `Look`."""

    vseg: VsegId
    begin: int
    end: int
    partitions: Sequence[PartitionKey]
    max_bytes: int
    offsets: Sequence[int] = ()
    fence: int = 0
    background: bool = False
    patience_ms: int = 0

    def encode(self) -> bytes:
        return encode_json(
            {
                **_vseg(self.vseg),
                "from": self.begin,
                "end": self.end,
                "partitions": encode_partitions(self.partitions),
                "max_bytes": self.max_bytes,
                "offsets": list(self.offsets),
                "fence": self.fence,
                "background": self.background,
                "patience": self.patience_ms,
            }
        )

    @classmethod
    def decode(cls, body: Buffer) -> Read:
        fields = _fields(body)
        partitions = _partitions(fields)
        offsets = _integers(fields.get("offsets", []))
        if offsets and len(offsets) != len(partitions):
            raise WireError(f"{len(offsets)} offsets for {len(partitions)} partitions")
        return cls(
            _vseg_of(fields),
            _count(fields, "from"),
            _count(fields, "end"),
            partitions,
            min(_count(fields, "max_bytes"), MAX_READ_BYTES),
            offsets,
            _count(fields, "fence"),
            fields.get("background") is True,
            _count(fields, "patience"),
        )


class ReadChunk(NamedTuple):
    """One chunk in the answer to READ: ``partition`` is an index into the request's partitions."""

    partition: int
    base_offset: int
    next_offset: int
    data: memoryview


class ReadAnswer(NamedTuple):
    """Answer to READ: chunks in the order of the virtual log, and where to go on (``>= end``: all read)."""

    next: int
    chunks: list[ReadChunk]

    @classmethod
    def decode(cls, body: Buffer) -> ReadAnswer:
        fields, data = decode_mixed(body)
        if not isinstance(fields, dict):
            raise WireError("the answer to READ is no object")
        chunks: list[ReadChunk] = []
        at = 0
        for row in _rows(fields.get("chunks"), 4):
            partition, base, after, length = row
            if length < 0 or at + length > len(data):
                raise WireError("the answer to READ names more bytes than it has")
            chunks.append(ReadChunk(partition, base, after, data[at : at + length]))
            at += length
        return cls(_count(fields, "next"), chunks)


def encode_read_answer(
    following: int, rows: Sequence[Sequence[int]], pieces: Sequence[Buffer]
) -> tuple[Buffer, ...]:
    """Pieces of the answer to READ; a row is ``[partition, base, next offset, length]``."""
    return encode_mixed({"next": following, "chunks": rows}, *pieces)


class PartitionState(NamedTuple):
    """What a state frame says of one partition; ``partition`` is an index into the request's partitions.
    ``epochs`` and ``producers`` are snapshots (`EpochCache`, `Producers`)."""

    partition: int
    log_start: int
    end_offset: int
    epochs: bytes
    producers: bytes


class StateAnswer(NamedTuple):
    """Answer to STATE. ``position`` of the last state frame that ends at or below ``end``, -1 for none;
    ``after``: where the frame behind it begins (the start of the vseg when there is none)."""

    position: int
    after: int
    states: list[PartitionState]

    def encode(self) -> tuple[Buffer, ...]:
        rows = [
            [one.partition, one.log_start, one.end_offset, len(one.epochs), len(one.producers)]
            for one in self.states
        ]
        blob = b"".join(one.epochs + one.producers for one in self.states)
        return encode_mixed({"position": self.position, "after": self.after, "states": rows}, blob)

    @classmethod
    def decode(cls, body: Buffer) -> StateAnswer:
        fields, data = decode_mixed(body)
        if not isinstance(fields, dict):
            raise WireError("the answer to STATE is no object")
        states: list[PartitionState] = []
        at = 0
        for partition, log_start, end_offset, epochs, producers in _rows(fields.get("states"), 5):
            between, end = at + epochs, at + epochs + producers
            if epochs < 0 or producers < 0 or end > len(data):
                raise WireError("the answer to STATE names more bytes than it has")
            pair = bytes(data[at:between]), bytes(data[between:end])
            states.append(PartitionState(partition, log_start, end_offset, *pair))
            at = end
        return cls(_count(fields, "position", least=NOTHING), _count(fields, "after"), states)


class CatalogRow(NamedTuple):
    """What a vseg holds of one partition: offsets ``[first, end)`` at most, bytes of its chunks, position of
    the first frame with one. ``frame`` -1: nothing."""

    first: int
    end: int
    bytes: int
    frame: int


def encode_catalog(rows: Sequence[CatalogRow]) -> bytes:
    """Answer to CATALOG: one row for each partition of the request."""
    return encode_json(list(map(list, rows)))


def decode_catalog(body: Buffer) -> list[CatalogRow]:
    """The inverse of `encode_catalog`."""
    return [CatalogRow(*row) for row in _rows(decode_json(body), 4)]


class Raw(NamedTuple):
    """Body of RAW: ``length`` bytes of the copy's file from byte ``begin``; fewer come back only at its
    end. ``patience_ms`` as in `Look`."""

    vseg: VsegId
    begin: int
    length: int
    patience_ms: int = 0

    def encode(self) -> bytes:
        fields = {"from": self.begin, "length": self.length, "patience": self.patience_ms}
        return encode_json({**_vseg(self.vseg), **fields})

    @classmethod
    def decode(cls, body: Buffer) -> Raw:
        fields = _fields(body)
        length = min(_count(fields, "length"), MAX_READ_BYTES)
        return cls(_vseg_of(fields), _count(fields, "from"), length, _count(fields, "patience"))


class Repair(NamedTuple):
    """Body of REPAIR: copy the closed ``record`` from the copy on node ``source`` (rule 17). The answer comes
    when it is verified and synced; NONE means that this store may be listed."""

    record: VsegRecord
    source: int

    def encode(self) -> bytes:
        value = self.record.encode().decode()
        return encode_json({**_vseg(self.record.id), "record": value, "source": self.source})

    @classmethod
    def decode(cls, body: Buffer) -> Repair:
        fields = _fields(body)
        try:
            record = VsegRecord.decode(vseg_key(_vseg_of(fields)), str(fields["record"]).encode())
        except (KeyError, TypeError, ValueError) as error:
            raise WireError(f"no vseg record: {error}") from error
        return cls(record, _count(fields, "source"))


def encode_partitions(partitions: Sequence[PartitionKey]) -> list[list[Any]]:
    """``[[topic hex, index], ...]``."""
    return [[topic_id.hex(), index] for topic_id, index in partitions]


def _vseg(vseg: VsegId) -> dict[str, int]:
    return {"E": vseg.owner_epoch, "vlog": vseg.vlog, "seq": vseg.seq}


def _vseg_of(fields: dict[str, Any]) -> VsegId:
    return VsegId(_count(fields, "E", most=2**64), _count(fields, "vlog"), _count(fields, "seq", most=2**32))


def _fields(body: Buffer) -> dict[str, Any]:
    value = decode_json(body)
    if not isinstance(value, dict):
        raise WireError("a request to a backup is no object")
    return value


def _count(fields: dict[str, Any], name: str, least: int = 0, most: int = 2**63) -> int:
    """A whole number of the request; only fence and patience may be absent."""
    value = fields.get(name, 0 if name in ("fence", "patience") else None)
    if type(value) is not int or not least <= value < most:
        raise WireError(f"{name}: {str(value)[:40]}")
    return value


def _partitions(fields: dict[str, Any]) -> list[PartitionKey]:
    rows = fields.get("partitions", [])
    if not isinstance(rows, list) or len(rows) > MAX_PARTITIONS:
        raise WireError("partitions must be a list, and not too long")
    try:
        found = [(bytes.fromhex(topic), int(index)) for topic, index in rows]
    except (TypeError, ValueError) as error:
        raise WireError(f"partitions: {error}") from error
    if any(len(topic) != 16 or not 0 <= index < 2**32 for topic, index in found):
        raise WireError("partitions: a topic id has 16 bytes, an index is not negative")
    return found


def _integers(values: object) -> list[int]:
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise WireError("a list of whole numbers was expected")
    return values


def _rows(rows: object, width: int) -> list[list[int]]:
    if not isinstance(rows, list):
        raise WireError("a list of rows was expected")
    for row in rows:
        if len(_integers(row)) != width:
            raise WireError(f"a row of {width} numbers was expected")
    return rows
