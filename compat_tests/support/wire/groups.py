"""Conversations about groups in the ways that fail; what works is compared in ``tests/groups``."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from compat_tests.support.ports import wait_until
from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.talk import NO_ID, Talk
from kproto.wire.data import SUBSCRIPTION
from kproto.wire.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kproto.wire.generated.delete_groups import DeleteGroupsRequest
from kproto.wire.generated.describe_groups import DescribeGroupsRequest
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.heartbeat import HeartbeatRequest
from kproto.wire.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kproto.wire.generated.leave_group import LeaveGroupRequest, MemberIdentity
from kproto.wire.generated.list_groups import ListGroupsRequest
from kproto.wire.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproto.wire.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kproto.wire.generated.sync_group import SyncGroupRequest

COMMIT, OFFSETS, FIND, JOIN, HEARTBEAT, LEAVE, SYNC, DESCRIBE, LIST, DELETE, FORGET = (
    8, 9, 10, 11, 12, 13, 14, 15, 16, 42, 47,
)  # fmt: skip


def _ready(talk: Talk, group: str) -> None:
    """Wait until the coordinator of ``group`` is there and has loaded it."""
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
    talk.until(FIND, 4, find, "ready", lambda answer: answer.coordinators[0].error_code == 0)
    look = DescribeGroupsRequest(groups=[group])
    talk.until(DESCRIBE, 5, look, "ready", lambda answer: answer.groups[0].error_code not in (14, 15, 16))


def members(talk: Talk) -> None:
    """JoinGroup, SyncGroup, Heartbeat, LeaveGroup of groups and members that are not."""
    group = talk.name("group")
    _ready(talk, group)

    def join(version: int) -> Any:
        protocols = [JoinGroupRequestProtocol(name="range", metadata=b"")]
        usual: dict[str, Any] = {
            "group_id": group,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 10_000,
            "protocol_type": "consumer",
            "protocols": protocols,
        }
        cases: dict[str, dict[str, Any]] = {
            "unknown member": {"member_id": "nobody"},
            "no group": {"group_id": ""},
            "session too short": {"session_timeout_ms": 10},
            "session too long": {"session_timeout_ms": 10**9},
            "no protocols": {"protocols": []},
            "no protocol type": {"protocol_type": ""},
        }
        for label, fields in cases.items():
            talk(JOIN, version, JoinGroupRequest(**{**usual, **fields}), label)
        if version >= 5:
            unknown = JoinGroupRequest(**usual, member_id="nobody", group_instance_id="i")
            talk(JOIN, version, unknown, "unknown static member")
        if version >= 4:
            talk(
                JOIN, version, JoinGroupRequest(**{**usual, "group_id": group + str(version)}), "first of two"
            )

    for version in range(10):
        join(version)
    for asked, name in {"unknown": group, "no": ""}.items():
        for version in range(5):
            one = HeartbeatRequest(group_id=name, member_id="m", generation_id=1)
            talk(HEARTBEAT, version, one, f"{asked} group")
        for version in range(6):
            request = SyncGroupRequest(
                group_id=name, member_id="m", generation_id=1, protocol_type="consumer", protocol_name="range"
            )
            talk(SYNC, version, request, f"{asked} group")
            ids = [MemberIdentity(member_id="m"), MemberIdentity(member_id="", group_instance_id="i")]
            leave = LeaveGroupRequest(group_id=name, member_id="m", members=ids if version >= 3 else [])
            talk(LEAVE, version, leave, f"{asked} group")


def offsets(talk: Talk) -> None:
    """OffsetCommit, OffsetFetch, OffsetDelete."""
    group, name = talk.name("group"), talk.make("topic", 2)
    _ready(talk, group)

    def commit(
        version: int,
        label: str,
        partition: int = 0,
        topic: str = name,
        metadata: str | None = "m",
        **fields: Any,
    ) -> None:
        part = OffsetCommitRequestPartition(
            partition_index=partition,
            committed_offset=5,
            committed_leader_epoch=-1,
            committed_metadata=metadata,
        )
        given = OffsetCommitRequestTopic(name=topic, topic_id=talk.ids.get(topic, NO_ID), partitions=[part])
        request = OffsetCommitRequest(
            **{"group_id": group, "topics": [given], "generation_id_or_member_epoch": -1, **fields}
        )
        talk(COMMIT, version, request, label)

    for version in range(2, 11):
        commit(version, "of a simple consumer", group_id=f"{group}{version}")
        commit(version, "null metadata", metadata=None, group_id=f"{group}{version}")
        commit(version, "large metadata", metadata="x" * 5000, group_id=f"{group}{version}")
        commit(version, "unknown partition", partition=9)
        commit(version, "negative partition", partition=-1)
        commit(version, "unknown topic", topic=talk.name("unknown"))
        commit(
            version,
            "of a member of nothing",
            member_id="m",
            generation_id_or_member_epoch=3,
            group_id=f"{group}x",
        )
        commit(version, "no group", group_id="")
        commit(version, "nothing", topics=[])
    for version in range(1, 11):
        _fetch_offsets(talk, version, group, name)
    for label, at, topic, partition in (
        ("committed", f"{group}5", name, 0),
        ("not committed", f"{group}5", name, 1),
        ("unknown partition", f"{group}5", name, 9),
        ("unknown topic", f"{group}5", talk.name("unknown"), 0),
        ("unknown group", f"{group}z", name, 0),
        ("no group", "", name, 0),
    ):
        wanted = OffsetDeleteRequestTopic(
            name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=partition)]
        )
        talk(FORGET, 0, OffsetDeleteRequest(group_id=at, topics=[wanted]), label)


def _fetch_offsets(talk: Talk, version: int, group: str, name: str) -> None:
    for label, at in (("committed", f"{group}5"), ("unknown group", f"{group}z"), ("no group", "")):
        for which in ("some", "none", "all"):
            names = [name, talk.name("unknown")]
            if version < 8:
                topics = [OffsetFetchRequestTopic(name=each, partition_indexes=[0, 9]) for each in names]
                given = {"some": topics, "none": [], "all": None if version >= 2 else []}[which]
                request = OffsetFetchRequest(group_id=at, topics=given)
            else:
                many = [
                    OffsetFetchRequestTopics(
                        name=each, topic_id=talk.ids.get(each, NO_ID), partition_indexes=[0, 9]
                    )
                    for each in names
                ]
                wanted = {"some": many, "none": [], "all": None}[which]
                request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=at, topics=wanted)])
            talk(OFFSETS, version, request, f"{label}, {which}")


def simple(talk: Talk) -> None:
    """Offsets of a consumer without a group, then of a group of that name, and again without members."""
    group, name = talk.name("group"), talk.make("topic", 2)
    other = talk.make("other")
    _ready(talk, group)

    def commit(label: str, version: int = 8, topic: str = name, offset: int = 5, **fields: Any) -> None:
        metadata, times = fields.pop("metadata", ""), fields.pop("times", 1)
        part = OffsetCommitRequestPartition(committed_offset=offset, committed_metadata=metadata)
        given = OffsetCommitRequestTopic(name=topic, partitions=[part] * times)
        usual = {"group_id": group, "topics": [given], "generation_id_or_member_epoch": -1}
        talk(COMMIT, version, OffsetCommitRequest(**{**usual, **fields}), label)

    def look(label: str) -> None:
        for version in (2, 5, 7):
            talk(OFFSETS, version, OffsetFetchRequest(group_id=group, topics=None), label)
        wanted = [OffsetFetchRequestGroup(group_id=each, topics=None) for each in (group, f"{group}z")]
        talk(OFFSETS, 8, OffsetFetchRequest(groups=wanted), label)
        talk(DESCRIBE, 4, DescribeGroupsRequest(groups=[f"{group}z"]), label)

    for offset in (-5, -1, 0, 2**63 - 1):
        commit(f"offset {offset}", offset=offset)
        look(f"offset {offset}")
    commit("twice in a request", times=2)
    commit("largest metadata", metadata="x" * 4096)
    commit("largest metadata, two bytes each", metadata="\u00e4" * 4096)
    commit("too large metadata", metadata="x" * 4097)
    look("of a simple consumer")
    join = _to_join(group, metadata=b"\0\0\0\0\0\0\xff\xff\xff\xff")
    join.member_id = member = talk.client.call(JOIN, 9, join).member_id
    commit("before it joined")
    generation = talk.client.call(JOIN, 9, join).generation_id
    commit("before it has its partitions")
    commit("of it, before", member_id=member, generation_id_or_member_epoch=generation)
    sync = SyncGroupRequest(group_id=group, generation_id=generation, member_id=member)
    sync.protocol_type, sync.protocol_name = "consumer", "range"
    talk.client.call(SYNC, 5, sync)
    _with_member(commit, member, generation, talk.name("unknown"))
    look("with a member")
    talk(DELETE, 2, DeleteGroupsRequest(groups_names=[group, group]), "with a member")
    leave = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member)])
    talk.client.call(LEAVE, 5, leave)
    commit("empty", offset=11)
    commit("empty, of who left", member_id=member, generation_id_or_member_epoch=generation)
    commit("empty, a member's name", member_id="m", topic=other)
    commit("empty, an instance's name", group_instance_id="i", offset=12)
    look("empty")
    talk(DELETE, 2, DeleteGroupsRequest(groups_names=[group]), "empty")
    look("deleted")
    for version in (8, 9):
        commit("deleted", version, member_id=member, generation_id_or_member_epoch=generation)


def _with_member(commit: Callable[..., None], member: str, generation: int, unknown: str) -> None:
    """Commits to a group that has ``member``."""
    own = {"member_id": member, "generation_id_or_member_epoch": generation}
    commit("of a stranger", offset=6)
    commit("of a stranger in its generation", generation_id_or_member_epoch=generation)
    commit("of a stranger, too large metadata", metadata="x" * 4097)
    commit("of a stranger, unknown topic", topic=unknown)
    commit("of an unknown member", **{**own, "member_id": "m"})
    commit("of an unknown instance", **own, group_instance_id="i")
    commit("of it", **own, offset=7)
    commit("of it, too large metadata", **own, metadata="x" * 4097)
    commit("of it, unknown topic", **own, topic=unknown)
    for epoch in (-5, -1, 0, generation + 1):
        commit(f"of it, generation {epoch}", **{**own, "generation_id_or_member_epoch": epoch})


def _to_join(group: str, member: str = "", metadata: bytes = b"") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        member_id=member,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
    )


def pending(talk: Talk) -> None:
    """Members that have an id and did not join with it yet."""
    group, beside = talk.name("group"), talk.name("beside")
    _ready(talk, group)

    def join(member: str = "", group: str = group, instance: str | None = None) -> Any:
        request = _to_join(group, member)
        request.group_instance_id = instance
        return talk.client.call(JOIN, 9, request)

    def leave(label: str, *ids: str, group: str = group, instance: str | None = None) -> None:
        given = [MemberIdentity(member_id=one, group_instance_id=instance) for one in ids]
        answer = talk.client.call(LEAVE, 5, LeaveGroupRequest(group_id=group, members=given))
        talk.note(f"leave {label}", [answer.error_code, *(one.error_code for one in answer.members)])
        state = talk.client.call(DESCRIBE, 5, DescribeGroupsRequest(groups=[group])).groups[0].group_state
        talk.note(f"leave {label}: state", state)

    first = join().member_id
    talk.note("with an instance's name", join(first, instance="i").error_code)
    leave("the only one", first)
    leave("again", first)
    leave("with an instance's name", join().member_id, instance="i")
    leave("and a stranger", join().member_id, "nobody")
    _ready(talk, beside)
    member = join(join(group=beside).member_id, beside)
    leave("beside a member", join(group=beside).member_id, group=beside)
    request = HeartbeatRequest(
        group_id=beside, member_id=member.member_id, generation_id=member.generation_id
    )
    talk(HEARTBEAT, 4, request, "beside a member")
    leave("a member and who did not join", member.member_id, join(group=beside).member_id, group=beside)


def subscribed(talk: Talk) -> None:
    """OffsetDelete of what the members of a group subscribe to, while they change."""
    group, names = talk.name("group"), [talk.make(label) for label in ("first", "second", "third")]
    _ready(talk, group)

    def forget(label: str) -> None:
        for name in (*names, talk.name("unknown")):
            part = OffsetDeleteRequestPartition(partition_index=0)
            wanted = OffsetDeleteRequestTopic(name=name, partitions=[part])
            request = OffsetDeleteRequest(group_id=group, topics=[wanted])
            talk(FORGET, 0, request, f"{label}, {name.removeprefix(talk.mark)}")

    def join(talk: Talk, topic: str, member: str = "") -> Any:
        said = SUBSCRIPTION.write_versioned(1, ConsumerProtocolSubscription(topics=[topic]))
        return talk.client.call(JOIN, 9, _to_join(group, member, bytes(said)))

    def leave(member: str) -> None:
        request = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=member)])
        talk.client.call(LEAVE, 5, request)

    def joined(label: str) -> None:
        """Until the other connection's join has begun a rebalance."""
        look = DescribeGroupsRequest(groups=[group])
        wait_until(
            label, lambda: talk.client.call(DESCRIBE, 5, look).groups[0].group_state.startswith("Prep")
        )

    beside = Talk(talk.address, talk.mark, ours=talk.ours, now=talk.now)
    with closing(beside), ThreadPoolExecutor(1) as pool:
        first = join(talk, names[0]).member_id
        forget("nobody joined")
        join(talk, names[0], first)
        forget("first generation")
        second = join(talk, names[1]).member_id
        waits = pool.submit(join, beside, names[1], second)
        joined("a second member")
        forget("second joins")
        join(talk, names[2], first)
        waits.result()
        forget("second generation")
        waits = pool.submit(join, beside, names[0], first)
        joined("a rebalance")
        forget("first changes its mind")
        leave(second)
        waits.result()
        forget("third generation")
    leave(first)
    forget("empty")
    join(talk, names[1], join(talk, names[1]).member_id)
    forget("again")


def groups(talk: Talk) -> None:
    """DescribeGroups, ListGroups, DeleteGroups."""
    group = talk.name("group")
    _ready(talk, group)
    for version in range(7):
        talk(DESCRIBE, version, DescribeGroupsRequest(groups=[group, ""]), "unknown")
        talk(DESCRIBE, version, DescribeGroupsRequest(groups=[]), "none")
        if version >= 3:
            asked = DescribeGroupsRequest(groups=[group], include_authorized_operations=True)
            talk(DESCRIBE, version, asked, "operations")
    _listed(talk, group)
    for version in range(6):
        for label, fields in {
            "states": {"states_filter": ["Dead", "nonsense"]} if version >= 4 else None,
            "types": {"types_filter": ["share"]} if version >= 5 else None,
            "unknown types": {"types_filter": ["nonsense"]} if version >= 5 else None,
        }.items():
            if fields is not None:
                talk(LIST, version, ListGroupsRequest(**fields), label)
    for version in range(3):
        talk(DELETE, version, DeleteGroupsRequest(groups_names=[group, ""]), "unknown")
        talk(DELETE, version, DeleteGroupsRequest(groups_names=[]), "none")


def _listed(talk: Talk, group: str) -> None:
    """The groups of this conversation: one, which has an offset and no members."""
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    given = OffsetCommitRequestTopic(name=talk.make("topic"), partitions=[part])
    talk(COMMIT, 8, OffsetCommitRequest(group_id=f"{group}5", topics=[given]), "of a simple consumer")
    for version in range(6):
        answer = talk.quietly(LIST, version, ListGroupsRequest())
        if not isinstance(answer, str):
            answer.groups = [each for each in answer.groups if each.group_id.startswith(talk.mark)]
        talk.note(f"ListGroups v{version} ours", answer)
        for state in ("eMPTY", " Empty ", "Stable") if version >= 4 else ():
            answer = talk.quietly(LIST, version, ListGroupsRequest(states_filter=[state]))
            answer.groups = [each for each in answer.groups if each.group_id.startswith(talk.mark)]
            talk.note(f"ListGroups v{version} ours, {state!r}", answer)
        if version < 5:
            talk(DESCRIBE, version, DescribeGroupsRequest(groups=[f"{group}5"]), "of a simple consumer")


READY = Allowed(
    "FindCoordinator v4 ready .*error_message: kafka '', kproto None", "null and empty: no message"
)
PENDING = (
    READY,
    Allowed("^with an instance's name : kafka -1, kproto 25", "Kafka fails inside (UNKNOWN_SERVER_ERROR)"),
    Allowed(
        "beside a member(: state|.*error_code)",
        "Kafka has all members join again when somebody leaves who was none yet; here nobody has to",
    ),
)
CONVERSATIONS = (
    Conversation("members", members, (READY,)),
    Conversation("pending", pending, PENDING),
    Conversation("offsets", offsets, (READY,)),
    Conversation("simple", simple, (READY,)),
    Conversation("subscribed", subscribed, (READY,)),
    Conversation("groups", groups, (READY,)),
)
