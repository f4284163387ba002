"""A controller reduced to what brokers hear of it, over real sockets: a store, a listener, no decisions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import BrokerRecord, MetadataStore
from kproto.metadata.client import MetadataClient
from kproto.metadata.exchange import (
    Update,
    decode_broker,
    encode_broker,
    encode_refusal,
    encode_update,
    field_of,
)
from kproto.metadata.memory import MemoryStore
from kproto.metadata.records import CLUSTER_KEY, FORMAT, FORMAT_KEY
from kproto.metadata.store import Change
from kproto.net.internal import Caller, InternalListener
from kproto.net.peers import Peers
from kproto.net.ports import Buffer
from kproto.wire.internal import Api, InternalError, decode_json, decode_mixed, encode_json, encode_mixed

Outcome = tuple[int, Sequence[Buffer]]
SECRET = "office"
CONTROLLER = 1


class Office:
    """``acting`` False: answers NOT_CONTROLLER. ``epochs`` says who is a member; ``asked`` what was asked."""

    def __init__(self, store: MetadataStore | None = None, port: int = 0) -> None:
        self.store = store or MemoryStore()
        self.acting = True
        self.store_away: Counter[Api] = Counter()
        """So many of these requests are refused."""
        self.epochs: dict[int, int] = {}
        self.asked: list[Api] = []
        self.lost_answers = 0
        self.overlapping = False
        """Tell changes again that were told before."""
        self.held_changes: asyncio.Event | None = None
        self.hanging = False
        """No request that comes from now on is answered, and no connection ends."""
        self._changed = asyncio.Event()
        self._log: list[Change] = []
        self.listener = InternalListener(SECRET)
        for api, handler in (
            (Api.REGISTER, self._register),
            (Api.HEARTBEAT, self._heartbeat),
            (Api.CHANGES, self._changes),
            (Api.PROPOSE, self._propose),
            (Api.FORWARD, self._forward),
        ):
            self.listener.serve_async(api, self._guarded(api, handler))
        self.port = self.listener.bind("127.0.0.1", port)
        self.listener.accept()

    async def put(self, puts: dict[str, bytes], deletes: Sequence[str] = ()) -> int:
        done = await self.store.transact([], puts, deletes)
        self._log.append(Change(done.revision, puts, tuple(deletes)))
        self._changed.set()
        self._changed = asyncio.Event()
        return done.revision

    async def found(self) -> None:
        """Make the store that of a cluster."""
        await self.put({FORMAT_KEY: FORMAT, CLUSTER_KEY: b"the-cluster"})

    def forget_changes(self) -> None:
        self._log.clear()

    def close(self) -> None:
        self.listener.close()

    def _guarded(self, api: Api, handler):
        async def guarded(caller: Caller, body: memoryview) -> Outcome:
            self.asked.append(api)
            if self.hanging:
                await asyncio.Event().wait()
            if not self.acting:
                return InternalError.NOT_CONTROLLER, ()
            if api is not Api.REGISTER and self.epochs.get(caller.node_id) != caller.epoch:
                return InternalError.FENCED, ()
            try:
                if self.store_away[api]:
                    self.store_away[api] -= 1
                    raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the store is away")
                outcome = await handler(caller, body)
            except KafkaError as error:
                return InternalError.REFUSED, (encode_refusal(error),)
            if self.lost_answers and api is not Api.HEARTBEAT and api is not Api.CHANGES:
                self.lost_answers -= 1
                return InternalError.NOT_CONTROLLER, ()
            return outcome

        return guarded

    async def _register(self, caller: Caller, body: memoryview) -> Outcome:
        broker, cluster_id, _ = decode_broker(body)
        if cluster_id not in ("", "the-cluster"):
            raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, "another cluster")
        assert (caller.node_id, broker.epoch) == (broker.node_id, 0)
        epoch = self.epochs[broker.node_id] = max(self.epochs.values(), default=0) + 1
        broker = broker._replace(epoch=epoch)
        revision = await self.put({broker.key: broker.encode()})
        return InternalError.NONE, (encode_broker(broker, "the-cluster", revision),)

    async def _heartbeat(self, caller: Caller, body: memoryview) -> Outcome:
        field_of(decode_json(body), "revision")
        newest, _ = await self.store.range("")
        return InternalError.NONE, (encode_json({"revision": newest}),)

    async def _changes(self, caller: Caller, body: memoryview) -> Outcome:
        if self.held_changes is not None:
            await self.held_changes.wait()
            if self.epochs.get(caller.node_id) != caller.epoch:
                return InternalError.FENCED, ()
        fields = decode_json(body)
        seen = field_of(fields, "revision")
        newest, entries = await self.store.range("")
        if seen == newest:
            try:
                await asyncio.wait_for(self._changed.wait(), field_of(fields, "wait_ms") / 1000)
            except TimeoutError:
                pass
            newest, entries = await self.store.range("")
        kept = [change for change in self._log if change.revision > seen]
        if seen < newest and (not kept or kept[0].revision != seen + 1):
            return InternalError.NONE, encode_update(Update(CONTROLLER, newest, (), entries))
        return InternalError.NONE, encode_update(
            Update(CONTROLLER, newest, self._log if self.overlapping else kept)
        )

    async def _propose(self, caller: Caller, body: memoryview) -> Outcome:
        fields = decode_json(body)
        kind, args = field_of(fields, "kind"), field_of(fields, "args")
        if kind == "refuse":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "never")
        revision = await self.put({"configs/default": encode_json({"kind": kind})})
        return InternalError.NONE, (encode_json({"revision": revision, "value": [kind, args]}),)

    async def _forward(self, caller: Caller, body: memoryview) -> Outcome:
        head, frame = decode_mixed(body)
        revision = await self.put({"configs/default": b"{}"})
        answer = f"{field_of(head, 'peer')} said ".encode() + bytes(frame)
        return InternalError.NONE, encode_mixed({"revision": revision}, answer)


def broker(node_id: int, epoch: int = 0) -> BrokerRecord:
    return BrokerRecord(node_id, epoch, f"host-{node_id}", 9092, None, "127.0.0.1", 10092, f"store-{node_id}")


class Member:
    """A broker's client of the metadata at one or more addresses, tried in turn."""

    def __init__(
        self, ports: Sequence[int], node_id: int = 7, session_ms: int = 500, cluster_id: str = ""
    ) -> None:
        addresses = {-place - 1: ("127.0.0.1", port) for place, port in enumerate(ports)}
        self.peers = Peers(node_id, SECRET, addresses.get, lambda: self.client.epoch)
        self.client = MetadataClient(self.peers, lambda: list(addresses), session_ms, cluster_id=cluster_id)
        self.node_id = node_id
        self.fenced: list[str] = []
        self.client.on_fenced = self.fenced.append

    async def join(self) -> BrokerRecord:
        registered = await self.client.register(broker(self.node_id, epoch=99))
        self.client.start()
        return registered

    async def close(self) -> None:
        await self.client.close()
        self.peers.close()


@asynccontextmanager
async def joined(session_ms: int = 500) -> AsyncIterator[tuple[Office, Member]]:
    """The office of a new cluster, and a broker that follows it."""
    office = Office()
    await office.found()
    member = Member([office.port], session_ms=session_ms)
    await member.join()
    try:
        yield office, member
    finally:
        await member.close()
        office.close()
