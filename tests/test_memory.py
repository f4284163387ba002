"""Large buffers come from the system and go back to it."""

import mmap

import pytest

from kproto.memory import LARGE_BYTES, buffer_of


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
