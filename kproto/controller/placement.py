"""Where replicas of topics and copies go. Pure and deterministic: the same image gives the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from operator import attrgetter

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


def racks_of(brokers: Mapping[int, BrokerRecord]) -> dict[int, str]:
    """The racks of those brokers that say theirs."""
    return {node: broker.rack for node, broker in brokers.items() if broker.rack is not None}


def pick_spread(
    able: Iterable[BrokerRecord],
    count: int,
    beside: Iterable[BrokerRecord],
    load: Counter[int],
    tie: Callable[[BrokerRecord], int] = attrgetter("node_id"),
) -> list[BrokerRecord]:
    """At most ``count`` of the brokers: new racks first, then little ``load``, by node id, then the least
    ``tie``. A broker that says no rack is in one of its own."""
    racks = Counter(broker.rack for broker in beside)
    left = list(able)
    chosen: list[BrokerRecord] = []

    def room(broker: BrokerRecord) -> tuple[int, int, int]:
        crowded = 0 if broker.rack is None else racks[broker.rack]
        return crowded, load[broker.node_id], tie(broker)

    while left and len(chosen) < count:
        best = min(left, key=room)
        racks[best.rack] += 1
        chosen.append(best)
        left.remove(best)
    return chosen


def _crowded(racks: Mapping[int, str], replicas: Collection[int], node: int) -> int:
    """How many of the replicas are in the rack of ``node``; a broker that says none is alone."""
    rack = racks.get(node)
    return 0 if rack is None else sum(racks.get(each) == rack for each in replicas)


def spread(
    order: Sequence[int], start: int, streamlets: int, replication_factor: int, racks: Mapping[int, str]
) -> list[tuple[int, ...]]:
    """Replicas of each new streamlet: leaders go round ``order`` from ``start``, copies are the next ones.

    Those in other racks come first: none has two of a streamlet while another could have its first.
    The distance between copies grows by one with each round, so that one broker's copies do not all have the
    same neighbour. Requires ``replication_factor <= len(order)``.
    """
    count = len(order)
    assignments = []
    for index in range(streamlets):
        first = (start + index) % count
        shift = (index // count) % (count - 1) if count > 1 else 0
        others = (order[(first + 1 + (shift + step) % (count - 1)) % count] for step in range(count - 1))
        assignments.append(_apart(order[first], others, replication_factor, racks))
    return assignments


def _apart(
    leader: int, others: Iterable[int], replication_factor: int, racks: Mapping[int, str]
) -> tuple[int, ...]:
    """The leader and the first of the others, by how many of those chosen before are in their racks."""
    chosen = [leader]
    level = 0
    while len(chosen) < replication_factor:
        left = []
        for node in others:
            if _crowded(racks, chosen, node) > level:
                left.append(node)
            else:
                chosen.append(node)
                if len(chosen) == replication_factor:
                    break
        others, level = left, level + 1
    return tuple(chosen)
