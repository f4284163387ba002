"""Batches that are refused before there is a partition to remember it."""

from types import SimpleNamespace
from typing import Any

import pytest
from conftest import chunk_of, producer

from kproto.errors import ErrorCode
from kproto.handlers import refused
from kproto.handlers.refused import RefusedEarly
from kproto.log.producers import Producers

NOW = 1_000_000


def partition() -> Any:
    return SimpleNamespace(producers=Producers())


@pytest.mark.parametrize(
    ("code", "comes_again"),
    [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, True),
        (ErrorCode.UNKNOWN_TOPIC_ID, True),
        (ErrorCode.KAFKA_STORAGE_ERROR, True),
        (ErrorCode.CORRUPT_MESSAGE, False),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, False),
    ],
)
def test_only_what_its_producer_sends_again_is_waited_for(code: ErrorCode, comes_again: bool) -> None:
    early, one = RefusedEarly(), partition()
    early.note(b"t", 3, code, memoryview(chunk_of(b"x", producer=producer(7, 2, 40))), NOW)
    early.tell(b"t", 4, one)
    assert not one.producers.follows_refused(7, 2, 41, NOW)
    early.tell(b"t", 3, one)
    assert one.producers.follows_refused(7, 2, 41, NOW + 5_000) == comes_again
    assert not one.producers.follows_refused(7, 2, 40, NOW)
    assert not one.producers.follows_refused(7, 2, 41, NOW + 10_001), "it was given up"


def test_what_is_no_batch_of_a_producer_is_not_remembered() -> None:
    early = RefusedEarly()
    name = bytes(10_000_000)
    early.note(
        name,
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        memoryview(chunk_of(b"x", producer=producer(1, 0, 0))),
        NOW,
    )
    for batch in (None, memoryview(b"short"), memoryview(chunk_of(b"x"))):
        early.note(b"t", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, batch, NOW)
    assert not early._known


def test_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused, "KEPT", 4)
    early = RefusedEarly()
    for pid in range(6):
        batch = memoryview(chunk_of(b"x", producer=producer(pid, 0, 0)))
        early.note(b"t", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, batch, NOW)
    one = partition()
    early.tell(b"t", 0, one)
    assert [one.producers.follows_refused(pid, 0, 1, NOW) for pid in range(6)] == [False] * 4 + [True] * 2
