"""What is done to a broker's storage between two ends, by chance: clients produce, send again, read and
delete; operators change topics and settings; time passes, memory is wanted, the disk gets full.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kproto.config import load
from kproto.errors import ErrorCode, KafkaError
from kproto.log.partition import Partition
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.crossing import Crossing
from kproto.vlog.virtual_log import VirtualLog
from kproto.wire.records import NO_PRODUCER, Producer
from tests.log.support import batch

from .checks import Checks, require
from .model import MAX_SEQUENCE, Batch, Key, Model, Sender
from .node import Node, Topic

SIZES = (50, 300, 3000, 20_000, 90_000)
MOST_SENDERS = 8
MOST_TOPICS = 5
TOO_LARGE = (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.MESSAGE_TOO_LARGE)


class Operations:
    """Everything that `step` may do has a weight."""

    def __init__(self, node: Node, checks: Checks) -> None:
        self.node = node
        self.checks = checks
        self.random = node.random
        offered: list[tuple[int, Callable[[], object]]] = [
            (62, self.produce),
            (10, self.wait),
            (4, self.delete),
            (4, self.read),
            (3, self.flush),
            (3, self.reconfigure),
            (2, self.want_memory),
            (2, self.fill_disk if node.plan.full else self.wait),
            (3, self.press),
            (7, self.nothing),
        ]
        self.weights = [weight for weight, _ in offered]
        self.offered = [operation for _, operation in offered]

    def step(self) -> None:
        (operation,) = self.random.choices(self.offered, self.weights)
        operation()
        if self.random.random() < 0.7:
            self.node.spin()
        self.checks.look()

    def nothing(self) -> None:
        """But a turn of the loop."""

    # Clients

    def _any_partition(self) -> tuple[Key, Partition, Model] | None:
        key = self.random.choice(self.node.partitions())
        partition = self.node.partition(key)
        return None if partition is None else (key, partition, self.checks.model(key))

    def produce(self) -> None:
        chosen = self._any_partition()
        if chosen is None:
            return
        key, partition, model = chosen
        for _ in range(self.random.choice((1, 1, 1, 6))):
            sender = self._sender(model) if self.random.random() < 0.7 else None
            if sender is not None and sender.batches and self.random.random() < 0.3:
                self._send_again(key, partition, sender)
            else:
                self._send(key, partition, model, sender)

    def _sender(self, model: Model) -> Sender:
        random = self.random
        if not model.senders or (random.random() < 0.05 and len(model.senders) < MOST_SENDERS):
            pid = len(model.senders) + 1
            model.senders[pid] = Sender(pid, random.choice((0, MAX_SEQUENCE - 3)))
        sender = random.choice(list(model.senders.values()))
        if random.random() < 0.03:
            sender.begin_anew()
        return sender

    def _send(self, key: Key, partition: Partition, model: Model, sender: Sender | None) -> None:
        random = self.random
        count = random.choice((1, 1, 2, 5))
        size = random.choice(SIZES) // count
        time = self.node.clock.wall_ms() + random.choice((0, 0, -1000, -100_000, 500))
        if sender is None and random.random() < 0.03:
            time = -1
        producer = Producer(sender.pid, sender.epoch, sender.sequence) if sender is not None else NO_PRODUCER
        data = bytes(batch(*(random.randbytes(size) for _ in range(count)), time=time, producer=producer))
        before = partition.log_end_offset
        base = self._append(key, partition, data)
        if base is None:
            return
        require(base == before, f"S4: {key}: a new batch is told {base}, the log ended at {before}")
        end = partition.log_end_offset
        require(end == base + count, f"S2: {key}: {count} records are {base} to {end}")
        if sender is not None:
            sent = Batch(base, end, data, sender.epoch, sender.sequence)
            sender.sent(sent)
        else:
            sent = Batch(base, end, data)
        model.sent[base] = sent
        self._await_ack(partition, model, end)

    def _append(self, key: Key, partition: Partition, data: bytes) -> int | None:
        """The base offset; None when it is refused, as it may be."""
        before = partition.log_end_offset
        owned = self.random.random() < 0.6
        try:
            return partition.append(memoryview(bytearray(data) if owned else data), owned=owned)[0]
        except KafkaError as error:
            expected = error.code in TOO_LARGE or self.node.may_refuse(error.code)
            require(expected, f"S4: {key}: a batch is refused: {error!r} {error}")
        require(partition.log_end_offset == before, f"S2: {key}: a batch that was refused is in the log")
        self.node.cover["refused"] += 1
        return None

    def _send_again(self, key: Key, partition: Partition, sender: Sender) -> None:
        repeatable = sender.repeatable()
        if not repeatable:
            return
        again = self.random.choice(repeatable)
        before = partition.log_end_offset
        base = self._append(key, partition, again.data)
        if base is not None:
            require(base == again.base, f"S4: {key}: {again.base} is sent again and told {base}")
            require(partition.log_end_offset == before, f"S4: {key}: {again.base} is stored twice")
            self.node.cover["sent again"] += 1

    def _await_ack(self, partition: Partition, model: Model, end: int) -> None:
        vlog = partition.vlog
        assert isinstance(vlog, VirtualLog | Crossing)
        vlog.when_durable(vlog.end, partial(self._acked, vlog, model, end))

    def _acked(self, vlog: VirtualLog | Crossing, model: Model, end: int) -> None:
        """By the class in which it has become durable at last."""
        where = vlog.ahead if isinstance(vlog, Crossing) else vlog
        pusher = self.node.vlogs._of[where]  # type: ignore[index]
        model.ack(end, pusher.klass.policy is FlushPolicy.SYNCED)

    def delete(self) -> None:
        """Of what is durable; some of the time another batch is on its way."""
        chosen = self._any_partition()
        if chosen is not None:
            key, partition, model = chosen
            if self.random.random() < 0.3:
                self._send(key, partition, model, self._sender(model))
            start, end = partition.log_start_offset, partition.high_watermark
            model.saw_start(
                partition.delete_records(self.random.choice((-1, self.random.randint(start, end))))
            )
            self.node.note("records deleted", key, model.start)

    def read(self) -> None:
        chosen = self._any_partition()
        if chosen is not None:
            self.checks.read(*chosen[:2])

    # Operators

    def reconfigure(self) -> None:
        random, node = self.random, self.node
        what = random.random()
        name = random.choice(list(node.topics))
        if what < 0.6:
            node.topics[name].configs = Topic(name, random).configs
            node.note("configs changed", name, node.topics[name].configs)
        elif what < 0.75 and len(node.topics) > 1:
            del node.topics[name]
            for key in [key for key in self.checks.models if key[0] == name]:
                del self.checks.models[key]
            node.note("topic deleted", name)
        elif what < 0.9 and len(node.topics) < MOST_TOPICS:
            node.make_topic()
        else:
            changes = {
                "kproto.vlogs.per.broker": random.choice("1234"),
                "kproto.virtual.segment.bytes": random.choice(("1048576", "2097152")),
            }
            node.vlogs.apply_settings(
                load(None, {**node.overrides, **changes}), list(node.log.partitions_open())
            )
            node.note("settings changed", changes)
        node.log.apply_image(node.image())

    # Time, memory and room

    def wait(self) -> None:
        self.node.keep_house(self.random.choice((0.1, 0.7, 2.5, 11.0)))

    def flush(self) -> None:
        self.node.log.flushing.flush_all()

    def want_memory(self) -> None:
        while self.node.log.pool.evict():
            pass

    def press(self) -> None:
        """As when the journals are large."""
        self.node.vlogs.cleaner.press()

    def fill_disk(self) -> None:
        machine = self.node.machine
        if machine.full or machine.room is not None:
            self.make_room()
        else:
            machine.full = self.random.random() < 0.3
            machine.room = self.random.choice((0, 5_000, 300_000))
            self.node.note("disk full", machine.full, machine.room)

    def make_room(self) -> None:
        self.node.machine.full, self.node.machine.room = False, None
