"""The shell around the groups: which broker and shard a group lives on, loading, timers, housekeeping.

A group belongs to one partition of ``__consumer_offsets`` (by its id), and its coordinator is the leader
of that partition. A shard is loaded on the first request that needs it; requests wait meanwhile, up to
``LOAD_PATIENCE_S``, then get COORDINATOR_LOAD_IN_PROGRESS. A moment after the start all shards are loaded
in the background, so that sessions and offsets of silent groups expire.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from kproto.clock import Clock
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups.model import GroupLimits
from kproto.handlers.groups.offsets_log import KeyedLog, OffsetsLogPort
from kproto.handlers.groups.records import partition_of
from kproto.handlers.groups.shard import Entry, Shard
from kproto.handlers.groups.timers import Sleeper, Timers

if TYPE_CHECKING:
    from kproto.config import Settings
    from kproto.metadata import BrokerRecord, MetadataImage, TopicRecord

log = logging.getLogger(__name__)

T = TypeVar("T")

OFFSETS_TOPIC: Final = "__consumer_offsets"
LOAD_PATIENCE_S: Final = 5.0
BACKGROUND_LOAD_DELAY_S: Final = 2.0
EXPIRY_SLICE: Final = 20
"""Groups looked at before the event loop gets its turn."""


class GroupCoordinator:
    """See the module docstring. ``image`` gives the newest metadata, ``ensure_topic`` creates
    ``__consumer_offsets`` if it is missing."""

    def __init__(
        self,
        settings: Settings,
        node_id: int,
        clock: Clock,
        image: Callable[[], MetadataImage],
        ensure_topic: Callable[[], Awaitable[TopicRecord]],
        port: OffsetsLogPort,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self._node_id = node_id
        self._image = image
        self._ensure_topic = ensure_topic
        self._port = port
        self._limits = GroupLimits(settings.group_max_size, settings.group_initial_rebalance_delay_ms)
        self._timers = Timers(clock, _wake)
        self._shards: dict[int, Shard] = {}
        self._loading: dict[int, asyncio.Task[Shard]] = {}
        self._topics: frozenset[str] | None = None
        """Topic names of the last image seen."""
        self._housekeeping: asyncio.Task[None] | None = None
        self._closed = False

    # ---- life ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin housekeeping; needs the running event loop and a first image."""
        self._topics = frozenset(self._image().topics)
        self._housekeeping = asyncio.get_running_loop().create_task(self._keep_house())

    def close(self) -> None:
        """Answer everything that waits (clients look for another coordinator) and stop all timers."""
        self._closed = True
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        for task in self._loading.values():
            task.cancel()
        for shard in self._shards.values():
            shard.unload(ErrorCode.NOT_COORDINATOR)
        self._shards.clear()
        self._timers.close()

    def on_image(self, image: MetadataImage) -> None:
        """Metadata changed: forget offsets of deleted topics, give up partitions led by others."""
        if self._closed:
            return
        names = frozenset(image.topics)
        gone = self._topics - names if self._topics is not None else ()
        self._topics = names
        for index in [i for i in self._shards if not self._leads(image, i)]:
            self._shards.pop(index).unload(ErrorCode.NOT_COORDINATOR)
        if gone:
            for shard in self._shards.values():
                shard.drop_topics(gone)
            self._load_all_soon(image)

    # ---- where a group lives ------------------------------------------------------------------------

    async def locate(self, group_id: str) -> BrokerRecord:
        """The broker that coordinates a group; creates ``__consumer_offsets`` on first use.

        KafkaError COORDINATOR_NOT_AVAILABLE while its partition has no living leader.
        """
        topic = self._image().topics.get(OFFSETS_TOPIC) or await self._ensure_topic()
        image = self._image()
        leader = image.partition_streamlet(topic, partition_of(group_id, topic.partitions)).leader
        broker = image.brokers.get(leader)
        if broker is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the group's coordinator is not available")
        return broker

    def on_shard(
        self, group_id: str, use: Callable[[Shard], T | Awaitable[T]], fail: Callable[[ErrorCode], T]
    ) -> T | Awaitable[T]:
        """``use`` the shard of a group, now if it is loaded; ``fail`` when it is not here or not loadable."""
        topic = self._image().topics.get(OFFSETS_TOPIC)
        if topic is None or self._closed:
            return fail(ErrorCode.NOT_COORDINATOR)
        index = partition_of(group_id, topic.partitions)
        shard = self._shards.get(index)
        if shard is not None:
            return use(shard)
        if not self._leads(self._image(), index):
            return fail(ErrorCode.NOT_COORDINATOR)
        return self._use_when_loaded(index, use, fail)

    def is_loading(self, group_id: str) -> bool:
        """Is the group's shard on this broker, but not loaded yet? Then its loading has begun."""
        topic = self._image().topics.get(OFFSETS_TOPIC)
        if topic is None or self._closed:
            return False
        index = partition_of(group_id, topic.partitions)
        if index in self._shards or not self._leads(self._image(), index):
            return False
        if index not in self._loading:
            self._start_loading(index)
        return True

    async def all_shards(self) -> Sequence[Shard]:
        """Every shard this broker coordinates, loaded. KafkaError when one cannot be."""
        for index in self._own_partitions(self._image()):
            if index not in self._shards:
                await self._loaded(index)
        return list(self._shards.values())

    def _topic_id(self, name: str) -> bytes | None:
        topic = self._image().topics.get(name)
        return None if topic is None else topic.topic_id

    def _leads(self, image: MetadataImage, index: int) -> bool:
        topic = image.topics.get(OFFSETS_TOPIC)
        if topic is None or index >= topic.partitions:
            return False
        return image.partition_streamlet(topic, index).leader == self._node_id

    def _own_partitions(self, image: MetadataImage) -> list[int]:
        topic = image.topics.get(OFFSETS_TOPIC)
        return [i for i in range(topic.partitions) if self._leads(image, i)] if topic is not None else []

    # ---- loading ------------------------------------------------------------------------------------

    async def _use_when_loaded(
        self, index: int, use: Callable[[Shard], T | Awaitable[T]], fail: Callable[[ErrorCode], T]
    ) -> T:
        try:
            async with asyncio.timeout(LOAD_PATIENCE_S):
                shard = await self._loaded(index)
        except KafkaError as error:
            return fail(error.code)
        except TimeoutError:
            return fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        result = use(shard)
        return await result if isinstance(result, Awaitable) else result

    async def _loaded(self, index: int) -> Shard:
        shard = self._shards.get(index)
        if shard is not None:
            return shard
        return await asyncio.shield(self._loading.get(index) or self._start_loading(index))

    def _start_loading(self, index: int) -> asyncio.Task[Shard]:
        task = self._loading[index] = asyncio.get_running_loop().create_task(self._load(index))
        task.add_done_callback(lambda done: self._load_ended(index, done))
        return task

    async def _load(self, index: int) -> Shard:
        keyed = KeyedLog(self._port, index, self.clock.wall_ms)
        timeout_s = self.settings.offsets_commit_timeout_ms / 1000
        shard = Shard(keyed, self.clock, self._limits, self._timers, timeout_s)
        try:
            await shard.load(self._topic_id)
        except KafkaError:
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from None
        except Exception as error:
            log.exception("%s-%d cannot be loaded", OFFSETS_TOPIC, index)
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error
        if self._closed or not self._leads(self._image(), index):
            shard.unload(ErrorCode.NOT_COORDINATOR)
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        self._shards[index] = shard
        return shard

    def _load_ended(self, index: int, task: asyncio.Task[Shard]) -> None:
        self._loading.pop(index, None)
        if not task.cancelled():
            task.exception()  # was told to whoever waited

    def _load_all_soon(self, image: MetadataImage) -> None:
        for index in self._own_partitions(image):
            if index not in self._shards and index not in self._loading:
                self._start_loading(index)

    # ---- housekeeping -------------------------------------------------------------------------------

    async def _keep_house(self) -> None:
        await asyncio.sleep(BACKGROUND_LOAD_DELAY_S)
        interval_s = self.settings.offsets_retention_check_interval_ms / 1000
        while True:
            try:
                await self.all_shards()
                await self.expire_offsets()
            except KafkaError as error:
                log.warning("group housekeeping: %s", error)
            await asyncio.sleep(interval_s)

    async def expire_offsets(self) -> None:
        """Forget every offset past its retention, and groups of which nothing is left."""
        retention_ms = self.settings.offsets_retention_minutes * 60_000
        for shard in list(self._shards.values()):
            for i, group_id in enumerate(list(shard.entries)):
                if i % EXPIRY_SLICE == EXPIRY_SLICE - 1:
                    await asyncio.sleep(0)
                shard.expire(group_id, retention_ms)


def _wake(sleeper: Sleeper) -> None:
    assert isinstance(sleeper, Entry)
    sleeper.shard.wake(sleeper)
