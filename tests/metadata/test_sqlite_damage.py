"""A file of metadata that is another one than was written is not believed: one line says so."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from kproto.broker import Broker, StartError
from kproto.config import load
from kproto.metadata import Entry, StoreError
from kproto.metadata import sqlite as module
from kproto.metadata.sqlite import SqliteStore

from .stores import run

KEY, VALUE = "streamlets/0f/00000000", b'[1,4,[1,2]] "\xc3\xa4"'
OLD_SCHEMA = """
CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE head (revision INTEGER NOT NULL);
"""
DAMAGE = {
    "value": "UPDATE entries SET value = CAST('[2,4,[1,2]]' AS BLOB) WHERE key = :key",
    "no value": "UPDATE entries SET value = x'' WHERE key = :key",
    "kind of value": "UPDATE entries SET value = 7 WHERE key = :key",
    "key": "UPDATE entries SET key = 'streamlets/0e/00000000' WHERE key = :key",
    "no text": "UPDATE entries SET key = CAST(x'73747265616d6c6574732fff' AS TEXT) WHERE key = :key",
    "kind of key": "UPDATE entries SET key = CAST(key AS BLOB) WHERE key = :key",
    "revision": "UPDATE entries SET revision = revision + 1 WHERE key = :key",
    "kind of revision": "UPDATE entries SET revision = '2x' WHERE key = :key",
}
MISSED = {
    "checksum": "UPDATE entries SET crc = crc + 1 WHERE key = :key",
    "another row's": "UPDATE entries SET value = other.value, crc = other.crc FROM entries AS other"
    " WHERE entries.key = :key AND other.key = 'cluster'",
    "gone": "DELETE FROM entries WHERE key = :key",
    "twice": "INSERT INTO entries SELECT 'z', value, revision, crc FROM entries WHERE key = :key",
}
"""Of these the sum of all checksums tells already."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metadata.sqlite"


async def written(path: Path) -> tuple[int, list[Entry]]:
    """Make a file; what it has."""
    store = await SqliteStore.open(path)
    await store.transact([], {"cluster": b"c", "empty": b""})
    await store.transact([], {KEY: VALUE, "topics/t": b"[]"})
    found = await store.range("")
    await store.close()
    return found


async def stored(path: Path) -> tuple[int, list[Entry]]:
    store = await SqliteStore.open(path)
    try:
        return await store.range("")
    finally:
        await store.close()


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement, {"key": KEY} if ":key" in statement else {})


def old_file(path: Path) -> list[Entry]:
    """Make a file as earlier versions did; what it has."""
    entries = [Entry("cluster", b"c", 1), Entry("empty", b"", 7), Entry(KEY, VALUE, 9)]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(OLD_SCHEMA)
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", entries)
        connection.execute("INSERT INTO head VALUES (9)")
    return entries


def columns(path: Path) -> list[list[str]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = [connection.execute(f"PRAGMA table_info({name})") for name in ("entries", "head")]
        return [[row[1] for row in table] for table in tables]


def refused(path: Path, what: str) -> None:
    """Reading the file ends in one line that says what is damaged, where, and what to do."""
    with pytest.raises(StoreError) as caught:
        asyncio.run(asyncio.wait_for(stored(path), 60))
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert what in line
    assert line.endswith(": restore the metadata from a backup")
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE)
def test_a_row_that_does_not_match_its_checksum_is_refused(path: Path, statement: str) -> None:
    asyncio.run(written(path))
    change(path, statement)
    refused(path, "does not match its checksum")

    async def others_are_read() -> None:
        store = await SqliteStore.open(path)
        assert await store.get("cluster") == Entry("cluster", b"c", 1)
        assert (await store.range("topics/"))[1] == [Entry("topics/t", b"[]", 2)]
        await store.close()

    run(others_are_read)


@pytest.mark.parametrize("statement", MISSED.values(), ids=MISSED)
def test_a_file_that_lacks_a_checksum_is_refused_when_it_is_opened(path: Path, statement: str) -> None:
    asyncio.run(written(path))
    change(path, statement)
    refused(path, "the row with the revision does not match its checksum")


def test_a_page_that_is_as_it_was_once_is_refused(path: Path) -> None:
    """A write that got lost, or went elsewhere: each row of such a page has a right checksum."""

    async def more() -> None:
        store = await SqliteStore.open(path)
        for number in range(60):
            await store.transact([], {f"topics/{number % 20:03}": b'["%d"]' % number * 60})
        await store.transact([], {"topics/new": b"[]"}, ["topics/003"])
        await store.close()

    asyncio.run(more())
    before = path.read_bytes()
    asyncio.run(more())
    after = path.read_bytes()
    size = 4096
    stale = [at for at in range(0, len(before), size) if before[at : at + size] != after[at : at + size]]
    assert len(stale) > 3
    for at in stale:
        path.write_bytes(after[:at] + before[at : at + size] + after[at + size :])
        if at:  # SQLite writes its own first page anew
            refused(path, "")
    path.write_bytes(after)
    assert asyncio.run(stored(path))[0] == 122


def test_the_line_names_the_key_also_when_only_that_one_is_asked_for(path: Path) -> None:
    asyncio.run(written(path))
    change(path, DAMAGE["value"])
    refused(path, f"the entry '{KEY}' does not match")

    async def body() -> None:
        store = await SqliteStore.open(path)
        with pytest.raises(StoreError, match=f"the entry '{KEY}' does not match"):
            await store.get(KEY)
        await store.transact([], {KEY: b"[3]"})  # what is written anew is as good as any
        assert await store.get(KEY) == Entry(KEY, b"[3]", 3)
        await store.close()

    run(body)


@pytest.mark.parametrize("where", [KEY.encode(), VALUE], ids=["key", "value"])
def test_every_bit_of_a_row_counts(path: Path, where: bytes) -> None:
    asyncio.run(written(path))
    sound = path.read_bytes()
    assert sound.count(where) == 1
    for position in range(sound.index(where), sound.index(where) + len(where)):
        damaged = bytearray(sound)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        refused(path, "does not match its checksum")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE head SET revision = revision - 1",
        "UPDATE head SET revision = 'x'",
        "UPDATE head SET crc = crc + 1",
        "INSERT INTO head SELECT * FROM head",
        "DELETE FROM head",
    ],
)
def test_a_damaged_head_is_refused_when_the_file_is_opened(path: Path, statement: str) -> None:
    asyncio.run(written(path))
    change(path, statement)
    refused(path, "the row with the revision does not match its checksum")


@pytest.mark.parametrize("statement", ["DROP TABLE head", "ALTER TABLE entries RENAME crc TO crb"])
def test_a_file_with_other_tables_is_refused(path: Path, statement: str) -> None:
    """It is not taken for a new one, nor for one of an earlier version: that would bless what it has."""
    asyncio.run(written(path))
    change(path, statement)
    before = path.read_bytes()
    refused(path, "its tables are none that kproto made")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("where", "bit", "what"),
    [
        (b"SQLite format 3", 0, "cannot open the metadata store: file is not a database"),
        (b"entriesentries", 0, "cannot open the metadata store: malformed database schema"),
        (b"entriesentries", 7, "cannot open the metadata store: 'utf-8' codec can't decode"),
    ],
)
def test_a_file_that_sqlite_cannot_read_is_told_in_one_line(
    path: Path, where: bytes, bit: int, what: str
) -> None:
    asyncio.run(written(path))
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(where)] ^= 1 << bit
    path.write_bytes(damaged)
    refused(path, what)


def test_wherever_a_bit_flips_nothing_else_than_what_was_written_is_believed(path: Path) -> None:
    """Also where SQLite keeps how many rows there are: the first flips."""
    sound = asyncio.run(written(path))
    file = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'entries'"
        page = (connection.execute(query).fetchone()[0] - 1) * 4096
    dice = random.Random(8)
    used = [position for position, byte in enumerate(file) if byte]
    telling = [(page + 4, 0), (page + 4, 2)]
    flips = telling + [(dice.choice(used), dice.randrange(8)) for _ in range(200)]
    for position, bit in flips:
        damaged = bytearray(file)
        damaged[position] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            found = asyncio.run(asyncio.wait_for(stored(path), 60))
        except StoreError:
            continue
        assert found == sound, (position, bit)
        assert (position, bit) not in telling


def test_a_damaged_row_is_no_business_of_who_writes_at_the_same_time(path: Path) -> None:
    asyncio.run(written(path))
    change(path, DAMAGE["value"])

    async def body() -> None:
        store = await SqliteStore.open(path)
        queued = threading.Event()
        waiting = asyncio.ensure_future(store._submit(lambda _: queued.wait(60)))
        await asyncio.sleep(0)
        both = asyncio.gather(store.range(""), store.transact([], {"n": b"1"}), return_exceptions=True)
        await asyncio.sleep(0)
        queued.set()
        await waiting
        read, done = await both
        assert isinstance(read, StoreError)
        assert done == (True, 3)
        assert await store.get("n") == Entry("n", b"1", 3)
        await store.close()

    run(body)


def test_a_file_of_an_earlier_version_gets_checksums(path: Path) -> None:
    entries = old_file(path)

    async def body() -> None:
        assert await stored(path) == (9, entries)
        store = await SqliteStore.open(path)
        assert await store.transact([], {"topics/t": b"[]"}, ["empty"]) == (True, 10)
        await store.close()
        assert await stored(path) == (10, [entries[0], entries[2], Entry("topics/t", b"[]", 10)])

    run(body)
    assert columns(path) == [["key", "value", "revision", "crc"], ["revision", "crc"]]
    change(path, DAMAGE["value"])
    refused(path, f"the entry '{KEY}' does not match its checksum")


@pytest.mark.parametrize("what", ["kind of value", "no text", "kind of key", "kind of revision"])
def test_what_no_earlier_version_can_have_written_is_not_blessed(path: Path, what: str) -> None:
    old_file(path)
    change(path, DAMAGE[what])
    refused(path, "does not match its checksum")
    refused(path, "does not match its checksum")


@pytest.mark.parametrize("statement", ["DELETE FROM head", "UPDATE head SET revision = 'x'"])
def test_an_earlier_version_without_a_head_is_refused(path: Path, statement: str) -> None:
    old_file(path)
    change(path, statement)
    refused(path, "the row with the revision is damaged")
    assert columns(path) == [["key", "value", "revision"], ["revision"]]


def test_a_file_gets_all_checksums_or_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = old_file(path)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_SET_HEAD", "UPDATE nowhere SET revision = ?, crc = ?")
        with pytest.raises(StoreError, match="cannot open the metadata store: no such table: nowhere"):
            asyncio.run(stored(path))
    assert columns(path) == [["key", "value", "revision"], ["revision"]]
    assert asyncio.run(stored(path)) == (9, entries)


@pytest.mark.parametrize(
    ("puts", "damage", "message"),
    [
        ({}, "UPDATE entries SET value = x'7b' WHERE key = 'format'", "'format' does not match its checksum"),
        ({"configs/default": b'{"a":'}, "", r"under 'configs/default' cannot be read \(JSONDecodeError"),
        ({"fenced/2": b"["}, "", r"under 'fenced/2' cannot be read \(JSONDecodeError"),
        ({"producers/next": b"1x"}, "", r"under 'producers/next' cannot be read \(ValueError"),
    ],
)
def test_a_broker_does_not_start_and_says_why_in_one_line(
    tmp_path: Path, puts: dict[str, bytes], damage: str, message: str
) -> None:
    settings = {"node.id": "1", "listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(tmp_path)}

    async def once() -> None:
        broker = Broker(load(None, settings))
        await broker.start()
        await broker.stop()

    async def write() -> None:
        store = await SqliteStore.open(tmp_path / "metadata.sqlite")
        await store.transact([], puts)
        await store.close()

    run(once)
    run(write)
    if damage:
        change(tmp_path / "metadata.sqlite", damage)
    with pytest.raises(StartError, match=message) as caught:
        run(once)
    assert "restore the metadata from a backup" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
