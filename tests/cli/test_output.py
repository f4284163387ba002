"""Tables show all that they were given."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from kproto.cli.output import print_rows

NAME = "payments-settlement-events-v"
PRINTING = f"""
from kproto.cli.output import print_rows
row = {{"bytes": 123456789, "id": "f" * 32, "more": "g" * 32}}
print_rows([{{"name": "{NAME}1", **row}}, {{"name": "{NAME}2", **row}}], ("name", *row), as_json=False)
"""


def in_a_terminal(program: str) -> str:
    """What it prints where there are 80 columns."""
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    with subprocess.Popen([sys.executable, "-c", program], stdout=its, env=environment) as process:
        os.close(its)
        shown = b""
        while data := _read(ours):
            shown += data
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # EIO: nobody has the other end any more
        return b""


def columns(shown: str) -> list[str]:
    """The text of each column, its lines put together."""
    cells = [line.split("│")[1:-1] for line in shown.splitlines() if line.startswith("│")]
    return ["".join(cell.strip() for cell in column) for column in zip(*cells, strict=True)]


def test_a_terminal_shows_long_names_and_numbers_whole() -> None:
    shown = in_a_terminal(PRINTING)
    assert max(map(len, shown.splitlines())) <= 80
    twice = ["123456789", "f" * 32, "g" * 32]
    assert columns(shown) == [f"{NAME}1{NAME}2", *(text * 2 for text in twice)]


def test_a_pipe_gets_each_row_in_a_line() -> None:
    program = f"""
from kproto.cli.output import print_rows
print_rows([{{"name": "{"t" * 249}", "id": "f" * 32}}], ("name", "id"), as_json=False, title="T" * 400)
"""
    title, *shown = subprocess.check_output([sys.executable, "-c", program], text=True).splitlines()
    assert title == "T" * 400
    assert columns("\n".join(shown)) == ["t" * 249, "f" * 32]
    assert max(map(len, shown)) == 249 + 32 + 7


def test_names_that_look_like_markup_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """To rich a name between colons is an emoji, and one in brackets a style."""
    names = ["team:key:v2", "g[/x]", "[red]", "\\[a]", ":smile:"]
    for name in names:
        print_rows([{"group": name, "lag": True}], ("group", "lag"), as_json=False, title=f"{name}: Empty")
        shown = capsys.readouterr().out
        assert shown.splitlines()[0].rstrip() == f"{name}: Empty"
        assert columns(shown) == [name, "True"]


KPROTO = f"{sys.executable} -m kproto.cli.main"


@pytest.mark.parametrize(
    ("line", "code"),
    [("config >&-", 0), ("config --json >&-", 0), ("produce t --bootstrap 127.0.0.1:1 <&- 2>&-", 1)],
)
def test_streams_that_are_closed(line: str, code: int) -> None:
    """As a service manager or a script may have them."""
    done = subprocess.run(["sh", "-c", f"{KPROTO} {line}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize("line", ["config", "config --json", "--help"])
def test_what_is_printed_goes_to_a_full_disk(line: str) -> None:
    done = subprocess.run(["sh", "-c", f"{KPROTO} {line} >/dev/full"], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"Error: cannot be written: No space left on device\n")
