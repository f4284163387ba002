"""Which error wins when a request is wrong and the broker is, too, as in Apache Kafka; see ``strangers``."""

from difflib import ndiff
from pathlib import Path

from tests.controller.virtual_time import run_virtual
from tests.groups.strangers import speak
from tests.groups.world import World

RECORDED = Path(__file__).parent / "answers" / "kafka-4.3.1-strangers.txt"


async def _spoken() -> list[str]:
    world = World(group_min_session_timeout_ms="6000")
    await world.start()
    try:
        return (await speak(world.call)).splitlines()
    finally:
        world.groups.close()


def test_the_errors_are_apache_kafkas() -> None:
    ours = run_virtual(_spoken())
    kafkas = RECORDED.read_text().splitlines()
    assert [line for line in ndiff(kafkas, ours) if line[0] in "+-"] == []
