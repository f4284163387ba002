"""The published figures: docs/benchmarks.md is what the report makes of the results beside it."""

from __future__ import annotations

from pathlib import Path

from bench import cluster
from bench.kera import runner as kera
from bench.omb import compare as omb
from bench.page import story
from bench.page.command import REASONS, drawn_of, relative
from bench.page.gathered import gather
from bench.page.markdown import markdown
from bench.tables import columns

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLOTS = DOCS / "benchmarks"


def test_how_long_acks_take_is_shown_wherever_brokers_are_compared_under_load() -> None:
    """What a table does not show is not counted among what is lost."""
    waiting = {"publish_p50_ms", "publish_p99_ms"}
    assert all(waiting <= set(shown) for shown in (*omb.SHOWN.values(), kera.SHOWN, cluster.SHOWN))
    for result in gather(PLOTS / "results").results:
        assert result.suite not in ("omb", "kera", "cluster") or waiting <= set(columns(result)), result.name


def test_the_published_page_shows_the_published_results() -> None:
    gathered = gather(PLOTS / "results")
    found = story.findings(gathered.results, story.read_reasons(REASONS.read_text()))
    plots = {story.anchor(result): list(drawn_of(result, PLOTS)) for result in gathered.results}
    assert (DOCS / "benchmarks.md").read_text() == markdown(gathered, found, relative(plots, DOCS))
    assert sorted(PLOTS.glob("*.svg")) == sorted(path for some in plots.values() for path in some)
