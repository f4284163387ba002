"""The etcd backend of :class:`~kproto.metadata.store.MetadataStore`: several brokers may become controller.

A transaction is one of etcd's, which also compares and writes the head (see ``etcd_layout``): revisions have
no gaps, and repeating one that may have happened cannot make it happen twice. One that is too large for etcd
is first written to keys that nobody looks at; the head then makes all of it count at once, and whoever finds
its entries not written yet does that first. Needs the extra ``kproto[etcd]``. etcd should compact by itself
(``--auto-compaction-mode=revision --auto-compaction-retention=10000``): kproto does not, others may be in it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from aetcd import rpc

from kproto.config.store_url import EtcdUrl
from kproto.metadata.etcd_layout import (
    BYTES_MAX,
    NO_HEAD,
    OPS_MAX,
    Head,
    Layout,
    Writes,
    after,
    decode_entry,
    encode_entry,
    merged,
)
from kproto.metadata.etcd_leases import EtcdLeases
from kproto.metadata.etcd_members import Members
from kproto.metadata.etcd_watch import watch_changes
from kproto.metadata.history import OlderStoreError
from kproto.metadata.store import (
    ABSENT,
    Change,
    CompactedError,
    Condition,
    Entry,
    StoreError,
    Transacted,
    UnknownOutcomeError,
)

PAGE: Final = 5000
"""Entries read with one call."""
READS_MAX: Final = 100
"""Keys looked at in one call; less than etcd's limit of operations."""
AT_ONCE: Final = 8
"""Pieces of a large transaction on their way at the same time."""
RIVALS_MAX: Final = 1000
"""How often others may be faster before a transaction is given up."""


class EtcdStore:
    """One prefix of an etcd cluster behind the store's interface; open it with :meth:`open`."""

    __slots__ = (
        "_head",
        "_known",
        "_layout",
        "_leases",
        "_lock",
        "_members",
        "_name",
        "_newest",
        "_transactions",
    )

    def __init__(self, url: EtcdUrl) -> None:
        self._members = Members(url.endpoints)
        self._layout = Layout(url.prefix)
        self._leases = EtcdLeases(self._members, self._layout)
        self._lock = asyncio.Lock()
        self._name = secrets.token_hex(8)
        self._transactions = 0
        self._head: Head | None = None
        """The head as this store wrote it last; what follows from it holds as long as etcd still has it."""
        self._newest = 0
        """The newest revision that was read or written: the head is never before it again."""
        self._known: dict[str, int] = {}
        """Revisions of keys at that head."""

    @classmethod
    async def open(cls, url: EtcdUrl) -> EtcdStore:
        """Connect; :class:`StoreError` when no member answers or the prefix has something else."""
        store = cls(url)
        try:
            await store._look([])
        except BaseException:
            await store.close()
            raise
        return store

    async def get(self, key: str) -> Entry | None:
        _, found = await self._look([_get(self._layout.entry(key))])
        return decode_entry(key, found[0].kvs[0].value) if found[0].kvs else None

    async def range(self, prefix: str) -> tuple[int, list[Entry]]:
        while True:
            try:
                return await self._range(prefix)
            except CompactedError:  # etcd dropped the revision between two pages
                continue

    async def _range(self, prefix: str) -> tuple[int, list[Entry]]:
        layout = self._layout
        first = layout.entry(prefix)
        head, (page,) = await self._look([_get(first, after(first), limit=PAGE)])
        at: int = page.header.revision
        entries: list[Entry] = []
        while True:
            for kv in page.kvs:
                entries.append(decode_entry(layout.key_of(kv.key), kv.value))
            if not page.more:
                return head.revision, entries
            request = rpc.RangeRequest(
                key=page.kvs[-1].key + b"\0", range_end=after(first), limit=PAGE, revision=at
            )
            page = await self._members.call(lambda member: member.kv.Range, request)

    def watch(self, after_revision: int) -> AsyncIterator[Change]:
        return watch_changes(self._members, self._layout, after_revision)

    async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
        """As the interface says. etcd counts in seconds, and takes 2 of them at least."""
        return await self._leases.lease(name, holder, ttl_ms)

    async def holder(self, name: str) -> str | None:
        return await self._leases.holder(name)

    async def release(self, name: str, holder: str) -> None:
        await self._leases.release(name, holder)

    async def close(self) -> None:
        """End all calls and watches; leases stay until they expire. Calls after it fail."""
        await self._members.close()

    # --- transactions ---------------------------------------------------------------------------------

    async def transact(
        self, conditions: Sequence[Condition], puts: Mapping[str, bytes], deletes: Sequence[str] = ()
    ) -> Transacted:
        """As the interface says; :class:`UnknownOutcomeError` when etcd went away in the middle."""
        writes = Writes(dict(puts), tuple(key for key in dict.fromkeys(deletes) if key not in puts))
        async with self._lock:
            try:
                return await self._transact(dict(conditions), writes)
            except BaseException:
                self._head = None
                raise

    async def _transact(self, conditions: Mapping[str, int], writes: Writes) -> Transacted:
        for _ in range(RIVALS_MAX):
            head, effective = self._head, writes
            if head is None or not self._foreseen(conditions, writes):
                wanted = [*conditions, *writes.deletes]
                head, known = await self._learn(wanted)
                self._adopt(head, {key: known[key] for key in conditions})
                if any(known[key] != revision for key, revision in conditions.items()):
                    return Transacted(False, head.revision)
                gone = tuple(key for key in writes.deletes if known[key] != ABSENT)
                effective = Writes(writes.puts, gone)
                if not effective.operations:
                    return Transacted(True, head.revision)
            done = await self._commit(head, effective)
            if done is not None:
                self._remember(done, effective)
                return Transacted(True, done.revision)
            self._head = None
        raise StoreError(f"{self._members}: others were faster {RIVALS_MAX} times")

    def _foreseen(self, conditions: Mapping[str, int], writes: Writes) -> bool:
        """With the head this store knows, the transaction will do exactly this."""
        if not writes.puts or (writes.deletes and not writes.fits):
            return False
        return all(self._known.get(key, -1) == revision for key, revision in conditions.items())

    def _adopt(self, head: Head, known: Mapping[str, int]) -> None:
        """Take over what etcd says about the keys of conditions."""
        if self._head is None or self._head.mod != head.mod or len(self._known) > READS_MAX:
            self._known = {}
        self._head = head
        self._known.update(known)

    def _remember(self, done: Head, writes: Writes) -> None:
        """A transaction of our own happened: nothing else did between the heads before and after it."""
        self._newest = max(self._newest, done.revision)
        self._head = done if not done.parts else None
        for key in self._known:
            if key in writes.puts:
                self._known[key] = done.revision
        for key in writes.deletes:
            if key in self._known:
                self._known[key] = ABSENT

    async def _commit(self, head: Head, writes: Writes) -> Head | None:
        """Make the transaction that follows ``head``; the new head, or None when another one came first."""
        self._transactions += 1
        new = Head(0, head.revision + 1, f"{self._name}-{self._transactions}", head.revision)
        if writes.fits:
            operations = self._operations(new.revision, writes)
        else:
            new = await self._write_parts(new, writes)
            operations = []
        failures = self._members.failures
        try:
            answer = await self._guarded(head, [_put(self._layout.head, new.encode()), *operations])
        except StoreError as error:
            if self._members.failures == failures:
                raise
            raise UnknownOutcomeError(str(error)) from None
        if answer.succeeded:
            done: Head | None = new._replace(mod=answer.header.revision)
        elif self._members.failures == failures:
            return None
        else:
            done = await self._own(self._decode_head(answer.responses[0].response_range), new)
        if done is not None and done.parts:
            try:
                await self._finish(done)
            except StoreError:  # it has happened all the same; the next call tries again
                return done
        return done

    async def _guarded(self, head: Head, success: Sequence[Any]) -> Any:
        """A transaction of etcd's that happens if the head is still ``head``, else tells the present one."""
        key = self._layout.head
        unchanged = rpc.Compare(
            result=rpc.Compare.EQUAL, target=rpc.Compare.MOD, key=key, mod_revision=head.mod
        )
        request = rpc.TxnRequest(compare=[unchanged], success=success, failure=[_get(key)])
        return await self._members.call(lambda member: member.kv.Txn, request)

    async def _own(self, present: Head, new: Head) -> Head | None:
        """The head that a repeated call wrote at its first try, if it did; ``present`` is not before it."""
        while present.revision > new.revision:
            request = rpc.RangeRequest(key=self._layout.head, revision=present.mod - 1)
            try:
                found = await self._members.call(lambda member: member.kv.Range, request)
            except StoreError as error:
                raise UnknownOutcomeError(str(error)) from None
            present = self._decode_head(found)
        return present if present.writer == new.writer else None

    def _operations(self, revision: int, writes: Writes) -> list[Any]:
        entry = self._layout.entry
        operations = [_put(entry(key), encode_entry(revision, value)) for key, value in writes.puts.items()]
        operations += [_delete(entry(key)) for key in writes.deletes]
        return operations

    # --- transactions that are too large for one of etcd's ---------------------------------------------

    async def _write_parts(self, new: Head, writes: Writes) -> Head:
        """Write what the transaction will do to keys of its own; the head that makes it count.

        :class:`StoreError` for a record that :meth:`_finish` could not write: nobody could go on after it.
        """
        if writes.largest > BYTES_MAX:
            raise StoreError(f"etcd takes no record of {writes.largest} bytes, {BYTES_MAX} at most")
        count = 0
        where = self._layout.parts_of(new)
        for part in writes.split(writes.operations, BYTES_MAX):
            request = rpc.PutRequest(key=where + b"%08x" % count, value=part.encode())
            await self._members.call(lambda member: member.kv.Put, request)
            count += 1
        return new._replace(parts=count)

    async def _finish(self, head: Head) -> bool:
        """Write the entries of the last transaction from its parts; others may do the same meanwhile.

        Each piece compares the head: whoever is late changes nothing. False when there are no parts: either
        somebody else has finished, or they are lost.
        """
        where = self._layout.parts_of(head)
        request = rpc.RangeRequest(key=where, range_end=after(where))
        found = await self._members.call(lambda member: member.kv.Range, request)
        if len(found.kvs) != head.parts:
            return False
        writes = merged([Writes.decode(kv.value) for kv in found.kvs])
        pieces = list(writes.split(OPS_MAX, BYTES_MAX // 2))
        for start in range(0, len(pieces), AT_ONCE):
            answers = await asyncio.gather(
                *(
                    self._guarded(head, self._operations(head.revision, piece))
                    for piece in pieces[start : start + AT_ONCE]
                )
            )
            if not all(answer.succeeded for answer in answers):
                return True
        remains = _delete(self._layout.parts, self._layout.parts_from(head.base + 1))
        done = _put(self._layout.head, head._replace(parts=0).encode())
        await self._guarded(head, [done, remains])
        return True

    # --- reading ---------------------------------------------------------------------------------------

    async def _look(self, operations: Sequence[Any]) -> tuple[Head, list[Any]]:
        """The head, and what ranges find at the same moment, all entries written."""
        request = rpc.TxnRequest(success=[_get(self._layout.head), *operations])
        lost: Head | None = None
        newest = self._newest
        while True:
            answer = await self._members.call(lambda member: member.kv.Txn, request)
            found = [response.response_range for response in answer.responses]
            for each in found:
                each.header.revision = answer.header.revision
            head = self._decode_head(found[0])
            if 0 < head.revision < newest:  # with nothing at all it is another cluster's, or nobody's
                raise OlderStoreError(
                    f"{self._members}: the metadata is at revision {head.revision}, and was at {newest}"
                    " before: an older copy is in its place"
                )
            self._newest = max(self._newest, head.revision)
            if not head.parts:
                return head, found[1:]
            if head == lost:
                raise StoreError(f"{self._members}: parts of revision {head.revision} are missing")
            if not await self._finish(head):
                lost = head

    async def _learn(self, keys: Sequence[str]) -> tuple[Head, dict[str, int]]:
        """The head and the revisions of ``keys`` at that head."""
        while True:
            known: dict[str, int] = {}
            head, _ = await self._look([])
            for start in range(0, len(keys), READS_MAX):
                some = keys[start : start + READS_MAX]
                present, found = await self._look([_get(self._layout.entry(key)) for key in some])
                if start == 0:
                    head = present
                if present.mod != head.mod:
                    break
                for key, each in zip(some, found, strict=True):
                    known[key] = decode_entry(key, each.kvs[0].value).revision if each.kvs else ABSENT
            if len(known) == len(set(keys)):
                return head, known

    def _decode_head(self, found: Any) -> Head:
        return Head.decode(found.kvs[0].value, found.kvs[0].mod_revision) if found.kvs else NO_HEAD


def _get(key: bytes, end: bytes = b"", limit: int = 0) -> Any:
    return rpc.RequestOp(request_range=rpc.RangeRequest(key=key, range_end=end, limit=limit))


def _put(key: bytes, value: bytes) -> Any:
    return rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value))


def _delete(key: bytes, end: bytes = b"") -> Any:
    return rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=key, range_end=end))
