"""Making topics for tests."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from compat_tests.support.ports import PATIENCE_S, wait_until

_numbers = itertools.count()


def unique(prefix: str) -> str:
    """A name no other test of this run (or of a parallel process) uses."""
    return f"{prefix}-{os.getpid()}-{next(_numbers)}"


def create_topic(
    bootstrap: str,
    name: str,
    partitions: int = 1,
    configs: Mapping[str, str] | None = None,
    replicas: int = 1,
) -> str:
    """Create it; return the name once every partition has a leader that answers."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = NewTopic(name, num_partitions=partitions, replication_factor=replicas, config=dict(configs or {}))
    try:
        admin.create_topics([topic], operation_timeout=120)[name].result(PATIENCE_S)
    except KafkaException as error:
        raise AssertionError(f"creating {name}: {error}") from error
    wanted = {TopicPartition(name, number): OffsetSpec.latest() for number in range(partitions)}
    wait_until(f"leaders of {name}", lambda: _all_answer(admin, wanted))
    return name


def _all_answer(admin: AdminClient, wanted: Mapping[TopicPartition, OffsetSpec]) -> bool:
    """Apache Kafka answers CreateTopics before its own broker part knows the topic: ask until it does."""
    try:
        return all(
            found.result(60) for found in admin.list_offsets(dict(wanted), request_timeout=30).values()
        )
    except KafkaException:
        return False
