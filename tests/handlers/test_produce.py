"""Produce against a whole broker: acks, names and ids, errors per partition, refusals."""

import struct
import threading
import time

import pytest
from conftest import Kafka, chunk_of, produce_request, producer

from kproto.disk import Disk
from kproto.errors import ErrorCode
from kproto.handlers import keyed
from kproto.wire.batch import read_header
from kproto.wire.framing import request_frame
from kproto.wire.generated.produce import ProduceRequest
from kproto.wire.records import Record, build_batch


@pytest.mark.parametrize("version", range(3, 13))
@pytest.mark.parametrize("acks", [1, -1])
def test_offsets_count_on_in_every_version(kafka, version, acks):
    name, _ = kafka.create(2)
    for expected in (0, 3):
        (answer,) = kafka.produce(name, (1, chunk_of(b"a", b"b", b"c")), version=version, acks=acks)
        assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (0, expected, -1)
        assert answer.log_start_offset == (0 if version >= 5 else -1)


def test_topic_ids(kafka):
    _, topic_id = kafka.create()
    assert [kafka.stored(topic_id, chunk_of(b"x")) for _ in range(3)] == [0, 1, 2]
    (answer,) = kafka.produce(bytes([7] * 16), (0, chunk_of(b"x")), version=13)
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_errors_are_per_partition(kafka):
    name, _ = kafka.create(2)
    good = chunk_of(b"good")
    damaged = bytearray(good)
    damaged[-1] ^= 1
    answers = kafka.produce(name, (0, good), (1, bytes(damaged)), (2, good), (1, None), (1, good))
    assert [(a.index, a.error_code, a.base_offset) for a in answers] == [
        (0, 0, 0),
        (1, ErrorCode.CORRUPT_MESSAGE, -1),
        (2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
        (1, ErrorCode.INVALID_RECORD, -1),
        (1, 0, 0),
    ]
    assert all(a.error_message for a in answers if a.error_code)


def test_many_partitions_and_topics_in_one_request(kafka):
    first, _ = kafka.create(200)
    second, _ = kafka.create(3)
    chunk = chunk_of(b"x" * 100)
    request = ProduceRequest(acks=-1, timeout_ms=1000)
    for name, partitions in ((first, 200), (second, 3)):
        request.topic_data += produce_request(name, *((i, chunk) for i in range(partitions))).topic_data
    answer = kafka.call(0, 9, request)
    assert [len(topic.partition_responses) for topic in answer.responses] == [200, 3]
    assert [topic.name for topic in answer.responses] == [first, second]
    assert all(
        (p.error_code, p.base_offset) == (0, 0) for t in answer.responses for p in t.partition_responses
    )


@pytest.mark.parametrize("acks", [-2, 2, 100])
def test_invalid_acks(kafka, acks):
    name, _ = kafka.create()
    (answer,) = kafka.produce(name, (0, chunk_of(b"x")), acks=acks)
    assert answer.error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert kafka.stored(name, chunk_of(b"y")) == 0, "nothing was appended"


def test_topics_without_partitions_are_not_answered(kafka):
    name, _ = kafka.create()
    request = produce_request(name)
    assert kafka.call(0, 9, request).responses == []
    request.topic_data += produce_request(name, (0, chunk_of(b"x"))).topic_data
    (topic,) = kafka.call(0, 9, request).responses
    assert [part.base_offset for part in topic.partition_responses] == [0]
    request.acks = 0
    kafka.send_unanswered(0, 9, request)
    kafka.send_unanswered(0, 9, ProduceRequest(acks=0, timeout_ms=1000))
    assert kafka.stored(name, chunk_of(b"x")) == 2


def test_acks_zero_is_silent_and_ordered(kafka):
    name, _ = kafka.create()
    for i in range(10):
        kafka.send_unanswered(0, 9, produce_request(name, (0, chunk_of(b"%d" % i)), acks=0))
    assert kafka.stored(name, chunk_of(b"end")) == 10


def test_acks_zero_with_an_error_closes_the_connection(broker, kafka):
    name, _ = kafka.create()
    with Kafka(broker.host, broker.port) as other:
        other.send_unanswered(0, 9, produce_request(name, (5, chunk_of(b"x")), acks=0))
        with pytest.raises(ConnectionError):
            other.receive_frame()
    assert kafka.stored(name, chunk_of(b"x")) == 0


def test_transactional_requests_are_refused_clearly(kafka):
    name, _ = kafka.create()
    (answer,) = kafka.produce(name, (0, chunk_of(b"x")), transactional_id="me")
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert "transactions" in answer.error_message
    (answer,) = kafka.produce(name, (0, chunk_of(b"x", producer=producer(1000, 0, 0, transactional=True))))
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert kafka.stored(name, chunk_of(b"x")) == 0


@pytest.mark.parametrize("version", [3, 8, 9, 13])
def test_an_empty_transactional_id_is_none(kafka, version):
    name, topic_id = kafka.create()
    topic = topic_id if version == 13 else name
    (answer,) = kafka.produce(topic, (0, chunk_of(b"x")), version=version, transactional_id="")
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    chunk = chunk_of(b"x", producer=producer(1000, 0, 0, transactional=True))
    (answer,) = kafka.produce(topic, (0, chunk), version=version, transactional_id="")
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_internal_topics_take_no_client_data(kafka):
    from kproto.wire.generated.find_coordinator import FindCoordinatorRequest

    kafka.call(10, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    (answer,) = kafka.produce("__consumer_offsets", (0, chunk_of(b"x")))
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_zstd_needs_version_seven(kafka):
    name, _ = kafka.create()
    chunk = chunk_of(b"x" * 100, codec=4)
    (answer,) = kafka.produce(name, (0, chunk), version=6)
    assert answer.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert kafka.stored(name, chunk, version=7) == 0


def test_too_large(kafka):
    name, _ = kafka.create(max_message_bytes="1000")
    (answer,) = kafka.produce(name, (0, chunk_of(b"x" * 1000)))
    assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_duplicates_are_answered_with_their_first_offset(kafka):
    name, _ = kafka.create()
    chunks = [chunk_of(b"x", b"y", producer=producer(4711, 0, 2 * i)) for i in range(5)]
    assert [kafka.stored(name, chunk) for chunk in chunks] == [0, 2, 4, 6, 8]
    assert [kafka.stored(name, chunk) for chunk in chunks] == [0, 2, 4, 6, 8]
    (again,) = kafka.produce(name, (0, chunks[0]))
    assert again.log_append_time_ms == read_header(chunks[0]).max_timestamp  # so does Apache Kafka
    (answer,) = kafka.produce(name, (0, chunk_of(b"x", producer=producer(4711, 0, 20))))
    assert (answer.error_code, answer.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)


def test_log_append_time_is_answered(kafka):
    name, _ = kafka.create(message_timestamp_type="LogAppendTime")
    (answer,) = kafka.produce(name, (0, chunk_of(b"x")))
    assert answer.log_append_time_ms > 1_700_000_000_000


def test_pipelined_requests_are_answered_in_order(kafka):
    name, _ = kafka.create(4)
    sizes = [10, 200_000, 900_000, 5, 70_000]
    for i in range(40):
        chunk = chunk_of(b"x" * sizes[i % 5])
        kafka.send(0, 9, produce_request(name, (i % 4, chunk)))
    answers = [kafka.receive().responses[0].partition_responses[0] for _ in range(40)]
    assert [(a.index, a.error_code, a.base_offset) for a in answers] == [
        (i % 4, 0, i // 4) for i in range(40)
    ]


def test_what_was_stored_is_what_was_sent(kafka):
    name, _ = kafka.create()
    chunks = [chunk_of(bytes([i]) * (i * 4001 + 1)) for i in range(40)]
    for chunk in chunks:
        kafka.stored(name, chunk)
    records = bytes(kafka.fetch(name, (0, 0), partition_max_bytes=1 << 24).responses[0].partitions[0].records)
    at = 0
    for i, chunk in enumerate(chunks):
        stored = records[at : at + len(chunk)]
        at += len(chunk)
        assert struct.unpack_from(">q", stored)[0] == i
        assert stored[8:12] == chunk[8:12]
        assert stored[16:] == chunk[16:], "only base offset and leader epoch may differ"


@pytest.mark.parametrize("cut", [1, 9, 14, 30])
def test_a_cut_request_closes_the_connection(broker, cut):
    frame = request_frame(0, 9, produce_request("t", (0, chunk_of(b"x"))), 1)
    body = frame[4:-cut]
    with Kafka(broker.host, broker.port) as client:
        client.socket.sendall(struct.pack(">i", len(body)) + body)
        with pytest.raises(ConnectionError):
            client.receive_frame()


@pytest.mark.parametrize("version", [0, 1, 2, 14])
def test_versions_that_are_not_served_close_the_connection(broker, version):
    body = struct.pack(">hhih", 0, version, 1, -1) + b"\0" * 20
    with Kafka(broker.host, broker.port) as client:
        client.socket.sendall(struct.pack(">i", len(body)) + body)
        with pytest.raises(ConnectionError):
            client.receive_frame()


def test_one_request_waits_for_every_class_it_touches(kafka):
    """Topics with and without fsync are in different virtual logs; one answer, when both are durable."""
    synced, _ = kafka.create(flush_messages="1")
    plain, _ = kafka.create()
    for i in range(5):
        request = ProduceRequest(acks=-1, timeout_ms=10_000)
        for name in (synced, plain):
            request.topic_data += produce_request(name, (0, chunk_of(b"x"))).topic_data
        answer = kafka.call(0, 9, request)
        found = [(p.error_code, p.base_offset) for t in answer.responses for p in t.partition_responses]
        assert found == [(0, i), (0, i)]


def test_what_is_not_durable_in_time_is_told_so_and_stays(kafka, monkeypatch):
    synced, _ = kafka.create(flush_messages="1")
    kafka.stored(synced, chunk_of(b"first"))
    sync, told = Disk.datasync, threading.Event()

    def slow(self: Disk, fd: int) -> None:
        told.wait(60)
        sync(self, fd)

    monkeypatch.setattr(Disk, "datasync", slow)
    start = time.monotonic()
    (late,) = kafka.produce(synced, (0, chunk_of(b"late")), timeout_ms=200)
    assert (late.error_code, late.base_offset) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    assert time.monotonic() - start > 0.19
    told.set()
    (patient,) = kafka.produce(synced, (0, chunk_of(b"patient")), timeout_ms=20_000)
    assert (patient.error_code, patient.base_offset) == (0, 2), "the late one was appended all the same"


@pytest.mark.parametrize("codec", [0, 1])
@pytest.mark.parametrize("version", [7, 8, 12])
def test_a_compacted_topic_takes_no_record_without_a_key(kafka, version, codec):
    def with_keys(*keys):
        records = [Record(key, b"v", timestamp=1_700_000_000_000) for key in keys]
        return bytes(build_batch(records, codec=codec))

    name, _ = kafka.create(cleanup_policy="delete,compact")
    mixed, fine = with_keys(b"k", None, b"", None), with_keys(b"k", b"")
    (answer,) = kafka.produce(name, (0, mixed), version=version)
    assert (answer.error_code, answer.base_offset) == (ErrorCode.INVALID_RECORD, -1)
    assert answer.log_start_offset == 0
    assert [each.batch_index for each in answer.record_errors] == ([] if version < 8 else [1, 3])
    assert all(each.batch_index_error_message for each in answer.record_errors)
    (answer,) = kafka.produce(name, (0, fine), version=version)
    assert (answer.error_code, answer.base_offset) == (0, 0)
    damaged = bytearray(mixed)
    damaged[-1] ^= 1
    for batch, code in ((damaged, ErrorCode.CORRUPT_MESSAGE), (mixed + mixed, ErrorCode.INVALID_RECORD)):
        (answer,) = kafka.produce(name, (0, bytes(batch)), version=version)
        assert (answer.error_code, answer.record_errors) == (code, [])
    other, _ = kafka.create()
    assert kafka.stored(other, mixed) == 0


def test_how_far_a_compacted_topic_looks_into_a_batch_is_bounded(kafka, monkeypatch):
    records = [Record(key, b"v", timestamp=1_700_000_000_000) for key in (b"k", b"k", None)]
    name, _ = kafka.create(cleanup_policy="compact")
    monkeypatch.setattr(keyed, "MOST_WALKED", 2)
    kafka.stored(name, bytes(build_batch(records)))
    monkeypatch.setattr(keyed, "MOST_WALKED", 3)
    (answer,) = kafka.produce(name, (0, bytes(build_batch(records))))
    assert answer.error_code == ErrorCode.INVALID_RECORD
