"""When the loop rests, and that nothing is lost or changes places when it does."""

import os
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from test_server import connect, echo, frame, receive

from kproto.net.rounds import (
    FEW_WRITES,
    LARGE_BYTES,
    MANY_WRITES,
    RELIEVED_IDLE,
    SATURATED_IDLE,
    SMALL_BYTES,
    STEP_SECONDS,
    Processors,
    Rest,
    Rounds,
    rounds,
)
from kproto.testing import kafka_broker

MOST = 0.02
BUSY = {"idle": 0.0, "writes": 5 * MANY_WRITES, "bytes_per_write": SMALL_BYTES / 2}


def saturated() -> Rest:
    """A rest that has grown to the most there is."""
    rest = Rest(MOST)
    while rest.decide(**BUSY) < MOST:
        pass
    return rest


@pytest.mark.parametrize(
    "unlike",
    [
        {"idle": SATURATED_IDLE + 0.01},
        {"idle": 1.0},
        {"writes": MANY_WRITES - 1},
        {"bytes_per_write": SMALL_BYTES},
        {"bytes_per_write": LARGE_BYTES + 1},
    ],
)
def test_no_rest_begins_while_a_processor_is_idle_or_requests_are_few_or_large(unlike):
    rest = Rest(MOST)
    for _ in range(100):
        assert rest.decide(**{**BUSY, **unlike}) == 0


def test_it_grows_by_steps_to_the_most_and_not_beyond():
    rest = Rest(MOST)
    assert rest.decide(**BUSY) == pytest.approx(STEP_SECONDS)
    assert rest.decide(**BUSY) == pytest.approx(2 * STEP_SECONDS)
    for _ in range(100):
        rest.decide(**BUSY)
    assert rest.seconds == MOST


@pytest.mark.parametrize("over", [{"idle": RELIEVED_IDLE + 0.01}, {"writes": FEW_WRITES - 1}])
def test_it_halves_to_nothing_when_a_processor_is_idle_or_requests_are_few(over):
    rest = saturated()
    assert rest.decide(**{**BUSY, **over}) == MOST / 2
    for _ in range(5):
        rest.decide(**{**BUSY, **over})
    assert rest.seconds == 0


def test_it_gets_shorter_by_steps_when_answers_are_large():
    rest = saturated()
    assert rest.decide(**{**BUSY, "bytes_per_write": LARGE_BYTES + 1}) == pytest.approx(MOST - STEP_SECONDS)
    for _ in range(20):
        rest.decide(**{**BUSY, "bytes_per_write": LARGE_BYTES + 1})
    assert rest.seconds == 0


@pytest.mark.parametrize(
    "between",
    [
        {"idle": (SATURATED_IDLE + RELIEVED_IDLE) / 2},
        {"bytes_per_write": (SMALL_BYTES + LARGE_BYTES) / 2},
    ],
)
def test_between_the_marks_it_stays_as_it_is(between):
    rest = saturated()
    for _ in range(20):
        assert rest.decide(**{**BUSY, **between}) == MOST
    fewer = (FEW_WRITES + MANY_WRITES) / 2
    assert rest.decide(**{**BUSY, "writes": fewer}) == MOST


def test_idle_and_all_time_of_the_processors(tmp_path: Path):
    told = tmp_path / "stat"
    told.write_text("cpu  10 20 30 400 50 6 7 8 9 1\ncpu0 10 20 30 400 50 6 7 8 9 1\n")
    processors = Processors(str(told))
    assert processors.read() == (450, 531)
    told.write_text("cpu  11 20 30 402 50 6 7 8 9 1\n")
    assert processors.read() == (452, 534)
    processors.close()


@pytest.mark.parametrize("text", ["", "intr 5\n", "cpu  1 2\n"])
def test_a_kernel_that_tells_something_else_is_an_error_and_leaves_nothing_open(tmp_path: Path, text: str):
    told = tmp_path / "stat"
    told.write_text(text)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="stat"):
        Processors(str(told))
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_rounds_without_a_rest_or_without_the_kernels_word(monkeypatch: pytest.MonkeyPatch):
    assert rounds(0) is None
    made = rounds(5)
    assert made is not None
    made.close()

    def missing() -> None:
        raise FileNotFoundError

    monkeypatch.setattr("kproto.net.rounds.Processors", missing)
    assert rounds(5) is None


class Always(Rest):
    """Rests from the beginning, whatever the machine does."""

    def __init__(self, most: float) -> None:
        super().__init__(most)
        self.seconds = most
        self.asked: list[tuple[float, float, float]] = []

    def decide(self, idle: float, writes: float, bytes_per_write: float) -> float:
        self.asked.append((idle, writes, bytes_per_write))
        return self.seconds


def test_answers_are_whole_and_in_order_when_the_loop_rests(serve):
    running = serve(echo)
    rest = Always(0.004)
    running.run(lambda: setattr(running.server, "rounds", Rounds(rest, Processors())))

    def talk(client: int, said: list[bytes]) -> None:
        with connect(running.port) as sock:
            for first in range(0, 200, 5):
                bodies = [struct.pack(">ii", client, first + i) + os.urandom(300) for i in range(5)]
                sock.sendall(b"".join(map(frame, bodies)))
                said += [body for body in bodies if receive(sock) == body]

    heard: list[list[bytes]] = [[] for _ in range(8)]
    clients = [threading.Thread(target=talk, args=(i, said)) for i, said in enumerate(heard)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert [len(said) for said in heard] == [200] * 8
    with connect(running.port) as sock:
        while not rest.asked:
            sock.sendall(frame(bytes(308)))
            receive(sock)
    idle, writes, size = rest.asked[0]
    assert 0 <= idle <= 1
    assert writes > 0
    assert size >= 312


def test_a_server_that_drains_rests_no_more(serve):
    running = serve(echo)
    running.run(lambda: setattr(running.server, "rounds", Rounds(Always(0.004), Processors())))
    with connect(running.port) as sock:
        sock.sendall(frame(b"last"))
        assert receive(sock) == b"last"
        running.run(lambda: running.server.drain(10))
        assert running.server.rounds is None


PRODUCERS, PARTITIONS, RECORDS = 6, 2, 300


def produced(bootstrap: str, number: int) -> None:
    """Every producer writes its own numbers to every partition, in small batches."""
    told: list[object] = []
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0, "batch.num.messages": 7}
    )
    for i in range(RECORDS):
        for partition in range(PARTITIONS):
            producer.produce(
                "rounds",
                f"{number} {i}".encode(),
                partition=partition,
                on_delivery=lambda error, _: told.append(error),
            )
        producer.poll(0)
    assert producer.flush(60) == 0
    assert told == [None] * (RECORDS * PARTITIONS)


def test_clients_lose_and_reorder_nothing_when_the_loop_rests(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kproto.broker.rounds", lambda _: Rounds(Always(0.005), Processors()))
    with kafka_broker() as broker:
        address = {"bootstrap.servers": broker.bootstrap_servers}
        admin = AdminClient(address)
        admin.create_topics([NewTopic("rounds", PARTITIONS, 1)])["rounds"].result(30)
        consumer = Consumer({**address, "group.id": "rounds", "fetch.min.bytes": 1})
        consumer.assign([TopicPartition("rounds", partition, 0) for partition in range(PARTITIONS)])
        with ThreadPoolExecutor(PRODUCERS) as pool:
            done = [pool.submit(produced, broker.bootstrap_servers, i) for i in range(PRODUCERS)]
            seen: dict[tuple[int, int], list[int]] = {}
            got = 0
            end = time.monotonic() + 60
            while got < PRODUCERS * PARTITIONS * RECORDS:
                assert time.monotonic() < end, f"only {got} records came in a minute"
                for message in consumer.consume(500, 0.2):
                    assert message.error() is None
                    number, i = map(int, message.value().split())
                    seen.setdefault((number, message.partition()), []).append(i)
                    got += 1
            for each in done:
                each.result()
        assert consumer.consume(1, 0.5) == []
        consumer.close()
    assert seen == {(n, p): list(range(RECORDS)) for n in range(PRODUCERS) for p in range(PARTITIONS)}
