"""Apache Kafka's jars, and Java compiled against them, kept between runs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
GENERATOR_SOURCE = HERE / "java" / "LoadGenerator.java"
FAILOVER_SOURCE = HERE / "java" / "FailoverLoad.java"
WORKER_SOURCE = HERE / "java" / "Worker.java"
NULL_SINK_SOURCE = HERE / "java" / "NullSink.java"


def _place(name: str, sources: list[Path], version: str = "") -> Path:
    """Where what is built from `sources`, as they are now, and something of that version is kept."""
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kproto"
    content = b"\0".join(path.read_bytes() for path in sources)
    return root / f"{name}-{hashlib.sha256(version.encode() + content).hexdigest()[:16]}"


def cached(name: str, sources: list[Path], build: Callable[[Path], None], version: str = "") -> Path:
    """The directory that `build` fills, built once per content of `sources` and per `version`."""
    ready = _place(name, sources, version)
    if not ready.is_dir():
        ready.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=ready.parent, prefix=f"{name}-tmp-"))
        try:
            build(fresh)
            fresh.rename(ready)
        except OSError:
            if not ready.is_dir():  # else: somebody else finished the same build first
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return ready


def run_tool(*command: str) -> None:
    """Maven, javac or jar. Raises RuntimeError with its output, FileNotFoundError when it is missing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command[:3])} ... failed ({done.returncode}):\n{done.stdout}{done.stderr}"
        )


def fetch(pom: Path, target: Path) -> None:
    """The jars that a pom.xml names, by Maven, into ``target``. Raises as `run_tool`."""
    command = ("mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies")
    run_tool(*command, f"-DoutputDirectory={target}")


def kafka_version() -> str:
    """The version of Apache Kafka that pom.xml names."""
    found = re.search(r"<kafka\.version>([^<]+)<", (HERE / "pom.xml").read_text())
    return found[1] if found else "unknown"


def installed_kafka() -> Path | None:
    """The directory of Apache Kafka's jars if they are here."""
    place = _place("apache-kafka", [HERE / "pom.xml"])
    return place if place.is_dir() else None


def kafka_jars() -> Path:
    """The directory of Apache Kafka's jars, downloaded on first use. Raises RuntimeError as Maven says."""
    pom = HERE / "pom.xml"
    return cached("apache-kafka", [pom], lambda target: fetch(pom, target))


def generator_classpath() -> str:
    """The class path of the load generator, compiled on first use. Raises RuntimeError as javac says."""
    return _classpath("load-generator", GENERATOR_SOURCE)


def failover_classpath() -> str:
    """The same for the load that goes on while brokers die."""
    return _classpath("failover-load", FAILOVER_SOURCE)


def worker_classpath() -> str:
    """The same for the shared load worker."""
    return _classpath("load-worker", WORKER_SOURCE)


def null_sink_classpath() -> str:
    """The same for the sink that acknowledges all and keeps nothing."""
    return _classpath("null-sink", NULL_SINK_SOURCE)


def _classpath(name: str, source: Path) -> str:
    jars = kafka_jars()

    def build(target: Path) -> None:
        command = ["javac", "-proc:none", "--release", "17", "-cp", f"{jars}/*", "-d", str(target)]
        run_tool(*command, str(source))

    classes = cached(name, [source, HERE / "pom.xml"], build)
    return f"{classes}:{jars}/*"
