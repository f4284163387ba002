"""Who gives and who takes one more copy of a closed virtual segment (rules 17, 18b). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.denials import Denials
from kproto.controller.missing import wanted_copies
from kproto.controller.placement import pick_spread
from kproto.controller.vsegs import mixed
from kproto.metadata import BrokerRecord, MetadataImage
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegRecord

AT_ONCE_PER_BROKER: Final = 2


class Repair(NamedTuple):
    """Have ``target`` copy a closed virtual segment from the broker ``source``, verify it and sync it.
    ``epoch`` is the target's: the process that is asked; ``source_epoch`` that of the source at that time.
    Not ``known``: nobody who is here can be the source, but the target may have a copy though it is not
    listed."""

    vseg: VsegRecord
    source: int
    target: CopyTarget
    epoch: int
    known: bool = True
    source_epoch: int = -1


class Tried:
    """What was tried for one virtual segment. All of it is empty at first."""

    __slots__ = ("made", "pairs")

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.pairs = set(pairs)
        """Sources and targets that did not work. Who did not answer whether it has a copy of its own is there
        with the owner as source."""
        self.made: Repair | None = None
        """The copy is there, and could not be listed."""


class _Need(NamedTuple):
    """One more copy, of what is ``tried``, while brokers are in ``use`` for so many others. Some said that
    they have none (``denials``)."""

    image: MetadataImage
    table: VlogTable
    vseg: VsegRecord
    load: Counter[int]
    use: Counter[int]
    tried: Tried
    denials: Denials

    def is_free(self, node_id: int) -> bool:
        return node_id in self.image.brokers and self.use[node_id] < AT_ONCE_PER_BROKER

    def spread(self, able: list[BrokerRecord], beside: list[BrokerRecord]) -> list[BrokerRecord]:
        """Those that are free, in the order in which they should be asked."""
        free = [broker for broker in able if self.is_free(broker.node_id)]
        return pick_spread(free, len(free), beside, self.load, partial(mixed, self.vseg.id))

    def is_fresh(self, source: int, target: BrokerRecord) -> bool:
        return (source, target.node_id) not in self.tried.pairs

    def others_could(self, holders: set[int]) -> bool:
        """Take a copy, besides ``holders`` and those it was tried with, see `_others_can`."""
        left = holders.union(target for _, target in self.tried.pairs)
        return _others_can(self.image, self.vseg, left)

    def order(self, source: int, target: BrokerRecord, known: bool) -> Repair:
        copy = CopyTarget(target.node_id, target.store_id)
        asked = self.image.brokers[source].epoch if known else -1
        return Repair(self.vseg, source, copy, target.epoch, known, asked)


def choose_repair(
    image: MetadataImage,
    table: VlogTable,
    vseg: VsegRecord,
    load: Counter[int],
    use: Counter[int],
    tried: Tried,
    denials: Denials | None = None,
) -> Repair | None:
    """Source and target of one more copy; None when nobody can give or take one now.

    Pairs that were ``tried`` come again only after all others, busy ones too. A copy that could not be listed
    is asked for again: another broker would make one more. Who said that what it is listed for is no copy can
    have one made, and nobody is sent there, or waits for it, but for the owner, whose answer an operator
    needs (`giving_up.hopeless`). While nobody who is here is known to have any, and once the owner said that
    it has none, all are asked for copies of their own, but for processes that said so: what the next one
    finds there may be another disk.
    """
    denials = denials or Denials()
    need = _Need(image, table, vseg, load, use, tried, denials)
    made = tried.made
    if made is not None and not is_torn(image, made):
        can = use[made.source] < AT_ONCE_PER_BROKER and need.is_free(made.target.node_id)
        return made._replace(vseg=vseg) if can else None
    deniers = vseg.deniers(image.is_member)
    have = rules.live_copies(image, vseg)
    own = CopyTarget(vseg.node_id, vseg.store_id)
    asked = [copy.node_id for copy in have if copy.node_id not in deniers or copy == own]
    in_journal = rules.owner_is_here(image, vseg) and vseg.node_id not in {copy.node_id for copy in have}
    vain = denials.owner_has_none(image, vseg) and set(asked) <= deniers
    if vain or not (asked or in_journal):
        order = _look_for_one(need, deniers)
        if order is not None or not vain:
            return order
    return _copy_one(need, asked, in_journal, {copy.node_id for copy in have} - set(deniers))


def _look_for_one(need: _Need, deniers: Iterable[int]) -> Repair | None:
    """Ask who may have a copy yet that is not listed, once each process (`replica.rules.is_spare`): drained
    brokers, too. So may who was to have one made in the place of what it is listed for."""
    owner = need.vseg.node_id
    without, takers = need.denials.others(need.vseg.id), need.denials.takers(need.vseg.id)
    able = [
        broker
        for node_id, broker in sorted(need.image.brokers.items())
        if broker.internal_host
        and (node_id not in deniers or broker.epoch in takers)
        and broker.epoch not in without
    ]
    fresh = [broker for broker in able if need.is_fresh(owner, broker)]
    targets = need.spread(fresh or able, [])
    return need.order(owner, targets[0], False) if targets else None


def _copy_one(need: _Need, asked: list[int], in_journal: bool, holders: set[int]) -> Repair | None:
    """Have one made by who has none, from those to be ``asked``, or from the owner's journal, kept for this
    (18b), or still there though others say that they have copies. Where none of the others took a copy that
    its owner's own files are none of, the owner is asked to: a full disk elsewhere would hold up a move. Of
    its own journal, too (`_for_itself`): recoveries may wait for that."""
    image, table, vseg, use = need.image, need.table, need.vseg, need.use
    owner = vseg.node_id
    sources = sorted((one for one in asked if need.is_free(one)), key=lambda one: (use[one], one))
    waits = asked and not sources  # for a listed copy that is busy: it is the better one
    journal = [owner] if in_journal and need.is_free(owner) and not waits else []
    if not sources and not journal:
        return None  # they are busy
    if wanted_copies(image, table, vseg) < vseg.copies or _others_can(image, vseg, holders):
        holders.add(owner)
    able = [
        broker
        for node_id, broker in sorted(image.brokers.items())
        if node_id not in holders and broker.internal_host and not rules.is_draining(image, node_id)
    ]
    beside = [image.brokers[node_id] for node_id in sorted(holders) if node_id in image.brokers]
    targets = need.spread(able, beside)
    pairs = [
        (source, target)
        for target, source in [*product(targets, sources), *product(targets, journal)]
        if source != target.node_id
    ]
    fresh = [pair for pair in pairs if need.is_fresh(*pair)]
    if fresh:
        return need.order(*fresh[0], True)
    givers = [*asked, owner] if in_journal else asked
    if any(source != one.node_id and need.is_fresh(source, one) for source, one in product(givers, able)):
        return None  # they are busy
    onto = _onto_owner(need, asked, holders)
    ready = [source for source in sources if source in onto and need.is_free(owner)]
    if onto:
        return need.order(ready[0], image.brokers[owner], True) if ready else None
    if _for_itself(need, holders) and (need.is_fresh(owner, image.brokers[owner]) or not pairs):
        return need.order(owner, image.brokers[owner], True) if need.is_free(owner) else None
    return need.order(*pairs[0], True) if pairs else None


def _for_itself(need: _Need, holders: set[int]) -> bool:
    """The owner, whose files are no copy any more, or one that the power may have been lost of, may have the
    last one in its journal, and nobody else is there to take it, or could. Once it said no it is not asked
    like this again."""
    image, table, vseg = need[:3]
    return (
        rules.owner_is_here(image, vseg)
        and not rules.sound_copies(image, vseg)
        and (wanted_copies(image, table, vseg) == vseg.copies or not rules.kept_its_power(table, vseg))
        and not need.others_could(holders)
        and bool(image.brokers[vseg.node_id].internal_host)
        and not need.denials.owner_has_none(image, vseg)
    )


def _onto_owner(need: _Need, asked: list[int], holders: set[int]) -> list[int]:
    """Who could give the owner a copy, busy or not, of those it was not tried with: when its own files are
    none, and all others were tried or have one. Nobody when it has one, be it on another disk."""
    image, table, vseg = need[:3]
    broker = image.brokers.get(vseg.node_id)
    owns = wanted_copies(image, table, vseg) < vseg.copies or vseg.node_id in asked
    if broker is None or owns or not broker.internal_host or rules.is_draining(image, vseg.node_id):
        return []
    return [] if need.others_could(holders) else [one for one in asked if need.is_fresh(one, broker)]


def _others_can(image: MetadataImage, vseg: VsegRecord, holders: set[int]) -> bool:
    """The owner lives, and a broker that has nothing of its virtual segment can take a copy: that is better
    than a second one beside what the owner still has, which counts only where no other broker is left."""
    alive = rules.is_current(image, vseg.node_id, vseg.id.owner_epoch)
    others = (node for node in image.brokers if node not in holders and node != vseg.node_id)
    return alive and any(not rules.is_draining(image, node) for node in others)


def is_torn(image: MetadataImage, repair: Repair) -> bool:
    """It failed as one of the two went away: that says nothing about another try, for which recoveries may
    wait that began with the same death."""
    source_is_gone = repair.known and repair.source not in image.brokers
    return source_is_gone or not rules.is_current(image, repair.target.node_id, repair.epoch)
