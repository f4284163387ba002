"""One long conversation with a group coordinator, in raw requests, for comparing two brokers.

``speak`` sends it through any ``call(key, version, client, **fields)`` and returns what was said and
answered as text, with random parts (member ids, topic ids) replaced by stable names. Recording Apache
Kafka's side: ``python -m tests.groups.conversation HOST:PORT`` against a broker with
``group.initial.rebalance.delay.ms=0``; its output is ``answers/kafka-4.3.1.txt``.
"""

import asyncio
import os
import re
import struct
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from kproto.wire.data import SUBSCRIPTION
from kproto.wire.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kproto.wire.generated.create_topics import CreatableTopic
from kproto.wire.generated.join_group import JoinGroupRequestProtocol
from kproto.wire.generated.leave_group import MemberIdentity
from kproto.wire.generated.metadata import MetadataRequestTopic
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kproto.wire.generated.sync_group import SyncGroupRequestAssignment
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
    LIST,
    OFFSET_DELETE,
    SYNC,
    module_name,
)

Call = Callable[..., Awaitable[Any]]

_MEMBER_ID = re.compile(r"(.*)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NOT_COMPARED = frozenset({"throttle_time_ms", "error_message", "node_id", "host", "port"})
NO_TOPIC = bytes(15) + b"x"


class Listener:
    """Sends requests on and writes down what is said."""

    def __init__(self, call: Call, group: str, topic_id: bytes) -> None:
        self.call = call
        self.group = group
        self.topic_id = topic_id
        self.lines: list[str] = []
        self.names: dict[str, str] = {}

    async def __call__(self, key: int, version: int, /, **fields: Any) -> Any:
        response = await self.call(key, version, **fields)
        asked = ", ".join(f"{name}={self._shown(value)}" for name, value in fields.items())
        self.lines += [f"{codec(key).name} v{version} {asked}", f"    {self._shown(response)}"]
        return response

    def _shown(self, value: Any) -> str:
        if isinstance(value, list | tuple):
            return "[" + ", ".join(sorted(self._shown(item) for item in value)) + "]"
        if hasattr(value, "__slots__"):
            names = [name for name in value.__slots__ if name not in _NOT_COMPARED]
            return "{" + ", ".join(f"{name}={self._shown(getattr(value, name))}" for name in names) + "}"
        if isinstance(value, str):
            return self._name(value)
        if isinstance(value, bytes | memoryview):
            names = {self.topic_id: "TOPIC-ID", NO_TOPIC: "NO-SUCH-ID", bytes(16): "0"}
            return names.get(bytes(value), repr(bytes(value)))
        return str(int(value)) if isinstance(value, int) else str(value)

    def _name(self, text: str) -> str:
        if text == self.group:
            return "GROUP"
        if len(text) > 1000:
            return f"<{len(text)} characters>"
        member = _MEMBER_ID.fullmatch(text)
        if member is None:
            return repr(text)
        return self.names.setdefault(text, f"{member[1]}#{len(self.names) + 1}")


def subscription(*topics: str) -> bytes:
    return SUBSCRIPTION.write_versioned(1, ConsumerProtocolSubscription(topics=list(topics)))


def protocols(*names: str, metadata: bytes | None = None) -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(name=n, metadata=metadata or subscription("t")) for n in names]


def offsets(offset: int, *indexes: int, metadata: str | None = "") -> list[OffsetCommitRequestPartition]:
    return [
        OffsetCommitRequestPartition(
            partition_index=i, committed_offset=offset, committed_leader_epoch=2, committed_metadata=metadata
        )
        for i in indexes
    ]


def topic(name: str, *indexes: int, offset: int = 5, metadata: str | None = "") -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(name=name, partitions=offsets(offset, *indexes, metadata=metadata))


def deletions(*names: str) -> list[OffsetDeleteRequestTopic]:
    parts = [OffsetDeleteRequestPartition(partition_index=i) for i in (0, 99)]
    return [OffsetDeleteRequestTopic(name=name, partitions=parts) for name in names]


class Conversation:
    """The conversation, chapter by chapter; ``t`` has three partitions, ``nope`` does not exist."""

    def __init__(self, say: Listener) -> None:
        self.say = say
        self.g = say.group

    async def all(self) -> None:
        await self.strangers()
        await self.simple_commits()
        await self.fetches()
        await self.one_member()
        await self.wrong_requests_to_a_stable_group()
        await self.listing_and_deleting()
        await self.static_members()
        await self.other_protocol_types()
        await self.find()

    async def join(self, version: int = 9, **fields: Any) -> Any:
        request: dict[str, Any] = {
            "group_id": self.g,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 10_000,
            "protocol_type": "consumer",
            "protocols": protocols("range"),
        }
        return await self.say(JOIN, version, **{**request, **fields})

    async def sync(self, member: Any, version: int = 5, **fields: Any) -> Any:
        request: dict[str, Any] = {
            "group_id": self.g,
            "generation_id": member.generation_id,
            "member_id": member.member_id,
        }
        if version >= 5:
            request |= {"protocol_type": "consumer", "protocol_name": "range"}
        return await self.say(SYNC, version, **{**request, **fields})

    async def commit(self, *topics: OffsetCommitRequestTopic, version: int = 9, **fields: Any) -> None:
        await self.say(COMMIT, version, **{"group_id": self.g, "topics": list(topics), **fields})

    async def beat(self, member: Any, **fields: Any) -> None:
        request = {
            "group_id": self.g,
            "generation_id": member.generation_id,
            "member_id": member.member_id,
        }
        await self.say(HEARTBEAT, 4, **{**request, **fields})

    async def leave(self, *members: MemberIdentity, **fields: Any) -> None:
        await self.say(LEAVE, 5, **{"group_id": self.g, "members": list(members), **fields})

    async def strangers(self) -> None:
        await self.say(DESCRIBE, 5, groups=[self.g], include_authorized_operations=True)
        await self.say(DESCRIBE, 6, groups=[self.g])
        for version in (0, 4, 5, 9):
            await self.join(version, member_id="nobody")
        await self.join(group_id="")
        await self.join(session_timeout_ms=1)
        await self.join(protocols=[])
        await self.join(protocol_type="")
        await self.say(SYNC, 5, group_id=self.g, generation_id=1, member_id="m")
        await self.say(
            SYNC,
            5,
            group_id=self.g,
            generation_id=1,
            member_id="m",
            protocol_type="consumer",
            protocol_name="range",
        )
        await self.say(SYNC, 0, group_id="", generation_id=1, member_id="m")
        await self.say(HEARTBEAT, 4, group_id=self.g, generation_id=1, member_id="m")
        await self.say(HEARTBEAT, 4, group_id="", generation_id=1, member_id="m")
        await self.leave(MemberIdentity(member_id="x"), MemberIdentity(member_id="", group_instance_id="i"))
        await self.say(LEAVE, 2, group_id=self.g, member_id="x")
        await self.leave(MemberIdentity(member_id="x"), group_id="")
        await self.leave()

    async def simple_commits(self) -> None:
        stranger = {"generation_id_or_member_epoch": 1, "member_id": "m"}
        for version in (2, 8, 9):
            await self.commit(topic("t", 0), version=version, **stranger)
        by_id = OffsetCommitRequestTopic(topic_id=self.say.topic_id, partitions=offsets(5, 0))
        unknown = OffsetCommitRequestTopic(topic_id=NO_TOPIC, partitions=offsets(5, 0))
        await self.commit(by_id, version=10, **stranger)
        await self.commit(by_id, unknown, version=10)
        await self.commit(topic("t", 0, 7), topic("nope", 0))
        await self.commit(topic("t", 0, metadata=None))
        await self.commit(topic("t", 0, metadata="x" * 5000))
        await self.commit()
        await self.commit(topic("t", 1, offset=-5))
        await self.commit(topic("t", 0), group_id="")
        await self.commit(topic("t", 0), member_id="x")
        await self.commit(topic("t", 0), generation_id_or_member_epoch=3)
        await self.say(DESCRIBE, 6, groups=[self.g])

    async def fetches(self) -> None:
        for version in range(1, 8):
            asked = [
                OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1, 2, 9]),
                OffsetFetchRequestTopic(name="nope", partition_indexes=[0]),
            ]
            await self.say(FETCH, version, group_id=self.g, topics=asked)
        for version in range(2, 8):
            await self.say(FETCH, version, group_id=self.g, topics=None)
        some = OffsetFetchRequestTopics(name="t", topic_id=self.say.topic_id, partition_indexes=[0, 2])
        unknown = OffsetFetchRequestTopics(name="", topic_id=NO_TOPIC, partition_indexes=[0, 2])
        for version in (8, 9):
            groups = [
                OffsetFetchRequestGroup(group_id=self.g, topics=None),
                OffsetFetchRequestGroup(group_id="", topics=None),
                OffsetFetchRequestGroup(group_id="no-such", topics=[some]),
            ]
            await self.say(FETCH, version, groups=groups)
        groups = [
            OffsetFetchRequestGroup(group_id=self.g, topics=None),
            OffsetFetchRequestGroup(group_id="no-such", topics=[unknown, some]),
        ]
        await self.say(FETCH, 10, groups=groups)
        member = OffsetFetchRequestGroup(group_id=self.g, member_id="zz", member_epoch=4, topics=[some])
        await self.say(FETCH, 9, groups=[member])

    async def one_member(self) -> None:
        first = await self.join()
        await self.say(DESCRIBE, 6, groups=[self.g])
        await self.leave(MemberIdentity(member_id=first.member_id))
        named = await self.join()
        both = protocols("range", "sticky")
        self.a = await self.join(member_id=named.member_id, protocols=both)
        await self.say(DESCRIBE, 6, groups=[self.g], include_authorized_operations=True)
        await self.commit(
            topic("t", 0),
            generation_id_or_member_epoch=self.a.generation_id,
            member_id=self.a.member_id,
        )
        await self.beat(self.a)
        await self.join(member_id=self.a.member_id, protocols=both)
        await self.sync(self.a, generation_id=self.a.generation_id + 1)
        await self.sync(self.a, protocol_type="connect")
        await self.sync(self.a, protocol_name="zzz")
        given = [
            SyncGroupRequestAssignment(member_id=self.a.member_id, assignment=b"A"),
            SyncGroupRequestAssignment(member_id="stranger", assignment=b"B"),
        ]
        await self.sync(self.a, assignments=given)
        await self.say(DESCRIBE, 6, groups=[self.g])
        await self.say(DESCRIBE, 0, groups=[self.g])
        await self.sync(self.a, 3)

    async def wrong_requests_to_a_stable_group(self) -> None:
        a, generation = self.a, self.a.generation_id
        await self.commit(topic("t", 0))
        for wrong in (generation + 1, -1):
            await self.commit(topic("t", 0), generation_id_or_member_epoch=wrong, member_id=a.member_id)
        await self.commit(
            topic("t", 0),
            generation_id_or_member_epoch=generation,
            member_id=a.member_id,
            group_instance_id="inst",
        )
        await self.beat(a, group_instance_id="inst")
        await self.beat(a, generation_id=generation + 1)
        await self.join(protocols=protocols("other"))
        await self.join(protocol_type="connect")
        await self.join(member_id=a.member_id, group_instance_id="inst")
        await self.join(member_id=a.member_id, protocols=protocols("other"))

    async def listing_and_deleting(self) -> None:
        await self.say(DELETE_GROUPS, 2, groups_names=[self.g, "no-such", ""])
        await self.say(OFFSET_DELETE, 0, group_id=self.g, topics=deletions("t", "nope"))
        await self.say(OFFSET_DELETE, 0, group_id="no-such", topics=deletions("t"))
        await self.say(OFFSET_DELETE, 0, group_id="", topics=deletions("t"))
        await self.say(LIST, 5, states_filter=["sTable"], types_filter=["Classic"])
        await self.say(LIST, 5, states_filter=["bogus"])
        await self.say(LIST, 5, types_filter=["bogus"])
        await self.say(LIST, 5, types_filter=["consumer"])
        await self.leave(
            MemberIdentity(member_id=self.a.member_id),
            MemberIdentity(member_id=self.a.member_id),
            MemberIdentity(member_id="", group_instance_id="q"),
        )
        await self.say(DESCRIBE, 6, groups=[self.g, "no-such"])
        await self.beat(self.a)

    async def static_members(self) -> None:
        name = {"group_instance_id": "i1"}
        s = await self.join(**name)
        given = [SyncGroupRequestAssignment(member_id=s.member_id, assignment=b"S")]
        await self.sync(s, assignments=given, **name)
        again = await self.join(**name)
        await self.sync(again, **name)
        await self.beat(s, **name)
        await self.beat(s)
        await self.join(member_id=s.member_id, **name)
        owner = {"generation_id_or_member_epoch": s.generation_id, "member_id": s.member_id}
        await self.commit(topic("t", 0), **owner, **name)
        for version in (7, 5):
            await self.join(version, **name)
        await self.say(DESCRIBE, 6, groups=[self.g])
        await self.leave(
            MemberIdentity(member_id=s.member_id, group_instance_id="i1"),
            MemberIdentity(member_id="", group_instance_id="i1"),
        )
        await self.say(DESCRIBE, 6, groups=[self.g])
        await self.say(OFFSET_DELETE, 0, group_id=self.g, topics=deletions("t"))
        await self.say(DELETE_GROUPS, 0, groups_names=[self.g])
        await self.say(DELETE_GROUPS, 2, groups_names=[self.g])

    async def other_protocol_types(self) -> None:
        old = await self.join(0)
        await self.say(LEAVE, 0, group_id=self.g, member_id=old.member_id)
        garbled = protocols("range", metadata=b"\0\1\0\0")
        for fields in (
            {"protocol_type": "connect", "protocols": protocols("default", metadata=b"x")},
            {"protocols": garbled},
        ):
            member = await self.join(3, **fields)
            given = [SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"C")]
            await self.sync(member, 3, assignments=given)
            owner = {"generation_id_or_member_epoch": member.generation_id, "member_id": member.member_id}
            await self.commit(topic("t", 0), **owner)
            await self.say(OFFSET_DELETE, 0, group_id=self.g, topics=deletions("t"))
            await self.say(LEAVE, 1, group_id=self.g, member_id=member.member_id)
            await self.say(DELETE_GROUPS, 2, groups_names=[self.g])

    async def find(self) -> None:
        for version in range(4):
            await self.say(FIND, version, key="g")
        for version in (1, 3):
            await self.say(FIND, version, key="g", key_type=7)
        await self.say(FIND, 4, coordinator_keys=["g", "h", ""])
        await self.say(FIND, 6, coordinator_keys=["g"], key_type=9)
        await self.say(FIND, 4, coordinator_keys=[])


async def speak(call: Call, group: str, topic_id: bytes) -> str:
    """The whole conversation as text."""
    listener = Listener(call, group, topic_id)
    await Conversation(listener).all()
    return "\n".join(listener.lines) + "\n"


class Remote:
    """Requests to a broker on the network, a connection each."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    async def call(self, key: int, version: int, /, **fields: Any) -> Any:
        api = codec(key)
        module = __import__(module_name(api.name), fromlist=["x"])
        out = bytearray(struct.pack(">hhih", key, version, 1, 1) + b"c")
        if api.request_header_version(version) >= 2:
            out.append(0)
        api.write_request(version, getattr(module, api.name + "Request")(**fields), out)
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(struct.pack(">i", len(out)) + out)
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        body = await reader.readexactly(size)
        writer.close()
        start = 5 if api.response_header_version(version) >= 1 else 4
        response, end = api.parse_response(version, memoryview(body), start)
        assert end == size
        return response

    async def prepare(self) -> bytes:
        """Topic ``t`` with three partitions and a coordinator that is ready; the topic's id."""
        wanted = CreatableTopic(name="t", num_partitions=3, replication_factor=1)
        await self.call(19, 7, topics=[wanted], timeout_ms=5000)
        for _ in range(100):
            found = await self.call(FIND, 3, key="g")
            beat = await self.call(HEARTBEAT, 4, group_id="g", generation_id=1, member_id="m")
            if found.error_code == 0 and beat.error_code == 25:
                break
            await asyncio.sleep(0.2)
        metadata = await self.call(3, 12, topics=[MetadataRequestTopic(name="t")])
        topic_id: bytes = metadata.topics[0].topic_id
        return topic_id


async def _record(address: str) -> None:
    host, _, port = address.rpartition(":")
    remote = Remote(host, int(port))
    topic_id = await remote.prepare()
    sys.stdout.write(await speak(remote.call, "group-" + os.urandom(4).hex(), topic_id))


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1]))
