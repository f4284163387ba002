"""Jepsen's Kafka checks over stock clients, while brokers are killed, stopped, cut off and out of disk space.

KPROTO_BLACK_BOX_SECONDS: how long faults go on (25 unless set, and at least until each kind had its turn; a
longer run has 240); KPROTO_BLACK_BOX_SEED: in which order. A failure leaves the clients' files, brokers' logs
and data in the test's directory. Needs root, to mount a disk.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from compat_tests.black_box.checker import ANOMALIES, anomalies
from compat_tests.black_box.history import (
    Kind,
    Op,
    Poll,
    Record,
    Result,
    Send,
    decode,
    encode_begin,
    encode_end,
)
from compat_tests.black_box.run import run

SECONDS = float(os.environ.get("KPROTO_BLACK_BOX_SECONDS", "25"))
MANY_SECONDS = 240.0
SEED = int(os.environ.get("KPROTO_BLACK_BOX_SEED", str(time.time_ns() % 1_000_000)))

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]


@pytest.mark.timeout(900 + 4 * SECONDS)
def test_no_anomalies_under_faults(tmp_path: Path) -> None:
    no_anomalies(tmp_path, SECONDS)


@pytest.mark.long
@pytest.mark.timeout(900 + 4 * MANY_SECONDS)
def test_no_anomalies_for_longer(tmp_path: Path) -> None:
    no_anomalies(tmp_path, MANY_SECONDS)


def no_anomalies(directory: Path, seconds: float) -> None:
    assert os.geteuid() == 0, "a small disk must be mounted: run the tests as root"
    print(f"KPROTO_BLACK_BOX_SEED={SEED}")
    outcome = run(directory, SEED, seconds)
    print(f"{outcome.counts()}, {outcome.crashes} clients killed, {outcome.carried} bytes between brokers")
    print("; ".join(outcome.faults))
    found = anomalies(outcome.history)
    assert found == {}, {name: (len(lines), lines[:5]) for name, lines in found.items()}
    assert outcome.counts()["rebalanced"] > 0
    assert outcome.carried > 100_000, "brokers reach each other through what kproto.internal.advertise says"


# The checker must see what is wrong: histories that show one anomaly each.


def sent(key: int, value: int, offset: int | None, result: Result = Result.OK) -> Send:
    return Send(key, value, result, offset)


def mix(process: int, *parts: Send | Poll, rebalanced: bool = False) -> Op:
    return Op(process, Kind.MIX, parts, rebalanced=rebalanced)


def polled(*records: tuple[int, int, int]) -> Poll:
    return Poll(tuple(Record(*record) for record in records))


def all_read(count: int = 4) -> Op:
    """The final polls: value 10 + n of partition 0 at offset n."""
    return mix(0, polled(*((0, n, 10 + n) for n in range(count))))


def all_sent(count: int = 4) -> Op:
    return mix(1, *(sent(0, 10 + n, n) for n in range(count)))


def assigned(process: int, *keys: int) -> Op:
    return Op(process, Kind.ASSIGN, keys=frozenset(keys))


BAD: dict[str, list[Op]] = {
    "inconsistent-offsets": [all_sent(), all_read(), mix(2, polled((0, 2, 13)))],
    "duplicate": [all_sent(3), mix(0, polled((0, 0, 10), (0, 1, 11), (0, 2, 12), (0, 3, 11)))],
    "lost-write": [all_sent(), mix(0, polled((0, 0, 10), (0, 3, 13)))],
    "unseen": [all_sent(), all_read(3)],
    "aborted-read": [all_sent(3), mix(1, sent(0, 13, None, Result.FAIL)), all_read()],
    "phantom-read": [all_sent(3), all_read()],
    "poll-skip": [all_sent(), all_read(), mix(2, polled((0, 0, 10))), mix(2, polled((0, 2, 12)))],
    "nonmonotonic-poll": [all_sent(), all_read(), mix(2, polled((0, 1, 11))), mix(2, polled((0, 1, 11)))],
    "nonmonotonic-send": [mix(1, sent(0, 11, 1)), mix(1, sent(0, 10, 0)), all_read(2)],
    "int-poll-skip": [all_sent(), all_read(), mix(2, polled((0, 0, 10), (0, 3, 13)))],
    "int-nonmonotonic-poll": [all_sent(), all_read(), mix(2, polled((0, 1, 11)), polled((0, 0, 10)))],
    "int-nonmonotonic-send": [mix(1, sent(0, 11, 1), sent(0, 10, 0)), all_read(2)],
}


def test_every_anomaly_has_a_bad_history() -> None:
    assert sorted(BAD) == sorted(ANOMALIES)


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_history_is_seen(name: str) -> None:
    assert name in anomalies(BAD[name])


def test_good_histories_pass() -> None:
    unknown = mix(3, sent(0, 99, None, Result.INFO))
    twice = [mix(2, polled((0, 0, 10))), mix(2, polled((0, 1, 11), (0, 2, 12))), mix(2, polled((0, 3, 13)))]
    assert anomalies([all_sent(), all_read(), unknown, *twice]) == {}


def test_an_unknown_send_may_be_read() -> None:
    assert anomalies([mix(1, *(sent(0, 10 + n, None, Result.INFO) for n in range(4))), all_read()]) == {}


def test_what_is_not_read_yet_is_no_loss() -> None:
    assert anomalies([all_sent(), all_read(3)], complete=False) == {}


def test_offsets_without_records_may_be_passed() -> None:
    """Nobody knows of a record at offset 1: control records and given-up sends leave such holes."""
    history = [mix(1, sent(0, 10, 0), sent(0, 12, 2)), mix(0, polled((0, 0, 10), (0, 2, 12)))]
    assert anomalies(history) == {}


def test_a_rebalance_allows_jumps() -> None:
    jump = [
        mix(2, polled((0, 3, 13))),
        mix(2, polled((0, 0, 10)), rebalanced=True),
        mix(2, polled((0, 2, 12))),
    ]
    assert anomalies([all_sent(), all_read(), *jump]) == {}
    assert "nonmonotonic-poll" in anomalies(
        [all_sent(), all_read(), jump[0], jump[1]._replace(rebalanced=False)]
    )


def test_an_assignment_keeps_the_positions_of_what_it_keeps() -> None:
    first = [assigned(2, 0, 1), mix(2, polled((0, 3, 13)))]
    again = mix(2, polled((0, 0, 10)))
    assert "nonmonotonic-poll" in anomalies([all_sent(), all_read(), *first, assigned(2, 0), again])
    assert anomalies([all_sent(), all_read(), *first, assigned(2, 1), assigned(2, 0), again]) == {}


def test_the_file_of_a_killed_client() -> None:
    parts: list[Send | Poll] = [sent(0, 7, 3), polled((0, 3, 7)), sent(1, 8, None, Result.INFO)]
    lines = [
        encode_begin(Kind.ASSIGN, [], [1, 0]),
        encode_end([], rebalanced=False),
        encode_begin(Kind.MIX, [(0, 7), (1, 8)], []),
        encode_end(parts, rebalanced=True),
        encode_begin(Kind.MIX, [(1, 9)], []),
    ]
    whole = decode(5, lines)
    assert whole == [
        assigned(5, 0, 1),
        mix(5, *parts, rebalanced=True),
        mix(5, sent(1, 9, None, Result.INFO)),
    ]
    assert decode(5, [*lines[:3], lines[3][:20]]) == [
        assigned(5, 0, 1),
        mix(5, sent(0, 7, None, Result.INFO), sent(1, 8, None, Result.INFO)),
    ]
