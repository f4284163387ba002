"""A copy here is damaged: the controller is to forget it, so that another one is made (rules 17, 24, 37).

It is told again and again, because the only other copy may be away at the moment. It is told no more once the
copy is whole again: what was made anew and listed since is no worse than others, and may soon be the last.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, Protocol

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.replica.reach import Metadata

log = logging.getLogger(__name__)

FIRST_SECONDS: Final = 1.0
"""Between the first two times; then twice as long each time."""
MOST_SECONDS: Final = 60.0


class Copies(Protocol):
    """The part of `ReplicaStore` that is used."""

    @property
    def me(self) -> CopyTarget: ...

    def is_whole(self, vseg: VsegId) -> bool: ...


class Disowning:
    """See the module's text."""

    def __init__(self, copies: Copies, metadata: Metadata) -> None:
        self._copies = copies
        self._metadata = metadata
        self._running: set[VsegId] = set()

    async def disown(self, vseg: VsegId) -> None:
        """Until metadata lists no copy here, or it is whole again, or this broker is fenced. Once at a time
        for each virtual segment."""
        if vseg in self._running:
            return
        self._running.add(vseg)
        try:
            await self._insist(vseg)
        finally:
            self._running.discard(vseg)

    async def _insist(self, vseg: VsegId) -> None:
        pause = FIRST_SECONDS
        while self._is_listed(vseg) and not self._copies.is_whole(vseg):
            try:
                await self._metadata.propose("disown", {"vsegs": [list(vseg)]})
            except KafkaError as error:
                if error.code is ErrorCode.STALE_BROKER_EPOCH:
                    return
                log.warning("damaged copies could not be reported: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, MOST_SECONDS)

    def _is_listed(self, vseg: VsegId) -> bool:
        """The store thinks that there is a copy here."""
        record = self._metadata.table.vsegs.get(vseg)
        return record is not None and self._copies.me in record.backups
