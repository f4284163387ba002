"""The decision tables, case by case: each decided exactly once (rules 6, 7, 15, 20, 22, 24, 30)."""

from __future__ import annotations

from itertools import product

import pytest

from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.replica import rules
from kproto.replica.rules import FileFacts, Presence, Push, Worth, decide_file, decide_old, decide_push
from kproto.vlog.classes import FlushPolicy

ME = CopyTarget(1, "me")
BOOLEANS = (False, True)


def push_row(
    poisoned: bool, fenced: bool, limbo: bool, closed: bool, have: str, begins: bool, same: bool
) -> list[Push]:
    """The rows of the table that apply, each condition written out alone."""
    usable = not (poisoned or fenced or limbo or closed)
    rows = {
        Push.POISONED: poisoned,
        Push.FENCED: fenced and not poisoned,
        Push.LIMBO: limbo and not (poisoned or fenced),
        Push.CLOSED: closed and not (poisoned or fenced or limbo),
        Push.BEGIN: usable and have == "none" and begins,
        Push.GAP: usable and ((have == "none" and not begins) or have == "shorter"),
        Push.OLD: usable and have == "longer",
        Push.CONFLICT: usable and have == "exact" and not same,
        Push.STORE: usable and have == "exact" and same,
    }
    return [verdict for verdict, applies in rows.items() if applies]


@pytest.mark.parametrize(
    ("poisoned", "fenced", "limbo", "closed", "have", "begins", "same"),
    list(
        product(
            BOOLEANS, BOOLEANS, BOOLEANS, BOOLEANS, ("none", "shorter", "exact", "longer"), BOOLEANS, BOOLEANS
        )
    ),
)
def test_every_push_is_decided_once(
    poisoned: bool, fenced: bool, limbo: bool, closed: bool, have: str, begins: bool, same: bool
) -> None:
    position = 1000
    verdict = decide_push(
        poisoned=poisoned,
        is_fenced=fenced,
        limbo=limbo,
        closed=closed,
        end={"none": None, "shorter": 900, "exact": 1000, "longer": 1100}[have],
        chain=5,
        start=position if begins else None,
        position=position,
        previous=5 if same else 6,
    )
    assert [verdict] == push_row(poisoned, fenced, limbo, closed, have, begins, same)


def test_a_copy_begins_with_the_first_frame_only() -> None:
    facts = {"poisoned": False, "is_fenced": False, "limbo": False, "closed": False}
    for start, verdict in ((1000, Push.BEGIN), (999, Push.GAP), (None, Push.GAP)):
        assert decide_push(**facts, end=None, chain=0, start=start, position=1000, previous=1) is verdict


def test_old_bytes_are_acked_again_and_others_never_written() -> None:
    assert decide_old(5, 5) is Push.REPEATED
    assert decide_old(6, 5) is Push.CONFLICT
    assert decide_old(None, 5) is Push.CONFLICT


def file_rows(facts: FileFacts) -> list[Worth]:
    """Rule 24: the rows that apply."""
    presence, closed, reaches_end, survived, damaged, proven = facts
    readable = presence is Presence.READABLE
    believable = not closed and survived and readable
    rows = [
        (Worth.USE, closed and readable and reaches_end),
        (Worth.REPAIR, closed and not (readable and reaches_end)),
        (Worth.LIMBO, not closed and not survived),
        (Worth.LIMBO, not closed and survived and presence is Presence.UNREADABLE),
        (Worth.ABSENT, not closed and survived and presence is Presence.MISSING),
        (Worth.CORRUPT, believable and proven),
        (Worth.CUT, believable and damaged and not proven),
        (Worth.USE, believable and not damaged and not proven),
    ]
    return [worth for worth, applies in rows if applies]


@pytest.mark.parametrize("presence", list(Presence))
@pytest.mark.parametrize("flags", list(product(BOOLEANS, repeat=5)))
def test_every_file_is_decided_once(presence: Presence, flags: tuple[bool, ...]) -> None:
    facts = FileFacts(presence, *flags)
    assert [decide_file(facts)] == file_rows(facts)


def test_only_what_cannot_have_lost_an_ack_is_eligible() -> None:
    assert {worth for worth in Worth if rules.eligible(worth)} == {Worth.USE, Worth.CUT, Worth.ABSENT}


@pytest.mark.parametrize(
    ("policy", "power_lost", "survives"),
    [
        (FlushPolicy.MEMORY, False, True),
        (FlushPolicy.MEMORY, True, False),
        (FlushPolicy.TIMED, True, False),
        (FlushPolicy.SYNCED, True, True),
        (FlushPolicy.SYNCED, False, True),
    ],
)
def test_what_an_ack_promised(policy: FlushPolicy, power_lost: bool, survives: bool) -> None:
    assert rules.survived(policy, power_lost) is survives


def test_an_epoch_is_over_when_metadata_went_past_it() -> None:
    assert rules.is_over(5, {3, 7}, 7)
    assert not rules.is_over(3, {3, 7}, 7)
    assert not rules.is_over(8, {3, 7}, 7), "registered, and this broker has not heard of it yet"
    assert rules.fenced(3, {3}, {3}, 3), "a persisted fence counts whatever metadata says"
    assert rules.fenced(2, (), {3}, 3)
    assert not rules.fenced(3, (), {3}, 3)


def record(end: int | None, policy: FlushPolicy, *backups: CopyTarget) -> VsegRecord:
    return VsegRecord(VsegId(5, 1, 4), 9, "owner", 3, policy, 0, end, backups)


@pytest.mark.parametrize("end", [None, 100])
@pytest.mark.parametrize("policy", list(FlushPolicy))
@pytest.mark.parametrize("backups", [(ME,), (CopyTarget(1, "wiped"),), ()])
def test_limbo_after_a_power_loss(
    end: int | None, policy: FlushPolicy, backups: tuple[CopyTarget, ...]
) -> None:
    """Rule 3: open, listed with this very store, and acked without a sync."""
    expected = end is None and policy is not FlushPolicy.SYNCED and ME in backups
    assert rules.in_limbo(record(end, policy, *backups), ME) is expected


@pytest.mark.parametrize("listed", [True, False, None])
@pytest.mark.parametrize("newest_seq", [0, 4, 5])
@pytest.mark.parametrize("over", BOOLEANS)
def test_garbage(listed: bool | None, newest_seq: int, over: bool) -> None:
    """A file goes when its record does not list this store, or is gone for certain; never when the record
    may be news to come."""
    vseg = VsegId(5, 1, 4)
    known = None if listed is None else record(100, FlushPolicy.MEMORY, *((ME,) if listed else ()))
    expected = {True: False, False: True, None: over or newest_seq > 4}[listed]
    assert rules.is_garbage(vseg, known, ME, newest_seq, over) is expected


def test_a_spare_stays_while_what_is_listed_is_none() -> None:
    listed = (CopyTarget(2, "b"), CopyTarget(3, "c"))
    record = VsegRecord(VsegId(5, 1, 1), 1, "a", 3, 0, 0, 9, listed)
    assert not rules.is_spare(record, Worth.USE, {12, 13})
    said = record._replace(denied=((3, 13),))
    assert rules.is_spare(said, Worth.USE, {12, 13})
    assert not rules.is_spare(said, Worth.USE, {12, 14}), "it was started again"
    assert not rules.is_spare(said, Worth.REPAIR, {12, 13})


def test_surplus_does_not_exist() -> None:
    assert rules.clipped(100, None) == 100
    assert rules.clipped(100, 90) == 90
    assert rules.clipped(80, 90) == 80
