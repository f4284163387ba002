"""Fetch against a whole broker: limits, long polls, sessions, errors."""

import gc
import os
import struct
import threading
import time

import pytest
from conftest import Kafka, chunk_of, fetch_request, produce_request, producer

from kproto.errors import ErrorCode
from kproto.handlers import fetch
from kproto.log.partition import Partition
from kproto.metadata import MetadataImage
from kproto.net.budget import MemoryBudget
from kproto.net.connection import Connection, Exchange
from kproto.testing import kafka_broker
from kproto.wire.framing import request_frame
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.fetch import FetchTopic, ForgottenTopic
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.records import iter_records


def one(response):
    """The only partition of an answer."""
    (topic,) = response.responses
    (partition,) = topic.partitions
    return partition


def values(partition) -> list[bytes]:
    found = []
    data = partition.records
    while len(data):
        size = struct.unpack_from(">i", data, 8)[0] + 12
        found += [record.value for record in iter_records(data[:size])]
        data = data[size:]
    return found


def offsets(partition) -> list[int]:
    found = []
    data = partition.records
    while len(data):
        base, size = struct.unpack_from(">qi", data)
        found.append(base)
        data = data[size + 12 :]
    return found


@pytest.mark.parametrize("version", range(4, 19))
def test_what_was_produced_is_fetched_in_every_version(kafka, version):
    name, topic_id = kafka.create()
    kafka.stored(name, chunk_of(b"a", b"b"))
    kafka.stored(name, chunk_of(b"c"))
    found = one(kafka.fetch(topic_id if version >= 13 else name, (0, 0), version=version))
    assert (found.error_code, found.high_watermark, found.last_stable_offset) == (0, 3, 3)
    assert found.log_start_offset == (0 if version >= 5 else -1)
    assert found.aborted_transactions is None
    assert values(found) == [b"a", b"b", b"c"]


def test_the_chunk_that_holds_the_offset_comes_whole(kafka):
    name, _ = kafka.create()
    kafka.stored(name, chunk_of(b"a", b"b", b"c"))
    kafka.stored(name, chunk_of(b"d"))
    assert values(one(kafka.fetch(name, (0, 1)))) == [b"a", b"b", b"c", b"d"]
    assert values(one(kafka.fetch(name, (0, 3)))) == [b"d"]
    assert values(one(kafka.fetch(name, (0, 4)))) == []


def test_read_committed_gets_an_empty_list_of_aborted_transactions(kafka):
    name, _ = kafka.create()
    kafka.stored(name, chunk_of(b"a", producer=producer(9, 0, 0)))
    found = one(kafka.fetch(name, (0, 0), isolation_level=1))
    assert found.aborted_transactions == []
    assert values(found) == [b"a"]


def test_offset_out_of_range(kafka):
    name, _ = kafka.create()
    kafka.stored(name, chunk_of(b"a"))
    for offset in (-1, 2, 1 << 40):
        found = one(kafka.fetch(name, (0, offset), max_wait_ms=5000))
        assert (found.error_code, found.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)


def test_unknown_topics_and_partitions(kafka):
    name, _ = kafka.create()
    assert one(kafka.fetch(name, (1, 0))).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert one(kafka.fetch("no such topic", (0, 0))).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert one(kafka.fetch(bytes([9] * 16), (0, 0))).error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_leader_epochs(kafka):
    name, _ = kafka.create()
    epoch = kafka.leader_epoch(name)
    for unchecked in (epoch, -1, -2):
        assert one(kafka.fetch(name, (0, 0), epoch=unchecked)).error_code == 0
    assert one(kafka.fetch(name, (0, 0), epoch=epoch + 1)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    if epoch > 0:
        assert one(kafka.fetch(name, (0, 0), epoch=epoch - 1)).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_a_fetch_with_an_old_epoch_is_fenced_and_told_the_leader(tmp_path):
    """Every start of the broker raises the leader epochs it leads."""
    settings = {"node.id": "1"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create()
        old = kafka.leader_epoch(name)
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        answer = kafka.fetch(topic_id, (0, 0), epoch=old)
        found = one(answer)
        assert found.error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert (found.current_leader.leader_id, found.current_leader.leader_epoch) == (1, old + 1)
        assert [(n.node_id, n.port) for n in answer.node_endpoints] == [(1, broker.port)]
        early = one(kafka.fetch(name, (0, 0), epoch=old, version=12))  # as from Apache Kafka, not before v16
        assert (early.error_code, early.current_leader) == (ErrorCode.FENCED_LEADER_EPOCH, None)


# Limits


def test_at_least_one_chunk_even_when_it_is_larger_than_every_limit(kafka):
    name, _ = kafka.create(2)
    for partition in (0, 1):
        for _ in range(3):
            kafka.stored(name, chunk_of(b"x" * 5000), partition)
    response = kafka.fetch(name, (0, 0), (1, 0), partition_max_bytes=10, max_bytes=10)
    first, second = response.responses[0].partitions
    assert (offsets(first), offsets(second)) == ([0], []), "only the first partition with data may exceed"
    assert second.high_watermark == 3
    first, second = kafka.fetch(name, (0, 3), (1, 1), partition_max_bytes=10).responses[0].partitions
    assert (offsets(first), offsets(second)) == ([], [1])


def test_limits_cut_between_chunks(kafka):
    name, _ = kafka.create(3)
    chunk = chunk_of(b"x" * 1000)
    for partition in range(3):
        for _ in range(10):
            kafka.stored(name, chunk, partition)
    wanted = [(0, 0), (1, 5), (2, 0)]
    limit = 4 * len(chunk) + 5
    found = kafka.fetch(name, *wanted, partition_max_bytes=limit).responses[0].partitions
    assert [offsets(p) for p in found] == [[0, 1, 2, 3], [5, 6, 7, 8], [0, 1, 2, 3]]
    found = (
        kafka.fetch(name, *wanted, partition_max_bytes=limit, max_bytes=6 * len(chunk))
        .responses[0]
        .partitions
    )
    assert [offsets(p) for p in found] == [[0, 1, 2, 3], [5, 6], []]


def test_old_data_comes_from_files_exactly(tmp_path):
    """More data than log memory: reads mix file ranges and memory, and every chunk comes exactly once."""
    settings = {"kproto.log.memory.bytes": "2097152", "log.segment.bytes": "1048576"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create()
        sent = []
        for i in range(400):
            sent.append(b"%06d" % i * (10 + i * 37 % 4000))
            kafka.stored(name, chunk_of(sent[-1]))
        for limit in (1 << 20, 1 << 24, 50_000):
            offset, found = 0, []
            while offset < 400:
                read = one(kafka.fetch(topic_id, (0, offset), partition_max_bytes=limit))
                assert read.error_code == 0
                got = values(read)
                assert got, f"nothing at {offset} of {read.high_watermark}"
                found += got
                offset += len(got)
            assert found == sent
        for offset in (0, 1, 137, 250, 399):
            assert offsets(one(kafka.fetch(topic_id, (0, offset), partition_max_bytes=1)))[0] == offset


def test_files_outside_the_page_cache_are_read_by_a_thread(tmp_path, monkeypatch):
    monkeypatch.setattr("kproto.handlers.fetch.load_nowait", lambda ranges: None)
    settings = {"kproto.log.memory.bytes": "2097152"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create()
        sent = [b"%06d" % i * 3000 for i in range(300)]
        for value in sent:
            kafka.stored(name, chunk_of(value))
        for i in (0, 1, 2, 150):
            kafka.send(1, 18, fetch_request(topic_id, (0, i), partition_max_bytes=100_000))
        for i in (0, 1, 2, 150):
            assert values(one(kafka.receive())) == sent[i : i + 5]


def changes_of_budgets(monkeypatch):
    """What is counted of the memory of requests and answers from now on, and given back."""
    held: list[int] = []
    change = MemoryBudget.change

    def counted(budget: MemoryBudget, delta: int) -> None:
        held.append(delta)
        change(budget, delta)

    monkeypatch.setattr(MemoryBudget, "change", counted)
    return held


def test_without_a_thread_for_files_their_partitions_are_answered_an_error(tmp_path, monkeypatch):
    """No fetch stays open, and the memory that was counted for it is free again."""
    monkeypatch.setattr("kproto.handlers.fetch.load_nowait", lambda ranges: None)
    start = threading.Thread.start

    def none_left(thread: threading.Thread) -> None:
        if thread.name.startswith("kproto-blocking"):
            raise RuntimeError("can't start new thread")
        start(thread)

    held = changes_of_budgets(monkeypatch)
    settings = {"kproto.log.memory.bytes": "2097152"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create(2)
        kafka.stored(name, chunk_of(b"fine"), 1)
        for _ in range(300):
            kafka.stored(name, chunk_of(b"x" * 18_000))
        monkeypatch.setattr(threading.Thread, "start", none_left)
        for _ in range(3):
            parts = kafka.fetch(topic_id, (0, 0), (1, 0)).responses[0].partitions
            assert [part.error_code for part in parts] == [ErrorCode.KAFKA_STORAGE_ERROR, 0]
        monkeypatch.setattr(threading.Thread, "start", start)
        assert offsets(one(kafka.fetch(topic_id, (0, 0), partition_max_bytes=1))) == [0]
    assert sum(held) == 0


def test_an_answer_that_cannot_be_made_gives_back_its_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("kproto.handlers.fetch.load_nowait", lambda ranges: None)
    reached = threading.Event()

    def failing(*_: object) -> None:
        reached.set()
        raise RuntimeError

    held = changes_of_budgets(monkeypatch)
    settings = {"kproto.log.memory.bytes": "2097152"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create()
        for _ in range(300):
            kafka.stored(name, chunk_of(b"x" * 18_000))
        with monkeypatch.context() as patched, Kafka(broker.host, broker.port) as other:
            patched.setattr("kproto.handlers.fetch._Fetch._send_loaded", failing)
            other.send(1, 18, fetch_request(topic_id, (0, 0)))
            assert reached.wait(60)
            with pytest.raises(ConnectionError, match=r"closed|reset"):
                other.receive()  # nobody waits for an answer that does not come
        assert offsets(one(kafka.fetch(topic_id, (0, 0), partition_max_bytes=1))) == [0]
    assert max(held) > 100_000
    assert sum(held) == 0


def only_the_first_is_closed(broker, name):
    """Two wait until their time is over, in the same moment."""
    with Kafka(broker.host, broker.port) as first, Kafka(broker.host, broker.port) as other:
        for client in (first, other):
            client.send(1, 12, fetch_request(name, (0, 0), max_wait_ms=500))
        with pytest.raises(ConnectionError, match=r"closed|reset"):
            first.receive()
        assert other.receive().error_code == 0


def test_an_answer_that_cannot_be_made_when_the_time_is_over_is_that_clients_alone(monkeypatch):
    make, failures = fetch.answer, [MemoryError()]

    def answer(*args: object) -> object:
        if failures:
            raise failures.pop()
        return make(*args)

    with kafka_broker() as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        monkeypatch.setattr(fetch, "answer", answer)
        only_the_first_is_closed(broker, name)


def test_who_cannot_be_read_for_when_the_time_is_over_keeps_nobody(monkeypatch):
    read, failures = fetch._Fetch._read, [None, None, MemoryError()]

    def failing(self: fetch._Fetch) -> None:
        if failures and (failure := failures.pop(0)):
            raise failure
        read(self)

    with kafka_broker() as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        monkeypatch.setattr(fetch._Fetch, "_read", failing)
        only_the_first_is_closed(broker, name)


def test_what_is_behind_an_answer_that_cannot_be_made_is_not_begun(monkeypatch):
    """Its connection is closed: nobody would give back what it takes."""
    begun: list[Connection] = []
    begin = Connection.begin

    def noted(self: Connection, *args: object) -> Exchange:
        begun.append(self)
        return begin(self, *args)

    def failing(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Connection, "begin", noted)
    with kafka_broker() as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        with monkeypatch.context() as patched, Kafka(broker.host, broker.port) as other:
            patched.setattr(fetch, "answer", failing)
            other.send(1, 12, fetch_request(name, (0, 0), max_wait_ms=30_000))
            other.send(2, 7, ListOffsetsRequest(replica_id=-1))
            with pytest.raises(ConnectionError, match=r"closed|reset"):
                other.receive()
        kafka.fetch(name, (0, 0), version=12)
    assert begun
    for connection in begun:
        assert not connection.pending
        assert connection.held == 0


def test_not_everything_that_is_in_files_is_loaded_for_one_answer(tmp_path, monkeypatch):
    """Partitions take turns; who waits for more gets more."""
    monkeypatch.setattr("kproto.handlers.fetch.MOST_BYTES_LOADED", 200_000)
    monkeypatch.setattr("kproto.handlers.fetch.MOST_BYTES_ON_THE_LOOP", 100_000)
    settings = {"kproto.log.memory.bytes": "2097152"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create(3)
        chunk = chunk_of(b"x" * 20_000)
        for _ in range(75):
            for partition in range(3):
                kafka.stored(name, chunk, partition)
        limits = {"partition_max_bytes": 150_000, "max_bytes": 1 << 24}
        answer = kafka.fetch(topic_id, (0, 0), (1, 0), (2, 0), session_epoch=0, **limits)
        session, epoch, found = answer.session_id, 1, {0: [], 1: [], 2: []}
        sizes = []
        while min(map(len, found.values())) < 75:
            parts = [part for topic in answer.responses for part in topic.partitions]
            sizes.append(sum(len(part.records or b"") for part in parts))
            for part in parts:
                found[part.partition_index] += offsets(part)
            changed = [(part.partition_index, len(found[part.partition_index])) for part in parts]
            answer = kafka.fetch(topic_id, *changed, session_id=session, session_epoch=epoch, **limits)
            epoch += 1
        assert list(found.values()) == [list(range(75))] * 3
        assert 100_000 < max(sizes[:5]) <= 200_000
        limits = {"min_bytes": 400_000, "partition_max_bytes": 150_000}
        parts = kafka.fetch(topic_id, (0, 0), (1, 0), (2, 0), **limits).responses[0].partitions
        assert sum(len(part.records) for part in parts) >= 400_000


def test_an_answer_ends_before_the_damage_whatever_is_in_memory_behind_it(tmp_path):
    """What was sound before a damaged base offset was an error while something newer was in memory."""
    settings = {"node.id": "1"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        for value in (b"a", b"b", b"c"):
            kafka.stored(name, chunk_of(value))
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        assert offsets(one(kafka.fetch(name, (0, 0)))) == [0, 1, 2]
        kafka.stored(name, chunk_of(b"d"))
        assert offsets(one(kafka.fetch(name, (0, 0)))) == [0, 1, 2, 3]
        (path,) = tmp_path.glob("streams/*/*/*.chunks")
        with open(path, "r+b") as file:
            file.seek(path.stat().st_size // 3)
            file.write(bytes([0, 0, 0, 1]))
        assert offsets(one(kafka.fetch(name, (0, 0)))) == [0]
        assert one(kafka.fetch(name, (0, 1))).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert offsets(one(kafka.fetch(name, (0, 2)))) == [2, 3]


def test_a_damaged_file_is_an_error_of_its_partition_only(tmp_path):
    settings = {"kproto.log.memory.bytes": "2097152", "log.segment.bytes": "1048576"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, topic_id = kafka.create(2)
        kafka.stored(name, chunk_of(b"fine"), 1)
        for _ in range(300):
            kafka.stored(name, chunk_of(b"x" * 20_000))
        files = sorted(path for path in tmp_path.rglob("*.chunks") if path.stat().st_size > 500_000)
        os.truncate(files[0], 0)
        found = kafka.fetch(topic_id, (0, 0), (1, 0)).responses[0].partitions
        assert [p.error_code for p in found] == [ErrorCode.KAFKA_STORAGE_ERROR, 0]
        assert values(found[1]) == [b"fine"]
        assert one(kafka.fetch(topic_id, (0, 295))).error_code == 0


# Long polls

LONG_MS = 600_000
"""Nobody waits for its end: an answer that comes has another reason."""


def await_waiters(topic_id: bytes, count: int) -> None:
    """Until so many fetches wait for news of a topic's partitions, one for each partition they name."""

    def waiting() -> int:
        partitions = (each for each in gc.get_objects() if type(each) is Partition)
        return sum(len(partition.waiters) for partition in partitions if partition.topic_id == topic_id)

    deadline = time.monotonic() + 60
    while (found := waiting()) != count:
        assert time.monotonic() < deadline, f"{found} wait, not {count}"
        time.sleep(0.001)


@pytest.mark.parametrize("wait_ms", [0, 50, 300])
def test_a_fetch_without_data_ends_on_time(kafka, wait_ms):
    name, _ = kafka.create()
    start = time.monotonic()
    assert values(one(kafka.fetch(name, (0, 0), max_wait_ms=wait_ms))) == []
    assert wait_ms / 1000 <= time.monotonic() - start + 0.002


def test_a_fetch_of_nothing_ends_at_once(kafka):
    kafka.fetch("x", max_wait_ms=LONG_MS)


def test_data_ends_the_wait(broker, kafka):
    name, topic_id = kafka.create(3)
    with Kafka(broker.host, broker.port) as consumer:
        consumer.send(1, 18, fetch_request(topic_id, (0, 0), (1, 0), (2, 0), max_wait_ms=LONG_MS))
        await_waiters(topic_id, 3)
        kafka.stored(name, chunk_of(b"news"), 2)
        found = consumer.receive().responses[0].partitions
        assert [values(p) for p in found] == [[], [], [b"news"]]


def test_min_bytes_counts_over_chunks_and_partitions(broker, kafka):
    name, topic_id = kafka.create(2)
    chunk = chunk_of(b"x" * 1000)
    with Kafka(broker.host, broker.port) as consumer:
        request = fetch_request(topic_id, (0, 0), (1, 0), max_wait_ms=LONG_MS, min_bytes=5 * len(chunk))
        consumer.send(1, 18, request)
        consumer.socket.settimeout(0.3)
        for i in range(4):
            kafka.stored(name, chunk, i % 2)
        with pytest.raises(TimeoutError):
            consumer.socket.recv(1)
        consumer.socket.settimeout(60)
        kafka.stored(name, chunk, 0)
        found = consumer.receive().responses[0].partitions
        assert [offsets(p) for p in found] == [[0, 1, 2], [0, 1]]


def test_too_few_bytes_are_answered_when_the_time_is_over(kafka):
    name, _ = kafka.create()
    kafka.stored(name, chunk_of(b"few"))
    start = time.monotonic()
    assert values(one(kafka.fetch(name, (0, 0), max_wait_ms=200, min_bytes=100_000))) == [b"few"]
    assert time.monotonic() - start > 0.19


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        ({"max_bytes": 2500}, 2),
        ({"max_bytes": 1}, 1),
        ({"max_bytes": 0}, 1),
        ({"partition_max_bytes": 2500, "min_bytes": 5000}, 4),
        ({"partition_max_bytes": 2500, "min_bytes": 4600, "max_bytes": 4600}, 4),
    ],
)
def test_no_more_is_waited_for_than_the_answer_may_hold(kafka, limits, sent):
    """Although whole chunks do not fill the limits to the last byte."""
    name, _ = kafka.create(2)
    for i in range(20):
        kafka.stored(name, chunk_of(b"x" * 1000), i % 2)
    fields = {"min_bytes": 1 << 20, "max_wait_ms": 600_000, **limits}
    found = kafka.fetch(name, (0, 0), (1, 0), **fields).responses[0].partitions
    assert sum(len(offsets(partition)) for partition in found) == sent


def test_what_comes_in_one_push_ends_the_wait_when_it_does_not_fit_whole(broker, kafka):
    """It was not counted as that: the fetch slept on, though the same one was answered at once."""
    name, topic_id = kafka.create()
    produce = produce_request(name, (0, chunk_of(b"x" * 600)))
    with Kafka(broker.host, broker.port) as consumer:
        fields = {"partition_max_bytes": 1000, "min_bytes": 900, "max_wait_ms": LONG_MS}
        consumer.send(1, 18, fetch_request(topic_id, (0, 0), **fields))
        await_waiters(topic_id, 1)
        kafka.socket.sendall(b"".join(request_frame(0, 9, produce, i, "both") for i in range(2)))
        assert offsets(one(consumer.receive())) == [0]
        assert len(kafka.receive_frame()) == len(kafka.receive_frame())


def test_what_does_not_fit_whole_counts_while_more_is_waited_for(broker, kafka):
    """900 of 1000 bytes were there, and a chunk that did not fit: they counted as 900 until time was over."""
    name, topic_id = kafka.create(2)
    for size in (800, 500):
        kafka.stored(name, chunk_of(b"x" * size))
    with Kafka(broker.host, broker.port) as consumer:
        fields = {"partition_max_bytes": 1000, "min_bytes": 1500, "max_wait_ms": LONG_MS}
        consumer.send(1, 18, fetch_request(topic_id, (0, 0), (1, 0), **fields))
        await_waiters(topic_id, 2)
        chunk = chunk_of(b"y" * 450)
        assert 500 <= len(chunk) < 600
        kafka.stored(name, chunk, 1)
        assert [offsets(p) for p in consumer.receive().responses[0].partitions] == [[0], [0]]


def test_later_requests_wait_behind_a_long_poll_but_are_handled(broker, kafka):
    name, _ = kafka.create()
    with Kafka(broker.host, broker.port) as consumer:
        consumer.send(1, 12, fetch_request(name, (0, 0), max_wait_ms=LONG_MS))
        consumer.send(0, 9, produce_request(name, (0, chunk_of(b"from behind"))))
        assert values(one(consumer.receive())) == [b"from behind"]
        assert consumer.receive().responses[0].partition_responses[0].base_offset == 0


@pytest.mark.parametrize("version", [12, 18])
def test_what_is_asked_behind_a_long_poll_ends_it(broker, kafka, version):
    """Answers go in order: Spark, which asks where the log ends after each poll, waited half a second for
    each partition, as it does with Apache Kafka."""
    name, topic_id = kafka.create()
    kafka.stored(name, chunk_of(b"old"))
    with Kafka(broker.host, broker.port) as consumer:
        topic = topic_id if version >= 13 else name
        consumer.send(1, version, fetch_request(topic, (0, 1), max_wait_ms=LONG_MS, min_bytes=1000))
        await_waiters(topic_id, 1)
        part = ListOffsetsPartition(partition_index=0, timestamp=-1)
        ask = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[part])])
        consumer.send(2, 7, ask)
        fetched = one(consumer.receive())
        assert (fetched.error_code, values(fetched)) == (0, [])
        assert consumer.receive().topics[0].partitions[0].offset == 1
        await_waiters(topic_id, 0)


def test_a_client_that_goes_away_leaves_no_waiter(broker, kafka):
    name, topic_id = kafka.create()
    consumers = [Kafka(broker.host, broker.port) for _ in range(20)]
    for consumer in consumers:
        consumer.send(1, 18, fetch_request(topic_id, (0, 0), max_wait_ms=LONG_MS))
    await_waiters(topic_id, 20)
    for consumer in consumers:
        consumer.close()
    await_waiters(topic_id, 0)
    assert kafka.stored(name, chunk_of(b"x")) == 0


def test_deleting_records_or_the_topic_ends_the_wait(broker, kafka):
    name, topic_id = kafka.create()
    kafka.stored(name, chunk_of(b"a", b"b"))
    with Kafka(broker.host, broker.port) as consumer:
        request = fetch_request(topic_id, (0, 0), max_wait_ms=LONG_MS, min_bytes=1 << 20)
        consumer.send(1, 18, request)
        await_waiters(topic_id, 1)
        part = DeleteRecordsPartition(partition_index=0, offset=2)
        topic = DeleteRecordsTopic(name=name, partitions=[part])
        kafka.call(21, 2, DeleteRecordsRequest(topics=[topic], timeout_ms=1000))
        assert one(consumer.receive()).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        consumer.send(1, 18, fetch_request(topic_id, (0, 2), max_wait_ms=LONG_MS))
        await_waiters(topic_id, 1)
        kafka.call(20, 6, DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=1000))
        assert one(consumer.receive()).error_code in (
            ErrorCode.UNKNOWN_TOPIC_ID,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        )


def test_many_waiting_consumers_all_wake(broker, kafka):
    name, topic_id = kafka.create()
    consumers = [Kafka(broker.host, broker.port) for _ in range(30)]
    for consumer in consumers:
        consumer.send(1, 18, fetch_request(topic_id, (0, 0), max_wait_ms=LONG_MS))
    await_waiters(topic_id, 30)
    kafka.stored(name, chunk_of(b"all"))
    for consumer in consumers:
        assert values(one(consumer.receive())) == [b"all"]
        consumer.close()


def test_stopping_the_broker_ends_long_polls(tmp_path):
    with kafka_broker(data_dir=str(tmp_path)) as broker:
        consumer = Kafka(broker.host, broker.port)
        _, topic_id = consumer.create()
        consumer.send(1, 18, fetch_request(topic_id, (0, 0), max_wait_ms=LONG_MS))
        await_waiters(topic_id, 1)
        answers = []
        reader = threading.Thread(target=lambda: answers.append(consumer.receive()))
        reader.start()
    reader.join(60)
    assert values(one(answers[0])) == []
    consumer.close()


# Sessions


def test_a_session_tells_only_what_is_new(kafka):
    name, topic_id = kafka.create(3)
    full = kafka.fetch(topic_id, (0, 0), (1, 0), (2, 0), session_epoch=0)
    assert full.session_id > 0
    assert len(full.responses[0].partitions) == 3
    session = {"session_id": full.session_id}
    assert kafka.fetch(topic_id, **session, session_epoch=1).responses == []
    kafka.stored(name, chunk_of(b"x"), 1)
    found = one(kafka.fetch(topic_id, **session, session_epoch=2))
    assert (found.partition_index, values(found)) == (1, [b"x"])
    again = one(kafka.fetch(topic_id, **session, session_epoch=3))
    assert values(again) == [b"x"], "the client has not moved on"
    assert kafka.fetch(topic_id, (1, 1), **session, session_epoch=4).responses == []


def test_a_session_is_told_of_what_it_does_not_look_at(broker, kafka):
    name, topic_id = kafka.create(3)
    session = kafka.fetch(topic_id, (0, 0), (1, 0), (2, 0), session_epoch=0).session_id
    read = [0, 0, 0]
    with Kafka(broker.host, broker.port) as consumer:

        def poll(epoch: int, *moved: int, **limits: int) -> None:
            parts = [(index, read[index]) for index in moved]
            request = fetch_request(
                topic_id, *parts, session_id=session, session_epoch=epoch, max_wait_ms=LONG_MS, **limits
            )
            consumer.send(1, 18, request)

        def told() -> dict[int, int]:
            found = {p.partition_index: len(values(p)) for p in consumer.receive().responses[0].partitions}
            for index, count in found.items():
                read[index] += count
            return found

        poll(1)
        await_waiters(topic_id, 3)
        kafka.stored(name, chunk_of(b"while it waits"), 1)
        assert told() == {1: 1}
        for _ in range(3):
            kafka.stored(name, chunk_of(b"while nobody waits"), 2)
        poll(2, 1)
        assert told() == {2: 3}
        poll(3, 2, min_bytes=100)
        await_waiters(topic_id, 6)
        for index in range(3):
            kafka.stored(name, chunk_of(b"with another image, counted", b"x" * 20), index)
        assert told() == {0: 2}
        kafka.create()
        poll(4, 0)
        assert told() == {1: 2, 2: 2}
        poll(5, 1, 2)
        await_waiters(topic_id, 3)
        kafka.stored(name, chunk_of(b"at last"), 0)
        assert told() == {0: 1}


def test_a_session_forgets_and_adds(kafka):
    name, topic_id = kafka.create(3)
    for partition in range(3):
        kafka.stored(name, chunk_of(b"%d" % partition), partition)
    full = kafka.fetch(topic_id, (0, 0), (1, 0), session_epoch=0)
    request = fetch_request(topic_id, (2, 0), session_id=full.session_id, session_epoch=1)
    request.forgotten_topics_data = [ForgottenTopic(topic_id=topic_id, partitions=[0])]
    found = kafka.call(1, 18, request).responses[0].partitions
    assert {p.partition_index: values(p) for p in found} == {1: [b"1"], 2: [b"2"]}


def test_partitions_take_turns_when_the_answer_is_full(kafka):
    name, topic_id = kafka.create(3)
    for partition in range(3):
        kafka.stored(name, chunk_of(b"x" * 1000), partition)
    limits = {"max_bytes": 1, "partition_max_bytes": 1000_000}
    full = kafka.fetch(topic_id, (0, 0), (1, 0), (2, 0), session_epoch=0, **limits)
    served = [[p.partition_index for p in full.responses[0].partitions if values(p)]]
    for epoch in (1, 2, 3, 4):
        answer = kafka.fetch(topic_id, session_id=full.session_id, session_epoch=epoch, **limits)
        served.append([p.partition_index for t in answer.responses for p in t.partitions if values(p)])
    assert served == [[0], [0], [1], [2], [0]], "as in Apache Kafka the full answer is nobody's turn"


def test_idle_sessions_keep_no_metadata_images(kafka):
    """Each of a large cluster is tens of megabytes, and sessions stay until others need their room."""

    def images() -> int:
        gc.collect()
        return sum(type(each) is MetadataImage for each in gc.get_objects())

    before = images()
    for _ in range(5):
        name, topic_id = kafka.create()
        kafka.stored(name, chunk_of(b"x"))
        assert values(one(kafka.fetch(topic_id, (0, 0), session_epoch=0))) == [b"x"]
    assert images() <= before + 1


def test_session_errors(kafka):
    name, topic_id = kafka.create()
    full = kafka.fetch(topic_id, (0, 0), session_epoch=0)
    wrong = kafka.fetch(topic_id, session_id=full.session_id, session_epoch=7)
    assert (wrong.error_code, wrong.responses) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, [])
    unknown = kafka.fetch(topic_id, session_id=full.session_id ^ 1, session_epoch=1)
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    mixed = kafka.fetch(name, session_id=full.session_id, session_epoch=1)
    assert mixed.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    closed = kafka.fetch(topic_id, session_id=full.session_id, session_epoch=-1)
    assert (closed.error_code, closed.session_id) == (0, 0)
    gone = kafka.fetch(topic_id, session_id=full.session_id, session_epoch=1)
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_topics_of_one_request_are_answered_each(kafka):
    names = [kafka.create()[0] for _ in range(3)]
    for name in names:
        kafka.stored(name, chunk_of(name.encode()))
    request = fetch_request(names[0], (0, 0))
    request.topics += [FetchTopic(topic=n, partitions=request.topics[0].partitions) for n in names[1:]]
    answer = kafka.call(1, 12, request)
    assert {t.topic: values(t.partitions[0]) for t in answer.responses} == {n: [n.encode()] for n in names}
