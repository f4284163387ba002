"""``kproto bench``: one command for each suite, imported when it is called.

kproto finds this group by the entry point ``bench`` of ``kproto.commands``. Every suite takes ``--quick``
(short runs: to see that it works, and roughly how it stands) and ``--out DIR`` (where its `Result` files go);
``all`` runs the suites one after another and ``report`` makes the page.

May import every other part of bench, on use only.
"""

from __future__ import annotations

import compileall
import errno
import os
import signal
import sys
from typing import Any, Final

import click

import kproto
from kproto.cli.lazy import LazyGroup

_INSTALL: Final = "pip install '.[bench]' in a clone of kproto"
_MISSING: Final = {
    **dict.fromkeys(("confluent_kafka", "matplotlib", "numpy", "pyarrow", "rich", "yaml"), _INSTALL),
    "pyspark": "pip install '.[bench,spark]' in a clone of kproto",
}
_COMMANDS: Final = {
    "all": ("bench.everything:command", "Every suite, one after another, then the report."),
    "report": ("bench.page.command:command", "One page of any set of results: tables, plots, what is lost."),
    "peers": ("bench.peers:command", "Install, start and stop Apache Kafka, to compare with."),
    "omb": ("bench.omb.command:command", "OpenMessaging workloads and drivers, as they are."),
    "kera": ("bench.kera.command:command", "The figures of KerA's paper."),
    "pravega": ("bench.pravega.command:command", "The modes of Pravega's benchmark."),
    "analyze": ("bench.analysis.command:command", "Exact percentiles over all events, on Spark."),
    "selftest": ("bench.selftest:command", "What the load generator reaches against a null sink."),
    "single": ("bench.single_broker:command", "One broker: CPU, throughput and latency."),
    "cluster": ("bench.cluster:command", "Four brokers, three copies, many partitions."),
    "startup": ("bench.startup:command", "Start to first ack, idle memory, thousands of partitions."),
    "idle": ("bench.idle:command", "What four idle brokers use."),
    "recovery": ("bench.recovery:command", "How fast what a lost broker led is back."),
    "stall": ("bench.stall:command", "How long a stopped backup holds acks up."),
    "soak": ("bench.soak:command", "What grows while clients, topics and groups come and go."),
    "failover": ("bench.failover.command:command", "Brokers killed under load, nothing may be lost."),
}
_TOOLS: Final = ("java", "javac", "mvn")
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class _Group(LazyGroup):
    """Says without a traceback what is wrong with the machine: no Java, no room, no such place."""

    def invoke(self, ctx: click.Context) -> Any:
        """As any group's; exit code 1."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.filename in _TOOLS:
                raise click.ClickException(
                    f"{error.filename} is missing: it takes Java 17 and Maven"
                ) from error
            if error.filename is None and error.errno not in _FULL:
                raise
            raise click.ClickException(str(error)) from error


@click.group(
    cls=_Group,
    table=_COMMANDS,
    missing=_MISSING,
    epilog=f"The suites need more packages: {_INSTALL}, and Java 17 and Maven for Apache Kafka.",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
def bench() -> None:
    """Measure kproto, and Apache Kafka beside it."""
    signal.signal(signal.SIGTERM, _leave)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # Else nohup was asked for.
        signal.signal(signal.SIGHUP, _leave)
    # As pip does: with PYTHONDONTWRITEBYTECODE every broker would compile the whole package as it starts.
    compileall.compile_dir(os.path.dirname(kproto.__file__), quiet=2)


def _leave(number: int, frame: object) -> None:  # noqa: ARG001
    """As Ctrl-C: what was started is stopped on the way out."""
    sys.exit(128 + number)


if __name__ == "__main__":
    bench(prog_name="kproto bench")
