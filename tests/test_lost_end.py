"""Metadata that came back without its end is not believed by any broker that has seen more of it: what it
does not list would be removed."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from pathlib import Path

import pytest
from aetcd import rpc

from kproto.broker import Broker, StartError
from kproto.config.store_url import EtcdUrl
from kproto.controller import NewTopic
from kproto.directory import SEEN_FILE
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.forwarding import RemoteController
from kproto.local_cluster import free_port
from kproto.metadata.etcd import EtcdStore
from kproto.metadata.etcd_layout import Layout, after
from tests.metadata.etcd_process import shared_etcd
from tests.test_foreign_cluster import broker, internal_address, once

LOST = "is without revision"
PAGE, FRAME_HEADER, WAL_HEADER = 4096, 24, 32
ALONE = {"kproto.internal.listen": ""}


async def create(one: Broker, *names: str) -> None:
    assert not isinstance(one._controller, RemoteController)
    for name in names:
        (outcome,) = await one._controller.create_topics([NewTopic(name)])
        assert outcome.error is None


def metadata(directory: Path) -> list[Path]:
    return [path for path in directory.glob("metadata.sqlite*") if path.suffix != ".reserve"]


def put_back(source: Path, target: Path) -> None:
    """The metadata of another copy of the directory."""
    for path in metadata(target):
        path.unlink()
    for path in metadata(source):
        shutil.copy(path, target / path.name)


async def killed(path: Path, names: list[str]) -> None:
    """A directory that was left cleanly, and copies as a killed broker leaves it after each topic."""
    one = broker(path / "running", 1, **ALONE)
    await one.start()
    for name in names:
        await create(one, name)
        shutil.copytree(path / "running", path / name)
    await one.stop()


async def topics_of(path: Path) -> set[str]:
    one = broker(path, 1, **ALONE)
    await one.start()
    found = set(one._controller.image.topics)
    await one.stop()
    return found


async def tried(path: Path) -> tuple[set[str], str]:
    """The topics that a start finds, or why there is none."""
    try:
        return await topics_of(path), ""
    except StartError as error:
        return set(), str(error)


def test_a_damaged_frame_of_the_log_hides_no_topic(tmp_path: Path) -> None:
    """SQLite says nothing, and goes on with what was before it."""
    names = ["a", "b", "c"]
    asyncio.run(killed(tmp_path, names))
    log = (tmp_path / "c" / "metadata.sqlite-wal").read_bytes()
    frames = (len(log) - WAL_HEADER) // (PAGE + FRAME_HEADER)
    assert frames > 6
    refused = 0
    for place in (5, *(WAL_HEADER + frame * (PAGE + FRAME_HEADER) + 1000 for frame in range(frames))):
        again = tmp_path / "again"
        shutil.copytree(tmp_path / "c", again)
        damaged = bytearray(log)
        damaged[place] ^= 1
        (again / "metadata.sqlite-wal").write_bytes(damaged)
        found, why = asyncio.run(tried(again))
        assert found == set(names) or LOST in why or "the metadata is empty" in why
        refused += bool(why)
        shutil.rmtree(again)
    assert refused >= frames - 1, "frames of an earlier round may be there"


def test_a_log_that_was_read_wrong_once_is_not_lost_by_the_start_that_it_stopped(tmp_path: Path) -> None:
    """SQLite takes what is before the damage into its file, and removes the log."""
    names = ["a", "b", "c"]
    asyncio.run(killed(tmp_path, names))
    log = tmp_path / "c" / "metadata.sqlite-wal"
    kept, sound = Path(f"{log}.refused"), log.read_bytes()
    damaged = bytearray(sound)
    damaged[-2 * PAGE] ^= 1
    log.write_bytes(damaged)
    for _ in range(2):
        assert LOST in asyncio.run(tried(tmp_path / "c"))[1]
        assert kept.read_bytes() == damaged
    kept.write_bytes(sound)
    kept.rename(log)
    assert asyncio.run(topics_of(tmp_path / "c")) == set(names)
    assert not kept.exists()


def test_a_log_that_is_damaged_from_its_begin_is_no_new_cluster(tmp_path: Path) -> None:
    asyncio.run(killed(tmp_path, ["a"]))
    log, file = tmp_path / "a" / "metadata.sqlite-wal", tmp_path / "a" / "metadata.sqlite"
    file.write_bytes(b"")  # nothing of the log is in the file yet
    sound = log.read_bytes()
    log.write_bytes(sound[:5] + bytes((sound[5] ^ 1,)) + sound[6:])
    for _ in range(2):
        assert "the metadata is empty" in asyncio.run(tried(tmp_path / "a"))[1]
    assert Path(f"{log}.refused").stat().st_size == len(sound)


def test_an_older_copy_is_refused_until_the_newer_one_is_back(tmp_path: Path) -> None:
    asyncio.run(killed(tmp_path, ["a", "b", "c"]))
    directory = tmp_path / "running"
    shutil.copytree(directory, tmp_path / "newest")
    for older in ("a", "b"):
        put_back(tmp_path / older, directory)
        for _ in range(2):
            with pytest.raises(StartError, match=LOST):
                asyncio.run(topics_of(directory))
    put_back(tmp_path / "newest", directory)
    assert asyncio.run(topics_of(directory)) == {"a", "b", "c"}
    put_back(tmp_path / "b", directory)
    (directory / SEEN_FILE).unlink()
    assert asyncio.run(topics_of(directory)) == {"a", "b"}, "whoever wants it can have it"


def test_a_whole_older_directory_serves_again(tmp_path: Path) -> None:
    asyncio.run(killed(tmp_path, ["a", "b", "c"]))
    assert asyncio.run(topics_of(tmp_path / "b")) == {"a", "b"}


def test_a_broker_is_not_taken_by_metadata_without_what_it_saw_however_far_that_goes_on(
    tmp_path: Path,
) -> None:
    """The directory of the broker with the metadata was put back, and is right by itself."""
    first, older, second = tmp_path / "1", tmp_path / "older", tmp_path / "2"

    async def seen() -> None:
        await once(first, 1)
        shutil.copytree(first, older)
        leader = broker(first, 1)
        await leader.start()
        await create(leader, "lost")
        follower = broker(second, 2, internal_address(leader))
        await follower.start()
        await follower.stop()
        await leader.stop()

    async def met() -> None:
        leader = broker(older, 1)
        await leader.start()
        for name in ["x", "y", "z"] * 3:
            with pytest.raises(StartError, match=f"INCONSISTENT_CLUSTER_ID.*{LOST}"):
                await once(second, 2, internal_address(leader))
            await create(leader, f"{name}-{secrets.token_hex(4)}")
        assert 2 not in leader._controller.image.brokers
        (second / SEEN_FILE).unlink()
        await once(second, 2, internal_address(leader))
        await leader.stop()

    asyncio.run(seen())
    asyncio.run(met())


def test_a_broker_that_runs_does_not_follow_metadata_that_went_on_from_an_older_copy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is at a later revision than what the broker knows, and none of it follows from that."""
    first, older, port = tmp_path / "1", tmp_path / "older", free_port()
    here = {"kproto.internal.listen": f"127.0.0.1:{port}"}

    async def body() -> None:
        leader = broker(first, 1, **here)
        await leader.start()
        follower = broker(tmp_path / "2", 2, internal_address(leader))
        await follower.start()
        shutil.copytree(first, older)
        await create(leader, "lost")
        async with asyncio.timeout(60):
            while "lost" not in follower._controller.image.topics:
                await asyncio.sleep(0.01)
            await leader.stop()
            again = broker(older, 1, **here)
            await again.start()
            while not follower.fenced.is_set():
                await create(again, f"another-{secrets.token_hex(4)}")
                await asyncio.sleep(0.05)
        assert set(follower._controller.image.topics) == {"lost"}
        assert "(INCONSISTENT_CLUSTER_ID: " in caplog.text
        assert again._controller.image.revision > follower._controller.image.revision
        await follower.stop()
        await again.stop()

    asyncio.run(body())


class Prefix:
    """All that etcd has of one cluster, to be put back later."""

    def __init__(self, store: EtcdStore, root: bytes) -> None:
        self._store, self._root = store, root
        self._kept: list[tuple[bytes, bytes]] = []

    async def keep(self) -> None:
        asked = rpc.RangeRequest(key=self._root, range_end=after(self._root))
        found = await self._store._members.call(lambda member: member.kv.Range, asked)
        self._kept = [(kv.key, kv.value) for kv in found.kvs if b"/@leases/" not in kv.key]

    async def put_back(self) -> None:
        for part in (b"entries/", b"head"):
            begin = self._root + part
            asked = rpc.DeleteRangeRequest(key=begin, range_end=after(begin))
            await self._store._members.call(lambda member: member.kv.DeleteRange, asked)
        for key, value in self._kept:
            request = rpc.PutRequest(key=key, value=value)
            await self._store._members.call(lambda member: member.kv.Put, request)


def test_older_metadata_in_etcd_is_not_gone_on_with(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither by the controller that runs, nor by one that is elected, nor by one that starts."""
    url = EtcdUrl((shared_etcd(),), f"tests/{secrets.token_hex(8)}")
    shared = {"kproto.metadata.store": f"etcd://{url.endpoints[0]}/{url.prefix}"}

    async def body() -> None:
        running = broker(tmp_path, 1, **shared)
        await running.start()
        store = await EtcdStore.open(url)
        prefix = Prefix(store, Layout(url.prefix).root)
        member = running._member
        assert member is not None
        assert member._election is not None
        assert member._seat is not None
        await member.controller.propose("recoveries", None)
        controller = member._seat.controller
        assert controller is not None
        await prefix.keep()
        (outcome,) = await controller.create_topics([NewTopic("lost")])
        assert outcome.error is None
        while "lost" not in running._controller.image.topics:
            await asyncio.sleep(0.01)
        await prefix.put_back()
        (outcome,) = await controller.create_topics([NewTopic("next")])
        assert isinstance(outcome.error, KafkaError)
        assert outcome.error.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert "an older copy is in its place" in str(outcome.error)
        member._election.step_down("the test says so")
        async with asyncio.timeout(60):
            while "cannot be controller: " not in caplog.text:
                await asyncio.sleep(0.01)
        await running.stop()
        with pytest.raises(StartError, match=LOST):
            await once(tmp_path, 1, **shared)
        (tmp_path / SEEN_FILE).unlink()
        await once(tmp_path, 1, **shared)
        await store.close()

    asyncio.run(body())
