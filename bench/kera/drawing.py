"""A figure as the paper draws it: a line for each system and part, throughput, and broker CPU beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.kera.figures import Figure
from bench.results import KAFKA, Result

LABELS = {
    "streams": "streams",
    "vlogs": "virtual logs per broker",
    "chunk_kb": "chunk size (KB)",
    "producers": "concurrent producers",
}
PANELS = (
    ("records_per_s", "cluster throughput (1000 records/s)", 1e-3),
    ("cpu_s_per_million", "broker CPU s per million records", 1.0),
)
MARKS = "osD^v"


def lines(figure: Figure, results: Sequence[Result], metric: str) -> dict[str, list[tuple[float, float]]]:
    """Name of a line -> (x, median over the pairs), in the order of x."""
    found: dict[str, dict[float, list[float]]] = {}
    for result in results:
        for run in result.runs:
            part = run.parameters.get("part") if figure.beside_kafka else ""
            name = f"{run.system}, {part}" if part else run.system
            name = name.replace(KAFKA, "Apache Kafka")
            if metric in run.metrics:
                place = float(run.parameters[figure.x])
                found.setdefault(name, {}).setdefault(place, []).append(run.metrics[metric])
    return {
        name: [(place, median(values)) for place, values in sorted(places.items())]
        for name, places in found.items()
    }


def draw(figure: Figure, results: Sequence[Result], target: Path) -> Path:
    """Write it as a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, panels = pyplot.subplots(1, len(PANELS), figsize=(11, 4.2), layout="constrained")
    for axes, (metric, label, factor) in zip(panels, PANELS, strict=True):
        found = lines(figure, results, metric)
        places = sorted({place for points in found.values() for place, _ in points})
        for number, (name, points) in enumerate(found.items()):
            theirs = "Kafka" in name
            axes.plot(
                [place for place, _ in points],
                [value * factor for _, value in points],
                "--" if theirs else "-",
                marker=MARKS[number % len(MARKS)],
                label=name,
            )
        if len(places) > 1:
            axes.set_xscale("log", base=2)
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel(LABELS[figure.x])
        axes.set_ylabel(label)
        axes.grid(alpha=0.2)
    panels[0].legend(fontsize=8)
    drawing.suptitle(f"KerA figure {figure.number}: {figure.title}", fontsize=11)
    target.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(target, dpi=120)
    pyplot.close(drawing)
    return target
