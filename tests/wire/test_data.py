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

OFFSET_BYTES = {
    0: "0000000000000000002a00036dc3a900000000000003e8",
    1: "0001000000000000002a00036dc3a900000000000003e8000000000000004d",
    2: "0002000000000000002a00036dc3a900000000000003e8",
    3: "0003000000000000002a0000000500036dc3a900000000000003e8",
    4: ("0004000000000000002a00000005046dc3a900000000000003e801001000000000000000010000000000000002"),
}
"""Version -> what Apache Kafka 4.3.1 itself writes for the offset in the test below."""
GROUP_BYTES = {
    0: (
        "00000008636f6e73756d657200000004ffff00016d0000000100016d0001630001680000000a000000037375"
        "6200000003617373"
    ),
    1: (
        "00010008636f6e73756d657200000004ffff00016d0000000100016d000163000168000000090000000a0000"
        "000373756200000003617373"
    ),
    2: (
        "00020008636f6e73756d657200000004ffff00016d000000000000007b0000000100016d0001630001680000"
        "00090000000a0000000373756200000003617373"
    ),
    3: (
        "00030008636f6e73756d657200000004ffff00016d000000000000007b0000000100016d0004696e73740001"
        "63000168000000090000000a0000000373756200000003617373"
    ),
    4: (
        "000409636f6e73756d65720000000400026d000000000000007b02026d05696e737402630268000000090000"
        "000a04737562046173730000"
    ),
}


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


@pytest.mark.parametrize("version", range(5))
def test_the_bytes_of_apache_kafka(version: int) -> None:
    topic_id = (1).to_bytes(8, "big") + (2).to_bytes(8, "big")
    offset = OffsetCommitValue(42, 5, "m\u00e9", 1000, 77, topic_id)
    assert data.OFFSET_COMMIT_VALUE.write_versioned(version, offset).hex() == OFFSET_BYTES[version]
    member = MemberMetadata("m", "inst", "c", "h", 9, 10, b"sub", b"ass")
    group = GroupMetadataValue("consumer", 4, None, "m", 123, [member])
    assert data.GROUP_METADATA_VALUE.write_versioned(version, group).hex() == GROUP_BYTES[version]
