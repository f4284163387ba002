"""Seeds that must pass, that the same seed does the same, and that a rule taken out is noticed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from .disk import Machine, SimDisk
from .loop import SimLoop
from .mutations import MUTATIONS, Mutation
from .run import run_seed

SEEDS = 300
CHUNK = 10
TRIED = 6
QUICK = ("everything is dead", "freed at once", "sealed at the start")
"""Mutations that almost any seed finds. Each mutation has a story in ``tests/rules``."""
FAULTS = (
    *("all backups lost", "clean stop", "clock set", "clog", "cut", "damaged where nobody leads"),
    *("descriptors are scarce", "disk full", "EIO: sync", "kill", "killed as it wrote", "pause"),
    *("power loss", "requests that must be refused", "rot", "rot of an open copy", "slow link"),
    *("store away", "two disks", "wipe"),
)
WORK = (
    *("another class", "bereft: loss accepted", "closed by a journal", "configs changed", "copies given up"),
    *("drained", "elected", "emptied", "fenced itself", "first copies", "freed", "journal files given back"),
    *("log starts stored", "move", "one copy again", "poisoned", "pushed again", "reassignment", "repairs"),
    *("groups: begin", "groups: delete", "groups: join", "groups: leave", "groups: sync"),
    *("records deleted", "seals", "segment mended", "smaller sets", "topics deleted", "vlogs.per.broker"),
)
CHECKS = (
    "acks",
    "all garbage gone",
    "copies gone beside live ones",
    "blackout: others wait",
    "consumed",
    "epochs looked up",
    "groups: at rest",
    "groups: commit",
    "groups: commit alone",
    "groups: commits that must be refused",
    "groups: fetch",
    "read to the end",
)
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """What is there for ever is not looked through after every seed."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def happened() -> Counter[str]:
    """What happened in all seeds together, and how many there were."""
    return Counter()


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_nothing_is_lost(first: int, happened: Counter[str]) -> None:
    for seed in range(first, first + CHUNK):
        outcome = run_seed(seed)
        assert not outcome.violation, f"make simulate SEED={seed}"
        happened.update(outcome.cover)
        happened["seeds"] += 1


def test_all_of_it_happened(happened: Counter[str]) -> None:
    """Faults that never come, and checks that are never made, find nothing."""
    assert happened["seeds"] == SEEDS, "all of them come before this"
    assert [what for what in (*FAULTS, *WORK, *CHECKS) if not happened[what]] == []


def test_a_seed_does_the_same_in_every_process() -> None:
    told = []
    for _ in range(2):
        command = [sys.executable, "-m", "tests.sim.simulate", "--seed", "7"]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        told.append(done.stdout)
    assert told[0] == told[1]
    assert "faults end" in told[0]


@pytest.mark.parametrize(
    "mutation", [one for one in MUTATIONS if one.name in QUICK], ids=lambda one: one.name
)
def test_a_rule_that_is_taken_out_is_missed(mutation: Mutation) -> None:
    assert any(run_seed(seed, mutation.replaced).caught for seed in range(TRIED))


def test_what_was_not_synced_may_be_gone_after_a_power_loss_and_never_what_was() -> None:
    kept = lost = 0
    for seed in range(50):
        machine = Machine(1, "/sim/n1", Random(seed))
        disk = SimDisk(machine)
        disk.makedirs("/sim/n1/d")
        fd = disk.open("/sim/n1/d/f", create=True)
        disk.pwritev(fd, [b"synced"], 0)
        disk.datasync(fd)
        disk.sync_directory("/sim/n1/d")
        disk.pwritev(fd, [b" not"], 6)
        disk.open("/sim/n1/d/g", create=True)
        machine.kill()
        assert disk.pread(disk.open("/sim/n1/d/f"), 100, 0) == b"synced not"
        machine.lose_power()
        found = disk.pread(disk.open("/sim/n1/d/f"), 100, 0)
        assert found.startswith(b"synced")
        assert b"synced not".startswith(found)
        kept += found == b"synced not" and "g" in disk.listdir("/sim/n1/d")
        lost += found == b"synced" and "g" not in disk.listdir("/sim/n1/d")
    assert kept
    assert lost


def test_a_killed_process_does_nothing_and_a_paused_one_does_it_later() -> None:
    loop = SimLoop(Random(1))
    done: list[str] = []
    killed, paused = loop.process("killed", 1), loop.process("paused", 2)
    for process in (killed, paused):
        with process.here():
            loop.call_later(1.0, done.append, process.name)
    loop.call_later(0.5, killed.kill)
    loop.call_later(0.5, paused.pause)
    loop.call_later(1.9, lambda: done.append("not yet"))
    loop.call_later(2.0, paused.resume)
    loop.call_later(3.0, loop.stop)
    loop.run_forever()
    assert done == ["not yet", "paused"]
    loop.bury()
