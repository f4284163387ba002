"""How long a repaired copy is kept though metadata does not list it (rules 17, 30)."""

from __future__ import annotations

import pytest

from kproto.metadata.vlogs import VsegId, VsegRecord
from kproto.replica.copies import Copy
from kproto.replica.store import HELD_S, LATE_S
from tests.replica.support import OTHERS, Metadata, Owner, Station
from tests.replica.test_store import filled


def held(station: Station, metadata: Metadata, *owners: Owner) -> None:
    """Copies that metadata does not list."""
    for owner in owners:
        filled(station, owner)
        metadata.put(owner.record(owner.end, OTHERS))
        station.store.hold(station.store.copies[owner.vseg])
    station.store.apply(metadata.table, metadata.live)


def half_held() -> tuple[Station, Owner, Copy]:
    """Half of its hold is over."""
    station, owner = Station(), Owner(VsegId(5, 1, 2))
    held(station, Metadata(5), owner)
    station.loop.run(HELD_S / 2)
    return station, owner, station.store.copies[owner.vseg]


def test_the_end_of_a_hold_is_a_look_at_that_copy_alone() -> None:
    """With ten thousand copies each end looked at all of them. After a stop thousands of holds end in one
    turn: all but a few were late by then, and began anew, again and again."""
    station, metadata = Station(), Metadata(5)
    owners = [Owner(VsegId(5, 1, seq)) for seq in range(10)]
    held(station, metadata, *owners)
    looks: list[VsegId] = []
    is_garbage = station.store._is_garbage

    def look(copy: Copy, record: VsegRecord | None) -> bool:
        looks.append(copy.vseg)
        station.loop.now += LATE_S / 20
        return is_garbage(copy, record)

    station.loop.run(1.0)
    station.store._is_garbage = look  # type: ignore[method-assign]
    station.loop.run(HELD_S + LATE_S)
    assert looks == [owner.vseg for owner in owners]
    assert not station.store.copies


def test_one_that_is_being_read_as_its_hold_ends_goes_later() -> None:
    station, _, copy = half_held()
    copy.pins += 1
    station.loop.run(HELD_S)
    assert station.store.copies
    copy.pins -= 1
    station.loop.run(LATE_S)
    assert not station.store.copies


def test_a_hold_that_ends_after_its_copy_was_made_anew_leaves_the_new_one() -> None:
    station, owner, old = half_held()
    new = station.store.copies[owner.vseg] = Copy(owner.vseg, old.path)
    new.loaded, new.presence = True, old.presence
    station.store.hold(new)
    station.loop.run(0.75 * HELD_S)
    assert (old.holds, station.store.copies) == (0, {owner.vseg: new})
    station.loop.run(HELD_S)
    assert not station.store.copies


@pytest.mark.parametrize("cut_off_s", [0.0, 5 * HELD_S])
def test_a_stop_as_the_hold_ends_is_noticed_however_long_brokers_serve_without_controller(
    cut_off_s: float,
) -> None:
    """With five minutes of that 46 seconds went unnoticed. Before them it may have heard nothing for all of
    the five, so that it knew nothing of a copy that was listed after half a minute, and deleted it."""
    station, metadata, owner = Station(cut_off_s=cut_off_s), Metadata(5), Owner(VsegId(5, 1, 2))
    held(station, metadata, owner)
    stopped_s = HELD_S / 3
    station.loop.run(HELD_S + cut_off_s - stopped_s)
    station.loop.now += stopped_s + LATE_S / 2
    station.loop.run(LATE_S)
    assert owner.vseg in station.store.copies
    station.loop.run(2 * (HELD_S + cut_off_s))
    assert not station.store.copies
