"""The figures as a table on the terminal and as a plot in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from demos.flights.figures import CarrierFigures


def shown(delay: float | None) -> str:
    return "-" if delay is None else f"{delay:.2f}"


def by_departures(figures: Mapping[str, CarrierFigures]) -> list[tuple[str, CarrierFigures]]:
    return sorted(figures.items(), key=lambda item: (-item[1].departures, item[0]))


def table_of(figures: Mapping[str, CarrierFigures], names: Mapping[str, str]) -> Table:
    """One row per carrier, the busiest first, and a last row for all."""
    table = Table(title="Flights from New York City, 2013", show_footer=True)
    total = CarrierFigures(
        sum(row.flights for row in figures.values()),
        sum(row.departures for row in figures.values()),
        sum(row.delay_minutes for row in figures.values()),
    )
    table.add_column("carrier", footer="all")
    table.add_column("airline")
    table.add_column("flights", justify="right", footer=f"{total.flights:,}")
    table.add_column("departures", justify="right", footer=f"{total.departures:,}")
    table.add_column("mean delay, min", justify="right", footer=shown(total.mean_delay))
    for carrier, row in by_departures(figures):
        delay = shown(row.mean_delay)
        table.add_row(carrier, names.get(carrier, ""), f"{row.flights:,}", f"{row.departures:,}", delay)
    return table


def save_plot(figures: Mapping[str, CarrierFigures], names: Mapping[str, str], path: Path) -> None:
    """Departures and mean departure delay per carrier, side by side, as a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = by_departures(figures)[::-1]
    labels = [f"{names.get(carrier, carrier)} ({carrier})" for carrier, _ in rows]
    chart, (left, right) = pyplot.subplots(1, 2, figsize=(12, 6), sharey=True, layout="constrained")
    bars = left.barh(labels, [row.departures for _, row in rows], color="#35608d")
    left.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
    left.set_xlabel("departures")
    left.margins(x=0.15)
    delays = [row.mean_delay or 0.0 for _, row in rows]
    bars = right.barh(labels, delays, color=["#c0504d" if delay > 0 else "#4f9d69" for delay in delays])
    right.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
    right.set_xlabel("mean departure delay, minutes")
    right.margins(x=0.15)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    chart.suptitle("Flights from New York City in 2013, counted by Spark from a Kafka topic")
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.savefig(path, dpi=120)
    pyplot.close(chart)
