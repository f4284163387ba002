"""`kproto bench all`: every suite, one after another, then the report; a suite that fails stops no other.

Each suite is a process of its own, with its output in ``logs/`` beside the results. What failed, and its last
words, are on the page.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console

from bench import options
from bench.page.gathered import STATUS, Outcome

LAST_LINES = 12
"""Of a failed suite's output, for the page."""
GRACE_S = 90.0
"""Between the signal that ends a suite that takes too long, so that it can stop its brokers, and SIGKILL."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the pass: a suite with its arguments."""

    suite: str
    arguments: tuple[str, ...] = ()
    quick: tuple[str, ...] = ("--quick",)
    """Instead of those, in a quick pass."""
    minutes: float = 3
    """A quick pass takes about so long, on two cores."""


STEPS: Sequence[Step] = (
    Step("selftest", minutes=1),
    Step("single", minutes=5),
    Step("omb", minutes=8),
    Step("omb", ("--copies", "3"), ("--copies", "3", "--quick", "--case", "1-topic-16-partitions-1kb"), 3),
    Step("kera", minutes=8),
    Step("pravega", minutes=5),
    Step("cluster", minutes=3),
    Step("startup", minutes=2),
    Step("idle", minutes=2),
    Step("failover", ("--rounds", "20", "--all-at-once", "5", "--pause", "5"), minutes=3),
    Step("recovery", minutes=2),
    Step("stall", minutes=1),
)
"""In this order; a suite may come twice."""


def chosen(only: Sequence[str]) -> list[Step]:
    """The steps of these suites; all of them without names."""
    return [step for step in STEPS if not only or step.suite in only]


def run_step(step: Step, quick: bool, out: Path, data_dir: Path | None, limit_s: float) -> Outcome:
    """Run it to its end, or until it has taken too long."""
    arguments = step.quick if quick else step.arguments
    places = ["--out", str(out)] + (
        ["--data-dir", str(data_dir)] if data_dir and step.suite != "selftest" else []
    )
    shown = " ".join(["kproto bench", step.suite, *arguments])
    log = out / "logs" / f"{'-'.join([step.suite, *arguments]).replace('/', '_')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    began, late = time.monotonic(), ""
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.cli", step.suite, *arguments, *places],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            late, code = f"ended after {limit_s / 60:.0f} minutes\n", _end(process)
        except BaseException:
            _end(process)
            raise
    failed = "" if code == 0 and not late else late + last_words(log.read_text(errors="replace"), code)
    return Outcome(shown, round(time.monotonic() - began, 1), failed)


def _end(process: subprocess.Popen[bytes]) -> int:
    """As Ctrl-C does, so that brokers are stopped; by force if that does not help."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def last_words(output: str, code: int) -> str:
    """The end of what a suite said, or its exit code when it said nothing."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:]) or f"exit code {code}"


@click.command()
@click.option("--quick", is_flag=True, help="Short runs, one pair: about 40 minutes on two cores.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(dict.fromkeys(step.suite for step in STEPS))),
    help="Only this suite; repeatable.",
)
@click.option("--limit", type=float, help="Minutes after which a suite is ended: 300, or 20 with --quick.")
@options.data_dir_option
@options.out_option
def command(
    quick: bool, only: tuple[str, ...], limit: float | None, data_dir: Path | None, out: Path
) -> None:
    """Every suite, one after another, then the report. Exit code 1 when one of them failed."""
    screen, steps = options.console(), chosen(only)
    limit_s = 60 * (limit or (20 if quick else 300))
    out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for number, step in enumerate(steps, start=1):
        _say(
            screen, f"{number}/{len(steps)} {step.suite} {' '.join(step.quick if quick else step.arguments)}"
        )
        outcomes.append(run_step(step, quick, out, data_dir, limit_s))
        (out / STATUS).write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
        end = "FAILED" if outcomes[-1].failed else "done"
        _say(screen, f"  {end} after {outcomes[-1].seconds / 60:.1f} minutes")
    report = [sys.executable, "-m", "bench.cli", "report", str(out), "--html", str(out / "report.html")]
    code = subprocess.run(report, check=False).returncode
    if code or any(one.failed for one in outcomes):
        raise SystemExit(1)


def _say(screen: Console, text: str) -> None:
    screen.print(text, highlight=False, markup=False)


if __name__ == "__main__":
    command()
