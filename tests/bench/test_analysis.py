"""bench/analysis without Spark: files found, events landed as columns, figures out of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from bench.analysis.command import command
from bench.analysis.figures import by_run, differences, metric_part, over_all, results
from bench.analysis.job import PERCENTILES, WINDOW_PERCENTILES, Tables, parts
from bench.analysis.land import SCHEMA, header_of, origin_of, to_parquet, wrongly_landed
from bench.analysis.raw import EVENT_BYTES, Origin, describe, find, read
from bench.results import load
from bench.workers import RAW_FIELDS

ORIGIN = Origin("pravega", "r1", "kproto", "burst", 1, 1_000, 2_000, 9_000, host="one")


def write(path: Path, origin: Origin, events: int = 3) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = numpy.zeros(events, dtype=numpy.dtype(RAW_FIELDS))
    rows["intended_us"] = 5_000_000_000_000 + numpy.arange(events)
    rows["latency_us"] = 700 + numpy.arange(events)
    rows["client"] = 4
    rows.tofile(path)
    describe(path, origin)


def test_an_event_is_24_bytes() -> None:
    assert numpy.dtype(RAW_FIELDS).itemsize == EVENT_BYTES


def test_found_once_each_by_name_below_all_directories(tmp_path: Path) -> None:
    write(tmp_path / "b" / "x.events", ORIGIN, events=5)
    write(tmp_path / "a" / "deep" / "x.events", replace(ORIGIN, host="two"))
    sources = find([tmp_path, tmp_path / "b"])
    assert [(s.origin.host, s.events) for s in sources] == [("two", 3), ("one", 5)]
    assert sources[1].origin == ORIGIN
    assert list(read(sources[0].path)["latency_us"]) == [700, 701, 702]


def test_an_empty_file_has_no_events(tmp_path: Path) -> None:
    write(tmp_path / "x.events", ORIGIN, events=0)
    assert find([tmp_path])[0].events == 0
    assert len(read(tmp_path / "x.events")) == 0


def without_description(path: Path) -> None:
    path.with_suffix(".json").unlink()


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def copied(path: Path) -> None:
    for suffix in (".events", ".json"):
        path.with_name(f"copy{suffix}").write_bytes(path.with_suffix(suffix).read_bytes())


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (without_description, r"x\.json beside it"),
        (cut_short, "no whole events"),
        (copied, "the same origin"),
    ],
)
def test_what_would_give_wrong_figures_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], complaint: str
) -> None:
    write(tmp_path / "x.events", ORIGIN)
    spoil(tmp_path / "x.events")
    with pytest.raises(ValueError, match=complaint):
        find([tmp_path])


@pytest.mark.parametrize("text", ["{", '{"suite": "pravega"}', '{"casex": 1}', "[]"])
def test_a_damaged_description_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path / "x.events", ORIGIN)
    (tmp_path / "x.json").write_text(text)
    done = CliRunner().invoke(command, [str(tmp_path)])
    assert done.exit_code == 2
    assert "x.json: " in done.output


def test_parquet_has_every_row_with_its_origin(tmp_path: Path) -> None:
    write(tmp_path / "raw" / "x.events", ORIGIN, events=4)
    write(tmp_path / "raw" / "y.events", replace(ORIGIN, worker=1, system="kafka"), events=0)
    assert to_parquet(find([tmp_path / "raw"]), tmp_path / "out") == 4
    table = pyarrow.parquet.read_table(tmp_path / "out")
    assert table.num_rows == 4
    assert [part.split("`")[1] for part in SCHEMA.split(", ")] == table.column_names
    row = table.to_pylist()[1]
    assert (row["host"], row["system"], row["until_us"], row["client"]) == ("one", "kproto", 9_000, 4)
    assert (row["intended_us"], row["latency_us"]) == (5_000_000_000_001, 701)
    with pytest.raises(FileExistsError):
        to_parquet([], tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "part", "name"),
    [("50", 50_000, "p50"), ("99.9", 99_900, "p999"), ("99.999", 99_999, "p99999"), ("100", 100_000, "max")],
)
def test_percentiles_as_parts_and_as_names(text: str, part: int, name: str) -> None:
    assert parts(text) == part
    assert metric_part(text) == name


def key(run: str, system: str, pair: int) -> dict[str, Any]:
    return {"suite": "pravega", "system": system, "case": "burst", "run": run, "pair": pair}


def quantiles(us: int, names: tuple[str, ...] = PERCENTILES) -> dict[str, Any]:
    return dict.fromkeys(names, us)


def tables(us: int = 2_000) -> Tables:
    """Two calls of one pair each; the first with two machines, which put 1,000 events/s each on kproto."""
    origins = []
    for run, system, hosts in (
        ("r1", "kproto", ("one", "two")),
        ("r1", "kafka", ("one",)),
        ("r2", "kproto", ("one",)),
    ):
        for host in hosts:
            origins.append(
                {
                    **key(run, system, 1),
                    **{"host": host, "worker": 0, "kind": 0, "begin_us": 0},
                    **{"from_us": 0, "until_us": 2_000_000, "events": 2_500},
                    **{"measured_events": 2_000, "measured_bytes": 4_000_000},
                }
            )
    group = {"suite": "pravega", "system": "kproto", "case": "burst"}
    return Tables(
        runs=[
            {**key("r1", "kproto", 1), "quantity": "publish", "events": 4_000, "mean": 1.5, **quantiles(us)}
        ],
        groups=[{**group, "quantity": "publish", "events": 6_000, "mean": 1.5, **quantiles(3_000)}],
        windows=[
            {
                **key("r1", "kproto", 1),
                "quantity": "e2e",
                "window": n,
                **quantiles(n * 1_000, WINDOW_PERCENTILES),
            }
            for n in (1, 0)
        ],
        completed=[{**key("r1", "kproto", 1), "kind": 1, "window": 3, "events": 50, "bytes": 5_000_000}],
        origins=origins,
    )


def test_machines_of_a_run_add_up_and_its_pairs_are_numbered_over_all_calls() -> None:
    runs = by_run(tables(), window_s=0.5)
    assert [(run.system, run.pair, run.parameters["run"]) for run in runs] == [
        ("kproto", 1, "r1"),
        ("kafka", 1, "r1"),
        ("kproto", 2, "r2"),
    ]
    first = runs[0]
    assert first.parameters["machines"] == 2
    assert first.parameters["events"] == 5_000
    assert first.metrics["published_per_s"] == 2_000
    assert first.metrics["published_mb_per_s"] == 4
    assert first.metrics["publish_p999_ms"] == 2.0
    assert first.quantiles["publish_ms"]["99.99"] == 2.0
    assert first.series["e2e_p99_ms"] == [[0.5, 0.0], [1.0, 1.0]]
    assert first.series["received_per_s"] == [[2.0, 100.0]]
    assert first.series["received_mb_per_s"] == [[2.0, 10.0]]


def test_over_all_runs_events_count_together_and_rates_are_means() -> None:
    whole = over_all(tables())
    assert [(run.system, run.parameters["runs"]) for run in whole] == [("kproto", 2), ("kafka", 1)]
    assert whole[0].metrics["published_per_s"] == 1_500
    assert whole[0].metrics["publish_max_ms"] == 3.0


def test_differences_name_the_run_and_what_is_other() -> None:
    assert differences(by_run(tables(), 1), by_run(tables(), 1)) == []
    assert differences(by_run(tables(), 1), by_run(tables(us=2_001), 1)) == [
        "kproto/burst/1: other metrics, quantiles"
    ]
    assert differences(by_run(tables(), 1), by_run(tables(), 1)[1:]) == [
        "kproto/burst/1: only in one of them"
    ]


def test_both_results_are_read_back_as_written(tmp_path: Path) -> None:
    for result in results(tables(), "all", "kproto bench analyze x", {"cores": 2}, 1.0):
        again = load(result.save(tmp_path))
        assert again == result
        assert again.cases() == ["burst"]
        assert "10,000 events" in again.notes[0]
        assert "2 machines" in again.notes[0]


@pytest.mark.parametrize("arguments", [[], ["--topic", "t"], ["DIR"], ["FULL", "--land-only"]])
def test_a_command_that_could_not_do_anything_says_so(tmp_path: Path, arguments: list[str]) -> None:
    write(tmp_path / "full" / "x.events", ORIGIN)
    (tmp_path / "empty").mkdir()
    places = {"DIR": str(tmp_path / "empty"), "FULL": str(tmp_path / "full")}
    done = CliRunner().invoke(command, [places.get(each, each) for each in arguments])
    assert done.exit_code == 2
    assert "Error" in done.output


def test_a_topic_that_has_a_source_twice_or_in_part_is_found_out(tmp_path: Path) -> None:
    """--land-only called twice doubled the rates, interrupted it gave lower ones."""
    write(tmp_path / "x.events", ORIGIN)
    (source,) = find([tmp_path])
    header = header_of(source)
    assert origin_of(header) == ORIGIN
    assert wrongly_landed([(header, 3)]) == []
    assert wrongly_landed([(header, 6), (None, 1)]) == [
        "r1, kproto, burst, 1, one, 0: 6 events of 3",
        "records that are no events",
    ]
    assert wrongly_landed([(header, 2)]) == ["r1, kproto, burst, 1, one, 0: 2 events of 3"]


def test_a_broker_that_is_not_there_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.analysis.land.ANSWER_S", 0.2)
    write(tmp_path / "x.events", ORIGIN)
    for given in (["--topic", "t", "--land-only", str(tmp_path)], ["--topic", "t"]):
        done = CliRunner().invoke(command, [*given, "--bootstrap", "127.0.0.1:1"])
        assert done.exit_code == 1
        assert "Error: 127.0.0.1:1 does not answer" in done.output


def test_a_description_is_plain_json(tmp_path: Path) -> None:
    write(tmp_path / "x.events", ORIGIN)
    assert json.loads((tmp_path / "x.json").read_text())["case"] == "burst"
