"""The settings of virtual logs change while a broker runs, by what a client sends, and are there after a
restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kproto.broker import Broker
from kproto.config import ConfigError, load, topic_config
from kproto.wire.generated import incremental_alter_configs as api
from tests.groups.members import Members, members

INCREMENTAL_ALTER_CONFIGS = 44
BROKER_RESOURCE = 4
SET = 0


InForce = tuple[int, int, float, float, float]


def in_force(broker: Broker) -> InForce:
    vlogs, shared = broker._vlogs, broker._vlogs._replication
    assert shared is not None
    return vlogs._per_broker, vlogs.space._file_bytes, shared.stall_s, shared.age_s, shared.linger_s


async def wait_for(broker: Broker, expected: InForce) -> None:
    async with asyncio.timeout(60):
        while in_force(broker) != expected:
            await asyncio.sleep(0.005)


async def change(cluster: Members, node_id: int, wanted: dict[str, str]) -> Any:
    """Set configs of all brokers through one of them."""
    configs = [
        api.AlterableConfig(name=name, config_operation=SET, value=value) for name, value in wanted.items()
    ]
    resource = api.AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name="", configs=configs)
    return await cluster.call(
        node_id, INCREMENTAL_ALTER_CONFIGS, 1, resources=[resource], validate_only=False
    )


def test_a_client_changes_them_for_every_broker(tmp_path: Path) -> None:
    wanted = {
        "kproto.vlogs.per.broker": "3",
        "kproto.virtual.segment.bytes": "2097152",
        "kproto.backup.stall.ms": "750",
        "kproto.virtual.segment.ms": "5000",
        "kproto.push.linger.max.ms": "7",
    }
    after = (3, 2_097_152, 0.75, 5, 0.007)

    async def main() -> None:
        async with members(tmp_path, 2) as cluster:
            for broker in cluster.brokers.values():
                assert in_force(broker) == (1, 67_108_864, 0.5, 3600, 0.02)
            answer = await change(cluster, 2, wanted)
            assert [one.error_code for one in answer.responses] == [0]
            for broker in cluster.brokers.values():
                await wait_for(broker, after)
            await cluster.stop(2)
            await cluster.start(2)
            await wait_for(cluster.brokers[2], after)

    asyncio.run(main())


def test_a_value_that_does_not_go_with_a_brokers_own_file_stops_nothing(tmp_path: Path) -> None:
    """Another broker's journal may be larger; the controller checks with its own settings."""
    own = load(None, {"kproto.journal.bytes": "16777216", "kproto.virtual.segment.bytes": "4194304"})
    try:
        own.with_texts({"kproto.virtual.segment.bytes": "33554432"})
    except ConfigError:
        pass
    else:
        raise AssertionError("the test has lost its point")

    async def main() -> None:
        async with members(tmp_path, 1) as cluster:
            cluster._settings |= {
                "kproto.journal.bytes": "16777216",
                "kproto.virtual.segment.bytes": "4194304",
            }
            await cluster.start(2)
            wanted = {"kproto.virtual.segment.bytes": "33554432", "log.retention.ms": "1000"}
            await change(cluster, 1, wanted)
            await wait_for(cluster.brokers[1], (1, 33_554_432, 0.5, 3600, 0.02))
            await cluster.until(lambda: cluster.image(2).revision == cluster.image(1).revision)
            assert in_force(cluster.brokers[2]) == (1, 4_194_304, 0.5, 3600, 0.02)
            assert topic_config({}, cluster.brokers[2]._logs.settings).retention_ms == 1000, "it goes"

    asyncio.run(main())
