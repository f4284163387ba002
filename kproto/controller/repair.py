"""Making lost copies of closed virtual segments anew (rule 17). Pure.

:class:`Repairs` remembers since when a copy is missing; that is volatile, a new controller waits anew.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence, Set
from functools import partial
from itertools import compress
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.denials import Denials
from kproto.controller.placement import pick_spread
from kproto.controller.vsegs import mixed
from kproto.metadata import BrokerRecord, MetadataImage, StreamletRecord
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.wire.internal import InternalError

AT_ONCE: Final = 8
"""Repairs in flight in the whole cluster."""
AT_ONCE_PER_BROKER: Final = 2
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
"""Virtual segments looked at, at most, for the place of a repair that ended."""


class Repair(NamedTuple):
    """Have ``target`` copy a closed virtual segment from the broker ``source``, verify it and sync it.
    ``epoch`` is the target's: the process that is asked. Not ``known``: nobody who is here can be the source,
    but the target may have a copy though it is not listed."""

    vseg: VsegRecord
    source: int
    target: CopyTarget
    epoch: int
    known: bool = True


class RepairPlan(NamedTuple):
    """What to order now, how many virtual segments lack copies, and when to look again."""

    orders: list[Repair]
    short: int
    look_at: float | None


def wanted_copies(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> int:
    """Copies on backups: R-1 beside the owner's own, R when the owner's is no copy any more (rule 27b), or
    about to be none (`rules.is_leaving`)."""
    own = rules.is_current(image, vseg.node_id, vseg.id.owner_epoch) or (
        vseg.node_id in table.fenced or rules.owner_holds(image, table, vseg)
    )
    own = own and not rules.is_draining(image, vseg.node_id)
    own = own and not table.is_moved(vseg) and not rules.was_given(table, vseg)
    own = own and not rules.is_leaving(image, table, vseg)
    return vseg.copies - 1 if own else vseg.copies


def possible_copies(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> int:
    """The same, but no more than brokers can have that stay."""
    wanted = wanted_copies(image, table, vseg)
    own = wanted < vseg.copies
    able = sum(
        not rules.is_draining(image, node) and not (own and node == vseg.node_id) for node in image.brokers
    )
    return min(wanted, able)


def owed(
    image: MetadataImage, table: VlogTable, records: Sequence[StreamletRecord]
) -> list[frozenset[VsegId]]:
    """For each streamlet, the closed virtual segments with two copies that are to have more before it leaves
    its leader (`rules.leaves`): what it has in them would be on one disk alone."""
    going = [rules.leaves(table, record) for record in records]
    epochs = {epoch for record in compress(records, going) for epoch in record.sources}
    short = [
        vseg
        for vseg in (short_ones(image, table) if epochs else ())
        if vseg.copies == 2
        and vseg.id.owner_epoch in epochs
        and len(lasting_copies(image, table, vseg)) < possible_copies(image, table, vseg)
    ]
    known: dict[tuple[object, ...], frozenset[VsegId]] = {}
    found: list[frozenset[VsegId]] = []
    for record, leaves in zip(records, going, strict=True):
        topic = image.topics_by_id.get(record.topic_id)
        alike = topic and topic.floor, record.sources, record.given, record.state, leaves
        if alike not in known:  # thousands of streamlets are
            known[alike] = frozenset(
                vseg.id
                for vseg in (short if leaves else ())
                if vseg.id.owner_epoch in record.sources and rules.is_for(image, table, record, vseg)
            )
        found.append(known[alike])
    return found


class Repairs:
    """Which copies are missing since when, and what is under way. ``delay`` is in seconds; ``denials``: what
    others are told that is learnt here of owners."""

    __slots__ = (
        "_busy",
        "_delay",
        "_denied",
        "_failed",
        "_line",
        "_load",
        "_made",
        "_missing",
        "_retry_at",
        "denials",
    )

    def __init__(self, delay: float, denials: Denials | None = None) -> None:
        self._delay = delay
        self.denials = denials or Denials()
        self._missing: dict[VsegId, float] = {}
        self._retry_at: dict[VsegId, tuple[float, Repair]] = {}
        """When, and what failed."""
        self._busy: dict[VsegId, Repair] = {}
        self._failed: dict[VsegId, set[tuple[int, int]]] = {}
        """Sources and targets that did not work. Who was asked for a copy of its own, and has none, is there
        with its epoch, below zero: what its next process finds may be another disk."""
        self._made: dict[VsegId, Repair] = {}
        """Of which the copy is there, and could not be listed."""
        self._denied: set[VsegId] = set()
        """Of which a last listed copy was none, as of the last plan."""
        self._line = deque[VsegId]()
        """Those that can be copied, as of the last plan, and wait for their turn."""
        self._load = Counter[int]()
        """Copies on each broker, about."""

    @property
    def running(self) -> int:
        """Repairs that were ordered and not answered."""
        return len(self._busy)

    def ordered(self, repair: Repair) -> None:
        """The order is on its way."""
        self._busy[repair.vseg.id] = repair

    def ended(
        self, repair: Repair, done: bool, now: float, answer: int | None = InternalError.UNKNOWN
    ) -> None:
        """The order was done, or not: then it is not repeated at once. ``answer`` of the target: none, an
        error, or that it has the copy, which could not be listed: it is asked for that again, not another
        one."""
        self._busy.pop(repair.vseg.id, None)
        self._made.pop(repair.vseg.id, None)
        if done:
            return
        if answer == InternalError.NONE:
            self._made[repair.vseg.id] = repair
        failed = answer not in (None, InternalError.NONE)
        if repair.known or not failed:
            self._retry_at[repair.vseg.id] = now + RETRY_SECONDS, repair
        if failed or answer is None:
            whom = repair.target.node_id if repair.known or answer is None else -repair.epoch
            self._failed.setdefault(repair.vseg.id, set()).add((repair.source, whom))
        of_source = repair.known and failed and answer not in FAULTS_OF_TARGETS
        if of_source and repair.source == repair.vseg.node_id:
            self.denials.by_owner(repair.vseg.id)

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
            if vseg in ids - at_once and not _is_torn(image, failed)
        }
        here = {-broker.epoch for broker in image.brokers.values()}
        self._failed = {
            vseg: {pair for pair in pairs if pair[1] >= 0 or pair[1] in here}
            for vseg, pairs in self._failed.items()
            if vseg in ids
        }
        self._made = {vseg: made for vseg, made in self._made.items() if vseg in ids}
        self.denials.forget_owners(ids)
        looks: list[float] = []
        self._load = load_of(table)
        self._line.clear()
        for vseg in short:
            since = self._missing.setdefault(vseg.id, now)
            urgent = vseg.id in awaited and rules.owner_is_here(image, vseg)
            waits = may_return(image, vseg) and not urgent
            again_at, _ = self._retry_at.get(vseg.id, (0.0, None))
            ready = max(since + self._delay if waits else since, again_at)
            if now < ready:
                looks.append(ready)
            elif vseg.id not in self._busy:
                self._line.append(vseg.id)
        orders = self._choose(image, table, len(self._line))
        return RepairPlan(orders, len(short), min(looks, default=None))

    def _since(self, vseg: VsegId, now: float) -> float:
        """Since when it waits for its turn."""
        again_at, _ = self._retry_at.get(vseg, (0.0, None))
        return max(self._missing.get(vseg, now), again_at)

    def more(self, image: MetadataImage, table: VlogTable, done: Repair) -> list[Repair]:
        """What to copy in the place of one that is ``done``, from what the last plan found: a fraction of a
        plan's work, which grows with everything that is stored."""
        self._line.append(done.vseg.id)  # it may lack another one
        return self._choose(image, table, LOOKS_FOR_MORE)

    def _choose(self, image: MetadataImage, table: VlogTable, looks: int) -> list[Repair]:
        """As many as have room of the first so many in the line. Those without keep their places, but for
        those that nobody could give or take if all had room: they would keep all others from theirs."""
        orders: list[Repair] = []
        kept: list[VsegId] = []
        use = Counter[int]()
        for repair in self._busy.values():
            use.update((repair.source, repair.target.node_id))
        while looks > 0 and self._line:
            looks -= 1
            full = all(use[node_id] >= AT_ONCE_PER_BROKER for node_id in image.brokers)
            if full or len(self._busy) + len(orders) >= AT_ONCE:
                break
            vseg = table.vsegs.get(self._line.popleft())
            if vseg is None or not _is_short(image, table, vseg):
                continue
            failed, made = self._failed.get(vseg.id, set()), self._made.get(vseg.id)
            if made is None or _is_torn(image, made):
                order = choose_repair(image, table, vseg, self._load, use, failed)
            else:  # though its target may be busy, and others not
                has_room = max(use[made.source], use[made.target.node_id]) < AT_ONCE_PER_BROKER
                order = made._replace(vseg=vseg) if has_room else None
            if order is not None:
                orders.append(order)
                use.update((order.source, order.target.node_id))
                self._load[order.target.node_id] += 1
            elif use and choose_repair(image, table, vseg, self._load, Counter(), set(failed)) is not None:
                kept.append(vseg.id)
            else:
                looks += 1  # once for each plan
        self._line.extendleft(reversed(kept))
        return orders


def _is_torn(image: MetadataImage, repair: Repair) -> bool:
    """It failed as one of the two went away: that says nothing about another try, for which recoveries may
    wait that began with the same death."""
    source_is_gone = repair.known and repair.source not in image.brokers
    return source_is_gone or not rules.is_current(image, repair.target.node_id, repair.epoch)


def load_of(table: VlogTable) -> Counter[int]:
    """How many copies each broker has. An emptied virtual segment has none."""
    load = Counter(target.node_id for vseg in table.open_vsegs() for target in vseg.backups)
    for group in table.closed_alike():
        for target in table.vsegs[next(iter(group))].backups:
            load[target.node_id] += len(group)
    return load


def short_ones(image: MetadataImage, table: VlogTable) -> list[VsegRecord]:
    """All that lack copies, in order. One of a group tells for the others: there may be a hundred thousand.
    Of those of which some were given away the first and the last one tell, if they say the same."""
    short: list[VsegRecord] = []
    for group in table.closed_alike():
        one = next(iter(group))
        tell = (min(group), max(group)) if one[:2] in table.given_upto else (one,)
        told = {_is_short(image, table, table.vsegs[each]) for each in tell}
        if True in told:
            records = map(table.vsegs.__getitem__, group)
            short += (vseg for vseg in records if False not in told or _is_short(image, table, vseg))
    return sorted(short)


def _is_short(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> bool:
    if vseg.open or not rules.needs_copy(vseg):
        return False
    return len(lasting_copies(image, table, vseg)) < wanted_copies(image, table, vseg)


def may_return(image: MetadataImage, vseg: VsegRecord) -> bool:
    """A listed copy is away, so that waiting may save making another one. Else the owner's files ceased to be
    one, or a broker is drained: that is for good."""
    return len(rules.live_copies(image, vseg)) < len(vseg.backups) or vseg.node_id not in image.brokers


def counted_copies(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> list[CopyTarget]:
    """Sound copies, but for one that the owner took while something was to leave it (`_onto_owner`) and did
    not: it is on one disk with the owner's own files, which are a copy again."""
    live = rules.sound_copies(image, vseg)
    others = [copy for copy in live if copy.node_id != vseg.node_id]
    if len(others) < len(live) and wanted_copies(image, table, vseg) < vseg.copies:
        return others
    return live


def lasting_copies(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> list[CopyTarget]:
    """Those that count, but for what a drained broker has as long as others can have it instead."""
    live = counted_copies(image, table, vseg)
    if not any(rules.is_draining(image, copy.node_id) for copy in live):
        return live
    lasting = [copy for copy in live if not rules.is_draining(image, copy.node_id)]
    return lasting if len(lasting) < possible_copies(image, table, vseg) else live


def choose_repair(
    image: MetadataImage,
    table: VlogTable,
    vseg: VsegRecord,
    load: Counter[int],
    use: Counter[int],
    failed: set[tuple[int, int]],
) -> Repair | None:
    """Source and target of one more copy; None when nobody can give or take one now.

    Pairs that have ``failed`` come again only after all others, busy ones too; then they are forgotten. Who
    said that what it is listed for is no copy can have one made, and nobody is sent there, or waits for it,
    but for the owner, whose answer an operator needs (`giving_up.hopeless`). Where none of the others took a
    copy that its owner's own files are none of, the owner is asked to: a full disk elsewhere would hold up a
    move.
    """
    deniers = vseg.deniers(image.is_member)
    have = rules.live_copies(image, vseg)
    asked = [copy.node_id for copy in have if copy.node_id not in deniers or copy.node_id == vseg.node_id]
    holders = {copy.node_id for copy in have if copy.node_id not in deniers}
    if wanted_copies(image, table, vseg) < vseg.copies or _others_can(image, vseg, holders):
        holders.add(vseg.node_id)
    free = [node_id for node_id in sorted(image.brokers) if use[node_id] < AT_ONCE_PER_BROKER]
    sources = sorted((use[node_id], node_id) for node_id in asked if node_id in free)
    is_here = rules.owner_is_here(image, vseg)
    known = bool(asked) or is_here
    able = [
        broker
        for node_id, broker in sorted(image.brokers.items())
        if node_id not in holders and broker.internal_host
        if not (known and rules.is_draining(image, node_id))
    ]
    beside = [image.brokers[node_id] for node_id in sorted(holders) if node_id in image.brokers]
    targets = pick_spread(
        [broker for broker in able if broker.node_id in free],
        len(able),
        beside,
        load,
        partial(mixed, vseg.id),
    )
    pairs = [(source, target) for target in targets for _, source in sources if source != target.node_id]
    owner = CopyTarget(vseg.node_id, vseg.store_id)
    waits = asked and not sources  # for a listed copy that is busy: it is the better one
    if is_here and owner not in have and owner.node_id in free and not waits:
        # its journal, kept for this (18b), or still there though others say that they have copies
        pairs += [(owner.node_id, target) for target in targets if target.node_id != owner.node_id]
    if not known:  # who was listed once may have its copy yet (`replica.rules.is_spare`): each is asked once
        able = [one for one in able if one.node_id not in deniers]
        able = [one for one in able if (owner.node_id, -one.epoch) not in failed]
        pairs = [(owner.node_id, one) for one in targets if one in able]
    if not pairs:
        return None
    fresh = [pair for pair in pairs if (pair[0], pair[1].node_id) not in failed]
    givers = asked if known and not (is_here and owner not in have) else [*asked, owner.node_id]
    if not fresh and _are_untried(givers, able, failed):
        return None  # they are busy
    if not fresh and owner.node_id in image.brokers:
        tried = holders.union(target for _, target in failed)
        onto = _onto_owner(image, table, vseg, asked, tried, failed)
        ready = [one for _, one in sources if one in onto and owner.node_id in free]
        if onto and not ready:
            return None  # they are busy
        fresh = [(source, image.brokers[owner.node_id]) for source in ready]
    if not fresh:  # but who had no copy of its own
        failed.difference_update([pair for pair in failed if known or pair[1] >= 0])
    source, target = (fresh or pairs)[0]
    return Repair(vseg, source, CopyTarget(target.node_id, target.store_id), target.epoch, known)


def _are_untried(givers: Sequence[int], takers: Sequence[BrokerRecord], failed: Set[tuple[int, int]]) -> bool:
    """There are pairs that have not failed, busy or not."""
    pairs = ((source, target.node_id) for target in takers for source in givers)
    return any(source != target and (source, target) not in failed for source, target in pairs)


def _onto_owner(
    image: MetadataImage,
    table: VlogTable,
    vseg: VsegRecord,
    sources: Sequence[int],
    tried: set[int],
    failed: set[tuple[int, int]],
) -> list[int]:
    """Who could give the owner a copy, busy or not, of those it was not tried with: when its own files are
    none, and all others were ``tried`` or have one. Nobody when it has one, be it on another disk."""
    node_id = vseg.node_id
    owns = wanted_copies(image, table, vseg) < vseg.copies or node_id in sources
    owns = owns or rules.is_draining(image, node_id)
    if owns or not image.brokers[node_id].internal_host or _others_can(image, vseg, tried):
        return []
    return [one for one in sources if (one, node_id) not in failed]


def _others_can(image: MetadataImage, vseg: VsegRecord, holders: set[int]) -> bool:
    """The owner lives, and a broker that has nothing of its virtual segment can take a copy: that is better
    than a second one beside what the owner still has, which counts only where no other broker is left."""
    alive = rules.is_current(image, vseg.node_id, vseg.id.owner_epoch)
    others = (node for node in image.brokers if node not in holders and node != vseg.node_id)
    return alive and any(not rules.is_draining(image, node) for node in others)


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
