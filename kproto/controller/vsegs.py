"""Opening virtual segments: which brokers get the copies (rules 4, 11, 13, 14, 16, 18). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from kproto.controller import rules
from kproto.controller.arguments import Arguments
from kproto.controller.decision import Decision
from kproto.controller.placement import pick_spread
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import BrokerRecord, MetadataImage
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord

COPIES_MAX: Final = 1000
POSITION_MAX: Final = 2**63 - 1


class Opening(NamedTuple):
    """An owner asks for the virtual segment ``id`` from position ``start`` on; the one before ends there."""

    node_id: int
    id: VsegId
    copies: int
    policy: int
    start: int
    exclude: frozenset[int]

    @classmethod
    def of_arguments(cls, node_id: int, epoch: int, value: object) -> Opening:
        """The proposal ``open_vseg`` of a broker; :class:`KafkaError` for rubbish."""
        fields = Arguments(value)
        return cls(
            node_id,
            VsegId(epoch, fields.integer("vlog", 0, 2**32 - 1), fields.integer("seq", 0, 2**32 - 1)),
            fields.integer("copies", 2, COPIES_MAX),
            fields.integer("policy", 0, 255),
            fields.integer("start", 0, POSITION_MAX),
            frozenset(fields.integers("exclude")),
        )


def decide_open_vseg(
    image: MetadataImage, table: VlogTable, opening: Opening
) -> Decision[tuple[CopyTarget, ...]]:
    """Close the virtual segment before at ``start``, open the next with fresh backups; answer: the backups.

    The same request again gives the same answer. Raises :class:`KafkaError`: STALE_BROKER_EPOCH when the
    owner's epoch is no member any more (its ownership ends, rule 16), INVALID_REQUEST when the virtual log
    is not where the request says.
    """
    rules.check_member(image, opening.node_id, opening.id.owner_epoch)
    known = table.vsegs.get(opening.id)
    if known is not None:
        if known.start != opening.start or known.copies < opening.copies:
            raise _misplaced(opening, f"it exists from {known.start} on, with {known.copies} copies")
        return Decision(known.backups)
    decision: Decision[tuple[CopyTarget, ...]] = Decision(choose_backups(image, table, opening))
    before = last_vseg(table, opening.id)
    if before is not None:
        fits = before.start <= opening.start if before.open else before.end == opening.start
        if before.id.seq != opening.id.seq - 1 or not fits:
            raise _misplaced(opening, f"number {before.id.seq} before it is [{before.start}, {before.end})")
        if before.open:
            decision.puts[before.key] = before._replace(end=opening.start).encode()
    owner = image.brokers[opening.node_id]
    record = VsegRecord(
        opening.id,
        owner.node_id,
        owner.store_id,
        opening.copies,
        opening.policy,
        opening.start,
        None,
        decision.answer,
    )
    decision.puts[record.key] = record.encode()
    return decision


def decide_close_vsegs(
    image: MetadataImage, table: VlogTable, node_id: int, closes: Sequence[tuple[VsegId, int]]
) -> Decision[list[bool]]:
    """An owner that ends in peace says where its open virtual segments end: nothing is left to be sealed.

    The answer: which of them end there now. Raises STALE_BROKER_EPOCH as `decide_open_vseg`.
    """
    decision: Decision[list[bool]] = Decision([])
    for vseg, end in closes:
        rules.check_member(image, node_id, vseg.owner_epoch)
        known = table.vsegs.get(vseg)
        if known is not None and known.open and end >= known.start:
            decision.puts[known.key] = known._replace(end=end).encode()
            decision.answer.append(True)
        else:
            decision.answer.append(known is not None and known.end == end)
    return decision


def decide_widen(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, vlogs: Sequence[tuple[int, int, int]]
) -> Decision[int]:
    """The virtual segments of an owner up to a number want more copies: (virtual log, number, copies). The
    answer: how many did not yet."""
    decision = Decision(0)
    if rules.is_current(image, node_id, epoch):
        for vlog, seq, copies in vlogs:
            for vseg in table.of_owner(epoch):
                if vseg.id.vlog == vlog and vseg.id.seq <= seq and vseg.copies < copies and not vseg.empty:
                    decision.puts[vseg.key] = vseg.with_more_copies(copies).encode()
    decision.answer = len(decision.puts)
    return decision


def last_vseg(table: VlogTable, vseg: VsegId) -> VsegRecord | None:
    """The newest virtual segment of the same virtual log; None when there is none."""
    before = table.vsegs.get(vseg._replace(seq=vseg.seq - 1))
    if before is not None and vseg._replace(seq=vseg.seq + 1) not in table.vsegs:
        return before
    mine = [record for record in table.of_owner(vseg.owner_epoch) if record.id.vlog == vseg.vlog]
    return mine[-1] if mine else None


def _misplaced(opening: Opening, found: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REQUEST, f"{opening.id} cannot begin at {opening.start}: {found}. Was a roll lost?"
    )


def choose_backups(image: MetadataImage, table: VlogTable, opening: Opening) -> tuple[CopyTarget, ...]:
    """Up to ``copies - 1`` distinct live brokers besides the owner and the excluded ones (rules 13 and 18).

    Other racks first, then those with the fewest open copies; ties are scattered by a hash of the virtual
    segment, so that a broker's copies are spread over all others.
    """
    owner = image.brokers[opening.node_id]
    load = Counter(target.node_id for vseg in table.open_vsegs() for target in vseg.backups)
    able = [
        broker
        for node_id, broker in sorted(image.brokers.items())
        if node_id != owner.node_id and node_id not in opening.exclude and broker.internal_host
    ]
    staying = [broker for broker in able if not rules.is_draining(image, broker.node_id)]
    if len(staying) >= opening.copies - 1:
        able = staying
    chosen = pick_spread(able, opening.copies - 1, [owner], load, partial(mixed, opening.id))
    return tuple(CopyTarget(broker.node_id, broker.store_id) for broker in chosen)


def mixed(vseg: VsegId, broker: BrokerRecord) -> int:
    """A number that looks random and is always the same (Knuth's multiplicative hash)."""
    number: int = 0
    for part in (*vseg, broker.node_id):
        number = ((number ^ part) * 2654435761 + 0x9E3779B9) & 0xFFFFFFFF
        number ^= number >> 15
    return number


def backups_json(backups: tuple[CopyTarget, ...]) -> dict[str, Any]:
    """The answer to ``open_vseg``."""
    return {"backups": [list(target) for target in backups]}
