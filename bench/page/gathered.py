"""What a directory holds: results, suites that failed, and the environments of all of them as one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.results import FAILED_RUN, Result, in_short, load

STATUS = "all-suites.json"
"""What `kproto bench all` leaves beside the results: a row for each command, see `Outcome`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One command of a whole pass."""

    command: str
    seconds: float
    failed: str = ""
    """Why, in its own last words; empty when all went well."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything the page is made of."""

    results: list[Result]
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def failed(self) -> list[str]:
        """What the page says was not measured: whole commands, and single runs of the others."""
        found = [one.command for one in self.outcomes if one.failed]
        for result in self.results:
            if count := sum(FAILED_RUN in note for note in result.notes):
                found.append(f"{count} {'run' if count == 1 else 'runs'} of {result.suite}-{result.name}")
        return found


def gather(directory: Path) -> Gathered:
    """Every file in it that `Result.save` wrote, suites together; other JSON is passed over. A result without
    runs is a command that failed, and so is a file that is damaged."""
    found, outcomes, damaged = [], [], []
    for path in sorted(directory.glob("*.json")):
        try:
            content = json.loads(path.read_text())
            if path.name == STATUS:
                outcomes = [Outcome(**row) for row in content]
            elif isinstance(content, dict) and {"suite", "runs"} <= content.keys():
                found.append(load(path))
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            damaged.append(Outcome(path.name, 0, f"cannot be read: {in_short(problem)}"))
    outcomes += [Outcome(each.command, 0, "\n".join(each.notes)) for each in found if not each.runs]
    return Gathered([each for each in found if each.runs], outcomes + damaged)


def environment(results: list[Result]) -> dict[str, str]:
    """One line for each name: the value, the range of numbers, or all values that differ."""
    names = dict.fromkeys(name for result in results for name in result.environment)
    found = {}
    for name in names:
        values = [result.environment[name] for result in results if name in result.environment]
        found[name] = _together(list(dict.fromkeys(map(_hashable, values))))
    return found


def _hashable(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else json.dumps(value)


def _together(values: list[Any]) -> str:
    if len(values) > 1 and all(isinstance(value, int | float) for value in values):
        return f"{min(values):g} to {max(values):g}"
    texts = sorted(map(str, values))
    if len(texts) > 3 and all(text[:4].isdigit() for text in texts):
        return f"{texts[0]} to {texts[-1]}"
    return "; ".join(map(str, values))
