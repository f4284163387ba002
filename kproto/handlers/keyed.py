"""Records without a key are not for topics that are compacted: as in Apache Kafka their batch is refused.

Answers from Produce version 8 on name these records (KIP-467): a client fails them with the reason and the
others of the batch as those that may be sent again without them.

Besides ``kproto.validate.records`` this is where Produce walks over records, for these topics only. It goes
on in one piece, so it is bounded: the first `MOST_WALKED` records of a batch, none of one that unpacks to
more than `MOST_UNPACKED`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kproto.errors import ErrorCode, KafkaError
from kproto.log.checks import MOST_UNPACKED, MOST_WALKED
from kproto.wire import WireError
from kproto.wire.batch import HEADER_SIZE, crc_of, read_header

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.wire.generated.produce import BatchIndexAndErrorMessage


class AboutRecords(str):
    """The message of an error, and which records of the batch it is about, counted from 0."""

    __slots__ = ("records",)

    def __new__(cls, message: str, records: Sequence[int]) -> AboutRecords:
        made = super().__new__(cls, message)
        made.records = records
        return made

    records: Sequence[int]


def refuse_without_key(partition: Partition, batch: memoryview) -> None:
    """INVALID_RECORD if records of the batch have no key. What else is wrong with it is not for here."""
    from kproto.wire.records import without_key

    size = len(batch)
    if not HEADER_SIZE <= size <= partition.config.max_message_bytes:
        return
    header = read_header(batch)
    if header.size != size or header.crc != crc_of(batch):
        return
    try:
        found = without_key(batch, MOST_WALKED, MOST_UNPACKED)
    except WireError:
        return
    if found:
        message = f"{len(found)} records without a key, {partition.topic} is compacted"
        raise KafkaError(ErrorCode.INVALID_RECORD, AboutRecords(message, found))


def record_errors(message: str | None) -> list[BatchIndexAndErrorMessage]:
    """What an answer says about single records."""
    from kproto.wire.generated.produce import BatchIndexAndErrorMessage

    if not isinstance(message, AboutRecords):
        return []
    return [BatchIndexAndErrorMessage(place, "a record without a key") for place in message.records]
