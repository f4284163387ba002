"""A broker that ends in peace gives what it leads to others before it goes (rule 12b). Pure.

It is a planned move of everything at once: nothing is appended any more, so its virtual segments end where
they are, and no others follow. The broker is still a member while others rebuild what they were given: it
hears who leads next, and tells its clients.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.controller.given_away import GivenAway, given_puts
from kproto.controller.recovery import led_now, next_leader
from kproto.controller.sources import Sources
from kproto.controller.unreached import NodesOf, nobody
from kproto.controller.vsegs import decide_close_vsegs
from kproto.metadata import MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord


class Retired(NamedTuple):
    """What became of a broker's wish to lead no more."""

    closed: bool
    """All its virtual segments end where it said."""
    given: int
    """Streamlets that others were told to lead."""
    more: bool
    """There are more to be given: ask again."""


def decide_retire(
    image: MetadataImage,
    table: VlogTable,
    node_id: int,
    epoch: int,
    closes: Sequence[tuple[VsegId, int]],
    unreached: NodesOf = nobody,
) -> Decision[Retired]:
    """Write where the virtual segments of an owner end, and have others lead what it leads: up to a hundred
    streamlets, by topic and index (19b). ``unreached``: see `decide_cannot`.

    What cannot be given, because this broker has the only copy of something, stays: it is recovered when the
    broker is gone. One that the store has no more was closed, and nobody needs it since (30): it ended there.
    Raises STALE_BROKER_EPOCH as `decide_open_vseg`.
    """
    closing = decide_close_vsegs(image, table, node_id, closes)
    ended = (done or vseg not in table.vsegs for done, (vseg, _) in zip(closing.answer, closes, strict=True))
    decision = Decision(Retired(all(ended), 0, False), closing.puts)
    ends = {vseg: table.vsegs[vseg]._replace(end=end) for vseg, end in closes if vseg in table.vsegs}
    if not decision.answer.closed or not is_closed(table, epoch, ends):
        return decision
    sources = Sources(image, table)
    notes = GivenAway(image, table, sources)
    given = _given(image, node_id, epoch, ends, sources, unreached)
    room = max(1, PER_TRANSACTION - 2 * len(closes))
    some = list(islice(given, room))
    for record, leader in some:
        decision.puts[record.key] = record.handed_over(leader, epoch).encode()
        notes.note(record, leader)
    decision.puts.update(notes.puts())
    if some:
        newest = {vseg.id.vlog: vseg.id.seq for vseg in table.of_owner(epoch)}
        decision.puts.update(given_puts(table, epoch, newest.items()))
    decision.answer = Retired(True, len(some), next(given, None) is not None)
    return decision


def is_closed(table: VlogTable, epoch: int, closing: Collection[VsegId]) -> bool:
    """With what is being closed an owner has no open virtual segment: all it appended is in closed ones."""
    return all(not vseg.open or vseg.id in closing for vseg in table.of_owner(epoch))


def _given(
    image: MetadataImage,
    node_id: int,
    epoch: int,
    ends: Mapping[VsegId, VsegRecord],
    sources: Sources,
    unreached: NodesOf,
) -> Iterator[tuple[StreamletRecord, int]]:
    """The streamlets that a broker leads and others can rebuild, with their next leaders."""
    only_here = [vseg for vseg in ends.values() if is_only_here(image, vseg)]
    load = led_now(image)
    for record in image.streamlets_in_order():
        if not record.sources or not rules.leads(image, record, node_id, epoch):
            continue
        if any(rules.may_have(image, record, vseg) for vseg in only_here):
            continue
        if not sources.sealed(record) or sources.is_saving(record):
            continue
        leader = next_leader(image, record, sources, load, leaving=node_id, unreached=unreached)
        if leader is not None:
            yield record, leader


def is_only_here(image: MetadataImage, vseg: VsegRecord) -> bool:
    """Nobody but its owner has what is in it (18b)."""
    return rules.needs_copy(vseg) and not rules.sound_copies(image, vseg)
