"""Consumer groups of every Python client: members in processes of their own join, leave and are killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.support.confluent import producer, send_all
from compat_tests.support.members import PATIENCE_S, Members
from compat_tests.support.ports import wait_until
from compat_tests.support.records import plain

WIDTH = 6


class Feed:
    """Numbers as values, round robin over the partitions."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._client = producer(bootstrap, linger_ms=2)
        self._topic = topic
        self.sent: set[str] = set()

    def send(self, count: int) -> set[str]:
        """All values sent so far, this call's included."""
        start = len(self.sent)
        for partition in range(WIDTH):
            numbers = [n for n in range(start, start + count) if n % WIDTH == partition]
            send_all(self._client, self._topic, partition, plain(b"%d" % n for n in numbers))
        self.sent |= {str(n) for n in range(start, start + count)}
        return self.sent


@pytest.mark.parametrize("client", ["confluent", "confluent:cooperative-sticky", "kafka-python", "aiokafka"])
def test_join_leave_crash(
    client: str, bootstrap: str, new_topic: Callable[..., str], group: str, tmp_path: Path
) -> None:
    topic = new_topic(partitions=WIDTH)
    feed = Feed(bootstrap, topic)
    with Members(client, bootstrap, topic, group, tmp_path) as members:
        members.join("a")
        members.settle(WIDTH)
        members.await_delivery(feed.send(120))
        members.join("b")
        members.join("c")
        members.settle(WIDTH)
        members.await_delivery(feed.send(120))
        members.leave("a")
        members.settle(WIDTH)
        members.await_delivery(feed.send(120))
        members.kill("b")
        members.settle(WIDTH)
        members.await_delivery(feed.send(120))
        members.leave("c")
        delivered = members.delivered()
    assert set(delivered) == feed.sent
    assert len(delivered) <= 480 + 120, "far more repeats than one killed member explains"


def test_clients_of_different_kinds_share_a_group(
    bootstrap: str, new_topic: Callable[..., str], group: str, tmp_path: Path
) -> None:
    """librdkafka, kafka-python and aiokafka all know the range assignor: one leader assigns for all."""
    topic = new_topic(partitions=WIDTH)
    feed = Feed(bootstrap, topic)
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    with (
        Members("confluent", bootstrap, topic, group, places[0]) as first,
        Members("aiokafka", bootstrap, topic, group, places[1]) as second,
    ):
        first.join("a")
        first.settle(WIDTH)
        second.join("b")

        def shared() -> bool:
            owned = [first.owned()["a"], second.owned()["b"]]
            return sorted(owned[0] + owned[1]) == list(range(WIDTH)) and all(owned)

        wait_until("both kinds to share the partitions", shared, PATIENCE_S)
        feed.send(120)
        wait_until("delivery", lambda: {*first.delivered(), *second.delivered()} == feed.sent, PATIENCE_S)
        assert first.delivered()
        assert second.delivered()
