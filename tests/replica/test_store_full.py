"""A store that starts on a disk without room: it serves what it has, and no later one believes too much."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from kproto.replica.rules import Push
from kproto.replica.store import COPYING
from kproto.replica.store_state import RETRY_S, STATE_FILE, read_state
from kproto.replica.stored_file import file_name
from tests.replica.support import OTHER, Metadata, Owner, Station
from tests.replica.test_store import PART, VSEG, filled, stored_bytes, wire_bytes
from tests.replica.test_store_failures import between, failing, listed, whole


def state_of(station: Station) -> dict[str, Any]:
    return read_state(station.disk, station.store.files.at(STATE_FILE))


def fill_up(station: Station) -> None:
    """State files cannot be written: those of copies may have room left."""

    def write_atomically(path: str, _: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    between(station, write_atomically=write_atomically)


def empty(station: Station) -> None:
    station.disk = station.store.disk = station.disk._disk
    station.store.files.disk = station.store.state.disk = station.disk


def test_a_killed_store_starts_on_a_full_disk_and_frees_what_nobody_needs() -> None:
    """The broker did not start again, and so nothing was deleted that would have made room (rule 37)."""
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    before = state_of(station)
    left = station.store.files.at(file_name(VSEG) + COPYING)
    station.disk.close(station.disk.open(left, create=True))
    station.disk.fail = failing("write", errno.ENOSPC)
    station.restart()
    station.loop.run(5.0)
    station.disk.fail = whole
    assert not station.poison
    assert os.path.basename(left) not in station.disk.listdir(station.store.directory)
    assert state_of(station) == before
    assert stored_bytes(station, owner) == wire_bytes(owner)
    assert station.seal(VSEG) == (owner.end, True)


@pytest.mark.parametrize("size", [100, 4 << 20])
def test_copies_that_nobody_needs_go_though_there_is_no_room_for_another_name(size: int) -> None:
    """Found by simulation: it was poison, or an error of the loop for one that was to be a spare."""
    station, owner = Station(), Owner(VSEG, size=max(size, 64 << 10))
    station.push(owner.first, owner.push([PART], [size // 4]))
    metadata = Metadata(5)
    metadata.put(owner.record(None, [OTHER]))
    before = station.disk

    def refused(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)

    between(station, rename=refused)
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert not station.poison
    assert not station.store.copies
    assert not [name for name in before.listdir(station.store.directory) if name.endswith(".replica")]


@pytest.mark.parametrize("ends", ["killed", "power lost"])
def test_a_clean_end_vouches_for_nothing_of_a_store_that_started_without_room(ends: str) -> None:
    """What it acked was not synced: had "clean" stayed, the copy would count after a power loss (3, 22)."""
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.store.close()
    station.loop.run()
    assert state_of(station)["clean"]
    fill_up(station)
    station.restart()
    assert not station.store.state.suspect
    metadata = listed(owner)
    station.store.apply(metadata.table, metadata.live)
    assert station.push(None, owner.push([PART], [300])) == (Push.STORE, owner.end)
    empty(station)
    if ends == "killed":
        station.restart()
    station.lose_power(1)
    station.store.apply(metadata.table, metadata.live)
    assert station.store.state.limbo == {VSEG}


def test_the_state_is_written_when_there_is_room() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.store.close()
    station.loop.run()
    fill_up(station)
    station.restart()
    station.loop.run(RETRY_S * 3)
    assert state_of(station) == {}
    empty(station)
    station.loop.run(RETRY_S)
    assert state_of(station)["clean"] is False
    station.restart()
    assert not station.store.state.suspect


def test_the_room_of_the_state_that_was_there_is_enough_for_the_next() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.store.close()
    station.loop.run()
    state, write = station.store.files.at(STATE_FILE), station.disk.write_atomically

    def write_atomically(path: str, content: bytes) -> None:
        if os.path.basename(state) in station.disk.listdir(os.path.dirname(state)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        write(path, content)

    between(station, write_atomically=write_atomically)
    station.restart()
    assert state_of(station)["clean"] is False


def test_a_store_whose_state_cannot_be_written_for_another_reason_does_not_start() -> None:
    station = Station()
    station.disk.fail = failing("write")
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        station.restart()
