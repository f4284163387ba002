"""Runs the franz-go program (go/): one scenario per process, its facts as JSON on standard output."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from compat_tests.support.java import BUILT

PROGRAM = BUILT / "go" / "compat"


def command(bootstrap: str, scenario: str, **args: object) -> list[str]:
    return [str(PROGRAM), bootstrap, scenario, *(f"{name}={value}" for name, value in args.items())]


def run(bootstrap: str, scenario: str, timeout_s: float = 300, **args: object) -> dict[str, Any]:
    """The scenario's facts; AssertionError with what it complained about when it failed."""
    done = subprocess.run(
        command(bootstrap, scenario, **args), capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, f"{scenario}: {done.stderr[-3000:]}"
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts
