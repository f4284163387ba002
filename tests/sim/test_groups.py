"""That the checks of groups can fail: by themselves, and when a rule of coordinators is taken out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups.group import Group
from kproto.handlers.groups.model import GroupLimits, Now, Snapshot, Store
from kproto.handlers.groups.offsets_log import KeyedLog, Stored
from kproto.handlers.groups.partition_log import PartitionLog
from kproto.handlers.groups.shard import Entry, Shard

from .group_checks import NOTHING, Book, Slot, Terms
from .mutations import Mutation
from .plan import plan_of
from .run import run_seed
from .world import World

TRIED = 20
"""Seeds with groups; at the last look each of these was found by one of the first seven. That terms do not
end (`GroupCoordinator._end_terms`) was found by the sixteenth, which takes too long here."""


def _acked_at_once(
    self: PartitionLog, index: int, batch: bytearray, done: Callable[[int, KafkaError | None], None]
) -> None:
    done(self._partition(index).append(memoryview(batch), owned=True)[0], None)


def _first_stays(self: KeyedLog, offset: int, key: bytes, value: bytes | None) -> None:
    if value is None:
        self.live.pop(key, None)
    else:
        self.live.setdefault(key, Stored(value, offset))


async def _nothing_rewritten(self: KeyedLog, keys: list[bytes], cut: int) -> None:
    for key in keys:
        self.live[key] = self.live[key]._replace(offset=cut)


def _restored_anew(group_id: str, limits: GroupLimits, now: Now, snapshot: Snapshot) -> Group:
    return Group(group_id, limits, snapshot.state_since_ms)


def _not_stored(self: Shard, entry: Entry, store: Store, stored: Any) -> None:
    self._run(entry, entry.group.on_stored(self._now(), store.ticket, ErrorCode.NONE))
    if stored is not None:
        stored.set_result(ErrorCode.NONE)


MUTATIONS: Final = [
    Mutation("a commit is answered before it is durable", "G1", ((PartitionLog, "append"),), _acked_at_once),
    Mutation("an older commit overwrites a newer one", "G1", ((KeyedLog, "_apply"),), _first_stays),
    Mutation("checkpoints write nothing again", "G1", ((KeyedLog, "_rewrite"),), _nothing_rewritten),
    Mutation("everybody may commit", "G2", ((Group, "commit_error"),), lambda *_: ErrorCode.NONE),
    Mutation("a load forgets generations", "G2", ((Group, "restored"),), staticmethod(_restored_anew)),
    Mutation("assignments are not stored", "G3", ((Shard, "_store"),), _not_stored),
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_a_rule_that_is_taken_out_is_missed(mutation: Mutation) -> None:
    seeds = [seed for seed in range(100) if plan_of(seed).groups][:TRIED]
    assert any(run_seed(seed, mutation.replaced).caught for seed in seeds)


def _slot() -> Slot:
    return Slot(World(0, plan_of(0)), "three-0")


def _commit(slot: Slot, number: int, terms: Terms | None) -> None:
    """In generation 1; acknowledged in some term, or nobody knows."""
    slot.sent((1, number), number)
    if terms is not None:
        slot.acked((1, number), terms)


def test_what_was_acknowledged_is_told_or_something_later() -> None:
    slot, first = _slot(), Terms(1, 1)
    _commit(slot, 7, None)
    _commit(slot, 8, first)
    _commit(slot, 9, None)
    for offset in (8, 9, 9):
        slot.told(offset, first, slot.floors.now())
    assert not slot.world.problems
    for offset in (8, 7, NOTHING, 10):
        slot.told(offset, first, slot.floors.now())
    assert len(slot.world.problems) == 4


def test_who_has_a_successor_may_tell_what_it_knows() -> None:
    slot, asked = _slot(), _slot().floors.now()
    _commit(slot, 7, Terms(1, 1))
    _commit(slot, 8, Terms(2, 2))
    slot.told(7, Terms(1, 1), slot.floors.now())
    slot.told(7, Terms(1, 2), slot.floors.now())
    slot.told(NOTHING, Terms(2, 2), asked)
    assert not slot.world.problems, "of another term, perhaps so, or asked before"
    slot.told(7, Terms(2, 3), slot.floors.now())
    assert len(slot.world.problems) == 1


def test_what_was_refused_is_never_told() -> None:
    slot = _slot()
    _commit(slot, 7, None)
    slot.refused((1, 7), 7)
    slot.told(7, Terms(1, 1), slot.floors.now())
    assert "refused" in slot.world.problems[0]


def test_generations_do_not_go_back_and_have_one_assignment() -> None:
    world, terms = World(0, plan_of(0)), Terms(1, 1)
    book = Book(world, "g", {("three", at): Slot(world, f"three-{at}") for at in range(3)})
    given = book.plan(2, ["a", "b"])
    assert book.synced(2, "a", given["a"], terms) == [("three", 0), ("three", 2)]
    assert book.synced(2, "b", given["b"], terms) == [("three", 1)]
    book.of_generation(2, terms, book.generations.now(), "a commit")
    assert not world.problems
    book.of_generation(1, terms, book.generations.now(), "a commit")
    other = book.plan(2, ["a", "b"])
    for member, got in (("a", given["b"]), ("c", given["a"]), ("a", b""), ("a", other["a"])):
        book.synced(2, member, got, terms)
    book.led(2, "a", terms)
    book.led(2, "b", terms)
    assert [problem[:2] for problem in world.problems] == ["G2", "G3", "G3", "G3", "G3", "G3"]
