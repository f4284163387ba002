"""From what a request names to the partition this broker leads, and the checks all data APIs share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Services
from kproto.handlers.partitions import leader_of
from kproto.metadata.records import NO_LEADER, RECOVERING

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.metadata import TopicRecord

log = logging.getLogger(__name__)

NO_EPOCH: Final = -1


def led_here(
    services: Services, topic: TopicRecord | None, index: int, client_epoch: int = NO_EPOCH
) -> Partition:
    """The open partition ``index`` of ``topic``. ``client_epoch`` is for :func:`check_epoch` afterwards.

    Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION when there is none, NOT_LEADER_OR_FOLLOWER when another
    broker leads it, or nobody until it is rebuilt (rule 27), KAFKA_STORAGE_ERROR when it cannot be opened.
    A replica tells a client with another epoch first which of the two knows less, as in Apache Kafka (rule
    32).
    """
    if topic is None or not 0 <= index < topic.partitions:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    image = services.image()
    streamlet = image.partition_streamlet(topic, index)
    if leader_of(image, streamlet) != services.node_id:
        if services.node_id in streamlet.replicas:
            compare_epochs(client_epoch, streamlet.leader_epoch)
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    try:
        partition = services.logs.partition(topic.topic_id, index)
    except OSError as error:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot open the partition: {error}") from error
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return partition


def check_epoch(partition: Partition, client_epoch: int) -> None:
    """KIP-320: the client's idea of the leader epoch (-1: none) must be the partition's."""
    if client_epoch != partition.leader_epoch:
        compare_epochs(client_epoch, partition.leader_epoch)


def compare_epochs(client_epoch: int, leader_epoch: int) -> None:
    """Rule 32: FENCED_LEADER_EPOCH to a client that knows less, UNKNOWN_LEADER_EPOCH to one that knows more.

    Without an epoch (-1) a client is not checked.
    """
    if client_epoch in (NO_EPOCH, leader_epoch):
        return
    if client_epoch < leader_epoch:
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
    raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)


def leader_told(services: Services, topic: TopicRecord | None, index: int) -> tuple[int, int] | None:
    """KIP-951: leader and leader epoch for a client that knew others; None while nobody leads."""
    image = services.image()
    if topic is None or topic.topic_id not in image.streamlets or not 0 <= index < topic.partitions:
        return None
    streamlet = image.partition_streamlet(topic, index)
    leader = leader_of(image, streamlet)
    return None if leader == NO_LEADER else (leader, streamlet.leader_epoch)


def changes_leader(services: Services, topic: TopicRecord | None, index: int) -> bool:
    """Who leads the partition next is settled, or about to be, and will serve it in a moment: this broker is
    handing it over (rule 12b), or a live one rebuilds it."""
    image = services.image()
    if topic is None or topic.topic_id not in image.streamlets or not 0 <= index < topic.partitions:
        return False
    streamlet = image.partition_streamlet(topic, index)
    if not streamlet.sources:
        return False
    if streamlet.state == RECOVERING:
        return streamlet.leader in image.brokers
    if leader_of(image, streamlet) != services.node_id:
        return False
    partition = services.logs.opened(topic.topic_id, index)
    if partition is None or partition.lost:
        return False
    vlog = partition.vlog
    return partition.handing_over or (vlog is not None and vlog.retiring and not vlog.lost)


def error_of(error: Exception) -> tuple[ErrorCode, str | None]:
    """Code and message for a per-item error field; an exception nobody expected is logged."""
    if isinstance(error, KafkaError):
        return error.code, error.message
    log.error("unexpected error in a request", exc_info=error)
    return ErrorCode.UNKNOWN_SERVER_ERROR, None
