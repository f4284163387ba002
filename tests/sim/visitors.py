"""Clients that come and go with topics of their own: they create, change, fill, look at and delete them, and
send what must be refused.

Nothing of theirs is left at the end, so that what is checked then is as if they had never been there. In
their topics producers without ids, several epochs of one id, retention and other configs are at home.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from random import Random
from struct import pack_into
from typing import TYPE_CHECKING, Any

from kproto.controller import ConfigChange, ConfigOp, NewPartitions, NewTopic, OpType, ResourceType, TopicRef
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers import list_offsets, offset_for_leader_epoch
from kproto.handlers.context import RequestContext
from kproto.wire.crc import crc32c
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kproto.wire.records import Record, build_batch

from . import refused
from .clients import Clients, Consumer, Ledger, Unanswered, answered, make_chunk, produce, services_of

if TYPE_CHECKING:
    from kproto.broker import Broker
    from kproto.controller import Controller

    from .world import World

CONFIGS = (
    {"retention.bytes": "6000", "segment.bytes": "1048576"},
    {"retention.ms": "700", "segment.ms": "300"},
    {"segment.ms": "500", "index.interval.bytes": "200"},
    {"segment.ms": "300", "segment.jitter.ms": "200", "retention.bytes": "20000"},
    {"cleanup.policy": "compact", "retention.bytes": "20000"},
    {"cleanup.policy": "delete,compact", "retention.ms": "2000"},
    {"index.interval.bytes": "0", "file.delete.delay.ms": "0"},
    {"kproto.vlogs": "1"},
    {"kproto.active.groups": "2"},
    {"max.message.bytes": "3000"},
    {"message.timestamp.type": "LogAppendTime"},
    {"message.timestamp.after.max.ms": "1000", "message.timestamp.before.max.ms": "100000"},
    {"kproto.validate.records": "true"},
    {"unclean.leader.election.enable": "true", "min.insync.replicas": "2"},
    {"nonsense": "1"},
    {"retention.ms": "never"},
)
BROKER_CONFIGS = (
    ("kproto.vlogs.per.broker", "1"),
    ("kproto.vlogs.per.broker", "2"),
    ("kproto.vlogs.per.broker", "3"),
    ("kproto.direct.bytes", "0"),
    ("kproto.direct.bytes", "2000"),
    ("kproto.backup.stall.ms", "100"),
    ("kproto.push.linger.max.ms", "0"),
    ("kproto.push.linger.max.ms", "100"),
    ("kproto.virtual.segment.bytes", "1048576"),
    ("log.cleanup.policy", "nonsense"),
    ("node.id", "7"),
    ("no such thing", "1"),
    ("kproto.direct.bytes", "many"),
)
LOOSE = ({"flush.messages": "3"}, {"flush.ms": "200"}, {"flush.messages": "1"})
"""Only where nobody loses power: what is acknowledged may be lost with it."""
UNKNOWN = (ErrorCode.NOT_CONTROLLER, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.REQUEST_TIMED_OUT)
"""After these nobody knows whether it was done."""
NAMES = ("visit.{}", "visit-{}", "visit_{}", "visit.{}", "bad name {}", "..", "", "long" * 70, "visit_three")
DAMAGE: tuple[Callable[[bytearray], object], ...] = (
    lambda chunk: pack_into(">b", chunk, 16, 1),
    lambda chunk: pack_into(">b", chunk, 16, 3),
    lambda chunk: pack_into(">q", chunk, 0, 7),
    lambda chunk: pack_into(">i", chunk, 8, 20),
    lambda chunk: pack_into(">i", chunk, 8, len(chunk)),
    lambda chunk: chunk.extend(b"more"),
    lambda chunk: chunk.__delitem__(slice(40, None)),
    lambda chunk: pack_into(">I", chunk, 17, 1),
    lambda chunk: chunk.__delitem__(slice(12, None)),
)
"""What makes a batch none, before its checksum is looked at."""
LIES: tuple[Callable[[bytearray], object], ...] = (
    lambda chunk: pack_into(">h", chunk, 21, 0x10),
    lambda chunk: pack_into(">h", chunk, 21, 0x20),
    lambda chunk: pack_into(">h", chunk, 21, 0x08),
    lambda chunk: pack_into(">h", chunk, 21, 0x40),
    lambda chunk: pack_into(">h", chunk, 21, 0x07),
    lambda chunk: pack_into(">i", chunk, 23, -1),
    lambda chunk: pack_into(">i", chunk, 57, 9),
    lambda chunk: pack_into(">q", chunk, 35, 1),
    lambda chunk: pack_into(">q", chunk, 35, -1),
)
"""What a sound batch must not say; the last ones are about times, which some topics do not look at."""
TIMES = 2


class Visit:
    """A topic of a visitor."""

    def __init__(self, name: str, copies: int, partitions: int) -> None:
        self.name = name
        self.copies = copies
        self.partitions = partitions
        self.topic_id = b""
        self.readers: dict[int, Consumer] = {}


class Visitors:
    """All visitors of one seed. Their own generator: what others do does not depend on them."""

    def __init__(self, world: World, clients: Clients) -> None:
        self.world = world
        self.clients = clients
        self.random = Random(f"visitors {world.seed}")
        self.there = self.random.random() < 0.65
        self.pace = self.random.choice((0.03, 0.1, 0.3))
        self.visits: list[Visit] = []
        self.count = 0
        self.epochs: dict[int, tuple[int, int]] = {}
        """Producer id to epoch and next sequence."""

    async def run(self) -> None:
        """Until the faults end; then everything of theirs is deleted."""
        if not self.there:
            return
        world = self.world
        end = world.loop.now + world.plan.seconds
        doings = (self.create, self.write, self.write, self.write, self.look, self.look, self.look)
        rarer = (
            *(self.grow, self.configure, self.delete, self.lie, self.lie, self.number, self.name),
            *(self.ask_in_vain, self.alone),
        )
        while world.loop.now < end and self.clients.running:
            await asyncio.sleep(2 * self.pace * self.random.random())
            doing = self.random.choice(doings if self.random.random() < 0.6 else rarer)
            if not self.visits and self.random.random() < 0.8:
                doing = self.create
            try:
                await doing()
            except (KafkaError, Unanswered) as error:
                code = error.code.name if isinstance(error, KafkaError) else "unanswered"
                world.count(f"visitors: {code}")
        while self.visits and not world.hopeless:
            with contextlib.suppress(KafkaError, Unanswered):
                await self.leave(self.visits[0])
            await asyncio.sleep(0.1)

    # The controller

    async def _decide(self, work: Callable[[Controller], Awaitable[Any]]) -> Any:
        acting = self.world.acting()
        if acting is None:
            raise Unanswered("there is no controller")
        process, controller = acting
        return await self.clients.ask(process.node, lambda _: work(controller))

    def _config(self) -> dict[str, str]:
        kind = self.world.plan.kind
        choices = CONFIGS + LOOSE if kind == "kills" else CONFIGS
        return dict(self.random.choice(choices)) if self.random.random() < 0.6 else {}

    async def create(self) -> None:
        """A topic, sometimes one that cannot be."""
        random, kind = self.random, self.world.plan.kind
        if len(self.visits) > 3:
            return
        self.count += 1
        name = random.choice(NAMES).format(self.count)
        copies = 3 if kind == "disks" else random.choice((1, 2, 3))
        partitions = random.choice((1, 2, 4))
        configs: dict[str, str | None] = {**self._config()}
        if kind == "synced":
            configs["flush.messages"] = "1"
        new = NewTopic(name, partitions, copies, (), configs)
        if random.random() < 0.3:
            numbers = random.sample(list(self.world.nodes), min(copies, len(self.world.nodes)))
            rows = tuple((index, tuple(numbers)) for index in range(partitions))
            if random.random() < 0.3:
                late = rows[1:] or ((1, tuple(numbers)),)  # with no row it would have one copy
                rows = random.choice((late, ((0, (1, 1)),), ((0, (1, 9)),), ((0, ()),)))
            new = NewTopic(name, assignments=rows, configs=configs)
        elif random.random() < 0.1:
            new = random.choice((new._replace(partitions=0), new._replace(replication_factor=9)))
        self.visits.append(Visit(name, copies, partitions))
        twice = [new, new] if random.random() < 0.05 else [new]
        only = random.random() < 0.05
        try:
            (outcome,) = await self._decide(lambda one: one.create_topics(twice, validate_only=only))
        except KafkaError:
            return
        if outcome.error is not None:
            if outcome.error.code not in UNKNOWN:
                self.visits.pop()
            raise outcome.error
        self.world.count("topics made")

    async def name(self) -> None:
        """A topic that is made because somebody names it, with one copy."""
        if self.world.plan.kind == "kills" and len(self.visits) < 4:
            self.count += 1
            name = f"visit.{self.count}"
            self.visits.append(Visit(name, 1, 1))
            await self._decide(lambda one: one.auto_create([name, "no name"]))

    async def grow(self) -> None:
        """More partitions."""
        visit = self._some()
        count = visit.partitions + self.random.choice((1, 2, 0))
        rows = None if self.random.random() < 0.7 else [(1, 2, 3)[: visit.copies]]
        (outcome,) = await self._decide(
            lambda one: one.create_partitions([NewPartitions(visit.name, count, rows)])
        )
        if outcome.error is not None:
            raise outcome.error
        visit.partitions = count

    async def configure(self) -> None:
        """Other configs, of a topic or of a broker."""
        random = self.random
        op = random.choice((OpType.SET, OpType.SET, OpType.DELETE, OpType.APPEND, OpType.SUBTRACT, 7))
        if random.random() < 0.3:
            changes = [random.choice(BROKER_CONFIGS)]
            kind, resource = ResourceType.BROKER, random.choice(("", "", "1", "2", "9", "two"))
        else:
            kind, resource = ResourceType.TOPIC, self._some().name
            changes = list(self._config().items()) * random.choice((1, 1, 1, 2))
            if random.random() < 0.2:
                strange = ((ResourceType.TOPIC, "nobody"), (16, "a"), (kind, ""))
                kind, resource = random.choice(strange)  # type: ignore[assignment]
        loose = self.world.plan.kind == "kills"
        ops = [ConfigOp(name, op, value) for name, value in changes if loose or not name.startswith("flush")]
        change = ConfigChange(kind, resource, ops, random.random() < 0.2 and kind is ResourceType.BROKER)
        (error,) = await self._decide(lambda one: one.alter_configs([change]))
        if error is not None:
            raise error
        self.world.count("configs changed")

    async def number(self) -> None:
        """A block of producer ids."""
        await self._decide(lambda one: one.next_producer_id())

    async def ask_in_vain(self) -> None:
        """What is refused."""
        await self._decide(lambda one: refused.ask(self.world, one, self.random))

    async def delete(self) -> None:
        await self.leave(self._some())

    async def leave(self, visit: Visit) -> None:
        """Delete a topic; it is forgotten when it is known to be gone."""
        if self.random.random() < 0.2:
            some = [TopicRef(visit.name, bytes(16)), TopicRef(None, None), TopicRef(None, bytes(16))]
            for outcome in await self._decide(lambda one: one.delete_topics([*some, *some])):
                if outcome.error is None:
                    self.world.failed(f"a topic that nobody named was deleted: {outcome}")
        try:
            (outcome,) = await self._decide(lambda one: one.delete_topics([TopicRef(visit.name, None)]))
        except (KafkaError, Unanswered):
            return
        error = outcome.error
        if error is None or error.code in (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.INVALID_TOPIC_EXCEPTION,
        ):
            self.visits.remove(visit)
            self.world.count("topics deleted")

    def _some(self) -> Visit:
        if not self.visits:
            raise Unanswered("no topic")
        return self.random.choice(self.visits)

    def _place(self) -> tuple[Visit, Consumer]:
        """A partition of a visitor's topic, with what was seen of it."""
        visit = self._some()
        topic = self.world.image.topics.get(visit.name)
        if topic is not None and topic.topic_id != visit.topic_id:  # perhaps made anew by another visit
            visit.topic_id, visit.readers = topic.topic_id, {}
        index = self.random.randrange(visit.partitions)
        reader = visit.readers.get(index)
        if reader is None:
            ledger = Ledger(self.world, visit.name, index, visit.copies)
            reader = visit.readers[index] = Consumer(self.clients, ledger)
        reader._look()
        if reader.leader < 0:
            raise Unanswered("no leader")
        return visit, reader

    # Data

    async def write(self) -> None:
        """Batches of a producer with an id, or without one; some twice."""
        random, world = self.random, self.world
        _, reader = self._place()
        size = random.choice((20, 300, 2000, 9000, 9000, 40_000, 300_000))
        now = world.clock.wall_ms() - random.choice((0, 0, 0, 50_000, 10_000_000, -60_000))
        if random.random() < 0.4:
            chunks = [_plain(make_chunk(-1, -1, records, size, now)) for records in (1, 3)]
        elif random.random() < 0.4:
            records = [Record(b"k", bytes(random.choice((5, 300))), now + 40 * i) for i in range(4)]
            chunks = [bytes(build_batch(records, codec=random.choice((0, 1, 2, 3, 4))))]
        else:
            pid = 1_000_000 + crc32c(reader.ledger.name.encode()) % 10_000
            epoch, seq = self.epochs.get(pid, (0, 0))
            if random.random() < 0.2:
                epoch, seq = epoch + 1, 0
            chunks = [_of_epoch(make_chunk(pid, seq + i, 1, size, now), epoch) for i in range(3)]
            self.epochs[pid] = epoch, seq + 3
            if random.random() < 0.3:
                chunks += chunks[-1:]
            elif random.random() < 0.1:
                chunks.append(_of_epoch(make_chunk(pid, seq + 7, 1, size, now), epoch))
            elif random.random() < 0.1:
                chunks.append(_of_epoch(make_chunk(pid, 0, 1, size, now), epoch - 1))
            elif random.random() < 0.1:
                chunks.append(_of_epoch(make_chunk(pid, 5, 1, size, now), epoch + 1))
        await self._send(reader, chunks)
        world.count("visitors: written")

    async def _send(self, reader: Consumer, chunks: list[bytes]) -> None:
        bases, epoch = await self.clients.ask(
            reader.leader, lambda broker: produce(broker, reader.ledger, chunks)
        )
        for chunk, base in zip(chunks, bases, strict=True):
            count = int.from_bytes(chunk[57:61], "big")
            reader.ledger.promised(epoch, base + count)

    async def lie(self) -> None:
        """A batch that must be refused."""
        random = self.random
        _, reader = self._place()
        chunk = bytearray(_plain(make_chunk(-1, -1, 2, 100, self.world.clock.wall_ms())))
        if random.random() < 0.5:
            what, allowed = random.randrange(len(DAMAGE)), False
            DAMAGE[what](chunk)
        else:
            what = random.randrange(len(LIES))
            LIES[what](chunk)
            _stamp(chunk)
            allowed = what >= len(LIES) - TIMES
        try:
            await self._send(reader, [bytes(chunk)])
        except KafkaError as error:
            self.world.count(f"refused: {error.code.name}")
            return
        if not allowed:
            self.world.failed(f"a batch that is none was taken ({what}): {reader.ledger.name}")

    async def alone(self) -> None:
        """A topic of one copy gets damaged files: it is written to, read and deleted as any other."""
        random, world = self.random, self.world
        if not world.plan.harmed or world.plan.kind == "disks" or len(self.visits) > 3:
            return
        self.count += 1
        configs = {"flush.messages": "1"} if world.plan.kind == "synced" else {}
        visit = Visit(f"visit.{self.count}", 1, 1)
        self.visits.append(visit)
        new = NewTopic(visit.name, 1, 1, (), {**configs, "index.interval.bytes": "200"})
        await self._decide(lambda one: one.create_topics([new]))
        reader = Consumer(self.clients, Ledger(world, visit.name, 0, 1))
        for step in range(random.choice((16, 24))):
            await asyncio.sleep(0.1 * random.random())
            reader._look()
            if reader.leader < 0:
                continue
            if step == 8:
                world.ruin(world.nodes[reader.leader], visit.name, 0)
            if step < 8:
                chunks = [_plain(make_chunk(-1, -1, 2, 700, world.clock.wall_ms())) for _ in range(3)]
                await self._send(reader, chunks)
            elif random.random() < 0.3:
                await self._time(reader.ledger, reader.leader, reader.epoch)
            else:
                offset = min(random.choice((-1, -1, 3, 40)), max(reader.ledger.ends.values(), default=0))
                await reader.poll(offset, random.choice((500, 4000, 100_000)))

    async def look(self) -> None:
        """Read, look for times and for ends of leader epochs; in the others' topics, too."""
        random = self.random
        if random.random() < 0.4 and self.visits:
            _, reader = self._place()
            if random.random() < 0.6:
                await reader.poll(-1, random.choice((500, 100_000)))
                return
            ledger = reader.ledger
        else:
            ledger = random.choice(self.clients.ledgers)
        found = self.clients.find(ledger)
        if found is None:
            return
        leader, epoch = found
        if random.random() < 0.5:
            await self._time(ledger, leader, epoch)
        else:
            await self._epoch(ledger, leader, epoch)

    async def _time(self, ledger: Ledger, leader: int, epoch: int) -> None:
        past = self.world.clock.wall_ms() - self.random.choice((0, 500, 3000, 10_000, 20_000_000))
        wanted = self.random.choice((-1, -2, -3, past, past))
        part = ListOffsetsPartition(
            partition_index=ledger.index, current_leader_epoch=epoch, timestamp=wanted
        )
        topic = ListOffsetsTopic(name=ledger.topic, partitions=[part])

        async def work(broker: Broker) -> tuple[Any, int]:
            services = services_of(broker)
            context = RequestContext(7, 0, None, "", services)
            request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=[topic])
            answer = await answered(list_offsets.handle(context, request))
            record = services.image().topics.get(ledger.topic)
            partition = services.logs.partition(record.topic_id, ledger.index) if record else None
            return answer.topics[0].partitions[0], partition.high_watermark if partition else -1

        answer, high = await self.clients.ask(leader, work)
        if answer.error_code == ErrorCode.NONE and (ledger.topic, ledger.index) not in self.world.ruined:
            self.world.count("times looked up")
            if answer.offset > high >= 0:
                self.world.failed(f"S4: {ledger.name}: time {wanted} is at {answer.offset}, above {high}")
            if wanted >= 0 <= answer.offset and answer.timestamp < wanted:
                self.world.failed(f"{ledger.name}: the record at {answer.offset} is before {wanted}")

    async def _epoch(self, ledger: Ledger, leader: int, epoch: int) -> None:
        """Rule 39: an epoch ends where, at least, its leader showed the log."""
        wanted = self.random.randint(0, epoch + 1)
        part = OffsetForLeaderPartition(
            partition=ledger.index, current_leader_epoch=epoch, leader_epoch=wanted
        )
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic=ledger.topic, partitions=[part])]
        )

        async def work(broker: Broker) -> Any:
            context = RequestContext(4, 0, None, "", services_of(broker))
            answer = await answered(offset_for_leader_epoch.handle(context, request))
            return answer.topics[0].partitions[0]

        promised = ledger.ends.get(wanted, 0)
        answer = await self.clients.ask(leader, work)
        ruined = (ledger.topic, ledger.index) in self.world.ruined
        if answer.error_code == ErrorCode.NONE and answer.end_offset >= 0 and not ruined:
            self.world.count("epochs looked up")
            if answer.end_offset < promised:
                self.world.failed(
                    f"S14: {ledger.name}: epoch {wanted} ended at {answer.end_offset}, it showed {promised}"
                )


def _stamp(chunk: bytearray) -> None:
    """A checksum that fits."""
    pack_into(">I", chunk, 17, crc32c(memoryview(chunk)[21:]))


def _plain(chunk: bytes) -> bytes:
    """Without a producer id."""
    plain = bytearray(chunk)
    pack_into(">qhi", plain, 43, -1, -1, -1)
    _stamp(plain)
    return bytes(plain)


def _of_epoch(chunk: bytes, epoch: int) -> bytes:
    """Of another producer epoch."""
    stamped = bytearray(chunk)
    pack_into(">h", stamped, 51, epoch)
    _stamp(stamped)
    return bytes(stamped)
