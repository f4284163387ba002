"""Fetch (key 1), versions 4-18.

One request's way: its partitions come from the request or from its session (KIP-227); each is read from
its offset up to the high watermark, or the last stable offset for read_committed; when fewer than
min.bytes are there and nothing went wrong, the fetch waits for news of its partitions, at most
max.wait.ms, and reads again. No more is waited for than the answer may hold, nor once the client asks
something else on the same connection (produce and fetch excepted), whose answer comes behind this one: Spark
asks where logs end after each poll, and Apache Kafka has it wait for the long poll. Records go out as the
pieces the log gives: memory of segments, or file ranges, which are loaded without blocking when they are in
the page cache and by a thread when not. What a new leader has not brought over yet is read from the brokers
that have copies (rule 27b); KAFKA_STORAGE_ERROR while none of them answers.

Limits: the answer holds at most max.bytes (and ``fetch.max.bytes``), a partition at most its own limit,
except that the first chunk of the first partition with data is always sent whole (KIP-74). Chunks are
never cut.

Version notes: v5 log start offset, v7 sessions, v9 current leader epoch (FENCED_ and UNKNOWN_LEADER_EPOCH,
KIP-320), v11 preferred replica (always -1), v12 flexible; diverging epochs are for replicas and never
sent; v13 topic ids, v16 node endpoints beside the current leader tag (KIP-951). Throttle time is always 0.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Handler, RawHandle, Services
from kproto.handlers.fetch_request import ParsedFetch, parse
from kproto.handlers.fetch_sessions import (
    BYTES_EACH,
    NO_SESSION,
    FetchContext,
    FetchPartition,
    SessionCache,
)
from kproto.handlers.fetch_wire import (
    FIRST_WITH_ENDPOINTS,
    FIRST_WITH_IDS,
    FIRST_WITH_SESSIONS,
    NO_PREFERRED_REPLICA,
    PIECES,
    SIZE,
    AnyAnswer,
    Endpoint,
    Leader,
    PartitionAnswer,
    answer,
)
from kproto.handlers.leading import check_epoch, error_of, leader_told, led_here
from kproto.log.reader import FileRange, RemoteRange, load_blocking, load_nowait
from kproto.net.deadlines import Deadlines

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.metadata import MetadataImage, TopicRecord
    from kproto.net.server import Exchange

log = logging.getLogger(__name__)

KEY: Final = 1
ANY_SIZE: Final = 1 << 40
LEAST_BYTES_UNDER_PRESSURE: Final = 64 * 1024
"""What a fetch may still answer when the memory budget is used up."""
FEW: Final = 16
"""Partitions of a fetch that are not worth counting the memory they take while it waits."""
NOTHING: Final[Sequence[Any]] = ()
Ranges = list[FileRange | RemoteRange]
"""What of one partition's answer is not in memory: file ranges, or one remote range."""
Loaded = list[memoryview] | Exception
"""The bytes of one partition's ranges, or why there are none."""
MOST_BYTES_ON_THE_LOOP: Final = 2 * 1024 * 1024
"""More is loaded by a thread even from the page cache: copying it would keep all others waiting."""
MOST_BYTES_LOADED: Final = 8 * 1024 * 1024
"""Nor is more loaded for one answer, unless it waits for more: so much memory can be used again and again."""
_TELLS_LEADER: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Fetcher:
    """The broker's one Fetch handler: the sessions and the fetches that wait."""

    __slots__ = ("deadlines", "loop", "max_bytes", "services", "sessions", "tasks")

    def __init__(self, services: Services) -> None:
        self.services = services
        self.loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(self.loop)
        budget = services.budget
        self.sessions = SessionCache(
            services.settings.max_incremental_fetch_session_cache_slots,
            budget.limit // 4 // BYTES_EACH,
            budget.keep,
        )
        self.max_bytes = services.settings.fetch_max_bytes
        self.tasks: set[asyncio.Task[list[Loaded]]] = set()
        """Those that read from other brokers."""

    def handle(
        self,
        exchange: Exchange,
        version: int,
        correlation_id: int,
        frame: memoryview,
        position: int,
        owned: bool,  # noqa: ARG002  (nothing of a fetch request is kept)
    ) -> None:
        """One request; see :data:`kproto.handlers.context.RawHandle`."""
        request = parse(version, frame, position)
        if version < FIRST_WITH_SESSIONS:
            context = FetchContext.once(request.wanted)
        else:
            try:
                context = self.sessions.open(
                    request.session_id,
                    request.session_epoch,
                    version >= FIRST_WITH_IDS,
                    request.wanted,
                    request.forgotten,
                    self.loop.time(),
                )
            except KafkaError as error:
                pieces, size = answer(version, correlation_id, error.code, 0, False, ())
                exchange.respond(pieces, size)
                return
        if context.session_id == NO_SESSION and len(request.wanted) > FEW:
            exchange.charge(len(request.wanted) * BYTES_EACH)
        _Fetch(self, exchange, version, correlation_id, request, context).begin()

    def topic_record(self, key: str | bytes) -> TopicRecord | None:
        """The topic a request means by ``key``; None when there is none."""
        image = self.services.image()
        return image.topics.get(key) if isinstance(key, str) else image.topics_by_id.get(key)


class _Fetch:
    """One Fetch request until it is answered.

    It is answered once: by :meth:`_answer`, which also ends all waiting. While it waits it is told of news by
    its session, or counts them in each partition, and is in the exchange's ``interrupt`` and in the fetcher's
    deadlines.
    """

    __slots__ = (
        "_answers",
        "_awake",
        "_context",
        "_correlation_id",
        "_exchange",
        "_failed",
        "_fetcher",
        "_in_memory",
        "_max_bytes",
        "_max_wait_ms",
        "_min_bytes",
        "_size",
        "_version",
        "_waits",
        "_watches",
        "done",
        "read_committed",
    )

    def __init__(
        self,
        fetcher: Fetcher,
        exchange: Exchange,
        version: int,
        correlation_id: int,
        request: ParsedFetch,
        context: FetchContext,
    ) -> None:
        self._fetcher = fetcher
        self._exchange = exchange
        self._version = version
        self._correlation_id = correlation_id
        self._context = context
        self._max_wait_ms = request.max_wait_ms
        self._max_bytes = min(request.max_bytes, fetcher.max_bytes)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self.read_committed = request.read_committed
        self._answers: list[tuple[FetchPartition, AnyAnswer]] = []
        self._size = 0
        self._failed = False
        self._in_memory = True
        """Whether nothing has to be loaded for the answer."""
        self.done = False
        self._awake = False
        self._waits = False
        self._watches: list[tuple[Partition, _Watch]] = []

    def begin(self) -> None:
        """Read; answer at once if that is enough, else wait."""
        self._read()
        if self._enough() or self._max_wait_ms <= 0 or not self._context.session.partitions:
            self._answer()
        else:
            self._wait()

    def _enough(self) -> bool:
        if self._failed or self._size >= self._min_bytes:
            return True
        if self._size:
            self._size = self._filled()
        return self._size >= self._min_bytes

    def _filled(self) -> int:
        """How large the answer were if chunks were cut at its limits: who asks for about as much as fits is
        not to wait because the next chunk does not fit."""
        total = 0
        left = self._max_bytes
        for wanted, found in self._answers:
            size = found[SIZE]
            most = min(wanted.max_bytes, left)
            if size < most:
                partition: Partition = wanted.partition  # type: ignore[assignment]  # it was just read
                if partition.read(wanted.offset, ANY_SIZE, self.read_committed).size > most:
                    size = most
            total += size
            left = max(0, left - size)
        return total

    # --- reading -----------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read every partition that may have news as far as the limits allow; those that have none leave
        the session's list of them.
        """
        session = self._context.session
        image = self._fetcher.services.image()
        revision = image.revision
        if session.revision != revision:
            session.revision = revision
            session.all_news()
        committed = self.read_committed
        incremental = self._context.incremental
        left = -1
        first = in_memory = True
        total = 0
        self._failed = False
        self._answers = answers = []
        news: list[FetchPartition] = []
        for wanted in session.news:
            try:
                partition = wanted.partition
                if partition is None or wanted.revision != revision:
                    partition = self._find(wanted, image)
                if partition.leader_epoch != wanted.leader_epoch >= 0:
                    check_epoch(partition, wanted.leader_epoch)
                high_watermark = partition.high_watermark
                stable = partition.last_stable_offset
                log_start = partition.log_start_offset
                if wanted.offset == (stable if committed else high_watermark):
                    if (
                        incremental
                        and wanted.sent_high_watermark == high_watermark
                        and wanted.sent_log_start == log_start
                    ):
                        wanted.is_news = False
                        if wanted.watched is not partition:
                            wanted.watch()
                        continue
                    pieces, size = NOTHING, 0
                else:
                    if left < 0:
                        left = self._limit()
                    read = partition.read(wanted.offset, min(wanted.max_bytes, left), committed, first)
                    pieces, size = read.pieces, read.size
                    in_memory &= read.in_memory
                if size:
                    first = False
                    left = max(0, left - size)
                    total += size
                    if not in_memory and total >= self._min_bytes:
                        left = min(left, max(0, MOST_BYTES_LOADED - total))
                found: AnyAnswer = wanted.index, 0, high_watermark, stable, log_start, pieces, size, None
            except Exception as error:
                self._failed = True
                found = self._refused(wanted, error_of(error)[0])
            news.append(wanted)
            answers.append((wanted, found))
        session.news = news
        self._size = total
        self._in_memory = in_memory

    def _limit(self) -> int:
        """Bytes that may be answered."""
        free = self._fetcher.services.budget.free()
        return min(self._max_bytes, max(free // 2, LEAST_BYTES_UNDER_PRESSURE))

    def _find(self, wanted: FetchPartition, image: MetadataImage) -> Partition:
        """The partition, noted for as long as ``image`` is the newest."""
        if isinstance(wanted.topic, str):
            record = image.topics.get(wanted.topic)
        else:
            record = image.topics_by_id.get(wanted.topic)
            if record is None:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        partition = led_here(self._fetcher.services, record, wanted.index, wanted.leader_epoch)
        wanted.partition = partition
        wanted.revision = image.revision
        return partition

    def _refused(self, wanted: FetchPartition, code: ErrorCode) -> PartitionAnswer:
        """The answer to who is not served, with the leader if another one leads.

        Who asks here though he knows the leader epoch, and so the leader, does not find the way: when a
        leader changes and changes back within a moment, librdkafka (2.16) fetches from the one between for
        ever. It goes where the preferred read replica is said to be (KIP-392): to the leader. Others heed
        that only where there is no error."""
        leader = None
        if self._version >= FIRST_WITH_ENDPOINTS and code in _TELLS_LEADER:
            record = self._fetcher.topic_record(wanted.topic)
            told = leader_told(self._fetcher.services, record, wanted.index)
            if told is not None:
                node_id, epoch = told
                elsewhere = node_id != self._fetcher.services.node_id and wanted.leader_epoch == epoch
                astray = elsewhere and code is ErrorCode.NOT_LEADER_OR_FOLLOWER
                leader = Leader(node_id, epoch, node_id if astray else NO_PREFERRED_REPLICA)
        return PartitionAnswer(wanted.index, code, -1, -1, -1, (), 0, leader)

    # --- waiting -----------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Be called when there is news; with min.bytes above 1 only when the news add up to that."""
        session = self._context.session
        if self._min_bytes > 1:
            for wanted in session.partitions.values():
                partition: Partition = wanted.partition  # type: ignore[assignment]  # it was just read
                watch = _Watch(self, partition, wanted)
                partition.waiters.append(watch)
                self._watches.append((partition, watch))
            session.waiting.append(self.stay)
        else:
            session.wait(self.wake)
        self._exchange.interrupt = self._interrupt
        self._fetcher.deadlines.add(self._max_wait_ms, self)
        self._waits = True

    def stay(self) -> None:
        """In the session's ``waiting``, so that its partitions stay: news are counted elsewhere."""

    def wake(self) -> None:
        """News of one of the partitions."""
        if not self._awake:
            self._awake = True
            self._exchange.connection.server.soon(self.look_again)

    def count(self, size: int) -> None:
        """One partition has ``size`` bytes more to read."""
        self._size += size
        if self._size >= self._min_bytes:
            self.wake()

    def look_again(self) -> None:
        """Read again; answer if that is enough now."""
        self._awake = False
        if self.done:
            return
        self._read()
        if self._enough():
            self._answer()

    def expire(self) -> None:
        """The time is over: answer what there is."""
        self._answer(anew=True)

    def _interrupt(self) -> None:
        """The broker drains, the client is gone, or it asks something else behind this."""
        if self._exchange.connection.closed:
            self._stop_waiting()
        elif not self.done:
            self._answer(anew=True)

    def _stop_waiting(self) -> None:
        self.done = True
        if not self._waits:
            return
        self._exchange.interrupt = None
        self._fetcher.deadlines.end(self._max_wait_ms, self)
        self._context.session.rest(self.stay if self._min_bytes > 1 else self.wake)
        for partition, watch in self._watches:
            partition.waiters.remove(watch)
        self._watches = []

    # --- answering ---------------------------------------------------------------------------------

    def _answer(self, *, anew: bool = False) -> None:
        """End all waiting and answer with what was read last, or is read ``anew``. When that fails the
        connection ends, which waits for nothing else; others, whose time is over, too, are answered all the
        same."""
        try:
            if anew:
                self._read()
            self._stop_waiting()
            self._answer_now()
        except Exception:
            log.exception("an answer could not be made")
            self._exchange.connection.close("internal error")

    def _answer_now(self) -> None:
        """Answer, loading ranges first."""
        if self._in_memory:
            self._send({})
            return
        by_partition: list[Ranges] = [
            [piece for piece in found[PIECES] if not isinstance(piece, memoryview)]
            for _, found in self._answers
        ]
        ranges = [piece for pieces in by_partition for piece in pieces]
        if ranges:
            self._load(by_partition, ranges)
        else:
            self._send({})

    def _load(self, by_partition: list[Ranges], ranges: Ranges) -> None:
        """Send when everything is in memory: at once what the page cache has."""
        reserved = 0
        files: list[FileRange] = []
        for piece in ranges:
            if isinstance(piece, FileRange):
                files.append(piece)
                reserved += piece.length if piece.position >= 0 else piece.max_bytes
            else:
                reserved += piece.max_bytes
        only_files = len(files) == len(ranges)
        loaded = _load_now(files) if only_files and reserved <= MOST_BYTES_ON_THE_LOOP else None
        if loaded is not None:
            self._send(dict(zip(map(id, files), loaded, strict=True)))
            return
        services = self._fetcher.services
        services.budget.change(reserved)
        for file in files:
            file.prepare()
        future: asyncio.Future[list[Loaded]]
        if only_files:
            future = services.blocking.run(_load_each, by_partition)  # type: ignore[arg-type]
        else:
            future = task = self._fetcher.loop.create_task(_load_anywhere(services, by_partition))
            self._fetcher.tasks.add(task)
            task.add_done_callback(self._fetcher.tasks.discard)
        future.add_done_callback(partial(self._on_loaded, by_partition, reserved))

    def _on_loaded(
        self, by_partition: list[Ranges], reserved: int, future: asyncio.Future[list[Loaded]]
    ) -> None:
        try:
            if not future.cancelled():
                try:
                    results = future.result()
                except Exception as error:
                    results = [error if ranges else [] for ranges in by_partition]
                self._send_loaded(by_partition, results)
                self._exchange.connection.settle()
        except Exception:
            log.exception("an answer could not be made")
            self._exchange.connection.close("internal error")
        finally:
            # Only now: given back earlier, others would take the memory that the answer is about to be
            # charged.
            self._fetcher.services.budget.change(-reserved)

    def _send_loaded(self, by_partition: list[Ranges], results: list[Loaded]) -> None:
        loaded: dict[int, memoryview] = {}
        for i, (ranges, result) in enumerate(zip(by_partition, results, strict=True)):
            if isinstance(result, Exception):
                wanted = self._answers[i][0]
                self._answers[i] = wanted, self._refused(wanted, error_of(result)[0])
                log.error("%r partition %d cannot be read: %s", wanted.topic, wanted.index, result)
            else:
                loaded.update(zip(map(id, ranges), result, strict=True))
        self._send(loaded)

    def _send(self, loaded: dict[int, memoryview]) -> None:
        """Tell the news, with ``loaded`` (by identity of the range) in place of the ranges."""
        context = self._context
        topics: list[tuple[str | bytes, list[AnyAnswer]]] = []
        last: str | bytes | None = None
        leaders: set[int] = set()
        served: list[FetchPartition] = []
        for wanted, read in self._answers:
            found = _with_loaded(read, loaded) if loaded and read[SIZE] else read
            _, error, high_watermark, _, log_start, _, size, leader = found
            if size:
                served.append(wanted)
            news = wanted.news(high_watermark, log_start, size, error)
            if context.incremental and not news:
                continue
            if leader is not None:
                leaders.add(leader.node_id)
            if wanted.topic != last:
                topics.append((wanted.topic, []))
                last = wanted.topic
            topics[-1][1].append(found)
        if context.incremental:
            context.session.served(served)
        pieces, size = answer(
            self._version,
            self._correlation_id,
            0,
            context.session_id,
            self.read_committed,
            topics,
            self._endpoints(leaders) if leaders else (),
        )
        self._answers = []
        context.session.over()
        self._exchange.respond(pieces, size)

    def _endpoints(self, leaders: set[int]) -> list[Endpoint]:
        brokers = self._fetcher.services.image().brokers
        return [
            Endpoint(node, brokers[node].host, brokers[node].port, brokers[node].rack)
            for node in sorted(leaders)
            if node in brokers
        ]


class _Watch:
    """Counts what becomes readable in one partition for a fetch that waits for many bytes: never less than
    :meth:`_Fetch._filled` would.
    """

    __slots__ = ("_epoch", "_fetch", "_left", "_log_start", "_partition", "_read_committed", "_seen")

    def __init__(self, fetch: _Fetch, partition: Partition, wanted: FetchPartition) -> None:
        self._fetch = fetch
        self._partition = partition
        self._read_committed = fetch.read_committed
        self._left = wanted.max_bytes
        self._seen = self._end()
        self._log_start = partition.log_start_offset
        self._epoch = partition.leader_epoch

    def _end(self) -> int:
        partition = self._partition
        return partition.last_stable_offset if self._read_committed else partition.high_watermark

    def __call__(self) -> None:
        partition = self._partition
        if (
            partition.deleted
            or partition.leader_epoch != self._epoch
            or partition.log_start_offset != self._log_start
        ):
            self._fetch.wake()
            return
        end = self._end()
        if end > self._seen and self._left > 0:
            size = partition.read(self._seen, ANY_SIZE, self._read_committed).size
            self._seen = end
            self._left -= size
            self._fetch.count(size)


def _load_now(ranges: list[FileRange]) -> list[memoryview] | None:
    """What the page cache has; None when it has not all or a file cannot be read: the thread tells which."""
    try:
        return load_nowait(ranges)
    except KafkaError:
        return None


def _load_each(by_partition: list[list[FileRange]]) -> list[Loaded]:
    """Load the ranges of each partition, in a thread; an error is that partition's alone."""
    results: list[Loaded] = []
    for ranges in by_partition:
        try:
            results.append(load_blocking(ranges))
        except Exception as error:
            results.append(error)
    return results


async def _load_anywhere(services: Services, by_partition: list[Ranges]) -> list[Loaded]:
    """Load the ranges of each partition, all at the same time; an error is that partition's alone."""
    return await asyncio.gather(*(_load_one(services, ranges) for ranges in by_partition))


async def _load_one(services: Services, ranges: Ranges) -> Loaded:
    files = [piece for piece in ranges if isinstance(piece, FileRange)]
    try:
        if files:
            (loaded,) = await services.blocking.run(_load_each, [files])
            return loaded
        return [await piece.load() for piece in ranges if isinstance(piece, RemoteRange)]
    except Exception as error:
        return error


def _with_loaded(found: AnyAnswer, loaded: dict[int, memoryview]) -> AnyAnswer:
    """Memory in place of ranges; what was cut in loading makes the answer smaller, and ends it where a range
    broke off."""
    pieces: list[Any] = []
    for piece in found[PIECES]:
        pieces.append(loaded.get(id(piece), piece))
        if isinstance(piece, FileRange) and piece.short:
            break
    return (*found[:PIECES], pieces, sum(map(len, pieces)), found[-1])


def _make(services: Services) -> RawHandle:
    return Fetcher(services).handle


HANDLER: Final = Handler(key=KEY, min_version=4, max_version=18, raw=_make)
