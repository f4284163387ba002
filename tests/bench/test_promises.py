"""What a load says of records that never arrive: they are not lost, nobody promised anything about them."""

from __future__ import annotations

import pytest

from bench.failover import promises
from bench.failover.promises import UNTOLD, ProducerLoad, Promises, wait_until
from kproto.local_cluster import free_port


def test_records_that_nobody_takes_are_told_and_not_counted_beyond_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(promises, "FLUSH_S", 0.1)
    port = free_port()
    load = ProducerLoad(f"127.0.0.1:{port}", "t", [0, 1], 100, 1000, queue_buffering_max_messages=5)
    wait_until("a full queue", lambda: sum(load.promises.sent.values()) == 5)
    with pytest.raises(AssertionError, match=r"^5 records were not acknowledged within 0\.1 s"):
        load.finish()
    assert load.promises.sent == {0: 3, 1: 2}


def test_a_producer_that_cannot_go_on_is_told() -> None:
    port = free_port()
    load = ProducerLoad(f"127.0.0.1:{port}", "t", [0], 1 << 20, 1000, message_max_bytes=1000)
    wait_until("a failure", lambda: load.promises.failed)
    with pytest.raises(AssertionError, match="ended with an error"):
        load.finish()


@pytest.mark.parametrize(
    ("acked", "kept"),
    [
        ({0: 0, 1: 1}, True),
        ({0: UNTOLD, 1: 1}, True),
        ({0: 0, 1: 2}, False),
        ({0: 0}, False),
        ({0: 0, 1: 1, 2: UNTOLD}, False),
    ],
)
def test_acknowledged_records_are_stored_once_and_where_that_was_told(
    acked: dict[int, int], kept: bool
) -> None:
    assert Promises({7: acked}).kept(7, {0: 0, 1: 1}) is kept
