"""kill -9 of the broker under load, again and again: nothing acknowledged is lost, doubled or taken back.

KPROTO_CRASH_ROUNDS sets the number of kills (5 unless set; `make test-long` does 50).
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from compat_tests.support.broker import Subprocess
from compat_tests.support.load import (
    MemberLoad,
    ProducerLoad,
    verify_at_least_once,
    verify_exactly_once,
    verify_seen,
)
from compat_tests.support.ports import wait_until
from compat_tests.support.target import own_broker
from compat_tests.support.topics import create_topic

ROUNDS = int(os.environ.get("KPROTO_CRASH_ROUNDS", "5"))
SEED = int(os.environ.get("KPROTO_CRASH_SEED", str(time.time_ns() % 1_000_000)))

pytestmark = [pytest.mark.owns_broker, pytest.mark.crash, pytest.mark.timeout(600 + 30 * ROUNDS)]

# Rolls, checkpoints and the journal's recycling come often with small files.
SMALL_FILES: dict[str, object] = {
    "kproto.virtual.segment.bytes": 4 << 20,
    "kproto.journal.bytes": 32 << 20,
    "kproto.segment.file.bytes": 1 << 20,
    "kproto.log.memory.bytes": 16 << 20,
}


class Storm:
    """A broker of our own, three producers and a group member, and the kills."""

    def __init__(self, broker: Subprocess) -> None:
        self.broker = broker
        bootstrap = broker.bootstrap
        exact = create_topic(bootstrap, "exact", 4, {"retention.ms": "-1"})
        plain = create_topic(bootstrap, "plain", 2, {"retention.ms": "-1"})
        self.exact = [
            ProducerLoad(
                bootstrap, exact, [0, 1], 1000, 3000, enable_idempotence=True, compression_codec="lz4"
            ),
            ProducerLoad(bootstrap, exact, [2, 3], 200, 3000, enable_idempotence=True),
        ]
        self.plain = ProducerLoad(bootstrap, plain, [0, 1], 60_000, 150, max_in_flight=1)
        self.member = MemberLoad(bootstrap, exact, "storm")
        self.restart_s: list[float] = []

    def progress(self) -> list[int]:
        return [*(load.promises.total() for load in (*self.exact, self.plain)), self.member.commits]

    def await_progress(self) -> None:
        """Every producer got an ack and the member a commit since now."""
        before = self.progress()
        wait_until(
            f"everyone to get on: from {before}",
            lambda: all(now > then for now, then in zip(self.progress(), before, strict=True)),
            every_s=0.005,
        )

    def strike(self, delay_s: float) -> None:
        self.await_progress()
        time.sleep(delay_s)
        promised = dict(self.member.committed)
        self.broker.kill()
        start = time.monotonic()
        self.broker.start()
        self.restart_s.append(time.monotonic() - start)
        self.member.check_stored(promised)

    def finish(self) -> dict[str, object]:
        self.await_progress()
        bootstrap = self.broker.bootstrap
        for load in (*self.exact, self.plain):
            load.finish()
        self.member.finish(*self.exact)
        exact = [verify_exactly_once(bootstrap, load) for load in self.exact]
        repeats = verify_at_least_once(bootstrap, self.plain)
        for load in self.exact:
            verify_seen(bootstrap, self.member, load)
        return {
            "exactly once": sum(exact),
            "at least once": self.plain.promises.total(),
            "repeats": repeats,
            "commits": self.member.commits,
            "slowest restart s": round(max(self.restart_s), 2),
        }


@pytest.mark.parametrize("settings", [{}, SMALL_FILES], ids=["defaults", "small-files"])
def test_kill_9_under_load(
    settings: dict[str, object], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(SEED)
    print(f"KPROTO_CRASH_SEED={SEED}")
    with own_broker(request.config, tmp_path, settings) as broker:
        storm = Storm(broker)
        for _ in range(ROUNDS):
            storm.strike(delay_s=chance.uniform(0, 0.8))
        print(storm.finish())


def test_kill_9_while_starting(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Killed again at a random moment of its recovery: the next start recovers all the same."""
    chance = random.Random(SEED)
    print(f"KPROTO_CRASH_SEED={SEED}")
    with own_broker(request.config, tmp_path, {}) as broker:
        storm = Storm(broker)
        storm.strike(delay_s=0.5)
        for _ in range(max(2, ROUNDS // 2)):
            storm.await_progress()
            broker.kill()
            for _ in range(3):
                broker.spawn()
                time.sleep(chance.uniform(0.1, 1.1) * storm.restart_s[-1])
                broker.kill()
            start = time.monotonic()
            broker.start()
            storm.restart_s.append(time.monotonic() - start)
        print(storm.finish())
