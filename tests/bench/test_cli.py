"""`kproto bench`: found as a plug-in, cheap until a suite is called, one line when a package is missing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bench import everything
from bench.cli import bench
from kproto.cli import main as kproto_main
from kproto.cli.lazy import LazyGroup

NAMES = bench.list_commands(click.Context(bench))
HEAVY = ("confluent_kafka", "matplotlib", "numpy", "pyarrow", "pyspark", "rich", "yaml", "asyncio")


def python(code: str) -> str:
    """What it prints in a Python of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def loaded_by(line: str) -> set[str]:
    """Which heavy modules `kproto <line>` imports."""
    code = f"""
import sys
from kproto.cli.main import main
try:
    main({line.split()!r}, prog_name="kproto")
except SystemExit:
    pass
print("LOADED", *[name for name in {HEAVY!r} if name in sys.modules])
"""
    return set(python(code).rpartition("LOADED")[2].split())


def test_kproto_finds_bench_by_its_entry_point() -> None:
    (point,) = entry_points(group="kproto.commands", name="bench")
    assert point.load() is bench
    run = CliRunner().invoke(kproto_main.main, ["bench", "--help"])
    assert run.exit_code == 0
    for name in NAMES:
        assert f"  {name} " in run.output


def test_kproto_does_not_import_bench() -> None:
    done = python(
        "import kproto.cli.main, sys; print('bench' in sys.modules, 'importlib.metadata' in sys.modules)"
    )
    assert done == "False False"


def test_help_is_cheap() -> None:
    assert loaded_by("bench --help") == set()


def test_a_suite_imports_what_it_needs() -> None:
    assert "numpy" not in loaded_by("bench single --help")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "failover"])
def test_every_command_is_there_and_explains_itself(name: str) -> None:
    run = CliRunner().invoke(bench, [name, "--help"], catch_exceptions=False)
    assert run.exit_code == 0
    assert run.output.count("\n") > 5


@pytest.mark.parametrize("name", ["install", "start", "stop", "list"])
def test_commands_of_peers_explain_themselves(name: str) -> None:
    run = CliRunner().invoke(bench, ["peers", name, "--help"], catch_exceptions=False)
    assert run.exit_code == 0
    assert "Error" not in run.output


def test_failover_in_the_source_tree() -> None:
    run = CliRunner().invoke(bench, ["failover", "--help"], catch_exceptions=False)
    assert run.exit_code == 0
    assert "--rounds" in run.output


def test_a_missing_package_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("bench.single", "bench.options", "rich"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    run = CliRunner().invoke(bench, ["single", "--help"])
    assert run.exit_code == 1
    assert run.output.count("\n") == 1
    assert "pip install '.[bench]'" in run.output


def test_a_bug_is_not_taken_for_a_missing_package() -> None:
    group = LazyGroup(
        "g", table={"x": ("bench.there_is_no_such_module:command", "")}, missing={"numpy": "hint"}
    )
    with pytest.raises(ModuleNotFoundError):
        CliRunner().invoke(group, ["x"], catch_exceptions=False)


def test_the_whole_pass_runs_suites_that_exist() -> None:
    suites = {step.suite for step in everything.STEPS}
    assert suites <= set(NAMES)
    assert set(NAMES) - suites == {"all", "report", "peers"}


@pytest.mark.parametrize(
    "step", everything.STEPS, ids=lambda step: f"{step.suite} {' '.join(step.arguments)}"
)
def test_arguments_of_the_whole_pass_are_known_to_the_suites(step: everything.Step, tmp_path: Path) -> None:
    command = bench.get_command(click.Context(bench), step.suite)
    assert command is not None
    (tmp_path / "raw").mkdir()
    for quick in (False, True):
        asked = everything.arguments_of(step, quick, tmp_path)
        given = command.make_context(step.suite, [*asked, "--out", str(tmp_path)])
        assert given.params.get("quick", False) is ("--quick" in asked)


@pytest.mark.parametrize(
    "line",
    [
        *("cluster --warmup -1", "pravega --window 0", "pravega --seconds 0", "pravega --warmup -1"),
        *("pravega --broker-warmup -1", "omb --minutes 0", "omb --warmup -1", "selftest --seconds -1"),
        *("all --limit 0", "idle --seconds 0", "idle --rest -1", "idle --partitions 0", "stall --seconds 0"),
        *("stall --rounds 0", "stall --partitions 0", "startup --partitions 0", "startup --bytes-each 0"),
        *("failover --rounds -1", "failover --pause -1", "failover --partitions 0", "failover --rate 0"),
        *("idle --seconds nan", "single --seconds inf", "omb --minutes nan", "all --limit inf"),
        *("cluster --warmup inf", "omb --backlog-gb nan", "pravega --warmup nan", "analyze --window inf"),
        *("recovery --left 2,x", "recovery --gb nan", "recovery --limit -1", "cluster --vlogs 1,0"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(line: str) -> None:
    run = CliRunner().invoke(bench, line.split())
    assert run.exit_code == 2
    assert f"Invalid value for '{line.split()[1]}'" in run.output


def test_all_modules_of_the_table_exist() -> None:
    for name in NAMES:
        module = bench._table[name][0].partition(":")[0]
        assert importlib.util.find_spec(module) is not None, name


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "No such file or directory", "java"), "java is missing: it takes Java 17"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (PermissionError(13, "Permission denied", "out/x.json"), "'out/x.json'"),
    ],
)
def test_what_the_machine_lacks_is_said_in_one_line(
    error: OSError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_given: object) -> None:
        raise error

    monkeypatch.setattr("bench.selftest.measure", lambda *given: fail())
    done = CliRunner().invoke(bench, ["selftest", "--quick"])
    assert done.exit_code == 1
    assert said in done.output.splitlines()[-1]
    assert done.output.splitlines()[-1].startswith("Error: ")


def test_other_errors_of_the_system_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> None:
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr("bench.selftest.measure", fail)
    assert isinstance(CliRunner().invoke(bench, ["selftest", "--quick"]).exception, ConnectionResetError)
