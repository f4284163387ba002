"""What a run measured, in the suite's form and as CSV in the columns of the paper's tool."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from bench.histogram import Histogram
from bench.omb.compare import NAMES, PERCENTILES, QUANTILES
from bench.pravega.cases import BURST, END_TO_END, Case
from bench.pravega.load import Outcome, Window
from bench.results import Run
from bench.workers import END_TO_END as RECEIVED_TIMES
from bench.workers import INTENDED, PUBLISH, Counters

TABLE = {**PERCENTILES, "p75": 75.0, "p95": 95.0}
COSTS = [
    *("cpu_s_per_million", "peak_rss_mb", "disk_mb"),
    *("rpcs_per_s", "client_cpu_s_per_million", "stolen_percent"),
]
CSV_LEVELS = (50, 75, 95, 99, 99.9, 99.99)
CSV_HEAD = (
    *("system", "case", "pair", "what", "part", "seconds", "records", "records_per_s", "mb_per_s"),
    *("avg_latency_ms", "max_latency_ms", *(f"{level:g}th" for level in CSV_LEVELS)),
)


def shown(case: Case) -> list[str]:
    """The columns of a mode's table, in their order."""
    publish = [f"publish_{name}_ms" for name in ("p50", "p75", "p99", "p999")]
    if case.reads_only:
        return ["records_per_s", "mb_per_s", *COSTS]
    if case.mode == BURST:
        return ["records_per_s", "mb_per_s", *publish, *COSTS]
    if case.mode == END_TO_END:
        return ["e2e_p50_ms", "e2e_p75_ms", "e2e_p99_ms", "e2e_p999_ms", *publish, *COSTS]
    return ["published_per_s", *publish, "intended_p50_ms", "intended_p99_ms", "intended_max_ms", *COSTS]


def targets(case: Case) -> dict[str, float]:
    """The most that kproto may be of Apache Kafka's figure; of throughput the least.

    Equal fixed rates with linger 0: half the latency; with linger no more. Never worse otherwise.
    """
    cpu = {"cpu_s_per_million": 0.5 if case.copies == 1 else 1.0}
    if case.mode == BURST:
        return {"records_per_s": 1.0, **cpu}
    most = 1.0 if case.linger_ms else 0.5
    found = {"publish_p50_ms": most, "publish_p99_ms": most, **cpu}
    return {**found, "e2e_p50_ms": 1.0, "e2e_p99_ms": 1.0} if case.mode == END_TO_END else found


def as_run(system: str, pair: int, outcome: Outcome) -> Run:
    """An outcome in the suite's form."""
    case = outcome.case
    return Run(
        system, case.name, pair, case.parameters(), metrics(outcome), series(outcome), quantiles(outcome)
    )


def metrics(outcome: Outcome) -> dict[str, float]:
    """Rates and use of the measured part, latencies of all that was acked in it and behind it (`Outcome`)."""
    case, during = outcome.case, outcome.during()
    found = _rates(case, during)
    events, size = (during.received if case.reads_only else during.acked), case.event_bytes
    if outcome.cpu_s is not None:
        found |= {
            "broker_cpu_s": outcome.cpu_s,
            "cpu_s_per_million": outcome.cpu_s * 1e6 / max(events, 1),
            "cpu_s_per_gb": outcome.cpu_s * 1e9 / max(events * size, 1),
            "peak_rss_mb": outcome.peak_rss_bytes / 1e6,
            "disk_mb": outcome.written_bytes / 1e6,
        }
    found |= {
        "client_cpu_s": during.cpu_s,
        "client_cpu_s_per_million": during.cpu_s * 1e6 / max(events, 1),
        "rpcs_per_s": (during.produce_requests + during.consume_requests) / during.seconds,
    }
    if outcome.stolen_percent is not None:
        found["stolen_percent"] = outcome.stolen_percent
    if outcome.unsent:
        found["unsent_events"] = float(outcome.unsent)
    for kind, histogram in _told(outcome).items():
        found[f"{NAMES[kind]}_mean_ms"] = histogram.mean / 1e3
        for name, value in zip(TABLE, histogram.percentiles(TABLE.values()), strict=True):
            found[f"{NAMES[kind]}_{name}_ms"] = value / 1e3
    return found


def _rates(case: Case, done: Counters) -> dict[str, float]:
    """At a fixed rate that both reach, throughput says nothing and is not judged: it has another name."""
    publish = (
        ("records_per_s", "mb_per_s") if case.mode == BURST else ("published_per_s", "published_mb_per_s")
    )
    receive = publish if case.reads_only else ("received_per_s", "received_mb_per_s")
    found: dict[str, float] = {}
    if case.producers:
        found |= _per_second(publish, done.acked, done.acked_bytes, done.seconds)
    if case.consumers:
        found |= _per_second(receive, done.received, done.received_bytes, done.seconds)
    return found


def _per_second(names: tuple[str, str], events: int, count: int, seconds: float) -> dict[str, float]:
    return {names[0]: events / seconds, names[1]: count / 1e6 / seconds}


def _told(outcome: Outcome) -> dict[str, Histogram]:
    """The latencies that mean something: what was written before consumers began was not late."""
    found = {} if outcome.case.reads_only else outcome.histograms()
    return {kind: histogram for kind, histogram in found.items() if histogram.counts}


def series(outcome: Outcome) -> dict[str, list[list[float]]]:
    """Window by window from the beginning of the load, so the warm-up is seen; each at the window's end."""
    found: dict[str, list[list[float]]] = {}
    for window in outcome.windows:
        for name, value in _of_window(outcome.case, window).items():
            found.setdefault(name, []).append([round(window.end_s, 3), value])
    return found


def _of_window(case: Case, window: Window) -> dict[str, float]:
    found = _rates(case, window.done) if window.done.at_us else {}
    for kind in () if case.mode == BURST else (PUBLISH, INTENDED, RECEIVED_TIMES):
        histogram = window.histograms.get(kind, Histogram())
        if histogram.counts:
            middle, late = histogram.percentiles((50, 99))
            found[f"{NAMES[kind]}_p50_ms"] = middle / 1e3
            found[f"{NAMES[kind]}_p99_ms"] = late / 1e3
            found[f"{NAMES[kind]}_max_ms"] = histogram.highest / 1e3
    return found


def quantiles(outcome: Outcome) -> dict[str, dict[str, float]]:
    """Milliseconds at the percentiles that a plot needs."""
    return {
        f"{NAMES[kind]}_ms": {
            f"{level:g}": value / 1e3
            for level, value in zip(QUANTILES, histogram.percentiles(QUANTILES), strict=True)
        }
        for kind, histogram in _told(outcome).items()
    }


Row = tuple[object, ...]


def csv_rows(system: str, pair: int, outcome: Outcome) -> list[Row]:
    """A row per window and one for all, for writing and for reading, in the columns of `CSV_HEAD`."""
    case = outcome.case
    kinds = [("writing", PUBLISH)] if case.producers else []
    kinds += [("reading", RECEIVED_TIMES)] if case.consumers else []
    found: list[Row] = []
    for what, kind in kinds:
        parts = [
            (window.part, window.done, window.histograms.get(kind, Histogram())) for window in outcome.windows
        ]
        parts.append(("total", outcome.during(), outcome.histograms()[kind]))
        for part, done, histogram in parts:
            records = done.acked if what == "writing" else done.received
            amount = done.acked_bytes if what == "writing" else done.received_bytes
            seconds = done.seconds or 1e-6
            latencies = (histogram.mean, histogram.highest, *histogram.percentiles(CSV_LEVELS))
            known = bool(histogram.counts)
            found.append(
                (
                    *(system, case.name, pair, what, part, f"{seconds:.3f}", records),
                    *(f"{records / seconds:.1f}", f"{amount / 1e6 / seconds:.3f}"),
                    *(f"{value / 1e3:.3f}" if known else "" for value in latencies),
                )
            )
    return found


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """The whole file again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(CSV_HEAD)
        writer.writerows(rows)
