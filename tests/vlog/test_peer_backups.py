"""Frames over real connections to real backup stores: what arrives, and what each error means."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kproto.clock import SystemClock
from kproto.disk import Disk
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.net.internal import InternalListener
from kproto.net.peers import Peers
from kproto.net.ports import Answer
from kproto.replica.service import ReplicaService
from kproto.replica.store import ReplicaStore, Workers
from kproto.vlog.peer_backups import PeerBackups, read_answer
from kproto.vlog.ports import OpenVseg, PushAnswer, PushOutcome
from kproto.vlog.recovery import recover
from kproto.vlog.worker import Worker
from kproto.wire.internal import InternalError
from tests.vlog.support import BOOT, World

SECRET = "s"


class Backup:
    """A listener with a replica store behind it."""

    def __init__(self, node_id: int, directory: Path, peers: Peers) -> None:
        directory.mkdir()
        self.target = CopyTarget(node_id, f"store-{node_id}")
        loop = asyncio.get_running_loop()
        self.workers = [Worker(loop, f"test-{node_id}-{i}") for i in range(4)]
        poison: list[str] = []
        self.store = ReplicaStore(
            str(directory),
            Disk(),
            SystemClock(),
            loop,
            Workers(*self.workers),
            BOOT,
            self.target,
            poison.append,
            new_directory=True,
        )
        self.listener = InternalListener(SECRET, node_id=node_id)
        ReplicaService(self.store, peers, str(directory)).register(self.listener)
        self.port = self.listener.bind("127.0.0.1", 0)
        self.listener.accept()

    def close(self) -> None:
        self.listener.close()
        for worker in self.workers:
            worker.close()


class Owner:
    """A manager whose topics have three copies, on two of three backups; the store says yes at once."""

    def __init__(self, directory: Path) -> None:
        loop = asyncio.get_running_loop()
        self.ports: dict[int, int] = {}
        self.peers = Peers(1, SECRET, lambda n: ("127.0.0.1", self.ports[n]), lambda: 5)
        self.backups = {n: Backup(n, directory / str(n), self.peers) for n in (2, 3, 4)}
        self.ports = {n: backup.port for n, backup in self.backups.items()}
        self.world = World.start(str(directory / "1"), loop, epoch=5)
        self.lost = 0
        self.opened: list[tuple[CopyTarget, ...]] = []
        self.stores = {n: backup.target.store_id for n, backup in self.backups.items()}
        self.revision = 0
        """At which metadata has all virtual segments; 0: it has none."""
        backups = PeerBackups(self.peers, self.stores.get, lambda *_: self.revision)
        self.world.manager.replicate(backups, self, lambda *_: 3)
        self.world.manager.members_changed([2, 3, 4])

    def open_next(self, request: OpenVseg, done: Callable[..., object]) -> None:
        able = [b.target for n, b in self.backups.items() if n not in request.exclude]
        self.opened.append(tuple(able[:2]))
        done(self.opened[-1])

    def on_ownership_lost(self) -> None:
        self.lost += 1

    async def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            await asyncio.sleep(0.002)

    async def close(self) -> None:
        self.world.manager.close()
        self.peers.close()
        for backup in self.backups.values():
            backup.close()
        await asyncio.sleep(0)


def run(directory: Path, test: Callable[[Owner], Any]) -> None:
    async def main() -> None:
        owner = Owner(directory)
        try:
            await asyncio.wait_for(test(owner), 120)
        finally:
            await owner.close()

    asyncio.run(main())


def same_bytes(owner: Owner, seq: int) -> None:
    """The copies of a segment are what the journal is, byte for byte."""
    files = [Path(owner.backups[t.node_id].store.path_of(VsegId(5, 1, seq))) for t in owner.opened[seq - 1]]
    journal = Path(owner.world.journal_path()) / f"{5:016x}-{1:016x}-{seq:08x}.journal"
    end = 128 + owner.world.manager.state()[0]["segments"][seq - 1][2]
    for file in files:
        assert file.read_bytes()[:end] == journal.read_bytes()[:end]


def test_copies_are_the_journal_byte_for_byte(tmp_path: Path) -> None:
    async def test(owner: Owner) -> None:
        part = owner.world.partition()
        for i in range(50):
            part.append(2000 + i)
            await asyncio.sleep(0)
        await owner.until(lambda: part.high_watermark == 50)
        same_bytes(owner, 1)
        found = recover(Disk(), owner.world.journal_path(), (), BOOT)
        assert len(found.chunks[part.topic_id, 0]) == 50

    run(tmp_path, test)


def test_backups_hear_when_the_store_knew_of_their_copies(tmp_path: Path) -> None:
    async def test(owner: Owner) -> None:
        owner.revision = 0x0102030405060708
        part = owner.world.partition()
        for i in range(5):
            part.append(2000 + i)
            await asyncio.sleep(0)
        await owner.until(lambda: part.high_watermark == 5)
        same_bytes(owner, 1)
        copies = [owner.backups[t.node_id].store.copies[VsegId(5, 1, 1)] for t in owner.opened[0]]
        assert [copy.known for copy in copies] == [owner.revision] * 2

    run(tmp_path, test)


def test_a_backup_whose_process_ends_is_replaced(tmp_path: Path) -> None:
    async def test(owner: Owner) -> None:
        part = owner.world.partition()
        part.append()
        await owner.until(lambda: part.high_watermark == 1)
        owner.backups[2].listener.close()
        part.append()
        await owner.until(lambda: part.high_watermark == 2)
        assert [[t.node_id for t in targets] for targets in owner.opened] == [[2, 3], [3, 4]]
        assert not owner.lost

    run(tmp_path, test)


def test_a_fence_at_a_backup_ends_the_ownership(tmp_path: Path) -> None:
    async def test(owner: Owner) -> None:
        part = owner.world.partition()
        part.append()
        await owner.until(lambda: part.high_watermark == 1)
        sealed: list[Any] = []
        owner.backups[3].store.seal(VsegId(5, 1, 1), 6, lambda *answer: sealed.append(answer))
        await owner.until(lambda: sealed)
        told: list[bool] = []
        part.vlog.when_durable(part.append(), lambda: told.append(part.vlog.lost))
        await owner.until(lambda: told)
        assert told == [True]
        assert (owner.lost, part.high_watermark) == (1, 1)

    run(tmp_path, test)


def test_nothing_is_sent_to_a_broker_with_another_directory(tmp_path: Path) -> None:
    """Rule 3: what it holds is no copy of anything it was listed for."""

    async def test(owner: Owner) -> None:
        owner.stores[2] = "another"
        part = owner.world.partition()
        part.append()
        await owner.until(lambda: part.high_watermark == 1)
        assert [t.node_id for t in owner.opened[-1]] == [3, 4]
        assert not owner.backups[2].store.copies

    run(tmp_path, test)


def test_a_directory_that_was_replaced_before_metadata_tells_takes_nothing(tmp_path: Path) -> None:
    """Rule 3: its broker started, and has not registered yet. What it took would have counted as a copy, and
    metadata would have listed one that is gone."""

    async def test(owner: Owner) -> None:
        store = owner.backups[2].store
        store.me = store.me._replace(store_id="replaced")
        part = owner.world.partition()
        part.append()
        await owner.until(lambda: part.high_watermark == 1)
        assert [t.node_id for t in owner.opened[-1]] == [3, 4]
        assert not store.copies

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (InternalError.NONE, PushOutcome.STORED),
        (InternalError.FENCED, PushOutcome.FENCED),
        (InternalError.GAP, PushOutcome.GAP),
        (InternalError.FULL, PushOutcome.FULL),
        *((error, PushOutcome.REFUSED) for error in InternalError if error not in (0, 1, 2, 5)),
        (12345, PushOutcome.REFUSED),
    ],
)
def test_what_an_answer_says(error: int, outcome: PushOutcome) -> None:
    answer = partial(Answer, error)
    assert read_answer(answer(memoryview((77).to_bytes(8, "big")))) == PushAnswer(outcome, 77)
    without = PushOutcome.REFUSED if outcome is PushOutcome.STORED else outcome
    assert read_answer(answer(memoryview(b"1234567"))) == PushAnswer(without), "no position, no promise"
