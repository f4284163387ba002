"""DescribeCluster (key 60), versions 0 to 2: cluster id, controller and brokers (KIP-700).

Behaviour: this listener is one of a broker; asking it for controllers (v1+, KIP-919) gets
MISMATCHED_ENDPOINT_TYPE. No broker is ever fenced and still listed.
"""

from __future__ import annotations

from typing import Final

from kproto.errors import ErrorCode
from kproto.handlers.authorized import CLUSTER_OPERATIONS, NOT_ASKED
from kproto.handlers.context import Handler, RequestContext
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
    return DescribeClusterResponse(
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        brokers=[
            DescribeClusterBroker(broker_id=each.node_id, host=each.host, port=each.port, rack=each.rack)
            for each in image.brokers.values()
        ],
        cluster_authorized_operations=CLUSTER_OPERATIONS if asked else NOT_ASKED,
    )


HANDLER = Handler(key=60, min_version=0, max_version=2, handle=handle)
