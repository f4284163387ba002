"""What the load workers count, put together: histograms and counters."""

from __future__ import annotations

import os
import subprocess
import sys
from math import ceil
from random import Random
from typing import Any

import pytest

from bench import workers
from bench.histogram import Histogram
from bench.workers import KINDS, Counters, Spec, Taken, Worker, WorkerError, Workers

# HdrHistogram 2.2.2 with five digits, of the values of `sequence`: percentiles (50, 75, 95, 99, 99.9, 100),
# and the percentile iterator with 100 ticks: its steps without repetitions, their first three and last three.
HDR_PERCENTILES = [522, 783, 982, 614955, 863975, 899975]
HDR_STEPS = 547
HDR_FIRST = [(0.1, 0), (0.5, 4), (1.0, 8)]
HDR_LAST = [(99.96, 887987), (99.98, 896999), (100.0, 899975)]


def sequence() -> list[int]:
    """5,000 latencies in microseconds, most below a millisecond; above 2^18 as HdrHistogram rounds them."""
    state, found = 1, []
    for _ in range(5000):
        state = (state * 1103515245 + 12345) % 2147483648
        value = state % 997 if state % 3000 < 2900 else state % 900_000
        step = max(0, value.bit_length() - 18)
        found.append(value | ((1 << step) - 1))
    return found


def histogram(values: list[int]) -> Histogram:
    counted: dict[int, int] = {}
    for value in values:
        counted[value] = counted.get(value, 0) + 1
    return Histogram(counted)


def test_percentiles_are_those_of_hdr_histogram() -> None:
    found = histogram(sequence())
    assert found.percentiles((50, 75, 95, 99, 99.9, 100)) == HDR_PERCENTILES
    assert found.highest == HDR_PERCENTILES[-1]
    steps = found.quantile_steps(100)
    assert len(steps) == HDR_STEPS
    assert steps[:3] == HDR_FIRST
    assert steps[-3:] == HDR_LAST


def test_every_event_counts_in_a_percentile() -> None:
    source = Random(1)
    values = [source.randrange(300) for _ in range(1_235)]
    ordered = sorted(values)
    levels = (0.0, 12.5, 50, 99, 99.9, 99.99, 100)
    wanted = [ordered[max(0, ceil(level / 100 * len(values) - 1e-9) - 1)] for level in levels]
    assert histogram(values).percentiles(levels) == wanted


def test_levels_are_answered_in_the_order_asked_for() -> None:
    assert histogram([1, 2, 3, 4]).percentiles((100, 25, 50)) == [4, 1, 2]


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_histograms_of_workers_add_up_exactly(parts: int) -> None:
    values = sequence()
    merged = Histogram()
    for part in range(parts):
        merged.add(histogram(values[part::parts]))
    whole = histogram(values)
    assert merged.counts == whole.counts
    assert merged.total == len(values)
    assert merged.mean == pytest.approx(sum(values) / len(values))


def test_an_empty_histogram_is_zero_everywhere() -> None:
    assert Histogram().percentiles((50, 99)) == [0, 0]
    assert Histogram().quantile_steps() == []
    assert (Histogram().mean, Histogram().highest, Histogram().total) == (0.0, 0, 0)


def test_adding_leaves_the_other_one_as_it_was() -> None:
    one, other = Histogram({5: 1}), Histogram({5: 2, 6: 1})
    one.add(other)
    assert one.counts == {5: 3, 6: 1}
    assert other.counts == {5: 2, 6: 1}


def test_counters_add_up_and_differ() -> None:
    early = Counters(at_us=1_000_000, acked=10, received=4, cpu_s=0.5)
    late = Counters(at_us=3_500_000, acked=110, received=104, cpu_s=2.0, errors=1, first_error="late")
    since = late.minus(early)
    assert (since.seconds, since.acked, since.received, since.cpu_s) == (2.5, 100, 100, 1.5)
    both = early.plus(late)
    assert (both.at_us, both.acked, both.errors, both.first_error) == (3_500_000, 120, 1, "late")


def test_what_workers_took_at_one_moment_is_put_together() -> None:
    whole = Taken.empty()
    for number in (1, 2):
        whole.add(Taken(Counters(acked=number), {kind: Histogram({number: 10}) for kind in KINDS}))
    assert whole.counters.acked == 3
    assert all(whole.histograms[kind].counts == {1: 10, 2: 10} for kind in KINDS)


def test_a_spec_without_threads_leaves_their_number_to_the_worker() -> None:
    wanted = Spec({"bootstrap.servers": "h:1"}, producers=[{"topic": "t"}], flush_each=True).command()
    assert wanted["flushEach"] is True
    assert "threads" not in wanted
    assert "raw" not in wanted
    assert wanted["producers"] == [{"topic": "t"}]


PROGRAM = """
import sys
sys.stdin.readline()
print("2026-11-21 a warning")
print('{"reply": "stop"}')
"""
LATE_ANSWER = """
import sys
sys.stdin.readline()
print('{"failed": "counters", "error": "of another time"}')
print('{"reply": "deleteTopics"}')
sys.stdout.flush()
sys.stdin.readline()
"""


def pretending(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this Python program be the worker."""
    start = subprocess.Popen

    def pretend(_command: list[str], **settings: Any) -> subprocess.Popen[str]:
        return start([sys.executable, "-c", program], **settings)

    monkeypatch.setattr(workers, "worker_classpath", str)
    monkeypatch.setattr(subprocess, "Popen", pretend)


def test_a_line_that_is_no_answer_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pretending(PROGRAM, monkeypatch)
    with Worker(exact=False) as worker:
        assert worker.ask("stop", timeout=60) == {"reply": "stop"}
        with pytest.raises(WorkerError, match=r"^the worker ended .*a warning"):
            worker.answer(60)


def test_ctrl_c_leaves_a_worker_that_deletes_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    pretending(LATE_ANSWER, monkeypatch)
    with Worker(exact=False) as worker:
        assert os.getsid(worker.pid) == worker.pid  # a terminal's Ctrl-C is for its own session
        assert worker.ask("deleteTopics", timeout=60) == {"reply": "deleteTopics"}


ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"reply": next(iter(json.loads(line)))}), flush=True)
"""


@pytest.mark.parametrize("stopped", [True, False])
def test_topics_are_deleted_when_no_client_is_left_that_would_make_them_again(
    stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretending(ECHO, monkeypatch)
    with Workers(2, exact=False) as several:
        several.open([Spec({}, producers=[{"topic": "t"}]), Spec({})])
        if stopped:
            several.stop()
        several.delete_topics({}, ["t"])
        assert [each._process.poll() is None for each in several.each] == [stopped, stopped]
