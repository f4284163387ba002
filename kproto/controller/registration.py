"""The pure decision behind a broker's start: a new broker epoch, new leader epochs (rules 1, 2, 2b)."""

from __future__ import annotations

from typing import NamedTuple

from kproto.controller.decision import Decision
from kproto.metadata import BrokerRecord, MetadataImage
from kproto.metadata.records import BROKER_EPOCH_KEY, MOVED, NO_LEADER, POWER_LOST
from kproto.metadata.vlogs import VlogTable


class Registration(NamedTuple):
    """Who starts, and where clients and other brokers reach it. ``store_id`` names its data directory, where
    what was not synced may be gone if ``power_lost``."""

    node_id: int
    host: str
    port: int
    rack: str | None = None
    internal_host: str = ""
    internal_port: int = 0
    store_id: str = ""
    power_lost: bool = False


def decide_register(
    image: MetadataImage, table: VlogTable, registration: Registration, last_epoch: int
) -> Decision[BrokerRecord]:
    """Register a broker under the epoch after ``last_epoch``, which fences the epoch it had before.

    Streamlets of one copy that it led get the next leader epoch at once: a restarted broker never continues
    an old one, even when its disk looks perfect. A streamlet without leader that prefers this broker gets it
    back. Streamlets with more copies become due for recovery, and its open virtual segments sealing, by
    derivation (rule 19b). Another data directory than before is no copy of anything (rule 3); what it had the
    only copy of begins anew in it, or after a loss of power with what is left, perhaps below the log start
    that the store has from before.
    """
    node_id = registration.node_id
    broker = BrokerRecord(
        node_id,
        last_epoch + 1,
        registration.host,
        registration.port,
        registration.rack,
        registration.internal_host,
        registration.internal_port,
        registration.store_id,
    )
    decision = Decision(broker)
    decision.puts[BROKER_EPOCH_KEY] = str(broker.epoch).encode()
    decision.puts[broker.key] = broker.encode()
    if node_id in table.fenced:
        decision.deletes.append(broker.fenced_key)
    before = image.brokers.get(node_id) or table.fenced.get(node_id)
    anew = before is not None and before.store_id != broker.store_id
    if before is not None and anew:
        decision.puts[f"{MOVED}{node_id}"] = str(before.epoch).encode()
    if registration.power_lost:
        decision.puts[f"{POWER_LOST}{node_id}"] = str(last_epoch).encode()
    for record in image.every_streamlet():
        if record.sources:
            continue
        returning = record.leader == NO_LEADER and record.replicas[0] == node_id
        if record.leader == node_id or returning:
            decision.puts[record.key] = record.led_by(node_id).encode()
            if anew or registration.power_lost:  # a later leader takes what is below them for deleted (44)
                partitions = image.topic_of(record).partitions_of(record.index)
                decision.deletes += table.start_keys(record.topic_id, partitions)
    return decision
