"""Producers, consumers and an administrator outside the cluster. They know what was promised to them.

`Ledger` is what all of them together have seen of one partition: one value per offset for ever (S2), nothing
acknowledged is lost (S1), the high watermark never goes back for one client (S3).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from struct import pack
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.admin import delete_records
from kproto.handlers.context import RequestContext, Services
from kproto.handlers.copies import copies_short
from kproto.handlers.leading import check_epoch, led_here
from kproto.handlers.partitions import leader_of
from kproto.log.reader import FileRange, RemoteRange, load_blocking, load_nowait
from kproto.metadata.records import NO_LEADER
from kproto.wire.batch import hop
from kproto.wire.crc import crc32c
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

from .loop import Process

if TYPE_CHECKING:
    from kproto.broker import Broker
    from kproto.log.partition import Partition

    from .groups import Groups
    from .world import World

CLIENT_DELAY_S = 0.002
REQUEST_SECONDS = 1.5
WAIT_SECONDS = 0.3

Line = dict[Process, asyncio.Event]
"""Of each process that was asked over a connection, whether the last request there has begun."""


async def answered(response: Any) -> Any:
    """What a handler answers in the end, without the pauses of `kproto.handlers.turns`: they depend on time
    that is not simulated."""
    while isinstance(response, GeneratorType | Awaitable):
        if isinstance(response, Awaitable):
            response = await response
            continue
        try:
            while True:
                next(response)
        except StopIteration as end:
            response = end.value
    return response


class Unanswered(Exception):
    """Nobody knows whether the request was done."""


class Ledger:
    """One partition, as clients have seen it."""

    def __init__(self, world: World, topic: str, index: int, copies: int) -> None:
        self.world = world
        self.name = f"{topic}-{index}"
        self.topic = topic
        self.index = index
        self.copies = copies
        self.values: dict[int, tuple[int, int]] = {}
        """Base offset to CRC and number of records."""
        self.epochs: dict[int, int] = {}
        """Base offset to the leader epoch that appended it."""
        self.acked: dict[int, int] = {}
        """Base offset to when its producer heard of it first, ms."""
        self.ends: dict[int, int] = {}
        """By leader epoch: up to where it acknowledged or showed the log."""
        self.first_ends: dict[int, int] = {}
        """By leader epoch: the smallest end that it showed."""
        self.log_start = 0
        """The largest one that was seen or confirmed."""
        self.asked_start = 0
        """The largest one that was asked for."""

    def value(self, base: int, crc: int, count: int, who: str) -> None:
        """Somebody saw a chunk at an offset (S2, S11)."""
        known = self.values.setdefault(base, (crc, count))
        if known != (crc, count):
            self.world.failed(f"S2: {self.name} has two values at {base} (seen by {who})")

    def appended(self, base: int, epoch: int, who: str) -> None:
        """Somebody saw under which leader epoch a chunk was appended (S2). What a producer sends again may be
        the same at the same offset, and stale."""
        known = self.epochs.setdefault(base, epoch)
        if known != epoch:
            self.world.failed(
                f"S2: {self.name} has a chunk of epoch {known}, and one of {epoch}, at {base} ({who})"
            )

    def promised(self, epoch: int, end: int) -> None:
        if end > self.ends.get(epoch, 0):
            self.ends[epoch] = end

    def expect_end(self, epoch: int, high_watermark: int, who: str) -> None:
        """A leader of ``epoch`` has everything that earlier ones acknowledged or showed (S1, S3)."""
        self.first_ends[epoch] = min(high_watermark, self.first_ends.get(epoch, high_watermark))
        for earlier, end in self.ends.items():
            if earlier < epoch and end > high_watermark:
                self.world.failed(
                    f"S1: {self.name} under leader epoch {epoch} ends at {high_watermark}, but "
                    f"epoch {earlier} promised {end} ({who})"
                )


class Clients:
    """All clients of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loop = world.loop
        self.random = world.random
        self.ledgers: list[Ledger] = []
        self.waiting: dict[Process, dict[asyncio.Future[Any], None]] = {}
        self.running = True
        self.tasks: list[asyncio.Task[None]] = []
        self.groups: Groups | None = None

    def begin(self) -> None:
        """A producer and a consumer or two for every partition; visitors, operators and groups."""
        from .groups import Groups
        from .hasty import Hasty
        from .operators import Operators
        from .visitors import Visitors

        for topic in self.world.plan.topics:
            for index in range(topic.partitions):
                ledger = Ledger(self.world, topic.name, index, topic.least)
                self.ledgers.append(ledger)
                self.tasks.append(self.loop.create_task(Producer(self, ledger, len(self.ledgers)).run()))
                for _ in range(1 + (self.random.random() < 0.3)):
                    self.tasks.append(self.loop.create_task(Consumer(self, ledger).run()))
        for others in (Visitors(self.world, self), Operators(self.world, self)):
            self.tasks.append(self.loop.create_task(others.run()))
        if self.world.plan.hasty:
            self.tasks.append(self.loop.create_task(Hasty(self.world, self).run()))
        if self.world.plan.groups:
            self.groups = Groups(self.world, self)
            self.tasks.append(self.loop.create_task(self.groups.run()))
        if self.world.plan.deletes:
            self.tasks.append(self.loop.create_task(self._delete_sometimes()))

    async def stop(self) -> None:
        """Let everybody finish what is under way."""
        self.running = False
        await asyncio.gather(*self.tasks)

    # Requests

    async def ask(
        self, number: int, work: Callable[[Broker], Awaitable[Any]], line: Line | None = None
    ) -> Any:
        """Have ``work(broker)`` run in the process of a node. Raises KafkaError, Unanswered. ``line``: behind
        what came over the same connection, though nobody may wait for its answer any more."""
        loop, node = self.loop, self.world.nodes[number]
        process = node.process
        delay = CLIENT_DELAY_S * self.random.random()
        if process is None or not node.up or not node.ready:
            await asyncio.sleep(delay)
            raise Unanswered(f"n{number} does not listen")
        broker = node.running
        future: asyncio.Future[Any] = loop.create_future()
        begun = asyncio.Event()
        before = None
        if line is not None:
            before, line[process] = line.get(process), begun

        def settle(result: Any) -> None:
            if not future.done():
                future.set_result(result)

        async def run() -> None:
            if before is not None:
                await before.wait()
            begun.set()
            try:
                if broker._server.drained:  # type: ignore[attr-defined]
                    raise Unanswered(f"n{number} stops")
                result = await work(broker)
            except (KafkaError, Unanswered) as error:
                result = error
            except OSError as error:
                result = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            if process.alive:
                loop.deliver(None, loop.now + delay, settle, result)

        waiting = self.waiting.get(process)
        if waiting is None:
            waiting = self.waiting[process] = {}
            process.on_end.append(lambda: self._ended(process))
        waiting[future] = None
        loop.deliver(process, loop.now + delay, lambda: loop.create_task(run()))
        late = loop.call_later(REQUEST_SECONDS, settle, Unanswered(f"n{number} does not answer"))
        try:
            result = await future
        finally:
            late.cancel()
            waiting.pop(future, None)
        if isinstance(result, Exception):
            raise result
        return result

    def _ended(self, process: Process) -> None:
        for future in list(self.waiting.pop(process, ())):
            self.loop.deliver(None, self.loop.now + CLIENT_DELAY_S, _reset, future)

    def find(self, ledger: Ledger) -> tuple[int, int] | None:
        """Leader and epoch as some broker tells; it may know less than others."""
        serving = [node for node in self.world.nodes.values() if node.serving]
        if not serving:
            return None
        services = services_of(self.random.choice(serving).broker)
        image = services.image()
        record = image.topics.get(ledger.topic)
        if record is None or ledger.index >= record.partitions:
            return None
        streamlet = image.partition_streamlet(record, ledger.index)
        leader = leader_of(image, streamlet)
        return None if leader == NO_LEADER else (leader, streamlet.leader_epoch)

    async def _delete_sometimes(self) -> None:
        while self.running:
            await asyncio.sleep(2.0 * self.random.random())
            ledger = self.random.choice(self.ledgers)
            end = max(ledger.ends.values(), default=0)
            before = self.random.randrange(ledger.log_start, end + 1) if end > ledger.log_start else end
            if self.random.random() < 0.1:
                await self._delete_too_much(ledger)
            await self.delete(ledger, before)

    async def _delete_too_much(self, ledger: Ledger) -> None:
        """Records that nobody wrote."""
        found = self.find(ledger)
        if found is not None:
            with contextlib.suppress(Unanswered, KafkaError):
                result = await self._delete_records(ledger, found[0], 1 << 40)
                if result.error_code == ErrorCode.NONE:
                    self.world.failed(f"{ledger.name} was deleted up to an offset that it does not have")
                self.world.count("too much is to be deleted")

    async def delete(self, ledger: Ledger, before: int) -> bool:
        """DeleteRecords; True when it was confirmed."""
        found = self.find(ledger)
        if found is None:
            await asyncio.sleep(0.05)
            return False
        ledger.asked_start = max(ledger.asked_start, before)
        try:
            result = await self._delete_records(ledger, found[0], before)
        except (Unanswered, KafkaError):
            return False
        if result.error_code == ErrorCode.NONE:
            ledger.log_start = max(ledger.log_start, result.low_watermark)
            self.world.count("records deleted")
            return True
        return False

    async def _delete_records(self, ledger: Ledger, leader: int, before: int) -> Any:
        part = DeleteRecordsPartition(partition_index=ledger.index, offset=before)
        topic = DeleteRecordsTopic(name=ledger.topic, partitions=[part])

        async def work(broker: Broker) -> Any:
            context = RequestContext(2, 0, None, "", services_of(broker))
            request = DeleteRecordsRequest(topics=[topic])
            answer = await answered(delete_records.handle(context, request))
            return answer.topics[0].partitions[0]

        return await self.ask(leader, work)


def _reset(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_result(Unanswered("connection reset"))


def services_of(broker: Broker | None) -> Services:
    assert broker is not None
    assert broker._dispatcher is not None
    return broker._dispatcher._services


def make_chunk(pid: int, seq: int, records: int, size: int, now_ms: int) -> bytes:
    """A batch of an idempotent producer; the payload is rubbish that differs from batch to batch."""
    payload = (pack(">ii", pid, seq) * (size // 8 + 1))[:size]
    body = pack(">hiqqqhii", 0, records - 1, now_ms, now_ms, pid, 0, seq, records) + payload
    return pack(">qiibI", 0, len(body) + 9, -1, 2, crc32c(body)) + body


class Producer:
    """Sends up to three batches in order, all of them again until each is acknowledged."""

    def __init__(self, clients: Clients, ledger: Ledger, pid: int) -> None:
        self.clients = clients
        self.world = clients.world
        self.random = clients.random
        self.ledger = ledger
        self.pid = pid
        self.seq = 0
        self.leader: tuple[int, int] | None = None

    async def run(self) -> None:
        clients, random = self.clients, self.random
        while clients.running:
            await asyncio.sleep(0.3 * random.random() * self.world.pace)
            batches = [self._make() for _ in range(random.choice((1, 1, 2, 3)))]
            while not await self._send(batches):
                await asyncio.sleep(0.1 * random.random())
                if random.random() < 0.9 or self.leader is None:
                    self._look()
                if not clients.running and self.world.hopeless:
                    return

    def _look(self) -> None:
        """A client never goes back to an older leader epoch (KIP-320)."""
        found = self.clients.find(self.ledger)
        if found is not None and (self.leader is None or found[1] >= self.leader[1]):
            self.leader = found

    def _make(self) -> bytes:
        records = self.random.choice((1, 1, 2, 5))
        size = self.random.choice((20, 200, 700, 1500))
        chunk = make_chunk(self.pid, self.seq, records, size, self.world.clock.wall_ms())
        self.seq += records
        return chunk

    async def _send(self, batches: list[bytes]) -> bool:
        if self.leader is None:
            return False
        number, _ = self.leader
        try:
            bases, epoch = await self.clients.ask(
                number, lambda broker: produce(broker, self.ledger, batches)
            )
        except KafkaError as error:
            self.world.count(f"produce: {error.code.name}")
            if error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                self.world.failed(
                    f"S13: {self.ledger.name} on n{number} lost sequences of producer {self.pid}: {error}"
                )
            return False
        except Unanswered:
            self.world.count("produce: unanswered")
            return False
        for chunk, base in zip(batches, bases, strict=True):
            self._acked(chunk, base, epoch)
        return True

    def _acked(self, chunk: bytes, base: int, epoch: int) -> None:
        crc, count = int.from_bytes(chunk[17:21], "big"), int.from_bytes(chunk[57:61], "big")
        self.ledger.value(base, crc, count, "its producer")
        self.ledger.acked.setdefault(base, self.world.clock.wall_ms())
        self.ledger.promised(epoch, base + count)
        self.world.count("acks")


async def produce(broker: Broker, ledger: Ledger, batches: list[bytes]) -> tuple[list[int], int]:
    """What the Produce handler does with acks=all. Returns base offsets, and the leader epoch of the ack.

    That may be a later one than the chunks have: when the first copies of a topic are cancelled, its leader
    goes on as it is under the next epoch (18b), and may show its log there before this ack. What is taken
    over (27b) is opened anew, and the partition that was left keeps its epoch.
    """
    services = services_of(broker)
    image = services.image()
    record = image.topics.get(ledger.topic)
    partition = led_here(services, record, ledger.index)
    assert record is not None
    if copies_short(partition, record, image):
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    given = len(batches) % 2 == 0  # the connection's own memory, as for a large request
    bases = [partition.append(memoryview(bytearray(chunk)), given)[0] for chunk in batches]
    vlog = partition.vlog
    assert vlog is not None
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    position = vlog.end

    def told() -> None:
        if vlog.durable < position and not vlog.lost:
            ledger.world.failed(
                f"rule 10: append {position} of {ledger.name} is acked, {vlog.durable} is durable"
            )
        if broker.failed.is_set() and not vlog.lost:
            ledger.world.failed(f"S16: {partition!r} is acked at {position} though storage failed")
        if not future.done():
            future.set_result(None)

    vlog.when_durable(position, told)
    await future
    if vlog.lost:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    image = services.image()
    deleted = record.topic_id not in image.topics_by_id
    if vlog.live_copies < vlog.copies and not deleted and copies_short(partition, record, image):
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    return bases, partition.leader_epoch


def led(broker: Broker, ledger: Ledger, epoch: int) -> Partition:
    """The partition, for a client that takes it for led here under ``epoch``."""
    services = services_of(broker)
    partition = led_here(services, services.image().topics.get(ledger.topic), ledger.index, epoch)
    check_epoch(partition, epoch)
    return partition


async def news(partition: Partition, world: World) -> None:
    """Wait for something to read, as the Fetch handler does, for a while."""
    before = partition.high_watermark, partition.log_start_offset, partition.leader_epoch, partition.deleted
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not future.done():
            future.set_result(None)

    partition.waiters.append(wake)
    await asyncio.wait([future], timeout=WAIT_SECONDS)
    partition.waiters.remove(wake)
    now = partition.high_watermark, partition.log_start_offset, partition.leader_epoch, partition.deleted
    if now != before and not future.done():
        world.failed(f"{partition!r}: who waits for it was not told that {before} became {now}")
    world.count("consumers: news" if future.done() else "consumers: no news")


async def fetch(
    broker: Broker,
    ledger: Ledger,
    epoch: int,
    offset: int,
    most: int,
    at_least_one: bool = True,
    patient: bool = False,
) -> tuple[int, int, int, bytes]:
    """What the Fetch handler does: log start, high watermark, leader epoch, chunks. ``offset`` -1: from the
    log start. ``patient``: waits when there is nothing."""
    services = services_of(broker)
    partition = led(broker, ledger, epoch)
    if patient and offset == partition.high_watermark:
        await news(partition, ledger.world)
        partition = led(broker, ledger, epoch)
    if offset < 0:
        offset = partition.log_start_offset
    told = partition.log_start_offset, partition.high_watermark, partition.leader_epoch
    read = partition.read(offset, most, False, at_least_one)
    files = [piece for piece in read.pieces if isinstance(piece, FileRange)]
    loaded: list[memoryview] = []
    if files and (found := load_nowait(files)) is not None:
        loaded = found
    elif files:
        for file in files:
            file.prepare()
        loaded = list(await services.blocking.run(load_blocking, files))
    chunks: list[bytes] = []
    for piece in read.pieces:
        if isinstance(piece, RemoteRange):
            chunks.append(bytes(await piece.load()))
        else:
            chunks.append(bytes(loaded.pop(0) if isinstance(piece, FileRange) else piece))
        if isinstance(piece, FileRange) and piece.short:
            break
    return (*told, b"".join(chunks))


class Consumer:
    """Reads on, or everything again, from whom it takes for the leader."""

    def __init__(self, clients: Clients, ledger: Ledger) -> None:
        self.clients = clients
        self.world = clients.world
        self.random = clients.random
        self.ledger = ledger
        self.offset = 0
        self.leader = -1
        self.epoch = -1
        self.high_watermark = 0
        self.log_start = 0

    async def run(self) -> None:
        while self.clients.running:
            await asyncio.sleep(0.5 * self.random.random() * self.world.pace)
            if self.random.random() < 0.5 or self.leader < 0:
                self._look()
            if self.leader >= 0:
                again = self.random.random() < 0.2
                await self.poll(-1 if again else self.offset, self.random.choice((500, 4000, 100_000)))

    def _look(self) -> None:
        found = self.clients.find(self.ledger)
        if found is not None and found[1] >= self.epoch:
            self.leader, self.epoch = found

    async def poll(self, offset: int, most: int) -> int:
        """One fetch; the offset behind what came, -1 when nothing did."""
        number, epoch = self.leader, self.epoch
        if self.random.random() < 0.1:
            number = self.random.choice(list(self.world.nodes))
        one, patient = self.random.random() < 0.8, self.random.random() < 0.5
        try:
            answer = await self.clients.ask(
                number, lambda broker: fetch(broker, self.ledger, epoch, offset, most, one, patient)
            )
        except Unanswered:
            self.leader = -1
            return -1
        except KafkaError as error:
            self.world.count(f"fetch: {error.code.name}")
            self.leader = -1
            if error.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                self._out_of_range(number, offset)
            return -1
        return self._take(number, offset, *answer)

    def _is_sound(self, offset: int, data: bytes) -> bool:
        """Whether a client would believe it: it looks at the CRC, which does not cover offsets and epoch."""
        at, values = -1, self.ledger.values
        for position, size, fields in hop(memoryview(data)):
            base, count, crc = fields[0], fields[12], fields[4]
            if crc32c(data[position + 21 : position + size]) != crc:
                return False
            follows = base == at if at >= 0 else base <= max(offset, base) < base + count
            if values.get(base, (crc, count)) != (crc, count) or not follows:
                return False
            at = base + count
        return True

    def _out_of_range(self, number: int, offset: int) -> None:
        """Allowed only where records were deleted."""
        if (self.ledger.topic, self.ledger.index) in self.world.ruined:
            return
        if offset < self.ledger.asked_start:
            self.offset = max(self.ledger.log_start, offset)
            if self.ledger.asked_start > self.offset:
                self.offset = self.ledger.asked_start
                self.high_watermark = max(self.high_watermark, 0)
            return
        self.world.failed(
            f"S3: n{number} says that {offset} is out of range of {self.ledger.name} under epoch {self.epoch}"
        )

    def _take(self, number: int, offset: int, log_start: int, high: int, epoch: int, data: bytes) -> int:
        """Check what a leader said (S1-S3, S11)."""
        ledger, world = self.ledger, self.world
        who = f"n{number}, epoch {epoch}"
        if (ledger.topic, ledger.index) in world.ruined:
            world.count("the only copy is damaged, and was read")
            return -1
        damaged = world.is_damaged(number, ledger.topic, ledger.index)
        if damaged and not self._is_sound(offset, data):
            world.count("damaged bytes were read")
            return -1
        if epoch != self.epoch:
            world.failed(f"32: {who} answers a client that knows epoch {self.epoch} of {ledger.name}")
        if high < self.high_watermark:
            world.failed(
                f"S3: high watermark of {ledger.name} back from {self.high_watermark} to {high} ({who})"
            )
        if log_start < self.log_start and ledger.copies > 1:
            world.failed(
                f"S3: the log start of {ledger.name} went back from {self.log_start} to {log_start} ({who})"
            )
        ledger.expect_end(epoch, high, who)
        self.high_watermark, self.log_start = high, log_start
        next_offset = at = log_start if offset < 0 else offset
        first = True
        for position, size, fields in hop(memoryview(data)):
            base, count, crc = fields[0], fields[12], fields[4]
            if base != at and not (first and base <= at < base + count):
                world.failed(f"S1: {ledger.name} has a hole between {at} and {base} ({who})")
            if crc32c(data[position + 21 : position + size]) != crc:
                world.failed(f"S11: {ledger.name} has a damaged chunk at {base} ({who})")
            if base + count > high:
                world.failed(
                    f"S4: {base + count} is above the high watermark {high} of {ledger.name} ({who})"
                )
            ledger.value(base, crc, count, who)
            if not damaged:
                ledger.appended(base, fields[2], who)
            at = next_offset = base + count
            first = False
        if next_offset > 0:
            ledger.promised(epoch, next_offset)
        if next_offset > self.offset:
            self.offset = next_offset
            world.count("consumed")
        return next_offset if data else -1
