"""Brokers of one machine, started together: ``python -m kproto.cli.launch PID``, as `kproto.local_cluster`
does, whose process has that PID.

Reading the code is half of what a broker does until it serves, and the brokers of a local cluster share the
cores: it is read once here, and each broker is a fork of this process, which ends when all are there.

Standard input has a JSON array, one object for each broker: ``name``, which ``ps`` and ``top`` show,
``arguments``, those of ``kproto``, ``within``, a command that runs it (it begins anew then), or nothing, and
``log``, the file that its output is appended to. Standard output gets another array, of their pids and when
they were started (`local_cluster.Process`). All are started, or none: one line on standard error says why.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from kproto.cli.main import main
from kproto.local_cluster import process_of

OPTIONAL: Final = "uvloop"
SHARED: Final = (
    "encodings.idna",
    "hmac",
    "tomllib",
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


def read_code() -> None:
    """What the brokers would each read."""
    with contextlib.suppress(ImportError):
        import_module(OPTIONAL)
    for module in SHARED:
        import_module(module)


class LaunchError(Exception):
    """Nothing was started, or stays; one line says why."""


def launch(brokers: list[dict[str, Any]], parent: int) -> list[tuple[int, int]]:
    """Start them; pid and start time of each, in the same order. Raises :class:`LaunchError`, also when
    nobody waits for the answer any more."""
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        logs = [os.open(one["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666) for one in brokers]
    except OSError as error:
        raise LaunchError(f"{error.filename}: {error.strerror}") from None
    if os.getppid() != parent:
        raise LaunchError("who wanted them is gone")
    if not _processes_are_shown():
        raise LaunchError("/proc does not show the processes of this system: no command would find them")
    started: list[int] = []
    for broker, log in zip(brokers, logs, strict=True):
        pid = _fork(started)
        if pid == 0:
            _redirect((nothing, log, log), (nothing, *logs))
            _become(broker)
        started.append(pid)
    return [(pid, found.born) for pid in started if (found := process_of(pid))]


def _processes_are_shown() -> bool:
    """Whether /proc is there, and of these processes: not that of another PID namespace."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


def _fork(started: list[int]) -> int:
    try:
        return os.fork()
    except OSError as error:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
        raise LaunchError(f"fork: {error.strerror}") from None


def _redirect(streams: Sequence[int], files: Sequence[int]) -> None:
    """In the child: the standard streams are to be ``streams``, and no other file stays open."""
    for number, file in enumerate(streams):
        os.dup2(file, number)
    for file in files:
        os.close(file)


def _become(broker: dict[str, Any]) -> NoReturn:
    """In the child: serve, without a terminal, until a signal."""
    os.setsid()
    command = [sys.executable, "-P", "-m", "kproto.cli.main", *broker["arguments"]]
    if broker["within"]:
        _run([*broker["within"], *command])
    sys.orig_argv = command  # a broker that is fenced starts itself anew with it
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8") as comm:
        comm.write(broker["name"])
    main(broker["arguments"], prog_name="kproto")
    sys.exit()


def _run(command: list[str]) -> NoReturn:
    """Another program instead of this one, with the signals that Python ignores."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"kproto: {command[0]}: {error.strerror}")


if __name__ == "__main__":
    read_code()
    try:
        print(json.dumps(launch(json.load(sys.stdin), int(sys.argv[1]))))
    except LaunchError as error:
        sys.exit(str(error))
