"""What is checked in a chunk before it is appended, and Kafka's error for each finding. Pure.

`Partition.append` asks one combined question on its fast way; when the answer is "something is unusual" it
calls `examine`, which names the finding in the order in which Apache Kafka 4.3 looks: shape and magic
(``ProduceRequest.validateRecords``), base offset, size, CRC (``UnifiedLog.analyzeAndValidateRecords``),
then counts, control bits, sequence and timestamps (``LogValidator``). Rubbish inside a valid CRC is
accepted unless ``kproto.validate.records`` pays for a full look.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from kproto.errors import ErrorCode, KafkaError
from kproto.wire.batch import (
    CODEC_MASK,
    CONTROL,
    CRC_FROM,
    HEADER,
    HEADER_SIZE,
    LENGTH_OVERHEAD,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    with_max_timestamp,
)
from kproto.wire.crc import crc32c
from kproto.wire.primitives import WireError

if TYPE_CHECKING:
    from kproto.config import TopicConfig

NO_TRANSACTIONS: Final = "this broker has no transactions yet"
MAX_CODEC: Final = 4
NO_TIMESTAMP: Final = -1
MOST_WALKED: Final = 20_000
"""Records of a batch that Produce walks over where it looks inside. It goes on in one piece: about 10 ms for
keys, 50 ms for all there is in them."""
MOST_UNPACKED: Final = 16 * 1024 * 1024
"""Bytes that a batch may unpack to for that."""
_MAGIC_AT: Final = 16
_KNOWN_BITS: Final = CODEC_MASK | LOG_APPEND_TIME | TRANSACTIONAL | CONTROL


def examine(chunk: memoryview, config: TopicConfig, now_ms: int) -> memoryview:
    """Raise KafkaError for the first thing that is wrong with ``chunk``; return it when nothing is, or a copy
    with the right greatest timestamp."""
    _shape(chunk)
    _size_and_crc(chunk, config)
    _counts(chunk)
    _bits(chunk)
    if not config.log_append_time:
        chunk = _with_times(chunk)
    _timestamps(chunk, config, now_ms)
    return chunk


def _with_times(chunk: memoryview) -> memoryview:
    """Apache Kafka goes by the records, whatever the header says of the greatest timestamp. Here they are
    walked over where it cannot be right: Sarama up to 1.43 leaves it at -1, and librdkafka writes 0 for
    records without a time."""
    fields = HEADER.unpack_from(chunk)
    first, newest = fields[7], fields[8]
    if 0 <= first <= newest or newest == first == NO_TIMESTAMP:
        return chunk
    from kproto.wire.records import iter_times

    try:
        times = islice(iter_times(chunk, MOST_UNPACKED), MOST_WALKED)
        found = max((time for time, _ in times), default=first)
    except WireError:
        return chunk
    return memoryview(with_max_timestamp(chunk, found)) if found != newest else chunk


def _shape(chunk: memoryview) -> None:
    """Exactly one whole batch of magic 2."""
    if len(chunk) > _MAGIC_AT:
        length = int.from_bytes(chunk[8:12], "big", signed=True)
        magic = chunk[_MAGIC_AT]
        if magic > 2:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"invalid magic {magic}")
        if length < HEADER_SIZE - LENGTH_OVERHEAD and magic == 2:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"a batch cannot have length {length}")
        if magic < 2:
            raise KafkaError(ErrorCode.INVALID_RECORD, f"only batches of magic 2 are accepted, not {magic}")
        if length + LENGTH_OVERHEAD == len(chunk):
            return
        if length + LENGTH_OVERHEAD < len(chunk):
            raise KafkaError(ErrorCode.INVALID_RECORD, "exactly one batch per partition is allowed")
    raise KafkaError(
        ErrorCode.INVALID_RECORD, f"{len(chunk)} bytes hold no whole batch, one per partition is needed"
    )


def _size_and_crc(chunk: memoryview, config: TopicConfig) -> None:
    fields = HEADER.unpack_from(chunk)
    if fields[0] != 0:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"the base offset must be 0, not {fields[0]}")
    if len(chunk) > config.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{len(chunk)} bytes, max.message.bytes is {config.max_message_bytes}",
        )
    if crc32c(chunk[CRC_FROM:]) != fields[4]:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "the CRC-32C does not match")


def _counts(chunk: memoryview) -> None:
    fields = HEADER.unpack_from(chunk)
    last_delta, count = fields[6], fields[12]
    if last_delta < 0 or count <= 0:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"{count} records up to offset delta {last_delta}")
    if last_delta + 1 != count:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"{count} records cannot end at offset delta {last_delta}")


def _bits(chunk: memoryview) -> None:
    attributes = HEADER.unpack_from(chunk)[5]
    if attributes & TRANSACTIONAL:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, NO_TRANSACTIONS)
    if attributes & CONTROL:
        raise KafkaError(ErrorCode.INVALID_RECORD, "clients cannot write control records")
    if attributes & LOG_APPEND_TIME:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP, "a producer cannot set the timestamp type to LogAppendTime"
        )
    if attributes & ~_KNOWN_BITS:
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"reserved attribute bits are set: {attributes & 0xFFFF:#06x}"
        )
    if attributes & CODEC_MASK > MAX_CODEC:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"unknown compression codec {attributes & CODEC_MASK}")


def _timestamps(chunk: memoryview, config: TopicConfig, now_ms: int) -> None:
    if config.log_append_time:
        return
    fields = HEADER.unpack_from(chunk)
    first, newest = fields[7], fields[8]
    if first > newest:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP, f"the first timestamp {first} is above the newest, {newest}"
        )
    if newest > now_ms + config.timestamp_after_max_ms:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp {newest} is more than {config.timestamp_after_max_ms} ms ahead of the broker's clock",
        )
    if first != NO_TIMESTAMP and first < now_ms - config.timestamp_before_max_ms:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp {first} is more than {config.timestamp_before_max_ms} ms behind the broker's clock",
        )
