"""Declaring a broker dead: one transaction on one key (rules 19 and 19b). Pure.

Everything else follows from it by derivation: its open virtual segments are sealing, its streamlets wait for
a leader, and every later proposal of that epoch is refused.
"""

from __future__ import annotations

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.metadata import BrokerRecord, MetadataImage


def decide_fence(image: MetadataImage, node_id: int, epoch: int) -> Decision[BrokerRecord | None]:
    """Fence a broker; the answer is its record, or None when this epoch is no member any more."""
    if not rules.is_current(image, node_id, epoch):
        return Decision(None)
    broker = image.brokers[node_id]
    return Decision(broker, {broker.fenced_key: broker.encode()}, [broker.key])
