"""What the job found -> results for the report (no Spark in here)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bench.analysis.job import PERCENTILES, WINDOW_PERCENTILES, Tables
from bench.analysis.raw import PUBLISHED, RECEIVED
from bench.results import KAFKA, KPROTO, Result, Run

Row = dict[str, Any]
Key = tuple[Any, ...]

RATES = {PUBLISHED: "published", RECEIVED: "received"}
TABLE = ("50", "75", "95", "99", "99.9", "99.99", "100")
"""The percentiles that are metrics, too: the paper's, and the greatest latency."""
SHOWN = [
    f"{what}_{name}_ms" for what in ("publish", "intended", "e2e") for name in ("p50", "p99", "p999", "max")
]


def metric_part(percentile: str) -> str:
    """``"99.9"`` -> ``"p999"``, ``"100"`` -> ``"max"``."""
    return "max" if percentile == "100" else f"p{percentile.replace('.', '')}"


def by_run(tables: Tables, window_s: float) -> list[Run]:
    """One `Run` per run of a case on a system: all its machines and workers together."""
    numbers = _pair_numbers(tables.origins)
    runs = []
    for key, origins in _grouped(tables.origins, ("system", "case", "run", "pair")).items():
        system, case, name, pair = key
        found = Run(
            system=system,
            case=case,
            pair=numbers[case, name, pair],
            parameters={"run": name, **_extent(origins)},
            metrics=_rates(origins),
        )
        _add_quantiles(found, _of(tables.runs, key))
        windows = _of(tables.windows, key)
        for row in sorted(windows, key=lambda row: row["window"]):
            for percentile in WINDOW_PERCENTILES:
                series = f"{row['quantity']}_{metric_part(percentile)}_ms"
                _append(found, series, (row["window"] + 1) * window_s, row[percentile] / 1e3)
        for row in sorted(_of(tables.completed, key), key=lambda row: row["window"]):
            prefix, at = RATES[row["kind"]], (row["window"] + 1) * window_s
            _append(found, f"{prefix}_per_s", at, row["events"] / window_s)
            _append(found, f"{prefix}_mb_per_s", at, row["bytes"] / 1e6 / window_s)
        runs.append(found)
    return sorted(runs, key=lambda run: (run.case, run.pair, _place(run.system), run.system))


def over_all(tables: Tables) -> list[Run]:
    """One `Run` per case and system: each event of its runs counts once, rates are means of the runs'."""
    runs = []
    for key, origins in _grouped(tables.origins, ("system", "case")).items():
        rates = [_rates(each) for each in _grouped(origins, ("run", "pair")).values()]
        names = dict.fromkeys(name for each in rates for name in each)
        found = Run(
            system=key[0],
            case=key[1],
            pair=1,
            parameters=_extent(origins),
            metrics={name: sum(each.get(name, 0.0) for each in rates) / len(rates) for name in names},
        )
        _add_quantiles(found, [row for row in tables.groups if (row["system"], row["case"]) == key])
        runs.append(found)
    return sorted(runs, key=lambda run: (run.case, _place(run.system), run.system))


def differences(ours: Sequence[Run], theirs: Sequence[Run]) -> list[str]:
    """One line for each run whose figures are not the same in both."""
    found = []
    one, other = ({(run.system, run.case, run.pair): run for run in runs} for runs in (ours, theirs))
    for key in sorted(one.keys() | other.keys()):
        name = "/".join(map(str, key))
        if key not in one or key not in other:
            found.append(f"{name}: only in one of them")
        elif one[key] != other[key]:
            parts = [
                part
                for part in ("parameters", "metrics", "series", "quantiles")
                if getattr(one[key], part) != getattr(other[key], part)
            ]
            found.append(f"{name}: other {', '.join(parts)}")
    return found


def results(
    tables: Tables, name: str, command: str, where: dict[str, Any], window_s: float
) -> tuple[Result, Result]:
    """Over all runs, and run by run."""
    suites = sorted({row["suite"] for row in tables.origins})
    hosts = sorted({row["host"] for row in tables.origins})
    events = sum(row["events"] for row in tables.origins)
    notes = [
        f"{events:,} events of the suite {' and '.join(suites)} from {len(hosts)} machine"
        f"{'s' if len(hosts) > 1 else ''}, every one of them counted; percentiles by Spark, exact.",
        "publish: sent to ack; intended: due to ack; delay: due to sent; e2e: due to received.",
        f"Percentiles are over the measured part; series have the warm-up, in windows of {window_s:g} s.",
    ]
    made = []
    for suffix, title, runs in (
        ("", "all events of all runs", over_all(tables)),
        ("-runs", "run by run", by_run(tables, window_s)),
    ):
        heading = f"Analysis on Spark, {title}: {', '.join(suites)}"
        made.append(
            Result(
                "analysis", f"{name}{suffix}", heading, command, where, shown=SHOWN, notes=notes, runs=runs
            )
        )
    return made[0], made[1]


def _pair_numbers(origins: Iterable[Row]) -> dict[tuple[str, str, int], int]:
    """(case, run, pair) -> 1, 2, ...: pairs of several runs of the command get numbers of their own."""
    numbers: dict[tuple[str, str, int], int] = {}
    counts: dict[str, int] = {}
    for case, run, pair in sorted({(row["case"], row["run"], row["pair"]) for row in origins}):
        counts[case] = numbers[case, run, pair] = counts.get(case, 0) + 1
    return numbers


def _grouped(rows: Iterable[Row], names: tuple[str, ...]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def _of(rows: Iterable[Row], key: Key) -> list[Row]:
    return [row for row in rows if (row["system"], row["case"], row["run"], row["pair"]) == key]


def _place(system: str) -> int:
    order = (KPROTO, KAFKA)
    return order.index(system) if system in order else len(order)


def _extent(origins: list[Row]) -> dict[str, Any]:
    """How much was put together."""
    return {
        "events": sum(row["events"] for row in origins),
        "runs": len({(row["run"], row["pair"]) for row in origins}),
        "machines": len({row["host"] for row in origins}),
        "workers": len({(row["host"], row["worker"]) for row in origins}),
    }


def _rates(origins: list[Row]) -> dict[str, float]:
    """What was completed per second of each file's own measured part, added up over the files."""
    found: dict[str, float] = {}
    for row in sorted(origins, key=lambda row: (row["kind"], row["host"], row["worker"])):
        seconds = (row["until_us"] - row["from_us"]) / 1e6
        prefix = RATES[row["kind"]]
        for name, amount in (
            ("_per_s", row["measured_events"]),
            ("_mb_per_s", row["measured_bytes"] / 1e6),
        ):
            found[prefix + name] = found.get(prefix + name, 0.0) + amount / seconds
    return found


def _add_quantiles(run: Run, rows: Iterable[Row]) -> None:
    """As quantiles, and those that tables show as metrics; milliseconds."""
    for row in rows:
        what = row["quantity"]
        in_ms = {percentile: row[percentile] / 1e3 for percentile in PERCENTILES}
        run.quantiles[f"{what}_ms"] = in_ms
        run.metrics[f"{what}_mean_ms"] = row["mean"] / 1e3
        for percentile in TABLE:
            run.metrics[f"{what}_{metric_part(percentile)}_ms"] = in_ms[percentile]


def _append(run: Run, series: str, at_s: float, value: float) -> None:
    run.series.setdefault(series, []).append([at_s, value])
