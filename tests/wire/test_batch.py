"""Headers and stamps of record batches, against batches that kafka-python builds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from kproto.wire import batch
from kproto.wire.crc import crc32c


def kafka_batch(count: int = 3, codec: int = 0, producer: tuple[int, int, int] = (-1, -1, -1)) -> bytearray:
    """kafka-python's batch of ``count`` records; their times are 5000, 5001, ..."""
    builder = DefaultRecordBatchBuilder(2, codec, False, *producer, 1 << 20)
    for index in range(count):
        assert builder.append(index, 5000 + index, b"key", b"value" * 20, [("h", b"x")]) is not None
    return bytearray(builder.build())


def test_known_checksum() -> None:
    """The check value of CRC-32C in RFC 3720, B.4: 32 bytes of zeroes."""
    assert crc32c(bytes(32)) == 0x8A9136AA


@pytest.mark.parametrize("codec", range(5))
def test_a_header_of_kafka_python(codec: int) -> None:
    data = kafka_batch(7, codec, (9, 2, 40))
    header = batch.read_header(data)
    assert header.crc == batch.crc_of(data)
    assert header.size == len(data)
    assert (header.codec, header.records, header.next_offset) == (codec, 7, 7)
    assert (header.base_timestamp, header.max_timestamp) == (5000, 5006)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 40)
    assert not any((header.control, header.transactional, header.log_append_time))


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


def stamped(*epochs: int, first: int = 100) -> bytearray:
    """Batches of three records each, of these leader epochs, one behind the other."""
    data = bytearray()
    for number, epoch in enumerate(epochs):
        one = kafka_batch()
        batch.STAMP.pack_into(one, 0, first + 3 * number, len(one) - batch.LENGTH_OVERHEAD, epoch)
        data += one
    return data


def test_batches_that_continue_one_another() -> None:
    data = stamped(2, 2, 5)
    size = len(data) // 3
    assert batch.chained(data, 100, 5) == 3 * size
    assert batch.chained(data, 101, 5) == 0
    assert batch.chained(data, 100, 4) == 2 * size, "of a leader that is none yet"
    assert batch.chained(stamped(2, 5, 2), 100, 5) == 2 * size
    assert batch.chained(data[:-1], 100, 5) == 2 * size
    assert batch.chained(data + bytes(61), 100, 5) == 3 * size
    assert batch.chained(b"", 100, 5) == 0


@given(number=st.integers(0, 2), bit=st.integers(0, 8 * 17 - 1))
def test_what_no_crc_covers_is_not_believed(number: int, bit: int) -> None:
    data = stamped(0, 0, 0)
    size = len(data) // 3
    data[number * size + bit // 8] ^= 1 << bit % 8
    assert batch.chained(data, 100, 0) == number * size


@given(st.binary(max_size=400), st.integers(0, 1 << 40))
def test_rubbish_is_no_batch(data: bytes, offset: int) -> None:
    assert batch.chained(data, offset, 1 << 30) <= len(data)


def test_a_stamp_leaves_the_checksum_valid() -> None:
    """Base offset and leader epoch lie outside of what the CRC covers."""
    data = kafka_batch()
    batch.STAMP.pack_into(data, 0, 2**62, len(data) - batch.LENGTH_OVERHEAD, 77)
    theirs = DefaultRecordBatch(memoryview(bytes(data)))
    assert theirs.validate_crc()
    assert (theirs.base_offset, theirs.leader_epoch) == (2**62, 77)
