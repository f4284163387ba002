"""One copy in memory: where its file is and how far it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kproto.metadata.vlogs import VsegId
from kproto.replica.reading import Catalog
from kproto.replica.rules import FileFacts, Presence, Worth, clipped, decide_file, survived
from kproto.replica.stored_file import Inspection
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE, FileHeader

NO_FILE: Final = -1


class Copy:
    """The copy of one virtual segment in this store. ``loaded`` is False until somebody asks for a file that
    an earlier process left: then nothing but its name is known.

    Invariant of a loaded copy: the file holds sound frames for ``[start, end)`` and ``chain`` is the last
    one's; what lies behind is rubbish.
    """

    __slots__ = (
        "base",
        "began_here",
        "behind",
        "catalog",
        "chain",
        "damaged",
        "durable",
        "end",
        "fd",
        "growing",
        "holds",
        "known",
        "last",
        "loaded",
        "named",
        "path",
        "pins",
        "policy",
        "presence",
        "problem",
        "proven",
        "recorded",
        "reserved",
        "settled",
        "start",
        "states",
        "torn_to",
        "vseg",
    )

    def __init__(self, vseg: VsegId, path: str) -> None:
        self.vseg = vseg
        self.path = path
        self.loaded = False
        self.began_here = False
        """This process received it from the first frame on."""
        self.presence = Presence.MISSING
        self.fd = NO_FILE
        """Open for writing."""
        self.start = self.end = self.base = 0
        self.chain = 0
        self.policy = int(FlushPolicy.MEMORY)
        self.durable = 0
        self.damaged = self.proven = False
        self.torn_to = 0
        """See `Inspection`; what the owner pushes again takes the place of that."""
        self.problem = ""
        self.reserved = 0
        """Bytes of the file, written or not."""
        self.growing = False
        """A thread reserves more: a write to the file would wait for it."""
        self.last = (-1, 0)
        """Position and chain of the last frame."""
        self.states: list[int] = []
        """Positions of the state frames."""
        self.named = False
        """The directory entry is on the medium (rule 36)."""
        self.settled = False
        """Closed in metadata, synced, and cut to its end (or on its way to that)."""
        self.behind: list[Callable[[], object]] | None = None
        """While a large frame is being written: the pushes that came after it; while `growing`: all."""
        self.pins = 0
        """Reads and syncs under way: the file must keep its bytes meanwhile."""
        self.recorded = False
        """What `ReplicaStore.apply` gets next is newer than the record of the vseg: when it is not there, it
        was deleted."""
        self.known = 0
        """A revision at which metadata had the record of the vseg; 0: nobody told."""
        self.holds = 0
        """As long as there are some, a repaired file is kept, though metadata does not list it yet."""
        self.catalog: tuple[int, Catalog] | None = None
        """The end it was made for, and what every partition has below it."""

    @property
    def torn(self) -> bool:
        """It may have acknowledged more than it can show."""
        return self.torn_to > self.end

    def begin(self, fd: int, header: FileHeader, reserved: int) -> None:
        """A new file, without frames yet."""
        self.loaded = self.began_here = True
        self.presence = Presence.READABLE
        self.fd = fd
        self.reserved = reserved
        self._place(header)
        self.end = header.start
        self.chain = header.chain

    def take(self, found: Inspection) -> None:
        """The file of an earlier process, or a repaired one, as the medium has it."""
        self.loaded = True
        self.presence = found.presence
        self.problem = found.problem
        if found.header is not None:
            self._place(found.header)
        self.end = found.end
        self.chain = found.chain
        self.durable = found.durable
        self.damaged = found.damaged
        self.proven = found.proven
        self.torn_to = found.torn_to
        self.last = found.last
        self.states = list(found.states)
        self.reserved = found.size

    def _place(self, header: FileHeader) -> None:
        self.start = header.start
        self.base = FILE_HEADER_SIZE - header.start
        self.policy = header.policy

    def worth(self, closed_end: int | None, power_lost: bool) -> Worth:
        """What this copy may be used for (rule 24); ``closed_end`` is from metadata."""
        return decide_file(
            FileFacts(
                self.presence,
                closed_end is not None,
                closed_end is not None and self.end >= closed_end,
                survived(self.policy, power_lost),
                self.damaged,
                self.proven,
            )
        )

    def usable_end(self, wanted: int, closed_end: int | None) -> int:
        """Where a read up to ``wanted`` ends."""
        return min(wanted, clipped(self.end, closed_end))

    def state_before(self, end: int) -> int:
        """Position of the last state frame that begins below ``end``, -1 for none. ``end`` must be where a
        frame begins or ends."""
        return next((position for position in reversed(self.states) if position < end), -1)
