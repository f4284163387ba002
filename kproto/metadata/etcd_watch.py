"""Changes in etcd, one per transaction of kproto's, in the order of their revisions and without gaps.

A watch goes on at another member when the one it is at fails or loses the majority, from the revision of
etcd's that it has seen last. Where a revision of kproto's begins in etcd is found by looking at old versions
of the head; what etcd has compacted is gone, and so is, as with the other stores, what lies further back than
:data:`~kproto.metadata.store.HISTORY_CHANGES`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any, Final

import grpc
from aetcd import rpc

from kproto.metadata.etcd_layout import NO_HEAD, Head, Layout, Writes, after, decode_entry, merged
from kproto.metadata.etcd_members import PAUSE_S, Members
from kproto.metadata.store import HISTORY_CHANGES, Change, CompactedError, StoreError

_PUT: Final = 0
"""etcd's number of that kind of event."""
_HAS_LEADER: Final = (("hasleader", "true"),)
"""Have a member without a majority end the watch, rather than be silent."""


async def watch_changes(members: Members, layout: Layout, after_revision: int) -> AsyncIterator[Change]:
    """See :meth:`~kproto.metadata.store.MetadataStore.watch`."""
    seen = after_revision
    while True:
        start = await _start(members, layout, seen)
        member = members.current
        stream = member.watch.Watch(metadata=_HAS_LEADER)
        try:
            await stream.write(_create(layout, start))
            while (response := await stream.read()) is not grpc.aio.EOF:
                if response.compact_revision:
                    raise CompactedError(f"{members}: changes up to {response.compact_revision} are gone")
                if response.canceled:
                    break
                for change in await _changes(members, layout, start, response.events):
                    if change.revision <= seen:
                        continue
                    if change.revision != seen + 1:
                        raise StoreError(f"{members}: revision {change.revision} came after {seen}")
                    seen = change.revision
                    yield change
        except grpc.aio.AioRpcError as error:
            members.refuse(error)
        except asyncio.InvalidStateError:  # the stream ended before it was written to
            pass
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not members.closed or (task is not None and task.cancelling()):
                raise
        finally:
            stream.cancel()
        members.leave(member)
        await asyncio.sleep(PAUSE_S)


def _create(layout: Layout, start: int) -> Any:
    """Watch from the revision before ``start``: of a revision that was compacted etcd forgets deletes."""
    return rpc.WatchRequest(
        create_request=rpc.WatchCreateRequest(
            key=layout.root, range_end=after(layout.root), start_revision=start - 1
        )
    )


async def _changes(members: Members, layout: Layout, start: int, events: Sequence[Any]) -> list[Change]:
    """Those of kproto's among ``events``, from etcd's revision ``start`` on."""
    transactions = groupby(events, lambda event: event.kv.mod_revision)
    found = [await _change(members, layout, mod, list(some)) for mod, some in transactions if mod >= start]
    return [change for change in found if change is not None]


async def _change(members: Members, layout: Layout, mod: int, events: Sequence[Any]) -> Change | None:
    """What one transaction of etcd's was for kproto; None when it was none of kproto's."""
    head = next((event for event in events if event.kv.key == layout.head), None)
    if head is None:
        return None
    if head.type != _PUT:
        raise StoreError(f"{members}: the metadata below {layout.root.decode()} was deleted")
    new = Head.decode(head.kv.value, mod)
    if new.parts:
        writes = await _parts(members, layout, new)
        return Change(new.revision, writes.puts, tuple(writes.deletes))
    puts: dict[str, bytes] = {}
    deletes: list[str] = []
    for event in events:
        if event.kv.key.startswith(layout.entries):
            key = layout.key_of(event.kv.key)
            if event.type == _PUT:
                puts[key] = decode_entry(key, event.kv.value).value
            else:
                deletes.append(key)
    return Change(new.revision, puts, tuple(deletes))


async def _parts(members: Members, layout: Layout, head: Head) -> Writes:
    """All of a large transaction, as its parts were when the head made them count."""
    where = layout.parts_of(head)
    request = rpc.RangeRequest(key=where, range_end=after(where), revision=head.mod)
    found = await members.call(lambda member: member.kv.Range, request)
    return merged([Writes.decode(kv.value) for kv in found.kvs])


async def _start(members: Members, layout: Layout, after_revision: int) -> int:
    """etcd's revision, more than 1, of the transaction that follows ``after_revision``."""
    head, now = await _head_at(members, layout, 0)
    if head.revision <= after_revision:
        return now + 1
    if head.revision - after_revision > HISTORY_CHANGES:
        kept = head.revision - HISTORY_CHANGES
        raise CompactedError(f"changes up to revision {kept} are no longer kept")
    before, follows = 1, head.mod
    while follows - before > 1:
        middle = (before + follows) // 2
        try:
            head, _ = await _head_at(members, layout, middle)
        except CompactedError:
            before = middle
            continue
        if head.revision <= after_revision:
            before = middle
        else:
            follows = head.mod
    return follows


async def _head_at(members: Members, layout: Layout, revision: int) -> tuple[Head, int]:
    """The head at a revision of etcd's, 0 for the newest, and which revision is the newest."""
    request = rpc.RangeRequest(key=layout.head, revision=revision)
    found = await members.call(lambda member: member.kv.Range, request)
    head = Head.decode(found.kvs[0].value, found.kvs[0].mod_revision) if found.kvs else NO_HEAD
    return head, found.header.revision
