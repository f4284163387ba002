"""Medians, ratios of pairs and targets: pure functions over the runs, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from rich.table import Table

METRICS: Mapping[str, str] = {
    "cpu_s_per_gb": "CPU s/GB",
    "cpu_s_per_million": "CPU s/M rec",
    "mb_per_s": "MB/s",
    "ack_p50_us": "ack p50 ms",
    "ack_p99_us": "ack p99 ms",
    "ack_p999_us": "ack p99.9 ms",
    "e2e_p50_us": "e2e p50 ms",
    "e2e_p99_us": "e2e p99 ms",
    "e2e_p999_us": "e2e p99.9 ms",
    "peak_rss_mb": "peak RSS MB",
    "generator_cpu_s_per_gb": "client CPU s/GB",
}

THROUGHPUT_COLUMNS = (
    "cpu_s_per_gb",
    "cpu_s_per_million",
    "mb_per_s",
    "peak_rss_mb",
    "generator_cpu_s_per_gb",
)
RATE_COLUMNS = (
    "cpu_s_per_million",
    "ack_p50_us",
    "ack_p99_us",
    "ack_p999_us",
    "e2e_p50_us",
    "e2e_p99_us",
    "e2e_p999_us",
)


def metrics(load: Mapping[str, Any], broker_cpu_s: float, peak_rss_bytes: int) -> dict[str, float]:
    """A run's figures by the names in `METRICS`: latencies in microseconds, bytes of values, 1 GB = 1e9."""
    gigabytes = load["acked_bytes"] / 1e9
    found = {
        "cpu_s_per_gb": broker_cpu_s / gigabytes,
        "cpu_s_per_million": broker_cpu_s / (load["acked_records"] / 1e6),
        "mb_per_s": load["acked_bytes"] / 1e6 / load["seconds"],
        "records_per_s": load["acked_records"] / load["seconds"],
        "generator_cpu_s_per_gb": load["generator_cpu_s"] / gigabytes,
        "peak_rss_mb": peak_rss_bytes / 1e6,
    }
    for prefix, name in (("ack", "ack_us"), ("e2e", "end_to_end_us")):
        for quantile in ("p50", "p99", "p999"):
            if load[name] is not None:
                found[f"{prefix}_{quantile}_us"] = load[name][quantile]
    return found


def medians(runs: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The median of each metric over runs of one broker."""
    listed = list(runs)
    return {name: median(run[name] for run in listed) for name in (listed[0] if listed else ())}


def ratios(kproto: Iterable[Mapping[str, float]], kafka: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The median over pairs of kproto / Apache Kafka: the two runs of a pair shared the machine's mood."""
    pairs = list(zip(kproto, kafka, strict=True))
    if not pairs:
        return {}
    return {
        name: median(ours[name] / theirs[name] for ours, theirs in pairs)
        for name in pairs[0][0]
        if all(theirs.get(name) for _, theirs in pairs)
    }


def shown(metric: str, value: float | None) -> str:
    """A figure as text: latencies in ms, three significant digits."""
    if value is None:
        return "-"
    value = value / 1e3 if metric.endswith("_us") else value
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def summary(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One entry per case: medians by broker, ratios, and the targets with whether they are met."""
    entries = []
    for name, case in results["cases"].items():
        runs = {kind: [run["metrics"] for run in case["runs"].get(kind, [])] for kind in ("kafka", "kproto")}
        complete = min(len(runs["kafka"]), len(runs["kproto"]))
        ratio = ratios(runs["kproto"][:complete], runs["kafka"][:complete])
        entries.append(
            {
                "name": name,
                "rate": case["load"]["rate"],
                "medians": {kind: medians(listed) for kind, listed in runs.items()},
                "ratios": ratio,
                "targets": {
                    metric: {"most": most, "is": ratio.get(metric), "met": ratio.get(metric, 9e9) <= most}
                    for metric, most in case["targets"].items()
                },
            }
        )
    return entries


def _rows(entry: Mapping[str, Any], columns: tuple[str, ...]) -> list[list[str]]:
    rows = []
    for kind in ("kafka", "kproto"):
        figures = entry["medians"][kind]
        if figures:
            rows.append([entry["name"], kind, *(shown(column, figures.get(column)) for column in columns)])
    if entry["ratios"]:
        cells = []
        for column in columns:
            ratio, target = entry["ratios"].get(column), entry["targets"].get(column)
            text = "-" if ratio is None else f"{ratio:.2f}"
            if target is not None:
                text += f" ({'≤' if target['met'] else '>'} {target['most']:.2f})"
            cells.append(text)
        rows.append([entry["name"], "ratio", *cells])
    return rows


def _parts(results: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], list[dict[str, Any]]]]:
    entries = summary(results)
    return [
        ("As fast as it goes", THROUGHPUT_COLUMNS, [entry for entry in entries if not entry["rate"]]),
        ("At a fixed rate", RATE_COLUMNS, [entry for entry in entries if entry["rate"]]),
    ]


def tables(results: Mapping[str, Any]) -> list[Table]:
    """For the terminal."""
    found = []
    for title, columns, entries in _parts(results):
        if not entries:
            continue
        table = Table(title=title)
        for heading in ("case", "broker", *(METRICS[column] for column in columns)):
            table.add_column(heading, justify="left" if heading in {"case", "broker"} else "right")
        for entry in entries:
            rows = _rows(entry, columns)
            for number, row in enumerate(rows):
                cells = [row[0] if number == 0 else "", *row[1:]]
                missed = [
                    cell.replace("(> ", "[red](> ").replace(")", ")[/]") if "(> " in cell else cell
                    for cell in cells
                ]
                table.add_row(*missed, end_section=number == len(rows) - 1)
        found.append(table)
    return found


def markdown(results: Mapping[str, Any]) -> str:
    """For a file: where and how it was measured, then the tables."""
    lines = ["# Single broker: kproto beside Apache Kafka", ""]
    lines += [f"- {name}: {value}" for name, value in results["environment"].items()]
    lines += [
        "",
        "Ratios: median over pairs of kproto / Apache Kafka; in brackets the target, `>` where it is missed.",
        "",
    ]
    for name, case in results["cases"].items():
        lines += [
            f"- {name}, repeated after a failure: {' '.join(text.splitlines()[:2])}"
            for text in case.get("failures", [])
        ]
    for title, columns, entries in _parts(results):
        if not entries:
            continue
        headings = ["case", "broker", *(METRICS[column] for column in columns)]
        lines += [f"## {title}", "", "| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings)]
        lines += ["| " + " | ".join(row) + " |" for entry in entries for row in _rows(entry, columns)]
        lines.append("")
    return "\n".join(lines)
