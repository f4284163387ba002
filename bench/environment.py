"""Where and with what it was measured: what a reader needs to judge the figures. Part of every result."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import kproto
from bench.brokers import HEAP
from bench.jars import kafka_version

CHECKOUT = Path(kproto.__file__).parents[1]


def environment(**more: Any) -> dict[str, Any]:
    """The machine, the programs, its load now (before the suite adds its own), and ``more``."""
    cpu = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return {
        "cores": os.cpu_count() or 1,
        "cpu": cpu[0] if cpu else platform.machine(),
        "memory_gb": round(int(memory[1]) * 1024 / 1e9, 1) if memory else 0,
        "system": f"Linux {platform.release()}",
        "python": python_build(),
        "kproto": f"{kproto.__version__}{revision(CHECKOUT)}, {_installed('uvloop')}",
        "kafka": f"Apache Kafka {kafka_version()} as shipped, heap {HEAP}",
        "java": first_line("java", "-version"),
        "load_1m": round(os.getloadavg()[0], 2),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        **more,
    }


def python_build() -> str:
    """The interpreter and how it was built: one without profile-guided optimisation is a quarter slower. That
    of a distribution has it, though its configure flags do not say so."""
    flags = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimised = "optimised" if "--enable-optimizations" in flags else "not built with --enable-optimizations"
    if sys.base_prefix == "/usr":
        optimised = "the distribution's build"
    return f"{platform.python_implementation()} {platform.python_version()}, {optimised}"


def first_line(*command: str) -> str:
    """The first line a command prints, wherever it prints it; "none" when it is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "none"
    return (done.stdout + done.stderr).strip().split("\n")[0]


def revision(checkout: Path) -> str:
    """ " at <commit>" of a clone, "+" behind it when its files were changed; nothing where there is none."""
    if not (checkout / ".git").exists() or not shutil.which("git"):
        return ""
    asked = ["git", "-C", str(checkout), "describe", "--always", "--exclude=*", "--dirty=+"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return f" at {done.stdout.strip()}" if done.returncode == 0 else ""


def _installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
