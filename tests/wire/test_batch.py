"""Headers and stamps of record batches, against batches that kafka-python builds."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from kproto.errors import ErrorCode, KafkaError
from kproto.wire import batch
from kproto.wire.crc import crc32c


def kafka_batch(count: int = 3, codec: int = 0, producer: tuple[int, int, int] = (-1, -1, -1)) -> bytearray:
    """kafka-python's batch of ``count`` records; their times are 5000, 5001, ..."""
    builder = DefaultRecordBatchBuilder(2, codec, False, *producer, 1 << 20)
    for index in range(count):
        assert builder.append(index, 5000 + index, b"key", b"value" * 20, [("h", b"x")]) is not None
    return bytearray(builder.build())


def sealed(data: bytearray) -> bytearray:
    """``data`` with its CRC made right again."""
    struct.pack_into(">I", data, batch.CRC_AT, batch.crc_of(data))
    return data


def test_known_checksum() -> None:
    """The check value of CRC-32C in RFC 3720, B.4: 32 bytes of zeroes."""
    assert crc32c(bytes(32)) == 0x8A9136AA


@pytest.mark.parametrize("codec", range(5))
def test_a_header_of_kafka_python(codec: int) -> None:
    data = kafka_batch(7, codec, (9, 2, 40))
    header = batch.check_batch(data)
    assert header.size == len(data)
    assert (header.codec, header.records, header.next_offset) == (codec, 7, 7)
    assert (header.base_timestamp, header.max_timestamp) == (5000, 5006)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 40)
    assert not any((header.control, header.transactional, header.log_append_time, header.has_delete_horizon))


@given(offset=st.integers(0, 2**63 - 1), epoch=st.integers(-1, 2**31 - 1))
def test_a_stamp_leaves_the_checksum_valid(offset: int, epoch: int) -> None:
    data = bytearray(10) + kafka_batch()
    batch.stamp(data, offset, epoch, at=10)
    header = batch.check_batch(data[10:])
    assert (header.base_offset, header.leader_epoch) == (offset, epoch)
    assert data[:10] == bytes(10)


def test_log_append_time_is_what_kafka_python_reads() -> None:
    data = bytearray(5) + kafka_batch() + b"behind"
    size = len(data) - 11
    crc = batch.stamp_log_append_time(data, 777_777, at=5, size=size)
    theirs = DefaultRecordBatch(memoryview(bytes(data[5 : 5 + size])))
    assert theirs.validate_crc()
    assert theirs.crc == crc
    assert {(record.timestamp, record.timestamp_type) for record in theirs} == {(777_777, 1)}


def test_hopping_over_batches() -> None:
    one, other = kafka_batch(1), kafka_batch(5)
    data = bytes(one + other)
    assert [bytes(view) for view in batch.iter_batches(data)] == [one, other]
    assert [bytes(view) for view in batch.iter_batches(data[:-1])] == [one]
    assert [(at, size) for at, size, _ in batch.hop(data, len(one))] == [(len(one), len(other))]
    assert list(batch.iter_batches(b"")) == []
    assert list(batch.iter_batches(bytes(61))) == []


@given(st.binary(max_size=400))
def test_hopping_over_rubbish_ends(data: bytes) -> None:
    views = list(batch.iter_batches(data))
    assert sum(map(len, views)) <= len(data)


@given(st.data())
def test_any_flipped_bit_is_found(data: st.DataObject) -> None:
    """Outside of what the broker stamps (base offset, leader epoch), every bit is covered by a check."""
    damaged = kafka_batch()
    bit = data.draw(st.integers(0, 8 * len(damaged) - 1).filter(lambda b: not (b < 64 or 96 <= b < 128)))
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(KafkaError) as caught:
        batch.check_batch(damaged)
    assert caught.value.code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)


@pytest.mark.parametrize(
    ("form", "at", "value"),
    [
        (">i", 57, 0),
        (">i", 57, 2),
        (">i", 57, -1),
        (">i", 23, -1),
        (">h", 21, 5),
        (">h", 21, 0x20),
        (">h", 21, 0x40),
        (">h", 21, 0x80),
        (">h", 21, -0x8000),
        (">h", 21, 0x10),
        (">q", 27, -2),
        (">q", 35, -2),
        (">q", 43, -2),
        (">q", 43, 5),
    ],
)
def test_fields_that_make_no_sense(form: str, at: int, value: int) -> None:
    """Count, last offset delta, codec, control and reserved bits, no id, times, producer."""
    data = kafka_batch()
    struct.pack_into(form, data, at, value)
    with pytest.raises(KafkaError) as caught:
        batch.check_batch(sealed(data))
    assert caught.value.code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats_have_their_own_error(magic: int) -> None:
    data = kafka_batch()
    data[batch.MAGIC_AT] = magic
    with pytest.raises(KafkaError) as caught:
        batch.check_batch(data)
    assert caught.value.code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


@pytest.mark.parametrize("extra", [b"", b"x"])
def test_one_batch_must_fill_the_buffer(extra: bytes) -> None:
    data = kafka_batch()
    with pytest.raises(KafkaError, match="CORRUPT_MESSAGE"):
        batch.check_batch(data + extra if extra else data[:-1])
