"""The single-broker suite's cases, and what is read off a run of the generator."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from bench import single_broker
from bench.brokers import usage
from bench.cases import BATCH_OVERHEAD, CASES, FULL, QUICK, scaled
from bench.generator import Measured, figures, quantiles
from bench.rawclient import one_record_batch, varint
from bench.results import KPROTO, direction
from bench.results import load as load_result
from bench.single_broker import ATTEMPTS, PARTS, chosen, part_of, results_of

LOAD: dict[str, Any] = {
    "seconds": 10.0,
    "acked_records": 2_000_000,
    "acked_bytes": 4_000_000_000,
    "generator_cpu_s": 8.0,
    "ack_us": {"p50": 900.0, "p90": 1_000.0, "p99": 3_200.0, "p999": 9_000.0, "max": 12_000.0},
    "end_to_end_us": None,
}


def test_figures_are_per_gigabyte_and_per_million_records() -> None:
    found = figures(Measured(LOAD, broker_cpu_s=6.0, wall_s=10.0, peak_rss_bytes=50_000_000))
    assert found["cpu_s_per_gb"] == 1.5
    assert found["cpu_s_per_million"] == 3.0
    assert found["client_cpu_s_per_million"] == 4.0
    assert found["mb_per_s"] == 400.0
    assert found["records_per_s"] == 200_000.0
    assert found["peak_rss_mb"] == 50.0
    assert found["publish_p99_ms"] == 3.2
    assert "e2e_p50_ms" not in found


def test_quantiles_are_in_milliseconds_by_percentile() -> None:
    found = quantiles(Measured(LOAD, 6.0, 10.0, 50_000_000))
    assert found == {"publish_ms": {"50": 0.9, "90": 1.0, "99": 3.2, "99.9": 9.0, "100": 12.0}}


def test_cases_cover_what_they_promise() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    for partitions in (1, 64):
        for size in ("1KB", "16KB", "64KB", "1MB"):
            assert f"{partitions}p-{size}" in names
    assert {case.load.rate for case in CASES} == {0, 2_000, 20_000}
    for case in CASES:
        assert case.load.value_bytes + BATCH_OVERHEAD <= case.load.batch_bytes
        assert scaled(case, QUICK).seconds < scaled(case, FULL).seconds


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_target_is_about_a_figure_that_is_shown_and_judged(case: Any) -> None:
    for metric in case.targets:
        assert metric in PARTS[part_of(case)][1]
        assert direction(metric) != 0


def test_rates_and_throughput_are_results_of_their_own() -> None:
    found = results_of(list(CASES), QUICK)
    assert {(each.suite, each.name) for each in found.values()} == {
        ("single", "throughput"),
        ("single", "rate"),
    }


def test_usage_counts_this_process() -> None:
    before = usage(os.getpid())
    sum(number * number for number in range(2_000_000))
    after = usage(os.getpid())
    assert after.cpu_s > before.cpu_s
    assert after.peak_rss_bytes >= after.rss_bytes > 1_000_000


def test_the_raw_batch_is_a_batch() -> None:
    from kproto.wire.records import check_records, iter_records

    assert varint(-1) == b"\x01"
    assert varint(300) == b"\xd8\x04"
    batch = one_record_batch(b"v" * 500)
    check_records(batch, 1000)
    assert [record.value for record in iter_records(batch)] == [b"v" * 500]


def test_a_case_that_fails_again_and_again_is_noted_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def no_measure(_broker: Any, load: Any, _hook: Any) -> Measured:
        calls.append(load.batch_bytes)
        if load.batch_bytes == 1 << 20 or len(calls) == 1:
            raise OSError("message size too large")
        return Measured({**LOAD, "produce_requests": 1}, 6.0, 10.0, 50_000_000)

    monkeypatch.setattr(single_broker, "measure", no_measure)
    filled: list[Path] = []
    monkeypatch.setattr(single_broker.page_cache, "fill", filled.append)
    cases = chosen(("1p-16KB", "1p-1MB", "64p-64KB"))
    results = results_of(cases, QUICK)
    brokers: dict[str, Any] = {KPROTO: SimpleNamespace(name="kproto", directory=tmp_path)}
    single_broker.run_cases(brokers, cases, QUICK, results, tmp_path, False, Console(quiet=True))
    kept = load_result(tmp_path / "single-throughput.json")
    assert [run.case for run in kept.runs] == ["1p-16KB", "64p-64KB", "1p-16KB-100B"]
    assert filled == [tmp_path] * len(cases)
    assert calls.count(1 << 20) == ATTEMPTS
    assert kept.notes == [
        "1p-16KB, repeated after a failure: message size too large",
        "1p-1MB on kproto failed: message size too large",
    ]
