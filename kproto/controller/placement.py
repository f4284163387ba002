"""Where the copies of a new topic go. Pure and deterministic: the same image gives the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from kproto.controller import rules
from kproto.metadata import BrokerRecord, MetadataImage


def rack_order(brokers: Mapping[int, BrokerRecord]) -> list[int]:
    """Live brokers so that neighbours are in different racks as far as possible (KIP-36's idea)."""
    racks: dict[str, list[int]] = {}
    for node_id in sorted(brokers):
        racks.setdefault(brokers[node_id].rack or "", []).append(node_id)
    columns = zip_longest(*(racks[rack] for rack in sorted(racks)))
    return [node_id for node_id in chain.from_iterable(columns) if node_id is not None]


def placeable(image: MetadataImage, copies: int = 1) -> Mapping[int, BrokerRecord]:
    """Live brokers for new replicas: not those that are being drained, if there are enough others."""
    staying = {node: broker for node, broker in image.brokers.items() if not rules.is_draining(image, node)}
    return staying if len(staying) >= copies else image.brokers


def streamlets_led(image: MetadataImage) -> Counter[int]:
    """Number of streamlets led by each broker."""
    return Counter(record.leader for record in image.every_streamlet())


def assigned_to(image: MetadataImage) -> Counter[int]:
    """Number of streamlets that each broker is a replica of."""
    return Counter(chain.from_iterable(record.replicas for record in image.every_streamlet()))


def spread(
    order: Sequence[int], start: int, streamlets: int, replication_factor: int
) -> list[tuple[int, ...]]:
    """Replicas of each new streamlet: leaders go round ``order`` from ``start``, copies are the next ones.

    The distance between copies grows by one with each round, so that one broker's copies do not all have the
    same neighbour. Requires ``replication_factor <= len(order)``.
    """
    count = len(order)
    assignments = []
    for index in range(streamlets):
        first = (start + index) % count
        shift = (index // count) % (count - 1) if count > 1 else 0
        others = [
            (first + 1 + (shift + step) % (count - 1)) % count for step in range(replication_factor - 1)
        ]
        assignments.append((order[first], *(order[position] for position in others)))
    return assignments
