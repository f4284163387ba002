"""The file of fences: what is asked for while a write is under way, and what a later start finds."""

from __future__ import annotations

import errno
from random import Random
from typing import Any

import pytest

from kproto.replica.fences import Fences
from tests.replica.support import LoopWorker, MemoryDisk, Station, VirtualLoop


def opened(disk: MemoryDisk, loop: VirtualLoop) -> Fences:
    return Fences(disk, "/fences", LoopWorker(loop), loop, pytest.fail)


def test_fences_that_waited_for_each_other_are_all_there_again() -> None:
    """Those of one write take as many places as they are: the next one overwrites none of them."""
    disk, loop = MemoryDisk(), VirtualLoop()
    disk.makedirs("/fences")
    fences = opened(disk, loop)
    told: list[int] = []
    for epochs in ((1, 2, 3, 4), (5,), (6, 7)):
        for epoch in epochs:
            fences.add(epoch, lambda epoch=epoch: told.append(epoch))  # type: ignore[misc]
        loop.run()
    assert told == [1, 2, 3, 4, 5, 6, 7]
    assert opened(disk, loop).epochs == set(told)


def test_who_asks_second_waits_as_long_as_the_first() -> None:
    disk, loop = MemoryDisk(), VirtualLoop()
    disk.makedirs("/fences")
    fences = opened(disk, loop)
    loop.run()
    told: list[str] = []
    fences.add(9, lambda: told.append("first"))
    fences.add(9, lambda: told.append("second"))
    assert not told, "it is only in memory"
    assert 9 in fences.epochs, "but refused at once"
    loop.run()
    assert told == ["first", "second"]
    fences.add(9, lambda: told.append("third"))
    assert told[2:] == ["third"], "it is on the medium"


def forget(inode: Any) -> None:
    """The system takes for written what it failed to write; later syncs bring only what is written again."""

    def sync() -> None:
        medium = bytearray(inode.synced)
        for position, data in inode.pending:
            medium[position : position + len(data)] = data
        inode.synced = bytes(medium)
        inode.pending.clear()

    inode.pending.clear()
    inode.sync = sync


class Worst(Random):
    """Nothing that was not synced survives."""

    def choice(self, seq: Any) -> Any:
        return "lost"

    def randrange(self, *_: Any) -> int:
        return 0


@pytest.mark.parametrize("forgotten", [False, True])
def test_what_an_earlier_process_could_not_sync_is_on_the_medium_before_it_counts(forgotten: bool) -> None:
    """Found by simulation: it was in the page cache, and the next process said at once that it is there.
    After a sync that failed the system may have ``forgotten`` that there is something to write."""
    disk, loop = MemoryDisk(), VirtualLoop()
    fences = Fences(disk, "/fences", LoopWorker(loop), loop, lambda _: None)
    fences.add(3, lambda: None)
    loop.run()
    fences.add(4, lambda: pytest.fail("nobody knows that it is synced"))

    def fail(operation: str) -> None:
        if operation == "sync":
            if forgotten:
                forget(disk._names["/fences/fences"])
            raise OSError(errno.EIO, "the medium says no, or the process ends before it")

    disk.fail = fail
    loop.run()
    disk.kill()
    disk.fail = lambda operation: None
    told: list[int] = []
    again = opened(disk, loop)
    for epoch in (3, 4):
        again.add(epoch, lambda epoch=epoch: told.append(epoch))  # type: ignore[misc]
    assert told == [3, 4]
    disk.lose_power(Worst())
    assert opened(disk, loop).epochs == {3, 4}


def test_the_name_of_a_file_that_an_earlier_process_made_is_on_the_medium() -> None:
    disk, loop = MemoryDisk(), VirtualLoop()

    def fail(operation: str) -> None:
        if operation == "sync":
            raise OSError(errno.EIO, "the process ends before it")

    disk.fail = fail
    with pytest.raises(OSError, match="ends before"):
        opened(disk, loop)
    disk.kill()
    disk.fail = lambda operation: None
    opened(disk, loop).add(5, lambda: None)
    loop.run()
    disk.lose_power(Worst())
    assert opened(disk, loop).epochs == {5}


def test_on_a_full_disk_fences_go_into_the_room_that_is_reserved() -> None:
    """Found by simulation: the first one that asked for more room ended the broker, 128 before the last."""
    disk, loop = MemoryDisk(), VirtualLoop()
    disk.makedirs("/fences")
    fences = opened(disk, loop)
    told: list[int] = []

    def add(epochs: range) -> None:
        for epoch in epochs:
            fences.add(epoch, lambda epoch=epoch: told.append(epoch))  # type: ignore[misc]
            loop.run()

    disk.room = 0
    add(range(1, 256))
    assert told[-1] == 255
    disk.room = None
    add(range(256, 350))
    assert told[-1] == 349
    assert opened(disk, loop).epochs == set(range(1, 350))


def test_one_for_which_there_is_no_room_waits_for_it() -> None:
    disk, loop = MemoryDisk(), VirtualLoop()
    fences = opened(disk, loop)
    disk.room = 0
    told: list[int] = []
    for epoch in range(1, 301):
        fences.add(epoch, lambda epoch=epoch: told.append(epoch))  # type: ignore[misc]
    loop.run(10.0)
    assert (told, len(fences.epochs)) == ([1], 300), "the others came while that was written"
    disk.room = 1 << 20
    loop.run(2.0)
    assert told == list(range(1, 301))
    assert opened(disk, loop).epochs == set(told)


def test_nothing_waits_for_room_after_the_end() -> None:
    disk, loop = MemoryDisk(), VirtualLoop()
    fences = opened(disk, loop)
    disk.room = 0
    for epoch in range(1, 301):
        fences.add(epoch, lambda: None)
    loop.run()
    fences.close()
    disk.room = None
    loop.run(10.0)
    assert opened(disk, loop).epochs == {1}


def test_a_start_without_room_for_a_fence_fails() -> None:
    disk = MemoryDisk()
    disk.room = 0
    with pytest.raises(OSError, match="space"):
        opened(disk, VirtualLoop())


def test_a_stop_leaves_the_file_open_to_a_thread_that_is_writing() -> None:
    """A fence that waited for another one is written behind the last sync of copies: by then the file was
    closed, its descriptor perhaps another file's, and the stop ended as if storage had failed."""
    station = Station()
    disk, loop, fences = station.disk, station.loop, station.store.fences
    told: list[int] = []
    for epoch in (5, 6):
        fences.add(epoch, lambda epoch=epoch: told.append(epoch))  # type: ignore[misc]
    opened_before = len(disk._open)
    station.store.close()
    loop.run()
    assert (told, station.poison) == ([5, 6], [])
    assert len(disk._open) == opened_before - 1
    station.restart()
    assert station.store.fences.epochs == {5, 6}
