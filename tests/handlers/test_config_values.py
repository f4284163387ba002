"""Config values are read, refused and shown as by Apache Kafka; see ``config_values``."""

from __future__ import annotations

from difflib import ndiff
from pathlib import Path

from config_values import STATIC, speak

from tests.controller.virtual_time import run_virtual
from tests.groups.world import World

RECORDED = Path(__file__).parent / "answers" / "kafka-4.3.1-config-values.txt"


async def _spoken() -> list[str]:
    world = World(**{name.replace(".", "_"): value for name, value in STATIC.items()})
    await world.start()
    try:
        return await speak(world.call, "0")
    finally:
        world.groups.close()


def test_values_are_read_and_shown_as_by_apache_kafka() -> None:
    spoken = run_virtual(_spoken())
    kafkas = RECORDED.read_text().splitlines()
    assert [line for line in ndiff(kafkas, spoken) if line[0] in "+-"] == []
