"""A broker that meets another cluster than its data directory's does not start, and loses nothing to it: what
that one's metadata does not list would be garbage (30)."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import pytest
from aetcd import rpc

from bench.failover.promises import wait_until
from kproto import broker as process
from kproto.broker import Broker, StartError
from kproto.cli.cluster import Cluster
from kproto.config import load
from kproto.config.store_url import EtcdUrl
from kproto.local_cluster import ClusterError, LocalCluster
from kproto.metadata import Entry, VsegId
from kproto.metadata.etcd import EtcdStore
from kproto.metadata.etcd_layout import Layout, after
from kproto.metadata.sqlite import SqliteStore
from kproto.replica.stored_file import file_name
from tests.metadata.etcd_process import shared_etcd

REFUSED = "^the metadata is empty, but this data directory is of cluster"
MET = "this broker waits for its cluster: the cluster does not take this broker: INCONSISTENT_CLUSTER_ID"
COPY = file_name(VsegId(1, 1, 1))


def broker(path: Path, node: int, join: str = "", **more: str) -> Broker:
    settings = {
        "node.id": str(node),
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "kproto.internal.listen": "127.0.0.1:0",
        "log.dirs": str(path),
    }
    return Broker(load(None, {**settings, **({"kproto.join": join} if join else {}), **more}))


def internal_address(leader: Broker) -> str:
    assert leader._member is not None
    return f"127.0.0.1:{leader._member.port}"


async def once(path: Path, node: int, join: str = "", **more: str) -> None:
    one = broker(path, node, join, **more)
    await one.start()
    await one.stop()


@pytest.mark.parametrize("alone", [False, True])
def test_a_controller_whose_metadata_is_gone_begins_no_other_cluster(tmp_path: Path, alone: bool) -> None:
    """It keeps its copies, and goes on with the metadata that is put back."""
    more = {"kproto.internal.listen": ""} if alone else {}
    asyncio.run(once(tmp_path, 1, **more))
    copy, metadata = tmp_path / "replicas" / COPY, tmp_path / "metadata.sqlite"
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(b"kept")
    metadata.rename(tmp_path / "backup")
    for _ in range(2):
        with pytest.raises(StartError, match=REFUSED):
            asyncio.run(once(tmp_path, 1, **more))
        assert not metadata.exists()
    assert asyncio.run(stored(metadata)) == (0, [])
    with pytest.raises(StartError, match=REFUSED):
        asyncio.run(once(tmp_path, 1, **more))
    assert asyncio.run(stored(metadata)) == (0, [])
    assert copy.read_bytes() == b"kept"
    (tmp_path / "backup").rename(metadata)
    asyncio.run(once(tmp_path, 1, **more))


async def stored(path: Path) -> tuple[int, list[Entry]]:
    """What the file has; it is there afterwards."""
    store = await SqliteStore.open(path)
    found = await store.range("")
    await store.close()
    return found


def test_brokers_whose_prefix_in_etcd_is_emptied_begin_no_other_cluster(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the one that runs, when it is elected again, nor one that starts."""
    url = EtcdUrl((shared_etcd(),), f"tests/{secrets.token_hex(8)}")
    shared = {"kproto.metadata.store": f"etcd://{url.endpoints[0]}/{url.prefix}"}

    async def body() -> None:
        running = broker(tmp_path, 1, **shared)
        await running.start()
        store, prefix = await EtcdStore.open(url), Layout(url.prefix).root
        everything = rpc.DeleteRangeRequest(key=prefix, range_end=after(prefix))
        deleted = await store._members.call(lambda member: member.kv.DeleteRange, everything)
        assert deleted.deleted > 5
        assert running._member is not None
        assert running._member._election is not None
        running._member._election.step_down("the test says so")
        async with asyncio.timeout(60):
            while "cannot be controller: the metadata is empty" not in caplog.text:
                await asyncio.sleep(0.01)
        await running.stop()
        with pytest.raises(StartError, match=REFUSED):
            await once(tmp_path, 1, **shared)
        assert await store.range("") == (0, [])
        await store.close()

    asyncio.run(body())


def test_a_broker_keeps_its_copies_when_its_cluster_has_begun_anew(tmp_path: Path) -> None:
    """The volume of the broker with the metadata was not there, so that it started as a new cluster."""
    mine, copy = tmp_path / "2", tmp_path / "2" / "replicas" / COPY

    async def among(cluster: str, refused: bool) -> None:
        leader = broker(tmp_path / cluster, 1)
        await leader.start()
        try:
            if refused:
                with pytest.raises(StartError, match="INCONSISTENT_CLUSTER_ID: This is cluster"):
                    await once(mine, 2, internal_address(leader))
                assert 2 not in leader._controller.image.brokers
            else:
                await once(mine, 2, internal_address(leader))
        finally:
            await leader.stop()

    asyncio.run(among("one", refused=False))
    copy.write_bytes(b"kept")
    asyncio.run(among("other", refused=True))
    assert copy.read_bytes() == b"kept"
    asyncio.run(among("one", refused=False))
    assert not copy.exists(), "of its own cluster it is garbage"


def test_a_member_that_waits_for_its_cluster_says_the_same_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It starts again each second, and every start said all that it has to say."""
    monkeypatch.setenv(process.STARTED_ANEW, "1")
    monkeypatch.setattr(process, "FOREIGN_REST_S", 0.0)
    asyncio.run(once(tmp_path / "2", 2))
    for mark in ("clean", "running"):
        (tmp_path / "2" / mark).unlink()

    async def body() -> None:
        leader = broker(tmp_path / "1", 1)
        await leader.start()
        tries = 0

        class Counted(Broker):
            async def start(self) -> None:
                nonlocal tries
                tries += 1
                await super().start()

        monkeypatch.setattr(process, "Broker", Counted)
        member = broker(tmp_path / "2", 2, internal_address(leader))
        waiting = asyncio.ensure_future(process._started(member._settings))
        async with asyncio.timeout(60):
            while tries < 4:
                await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait((waiting,))
        await leader.stop()

    asyncio.run(body())
    records = [record for record in caplog.records if record.name == process.__name__]
    said = [record.getMessage().partition(":")[0] for record in records]
    assert said == ["the machine was restarted", "this broker waits for its cluster"], caplog.text


def test_a_member_that_meets_another_cluster_waits_for_its_own(tmp_path: Path) -> None:
    """Who starts on the wrong one ends: nothing of it was there before."""
    other = LocalCluster.create(str(tmp_path / "other"), 1, 0, {})
    other.start()
    other.stop()
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 3, 0, {})
    cluster.start()
    data, log = Path(cluster.data_dir(1)), Path(cluster.log_path(2))
    try:
        cluster.kill(1)
        cluster.stop([3])
        data.rename(tmp_path / "kept")
        Path(other.data_dir(1)).rename(data)
        cluster.start([1])
        wait_until("broker 2 has met it", lambda: MET in log.read_text())
        with pytest.raises(ClusterError, match=r"node 3 did not start: .*INCONSISTENT_CLUSTER_ID"):
            cluster.start([3])
        cluster.stop([1])
        data.rename(tmp_path / "wrong")
        (tmp_path / "kept").rename(data)
        cluster.start([1])
        with Cluster(f"127.0.0.1:{cluster.nodes[0].port}") as asked:
            wait_until("broker 2 is back", lambda: sorted(asked.members()) == [1, 2])
        assert log.read_text().count(MET) == 1
    finally:
        cluster.stop()
