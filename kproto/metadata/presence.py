"""Which other brokers are there, as far as this one knows: what `Suspects` is told, by whom and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kproto.metadata.image import MetadataImage
from kproto.metadata.roll_call import RollCall
from kproto.metadata.suspects import LISTED_SECONDS, SUSPICION_SECONDS, Suspects
from kproto.net.ports import PeersPort


class Presence:
    """For broker ``node_id``, on one event loop. Call `lost` when a connection with another one ended, and
    `on_image` with every image; ``image()`` is the newest one."""

    def __init__(self, node_id: int, image: Callable[[], MetadataImage], peers: PeersPort) -> None:
        self._node_id = node_id
        self._image = image
        self._loop = asyncio.get_running_loop()
        self._roll_call = RollCall(peers, self.lost)
        self._last = MetadataImage()
        self.suspects = Suspects(self._look)

    def lost(self, node_id: int) -> None:
        """It cannot be reached: suspect it for a moment."""
        broker = self._image().brokers.get(node_id)
        if broker is not None and node_id != self._node_id:
            self.suspects.add(node_id, broker.epoch)
            self._loop.call_later(SUSPICION_SECONDS, self.suspects.remove, node_id, broker.epoch)

    def on_image(self, image: MetadataImage) -> None:
        """Who is no member any more stays listed for a while; a leader just chosen is awaited."""
        before, self._last = self._last, image
        if before.brokers is not image.brokers:
            for node_id in before.brokers.keys() - image.brokers.keys():
                self.suspects.gone(before.brokers[node_id])
                self._loop.call_later(LISTED_SECONDS, self.suspects.forget, before.brokers[node_id])
        if chosen := self.suspects.chosen(before, image):
            self._loop.call_later(SUSPICION_SECONDS, self.suspects.settled, chosen, image.revision)
        self.suspects.notify()

    async def _look(self) -> None:
        await self._roll_call.hear(node_id for node_id in self._image().brokers if node_id != self._node_id)
