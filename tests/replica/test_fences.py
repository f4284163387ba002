"""The file of fences: what is asked for while a write is under way, and what a later start finds."""

from __future__ import annotations

import pytest

from kproto.replica.fences import Fences
from tests.replica.support import LoopWorker, MemoryDisk, VirtualLoop


def opened(disk: MemoryDisk, loop: VirtualLoop) -> Fences:
    return Fences(disk, "/fences", LoopWorker(loop), pytest.fail)


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
