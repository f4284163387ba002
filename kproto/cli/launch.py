"""Brokers of one machine, started together: ``python -m kproto.cli.launch``, as `kproto.local_cluster` does.

Reading the code is half of what a broker does until it serves, and the brokers of a local cluster share the
cores: it is read once here, and each broker is a fork of this process, which ends when all are there.

Standard input has a JSON array, one object for each broker: ``name``, which ``ps`` and ``top`` show,
``arguments``, those of ``kproto``, ``within``, a command that runs it (it begins anew then), or nothing, and
``log``, the file that its output is appended to. Standard output gets their pids, as another array.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib import import_module
from typing import Any, Final, NoReturn

from kproto.cli.main import main

SHARED: Final = (
    "uvloop",
    "encodings.idna",
    "hmac",
    "kproto.cli.serve",
    "kproto.broker",
    "kproto.member",
    "kproto.metadata.sqlite",
    "kproto.controller.loop",
    "kproto.controller.proposals",
    "kproto.controller.service",
    "kproto.vlog.replication",
    "kproto.vlog.replicated",
    "kproto.figures",
    "kproto.metrics_endpoint",
    "kproto.handlers.fetch",
    "kproto.handlers.init_producer_id",
    "kproto.handlers.metadata",
    "kproto.handlers.produce",
)
"""With what they import, all that a member of a cluster runs until its first clients are served."""


def launch(brokers: list[dict[str, Any]]) -> list[int]:
    """Start them; their pids, in the same order."""
    return [os.fork() or _become(broker) for broker in brokers]


def _become(broker: dict[str, Any]) -> NoReturn:
    """In the child: serve, without a terminal, until a signal."""
    os.setsid()
    with open(os.devnull, "rb") as nothing, open(broker["log"], "ab") as log:
        for stream, file in enumerate((nothing, log, log)):
            os.dup2(file.fileno(), stream)
    command = [sys.executable, "-m", "kproto.cli.main", *broker["arguments"]]
    if broker["within"]:
        os.execvp(broker["within"][0], [*broker["within"], *command])
    sys.orig_argv = command  # a broker that is fenced starts itself anew with it
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8") as comm:
        comm.write(broker["name"])
    main(broker["arguments"], prog_name="kproto")
    sys.exit()


if __name__ == "__main__":
    for module in SHARED:
        import_module(module)
    print(json.dumps(launch(json.load(sys.stdin))))
