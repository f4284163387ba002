"""Large buffers come from the system and go back to it."""

import mmap

import pytest

from kproto.memory import LARGE_BYTES, Spares, buffer_of


@pytest.mark.parametrize("size", [0, 1, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1])
def test_a_buffer_has_its_size_is_empty_and_writable(size: int) -> None:
    buffer = buffer_of(size)
    assert len(buffer) == size
    assert bytes(buffer[-3:]) == b"\0" * min(3, size)
    buffer[: min(2, size)] = b"ab"[:size]
    assert bytes(buffer[:2]) == b"ab"[:size]


def test_only_large_ones_are_mapped_and_views_keep_them_alive() -> None:
    assert isinstance(buffer_of(LARGE_BYTES - 1).obj, bytearray)
    view = buffer_of(LARGE_BYTES)[10:20]
    assert isinstance(view.obj, mmap.mmap)
    view[:] = b"0123456789"
    assert bytes(view) == b"0123456789"


SIZE = Spares.LEAST


def test_a_spare_is_used_again_once_nobody_looks_at_it() -> None:
    spares, buffer = Spares(), bytearray(SIZE)
    view = memoryview(buffer)[5:6]
    spares.give(buffer)
    assert spares.take(SIZE) is None
    view.release()
    taken = spares.take(SIZE - 1)
    assert taken is not None
    assert (taken.obj, len(taken)) == (buffer, SIZE - 1)
    assert len(buffer) == SIZE
    assert (spares.take(SIZE), spares.bytes) == (None, 0)


def test_a_spare_is_not_used_for_much_less() -> None:
    spares = Spares()
    spares.give(bytearray(SIZE * 4))
    assert spares.take(SIZE) is None
    assert spares.take(SIZE * 5) is None
    assert spares.take(SIZE * 4) is not None


def test_spares_have_a_bound_and_small_ones_are_left_alone() -> None:
    spares = Spares()
    for _ in range(100):
        spares.give(bytearray(SIZE * 3))
        spares.give(bytearray(SIZE - 1))
        spares.give(bytearray(Spares.MOST_BYTES + 1))
    assert SIZE * 3 <= spares.bytes <= Spares.MOST_BYTES
    assert spares.bytes % (SIZE * 3) == 0
    spares.shrink(0)
    assert (spares.bytes, spares.take(SIZE * 3)) == (0, None)


@pytest.mark.parametrize("size", [SIZE, LARGE_BYTES])
def test_what_nobody_looks_at_is_kept_and_what_somebody_does_is_not(size: int) -> None:
    spares, view = Spares(), buffer_of(size)
    owner = view.obj
    spares.give_unused(owner)
    assert spares.bytes == 0
    view.release()
    spares.give_unused(owner)
    assert spares.bytes == size
    taken = spares.take(size)
    assert taken is not None
    assert taken.obj is owner


def test_loose_spares_give_much_larger_buffers_too() -> None:
    spares = Spares(loose=True)
    spares.give(bytearray(SIZE * 9))
    assert spares.take(SIZE * 9 + 1) is None
    assert spares.take(SIZE) is not None


def test_what_is_borrowed_comes_back_by_itself() -> None:
    spares = Spares()
    first = spares.borrow(SIZE)
    second = spares.borrow(SIZE)
    assert first.obj is not second.obj
    owner = first.obj
    first.release()
    assert spares.borrow(SIZE).obj is owner
    assert isinstance(spares.borrow(LARGE_BYTES).obj, mmap.mmap)


def test_small_ones_are_not_borrowed_from_large_ones() -> None:
    """An answer of 150 bytes kept 128 KB."""
    spares = Spares(loose=True)
    spares.give(bytearray(SIZE))
    assert [len(spares.borrow(size).obj) for size in (1, 150, SIZE - 1)] == [1, 150, SIZE - 1]
    assert spares.bytes == SIZE
