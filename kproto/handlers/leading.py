"""From what a request names to the partition this broker leads, and the checks all data APIs share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Services

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.metadata import TopicRecord

log = logging.getLogger(__name__)

NO_EPOCH: Final = -1


def led_here(services: Services, topic: TopicRecord | None, index: int) -> Partition:
    """The open partition ``index`` of ``topic``.

    Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION when there is none, NOT_LEADER_OR_FOLLOWER when another
    broker leads it, KAFKA_STORAGE_ERROR when it cannot be opened.
    """
    if topic is None or not 0 <= index < topic.partitions:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    streamlet = services.image().partition_streamlet(topic, index)
    if streamlet.leader != services.node_id:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    try:
        partition = services.logs.partition(topic.topic_id, index)
    except OSError as error:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot open the partition: {error}") from error
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return partition


def check_epoch(partition: Partition, current_leader_epoch: int) -> None:
    """KIP-320: the client's idea of the leader epoch (-1: none) must be the partition's."""
    if current_leader_epoch in (NO_EPOCH, partition.leader_epoch):
        return
    if current_leader_epoch < partition.leader_epoch:
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
    raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)


def error_of(error: Exception) -> tuple[ErrorCode, str | None]:
    """Code and message for a per-item error field; an exception nobody expected is logged."""
    if isinstance(error, KafkaError):
        return error.code, error.message
    log.error("unexpected error in a request", exc_info=error)
    return ErrorCode.UNKNOWN_SERVER_ERROR, None
