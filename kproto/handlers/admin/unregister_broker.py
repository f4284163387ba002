"""UnregisterBroker (key 64), version 0: a broker that will not come back is forgotten (KIP-631).

Behaviour: copies that it had are made anew elsewhere. BROKER_ID_NOT_REGISTERED for an unknown broker; unlike
in Apache Kafka INVALID_REQUEST for one that is alive (it would only register again) and for one that has the
only copy of something.
"""

from __future__ import annotations

from kproto.controller import Controller
from kproto.controller.leader_choice import decide_unregister
from kproto.errors import TABLE, ErrorCode, KafkaError
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


async def handle(ctx: RequestContext, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    """Forget the broker."""
    controller = ctx.broker.controller
    try:
        if not isinstance(controller, Controller):
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        await controller.decide(
            lambda: decide_unregister(controller.image, controller.table, request.broker_id)
        )
    except KafkaError as error:
        message = error.message or TABLE[error.code].message
        return UnregisterBrokerResponse(error_code=error.code, error_message=message)
    return UnregisterBrokerResponse(error_code=0, error_message=None)


HANDLER = Handler(key=64, min_version=0, max_version=0, handle=handle)
