"""Produce (key 0), versions 3-13; 0-2 are advertised but rejected (KAFKA-18659).

Every chunk of the request is appended first; then each touched virtual log is waited for once, together
with all requests of the same loop iteration. acks=1 and acks=-1 wait for the same thing: the chunk is on all
copies, which for replication factor 1 is the owner's journal. acks=0 gets no answer; an error closes its
connection, as in Kafka, because nothing else can tell the client.

Version notes: v7 zstd (before: UNSUPPORTED_COMPRESSION_TYPE), v8 error messages (KIP-467), v9 flexible,
v10 current leader and node endpoints with NOT_LEADER_OR_FOLLOWER (KIP-951), v13 topic ids (UNKNOWN_TOPIC_ID).
Requests with a transactional id, and transactional batches, get TRANSACTIONAL_ID_AUTHORIZATION_FAILED until
transactions exist, as from FindCoordinator. Throttle time is always 0.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from kproto.errors import TABLE, ErrorCode, KafkaError
from kproto.handlers.context import Handler, RawHandle, Services
from kproto.handlers.leading import error_of, led_here
from kproto.handlers.produce_wire import (
    FIRST_WITH_IDS,
    Key,
    all_stored,
    one_stored,
    parse,
    topic_name,
)
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
TIMEOUT_CHECK_SECONDS: Final = 0.1
_ATTRIBUTES_LOW_BYTE: Final = 22
_ZSTD: Final = 4
_NONE: Final = ErrorCode.NONE
_TELLS_LOG_START: Final = (
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TIMESTAMP,
)
"""Errors found when the partition was there already: its log start is told with them, as by Apache Kafka."""

Outcome = tuple[int, ErrorCode, str | None, int, int, int]
"""Partition index, error, message, base offset, log append time, log start offset."""
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

    __slots__ = ("_exchange", "_left")

    def __init__(self, exchange: Exchange, left: int) -> None:
        self._exchange = exchange
        self._left = left

    def reply(self, frame: bytes) -> None:
        self._left -= 1
        if self._left == 0:
            self._exchange.reply(frame)


Waiting = tuple[Answerable, bytes, int, "Exchange", int, int, "list[TopicOutcome]"]
"""Whose ``reply`` to call with which frame; and for the case that it takes too long: timeout in ms, exchange,
version, correlation id, outcomes. A plain tuple, because one is made per request."""


class Producer:
    """The broker's one Produce handler.

    Requests that wait for the same virtual log and arrived in the same loop iteration share one batch and one
    ``when_durable``; the batch is answered, and flushed to the sockets, in one go.
    """

    __slots__ = ("_batches", "_flying", "_ids", "_loop", "_names", "_seal_due", "_services", "_sweep")

    def __init__(self, services: Services) -> None:
        self._services = services
        self._loop = asyncio.get_running_loop()
        self._names: dict[Key, _Route] = {}
        self._ids: dict[Key, _Route] = {}
        """Routes of the current image, by key of a request with names and with ids."""
        services.controller.subscribe(self._on_image)
        self._batches: dict[VirtualLogPort, list[Waiting]] = {}
        """What this loop iteration appended, by virtual log."""
        self._seal_due = False
        self._flying: list[tuple[float, list[Waiting]]] = []
        """Batches not durable at once: when they were sealed, who waits (emptied when answered)."""
        self._sweep: asyncio.TimerHandle | None = None

    def _on_image(self, image: MetadataImage) -> None:  # noqa: ARG002
        self._names.clear()
        self._ids.clear()

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
        transactional, acks, timeout_ms, wanted = parse(version, frame, position)
        refused: KafkaError | None = None
        if not -1 <= acks <= 1:
            refused = KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
        elif transactional:
            refused = KafkaError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "this broker has no transactions yet"
            )
        failed = refused is not None or not wanted
        touched: list[VirtualLogPort] = []
        topics: list[TopicOutcome] = []
        routes = self._ids if version >= FIRST_WITH_IDS else self._names
        for key, parts in wanted:
            route = routes.get(key)
            outcomes: list[Outcome] = []
            for index, records in parts:
                try:
                    if refused is not None:
                        raise refused
                    if route is None:
                        route = routes[key] = self._route(version, key)
                    partition = route.partitions.get(index) or self._partition(route, index)
                    if records is None:
                        raise KafkaError(ErrorCode.INVALID_RECORD, "a partition without a record batch")
                    if version < FIRST_WITH_ZSTD:
                        _refuse_zstd(records)
                    base_offset, time_ms, log_start, _ = partition.append(records, owned)
                    vlog = partition.vlog
                    if vlog not in touched:
                        touched.append(vlog)  # type: ignore[arg-type]
                    outcomes.append((index, _NONE, None, base_offset, time_ms, log_start))
                except Exception as error:
                    failed = True
                    code, message = error_of(error)
                    log_start = partition.log_start_offset if code in _TELLS_LOG_START else -1
                    outcomes.append((index, code, message, -1, -1, log_start))
            if parts:
                topics.append((key, outcomes))
            else:
                failed = True  # a topic without partitions is not answered; the generated codec writes that
        if acks == 0:
            self._end_unanswered(exchange, topics)
            return
        if failed:
            answer = self._answer(version, correlation_id, topics)
        elif len(topics) == 1 and len(outcomes) == 1:
            answer = one_stored(version, correlation_id, key, index, base_offset, time_ms, log_start)
        else:
            answer = _stored_frame(version, correlation_id, topics)
        if len(touched) == 1:
            self._wait(touched[0], (exchange, answer, timeout_ms, exchange, version, correlation_id, topics))
        elif touched:
            joint = _Joint(exchange, len(touched))
            for vlog in touched:
                self._wait(vlog, (joint, answer, timeout_ms, exchange, version, correlation_id, topics))
        else:
            exchange.reply(answer)

    # --- where a chunk goes ------------------------------------------------------------------------

    def _partition(self, route: _Route, index: int) -> Partition:
        """The partition; found once per image, then remembered. Raises KafkaError."""
        partition = route.partitions[index] = led_here(self._services, route.record, index)
        return partition

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
        """Answer when ``vlog`` is durable up to what it holds at the end of this loop iteration."""
        batch = self._batches.get(vlog)
        if batch is not None:
            batch.append(waiting)
            return
        self._batches[vlog] = [waiting]
        if not self._seal_due:
            self._seal_due = True
            waiting[3].connection.server.soon(self._seal)

    def _seal(self) -> None:
        """The turn is over, and its push, which was scheduled before: wait for its batches."""
        self._seal_due = False
        batches, self._batches = self._batches, {}
        for vlog, batch in batches.items():
            vlog.when_durable(vlog.end, partial(_release, batch))
            if batch:
                self._flying.append((self._loop.time(), batch))
        if self._flying and self._sweep is None:
            self._sweep = self._loop.call_later(TIMEOUT_CHECK_SECONDS, self._check_timeouts)

    def _check_timeouts(self) -> None:
        """REQUEST_TIMED_OUT for what waits longer than its request allows; its chunks stay appended."""
        self._sweep = None
        self._flying = [entry for entry in self._flying if entry[1]]
        now = self._loop.time()
        for since, batch in self._flying:
            for _, _, timeout_ms, exchange, version, correlation_id, topics in batch:
                if since + timeout_ms / 1000 <= now and exchange.answer is None:
                    exchange.reply(self._answer(version, correlation_id, _timed_out(topics)))
        if self._flying:
            self._sweep = self._loop.call_later(TIMEOUT_CHECK_SECONDS, self._check_timeouts)

    # --- answers -----------------------------------------------------------------------------------

    def _end_unanswered(self, exchange: Exchange, topics: list[TopicOutcome]) -> None:
        errors = {outcome[1].name for _, outcomes in topics for outcome in outcomes if outcome[1]}
        if errors:
            exchange.connection.close(f"acks=0 and {', '.join(sorted(errors))}")
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
            for index, code, message, base_offset, time_ms, log_start in outcomes:
                part = PartitionProduceResponse(
                    index=index,
                    error_code=code,
                    base_offset=base_offset,
                    log_append_time_ms=time_ms,
                    log_start_offset=log_start,
                    error_message=message or (TABLE[code].message if code else None),
                )
                if code is ErrorCode.NOT_LEADER_OR_FOLLOWER and version >= FIRST_WITH_LEADER:
                    leader, epoch = self._leader(version, key, index)
                    part.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
                    leaders.add(leader)
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

    def _leader(self, version: int, key: Key, index: int) -> tuple[int, int]:
        image = self._services.image()
        streamlet = image.partition_streamlet(self._route(version, key).record, index)
        return streamlet.leader, streamlet.leader_epoch


def _stored_frame(version: int, correlation_id: int, topics: list[TopicOutcome]) -> bytes:
    """An answer without errors, by hand."""
    stored = [(key, [(o[0], o[3], o[4], o[5]) for o in outcomes]) for key, outcomes in topics]
    return all_stored(version, correlation_id, stored)


def _timed_out(topics: list[TopicOutcome]) -> list[TopicOutcome]:
    """The same outcomes with REQUEST_TIMED_OUT for what was stored."""
    late = ErrorCode.REQUEST_TIMED_OUT
    return [
        (key, [(o[0], late, None, -1, -1, -1) if o[1] is _NONE else o for o in outcomes])
        for key, outcomes in topics
    ]


def _release(batch: list[Waiting]) -> None:
    """Everything the batch waits for is durable: answer all, then send per connection once."""
    with batch[0][3].connection.server.together():
        for waiting in batch:
            waiting[0].reply(waiting[1])
    batch.clear()


def _refuse_zstd(records: memoryview) -> None:
    if len(records) > _ATTRIBUTES_LOW_BYTE and records[_ATTRIBUTES_LOW_BYTE] & 7 == _ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version 7")


def _make(services: Services) -> RawHandle:
    return Producer(services).handle


HANDLER: Final = Handler(key=KEY, min_version=3, max_version=13, raw=_make)
