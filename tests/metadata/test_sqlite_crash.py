"""kill -9 of a process that writes to the SQLite store: what was committed is there, nothing by halves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from kproto.metadata.sqlite import SqliteStore

from .stores import run

WRITER = """
import asyncio, sys
from kproto.metadata.sqlite import SqliteStore

async def main():
    store = await SqliteStore.open(sys.argv[1])
    _, entries = await store.range("n")
    number = int(entries[0].value) if entries else 0
    while True:
        number += 1
        text = b"%d" % number
        await store.transact([], {"n": text, "twin": text})
        print(number, flush=True)

asyncio.run(main())
"""


def test_committed_transactions_survive_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "metadata.db"
    acknowledged = 0
    for _ in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(20):
            acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split()
        writer.wait()
        acknowledged = int(rest[-1]) if rest else acknowledged

        async def body(at_least: int = acknowledged) -> None:
            store = await SqliteStore.open(path)
            revision, entries = await store.range("")
            values = {entry.key: int(entry.value) for entry in entries}
            assert values["n"] == values["twin"]
            assert at_least <= values["n"] <= at_least + 1
            assert revision == values["n"]
            await store.close()

        run(body)
