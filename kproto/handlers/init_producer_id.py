"""InitProducerId (key 22), versions 0 to 5: id and epoch for idempotent producers (KIP-98, KIP-360).

Behaviour: without a transactional id every call gets a new id with epoch 0, whatever id the client had
before: as in Apache Kafka. There are no transactions yet: a transactional id gets
TRANSACTIONAL_ID_AUTHORIZATION_FAILED, as from FindCoordinator: clients show it at once and do not try again.
When no block of ids is to be had, from another broker in a second, or because the metadata cannot be written,
it is COORDINATOR_LOAD_IN_PROGRESS, as in Apache Kafka: all clients try that again.
Version notes: v2 flexible, v3 the client's current id and epoch, v4 PRODUCER_FENCED, v5 the same for TV2.
"""

from __future__ import annotations

from typing import Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

NONE: Final = -1


async def handle(ctx: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    """Give out a producer id."""
    if request.transactional_id == "" or (request.producer_id == NONE) != (request.producer_epoch == NONE):
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    try:
        producer_id = await ctx.broker.controller.next_producer_id()
    except KafkaError:
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=NONE, producer_epoch=NONE)


HANDLER = Handler(key=22, min_version=0, max_version=5, handle=handle)
