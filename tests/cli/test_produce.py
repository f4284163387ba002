"""How ``kproto produce`` reads lines."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kproto.cli import produce as command
from kproto.cli.main import main
from kproto.testing import kafka_broker


class _Pieces(io.BytesIO):
    """A pipe that has one of the pieces at each read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = iter(pieces)

    def read1(self, _: Any = -1, /) -> bytes:
        return next(self._pieces, b"")


def lines_of(pieces: Iterable[bytes]) -> list[bytes]:
    return [line for batch in command._batches(_Pieces(pieces)) for line in batch]


@given(st.lists(st.text(alphabet="ab\n\r", min_size=1, max_size=6)))
def test_lines_are_the_same_however_they_come(pieces: list[str]) -> None:
    text = "".join(pieces)
    wanted = text.split("\n")
    if not wanted[-1]:
        wanted.pop()
    assert lines_of(piece.encode() for piece in pieces) == [line.rstrip("\r").encode() for line in wanted]


def test_a_long_line_takes_no_longer_than_many_short_ones() -> None:
    """All that had come of a line was copied at every read."""
    began = time.process_time()
    assert lines_of([b"x" * 200] * 20_000 + [b"\n", b"y"]) == [b"x" * 4_000_000, b"y"]
    assert time.process_time() - began < 2


def test_a_line_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the lines before it written. A broker would close the connection at such a request."""
    monkeypatch.setattr(command, "LINE_BYTES", 1_000_000)
    with kafka_broker() as broker:
        where = ("--bootstrap", broker.bootstrap_servers)
        given = f"a\n{'b' * 999_000}\n{'c' * 1_000_001}\nd\n"
        done = CliRunner().invoke(main, ["produce", "t", *where], input=given)
        assert done.exit_code == 1
        assert done.stderr.endswith("Error: line 3 has more than 1000000 bytes; 2 written before that\n")
        done = CliRunner().invoke(main, ["consume", "t", "--from-beginning", "--timeout", "0", *where])
        assert done.stdout == f"a\n{'b' * 999_000}\n"


def _until_interrupted(*pieces: bytes) -> Iterator[bytes]:
    yield from pieces
    raise KeyboardInterrupt


def test_who_interrupts_it_is_told_how_much_is_written() -> None:
    with kafka_broker() as broker:
        words = ["produce", "t", "--bootstrap", broker.bootstrap_servers]
        done = CliRunner().invoke(main, words, input=_Pieces(_until_interrupted(b"a\nb\n", b"c\n", b"d")))
        assert (done.exit_code, done.stderr) == (1, "Error: stopped; 3 written before that\n")
        done = CliRunner().invoke(main, words, input=_Pieces(_until_interrupted()))
        assert (done.exit_code, done.stderr) == (1, "\nAborted!\n")


def test_a_separator_that_is_no_text() -> None:
    """The command line has other bytes than UTF-8 as lone surrogates."""
    record = command._record(b"caf\xe9\xffvalue", os.fsdecode(b"\xff"))
    assert (record.key, record.value) == (b"caf\xe9", b"value")
    record = command._record("k→v".encode(), "→")
    assert (record.key, record.value) == (b"k", b"v")
