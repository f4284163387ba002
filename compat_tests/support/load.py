"""Load that knows what it was promised: beside the producers of `bench.failover` a group member, and checks.

Every value names its partition and number and carries noise derived from both, so that what comes back can be
compared to the last byte without keeping what was sent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from confluent_kafka import KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from bench.failover.promises import NOISE, ProducerLoad, Promises, number_of, value_of
from compat_tests.support.confluent import consumer, read_partition
from compat_tests.support.ports import PATIENCE_S, wait_until

__all__ = [
    "NOISE",
    "MemberLoad",
    "ProducerLoad",
    "Promises",
    "first_break",
    "number_of",
    "numbers_stored",
    "value_of",
    "verify_at_least_once",
    "verify_exactly_once",
    "verify_seen",
]


class MemberLoad:
    """A group member in a thread: reads, remembers what it saw, commits, remembers what was acknowledged."""

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        self.topic = topic
        self.group = group
        self.committed: dict[int, int] = {}
        self.seen: dict[tuple[int, int], int] = {}
        self.commits = 0
        self.backwards: list[str] = []
        self._bootstrap = bootstrap
        self._client = consumer(bootstrap, group_id=group, session_timeout_ms=6000, log_level=0)
        self._client.subscribe([topic])
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                batch = [message for message in self._client.consume(500, 0.1) if message.error() is None]
                for message in batch:
                    self.seen[message.partition(), message.offset()] = number_of(message.value())
                if batch:
                    self._commit(batch)
            self._client.close()
        except BaseException as error:
            self._error = error

    def _commit(self, batch: list[Message]) -> None:
        ends = {message.partition(): message.offset() + 1 for message in batch}
        places = [TopicPartition(self.topic, partition, end) for partition, end in ends.items()]
        try:
            done = self._client.commit(offsets=places, asynchronous=False)
        except KafkaException:
            return
        for place in done or []:
            if place.error is None:
                self.commits += 1
                if place.offset < self.committed.get(place.partition, 0):
                    self.backwards.append(f"{place.partition}: {place.offset}")
                self.committed[place.partition] = place.offset

    def _until(self, what: str, condition: Callable[[], bool]) -> None:
        wait_until(what, lambda: self._error is not None or condition())
        if self._error is not None:
            raise self._error

    def await_progress(self) -> None:
        """It reads something and commits it, from now on."""
        before = self.commits
        self._until("the member to commit", lambda: self.commits > before)

    def coordinator(self) -> int:
        """The node that has the group."""
        admin = AdminClient({"bootstrap.servers": self._bootstrap})

        def ask() -> int | None:
            try:
                node = admin.describe_consumer_groups([self.group])[self.group].result(60).coordinator
            except KafkaException:
                return None
            return int(node.id) if node is not None else None

        return wait_until("the group's coordinator", ask) or 0

    def check_stored(self, promised: dict[int, int]) -> None:
        """What the broker has stored is not below what it had acknowledged earlier."""
        if not promised:
            return
        reader = consumer(self._bootstrap, group_id=self.group)
        places = [TopicPartition(self.topic, partition) for partition in promised]

        def ask() -> list[TopicPartition] | None:
            try:
                return reader.committed(places, timeout=30)
            except KafkaException:
                return None

        stored = wait_until("committed offsets", ask)
        reader.close()
        for place in stored or []:
            before = promised[place.partition]
            assert place.offset >= before, f"{place.partition}: {before} was committed, {place.offset} stored"

    def finish(self, *loads: ProducerLoad) -> None:
        """It has read all that was acknowledged to ``loads``, committed some of it, and ends."""
        acked = {
            (p, at) for load in loads for p, found in load.promises.acked.items() for at in found.values()
        }
        self._until("the member to read everything", lambda: acked <= self.seen.keys())
        self._stop.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the member did not stop"
        assert self._error is None, self._error
        assert self.commits > 0
        assert self.backwards == [], self.backwards


def numbers_stored(bootstrap: str, load: ProducerLoad, partition: int) -> Iterator[tuple[int, int]]:
    """(offset, number) of every record in the partition, each compared with what was sent."""
    for message in read_partition(bootstrap, load.topic, partition, check_crcs=True):
        value = message.value()
        assert value is not None
        number = number_of(value)
        assert value == value_of(partition, number, load.size), (
            f"{load.topic}-{partition}: {number} is damaged"
        )
        yield message.offset(), number


def verify_exactly_once(bootstrap: str, load: ProducerLoad) -> int:
    """An idempotent producer's partitions hold 0, 1, 2 ... at the offsets acknowledged, nothing else."""
    for partition in load.promises.acked:
        stored = list(numbers_stored(bootstrap, load, partition))
        assert [number for _, number in stored] == list(range(load.promises.sent[partition])), (
            f"partition {partition}: {first_break([number for _, number in stored])}"
        )
        assert load.promises.kept(partition, {number: offset for offset, number in stored})
    return load.promises.total()


def verify_at_least_once(bootstrap: str, load: ProducerLoad) -> int:
    """A plain producer's partitions hold every acknowledged record at its offset, in order."""
    repeats = 0
    for partition, acked in load.promises.acked.items():
        stored = dict(numbers_stored(bootstrap, load, partition))
        for number, offset in acked.items():
            assert stored.get(offset) == number, (
                f"partition {partition}: {number} was acknowledged at {offset}"
            )
        firsts = list(dict.fromkeys(stored[offset] for offset in sorted(stored)))
        assert firsts == list(range(load.promises.sent[partition])), first_break(firsts)
        repeats += len(stored) - len(firsts)
    return repeats


def verify_seen(bootstrap: str, member: MemberLoad, load: ProducerLoad) -> None:
    """Whatever a consumer was shown is still there: nothing visible was taken back."""
    for partition in load.partitions:
        stored = dict(numbers_stored(bootstrap, load, partition))
        for (where, offset), number in member.seen.items():
            if where == partition:
                assert stored.get(offset) == number, f"{partition}@{offset} showed {number}"


def first_break(numbers: list[int]) -> str:
    """Where a sequence stops counting 0, 1, 2 ..."""
    for place, number in enumerate(numbers):
        if place != number:
            return f"{number} in place {place}, before it {numbers[max(0, place - 3) : place]}"
    return f"ends after {len(numbers)}"
