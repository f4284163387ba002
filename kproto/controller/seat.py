"""The controller's seat beside a broker: taken when the broker is elected, left when it is deposed.

Where several brokers may be controller, all of them follow through a ``MetadataClient``, the acting one too:
its client asks the listener of its own process. So an election changes nothing in the broker itself; the seat
begins and ends what answers on the listener.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kproto.controller.controller import Controller
from kproto.controller.loop import ControllerLoop, Refused
from kproto.controller.service import AnswerClient, ControllerService
from kproto.metadata.history import NOTHING, Seen

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.metadata import MetadataStore
    from kproto.net.internal import InternalListener
    from kproto.net.ports import PeersPort

log = logging.getLogger(__name__)

AnswerClientOf = Callable[[Controller], AnswerClient]
"""What answers clients' requests that brokers hand on, for the controller that decides them."""


class Seat:
    """``take`` and ``leave`` are what an election calls; see :func:`~kproto.controller.election.candidacy`.

    The owner calls :meth:`lost` for every connection with a broker that ends.
    """

    __slots__ = (
        "_answer_client_of",
        "_clock",
        "_listener",
        "_loop",
        "_node_id",
        "_peers",
        "_refused",
        "_service",
        "_settings",
        "_store",
        "controller",
        "known",
        "on_deposed",
    )

    def __init__(
        self,
        store: MetadataStore,
        settings: Settings,
        clock: Clock,
        listener: InternalListener,
        peers: PeersPort,
        refused: Refused,
        answer_client_of: AnswerClientOf,
    ) -> None:
        self._store = store
        self._settings = settings
        self._node_id = settings.node_id
        self._clock = clock
        self._listener = listener
        self._peers = peers
        self._refused = refused
        self._answer_client_of = answer_client_of
        self._loop: ControllerLoop | None = None
        self._service: ControllerService | None = None
        self.controller: Controller | None = None
        """While this broker is the controller."""
        self.known: Callable[[], tuple[str, Seen]] = lambda: ("", NOTHING)
        """Of which cluster the broker's directory is (empty while it is of none), and how far it followed its
        metadata."""
        self.on_deposed: Callable[[str], object] = lambda _: None
        """Called when a transaction shows that the term is over; :meth:`leave` is to follow."""

    async def take(self) -> None:
        """Become the controller. Raises :class:`~kproto.metadata.StoreError`; may be cancelled."""
        controller = Controller(self._store, self._settings, self._node_id)
        controller.on_deposed = self._failed
        controller.others_answer = True
        await controller.start(*self.known())
        self.controller = controller
        self._loop = ControllerLoop(controller, self._peers, self._refused, self._clock, self._settings)
        self._service = ControllerService(
            controller, self._loop, self._listener, self._answer_client_of(controller)
        )
        self._loop.start(took_over=True)
        log.info("broker %d is controller at revision %d", self._node_id, controller.image.revision)

    async def leave(self, reason: str) -> None:
        """Be controller no more; also when :meth:`take` did not get to its end."""
        log.info("broker %d leaves the controller's seat: %s", self._node_id, reason)
        controller, self.controller = self.controller, None
        service, self._service = self._service, None
        loop, self._loop = self._loop, None
        if controller is not None:
            controller.resign()
        if service is not None:
            service.close()
        if loop is not None:
            await loop.close()

    def lost(self, node_id: int) -> None:
        """A connection with a broker ended."""
        if self._loop is not None:
            self._loop.lost(node_id)

    def _failed(self, reason: str) -> None:
        if self._service is not None:
            self._service.close()
        self.on_deposed(reason)
