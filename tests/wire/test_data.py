"""Schemas inside other bytes, against kio and bytes written by hand."""

import random

import pytest
from kio.schema.consumer_protocol_assignment.v3.data import ConsumerProtocolAssignment as TheirAssignment
from kio.schema.consumer_protocol_subscription.v3.data import (
    ConsumerProtocolSubscription as TheirSubscription,
)

from kproto.wire import WireError, data
from kproto.wire.generated.group_metadata_value import GroupMetadataValue, MemberMetadata
from kproto.wire.generated.offset_commit_key import OffsetCommitKey
from kproto.wire.generated.offset_commit_value import OffsetCommitValue

from . import kio_oracle


@pytest.mark.parametrize("seed", range(20))
def test_the_consumer_protocol_of_kio(seed: int) -> None:
    for theirs, ours in ((TheirSubscription, data.SUBSCRIPTION), (TheirAssignment, data.ASSIGNMENT)):
        expected = kio_oracle.write(kio_oracle.build(theirs, random.Random(seed)))
        value, end = ours.parse(3, expected)
        assert end == len(expected)
        out = bytearray()
        ours.write(3, value, out)
        assert out == expected


def test_a_newer_subscription_is_read_as_the_newest_known() -> None:
    packed = data.SUBSCRIPTION.write_versioned(3, data.SUBSCRIPTION.parse(0, bytes(8))[0])
    version, value = data.SUBSCRIPTION.parse_versioned(b"\0\x09" + packed[2:] + b"new fields")
    assert (version, value.topics) == (9, [])


def test_an_offset_as_kafka_stores_it() -> None:
    """Bytes written by hand from Kafka's schema: type 1, then group, topic, partition; value version 3."""
    key = b"\0\1" + b"\0\5group" + b"\0\5topic" + b"\0\0\0\7"
    assert data.OFFSET_COMMIT_KEY.parse(0, key, 2)[0] == OffsetCommitKey("group", "topic", 7)
    value = OffsetCommitValue(offset=42, leader_epoch=5, metadata="m", commit_timestamp=1000)
    packed = b"\0\3" + (42).to_bytes(8, "big") + b"\0\0\0\5" + b"\0\1m" + (1000).to_bytes(8, "big")
    assert data.OFFSET_COMMIT_VALUE.write_versioned(3, value) == packed
    assert data.OFFSET_COMMIT_VALUE.parse_versioned(packed) == (3, value)


@pytest.mark.parametrize("version", range(5))
def test_a_group_in_every_version(version: int) -> None:
    member = MemberMetadata(
        member_id="m", client_id="c", client_host="h", session_timeout=10, subscription=b"s"
    )
    group = GroupMetadataValue(
        protocol_type="consumer", generation=4, protocol="range", leader="m", members=[member]
    )
    packed = data.GROUP_METADATA_VALUE.write_versioned(version, group)
    assert data.GROUP_METADATA_VALUE.parse_versioned(packed) == (version, group)
    with pytest.raises(WireError):
        data.GROUP_METADATA_VALUE.parse_versioned(packed[:-1])


@pytest.mark.parametrize("packed", [b"", b"\0", b"\0\x63", b"\xff\xff"])
def test_no_version_or_an_unknown_one(packed: bytes) -> None:
    with pytest.raises(WireError):
        data.OFFSET_COMMIT_VALUE.parse_versioned(packed)
