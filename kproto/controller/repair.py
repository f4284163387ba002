"""Making lost copies of closed virtual segments anew (rule 17). Pure.

:class:`Repairs` remembers since when a copy is missing; that is volatile, a new controller waits anew.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence, Set
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.denials import Denials
from kproto.controller.missing import is_short, may_return, short_ones, wanted_copies
from kproto.controller.repair_pairs import AT_ONCE_PER_BROKER, Repair, Tried, choose_repair, is_torn
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord, kind
from kproto.wire.internal import InternalError

AT_ONCE: Final = 8
"""Repairs in flight in the whole cluster."""
RETRY_SECONDS: Final = 5.0
"""A repair that failed is tried again, perhaps elsewhere, after so long."""
FAULTS_OF_TARGETS: Final = (
    InternalError.FULL,
    InternalError.REFUSED,
    InternalError.BAD_REQUEST,
    InternalError.WAIT,
)
"""Answers to REPAIR that say nothing about the copy at its source."""
LOOKS_FOR_MORE: Final = 64
"""Virtual segments looked at, at most, for the place of a repair that ended: one tells for those alike."""


class RepairPlan(NamedTuple):
    """What to order now, how many virtual segments lack copies, and when to look again."""

    orders: list[Repair]
    short: int
    look_at: float | None


class Repairs:
    """Which copies are missing since when, and what is under way. ``delay`` is in seconds; ``denials``: what
    others are told that is learnt here of owners."""

    __slots__ = (
        "_busy",
        "_delay",
        "_denied",
        "_line",
        "_load",
        "_missing",
        "_retry_at",
        "_tried",
        "_turns",
        "denials",
    )

    def __init__(self, delay: float, denials: Denials | None = None) -> None:
        self._delay = delay
        self.denials = denials or Denials()
        self._missing: dict[VsegId, float] = {}
        self._retry_at: dict[VsegId, tuple[float, Repair]] = {}
        """When, and what failed."""
        self._busy: dict[VsegId, Repair] = {}
        self._tried: dict[VsegId, Tried] = {}
        self._denied: set[VsegId] = set()
        """Of which a last listed copy was none, as of the last plan."""
        self._line: list[deque[tuple[int, VsegId]]] = []
        """Those that can be copied, as of the last plan, and wait for their turn, which has a number: a heap
        of those alike, of which the first tells for the others. There may be ten thousand."""
        self._turns = 0
        """The last one that was given."""
        self._load = Counter[int]()
        """Copies on each broker, about."""

    @property
    def running(self) -> int:
        """Repairs that were ordered and not answered."""
        return len(self._busy)

    def ordered(self, repair: Repair) -> None:
        """The order is on its way. Its answer may not come, and who is to have the copy be the last one."""
        self._busy[repair.vseg.id] = repair
        if repair.known:
            self.denials.may_have(repair.vseg.id, repair.epoch, repair.source_epoch)

    def ended(
        self, repair: Repair, done: bool, now: float, answer: int | None = InternalError.UNKNOWN
    ) -> bool:
        """The order was done, or not: then it is not repeated at once. ``answer`` of the target: none, an
        error, or that it has the copy, which could not be listed: it is asked for that again, not another
        one. Whether `more` can follow: what failed would be tried again and again, but each process is asked
        once whether it has a copy of its own, or, as the owner, none in its journal, either."""
        self._busy.pop(repair.vseg.id, None)
        tried = self._tried.setdefault(repair.vseg.id, Tried())
        tried.made = repair if answer == InternalError.NONE and not done else None
        if done:
            return True
        failed = answer not in (None, InternalError.NONE)
        has_no_own = failed and not repair.known
        of_source = failed and repair.known and answer not in FAULTS_OF_TARGETS
        if has_no_own or of_source:
            self.denials.by_other(repair.vseg.id, repair.epoch)
        if answer != InternalError.NONE and not has_no_own:
            tried.pairs.add((repair.source, repair.target.node_id))
        of_owner = of_source and repair.source == repair.vseg.node_id
        go_on = has_no_own or (of_owner and self.denials.by_owner(repair.vseg.id, repair.source_epoch))
        if not go_on:
            self._retry_at[repair.vseg.id] = now + RETRY_SECONDS, repair
        return go_on

    def plan(
        self, image: MetadataImage, table: VlogTable, now: float, awaited: Set[VsegId] = frozenset()
    ) -> RepairPlan:
        """What to copy now: first what recoveries wait for (`recovery.awaited`), which has no time for copies
        to return when their owner is here and may have it; else what lacks copies for longest. In the order
        of their names what is closed since, in one virtual log, kept a move waiting for another one (12b).
        What was tried in vain waits like what is missing since then: a few would have all turns."""
        without = {vseg.id for vseg in table.denied_vsegs() if vseg.deniers(image.is_member)}
        short = short_ones(image, table)
        short.sort(key=lambda vseg: (vseg.id not in awaited, self._since(vseg.id, now)))
        ids = {vseg.id for vseg in short}
        self._missing = {vseg: since for vseg, since in self._missing.items() if vseg in ids}
        at_once, self._denied = without - self._denied, without  # the owner's journal may be gone soon
        self._retry_at = {
            vseg: (at, failed)
            for vseg, (at, failed) in self._retry_at.items()
            if vseg in ids - at_once and not is_torn(image, failed)
        }
        self._tried = {vseg: tried for vseg, tried in self._tried.items() if vseg in ids}
        self.denials.forget(image, ids)
        looks: list[float] = []
        self._load = load_of(table)
        line: dict[Hashable, deque[tuple[int, VsegId]]] = {}
        for turn, vseg in enumerate(short):
            since = self._missing.setdefault(vseg.id, now)
            urgent = vseg.id in awaited and rules.owner_is_here(image, vseg)
            waits = may_return(image, vseg) and not urgent
            again_at, _ = self._retry_at.get(vseg.id, (0.0, None))
            ready = max(since + self._delay if waits else since, again_at)
            if now < ready:
                looks.append(ready)
            elif vseg.id not in self._busy:
                line.setdefault(self._alike(table, vseg), deque()).append((turn, vseg.id))
        self._line = list(line.values())
        self._turns = len(short)
        heapify(self._line)
        orders = self._choose(image, table, len(short))
        return RepairPlan(orders, len(short), min(looks, default=None))

    def _since(self, vseg: VsegId, now: float) -> float:
        """Since when it waits for its turn."""
        again_at, _ = self._retry_at.get(vseg, (0.0, None))
        return max(self._missing.get(vseg, now), again_at)

    def more(self, image: MetadataImage, table: VlogTable, ended: Repair) -> list[Repair]:
        """What to copy in the place of one that `ended`, from what the last plan found: a fraction of a
        plan's work, which grows with everything that is stored."""
        self._turns += 1
        heappush(self._line, deque([(self._turns, ended.vseg.id)]))  # it may lack another one
        return self._choose(image, table, LOOKS_FOR_MORE)

    def _alike(self, table: VlogTable, vseg: VsegRecord) -> Hashable:
        """Those with the same here are asked of the same brokers, and for them."""
        tried = self._tried.get(vseg.id, Tried())
        if tried.made is not None:
            return vseg.id
        done = frozenset(tried.pairs), self.denials.said(vseg.id)
        return vseg.backups, kind(vseg), rules.was_given(table, vseg), done

    def _choose(self, image: MetadataImage, table: VlogTable, looks: int) -> list[Repair]:
        """As many as have room of the first so many in the line. Those without keep their places, but for
        those that nobody could give or take if all had room: they would keep all others from theirs."""
        orders: list[Repair] = []
        kept: list[deque[tuple[int, VsegId]]] = []
        use = Counter[int]()
        for repair in self._busy.values():
            use.update((repair.source, repair.target.node_id))
        while looks > 0 and self._line:
            looks -= 1
            full = all(use[node_id] >= AT_ONCE_PER_BROKER for node_id in image.brokers)
            if full or len(self._busy) + len(orders) >= AT_ONCE:
                break
            alike = heappop(self._line)
            vseg = table.vsegs.get(alike[0][1])
            if vseg is not None and is_short(image, table, vseg):
                tried = self._tried.get(vseg.id, Tried())
                choose = partial(choose_repair, tried=tried, denials=self.denials)
                order = choose(image, table, vseg, self._load, use)
                if order is None:
                    if use and choose(image, table, vseg, self._load, Counter()) is not None:
                        kept.append(alike)
                    continue
                orders.append(order)
                use.update((order.source, order.target.node_id))
                self._load[order.target.node_id] += 1
                if (order.source, order.target.node_id) in tried.pairs:
                    tried.pairs.clear()  # all have been: once more
            alike.popleft()
            if alike:
                heappush(self._line, alike)
        for alike in kept:
            heappush(self._line, alike)
        return orders


def load_of(table: VlogTable) -> Counter[int]:
    """How many copies each broker has. An emptied virtual segment has none."""
    load = Counter(target.node_id for vseg in table.open_vsegs() for target in vseg.backups)
    for group in table.closed_alike():
        for target in table.vsegs[next(iter(group))].backups:
            load[target.node_id] += len(group)
    return load


def decide_repaired(image: MetadataImage, table: VlogTable, repair: Repair) -> Decision[bool]:
    """List a copy that was made, verified and synced (rule 17); False when it is of no use any more: what was
    given up meanwhile has none, so that it is emptied. False, too, when another process was started there
    since it was asked for: what metadata did not list by then, that one deletes.

    Copies on brokers that are away leave the list once there are enough without them; who said that it has
    none leaves it now.
    """
    vseg = table.vsegs.get(repair.vseg.id)
    if vseg is None or (vseg.start, vseg.end) != (repair.vseg.start, repair.vseg.end):
        return Decision(False)
    if not rules.needs_copy(vseg) or not rules.may_hold(image, repair.target):
        return Decision(False)
    if not rules.is_current(image, repair.target.node_id, repair.epoch):
        return Decision(False)
    live = rules.sound_copies(image, vseg)
    if repair.target in live:
        return Decision(True)
    backups = (*(copy for copy in live if not rules.is_draining(image, copy.node_id)), repair.target)
    if len(backups) < wanted_copies(image, table, vseg):
        backups = (*live, repair.target)
    if len(backups) < wanted_copies(image, table, vseg):
        without = {repair.target.node_id, *vseg.deniers(image.is_member)}
        others = [target for target in vseg.backups if target.node_id not in without]
        backups = (*others, repair.target)
    record = vseg._replace(backups=backups, denied=())
    return Decision(True, {record.key: record.encode()})


def decide_disowned(
    image: MetadataImage,
    table: VlogTable,
    node_id: int,
    epoch: int,
    vsegs: Sequence[VsegId],
    heard_since: Callable[[int, int], bool],
) -> Decision[list[bool]]:
    """Take copies off the list that their broker cannot vouch for (rules 22, 24, 37); repair follows.

    Only while another member has one that is listed, or the owner's own files are one, or none is needed: the
    last copy is never given up, but its record says that it is none, so that leaders push again what they
    have of it, as where only the owner has it (45), and no later controller takes it for one. The owner must
    have been heard since this broker began (``heard_since``, see `Sessions`): else it may have lost its power
    with this one, and not be back to say so.
    """
    decision: Decision[list[bool]] = Decision([])
    broker = image.brokers.get(node_id)
    for each in vsegs:
        vseg = table.vsegs.get(each)
        if broker is None or vseg is None or vseg.open or not rules.is_current(image, node_id, epoch):
            decision.answer.append(False)
            continue
        mine = CopyTarget(node_id, broker.store_id)
        others = tuple(target for target in vseg.backups if target != mine)
        spare = any(target != mine for target in rules.sound_copies(image, vseg))
        spare = spare or not rules.needs_copy(vseg)
        spare = spare or (rules.owner_has_all(image, table, vseg) and heard_since(vseg.node_id, node_id))
        listed = mine in vseg.backups
        if listed and spare:
            left = tuple(one for one in vseg.denied if one[0] != node_id)
            record = vseg._replace(backups=others, denied=left)
            decision.puts[record.key] = record.encode()
        elif listed and (node_id, epoch) not in vseg.denied:
            current = [one for one in vseg.denied if rules.is_current(image, *one)]
            record = vseg._replace(denied=(*current, (node_id, epoch)))
            decision.puts[record.key] = record.encode()
        decision.answer.append(listed and spare)
    return decision
