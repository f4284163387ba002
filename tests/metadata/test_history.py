"""Which metadata is a continuation of what a broker saw: older copies, other ways on from them, damage."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.clock import SystemClock
from kproto.config import load
from kproto.controller import Controller
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import Entry
from kproto.metadata.exchange import encode_broker, told_seen
from kproto.metadata.history import NOTHING, TERMS_KEPT, OlderStoreError, Seen, Terms, new_mark, term_key
from kproto.metadata.memory import MemoryStore
from kproto.metadata.opening import open_store
from kproto.metadata.records import BrokerRecord
from kproto.wire import WireError
from kproto.wire.internal import encode_json

BROKER = BrokerRecord(1, 0, "h", 1, None)


class Copy(NamedTuple):
    """A store: its terms, and every write that it has, which no other copy has if it was made there."""

    terms: tuple[Entry, ...] = ()
    writes: tuple[int, ...] = ()

    def written(self, name: int) -> Copy:
        return self._replace(writes=(*self.writes, name))

    def begun(self, mark: bytes, name: int) -> Copy:
        term = Entry(term_key(len(self.terms) + 1), mark, len(self.writes) + 1)
        return Copy((*self.terms, term), (*self.writes, name))

    def seen(self) -> Seen:
        return Seen(self.terms[-1].value.decode(), len(self.writes))


@given(
    st.lists(st.one_of(st.just("write"), st.just("term"), st.just("copy"), st.integers(0, 5)), max_size=40)
)
def test_a_store_has_what_was_seen_exactly_if_it_has_that_very_write(steps: list[str | int]) -> None:
    """Copies are put back at any time, and each goes on with a term of its own, as controllers do."""
    store = Copy().begun(new_mark(), 0)
    copies, sights = [store], [(store.seen(), 0)]
    for name, step in enumerate(steps, start=1):
        if step == "write":
            store = store.written(name)
        elif step == "term":
            store = store.begun(new_mark(), name)
        elif step == "copy":
            copies.append(store)
            continue
        else:
            store = copies[int(step) % len(copies)]
            for seen, last in sights:  # as it is when it comes back, before anybody goes on
                assert Terms(store.terms).lack(seen, len(store.writes)) == (last not in store.writes)
            store = store.begun(new_mark(), name)
        sights.append((store.seen(), store.writes[-1]))
        for seen, last in sights:
            assert Terms(store.terms).lack(seen, len(store.writes)) == (last not in store.writes)


def test_who_has_seen_nothing_takes_any_metadata() -> None:
    assert not Terms(()).lack(NOTHING, 0)
    assert not Terms(()).lack(Seen("", 7), 5), "metadata of a version without terms"
    assert Terms(()).lack(Seen("a", 1), 5)


def test_terms_that_are_not_kept_any_more_were_of_this_history_if_they_are_old_enough() -> None:
    terms = Terms(Entry(term_key(at), b"%d" % at, at * 10) for at in range(50, 50 + TERMS_KEPT))
    assert not terms.lack(Seen("gone", 499), 10**6)
    assert terms.lack(Seen("other", 500), 10**6)
    assert terms.too_many() == (term_key(50),)
    few = Terms(Entry(term_key(at), b"%d" % at, at * 10) for at in range(50, 49 + TERMS_KEPT))
    assert few.lack(Seen("gone", 499), 10**6)
    assert few.too_many() == ()


@pytest.mark.parametrize("told", [5, [], ["a"], ["a", "b"], [1, 2], ["a", 1, 2], {"a": 1}, None])
def test_a_registration_that_tells_no_revision_is_unreadable(told: object) -> None:
    with pytest.raises(WireError):
        told_seen(encode_json({"seen": told}))


def test_a_registration_tells_what_was_seen() -> None:
    assert told_seen(encode_broker(BROKER, "c", seen=Seen("a", 7))) == Seen("a", 7)
    assert told_seen(encode_broker(BROKER, "c")) == NOTHING


def test_each_term_has_a_mark_of_its_own_in_the_image() -> None:
    async def body() -> None:
        store = MemoryStore()
        marks = set()
        for _ in range(3):
            controller = Controller(store, load(), 1)
            image = await controller.start()
            assert image.term == newest_mark(await store.range("terms/"))
            marks.add(image.term)
            await controller.allocate_producer_ids()
            assert controller.image.term == image.term
        assert len(marks) == 3

    asyncio.run(body())


def newest_mark(found: tuple[int, list[Entry]]) -> str:
    return found[1][-1].value.decode()


def test_only_so_many_terms_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kproto.metadata.history.TERMS_KEPT", 3)

    async def body() -> None:
        store = MemoryStore()
        for _ in range(7):
            await Controller(store, load(), 1).start()
        _, kept = await store.range("terms/")
        assert [entry.key for entry in kept] == [term_key(epoch) for epoch in (5, 6, 7)]

    asyncio.run(body())


def test_a_controller_does_not_begin_on_metadata_without_what_its_broker_saw() -> None:
    async def body() -> None:
        store = MemoryStore()
        controller = Controller(store, load(), 1)
        image = await controller.start()
        later = Seen(image.term, image.revision + 1)
        with pytest.raises(OlderStoreError, match=f"without revision {later.revision}"):
            await Controller(store, load(), 1).start(image.cluster_id, later)
        await Controller(store, load(), 1).start("another", later)  # which is said elsewhere
        await Controller(store, load(), 1).start(image.cluster_id, Seen(image.term, image.revision))
        with pytest.raises(OlderStoreError):
            await Controller(store, load(), 1).start(image.cluster_id, later)  # it went on without that

    asyncio.run(body())


def test_a_controller_that_was_replaced_refuses_nobody_for_what_it_does_not_know() -> None:
    """It may have been stopped while others went on: who knows more must not take its word for it."""

    async def body() -> None:
        store = MemoryStore()
        before = Controller(store, load(), 1)
        image = await before.start()
        await before.check_history(Seen(image.term, image.revision))
        with pytest.raises(KafkaError) as refused:
            await before.check_history(Seen(image.term, image.revision + 1))
        assert refused.value.code is ErrorCode.INCONSISTENT_CLUSTER_ID
        after = await Controller(store, load(), 2).start()
        with pytest.raises(KafkaError) as replaced:
            await before.check_history(Seen(after.term, after.revision))
        assert replaced.value.code is ErrorCode.NOT_CONTROLLER

    asyncio.run(body())


def test_a_store_is_not_opened_without_what_was_seen(tmp_path: Path) -> None:
    async def body() -> None:
        where = ("sqlite", str(tmp_path), SystemClock())
        store = await open_store(*where)
        image = await Controller(store, load(), 1).start()
        await store.close()
        for seen in (NOTHING, Seen(image.term, image.revision)):
            await (await open_store(*where, image.cluster_id, seen)).close()
        for seen in (Seen(image.term, image.revision + 1), Seen("another", 1)):
            with pytest.raises(OlderStoreError):
                await open_store(*where, image.cluster_id, seen)
            await (await open_store(*where, "another", seen)).close()  # which is said elsewhere

    asyncio.run(body())
