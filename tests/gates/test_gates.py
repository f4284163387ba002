"""The rules applied to this repository, and ruff and mypy."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import rules

ROOT = Path(__file__).resolve().parents[2]
CODE = ("kproto", "tests", "compat_tests", "bench", "demos")
PUBLIC = ("kproto", "compat_tests", "bench", "demos")
GENERATED = ROOT / "kproto" / "wire" / "generated"
TEXT = {".py", ".md", ".toml", ".sh", ".java", ".go", ".xml", ".txt", ".yaml", ".properties", ""}
TOOL_TIMEOUT_S = 540


def python_files(*folders: str, generated: bool = False) -> Iterator[tuple[str, str]]:
    """(path from the root, text) of every Python file in the folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if generated or GENERATED not in path.parents:
                yield str(path.relative_to(ROOT)), path.read_text()


def text_files() -> Iterator[tuple[str, str]]:
    """Everything a reader of the repository sees: the code folders, docs, and the files at the top."""
    tops = [path for path in sorted(ROOT.iterdir()) if path.is_file()]
    folders = [ROOT / name for name in (*CODE, "docs", ".ci")]
    nested = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in tops + nested:
        if path.suffix in TEXT and "__pycache__" not in path.parts and path.name != ".git":
            yield str(path.relative_to(ROOT)), path.read_text(errors="replace")


def every(rule: Callable[[str, str], list[str]], files: Iterator[tuple[str, str]]) -> list[str]:
    """All complaints; the files looked at must not be none, or the gate would hold nothing."""
    complaints: list[str] = []
    count = 0
    for name, text in files:
        complaints += rule(name, text)
        count += 1
    assert count > 0
    return complaints


def modules(top: str) -> tuple[dict[str, str], set[str]]:
    """Module name -> text without the generated ones, and which of them are packages."""
    sources, packages = {}, set()
    for name, text in python_files(top):
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        sources[module] = text
        if name.endswith("__init__.py"):
            packages.add(module)
    return sources, packages


def test_files_and_functions_are_short() -> None:
    assert every(rules.long_file, python_files(*CODE)) == []
    assert every(rules.long_functions, python_files(*CODE)) == []


def test_no_machine_paths_and_no_ownerless_marks() -> None:
    assert every(rules.machine_paths, text_files()) == []
    assert every(rules.ownerless_marks, text_files()) == []


def test_every_module_says_what_it_is() -> None:
    assert every(rules.missing_docstring, python_files(*PUBLIC, generated=True)) == []


@pytest.mark.parametrize("top", PUBLIC)
def test_every_folder_says_what_it_holds_and_may_import(top: str) -> None:
    folders = {path.parent for path in (ROOT / top).rglob("*.py")} - {ROOT / top}
    complaints = []
    for folder in sorted(folders):
        init = folder / "__init__.py"
        complaints += rules.silent_folder(
            str(folder.relative_to(ROOT)), init.read_text() if init.exists() else None
        )
    assert complaints == []


def test_no_stubs() -> None:
    assert every(rules.stubs, python_files("kproto")) == []


def test_no_test_is_skipped() -> None:
    assert every(rules.skipped_tests, python_files("tests", "compat_tests")) == []


@pytest.mark.parametrize(
    ("top", "known"),
    [
        ("kproto", {"errors", "wire", "net", "log", "vlog", "handlers", "broker"}),
        ("bench", {"results", "tables", "brokers", "generator", "omb", "page", "everything", "cli"}),
    ],
)
def test_imports_go_one_way(top: str, known: set[str]) -> None:
    sources, packages = modules(top)
    order = rules.import_order(ast.get_docstring(ast.parse(sources[top])) or "")
    assert known <= set(order)
    assert rules.wrong_way_imports(sources, order, packages) == []


def test_every_package_names_what_it_imports() -> None:
    sources, packages = modules("kproto")
    listing = 0
    for package in sorted(packages - {"kproto"}):
        docstring = ast.get_docstring(ast.parse(sources[package])) or ""
        listing += "ay import ``" in docstring
        assert rules.untold_imports(package, docstring, sources) == []
    assert listing > 5


def test_kproto_does_not_import_what_is_built_on_it() -> None:
    sources, packages = modules("kproto")
    found = {
        f"{module} imports {target}"
        for module, text in sources.items()
        for target in rules.imports(module, module in packages, text)
        if target.split(".")[0] in {"bench", "tests", "compat_tests", "demos"}
    }
    assert found == set()


@pytest.mark.parametrize("top", ["kproto", "bench"])
def test_no_module_is_dead(top: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = [*project["scripts"].values()]
    points += [target for group in project.get("entry-points", {}).values() for target in group.values()]
    sources, packages = modules(top)
    assert rules.dead_modules(sources, packages, [point.partition(":")[0] for point in points]) == []


def passes(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TOOL_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"


def test_ruff() -> None:
    passes("ruff", "check", "--no-cache", "--output-format", "concise", ".")


def test_mypy() -> None:
    passes("mypy")
