"""ConsumerGroupHeartbeat (key 68), versions 0 and 1: the groups of KIP-848, which are not served.

Behaviour: UNSUPPORTED_VERSION, as Apache Kafka answers where ``group.coordinator.rebalance.protocols`` is
``classic``, and advertised, as there. Where it is not, librdkafka takes the coordinator to be away, and asks
for it for ever without a word; this answer is final to it. franz-go goes on with a classic group.
"""

from __future__ import annotations

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def handle(
    ctx: RequestContext,  # noqa: ARG001
    request: ConsumerGroupHeartbeatRequest,  # noqa: ARG001
) -> ConsumerGroupHeartbeatResponse:
    """Refuse."""
    return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)


HANDLER = Handler(key=68, min_version=0, max_version=1, handle=handle)
