"""Spark's Kafka connector for local runs: its jars, and a session that uses them.

pom.xml names the jars by Maven coordinates. One of the connector's own dependencies,
`org.apache.spark:spark-token-provider-kafka-0-10_2.13`, is not to be had everywhere; the connector calls
three of its classes, and only to deal with Kafka delegation tokens. token_provider/ holds stand-ins of ours
with the methods that the connector's class files refer to, compiled here against pyspark's jars. Delegation
tokens are therefore not available in these sessions; everything else is Spark's own code. Use the real jar
where it can be had.

Needs a JDK 17 and Maven. May import pyspark, bench.jars and the standard library, nothing of kproto.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.jars import cached, fetch, run_tool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
TOKEN_PROVIDER = HERE / "token_provider"


def _pyspark_jars() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent / "jars"


def _build(target: Path) -> None:
    """Fill the new directory `target` with the connector's jars and the compiled stand-in."""
    fetch(HERE / "pom.xml", target)
    classes = target / "classes"
    sources = sorted(str(path) for path in TOKEN_PROVIDER.glob("*.java"))
    run_tool(
        "javac", "--release", "17", "-proc:none", "-cp", f"{_pyspark_jars()}/*", "-d", str(classes), *sources
    )
    run_tool(
        "jar", "--create", "--file", str(target / "token-provider-stand-in.jar"), "-C", str(classes), "."
    )
    shutil.rmtree(classes)


def connector_jars() -> list[Path]:
    """The connector's jars, downloaded and compiled on first use (about 6 s), then kept.

    Raises RuntimeError with the output of a failing Maven or javac, FileNotFoundError when one is missing.
    """
    import pyspark

    sources = [HERE / "pom.xml", *sorted(TOKEN_PROVIDER.glob("*.java"))]
    return sorted(cached("spark-connector", sources, _build, pyspark.__version__).glob("*.jar"))


def local_session(app: str, cores: int = 2, scratch: Path | None = None) -> SparkSession:
    """A quiet local Spark session with the Kafka connector, in UTC; `scratch` takes Spark's working files.

    One JVM serves the process: a second call returns the running session. Stop it with `.stop()`.
    """
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    work = scratch or Path(tempfile.mkdtemp(prefix="kproto-spark-"))
    builder = SparkSession.builder.master(f"local[{cores}]").appName(app)
    settings = {
        "spark.jars": ",".join(str(path) for path in connector_jars()),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.local.dir": str(work / "local"),
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{HERE / 'log4j2.properties'}",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
