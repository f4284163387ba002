"""Planned moves of streamlets between live brokers (rule 12b). Pure.

A move is a record of its own: the leader sees it, takes no more appends for that streamlet, has everything it
appended in closed virtual segments, and says so; then one transaction makes the target the leader that
rebuilds the streamlet as after a failure, from copies that are all there. Whoever dies in between, the record
is void with the next leader epoch, and any controller can go on with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.given_away import GivenAway, given_puts
from kproto.controller.sources import Sources
from kproto.controller.unreached import NodesOf, nobody
from kproto.metadata import MetadataImage
from kproto.metadata.records import ONLINE
from kproto.metadata.vlogs import Move, VlogTable, given_key, moved_from_key

MOVES_AT_ONCE: Final = 100
"""Moves under way, while the controller begins others by itself: so many with two copies, and of the rest."""


class Wish(NamedTuple):
    """``target`` should lead a streamlet."""

    topic_id: bytes
    streamlet: int
    target: int


class HandOver(NamedTuple):
    """What a leader hands over: the streamlet, and which move of which leader epoch it means."""

    topic_id: bytes
    streamlet: int
    leader_epoch: int
    began: int


def decide_moves(image: MetadataImage, table: VlogTable, wishes: Iterable[Wish]) -> Decision[list[Move]]:
    """Begin moves; the answer are those that can be. A move that is under way to another broker is turned."""
    decision: Decision[list[Move]] = Decision([])
    for wish in wishes:
        record = image.find_streamlet(wish.topic_id, wish.streamlet)
        if record is None or not rules.may_begin_move(image, record, wish.target):
            continue
        known = table.current_move(record)
        if known is None or known.target != wish.target:
            before = known.before if known is not None else ()
            known = Move(*wish, record.leader_epoch, image.revision + 1, before)
            decision.puts[known.key] = known.encode()
        decision.answer.append(known)
    return decision


def decide_handed_over(
    image: MetadataImage,
    table: VlogTable,
    node_id: int,
    epoch: int,
    attempts: Sequence[HandOver],
    upto: Sequence[tuple[int, int]],
) -> Decision[list[bool]]:
    """The leader appends no more, and all it appended is in closed virtual segments, numbered up to ``upto``
    in each of its virtual logs: the targets lead from now on, and rebuild (12b, 27b).

    One answer per attempt. False: the leader stays; a move that cannot be done any more is deleted.
    """
    decision: Decision[list[bool]] = Decision([])
    rolled = rules.is_rolled(table, epoch, upto)
    sources = Sources(image, table)
    given = GivenAway(image, table, sources)
    for attempt in attempts:
        record = image.find_streamlet(attempt.topic_id, attempt.streamlet)
        move = table.moves.get((attempt.topic_id, attempt.streamlet))
        if move is None or not rules.is_that_move(move, attempt.leader_epoch, attempt.began):
            decision.answer.append(False)
            continue
        decision.deletes.append(move.key)
        done = (
            record is not None
            and rules.may_hand_over(image, record, move, node_id, epoch)
            and rolled
            and sources.could_lead(record, move.target)
        )
        if done and record is not None:
            assigned = record.handed_over(move.target, epoch)
            decision.puts[assigned.key] = assigned.encode()
            given.note(record, move.target)
        decision.answer.append(done)
    decision.puts.update(given.puts())
    if any(decision.answer):
        decision.puts.update(given_puts(table, epoch, upto))
    return decision


def decide_tidy(image: MetadataImage, table: VlogTable) -> Decision[int]:
    """Delete moves that are void (the streamlet is gone or has another leader epoch, the target is away) and
    what is known of owners that have no virtual segment left."""
    decision = Decision(0)
    for key, move in sorted(table.moves.items()):
        record = image.find_streamlet(*key)
        if record is None or record.leader_epoch != move.leader_epoch or move.target not in image.brokers:
            decision.deletes.append(move.key)
    live = {broker.epoch for broker in image.brokers.values()}
    for epoch, vlog in sorted(table.given_upto):
        if epoch not in live and epoch not in table.owners:
            decision.deletes.append(given_key(epoch, vlog))
    for moved, epoch in sorted(table.moved_from.items()):
        if epoch <= table.moved_upto.get(moved[0], -1):
            decision.deletes.append(moved_from_key(*moved))
    decision.answer = len(decision.deletes)
    return decision


def misplaced(
    image: MetadataImage, table: VlogTable, settled: Set[int], preferred: bool, unreached: NodesOf = nobody
) -> Iterator[Wish]:
    """Streamlets that should be led by another one of their replicas, none of which is under way, in order.

    Whose leader is no replica goes to the first of them that is in ``settled``; with ``preferred``, whose
    leader is not the preferred one, too, when that is in ``settled``. Not before the target could lead them,
    and not while it does not reach the copies (``unreached``, by topic id and streamlet): the leader would
    refuse appends for nothing.
    """
    sources = Sources(image, table)
    for record in image.streamlets_in_order():
        if record.state != ONLINE or not record.sources or record.leader == record.replicas[0]:
            continue
        if not preferred and record.leader in record.replicas:
            continue
        wanted = record.replicas[:1] if record.leader in record.replicas else record.replicas
        tried = unreached((record.topic_id, record.index))
        target = next((node for node in wanted if node in settled and node not in tried), None)
        if (
            target is not None
            and table.current_move(record) is None
            and rules.may_begin_move(image, record, target)
            and sources.could_lead(record, target)
        ):
            yield Wish(record.topic_id, record.index, target)
