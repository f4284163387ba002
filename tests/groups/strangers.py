"""Wrong requests to a broker that does not coordinate the group: which of the errors is told. Raw requests.

``speak`` returns what was answered, a line each; a broker where nobody has asked for a coordinator yet
coordinates nothing. Recording Apache Kafka's side: ``python -m tests.groups.strangers HOST:PORT`` against a
broker that has just been set up; the output is ``answers/kafka-4.3.1-strangers.txt``.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from kproto.wire.generated.create_topics import CreatableTopic
from kproto.wire.generated.join_group import JoinGroupRequestProtocol
from kproto.wire.generated.leave_group import MemberIdentity
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kproto.wire.messages import codec
from tests.groups.world import (
    COMMIT,
    DELETE_GROUPS,
    DESCRIBE,
    FETCH,
    FIND,
    HEARTBEAT,
    JOIN,
    LEAVE,
    OFFSET_DELETE,
    SYNC,
)

Call = Callable[..., Awaitable[Any]]
Request = tuple[int, int, dict[str, Any]]

GROUPS = ("", "g")
METADATA = 3


def _joins() -> Iterator[Request]:
    protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
    for version in (0, 4, 9):
        for group in GROUPS:
            for session in (10, 10_000):
                for given in ([], protocols):
                    for kind in ("", "consumer"):
                        for member in ("", "x"):
                            fields = {"group_id": group, "session_timeout_ms": session, "member_id": member}
                            fields |= {"protocol_type": kind, "protocols": given}
                            if version >= 1:
                                fields["rebalance_timeout_ms"] = 1000
                            good = group and session == 10_000 and given and kind and not member
                            if not good:  # else it would become a member
                                yield JOIN, version, fields
    for instance in ("", "i"):
        for group in GROUPS:
            fields = {"group_id": group, "session_timeout_ms": 10, "group_instance_id": instance}
            yield JOIN, 9, fields | {"rebalance_timeout_ms": 1000}


def _memberships() -> Iterator[Request]:
    for group in GROUPS:
        for version in (0, 3, 4):
            for member in ("", "x"):
                for generation in (-1, 1):
                    yield (
                        HEARTBEAT,
                        version,
                        {"group_id": group, "member_id": member, "generation_id": generation},
                    )
        for version in (0, 3, 5):
            for member in ("", "x"):
                fields = {"group_id": group, "member_id": member, "generation_id": 1}
                yield SYNC, version, fields
                if version >= 5:
                    yield SYNC, version, fields | {"protocol_type": "consumer"}
                    yield SYNC, version, fields | {"protocol_name": "range"}
                    yield SYNC, version, fields | {"protocol_type": "consumer", "protocol_name": "range"}
                    yield SYNC, version, fields | {"protocol_type": "", "protocol_name": ""}
        for version in (0, 2):
            yield LEAVE, version, {"group_id": group, "member_id": "x"}
            yield LEAVE, version, {"group_id": group, "member_id": ""}
        one = MemberIdentity(member_id="x", group_instance_id=None)
        for version in (3, 5):
            for members in ([], [one], [one, one]):
                yield LEAVE, version, {"group_id": group, "members": members}


def _offsets(topic_id: bytes) -> Iterator[Request]:
    for group in GROUPS:
        for version in (2, 6, 7, 8, 9, 10):
            for generation, member in ((-1, ""), (1, ""), (1, "x"), (-1, "x")):
                for names in ((), ("t",), ("nope",), ("t", "nope")):
                    topics = [_commit(version, name, topic_id) for name in names]
                    fields = {"group_id": group, "generation_id_or_member_epoch": generation}
                    if (generation, names) != (-1, ("t",)) and (generation, names) != (-1, ("t", "nope")):
                        yield COMMIT, version, fields | {"member_id": member, "topics": topics}
        for version in (1, 2, 5, 7):
            asked = [OffsetFetchRequestTopic(name=name, partition_indexes=[0, 99]) for name in ("t", "nope")]
            for topics in ([], asked, *([None] if version >= 2 else [])):
                yield FETCH, version, {"group_id": group, "topics": topics}
        for version in (8, 9, 10):
            for topics in ([], _fetched(version, topic_id), None):
                one = OffsetFetchRequestGroup(group_id=group, topics=topics)
                yield FETCH, version, {"groups": [one]}
        for names in ((), ("t",), ("nope",), ("t", "nope")):
            parts = [OffsetDeleteRequestPartition(partition_index=index) for index in (0, 99)]
            topics = [OffsetDeleteRequestTopic(name=name, partitions=parts) for name in names]
            yield OFFSET_DELETE, 0, {"group_id": group, "topics": topics}
    yield FETCH, 8, {"groups": [OffsetFetchRequestGroup(group_id=group, topics=None) for group in GROUPS]}


def _commit(version: int, name: str, topic_id: bytes) -> OffsetCommitRequestTopic:
    """A partition that may exist, one that does not, and one with too much metadata."""
    many = "m" * 5000
    parts = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1, committed_metadata=text)
        for index, text in ((0, ""), (99, ""), (1, many), (98, many))
    ]
    if version < 10:
        return OffsetCommitRequestTopic(name=name, partitions=parts)
    return OffsetCommitRequestTopic(topic_id=topic_id if name == "t" else bytes(15) + b"x", partitions=parts)


def _fetched(version: int, topic_id: bytes) -> list[OffsetFetchRequestTopics]:
    if version < 10:
        return [OffsetFetchRequestTopics(name=name, partition_indexes=[0, 99]) for name in ("t", "nope")]
    ids = (topic_id, bytes(15) + b"x")
    return [OffsetFetchRequestTopics(topic_id=each, partition_indexes=[0, 99]) for each in ids]


def _groups() -> Iterator[Request]:
    for version in (0, 5, 6):
        yield DESCRIBE, version, {"groups": list(GROUPS)}
    for version in (0, 2):
        yield DELETE_GROUPS, version, {"groups_names": list(GROUPS)}
        yield DELETE_GROUPS, version, {"groups_names": ["g", "g", "h"]}


class Listener:
    """Asks, and writes down the error codes."""

    def __init__(self, call: Call, topic_id: bytes) -> None:
        self.call = call
        self.topic_id = topic_id
        self.lines: list[str] = []

    async def all(self, where: str) -> None:
        for each in (_joins(), _memberships(), _offsets(self.topic_id), _groups()):
            for key, version, fields in each:
                answer = await self.call(key, version, **fields)
                asked = ", ".join(f"{name}={self._shown(value)}" for name, value in fields.items())
                self.lines.append(f"{where} {codec(key).name} v{version} {asked}")
                self.lines.append(f"    {self._errors(answer)}")

    def _shown(self, value: Any) -> str:
        if isinstance(value, list):
            return "[" + ", ".join(self._shown(item) for item in value) + "]"
        if hasattr(value, "__slots__"):
            names = ("name", "topic_id", "group_id", "topics", "partitions", "partition_indexes", "member_id")
            there = [name for name in names if getattr(value, name, None)]
            return "{" + ", ".join(f"{name}={self._shown(getattr(value, name))}" for name in there) + "}"
        if isinstance(value, bytes):
            return "ID" if value == self.topic_id else "OTHER"
        return repr(value)

    def _errors(self, answer: Any) -> str:
        """Names that tell what an error is about, and the errors."""
        if isinstance(answer, list | tuple):
            return "[" + ", ".join(sorted(self._errors(item) for item in answer)) + "]"
        if not hasattr(answer, "__slots__"):
            return str(int(answer)) if isinstance(answer, int) else repr(answer)
        told = (
            "error_code",
            "group_id",
            "name",
            "partition_index",
            "member_id",
            "generation_id",
            "group_state",
        )
        inside = ("topics", "partitions", "members", "groups", "results")
        names = [name for name in answer.__slots__ if name in told or name in inside]
        return "{" + ", ".join(f"{name}={self._errors(getattr(answer, name))}" for name in names) + "}"


async def speak(call: Call) -> str:
    """The whole conversation: nobody coordinates, then this broker does."""
    await call(
        19, 7, topics=[CreatableTopic(name="t", num_partitions=3, replication_factor=1)], timeout_ms=5000
    )
    await asyncio.sleep(0.5)
    topics = (await call(METADATA, 12, topics=None)).topics
    (topic_id,) = (topic.topic_id for topic in topics if topic.name == "t")
    listener = Listener(call, topic_id)
    await listener.all("elsewhere")
    for _ in range(100):
        found = await call(FIND, 3, key="g")
        beats = [(await call(HEARTBEAT, 4, group_id=g, generation_id=1, member_id="m")) for g in ("g", "h")]
        if found.error_code == 0 and all(beat.error_code == 25 for beat in beats):
            break
        await asyncio.sleep(0.2)
    await listener.all("here")
    return "\n".join(listener.lines) + "\n"


async def _record(address: str) -> None:
    from tests.groups.conversation import Remote

    host, _, port = address.rpartition(":")
    sys.stdout.write(await speak(Remote(host, int(port)).call))


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1]))
