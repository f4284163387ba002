"""OffsetForLeaderEpoch (key 23), versions 2-4.

Where a leader epoch ends: the largest epoch known that is not above the one asked for, and the first
offset behind it, which is the log end offset for the current epoch (KIP-101, KIP-279). Consumers use it
to notice that the log was cut below their position (KIP-320). -1/-1 when the epoch is unknown. A client
whose current leader epoch is not the partition's is told FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH.
"""

from __future__ import annotations

from typing import Final

from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.leading import check_epoch, error_of, led_here
from kproto.handlers.turns import Steps
from kproto.wire.generated.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

KEY: Final = 23


def handle(
    context: RequestContext, request: OffsetForLeaderEpochRequest
) -> Steps[OffsetForLeaderEpochResponse]:
    """One answer per partition, in the order of the request."""
    response = OffsetForLeaderEpochResponse()
    for topic in request.topics:
        result = OffsetForLeaderTopicResult(topic=topic.topic)
        response.topics.append(result)
        for part in topic.partitions:
            result.partitions.append(_end(context, topic.topic, part))
            yield
        yield
    return response


def _end(context: RequestContext, topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    services = context.broker
    try:
        epoch = wanted.current_leader_epoch
        partition = led_here(services, services.image().topics.get(topic), wanted.partition, epoch)
        check_epoch(partition, wanted.current_leader_epoch)
        epoch, end_offset = partition.epoch_end_offset(wanted.leader_epoch)
    except Exception as error:
        return EpochEndOffset(error_code=error_of(error)[0], partition=wanted.partition)
    return EpochEndOffset(partition=wanted.partition, leader_epoch=epoch, end_offset=end_offset)


HANDLER: Final = Handler(key=KEY, min_version=2, max_version=4, handle=handle)
