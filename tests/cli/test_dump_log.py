"""``kproto dump-log`` beside a broker that goes on: files are gone a moment after they were listed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.failover.promises import wait_until
from kproto.cli import dump_log
from kproto.cli.main import main
from kproto.disk import Disk
from kproto.log.files import CHUNKS
from kproto.metadata.opening import SQLITE_FILE
from kproto.testing import SubprocessBroker
from kproto.vlog.journal import SUFFIX


class Retiring(Disk):
    """Segments are renamed before they are deleted, journal files are deleted."""

    def listdir(self, path: str) -> list[str]:
        names = super().listdir(path)
        for name in names:
            if name.endswith(CHUNKS):
                os.rename(os.path.join(path, name), os.path.join(path, f"{name}.deleted"))
            elif name.endswith(SUFFIX):
                os.unlink(os.path.join(path, name))
        return names


class ReadOnce(Disk):
    """A journal file goes after its header was read."""

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        descriptor = super().open(path, create=create, write=write)
        if path.endswith(SUFFIX):
            os.unlink(path)
        return descriptor


@pytest.fixture
def left(tmp_path: Path) -> str:
    """The data directory of a killed broker, with a segment file and a journal."""
    settings = {"kproto.flush.age.ms": "100", "kproto.virtual.segment.bytes": str(1 << 20)}
    broker = SubprocessBroker(settings, tmp_path)
    broker.start()
    try:
        where = ["--bootstrap", broker.bootstrap_servers]
        assert CliRunner().invoke(main, ["produce", "t", *where], input="a\nb\n").exit_code == 0
        wait_until("a segment", lambda: any(each.stat().st_size for each in tmp_path.rglob(f"*{CHUNKS}")))
    finally:
        broker.kill()
    return str(tmp_path)


def dump(*words: str) -> tuple[Any, Result]:
    done = CliRunner().invoke(main, ["dump-log", *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done


@pytest.mark.parametrize("kind", ["segments", "chunks"])
def test_a_segment_that_is_gone_is_left_out(left: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [left, "--chunks"] if kind == "chunks" else [left]
    shown, done = dump(*words)
    assert shown[kind]
    assert done.stderr == ""
    monkeypatch.setattr(dump_log, "Disk", Retiring)
    shown, done = dump(*words)
    assert shown[kind] == []
    assert [row["topic"] for row in shown["streamlets"]] == ["t"]
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(f"{CHUNKS}: gone meanwhile, and left out\n")


@pytest.mark.parametrize(("disk", "told"), [(Retiring, False), (ReadOnce, True)])
def test_a_journal_file_that_is_gone_is_left_out(
    left: str, disk: type[Disk], told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def used(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if row["virtual log"] is not None]

    shown, _ = dump(left, "--journal")
    assert sum(row["chunks"] for row in used(shown)) > 0
    monkeypatch.setattr(dump_log, "Disk", disk)
    files = len(used(shown))
    shown, done = dump(left, "--journal")
    assert used(shown) == []
    assert done.stderr.count("gone meanwhile") == (files if told else 0)


def test_a_store_that_is_written_while_it_is_copied_is_copied_again(
    left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log may have gone into the file between the two copies."""
    file, copied = Path(left) / SQLITE_FILE, shutil.copy
    tries: list[str] = []

    def slow(source: str, target: str) -> None:
        copied(source, target)
        if source == str(file) and len(tries) < 3:
            os.utime(file)
        tries.append(os.path.basename(source))

    monkeypatch.setattr(shutil, "copy", slow)
    found, _ = dump(left)
    assert [row["topic"] for row in found["streamlets"]] == ["t"]
    assert tries.count(SQLITE_FILE) > 1
    moments = iter(range(100))
    monkeypatch.setattr(dump_log, "_touched", lambda _: next(moments))
    done = CliRunner().invoke(main, ["dump-log", left])
    assert (done.exit_code, "changes too often to be copied: try again" in done.output) == (1, True)


def test_a_damaged_store_is_named_not_its_copy(left: str) -> None:
    file = Path(left) / SQLITE_FILE
    file.write_bytes(b"x" * 4096)
    Path(f"{file}-wal").unlink()
    done = CliRunner().invoke(main, ["dump-log", left])
    assert done.exit_code == 1
    assert str(file) in done.output
    assert "kproto-dump-" not in done.output
