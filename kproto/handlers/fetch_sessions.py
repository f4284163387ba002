"""Incremental fetch sessions (KIP-227): what a client fetches is remembered, so requests and answers carry
changes only. The broker looks at changes only, too: a partition that has nothing to tell stays out of
`Session.news` until its log calls `FetchPartition.hear`, so that a fetch costs what it brings, not what it
might have brought.

Pure: no clock, no socket. A session lives in one of ``max.incremental.fetch.session.cache.slots`` slots.
When they are taken, a session unused for two minutes makes room, or else the smallest one that is older
than that and smaller than the newcomer; if there is none the client is answered without a session (id 0)
and keeps sending full requests. So is who would bring all sessions above `MOST_PARTITIONS`, unless the unused
make room. A session that changes to more than `MAX_PARTITIONS`, or brings all above their bound, ends with
FETCH_SESSION_ID_NOT_FOUND: clients send a full request then. With names (versions 7-12) and with ids (13 on)
are different sessions; mixing them is FETCH_SESSION_TOPIC_ID_ERROR.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from kproto.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kproto.log.partition import Partition

NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
MAX_EPOCH: Final = 2**31 - 1
EVICTION_SECONDS: Final = 120.0
MAX_PARTITIONS: Final = 20_000
"""Of one fetch: it is handled in one piece, up to 7 us for each."""
MOST_PARTITIONS: Final = 1_000_000
"""Of all sessions, however much memory there is."""
BYTES_EACH: Final = 560
"""That a partition takes while it is fetched, in a session or by a request that waits: 550 were measured."""

TopicKey = str | bytes
"""A name, or an id of 16 bytes."""
PartitionKey = tuple[TopicKey, int]
Wanted = tuple[PartitionKey, int, int, int]
"""What a request says of a partition: which, offset, most bytes, current leader epoch (-1: not said)."""


class FetchPartition:
    """One partition a client fetches: what it asked for, and in a session what it was last told.

    Invariant: it is in ``session.news``, or its log has nothing that the client was not told and will call
    `hear` when that changes.
    """

    __slots__ = (
        "index",
        "is_news",
        "key",
        "leader_epoch",
        "max_bytes",
        "offset",
        "partition",
        "revision",
        "sent_high_watermark",
        "sent_log_start",
        "session",
        "topic",
        "watched",
    )

    def __init__(
        self, session: Session, key: PartitionKey, offset: int, max_bytes: int, leader_epoch: int
    ) -> None:
        self.session = session
        self.key = key
        self.topic, self.index = key
        self.offset = offset
        self.max_bytes = max_bytes
        self.leader_epoch = leader_epoch
        """The client's current leader epoch, -1: not said."""
        self.sent_high_watermark = -1
        self.sent_log_start = -1
        self.partition: Partition | None = None
        self.revision = -1
        """Of the image in which ``partition`` was found; with another one it must be found again. The image
        itself is not kept: a session may idle for days."""
        self.is_news = False
        """It is in ``session.news``."""
        self.watched: Partition | None = None
        """The log that calls `hear`."""

    def watch(self) -> None:
        """Have the log call `hear`."""
        partition = self.partition
        if self.watched is not partition:
            self.unwatch()
            if partition is not None:
                partition.waiters.append(self.hear)
                self.watched = partition

    def unwatch(self) -> None:
        if self.watched is not None:
            self.watched.waiters.remove(self.hear)
            self.watched = None

    def hear(self) -> None:
        """There is news of the partition. When that was known already and no fetch waits, whoever comes next
        will look, and no more has to be heard until then."""
        session = self.session
        if not self.is_news:
            self.is_news = True
            session.news.append(self)
        elif not session.waiting:
            self.unwatch()
        for wake in session.waiting:
            wake()

    def news(self, high_watermark: int, log_start: int, size: int, error: int) -> bool:
        """Whether an incremental answer must mention this partition; notes what it will be told."""
        told = size > 0 or error != 0
        if self.sent_high_watermark != high_watermark:
            self.sent_high_watermark = high_watermark
            told = True
        if self.sent_log_start != log_start:
            self.sent_log_start = log_start
            told = True
        if error:
            self.sent_high_watermark = -1  # so that the end of the error is told too
        return told


class Session:
    """The partitions of one client. Without a slot of the cache (id 0) it lives for one request."""

    __slots__ = (
        "created",
        "ended",
        "epoch",
        "id",
        "news",
        "partitions",
        "revision",
        "used",
        "waiting",
        "with_ids",
    )

    def __init__(self, session_id: int, with_ids: bool, wanted: Iterable[Wanted], now: float) -> None:
        self.id = session_id
        self.with_ids = with_ids
        self.partitions: dict[PartitionKey, FetchPartition] = {}
        self.news: list[FetchPartition] = []
        """Partitions to look at, in the order in which they are served next (least recently served first)."""
        self.waiting: list[Callable[[], object]] = []
        """What to call when something becomes news: fetches that wait."""
        self.revision = -1
        """When it is not that of the newest image any more, everything is to be looked at."""
        self.epoch = 1
        """Epoch the next request must carry."""
        self.created = now
        self.used = now
        self.ended = False
        self.update(wanted, ())

    def update(self, wanted: Iterable[Wanted], forgotten: Sequence[PartitionKey]) -> None:
        """Apply the changes an incremental request carries."""
        partitions, news = self.partitions, self.news
        for key, offset, max_bytes, leader_epoch in wanted:
            known = partitions.get(key)
            if known is None:
                known = partitions[key] = FetchPartition(self, key, offset, max_bytes, leader_epoch)
            else:
                known.offset = offset
                known.max_bytes = max_bytes
                known.leader_epoch = leader_epoch
            if not known.is_news:
                known.is_news = True
                news.append(known)
        for key in forgotten:
            gone = partitions.pop(key, None)
            if gone is not None:
                gone.unwatch()
                gone.is_news = False
        if forgotten:
            self.news = [one for one in news if one.is_news]

    def all_news(self) -> None:
        """Have everything looked at."""
        for one in self.partitions.values():
            if not one.is_news:
                one.is_news = True
                self.news.append(one)

    def served(self, some: list[FetchPartition]) -> None:
        """Data of these, in the order of ``news``, was sent: next time the others come first."""
        if len(some) < len(self.news):
            last = set(some)
            self.news = [one for one in self.news if one not in last] + [one for one in some if one.is_news]

    def wait(self, wake: Callable[[], object]) -> None:
        """Call ``wake()`` for all news, until `rest`."""
        self.waiting.append(wake)
        for one in self.news:
            one.watch()

    def rest(self, wake: Callable[[], object]) -> None:
        if wake in self.waiting:
            self.waiting.remove(wake)
        if self.ended:
            self.end()

    def end(self) -> None:
        """Nothing is to be heard any more, unless a fetch still waits."""
        self.ended = True
        if not self.waiting:
            for one in self.partitions.values():
                one.unwatch()
            self.over()

    def over(self) -> None:
        """A request is answered. After the last one the partitions are forgotten: they know the session, too,
        and what knows each other stays until a full collection, which is seldom.
        """
        if self.ended and not self.waiting:
            self.partitions = {}
            self.news = []


class FetchContext:
    """What one request fetches, and how its answer is told."""

    __slots__ = ("incremental", "session", "session_id")

    def __init__(self, session: Session, incremental: bool) -> None:
        self.session = session
        self.session_id = session.id
        self.incremental = incremental
        """Only partitions with news are answered."""

    @classmethod
    def once(cls, wanted: Iterable[Wanted]) -> FetchContext:
        """Of a request without a session."""
        session = Session(NO_SESSION, False, wanted, 0.0)
        session.ended = True
        return cls(session, incremental=False)


class SessionCache:
    """All sessions of a broker, least recently used first. Times are seconds of one monotonic clock."""

    __slots__ = ("_charge", "_most", "_random", "_sessions", "evictions", "partitions", "slots")

    def __init__(
        self,
        slots: int,
        most: int = MOST_PARTITIONS,
        charge: Callable[[int], object] = lambda _: None,
    ) -> None:
        """``charge`` is told of the bytes that sessions take, or give back."""
        self.slots = slots
        self._most = min(most, MOST_PARTITIONS)
        self._charge = charge
        self.partitions = 0
        """Of all sessions together."""
        self.evictions = 0
        self._sessions: dict[int, Session] = {}
        self._random = random.Random()

    def __len__(self) -> int:
        return len(self._sessions)

    def open(
        self,
        session_id: int,
        epoch: int,
        with_ids: bool,
        wanted: list[Wanted],
        forgotten: list[PartitionKey],
        now: float,
    ) -> FetchContext:
        """The context of a request.

        Raises KafkaError: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH,
        FETCH_SESSION_TOPIC_ID_ERROR.
        """
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            before = self._sessions.get(session_id)
            if before is not None:
                self._drop(before)
            session = self._create(with_ids, wanted, now) if epoch == INITIAL_EPOCH else None
            return FetchContext.once(wanted) if session is None else FetchContext(session, incremental=False)
        found = self._sessions.get(session_id)
        if found is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if found.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if found.with_ids != with_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        size = len(found.partitions)
        found.update(wanted, forgotten)
        self._count(len(found.partitions) - size)
        if not found.partitions:
            self._drop(found)
            return FetchContext.once(())
        if len(found.partitions) > MAX_PARTITIONS or self.partitions > self._most:
            self._drop(found)
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        del self._sessions[session_id]
        self._sessions[session_id] = found  # the last one used
        found.used = now
        found.epoch = 1 if epoch == MAX_EPOCH else epoch + 1
        return FetchContext(found, incremental=True)

    def _create(self, with_ids: bool, wanted: list[Wanted], now: float) -> Session | None:
        """A new session; None when there is no room."""
        if not self._make_room(len(wanted), now):
            return None
        session_id = self._random.randint(1, 2**31 - 1)
        while session_id in self._sessions:
            session_id = self._random.randint(1, 2**31 - 1)
        session = Session(session_id, with_ids, wanted, now)
        self._sessions[session_id] = session
        self._count(len(session.partitions))
        return session

    def _count(self, more: int) -> None:
        self.partitions += more
        if more:
            self._charge(more * BYTES_EACH)

    def _make_room(self, size: int, now: float) -> bool:
        if self.slots <= 0 or size > self._most:
            return False
        while len(self._sessions) >= self.slots or self.partitions + size > self._most:
            oldest = next(iter(self._sessions.values()))
            if now - oldest.used <= EVICTION_SECONDS:
                break
            self._evict(oldest)
        else:
            return True
        if self.partitions + size > self._most:
            return False
        settled = (s for s in self._sessions.values() if now - s.created > EVICTION_SECONDS)
        smallest = min(settled, key=lambda session: len(session.partitions), default=None)
        if smallest is not None and len(smallest.partitions) < size:
            self._evict(smallest)
            return True
        return False

    def _evict(self, session: Session) -> None:
        self._drop(session)
        self.evictions += 1

    def _drop(self, session: Session) -> None:
        del self._sessions[session.id]
        self._count(-len(session.partitions))
        session.end()
