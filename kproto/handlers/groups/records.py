"""The records of ``__consumer_offsets`` in Kafka's own formats, so that Kafka's tools can read them.

Keys begin with a type: 0 and 1 an offset (group, topic, partition), 2 a group. Offsets are written as value
version 4, or 1 when the commit asked for a retention of its own; groups as version 3: as Kafka 4.3 does.
All versions that Kafka ever wrote are read. The two that a commit writes are packed by hand, as commits are
many; a test compares them with the generated codecs.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct, pack
from typing import Final, NamedTuple

from kproto.handlers.groups.model import Snapshot, SnapshotMember
from kproto.handlers.groups.offsets import Committed
from kproto.wire import ZERO_UUID
from kproto.wire.data import (
    GROUP_METADATA_KEY,
    GROUP_METADATA_KEY_TYPE,
    GROUP_METADATA_VALUE,
    OFFSET_COMMIT_KEY,
    OFFSET_COMMIT_KEY_TYPES,
    OFFSET_COMMIT_VALUE,
)

OFFSET_KEY: Final = 1
_KEY_SCHEMA: Final = 0
"""Key schemas have one version; what stands before them is the type."""
_OFFSET_VALUE: Final = 4
_OFFSET_VALUE_WITH_EXPIRY: Final = 1
_GROUP_VALUE: Final = 3
_TYPE: Final = Struct(">h")
_TOPIC_ID_TAG: Final = b"\x01\x00\x10"
"""One tagged field: number 0, 16 bytes."""
LONGEST: Final = 32_767
"""Bytes of a string in these records and in answers of older versions; newer requests may have longer."""
_REMEMBERED: Final = 256
"""Longer group ids are hashed each time, lest a client have the broker keep thousands of them."""


class OffsetKey(NamedTuple):
    group: str
    topic: str
    partition: int


class GroupKey(NamedTuple):
    group: str


def fits(text: str) -> bool:
    """Whether records have room for a string of a request."""
    return len(text) <= LONGEST and (text.isascii() or len(text.encode()) <= LONGEST)


def partition_of(group_id: str, partitions: int) -> int:
    """The partition of ``__consumer_offsets`` that keeps a group: Java's ``hashCode`` made positive."""
    return (_hashed if len(group_id) > _REMEMBERED else _remembered)(group_id) % partitions


def _hashed(group_id: str) -> int:
    code = 0
    data = group_id.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(data), 2):
        code = (code * 31 + (data[i] << 8 | data[i + 1])) & 0xFFFFFFFF
    if code >= 0x80000000:  # a negative int; its smallest value has no positive twin and counts as 0
        code = (0x100000000 - code) & 0x7FFFFFFF
    return code


_remembered: Final = lru_cache(maxsize=4096)(_hashed)


def offset_key(group: str, topic: str, partition: int) -> bytes:
    """Key of a committed offset."""
    group_bytes, topic_bytes = group.encode(), topic.encode()
    return b"%b%b%b%b%b" % (
        pack(">hh", OFFSET_KEY, len(group_bytes)),
        group_bytes,
        pack(">h", len(topic_bytes)),
        topic_bytes,
        pack(">i", partition),
    )


def offsets_of(group: str) -> bytes:
    """What the keys of all committed offsets of a group begin with."""
    group_bytes = group.encode()
    return pack(">hh", OFFSET_KEY, len(group_bytes)) + group_bytes


def offset_value(committed: Committed) -> bytes:
    """OffsetCommitValue version 4; 1, without leader epoch and topic id, when it has an expiry of its own."""
    offset, epoch, metadata, commit_ms, expire_ms, topic_id = committed
    text = metadata.encode()
    if expire_ms >= 0:
        head = pack(">hqh", _OFFSET_VALUE_WITH_EXPIRY, offset, len(text))
        return head + text + pack(">qq", commit_ms, expire_ms)
    tags = b"\0" if topic_id == ZERO_UUID else _TOPIC_ID_TAG + topic_id
    head = pack(">hqi", _OFFSET_VALUE, offset, epoch)
    return head + _compact_length(len(text)) + text + pack(">q", commit_ms) + tags


def _compact_length(size: int) -> bytes:
    """Length of a compact string: one more, as an unsigned varint."""
    size += 1
    if size < 0x80:
        return bytes((size,))
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)


def group_key(group: str) -> bytes:
    """Key of a group's metadata."""
    from kproto.wire.generated.group_metadata_key import GroupMetadataKey

    out = bytearray(_TYPE.pack(GROUP_METADATA_KEY_TYPE))
    GROUP_METADATA_KEY.write(_KEY_SCHEMA, GroupMetadataKey(group=group), out)
    return bytes(out)


def group_value(snapshot: Snapshot) -> bytes:
    """GroupMetadataValue version 3."""
    from kproto.wire.generated.group_metadata_value import GroupMetadataValue, MemberMetadata

    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.subscription,
            assignment=member.assignment,
        )
        for member in snapshot.members
    ]
    value = GroupMetadataValue(
        protocol_type=snapshot.protocol_type or "",
        generation=snapshot.generation,
        protocol=snapshot.protocol,
        leader=snapshot.leader,
        current_state_timestamp=snapshot.state_since_ms,
        members=members,
    )
    return GROUP_METADATA_VALUE.write_versioned(_GROUP_VALUE, value)


def parse_key(key: bytes) -> OffsetKey | GroupKey | None:
    """What a record is about; None for kinds this coordinator does not know (newer group types).

    WireError for a key that is cut off.
    """
    kind = _TYPE.unpack_from(key)[0] if len(key) >= _TYPE.size else -1
    if kind in OFFSET_COMMIT_KEY_TYPES:
        offset, _ = OFFSET_COMMIT_KEY.parse(_KEY_SCHEMA, key, _TYPE.size)
        return OffsetKey(offset.group, offset.topic, offset.partition)
    if kind == GROUP_METADATA_KEY_TYPE:
        group, _ = GROUP_METADATA_KEY.parse(_KEY_SCHEMA, key, _TYPE.size)
        return GroupKey(group.group)
    return None


def parse_offset_value(value: bytes) -> Committed:
    """OffsetCommitValue version 0 to 4; WireError when it is none."""
    _, offset = OFFSET_COMMIT_VALUE.parse_versioned(value)
    return Committed(
        offset.offset,
        offset.leader_epoch,
        offset.metadata,
        offset.commit_timestamp,
        offset.expire_timestamp,
        offset.topic_id,
    )


def parse_group_value(value: bytes) -> Snapshot:
    """GroupMetadataValue version 0 to 4; WireError when it is none."""
    _, group = GROUP_METADATA_VALUE.parse_versioned(value)
    members = tuple(
        SnapshotMember(
            member.member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout if member.rebalance_timeout >= 0 else member.session_timeout,
            member.session_timeout,
            member.subscription,
            member.assignment,
        )
        for member in group.members
    )
    return Snapshot(
        group.protocol_type or None,
        group.generation,
        group.protocol,
        group.leader,
        group.current_state_timestamp,
        members,
    )
