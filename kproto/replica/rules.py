"""What a backup decides: may this push be stored, what is this file worth, may it be deleted. Pure.

Every rule is one small function, so that a test can take it out and see what breaks. The numbers are those of
the replication rules.

A push, first row that applies (`decide_push`):

=====================================  =============  =====================================================
the store, or the copy                 verdict        because
=====================================  =============  =====================================================
is poisoned                            ``POISONED``   no ack after a failed write or sync (35)
fences the owner epoch                 ``FENCED``     a new leader counts on what is here now (6, 20)
is in limbo, or may be                 ``LIMBO``      it may lack what it acknowledged (3, 8)
metadata closed or freed the vseg      ``CLOSED``     nothing is added to it any more (13, 15, 30)
there is none; frame at the start      ``BEGIN``      the first frame, with its file header (4)
there is none; anything else           ``GAP``        a copy has its vseg from the start, or is none (14)
ends before the frame                  ``GAP``        whole frames only, in order (7)
ends after the frame's begin           ``OLD``        the same bytes are acked again (6): `decide_old`
ends at the frame, its chain does not  ``CONFLICT``   an earlier frame differs: a broken promise (6, S10)
ends at the frame                      ``STORE``
=====================================  =============  =====================================================

A file, first row that applies (`decide_file`, rule 24; S17: exactly one row for every case):

==========================================  ============  ==================================================
the copy                                    verdict       the store answers
==========================================  ============  ==================================================
closed in metadata; sound up to the end     ``USE``       what is asked for, clipped (15, 23; 24a)
closed in metadata; not so                  ``REPAIR``    is no copy until rule 17 made it one (24d, 24f)
open; unsynced and the power was lost       ``LIMBO``     it may have acknowledged more (24e, 24f)
open; unreadable, or its header is damaged  ``LIMBO``     and an alarm (24c, 24f)
open; no file, or one never written         ``ABSENT``    it never acknowledged anything
open; a frame says that more was durable    ``CORRUPT``   is not eligible (24c)
open; something unproven behind its end     ``CUT``       the sound part: the rest was never acked (24b);
                                                          when a frame was begun there, so it says
open; nothing wrong                         ``USE``       (24a)
==========================================  ============  ==================================================
"""

from __future__ import annotations

from collections.abc import Collection, Container
from enum import Enum
from typing import NamedTuple

from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.vlog.classes import FlushPolicy


class Push(Enum):
    """Verdicts about a push; see the first table. ``MALFORMED`` (it contradicts itself) comes before all of
    them, ``FULL`` (no room on the disk) after."""

    BEGIN = "begin"
    STORE = "store"
    OLD = "old"
    REPEATED = "repeated"
    FENCED = "fenced"
    GAP = "gap"
    CONFLICT = "conflict"
    LIMBO = "limbo"
    CLOSED = "closed"
    POISONED = "poisoned"
    MALFORMED = "malformed"
    FULL = "full"


class Worth(Enum):
    """Verdicts about a file; see the second table."""

    USE = "use"
    CUT = "cut"
    CORRUPT = "corrupt"
    REPAIR = "repair"
    LIMBO = "limbo"
    ABSENT = "absent"


class Presence(Enum):
    """What the medium says of a file."""

    READABLE = "readable"
    MISSING = "missing"
    """There is none, or nothing was ever written to it."""
    UNREADABLE = "unreadable"


class FileFacts(NamedTuple):
    """What was found out about a copy; the input of `decide_file`."""

    presence: Presence
    closed: bool
    """Metadata says where the vseg ends."""
    reaches_end: bool
    """Sound at least up to there."""
    survived: bool
    """See `survived`."""
    damaged: bool
    """Something that is no sound frame follows the sound part."""
    proven: bool
    """A frame says that more than the sound part was durable."""


# Pushes


def fenced(owner_epoch: int, fences: Collection[int], live: Collection[int], newest: int) -> bool:
    """Rules 6, 20: the epoch is under a persisted fence, or metadata shows that it is over."""
    return owner_epoch in fences or is_over(owner_epoch, live, newest)


def is_over(owner_epoch: int, live: Collection[int], newest: int) -> bool:
    """Rules 1, 2: epochs are minted in order by the registration itself, so one that is not ``live`` while a
    ``newest`` above it was seen never lives again."""
    return owner_epoch < newest and owner_epoch not in live


def begins(position: int, start: int) -> bool:
    """Rules 4, 14: a copy begins with the first frame of its vseg."""
    return position == start


def continues(previous: int, chain: int) -> bool:
    """Rule 6: the checksum chained from the frame before says that all earlier bytes are the same."""
    return previous == chain


def same_bytes(stored_chain: int | None, chain: int) -> bool:
    """Rule 6: a frame with this chain is stored there already."""
    return stored_chain == chain


def decide_push(
    *,
    poisoned: bool,
    is_fenced: bool,
    limbo: bool,
    closed: bool,
    end: int | None,
    chain: int,
    start: int | None,
    position: int,
    previous: int,
) -> Push:
    """The first table. ``end`` and ``chain`` are the copy's, ``end`` None without one; ``start`` is that of
    the file header that came with the push, None without one; the frame is at ``position`` and continues
    ``previous``."""
    if poisoned:
        return Push.POISONED
    if is_fenced:
        return Push.FENCED
    if limbo:
        return Push.LIMBO
    if closed:
        return Push.CLOSED
    if end is None:
        return Push.BEGIN if start is not None and begins(position, start) else Push.GAP
    if position > end:
        return Push.GAP
    if position < end:
        return Push.OLD
    return Push.STORE if continues(previous, chain) else Push.CONFLICT


def decide_old(stored_chain: int | None, chain: int) -> Push:
    """A frame below the copy's end; ``stored_chain`` is that of the frame stored there, None when none
    begins there."""
    return Push.REPEATED if same_bytes(stored_chain, chain) else Push.CONFLICT


# Files


def survived(policy: int, power_lost: bool) -> bool:
    """Rules 3, 8: everything that this store acked must still be there: it was synced before the ack, or the
    machine has kept its page cache."""
    return policy == FlushPolicy.SYNCED or not power_lost


def decide_file(facts: FileFacts) -> Worth:
    """The second table."""
    if facts.closed:
        usable = facts.presence is Presence.READABLE and facts.reaches_end
        return Worth.USE if usable else Worth.REPAIR
    if not facts.survived or facts.presence is Presence.UNREADABLE:
        return Worth.LIMBO
    if facts.presence is Presence.MISSING:
        return Worth.ABSENT
    if facts.proven:
        return Worth.CORRUPT
    return Worth.CUT if facts.damaged else Worth.USE


def eligible(worth: Worth) -> bool:
    """Rule 22: recovery may believe this copy, also when it says that it has nothing."""
    return worth in (Worth.USE, Worth.CUT, Worth.ABSENT)


def in_limbo(record: VsegRecord, me: CopyTarget) -> bool:
    """Rule 3, after a power loss: an open vseg that lists this store, and was synced by no ack: bytes of it,
    or the file itself, may be what was lost."""
    return me in record.backups and record.open and record.policy != FlushPolicy.SYNCED


def clipped(end: int, closed_end: int | None) -> int:
    """Rule 15: what lies behind the end in metadata does not exist."""
    return end if closed_end is None else min(end, closed_end)


def journal_in_limbo(record: VsegRecord, me: CopyTarget) -> bool:
    """The same for the owner's own copy, which is asked when no backup can help (rule 18b): its journal may
    be lost with its name."""
    return record.store_id == me.store_id and record.open and record.policy != FlushPolicy.SYNCED


# Garbage


def is_past(known: int, revision: int) -> bool:
    """Rules 30 and 34: a vseg that metadata does not have at ``revision`` was deleted, if it was there at
    ``known`` (0: not told) before.

    Numbers of virtual segments are used once, so that what was deleted never comes back, and metadata is
    applied in the order of its revisions: who is behind ``known`` has to wait, however long ago the copy
    began. Time says nothing here: a broker may take pushes long after it last followed metadata.
    """
    return 0 < known <= revision


def is_garbage(vseg: VsegId, record: VsegRecord | None, me: CopyTarget, newest_seq: int, over: bool) -> bool:
    """Rules 15, 30: metadata says that this store's file is no copy of anything.

    ``record`` is the vseg's, None when the store has none: then it was deleted, or this broker has not heard
    of it yet. The latter is out of the question when the owner epoch or the vseg itself is ``over`` (see also
    `is_past`), or when a later vseg of the same virtual log is known (``newest_seq``).
    """
    if record is None:
        return over or vseg.seq < newest_seq
    return me not in record.backups


def is_spare(record: VsegRecord, worth: Worth | None, live: Container[int]) -> bool:
    """Rules 17, 22: a closed vseg lists fewer copies than there should be beside its owner's, not counting
    those that are none, as their brokers said, which are ``live`` (epochs); and what is here may be one
    (None: nobody has looked at it yet). Whoever was late with its answer to SEAL, or away, is
    not listed though it has everything; those that are may be lost before others are made. It stays until
    there are enough, or repair lists it.
    """
    listed = len(record.backups) - len(record.deniers(lambda _, epoch: epoch in live))
    lacking = not record.open and not record.unread and listed < record.copies - 1
    return lacking and worth in (None, Worth.USE)
