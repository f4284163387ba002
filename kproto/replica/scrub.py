"""Reading closed copies again in the background, so that damage is found while other copies are there (37).

One piece at a time, with a pause after each: the pace is ``piece_bytes`` every ``pause_s`` seconds, in the
order of the segments' ids, round and round. A round begins with what is missing altogether; the first one
after a power loss looks at whole files, one with every pause.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from kproto.metadata.vlogs import VsegId
from kproto.replica.copies import Copy
from kproto.replica.reading import DamagedError, Extent, verify
from kproto.replica.rules import Presence, Worth
from kproto.replica.service import ReplicaService

log = logging.getLogger(__name__)

PIECE_BYTES: Final = 1 << 20
PAUSE_S: Final = 0.25
ROUND_S: Final = 3600.0
"""A round begins no sooner than so long after the one before."""
LOOK_S: Final = 1.0
"""How often it is looked whether the files of open copies are still there."""


class Scrub:
    """Looks after the copies of one service."""

    def __init__(
        self,
        service: ReplicaService,
        piece_bytes: int = PIECE_BYTES,
        pause_s: float = PAUSE_S,
        round_s: float = ROUND_S,
    ) -> None:
        self._service = service
        self._store = service.store
        self._piece_bytes = piece_bytes
        self._pause_s = pause_s
        self._round_s = round_s
        self._stopped = False
        self._after = VsegId(-1, -1, -1)
        self.rounds = 0
        self.bytes = 0
        """Verified so far."""

    def start(self) -> None:
        """Begin, after a pause."""
        self._store.loop.call_later(self._pause_s, self._round)
        self._store.loop.call_later(LOOK_S, self._look)

    def stop(self) -> None:
        """Begin no other piece."""
        self._stopped = True

    def _look(self) -> None:
        if not self._stopped:
            self._store.look_for_deleted()
            self._store.loop.call_later(LOOK_S, self._look)

    def _round(self) -> None:
        """What metadata lists here and is not here (rule 33), then everything else."""
        if self._stopped:
            return
        for vseg in self._store.unfit():
            self._service.on_damage(vseg, "there is no whole copy of it")
        self._next()

    def _next(self) -> None:
        """Go on with the next closed copy, or rest at the end of a round."""
        if self._stopped:
            return
        store = self._store
        later = sorted(vseg for vseg in store.copies if vseg > self._after)
        for vseg in later:
            self._after = vseg
            if store.closed_end(vseg) is not None:
                fresh = not store.copies[vseg].loaded
                store.find(vseg, partial(self._begin, fresh))
                return
        self._after = VsegId(-1, -1, -1)
        self.rounds += 1
        store.loop.call_later(self._round_s, self._round)

    def _begin(self, fresh: bool, copy: Copy | None) -> None:
        """The file is loaded. ``fresh``: just now, so that what it lacks is reported, and after a power loss
        every chunk was looked at."""
        end = self._store.closed_end(self._after)
        if copy is None or end is None:
            self._next_soon()
            return
        usable = self._store.worth(copy.vseg, copy) is Worth.USE
        if not usable and not fresh:
            self._service.on_damage(copy.vseg, copy.problem or f"it ends at {copy.end} instead of {end}")
        if not usable or (fresh and self._store.state.thorough):
            self._next_soon()
            return
        self._piece(copy, Extent(copy.path, copy.vseg, copy.base, copy.start, end), copy.start)

    def _next_soon(self) -> None:
        self._store.loop.call_later(self._pause_s, self._next)

    def _piece(self, copy: Copy, extent: Extent, begin: int) -> None:
        if self._stopped:
            return
        if begin >= extent.end or self._store.copies.get(copy.vseg) is not copy:
            self._next()
            return
        reached: list[int] = []
        job = partial(verify, self._store.disk, extent, begin, self._piece_bytes)
        copy.pins += 1

        def done(error: BaseException | None) -> None:
            copy.pins -= 1
            self._store.released(copy)
            if error is None:
                self.bytes += reached[0] - begin
                self._store.loop.call_later(self._pause_s, self._piece, copy, extent, reached[0])
                return
            if isinstance(error, DamagedError | OSError):
                copy.presence = Presence.UNREADABLE
                copy.problem = str(error)
                self._service.on_damage(copy.vseg, copy.problem)
            else:
                log.error("looking at the copy of virtual segment %s failed", copy.vseg, exc_info=error)
            self._next_soon()

        self._store.workers.reads.submit(lambda: reached.append(job()), done)
