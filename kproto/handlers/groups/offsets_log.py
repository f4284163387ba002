"""One partition of ``__consumer_offsets`` as a durable map from key to value.

Writes are queued and leave as one batch per turn of the event loop, so commits are cheap when many arrive.
``live`` holds the newest durable value of every key, as bytes; loading replays the log into it.
Of several writes of one key alone in the same turn only the last one leaves, and all of them end with it:
each static member that returns has all of its group written, and 300 restart together.

The log does not grow for ever: when garbage exceeds a bound, or has been there for long, a *checkpoint*
rewrites every live value that still lies before the *cut* (the log end when it began) at the head and then
advances the log start to the cut. Safe at every point: a crash in between leaves duplicates, never a loss,
because

1. nothing before the cut is given up until every live key has a durable record at or after it;
2. a value is rewritten only while no newer write of its key is under way, so log order is write order;
3. tombstones before the cut may go, for what they delete lies before them.

What was given up may have been on more copies than can be had now. So while copies lack there is a checkpoint
only when there is very much garbage; and when something from the cut on got too few, the log start stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple, Protocol

from kproto.check import check
from kproto.errors import ErrorCode, KafkaError
from kproto.wire.batch import CONTROL, HEADER_SIZE, read_header
from kproto.wire.records import Record, build_batch, iter_records

_log = logging.getLogger(__name__)

Pair = tuple[bytes, bytes | None]
"""A record: key and value; None deletes the key."""
Done = Callable[[ErrorCode], None]
"""Called once when a write is durable (NONE), was written to fewer copies than it should be, or has been
refused."""
WRITTEN = (ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
"""It is in the log: who loads that finds it, unless all the copies there are get lost."""

BATCH_BYTES = 256 * 1024
"""A batch with more than one write has at most so many bytes, or what the log takes when that is less; one
write is never split."""
GARBAGE_BYTES = 4 * 1024 * 1024
"""Checkpoint when this much (and more than what is live) in the log is superseded."""
OLDEST_MS = 3_600_000
"""Checkpoint, too, when the log begins with something that old: no copy can go of what else is in the virtual
segments from there on (rule 43)."""
SHORT_TIMES = 8
"""While copies lack, checkpoint when there is so many times as much garbage: brokers may be away for ever."""
RECORD_OVERHEAD = 12
"""Bytes a record has beside its key and value, about."""
RECORD_MOST = 24
"""The same at most: lengths of up to five bytes each, attributes, differences of time and offset."""
LOAD_SLICE_RECORDS = 200


def weight(key: bytes, value: bytes | None) -> int:
    """Bytes of a record in a batch, at most."""
    return len(key) + len(value or b"") + RECORD_MOST


def runs(weights: Iterable[int], room: int) -> Iterator[slice]:
    """What is written one behind the other, in runs that have ``room``; what has none by itself is alone. One
    run at least."""
    start = size = 0
    for at, more in enumerate(weights):
        if at > start and size + more > room:
            yield slice(start, at)
            start, size = at, 0
        size += more
    yield slice(start, None)


class OffsetsLogPort(Protocol):
    """The partitions of the internal topic, as this package needs them."""

    def append(self, index: int, batch: bytearray, done: Callable[[int, KafkaError | None], None]) -> None:
        """Append one record batch; later ``done(base offset, None)`` once it is durable, in append order,
        the same with NOT_ENOUGH_REPLICAS_AFTER_APPEND when only too few copies have it, or ``done(-1,
        error)`` when it was refused. ``done`` may be called before this returns."""
        ...

    def bounds(self, index: int) -> tuple[int, int]:
        """Log start and log end offset. KafkaError when this broker does not lead the partition."""
        ...

    def most_bytes(self, index: int) -> int:
        """Bytes of the largest batch that is taken. KafkaError as from `bounds`."""
        ...

    def lacks_copies(self, index: int) -> bool:
        """New records get fewer copies than they should, or this broker does not lead the partition."""
        ...

    def scan(self, index: int) -> AsyncIterator[memoryview]:
        """All durable batches from the log start on, in order, without blocking the event loop."""
        ...

    async def truncate_prefix(self, index: int, offset: int) -> None:
        """Advance the log start to ``offset``."""
        ...


class Stored(NamedTuple):
    """The newest durable value of a key and the offset of its record."""

    value: bytes
    offset: int


class _Write(NamedTuple):
    sequence: int
    pairs: Sequence[Pair]
    done: Done | None
    replaced: list[tuple[int, Done | None]]
    """Sequence numbers of earlier writes of the same key, which end with this one, and what to call then."""


class KeyedLog:
    """See the module docstring. ``index`` is the partition; ``wall_ms`` gives the records' timestamps."""

    def __init__(
        self,
        port: OffsetsLogPort,
        index: int,
        wall_ms: Callable[[], int],
        garbage_bytes: int | None = None,
    ) -> None:
        self.index = index
        self.live: dict[bytes, Stored] = {}
        self.checkpoints = 0
        """Completed checkpoints since the start; for tests and metrics."""
        self._port = port
        self._wall_ms = wall_ms
        self._garbage_limit = GARBAGE_BYTES if garbage_bytes is None else garbage_bytes
        self._queue: dict[int, _Write] = {}
        """By sequence number, in order."""
        self._alone: dict[bytes, int] = {}
        """Key -> number of the queued write that has nothing else, where no later one has it among others."""
        self._flush_scheduled = False
        self._sequence = 0
        self._open: dict[int, None] = {}
        """Sequence numbers of writes that are not reported yet, in order."""
        self._underway: dict[bytes, int] = {}
        """Key -> writes of it that are queued or appended but not durable."""
        self._idle_waiters: dict[asyncio.Future[ErrorCode], int] = {}
        """Who waits for writes up to which sequence number, in order of that; who waits no more is not
        there. A write may hang for long, and everybody who asks for offsets meanwhile waits for it."""
        self._log_bytes = 0
        self._live_bytes = 0
        self._oldest_ms = wall_ms()
        """When the first record of the log was written, about."""
        self._checkpoint: asyncio.Task[None] | None = None
        self._began_ms = 0
        """The newest checkpoint."""
        self._cut = 0
        self._bytes_after_cut = 0
        self._whole = False
        """Everything from the cut on got all the copies that it should have, as far as it is durable."""
        self._failed_at = 0
        """`garbage_bytes` when a checkpoint last failed: the next one waits for as much again, because it
        writes most of what is live anew."""
        self._closed = False

    # ---- loading ------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Replay the log into :attr:`live`, in slices that leave the event loop free in between."""
        records = 0
        async for batch in self._port.scan(self.index):
            header = read_header(batch)
            if not self._log_bytes:
                self._oldest_ms = header.max_timestamp
            self._log_bytes += len(batch)
            if header.attributes & CONTROL:
                continue
            for record in iter_records(batch):
                if record.key is not None:
                    self._apply(record.offset, record.key, record.value)
                records += 1
                if records % LOAD_SLICE_RECORDS == 0:
                    await asyncio.sleep(0)

    def _apply(self, offset: int, key: bytes, value: bytes | None) -> None:
        old = self.live.get(key)
        if old is not None:
            self._live_bytes -= len(key) + len(old.value) + RECORD_OVERHEAD
        if value is not None:
            self._live_bytes += len(key) + len(value) + RECORD_OVERHEAD
            self.live[key] = Stored(value, offset)
        elif old is not None:
            del self.live[key]

    # ---- writing ------------------------------------------------------------------------------------

    def put(self, pairs: Sequence[Pair], done: Done | None) -> None:
        """Write ``pairs`` in one batch, after everything put before. ``done`` sees the map with them."""
        check(len(pairs) > 0, "a write to __consumer_offsets without records; who asked for it?")
        self._sequence += 1
        self._open[self._sequence] = None
        self._queue[self._sequence] = _Write(self._sequence, pairs, done, self._replaced(pairs))
        for key, _ in pairs:
            self._underway[key] = self._underway.get(key, 0) + 1
        if not self._flush_scheduled:
            self._flush_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _replaced(self, pairs: Sequence[Pair]) -> list[tuple[int, Done | None]]:
        """Take the queued write out that the next one, of ``pairs``, makes superfluous."""
        numbers = [self._alone.pop(key, None) for key, _ in pairs]
        if len(pairs) > 1:  # what ends with it may have to end before it: a group that is deleted
            return []
        key = pairs[0][0]
        self._alone[key] = self._sequence
        if numbers[0] is None:
            return []
        before = self._queue.pop(numbers[0])
        self._underway[key] -= 1
        before.replaced.append((before.sequence, before.done))
        return before.replaced

    @property
    def room(self) -> int:
        """Bytes of records, as `weight` counts them, that surely fit into one batch now."""
        try:
            most = self._port.most_bytes(self.index)
        except KafkaError:
            most = BATCH_BYTES  # the append will say it
        return min(BATCH_BYTES, most) - HEADER_SIZE

    def keys_underway(self, prefix: bytes = b"") -> list[bytes]:
        """Keys that begin with ``prefix`` and have a write that is not durable yet."""
        return [key for key in self._underway if key.startswith(prefix)]

    @property
    def idle(self) -> bool:
        """No write is under way."""
        return not self._open

    def when_idle(self, waiter: asyncio.Future[ErrorCode]) -> None:
        """Give ``waiter`` NONE once everything put so far is durable or refused; at once when it is."""
        if self._open:
            self._idle_waiters[waiter] = self._sequence
            waiter.add_done_callback(lambda _: self._idle_waiters.pop(waiter, None))
        else:
            waiter.set_result(ErrorCode.NONE)

    def _flush(self) -> None:
        self._flush_scheduled = False
        writes = list(self._queue.values())
        self._queue.clear()
        self._alone.clear()
        if self._closed:
            self._finish(writes, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return
        weights = (sum(weight(key, value) for key, value in write.pairs) for write in writes)
        for run in runs(weights, self.room):
            self._append(writes[run])

    def _append(self, writes: list[_Write]) -> None:
        pairs = [pair for write in writes for pair in write.pairs]
        try:
            now_ms = self._wall_ms()
            batch = build_batch(Record(key, value, now_ms) for key, value in pairs)
            self._port.append(self.index, batch, partial(self._appended, writes, pairs, len(batch)))
        except KafkaError as error:
            self._finish(writes, error.code)
        except Exception:  # for want of memory, say: nobody would ever hear of these writes again
            _log.exception("a write to __consumer_offsets-%d failed", self.index)
            self._finish(writes, ErrorCode.KAFKA_STORAGE_ERROR)

    def _appended(
        self,
        writes: list[_Write],
        pairs: list[Pair],
        size: int,
        base_offset: int,
        error: KafkaError | None,
    ) -> None:
        """What became of a batch of ``size`` bytes."""
        code = ErrorCode.NONE if error is None else error.code
        try:
            if code in WRITTEN:
                self._note(pairs, size, base_offset, error)
        except Exception:  # as in `_append`; what is not in the map must not be said to be stored
            _log.exception("a write to __consumer_offsets-%d failed", self.index)
            code = ErrorCode.KAFKA_STORAGE_ERROR
        self._finish(writes, code)

    def _note(self, pairs: list[Pair], size: int, base_offset: int, error: KafkaError | None) -> None:
        """A batch is in the log."""
        self._log_bytes += size
        if base_offset >= self._cut:
            self._bytes_after_cut += size
            self._whole = self._whole and not error and not self._port.lacks_copies(self.index)
        for offset, (key, value) in enumerate(pairs, base_offset):
            self._apply(offset, key, value)

    def _finish(self, writes: list[_Write], code: ErrorCode) -> None:
        if writes[0].sequence not in self._open:  # what follows it failed
            return
        for write in writes:
            for key, _ in write.pairs:
                left = self._underway[key] - 1
                if left:
                    self._underway[key] = left
                else:
                    del self._underway[key]
        ended = [one for write in writes for one in (*write.replaced, (write.sequence, write.done))]
        for sequence, _ in ended:
            del self._open[sequence]
        for _, done in ended:
            if done is not None:
                self._tell(done, code)
        oldest = next(iter(self._open), self._sequence + 1)
        for waiter, _ in list(takewhile(lambda each: each[1] < oldest, self._idle_waiters.items())):
            del self._idle_waiters[waiter]
            if not waiter.done():
                waiter.set_result(ErrorCode.NONE)
        if code is ErrorCode.NONE:
            self._consider_checkpoint()

    def _tell(self, done: Done, code: ErrorCode) -> None:
        try:
            done(code)
        except Exception:  # for want of memory, say: the others are to hear of theirs
            _log.exception("who wrote to __consumer_offsets-%d failed", self.index)

    # ---- checkpoint ---------------------------------------------------------------------------------

    @property
    def garbage_bytes(self) -> int:
        """Bytes of the log that no longer say anything."""
        return max(self._log_bytes - self._live_bytes, 0)

    def close(self) -> None:
        """Append nothing any more: what is queued is refused with NOT_LEADER_OR_FOLLOWER. A running
        checkpoint is abandoned (harmless at every point), and :attr:`live` is given up."""
        self._closed = True
        self.live.clear()
        if self._checkpoint is not None:
            self._checkpoint.cancel()

    def _consider_checkpoint(self) -> None:
        if self._checkpoint is not None or self._closed:
            return
        much = self.garbage_bytes > max(self._garbage_limit, self._live_bytes, 2 * self._failed_at)
        old = self._wall_ms() - self._oldest_ms > OLDEST_MS
        due = much or (old and self.garbage_bytes)
        if due and (self._very_much or not self._port.lacks_copies(self.index)):
            self._checkpoint = asyncio.get_running_loop().create_task(self.checkpoint())
            self._checkpoint.add_done_callback(self._checkpoint_ended)

    def _checkpoint_ended(self, task: asyncio.Task[None]) -> None:
        self._checkpoint = None
        if task.cancelled():
            return
        error = task.exception()
        self._failed_at = 0 if error is None else self.garbage_bytes
        self._oldest_ms = self._began_ms
        if isinstance(error, KafkaError):
            _log.warning("checkpoint of __consumer_offsets-%d: %s", self.index, error)
        elif error is not None:
            _log.error("checkpoint of __consumer_offsets-%d failed", self.index, exc_info=error)

    async def checkpoint(self) -> None:
        """Rewrite what is live before the present log end, then give up the log before it.

        KafkaError when the log refuses (a full disk), or copies lack: everything is as before, but for
        garbage that the try may have made. Another one comes when there is twice the garbage, or after
        `OLDEST_MS`.
        """
        self._began_ms = self._wall_ms()
        self._whole = True
        self._check_copies()
        cut = self._cut = self._port.bounds(self.index)[1]
        self._bytes_after_cut = 0
        await self._idle()
        while behind := [key for key, stored in self.live.items() if stored.offset < cut]:
            await self._rewrite(behind, cut)
        self._check_copies()
        await self._port.truncate_prefix(self.index, cut)
        self._log_bytes = self._bytes_after_cut
        self.checkpoints += 1

    @property
    def _very_much(self) -> bool:
        """So much garbage that a checkpoint does not wait for copies."""
        return self.garbage_bytes > SHORT_TIMES * max(self._garbage_limit, self._live_bytes)

    def _check_copies(self) -> None:
        """KafkaError when something from the cut on has fewer copies than what is to be given up for it may
        have."""
        self._whole = self._whole and not self._port.lacks_copies(self.index)
        if not self._whole and not self._very_much:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, "too few copies of what was written again")

    async def _rewrite(self, keys: list[bytes], cut: int) -> None:
        """Put the values of ``keys`` again, a batch at a time; keys that move by themselves are skipped."""
        pairs: list[Pair] = []
        size = 0
        room = self.room
        for key in keys:
            stored = self.live.get(key)
            if stored is None:
                continue
            if pairs and size + weight(key, stored.value) > room:
                await self._put_and_wait(pairs)
                pairs, size = [], 0
                room, stored = self.room, self.live.get(key)
            if stored is None or stored.offset >= cut or key in self._underway:
                continue
            pairs.append((key, stored.value))
            size += weight(key, stored.value)
        if pairs:
            await self._put_and_wait(pairs)
        else:
            await self._idle()  # what is left moves with a write under way

    async def _put_and_wait(self, pairs: list[Pair]) -> None:
        written: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()

        def done(code: ErrorCode) -> None:
            if not written.done():
                written.set_result(code)

        self.put(pairs, done)
        code = await written
        if code is not ErrorCode.NONE:
            raise KafkaError(code, f"checkpoint of __consumer_offsets-{self.index}")
        self._check_copies()

    async def _idle(self) -> None:
        idle: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
        self.when_idle(idle)
        await idle
