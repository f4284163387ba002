"""The acting controller: commits pure decisions to the store and publishes the images that follow.

One controller acts at a time. It takes the next controller epoch when it starts, and every transaction of
its own requires that nobody has taken a later one, so decisions made on an old image cannot be committed.
Decisions run one after the other; a call returns after its image was published. What the store refuses (a
full disk) is the outcome of every item of the call; nothing of it has happened then. That another controller
has taken over is raised, NOT_CONTROLLER, where the broker that handed the request on asks that one.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kproto.check import check
from kproto.config import Settings
from kproto.controller.config_changes import ConfigChange, decide_alter
from kproto.controller.decision import Decision
from kproto.controller.names import OFFSETS_TOPIC
from kproto.controller.placement import streamlets_led
from kproto.controller.registration import Registration, decide_register
from kproto.controller.topics import (
    NewPartitions,
    NewTopic,
    TopicOutcome,
    TopicRef,
    decide_create,
    decide_create_partitions,
    decide_delete,
    offsets_topic,
)
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import (
    ABSENT,
    EMPTY_IMAGE,
    BrokerRecord,
    Change,
    Condition,
    EmptyStoreError,
    Entry,
    MetadataImage,
    MetadataStore,
    StoreError,
    TopicRecord,
)
from kproto.metadata.history import NOTHING, OlderStoreError, Seen, Terms, new_mark, term_key
from kproto.metadata.image import load_image
from kproto.metadata.records import (
    BROKER_EPOCH_KEY,
    CLUSTER_KEY,
    FORMAT,
    FORMAT_KEY,
    NEXT_PRODUCER_KEY,
    unreadable,
)
from kproto.metadata.store import UnknownOutcomeError
from kproto.metadata.vlogs import VlogTable

if TYPE_CHECKING:
    from kproto.controller.proposals import Proposals

log = logging.getLogger(__name__)

PRODUCER_IDS_PER_BLOCK: Final = 1000
CONTROLLER_EPOCH_KEY: Final = "epochs/controller"

Answer = TypeVar("Answer")
News = TypeVar("News", Change, MetadataImage)
OnImage = Callable[[MetadataImage], object]
OnChange = Callable[[Change], object]


class Controller:
    """The controller inside a broker process. Call :meth:`start` before anything else."""

    __slots__ = (
        "_busy",
        "_change_listeners",
        "_deposed",
        "_epoch",
        "_guard",
        "_image",
        "_last_broker_epoch",
        "_listeners",
        "_next_producer_id",
        "_node_id",
        "_producer_id",
        "_producer_id_end",
        "_proposals",
        "_refilling",
        "_running",
        "_settings",
        "_store",
        "_table",
        "_terms",
        "on_deposed",
        "others_answer",
    )

    def __init__(self, store: MetadataStore, settings: Settings, node_id: int) -> None:
        self._store = store
        self._settings = settings
        self._node_id = node_id
        self._epoch = 0
        self._image = EMPTY_IMAGE
        self._table = VlogTable()
        self._terms = Terms(())
        self._listeners: list[OnImage] = []
        self._change_listeners: list[OnChange] = []
        self._proposals: Proposals | None = None
        self._running: set[asyncio.Future[Any]] = set()
        self._busy = asyncio.Lock()
        self._guard = Condition(CONTROLLER_EPOCH_KEY, ABSENT)
        self._last_broker_epoch = 0
        self._next_producer_id = 0
        self._refilling = asyncio.Lock()
        self._producer_id = 0
        self._producer_id_end = 0
        self._deposed = False
        self.others_answer = False
        """Brokers that hand requests on ask the next controller when this one is deposed (`Seat`)."""
        self.on_deposed: Callable[[str], object] = lambda _: None
        """Called with the reason when this is the acting controller no more (rule 16): each later decision
        is refused with NOT_CONTROLLER, and nothing is published any more."""

    @property
    def image(self) -> MetadataImage:
        """The newest committed image."""
        return self._image

    @property
    def table(self) -> VlogTable:
        """Virtual segments and fenced brokers at the revision of :attr:`image`; changed in place."""
        return self._table

    @property
    def node_id(self) -> int:
        """The broker that the controller runs in."""
        return self._node_id

    @property
    def proposals(self) -> Proposals:
        """What brokers of a cluster may propose, and what is remembered for it."""
        if self._proposals is None:
            from kproto.controller.proposals import Proposals

            self._proposals = Proposals(self)
        return self._proposals

    def subscribe(self, on_image: OnImage) -> None:
        """Have ``on_image`` called with every later image, in revision order, on the event loop.

        ``table`` is at the revision of the image then.
        """
        self._listeners.append(on_image)

    def subscribe_changes(self, on_change: OnChange) -> None:
        """Have ``on_change`` called with every later change, after image and table have it."""
        self._change_listeners.append(on_change)

    async def propose(self, kind: str, args: object) -> Any:
        """What ``MetadataClient.propose`` is on other brokers, for the one that the controller runs in."""
        return await self.proposals.handle(self._node_id, self._epoch, kind, args)

    async def snapshot(self) -> tuple[int, list[Entry]]:
        """Revision and entries of the whole store; :class:`KafkaError` when it cannot be read."""
        try:
            return await self._store.range("")
        except StoreError as error:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error

    async def start(self, cluster_id: str = "", seen: Seen = NOTHING) -> MetadataImage:
        """Become the acting controller; creates the cluster when the store is empty. Not published yet.
        ``cluster_id``: of which cluster the broker's directory is, if of any; no other is created then.
        ``seen``: how far its broker followed the metadata.

        Raises :class:`StoreError` when the store cannot be used, is without what was seen, or another
        controller started meanwhile.
        """
        revision, values = await self._load()
        if cluster_id and FORMAT_KEY not in values:
            raise EmptyStoreError(cluster_id)
        if cluster_id == self._image.cluster_id:
            self._terms.check(seen, revision)
        epoch = _number(values, CONTROLLER_EPOCH_KEY) + 1
        mark = new_mark()
        puts = {CONTROLLER_EPOCH_KEY: str(epoch).encode(), term_key(epoch): mark}
        conditions = [Condition(CONTROLLER_EPOCH_KEY, _revision(values, CONTROLLER_EPOCH_KEY))]
        if FORMAT_KEY not in values:
            puts |= {FORMAT_KEY: FORMAT, CLUSTER_KEY: _new_cluster_id().encode()}
            conditions.append(Condition(FORMAT_KEY, ABSENT))
        deletes = self._terms.too_many()
        done = await self._store.transact(conditions, puts, deletes)
        self._guard = Condition(CONTROLLER_EPOCH_KEY, done.revision)
        if done.succeeded and done.revision == revision + 1:
            change = Change(done.revision, puts, deletes)
            self._table.apply(change)
            self._image = self._image.apply(change)
            self._terms.begin(Entry(term_key(epoch), mark, done.revision))
        elif done.succeeded:  # the controller before wrote until the epoch was ours
            _, values = await self._load()
        if not done.succeeded or _revision(values, CONTROLLER_EPOCH_KEY) > done.revision:
            raise StoreError("another controller has started on the same metadata")
        self._image = self._image.with_controller(self._node_id)
        return self._image

    async def _load(self) -> tuple[int, Mapping[str, Entry]]:
        """Image and everything else of the store as it is; its revision and entries."""
        revision, entries = await self._store.range("")
        values = {entry.key: entry for entry in entries}
        self._last_broker_epoch = _number(values, BROKER_EPOCH_KEY)
        self._next_producer_id = _number(values, NEXT_PRODUCER_KEY)
        self._image = load_image(revision, entries)
        self._table.load(revision, entries)
        self._terms = Terms(entries)
        return revision, values

    async def register_broker(self, registration: Registration) -> BrokerRecord:
        """Give a starting broker its epoch, and its streamlets their next leader epochs, at once."""
        broker = await self.decide(
            lambda: decide_register(self._image, self._table, registration, self._last_broker_epoch)
        )
        if broker.node_id == self._node_id:
            self._epoch = broker.epoch
        return broker

    async def create_topics(
        self, topics: Sequence[NewTopic], *, validate_only: bool = False
    ) -> list[TopicOutcome]:
        """Create topics; one outcome per name. See :func:`~kproto.controller.topics.decide_create`."""

        def decide() -> Decision[list[TopicOutcome]]:
            fenced = self._table.fenced
            return decide_create(self._image, topics, self._settings, _new_topic_id, self._led(), fenced)

        try:
            return await self.decide(decide, validate_only)
        except KafkaError as error:
            outcome = self._of_each(error)
            return [TopicOutcome(name, outcome) for name in {topic.name: None for topic in topics}]

    async def ensure_offsets_topic(self) -> TopicRecord:
        """``__consumer_offsets``, created when missing; :class:`KafkaError` when it cannot be."""
        topic = self._image.topics.get(OFFSETS_TOPIC)
        if topic is None:
            await self.create_topics([offsets_topic(self._image, self._settings)])
            topic = self._image.topics.get(OFFSETS_TOPIC)
        if topic is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{OFFSETS_TOPIC} could not be created.")
        return topic

    async def auto_create(self, names: Sequence[str]) -> list[TopicOutcome]:
        """Create topics that a client asked for by name, with the broker's defaults."""
        image, settings = self._image, self._settings
        return await self.create_topics(
            [offsets_topic(image, settings) if name == OFFSETS_TOPIC else NewTopic(name) for name in names]
        )

    async def create_partitions(
        self, requests: Sequence[NewPartitions], *, validate_only: bool = False
    ) -> list[TopicOutcome]:
        """Add partitions to topics; one outcome per name."""

        def decide() -> Decision[list[TopicOutcome]]:
            return decide_create_partitions(self._image, requests, self._led(), self._table.fenced)

        try:
            return await self.decide(decide, validate_only)
        except KafkaError as error:
            outcome = self._of_each(error)
            return [TopicOutcome(name, outcome) for name in {request.name: None for request in requests}]

    async def delete_topics(self, topics: Sequence[TopicRef]) -> list[TopicOutcome]:
        """Delete topics; one outcome per reference."""

        def decide() -> Decision[list[TopicOutcome]]:
            decision = decide_delete(self._image, topics, self._settings)
            for outcome in decision.answer:
                topic = outcome.topic
                if topic is not None and self._table.starts:
                    decision.deletes += self._table.start_keys(topic.topic_id, range(topic.partitions))
            return decision

        try:
            return await self.decide(decide)
        except KafkaError as error:
            outcome = self._of_each(error)
            return [TopicOutcome(each.name, outcome, None, each.topic_id) for each in dict.fromkeys(topics)]

    async def alter_configs(
        self, changes: Sequence[ConfigChange], *, validate_only: bool = False
    ) -> list[KafkaError | None]:
        """Change configs of topics and brokers; one entry per change, None where it worked."""
        try:
            return await self.decide(
                lambda: decide_alter(self._image, changes, self._settings, self._table.fenced),
                validate_only,
            )
        except KafkaError as error:
            outcome = self._of_each(error)
            return [outcome for _ in changes]

    async def allocate_producer_ids(self) -> tuple[int, int]:
        """A block of producer ids nobody else gets, as ``(first, count)``."""

        def decide() -> Decision[tuple[int, int]]:
            first = self._next_producer_id
            after = str(first + PRODUCER_IDS_PER_BLOCK).encode()
            return Decision((first, PRODUCER_IDS_PER_BLOCK), {NEXT_PRODUCER_KEY: after})

        return await self.decide(decide)

    async def next_producer_id(self) -> int:
        """One producer id that was never given out before; ids lost with the process are skipped."""
        while self._producer_id >= self._producer_id_end:
            async with self._refilling:
                if self._producer_id >= self._producer_id_end:
                    first, count = await self.allocate_producer_ids()
                    self._producer_id, self._producer_id_end = first, first + count
        self._producer_id += 1
        return self._producer_id - 1

    def _led(self) -> Mapping[int, int]:
        """Streamlets per leader; not worth counting for a single broker."""
        return streamlets_led(self._image) if len(self._image.brokers) > 1 else {}

    async def decide(self, decide: Callable[[], Decision[Answer]], validate_only: bool = False) -> Answer:
        """Decide and commit, one call after the other; ``decide`` sees the newest image and table.

        The work is a task of its own: a caller that is cancelled (its client went away) must not leave a
        committed transaction behind that the image does not know.
        """
        task = asyncio.ensure_future(self._decide_alone(decide, validate_only))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_unheard)
            raise

    async def _decide_alone(self, decide: Callable[[], Decision[Answer]], validate_only: bool) -> Answer:
        async with self._busy:
            decision = decide()
            if decision.writes and not validate_only:
                await self._commit(decision.puts, tuple(decision.deletes))
            return decision.answer

    async def _commit(self, puts: Mapping[str, bytes], deletes: tuple[str, ...]) -> None:
        """Write one transaction and publish its image; raises :class:`KafkaError`."""
        revision = await self._transact(puts, deletes)
        if revision != self._image.revision + 1:
            raise self._depose(f"revision {revision} follows {self._image.revision}: others write, too")
        self._last_broker_epoch = int(puts.get(BROKER_EPOCH_KEY, self._last_broker_epoch))
        self._next_producer_id = int(puts.get(NEXT_PRODUCER_KEY, self._next_producer_id))
        change = Change(revision, puts, deletes)
        self._image = self._image.apply(change)
        self._table.apply(change)
        _publish(change, self._change_listeners)
        _publish(self._image, self._listeners)

    async def _transact(self, puts: Mapping[str, bytes], deletes: tuple[str, ...]) -> int:
        """The store's revision after one transaction of this controller's; raises :class:`KafkaError`."""
        if self._deposed:
            raise _deposed()
        try:
            done = await self._store.transact([self._guard], puts, deletes)
        except UnknownOutcomeError as error:
            raise self._depose(str(error)) from error
        except StoreError as error:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        if not done.succeeded:
            raise self._depose("another controller has taken over")
        return done.revision

    async def check_history(self, seen: Seen) -> None:
        """Raises :class:`KafkaError` INCONSISTENT_CLUSTER_ID if a broker has seen what this metadata is
        without; NOT_CONTROLLER if that is because another controller has taken over."""
        if self._terms.lack(seen, self._image.revision):
            async with self._busy:
                await self._transact({}, ())
            try:
                self._terms.check(seen, self._image.revision)
            except OlderStoreError as error:
                raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, str(error)) from None

    def _of_each(self, error: KafkaError) -> KafkaError:
        """What refused a call, as the outcome of each item; raised when another controller can be asked."""
        if self.others_answer and error.code is ErrorCode.NOT_CONTROLLER:
            raise error
        return error

    def resign(self) -> None:
        """End the term: decisions after this one are refused with NOT_CONTROLLER."""
        self._deposed = True

    def _depose(self, reason: str) -> KafkaError:
        """End the term: the image may not be the newest one any more."""
        if not self._deposed:
            self.resign()
            self.on_deposed(reason)
        return _deposed()


def _publish(news: News, listeners: Sequence[Callable[[News], object]]) -> None:
    """It is committed: what one of them makes of it is no business of the others, nor of who proposed it."""
    for listener in listeners:
        try:
            listener(news)
        except Exception:
            log.exception("revision %d of the metadata was not taken in by all", news.revision)


def _unheard(task: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more: that it was refused (another controller decides now, the store is closed,
    or full) is no news. What is no refusal is."""
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, KafkaError):
        log.error("a decision failed that nobody waits for any more", exc_info=error)


def _number(values: Mapping[str, Entry], key: str) -> int:
    """Raises :class:`StoreError` for what is no number."""
    entry = values.get(key)
    try:
        return int(entry.value) if entry is not None else 0
    except ValueError as error:
        raise unreadable(key, error) from None


def _revision(values: Mapping[str, Entry], key: str) -> int:
    entry = values.get(key)
    return entry.revision if entry is not None else ABSENT


def _deposed() -> KafkaError:
    return KafkaError(ErrorCode.NOT_CONTROLLER, "Another controller has taken over.")


def _new_topic_id() -> bytes:
    """A random UUID (version 4). Its base64 form never begins with a dash: tools take that for an option."""
    while True:
        raw = bytearray(os.urandom(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        if raw[0] >> 2 != 62:
            return bytes(raw)


def _new_cluster_id() -> str:
    """A random id in the form Kafka prints: 22 characters of URL-safe base64."""
    import base64

    text = base64.urlsafe_b64encode(_new_topic_id()).decode().rstrip("=")
    check(len(text) == 22, f"cluster id {text!r} has the wrong length")
    return text
