"""Memory is filled until that takes no more of it, and again only when much is free."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import pytest

from bench import page_cache
from bench.page_cache import SLACK, STEP, STILL, Filler, is_virtual, memory

SIZE = 100 * STEP


class Counted(Filler):
    """Reads nothing."""

    taken: Callable[[], object]

    def _step(self) -> int:
        self.taken()
        return STEP


class Memory:
    """``free`` bytes, of which a step takes one STEP, but not below ``floor``."""

    def __init__(self, free: int, floor: int) -> None:
        self.free, self.floor = free, floor

    def filler(self) -> Counted:
        one = Counted(io.BytesIO(), SIZE, lambda: self.free)
        one.taken = self.take
        return one

    def take(self) -> None:
        self.free = max(self.free - STEP, min(self.free, self.floor))


def test_it_reads_while_free_memory_falls_and_some_steps_more() -> None:
    assert Memory(15 * STEP, 10 * STEP).filler().fill() == (5 + STILL) * STEP


def test_full_memory_is_left_alone_and_what_was_freed_since_is_filled() -> None:
    memory = Memory(10 * STEP, 10 * STEP)
    one = memory.filler()
    assert one.fill() == STILL * STEP
    memory.free += SLACK
    assert one.fill() == 0
    memory.free += 3 * STEP
    assert one.fill() == 3 * STEP


def test_what_others_free_meanwhile_is_filled_too() -> None:
    memory = Memory(10 * STEP, 10 * STEP)
    one = memory.filler()
    one.fill()
    memory.free = 40 * STEP
    freed = chain(repeat(3 * STEP, STILL), repeat(0))

    def take() -> None:
        memory.take()
        memory.free += next(freed)

    one.taken = take
    assert one.fill() == (29 + 3 * STILL) * STEP
    assert memory.free == 10 * STEP + SLACK


def test_it_ends_where_memory_never_becomes_full() -> None:
    memory = Memory(10 * STEP, 10 * STEP)
    one = memory.filler()
    one.fill()
    memory.floor = memory.free = 20 * STEP
    assert one.fill() == SIZE


def test_what_is_read_is_a_file_of_holes_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "STEP", 4 << 20)
    read: list[int] = []
    real = os.preadv

    def watched(descriptor: int, buffers: list[Any], position: int) -> int:
        read.append(position)
        return real(descriptor, buffers, position)

    monkeypatch.setattr(os, "preadv", watched)
    with tempfile.TemporaryFile() as file:
        one = Filler(file, 8 << 20, lambda: 1 << 40)
        one.fill()
        one.fill()
        assert os.fstat(file.fileno()).st_blocks == 0
    assert read == [n << 20 for n in (*range(8), *range(8))]


def test_memory_is_what_the_system_says() -> None:
    assert 0 < memory("MemFree") <= memory("MemTotal")
    assert memory("NoSuchLine") == 0
    assert isinstance(is_virtual(), bool)
