"""Each way a chunk can be wrong, and the error a client of Apache Kafka 4.3 would get for it."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.wire.batch import CRC_AT, CRC_FROM, HEADER, crc_of, read_header
from kproto.wire.crc import crc32c
from kproto.wire.records import Producer, Record, build_batch, iter_records
from tests.log.support import Log, batch, everything, in_memory

NOW = 1_700_000_000_000


def changed(at: int, new: bytes, *, seal: bool = True) -> memoryview:
    """A good chunk with some bytes replaced; ``seal`` makes the CRC right again."""
    chunk = bytearray(batch(b"key", b"value", time=NOW))
    chunk[at : at + len(new)] = new
    if seal:
        chunk[CRC_AT : CRC_AT + 4] = struct.pack(">I", crc32c(memoryview(chunk)[CRC_FROM:]))
    return memoryview(chunk)


def refused(log: Log, chunk: memoryview) -> ErrorCode:
    partition = log.partition()
    with pytest.raises(KafkaError) as caught:
        partition.append(chunk)
    assert partition.log_end_offset == 0
    assert log.journal.end == 0
    assert caught.value.message
    return caught.value.code


BAD = {
    "damaged record": (changed(65, b"\xff", seal=False), ErrorCode.CORRUPT_MESSAGE),
    "damaged CRC": (changed(CRC_AT, b"\0\0\0\0", seal=False), ErrorCode.CORRUPT_MESSAGE),
    "magic 0": (changed(16, b"\0"), ErrorCode.INVALID_RECORD),
    "magic 1": (changed(16, b"\1"), ErrorCode.INVALID_RECORD),
    "magic 3": (changed(16, b"\3"), ErrorCode.CORRUPT_MESSAGE),
    "empty": (memoryview(b""), ErrorCode.INVALID_RECORD),
    "half a header": (batch(b"x")[:30], ErrorCode.INVALID_RECORD),
    "cut off": (batch(b"x")[:-1], ErrorCode.INVALID_RECORD),
    "two batches": (memoryview(bytes(batch(b"x")) * 2), ErrorCode.INVALID_RECORD),
    "trailing byte": (memoryview(bytes(batch(b"x")) + b"\0"), ErrorCode.INVALID_RECORD),
    "negative length": (changed(8, b"\xff\xff\xff\xff"), ErrorCode.CORRUPT_MESSAGE),
    "length 0": (changed(8, bytes(4)), ErrorCode.CORRUPT_MESSAGE),
    "base offset": (changed(0, struct.pack(">q", 5)), ErrorCode.INVALID_RECORD),
    "count 0": (changed(57, bytes(4)), ErrorCode.INVALID_RECORD),
    "count above delta": (changed(57, struct.pack(">i", 9)), ErrorCode.INVALID_RECORD),
    "negative delta": (changed(23, struct.pack(">i", -1)), ErrorCode.INVALID_RECORD),
    "delta wraps": (changed(23, struct.pack(">i", 0x7FFFFFFF)), ErrorCode.INVALID_RECORD),
    "codec 5": (changed(21, b"\0\5"), ErrorCode.INVALID_RECORD),
    "codec 7": (changed(21, b"\0\7"), ErrorCode.INVALID_RECORD),
    "LogAppendTime": (changed(21, b"\0\x08"), ErrorCode.INVALID_TIMESTAMP),
    "transactional": (changed(21, b"\0\x10"), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    "control": (changed(21, b"\0\x20"), ErrorCode.INVALID_RECORD),
    "delete horizon": (changed(21, b"\0\x40"), ErrorCode.INVALID_RECORD),
    "reserved": (changed(21, b"\x80\0"), ErrorCode.INVALID_RECORD),
    "future": (batch(b"x", time=NOW + 3_600_001), ErrorCode.INVALID_TIMESTAMP),
    "producer -2": (changed(43, struct.pack(">q", -2)), ErrorCode.INVALID_RECORD),
    "producer without sequence": (batch(b"x", producer=Producer(1, 0, -1)), ErrorCode.INVALID_RECORD),
    "producer without epoch": (batch(b"x", producer=Producer(1, -1, 0)), ErrorCode.INVALID_RECORD),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_chunks_are_refused_and_nothing_is_stored(name: str, tmp_path: Path) -> None:
    chunk, code = BAD[name]
    assert refused(Log(tmp_path), chunk) == code


@pytest.mark.parametrize("name", BAD)
def test_bad_chunks_are_refused_by_the_short_check_too(name: str, tmp_path: Path) -> None:
    """The first chunk of a partition is looked at closely; those after it only when they seem unusual."""
    chunk, code = BAD[name]
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(b"good", time=NOW))
    with pytest.raises(KafkaError) as caught:
        partition.append(chunk)
    assert caught.value.code == code
    assert (partition.log_end_offset, log.journal.end) == (1, 1)


def test_the_limits_are_the_topic_configs(tmp_path: Path) -> None:
    log = Log(tmp_path, {"max.message.bytes": "200", "message.timestamp.before.max.ms": "1000"})
    assert refused(log, batch(200)) == ErrorCode.MESSAGE_TOO_LARGE
    assert refused(log, batch(b"x", time=NOW - 1001)) == ErrorCode.INVALID_TIMESTAMP
    assert log.partition().append(batch(b"x", time=NOW - 1000))[0] == 0
    assert log.partition().append(batch(b"x", time=-1))[0] == 1, "a record without time is never too old"


def test_a_clock_that_moves_lets_newer_timestamps_in(tmp_path: Path) -> None:
    log = Log(tmp_path, {"message.timestamp.after.max.ms": "10"})
    assert refused(log, batch(b"x", time=NOW + 11)) == ErrorCode.INVALID_TIMESTAMP
    log.clock.advance(0.001)
    assert log.partition().append(batch(b"x", time=NOW + 11))[0] == 0


def too_new(log: Log, time: int) -> bool:
    with pytest.raises(KafkaError) as caught:
        log.partition().append(batch(b"x", time=time))
    return caught.value.code is ErrorCode.INVALID_TIMESTAMP


def test_a_clock_that_goes_back_keeps_newer_timestamps_out(tmp_path: Path) -> None:
    """What had been let in before was let in until the next start."""
    log = Log(tmp_path, {"message.timestamp.after.max.ms": "10"})
    log.clock.advance(3600.0)
    log.tick()
    assert log.partition().append(batch(b"x", time=NOW + 3_600_010))[0] == 0
    log.clock._wall_ms -= 3_600_000
    log.tick()
    assert too_new(log, NOW + 3_600_010)
    assert log.partition().append(batch(b"x", time=NOW + 10))[0] == 1


def test_a_step_back_between_two_looks_at_the_clock_is_seen(tmp_path: Path) -> None:
    log = Log(tmp_path, {"message.timestamp.after.max.ms": "10"})
    log.tick()
    log.clock.advance(0.1)
    assert log.partition().append(batch(b"x", time=NOW + 110))[0] == 0
    log.clock._wall_ms -= 50
    log.tick()
    assert too_new(log, NOW + 110)


def test_log_append_time_is_stamped_under_a_new_crc(tmp_path: Path) -> None:
    log = Log(tmp_path, {"message.timestamp.type": "LogAppendTime"})
    partition = log.partition()
    assert partition.append(batch(b"a", b"b", time=5)) == (0, NOW, 0, False)
    stored = in_memory(partition)
    header = read_header(stored)
    assert header.log_append_time
    assert header.crc == crc32c(stored[CRC_FROM:])
    assert [record.timestamp for record in iter_records(stored)] == [NOW, NOW]
    assert log.journal.stored[partition.topic_id, 0][0][2] == bytes(stored)


def test_a_repeated_batch_gets_the_first_append_time(tmp_path: Path) -> None:
    log = Log(tmp_path, {"message.timestamp.type": "LogAppendTime"})
    chunk = batch(b"a", time=5, producer=Producer(1, 0, 0))
    assert log.partition().append(chunk) == (0, NOW, 0, False)
    log.clock.advance(1)
    assert log.partition().append(chunk) == (0, NOW, 0, True)


def test_records_are_looked_at_only_when_that_is_paid_for(tmp_path: Path) -> None:
    rubbish = bytearray(build_batch([Record(b"k", b"v" * 50, NOW)]))
    rubbish[61:] = random.Random(1).randbytes(len(rubbish) - 61)
    rubbish[CRC_AT : CRC_AT + 4] = struct.pack(">I", crc32c(memoryview(rubbish)[CRC_FROM:]))
    assert Log(tmp_path / "a").partition().append(memoryview(rubbish))[0] == 0
    careful = Log(tmp_path / "b", {"kproto.validate.records": "true"})
    assert refused(careful, memoryview(rubbish)) == ErrorCode.INVALID_RECORD
    assert careful.partition().append(batch(b"fine"))[0] == 0


def test_nothing_is_taken_while_the_journal_is_blocked(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.partition()
    log.journal.blocked = True
    assert refused(log, batch(b"x")) == ErrorCode.KAFKA_STORAGE_ERROR


@settings(max_examples=300, deadline=None)
@given(position=st.integers(0, HEADER.size + 20), value=st.integers(0, 255), seal=st.booleans())
def test_one_changed_byte_is_a_kafka_error_or_a_sound_chunk(
    position: int, value: int, seal: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chunk = changed(position % len(batch(b"key", b"value")), bytes([value]), seal=seal)
    log = Log(tmp_path_factory.mktemp("log"))
    partition = log.partition()
    try:
        partition.append(chunk)
    except KafkaError:
        assert partition.log_end_offset == 0
    else:
        stored = in_memory(partition)
        assert crc32c(stored[CRC_FROM:]) == read_header(stored).crc
        assert partition.log_end_offset == read_header(stored).records


@pytest.mark.parametrize(
    ("times", "header", "stored"),
    [([NOW, NOW + 5], (NOW, -1), (NOW, NOW + 5)), ([-1, -1], (-1, 0), (-1, -1)), ([-1], (-1, -1), (-1, -1))],
    ids=["Sarama up to 1.43", "librdkafka without times", "without times"],
)
@pytest.mark.parametrize("codec", range(5))
def test_the_greatest_timestamp_is_that_of_the_records(
    tmp_path: Path, times: list[int], header: tuple[int, int], stored: tuple[int, int], codec: int
) -> None:
    """As in Apache Kafka, where the header's cannot be right."""
    chunk = bytearray(batch(*(b"x" for _ in times), times=times, codec=codec))
    struct.pack_into(">qq", chunk, 27, *header)
    struct.pack_into(">I", chunk, 17, crc_of(chunk))
    log = Log(tmp_path)
    log.partition().append(memoryview(chunk))
    found = everything(log.partition())
    assert HEADER.unpack_from(found)[7:9] == stored
    assert HEADER.unpack_from(found)[4] == crc_of(found)
    log.restart(LeftAs.KILLED)
    assert everything(log.partition())[21:] == found[21:]
