"""Keys and values of ``__consumer_offsets`` against the generated codecs and known hash codes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.handlers.groups import records
from kproto.handlers.groups.model import Snapshot, SnapshotMember
from kproto.handlers.groups.offsets import Committed
from kproto.wire import WireError, data
from kproto.wire.generated.group_metadata_value import GroupMetadataValue, MemberMetadata
from kproto.wire.generated.offset_commit_key import OffsetCommitKey
from kproto.wire.generated.offset_commit_value import OffsetCommitValue

names = st.text(max_size=30)
int32 = st.integers(-(1 << 31), (1 << 31) - 1)
int64 = st.integers(-(1 << 63), (1 << 63) - 1)


@pytest.mark.parametrize(
    ("group", "code"),
    [
        ("", 0),
        ("a", 97),
        ("Aa", 2112),
        ("abc", 96354),
        ("polygenelubricants", -(1 << 31)),
        ("\U0001f600", 1772899),
    ],
)
def test_partition_is_javas_hash_code(group: str, code: int) -> None:
    positive = 0 if code == -(1 << 31) else abs(code)
    for partitions in (1, 7, 50):
        assert records.partition_of(group, partitions) == positive % partitions


@given(names, names, int32)
def test_offset_key_is_the_generated_one(group: str, topic: str, partition: int) -> None:
    out = bytearray(b"\0\1")
    data.OFFSET_COMMIT_KEY.write(0, OffsetCommitKey(group=group, topic=topic, partition=partition), out)
    key = records.offset_key(group, topic, partition)
    assert key == bytes(out)
    assert records.parse_key(key) == records.OffsetKey(group, topic, partition)


@given(
    int64,
    int32,
    st.text(max_size=200),
    int64,
    st.integers(-1, 1 << 62),
    st.binary(min_size=16, max_size=16) | st.just(bytes(16)),
)
def test_offset_value_is_the_generated_one(
    offset: int, epoch: int, metadata: str, commit_ms: int, expire_ms: int, topic_id: bytes
) -> None:
    committed = Committed(offset, epoch, metadata, commit_ms, expire_ms, topic_id)
    version = 4 if expire_ms < 0 else 1
    generated = data.OFFSET_COMMIT_VALUE.write_versioned(
        version,
        OffsetCommitValue(
            offset=offset,
            leader_epoch=epoch,
            metadata=metadata,
            commit_timestamp=commit_ms,
            expire_timestamp=expire_ms,
            topic_id=topic_id,
        ),
    )
    value = records.offset_value(committed)
    assert value == generated
    kept = committed if version == 4 else committed._replace(leader_epoch=-1, topic_id=bytes(16))
    assert records.parse_offset_value(value) == kept


def test_every_version_of_offset_values_is_read() -> None:
    value = OffsetCommitValue(offset=7, leader_epoch=3, metadata="m", commit_timestamp=5)
    for version in range(5):
        read = records.parse_offset_value(data.OFFSET_COMMIT_VALUE.write_versioned(version, value))
        assert read == Committed(7, 3 if version >= 3 else -1, "m", 5, -1)


def test_every_version_of_group_values_is_read() -> None:
    member = MemberMetadata(
        member_id="m",
        group_instance_id="i",
        client_id="c",
        client_host="/h",
        rebalance_timeout=9,
        session_timeout=8,
        subscription=b"s",
        assignment=b"a",
    )
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=4,
        protocol="range",
        leader="m",
        current_state_timestamp=11,
        members=[member],
    )
    for version in range(5):
        read = records.parse_group_value(data.GROUP_METADATA_VALUE.write_versioned(version, value))
        assert (read.protocol_type, read.generation, read.protocol, read.leader) == (
            "consumer",
            4,
            "range",
            "m",
        )
        assert read.state_since_ms == (11 if version >= 2 else -1)
        (found,) = read.members
        assert found.instance_id == ("i" if version >= 3 else None)
        assert found.rebalance_timeout_ms == (9 if version >= 1 else 8)


@given(st.lists(st.tuples(names, st.none() | names, st.binary(max_size=9)), max_size=4), st.none() | names)
def test_group_value_round_trip(members: list[tuple[str, str | None, bytes]], leader: str | None) -> None:
    stored = tuple(SnapshotMember(m, i, "c", "/h", 2, 1, b, b[::-1]) for m, i, b in members)
    snapshot = Snapshot("consumer", 3, None, leader, 17, stored)
    assert records.parse_group_value(records.group_value(snapshot)) == snapshot
    assert records.parse_key(records.group_key("g")) == records.GroupKey("g")


def test_unknown_kinds_are_left_alone_and_damage_is_reported() -> None:
    assert records.parse_key(b"\0\x09whatever") is None
    assert records.parse_key(b"") is None
    with pytest.raises(WireError):
        records.parse_key(b"\0\1\0\x05abc")
    with pytest.raises(WireError):
        records.parse_offset_value(b"\0\3\0")
