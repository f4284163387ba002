"""One conversation about elections that are not possible: raw requests.

``speak`` returns what was answered, a line each. Recording Apache Kafka's side:
``python tests/handlers/elections.py HOST:PORT`` (with the repository in ``PYTHONPATH``) against one broker
without topics; the output is ``answers/kafka-4.3.1-elections.txt``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from kproto.wire.generated.create_topics import CreatableTopic
from kproto.wire.generated.elect_leaders import TopicPartitions

CREATE_TOPICS, ELECT_LEADERS = 19, 43

Call = Callable[..., Awaitable[Any]]

_ASKED: tuple[tuple[tuple[str, tuple[int, ...]], ...] | None, ...] = (
    None,
    (),
    (("t", ()),),
    (("t", (0, 1)),),
    (("t", (0, 99, -1)), ("nope", (0,)), ("", (0,))),
    (("t", (0, 0)),),
    (("t", (0,)), ("u", ()), ("t", (1,))),
)


async def speak(call: Call) -> list[str]:
    """The whole conversation."""
    made = [CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in ("t", "u")]
    await call(CREATE_TOPICS, 7, topics=made, timeout_ms=5000)
    await asyncio.sleep(0.5)
    lines = []
    for version in (0, 1, 2):
        for kind in (0, 1, 2, -1, 127) if version else (0,):
            for asked in _ASKED:
                topics = None
                if asked is not None:
                    topics = [TopicPartitions(topic=name, partitions=list(each)) for name, each in asked]
                fields = {"topic_partitions": topics, "timeout_ms": 1000}
                answer = await call(
                    ELECT_LEADERS, version, **fields, **({"election_type": kind} if version else {})
                )
                results = sorted(
                    (each.topic, part.partition_id, int(part.error_code))
                    for each in answer.replica_election_results
                    for part in each.partition_result
                )
                told = (each.topic for each in answer.replica_election_results)
                names = sorted(topic for topic in told if not topic.startswith("__"))
                lines.append(f"elect v{version} {kind} {asked}: {int(answer.error_code)} {names} {results}")
    return lines


async def _record(address: str) -> None:
    from tests.groups.conversation import Remote

    host, _, port = address.rpartition(":")
    sys.stdout.write("\n".join(await speak(Remote(host, int(port)).call)) + "\n")


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1]))
