"""What only the etcd backend has: large transactions, members that fail, several clusters in one etcd."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aetcd import rpc
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.clock import SystemClock
from kproto.config.store_url import EtcdUrl
from kproto.local_cluster import free_ports
from kproto.metadata import ABSENT, Change, CompactedError, Condition, Entry, StoreError, opening
from kproto.metadata import etcd as backend
from kproto.metadata.etcd import EtcdStore
from kproto.metadata.etcd_layout import Head, Layout
from kproto.metadata.etcd_leases import EtcdLeases
from kproto.metadata.etcd_members import Members
from kproto.metadata.opening import open_store, wait_for_store
from kproto.metadata.store import UnknownOutcomeError, UnreachableError

from .etcd_process import etcd_cluster, shared_etcd
from .stores import run
from .test_store import Model, transactions

MANY = {f"streamlets/{number:08x}": b'[1,0,[1,2,3],0,["%d"]]' % number for number in range(10_001)}


TTL_MS = 60_000
"""Of leases that are not to end by themselves."""
PATIENT = (240.0, 30.0)
"""Seconds that a call is repeated, and that one member has for it; for a machine on which nothing hangs."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Members.call, "__defaults__", PATIENT)


@asynccontextmanager
async def stores(prefix: str = "", count: int = 2) -> AsyncIterator[list[EtcdStore]]:
    """Several stores of one cluster in the etcd that all tests share."""
    url = EtcdUrl((shared_etcd(),), prefix or f"tests/{secrets.token_hex(8)}")
    opened = [await EtcdStore.open(url) for _ in range(count)]
    try:
        yield opened
    finally:
        for store in opened:
            await store.close()


async def raw(store: EtcdStore, what: bytes) -> list[bytes]:
    """etcd's keys below a part of the layout."""
    request = rpc.RangeRequest(key=what, range_end=what[:-1] + bytes((what[-1] + 1,)), keys_only=True)
    found = await store._members.call(lambda member: member.kv.Range, request)
    return [kv.key for kv in found.kvs]


def test_a_transaction_of_ten_thousand_records_is_one_change() -> None:
    async def body() -> None:
        async with stores() as (one, other):
            await one.transact([], {"a": b"1", "streamlets/gone": b"2"})
            first = other.watch(1)
            puts = {**MANY, "topics/t": b"x"}
            seen: set[int] = set()

            async def look() -> None:
                while True:
                    _, entries = await other.range("streamlets/")
                    seen.add(len(entries))

            looking = asyncio.ensure_future(look())
            await asyncio.sleep(0.05)
            assert await one.transact([Condition("a", 1)], puts, ["streamlets/gone", "none"]) == (True, 2)
            change = await anext(first)
            assert change == Change(2, puts, ("streamlets/gone",))
            looking.cancel()
            assert seen <= {1, len(MANY)}
            assert await other.get("streamlets/00000007") == Entry(
                "streamlets/00000007", MANY["streamlets/00000007"], 2
            )
            assert await other.range("streamlets/") == (2, [Entry(k, v, 2) for k, v in MANY.items()])
            assert await raw(one, one._layout.parts) == []
            assert await one.transact([Condition("topics/t", 2)], {"a": b"2"}) == (True, 3)
            assert await other.transact([Condition("topics/t", 2)], {}, ["none", *MANY]) == (True, 4)
            assert await anext(first) == Change(3, {"a": b"2"}, ())
            assert await anext(first) == Change(4, {}, tuple(MANY))
            assert await one.range("streamlets/") == (4, [])
            assert [(await anext(each)).revision for each in (one.watch(0), one.watch(1), one.watch(3))] == [
                1,
                2,
                4,
            ]

    run(body)


@pytest.mark.parametrize(("records", "size"), [(4000, 1000), (60, 60_000), (3, 900_000)])
def test_a_transaction_of_several_megabytes_is_one_change(records: int, size: int) -> None:
    async def body() -> None:
        async with stores() as (one, other):
            puts = {f"k{number:04}": b"x" * size for number in range(records)}
            assert await one.transact([], puts) == (True, 1)
            assert await other.range("") == (1, [Entry(key, value, 1) for key, value in puts.items()])
            assert await anext(other.watch(0)) == Change(1, puts, ())
            assert await other.transact([], {}, list(puts)) == (True, 2)
            assert await one.range("") == (2, [])

    run(body)


def test_a_record_that_etcd_could_not_take_is_refused_before_anything_is_written() -> None:
    """As a part of a transaction it would fit, but nobody could write the entry of it after that: a put is
    less than etcd's limit by a few bytes, a transaction with it is more."""

    async def body() -> None:
        async with stores() as (one, other):
            await one.transact([], {"a": b"1"})
            for size in (1_000_000, 1_572_864 - 300):
                with pytest.raises(StoreError, match="takes no record of"):
                    await one.transact([], {"a": b"2", "k": b"x" * size})
            assert await raw(one, one._layout.parts) == []
            assert await other.range("") == (1, [Entry("a", b"1", 1)])
            assert await one.transact([Condition("a", 1)], {"k": b"x" * 999_000}) == (True, 2)
            assert await other.transact([Condition("k", 2)], {"a": b"3"}) == (True, 3)

    run(body)


def test_a_large_transaction_with_a_failed_condition_leaves_nothing() -> None:
    async def body() -> None:
        async with stores() as (one, other):
            assert await one.transact([Condition("a", 7)], MANY) == (False, 0)
            assert await one.transact([], {}, list(MANY)) == (True, 0)
            assert await other.range("") == (0, [])
            assert await raw(one, one._layout.root) == []

    run(body)


@pytest.mark.parametrize("next_call", ["get", "range", "transact", "transact again"])
def test_who_comes_after_a_crash_finishes_a_large_transaction(
    next_call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies, or loses etcd, when the head was written and the entries were not."""

    async def body() -> None:
        async with stores() as (one, other):
            await one.transact([], {"a": b"1"})
            watch = other.watch(1)
            with monkeypatch.context() as patch:
                patch.setattr(EtcdStore, "_finish", lambda self, head: _dies(head))
                assert await one.transact([], MANY) == (True, 2)
            assert len(await raw(one, one._layout.entries)) == 1
            if next_call == "get":
                assert (await other.get("streamlets/00002710")) is not None
            elif next_call == "range":
                assert len((await other.range("streamlets/"))[1]) == len(MANY)
            elif next_call == "transact again":
                assert await one.transact([], {"a": b"2"}) == (True, 3)
            else:
                assert await other.transact([Condition("streamlets/00002710", 2)], {"a": b"2"}) == (True, 3)
            assert len(await raw(one, one._layout.entries)) == len(MANY) + 1
            assert await raw(one, one._layout.parts) == []
            assert await anext(watch) == Change(2, MANY, ())
            done = await one.transact([], {"a": b"3"})
            later = [change async for change in _until(watch, done.revision)]
            assert [change.revision for change in later] == list(range(3, done.revision + 1))

    run(body)


async def _until(watch: AsyncIterator[Change], revision: int) -> AsyncIterator[Change]:
    async for change in watch:
        yield change
        if change.revision >= revision:
            return


def test_parts_that_never_counted_are_not_seen_and_go_away() -> None:
    """The process dies before the head was written; the next large transaction takes the remains along."""

    async def body() -> None:
        async with stores() as (one, other):
            await one.transact([], {"a": b"1"})
            request = rpc.PutRequest(key=one._layout.parts_from(1) + b"dead-1/00000000", value=b"{}")
            await one._members.call(lambda member: member.kv.Put, request)
            assert await other.range("") == (1, [Entry("a", b"1", 1)])
            await other.transact([], MANY)
            assert await raw(one, one._layout.parts) == []

    run(body)


def test_two_stores_that_write_at_once_take_turns() -> None:
    """Large and small ones from two processes: every revision once, each watcher the same."""

    async def body() -> None:
        async with stores() as (one, other):

            async def write(store: EtcdStore, name: str) -> list[int]:
                revisions = []
                for number in range(8):
                    puts = {f"{name}/{n}": b"%d" % number for n in range(400 if number % 3 == 1 else 2)}
                    done = await store.transact([], puts)
                    assert done.succeeded
                    revisions.append(done.revision)
                return revisions

            written = await asyncio.gather(write(one, "one"), write(other, "other"))
            assert sorted(written[0] + written[1]) == list(range(1, 17))
            first, second = [[c async for c in _until(store.watch(0), 16)] for store in (one, other)]
            assert first == second
            assert [change.revision for change in first] == list(range(1, 17))
            state: dict[str, Entry] = {}
            for change in first:
                state.update((key, Entry(key, value, change.revision)) for key, value in change.puts.items())
            assert await one.range("") == (16, [state[key] for key in sorted(state)])

    run(body)


def test_who_finishes_late_changes_nothing() -> None:
    """Two finish the same large transaction; the slower one goes on when its entries are already old."""

    async def body() -> None:
        async with stores(count=3) as (one, slow, fast):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(EtcdStore, "_finish", lambda self, head: _dies(head))
                assert await one.transact([], MANY) == (True, 1)
            held = asyncio.Event()
            guarded = EtcdStore._guarded

            async def late(self: EtcdStore, head: Head, operations: Sequence[Any]) -> Any:
                if self is slow:
                    await held.wait()
                return await guarded(self, head, operations)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(EtcdStore, "_guarded", late)
                reading = asyncio.ensure_future(slow.get("streamlets/00000001"))
                await asyncio.sleep(0.2)
                newer = dict.fromkeys(list(MANY)[:5], b"newer")
                assert await fast.transact([], newer, list(MANY)[5:10]) == (True, 2)
                held.set()
                assert await reading == Entry("streamlets/00000001", b"newer", 2)
            left = {**dict(list(MANY.items())[10:]), **newer}
            assert {entry.key: entry.value for entry in (await one.range(""))[1]} == left

    run(body)


async def _dies(head: object) -> bool:
    raise StoreError("the process is gone")


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 1), transactions), max_size=4))
def test_two_stores_agree_with_one_model(steps: list[tuple[int, list[Any]]]) -> None:
    """What a store remembers of its own transactions never hides those of another one."""

    async def body() -> None:
        model = Model()
        async with stores() as both:
            for which, some in steps:
                for raw_conditions, puts, deletes in some:
                    newest = {key: entry.revision for key, entry in model.entries.items()}
                    conditions = [
                        Condition(key, newest.get(key, ABSENT) if number % 2 else number)
                        for key, number in dict(raw_conditions).items()
                    ]
                    done = await both[which].transact(conditions, puts, deletes)
                    assert done.succeeded == model.transact(conditions, puts, deletes)
                    assert done.revision == model.revision
            wanted = [model.entries[key] for key in sorted(model.entries)]
            assert await both[0].range("") == await both[1].range("") == (model.revision, wanted)
            changes = [c async for c in _until(both[1].watch(0), model.revision)] if model.changes else []
            assert [(c.revision, c.puts, tuple(sorted(c.deletes))) for c in changes] == model.changes

    run(body)


def test_what_a_store_knows_ends_with_a_transaction_of_another_one() -> None:
    """Also of keys that it did not look at again since."""

    async def body() -> None:
        async with stores() as (one, other):
            await one.transact([], {"a": b"1", "b": b"1"})
            assert await one.transact([Condition("a", 1), Condition("b", 1)], {"c": b"1"}) == (True, 2)
            assert await other.transact([Condition("a", 1)], {"a": b"2"}) == (True, 3)
            assert await one.transact([Condition("b", 1)], {"c": b"2"}) == (True, 4)
            assert await one.transact([Condition("a", 1)], {"c": b"3"}) == (False, 4)
            assert await other.transact([], {}, ["b"]) == (True, 5)
            assert await one.transact([Condition("b", 1)], {"c": b"4"}) == (False, 5)
            assert await one.transact([Condition("b", ABSENT)], {"c": b"4"}) == (True, 6)

    run(body)


def test_all_pages_of_a_range_are_of_one_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "PAGE", 2)
    call = Members.call

    async def body() -> None:
        async with stores() as (one, other):
            puts = {f"k{number}": b"old" for number in range(7)}
            await one.transact([], puts)
            pages = 0

            async def between(members: Members, method: Any, request: Any, *limits: float) -> Any:
                nonlocal pages
                if members is one._members and isinstance(request, rpc.RangeRequest):
                    pages += 1
                    await other.transact([], {"k3": b"new", f"k9{pages}": b"new"}, ["k5"])
                return await call(members, method, request, *limits)

            monkeypatch.setattr(Members, "call", between)
            assert await one.range("k") == (1, [Entry(key, b"old", 1) for key in puts])
            assert pages == 3

    run(body)


class Cable:
    """Carries bytes between a client and etcd; cut once, it loses an answer or a request and what follows."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._target = (host, int(port))
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self.address = ""
        self.lose_answers = False
        self.lose_requests = False
        self.open = True

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.close()
            return
        there, back = await asyncio.open_connection(*self._target)
        self._writers += [writer, back]
        await asyncio.gather(self._carry(reader, back, False), self._carry(there, writer, True))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answers: bool) -> None:
        try:
            while data := await reader.read(65536):
                if (self.lose_answers if answers else self.lose_requests) and _has_message(data):
                    self.lose_answers = self.lose_requests = self.open = False
                    break
                writer.write(data)
        except ConnectionError:
            pass
        for each in self._writers:
            each.close()

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for each in self._writers:
            each.close()


def _has_message(data: bytes) -> bool:
    """Whether HEADERS or DATA are among these HTTP/2 frames: a connection says other things, too."""
    at, kinds = 0, set()
    while at + 9 <= len(data):
        kinds.add(data[at + 3])
        at += 9 + int.from_bytes(data[at : at + 3], "big")
    return not kinds.isdisjoint((0, 1))


@asynccontextmanager
async def cabled(*more: str) -> AsyncIterator[tuple[Cable, EtcdStore, EtcdStore]]:
    """A cable, a store that goes through it (and ``more`` addresses) and one that does not."""
    cable = Cable(shared_etcd())
    await cable.start()
    prefix = f"tests/{secrets.token_hex(8)}"
    far = await EtcdStore.open(EtcdUrl((cable.address, *more), prefix))
    near = await EtcdStore.open(EtcdUrl((shared_etcd(),), prefix))
    try:
        yield cable, far, near
    finally:
        await far.close()
        await near.close()
        await cable.stop()


def test_a_transaction_whose_answer_was_lost_happens_once() -> None:
    async def body() -> None:
        async with cabled(shared_etcd()) as (cable, far, near):
            assert await far.transact([], {"n": b"1"}) == (True, 1)
            assert await far.transact([Condition("n", 1)], {"n": b"2"}) == (True, 2)
            cable.lose_answers = True
            assert await far.transact([Condition("n", 2)], {"n": b"3"}) == (True, 3)
            assert not cable.open
            assert await near.range("") == (3, [Entry("n", b"3", 3)])
            assert await far.transact([Condition("n", 3)], {"n": b"4"}) == (True, 4)

    run(body)


def test_a_transaction_whose_answer_was_lost_is_found_behind_later_ones() -> None:
    async def body() -> None:
        async with cabled() as (cable, far, near):
            await far.transact([], {"n": b"1"})
            await far.transact([Condition("n", 1)], {"n": b"2"})
            cable.lose_answers = True
            waiting = asyncio.ensure_future(far.transact([Condition("n", 2)], {"n": b"3"}))
            while cable.open:
                await asyncio.sleep(0.01)
            for number in range(3):
                assert (await near.transact([], {"m": b"%d" % number})).revision == 4 + number
            cable.open = True
            assert await waiting == (True, 3)
            assert await far.transact([Condition("n", 3)], {"n": b"4"}) == (True, 7)

    run(body)


def test_a_transaction_whose_request_was_lost_does_not_take_another_one_for_its_own() -> None:
    async def body() -> None:
        async with cabled() as (cable, far, near):
            await far.transact([], {"n": b"1"})
            await far.transact([Condition("n", 1)], {"n": b"2"})
            cable.lose_requests = True
            waiting = asyncio.ensure_future(far.transact([Condition("n", 2)], {"n": b"3"}))
            while cable.open:
                await asyncio.sleep(0.01)
            assert await near.transact([Condition("n", 2)], {"n": b"other"}) == (True, 3)
            cable.open = True
            assert await waiting == (False, 3)
            assert await far.get("n") == Entry("n", b"other", 3)

    run(body)


def test_an_outcome_that_nobody_can_tell_is_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is lost and etcd is not there any more; afterwards everything is read again."""

    async def body() -> None:
        async with cabled() as (cable, far, near):
            await far.transact([], {"n": b"1"})
            await far.transact([Condition("n", 1)], {"n": b"2"})
            cable.lose_answers = True
            monkeypatch.setattr(Members.call, "__defaults__", (4.0, 2.0))
            with pytest.raises(UnknownOutcomeError, match="no answer within"):
                await far.transact([Condition("n", 2)], {"n": b"3"})
            monkeypatch.setattr(Members.call, "__defaults__", PATIENT)
            cable.open = True
            assert await near.get("n") == Entry("n", b"3", 3)
            assert await far.transact([Condition("n", 2)], {"n": b"4"}) == (False, 3)
            assert await far.transact([Condition("n", 3)], {"n": b"4"}) == (True, 4)

    run(body)


def test_kill_and_restart_lose_and_repeat_nothing(tmp_path: Path) -> None:
    """Increments and a watch run on while etcd is killed and started again, three times."""

    async def body() -> None:
        with etcd_cluster(tmp_path) as (etcd,):
            store = await EtcdStore.open(EtcdUrl((etcd.address,), "kproto"))
            seen: list[Change] = []

            async def watch() -> None:
                async for change in store.watch(0):
                    seen.append(change)

            watching = asyncio.ensure_future(watch())
            done = 0
            stopping = False

            async def increment() -> None:
                nonlocal done
                revision = ABSENT
                while not stopping:
                    result = await store.transact([Condition("n", revision)], {"n": b"%d" % (done + 1)})
                    assert result == (True, done + 1)
                    done, revision = done + 1, result.revision

            working = asyncio.ensure_future(increment())
            for _ in range(3):
                before = done
                await _until_true(lambda before=before: done > before + 20)  # type: ignore[misc]
                etcd.kill()
                await asyncio.sleep(0.2)
                etcd.start()
            before = done
            await _until_true(lambda: done > before + 20)
            stopping = True
            await working
            await _until_true(lambda: len(seen) == done)
            assert seen == [Change(n, {"n": b"%d" % n}, ()) for n in range(1, done + 1)]
            watching.cancel()
            await store.close()

    run(body)


async def _until_true(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_one_of_three_members_may_go(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed or hanging, the one in use and then the leader: transactions, watch and lease go on."""
    monkeypatch.setattr(Members.call, "__defaults__", (240.0, 3.0))

    async def body() -> None:
        with etcd_cluster(tmp_path, 3) as members:
            url = ",".join(member.address for member in members)
            store = await open_store(f"etcd://{url}/prod/a", "", None)  # type: ignore[arg-type]
            watch = store.watch(0)
            revision = 0
            for member in members:
                assert await store.lease("controller", "one", TTL_MS)
                if how == "kill":
                    member.kill()
                else:
                    member.pause()
                for _ in range(5):
                    revision += 1
                    assert await store.transact([], {"n": b"%d" % revision}) == (True, revision)
                assert await store.lease("controller", "one", TTL_MS)
                assert not await store.lease("controller", "two", TTL_MS)
                if how == "kill":
                    member.start()
                    await asyncio.to_thread(member.wait_until_ready)
                else:
                    member.resume()
                for number in range(revision - 4, revision + 1):
                    assert await anext(watch) == Change(number, {"n": b"%d" % number}, ())
            await store.close()

    run(body)


def test_without_a_majority_calls_fail_in_time(tmp_path: Path) -> None:
    async def body() -> None:
        with etcd_cluster(tmp_path, 3) as members:
            store = await EtcdStore.open(EtcdUrl(tuple(member.address for member in members), "kproto"))
            await store.transact([], {"n": b"1"})
            for member in members[1:]:
                member.kill()
            with pytest.raises(StoreError):
                await asyncio.wait_for(store.lease("controller", "one", 1000), 60)
            for member in members[1:]:
                member.start()
            assert await store.get("n") == Entry("n", b"1", 1)
            await store.close()

    run(body)


def test_compacted_history() -> None:
    """A watch from before a compaction says so; one that has missed nothing goes on."""

    async def body() -> None:
        async with stores(count=1) as (store,):
            for number in range(5):
                await store.transact([], {"n": b"%d" % number}, ["m"])
            newest = store.watch(5)
            waiting = asyncio.ensure_future(anext(newest))
            await asyncio.sleep(0.1)
            head = (await store._look([]))[0]
            compaction = rpc.CompactionRequest(revision=head.mod)
            await store._members.call(lambda member: member.kv.Compact, compaction)
            for behind in range(5):
                with pytest.raises(CompactedError):
                    await anext(store.watch(behind))
            late = asyncio.ensure_future(anext(store.watch(5)))
            await store.transact([], {"n": b"6"})
            assert await waiting == await late == Change(6, {"n": b"6"}, ())
            assert await store.range("") == (6, [Entry("n", b"6", 6)])

    run(body)


def test_clusters_in_one_etcd_do_not_see_each_other() -> None:
    """Also when the name of one begins like, or lies below, that of another."""

    async def body() -> None:
        base = f"tests/{secrets.token_hex(8)}"
        names = [base, f"{base}/entries", f"{base}2", f"{base}/head"]
        opened = [await EtcdStore.open(EtcdUrl((shared_etcd(),), name)) for name in names]
        for number, store in enumerate(opened):
            for _ in range(number + 1):
                await store.transact([], {"k": names[number].encode()})
            assert await store.lease("controller", names[number], TTL_MS)
        for number, store in enumerate(opened):
            entry = Entry("k", names[number].encode(), number + 1)
            assert await store.range("") == (number + 1, [entry])
            assert await store.holder("controller") == names[number]
            changes = [change async for change in _until(store.watch(0), number + 1)]
            assert [change.puts for change in changes] == [{"k": names[number].encode()}] * (number + 1)
            await store.close()

    run(body)


def test_what_others_wrote_there_is_refused() -> None:
    async def body() -> None:
        async with stores(count=1) as (store,):
            for key, value in ((store._layout.head, b"[]"), (store._layout.entry("k"), b"mine")):
                await store._members.call(lambda member: member.kv.Put, rpc.PutRequest(key=key, value=value))
                with pytest.raises(StoreError, match="none of kproto's"):
                    await store.get("k")
                await store._members.call(
                    lambda member: member.kv.DeleteRange, rpc.DeleteRangeRequest(key=key)
                )

    run(body)


def test_nobody_there() -> None:
    async def body() -> None:
        members = Members([f"127.0.0.1:{port}" for port in free_ports(2)])
        with pytest.raises(UnreachableError, match="no answer within"):
            await members.call(lambda member: member.kv.Range, rpc.RangeRequest(key=b"k"), 0.5)
        await members.close()
        with pytest.raises(StoreError, match="closed"):
            await members.call(lambda member: member.kv.Range, rpc.RangeRequest(key=b"k"), 0.5)
        with pytest.raises(StoreError, match="must end in /prefix"):
            await open_store("etcd://127.0.0.1:2379", "", None)  # type: ignore[arg-type]

    run(body)


def test_a_broker_that_starts_before_etcd_waits_for_it_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(opening, "TELL_SECONDS", 0.1)
    monkeypatch.setattr(Members.call, "__defaults__", (0.1, 0.1))
    caplog.set_level(logging.INFO, "kproto.metadata.opening")

    def told(level: int) -> list[str]:
        return [record.getMessage() for record in caplog.records if record.levelno == level]

    async def body() -> None:
        with etcd_cluster(tmp_path) as (member,):
            member.kill()
            url = f"etcd://{member.address}/late"
            waiting = asyncio.ensure_future(wait_for_store(url, "", SystemClock()))
            await _until_true(lambda: told(logging.WARNING) and len(told(logging.INFO)) > 2)
            assert told(logging.WARNING) == [f"{url} does not answer: waiting for it"]
            monkeypatch.setattr(Members.call, "__defaults__", PATIENT)
            member.start()
            store = await waiting
            assert await store.transact([], {"a": b"1"}) == (True, 1)
            await store.close()

    run(body)


def test_what_waiting_does_not_mend_is_told_at_once() -> None:
    async def body() -> None:
        with pytest.raises(StoreError, match="must end in /prefix"):
            await wait_for_store("etcd://127.0.0.1:2379", "", SystemClock())

    run(body)


def test_one_of_two_that_want_a_lease_at_once_gets_it() -> None:
    async def body() -> None:
        async with stores() as (one, other):
            for number in range(20):
                name = f"lease-{number}"
                got = await asyncio.gather(one.lease(name, "one", TTL_MS), other.lease(name, "other", TTL_MS))
                assert sorted(got) == [False, True]
                assert await one.holder(name) == ("one" if got[0] else "other")

    run(body)


def test_a_lease_survives_a_restart_of_its_holder_and_of_etcd(tmp_path: Path) -> None:
    async def body() -> None:
        with etcd_cluster(tmp_path) as (etcd,):
            url = EtcdUrl((etcd.address,), "kproto")
            first = await EtcdStore.open(url)
            assert await first.lease("controller", "one", TTL_MS)
            await first.close()
            second = await EtcdStore.open(url)
            assert await second.lease("controller", "one", TTL_MS)
            etcd.kill()
            etcd.start()
            assert await second.lease("controller", "one", TTL_MS)
            assert not await second.lease("controller", "two", TTL_MS)
            await second.release("controller", "one")
            assert await second.lease("controller", "two", TTL_MS)
            await second.close()

    run(body)


@pytest.mark.parametrize(("members", "attempt"), [(1, 3.0), (2, 1.5), (3, 1.0), (5, 1.0)])
def test_a_lease_waits_for_an_only_member_as_long_as_it_can(members: int, attempt: float) -> None:
    """One that answers after more than a second was asked again and again, and nobody could be elected."""

    async def body() -> None:
        known = Members([f"127.0.0.1:{1 + number}" for number in range(members)])
        limits = EtcdLeases(known, Layout("p"))._limits(3.0)
        assert limits == {"patience": 3.0, "attempt": attempt}
        await known.close()

    asyncio.run(body())
