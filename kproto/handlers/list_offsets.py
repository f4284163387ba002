"""ListOffsets (key 2), versions 1-11.

By timestamp the answer is the first record at or after it, exact to the record, with that record's own
timestamp and leader epoch; -1/-1 when there is none below the high watermark (below the last stable
offset for read_committed). Special timestamps: -1 latest (high watermark or last stable offset), -2
earliest (log start), -3 the record with the largest timestamp (v7), -4 earliest local (v8: the log start,
nothing is tiered), -5 latest tiered (v9) and -6 earliest pending upload (v11): both -1, as Kafka answers
without tiering. Others, or one of these in an older version, are UNSUPPORTED_VERSION; a partition named
twice is answered once, with INVALID_REQUEST. v2 brought the isolation level, v4 leader epochs (KIP-320).

Latest and earliest are answered on the spot; look-ups read what the page cache has, the rest in a thread, and
go on one at a time (``log.line``).
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.leading import check_epoch, error_of, led_here
from kproto.handlers.turns import Pauses, Steps
from kproto.wire.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from kproto.log.partition import Partition

KEY: Final = 2
LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6
_SINCE: Final = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
"""The version in which each special timestamp came."""
_READ_COMMITTED: Final = 1

Answer = ListOffsetsPartitionResponse
Search = tuple["Partition", ListOffsetsPartition, Answer]


def handle(
    context: RequestContext, request: ListOffsetsRequest
) -> Steps[ListOffsetsResponse | Awaitable[ListOffsetsResponse]]:
    """One answer per partition, in the order of the request; none for a topic without partitions."""
    response = ListOffsetsResponse()
    committed = request.isolation_level == _READ_COMMITTED
    searches: list[Search] = []
    seen: dict[tuple[str, int], Answer] = {}
    for topic in request.topics:
        answers: list[Answer] = []
        yield
        for wanted in topic.partitions:
            yield
            key = topic.name, wanted.partition_index
            if key in seen:
                _refuse(seen[key])
                continue
            answer = seen[key] = Answer(partition_index=wanted.partition_index)
            answers.append(answer)
            try:
                if wanted.timestamp < 0 and not _SINCE.get(wanted.timestamp, 1 << 15) <= context.version:
                    raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
                epoch = wanted.current_leader_epoch
                record = context.broker.image().topics.get(topic.name)
                partition = led_here(context.broker, record, wanted.partition_index, epoch)
                check_epoch(partition, epoch)
                if wanted.timestamp >= 0 or wanted.timestamp == MAX_TIMESTAMP:
                    searches.append((partition, wanted, answer))
                else:
                    _answer_end(partition, wanted.timestamp, committed, answer)
            except Exception as error:
                answer.error_code = error_of(error)[0]
        if answers:
            response.topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=answers))
    return _search(context, searches, committed, response) if searches else response


def _refuse(answer: Answer) -> None:
    """Its partition is named twice."""
    answer.error_code = ErrorCode.INVALID_REQUEST
    answer.timestamp = answer.offset = answer.leader_epoch = -1


def _answer_end(partition: Partition, timestamp: int, committed: bool, answer: Answer) -> None:
    """One end of the log; the answers about tiered data stay -1."""
    if timestamp == LATEST:
        answer.offset = partition.last_stable_offset if committed else partition.high_watermark
        answer.leader_epoch = partition.leader_epoch
    elif timestamp in (EARLIEST, EARLIEST_LOCAL):
        answer.offset = partition.log_start_offset
        answer.leader_epoch = partition.epoch_of(partition.log_start_offset)


async def _search(
    context: RequestContext, searches: list[Search], committed: bool, response: ListOffsetsResponse
) -> ListOffsetsResponse:
    from kproto.log.reader import complete

    pause = Pauses()
    place = context.broker.look_ups.place(context.peer)
    for partition, wanted, answer in searches:
        await pause()
        if answer.error_code:
            continue
        try:
            if wanted.timestamp == MAX_TIMESTAMP:
                lookup = partition.max_timestamp_offset(committed)
            else:
                lookup = partition.offset_for_time(wanted.timestamp, committed)
            found = await complete(lookup, context.broker.blocking.run, pause, place)
            if found is not None:
                answer.timestamp, answer.offset, answer.leader_epoch = found
        except Exception as error:
            answer.error_code = error_of(error)[0]
    return response


HANDLER: Final = Handler(key=KEY, min_version=1, max_version=11, handle=handle)
