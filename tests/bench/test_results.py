"""The arithmetic of results: what a reader of every table relies on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.results import KAFKA, KPROTO, MOST_LETTERS, Result, Run, Verdict, direction, in_short, load
from bench.tables import columns, factor, goal, heading, shown, terminal
from tests.bench.made_up import alone, figure, workloads


def of_pairs(ours: list[float], theirs: list[float], metric: str = "cpu_s_per_gb") -> Result:
    """One case, one metric."""
    result = Result("s", "n", "t", "c", {})
    for pair, values in enumerate(zip(theirs, ours, strict=True)):
        for system, value in zip((KAFKA, KPROTO), values, strict=True):
            result.runs.append(Run(system, "x", pair, {}, {metric: value}))
    return result


def only(result: Result) -> Verdict:
    (found,) = result.verdicts()
    return found


def test_nothing_at_all_is_the_worst_throughput() -> None:
    found = only(of_pairs([0.0], [100.0], "records_per_s"))
    assert found.lost
    assert found.severity == float("inf")
    assert only(of_pairs([0.0], [100.0], "cpu_s_per_gb")).severity == 0


def test_a_failure_is_told_in_short() -> None:
    assert in_short(OSError("first\nsecond\nthird")) == "first second"
    assert in_short(KeyError()) == "KeyError"
    assert len(in_short(OSError("x" * 10_000))) < MOST_LETTERS + 10


def test_ratios_are_medians_over_pairs_not_ratios_of_medians() -> None:
    result = of_pairs([1.0, 10.0, 3.0], [2.0, 100.0, 4.0])
    assert result.ratios("x") == {"cpu_s_per_gb": [0.5, 0.1, 0.75]}
    assert only(result).ratio == 0.5
    assert only(result).ours == 3.0
    assert only(result).theirs == 4.0


def test_pairs_are_matched_by_their_number_not_by_their_place() -> None:
    result = of_pairs([1.0, 2.0], [10.0, 4.0])
    result.runs.reverse()
    del result.runs[-1]  # Apache Kafka's run of pair 0 was lost
    assert result.ratios("x") == {"cpu_s_per_gb": [0.5]}


def test_nothing_is_divided_by_nothing() -> None:
    assert of_pairs([1.0], [0.0]).ratios("x") == {}
    assert of_pairs([1.0], [0.0]).verdicts() == []


@pytest.mark.parametrize(
    ("metric", "better"),
    [
        ("records_per_s", 1),
        ("read_mb_per_s", 1),
        ("cpu_s_per_million", -1),
        ("publish_p999_ms", -1),
        ("first_ack_s", -1),
        ("idle_cpu_percent", -1),
        ("cores", -1),
        ("rpcs_per_s", 0),
        ("wakeups_per_s", 0),
        ("client_cpu_s_per_gb", 0),
        ("chunks_per_rpc", 0),
        ("leaders", 0),
    ],
)
def test_which_way_is_better(metric: str, better: int) -> None:
    assert direction(metric) == better


@pytest.mark.parametrize(
    ("metric", "ours", "lost"),
    [
        ("cpu_s_per_gb", 1.2, True),
        ("cpu_s_per_gb", 0.8, False),
        ("mb_per_s", 1.2, False),
        ("mb_per_s", 0.8, True),
        ("mb_per_s", 0.995, False),
    ],
)
def test_who_loses(metric: str, ours: float, lost: bool) -> None:
    found = only(of_pairs([ours], [1.0], metric))
    assert found.lost is lost
    assert found.clear


def test_pairs_that_disagree_are_not_clear() -> None:
    assert not only(of_pairs([0.9, 1.2, 1.3], [1.0, 1.0, 1.0])).clear
    assert only(of_pairs([1.1, 1.2, 1.3], [1.0, 1.0, 1.0])).clear


@pytest.mark.parametrize(("ours", "met"), [(0.2, True), (0.21, False)])
def test_targets_are_for_the_ratio(ours: float, met: bool) -> None:
    result = of_pairs([ours], [1.0])
    result.targets["x"] = {"cpu_s_per_gb": 0.2}
    assert only(result).met is met


@pytest.mark.parametrize(("ours", "met"), [(3.0, True), (2.9, False)])
def test_a_target_of_throughput_is_the_least(ours: float, met: bool) -> None:
    result = of_pairs([ours], [1.0], "records_per_s")
    result.targets["x"] = {"records_per_s": 3.0}
    assert only(result).met is met
    assert goal(only(result)) == "ratio ≥ 3.00"


def test_a_target_without_a_ratio_is_missed() -> None:
    result = of_pairs([0.1], [1.0])
    result.targets["x"] = {"cpu_s_per_gb": 0.2}
    result.runs = [run for run in result.runs if run.system == KPROTO]
    assert only(result).met is False


def test_targets_of_a_case_that_failed_on_kproto_alone_are_missed() -> None:
    """They were left out of those counted: whoever failed met more of its targets."""
    result = of_pairs([0.1], [1.0])
    result.targets = {"x": {"cpu_s_per_gb": 0.2}, "y": {"cpu_s_per_gb": 0.2, "records_per_s": 1.0}}
    result.runs.append(Run(KAFKA, "y", 0, {}, {"cpu_s_per_gb": 1.0, "records_per_s": 5.0}))
    assert [(one.case, one.met, one.ours) for one in result.verdicts()] == [
        ("x", True, 0.1),
        ("y", False, None),
        ("y", False, None),
    ]
    result.runs = [run for run in result.runs if run.system == KAFKA]
    assert result.verdicts() == [], "nobody asked for kproto"


def test_limits_are_for_our_own_figure() -> None:
    found = {one.metric: one for one in alone().verdicts()}
    assert found["cores"].met is False
    assert found["rss_mb"].met is True
    assert found["cores"].ratio is None


def test_variants_are_judged_where_there_is_no_plain_kproto() -> None:
    assert {one.system for one in figure().verdicts()} == {"kproto, 1 vlog", "kproto, 4 vlogs"}
    mixed = figure()
    mixed.runs.append(Run(KPROTO, "32 streams", 0, {"streams": 32}, {"records_per_s": 1.0}))
    assert {one.system for one in mixed.verdicts() if one.case == "32 streams"} == {KPROTO}


def test_what_is_saved_is_what_is_read(tmp_path: Path) -> None:
    path = workloads().save(tmp_path)
    assert path.name == "omb-fixed-rate.json"
    assert load(path) == workloads()
    broken = tmp_path / "other.json"
    broken.write_text(json.dumps({"cases": {}}))
    with pytest.raises((KeyError, TypeError)):
        load(broken)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("publish_p999_ms", "publish p99.9 ms"),
        ("publish_p9999_ms", "publish p99.99 ms"),
        ("e2e_p50_ms", "e2e p50 ms"),
        ("cpu_s_per_gb", "CPU s/GB"),
        ("brought_mb_per_s", "brought MB/s"),
    ],
)
def test_headings(metric: str, text: str) -> None:
    assert heading(metric) == text


def test_figures_as_text() -> None:
    assert [shown(value) for value in (None, 0.0, 0.01234, 4.567, 1234.5)] == [
        "-",
        "0",
        "0.0123",
        "4.57",
        "1,234",
    ]
    assert [factor(value) for value in (None, 0.0123, 0.5, 1.456, 250.0)] == [
        "-",
        "0.012",
        "0.50",
        "1.46",
        "250",
    ]


def test_the_terminal_shows_every_case_and_system() -> None:
    result = workloads()
    table = terminal(result)
    assert table.row_count == 3 * len(result.cases())
    assert len(table.columns) == 2 + len(columns(result))


def test_a_disk_that_is_full_leaves_what_was_written_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = workloads()
    path = result.save(tmp_path)
    before = path.read_text()

    def full(self: Path, text: str) -> int:
        with self.open("w") as file:
            file.write(text[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    result.notes.append("one more")
    with pytest.raises(OSError, match="No space left"):
        result.save(tmp_path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]
