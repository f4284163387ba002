"""`kproto bench all`: every suite, one after another, then the report; a suite that fails stops no other.

Each suite is a process of its own, with its output in ``logs/`` beside the results. What failed, and its last
words, are on the page.
"""

from __future__ import annotations

import json
import os
import shutil
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

FRAMES = "┏┃┡┗│├└"
"""How the lines of a table begin."""
LAST_LINES = 12
"""Of a failed suite's output, for the page."""
NO_DATA = frozenset(("selftest", "analyze"))
"""Suites that keep no brokers' data."""
RESULTS_OF = {"analyze": "analysis"}
"""How the results of a suite begin where it is not with its own name."""
GRACE_S = 90.0
"""Between the signal that ends a suite that takes too long, so that it can stop its brokers, and SIGKILL."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the pass: a suite with its arguments; ``{out}`` in them is where the results go."""

    suite: str
    arguments: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = ("--quick",)
    """Instead of those, in a quick pass; None: not part of it."""


RAW = ("--raw", "{out}/raw")
QUICK_COPIES = tuple(
    text for kind in ("fixed", "max", "backlog") for text in ("--case", f"{kind}-1-topic-16-partitions-1kb")
)
STEPS: Sequence[Step] = (
    Step("selftest"),
    Step("single"),
    Step("omb"),
    Step("omb", ("--copies", "3"), ("--quick", "--copies", "3", *QUICK_COPIES)),
    Step("kera", ("--scale", "full")),
    Step("pravega", quick=("--quick", *RAW)),
    Step("pravega", ("--copies", "3"), None),
    Step("pravega", ("--flush", "--label", "-flush"), None),
    Step("pravega", ("--mode", "end-to-end", "--label", "-raw", *RAW), None),
    Step("analyze", ("{out}/raw",), ("{out}/raw",)),
    Step("cluster"),
    Step(
        "cluster",
        ("--client", "librdkafka"),
        ("--quick", "--client", "librdkafka", "--case", "rf3-512p-1KB"),
    ),
    Step("startup"),
    Step("idle"),
    Step("failover", ("--rounds", "20", "--all-at-once", "5", "--pause", "5", "--restart", "3")),
    Step("recovery"),
    Step("stall"),
    Step("soak"),
)
"""In this order; a suite may come more than once."""


def chosen(only: Sequence[str], quick: bool) -> list[Step]:
    """The steps of these suites; all of them without names."""
    return [step for step in STEPS if (not only or step.suite in only) and not (quick and step.quick is None)]


def arguments_of(step: Step, quick: bool, out: Path) -> list[str]:
    """What is asked of the suite."""
    return [text.format(out=out) for text in (step.quick if quick and step.quick else step.arguments)]


def run_step(
    step: Step, quick: bool, out: Path, data_dir: Path | None, limit_s: float, number: int = 0
) -> Outcome:
    """Run it to its end, or until it has taken too long; its output goes to ``logs/<number>-<suite>.log``."""
    asked = arguments_of(step, quick, out)
    places = ["--out", str(out)]
    if data_dir is not None and step.suite not in NO_DATA:
        places += ["--data-dir", str(data_dir)]
    log = out / "logs" / f"{number:02}-{step.suite}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    began, late = time.monotonic(), ""
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bench.cli", step.suite, *asked, *places],
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
    return Outcome(" ".join(["kproto bench", step.suite, *asked]), round(time.monotonic() - began, 1), failed)


def forget(suite: str, out: Path) -> None:
    """Delete its results of an earlier pass: if it fails now, the page would show them as this one's."""
    for path in out.glob(f"{RESULTS_OF.get(suite, suite)}-*.json"):
        path.unlink()


def _end(process: subprocess.Popen[bytes]) -> int:
    """So that brokers are stopped; by force if that does not help. Who was started in the background of a
    shell ignores SIGINT."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def last_words(output: str, code: int) -> str:
    """The end of what a suite said, tables left out, or its exit code when it said nothing."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip() and line[0] not in FRAMES]
    return "\n".join(lines[-LAST_LINES:]) or f"exit code {code}"


@click.command()
@click.option("--quick", is_flag=True, help="Short runs, one pair: 90 minutes on two cores.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(dict.fromkeys(step.suite for step in STEPS))),
    help="Only this suite; repeatable.",
)
@click.option(
    "--limit",
    type=options.ABOVE_ZERO,
    help="Minutes after which a suite is ended: 300, or 30 with --quick.",
)
@options.data_dir_option
@options.out_option
def command(
    quick: bool, only: tuple[str, ...], limit: float | None, data_dir: Path | None, out: Path
) -> None:
    """Every suite, one after another, then the report. Exit code 1 when one of them failed."""
    screen, steps = options.console(), chosen(only, quick)
    limit_s = 60 * (limit or (30 if quick else 300))
    out.mkdir(parents=True, exist_ok=True)
    if any("--raw" in arguments_of(step, quick, out) for step in steps):
        shutil.rmtree(out / "raw", ignore_errors=True)  # Else the events of the last pass would count again.
    outcomes, begun = [], set[str]()
    for number, step in enumerate(steps, start=1):
        if step.suite not in begun:
            forget(step.suite, out)
            begun.add(step.suite)
        _say(screen, f"{number}/{len(steps)} {step.suite} {' '.join(arguments_of(step, quick, out))}")
        outcomes.append(run_step(step, quick, out, data_dir, limit_s, number))
        (out / STATUS).write_text(json.dumps([asdict(one) for one in outcomes], indent=1))
        end = "FAILED" if outcomes[-1].failed else "done"
        _say(screen, f"  {end} after {outcomes[-1].seconds / 60:.1f} minutes")
    report = [sys.executable, "-P", "-m", "bench.cli", "report", str(out), "--html", str(out / "report.html")]
    code = subprocess.run(report, check=False).returncode
    if code or any(one.failed for one in outcomes):
        raise SystemExit(1)


def _say(screen: Console, text: str) -> None:
    screen.print(text, highlight=False, markup=False)
