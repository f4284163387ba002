"""What a broker does by time: one part of it that fails ends no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kproto.broker import Broker
from kproto.disk import Disk
from kproto.log.manager import LogManager
from kproto.member import ClusterMember
from kproto.vlog.manager import VlogManager
from tests.descriptors import data_files_closed
from tests.test_failed_sync import PATIENCE_S, broker_on

__all__ = ["data_files_closed"]
PARTS = ["log", "opening", "virtual logs", "member"]


@pytest.mark.parametrize("failing", PARTS)
def test_what_fails_each_time_keeps_nothing_else_from_being_done(
    tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def part(name: str) -> bool:
        done.append(name)
        if name == failing:
            raise OSError("made up")
        return False

    async def two_rounds() -> None:
        broker = broker_on(tmp_path, Disk(), **{"kproto.internal.listen": "127.0.0.1:0"})
        await broker.start()
        with monkeypatch.context() as patched:
            patched.setattr(LogManager, "tick", lambda *_: part("log"))
            patched.setattr(Broker, "_open_recovered", lambda _: part("opening"))
            patched.setattr(VlogManager, "tick", lambda _: part("virtual logs"))
            patched.setattr(ClusterMember, "tick", lambda _: part("member"))
            while len(done) < 2 * len(PARTS):
                await asyncio.sleep(0.01)
        await broker.stop()

    asyncio.run(asyncio.wait_for(two_rounds(), PATIENCE_S))
    assert done == 2 * PARTS
    assert [one.message for one in caplog.records if one.exc_info] == 2 * [
        "housekeeping failed; trying again"
    ]
