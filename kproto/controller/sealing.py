"""Finding the end of the virtual segments that a fenced owner left open (rules 20 to 23). Pure.

:class:`Sealing` keeps what the copies answered; it is volatile. A controller that starts anew asks again:
SEAL is idempotent, and the end is decided by one compare-and-set.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.replica.messages import Sealed

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 0.1
"""A copy that could not be asked is asked again after so long."""


class Ask(NamedTuple):
    """Send SEAL to this copy. ``journal``: it is the owner's own, to be answered from its journal.
    ``thorough``: it is to be read before the answer."""

    vseg: VsegId
    target: CopyTarget
    fence: int
    journal: bool
    thorough: bool = False


class Close(NamedTuple):
    """Write this end, with these copies: all of them hold everything up to it. ``shortened``: there may have
    been more, which is given up."""

    vseg: VsegId
    end: int
    copies: tuple[CopyTarget, ...]
    shortened: bool = False


class SealPlan(NamedTuple):
    """What to do now, why something waits, and when to look again (monotonic seconds, None: no need)."""

    asks: list[Ask]
    closes: list[Close]
    waiting: list[str]
    look_at: float | None


class _Copy:
    """What is known of one copy of a sealing virtual segment."""

    __slots__ = (
        "answered",
        "asked",
        "asked_at",
        "durable",
        "epoch",
        "failed_at",
        "failing_since",
        "limbo",
        "position",
        "process",
        "sure_from",
        "thorough",
        "torn",
    )

    def __init__(self) -> None:
        self.asked = False
        self.asked_at = 0.0
        self.failed_at: float | None = None
        self.failing_since: float | None = None
        """When it was first asked in vain since it is there, which `process` tells."""
        self.process = -1
        """The broker epoch under which it was there when it was asked last."""
        self.answered = False
        self.sure_from = -math.inf
        """When it was asked what it answered last: it was there since."""
        self.thorough = False
        """It was read before that answer."""
        self.position = 0
        self.limbo = False
        self.torn = False
        """It may have acknowledged more than it can show."""
        self.durable = 0
        """So much is durable, it says."""
        self.epoch = -1

    @property
    def eligible(self) -> bool:
        return self.answered and not self.limbo

    def may_tell_until(self, patience: float) -> float:
        """It may still answer before that: its process may be starting. Seconds of the clock."""
        if self.answered and not self.asked:
            return 0.0
        return math.inf if self.failing_since is None else self.failing_since + patience


class _Progress:
    __slots__ = ("away", "away_since", "copies", "first_answer", "more_awaited", "since", "torn_since")

    def __init__(self, since: float) -> None:
        self.since = since
        self.first_answer: float | None = None
        self.copies: dict[CopyTarget, _Copy] = {}
        self.away: frozenset[CopyTarget] = frozenset()
        """Who is no member and may have all of it..."""
        self.away_since = since
        """...and when the last of them was first seen to be away."""
        self.more_awaited: float | None = None
        """Since when somebody who had said that it has more than the owner is to say so again."""
        self.torn_since = -math.inf
        """When the last copy that is torn was found to be."""

    def copy(self, target: CopyTarget) -> _Copy:
        return self.copies.setdefault(target, _Copy())

    def look(self, image: MetadataImage, away: frozenset[CopyTarget], now: float) -> None:
        """Who comes back begins anew: it has failed to answer nobody yet, and what the process before it said
        may be lost with its power."""
        for target, copy in self.copies.items():
            broker = image.brokers.get(target.node_id)
            copy.answered &= broker is None or broker.epoch == copy.epoch
            if broker is not None and broker.epoch != copy.process:  # it was started again, and never away
                copy.failing_since = None
        if away - self.away:
            self.away_since = now
        self.away = away
        for target in away:
            if target in self.copies:
                self.copies[target].failing_since = None


class _View:
    """A sealing virtual segment, as things are ``now``; ``looks``: when to look again."""

    __slots__ = (
        "asked_since",
        "given_up_at",
        "here",
        "image",
        "looks",
        "now",
        "owner",
        "progress",
        "stall",
        "table",
        "vseg",
    )

    def __init__(
        self,
        image: MetadataImage,
        table: VlogTable,
        vseg: VsegRecord,
        progress: _Progress,
        now: float,
        looks: list[float],
        stall: float,
    ) -> None:
        self.image = image
        self.table = table
        self.vseg = vseg
        self.progress = progress
        self.now = now
        self.looks = looks
        self.stall = stall
        self.here = rules.live_copies(image, vseg)
        self.owner = CopyTarget(vseg.node_id, vseg.store_id)
        self.given_up_at = -math.inf
        """When nobody who is late is waited for any more, if somebody is, and that is now or was before."""
        first = progress.first_answer
        if first is not None and not all(map(self.has_answered, self.here)) and self.is_past(first + stall):
            self.given_up_at = first + stall
        gone_since = progress.away_since if progress.away else -math.inf
        self.asked_since = max(self.given_up_at, gone_since, progress.torn_since)
        """Who answers alone for others, that are given up, away or torn, was asked after that was known: it
        may have lost its power since it answered, and be a member for a whole session yet."""

    @property
    def is_thorough(self) -> bool:
        """Who is sure now may be listed without somebody else."""
        known = self.progress.copies
        limbo = any(known[target].limbo for target in self.vseg.backups if self.has_answered(target))
        given_up = limbo or max(self.given_up_at, self.progress.torn_since) > -math.inf
        return rules.answers_for_others(self.vseg, self.progress.away, given_up)

    def is_past(self, at: float) -> bool:
        """What is waited for until ``at`` (for ever: infinity) is over; else that is when to look again."""
        if self.now < at < math.inf:
            self.looks.append(at)
        return self.now >= at

    def has_answered(self, target: CopyTarget) -> bool:
        """There is an answer, of its present process."""
        copy = self.progress.copies.get(target)
        return copy is not None and copy.answered

    def may_have_more(self, target: CopyTarget) -> bool:
        """It is neither torn nor in limbo as far as is known, nor a member with another data directory."""
        copy = self.progress.copies.get(target)
        if copy is not None and copy.answered:
            return not copy.torn and not copy.limbo
        return rules.may_hold(self.image, target) or target.node_id not in self.image.brokers

    def has_told_since(self, target: CopyTarget) -> bool:
        """It was asked since others are gone, and has answered."""
        return self.has_answered(target) and self.progress.copies[target].sure_from >= self.asked_since

    def is_sure(self, target: CopyTarget) -> bool:
        """Its answer counts though others are gone: it was asked since, and read, or is in limbo anyway."""
        copy = self.progress.copies.get(target)
        if copy is None or not copy.answered:
            return False
        return copy.limbo or (self.has_told_since(target) and (copy.thorough or not self.is_thorough))

    def all_told(self) -> bool:
        """All that are here have answered, and again if they have to, or not for a stall."""
        if all(map(self.is_sure, self.here)):
            return True
        return all(map(self.has_answered, self.here)) and self.is_past(self.asked_since + self.stall)

    def is_to_be_asked(self, target: CopyTarget) -> bool:
        """It has not answered, or before others were gone, is not being asked, and has not just failed."""
        copy = self.progress.copies.get(target)
        if copy is None:
            return True
        if self.is_sure(target):
            return False
        return not copy.asked and (copy.failed_at is None or self.is_past(copy.failed_at + RETRY_SECONDS))


class Sealing:
    """Answers to SEAL, and what follows from them.

    Seconds: ``stall`` that a late backup is waited for, ``patience`` with backups that are away before their
    owner is asked instead, and with whoever may have all of it before the configs of topics let it be lost:
    ``session`` at least, because so long a broker may be silent without being dead. ``may_lose``: topics
    whose configs do not say it let it be lost.
    """

    __slots__ = ("_accepted", "_loss_patience", "_may_lose", "_patience", "_progress", "_stall")

    def __init__(self, stall: float, patience: float, session: float = 0.0, may_lose: bool = False) -> None:
        self._stall = stall
        self._patience = patience
        self._loss_patience = max(patience, session)
        self._may_lose = may_lose
        self._progress: dict[VsegId, _Progress] = {}
        self._accepted: dict[VsegId, bool] = {}
        """Whose loss is accepted; True: even if who has it may only be away."""

    def accept_loss(self, vsegs: Sequence[VsegId], named: bool = True) -> list[bool]:
        """An operator gives up what copies in limbo may have lost; True for those that are sealing.

        It counts only for what has no eligible copy: then the longest copy in limbo decides. While brokers
        are away that may have all of it, it counts if partitions were ``named``.
        """
        known = [vseg in self._progress for vseg in vsegs]
        for vseg in vsegs:
            if vseg in self._progress:
                self._accepted[vseg] = named or self._accepted.get(vseg, False)
        return known

    def asked(self, ask: Ask, now: float) -> None:
        """SEAL is on its way."""
        copy = self._known(ask)
        copy.asked, copy.asked_at = True, now

    def failed(self, ask: Ask, now: float) -> None:
        """No answer will come, or none that says anything about the copy."""
        copy = self._known(ask)
        copy.asked, copy.failed_at = False, now
        if copy.failing_since is None:
            copy.failing_since = now

    def answered(self, ask: Ask, sealed: Sealed, epoch: int, now: float) -> None:
        """What the copy holds; in limbo, nobody knows (rules 3, 22).

        ``epoch`` is that of the broker that answered: after a restart it is asked again.
        """
        copy = self._known(ask)
        copy.asked, copy.answered = False, True
        progress = self._progress[ask.vseg]
        if sealed.torn and not copy.torn:
            progress.torn_since = now
        copy.position, copy.limbo, copy.torn, copy.durable = sealed
        copy.epoch = epoch
        copy.thorough = ask.thorough
        copy.failing_since = None
        copy.sure_from = copy.asked_at
        if not sealed.limbo and progress.first_answer is None:
            progress.first_answer = now

    def _known(self, ask: Ask) -> _Copy:
        progress = self._progress.setdefault(ask.vseg, _Progress(0.0))
        return progress.copy(ask.target)

    def plan(self, image: MetadataImage, table: VlogTable, now: float) -> SealPlan:
        """What to ask and what can be closed, for all virtual segments that are sealing."""
        sealing = [vseg for vseg in table.open_vsegs() if rules.is_sealing(image, vseg)]
        ids = {vseg.id for vseg in sealing}
        for gone in [vseg for vseg in self._progress if vseg not in ids]:
            del self._progress[gone]
        self._accepted = {vseg: named for vseg, named in self._accepted.items() if vseg in ids}
        plan = SealPlan([], [], [], None)
        looks: list[float] = []
        for vseg in sealing:
            progress = self._progress.setdefault(vseg.id, _Progress(now))
            progress.look(image, rules.may_come_back(image, table, vseg), now)
            view = _View(image, table, vseg, progress, now, looks, self._stall)
            close = self._close(view)
            if close is not None:
                plan.closes.append(close)
                continue
            asks = self._asks(view)
            plan.asks.extend(asks)
            if not asks and not any(copy.asked for copy in progress.copies.values()):
                plan.waiting.append(_waiting_for(image, vseg, progress))
        return plan._replace(look_at=min(looks, default=None))

    def _close(self, view: _View) -> Close | None:
        """The end of a virtual segment, once enough copies have answered: all members, or a stall later.

        Where something is to be kept, one of them has to be there still, and to say so again after others are
        gone: with its disk all would be lost that they have, who are listed no more.
        """
        vseg, progress = view.vseg, view.progress
        copies = progress.copies
        eligible = [target for target in vseg.backups if target in copies and copies[target].eligible]
        durable = max((copies[target].durable for target in eligible), default=vseg.start)
        eligible = [target for target in eligible if rules.has_all(vseg, copies[target].position, durable)]
        deciding: list[CopyTarget] = []
        if eligible and progress.first_answer is not None:
            missing = not all(map(view.has_answered, view.here))
            if missing and view.given_up_at < progress.first_answer:
                return None
            deciding = self._deciding(view, eligible)
        if deciding:
            end = rules.sealed_end(vseg.start, [copies[target].position for target in deciding])
            shortened = any(copies[target].torn for target in deciding)
            if end == vseg.start:
                return Close(vseg.id, end, (), shortened)
            held = tuple(one for one in eligible if one in deciding or copies[one].position >= end)
            if rules.is_any_there(view.image, filter(view.is_sure, held)):
                return Close(vseg.id, end, held, shortened)
        owner = copies.get(view.owner)
        if owner is not None and owner.eligible and rules.may_hold(view.image, view.owner):
            return self._by_owner(view, eligible, rules.sealed_end(vseg.start, [owner.position]))
        if rules.owner_holds(view.image, view.table, vseg) and not (
            owner is not None and view.is_past(owner.may_tell_until(self._loss_patience))
        ):
            return None
        return self._give_up(view)

    def _deciding(self, view: _View, eligible: list[CopyTarget]) -> list[CopyTarget]:
        """Whose answers decide: that of one that is torn, the longest, only when nobody else who is listed
        and may have all of it has told for some time. What it lacks it may have acknowledged (24b, 24c).
        """
        progress = view.progress
        sound = [target for target in eligible if not progress.copies[target].torn]
        torn = [target for target in eligible if target not in sound]
        if not torn or rules.is_any_there(view.image, filter(view.is_sure, sound)):
            return sound
        if any(self._is_reading(view, target) for target in sound):
            return sound
        awaited = any(map(view.may_have_more, view.vseg.backups))
        if awaited and not view.is_past(progress.torn_since + self._loss_patience):
            return sound
        return [max(torn, key=lambda target: progress.copies[target].position)]

    def _by_owner(self, view: _View, eligible: list[CopyTarget], end: int) -> Close | None:
        """The owner's own files reach ``end`` (18b). A torn copy that is here and goes on there shows that
        they were damaged, and decides (24c): it may say so again, not for ever. Who reaches the end is
        listed.
        """
        progress = view.progress
        copies = progress.copies
        known = [target for target in view.here if target in copies and not view.is_sure(target)]
        if any(copies[target].position > end and not copies[target].limbo for target in known):
            if progress.more_awaited is None:
                progress.more_awaited = view.now
            if not view.is_past(progress.more_awaited + self._loss_patience):
                return None
        told = {
            target: copies[target].position
            for target in eligible
            if view.is_sure(target) and rules.may_hold(view.image, target)
        }
        last = max([end, *told.values()])
        held = tuple(target for target in told if told[target] >= last > view.vseg.start)
        return Close(view.vseg.id, last, held, last > end)

    def _give_up(self, view: _View) -> Close | None:
        """Copies are in limbo or away, so is the owner, or it cannot help; and the loss is accepted: by an
        operator, or by the configs of its topics when nobody who may have all of it came back for some time.
        The longest copy of those that are here decides, the owner's too; with none that is listed, wait,
        unless an operator has given up what there was. What no topic has anything in is nobody's loss.
        """
        vseg, progress, here = view.vseg, view.progress, view.here
        if not any(rules.topics_in(view.image, view.table, vseg)):
            return Close(vseg.id, vseg.start, ())
        if not here and not self._is_accepted(view):
            return None
        if not view.all_told() or any(self._is_reading(view, target) for target in here):
            return None
        if not self._is_accepted(view):
            if not rules.may_lose(view.image, view.table, vseg, self._may_lose):
                return None
            if progress.away and not view.is_past(progress.away_since + self._loss_patience):
                return None
        told = {target: progress.copies[target].position for target in here}
        end = max([_owners_end(view), *told.values()])
        log.error("the loss of what virtual segment %s held beyond %d is accepted", vseg.id, end)
        held = tuple(target for target in here if told[target] >= end)
        return Close(vseg.id, end, held if end > vseg.start else (), True)

    def _is_reading(self, view: _View, target: CopyTarget) -> bool:
        """It may have all of it, and has yet to look whether its file has (24c); not for ever."""
        copy = view.progress.copies[target]
        if target not in view.here or not copy.eligible or copy.thorough or not view.is_thorough:
            return False
        since = copy.asked_at if copy.asked else view.now
        if copy.failing_since is not None:
            since = copy.failing_since
        return not view.is_past(since + self._loss_patience)

    def _is_accepted(self, view: _View) -> bool:
        """An operator gave up what it held: unless partitions were named, nothing that a broker may have
        which is only away."""
        named = self._accepted.get(view.vseg.id)
        return named is not None and (named or not rules.is_away(view.image, view.table, view.vseg))

    def _asks(self, view: _View) -> list[Ask]:
        """Whom to ask now: all listed copies that are members; the owner's own journal when they cannot
        help, at once when there are none (rule 18b), else after some patience, because a backup that comes
        back means one more copy.
        """
        vseg = view.vseg
        fence = rules.fence_of(vseg)
        asks = [
            Ask(vseg.id, target, fence, False, view.has_answered(target) and view.is_thorough)
            for target in filter(view.is_to_be_asked, view.here)
        ]
        if view.all_told() and rules.owner_holds(view.image, view.table, vseg):
            patience = self._patience if vseg.backups else 0.0
            due = view.is_past(view.progress.since + patience) and not view.has_told_since(view.owner)
            if due and view.is_to_be_asked(view.owner):
                asks.append(Ask(vseg.id, view.owner, fence, True))
        for ask in asks:
            broker = view.image.brokers.get(ask.target.node_id)
            view.progress.copy(ask.target).process = -1 if broker is None else broker.epoch
        return asks


def _owners_end(view: _View) -> int:
    """How far the owner's own files go if they are a copy, in limbo (18b, 24e), else the start. One that
    cannot tell was waited for."""
    owner = view.progress.copies.get(view.owner)
    if owner is None or not owner.answered or not rules.owner_holds(view.image, view.table, view.vseg):
        return view.vseg.start
    return rules.sealed_end(view.vseg.start, [owner.position])


def _waiting_for(image: MetadataImage, vseg: VsegRecord, progress: _Progress) -> str:
    """One line for the operator."""
    known = progress.copies
    here = rules.live_copies(image, vseg)
    away = [target.node_id for target in vseg.backups if target not in here]
    limbo = [target.node_id for target, copy in known.items() if copy.answered and copy.limbo]
    silent = [target.node_id for target in here if target not in known or not known[target].answered]
    parts = [
        f"{what} on {', '.join(map(str, sorted(set(nodes))))}"
        for what, nodes in (("away", away), ("not answering", silent), ("in limbo", limbo))
        if nodes
    ]
    if not vseg.backups:
        parts.append(f"the only one is its owner's, broker {vseg.node_id}")
    return f"virtual segment {vseg.id} waits for a copy: {'; '.join(parts) or 'being asked'}"


def decide_close(
    image: MetadataImage, table: VlogTable, closes: Sequence[Close]
) -> Decision[list[VsegRecord]]:
    """Write the ends of sealing virtual segments; the answer: those that were still sealing, and of which a
    copy is still there: without a listed one that is its owner (18b).

    Copies that did not answer with all of it are on the list no more (rule 15).
    """
    decision: Decision[list[VsegRecord]] = Decision([])
    for close in closes[:PER_TRANSACTION]:
        vseg = table.vsegs.get(close.vseg)
        if vseg is None or not rules.is_sealing(image, vseg):
            continue
        there = rules.is_any_there(image, close.copies) if close.copies else rules.owner_is_here(image, vseg)
        if close.end > vseg.start and not there:
            continue
        closed = vseg._replace(end=close.end, backups=close.copies, shortened=close.shortened)
        decision.puts[closed.key] = closed.encode()
        decision.answer.append(closed)
    return decision
