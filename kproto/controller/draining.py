"""Brokers that are to be rid of everything (``kproto.drain``): what goes elsewhere, and what is left. Pure.

Partitions get other replicas, and leaders move to those (`moves.misplaced`). Where the drained broker has the
only copy, it makes others first, as for any reassignment of it (`reassignment`): the next one is alone with
it when it has brought over everything. Copies of virtual segments are made elsewhere by repair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.missing import closed_such, counted_copies, possible_copies
from kproto.controller.placement import assigned_to, pick_spread
from kproto.controller.reassignment import leaders_move, reassigned, way_back
from kproto.metadata import MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegRecord


def draining(image: MetadataImage) -> list[int]:
    """Members that are to be rid of everything, by node id."""
    return [node for node in sorted(image.brokers) if rules.is_draining(image, node)]


class Replacement(NamedTuple):
    """A streamlet gets another assignment, because one of its replicas, or its leader, is drained."""

    record: StreamletRecord
    replicas: tuple[int, ...]


def replacements(image: MetadataImage, limit: int) -> list[Replacement]:
    """Assignments without the brokers that are being drained, at most ``limit``; as many replicas as before,
    the newcomers in other racks than those that stay, as far as there are such, and those with the fewest.
    Where a drained leader waits for replicas none of which is a member, one of these is replaced."""
    gone = draining(image)
    found: list[Replacement] = []
    if not gone:
        return found
    able = [broker for node, broker in image.brokers.items() if node not in gone and broker.internal_host]
    kept, load = image.brokers.keys() - gone, assigned_to(image)
    for record in image.streamlets_in_order():
        if len(found) == limit:
            break
        replicas = list(record.replicas)
        for at, node in enumerate(replicas):
            stuck = record.leader in gone and image.brokers.keys().isdisjoint(replicas)
            if node not in gone and not stuck:
                continue
            fresh = [broker for broker in able if broker.node_id not in replicas]
            if fresh:
                staying = [image.brokers[each] for each in replicas if each in kept]
                (newcomer,) = pick_spread(fresh, 1, staying, load)
                replicas[at] = newcomer.node_id
                load[newcomer.node_id] += 1
        if tuple(replicas) != record.replicas:
            found.append(Replacement(record, tuple(replicas)))
    return found


def decide_replacements(
    image: MetadataImage, table: VlogTable, wanted: Iterable[Replacement]
) -> Decision[int]:
    """Write new assignments of streamlets that have not changed since; none moves to where it should not be
    any more. A reassignment that is under way stays so: its leader goes to another one of the replicas, and
    cancelling it means those that there were before it."""
    decision = Decision(0)
    for record, replicas in wanted:
        topic = image.topics_by_id.get(record.topic_id)
        if topic is None or image.find_streamlet(record.topic_id, record.index) != record:
            continue
        before = way_back(table, topic, record) or record.replicas
        decision.puts[record.key] = reassigned(topic, record, replicas, before).encode()
        decision.answer += 1
        move = table.current_move(record)
        if move is not None and move.target not in replicas:
            turned = leaders_move(image, record, replicas, move.before) if move.before else None
            if turned is not None:
                decision.puts[turned.key] = turned.encode()
            else:
                decision.deletes.append(move.key)
    return decision


def left_on(image: MetadataImage, table: VlogTable, node_id: int) -> dict[str, int]:
    """What a broker still has that the cluster needs: streamlets that it leads or that are assigned to it,
    of those the ones with one copy, and copies of virtual segments that only it can give."""
    assigned = [record for record in image.every_streamlet() if node_id in (record.leader, *record.replicas)]
    single = sum(not record.sources and len(record.replicas) == 1 for record in assigned)
    opened = sum(is_held_up(image, table, vseg, node_id) for vseg in table.open_vsegs())
    closed = closed_such(table, lambda vseg: is_held_up(image, table, vseg, node_id))
    return {"streamlets": len(assigned), "single": single, "copies": opened + len(closed)}


def is_held_up(image: MetadataImage, table: VlogTable, vseg: VsegRecord, node_id: int) -> bool:
    """Without the broker, and others that are drained, the virtual segment would have fewer copies than it
    could have. One that is being sealed may end with its copy alone (21)."""
    listed = any(copy.node_id == node_id for copy in vseg.backups)
    if vseg.open:
        return listed
    if not rules.needs_copy(vseg) or not (listed or vseg.node_id == node_id):
        return False
    others = [copy.node_id for copy in counted_copies(image, table, vseg) if copy.node_id != node_id]
    staying = sum(not rules.is_draining(image, node) for node in others)
    return staying < possible_copies(image, table, vseg)
