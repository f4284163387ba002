"""bench/analysis on a real Spark: its percentiles are numpy's, by way of Parquet and of a topic."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import pytest
from click.testing import CliRunner

from bench.analysis.command import command
from bench.analysis.figures import by_run, differences, over_all
from bench.analysis.job import PERCENTILES, Tables, compute, from_parquet, from_topic, parts
from bench.analysis.land import create_topic, to_parquet, to_topic
from bench.analysis.raw import Origin, Source, describe, find, read
from bench.results import load
from bench.workers import RAW_FIELDS
from compat_tests.support.topics import unique

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import SparkSession

BEGIN_US = 1_790_000_000_000_000
SECONDS = 6
EVENTS = 15_000
WINDOW_S = 1.0


def sample(seed: int, begin_us: int, events: int = EVENTS) -> NDArray[numpy.void]:
    """Published and received events of six seconds, with the long tail that latencies have."""
    random = numpy.random.default_rng(seed)
    rows = numpy.zeros(events, dtype=numpy.dtype(RAW_FIELDS))
    rows["intended_us"] = begin_us + numpy.sort(random.integers(0, SECONDS * 1_000_000, events))
    rows["latency_us"] = (random.lognormal(6.5, 1.2, events) + 50).astype("i4")
    rows["kind"] = random.integers(0, 2, events)
    rows["delay_us"] = numpy.where(rows["kind"] == 0, random.integers(0, 400, events), 0)
    rows["bytes"] = random.choice([10, 100, 1_000], events)
    rows["client"] = random.integers(0, 8, events)
    return rows


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Source]:
    """Two systems, two pairs, two machines whose clocks are an hour apart: 120,000 events in eight files."""
    directory = tmp_path_factory.mktemp("raw")
    seed = 0
    for system in ("kproto", "kafka"):
        for pair in (1, 2):
            for host, begin in (("one", BEGIN_US), ("two", BEGIN_US + 3_600_000_000)):
                seed += 1
                path = directory / host / f"{system}-{pair}.events"
                path.parent.mkdir(exist_ok=True)
                sample(seed, begin).tofile(path)
                origin = Origin(
                    suite="pravega",
                    run="r1",
                    system=system,
                    case="burst",
                    pair=pair,
                    begin_us=begin,
                    from_us=begin + 2_000_000,
                    until_us=begin + 5_000_000,
                    host=host,
                )
                describe(path, origin)
    return find([directory])


@pytest.fixture(scope="module")
def from_files(
    session: SparkSession, sources: list[Source], tmp_path_factory: pytest.TempPathFactory
) -> Tables:
    directory = tmp_path_factory.mktemp("parquet") / "events"
    assert to_parquet(sources, directory) == 8 * EVENTS
    return compute(from_parquet(session, directory), WINDOW_S)


def measured(sources: list[Source], kind: int, **of: object) -> NDArray[numpy.void]:
    """The events of the measured part of the sources with these origins, by numpy alone."""
    chosen = []
    for source in sources:
        if all(getattr(source.origin, name) == value for name, value in of.items()):
            rows = read(source.path)
            due = rows["intended_us"]
            inside = (due >= source.origin.from_us) & (due < source.origin.until_us) & (rows["kind"] == kind)
            chosen.append(rows[inside])
    return numpy.concatenate(chosen)


def assert_percentiles(row: dict[str, object], values: NDArray[Any]) -> None:
    assert row["events"] == len(values)
    assert row["mean"] == pytest.approx(float(values.mean()), rel=1e-12)
    ranked = numpy.sort(values)
    for text in PERCENTILES:
        rank = -(-len(values) * parts(text) // 100_000)
        assert row[text] == ranked[rank - 1], text
    for text in ("50", "95", "99"):  # where numpy's own arithmetic has no rounding to do
        assert row[text] == numpy.percentile(values, float(text), method="inverted_cdf")


def said(rows: NDArray[numpy.void], quantity: str) -> NDArray[Any]:
    """What events say, in the words of `job._observed`."""
    if quantity == "publish":
        rows = rows.copy()
        rows["latency_us"] -= rows["delay_us"]
    return rows["delay_us" if quantity == "delay" else "latency_us"]


@pytest.mark.parametrize(("quantity", "kind"), [("publish", 0), ("intended", 0), ("delay", 0), ("e2e", 1)])
def test_percentiles_are_those_of_numpy(
    from_files: Tables, sources: list[Source], quantity: str, kind: int
) -> None:
    rows = [row for row in from_files.runs if row["quantity"] == quantity]
    assert len(rows) == 4
    for row in rows:
        of = {"system": row["system"], "pair": row["pair"]}
        assert_percentiles(row, said(measured(sources, kind, **of), quantity))
    rows = [row for row in from_files.groups if row["quantity"] == quantity]
    assert len(rows) == 2
    for row in rows:
        assert_percentiles(row, said(measured(sources, kind, system=row["system"]), quantity))


def test_series_have_the_warm_up_and_every_event(from_files: Tables, sources: list[Source]) -> None:
    runs = by_run(from_files, WINDOW_S)
    assert [(run.system, run.pair) for run in runs] == [
        ("kproto", 1),
        ("kafka", 1),
        ("kproto", 2),
        ("kafka", 2),
    ]
    first = runs[0]
    rates = first.series["published_per_s"]
    assert [at for at, _ in rates][:SECONDS] == [1, 2, 3, 4, 5, 6]
    mine = [s for s in sources if (s.origin.system, s.origin.pair) == ("kproto", 1)]
    published = sum(int((read(source.path)["kind"] == 0).sum()) for source in mine)
    assert sum(value for _, value in rates) * WINDOW_S == published
    second = numpy.concatenate(
        [
            rows["latency_us"][
                (rows["kind"] == 0) & ((rows["intended_us"] - source.origin.begin_us) // 1_000_000 == 3)
            ]
            for source in mine
            for rows in [read(source.path)]
        ]
    )
    at = {begin: value for begin, value in first.series["intended_p99_ms"]}  # noqa: C416
    assert at[4.0] == numpy.sort(second)[math.ceil(len(second) * 99 / 100) - 1] / 1e3


def test_the_topic_gives_the_same_figures(
    session: SparkSession, bootstrap: str, sources: list[Source], from_files: Tables
) -> None:
    topic = unique("bench")
    assert create_topic(bootstrap, topic)
    assert not create_topic(bootstrap, topic)
    assert to_topic(sources[:3], bootstrap, topic) == 3 * EVENTS
    assert to_topic(sources[3:], bootstrap, topic, events_per_record=7) == 5 * EVENTS
    found = compute(from_topic(session, bootstrap, topic), WINDOW_S)
    assert found == from_files
    assert differences(over_all(found), over_all(from_files)) == []


def test_without_events_there_are_no_figures(
    session: SparkSession, bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(session), "stop", lambda self: None)
    topic, raw = unique("bench"), tmp_path / "raw"
    assert create_topic(bootstrap, topic)
    raw.mkdir()
    sample(99, BEGIN_US, 0).tofile(raw / "w0.events")
    describe(raw / "w0.events", Origin("omb", "r", "kproto", "1 topic", 1, BEGIN_US, BEGIN_US, BEGIN_US))
    for where in (["--topic", topic, "--bootstrap", bootstrap], [str(raw)]):
        done = CliRunner().invoke(command, [*where, "--output", str(tmp_path / "out")])
        assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, "Error: there are no events")


def test_the_command_writes_both_results(
    session: SparkSession, bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs in the session of these tests: one JVM serves the process."""
    monkeypatch.setattr(type(session), "stop", lambda self: None)
    path = tmp_path / "raw" / "w0.events"
    path.parent.mkdir()
    rows = sample(99, BEGIN_US, 2_000)
    rows.tofile(path)
    begin, until = BEGIN_US + 1_000_000, BEGIN_US + 5_000_000
    describe(path, Origin("omb", "r", "kproto", "1 topic", 1, BEGIN_US, begin, until))
    arguments = [str(path.parent), "--topic", unique("bench"), "--bootstrap", bootstrap]
    arguments += ["--output", str(tmp_path / "out"), "--name", "one"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    whole, single = (load(tmp_path / "out" / f"analysis-one{suffix}.json") for suffix in ("", "-runs"))
    inside = rows[(rows["intended_us"] >= begin) & (rows["intended_us"] < until) & (rows["kind"] == 0)]
    wanted = numpy.sort(inside["latency_us"])[math.ceil(len(inside) * 0.99) - 1] / 1e3
    assert whole.runs[0].metrics["intended_p99_ms"] == single.runs[0].metrics["intended_p99_ms"] == wanted
    assert whole.runs[0].quantiles["intended_ms"]["99"] == wanted
    assert "series" in json.loads((tmp_path / "out" / "analysis-one-runs.json").read_text())["runs"][0]
    assert single.runs[0].series["intended_p50_ms"]
