"""No page of a journal file is read before a part of it is written: what enters a page zeros its rest."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from kproto.disk import PAGE, Disk
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import Journal, JournalFile
from tests.vlog.support import BOOT

OLD = b"\xff"
SIZE = 40 * PAGE + 100


def recycled(directory: Path, size: int = SIZE, start: int = 0) -> JournalFile:
    """A file whose former contents are all ones and not in memory, begun at vlog position ``start``."""
    journal = Journal(Disk(), str(directory), 1, BOOT, 1 << 24)
    file = journal.create(journal.new_name(), size)
    Path(file.path).write_bytes(OLD * size)
    os.fsync(file.fd)
    os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_DONTNEED)
    journal.start(file, 1, 1, start, 1, FlushPolicy.MEMORY)
    return file


def up_to_the_page(content: bytes) -> bytes:
    """To the end of the page in which what comes next begins."""
    return content + bytes(PAGE - len(content) % PAGE)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_behind_the_last_frame_is_zero_to_the_end_of_its_page_and_old_from_there(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    start = random.randrange(10_000)
    file = recycled(tmp_path, start=start)
    expected = Path(file.path).read_bytes()[:FILE_HEADER_SIZE]
    while True:
        found = Path(file.path).read_bytes()
        sound = up_to_the_page(expected)[:SIZE]
        assert found == sound + OLD * (SIZE - len(sound))
        size = random.choice((1, 90, 1300, PAGE - 128, PAGE, 3 * PAGE, random.randrange(1, 9000)))
        if len(expected) + size > SIZE:
            break
        frame = random.randbytes(size)
        cut = random.randrange(size)
        file.write([frame[:cut], frame[cut:]], start + len(expected) - FILE_HEADER_SIZE, size)
        expected += frame
    file.write([bytes(SIZE - len(expected))], start + len(expected) - FILE_HEADER_SIZE, SIZE - len(expected))
    assert os.path.getsize(file.path) == SIZE


def test_the_head_of_a_frame_leaves_what_is_behind_it(tmp_path: Path) -> None:
    file = recycled(tmp_path)
    file.write([b"c" * 9000], 5000, 9000)
    file.write([b"h" * 5000], 0, 5000, last=False)
    found = Path(file.path).read_bytes()[FILE_HEADER_SIZE:]
    assert found[:14_000] == b"h" * 5000 + b"c" * 9000


def test_nothing_is_read_from_the_disk(tmp_path: Path) -> None:
    before = bytes_read()
    file = recycled(tmp_path, 1 << 21)
    position = 0
    while position < 1 << 20:
        file.write([b"x" * 1300], position, 1300)
        position += 1300
    assert bytes_read() == before


def bytes_read() -> int:
    """By this thread, from a disk."""
    counts = Path("/proc/thread-self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in counts if line.startswith("read_bytes"))
