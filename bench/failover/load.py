"""Load that knows what it was promised: librdkafka and Java producers, and consumers that check as they read.

Each partition has one idempotent producer, so that record number n must be at offset n: a lost record, a
duplicate, a wrong order or a damaged byte shows at once. `bench.failover.promises` makes the values.
"""

from __future__ import annotations

import struct
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException, Message, TopicPartition

from bench.failover.census import Census, census
from bench.failover.promises import NOISE, ProducerLoad, Promises, consumer, value_of, wait_until
from bench.jars import failover_classpath

SIZE: Final = 500
RECORD: Final = struct.Struct(">ciqqq")
RETRIES: Final[Mapping[str, object]] = {
    "socket_timeout_ms": 2000,
    "retry_backoff_ms": 50,
    "retry_backoff_max_ms": 200,
    "reconnect_backoff_ms": 20,
    "reconnect_backoff_max_ms": 200,
    "topic_metadata_refresh_fast_interval_ms": 50,
    "metadata_recovery_strategy": "none",
}
"""All waits are short, so that what is measured is the brokers'. When all brokers are away, librdkafka would
forget what it knows of them, and look for one once a second (KIP-899)."""
READER: Final[Mapping[str, object]] = {
    "reconnect_backoff_ms": 20,
    "reconnect_backoff_max_ms": 200,
    "socket_timeout_ms": 2000,
    "log_level": 0,
}


def problem_of(partition: int, offset: int, value: bytes | None, size: int = SIZE) -> str | None:
    """What is wrong with a record that was read; None when nothing is."""
    if value == value_of(partition, offset, size):
        return None
    return f"partition {partition}, offset {offset}: another value, {value[:40] if value else value!r}"


class JavaLoad:
    """Producers and one consumer of all partitions in a JVM (java/FailoverLoad.java)."""

    def __init__(
        self, bootstrap: str, topic: str, partitions: int, shares: list[list[int]], rate: int, directory: Path
    ) -> None:
        self.topic = topic
        self.size = SIZE
        self.partitions = [partition for share in shares for partition in share]
        self.promises = Promises({p: {} for p in self.partitions}, dict.fromkeys(self.partitions, 0))
        self.read = dict.fromkeys(range(partitions), 0)
        noise = directory / "noise"
        noise.write_bytes(NOISE)
        command = ["java", "-Xmx512M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", failover_classpath(), "FailoverLoad", bootstrap, topic, str(partitions)]
        command += [";".join(",".join(map(str, share)) for share in shares), str(rate), str(noise), str(SIZE)]
        with (directory / "java.log").open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def failures(self) -> list[str]:
        return self.promises.failed

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while len(data := stream.read(RECORD.size)) == RECORD.size:
            kind, partition, number, offset, nanos = RECORD.unpack(data)
            if kind == b"A":
                self.promises.acked[partition][number] = offset
                self.promises.note(partition, nanos / 1e9)
            elif kind == b"R":
                self.read[partition] = number
            elif kind == b"S":
                self.promises.sent[partition] = number
            else:
                self.failures.append(f"{self.topic}-{partition}: {stream.read(number).decode()}")

    def finish(self) -> Promises:
        """Send no more, wait until all is acknowledged; AssertionError when something never is."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(120)
            self._thread.join(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise AssertionError(
                "the Java producers did not get their acknowledgements within 120 s"
            ) from None
        assert self._process.returncode == 0, "the JVM of the load failed"
        assert self.failures == [], self.failures[:10]
        return self.promises

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()


class SteadyLoad(ProducerLoad):
    """Keeps to its rate: acknowledgements do not make it send sooner."""

    def _rest(self) -> None:
        due = time.monotonic() + self._pause_s
        while (left := due - time.monotonic()) > 0:
            self._client.poll(left)


class Reader:
    """A consumer in a thread that compares what it gets: record n at offset n, one after the other."""

    def __init__(self, name: str, bootstrap: str, topic: str, partitions: int) -> None:
        self.name = name
        self.topic = topic
        self.read = dict.fromkeys(range(partitions), 0)
        self.failures: list[str] = []
        self._client = consumer(bootstrap, **self._settings(), **READER)
        self._begin()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _settings(self) -> dict[str, object]:
        return {"auto_offset_reset": "error"}

    def _begin(self) -> None:
        self._client.assign([TopicPartition(self.topic, partition, 0) for partition in self.read])

    def _run(self) -> None:
        while not self._stop.is_set():
            batch = self._client.consume(500, 0.1)
            for message in batch:
                self._check(message)
            self._after(batch)
        self._client.close()

    def _check(self, message: Message) -> None:
        error, partition, offset = message.error(), message.partition(), message.offset()
        if error is not None:
            if error.name() == "_AUTO_OFFSET_RESET":
                self.failures.append(f"{self.name}: {error.str()}")
            return
        assert partition is not None
        assert offset is not None
        problem = problem_of(partition, offset, message.value()) or self._out_of_order(partition, offset)
        if problem is not None:
            self.failures.append(f"{self.name}: {problem}")
        self.read[partition] = max(self.read[partition], offset + 1)

    def _out_of_order(self, partition: int, offset: int) -> str | None:
        if offset == self.read[partition]:
            return None
        return f"partition {partition}: offset {offset} came after {self.read[partition] - 1}"

    def _after(self, batch: list[Message]) -> None:
        """Nothing to commit."""

    def finish(self) -> None:
        self._stop.set()
        self._thread.join(60)


class Member(Reader):
    """The same as the only member of a group, which commits: it may go back to what it committed."""

    def __init__(self, name: str, bootstrap: str, topic: str, partitions: int) -> None:
        self.commits = 0
        self._committed = dict.fromkeys(range(partitions), 0)
        self._next: dict[int, int] = {}
        super().__init__(name, bootstrap, topic, partitions)

    def _settings(self) -> dict[str, object]:
        return {"auto_offset_reset": "earliest", "group_id": self.name, "session_timeout_ms": 6000}

    def _begin(self) -> None:
        self._client.subscribe([self.topic], on_assign=lambda *_: self._next.clear())

    def _out_of_order(self, partition: int, offset: int) -> str | None:
        expected = self._next.get(partition)
        self._next[partition] = offset + 1
        if expected is None and offset < self._committed[partition]:
            return f"partition {partition}: {self._committed[partition]} was committed, began at {offset}"
        if (expected is None and offset > self.read[partition]) or expected not in {None, offset}:
            return f"partition {partition}: offset {offset} came, {expected} was next"
        return None

    def _after(self, batch: list[Message]) -> None:
        ends = {m.partition(): m.offset() + 1 for m in batch if m.error() is None}  # type: ignore[operator]
        if not ends:
            return
        places = [TopicPartition(self.topic, p, end) for p, end in ends.items()]  # type: ignore[arg-type]
        try:
            done = self._client.commit(offsets=places, asynchronous=False) or []
        except KafkaException:
            return
        for place in done:
            if place.error is None:
                self.commits += 1
                self._committed[place.partition] = place.offset


class FailoverLoad:
    """All of it over the partitions of one topic: half of the producers librdkafka's, half Java's.

    ``forgiving``: a broken promise is one of ``problems``, and nothing is checked any more before the
    `census`; otherwise it is an AssertionError.
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        partitions: int,
        rate: int,
        directory: Path,
        forgiving: bool = False,
    ) -> None:
        self.forgiving = forgiving
        self.problems: list[str] = []
        self.bootstrap = bootstrap
        self.topic = topic
        self.partitions = partitions
        shares = [list(range(first, partitions, 4)) for first in range(4)]
        self.java = JavaLoad(bootstrap, topic, partitions, shares[2:], rate // 4, directory)
        self.producers: list[ProducerLoad | JavaLoad] = [self.java]
        for share in shares[:2]:
            self.producers.append(
                SteadyLoad(bootstrap, topic, share, SIZE, rate // 4, enable_idempotence=True, **RETRIES)
            )
        self.readers = [
            Reader("reader", bootstrap, topic, partitions),
            Member("member", bootstrap, topic, partitions),
        ]

    def acked(self) -> dict[int, int]:
        """partition -> how many records were acknowledged."""
        return {p: len(numbers) for load in self.producers for p, numbers in load.promises.acked.items()}

    def listen(self) -> None:
        """Measure silences from now on."""
        for load in self.producers:
            load.promises.listen()

    def silences(self) -> dict[int, float]:
        """partition -> the longest time without an acknowledgement since `listen`, in seconds."""
        return {p: s for load in self.producers for p, s in load.promises.longest_silences().items()}

    def failures(self) -> list[str]:
        """What is wrong already."""
        of_readers = [line for reader in self.readers for line in reader.failures]
        return [line for load in self.producers for line in load.promises.failed] + of_readers

    def _await(self, what: str, done: Callable[[], bool], timeout_s: float) -> None:
        wait_until(what, lambda: self._unforgiven() or done(), timeout_s, every_s=0.01)
        assert self._unforgiven() == [], self._unforgiven()[:10]

    def _unforgiven(self) -> list[str]:
        found = self.failures()
        if self.forgiving:
            self.problems = self.problems or found[:10]
            return []
        return found

    def forgive(self, error: AssertionError) -> None:
        """Go on after a broken promise. Raises it when the load is not forgiving."""
        if not self.forgiving:
            raise error
        self.problems = self.problems or [str(error)]

    def await_progress(self, timeout_s: float = 180.0) -> float:
        """Seconds until every partition has an acknowledgement for something since now."""
        before, began = self.acked(), time.monotonic()

        def all_moved() -> bool:
            now = self.acked()
            return all(now[partition] > count for partition, count in before.items())

        self._await("acknowledgements of all partitions", all_moved, timeout_s)
        return time.monotonic() - began

    def await_read(self, timeout_s: float = 90.0) -> dict[int, int]:
        """All consumers that run have read what is acknowledged now, unless there is a problem; partition ->
        the end of that."""
        ends = self.acked()
        reads = [reader.read for reader in self.readers] + [self.java.read] * self.java.running

        def behind() -> list[tuple[int, int, int]]:
            """Reader, partition, offset."""
            places = ((who, p, read[p]) for who, read in enumerate(reads) for p in ends)
            return [place for place in places if place[2] < ends[place[1]]]

        try:
            self._await(
                "consumers to read what was acknowledged",
                lambda: bool(self.problems) or not behind(),
                timeout_s,
            )
        except AssertionError as error:
            raise AssertionError(f"{error}: {behind()[:10]} of {ends}") from None
        return ends

    def verify(self, begins: Mapping[int, int], ends: Mapping[int, int], timeout_s: float = 300.0) -> int:
        """Read again with a new consumer, [begin, end) of every partition; how many records.

        AssertionError when a record is missing, twice there, in another place or damaged.
        """
        client = consumer(self.bootstrap, auto_offset_reset="error", **READER)
        nexts = dict(begins)
        client.assign([TopicPartition(self.topic, partition, begin) for partition, begin in begins.items()])
        deadline = time.monotonic() + timeout_s
        try:
            while any(nexts[partition] < end for partition, end in ends.items()):
                assert time.monotonic() < deadline, f"could not read up to {ends} in {timeout_s} s: {nexts}"
                for message in client.consume(1000, 0.2):
                    partition, offset = message.partition(), message.offset()
                    if message.error() is None and partition is not None and offset is not None:
                        assert offset == nexts[partition], f"{partition}: {offset}, not {nexts[partition]}"
                        problem = problem_of(partition, offset, message.value())
                        assert problem is None, problem
                        nexts[partition] += 1
        finally:
            client.close()
        return sum(end - begins[partition] for partition, end in ends.items())

    def finish(self) -> Census:
        """Stop, then read all from the start and compare with what was acknowledged."""
        for load in self.producers:
            try:
                load.finish()
            except AssertionError as error:
                self.forgive(error)
        ends = self.acked()
        try:
            ends = self.await_read()
        except AssertionError as error:
            self.forgive(error)
        for reader in self.readers:
            reader.finish()
        if self.forgiving:
            told = {p: numbers for load in self.producers for p, numbers in load.promises.acked.items()}
            return census(self.bootstrap, self.topic, told, SIZE)
        assert self.failures() == [], self.failures()[:10]
        for load in self.producers:
            for partition, sent in load.promises.sent.items():
                in_order = {number: number for number in range(sent)}
                assert load.promises.kept(partition, in_order), f"partition {partition}"
        probe = consumer(self.bootstrap, **READER)
        for partition, end in ends.items():
            stored = probe.get_watermark_offsets(TopicPartition(self.topic, partition), timeout=30)
            assert stored == (0, end), f"partition {partition}: {stored} stored, {end} acknowledged"
        probe.close()
        read = self.verify(dict.fromkeys(ends, 0), ends)
        return Census(sum(ends.values()), read)

    def kill(self) -> None:
        """End all of it at once."""
        self.java.kill()
