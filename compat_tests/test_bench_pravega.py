"""bench/pravega with real clients on the broker under test: what it counts is what went through."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.analysis.raw import find, read
from bench.pravega.cases import BURST, END_TO_END, Case, Scale
from bench.pravega.command import command
from bench.pravega.compare import Remote
from bench.pravega.load import MEASURED, Raw, run
from bench.results import load
from bench.workers import END_TO_END as RECEIVED
from bench.workers import INTENDED, Counters

SCALE = Scale(seconds=2, warmup_s=1, window_s=0.5)
CASE = Case(END_TO_END, 100, SCALE, rate=400.0, producers=2, consumers=2, partitions=4)


def done(parts: list[Counters]) -> tuple[int, int, int]:
    return sum(p.sent for p in parts), sum(p.acked for p in parts), sum(p.received for p in parts)


def test_every_event_is_counted_at_both_ends_and_kept(bootstrap: str, tmp_path: Path) -> None:
    raw = Raw(tmp_path, "r1", "kproto", "end-to-end 100 B", 1)
    outcome = run(Remote("kproto", bootstrap), CASE, raw, ours=False)
    sent, acked, received = done([window.done for window in outcome.windows])
    assert sent == acked == received
    assert outcome.unsent == 0
    assert outcome.cpu_s is None
    measured = [window for window in outcome.windows if window.part == MEASURED]
    assert len(measured) == 4
    assert outcome.during().seconds >= 2

    (source,) = find([tmp_path])
    rows = read(source.path)
    assert source.origin.case == "end-to-end 100 B"
    assert (rows["kind"] == 0).sum() == (rows["kind"] == 1).sum() == acked
    assert set(rows["bytes"]) == {100}
    assert set(rows["client"]) == {0, 1}
    due = rows["intended_us"][rows["kind"] == 0]
    assert due.min() >= source.origin.begin_us
    assert due.max() < source.origin.until_us
    assert CASE.events is not None
    assert (due >= source.origin.from_us).sum() >= CASE.events
    everything = [window.histograms for window in outcome.windows]
    for kind, of in ((INTENDED, 0), (RECEIVED, 1)):
        longest = max(each[kind].highest for each in everything)
        assert longest == pytest.approx(rows["latency_us"][rows["kind"] == of].max(), rel=1e-3, abs=2)


def test_a_flushed_burst_that_waits_for_each_ack(bootstrap: str) -> None:
    case = replace(CASE, mode=BURST, consumers=0, flush=True, wait_each=True, scale=Scale(1, 0.5, 0.5))
    outcome = run(Remote("kproto", bootstrap), case, None, ours=False)
    _, acked, _ = done([window.done for window in outcome.windows])
    assert acked > 0
    requests = sum(window.done.produce_requests for window in outcome.windows)
    assert (
        requests >= acked
    )  # each event has a request of its own, since none is sent while one is on its way


def test_a_burst_is_read_to_its_end(bootstrap: str) -> None:
    case = replace(CASE, mode=BURST, producers=0, scale=Scale(1, 0, 0.5))
    outcome = run(Remote("kproto", bootstrap), case, None, ours=False)
    during = outcome.during()
    assert during.received > 0
    assert during.received_bytes == 100 * during.received
    assert during.acked == 0


def test_the_command_on_brokers_that_run_already(bootstrap: str, tmp_path: Path) -> None:
    arguments = ["--bootstrap", bootstrap, "--quick", "--mode", "events-limited", "--size", "100"]
    arguments += ["--rate", "200", "--producers", "2", "--out", str(tmp_path), "--raw", str(tmp_path / "raw")]
    finished = CliRunner().invoke(command, arguments)
    assert finished.exit_code == 0, finished.output
    result = load(tmp_path / "pravega-events-limited-rf1.json")
    (measured,) = result.runs
    assert measured.case == "100 B, 200/s"
    assert measured.metrics["intended_p50_ms"] > 0
    assert measured.series["published_per_s"]
    assert "cpu_s_per_million" not in measured.metrics
    with (tmp_path / "pravega-events-limited-rf1.csv").open(newline="") as file:
        assert next(row for row in csv.DictReader(file) if row["part"] == "total")["what"] == "writing"
    assert len(find([tmp_path / "raw"])) == 1
