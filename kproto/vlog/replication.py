"""What all virtual logs with backups of one process share: who is suspect, who is a member, who still owns.

The rules that decide something are small functions, so that a test can take one away and see what breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from kproto.vlog.ports import PushAnswer, PushOutcome

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.metadata.vlogs import CopyTarget
    from kproto.vlog.ports import Backups, Vsegs
    from kproto.vlog.virtual_segment import VirtualSegment

SUSPECT_S: Final = 5.0
"""How long a backup that failed is not chosen again; doubles while it goes on failing."""
LONGEST_SUSPICION_S: Final = 80.0
FORGOTTEN_S: Final = 240.0
"""Who has not been suspect for so long is not failing all the while: nobody tried. Longer than between two
tries to have more copies."""


def stored(answer: PushAnswer, end: int) -> bool:
    """Whether ``answer`` says that a copy holds everything below ``end``."""
    return answer.outcome is PushOutcome.STORED and answer.position >= end


def fenced(answer: PushAnswer) -> bool:
    """Whether ``answer`` ends the ownership (rules 16 and 20)."""
    return answer.outcome is PushOutcome.FENCED


def counts(segment: VirtualSegment, open_segment: VirtualSegment | None) -> bool:
    """Whether an answer about ``segment`` still moves its durable header: a closed one ends where it ends,
    whatever a backup that was dropped says later (rules 13 and 15)."""
    return segment is open_segment


def may_roll(segment: VirtualSegment) -> bool:
    """Rule 11: the next segment begins when all of this one is durable. (Rule 13 is the other way out.)"""
    return segment.durable == segment.end


def stalled(waited_s: float, stall_s: float) -> bool:
    """Whether a push without an answer for so long means that its backup is to be replaced (rule 13)."""
    return waited_s >= stall_s


def may_widen(
    copies: int, backups: Collection[int], members: Iterable[int], suspects: Collection[int]
) -> bool:
    """Whether a segment with fewer than ``copies`` could have more, rolled now (rule 18)."""
    return 1 + len(backups) < copies and any(node not in backups and node not in suspects for node in members)


def may_leave(
    copies: int,
    backups: Iterable[int],
    members: Iterable[int],
    drained: Collection[int],
    suspects: Collection[int],
) -> bool:
    """Rule 18: a copy is on a broker that is being drained, and enough others take copies now."""
    leaving = any(node in drained for node in backups)
    return leaving and sum(node not in drained and node not in suspects for node in members) >= copies - 1


class Suspects:
    """Brokers that failed as backups lately: not to be chosen for a while (rule 13)."""

    __slots__ = ("_clock", "_since", "_until")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[int, tuple[float, float]] = {}
        """Node id -> until when, and for how long it was."""
        self._since: dict[int, float] = {}
        """Node id -> since when nothing is known to be stored there."""

    def add(self, node_id: int, waited: float = 0.0, longest: float = LONGEST_SUSPICION_S) -> None:
        """``node_id`` failed; ``waited`` seconds went by without an answer. It is suspect for ``longest``
        seconds at most."""
        now = self._clock.monotonic()
        self._since[node_id] = now - max(waited, self.failing(node_id))
        until, wait = self._until.get(node_id, (0.0, 0.0))
        if until <= now:
            wait = min(wait * 2, longest) if wait else SUSPECT_S
            self._until[node_id] = (now + wait, wait)

    def clear(self, node_id: int) -> None:
        """``node_id`` stored something, or has registered anew."""
        if self._until:
            self._until.pop(node_id, None)
            self._since.pop(node_id, None)

    def now(self) -> frozenset[int]:
        """Who is suspect at the moment."""
        now = self._clock.monotonic()
        return frozenset([node for node, (until, _) in self._until.items() if until > now])

    def failing(self, node_id: int) -> float:
        """For how many seconds ``node_id`` has failed."""
        since, now = self._since.get(node_id), self._clock.monotonic()
        if since is None or now - self._until[node_id][0] > FORGOTTEN_S:
            return 0.0
        return now - since

    def hopeless(self, seconds: float) -> frozenset[int]:
        """Those of `now` that have failed for at least so long."""
        return frozenset([node for node in self.now() if self.failing(node) >= seconds])


class Replication:
    """See the module docstring. ``on_lost()`` is called once, when the owner epoch is over."""

    __slots__ = (
        "_on_lost",
        "age_s",
        "backups",
        "drained",
        "epoch_of",
        "heard",
        "lag_s",
        "linger_s",
        "lost",
        "members",
        "stall_s",
        "suspects",
        "vsegs",
    )

    def __init__(
        self,
        backups: Backups,
        vsegs: Vsegs,
        clock: Clock,
        settings: Settings,
        on_lost: Callable[[], object],
    ) -> None:
        self.backups = backups
        self.vsegs = vsegs
        self.follow(settings)
        self.suspects = Suspects(clock)
        self.members: tuple[int, ...] = ()
        """The other live brokers, in order."""
        self.drained: frozenset[int] = frozenset()
        """Those that should have no copies any more (rule 18)."""
        self.epoch_of: Callable[[CopyTarget], int | None] = lambda _: 0
        """The broker epoch of a backup that is a member with this data directory (rule 3)."""
        self.heard: Callable[[], bool] = lambda: True
        """Whether the controller, which every other backup has to be had from, was heard just now."""
        self.lost = False
        self._on_lost = on_lost

    def follow(self, settings: Settings) -> None:
        """Some of them may have changed."""
        self.stall_s = settings.kproto_backup_stall_ms / 1000
        self.age_s = settings.kproto_virtual_segment_ms / 1000
        """A segment is closed so long after the first chunk came into it."""
        self.lag_s = settings.replica_lag_time_max_ms / 1000
        """How long all other brokers, members all the while, may fail before one goes on without any copy."""
        self.linger_s = settings.kproto_push_linger_max_ms / 1000
        """How long a virtual log rests at most between two frames."""

    def alone(self, avoided: Collection[int]) -> bool:
        """Whether other brokers are there, and all are to be avoided: that would leave one copy."""
        return bool(self.members) and all(node in avoided for node in self.members)

    def failed(self, node_id: int, waited: float, *, full: bool) -> None:
        """``node_id`` failed as a backup, for ``waited`` seconds now. One that is ``full`` is suspect for no
        longer than at first while all others fail, too, and are waited for: each is asked in turn, for any
        may be the first one that has room."""
        others = [self.suspects.failing(node) for node in self.members if node != node_id]
        all_fail = bool(others) and all(0.0 < failing < self.lag_s for failing in others)
        self.suspects.add(node_id, waited, SUSPECT_S if full and all_fail else LONGEST_SUSPICION_S)

    def lose(self) -> None:
        """Nothing is owned any more (rule 16)."""
        if not self.lost:
            self.lost = True
            self._on_lost()
            self.vsegs.on_ownership_lost()

    def restarted(self, targets: Sequence[CopyTarget], epochs: Sequence[int | None]) -> list[int]:
        """Those of ``targets`` that are not the processes any more which were chosen, of these broker
        ``epochs``: what they had may be gone."""
        return [
            target.node_id
            for target, before in zip(targets, epochs, strict=True)
            if (now := self.epoch_of(target)) is None or now != before
        ]

    def change_members(self, members: tuple[int, ...], drained: frozenset[int]) -> frozenset[int]:
        """``members`` are the live brokers besides this one, in order; returns those that are not any
        more."""
        before, self.members, self.drained = self.members, members, drained
        for node in self.members:
            if node not in before:
                self.suspects.clear(node)
        return frozenset(before).difference(self.members)
