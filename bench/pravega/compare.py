"""The cases on the systems in turn: what is started, repeated, noted and written down."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from bench import clusters, page_cache
from bench.brokers import Usage
from bench.cluster import CASES as CLUSTER_CASES
from bench.cluster import warm_up as warm_up_clusters
from bench.clusters import Cluster
from bench.environment import environment
from bench.options import command_line, systems, workspace
from bench.pravega.cases import BURST, Case, Scale
from bench.pravega.figures import Row, as_run, csv_rows, shown, targets, write_csv
from bench.pravega.load import Raw, run
from bench.results import FAILED_RUN, KPROTO, Result, in_short

ATTEMPTS = 3
"""Runs of one case on one system before it is left out."""

KPROTO_WARMUP_S = 3.0


class Remote:
    """Brokers that run elsewhere: there is nothing to start, and nothing is known of what they use."""

    def __init__(self, name: str, bootstrap: str) -> None:
        self.name = name
        self.bootstrap = bootstrap
        self.pid = 0
        self.pids: list[int] = []
        self.directory = Path()

    def start(self) -> None:
        """They run."""

    def stop(self) -> None:
        """They go on."""

    def reset_peak(self) -> None:
        """Nothing to reset."""

    def usage(self) -> Usage:
        """Not known here."""
        return Usage(0.0, 0, 0)


@dataclass(slots=True)
class Suite:
    """Cases on systems: what all results of one call share."""

    targets: Mapping[str, Cluster]
    pairs: int
    out: Path
    raw: Path | None
    run_name: str
    ours: bool
    screen: Console

    def measure(self, result: Result, cases: list[Case]) -> None:
        """Every case, the systems in turn; result and CSV are written after each run.

        A run that fails is noted and repeated; a case that fails `ATTEMPTS` times on a system lacks there.
        """
        rows: list[Row] = []
        for case in cases:
            result.targets[case.name] = targets(case)
            for pair in range(1, self.pairs + 1):
                for system, target in self.targets.items():
                    self.screen.print(f"{result.name}: {case.name}, {target.name}, pair {pair}")
                    rows += self._attempts(result, case, system, pair)
                    result.save(self.out)
                    write_csv(self.out / f"{result.suite}-{result.name}.csv", rows)

    def _attempts(self, result: Result, case: Case, system: str, pair: int) -> list[Row]:
        title = f"{result.name} {case.name}"
        for _ in range(ATTEMPTS):
            raw = Raw(self.raw, self.run_name, system, title, pair) if self.raw else None
            if not isinstance(self.targets[system], Remote):
                page_cache.fill(self.targets[system].directory)
            try:
                outcome = run(self.targets[system], case, raw, self.ours)
            except Exception as failure:
                text = in_short(failure)
                result.notes.append(f"{case.name} on {system}, pair {pair}, failed and was repeated: {text}")
                self.screen.print(f"failed: {text}", style="red", markup=False)
                continue
            if outcome.unsent:
                result.notes.append(
                    f"{case.name} on {system}, pair {pair}: the rate was out of reach, {outcome.unsent:,} "
                    f"events were not sent {case.scale.late_s:g} s after the end; latencies are of those "
                    "that were."
                )
            result.runs.append(as_run(system, pair, outcome))
            return csv_rows(system, pair, outcome)
        result.notes.append(f"{case.name} on {system}, pair {pair},{FAILED_RUN}{ATTEMPTS} times, left out")
        return []

    def warm_up(self, case: Case, seconds: float) -> None:
        """Load before anything is measured, for a JVM to compile itself; on clusters for as long as it
        takes, see `bench.cluster.warm_up`."""
        if case.copies > 1:
            warm_up_clusters(self.targets, CLUSTER_CASES[0].load, seconds, self.screen)
            return
        for system, target in self.targets.items():
            length = min(seconds, KPROTO_WARMUP_S) if system == KPROTO else seconds
            if length > 0:
                self.screen.print(f"{target.name}: {length:g} s of load before anything is measured")
                run(target, replace(case, scale=Scale(length, 0.0)), None, self.ours)


@contextlib.contextmanager
def running(
    bootstrap: str | None, system: str, only: str | None, copies: int, data_dir: Path | None
) -> Iterator[dict[str, Cluster]]:
    """The systems by name: ours, on directories side by side, or the one that runs elsewhere."""
    if bootstrap is not None:
        yield {system: Remote(system, bootstrap)}
        return
    with workspace(data_dir) as work, clusters.running(systems(only), copies, work) as found:
        yield found


def result_of(mode: str, cases: list[Case], label: str, notes: list[str]) -> Result:
    """An empty result for the cases of a mode."""
    first = cases[0]
    parts = [mode, "read" if first.reads_only else "", f"rf{first.copies}", "flush" if first.flush else ""]
    parts += ["wait-each" if first.wait_each else "", f"linger{first.linger_ms}" if first.linger_ms else ""]
    copies = "1 copy" if first.copies == 1 else f"{first.copies} copies"
    title = f"Pravega's benchmark, {mode}, {copies}, {first.producers} producers, {first.consumers} consumers"
    title += ", each event on disk before its ack" if first.flush else ""
    title += ", each ack awaited" if first.wait_each else ""
    return Result(
        suite="pravega",
        name="-".join(dict.fromkeys(filter(None, [*parts, label.strip("-")]))),
        title=title,
        command=command_line("pravega"),
        environment=environment(brokers=1 if first.copies == 1 else 4),
        x="rate" if len({case.rate for case in cases}) > 1 else "event_bytes",
        shown=shown(first),
        notes=list(notes),
    )


def notes_of(first: Case) -> list[str]:
    """How it was measured."""
    ends = "one process" if first.workers == 1 else "processes of one machine"
    found = [
        "Every event is counted, none sampled: publish from the call of send to the ack, intended from when "
        "it was due to the ack, e2e from when it was due until a consumer has it. In bursts an event is due "
        "when it is handed over, so that time in the producer's full buffer counts.",
        f"Clock: System.nanoTime of the load worker, tied to the epoch at its start; both ends in {ends}.",
        "Latencies are of what was acked after the warm-up, late events included; rates and use of the "
        "measured part only. The series begin with the load and show the warm-up.",
    ]
    if first.mode != BURST:
        found.append("Equal rates for both systems: throughput is given, not judged.")
    return found
