"""A broker that ends in peace gives what it leads to others before it goes (rule 12b). Pure.

It is a planned move of everything at once: nothing is appended any more, so its virtual segments end where
they are, and no others follow. The broker is still a member while others rebuild what they were given: it
hears who leads next, and tells its clients.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.moves import is_saving
from kproto.controller.recovery import (
    STREAMLETS_PER_TRANSACTION,
    Sources,
    candidates,
    choose_leader,
    led_now,
    moved_puts,
    note_moved,
)
from kproto.controller.vsegs import decide_close_vsegs
from kproto.metadata import MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord, given_key


class Retired(NamedTuple):
    """What became of a broker's wish to lead no more."""

    closed: bool
    """All its virtual segments end where it said."""
    given: int
    """Streamlets that others were told to lead."""
    more: bool
    """There are more to be given: ask again."""


def decide_retire(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, closes: Sequence[tuple[VsegId, int]]
) -> Decision[Retired]:
    """Write where the virtual segments of an owner end, and have others lead what it leads: up to a hundred
    streamlets, by topic and index (19b).

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
    given = _given(image, table, node_id, epoch, ends)
    room = max(1, STREAMLETS_PER_TRANSACTION - 2 * len(closes))
    sources, moved = Sources(image, table), dict[str, int]()
    for record in given[:room]:
        decision.puts[record.key] = record.encode()
        before = image.streamlet(record.topic_id, record.index)
        note_moved(image, table, before, record.leader, sources, moved)
    decision.puts.update(moved_puts(moved))
    newest = {vseg.id.vlog: vseg.id.seq for vseg in table.of_owner(epoch)} if given else {}
    for vlog, seq in newest.items():
        if seq > table.given_upto.get((epoch, vlog), -1):
            decision.puts[given_key(epoch, vlog)] = str(seq).encode()
    decision.answer = Retired(True, len(given[:room]), len(given) > room)
    return decision


def is_closed(table: VlogTable, epoch: int, closing: Collection[VsegId]) -> bool:
    """With what is being closed an owner has no open virtual segment: all it appended is in closed ones."""
    return all(not vseg.open or vseg.id in closing for vseg in table.of_owner(epoch))


def _given(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, ends: Mapping[VsegId, VsegRecord]
) -> list[StreamletRecord]:
    """The streamlets that a broker leads and others can rebuild, with their next leaders."""
    only_here = [vseg for vseg in ends.values() if is_only_here(image, vseg)]
    sources, load = Sources(image, table), led_now(image)
    found: list[StreamletRecord] = []
    for topic_id in sorted(image.streamlets):
        for record in image.streamlets[topic_id]:
            if not record.sources or not rules.leads(image, record, node_id, epoch):
                continue
            if any(rules.may_have(image, record, vseg) for vseg in only_here):
                continue
            if not sources.sealed(record) or is_saving(image, table, record):
                continue
            able = [node for node in candidates(image, table, record, sources) if node != node_id]
            able = [node for node in able if not rules.is_draining(image, node)] or able
            if able:
                leader = choose_leader(record, able, load)
                load[leader] += 1
                found.append(record.handed_over(leader, epoch))
    return found


def is_only_here(image: MetadataImage, vseg: VsegRecord) -> bool:
    """Nobody but its owner has what is in it (18b)."""
    return rules.needs_copy(vseg) and not rules.live_copies(image, vseg)
