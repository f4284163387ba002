"""The controller rests between its looks at missing copies, but not while a recovery waits for one.

Looks take long here.
"""

from __future__ import annotations

from typing import Any

import pytest

from kproto.controller import upkeep
from kproto.controller.decision import Decision
from kproto.controller.loop import ControllerLoop
from kproto.controller.repair import decide_repaired
from kproto.controller.repair_pairs import Repair
from kproto.controller.upkeep import Upkeep
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import VlogTable, VsegId
from kproto.net.ports import Done
from kproto.wire.internal import Api

from .sim_cluster import SimBroker, SimCluster
from .virtual_time import run_virtual

REST_S = 8.0


@pytest.fixture(autouse=True)
def long_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "upkeep_rest", lambda _: REST_S)


async def has_looked(cluster: SimCluster, within_s: float) -> bool:
    """Whether all changes so far are seen in time."""
    until = cluster.loop.now + within_s
    while (found := cluster.control.repairs())["seen"] < found["changes"]:
        if cluster.loop.now > until:
            return False
        await cluster.sleep(0.01)
    return True


def test_what_a_recovery_begins_to_wait_for_is_looked_at_at_once() -> None:
    async def body() -> None:
        cluster = SimCluster(4)
        await cluster.start()
        await cluster.sleep(3 * REST_S)
        cluster.control._upkeep.look_again()
        assert await has_looked(cluster, REST_S)
        cluster.control._upkeep.look_again()
        assert not await has_looked(cluster, 1), "it rests"
        cluster.control._upkeep.hurry({VsegId(1, 0, 0)})
        assert await has_looked(cluster, 0.1)
        cluster.control._upkeep.look_again()
        cluster.control._upkeep.hurry({VsegId(1, 0, 0)})
        assert not await has_looked(cluster, 1), "it waits for nothing else"
        await cluster.stop()

    run_virtual(body())


async def nobody_is_listed(cluster: SimCluster) -> VsegId:
    """The owner decides alone where its virtual segment ends, and then it dies: its backups come back, and
    nobody lists them any more."""
    await cluster.start()
    await cluster.topic("t", 4, 3)
    vseg = await cluster.write(2, 0, 0, 100)
    cluster.kill(2, 1, 3, 4)
    await cluster.sleep(1)
    await cluster.restart(2)
    await cluster.sleep(12 + REST_S)
    assert not cluster.controller.table.vsegs[vseg.id].open
    cluster.kill(2)
    await cluster.sleep(REST_S + 1)
    for node in (1, 3, 4):
        await cluster.restart(node)
    return vseg.id


def test_who_comes_is_asked_at_once_for_what_a_recovery_waits_for() -> None:
    """The backups are asked whether they have it all the same (17)."""

    async def body() -> None:
        cluster = SimCluster(4)
        vseg = await nobody_is_listed(cluster)
        await cluster.sleep(REST_S / 2)
        assert cluster.controller.table.vsegs[vseg].backups
        await cluster.stop()

    run_virtual(body())


def test_who_says_that_it_has_the_last_copy_is_asked_again_when_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its answer was taken for one that it has none, so that it was never asked again."""
    refused: list[int] = []
    cannot_write = True

    def decide(image: MetadataImage, table: VlogTable, repair: Repair) -> Decision[bool]:
        if cannot_write:
            refused.append(repair.target.node_id)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the disk is full")
        return decide_repaired(image, table, repair)

    monkeypatch.setattr(upkeep, "decide_repaired", decide)

    async def body() -> None:
        nonlocal cannot_write
        cluster = SimCluster(4)
        vseg = await nobody_is_listed(cluster)
        await cluster.sleep(3 * REST_S)
        assert refused
        cannot_write = False
        await cluster.sleep(3 * REST_S)
        assert cluster.controller.table.vsegs[vseg].backups
        await cluster.stop()

    run_virtual(body())


def test_while_nothing_can_be_written_no_more_copies_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each broker in turn got one, of everything that lacked one."""
    targets: list[int] = []

    def decide(image: MetadataImage, table: VlogTable, repair: Repair) -> Decision[bool]:
        targets.append(repair.target.node_id)
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the disk is full")

    monkeypatch.setattr(upkeep, "decide_repaired", decide)

    async def body() -> None:
        cluster = SimCluster(7)
        await cluster.start()
        await cluster.topic("t", 4, 3)
        vseg = await cluster.write(2, 0, 0, 100)
        await cluster.write(2, 1, 100, 200)
        cluster.kill(vseg.backups[0].node_id)
        await cluster.sleep(90)
        await cluster.stop()

    run_virtual(body())
    assert len(targets) > 3
    assert len(set(targets)) == 1


def test_that_a_target_does_not_answer_is_not_said_of_each_copy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A line for each of them and each try: thousands, while a broker hangs."""
    tries: list[int] = []

    def serve(cluster: SimCluster, broker: SimBroker, api: int, body: memoryview, done: Done) -> None:
        if api == Api.REPAIR:
            tries.append(broker.node)
            done(None)
        else:
            real(cluster, broker, api, body, done)

    real = SimCluster._serve
    monkeypatch.setattr(SimCluster, "_serve", serve)

    async def body() -> None:
        cluster = SimCluster(4)
        await cluster.start()
        await cluster.topic("t", 4, 3)
        for seq in range(20):
            await cluster.write(2, seq, 100 * seq, 100 * seq + 100)
        cluster.kill(2)
        await cluster.sleep(90)
        await cluster.stop()

    run_virtual(body())
    told = [line for line in caplog.messages if "could not be made" in line]
    assert len(tries) > 20
    assert 1 < len(told) <= 2 * len(set(tries))
    assert all(line.startswith("a copy of virtual segment 2/0/") for line in told)
    assert sum("more since" in line for line in told) > 0


def test_what_nobody_expected_ends_no_part_of_the_controller(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its task ended, and nobody was fenced, recovered or repaired until the broker was restarted."""
    failed: list[str] = []

    def fail_once(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def call(*args: Any) -> Any:
            if name not in failed:
                failed.append(name)
                raise ValueError(name)
            return real(*args)

        monkeypatch.setattr(owner, name, call)

    parts: list[tuple[type, str]] = [(ControllerLoop, "_close_vsegs"), (ControllerLoop, "_fence")]
    parts += [(Upkeep, "_order_repairs"), (upkeep.Arranger, "look")]
    for owner, name in parts:
        fail_once(owner, name)

    async def body() -> None:
        cluster = SimCluster(5)
        await cluster.start()
        await cluster.topic("t", 4, 3)
        vseg = await cluster.write(2, 0, 0, 100)
        cluster.cut(2, vseg.backups[0].node_id)
        await cluster.sleep(300)
        record = cluster.controller.table.vsegs[vseg.id]
        assert 2 not in cluster.controller.image.brokers
        assert not record.open
        assert vseg.backups[0] not in record.backups
        assert len(record.backups) == 3
        await cluster.stop()

    run_virtual(body())
    assert set(failed) == {name for _, name in parts}
    assert sum(record.exc_info is not None for record in caplog.records) == len(parts)
