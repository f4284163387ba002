"""Idempotent producers as Apache Kafka 4.x's ProducerAppendInfo and ProducerStateEntry treat them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.log.producers import MAX_SEQUENCE, REFUSED_KEPT, REFUSED_MS, Producers, last_sequence
from kproto.metadata.records import DEFAULT_BROKER
from kproto.wire.records import Producer
from tests.log.support import Log, batch


def sent(log: Log, epoch: int, seq: int, count: int = 1, pid: int = 9) -> tuple[int, bool]:
    base, _, _, again = log.partition().append(batch(*[b"x"] * count, producer=Producer(pid, epoch, seq)))
    return base, again


def refused(log: Log, epoch: int, seq: int, count: int = 1) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        sent(log, epoch, seq, count)
    return caught.value.code


def test_sequences_continue_and_gaps_are_refused(tmp_path: Path) -> None:
    log = Log(tmp_path)
    assert sent(log, 0, 0, 3) == (0, False)
    assert sent(log, 0, 3) == (3, False)
    assert refused(log, 0, 5) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(log, 0, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert sent(log, 0, 4) == (4, False)


def test_the_last_five_batches_are_known_again(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for i in range(7):
        sent(log, 0, 2 * i, 2)
    for i in range(2, 7):
        assert sent(log, 0, 2 * i, 2) == (2 * i, True)
    assert refused(log, 0, 2, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(log, 0, 12, 1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "same start, other end"


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("near_end", [False, True])
def test_what_was_sent_behind_a_refused_batch_is_no_gap(tmp_path: Path, known: bool, near_end: bool) -> None:
    """Appends are taken again before it comes. librdkafka began a new epoch for all partitions then, and what
    others had of it without its knowing was there twice; of an unknown producer it was stored, and what had
    been refused came behind it."""
    log = Log(tmp_path)
    first = MAX_SEQUENCE - 1 if near_end else 7
    if known:
        sent(log, 0, first - 2, 2)
    end = log.partition().log_end_offset
    log.partition().hand_over(True)
    assert refused(log, 0, first, 2) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    second, third = (last_sequence(first, count) for count in (3, 4))
    assert refused(log, 0, second) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.partition().hand_over(False)
    assert refused(log, 0, third) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refused(log, 0, second) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    if known:
        assert sent(log, 0, first - 2, 2) == (end - 2, True), "it has that"
    assert sent(log, 0, first, 2) == (end, False)
    assert refused(log, 0, third) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "that is one"
    assert sent(log, 0, second) == (end + 2, False)
    assert sent(log, 0, third) == (end + 3, False)
    assert sent(log, 0, first, 2) == (end, True)


def test_a_new_epoch_has_nothing_to_do_with_what_was_refused_before(tmp_path: Path) -> None:
    log = Log(tmp_path)
    sent(log, 0, 0)
    log.partition().hand_over(True)
    assert refused(log, 0, 1) == refused(log, 1, 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refused(log, 1, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.partition().hand_over(False)
    assert refused(log, 1, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert sent(log, 1, 0) == (1, False)
    assert sent(log, 1, 1) == (2, False)
    assert refused(log, 0, 2) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_client_that_gave_the_refused_batch_up_is_told_of_the_gap(tmp_path: Path) -> None:
    log = Log(tmp_path)
    sent(log, 0, 0)
    log.partition().hand_over(True)
    assert refused(log, 0, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.partition().hand_over(False)
    log.clock.advance(REFUSED_MS / 1000)
    assert refused(log, 0, 2) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.clock.advance(0.001)
    assert refused(log, 0, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("minutes", [-30, 30])
def test_a_step_of_the_wall_clock_is_no_time_in_which_a_refused_batch_was_given_up(
    tmp_path: Path, minutes: int
) -> None:
    """Forward, what came behind it was stored before it. Back, who gave it up heard of the gap much later."""
    log = Log(tmp_path)
    log.partition().hand_over(True)
    assert refused(log, 0, 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.partition().hand_over(False)
    log.clock._wall_ms += minutes * 60_000
    assert refused(log, 0, 2) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    log.clock.advance(REFUSED_MS / 1000 + 0.002)
    assert sent(log, 0, 2) == (0, False)


def test_refused_producers_are_not_remembered_without_end(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.partition().hand_over(True)
    for pid in range(REFUSED_KEPT + 1):
        with pytest.raises(KafkaError):
            sent(log, 0, 0, pid=pid)
    log.partition().hand_over(False)
    assert len(log.partition().producers._refused) == 1
    assert sent(log, 0, 3, pid=5) == (0, False)


def test_an_unknown_producer_may_start_anywhere(tmp_path: Path) -> None:
    log = Log(tmp_path)
    assert sent(log, 3, 17) == (0, False)
    assert refused(log, 3, 19) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_epochs_fence(tmp_path: Path) -> None:
    log = Log(tmp_path)
    sent(log, 1, 0)
    assert refused(log, 0, 1) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused(log, 2, 1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert sent(log, 2, 0) == (1, False), "the same sequence under a new epoch is no repetition"
    assert refused(log, 1, 1) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_sequences_wrap(tmp_path: Path) -> None:
    log = Log(tmp_path)
    assert sent(log, 0, MAX_SEQUENCE - 1, 4) == (0, False)
    assert last_sequence(MAX_SEQUENCE - 1, 4) == 1
    assert sent(log, 0, MAX_SEQUENCE - 1, 4) == (0, True)
    assert sent(log, 0, 2) == (4, False)
    assert sent(log, 0, 3, pid=10) == (5, False)


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
def test_repetitions_are_known_after_a_restart(tmp_path: Path, left_as: LeftAs) -> None:
    log = Log(tmp_path)
    for i in range(6):
        sent(log, 0, i)
    log.restart(left_as)
    assert sent(log, 0, 5) == (5, True)
    assert sent(log, 0, 6) == (6, False)
    assert refused(log, 0, 0) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_producers_expire(tmp_path: Path) -> None:
    log = Log(tmp_path, settings={"producer.id.expiration.ms": "60000"})
    sent(log, 0, 0)
    log.tick(59.0)
    assert 9 in log.partition().producers
    log.tick(400.0)
    assert 9 not in log.partition().producers
    assert sent(log, 0, 5) == (1, False)


def test_the_time_after_which_producers_expire_can_be_changed(tmp_path: Path) -> None:
    log = Log(tmp_path)
    sent(log, 0, 0)
    log.tick(400.0)
    assert 9 in log.partition().producers
    log.revision += 1
    log.manager.apply_image(log.image(configs={DEFAULT_BROKER: {"producer.id.expiration.ms": "60000"}}))
    log.tick(400.0)
    assert 9 not in log.partition().producers


@pytest.mark.parametrize("count", range(13))
def test_a_snapshot_has_the_last_five_batches_in_order(count: int) -> None:
    producers = Producers()
    sent = [(3 * i, 3 * i + 2, 100 * i, 1000 + i) for i in range(count)]
    for first, _, base, newest in sent:
        producers.add(7, 0, first, 3, base, newest)
    for one in (producers, Producers.decode(producers.encode())):
        assert [producer.batches for producer in one.values()] == ([sent[-5:]] if count else [])
        assert [producer.next_seq for producer in one.values()] == ([3 * count] if count else [])
        assert [producer.last_timestamp for producer in one.values()] == ([999 + count] if count else [])


def test_a_snapshot_is_the_state() -> None:
    producers = Producers()
    for i in range(20):
        producers.add(i % 3, i // 9, i, 1, i * 10, 1000 + i)
    copy = Producers.decode(producers.encode())
    assert copy.encode() == producers.encode()
    assert {pid: one.next_seq for pid, one in copy.items()} == {
        pid: one.next_seq for pid, one in producers.items()
    }
