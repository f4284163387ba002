"""How the metadata lies in etcd: keys, values and the sizes of its transactions. Pure.

Below ``/<prefix>/@`` (no prefix has an ``@``, so one cluster's keys are never below another's)::

    @head                      {"revision", "writer", "base", "parts"}: the last transaction
    @entries/<key>             the revision of the transaction that wrote it, a blank, the value
    @parts/<base>/<writer>/<n> {"puts", "deletes"}: a transaction too large for one of etcd's
    @leases/<name>             the holder of a lease; goes with etcd's lease

Every transaction compares and writes ``@head``, so they happen one after the other and their revisions have
no gaps, whatever else is in the same etcd.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kproto.metadata.store import Entry, StoreError

OPS_MAX: Final = 120
"""Operations in one of etcd's transactions; etcd's own limit is 128 (``--max-txn-ops``)."""
BYTES_MAX: Final = 1_000_000
"""Keys and values in one of them; etcd's own limit is 1.5 MiB (``--max-request-bytes``)."""


class Head(NamedTuple):
    """``@head``. ``mod`` is etcd's revision of it, 0 while there is none.

    ``parts`` is not 0 while the entries of the transaction are still to be written: until then what counts
    are its parts. ``writer`` is different for every transaction ever tried.
    """

    mod: int
    revision: int
    writer: str = ""
    base: int = 0
    parts: int = 0

    def encode(self) -> bytes:
        return json.dumps(self._asdict() | {"mod": 0}, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, value: bytes, mod: int) -> Head:
        """Raises :class:`StoreError` for what kproto has not written."""
        try:
            fields = json.loads(value)
            return cls(mod, int(fields["revision"]), fields["writer"], fields["base"], fields["parts"])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"etcd has a head that is none of kproto's: {value[:100]!r} ({error})") from None


NO_HEAD: Final = Head(0, 0)


class Layout:
    """Keys of one cluster."""

    __slots__ = ("entries", "head", "leases", "parts", "root")

    def __init__(self, prefix: str) -> None:
        self.root = f"/{prefix}/@".encode()
        self.head = self.root + b"head"
        self.entries = self.root + b"entries/"
        self.parts = self.root + b"parts/"
        self.leases = self.root + b"leases/"

    def entry(self, key: str) -> bytes:
        return self.entries + key.encode()

    def key_of(self, raw: bytes) -> str:
        """The key of an entry by etcd's key."""
        return raw[len(self.entries) :].decode()

    def parts_of(self, head: Head) -> bytes:
        """What the keys of a transaction's parts begin with."""
        return self.parts_from(head.base) + head.writer.encode() + b"/"

    def parts_from(self, base: int) -> bytes:
        """Where the parts of transactions decided on revision ``base`` begin."""
        return self.parts + b"%016x/" % base

    def lease(self, name: str) -> bytes:
        return self.leases + name.encode()


def after(prefix: bytes) -> bytes:
    """The first key behind all that begin with ``prefix``, which is UTF-8 and not empty."""
    return prefix[:-1] + bytes((prefix[-1] + 1,))


def encode_entry(revision: int, value: bytes) -> bytes:
    return b"%d %s" % (revision, value)


def decode_entry(key: str, stored: bytes) -> Entry:
    """Raises :class:`StoreError` for what kproto has not written."""
    revision, blank, value = stored.partition(b" ")
    if not blank or not revision.isdigit():
        raise StoreError(f"etcd has an entry {key!r} that is none of kproto's: {stored[:100]!r}")
    return Entry(key, value, int(revision))


class Writes(NamedTuple):
    """Part of a transaction, or all of it."""

    puts: Mapping[str, bytes]
    deletes: Sequence[str]

    @property
    def operations(self) -> int:
        return len(self.puts) + len(self.deletes)

    @property
    def size(self) -> int:
        """Bytes of keys and values; a little more, since lengths and revisions come on top."""
        return sum(map(_put_size, self.puts.items())) + sum(map(_delete_size, self.deletes))

    @property
    def largest(self) -> int:
        """As :attr:`size`, of the one put that has most; it cannot be split."""
        return max(map(_put_size, self.puts.items()), default=0)

    @property
    def fits(self) -> bool:
        """One of etcd's transactions can take it."""
        return self.operations <= OPS_MAX and self.size <= BYTES_MAX

    def encode(self) -> bytes:
        texts = {key: value.decode() for key, value in self.puts.items()}
        document = {"puts": texts, "deletes": list(self.deletes)}
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()

    @classmethod
    def decode(cls, stored: bytes) -> Writes:
        document = json.loads(stored)
        return cls({key: text.encode() for key, text in document["puts"].items()}, document["deletes"])

    def split(self, operations: int, size: int) -> Iterator[Writes]:
        """Pieces of at most so many operations and, but for a single larger one, bytes."""
        puts: dict[str, bytes] = {}
        deletes: list[str] = []
        taken = 0
        for key, value in (*self.puts.items(), *((key, None) for key in self.deletes)):
            more = _delete_size(key) if value is None else _put_size((key, value))
            if len(puts) + len(deletes) == operations or (taken and taken + more > size):
                yield Writes(puts, deletes)
                puts, deletes, taken = {}, [], 0
            if value is None:
                deletes.append(key)
            else:
                puts[key] = value
            taken += more
        if puts or deletes:
            yield Writes(puts, deletes)


def _put_size(item: tuple[str, bytes]) -> int:
    """Quotation marks are counted twice: JSON escapes them."""
    key, value = item
    return len(key.encode()) + len(value) + value.count(b'"') + value.count(b"\\") + 100


def _delete_size(key: str) -> int:
    return len(key.encode()) + 100


def merged(parts: Sequence[Writes]) -> Writes:
    """All parts of a transaction as one."""
    puts: dict[str, bytes] = {}
    deletes: list[str] = []
    for part in parts:
        puts.update(part.puts)
        deletes += part.deletes
    return Writes(puts, deletes)
