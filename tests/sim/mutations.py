"""Rules that can be taken out, one at a time: a simulation that does not notice is worth nothing.

A mutation puts another function in the place of one named rule of the product, in every module that uses it.
Each one has a story in ``tests/rules`` that breaks without its rule; random search must find those that are
not ``masked`` (``make simulate MUTATE=1``, which looks for those of ``tests.rules.directed``, too).

How soon random search finds them, at the last look: nine of the eighteen that are not ``masked`` with seed
0, four with seed 1, the others with seeds 3 ("nobody scrubs"), 18 ("a store is whatever its broker has"),
31 ("late reports free"), 56 ("parts of a failed directory go on") and 107 ("older records stay unsynced").
Of the ``masked`` ones eight were found, too: "what a topic had before it synced is forgotten" with seed 0,
"files that were given away are a copy", "the newest state is believed", "whoever knows something led last"
and "who gave it away leads it no more" with 2, "what is in flight is left" with 4, "own files are adopted
whatever their epochs" with 19, "reads go to any store" with 22. Seeds 0 to 39 found none of the others: so
far their stories alone find them. Which seed it is changes with whatever seeds do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import kproto.broker
import kproto.controller.freeing
import kproto.controller.rules
import kproto.handlers.leading
import kproto.log.epochs
import kproto.log.leadership
import kproto.member
import kproto.replica.copies
import kproto.replica.fences
import kproto.replica.reach
import kproto.replica.rules
import kproto.replica.scrub
import kproto.replica.service
import kproto.replica.store
import kproto.replica.store_state
import kproto.replica.takeover
import kproto.replica.unneeded
import kproto.vlog.manager
import kproto.vlog.replicated
from kproto.vlog.ports import PushOutcome

Place = tuple[Any, str]


@dataclass(frozen=True)
class Mutation:
    """``rules``: numbers of the rules document. ``masked``: why random search needs very many seeds for it,
    or never finds it."""

    name: str
    rules: str
    places: tuple[Place, ...]
    instead: Any
    masked: str = ""

    @property
    def replaced(self) -> list[tuple[Any, str, Any]]:
        """For `parts.installed`."""
        return [(module, attribute, self.instead) for module, attribute in self.places]


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _any_answer(answer: Any, end: int) -> bool:
    """Whatever a backup says, it counts."""
    return answer.outcome is not PushOutcome.FENCED


def _any_store(image: Any, target: Any) -> bool:
    """A wiped broker is taken for what it was."""
    return target.node_id in image.brokers


def _not_persisted(fences: Any, epoch: int, done: Callable[[], object]) -> None:
    """The fence is in memory only."""
    fences.epochs.add(epoch)
    done()


def _answer_now(store: Any, verdict: Any, copy: Any, done: Callable[..., object]) -> None:
    """An ack of class SYNCED does not wait for the sync."""
    done(verdict, 0 if copy is None else copy.end)


rules, controller = kproto.replica.rules, kproto.controller.rules
store, service = kproto.replica.store, kproto.replica.service
pusher = kproto.vlog.replicated

CLOSED: Final = (
    "the store says within milliseconds where the segment ends, and a closed one takes no push (13)"
)
REFUSED: Final = "the store refuses everything that a fenced owner proposes (16)"
RENEWED: Final = "an owner replaces a backup that began anew at once (13): both must fail within milliseconds"
REGISTERED: Final = "whoever is fenced hears of it with the next answer, before it can commit (16)"
ASKED: Final = "readers ask for nothing behind the recorded end, and copies are cut there soon (15)"
NEWER: Final = "newer state frames are written every few kilobytes: one of them knows almost always"
BEHIND: Final = "what an owner has in its files its backups have, too, unless it died within milliseconds"
GONE: Final = "asked only when no backup of a virtual segment is there"
SAID: Final = "a broker with an empty directory says that it is no copy, and the next one is asked (22)"
WIDER: Final = (
    "the next virtual segment has all copies anyway, and the last one is repaired when it is closed (17)"
)

MUTATIONS: Final = [
    Mutation("fences are ignored", "6, 20", ((store, "fenced"),), _always(False), CLOSED),
    Mutation("SEAL carries no fence", "20", ((controller, "fence_of"),), lambda vseg: vseg.id.owner_epoch),
    Mutation("fences are not persisted", "20", ((kproto.replica.fences.Fences, "add"),), _not_persisted),
    Mutation("any answer counts as an ack", "9, 13", ((pusher, "stored"),), _any_answer),
    Mutation("answers about closed segments count", "13, 15", ((pusher, "counts"),), _always(True)),
    Mutation("FENCED is taken for a failure", "16", ((pusher, "fenced"),), _always(False), REFUSED),
    Mutation(
        "older records stay unsynced",
        "8, 12c",
        ((kproto.vlog.manager.VlogManager, "_brings_older"),),
        _always(False),
    ),
    Mutation("an ack does not wait for the sync", "8", ((store.ReplicaStore, "_answer_push"),), _answer_now),
    Mutation(
        "power losses leave no limbo",
        "3, 8, 22",
        ((kproto.replica.store_state, "in_limbo"), (rules, "in_limbo")),
        _always(False),
        RENEWED,
    ),
    Mutation(
        "every copy is eligible", "22", ((store, "eligible"), (service, "eligible")), _always(True), RENEWED
    ),
    Mutation(
        "copies are not clipped", "15", ((kproto.replica.copies, "clipped"),), lambda end, _: end, ASKED
    ),
    Mutation("a store is whatever its broker has", "3, 22", ((controller, "may_hold"),), _any_store),
    Mutation("any epoch may propose", "16, 19b", ((controller, "is_current"),), _always(True)),
    Mutation("sealed at the start", "21", ((controller, "sealed_end"),), lambda start, _: start),
    Mutation("empty segments need a copy", "23", ((controller, "needs_copy"),), _always(True)),
    Mutation("nothing is sealing", "19b, 20", ((controller, "is_sealing"),), _always(False)),
    Mutation("every attempt commits", "27, 29", ((controller, "may_commit"),), _always(True), REGISTERED),
    Mutation(
        "an owner that came back has all", "2b, 33", ((controller, "owner_holds"),), _always(True), GONE
    ),
    Mutation("freed at once", "30", ((kproto.controller.freeing, "is_unneeded"),), _always(True)),
    Mutation("late reports free", "30", ((kproto.controller.freeing, "is_informed"),), _always(True)),
    Mutation("everything is dead", "44", ((kproto.replica.unneeded, "is_dead"),), _always(True)),
    Mutation(
        "freed before its state is elsewhere",
        "28b, 40",
        ((kproto.member.ClusterMember, "_knows_without"),),
        _always(True),
        NEWER,
    ),
    Mutation(
        "client epochs are not compared", "32", ((kproto.handlers.leading, "compare_epochs"),), _always(None)
    ),
    Mutation(
        "served before the commit", "5, 27", ((kproto.log.leadership.Leadership, "_serves"),), _always(True)
    ),
    Mutation(
        "own files are adopted whatever their epochs",
        "33",
        ((kproto.log.epochs.EpochCache, "divergence"),),
        lambda own, other, start, end: end,
        BEHIND,
    ),
    Mutation("sets stay small", "18", ((pusher, "may_widen"),), _always(False), WIDER),
    Mutation("nobody scrubs", "17, 37", ((kproto.replica.scrub.Scrub, "start"),), _always(None)),
    Mutation(
        "parts of a failed directory go on", "35", ((kproto.broker.Broker, "_stop_acks"),), _always(None)
    ),
    Mutation("reads go to any store", "3, 22", ((kproto.replica.reach, "eligible"),), _always(True), SAID),
]
