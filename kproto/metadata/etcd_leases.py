"""Leases in etcd: a key with the holder's name that goes with a lease of etcd's. They only detect death."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from aetcd import rpc

from kproto.metadata.etcd_layout import Layout
from kproto.metadata.etcd_members import Members, RefusedError


class EtcdLeases:
    """See :meth:`~kproto.metadata.store.MetadataStore.lease`."""

    __slots__ = ("_held", "_layout", "_members")

    def __init__(self, members: Members, layout: Layout) -> None:
        self._members = members
        self._layout = layout
        self._held: dict[tuple[str, str], int] = {}
        """etcd's ids of the leases that are ours, by name and holder."""

    async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
        """Take or renew a lease; gives up after its time to live, since nothing is certain any more then."""
        patience = ttl_ms / 1000
        held = self._held.get((name, holder))
        if held is None:
            kv, renewed = await self._entry(name, patience), False
        else:  # at once: etcd may be far away
            kv, renewed = await asyncio.gather(self._entry(name, patience), self._renew(held, patience))
        if kv is not None and kv.value.decode() != holder:
            self._held.pop((name, holder), None)
            return False
        if renewed and kv is not None and kv.lease == held:
            return True
        return await self._take(name, holder, kv.mod_revision if kv is not None else 0, patience)

    async def holder(self, name: str) -> str | None:
        """Who has it; None when nobody has."""
        kv = await self._entry(name, None)
        return kv.value.decode() if kv is not None else None

    async def release(self, name: str, holder: str) -> None:
        """Give it back; nothing happens when ``holder`` does not have it."""
        self._held.pop((name, holder), None)
        kv = await self._entry(name, None)
        if kv is None or kv.value.decode() != holder:
            return
        gone = rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=kv.key))
        if (await self._if_unchanged(kv.key, kv.mod_revision, gone, None)).succeeded:
            await self._revoke(kv.lease)

    async def _entry(self, name: str, patience: float | None) -> Any:
        request = rpc.RangeRequest(key=self._layout.lease(name))
        found = await self._members.call(lambda member: member.kv.Range, request, **self._limits(patience))
        return found.kvs[0] if found.kvs else None

    async def _renew(self, lease: int, patience: float) -> bool:
        """False when etcd has it no more."""
        request = rpc.LeaseKeepAliveRequest(ID=lease)
        answer = await self._members.call(lambda member: member.keep_alive, request, **self._limits(patience))
        return bool(answer.TTL > 0)

    async def _take(self, name: str, holder: str, mod: int, patience: float) -> bool:
        """Put our name into the key that was last written by ``mod``, under a new lease of etcd's."""
        lease = secrets.randbits(62) + 1
        request = rpc.LeaseGrantRequest(TTL=max(1, -int(-patience // 1)), ID=lease)
        try:
            await self._members.call(
                lambda member: member.lease.LeaseGrant, request, **self._limits(patience)
            )
        except RefusedError as error:
            if "already exists" not in str(error):
                raise
        key = self._layout.lease(name)
        put = rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=holder.encode(), lease=lease))
        answer = await self._if_unchanged(key, mod, put, patience)
        found = answer.responses[0].response_range.kvs if not answer.succeeded else ()
        if answer.succeeded or (found and found[0].lease == lease):
            self._held[name, holder] = lease
            return True
        await self._revoke(lease)
        return False

    async def _if_unchanged(self, key: bytes, mod: int, operation: Any, patience: float | None) -> Any:
        unchanged = rpc.Compare(result=rpc.Compare.EQUAL, target=rpc.Compare.MOD, key=key, mod_revision=mod)
        look = rpc.RequestOp(request_range=rpc.RangeRequest(key=key))
        request = rpc.TxnRequest(compare=[unchanged], success=[operation], failure=[look])
        return await self._members.call(lambda member: member.kv.Txn, request, **self._limits(patience))

    async def _revoke(self, lease: int) -> None:
        try:
            await self._members.call(
                lambda member: member.lease.LeaseRevoke, rpc.LeaseRevokeRequest(ID=lease)
            )
        except RefusedError:  # expired meanwhile
            return

    def _limits(self, patience: float | None) -> dict[str, float]:
        """One member of several gets a third of the time, so that there is time for another one."""
        if patience is None:
            return {}
        return {"patience": patience, "attempt": patience / min(len(self._members), 3)}
