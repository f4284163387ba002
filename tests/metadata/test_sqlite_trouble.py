"""Whatever goes wrong in the thread of the store: whoever waits is told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from kproto.metadata.sqlite import SqliteStore
from kproto.metadata.store import StoreError


class Trouble:
    """A connection whose next statements fail, with what is said for each."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.failures: dict[str, Exception] = {}

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, statement: str, *args: object) -> sqlite3.Cursor:
        failure = self.failures.pop(statement, None)
        if failure is not None:
            raise failure
        return self._connection.execute(statement, *args)  # type: ignore[arg-type]

    def close(self) -> None:
        self._connection.close()


@pytest.mark.parametrize(
    "failures",
    [
        {"COMMIT": sqlite3.OperationalError("disk I/O error"), "ROLLBACK": sqlite3.OperationalError("no")},
        {"COMMIT": MemoryError()},
    ],
    ids=["rollback", "memory"],
)
def test_a_failure_that_nobody_expected_does_not_end_the_store(
    failures: dict[str, Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kproto.metadata import sqlite as module

    made: list[Trouble] = []
    connect = module._connect

    def connected(*args: object) -> tuple[Trouble, int, int]:
        connection, *rest = connect(*args)  # type: ignore[arg-type]
        made.append(Trouble(connection))
        return made[0], rest[0], rest[1]

    monkeypatch.setattr(module, "_connect", connected)

    async def body() -> None:
        store = await SqliteStore.open(str(tmp_path / "metadata.sqlite"))
        assert (await store.transact([], {"a": b"1"})).succeeded
        made[0].failures = dict(failures)
        with pytest.raises(StoreError):
            await store.transact([], {"a": b"2"})
        for _ in range(3):  # what is not rolled back yet may cost another one
            try:
                assert (await store.transact([], {"b": b"3"})).succeeded
                break
            except StoreError:
                continue
        revision, entries = await store.range("")
        assert (revision, [(one.key, one.value) for one in entries]) == (2, [("a", b"1"), ("b", b"3")])
        await store.close()

    asyncio.run(asyncio.wait_for(body(), 60))


def test_a_file_that_somebody_else_owns_is_no_damaged_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite said "disk I/O error" of one that may be read and not written."""
    path = tmp_path / "metadata.sqlite"
    path.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StoreError, match=r": Permission denied$"):
        asyncio.run(SqliteStore.open(str(path)))


def test_a_path_that_is_too_long_for_sqlite(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 250)
    longest = 504 - len(f"{folder}//metadata.sqlite")
    for length, message in ((longest, None), (longest + 1, "no path of more than 504 bytes$")):
        path = folder / ("b" * length) / "metadata.sqlite"
        path.parent.mkdir(parents=True)
        with pytest.raises(StoreError, match=message) if message else contextlib.nullcontext():
            asyncio.run(opened_and_closed(str(path)))


async def opened_and_closed(path: str) -> None:
    await (await SqliteStore.open(path)).close()
