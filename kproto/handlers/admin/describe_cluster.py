"""DescribeCluster (key 60), versions 0 to 2: cluster id, controller and brokers (KIP-700).

Behaviour: this listener is one of a broker; asking it for controllers (v1+, KIP-919) gets
MISMATCHED_ENDPOINT_TYPE. Brokers that are known but no live members are listed for who asks for them (v2+,
KIP-1073).
"""

from __future__ import annotations

from typing import Final

from kproto.errors import ErrorCode
from kproto.handlers.authorized import CLUSTER_OPERATIONS, NOT_ASKED
from kproto.handlers.context import Handler, RequestContext
from kproto.metadata import BrokerRecord
from kproto.wire.generated.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS: Final = 1
CONTROLLERS: Final = 2


def handle(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Answer from the image."""
    if request.endpoint_type != BROKERS:
        code, message = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, "There is no such type of endpoint."
        if request.endpoint_type == CONTROLLERS:
            code, message = ErrorCode.MISMATCHED_ENDPOINT_TYPE, "This is a broker's listener."
        return DescribeClusterResponse(error_code=code, error_message=message, cluster_id="")
    image = ctx.broker.image()
    asked = request.include_cluster_authorized_operations
    fenced: list[DescribeClusterBroker] = []
    if request.include_fenced_brokers:
        gone = sorted(ctx.broker.table.fenced.items())
        fenced = [_shown(each, fenced=True) for node_id, each in gone if node_id not in image.brokers]
    return DescribeClusterResponse(
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        brokers=[_shown(each, fenced=False) for each in image.brokers.values()] + fenced,
        cluster_authorized_operations=CLUSTER_OPERATIONS if asked else NOT_ASKED,
    )


def _shown(broker: BrokerRecord, *, fenced: bool) -> DescribeClusterBroker:
    return DescribeClusterBroker(
        broker_id=broker.node_id, host=broker.host, port=broker.port, rack=broker.rack, is_fenced=fenced
    )


HANDLER = Handler(key=60, min_version=0, max_version=2, handle=handle)
