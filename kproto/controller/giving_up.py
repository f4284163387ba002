"""An operator accepts that closed virtual segments without any copy are lost (rules 22, 23, 27b). Pure.

Nobody can lead what may have chunks in such a one, or can read its old offsets. It is never given up but by
command. From then on no recovery waits for it; leaders push again what they have of it themselves, as of any
without a copy (`replica.rewriting`), and treat what none of them has as deleted (`replica.bring_over`,
`replica.takeover`). When all have, it is emptied, and freed like others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from kproto.controller import rules
from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.controller.denials import Denials
from kproto.controller.sources import Sources, alike, owner_has
from kproto.metadata import MetadataImage
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegRecord

log = logging.getLogger(__name__)


def lacking(
    image: MetadataImage, table: VlogTable, record: StreamletRecord, sources: Sources | None = None
) -> list[VsegRecord]:
    """Closed virtual segments that may have chunks of the streamlet and that no member has a listed copy of,
    but for such that it cannot vouch for (`VsegRecord.deniers`), or that are its owner's own files: these
    must count still, and must not have lost what was not synced with the power of its machine. ``sources``:
    made with these, by who asks of many records."""
    sources = sources or Sources(image, table)
    return [
        vseg
        for vseg in sources.orphans(record)
        if not (owner_has(image, table, record, vseg) and rules.kept_its_power(table, vseg))
    ]


def who_lack(image: MetadataImage, table: VlogTable, records: Mapping[int, StreamletRecord]) -> set[int]:
    """Those of the streamlets, however they are numbered, that are `lacking` something."""
    sources = Sources(image, table)
    keys = {at: alike(image, one) for at, one in records.items()}
    different = {key: records[at] for at, key in keys.items()}
    lack = {key for key, one in different.items() if lacking(image, table, one, sources)}
    return {at for at, key in keys.items() if key in lack}


def hopeless(
    image: MetadataImage,
    table: VlogTable,
    record: StreamletRecord,
    denials: Denials,
    sources: Sources | None = None,
) -> list[VsegRecord]:
    """What it is `lacking` of which all who are here were asked in vain: an owner that is a member in its old
    data directory may have it in its journal, and who is not listed may have a copy (17,
    `replica.rules.is_spare`)."""
    return [
        vseg
        for vseg in lacking(image, table, record, sources)
        if denials.others_have_none(image, vseg)
        and (denials.owner_has_none(image, vseg) or not rules.owner_is_here(image, vseg))
    ]


def decide_give_up(
    image: MetadataImage,
    table: VlogTable,
    records: Iterable[StreamletRecord],
    denials: Denials,
    named: bool = True,
) -> Decision[list[VsegRecord]]:
    """Give up what is `hopeless` of the streamlets; the answer: those virtual segments. Copies that come back
    later are none any more: not ``named`` one by one, none is given up while it may come back."""
    decision: Decision[list[VsegRecord]] = Decision([])
    known = (image.find_streamlet(record.topic_id, record.index) for record in records)
    sources = Sources(image, table)
    found = {
        vseg.id: vseg
        for one in {alike(image, one): one for one in known if one is not None}.values()
        for vseg in hopeless(image, table, one, denials, sources)
    }
    lost = [vseg for _, vseg in sorted(found.items()) if named or not rules.is_away(image, table, vseg)]
    for vseg in lost[:PER_TRANSACTION]:
        record = vseg._replace(backups=(), lost=True, denied=())
        decision.puts[record.key] = record.encode()
        decision.answer.append(record)
    return decision


def told(vsegs: Iterable[VsegRecord]) -> list[str]:
    """One line for each that was given up and is not freed yet."""
    return [
        f"virtual segment {vseg.id} of broker {vseg.node_id} was given up: "
        f"what its leaders have not got of {(vseg.end or 0) - vseg.start} bytes is lost"
        for vseg in sorted(vsegs)
        if vseg.lost
    ]
