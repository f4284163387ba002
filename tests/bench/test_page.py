"""The report's page: what is lost comes first, the figures are those of the files, and nothing is fetched."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.page import story
from bench.page.command import REASONS as REASONS_FILE
from bench.page.command import command
from bench.page.drawing import inline
from bench.page.gathered import STATUS, Gathered, environment, gather
from bench.page.html import page
from bench.page.markdown import markdown
from bench.page.panels import MAX_POINTS, groups, thinned, warmup_s
from bench.results import KAFKA, KPROTO, Result, Run
from tests.bench.made_up import alone, figure, workloads

REASONS = """
[[reason]]
case = "omb-*/bursts"
metric = "publish_p99_ms"
why = "Fetches are served before acks & that takes long."
"""
VOID = {"meta", "br", "img", "hr", "input", "link"}


class Elements(HTMLParser):
    """Counts elements, collects attributes and text, and complains about what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.count: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of three suites, one that failed, and files that are something else."""
    where = tmp_path_factory.mktemp("results")
    for result in (workloads(), figure(), alone()):
        result.save(where)
    (where / "omb-raw.json").write_text(json.dumps({"workload": "x", "publishRate": [1.0]}))
    (where / "list.json").write_text("[]")
    failed = {
        "command": "kproto bench pravega --quick",
        "seconds": 2.0,
        "failed": "the worker <did> not start",
    }
    (where / STATUS).write_text(json.dumps([failed, {"command": "kproto bench idle", "seconds": 9.0}]))
    return where


@pytest.fixture(scope="module")
def made(directory: Path) -> Path:
    """The page and its Markdown, written by the command."""
    (directory / "reasons.toml").write_text(REASONS)
    run = CliRunner().invoke(
        command,
        [
            str(directory),
            f"--html={directory / 'page' / 'r.html'}",
            f"--markdown={directory / 'docs' / 'b.md'}",
            f"--plots={directory / 'docs' / 'b'}",
            f"--reasons={directory / 'reasons.toml'}",
        ],
        catch_exceptions=False,
    )
    assert run.exit_code == 0, run.output
    assert "lost to Apache Kafka: 1 cases; targets missed: 2" in run.output
    return directory


@pytest.fixture(scope="module")
def html(made: Path) -> str:
    return (made / "page" / "r.html").read_text()


def first_paragraph(html: str) -> str:
    found = re.search(r"<p[^>]*>(.*?)</p>", html, re.DOTALL)
    assert found is not None
    return re.sub(r"<[^>]+>", "", found[1])


def test_the_first_paragraph_names_what_is_lost_missed_and_failed(html: str) -> None:
    text = first_paragraph(html)
    assert text.startswith("kproto loses to Apache Kafka in 1 of 12 cases compared, every pair agreeing:\n")
    assert (
        "– omb-fixed-rate bursts (publish p99 ms 2.12×): Fetches are served before acks &amp; that takes"
        in text
    )
    assert "It misses 2 of 5 targets:\n" in text
    assert "In the median of all cases compared: " in text
    assert "cores in 1 of 1 (idle-idle 5,000 partitions cores 0.07, ≤ 0.05)" in text
    assert "Not measured, because it failed: kproto bench pravega --quick" in text
    assert "steady" not in text
    assert "kera" not in text


def test_the_page_is_well_formed_and_needs_nothing_else(html: str) -> None:
    found = Elements(html)
    assert found.open == []
    assert found.count.get("script", 0) == found.count.get("link", 0) == found.count.get("img", 0) == 0
    assert found.count["svg"] >= 8
    for tag, name, value in found.attributes:
        if name in {"href", "src", "xlink:href", "data", "srcset", "action"}:
            assert value.startswith("#"), (tag, name, value)
        assert "url(http" not in value
    assert "@import" not in html
    assert not re.search(r"url\((?!['\"]?#)", html)
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_links_lead_somewhere(html: str) -> None:
    attributes = Elements(html).attributes
    ids = {value for _, name, value in attributes if name == "id"}
    targets = {value[1:] for tag, name, value in attributes if (tag, name) == ("a", "href")}
    assert targets
    assert targets <= ids


def test_text_of_results_is_text(html: str) -> None:
    words = " ".join(Elements(html).words)
    assert "Fixed rates & <markup>" in words
    assert "the worker <did> not start" in words
    assert "Fetches are served before acks & that takes long." in words
    for result in (workloads(), figure(), alone()):
        assert result.command in words


def test_names_of_suites_are_text_in_links_too() -> None:
    result = workloads()
    result.suite = 'om"b<'
    text = page(Gathered([result]), [])
    assert ("h2", "id", 'om"b<') in Elements(text).attributes
    assert ("a", "href", '#om"b<') in Elements(text).attributes


def test_plots_have_the_colour_of_the_text(html: str) -> None:
    assert "currentColor" in html
    assert "#010203" not in html


def test_markdown_says_the_same_and_its_plots_are_small(made: Path) -> None:
    text = (made / "docs" / "b.md").read_text()
    opening = text.split("\n\n")[1]
    assert all(line.endswith("  ") for line in opening.splitlines()[:-1])
    assert "omb-fixed-rate bursts (publish p99 ms 2.12×): Fetches are served before acks" in opening
    assert "[[" not in opening
    assert "| omb-fixed-rate bursts | publish p99 ms | 8.5 | 4 | 2.12 | ratio ≤ 1.00 | Fetches" in text
    plots = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert plots
    for path in plots:
        assert not path.startswith("/")
        assert (made / "docs" / path).stat().st_size < 200_000


def test_a_case_that_kproto_failed_has_its_line() -> None:
    result = Result("omb", "one", "t", "c", {}, shown=["records_per_s"])
    result.runs = [Run(system, "both", 1, {}, {"records_per_s": 2.0}) for system in (KPROTO, KAFKA)]
    result.runs.append(Run(KAFKA, "alone", 1, {}, {"records_per_s": 3.0}))
    text = markdown(Gathered([result]), [], {})
    assert "| both | 2 / 2 (1.00) |\n| alone | - / 3 |\n" in text


def test_nothing_lost_is_said_too() -> None:
    sentences = story.opening(story.findings([figure()], []), [])
    assert sentences == [
        "**kproto loses to Apache Kafka in none of 10 cases compared**.",
        "In the median of all cases compared: records/s 3.11× (10), CPU s/M records 0.32× (10).",
    ]


def test_the_worst_comes_first_and_unclear_losses_are_apart() -> None:
    result = workloads()
    for run in result.runs:
        if run.system == KPROTO and run.case == "steady":
            run.metrics["publish_p99_ms"] = 40.0 if run.pair else 3.0
    found = story.findings([result], [])
    assert [one.verdict.case for one in story.lost(found)] == ["bursts"]
    assert [one.verdict.case for one in story.unclear(found)] == ["steady"]
    assert [one.verdict.severity for one in found] == sorted(
        (one.verdict.severity for one in found), reverse=True
    )
    assert "though the pairs disagree:\n– [[omb-fixed-rate steady]]" in " ".join(story.opening(found, []))


def test_one_reason_for_several_cases_is_said_once() -> None:
    result = workloads()
    for run in result.runs:
        if run.system == KPROTO:
            run.metrics |= {
                "publish_p99_ms": 40.0,
                "cpu_s_per_million": 90.0 if run.case == "bursts" else 1.0,
            }
    reasons = [story.Reason("omb-*", "publish_p99_ms", "Acks wait."), story.Reason("*", "disk_mb", "Never.")]
    text = story.opening(story.findings([result], reasons), [])[0]
    assert text.count("Acks wait") == 1
    steady = "[[omb-fixed-rate steady]] (publish p99 ms 10.00×)"
    bursts = "[[omb-fixed-rate bursts]] (publish p99 ms 10.00×)"
    assert text.endswith(f"{steady}, {bursts}: Acks wait.")


def test_of_many_losses_without_a_reason_the_worst_are_named() -> None:
    result = workloads()
    steady = [run for run in result.runs if run.case == "steady"]
    for number in range(5):
        for run in steady:
            ours = {"publish_p99_ms": 20.0 + number} if run.system == KPROTO else {}
            result.runs.append(replace(run, case=f"case {number}", metrics=run.metrics | ours))
    reasons = [story.Reason("*/bursts", "*", "Acks wait.")]
    text = story.opening(story.findings([result], reasons), [])[0]
    assert "(publish p99 ms 2.12×): Acks wait\n– not explained: [[omb-fixed-rate case 4]] (" in text
    assert text.count("[[omb-fixed-rate case ") == 2
    assert text.endswith("[[omb-fixed-rate case 3]] (publish p99 ms 5.75×) and 3 more.")


def test_the_reason_of_another_figure_does_not_explain_the_worst() -> None:
    result = workloads()
    for run in result.runs:
        if run.system == KPROTO and run.case == "bursts":
            run.metrics |= {"publish_p99_ms": 40.0, "cpu_s_per_million": 90.0}
    reasons = [story.Reason("*", "cpu_s_per_million", "The interpreter costs more.")]
    text = story.opening(story.findings([result], reasons), [])[0]
    assert text.endswith(f"{story.POINT}[[omb-fixed-rate bursts]] (publish p99 ms 10.00×).")


def test_a_case_counts_for_the_first_reason_of_its_worst_figure_and_most_cases_come_first() -> None:
    result = workloads()
    for run in result.runs:
        if run.system == KPROTO:
            run.metrics["publish_p99_ms"] = 40.0 if run.case == "bursts" else 20.0
    result.runs += [replace(run, case="third") for run in result.runs if run.case == "steady"]
    reasons = [story.Reason("*", "*", "Acks wait."), story.Reason("*/bursts", "*", "Rarely.")]
    reasons.insert(0, story.Reason("*/bursts", "*", "Bursts fill queues."))
    text = story.opening(story.findings([result], reasons), [])[0]
    assert text.count("Bursts fill queues") == text.count("Acks wait") == 1
    assert "Rarely" not in text
    assert text.index("Acks wait") < text.index("[[omb-fixed-rate bursts]]")


def test_missed_targets_are_told_by_figure_with_the_worst() -> None:
    result = workloads()
    for run in result.runs:
        if run.system == KPROTO:
            run.metrics["publish_p99_ms"] = 40.0 if run.case == "bursts" else 20.0
    result.targets = {case: {"publish_p99_ms": 0.5} for case in ("steady", "bursts")}
    text = " ".join(story.opening(story.findings([result], []), []))
    assert "**It misses 2 of 2 targets**:\n– publish p99 ms in 2 of 2 (worst: [[omb-fixed-rate " in text
    assert text.count("publish p99 ms in") == 1


def test_one_pair_is_called_what_it_is() -> None:
    result = workloads()
    result.runs = [run for run in result.runs if run.pair == 0]
    assert "in the only pair of short runs" in story.opening(story.findings([result], []), [])[0]
    assert "every pair agreeing" in story.opening(story.findings([workloads()], []), [])[0]
    other = workloads()
    other.name = "other"
    both = story.opening(story.findings([other, result], []), [])[0]
    assert "of them in the only pair of short runs" in both
    assert "in the others every pair agreeing" in both


def test_reasons_are_found_by_case_and_metric() -> None:
    reasons = story.read_reasons(REASONS)
    found = story.findings([workloads()], reasons)
    assert {(one.verdict.case, one.verdict.metric) for one in found if one.why} == {
        ("bursts", "publish_p99_ms")
    }
    with pytest.raises(KeyError):
        story.read_reasons('[[reason]]\ncase = "x"')


@pytest.mark.parametrize(
    ("taken", "from_kafka", "said"),
    [(0.0, 0.0, set()), (0.9, 0.0, {"p999"}), (1.1, 0.9, {"p99", "p999"}), (1.1, 1.2, set())],
)
def test_what_the_host_took_is_a_reason_for_percentiles_that_leave_out_less(
    taken: float, from_kafka: float, said: set[str]
) -> None:
    """Unless it took as much from Apache Kafka's runs."""
    result = workloads()
    for run in result.runs:
        run.metrics["publish_p50_ms"], run.metrics["publish_p999_ms"] = 0.5, 9.0
        run.metrics["stolen_percent"] = taken if run.system == KPROTO else from_kafka
    found = [one for one in story.findings([result], []) if story.WITHHELD in one.why]
    assert {one.verdict.metric for one in found} == {f"publish_{level}_ms" for level in said}


def test_the_reasons_that_are_shipped_can_be_read() -> None:
    assert all(reason.why for reason in story.read_reasons(REASONS_FILE.read_text()))


@pytest.mark.parametrize("text", ["why", "reason = 1", "[[reason]]\ncase = 'x'", "reason = ['x']"])
def test_reasons_of_another_form_are_said_in_one_line(tmp_path: Path, text: str) -> None:
    workloads().save(tmp_path)
    (tmp_path / "why.toml").write_text(text)
    done = CliRunner().invoke(command, [str(tmp_path), "--reasons", str(tmp_path / "why.toml")])
    assert done.exit_code == 2
    assert "holds no reasons" in done.output


def test_environments_of_several_results_are_one() -> None:
    other = figure()
    other.environment |= {"load_1m": 2.0, "cpu": "another"}
    assert environment([workloads(), other]) == {
        "cores": "2",
        "cpu": "a CPU; another",
        "python": "CPython 3.11",
        "java": "17",
        "load_1m": "0.5 to 2",
    }


def test_only_results_are_gathered(directory: Path) -> None:
    found = gather(directory)
    assert [each.suite for each in found.results] == ["idle", "kera", "omb"]
    assert [bool(one.failed) for one in found.outcomes] == [True, False]


def test_what_is_drawn_of_what() -> None:
    assert [group.title for group in groups(workloads())] == ["Ratios", "Latency percentiles", "Over time"]
    assert [group.title for group in groups(figure())] == ["Over streams"]
    assert groups(alone()) == []
    assert [panel.title for panel in groups(workloads())[0].panels] == ["steady", "bursts"]


def test_nothing_beside_something_can_be_drawn() -> None:
    result = workloads()
    for run in result.runs:
        if run.system == KPROTO:
            run.metrics["cpu_s_per_million"] = 0.0
    (panel, _) = groups(result)[0].panels
    assert inline(panel).startswith("<svg")


def test_names_in_plots_are_no_formulas() -> None:
    result = workloads()
    for run in result.runs:
        run.case = f"{run.case} $\\frac{{1}}{{$"
    (panel, _) = groups(result)[0].panels
    assert "$\\frac{1}{$" in inline(panel)


def test_latencies_of_nothing_are_not_drawn() -> None:
    result = workloads()
    for run in result.runs:
        run.quantiles = {name: {} for name in run.quantiles}
    assert [group.title for group in groups(result)] == ["Ratios", "Over time"]


def test_warmup_is_known_in_seconds_and_minutes() -> None:
    assert warmup_s(Run(KPROTO, "x", 0, {"warmup_seconds": 10}, {})) == 10
    assert warmup_s(Run(KPROTO, "x", 0, {"warmupDurationMinutes": 0.5}, {})) == 30
    assert warmup_s(Run(KPROTO, "x", 0, {}, {})) == 0


def test_a_spike_survives_thinning() -> None:
    points = [[float(second), 1.0] for second in range(5_000)]
    points[3_333][1] = 77.0
    found = thinned(points)
    assert len(found) == MAX_POINTS
    assert max(value for _, value in found) == 77.0
    assert thinned(points[:10]) == points[:10]


def test_no_results_are_an_error_in_one_line(tmp_path: Path) -> None:
    run = CliRunner().invoke(command, [str(tmp_path)])
    assert run.exit_code == 1
    assert "no results in" in run.output


def test_runs_that_failed_are_told_whether_or_not_others_of_the_suite_did_not(tmp_path: Path) -> None:
    partly = workloads()
    partly.notes += ["bursts on kproto failed: the broker is gone", "all else is well"]
    partly.save(tmp_path)
    Result("cluster", "java", "t", "kproto bench cluster", {}, notes=["8 on kafka failed: none"]).save(
        tmp_path
    )
    found = gather(tmp_path)
    assert found.failed == ["kproto bench cluster", f"1 run of {partly.suite}-{partly.name}"]
    text = first_paragraph(page(found, []))
    assert "failed: kproto bench cluster, 1 run of omb" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("omb-cut.json", '{"suite": "omb", "runs": [{"sys'),
        ("omb-empty.json", ""),
        ("omb-other.json", '{"suite": "omb", "runs": [{"foo": 1}]}'),
        ("omb-few.json", '{"suite": "omb", "runs": []}'),
        ("all-suites.json", '{"a": 1}'),
    ],
)
def test_a_damaged_file_is_named_and_the_others_are_shown(tmp_path: Path, name: str, text: str) -> None:
    workloads().save(tmp_path)
    (tmp_path / name).write_text(text)
    found = gather(tmp_path)
    assert [each.name for each in found.results] == ["fixed-rate"]
    assert found.failed == [name]
    assert f"failed: {name}" in first_paragraph(page(found, []))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((("environment",), []), (("targets", "steady"), None), (("targets", "steady", "x"), "little")),
        *((("notes",), [1]), (("command",), None), (("x",), "streams"), (("runs", 0, "pair"), None)),
        *((("runs", 0, "system"), 1.5), (("runs", 0, "case"), {}), (("runs", 0, "series", "s"), [[1]])),
        *((("runs", 0, "quantiles"), None), (("runs", 0, "quantiles", "q_ms"), {"50": []})),
    ],
)
def test_a_file_of_another_form_is_named_and_ends_no_report(
    tmp_path: Path, place: tuple[str | int, ...], value: Any
) -> None:
    """Each was a traceback, some of them in a plot: no page at all for one file of forty."""
    workloads().save(tmp_path)
    content = json.loads((tmp_path / "omb-fixed-rate.json").read_text())
    inside = content
    for name in place[:-1]:
        inside = inside[name]
    inside[place[-1]] = value
    (tmp_path / "omb-other.json").write_text(json.dumps(content))
    found = gather(tmp_path)
    assert found.failed == ["omb-other.json"]


@pytest.mark.parametrize("value", ["fast", None, math.nan, True])
def test_figures_that_are_no_numbers_are_named(tmp_path: Path, value: Any) -> None:
    result = workloads()
    result.runs[0].metrics["records_per_s"] = value
    result.save(tmp_path)
    (found,) = gather(tmp_path).outcomes
    assert found.failed == f"cannot be read: records_per_s of steady on kafka is {value!r}"
