"""How a broker ends in peace (rule 12b): others lead what it leads, and are backups in its place.

May import everything before ``member``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kproto.controller.rules import is_current
from kproto.metadata.records import ONLINE

if TYPE_CHECKING:
    from kproto.controller import Controller
    from kproto.handlers.forwarding import RemoteController
    from kproto.metadata import MetadataImage, StreamletRecord, VsegRecord
    from kproto.metadata.client import MetadataClient
    from kproto.vlog.manager import VlogManager

LOOK_SECONDS: Final = 0.002
SUCCESSION_SECONDS: Final = 1.0
"""How long who leaves waits for its successors: so long its clients can ask it who that is."""


class Leaving:
    """The end of a member, ``epoch`` of broker ``node_id``. ``client`` if the controller may be elsewhere;
    ``acting`` says which one is in this process, if any."""

    def __init__(
        self,
        node_id: int,
        epoch: int,
        controller: Controller | RemoteController,
        client: MetadataClient | None,
        acting: Callable[[], Controller | None],
        vlogs: VlogManager,
    ) -> None:
        self._node_id = node_id
        self._epoch = epoch
        self._controller = controller
        self._client = client
        self._acting = acting
        self._vlogs = vlogs

    async def leave(self) -> None:
        """Refuse appends, wait until all is durable, have the controller give what this broker leads to
        others, and leave the members when they lead. Raises KafkaError."""
        self._vlogs.retire()
        while not self._vlogs.retired():
            await asyncio.sleep(LOOK_SECONDS)
        if await self._retire():
            await self._succeeded()
            if self._client is not None and self._acting() is None:
                await self._client.leave()
            else:
                if self._client is not None:
                    self._client.leaves()
                await self._controller.propose("leave", None)
            await self._replaced()
            if self._client is not None:
                await self._client.close()

    async def _retire(self) -> bool:
        """All is durable and nothing is appended any more: the controller gets to know where the virtual logs
        end, so that nothing has to be sealed, and has others lead. Raises KafkaError."""
        ends = [list(end) for end in self._vlogs.finish()]
        more = True
        while more:
            # All ends each time: what nobody else has of them says what cannot be given.
            answer = await self._controller.propose("retire", {"vsegs": ends})
            if not answer["closed"]:
                return False
            more = answer["more"]
        self._vlogs.recorded()
        return True

    async def _succeeded(self) -> None:
        """Wait until others serve what they were given: as long as this broker is a member it hears that, and
        tells it to its clients. Who takes long goes on without it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SUCCESSION_SECONDS):
                await self._until(lambda image: not any(map(self._is_awaited, image.every_streamlet())))

    def _is_awaited(self, record: StreamletRecord) -> bool:
        return record.state != ONLINE and self._epoch in record.given

    async def _replaced(self) -> None:
        """The controller itself goes when others lead what this broker led and have other backups: nobody
        else could decide that."""
        while (controller := self._acting()) is not None and controller.image.brokers:
            image, table = controller.image, controller.table
            unled = any(record.sources and _is_unled(image, record) for record in image.every_streamlet())
            if not unled and not any(self._is_backup(image, vseg) for vseg in table.open_vsegs()):
                return
            await asyncio.sleep(LOOK_SECONDS)

    def _is_backup(self, image: MetadataImage, vseg: VsegRecord) -> bool:
        """A live owner pushes to this broker."""
        mine = any(target.node_id == self._node_id for target in vseg.backups)
        return mine and is_current(image, vseg.node_id, vseg.id.owner_epoch)

    async def _until(self, holds: Callable[[MetadataImage], bool]) -> None:
        """Wait for an image of which something holds."""
        seen: MetadataImage | None = None
        while (image := self._controller.image) is seen or not holds(image):
            seen = image
            await asyncio.sleep(LOOK_SECONDS)


def _is_unled(image: MetadataImage, record: StreamletRecord) -> bool:
    return record.state != ONLINE or record.leader not in image.brokers
