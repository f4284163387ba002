"""Produce (key 0), versions 3-13; 0-2 are advertised but rejected (KAFKA-18659).

Every chunk of the request is appended first; then each touched virtual log is waited for once, together
with all requests of the same loop iteration. acks=-1 waits until the chunk is on all copies, acks=1 until it
is in the journal of this broker, which for replication factor 1 is the same. acks=0 gets no answer; an error
closes its connection, as in Kafka, because nothing else can tell the client.

acks=-1 with fewer copies than ``min.insync.replicas`` is NOT_ENOUGH_REPLICAS before anything is appended, and
NOT_ENOUGH_REPLICAS_AFTER_APPEND when copies went missing before it was durable (rule 18); then the partition
takes no more before what it has so has got its copies. When this broker
turns out not to own the virtual log any more, whatever waits gets NOT_LEADER_OR_FOLLOWER: what was appended
may or may not survive (rules 10 and 16). While a partition is being handed over, the answer waits until it
has another leader, and names that (see ``holding``).

Version notes: v7 zstd (before: UNSUPPORTED_COMPRESSION_TYPE), v8 error messages and the records they are
about (KIP-467), v9 flexible, v10 current leader and node endpoints with NOT_LEADER_OR_FOLLOWER (KIP-951), v13
topic ids (UNKNOWN_TOPIC_ID).
Requests with a transactional id, and transactional batches, get TRANSACTIONAL_ID_AUTHORIZATION_FAILED until
transactions exist, as from FindCoordinator; an empty id is none. Throttle time is always 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from kproto.errors import TABLE, ErrorCode, KafkaError
from kproto.handlers.context import Handler, RawHandle, Services
from kproto.handlers.copies import TooFew, copies_short, needed_copies
from kproto.handlers.holding import Holding
from kproto.handlers.keyed import AboutRecords, record_errors, refuse_without_key
from kproto.handlers.leading import changes_leader, error_of, leader_told, led_here
from kproto.handlers.produce_wire import (
    FIRST_WITH_IDS,
    Key,
    Outcome,
    all_stored,
    one_stored,
    parse,
    topic_name,
)
from kproto.handlers.refused import RefusedEarly
from kproto.log.checks import NO_TRANSACTIONS
from kproto.wire import WireError
from kproto.wire.messages import codec

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.log.ports import VirtualLogPort
    from kproto.metadata import MetadataImage, TopicRecord
    from kproto.net.server import Exchange

KEY: Final = 0
FIRST_WITH_ZSTD: Final = 7
FIRST_WITH_LEADER: Final = 10
ALL: Final = -1
TIMEOUT_CHECK_SECONDS: Final = 0.1
BYTES_EACH: Final = 512
"""What a batch takes besides its bytes until it is stored: a reference, an outcome, a place in a frame."""
MANY: Final = 1 << 16
"""So many batches ordinary clients never have on their way; where more are not stored yet, batches count, and
acks=0 waits."""
_ATTRIBUTES_LOW_BYTE: Final = 22
_ZSTD: Final = 4
_NONE: Final = ErrorCode.NONE
_TELLS_LOG_START: Final = (
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TIMESTAMP,
)
"""Errors found when the partition was there already: its log start is told with them, as by Apache Kafka."""

TopicOutcome = tuple[Key, list[Outcome]]


class Answerable(Protocol):
    """An exchange, or what collects several waits before it answers one."""

    def reply(self, frame: bytes) -> None: ...


class _Route:
    """A topic as the requests of one image find it: its record, its partitions once they were used."""

    __slots__ = ("partitions", "record")

    def __init__(self, record: TopicRecord) -> None:
        self.record = record
        self.partitions: dict[int, Partition] = {}


class _Joint:
    """Answers once as many virtual logs as were touched have said that they are durable."""

    __slots__ = ("_left", "_whose", "instead", "judged")

    def __init__(self, whose: Answerable, left: int) -> None:
        self._whose = whose
        self._left = left
        self.instead: bytes | None = None
        """The answer when one of them failed."""
        self.judged: list[TopicOutcome] | None = None
        """The outcomes in it: what another one of them does later adds to these."""

    def reply(self, frame: bytes) -> None:
        self._left -= 1
        if self._left == 0:
            self._whose.reply(self.instead or frame)


class _Kept:
    """Answers when the partitions that are being handed over have new leaders: instead of ``answer`` what
    ``anew`` makes then, which names them. One that was judged again meanwhile goes as it is."""

    __slots__ = ("_anew", "_answer", "_exchange", "_holding", "_seconds", "_settled")

    def __init__(
        self,
        exchange: Exchange,
        answer: bytes,
        holding: Holding,
        seconds: float,
        settled: Callable[[], bool],
        anew: Callable[[], bytes],
    ) -> None:
        self._exchange = exchange
        self._answer = answer
        self._holding = holding
        self._seconds = seconds
        self._settled = settled
        self._anew = anew

    def reply(self, frame: bytes) -> None:
        if frame is self._answer:
            self._holding.keep(self._seconds, self._settled, lambda: self._exchange.reply(self._anew()))
        else:
            self._exchange.reply(frame)


Waiting = tuple[Answerable, bytes, int, "Exchange", int, int, "list[TopicOutcome]", int]
"""Whose ``reply`` to call with which frame; and for the case that something comes between: timeout in ms,
exchange, version, correlation id, outcomes, acks. A plain tuple, because one is made per request."""


class Producer:
    """The broker's one Produce handler.

    Requests that wait for the same virtual log and arrived in the same loop iteration share one batch and one
    ``when_durable``; the batch is answered, and flushed to the sockets, in one go.
    """

    __slots__ = (
        "_batches",
        "_early",
        "_flying",
        "_holding",
        "_ids",
        "_journaled",
        "_loop",
        "_names",
        "_seal_due",
        "_services",
        "_sweep",
        "_too_few",
    )

    def __init__(self, services: Services) -> None:
        self._services = services
        self._loop = asyncio.get_running_loop()
        self._holding = Holding(self._loop)
        self._names: dict[Key, _Route] = {}
        self._ids: dict[Key, _Route] = {}
        """Routes of the current image, by key of a request with names and with ids."""
        self._early = RefusedEarly()
        self._too_few = TooFew(services.table)
        services.controller.subscribe(self._on_image)
        self._batches: dict[VirtualLogPort, list[Waiting]] = {}
        """What this loop iteration appended, by virtual log."""
        self._journaled: dict[VirtualLogPort, list[Waiting]] = {}
        """The same for acks=1."""
        self._seal_due = False
        self._flying: list[tuple[float, list[Waiting]]] = []
        """Batches not durable at once: when they were sealed, who waits (emptied when answered)."""
        self._sweep: asyncio.TimerHandle | None = None

    def _on_image(self, image: MetadataImage) -> None:  # noqa: ARG002
        self._names.clear()
        self._ids.clear()
        self._too_few.look()
        self._holding.look()

    def handle(
        self,
        exchange: Exchange,
        version: int,
        correlation_id: int,
        frame: memoryview,
        position: int,
        owned: bool,
    ) -> None:
        """One request; see :data:`kproto.handlers.context.RawHandle`."""
        services = self._services
        transactional, acks, timeout_ms, wanted = parse(version, frame, position)
        refused = _refusal(transactional, acks)
        failed = refused is not None or not wanted
        touched: list[VirtualLogPort] = []
        topics: list[TopicOutcome] = []
        routes = self._ids if version >= FIRST_WITH_IDS else self._names
        for key, parts in wanted:
            route = routes.get(key)
            outcomes: list[Outcome] = []
            for index, records in parts:
                partition = None
                try:
                    if refused is not None:
                        raise refused
                    if route is None:
                        route = routes[key] = self._route(version, key)
                    partition = route.partitions.get(index) or self._partition(key, route, index, acks)
                    if records is None:
                        raise KafkaError(ErrorCode.INVALID_RECORD, "a partition without a record batch")
                    if version < FIRST_WITH_ZSTD:
                        _refuse_zstd(records)
                    if partition.config.keyed:
                        refuse_without_key(partition, records)
                    base_offset, time_ms, log_start, _ = partition.append(records, owned)
                    vlog = partition.vlog
                    if vlog not in touched:
                        touched.append(vlog)  # type: ignore[arg-type]
                    outcomes.append((index, base_offset, time_ms, log_start, _NONE, None))
                except Exception as error:
                    failed = True
                    outcomes.append(self._refused(error, route, index))
                    if partition is None:  # else it remembers that itself
                        now_ms = services.logs.mono_ms()
                        self._early.note(key, index, outcomes[-1][4], records, now_ms)
            if parts:
                topics.append((key, outcomes))
            else:
                failed = True  # a topic without partitions is not answered; the generated codec writes that
        if touched and (len(wanted) > 1 or len(outcomes) > 1) and _lags(touched):
            exchange.charge(BYTES_EACH * sum([len(some) for _, some in topics]))
        if acks == 0:
            self._end_unanswered(exchange, topics, touched, timeout_ms)
            return
        whose: Answerable = exchange
        if failed:
            answer = self._answer(version, correlation_id, topics)
            whose = self._kept(exchange, answer, timeout_ms, version, correlation_id, topics)
        elif len(topics) == 1 and len(outcomes) == 1:
            answer = one_stored(version, correlation_id, key, index, base_offset, time_ms, log_start)
        else:
            answer = all_stored(version, correlation_id, topics)
        if not touched:
            whose.reply(answer)
        elif len(touched) > 1:
            whose = _Joint(whose, len(touched))
        for vlog in touched:
            self._wait(vlog, (whose, answer, timeout_ms, exchange, version, correlation_id, topics, acks))

    # --- where a chunk goes ------------------------------------------------------------------------

    def _partition(self, key: Key, route: _Route, index: int, acks: int) -> Partition:
        """The partition; found once per image, then remembered, unless it is short of copies. Raises
        KafkaError.
        """
        services = self._services
        partition = led_here(services, route.record, index)
        image, topic = services.image(), route.record
        if copies_short(partition, topic, image) or (
            self._too_few and self._too_few.has(partition, needed_copies(partition, topic, image))
        ):
            if acks == ALL:
                raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        else:
            route.partitions[index] = partition
        self._early.tell(key, index, partition)
        return partition

    def _refused(self, error: Exception, route: _Route | None, index: int) -> Outcome:
        code, message = error_of(error)
        log_start = -1
        told = code in _TELLS_LOG_START or isinstance(message, AboutRecords)
        if route is not None and told:
            log_start = led_here(self._services, route.record, index).log_start_offset
        return index, -1, -1, log_start, code, message

    def _route(self, version: int, key: Key) -> _Route:
        image = self._services.image()
        if version >= FIRST_WITH_IDS:
            record = image.topics_by_id.get(key)
            if record is None:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        else:
            try:
                record = image.topics.get(topic_name(version, key))
            except WireError as error:
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION) from error
            if record is None:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if record.internal:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{record.name} is an internal topic")
        return _Route(record)

    # --- waiting -----------------------------------------------------------------------------------

    def _wait(self, vlog: VirtualLogPort, waiting: Waiting) -> None:
        """Answer when ``vlog`` is durable, or with acks=1 written, up to what it holds at the end of this
        loop iteration."""
        batches = self._batches if waiting[7] == ALL else self._journaled
        batch = batches.get(vlog)
        if batch is not None:
            batch.append(waiting)
            return
        batches[vlog] = [waiting]
        if not self._seal_due:
            self._seal_due = True
            waiting[3].connection.server.soon(self._seal)

    def _seal(self) -> None:
        """The turn is over, and its push, which was scheduled before: wait for its batches."""
        self._seal_due = False
        batches, self._batches = self._batches, {}
        for vlog, batch in batches.items():
            vlog.when_durable(vlog.end, partial(self._release, vlog, batch))
            if batch:
                self._flying.append((self._loop.time(), batch))
        if self._journaled:
            batches, self._journaled = self._journaled, {}
            for vlog, batch in batches.items():
                vlog.when_written(vlog.end, partial(self._release, vlog, batch))
                if batch:
                    self._flying.append((self._loop.time(), batch))
        if self._flying and self._sweep is None:
            self._sweep = self._loop.call_later(TIMEOUT_CHECK_SECONDS, self._check_timeouts)

    def _release(self, vlog: VirtualLogPort, batch: list[Waiting]) -> None:
        """Everything the batch waits for is durable: answer all, then send per connection once."""
        if vlog.lost or vlog.live_copies < vlog.copies or self._too_few:
            batch[:] = [self._judged_again(vlog, waiting) for waiting in batch]
        with batch[0][3].connection.server.together():
            for waiting in batch:
                waiting[0].reply(waiting[1])
        batch.clear()

    def _judged_again(self, vlog: VirtualLogPort, waiting: Waiting) -> Waiting:
        """The same, answered with the error it has to get because ``vlog`` is lost or short of copies."""
        whose, answer, timeout_ms, exchange, version, correlation_id, topics, acks = waiting
        if isinstance(whose, _Joint):
            topics = whose.judged or topics
        if vlog.lost:
            judged = _all_failed(topics, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif acks == ALL:
            judged = [(key, self._counted(version, key, outcomes)) for key, outcomes in topics]
        else:
            return waiting
        if judged == topics:
            return waiting
        answer = self._answer(version, correlation_id, judged)
        if isinstance(whose, _Joint):
            whose.instead, whose.judged = answer, judged
        return whose, answer, timeout_ms, exchange, version, correlation_id, judged, acks

    def _counted(self, version: int, key: Key, outcomes: list[Outcome]) -> list[Outcome]:
        """The outcomes of one topic, with the error where its partition has too few copies by now."""
        counted: list[Outcome] = []
        for outcome in outcomes:
            stored = outcome[4] in (_NONE, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
            if stored and self._has_too_few(version, key, outcome[0]):
                outcome = _as_failed(outcome, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)  # noqa: PLW2901
            counted.append(outcome)
        return counted

    def _has_too_few(self, version: int, key: Key, index: int) -> bool:
        """Whether acks=-1 is refused for a partition that has just stored something; if so the next request
        sees it, too, until that has its copies."""
        routes = self._ids if version >= FIRST_WITH_IDS else self._names
        try:
            route = routes.get(key) or self._route(version, key)
            route.partitions.pop(index, None)
            self._partition(key, route, index, ALL)
        except KafkaError as error:
            if error.code is not ErrorCode.NOT_ENOUGH_REPLICAS:
                return False
            partition = self._services.logs.opened(route.record.topic_id, index)
            if partition is not None:
                self._too_few.note(partition)
            return True
        return False

    def _check_timeouts(self) -> None:
        """REQUEST_TIMED_OUT for what waits longer than its request allows; its chunks stay appended."""
        self._sweep = None
        self._flying = [entry for entry in self._flying if entry[1]]
        now = self._loop.time()
        for since, batch in self._flying:
            for _, _, timeout_ms, exchange, version, correlation_id, topics, _ in batch:
                if since + timeout_ms / 1000 <= now and exchange.answer is None:
                    late = _all_failed(topics, ErrorCode.REQUEST_TIMED_OUT)
                    exchange.reply(self._answer(version, correlation_id, late))
        if self._flying:
            self._sweep = self._loop.call_later(TIMEOUT_CHECK_SECONDS, self._check_timeouts)

    # --- partitions that are being handed over ------------------------------------------------------

    def _kept(
        self,
        exchange: Exchange,
        answer: bytes,
        timeout_ms: int,
        version: int,
        correlation_id: int,
        topics: list[TopicOutcome],
    ) -> Answerable:
        """Who answers with an error: the exchange itself, unless a new leader is to be waited for."""
        if not self._is_changing(version, topics):
            return exchange
        return _Kept(
            exchange,
            answer,
            self._holding,
            timeout_ms / 1000,
            lambda: not self._is_changing(version, topics),
            lambda: self._answer(version, correlation_id, topics),
        )

    def _is_changing(self, version: int, topics: list[TopicOutcome]) -> bool:
        """Whether one of the partitions that are not led here is about to get another leader."""
        return any(
            outcome[4] is ErrorCode.NOT_LEADER_OR_FOLLOWER
            and changes_leader(self._services, self._topic(version, key), outcome[0])
            for key, outcomes in topics
            for outcome in outcomes
        )

    # --- answers -----------------------------------------------------------------------------------

    def _end_unanswered(
        self, exchange: Exchange, topics: list[TopicOutcome], touched: list[VirtualLogPort], timeout_ms: int
    ) -> None:
        errors = {outcome[4].name for _, outcomes in topics for outcome in outcomes if outcome[4]}
        pool = self._services.logs.pool
        if errors:
            exchange.connection.close(f"acks=0 and {', '.join(sorted(errors))}")
        elif touched and (pool.used > pool.budget or _lags(touched)):
            # Its bytes are counted until the journal has them, or nobody would make this client wait.
            # No longer than others wait for their answers: a disk may stand still.
            late = self._loop.call_later(max(0, timeout_ms) / 1000, exchange.drop)
            touched[-1].when_written(touched[-1].end, partial(_drop, late, exchange))
        else:
            exchange.drop()

    def _answer(self, version: int, correlation_id: int, topics: list[TopicOutcome]) -> bytes:
        """An answer with errors in it, by the generated codec."""
        from kproto.wire.framing import response_frame
        from kproto.wire.generated.produce import (
            LeaderIdAndEpoch,
            NodeEndpoint,
            PartitionProduceResponse,
            ProduceResponse,
            TopicProduceResponse,
        )

        response = ProduceResponse()
        leaders: set[int] = set()
        for key, outcomes in topics:
            topic = TopicProduceResponse()
            if version >= FIRST_WITH_IDS:
                topic.topic_id = key
            else:
                topic.name = topic_name(version, key)
            for index, base_offset, time_ms, log_start, code, message in outcomes:
                part = PartitionProduceResponse(
                    index=index,
                    error_code=code,
                    base_offset=base_offset,
                    log_append_time_ms=time_ms,
                    log_start_offset=log_start,
                    record_errors=record_errors(message),
                    error_message=message or (TABLE[code].message if code else None),
                )
                if code is ErrorCode.NOT_LEADER_OR_FOLLOWER and version >= FIRST_WITH_LEADER:
                    told = self._leader(version, key, index)
                    if told is not None:
                        part.current_leader = LeaderIdAndEpoch(leader_id=told[0], leader_epoch=told[1])
                        leaders.add(told[0])
                topic.partition_responses.append(part)
            response.responses.append(topic)
        brokers = self._services.image().brokers
        response.node_endpoints = [
            NodeEndpoint(
                node_id=node, host=brokers[node].host, port=brokers[node].port, rack=brokers[node].rack
            )
            for node in sorted(leaders)
            if node in brokers
        ]
        return response_frame(codec(KEY), version, correlation_id, response)

    def _leader(self, version: int, key: Key, index: int) -> tuple[int, int] | None:
        return leader_told(self._services, self._topic(version, key), index)

    def _topic(self, version: int, key: Key) -> TopicRecord | None:
        image = self._services.image()
        with_ids = version >= FIRST_WITH_IDS
        return image.topics_by_id.get(key) if with_ids else image.topics.get(topic_name(version, key))


def _lags(touched: list[VirtualLogPort]) -> bool:
    return any(vlog.end - vlog.durable > MANY for vlog in touched)


def _drop(late: asyncio.TimerHandle, exchange: Exchange) -> None:
    late.cancel()
    exchange.drop()


def _refusal(transactional: bool, acks: int) -> KafkaError | None:
    """Why nothing of a request is taken."""
    if not -1 <= acks <= 1:
        return KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if transactional:
        return KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, NO_TRANSACTIONS)
    return None


def _all_failed(topics: list[TopicOutcome], code: ErrorCode) -> list[TopicOutcome]:
    """The same outcomes with an error for what was stored."""
    return [
        (key, [_as_failed(o, code) if o[4] is _NONE else o for o in outcomes]) for key, outcomes in topics
    ]


def _as_failed(outcome: Outcome, code: ErrorCode) -> Outcome:
    return outcome[0], -1, -1, -1, code, None


def _refuse_zstd(records: memoryview) -> None:
    if len(records) > _ATTRIBUTES_LOW_BYTE and records[_ATTRIBUTES_LOW_BYTE] & 7 == _ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version 7")


def _make(services: Services) -> RawHandle:
    return Producer(services).handle


HANDLER: Final = Handler(key=KEY, min_version=3, max_version=13, raw=_make)
