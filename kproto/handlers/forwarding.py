"""Requests that only the controller can answer, on a broker that is not the controller.

Clients ask any broker; as KRaft's brokers do (KIP-590) this one hands such a request on as the client wrote
it and relays the answer. When no controller can be reached the request is handled here against a
:class:`RemoteController`, which answers NOT_CONTROLLER for every item of it: clients try again.
What handlers ask for on their own behalf (topics to create, producer ids) goes as a proposal instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kproto.controller import ConfigChange, NewPartitions, NewTopic, TopicOutcome, TopicRef
from kproto.controller.names import OFFSETS_TOPIC
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.once import Once
from kproto.metadata import MetadataImage, TopicRecord

if TYPE_CHECKING:
    from kproto.metadata.client import ControllerPort, OnImage
    from kproto.metadata.vlogs import VlogTable

T = TypeVar("T")
FORWARDED: Final = frozenset(
    {
        19,  # CreateTopics
        20,  # DeleteTopics
        33,  # AlterConfigs
        37,  # CreatePartitions
        43,  # ElectLeaders
        44,  # IncrementalAlterConfigs
        45,  # AlterPartitionReassignments
        46,  # ListPartitionReassignments
        49,  # AlterClientQuotas
        51,  # AlterUserScramCredentials
        57,  # UpdateFeatures
        64,  # UnregisterBroker
    }
)
"""API keys; those that are not in the registry are not served by the controller either."""
PATIENCE_S: Final = 1.0
"""How long a client waits for what this broker asks on its behalf: what it sent next waits behind the answer,
though others may lead what that is about."""


class RemoteController:
    """What handlers ask of a controller that is elsewhere; the same methods as the embedded one.

    Invariant: the administrative calls change nothing; they are the answer to requests that could not be
    forwarded.
    """

    __slots__ = ("_once", "_port", "_producer_id", "_producer_id_end")

    def __init__(self, port: ControllerPort) -> None:
        self._port = port
        self._once = Once()
        """What was proposed for clients: topics to create, by their names, and producer ids."""
        self._producer_id = 0
        self._producer_id_end = 0

    @property
    def image(self) -> MetadataImage:
        """The newest applied image."""
        return self._port.image

    @property
    def table(self) -> VlogTable:
        """Virtual segments and fenced brokers at the image's revision."""
        return self._port.table

    def subscribe(self, on_image: OnImage) -> None:
        """Have ``on_image`` called with every later image."""
        self._port.subscribe(on_image)

    async def propose(self, kind: str, args: object) -> Any:
        """See :class:`~kproto.metadata.client.ControllerPort`."""
        return await self._port.propose(kind, args)

    async def _decided(self, kind: str, args: object) -> Any:
        """`propose` on behalf of a client. That this broker was fenced is no answer for one (Java producers
        give up): it has to ask again, as when there is no controller."""
        try:
            return await self._port.propose(kind, args)
        except KafkaError as error:
            if error.code is ErrorCode.STALE_BROKER_EPOCH:
                raise _unreachable() from error
            raise

    async def _in_time(self, name: Hashable, begin: Callable[[], Awaitable[T]]) -> T:
        """What ``begin()`` gives, once for all who ask the same meanwhile; NOT_CONTROLLER for who waited
        `PATIENCE_S`. It goes on then, so that who asks again finds it done."""
        try:
            return await self._once.result(name, begin, PATIENCE_S)
        except TimeoutError as error:
            raise _unreachable() from error

    async def auto_create(self, names: Sequence[str]) -> list[TopicOutcome]:
        """Create topics that a client asked for by name, with the controller's defaults; NOT_CONTROLLER for
        each when that takes more than `PATIENCE_S`."""
        try:
            rows = await self._in_time(tuple(names), partial(self._decided, "auto_create", list(names)))
            return [_outcome(self.image, *row) for row in rows]
        except KafkaError as error:
            return [TopicOutcome(name, error) for name in names]

    async def ensure_offsets_topic(self) -> TopicRecord:
        """``__consumer_offsets``, created when missing; :class:`KafkaError` when it cannot be."""
        if OFFSETS_TOPIC not in self.image.topics:
            await self._decided("offsets_topic", None)
        topic = self.image.topics.get(OFFSETS_TOPIC)
        if topic is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{OFFSETS_TOPIC} could not be created.")
        return topic

    async def next_producer_id(self) -> int:
        """One producer id that was never given out before, out of blocks from the controller; NOT_CONTROLLER
        when a block takes more than `PATIENCE_S`."""
        while self._producer_id >= self._producer_id_end:
            await self._in_time("producer ids", self._refill)
        self._producer_id += 1
        return self._producer_id - 1

    async def _refill(self) -> None:
        first, count = await self._decided("producer_ids", None)
        self._producer_id, self._producer_id_end = first, first + count

    async def create_topics(
        self,
        topics: Sequence[NewTopic],
        *,
        validate_only: bool = False,  # noqa: ARG002
    ) -> list[TopicOutcome]:
        """NOT_CONTROLLER for each name."""
        return [TopicOutcome(name, _unreachable()) for name in {topic.name: None for topic in topics}]

    async def create_partitions(
        self,
        requests: Sequence[NewPartitions],
        *,
        validate_only: bool = False,  # noqa: ARG002
    ) -> list[TopicOutcome]:
        """NOT_CONTROLLER for each name."""
        return [TopicOutcome(name, _unreachable()) for name in {request.name: None for request in requests}]

    async def delete_topics(self, topics: Sequence[TopicRef]) -> list[TopicOutcome]:
        """NOT_CONTROLLER for each reference."""
        return [
            TopicOutcome(topic.name, _unreachable(), None, topic.topic_id) for topic in dict.fromkeys(topics)
        ]

    async def alter_configs(
        self,
        changes: Sequence[ConfigChange],
        *,
        validate_only: bool = False,  # noqa: ARG002
    ) -> list[KafkaError | None]:
        """NOT_CONTROLLER for each change."""
        return [_unreachable() for _ in changes]


def _outcome(image: MetadataImage, name: str, code: int, message: str | None) -> TopicOutcome:
    """A row of the answer to "auto_create"."""
    if code != ErrorCode.NONE:
        return TopicOutcome(name, KafkaError(ErrorCode(code), message))
    topic = image.topics.get(name)
    return TopicOutcome(name, None, topic, topic.topic_id if topic is not None else None)


def _unreachable() -> KafkaError:
    return KafkaError(ErrorCode.NOT_CONTROLLER, "The controller cannot be reached; try again.")
