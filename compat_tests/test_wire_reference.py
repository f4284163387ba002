"""kproto and Apache Kafka get the same requests, and their answers are compared field by field.

Every API kproto serves, in every version, what works and what does not. How answers may differ stands, with
the reason, beside each conversation in ``support/wire``. Both brokers are started once for all conversations.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from compat_tests.support.broker import ApacheKafka, Kproto, Subprocess
from compat_tests.support.wire import (
    acls,
    configs,
    fetching,
    groups,
    lives,
    moving,
    odd,
    producing,
    protocol,
    topics,
)
from compat_tests.support.wire.compare import Conversation, hold, unexpected

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

CONVERSATIONS = [
    conversation
    for module in (protocol, topics, configs, producing, fetching, lives, groups, moving, acls, odd)
    for conversation in module.CONVERSATIONS
]
ONE_COPY = {
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}
_marks = count()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Subprocess, Subprocess]]:
    """Apache Kafka and kproto, started side by side with the same settings."""
    directory = tmp_path_factory.mktemp("reference")
    kafka, kproto = ApacheKafka(directory / "kafka"), Kproto(directory / "kproto", ONE_COPY)
    try:
        with ThreadPoolExecutor(2) as pool:
            for started in [pool.submit(kafka.start), pool.submit(kproto.start)]:
                started.result()
        yield kafka, kproto
    finally:
        kproto.stop()
        kafka.kill()


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_the_same_conversation(both: tuple[Subprocess, Subprocess], conversation: Conversation) -> None:
    kafka, kproto = both
    mark = f"m{next(_marks):03}-"
    lines = hold(conversation, ("127.0.0.1", kafka.port), ("127.0.0.1", kproto.port), mark)
    wrong = unexpected(lines, conversation.allowed)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:100])
