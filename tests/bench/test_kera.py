"""KerA's figures: their parameters are the paper's, and what a small machine leaves out is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from bench.generator import Load, Measured, figures, rpcs, series
from bench.kera import runner
from bench.kera.drawing import lines
from bench.kera.figures import FIGURES, Figure, Point, Shape
from bench.kera.plan import beside, plan
from bench.kera.runner import Pass, case_name, result_name, system_name
from bench.kera.scale import (
    SCALES,
    buffer_bytes,
    configs_of,
    load_of,
    most_producers,
    notes,
    scaled,
    targets,
)
from bench.results import KAFKA, KPROTO, Result, Run, direction

QUICK = SCALES["quick"]


def points(number: int) -> list[Point]:
    return list(FIGURES[number].points())


def test_all_figures_of_the_evaluation_are_there() -> None:
    assert sorted(FIGURES) == list(range(8, 22))
    for number, figure in FIGURES.items():
        assert figure.number == number
        assert len(set(points(number))) == len(points(number)) > 0


@pytest.mark.parametrize(
    ("number", "streams", "vlogs", "copies", "chunks", "producers", "beside"),
    [
        (8, {128, 256, 512}, {0, 4}, {1, 2, 3}, {1}, {4}, True),
        (9, {128}, {0, 32}, {1, 2, 3}, {16}, {4, 8, 16}, True),
        (10, {128, 256, 512}, {0, 4, 32}, {3}, {1}, {4}, True),
        (11, {1}, {0, 32}, {3}, {4, 8, 16, 32, 64}, {4, 8, 16}, True),
        (12, {128, 256, 512}, {1}, {1, 2, 3}, {1}, {4}, False),
        (13, {128, 256, 512}, {1, 2, 4}, {3}, {1}, {4}, False),
        (16, {512}, {1, 2, 4, 8, 16, 32}, {3}, {1}, {4}, False),
        (20, {1}, {32}, {1, 2, 3}, {4, 8, 16, 32, 64}, {32}, False),
        (21, {1}, {1, 2, 4, 8, 16, 32}, {3}, {32, 64}, {8}, False),
    ],
)
def test_a_figure_varies_what_the_paper_varies(
    number: int,
    streams: set[int],
    vlogs: set[int],
    copies: set[int],
    chunks: set[int],
    producers: set[int],
    beside: bool,
) -> None:
    found = points(number)
    assert {each.shape.streams for each in found} == streams
    assert {each.vlogs for each in found} == vlogs
    assert {each.shape.copies for each in found} == copies
    assert {each.chunk_kb for each in found} == chunks
    assert {each.producers for each in found} == producers
    assert (KAFKA in {each.system for each in found}) is beside
    assert all(each.consumers == (0 if number in (8, 9) else each.producers) for each in found)


def test_both_systems_take_turns_at_each_place_and_streams_are_made_once() -> None:
    for figure in FIGURES.values():
        found = list(figure.points())
        shapes = [shape for shape, _ in groupby(found, lambda each: each.shape)]
        assert len(shapes) == len(set(shapes))
        if figure.beside_kafka:
            each_place = len(figure.vlogs) + 1
            for start in range(0, len(found), each_place):
                place = found[start : start + each_place]
                assert [one.system for one in place] == [KAFKA] + [KPROTO] * len(figure.vlogs)
                assert len({(one.part, case_name(figure, one)) for one in place}) == 1


def test_a_stream_of_sub_partitions_is_more_partitions_in_kproto_only() -> None:
    theirs, ours = points(11)[:2]
    assert (theirs.system, ours.system) == (KAFKA, KPROTO)
    assert (load_of(theirs, QUICK).partitions, load_of(theirs, QUICK).entries) == (32, 1)
    assert (load_of(ours, QUICK).partitions, load_of(ours, QUICK).entries) == (128, 4)
    assert configs_of(theirs) == {}
    assert configs_of(ours) == {"kproto.active.groups": "4"}
    assert configs_of(points(8)[-1]) == {}


def test_a_load_is_the_papers_client() -> None:
    load = load_of(points(16)[0], QUICK)
    assert (load.value_bytes, load.linger_ms, load.in_flight, load.replicas) == (100, 1, 1, 3)
    assert (load.topics, load.partitions, load.batch_bytes) == (512, 1, 1024)
    assert (load.producers, load.consumers) == (4, 4)
    assert load.request_bytes >= 128 * 1024
    both = load_of(points(11)[0], QUICK), load_of(points(11)[1], QUICK)
    assert both[0].buffer_bytes == both[1].buffer_bytes
    assert both[0].request_bytes == both[1].request_bytes
    assert "replicas=3" not in load.arguments()
    assert "in.flight=1" in load.arguments()


@pytest.mark.parametrize(
    ("chunk", "partitions", "expected"),
    [(1024, 128, 1000 * 1024), (1024, 512, 2048 * 1024), (65536, 32, 1000 * 65536), (131072, 128, 64 << 20)],
)
def test_a_cache_holds_the_papers_chunks_and_some_of_each_partition(
    chunk: int, partitions: int, expected: int
) -> None:
    assert buffer_bytes(chunk, partitions) == expected


@pytest.mark.parametrize(
    ("number", "cores", "left"),
    [(9, 2, (4, 8)), (9, 16, (4, 8, 16)), (11, 1, (4,)), (20, 2, (8,)), (20, 8, (32,)), (14, 1, (4,))],
)
def test_only_clients_shrink(number: int, cores: int, left: tuple[int, ...]) -> None:
    figure = FIGURES[number]
    run = scaled(figure, QUICK, cores)
    assert run.producers == left
    kept = {(p.shape, p.vlogs, p.chunk_kb) for p in figure.points()}
    assert {(p.shape, p.vlogs, p.chunk_kb) for p in run.points()} == kept
    said = " ".join(notes(figure, QUICK, cores))
    for dropped in set(figure.producers) - set(left):
        assert str(dropped) in said
    assert ("Not run with" in said) is (figure.producers != left)


def test_the_larger_scale_carries_more_clients() -> None:
    assert most_producers(SCALES["full"], 2) > most_producers(QUICK, 2)
    assert SCALES["full"].seconds > QUICK.seconds


def test_names_are_unique_where_figures_are_drawn() -> None:
    for figure in FIGURES.values():
        keys = [
            (result_name(figure, each), system_name(figure, each), case_name(figure, each))
            for each in figure.points()
        ]
        assert len(set(keys)) == len(keys)
    figure = FIGURES[8]
    theirs, ours = points(8)[-2:]
    assert result_name(figure, ours) == result_name(figure, theirs) == "figure-08-r3"
    assert (system_name(figure, theirs), system_name(figure, ours)) == (KAFKA, "kproto, 4 vlogs")
    assert case_name(figure, ours) == "512 streams"
    assert system_name(FIGURES[21], points(21)[0]) == "kproto, 32 KB"
    assert system_name(FIGURES[12], points(12)[0]) == "kproto, 1 vlog, R1"


def test_targets_hold_for_three_copies_only() -> None:
    def at(copies: int, chunk: int) -> dict[str, float]:
        return targets([Point(Shape(128, 1, 1, copies), 4, chunk, 4, 4, "")])

    assert at(3, 1) == {"cpu_s_per_million": 0.1, "records_per_s": 3.0}
    assert at(3, 16) == {"cpu_s_per_million": 0.2, "records_per_s": 1.0}
    assert at(1, 1) == at(3, 4) == {}


def test_lines_are_medians_over_pairs_in_the_order_of_x() -> None:
    figure: Figure = FIGURES[10]
    result = Result("kera", "figure-10", "", "", {}, x="streams")
    for pair, rate in ((0, 10.0), (1, 30.0)):
        for streams in (512, 128):
            parameters = {"streams": streams, "part": ""}
            result.runs.append(
                Run(KAFKA, f"{streams} streams", pair, parameters, {"records_per_s": rate * streams})
            )
    assert lines(figure, [result], "records_per_s") == {
        "Apache Kafka": [(128.0, 20.0 * 128), (512.0, 20.0 * 512)]
    }
    assert lines(figure, [result], "cpu_s_per_million") == {}


LOAD = {
    "seconds": 10.0,
    "acked_records": 800_000,
    "acked_bytes": 80_000_000,
    "generator_cpu_s": 4.0,
    "batch_bytes": 61 + 8 * 109.0,
    "produce_requests": 1000,
    "fetch_requests": 2000,
    "follower_fetches": 4000,
    "ack_us": None,
    "end_to_end_us": None,
    "per_second": [[1, 5, 4], [2, 6, 7]],
}


def test_rpcs_follow_from_what_the_clients_count() -> None:
    found = rpcs(LOAD, 100, 3)
    assert found["records_per_chunk"] == 8
    assert found["chunks_per_produce"] == 100
    assert found["produce_requests_per_s"] == 100
    assert found["rpcs_per_s"] == 400
    assert found["chunks_per_rpc"] == 50
    assert "rpcs_per_s" not in rpcs(LOAD, 100, 1)
    assert "rpcs_per_s" not in rpcs({**LOAD, "follower_fetches": None}, 100, 3)


def test_cpu_per_chunk_is_told_where_chunks_are_known() -> None:
    measured = Measured(LOAD, broker_cpu_s=6.0, wall_s=10.0, peak_rss_bytes=1)
    assert "cpu_us_per_chunk" not in figures(measured)
    found = figures(replace(measured, more=rpcs(LOAD, 100, 3)))
    assert found["cpu_us_per_chunk"] == pytest.approx(60)
    assert direction("cpu_us_per_chunk") == 0


def test_figures_and_series_of_a_run() -> None:
    measured = Measured(LOAD, broker_cpu_s=8.0, wall_s=10.0, peak_rss_bytes=10**6, ready_s=2.5, more={"x": 1})
    found = figures(measured)
    assert found["cpu_s_per_million"] == 10
    assert (found["topics_ready_s"], found["x"]) == (2.5, 1)
    assert series(measured) == {"records_per_s": [[1, 5], [2, 6]], "consumed_per_s": [[1, 4], [2, 7]]}
    at_a_rate = replace(measured, load={**LOAD, "per_second": [[1, 5, 4, 2500], [2, 6, 7, 900]]})
    assert series(at_a_rate) == {**series(measured), "publish_max_ms": [[1, 2.5], [2, 0.9]]}
    assert Load(100, 1024, 512, producers=4, buffer_bytes=4 << 20).heap_mb == 1024 + 16


def test_what_several_figures_show_is_measured_once() -> None:
    shown = [FIGURES[number] for number in (10, 12, 13, 14, 15, 16)]
    points = plan(shown)
    every = [shared for group in points.values() for shared in group]
    assert len(every) == 27
    assert sum(len(shared.places) for shared in every) == sum(len(list(each.points())) for each in shown)
    for shape, group in points.items():
        assert {shared.point.shape for shared in group} == {shape}
        assert len({shared.point for shared in group}) == len(group)
    theirs = next(shared for shared in every if shared.point.system == KAFKA)
    assert [place.figure.number for place in theirs.places] == [10]
    one = next(s for s in every if s.point.vlogs == 1 and s.point.shape == Shape(128, 1, 1, 3))
    assert [(place.figure.number, place.point.part) for place in one.places] == [
        (12, "R3"),
        (13, ""),
        (14, ""),
    ]


def test_a_figure_that_is_given_twice_has_its_runs_once() -> None:
    assert plan([FIGURES[9], FIGURES[9]]) == plan([FIGURES[9]])


def test_a_place_is_compared_with_its_own_figure_only() -> None:
    group = plan([FIGURES[8], FIGURES[10]])[Shape(128, 1, 1, 3)]
    place = group[0].places[0]
    assert place.figure.number == 8
    assert {(each.system, each.vlogs, each.consumers) for each in beside(group, place)} == {
        (KAFKA, 0, 0),
        (KPROTO, 4, 0),
    }


class _NoTopics:
    """Stands in for topics: there is no broker."""

    def __init__(self) -> None:
        self.deleted = 0

    def delete(self) -> None:
        self.deleted += 1
        raise OSError("the broker is gone")


def test_a_run_is_in_all_its_figures_and_one_that_fails_stops_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[_NoTopics] = []

    def no_create(*_: Any) -> tuple[_NoTopics, float]:
        made.append(_NoTopics())
        return made[-1], 1.5

    def run_once(_cluster: Any, system: str, case: str, pair: int, load: Load, _topics: Any) -> Run:
        if (load.topics, load.replicas) == (256, 3):
            raise OSError("no such broker")
        return Run(system, case, pair, {}, {"records_per_s": float(load.topics)})

    monkeypatch.setattr(runner, "create", no_create)
    monkeypatch.setattr(runner, "run_once", run_once)
    cluster: Any = SimpleNamespace(directory=tmp_path)
    shown = [FIGURES[12], FIGURES[13]]
    measured = Pass(shown, {KPROTO: cluster}, QUICK, 2, "", {}, tmp_path, Console(quiet=True))
    measured.measure()
    first, second = measured.results[12]["figure-12"], measured.results[13]["figure-13"]
    assert {run.case for run in first.runs if run.system == "kproto, 1 vlog, R3"} == {
        "128 streams",
        "512 streams",
    }
    assert [(run.case, run.system, run.metrics["topics_ready_s"]) for run in second.runs] == [
        (f"{streams} streams", f"kproto, {vlogs}", 1.5)
        for streams in (128, 512)
        for vlogs in ("1 vlog", "2 vlogs", "4 vlogs")
    ]
    failed = [note for note in second.notes if "no such broker" in note]
    assert len(failed) == 3
    assert sum("no such broker" in note for note in first.notes) == 1
    assert all(topics.deleted == 1 for topics in made)
