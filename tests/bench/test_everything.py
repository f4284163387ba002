"""A whole pass: what fails is noted with its last words, what hangs is ended, the rest goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import everything
from bench.everything import Step, arguments_of, command, last_words, run_step
from bench.failover.promises import wait_until
from bench.page.gathered import STATUS, Outcome, gather
from tests.bench.made_up import workloads

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"


def test_last_words() -> None:
    assert last_words("\n".join(f"line {n}\n" for n in range(40)), 1).splitlines()[-1] == "line 39"
    assert last_words("\n".join(f"line {n}\n" for n in range(40)), 1).splitlines()[0] == "line 28"
    assert last_words("it broke\n┏━━┓\n│ 1│\n└──┘\n", 1) == "it broke"
    assert last_words(" \n", 3) == "exit code 3"


def test_a_suite_that_fails_says_why(tmp_path: Path) -> None:
    found = run_step(Step("single", quick=("--case", "no such case")), True, tmp_path, None, 60)
    assert found.command == "kproto bench single --case no such case"
    assert "no such case; there are:" in found.failed
    assert "no such case" in (tmp_path / "logs" / "00-single.log").read_text()


def test_a_suite_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everything, "GRACE_S", 30.0)
    data = tmp_path / "data"
    step = Step("startup", quick=("--only", "kproto", "--part", "start", "--pairs", "1000"))
    found = run_step(step, True, tmp_path, data, 8.0)
    assert found.failed.startswith("ended after")
    assert not data.exists() or list(data.iterdir()) == []


def test_the_rest_goes_on_and_the_page_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Step("single", quick=("--case", "none")), Step("report", quick=("--help",)), Step("nothing")]
    monkeypatch.setattr(everything, "STEPS", steps)
    workloads().save(tmp_path)
    run = CliRunner().invoke(command, ["--quick", "--out", str(tmp_path)])
    assert run.exit_code == 1
    assert [bool(one.failed) for one in gather(tmp_path).outcomes] == [True, True, True]
    assert len(json.loads((tmp_path / STATUS).read_text())) == 3
    html = (tmp_path / "report.html").read_text()
    assert html.index("Not measured, because it failed") < html.index("kproto bench nothing")


def test_chosen_suites_come_in_the_order_of_the_pass() -> None:
    assert [step.suite for step in everything.chosen(["idle", "omb"], quick=True)] == ["omb", "omb", "idle"]
    assert everything.chosen([], quick=False) == list(everything.STEPS)
    assert None not in {step.quick for step in everything.chosen([], quick=True)}


def test_events_are_analyzed_where_they_were_kept(tmp_path: Path) -> None:
    for quick in (False, True):
        steps = everything.chosen(["pravega", "analyze"], quick)
        asked = [arguments_of(step, quick, tmp_path) for step in steps]
        assert asked[-1] == [f"{tmp_path}/raw"]
        assert asked[-2][-2:] == ["--raw", f"{tmp_path}/raw"]


@pytest.mark.parametrize(("suite", "kept"), [("analyze", True), ("pravega", False)])
def test_events_of_an_earlier_pass_go_when_new_ones_are_written(
    suite: str, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(everything, "run_step", lambda step, *given: Outcome(step.suite, 0.0))
    events = tmp_path / "raw" / "r.events"
    events.parent.mkdir()
    events.touch()
    workloads().save(tmp_path)
    assert CliRunner().invoke(command, ["--only", suite, "--out", str(tmp_path)]).exit_code == 0
    assert events.exists() is kept


def test_a_suite_that_fails_shows_no_figures_of_an_earlier_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both results of omb's two steps are there, one of another suite, and none that failed."""
    failing = Outcome("kproto bench analyze", 1.0, "no Java")

    def measure(step: Step, quick: bool, out: Path, *given: object) -> Outcome:
        if step.suite == "analyze":
            return failing
        replace(workloads(), name=f"new{len(list(out.glob('omb-new*')))}").save(out)
        return Outcome("kproto bench omb", 1.0)

    monkeypatch.setattr(everything, "run_step", measure)
    for suite in ("omb", "analysis", "single"):
        replace(workloads(), suite=suite).save(tmp_path)
    run = CliRunner().invoke(command, ["--only", "omb", "--only", "analyze", "--out", str(tmp_path)])
    assert run.exit_code == 1
    found = gather(tmp_path)
    assert [(one.suite, one.name) for one in found.results] == [
        ("omb", "new0"),
        ("omb", "new1"),
        ("single", "fixed-rate"),
    ]
    assert found.outcomes[-1] == failing


def test_only_what_was_measured_anew_is_published(tmp_path: Path) -> None:
    """`make bench-full` with a command that writes one result in the place of `kproto bench all`."""
    stub = tmp_path / "bin" / "kproto"
    stub.parent.mkdir()
    stub.write_text(
        '#!/bin/sh\n[ "$2" = all ] && sleep 0.1 && echo new > $4/omb-fixed.json\n[ "$2" = report ]\n'
    )
    stub.chmod(0o755)
    published, out = tmp_path / "docs" / "benchmarks" / "results", tmp_path / "out" / "bench-full"
    for directory in (published, out, tmp_path / "out" / "bench"):
        directory.mkdir(parents=True)
    for path in (
        out / "omb-fixed.json",
        out / "kera-old.json",
        tmp_path / "out" / "bench" / "idle-quick.json",
    ):
        path.write_text("old")
        os.utime(path, (1, 1))
    line = ["make", "-f", str(MAKEFILE), "-o", ".venv/.dev", "-o", "build/compat/debian", "BIN=bin"]
    done = subprocess.run([*line, "bench-full"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in published.iterdir()] == ["omb-fixed.json"]
    assert (published / "omb-fixed.json").read_text() == "new\n"


def started(data: Path, out: Path, *before: str) -> subprocess.Popen[bytes]:
    """A suite whose broker runs."""
    line = ["-m", "bench.cli", "startup", "--only", "kproto", "--part", "start", "--pairs", "1000"]
    line += ["--data-dir", str(data)]
    process = subprocess.Popen(
        [*before, sys.executable, *line, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until("a broker that runs", lambda: list(data.glob("*/kproto-start-0/data/*")), 60)
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_suite_that_runs_and_its_brokers(number: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = started(data, tmp_path, "env", "--default-signal=HUP")  # tests below nohup ignore it
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert list(data.iterdir()) == []
    assert not [place for place in Path("/proc").glob("[0-9]*/cmdline") if str(data).encode() in read(place)]


def test_a_suite_below_nohup_goes_on_without_its_terminal(tmp_path: Path) -> None:
    process = started(tmp_path / "data", tmp_path, "nohup")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM


def read(path: Path) -> bytes:
    """Nothing when the process has gone meanwhile."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
