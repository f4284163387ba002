"""Who gets how many of the descriptors."""

import os
import subprocess
import sys

import pytest

from kproto.net.descriptors import FEWEST, FEWEST_SEGMENTS, make_room, share


@pytest.mark.parametrize("limit", [FEWEST, 128, 256, 1024, 4096, 20_000, 1 << 20])
def test_files_have_half_or_all_they_want_and_brokers_get_in_when_clients_do_not(limit: int) -> None:
    shares = share(limit, 512)
    assert FEWEST_SEGMENTS <= shares.segments <= 512
    assert limit // 2 <= shares.clients < shares.brokers < limit
    assert limit - shares.clients >= 2 * shares.segments or limit - shares.clients >= 512 + 256


def test_where_there_are_enough_nothing_is_less() -> None:
    assert share(4096, 512).segments == 512
    assert share(1 << 20, 512).clients > 900_000


def open_descriptors() -> list[int]:
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))


def test_the_kernels_table_has_room_before_it_is_needed_and_nothing_stays_open() -> None:
    # In a process of its own: a table never shrinks.
    code = (
        "import os; from kproto.net import descriptors\n"
        "def size(): return int(open('/proc/self/status').read().split('FDSize:')[1].split()[0])\n"
        "before, files = size(), os.listdir('/proc/self/fd')\n"
        "limit = descriptors.raise_limit(); descriptors.make_room(limit)\n"
        "print(before, size(), limit, files == os.listdir('/proc/self/fd'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after, limit, same = done.stdout.split()
    assert int(before) < int(after)
    assert int(after) >= min(int(limit), 1 << 14)
    assert same == "True"


def test_a_descriptor_that_is_open_there_stays_open() -> None:
    read_end, write_end = os.pipe()
    try:
        before = open_descriptors()
        make_room(read_end + 1)
        assert open_descriptors() == before
        os.write(write_end, b"x")
        assert os.read(read_end, 1) == b"x"
    finally:
        os.close(read_end)
        os.close(write_end)


def test_where_that_many_are_not_allowed_the_table_grows_as_ever() -> None:
    before = open_descriptors()
    make_room(1 << 40)  # more than _ROOM at least: what the process may have decides
    assert open_descriptors() == before
