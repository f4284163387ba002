"""Elections that are not possible are refused as by Apache Kafka; see ``elections``."""

from __future__ import annotations

from difflib import ndiff
from pathlib import Path

from elections import speak

from tests.controller.virtual_time import run_virtual
from tests.groups.world import World

RECORDED = Path(__file__).parent / "answers" / "kafka-4.3.1-elections.txt"


async def _spoken() -> list[str]:
    world = World()
    await world.start()
    try:
        return await speak(world.call)
    finally:
        world.groups.close()


def test_elections_are_refused_as_by_apache_kafka() -> None:
    spoken = run_virtual(_spoken())
    kafkas = RECORDED.read_text().splitlines()
    assert [line for line in ndiff(kafkas, spoken) if line[0] in "+-"] == []
