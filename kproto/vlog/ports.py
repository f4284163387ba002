"""What virtual logs with backups expect of the network and of the controller.

``peer_backups`` and ``broker`` implement the two protocols; tests and the simulator have their own. All calls
and callbacks happen on the loop; a callback may be called before the call that it belongs to returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from kproto.disk import Buffer
    from kproto.metadata.vlogs import CopyTarget


class PushOutcome(Enum):
    """What a backup said about one frame (rule 6)."""

    STORED = "stored"
    """Its copy holds everything below ``PushAnswer.position``, synced where the policy asks for it (rule
    8)."""
    FENCED = "fenced"
    """The owner epoch is over: this process owns nothing any more (rules 16 and 20)."""
    GAP = "gap"
    """The frame does not continue its copy, which ends at ``PushAnswer.position``."""
    FULL = "full"
    """It has no room, and kept nothing of the frame; it may take the same one later."""
    REFUSED = "refused"
    """Not this one: limbo, other bytes at that position, not listed."""
    UNREACHABLE = "unreachable"
    """No answer: whether the frame arrived is not known."""


class PushAnswer(NamedTuple):
    """``position`` counts bytes of the virtual log; 0 where it is not known."""

    outcome: PushOutcome
    position: int = 0


class Backups(Protocol):
    """The backups of this broker's virtual segments."""

    def push(
        self,
        target: CopyTarget,
        first: bytes | None,
        pieces: Sequence[Buffer],
        done: Callable[[PushAnswer], object],
    ) -> None:
        """Send one frame, ``pieces`` in order, to ``target``; ``done(answer)`` is called exactly once.

        ``first`` is the file header of the virtual segment and comes with its first frame only. The pieces
        are views of memory that stays unchanged as long as anybody holds a view of it. Frames of one
        virtual segment arrive in the order of the calls, or not at all.
        """
        ...


class OpenVseg(NamedTuple):
    """Ask for virtual segment ``seq`` to be recorded open at ``start``, and ``seq - 1`` closed there (4, 11,
    13).

    ``copies`` includes the owner's own; ``policy`` is a `FlushPolicy`; no backup may be in ``exclude``.
    """

    vlog: int
    seq: int
    copies: int
    policy: int
    start: int
    exclude: frozenset[int] = frozenset()


class Vsegs(Protocol):
    """The metadata of this broker's virtual segments."""

    def open_next(self, request: OpenVseg, done: Callable[[tuple[CopyTarget, ...] | None], object]) -> None:
        """Propose ``request``; ``done(backups)`` once the store has it, however long that takes.

        The same request may be proposed again while the answer is unknown: it means the same. ``backups`` may
        be fewer than ``copies - 1`` (rule 18). None: the owner epoch is over (rule 16).
        """
        ...

    def on_ownership_lost(self) -> None:
        """A backup or the store said that the owner epoch is over; called once. Nothing is pushed any
        more."""
        ...
