"""bench/pravega without a broker: what is run, how windows add up, what is said about them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.histogram import Histogram
from bench.pravega import compare, load
from bench.pravega.cases import (
    BURST,
    END_TO_END,
    EVENTS_LIMITED,
    MB_LIMITED,
    MODES,
    SIZES,
    Case,
    Scale,
    cases_of,
    check,
)
from bench.pravega.command import command
from bench.pravega.compare import Suite, notes_of, result_of
from bench.pravega.figures import CSV_HEAD, as_run, csv_rows, shown, targets, write_csv
from bench.pravega.load import MEASURED, TAIL, WARMUP, Outcome, Raw, Window
from bench.results import KAFKA, KPROTO
from bench.workers import END_TO_END as RECEIVED
from bench.workers import FASTEST, INTENDED, KINDS, PUBLISH, Counters

SCALE = Scale(seconds=4, warmup_s=2)
BASE = Case(BURST, 1_000, SCALE)
LIMITED = replace(BASE, mode=EVENTS_LIMITED, rate=500.0, producers=10)


def test_the_modes_have_the_papers_sizes_and_clients() -> None:
    planned = {mode: cases_of(mode, SIZES, (), None, None, BASE) for mode in MODES}
    assert [case.event_bytes for case in planned[BURST]] == [10, 100, 1_000, 10_000, 100_000]
    assert {(case.producers, case.consumers) for case in planned[BURST]} == {(10, 0)}
    assert {(case.producers, case.consumers) for case in planned[END_TO_END]} == {(1, 1)}
    assert {case.partitions for cases in planned.values() for case in cases} == {15}


@pytest.mark.parametrize(
    ("mode", "rate", "size", "per_second", "events"),
    [
        (BURST, 0.0, 1_000, FASTEST, None),
        (MB_LIMITED, 10.0, 1_000, 10_000, 40_000),
        (MB_LIMITED, 1.0, 100_000, 10, 40),
        (EVENTS_LIMITED, 500.0, 100_000, 500, 2_000),
        (END_TO_END, 0.3, 10, 0.3, 2),
    ],
)
def test_rates_are_of_bytes_or_of_events(
    mode: str, rate: float, size: int, per_second: float, events: int | None
) -> None:
    case = replace(BASE, mode=mode, rate=rate, event_bytes=size)
    assert case.events_per_s == per_second
    assert case.events == events


def test_a_burst_has_one_case_per_size_and_a_limit_one_per_size_and_rate() -> None:
    assert len(cases_of(BURST, (10, 100), (1.0, 2.0), None, None, BASE)) == 2
    found = cases_of(MB_LIMITED, (10, 1_000), (1.0, 50.0), 3, None, BASE)
    assert [case.name for case in found] == ["10 B, 1 MB/s", "10 B, 50 MB/s", "1 KB, 1 MB/s", "1 KB, 50 MB/s"]
    assert {case.producers for case in found} == {3}
    assert LIMITED.name == "1 KB, 500/s"
    assert replace(BASE, producers=0, consumers=2).name == "1 KB, read"


def test_cases_that_are_not_the_same_have_other_names_and_none_is_there_twice() -> None:
    """Else their runs would be one case: 0.4 and 0.3 events/s were both 0/s."""
    found = cases_of(EVENTS_LIMITED, (100, 100), (0.4, 0.3, 500.0, 500.4, 500.0, 2e6), 1, None, BASE)
    assert [case.name.removeprefix("100 B, ") for case in found] == [
        *("0.4/s", "0.3/s", "500/s", "500.4/s", "2,000,000/s"),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        replace(LIMITED, producers=0, consumers=1),
        replace(LIMITED, mode=END_TO_END),
        replace(BASE, producers=0),
        replace(BASE, consumers=16),
        replace(BASE, event_bytes=7),
        replace(LIMITED, rate=0.0),
        replace(LIMITED, rate=-1.0),  # was as fast as it goes
        replace(LIMITED, rate=float("nan")),
    ],
)
def test_what_cannot_be_run_is_refused(wrong: Case) -> None:
    check(replace(wrong, mode=BURST, event_bytes=10, producers=1, consumers=1))
    with pytest.raises(ValueError, match=r"\w"):
        check(wrong)


def test_clients_are_dealt_out_and_consumers_share_all_partitions() -> None:
    case = replace(BASE, producers=3, consumers=4, workers=2, wait_each=True, flush=True, linger_ms=5)
    first, second = case.specs("h:1", "t", ["a", "b"])
    assert (len(first.producers), len(second.producers)) == (2, 1)
    assert (first.threads, second.threads) == (2, 1)
    read = [number for spec in (first, second) for each in spec.consumers for number in each["partitions"]]
    assert sorted(read) == list(range(15))
    assert (first.raw, second.raw, first.flush_each, first.end_to_end) == ("a", "b", True, "payload")
    assert (first.producer["acks"], first.producer["linger.ms"]) == ("all", "5")
    assert case.topic_configs()["flush.messages"] == "1"
    assert "flush.messages" not in BASE.topic_configs()


def window(part: str, end_s: float, seconds: float, acked: int, latencies: dict[int, int]) -> Window:
    done = Counters(at_us=int(seconds * 1e6), acked=acked, acked_bytes=acked * 1_000, cpu_s=0.5)
    done.produce_requests, done.received, done.received_bytes = acked // 2, acked, acked * 1_000
    histograms = {kind: Histogram() for kind in KINDS}
    for kind in (PUBLISH, INTENDED, RECEIVED):
        histograms[kind] = Histogram(latencies)
    return Window(part, end_s, done, histograms)


def outcome(case: Case) -> Outcome:
    windows = [
        window(WARMUP, 1.0, 1.0, 100, {90_000: 100}),
        window(MEASURED, 2.0, 1.0, 400, {1_000: 390, 2_000: 10}),
        window(MEASURED, 5.0, 3.0, 600, {1_000: 600}),
        window(TAIL, 5.5, 0.5, 1, {700_000: 1}),
    ]
    return Outcome(case, windows, cpu_s=2.0, peak_rss_bytes=50_000_000, written_bytes=3_000_000)


def test_rates_are_of_the_measured_part_and_late_events_are_not_lost() -> None:
    run = as_run(KPROTO, 2, outcome(LIMITED))
    assert (run.system, run.pair, run.case) == (KPROTO, 2, "1 KB, 500/s")
    metrics = run.metrics
    assert metrics["published_per_s"] == 250
    assert metrics["published_mb_per_s"] == 0.25
    assert metrics["cpu_s_per_million"] == 2_000
    assert metrics["client_cpu_s"] == 1.0
    assert metrics["rpcs_per_s"] == 125
    assert metrics["publish_max_ms"] == 700
    assert metrics["publish_p50_ms"] == metrics["intended_p99_ms"] - 1 == 1
    assert run.quantiles["e2e_ms"]["100"] == 700
    assert "delay_p50_ms" not in metrics
    assert "records_per_s" not in metrics
    assert "unsent_events" not in metrics


def test_the_warm_up_is_in_the_series_only() -> None:
    run = as_run(KPROTO, 1, outcome(LIMITED))
    assert run.series["publish_p50_ms"] == [[1.0, 90.0], [2.0, 1.0], [5.0, 1.0], [5.5, 700.0]]
    assert run.series["published_per_s"] == [[1.0, 100.0], [2.0, 400.0], [5.0, 200.0], [5.5, 2.0]]
    assert run.metrics["publish_max_ms"] == 700.0


def test_what_was_never_sent_is_told() -> None:
    late = outcome(LIMITED)
    late.unsent = 7
    assert as_run(KAFKA, 1, late).metrics["unsent_events"] == 7


def test_reading_counts_what_was_received_and_no_latencies() -> None:
    run = as_run(KPROTO, 1, outcome(replace(BASE, producers=0, consumers=2)))
    assert run.metrics["records_per_s"] == 250
    assert run.metrics["cpu_s_per_million"] == 2_000
    assert run.quantiles == {}
    assert not [name for name in run.metrics if name.startswith(("publish", "e2e"))]


def test_brokers_elsewhere_have_no_figures_of_theirs() -> None:
    found = outcome(LIMITED)
    found.cpu_s = None
    metrics = as_run(KPROTO, 1, found).metrics
    assert "cpu_s_per_million" not in metrics
    assert "peak_rss_mb" not in metrics


@pytest.mark.parametrize("mode", MODES)
def test_tables_show_what_targets_judge(mode: str) -> None:
    for copies in (1, 3):
        for case in cases_of(mode, (1_000,), (), None, None, replace(BASE, copies=copies)):
            assert set(targets(case)) <= set(shown(case))
    assert targets(LIMITED)["publish_p99_ms"] == 0.5
    assert targets(replace(LIMITED, linger_ms=1))["publish_p99_ms"] == 1.0


def test_csv_has_the_windows_and_a_total_for_each_end(tmp_path: Path) -> None:
    case = replace(LIMITED, mode=END_TO_END, consumers=1)
    write_csv(tmp_path / "out" / "x.csv", csv_rows(KAFKA, 3, outcome(case)))
    with (tmp_path / "out" / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == CSV_HEAD
    assert [(row["what"], row["part"]) for row in rows[:5]] == [
        ("writing", part) for part in (WARMUP, MEASURED, MEASURED, TAIL, "total")
    ]
    total = rows[4]
    assert (total["records"], total["records_per_s"], total["pair"]) == ("1000", "250.0", "3")
    assert (total["50th"], total["99th"], total["99.99th"]) == ("1.000", "2.000", "700.000")
    assert rows[9]["what"] == "reading"


def test_files_of_events_have_names_of_their_own(tmp_path: Path) -> None:
    def paths(system: str, pair: int) -> list[Path]:
        return Raw(tmp_path, "r1", system, "burst-rf1 1 KB, 10 MB/s", pair).paths(2)

    found = [*paths(KPROTO, 1), *paths(KPROTO, 2), *paths(KAFKA, 1)]
    assert len(set(found)) == 6
    assert all(" " not in path.name and path.suffix == ".events" for path in found)


def test_a_result_is_named_after_what_makes_it_different() -> None:
    first = replace(LIMITED, copies=3, flush=True, wait_each=True, linger_ms=1)
    result = result_of(EVENTS_LIMITED, [first], "again", notes_of(first))
    assert result.name == "events-limited-rf3-flush-wait-each-linger1-again"
    assert result.x == "event_bytes"
    rates = cases_of(MB_LIMITED, (1_000,), (10.0, 20.0), None, None, BASE)
    assert result_of(MB_LIMITED, rates, "", []).x == "rate"
    read = replace(BASE, producers=0, consumers=2)
    assert result_of(BURST, [read], "", []).name == "burst-read-rf1"
    assert result_of(BURST, [replace(BASE, flush=True)], "-flush", []).name == "burst-rf1-flush"


def test_the_command_refuses_what_cannot_be_run() -> None:
    done = CliRunner().invoke(command, ["--mode", "end-to-end", "--consumers", "16"])
    assert done.exit_code == 2
    assert "16 consumers" in done.output


@pytest.mark.parametrize(("copies", "of_clusters"), [(1, []), (3, [KAFKA, KPROTO])])
def test_three_copies_are_warmed_up_as_all_clusters_are(
    copies: int, of_clusters: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    loads: list[float] = []
    targets: Any = {name: SimpleNamespace(name=name) for name in (KAFKA, KPROTO)}
    suite = Suite(targets, 1, tmp_path, None, "r", True, Console())
    monkeypatch.setattr(compare, "run", lambda target, case, *given: loads.append(case.scale.seconds))
    monkeypatch.setattr(
        compare,
        "warm_up_clusters",
        lambda clusters, load, seconds, screen: found.extend([*clusters] if seconds == 30 else []),
    )
    suite.warm_up(replace(BASE, copies=copies), 30)
    assert found == of_clusters
    assert loads == ([] if found else [30, compare.KPROTO_WARMUP_S])


def test_events_of_a_run_that_fails_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Path] = []

    def broken(*given: Any) -> tuple[int, int, int]:
        kept.extend(given[-1])
        for path in kept:
            path.write_bytes(b"half an event")
        raise RuntimeError("the broker is gone")

    monkeypatch.setattr(load, "_load", broken)
    nobody: Any = None
    with pytest.raises(RuntimeError, match="is gone"):
        load.run(nobody, LIMITED, Raw(tmp_path, "r", "kproto", "c", 1), ours=False)
    assert len(kept) == LIMITED.workers
    assert list(tmp_path.iterdir()) == []


def test_a_worker_has_room_for_what_waits_in_its_producers() -> None:
    small = replace(BASE, event_bytes=100, producers=10, consumers=0, workers=1)
    assert load.heap(small) == "1722M"
    assert load.heap(replace(small, mode=EVENTS_LIMITED, rate=500.0)) == "912M"
    assert load.heap(replace(small, event_bytes=10)) == "4096M"
