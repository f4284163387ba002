"""DescribeCluster and InitProducerId in all their versions."""

from __future__ import annotations

import pytest

from kproto.errors import ErrorCode
from kproto.handlers.authorized import CLUSTER_OPERATIONS, NOT_ASKED
from kproto.metadata import StoreError
from kproto.wire.generated.describe_cluster import DescribeClusterRequest
from kproto.wire.generated.init_producer_id import InitProducerIdRequest


@pytest.mark.parametrize("version", range(3))
def test_describe_cluster(cluster, version: int) -> None:
    answer = cluster.call(60, version, DescribeClusterRequest(include_cluster_authorized_operations=True))
    assert (answer.error_code, answer.controller_id) == (0, 1)
    assert answer.cluster_id == cluster.controller.image.cluster_id
    assert [(b.broker_id, b.host, b.port, b.rack) for b in answer.brokers] == [
        (node, f"host{node}", 9091 + node, f"rack{node}") for node in (1, 2, 3)
    ]
    assert answer.cluster_authorized_operations == CLUSTER_OPERATIONS
    plain = cluster.call(60, version, DescribeClusterRequest())
    assert plain.cluster_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("endpoint", "code"), [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)]
)
def test_only_brokers_are_found_here(served, version: int, endpoint: int, code: ErrorCode) -> None:
    answer = served.call(60, version, DescribeClusterRequest(endpoint_type=endpoint))
    assert (answer.error_code, answer.cluster_id, answer.controller_id, answer.brokers) == (code, "", -1, [])


@pytest.mark.parametrize("version", range(6))
def test_every_idempotent_producer_gets_its_own_id(served, version: int) -> None:
    answers = [served.call(22, version, InitProducerIdRequest(transactional_id=None)) for _ in range(3)]
    assert [(a.error_code, a.producer_id, a.producer_epoch) for a in answers] == [(0, n, 0) for n in range(3)]


def test_producers_try_again_when_the_metadata_cannot_be_written(served, monkeypatch) -> None:
    """A full disk, say. With KAFKA_STORAGE_ERROR not all of them do."""

    async def full(*_: object) -> None:
        raise StoreError("the disk is full")

    request = InitProducerIdRequest(transactional_id=None)
    with monkeypatch.context() as during:
        during.setattr(type(served.controller._store), "transact", full)
        answer = served.call(22, 5, request)
        assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert (answer.producer_id, answer.producer_epoch) == (-1, -1)
    assert served.call(22, 5, request).producer_id == 0


@pytest.mark.parametrize("version", range(6))
def test_a_transactional_id_is_refused_clearly(served, version: int) -> None:
    answer = served.call(
        22, version, InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=1000)
    )
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert (answer.producer_id, answer.producer_epoch) == (-1, -1)


@pytest.mark.parametrize("version", range(3, 6))
def test_id_and_epoch_come_together(served, version: int) -> None:
    """As in Apache Kafka: both or none; an idempotent producer that had an id gets a new one."""
    for fields in ({"producer_id": 5}, {"producer_epoch": 5}, {"transactional_id": ""}):
        request = InitProducerIdRequest(**{"transactional_id": None, **fields})
        assert served.call(22, version, request).error_code == ErrorCode.INVALID_REQUEST
    request = InitProducerIdRequest(transactional_id=None, producer_id=12, producer_epoch=3)
    assert served.call(22, version, request).producer_id == 0
