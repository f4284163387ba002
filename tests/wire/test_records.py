"""Records: built for kafka-python to read, read from what it builds, and never trusted."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from kproto.wire import WireError
from kproto.wire.batch import stamp_log_append_time
from kproto.wire.records import (
    Producer,
    Record,
    build_batch,
    check_records,
    iter_records,
    iter_times,
    open_batch,
)

DATA = st.none() | st.binary(max_size=40)
HEADERS = st.lists(st.tuples(st.text(max_size=5), DATA), max_size=3)
RECORDS = st.lists(
    st.builds(
        Record, key=DATA, value=DATA, timestamp=st.integers(0, 2**41), headers=HEADERS, offset=st.just(-1)
    ),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(records=RECORDS, codec=st.integers(0, 4), base=st.integers(0, 2**62))
def test_kafka_python_reads_what_we_build(records: list[Record], codec: int, base: int) -> None:
    data = bytes(build_batch(records, base_offset=base, codec=codec, producer=Producer(4, 1, 9)))
    theirs = DefaultRecordBatch(memoryview(data))
    assert theirs.validate_crc()
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (4, 1, 9)
    expected = [(r.key, r.value, r.timestamp, list(r.headers), base + i) for i, r in enumerate(records)]
    assert [(r.key, r.value, r.timestamp, r.headers, r.offset) for r in theirs] == expected
    assert [(r.key, r.value, r.timestamp, list(r.headers), r.offset) for r in iter_records(data)] == expected
    assert list(iter_times(data)) == [(r.timestamp, base + i) for i, r in enumerate(records)]
    check_records(data, 100)


@settings(deadline=None)
@given(records=RECORDS, codec=st.integers(0, 4))
def test_we_read_what_kafka_python_builds(records: list[Record], codec: int) -> None:
    builder = DefaultRecordBatchBuilder(2, codec, False, -1, -1, -1, 1 << 20)
    for index, r in enumerate(records):
        assert builder.append(index, r.timestamp, r.key, r.value, list(r.headers)) is not None
    found = list(iter_records(bytes(builder.build())))
    assert [(r.key, r.value, r.timestamp, list(r.headers)) for r in found] == [
        (r.key, r.value, r.timestamp, list(r.headers)) for r in records
    ]


def test_uncompressed_batches_are_the_same_to_the_byte() -> None:
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 20)
    for index in range(100):
        builder.append(index, 5000 + index, b"k", b"v" * 100, [("h", None)])
    records = [Record(b"k", b"v" * 100, 5000 + index, [("h", None)]) for index in range(100)]
    assert build_batch(records, leader_epoch=0) == bytes(builder.build())


def test_times_of_a_batch() -> None:
    """Times need not be in order; with LogAppendTime all have the header's."""
    times = [100, 300, 200, 300, 50]
    data = build_batch([Record(None, b"v", time) for time in times], base_offset=10)
    assert list(iter_times(data)) == [(100, 10), (300, 11), (200, 12), (300, 13), (50, 14)]
    stamp_log_append_time(data, 999)
    assert {time for time, _ in iter_times(data)} == {999}
    assert {r.timestamp for r in iter_records(data)} == {999}


def test_offsets_with_gaps_as_compaction_leaves_them() -> None:
    data = build_batch([Record(b"a", b"1", 1, offset=20), Record(b"b", b"2", 2, offset=25)], base_offset=18)
    assert [r.offset for r in iter_records(data)] == [20, 25]
    assert [r.offset for r in DefaultRecordBatch(memoryview(bytes(data)))] == [20, 25]
    with pytest.raises(WireError, match="20 where 18"):
        check_records(data, 100)
    with pytest.raises(ValueError, match="does not follow"):
        build_batch([Record(None, None, 1, offset=5), Record(None, None, 1, offset=5)])
    with pytest.raises(ValueError, match="at least one"):
        build_batch([])


def test_the_header_must_not_lie_about_time() -> None:
    data = build_batch([Record(None, b"v", 100)])
    data[42] += 1
    with pytest.raises(WireError, match="greatest timestamp"):
        check_records(data, 100)


def test_how_far_the_full_look_goes_is_bounded() -> None:
    """In records, their headers included, and in bytes."""
    data = build_batch([Record(None, b"v" * 9, 1, [("h", b"")] * 3)] * 5 + [Record(None, b"v", 1, offset=9)])
    check_records(data, 5 * 4)
    with pytest.raises(WireError, match="offset 9 where 5 is due"):
        check_records(data, 5 * 4 + 1)
    packed = build_batch([Record(None, bytes(1000), 1)], codec=4)
    check_records(packed, 1, 1100)
    with pytest.raises(WireError, match=r"zstd|unpacks"):
        check_records(packed, 1, 900)


@settings(max_examples=500, deadline=None)
@given(seed=st.integers(0, 2**32), codec=st.integers(0, 4))
def test_damaged_records_give_wire_errors_only(seed: int, codec: int) -> None:
    """The CRC may be right and the records rubbish: whoever sends them computes it."""
    rng = random.Random(seed)
    data = build_batch([Record(b"k", rng.randbytes(9), 5, [("h", b"x")]) for _ in range(6)], codec=codec)
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(57, len(data))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    for read in (iter_records, iter_times):
        try:
            assert len(list(read(data, limit=1 << 20))) < 1000
        except WireError:
            pass


@pytest.mark.parametrize("cut", [0, 1, 60, 61, 62, 80])
def test_cut_batches(cut: int) -> None:
    data = build_batch([Record(b"k", b"value" * 5, 5)])
    with pytest.raises(WireError):
        list(iter_records(data[:cut]))


def test_a_count_that_the_bytes_cannot_hold() -> None:
    data = build_batch([Record(None, None, 5)])
    data[57:61] = (2**31 - 1).to_bytes(4, "big")
    with pytest.raises(WireError, match="2147483647 records"):
        open_batch(data)
    data[57:61] = b"\xff\xff\xff\xff"
    with pytest.raises(WireError, match="-1 records"):
        open_batch(data)
