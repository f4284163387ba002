"""Which copies of closed virtual segments are missing, and how many there are to be (rules 17, 27b). Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

from kproto.controller import rules
from kproto.metadata import MetadataImage, StreamletRecord
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord


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


def short_ones(image: MetadataImage, table: VlogTable) -> list[VsegRecord]:
    """All that lack copies, in order."""
    return sorted(closed_such(table, lambda vseg: is_short(image, table, vseg)))


def closed_such(table: VlogTable, holds: Callable[[VsegRecord], bool]) -> list[VsegRecord]:
    """Closed ones, not emptied, for which something about their copies holds. One of a group tells for the
    others: there may be a hundred thousand. Of those of which some were given away the first and the last one
    tell, if they say the same."""
    found: list[VsegRecord] = []
    for group in table.closed_alike():
        one = next(iter(group))
        tell = (min(group), max(group)) if one[:2] in table.given_upto else (one,)
        told = {holds(table.vsegs[each]) for each in tell}
        if True in told:
            records = map(table.vsegs.__getitem__, group)
            found += (vseg for vseg in records if False not in told or holds(vseg))
    return found


def is_short(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> bool:
    """It is closed, and lacks a copy that it needs."""
    if vseg.open or not rules.needs_copy(vseg):
        return False
    return len(lasting_copies(image, table, vseg)) < wanted_copies(image, table, vseg)


def may_return(image: MetadataImage, vseg: VsegRecord) -> bool:
    """A listed copy is away, so that waiting may save making another one. Else the owner's files ceased to be
    one, or a broker is drained: that is for good."""
    return len(rules.live_copies(image, vseg)) < len(vseg.backups) or vseg.node_id not in image.brokers


def counted_copies(image: MetadataImage, table: VlogTable, vseg: VsegRecord) -> list[CopyTarget]:
    """Sound copies, but for one that the owner took while something was to leave it (`repair_pairs`) and did
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
