"""Partitions that are due are written in turns, whatever happens to one of them."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest

from kproto.log import due
from kproto.log.due import Due


class Turns:
    """Deferred calls, and what they wrote; ``broken`` partitions cannot be."""

    def __init__(self) -> None:
        self.deferred: list[Callable[[], object]] = []
        self.written: list[Any] = []
        self.broken: list[Any] = []
        self.due = Due(self.flush, self.deferred.append)

    def flush(self, partition: Any) -> None:
        if partition in self.broken:
            raise RuntimeError("it is broken")
        self.written.append(partition)

    def turn(self) -> None:
        """One turn of the event loop."""
        calls, self.deferred[:] = list(self.deferred), []
        for call in calls:
            call()


class Part:
    """As much of a `Partition` as is looked at."""

    def __init__(self, size: int) -> None:
        self.dirty_bytes = size
        self.ahead: list[int] = []
        self.full = False

    def write_ahead(self, most: int) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "no room")
        self.ahead.append(min(most, self.dirty_bytes - sum(self.ahead)))
        return self.ahead[-1]


def test_a_turn_writes_about_so_much_and_the_next_one_goes_on() -> None:
    turns = Turns()
    parts: list[Any] = [Part(due.BYTES_A_TURN // 2) for _ in range(5)]
    for part in parts:
        turns.due.add(part)
    assert len(turns.deferred) == 1
    for count in (2, 4, 5):
        turns.turn()
        assert turns.written == parts[:count]
    assert not turns.deferred


def test_many_with_little_take_several_turns_too() -> None:
    """Files are opened for each."""
    turns = Turns()
    count = due.BYTES_A_TURN // due.A_PARTITION
    parts: list[Any] = [Part(1) for _ in range(count + 10)]
    for part in parts:
        turns.due.add(part)
    turns.turn()
    assert turns.written == parts[:count]
    turns.turn()
    assert turns.written == parts


def test_one_with_much_more_takes_several_turns() -> None:
    turns = Turns()
    large, small = parts = [Part(due.BYTES_A_TURN * 2 + 5), Part(10)]
    for part in parts:
        turns.due.add(part)  # type: ignore[arg-type]
    for _ in range(3):
        turns.turn()
        assert not turns.written
    assert large.ahead == [due.BYTES_A_TURN, due.BYTES_A_TURN, 5]
    turns.turn()
    assert turns.written == [large]
    turns.turn()
    assert turns.written == [large, small]
    assert not small.ahead, "it is written at once"


def test_one_for_which_there_is_no_room_is_left_to_the_flush() -> None:
    turns = Turns()
    large: Any = Part(due.BYTES_A_TURN * 2)
    large.full = True
    turns.due.add(large)
    turns.turn()
    assert turns.written == [large]
    assert not turns.deferred


def test_one_that_fails_keeps_nobody_else_from_being_written() -> None:
    turns = Turns()
    broken, other, later = parts = [Part(1), Part(1), Part(1)]
    turns.broken = [broken]
    for part in parts[:2]:
        turns.due.add(part)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError):
        turns.turn()
    turns.turn()
    assert turns.written == [other]
    turns.due.add(later)  # type: ignore[arg-type]
    turns.turn()
    assert turns.written == [other, later]
