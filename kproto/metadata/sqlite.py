"""The SQLite backend of :class:`~kproto.metadata.store.MetadataStore`: one file, no service to run.

All SQL runs in one thread of the store's own. Transactions that wait at the same time share one commit and
so one fsync (``synchronous=FULL``). Each takes a handful of statements whatever its size, because SQLite's
Python module hands the interpreter lock over at every step: rows go in through ``json_each``.

SQLite has checksums in its log, but none in the file: every row has one of its own, of key, value and
revision, and is believed only when it matches. Files of versions without them get them when they are opened.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kproto.clock import SystemClock
from kproto.metadata.records import RESTORE
from kproto.metadata.reserve import Reserve
from kproto.metadata.store import (
    Change,
    ChangeLog,
    Condition,
    Entry,
    NoTablesError,
    OneProcess,
    StoreError,
    Transacted,
)
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    import sqlite3

    from kproto.clock import Clock

_CREATE: Final = (
    "CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL,"
    " crc INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE head (revision INTEGER NOT NULL, crc INTEGER NOT NULL)",
    "INSERT INTO head VALUES (0, 0)",
)
_ADD_CHECKSUMS: Final = (
    "ALTER TABLE entries ADD COLUMN crc INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE head ADD COLUMN crc INTEGER NOT NULL DEFAULT 0",
)
_COLUMNS: Final = "SELECT name FROM pragma_table_info(?)"
_WITHOUT_CHECKSUMS: Final = [("key", "value", "revision"), ("revision",)]
"""The columns of ``entries`` and ``head`` as earlier versions made them."""
_WITH_CHECKSUMS: Final = [("key", "value", "revision", "crc"), ("revision", "crc")]
_FAILED: Final = """
SELECT 1 FROM json_each(?) AS wanted LEFT JOIN entries ON entries.key = wanted.key
    WHERE coalesce(entries.revision, 0) <> wanted.value LIMIT 1
"""
_EXISTING: Final = "SELECT key FROM entries WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key"
_DELETE: Final = "DELETE FROM entries WHERE key IN (SELECT value FROM json_each(?))"
_PUT: Final = """
INSERT OR REPLACE INTO entries (key, value, revision, crc)
    SELECT key, CAST(substr(value, 11) AS BLOB), ?, CAST(substr(value, 1, 10) AS INTEGER) FROM json_each(?)
"""
"""The ten digits before each value are its checksum."""
_SUM: Final = "SELECT coalesce(sum(crc), 0) FROM entries"
_SUM_OF: Final = f"{_SUM} WHERE key IN (SELECT value FROM json_each(?))"
_SET_HEAD: Final = "UPDATE head SET revision = ?, crc = ?"
_GET: Final = "SELECT key, value, revision, crc FROM entries WHERE key = ?"
_RANGE: Final = "SELECT key, value, revision, crc FROM entries WHERE key >= ? AND key < ? ORDER BY key"
_FULL: Final = "disk is full"
"""What SQLite says then; its numeric code is not in every error."""
_ALL: Final = "SELECT key, value, revision, crc FROM entries ORDER BY key"
_LONGEST_PATH: Final = 504
"""Bytes of the longest name that SQLite opens: it needs room for its log's."""
_DAMAGED: Final = ("malformed", "not a database")
"""The same of a file whose structure is broken."""
_HEAD: Final = "head"
"""What the row with the revision is called where its checksum is made."""


class _Read(NamedTuple):
    """Work for the thread: a function of the connection; its result goes to ``future``."""

    future: asyncio.Future[Any]
    function: Callable[[sqlite3.Connection], object]


class _Write(NamedTuple):
    """Work for the thread: a transaction; its :class:`Transacted` goes to ``future``."""

    future: asyncio.Future[Transacted]
    conditions: Mapping[str, int]
    puts: Mapping[str, bytes]
    deletes: Sequence[str]


class _Outcome(NamedTuple):
    """What the loop does for one piece of finished work."""

    future: asyncio.Future[Any]
    result: object
    change: Change | None


class SqliteStore(OneProcess):
    """One SQLite file behind the store's interface; open it with :meth:`open`."""

    __slots__ = ("_closed", "_loop", "_new", "_path", "_queue", "_reserve", "_revision", "_sum", "_thread")

    def __init__(self, path: str, clock: Clock, new: bool) -> None:
        super().__init__(clock)
        self._path = path
        self._new = new
        self._reserve = Reserve(path + ".reserve")
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Read | _Write | None] = SimpleQueue()
        self._revision = 0
        self._sum = 0
        """Of the checksums of all rows: the head's checksum covers it, so no row is missing or older."""
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="kproto-metadata", daemon=True)

    @classmethod
    async def open(
        cls, path: str | os.PathLike[str], clock: Clock | None = None, *, new: bool = True
    ) -> SqliteStore:
        """Open or create the file; :class:`StoreError` when it is unusable or another process has it,
        :class:`~kproto.metadata.store.NoTablesError` when it is not to be a ``new`` one and has nothing."""
        store = cls(os.fspath(path), clock if clock is not None else SystemClock(), new)
        opened: asyncio.Future[int] = store._loop.create_future()
        store._queue.put(_Read(opened, lambda _: store._revision))
        store._thread.start()
        store._log = ChangeLog(await opened)
        return store

    async def get(self, key: str) -> Entry | None:
        def read(connection: sqlite3.Connection) -> Entry | None:
            row = connection.execute(_GET, (key,)).fetchone()
            return self._verified(row) if row is not None else None

        entry: Entry | None = await self._submit(read)
        return entry

    async def range(self, prefix: str) -> tuple[int, list[Entry]]:
        def read(connection: sqlite3.Connection) -> tuple[int, list[Entry]]:
            if prefix:
                after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
                rows = connection.execute(_RANGE, (prefix, after)).fetchall()
            else:
                rows = connection.execute(_ALL).fetchall()
            return self._revision, [self._verified(row) for row in rows]

        found: tuple[int, list[Entry]] = await self._submit(read)
        return found

    async def transact(
        self, conditions: Sequence[Condition], puts: Mapping[str, bytes], deletes: Sequence[str] = ()
    ) -> Transacted:
        self._check_open()
        future: asyncio.Future[Transacted] = self._loop.create_future()
        self._queue.put(_Write(future, dict(conditions), dict(puts), tuple(deletes)))
        return await future

    async def close(self) -> None:
        """Finish the queued work, close the file, end the thread; calls after it fail."""
        if self._closed:
            return
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Read(future, lambda _: None))
        self._queue.put(None)
        self._closed = True
        await future
        self._thread.join()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self._path}: the metadata store is closed")

    async def _submit(self, function: Callable[[sqlite3.Connection], object]) -> Any:
        self._check_open()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Read(future, function))
        return await future

    # --- from here on: the store's thread -------------------------------------------------------------

    def _run(self) -> None:
        """Open the file, then serve the queue until ``None`` comes."""
        first = self._queue.get()
        try:
            connection, self._revision, self._sum = _connect(self._path, self._reserve, self._new)
        except StoreError as error:
            self._deliver([_Outcome(first.future, error, None)] if first is not None else [])
            return
        work: list[_Read | _Write] = [first] if first is not None else []
        while work:
            self._deliver(self._perform(connection, work))
            work = self._next_work()
        connection.close()

    def _next_work(self) -> list[_Read | _Write]:
        """Wait for work, then take everything that is there; empty at the end."""
        work: list[_Read | _Write] = []
        item = self._queue.get()
        while item is not None:
            work.append(item)
            if self._queue.empty():
                return work
            item = self._queue.get()
        if work:
            self._queue.put(None)
        return work

    def _perform(self, connection: sqlite3.Connection, work: Sequence[_Read | _Write]) -> list[_Outcome]:
        """One SQL transaction for everything in ``work``, a second try with the space set aside for it."""
        outcomes = self._try_to_perform(connection, work)
        if outcomes is None and self._reserve.give_up():
            outcomes = self._try_to_perform(connection, work)
        if outcomes is None:
            failure = StoreError(f"{self._path}: {_FULL}")
            return [_Outcome(item.future, failure, None) for item in work]
        self._reserve.hold()
        return outcomes

    def _try_to_perform(
        self, connection: sqlite3.Connection, work: Sequence[_Read | _Write]
    ) -> list[_Outcome] | None:
        """One SQL transaction; when it fails, it fails for all. None: the disk is full."""
        import sqlite3

        before = self._revision, self._sum
        try:
            connection.execute("BEGIN IMMEDIATE")
            outcomes = [self._perform_one(connection, item) for item in work]
            if self._revision != before[0]:
                connection.execute(_SET_HEAD, _head_row(self._revision, self._sum))
            connection.execute("COMMIT")
        except Exception as error:  # whatever it is: without this thread nobody would be answered any more
            self._revision, self._sum = before
            if connection.in_transaction:
                with suppress(sqlite3.Error):  # until it works no other transaction can begin
                    connection.execute("ROLLBACK")
            if _FULL in str(error):
                return None
            failure = StoreError(f"{self._path}: {_explained(error)}")
            return [_Outcome(item.future, failure, None) for item in work]
        return outcomes

    def _perform_one(self, connection: sqlite3.Connection, item: _Read | _Write) -> _Outcome:
        if isinstance(item, _Read):
            try:
                return _Outcome(item.future, item.function(connection), None)
            except StoreError as error:  # a damaged row: it is no business of others in the same transaction
                return _Outcome(item.future, error, None)
        if connection.execute(_FAILED, (json.dumps(item.conditions),)).fetchone() is not None:
            return _Outcome(item.future, Transacted(False, self._revision), None)
        wanted = json.dumps([key for key in item.deletes if key not in item.puts])
        removed = tuple(row[0] for row in connection.execute(_EXISTING, (wanted,)))
        if not item.puts and not removed:
            return _Outcome(item.future, Transacted(True, self._revision), None)
        self._revision += 1
        replaced = json.dumps([*removed, *item.puts])
        self._sum -= connection.execute(_SUM_OF, (replaced,)).fetchone()[0]
        if removed:
            connection.execute(_DELETE, (wanted,))
        if item.puts:
            revision = self._revision
            checksums = [_checksum(key, value, revision) for key, value in item.puts.items()]
            texts = {
                key: f"{checksum:010}{value.decode()}"
                for checksum, (key, value) in zip(checksums, item.puts.items(), strict=True)
            }
            connection.execute(_PUT, (revision, json.dumps(texts)))
            self._sum += sum(checksums)
        change = Change(self._revision, item.puts, removed)
        return _Outcome(item.future, Transacted(True, self._revision), change)

    def _verified(self, row: tuple[Any, ...]) -> Entry:
        """The entry of a row that is as it was written; :class:`StoreError` for another one."""
        key, value, revision, crc = row
        if not _is_plain(key, value, revision) or _checksum(key, value, revision) != crc:
            raise StoreError(f"{self._path}: {_mismatch(f'the entry {key!r}')}")
        return Entry(key, value, revision)

    def _deliver(self, outcomes: list[_Outcome]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._finish, outcomes)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    # --- on the loop again ----------------------------------------------------------------------------

    def _finish(self, outcomes: list[_Outcome]) -> None:
        for future, result, change in outcomes:
            if change is not None:
                self._log.append(change)
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)


def _connect(path: str, reserve: Reserve, new: bool) -> tuple[sqlite3.Connection, int, int]:
    """The opened file, its revision and the sum of its checksums; on a full disk with the space of the
    reserve."""
    try:
        return _open_file(path, new)
    except StoreError as error:
        if _FULL not in str(error) or not reserve.give_up():
            raise
    return _open_file(path, new)


def _open_file(path: str, new: bool) -> tuple[sqlite3.Connection, int, int]:
    """The opened file, locked for this process alone, its revision and the sum of its checksums."""
    import sqlite3

    try:
        with ExitStack() as undo:
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, cached_statements=16)
            undo.callback(connection.close)
            connection.text_factory = _text
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            revision, total = _prepare(connection, path, new)
            undo.pop_all()
            return connection, revision, total
    except StoreError:
        raise
    except Exception as error:  # what SQLite says of a damaged file need not be text, for one
        raise StoreError(f"{path}: cannot open the metadata store: {_refusal(path, error)}") from None


def _refusal(path: str, error: Exception) -> str:
    """Why the file cannot be opened, which SQLite may call an I/O error of the disk."""
    if "locked" in str(error):
        return "another process has it open"
    if os.path.exists(path) and not os.access(path, os.R_OK | os.W_OK):
        return os.strerror(errno.EACCES)
    if len(os.fsencode(os.path.realpath(path))) > _LONGEST_PATH:
        return f"SQLite takes no path of more than {_LONGEST_PATH} bytes"
    return _explained(error)


def _prepare(connection: sqlite3.Connection, path: str, new: bool) -> tuple[int, int]:
    """The revision of the file, which gets what it lacks: its tables, or the checksums; their sum.

    No checksum of a row shows that another row is missing, or that a whole page is as it was once: so the
    head's covers the sum of all. The structure is looked at, too (0.3 us a row).
    """
    told = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if told != "ok":
        raise StoreError(f"{path}: the file is damaged ({told.splitlines()[-1]}): {RESTORE}")
    tables = [tuple(row[0] for row in connection.execute(_COLUMNS, (name,))) for name in ("entries", _HEAD)]
    if tables == [(), ()]:
        if not new:
            raise NoTablesError(f"{path}: nothing is in it")
        _change(connection, _CREATE, 0, [])
    elif tables == _WITHOUT_CHECKSUMS:
        _add_checksums(connection, path)
    elif tables != _WITH_CHECKSUMS:
        raise StoreError(f"{path}: its tables are none that kproto made: {RESTORE}")
    heads = connection.execute("SELECT revision, crc FROM head").fetchall()
    total = connection.execute(_SUM).fetchone()[0]
    if len(heads) != 1 or type(heads[0][0]) is not int or heads[0] != _head_row(heads[0][0], total):
        raise StoreError(f"{path}: {_mismatch('the row with the revision')}")
    revision: int = heads[0][0]
    return revision, total


def _add_checksums(connection: sqlite3.Connection, path: str) -> None:
    """Bring a file of an earlier version up to date: what it has is believed a last time. What nobody can
    have written gets no checksum, and is refused when it is read."""
    heads = connection.execute("SELECT revision FROM head").fetchall()
    if len(heads) != 1 or type(heads[0][0]) is not int:
        raise StoreError(f"{path}: the row with the revision is damaged: {RESTORE}")
    rows = connection.execute("SELECT key, value, revision FROM entries").fetchall()
    checksums = [(_checksum(*row), row[0]) for row in rows if _is_plain(*row)]
    _change(connection, _ADD_CHECKSUMS, heads[0][0], checksums)


def _change(
    connection: sqlite3.Connection, statements: Sequence[str], revision: int, checksums: list[tuple[int, str]]
) -> None:
    """Make tables what they are to be, in one transaction; when it fails, closing rolls it back."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in statements:
        connection.execute(statement)
    connection.executemany("UPDATE entries SET crc = ? WHERE key = ?", checksums)
    connection.execute(_SET_HEAD, _head_row(revision, connection.execute(_SUM).fetchone()[0]))
    connection.execute("COMMIT")


def _text(stored: bytes) -> str:
    """Text of a row; where it is damaged it may be none, which its checksum shows."""
    return stored.decode(errors="replace")


def _is_plain(key: object, value: object, revision: object) -> bool:
    """Whether they are of the kinds that rows have; where one is damaged, SQLite may show another one."""
    return type(key) is str and type(value) is bytes and type(revision) is int


def _checksum(key: str, value: bytes, revision: int) -> int:
    """CRC-32C of a row. No two rows look the same: there is no NUL in keys."""
    return crc32c(f"{revision}\0{key}\0".encode() + value)


def _head_row(revision: int, total: int) -> tuple[int, int]:
    return revision, _checksum(_HEAD, str(total).encode(), revision)


def _mismatch(what: str) -> str:
    return f"{what} does not match its checksum, so the file is damaged: {RESTORE}"


def _explained(error: Exception) -> str:
    """What SQLite says; of a damaged file what to do, too."""
    text = str(error)
    damaged = isinstance(error, UnicodeDecodeError) or any(sign in text for sign in _DAMAGED)
    return f"{text}: {RESTORE}" if damaged else text
