"""The shell around the groups: which broker and shard a group lives on, loading, timers, housekeeping.

A group belongs to one partition of ``__consumer_offsets`` (by its id), and its coordinator is the leader
of that partition, for one *term*: a leader epoch. A shard is loaded on the first request that needs it;
requests wait meanwhile, up to ``LOAD_PATIENCE_S``, then get COORDINATOR_LOAD_IN_PROGRESS. A moment after the
start all shards are loaded in the background, so that sessions and offsets of silent groups expire; shards
that this broker takes over while it runs are loaded at once (rule 28). When a term ends, whatever waits in
its shard gets NOT_COORDINATOR, and nothing that the shard was about to write is written any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from kproto.clock import Clock
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups.model import GroupLimits
from kproto.handlers.groups.offsets_log import KeyedLog, OffsetsLogPort
from kproto.handlers.groups.records import fits, partition_of
from kproto.handlers.groups.shard import Entry, Shard
from kproto.handlers.groups.timers import Sleeper, Timers
from kproto.handlers.once import Once
from kproto.handlers.partitions import leader_of
from kproto.metadata import EMPTY_IMAGE
from kproto.metadata.records import NO_LEADER, RECOVERING
from kproto.trouble import Trouble

if TYPE_CHECKING:
    from kproto.config import Settings
    from kproto.metadata import BrokerRecord, MetadataImage, StreamletRecord, TopicRecord

log = logging.getLogger(__name__)

T = TypeVar("T")

OFFSETS_TOPIC: Final = "__consumer_offsets"
LOAD_PATIENCE_S: Final = 5.0
LOAD_RETRY_S: Final = 1.0
"""How long after a failed load it is tried again, if nobody asks before."""
BACKGROUND_LOAD_DELAY_S: Final = 2.0
CREATION_SECONDS: Final = 1.0
"""How long a client that asks for a coordinator waits for the offsets topic."""
EXPIRY_SLICE: Final = 20
"""Groups looked at before the event loop gets its turn."""


Waiting = dict[asyncio.Future[Any], Callable[[Shard | ErrorCode], None]]
"""Requests that wait for a shard, in the order in which they came: what to call with it, or with why there is
none."""


class _Loading(NamedTuple):
    """A shard that is being loaded for a term."""

    term: int
    shard: Shard
    task: asyncio.Task[Shard]
    waiting: Waiting
    """They go on at the very moment at which the shard is there, so that what comes then, a newer commit of
    the same client, does not overtake them."""


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
        self._terms: dict[int, int] = {}
        """Leader epoch of every partition coordinated here, as of the last image."""
        self._loading: dict[int, _Loading] = {}
        self._troubles: dict[int, Trouble] = {}
        """Of partitions coordinated here that could not be read."""
        self._dropping: list[tuple[Shard, set[str]]] = []
        """Shards that have yet to forget the offsets of these deleted topics."""
        self._seen: MetadataImage = EMPTY_IMAGE
        """The newest image that was looked at."""
        self._housekeeping: asyncio.Task[None] | None = None
        self._once = Once()
        """The offsets topic, being created."""
        self._closed = False

    # ---- life ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin housekeeping; needs the running event loop and a first image."""
        self._seen = self._image()
        self._terms = self._own_terms(self._seen)
        self._housekeeping = asyncio.get_running_loop().create_task(self._keep_house())

    def close(self) -> None:
        """Answer everything that waits (clients look for another coordinator) and stop all timers."""
        self._closed = True
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        self._once.close()
        for loading in self._loading.values():
            loading.task.cancel()
            self._give_up(loading)
        self._loading.clear()
        for shard in self._shards.values():
            shard.unload(ErrorCode.NOT_COORDINATOR)
        self._shards.clear()
        self._dropping.clear()
        self._timers.close()

    def on_image(self, image: MetadataImage) -> None:
        """Metadata changed: forget offsets of deleted topics, give up and take over partitions."""
        if self._closed:
            return
        seen, self._seen = self._seen, image
        gone = _deleted(seen, image)
        nothing = not gone and not image.touched and image.brokers == seen.brokers
        if nothing and image.base_revision == seen.revision:
            return  # most changes: virtual segments, log starts, configs of brokers
        before, terms = self._terms, self._own_terms(image)
        if OFFSETS_TOPIC in gone:  # there may be another one, with the same leader epochs
            self._terms = {}
            self._end_terms()
        self._terms = terms
        while self._dropping:  # before a topic of the same name is known
            self._drop_some()
        self._end_terms()
        if gone:
            self._dropping = [(shard, gone) for shard in self._shards.values()]
            while self._dropping and not gone.isdisjoint(image.topics):
                self._drop_some()
            self._drop_in_turns()
            self._load_soon(terms)
        elif OFFSETS_TOPIC in seen.topics:  # a new one is loaded when it is used
            self._load_soon(index for index, term in terms.items() if before.get(index) != term)

    def _drop_in_turns(self) -> None:
        """A shard in each turn of the event loop: thousands of groups may have offsets of one topic."""
        if self._dropping:
            self._drop_some()
            asyncio.get_running_loop().call_soon(self._drop_in_turns)

    def _drop_some(self) -> None:
        shard, names = self._dropping.pop()
        if shard.unloaded:
            return
        try:
            shard.drop_topics(names)
        except Exception:  # for want of memory, say: whoever loads the shard next does it
            log.exception("offsets of deleted topics stay in %s-%d", OFFSETS_TOPIC, shard.log.index)

    def _end_terms(self) -> None:
        """Give up what was loaded, or is being loaded, for a term that is over."""
        for index in [i for i, shard in self._shards.items() if self._terms.get(i) != shard.term]:
            self._shards.pop(index).unload(ErrorCode.NOT_COORDINATOR)
        for index in [i for i, loading in self._loading.items() if self._terms.get(i) != loading.term]:
            self._give_up(self._loading.pop(index))
        for index in self._troubles.keys() - self._terms.keys():
            del self._troubles[index]

    @staticmethod
    def _give_up(loading: _Loading) -> None:
        loading.shard.unload(ErrorCode.NOT_COORDINATOR)
        _tell(loading.waiting, ErrorCode.NOT_COORDINATOR)

    # ---- where a group lives ------------------------------------------------------------------------

    async def locate(self, group_id: str) -> BrokerRecord:
        """The broker that coordinates a group; creates ``__consumer_offsets`` on first use.

        KafkaError COORDINATOR_NOT_AVAILABLE while its partition has no living leader or the topic cannot be
        created, for whatever reason: at this error every client asks again. INVALID_GROUP_ID when the id is
        too long to be stored.
        """
        if not fits(group_id):
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is too long")
        try:
            topic = self._image().topics.get(OFFSETS_TOPIC) or await self._create_topic()
        except KafkaError as error:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message) from error
        image = self._image()
        if topic.topic_id not in image.streamlets:  # deleted, or not heard of here yet
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the offsets topic is not available")
        record = image.partition_streamlet(topic, partition_of(group_id, topic.partitions))
        broker = image.brokers.get(_coordinator(image, record))
        if broker is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the group's coordinator is not available")
        return broker

    async def _create_topic(self) -> TopicRecord:
        """Have the offsets topic created. That goes on when this gives up after `CREATION_SECONDS`, because
        what the client asked next waits behind the answer."""
        try:
            return await self._once.result(OFFSETS_TOPIC, self._ensure_topic, CREATION_SECONDS)
        except TimeoutError as error:
            message = "the offsets topic is not there yet"
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message) from error

    def on_shard(
        self, group_id: str, use: Callable[[Shard], T | Awaitable[T]], fail: Callable[[ErrorCode], T]
    ) -> T | Awaitable[T]:
        """``use`` the shard of a group, now if it is loaded; ``fail`` when it is not here or not loadable."""
        if not fits(group_id):
            return fail(ErrorCode.INVALID_GROUP_ID)
        image = self._image()
        topic = image.topics.get(OFFSETS_TOPIC)
        if topic is None or self._closed:
            return fail(ErrorCode.NOT_COORDINATOR)
        index = partition_of(group_id, topic.partitions)
        shard = self._shards.get(index)
        if shard is not None:
            return use(shard)
        if index in self._terms:
            return self._use_when_loaded(index, use, fail)
        if _coordinator(image, image.partition_streamlet(topic, index)) == self._node_id:
            return fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return fail(ErrorCode.NOT_COORDINATOR)

    def is_loading(self, group_id: str) -> bool:
        """Is the group's shard on this broker, but not loaded yet? Then its loading begins."""
        image = self._image()
        topic = image.topics.get(OFFSETS_TOPIC)
        if topic is None or self._closed or not fits(group_id):
            return False
        index = partition_of(group_id, topic.partitions)
        if index in self._shards:
            return False
        if index not in self._terms:
            return _coordinator(image, image.partition_streamlet(topic, index)) == self._node_id
        if index not in self._loading:
            self._start_loading(index)
        return True

    async def all_shards(self) -> Sequence[Shard]:
        """The shards this broker coordinates, as many as can be loaded in `LOAD_PATIENCE_S`."""
        self._load_soon(self._terms)
        if tasks := [loading.task for loading in self._loading.values()]:
            await asyncio.wait(tasks, timeout=LOAD_PATIENCE_S)
        return list(self._shards.values())

    @property
    def loaded(self) -> Sequence[Shard]:
        """The shards that are there. Loads none."""
        return list(self._shards.values())

    @property
    def loads(self) -> bool:
        """Whether some shard is being loaded."""
        return bool(self._loading)

    def _topic_id(self, name: str) -> bytes | None:
        topic = self._image().topics.get(name)
        return None if topic is None else topic.topic_id

    def _own_terms(self, image: MetadataImage) -> dict[int, int]:
        """Leader epochs of the partitions that this broker serves, by partition."""
        topic = image.topics.get(OFFSETS_TOPIC)
        if topic is None:
            return {}
        groups, me = topic.active_groups, self._node_id
        return {
            partition: record.leader_epoch
            for record in image.streamlets[topic.topic_id]
            if record.leader == me and leader_of(image, record) == me
            for partition in range(record.index * groups, min((record.index + 1) * groups, topic.partitions))
        }

    # ---- loading ------------------------------------------------------------------------------------

    def _use_when_loaded(
        self, index: int, use: Callable[[Shard], T | Awaitable[T]], fail: Callable[[ErrorCode], T]
    ) -> Awaitable[T]:
        loading = self._loading.get(index) or self._start_loading(index)
        begun: asyncio.Future[T | Awaitable[T]] = asyncio.get_running_loop().create_future()

        def begin(outcome: Shard | ErrorCode) -> None:
            if begun.done():  # it has lost its patience
                return
            try:
                begun.set_result(fail(outcome) if isinstance(outcome, ErrorCode) else use(outcome))
            except Exception as error:
                begun.set_exception(error)

        loading.waiting[begun] = begin
        return self._patient(begun, loading, fail)

    async def _patient(
        self, begun: asyncio.Future[T | Awaitable[T]], loading: _Loading, fail: Callable[[ErrorCode], T]
    ) -> T:
        try:
            async with asyncio.timeout(LOAD_PATIENCE_S):
                result = await begun
        except TimeoutError:
            return fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        finally:
            loading.waiting.pop(begun, None)
        if loading.shard.unloaded:  # since it was loaded, before this went on
            if asyncio.iscoroutine(result):
                result.close()
            return fail(ErrorCode.NOT_COORDINATOR)
        return await result if isinstance(result, Awaitable) else result

    def _start_loading(self, index: int) -> _Loading:
        term = self._terms[index]
        timeout_s = self.settings.offsets_commit_timeout_ms / 1000
        keyed = KeyedLog(self._port, index, self.clock.wall_ms)
        shard = Shard(keyed, self.clock, self._limits, self._timers, timeout_s, term)
        waiting: Waiting = {}
        task = asyncio.get_running_loop().create_task(self._load(index, shard, waiting))
        loading = self._loading[index] = _Loading(term, shard, task, waiting)
        task.add_done_callback(lambda _: self._load_ended(index, loading))
        return loading

    async def _load(self, index: int, shard: Shard, waiting: Waiting) -> Shard:
        try:
            await shard.load(self._topic_id)
        except KafkaError as error:
            raise KafkaError(self._not_loaded(index, shard, error)) from None
        except Exception as error:
            log.exception("%s-%d cannot be loaded", OFFSETS_TOPIC, index)
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error
        if shard.unloaded or self._closed or self._terms.get(index) != shard.term:
            shard.unload(ErrorCode.NOT_COORDINATOR)
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        self._shards[index] = shard
        if (trouble := self._troubles.pop(index, None)) is not None:
            trouble.over()
        _tell(waiting, shard)
        return shard

    def _not_loaded(self, index: int, shard: Shard, error: KafkaError) -> ErrorCode:
        """What those are told who wait for a shard that failed to load: look for another coordinator, or, as
        there is no other while this broker leads what it cannot read, ask again."""
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR or self._terms.get(index) != shard.term:
            log.info("%s-%d cannot be loaded yet: %s", OFFSETS_TOPIC, index, error)
            return ErrorCode.NOT_COORDINATOR
        trouble = self._troubles.get(index)
        if trouble is None:
            what = f"{OFFSETS_TOPIC}-{index} cannot be loaded"
            trouble = self._troubles[index] = Trouble(log, self.clock, what)
        trouble.failed(error)
        return ErrorCode.COORDINATOR_NOT_AVAILABLE

    def _load_ended(self, index: int, loading: _Loading) -> None:
        if self._loading.get(index) is loading:
            del self._loading[index]
        if loading.task.cancelled():
            return
        failed = loading.task.exception()
        if isinstance(failed, KafkaError):
            _tell(loading.waiting, failed.code)
        if failed is not None and not self._closed and self._terms.get(index) == loading.term:
            asyncio.get_running_loop().call_later(LOAD_RETRY_S, self._load_soon, (index,))

    def _load_soon(self, indexes: Iterable[int]) -> None:
        """Begin to load those of ``indexes`` that are coordinated here and not loaded yet."""
        for index in indexes:
            wanted = index in self._terms and not self._closed
            if wanted and index not in self._shards and index not in self._loading:
                self._start_loading(index)

    # ---- housekeeping -------------------------------------------------------------------------------

    async def _keep_house(self) -> None:
        await asyncio.sleep(BACKGROUND_LOAD_DELAY_S)
        interval_s = self.settings.offsets_retention_check_interval_ms / 1000
        while True:
            try:
                await self._load_one_by_one()
                if not self._terms.keys() <= self._shards.keys():
                    log.warning("not all groups can be loaded yet")
                await self.expire_offsets()
            except Exception:  # for want of memory, say: it is tried again
                log.exception("looking after the groups failed")
            await asyncio.sleep(interval_s)

    async def _load_one_by_one(self) -> None:
        for index in tuple(self._terms):
            self._load_soon((index,))
            if index in self._loading:
                await asyncio.wait((self._loading[index].task,))

    async def expire_offsets(self) -> None:
        """Forget every offset past its retention, and groups of which nothing is left."""
        retention_ms = self.settings.offsets_retention_minutes * 60_000
        for shard in list(self._shards.values()):
            for i, group_id in enumerate(list(shard.entries)):
                if i % EXPIRY_SLICE == EXPIRY_SLICE - 1:
                    await asyncio.sleep(0)
                shard.expire(group_id, retention_ms)


def _tell(waiting: Waiting, outcome: Shard | ErrorCode) -> None:
    for begin in tuple(waiting.values()):
        begin(outcome)
    waiting.clear()


def _wake(sleeper: Sleeper) -> None:
    assert isinstance(sleeper, Entry)
    sleeper.shard.wake(sleeper)


def _coordinator(image: MetadataImage, record: StreamletRecord) -> int:
    """Where clients are sent: to who serves the partition, or will when it has rebuilt it."""
    if record.state == RECOVERING:
        return record.leader if record.leader in image.brokers else NO_LEADER
    return leader_of(image, record)


def _deleted(seen: MetadataImage, image: MetadataImage) -> set[str]:
    """Names of the topics that ``seen`` has and the later ``image`` has not; it may have others of the same
    names, when not every image between them came here."""
    if image.base_revision != seen.revision:
        touched: Iterable[bytes] = seen.topics_by_id.keys() - image.topics_by_id.keys()
    else:
        touched = image.touched
    before = (seen.topics_by_id.get(topic_id) for topic_id in touched)
    return {topic.name for topic in before if topic is not None and topic.topic_id not in image.topics_by_id}
