"""Mutations that directed stories alone look for; each says why random search would hardly meet it.

Most are rules of planned moves (12b): a message would have to be late by a whole move.
"""

from __future__ import annotations

from typing import Final

import kproto.controller.rules
import kproto.metadata.records
import kproto.replica.handing_over
import kproto.replica.takeover
import kproto.vlog.replicated
from tests.sim.mutations import GONE, Mutation, _always

LATE: Final = "a broker has one proposal under way, and hears of a lost one within milliseconds"
WAITED: Final = "the leader itself waits until all of it is closed before it tells the controller"
SOON: Final = "what is on its way to backups arrives before the next leader has begun to read"
TWICE: Final = "an owner must lead twice, and write no state and no record the second time"
TWICE_TO_THE_END: Final = "an owner must lead twice, and die: who leads next must be sooner than its seals"
LOOSE: Final = "seeds lose the power only when what was acknowledged without a sync is in closed segments"
IDLE: Final = "the pusher rolls when nothing is in flight: this is asked in case that it ever does otherwise"

SEALED: Final = "what a dead owner had open is closed within milliseconds, or its backups are down, too"

AT_ONCE: Final = "a disk must be lost, another one beside it, and a leader hand over in between"

HIDDEN: Final = "an open copy must be damaged where its file does not show it: one seed of 1,500"

BETWEEN: Final = "a disk must be lost between an answer and a decision: one seed of 250 with disks lost so"

ALONE: Final = (
    "an open copy must be damaged, the others away, and their owner have lost its power: one of 30,000"
)

controller = kproto.controller.rules

DIRECTED: Final = [
    Mutation("handed over while open", "11, 12b", ((controller, "is_rolled"),), _always(True), WAITED),
    Mutation("anybody hands over", "12b, 16", ((controller, "may_hand_over"),), _always(True), LATE),
    Mutation("every move is that move", "12b", ((controller, "is_that_move"),), _always(True), LATE),
    Mutation(
        "files that were given away are a copy", "2b, 12b", ((controller, "was_given"),), _always(False), GONE
    ),
    Mutation(
        "copies that are missing are not waited for",
        "12b, 17",
        ((controller, "lacks_copies"),),
        _always(False),
        AT_ONCE,
    ),
    Mutation(
        "of two copies one is left",
        "12b, 17",
        ((controller, "is_leaving"),),
        _always(False),
        AT_ONCE,
    ),
    Mutation(
        "what is in flight is left",
        "12b",
        ((kproto.replica.handing_over, "all_durable"),),
        _always(True),
        SOON,
    ),
    Mutation(
        "the newest state is believed",
        "12b, 28b",
        ((kproto.replica.takeover, "may_stop"),),
        _always(True),
        TWICE,
    ),
    Mutation(
        "whoever knows something led last",
        "12b, 28",
        ((kproto.replica.takeover, "is_last_leader"),),
        _always(True),
        TWICE,
    ),
    Mutation(
        "who gave it away leads it no more",
        "12b, 20",
        ((kproto.metadata.records, "still_given"),),
        lambda given, _: given,
        TWICE_TO_THE_END,
    ),
    Mutation(
        "what a topic had before it synced is forgotten",
        "8, 12c",
        ((kproto.metadata.records, "weaker"),),
        lambda _, now: now,
        LOOSE,
    ),
    Mutation(
        "an answer counts without its broker",
        "15, 21, 22",
        ((controller, "is_any_there"),),
        _always(True),
        BETWEEN,
    ),
    Mutation("a copy that is short decides", "21, 24c", ((controller, "has_all"),), _always(True), HIDDEN),
    Mutation(
        "who answers for others does not look",
        "22, 24c",
        ((controller, "answers_for_others"),),
        _always(False),
        ALONE,
    ),
    Mutation("what came later is waited for", "12b", ((controller, "came_later"),), _always(False), SEALED),
    Mutation("rolled in flight", "11", ((kproto.vlog.replicated, "may_roll"),), _always(True), IDLE),
]
