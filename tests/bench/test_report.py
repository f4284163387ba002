"""The benchmark's arithmetic: what a reader of its tables relies on."""

from __future__ import annotations

import os
from typing import Any

import pytest

from bench.brokers import usage
from bench.cases import BATCH_OVERHEAD, CASES, FULL, QUICK, scaled
from bench.rawclient import one_record_batch, varint
from bench.report import markdown, medians, metrics, ratios, shown, summary, tables

LOAD: dict[str, Any] = {
    "seconds": 10.0,
    "acked_records": 2_000_000,
    "acked_bytes": 4_000_000_000,
    "generator_cpu_s": 8.0,
    "ack_us": {"p50": 900.0, "p99": 3_200.0, "p999": 9_000.0},
    "end_to_end_us": None,
}


def test_metrics_are_per_gigabyte_and_per_million_records() -> None:
    found = metrics(LOAD, broker_cpu_s=6.0, peak_rss_bytes=50_000_000)
    assert found["cpu_s_per_gb"] == 1.5
    assert found["cpu_s_per_million"] == 3.0
    assert found["mb_per_s"] == 400.0
    assert found["records_per_s"] == 200_000.0
    assert found["peak_rss_mb"] == 50.0
    assert found["ack_p99_us"] == 3_200.0
    assert "e2e_p50_us" not in found


def test_ratios_are_medians_over_pairs_not_ratios_of_medians() -> None:
    ours = [{"x": 1.0}, {"x": 10.0}, {"x": 3.0}]
    theirs = [{"x": 2.0}, {"x": 100.0}, {"x": 4.0}]
    assert ratios(ours, theirs) == {"x": 0.5}
    assert medians(ours) == {"x": 3.0}
    assert ratios([], []) == {}
    assert ratios([{"x": 1.0}], [{"x": 0.0}]) == {}


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [("ack_p50_us", 912.0, "0.912"), ("mb_per_s", 1_234.5, "1,234"), ("cpu_s_per_gb", 1.2345, "1.23")],
)
def test_shown(metric: str, value: float, text: str) -> None:
    assert shown(metric, value) == text
    assert shown(metric, None) == "-"


def results(kproto_cpu: float) -> dict[str, Any]:
    def run(cpu: float) -> dict[str, Any]:
        return {"metrics": {"cpu_s_per_gb": cpu, "cpu_s_per_million": cpu, "mb_per_s": 100.0}}

    runs = {"kafka": [run(10.0), run(12.0)], "kproto": [run(kproto_cpu), run(kproto_cpu)]}
    case = {"load": {"rate": 0}, "targets": {"cpu_s_per_gb": 0.2}, "runs": runs}
    return {"environment": {"machine": "one"}, "cases": {"1p-16KB": case}}


@pytest.mark.parametrize(("cpu", "met"), [(1.0, True), (5.0, False)])
def test_targets_are_judged_by_the_ratio(cpu: float, met: bool) -> None:
    entry = summary(results(cpu))[0]
    assert entry["targets"]["cpu_s_per_gb"]["met"] is met
    assert entry["ratios"]["cpu_s_per_gb"] == pytest.approx((cpu / 10 + cpu / 12) / 2)
    text = markdown(results(cpu))
    assert ("≤ 0.20" in text) is met
    assert ("> 0.20" in text) is not met
    assert tables(results(cpu))[0].row_count == 3


def test_a_target_without_a_ratio_is_missed() -> None:
    only_ours = results(1.0)
    only_ours["cases"]["1p-16KB"]["runs"]["kafka"] = []
    assert summary(only_ours)[0]["targets"]["cpu_s_per_gb"]["met"] is False


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
    check_records(batch)
    assert [record.value for record in iter_records(batch)] == [b"v" * 500]
