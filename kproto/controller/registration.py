"""The pure decision behind a broker's start: a new broker epoch, new leader epochs (rules 1, 2, 2b)."""

from __future__ import annotations

from typing import NamedTuple

from kproto.controller.decision import Decision
from kproto.metadata import BrokerRecord, MetadataImage
from kproto.metadata.records import BROKER_EPOCH_KEY, NO_LEADER


class Registration(NamedTuple):
    """Who starts, and where clients reach it."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


def decide_register(
    image: MetadataImage, registration: Registration, last_epoch: int
) -> Decision[BrokerRecord]:
    """Register a broker under the epoch after ``last_epoch``.

    Every streamlet it led gets the next leader epoch: a restarted broker never continues an old one, even
    when its disk looks perfect. A streamlet without leader that prefers this broker gets it back.
    """
    broker = BrokerRecord(
        registration.node_id, last_epoch + 1, registration.host, registration.port, registration.rack
    )
    decision = Decision(broker)
    decision.puts[BROKER_EPOCH_KEY] = str(broker.epoch).encode()
    decision.puts[broker.key] = broker.encode()
    for part in image.streamlets.values():
        for record in part:
            returning = record.leader == NO_LEADER and record.replicas[0] == broker.node_id
            if record.leader == broker.node_id or returning:
                decision.puts[record.key] = record.led_by(broker.node_id).encode()
    return decision
