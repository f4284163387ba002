"""What every MetadataStore promises, shown for memory, SQLite and etcd by the same tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.clock import ManualClock
from kproto.config.store_url import EtcdUrl
from kproto.metadata import ABSENT, Change, CompactedError, Condition, Entry, StoreError
from kproto.metadata import etcd_leases as leases
from kproto.metadata.etcd import EtcdStore
from kproto.metadata.etcd_members import Member
from kproto.metadata.sqlite import SqliteStore
from kproto.metadata.store import HISTORY_CHANGES

from .etcd_process import shared_etcd
from .stores import BACKENDS, opened, run

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

keys = st.sampled_from(["a", "a/1", "a/2", "b/1", "ä/'\"\\", "b/%_", "z\U0010ffff"])
values = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")).map(str.encode)
transactions = st.lists(
    st.tuples(
        st.lists(st.tuples(keys, st.integers(0, 6)), max_size=2),
        st.dictionaries(keys, values, max_size=3),
        st.lists(keys, max_size=2),
    ),
    max_size=8,
)


class Model:
    """The store as a dictionary; the history as the list of changes."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.changes: list[Change] = []

    @property
    def revision(self) -> int:
        return len(self.changes)

    def transact(self, conditions: list[Condition], puts: dict[str, bytes], deletes: list[str]) -> bool:
        for key, revision in conditions:
            if (self.entries[key].revision if key in self.entries else ABSENT) != revision:
                return False
        gone = sorted({key for key in deletes if key in self.entries and key not in puts})
        if puts or gone:
            revision = self.revision + 1
            for key in gone:
                del self.entries[key]
            self.entries.update((key, Entry(key, value, revision)) for key, value in puts.items())
            self.changes.append(Change(revision, puts, tuple(gone)))
        return True


@settings(max_examples=60, deadline=None)
@given(steps=transactions)
def test_transactions_ranges_and_watches_agree_with_a_model(
    backend: str, steps: list[tuple[list[tuple[str, int]], dict[str, bytes], list[str]]]
) -> None:
    async def body() -> None:
        model = Model()
        async with opened(backend) as store:
            for raw, puts, deletes in steps:
                conditions = list({key: Condition(key, revision) for key, revision in raw}.values())
                done = await store.transact(conditions, puts, deletes)
                assert done.succeeded == model.transact(conditions, puts, deletes)
                assert done.revision == model.revision
            for prefix in ("", "a", "a/", "b/", "ä", "z", "none"):
                wanted = [model.entries[key] for key in sorted(model.entries) if key.startswith(prefix)]
                assert await store.range(prefix) == (model.revision, wanted)
            for key in ("a", "a/1", "none"):
                assert await store.get(key) == model.entries.get(key)
            for start in range(model.revision + 1):
                watch = store.watch(start)
                seen = [await anext(watch) for _ in range(model.revision - start)]
                assert [(c.revision, c.puts, tuple(sorted(c.deletes))) for c in seen] == model.changes[start:]

    run(body)


def test_a_condition_compares_the_revision_of_the_last_write(backend: str) -> None:
    async def body() -> None:
        async with opened(backend) as store:
            first = await store.transact([Condition("k", ABSENT)], {"k": b"1"})
            assert first == (True, 1)
            assert await store.transact([Condition("k", ABSENT)], {"k": b"2"}) == (False, 1)
            assert await store.transact([Condition("k", 1)], {"k": b"3", "other": b"x"}) == (True, 2)
            assert await store.transact([Condition("k", 1)], {}, ["k"]) == (False, 2)
            assert await store.get("k") == Entry("k", b"3", 2)

    run(body)


def test_only_one_of_many_rivals_wins(backend: str) -> None:
    """Fifty compare-and-set increments at once, each retried until it wins: none is lost."""

    async def increment(store) -> None:  # type: ignore[no-untyped-def]
        while True:
            entry = await store.get("n")
            number, revision = (int(entry.value), entry.revision) if entry else (0, ABSENT)
            if (await store.transact([Condition("n", revision)], {"n": b"%d" % (number + 1)})).succeeded:
                return

    async def body() -> None:
        async with opened(backend) as store:
            await asyncio.gather(*(increment(store) for _ in range(50)))
            entry = await store.get("n")
            assert entry == Entry("n", b"50", 50)

    run(body)


def test_a_watch_waits_for_the_next_change_and_can_be_left(backend: str) -> None:
    async def body() -> None:
        async with opened(backend) as store:
            watch = store.watch(0)
            waiting = asyncio.ensure_future(anext(watch))
            abandoned = asyncio.ensure_future(anext(store.watch(0)))
            await asyncio.sleep(0.01)
            assert not waiting.done()
            abandoned.cancel()
            await store.transact([], {"k": b"1"})
            change = await asyncio.wait_for(waiting, 60)
            assert change == Change(1, {"k": b"1"}, ())
            assert abandoned.cancelled()

    run(body)


def test_a_watch_from_too_far_back_says_so(backend: str) -> None:
    async def body() -> None:
        async with opened(backend) as store:
            changes = (store.transact([], {"k": b"%d" % number}) for number in range(HISTORY_CHANGES + 2))
            await asyncio.gather(*changes)
            with pytest.raises(CompactedError):
                await anext(store.watch(1))
            assert (await anext(store.watch(2))).revision == 3

    run(body)


def test_a_lease_belongs_to_one_holder_until_it_expires(backend: str) -> None:
    if backend == "etcd":
        run(etcd_leases)
        return

    async def body() -> None:
        clock, ttl_ms = ManualClock(), 1000
        async with opened(backend, clock) as store:
            assert await store.holder("controller") is None
            assert await store.lease("controller", "one", ttl_ms)
            assert not await store.lease("controller", "two", ttl_ms)
            assert await store.holder("controller") == "one"
            clock.advance(0.7)
            assert await store.lease("controller", "one", ttl_ms)
            clock.advance(0.7)
            assert not await store.lease("controller", "two", ttl_ms)
            assert await store.holder("controller") == "one"
            clock.advance(1.2)
            assert await store.holder("controller") is None
            assert await store.lease("controller", "two", ttl_ms)
            await store.release("controller", "one")
            assert not await store.lease("controller", "one", ttl_ms)
            await store.release("controller", "two")
            assert await store.holder("controller") is None
            assert await store.lease("controller", "one", ttl_ms)
            assert await store.lease("other", "two", ttl_ms)

    run(body)


async def etcd_leases() -> None:
    """etcd has a clock of its own: what it says to a renewal shows that the lease has all its time again."""
    long_ms, short_ms = 120_000, 2000
    renewed: list[int] = []
    keep_alive = Member.keep_alive

    async def noting(member: Member, request: Any, timeout: float) -> Any:
        answer = await keep_alive(member, request, timeout)
        renewed.append(answer.TTL)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Member, "keep_alive", noting)
        patch.setattr(leases.EtcdLeases, "_limits", lambda *_: {"patience": 240.0, "attempt": 60.0})
        async with opened("etcd") as store:
            assert await store.holder("controller") is None
            assert await store.lease("controller", "one", long_ms)
            for _ in range(2):
                assert not await store.lease("controller", "two", long_ms)
                assert await store.holder("controller") == "one"
                assert await store.lease("controller", "one", long_ms)
            assert renewed == [long_ms // 1000] * 2
            await store.release("controller", "two")
            assert not await store.lease("controller", "two", long_ms)
            await store.release("controller", "one")
            assert await store.holder("controller") is None
            assert await store.lease("controller", "two", long_ms)
            assert await store.lease("other", "one", short_ms)
            while await store.holder("other") is not None:
                await asyncio.sleep(0.05)
            assert await store.lease("other", "two", long_ms)
            assert not await store.lease("other", "one", short_ms)
            assert await store.holder("controller") == "two"


def test_reopening(backend: str, tmp_path: Path) -> None:
    """Memory forgets; SQLite keeps entries and revision, and one process at a time has the file."""
    if backend == "etcd":
        run(etcd_keeps)
        return
    if backend == "memory":

        async def forgets() -> None:
            async with opened("memory") as store:
                await store.transact([], {"k": b"1"})
            async with opened("memory") as store:
                assert await store.range("") == (0, [])

        run(forgets)
        return

    async def body() -> None:
        path = tmp_path / "metadata.db"
        store = await SqliteStore.open(path)
        await store.transact([], {"k": b"1", "gone": b"2"})
        await store.transact([], {}, ["gone"])
        with pytest.raises(StoreError, match="another process"):
            await SqliteStore.open(path)
        await store.close()
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.get("k")
        again = await SqliteStore.open(path)
        assert await again.range("") == (2, [Entry("k", b"1", 1)])
        with pytest.raises(CompactedError):
            await anext(again.watch(1))
        await again.close()
        path.write_bytes(b"this is not a database" * 100)
        with pytest.raises(StoreError, match=r"metadata\.db"):
            await SqliteStore.open(path)

    run(body)


async def etcd_keeps() -> None:
    """Another store finds what the one before it wrote, and all changes; closed ones say so."""
    url = EtcdUrl((shared_etcd(),), "tests/reopening")
    store = await EtcdStore.open(url)
    await store.transact([], {"k": b"1", "gone": b"2"})
    await store.transact([], {}, ["gone"])
    waiting = asyncio.ensure_future(anext(store.watch(2)))
    await asyncio.sleep(0.05)
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.get("k")
    with pytest.raises(StoreError, match="closed"):
        await waiting
    again = await EtcdStore.open(url)
    assert await again.range("") == (2, [Entry("k", b"1", 1)])
    assert await anext(again.watch(1)) == Change(2, {}, ("gone",))
    await again.close()


def test_a_failed_commit_changes_nothing(backend: str, tmp_path: Path) -> None:
    """The store refuses a write (the disk is full, say): the transaction fails, revision and data stay."""
    if backend == "etcd":
        run(etcd_refuses)
        return
    if backend == "memory":

        async def refused_condition() -> None:
            async with opened("memory") as store:
                assert await store.transact([Condition("k", 5)], {"k": b"1"}) == (False, 0)
                assert await store.range("") == (0, [])

        run(refused_condition)
        return

    async def body() -> None:
        store = await SqliteStore.open(tmp_path / "metadata.db")
        await store.transact([], {"k": b"1"})
        pages = await store._submit(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
        await store._submit(
            lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        )
        with pytest.raises(StoreError, match="full"):
            await store.transact([], {"big": b"x" * 100_000})
        assert await store.range("") == (1, [Entry("k", b"1", 1)])
        await store._submit(
            lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchone()
        )
        assert await store.transact([], {"big": b"x" * 100_000}) == (True, 2)
        await store.close()

    run(body)


async def etcd_refuses() -> None:
    """etcd takes no value as large as this."""
    async with opened("etcd") as store:
        await store.transact([], {"k": b"1"})
        with pytest.raises(StoreError, match="takes no record"):
            await store.transact([], {"big": b"x" * 1_800_000})
        assert await store.range("") == (1, [Entry("k", b"1", 1)])
        assert await store.transact([], {"big": b"x" * 900_000}) == (True, 2)
