"""Load that knows what it was promised: producers that go on while brokers die.

Every value names its partition and number and carries noise derived from both, so that what comes back can be
compared to the last byte without keeping what was sent. The tests of clients use it, too.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, Message, Producer

T = TypeVar("T")
FLUSH_S = 180.0
"""Until then the last acknowledgements must have come: a busy machine takes many times what is usual."""
QUICK = {
    "topic.metadata.refresh.interval.ms": 2000,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
}


def producer(bootstrap: str, **settings: object) -> Producer:
    """A producer; settings use _ for the dots of librdkafka's names."""
    return Producer({"bootstrap.servers": bootstrap, **QUICK, **_dotted(settings)})


def consumer(bootstrap: str, **settings: object) -> Consumer:
    """A consumer from the earliest offset without automatic commits unless the settings say otherwise."""
    base = {"group.id": "unused", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    return Consumer({"bootstrap.servers": bootstrap, **base, **QUICK, **_dotted(settings)})


def _dotted(settings: Mapping[str, object]) -> dict[str, object]:
    return {
        name if name == "log_level" else name.replace("_", "."): value for name, value in settings.items()
    }


def wait_until(
    what: str, condition: Callable[[], T | None], timeout_s: float = 30.0, every_s: float = 0.05
) -> T:
    """The first true value of `condition`; AssertionError naming `what` when none comes in time."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s} s in vain: {what} (last value: {value!r})")
        time.sleep(every_s)


NOISE = random.Random(17).randbytes(1 << 20)
UNTOLD = -1
"""The offset of a record that was acknowledged without one. librdkafka does that for a batch whose answer
it never got when one behind it is acknowledged: with idempotence both must be stored then."""


def value_of(partition: int, number: int, size: int) -> bytes:
    """Record `number` of a partition: up to `size` bytes of noise behind its name."""
    start = (partition * 7_919 + number * 104_729) % (len(NOISE) // 2)
    return b"%d:%d:" % (partition, number) + NOISE[start : start + start % size]


def number_of(value: bytes) -> int:
    return int(value.split(b":", 2)[1])


@dataclass(slots=True)
class Promises:
    """What a producer was told: acked[partition][number] = offset (or UNTOLD), and what it was given:
    sent[partition] = records."""

    acked: dict[int, dict[int, int]] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    heard: dict[int, float] = field(default_factory=dict)
    """partition -> when its last acknowledgement came (monotonic seconds)."""
    silences: dict[int, float] = field(default_factory=dict)
    """partition -> its longest time between two acknowledgements since `listen`."""

    def listen(self) -> None:
        """Measure the longest silence of each partition from now on."""
        now = time.monotonic()
        self.heard = dict.fromkeys(self.acked, now)
        self.silences = dict.fromkeys(self.acked, 0.0)

    def longest_silences(self) -> dict[int, float]:
        """partition -> seconds, those that last still included."""
        now = time.monotonic()
        return {p: max(self.silences[p], now - heard) for p, heard in self.heard.items()}

    def note(self, partition: int, now: float | None = None) -> None:
        """An acknowledgement came (at ``now``, monotonic seconds)."""
        now = time.monotonic() if now is None else now
        silence = now - self.heard.get(partition, now)
        if silence > self.silences.get(partition, 0.0):
            self.silences[partition] = silence
        self.heard[partition] = now

    def total(self) -> int:
        return sum(len(offsets) for offsets in self.acked.values())

    def kept(self, partition: int, stored: Mapping[int, int]) -> bool:
        """Whether ``stored`` (number -> offset) is what was acknowledged, at the offsets that were told."""
        acked = self.acked[partition]
        return acked.keys() == stored.keys() and all(
            offset in (UNTOLD, stored[number]) for number, offset in acked.items()
        )


class ProducerLoad:
    """One producer in a thread, round robin over its partitions, at least `rate` records a second."""

    def __init__(
        self, bootstrap: str, topic: str, partitions: list[int], size: int, rate: int, **settings: object
    ) -> None:
        self.topic = topic
        self.partitions = partitions
        self.size = size
        self.promises = Promises({p: {} for p in partitions}, dict.fromkeys(partitions, 0))
        self._unsent = 0
        """How many records were not acknowledged in the end."""
        self._pause_s = 10 / rate
        self._client: Producer = producer(
            bootstrap,
            log_level=0,
            message_timeout_ms=600_000,
            acks="all",
            linger_ms=1,
            **{"socket_timeout_ms": 5000, **settings},
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _acked(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.promises.failed.append(f"{message.topic()}-{message.partition()}: {error}")
            return
        value, partition, offset = message.value(), message.partition(), message.offset()
        assert value is not None
        assert partition is not None
        self.promises.acked[partition][number_of(value)] = UNTOLD if offset is None else offset
        self.promises.note(partition)

    def _run(self) -> None:
        try:
            self._go_on()
            self._unsent = self._client.flush(FLUSH_S)
        except Exception as error:
            self.promises.failed.append(f"{self.topic}: the producer has ended with an error, {error!r}")

    def _go_on(self) -> None:
        turn = 0
        while not self._stop.is_set():
            for _ in range(10):
                partition = self.partitions[turn % len(self.partitions)]
                turn += 1
                if not self._send(partition):
                    break
            self._rest()

    def _rest(self) -> None:
        """Between bursts: acknowledgements end it sooner, so that whoever gets them fast sends more."""
        self._client.poll(self._pause_s)

    def _send(self, partition: int) -> bool:
        """Hand over a partition's next record once there is room for it; False: there was none to the end."""
        number = self.promises.sent[partition]
        value = value_of(partition, number, self.size)
        while True:
            try:
                self._client.produce(self.topic, value, partition=partition, on_delivery=self._acked)
            except BufferError:
                if self._stop.is_set():
                    return False
                self._client.poll(0.05)
            else:
                self.promises.sent[partition] = number + 1
                return True

    def finish(self) -> Promises:
        """Send no more, wait until all is acknowledged; AssertionError when something never is."""
        self._stop.set()
        self._thread.join(FLUSH_S + 20)
        assert not self._thread.is_alive(), "the producer does not stop"
        assert self.promises.failed == [], self.promises.failed[:10]
        assert self._unsent == 0, f"{self._unsent} records were not acknowledged within {FLUSH_S:g} s"
        return self.promises
