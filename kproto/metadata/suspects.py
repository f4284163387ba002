"""Brokers that a connection was lost with a moment ago: most likely they died, and nobody leads for them yet.

A client whose leader dies asks for metadata at once, long before others lead, and how soon it asks again has
nothing to do with how soon they do: librdkafka waits a whole second when it is told of the dead leader, and
another one, when that is not up, before it goes to the next. So Metadata waits until there are leaders, for
`SUSPICION_SECONDS` at most, and before that asks who is there (`roll_call`). This is a matter of what clients
are shown: nothing is decided by it.

It waits as long, too, for a leader that was chosen a moment ago and is not ready (rule 27). Before it is, a
partition has none, with the leader epoch that it will have then: a client that is told so by a broker that is
behind, after another one has named the leader, believes it and leaves that again.

A broker that is dead for certain stays among the brokers that clients are told of for `LISTED_SECONDS`,
though it leads nothing: librdkafka (2.16) loses partitions that move to another leader in the same answer in
which their old leader is missing, and looks for them a second later, or with its next refresh.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from kproto.metadata.image import MetadataImage
from kproto.metadata.records import RECOVERING, BrokerRecord

SUSPICION_SECONDS: Final = 0.5
LISTED_SECONDS: Final = 60.0
NO_EPOCH: Final = -1
"""No streamlet was committed under it."""


async def _nobody_else() -> None:
    """There is nobody to be asked."""


class Suspects:
    """Who is suspected: a node under one broker epoch, until that epoch is over or the suspicion ends."""

    __slots__ = ("_chosen", "_epochs", "_gone", "_shown", "_shown_of", "_waiting", "look")

    def __init__(self, look: Callable[[], Awaitable[object]] = _nobody_else) -> None:
        self.look = look
        """``await look()``: whoever has died by now is suspected."""
        self._epochs: dict[int, int] = {}
        self._chosen: dict[tuple[bytes, int], int] = {}
        """Streamlets whose leader was chosen a moment ago and is not ready: the revision that it was in."""
        self._gone: dict[int, BrokerRecord] = {}
        self._shown_of: MetadataImage | None = None
        self._shown: MetadataImage | None = None
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def any(self) -> bool:
        """Somebody is suspected."""
        return bool(self._epochs)

    def awaits(self, topics: AbstractSet[bytes] | None) -> bool:
        """A leader that was chosen a moment ago will be ready soon, in one of these topics (None: in any)."""
        return any(topics is None or topic_id in topics for topic_id, _ in self._chosen)

    async def change(self) -> None:
        """Wait for the next image, or the end of a suspicion or of the moment for a leader."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def notify(self) -> None:
        """There is a new image, or something is over."""
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def add(self, node_id: int, epoch: int) -> None:
        """A connection with it was lost."""
        self._epochs[node_id] = epoch
        self._shown_of = None

    def remove(self, node_id: int, epoch: int) -> None:
        """It should have been declared dead by now, if it is."""
        if self._epochs.get(node_id) == epoch:
            del self._epochs[node_id]
            self._shown_of = None
            self.notify()

    def shown(self, image: MetadataImage) -> MetadataImage:
        """``image`` as clients should see it: what suspects lead has no leader."""
        if not self._epochs:
            return image
        if self._shown_of is not image or self._shown is None:
            brokers = dict(image.brokers)
            for node_id, epoch in self._epochs.items():
                broker = brokers.get(node_id)
                if broker is not None and broker.epoch == epoch:
                    brokers[node_id] = broker._replace(epoch=NO_EPOCH)
            self._shown = replace(image, brokers=brokers, encoded={})
            self._shown_of = image
        return self._shown

    def chosen(self, before: MetadataImage, image: MetadataImage) -> list[tuple[bytes, int]]:
        """``image`` is the newest one, after ``before``: those whose leaders it has chosen."""
        found: list[tuple[bytes, int]] = []
        for topic_id in image.touched:
            old = before.streamlets.get(topic_id, ())
            for index, record in enumerate(image.streamlets.get(topic_id, ())):
                if index < len(old) and record is old[index]:
                    continue
                if record.state == RECOVERING and record.leader in image.brokers:
                    found.append((topic_id, index))
                else:
                    self._chosen.pop((topic_id, index), None)
        self._chosen.update(dict.fromkeys(found, image.revision))
        return found

    def settled(self, streamlets: Iterable[tuple[bytes, int]], revision: int) -> None:
        """A moment has passed since the leaders of these were chosen with ``revision``."""
        for where in streamlets:
            if self._chosen.get(where) == revision:
                del self._chosen[where]
        self.notify()

    def gone(self, broker: BrokerRecord) -> None:
        """It is no member any more."""
        self._gone[broker.node_id] = broker

    def forget(self, broker: BrokerRecord) -> None:
        """Whoever knew it has been told since that it leads nothing."""
        if self._gone.get(broker.node_id) is broker:
            del self._gone[broker.node_id]

    def listed(self, image: MetadataImage) -> list[BrokerRecord]:
        """The members, and those who were until a moment ago."""
        return list({**self._gone, **image.brokers}.values())
