"""A broker that meets another cluster than its data directory's does not start, and loses nothing to it: what
that one's metadata does not list would be garbage (30)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kproto.broker import Broker, StartError
from kproto.config import load
from kproto.metadata import VsegId
from kproto.replica.stored_file import file_name

COPY = file_name(VsegId(1, 1, 1))


def broker(path: Path, node: int, join: str = "") -> Broker:
    settings = {
        "node.id": str(node),
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "kproto.internal.listen": "127.0.0.1:0",
        "log.dirs": str(path),
    }
    return Broker(load(None, {**settings, **({"kproto.join": join} if join else {})}))


def internal_address(leader: Broker) -> str:
    assert leader._member is not None
    return f"127.0.0.1:{leader._member.port}"


async def once(path: Path, node: int, join: str = "") -> None:
    one = broker(path, node, join)
    await one.start()
    await one.stop()


def test_a_controller_whose_metadata_is_gone_keeps_its_copies(tmp_path: Path) -> None:
    asyncio.run(once(tmp_path, 1))
    copy = tmp_path / "replicas" / COPY
    copy.write_bytes(b"kept")
    for file in tmp_path.glob("metadata.sqlite*"):
        file.unlink()
    with pytest.raises(StartError, match="belongs to cluster"):
        asyncio.run(once(tmp_path, 1))
    assert copy.read_bytes() == b"kept"


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
