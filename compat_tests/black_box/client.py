"""One client that sends and polls at random and writes down what it saw, until it is killed or asked to end.

Arguments: CLIENT MODE BOOTSTRAP TOPIC PARTITIONS PROCESS SEED GROUP FILE;
CLIENT is ``confluent`` (idempotent, retries) or ``kafka-python`` (one try), MODE ``assign`` or ``subscribe``.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from compat_tests.black_box.history import Kind, Poll, Record, Result, Send, encode_begin, encode_end
from compat_tests.support.load import number_of, value_of
from compat_tests.support.members import asked_to_leave

SIZE = 300
SEND_S = 8.0
"""After so long a client gives a record up; it may be stored all the same."""
POLL_S = 0.1
SESSION_MS = 6000
VALUES_PER_PROCESS = 1_000_000
DAMAGED = -1
"""In place of the number of a record whose bytes are not what anybody sent."""


def to_record(key: int | None, offset: int | None, value: bytes | None) -> Record:
    """What was read, its bytes compared with what must have been sent."""
    assert key is not None
    assert offset is not None
    try:
        number = number_of(value or b"")
    except (ValueError, IndexError):
        number = DAMAGED
    return Record(key, offset, number if value == value_of(key, number, SIZE) else DAMAGED)


class Client(Protocol):
    """What both clients can do."""

    rebalanced: bool
    """The group moved partitions since this was reset."""

    def send(self, records: Sequence[tuple[int, int]]) -> list[Send]:
        """Send (key, value) one after the other and wait for the answers."""

    def poll(self) -> list[Record]: ...

    def assign(self, keys: Sequence[int], positions: dict[int, int]) -> None: ...

    def subscribe(self) -> None: ...

    def commit(self) -> None:
        """What was polled so far; failures do not matter."""


class Confluent:
    """librdkafka through confluent-kafka."""

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        from compat_tests.support.confluent import consumer, producer

        quick = {"reconnect_backoff_ms": 20, "reconnect_backoff_max_ms": 200, "log_level": 0}
        self.rebalanced = False
        self._topic = topic
        self._producer = producer(
            bootstrap,
            enable_idempotence=True,
            message_timeout_ms=int(SEND_S * 1000),
            socket_timeout_ms=2000,
            retry_backoff_ms=50,
            linger_ms=0,
            **quick,
        )
        self._consumer = consumer(
            bootstrap,
            group_id=group,
            session_timeout_ms=SESSION_MS,
            socket_timeout_ms=4000,
            fetch_wait_max_ms=50,
            **quick,
        )

    def send(self, records: Sequence[tuple[int, int]]) -> list[Send]:
        done: dict[int, Send] = {}
        for key, value in records:

            def told(error: Any, message: Any, key: int = key, value: int = value) -> None:
                if error is None:
                    offset = message.offset()
                    done[value] = Send(key, value, Result.OK, offset if offset >= 0 else None)

            self._producer.produce(self._topic, value_of(key, value, SIZE), partition=key, on_delivery=told)
        self._producer.flush(SEND_S + 4)
        return [done.get(value, Send(key, value, Result.INFO, None)) for key, value in records]

    def poll(self) -> list[Record]:
        batch = self._consumer.consume(200, POLL_S)
        return [to_record(m.partition(), m.offset(), m.value()) for m in batch if m.error() is None]

    def assign(self, keys: Sequence[int], positions: dict[int, int]) -> None:
        from confluent_kafka import TopicPartition

        self._consumer.assign([TopicPartition(self._topic, key, positions.get(key, 0)) for key in keys])

    def subscribe(self) -> None:
        def moved(*_: Any) -> None:
            self.rebalanced = True

        self._consumer.subscribe([self._topic], on_assign=moved, on_revoke=moved, on_lost=moved)

    def commit(self) -> None:
        from confluent_kafka import KafkaException

        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException:
            pass


class KafkaPython:
    """kafka-python: its producer tries each record once, so that nothing can be there twice."""

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        from kafka import KafkaConsumer, KafkaProducer

        self.rebalanced = False
        self._topic = topic
        servers = bootstrap.split(",")
        self._producer = KafkaProducer(
            bootstrap_servers=servers,
            acks="all",
            retries=0,
            enable_idempotence=False,
            max_in_flight_requests_per_connection=1,
            linger_ms=0,
            request_timeout_ms=3000,
            max_block_ms=4000,
        )
        self._consumer = KafkaConsumer(
            bootstrap_servers=servers,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=500,
        )

    def send(self, records: Sequence[tuple[int, int]]) -> list[Send]:
        from kafka.errors import KafkaError, NotEnoughReplicasError

        waiting = []
        for key, value in records:
            try:
                future = self._producer.send(self._topic, value_of(key, value, SIZE), partition=key)
            except KafkaError:
                future = None  # it was never handed over
            waiting.append((key, value, future))
        found = []
        for key, value, future in waiting:
            try:
                offset = future.get(timeout=SEND_S).offset if future is not None else None
                result = Result.OK if future is not None else Result.FAIL
            except NotEnoughReplicasError:  # refused before anything was stored, and not tried again
                offset, result = None, Result.FAIL
            except KafkaError:
                offset, result = None, Result.INFO
            found.append(Send(key, value, result, offset))
        return found

    def poll(self) -> list[Record]:
        from kafka.errors import KafkaError

        try:
            batches = self._consumer.poll(timeout_ms=int(POLL_S * 1000), max_records=200).values()
        except KafkaError:
            return []
        return [to_record(m.partition, m.offset, m.value) for batch in batches for m in batch]

    def assign(self, keys: Sequence[int], positions: dict[int, int]) -> None:
        from kafka import TopicPartition

        self._consumer.assign([TopicPartition(self._topic, key) for key in keys])
        for key in keys:
            self._consumer.seek(TopicPartition(self._topic, key), positions.get(key, 0))

    def subscribe(self) -> None:
        from kafka import ConsumerRebalanceListener

        outer = self

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
            def on_partitions_assigned(self, assigned: Any) -> None:
                outer.rebalanced = True

            def on_partitions_revoked(self, revoked: Any) -> None:
                outer.rebalanced = True

        self._consumer.subscribe([self._topic], listener=Listener())

    def commit(self) -> None:
        from kafka.errors import KafkaError

        try:
            self._consumer.commit(timeout_ms=3000)
        except KafkaError:
            pass


class Player:
    """Chooses what to do next, does it, and writes it down."""

    def __init__(
        self, client: Client, mode: Kind, partitions: int, process: int, seed: int, out: TextIO
    ) -> None:
        self._client = client
        self._mode = mode
        self._partitions = partitions
        self._chance = random.Random(seed)
        self._out = out
        self._next = process * VALUES_PER_PROCESS
        self._positions: dict[int, int] = {}

    def _write(self, line: str) -> None:
        self._out.write(line + "\n")
        self._out.flush()

    def place(self) -> None:
        """Choose what to read."""
        self._client.rebalanced = False
        if self._mode is Kind.SUBSCRIBE:
            self._write(encode_begin(Kind.SUBSCRIBE, [], []))
            self._client.subscribe()
        else:
            count = self._chance.randint(1, self._partitions)
            keys = sorted(self._chance.sample(range(self._partitions), count))
            self._write(encode_begin(Kind.ASSIGN, [], keys))
            self._positions = {key: at for key, at in self._positions.items() if key in keys}
            self._client.assign(keys, self._positions)
        self._write(encode_end([], self._client.rebalanced))

    def mix(self) -> None:
        """Some sends and polls; several sends in a row are in flight together."""
        plan: list[list[tuple[int, int]]] = []
        for _ in range(self._chance.randint(1, 3)):
            sends = []
            for _ in range(self._chance.choice([0, 1, 1, 2, 4])):
                sends.append((self._chance.randrange(self._partitions), self._next))
                self._next += 1
            plan.append(sends)
        self._client.rebalanced = False
        self._write(encode_begin(Kind.MIX, [send for sends in plan for send in sends], []))
        parts: list[Send | Poll] = []
        for sends in plan:
            if sends:
                parts += self._client.send(sends)
            else:
                parts.append(self._poll())
        parts.append(self._poll())
        self._write(encode_end(parts, self._client.rebalanced))

    def _poll(self) -> Poll:
        records = self._client.poll()
        self._positions.update({record.key: record.offset + 1 for record in records})
        if self._mode is Kind.SUBSCRIBE and records and self._chance.random() < 0.5:
            self._client.commit()
        return Poll(tuple(records))


def main() -> None:
    name, mode, bootstrap, topic, partitions, process, seed, group, path = sys.argv[1:]
    client: Client = (Confluent if name == "confluent" else KafkaPython)(bootstrap, topic, group)
    with Path(path).open("a", encoding="utf-8") as out:
        player = Player(client, Kind(mode), int(partitions), int(process), int(seed), out)
        player.place()
        chance = random.Random(int(seed) + 1)
        while not asked_to_leave():
            if chance.random() < 0.03:
                player.place()
            player.mix()
            time.sleep(chance.random() * 0.05)


if __name__ == "__main__":
    main()
