"""Seeds that must pass, that the same seed does the same, and that a mend taken back is noticed."""

from __future__ import annotations

from collections import Counter

import pytest

from .mutations import MUTATIONS, Mutation
from .run import run_seed

SEEDS = 60
CHUNK = 10
HAPPENED = (
    *("clean stop", "stop that is not clean", "killed at an operation", "killed in a start", "power lost"),
    *("disk full", "configs changed", "settings changed", "topic deleted", "records deleted"),
    *("left as clean", "left as killed", "left as power lost"),
    *("looked at all", "refused", "sent again"),
)


@pytest.fixture(scope="module")
def happened() -> Counter[str]:
    """What happened in all seeds together, and how many there were."""
    return Counter()


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_nothing_is_lost(first: int, happened: Counter[str]) -> None:
    for seed in range(first, first + CHUNK):
        outcome = run_seed(seed)
        assert not outcome.violation, f"make simulate-storage SEED={seed}"
        happened.update(outcome.cover)
        happened["seeds"] += 1


def test_all_of_it_happened(happened: Counter[str]) -> None:
    """Faults that never come, and checks that are never made, find nothing."""
    assert happened["seeds"] == SEEDS, "all of them come before this"
    assert [what for what in HAPPENED if not happened[what]] == []


def test_a_seed_does_the_same_every_time() -> None:
    first, second = run_seed(3), run_seed(3)
    assert first.lines == second.lines
    assert len(first.lines) > 20


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_a_mend_that_is_taken_back_is_missed(mutation: Mutation) -> None:
    caught = [run_seed(seed, mutation.replaced).caught for seed in mutation.seeds]
    assert any(told.startswith(mutation.caught) for told in caught), caught
