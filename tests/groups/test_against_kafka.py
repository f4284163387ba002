"""The same conversation with our coordinator as with Apache Kafka 4.3.1, whose side was recorded.

Not compared: error texts, the broker's address, the order inside lists, and random ids.
"""

from pathlib import Path

from tests.controller.virtual_time import run_virtual
from tests.groups.conversation import speak
from tests.groups.world import FIND, World

RECORDED = Path(__file__).parent / "answers" / "kafka-4.3.1.txt"


def test_answers_are_apache_kafkas() -> None:
    async def scenario() -> str:
        world = World(group_min_session_timeout_ms="6000")
        await world.start("t")
        await world.call(FIND, 3, key="g")
        topic_id = world.controller.image.topics["t"].topic_id
        try:
            return await speak(world.call, "group-1", topic_id)
        finally:
            world.groups.close()

    ours = run_virtual(scenario()).splitlines()
    kafkas = RECORDED.read_text().splitlines()
    assert len(kafkas) > 200
    different = [
        (kafkas[i - 1], theirs, our)
        for i, (theirs, our) in enumerate(zip(kafkas, ours, strict=True))
        if theirs != our
    ]
    assert not different
