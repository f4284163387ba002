"""The rules, as pure functions: source text in, complaints out (an empty list when all is well)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
Complaints = list[str]
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Spelled in pieces, so that this file does not break its own rules.
MACHINE_PATHS = re.compile(
    "(?<![A-Za-z0-9_.-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "ho" + "me")) + ")/[A-Za-z.]"
)
MARKS = re.compile(r"\b(?:TO" + "DO|FIX" + "ME|XX" + "X)\\b(?!\\([a-z]+\\))")
PROMISES = frozenset(("skip", "skipif", "importorskip", "xfail"))


def long_file(name: str, text: str, limit: int = FILE_LINES_MAX) -> Complaints:
    lines = text.count("\n")
    return [f"{name}: {lines} lines, {limit} allowed"] if lines > limit else []


def functions(tree: ast.AST) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def long_functions(name: str, text: str, limit: int = FUNCTION_LINES_MAX) -> Complaints:
    """Counted from the def line to the last, decorators not included."""
    found = []
    for node in functions(ast.parse(text)):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > limit:
            found.append(f"{name}:{node.lineno}: {node.name} has {lines} lines, {limit} allowed")
    return found


def machine_paths(name: str, text: str) -> Complaints:
    return [f"{name}: a path of one machine: {match.group()}" for match in MACHINE_PATHS.finditer(text)]


def ownerless_marks(name: str, text: str) -> Complaints:
    return [f"{name}: {match.group()} without an owner" for match in MARKS.finditer(text)]


def missing_docstring(name: str, text: str) -> Complaints:
    return [] if ast.get_docstring(ast.parse(text)) else [f"{name}: no docstring"]


def silent_folder(name: str, init_text: str | None) -> Complaints:
    """A folder's ``__init__`` says what lives there and what it may import."""
    if init_text is None:
        return [f"{name}: no __init__.py"]
    docstring = ast.get_docstring(ast.parse(init_text)) or ""
    if "import" not in docstring.lower():
        return [f"{name}: its docstring does not say what it may import"]
    return []


def stubs(name: str, text: str) -> Complaints:
    """`raise NotImplementedError` is a promise, not an implementation."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node):
            found.append(f"{name}:{node.lineno}: not implemented")
    return found


def skipped_tests(name: str, text: str) -> Complaints:
    """A missing tool fails a test, it never skips it."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in PROMISES and "pytest" in ast.dump(node.value):
            found.append(f"{name}:{node.lineno}: {node.attr}")
    return found


def import_order(docstring: str) -> list[str]:
    """The names between double backticks in kproto's docstring, in their order."""
    return [name for group in re.findall(r"``([^`]+)``", docstring) for name in group.split()]


def imports(module: str, is_package: bool, text: str) -> set[str]:
    """What the module imports, lazily or not: absolute dotted names of modules and of what is in them."""
    found = set()
    base = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = base[: len(base) - node.level + 1] if node.level else []
            prefix = ".".join([*start, *([node.module] if node.module else [])])
            found.update([prefix, *(f"{prefix}.{alias.name}" for alias in node.names)])
    return found


def wrong_way_imports(sources: Mapping[str, str], order: list[str], packages: Iterable[str]) -> Complaints:
    """`sources`: module -> text. A sub-package imports from itself and those before it in `order`."""
    rank = {name: place for place, name in enumerate(order)}
    known = set(packages)
    found = set()
    for module, text in sources.items():
        parts = module.split(".")
        if len(parts) == 1:
            continue
        if parts[1] not in rank:
            found.add(f"{module}: {parts[1]} has no place in the import order")
            continue
        for target in imports(module, module in known, text):
            names = target.split(".")
            if names[0] != parts[0] or len(names) == 1 or names[1] not in rank:
                continue
            if rank[names[1]] > rank[parts[1]]:
                found.add(f"{module} imports {'.'.join(names[:2])}, which comes after {parts[1]}")
    return sorted(found)


def untold_imports(package: str, docstring: str, sources: Mapping[str, str]) -> Complaints:
    """What modules of ``package`` import of the top's other sub-packages and its docstring does not name.

    Only a docstring that lists them between double backticks behind "May import" says anything about that.
    """
    listed = re.search(r"[Mm]ay import ``([a-z ]+)``", docstring)
    if listed is None:
        return []
    top, own = package.split(".")[:2]
    used = {
        target.split(".")[1]
        for module, text in sources.items()
        if module == package or module.rpartition(".")[0] == package
        for target in imports(module, module == package, text)
        if target.startswith(f"{top}.")
    }
    return [
        f"{package} imports {name}, which its docstring does not name"
        for name in sorted(used - {own} - set(listed[1].split()))
    ]


def strings(text: str) -> set[str]:
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def dead_modules(
    sources: Mapping[str, str], packages: Iterable[str], entry_points: Iterable[str]
) -> Complaints:
    """Modules that no other module imports or names in a string, and that are no entry point.

    Lazy tables name modules in strings, in full or below the table's own package (``"groups.join_group"``),
    or a thing in them (``"kproto.cli.serve:serve"``).
    """
    known = set(packages)
    alive = set(entry_points)
    for module, text in sources.items():
        package = module if module in known else module.rpartition(".")[0]
        named = {each.partition(":")[0] for each in strings(text)}
        mentioned = imports(module, module in known, text) | named | {f"{package}.{name}" for name in named}
        alive |= mentioned - {module}
    runnable = {
        module
        for module, text in sources.items()
        if "__main__" in strings(text) or module.endswith(".__main__")
    }
    return [f"{module}: nothing imports it" for module in sorted(set(sources) - alive - known - runnable)]
