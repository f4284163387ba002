"""A journal file that gets another life, and a power loss that takes the renames back, but not all that was
written: under its old name and header it must not look like damage to what was acked with a sync."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from random import Random

import pytest

from kproto.disk import Disk
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import SPARE_PREFIX, Journal
from tests.sim.disk import Inode, Machine, SimDisk
from tests.vlog.conftest import TestLoop
from tests.vlog.support import BOOT, World

ROOT = "/sim/n1"
OTHER_BOOT = bytes(16 * [9])
SETTINGS = {"kproto__direct__bytes": "0", "kproto__virtual__segment__bytes": "1048576"}
FATES = {"written": 0.0, "lost": 0.9}


class Fates(Random):
    """Directories forget all that was not synced; of the unsynced writes of each file every other one is
    lost, the first (its header) among them."""

    def __init__(self) -> None:
        super().__init__(1)
        self._fates = cycle(("lost", "written"))

    def randrange(self, *_: object) -> int:
        return 0

    def random(self) -> float:
        return FATES[next(self._fates)]


@pytest.fixture
def machine() -> Machine:
    return Machine(1, ROOT, Fates())


def in_use(machine: Machine, journal: Journal) -> list[Inode]:
    names = machine.folders[journal.directory]
    return [inode for name, inode in names.items() if not name.startswith(SPARE_PREFIX)]


def test_a_file_of_a_synced_class_is_no_damaged_one_after_its_next_life(
    machine: Machine, loop: TestLoop
) -> None:
    world = World.start(ROOT, loop, disk=SimDisk(machine), **SETTINGS)
    journal = world.manager.journal
    synced = world.partition(flush__messages="1")
    first: Inode | None = None
    while first not in [machine.find(spare.path) for spare in journal.spares] or first is None:
        synced.append(100_000)
        loop.until(lambda: synced.vlog.durable == synced.vlog.end)
        first = first or in_use(machine, journal)[0]
        synced.segment.flush(synced.segment.end)
        synced.segment.sync()
        loop.turn()
    fast = world.partition(2)
    while first not in in_use(machine, journal):
        fast.append(100_000)
        loop.until(lambda: fast.vlog.durable == fast.vlog.end)
    for _ in range(3):
        fast.append(30_000)
        loop.until(lambda: fast.vlog.durable == fast.vlog.end)
    assert len(first.pending) >= 4, "it has frames of the other class, and a new header"
    machine.lose_power()
    found = world.recover(boot=OTHER_BOOT)
    assert synced.high_watermark == found.chunks[synced.topic_id, 0][-1].next_offset
    assert not any("corrupt" in line for line in found.losses)


def test_nor_is_one_that_an_earlier_process_left_as_a_spare(machine: Machine) -> None:
    """It ended before the directory was synced."""
    disk, directory = SimDisk(machine), f"{ROOT}/journal"
    first = Journal(disk, directory, 1, BOOT, 1 << 24)
    file = first.create(first.new_name(), 1 << 18)
    first.start(file, 1, 1, 0, 1, FlushPolicy.SYNCED)
    file.write([bytes(100)], 0, 100)
    file.sync()
    former = file.path
    disk.rename(former, first.new_name())
    machine.kill()
    second = Journal(disk, directory, 2, BOOT, 1 << 24)
    again = second.acquire(1 << 18)
    assert again is not None
    second.start(again, 1, 1, 0, 1, FlushPolicy.MEMORY)
    again.write([b"\1" * 100], 0, 100)
    machine.lose_power()
    assert machine.find(former) is None
    (name,) = disk.listdir(directory)
    inode = machine.find(f"{directory}/{name}")
    assert inode is not None
    assert inode.read(FILE_HEADER_SIZE, 100) == b"\1" * 100, "the case in which it would have been damaged"


def given_back(disk: SimDisk) -> tuple[Journal, list[Callable[[], object]]]:
    """A journal whose only file, of a synced class, waits for its directory; what ends the wait."""
    journal = Journal(disk, f"{ROOT}/journal", 1, BOOT, 1 << 24)
    waiting: list[Callable[[], object]] = []
    journal.sync_names = waiting.append
    assert journal.reserve(1 << 18)
    file = journal.create(journal.new_name(), 1 << 18)
    journal.start(file, 1, 1, 0, 1, FlushPolicy.SYNCED)
    file.sync()
    journal.give_back(file)
    assert journal.acquire(1) is None
    return journal, waiting


def test_it_waits_for_the_directory(machine: Machine) -> None:
    journal, (synced,) = given_back(SimDisk(machine))
    synced()
    assert journal.acquire(1) is not None


def test_an_end_does_not_wait(machine: Machine) -> None:
    disk = SimDisk(machine)
    journal, (synced,) = given_back(disk)
    journal.close()
    assert (disk.listdir(journal.directory), journal.bytes) == ([], 0)
    synced()
    assert not journal.spares


def test_the_directory_of_the_files_is_there_after_a_power_loss(tmp_path: Path) -> None:
    """It was made, and what was synced in it acked, and nobody synced where it was made (36)."""
    directory, synced = tmp_path / "journal", list[str]()

    class Noting(Disk):
        __slots__ = ()

        def sync_directory(self, path: str) -> None:
            super().sync_directory(path)
            assert directory.is_dir()
            synced.append(path)

    for _ in range(2):  # an earlier process may have been killed before it did
        Journal(Noting(), str(directory), 1, BOOT, 1 << 20)
    assert synced == [str(tmp_path)] * 2


def test_a_directory_that_cannot_be_synced_is_poison(loop: TestLoop) -> None:
    class Unsyncable(SimDisk):
        __slots__ = ()

        def sync_directory(self, path: str) -> None:
            if path != ROOT:
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    world = World.start(ROOT, loop, disk=Unsyncable(Machine(1, ROOT, Fates())), **SETTINGS)
    world.manager.journal.sync_names(lambda: pytest.fail("it was not synced"))
    loop.until(lambda: world.poison)
    assert "directory" in world.poison[0]
