"""demos/flights: its pure parts, and a slice of the real data from the CSV through the broker into Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.spark.records import new_topic, read_topic
from demos.flights.figures import CarrierFigures, differences, figures_of
from demos.flights.produce import PARTITIONS, create_topic, produce_flights
from demos.flights.report import by_departures, save_plot, table_of
from demos.flights.source import FLIGHTS, Flight, carrier_names, read_flights, typed
from demos.flights.spark import run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLICE = 5_000


@pytest.fixture(scope="module")
def flights() -> list[Flight]:
    return list(read_flights(SLICE))


def test_typed_makes_numbers_and_missing_values() -> None:
    row = {"carrier": "UA", "tailnum": "", "dep_time": "NA", "dep_delay": "-3", "flight": "1545"}
    assert typed(row) == {"carrier": "UA", "tailnum": None, "dep_time": None, "dep_delay": -3, "flight": 1545}


def test_the_data_set_is_whole() -> None:
    everything = figures_of(read_flights())
    assert sum(row.flights for row in everything.values()) == FLIGHTS
    assert sum(row.departures for row in everything.values()) == 328_521
    assert everything["HA"] == CarrierFigures(flights=342, departures=342, delay_minutes=1_676)
    assert everything.keys() == carrier_names().keys()


def test_figures_count_what_left_and_add_its_delays() -> None:
    def flight(carrier: str, dep_time: int | None, dep_delay: int | None) -> Flight:
        return {"carrier": carrier, "dep_time": dep_time, "dep_delay": dep_delay}

    rows = [flight("B", 5, 10), flight("A", None, None), flight("B", 6, -4), flight("B", None, None)]
    figures = figures_of(rows)
    assert figures == {"A": CarrierFigures(1, 0, 0), "B": CarrierFigures(3, 2, 6)}
    assert figures["A"].mean_delay is None
    assert figures["B"].mean_delay == 3.0
    with pytest.raises(ValueError, match="has no delay"):
        figures_of([flight("A", 5, None)])


def test_differences_name_every_carrier_that_differs() -> None:
    one, other = CarrierFigures(3, 2, 6), CarrierFigures(3, 2, 7)
    assert differences({"A": one, "B": one}, {"B": one, "A": one}) == []
    lines = differences({"A": one, "B": one, "C": one}, {"A": other, "C": one, "D": one})
    assert [line.split(":")[0] for line in lines] == ["A", "B", "D"]


def test_report_shows_the_busiest_first(tmp_path: Path) -> None:
    figures = {"A": CarrierFigures(3, 2, 6), "B": CarrierFigures(9, 9, -9), "C": CarrierFigures(1, 0, 0)}
    assert [carrier for carrier, _ in by_departures(figures)] == ["B", "A", "C"]
    table = table_of(figures, {"A": "Air A"})
    assert list(table.columns[4].cells) == ["-1.00", "3.00", "-"]
    assert [column.footer for column in table.columns] == ["all", "", "13", "11", "-0.27"]
    save_plot(figures, {"A": "Air A"}, tmp_path / "deep" / "plot.png")
    assert (tmp_path / "deep" / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_slice_through_the_broker(
    session: SparkSession, bootstrap: str, flights: list[Flight], tmp_path: Path
) -> None:
    topic = new_topic(bootstrap, PARTITIONS)
    reported: list[int] = []
    assert produce_flights(bootstrap, topic, flights, reported.append) == SLICE
    assert reported[-1] == SLICE

    found = run_job(session, bootstrap, topic, tmp_path / "checkpoint")
    assert differences(figures_of(flights), found) == []

    records = read_topic(bootstrap, topic, PARTITIONS)
    key_of = {False: lambda f: str(f["tailnum"]).encode(), True: lambda f: None}
    wanted = [
        (key_of[f["tailnum"] is None](f), json.dumps(f, separators=(",", ":")).encode()) for f in flights
    ]
    assert sorted(((r.key, r.value) for r in records), key=repr) == sorted(wanted, key=repr)
    homes: dict[bytes, set[int]] = {}
    for record in records:
        if record.key is not None:
            homes.setdefault(record.key, set()).add(record.partition)
    assert all(len(partitions) == 1 for partitions in homes.values())
    assert len({record.partition for record in records}) == PARTITIONS


def test_a_topic_that_exists_is_refused(bootstrap: str) -> None:
    with pytest.raises(RuntimeError, match="exists already"):
        create_topic(bootstrap, new_topic(bootstrap, 1))
