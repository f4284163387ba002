"""A whole cluster on this machine: one process per broker, remembered in a file so that any command finds it.

``cluster.json`` in the cluster's directory holds the ports, the settings and the processes; each broker has
its data in ``broker-<node>`` beside it and writes to ``broker-<node>.log``; they read the cluster's secret in
``secret.toml``, because command lines are shown to everybody. A process is recognised by its
pid together with the time it was started, so that nothing else is ever signalled. Commands may run at the
same time: who changes the file holds a lock, and reads first what others have written.

May import nothing of kproto: it starts brokers as a command does (``kproto.cli.launch``).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

FILE: Final = "cluster.json"
LOCK_FILE: Final = "cluster.lock"
SECRET_FILE: Final = "secret.toml"
SECRET: Final = "kproto.cluster.secret"
IDENTITY_FILE: Final = "identity.json"
METADATA_FILE: Final = "metadata.sqlite"
CLEAN_FILE: Final = "clean"
"""These three are a broker's own, in its data directory; the last one only from a clean stop to a start."""
INTERNAL_OFFSET: Final = 1000
METRICS_OFFSET: Final = 2000
INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FREE_PORTS: Final = range(20_000, 29_000)
_given: Final[deque[int]] = deque(maxlen=1000)
"""Of those what this process was given last."""
START_TIMEOUT_S: Final = 30.0
STOP_TIMEOUT_S: Final = 30.0
PAGE_S: Final = 10.0
RUNNING, PAUSED, DEAD = "running", "paused", "dead"
STOPPED: Final = "stopped"
"""What operators are told of a dead one that was stopped cleanly."""
START_ONE: Final = "start one with: kproto cluster start"
SAID_BYTES: Final = 2000
"""The end of what a broker that did not start has logged."""
OF_ONE_BROKER: Final = frozenset(
    (
        *("node.id", "broker.id", "listeners", "advertised.listeners", "log.dir", "log.dirs"),
        *("kproto.internal.listen", "kproto.internal.advertise", "kproto.join", "kproto.metrics.listen"),
    )
)
"""Settings that no two brokers have the same: they follow from the plan."""


class ClusterError(Exception):
    """The cluster cannot do that; the message is one line for the operator."""


class NotYetError(ClusterError):
    """A broker that was started runs, and is no member of the cluster yet: it waits for something."""


@dataclass(slots=True)
class Node:
    """One broker. ``pid`` is 0 while it was never started; ``born`` is the process's start time in ticks."""

    node: int
    port: int
    internal_port: int
    metrics_port: int
    pid: int = 0
    born: int = 0

    def page(self, path: str, timeout_s: float = PAGE_S) -> Any:
        """A page of its metrics address, which is closed while it starts. Raises OSError, HTTPException and
        ValueError for what is no JSON.
        """
        from urllib.request import urlopen

        with urlopen(f"http://127.0.0.1:{self.metrics_port}{path}", timeout=timeout_s) as answer:
            return json.load(answer)


@dataclass(slots=True)
class _Document:
    nodes: list[Node]
    settings: dict[str, str] = field(default_factory=dict)


class LocalCluster:
    """The cluster in ``directory``. Node 1 keeps the metadata unless that is in etcd."""

    def __init__(self, directory: str, document: _Document) -> None:
        self.directory = directory
        self._document = document
        self._logged: dict[int, int] = {}
        """How long the logs of brokers were before they were started."""

    @classmethod
    def create(
        cls, directory: str, brokers: int, base_port: int = 9092, settings: Mapping[str, str] | None = None
    ) -> LocalCluster:
        """Plan a cluster of ``brokers`` nodes; node n listens on ``base_port + n - 1`` (0: on free ports).

        ``settings``: dotted names to text, for every broker. Raises :class:`ClusterError` when the directory
        has a cluster already, or a setting cannot be the same for all.
        """
        check_settings(settings or {})
        try:
            os.makedirs(directory, exist_ok=True)
        except OSError as error:
            raise ClusterError(f"{directory}: {error.strerror}") from None
        if os.path.exists(os.path.join(directory, IDENTITY_FILE)):
            raise ClusterError(f"{directory} is the data directory of a broker; use another one")
        offsets = (0, INTERNAL_OFFSET, METRICS_OFFSET)
        free = iter(free_ports(3 * brokers) if base_port == 0 else ())
        nodes = [
            Node(n + 1, *(next(free) if base_port == 0 else base_port + offset + n for offset in offsets))
            for n in range(brokers)
        ]
        own = {SECRET: secrets.token_hex(16), **(settings or {})}
        cluster = cls(directory, _Document(nodes, own))
        with cluster._locked():
            if cls.exists(directory):
                raise ClusterError(f"{directory} has a cluster already")
            cluster._save(own)
        return cluster

    @staticmethod
    def exists(directory: str) -> bool:
        """Whether `open` has something to open there."""
        return os.path.exists(os.path.join(directory, FILE))

    @classmethod
    def open(cls, directory: str) -> LocalCluster:
        """The cluster that ``directory`` has. Raises :class:`ClusterError` when there is none."""
        return cls(directory, _read(directory))

    def refresh(self) -> None:
        """Other commands may have started brokers since the file was read, or taken some out: know that.

        The settings stay those that were read first. Raises :class:`ClusterError` when the cluster is gone.
        """
        there = {each.node: each for each in _read(self.directory).nodes}
        for each in list(self.nodes):
            found = there.get(each.node)
            if found is None:
                self.nodes.remove(each)
            else:
                each.pid, each.born = found.pid, found.born

    @property
    def nodes(self) -> list[Node]:
        """All brokers, by node id."""
        return self._document.nodes

    @property
    def bootstrap_servers(self) -> str:
        """What clients need."""
        return ",".join(f"127.0.0.1:{each.port}" for each in self.nodes)

    def data_dir(self, node: int) -> str:
        return os.path.join(self.directory, f"broker-{node}")

    def log_path(self, node: int) -> str:
        return os.path.join(self.directory, f"broker-{node}.log")

    def node(self, number: int) -> Node:
        """Raises :class:`ClusterError` for a node that is not in the cluster."""
        for each in self.nodes:
            if each.node == number:
                return each
        raise ClusterError(
            f"there is no node {number}; there are {', '.join(str(each.node) for each in self.nodes)}"
        )

    def state(self, node: Node) -> str:
        """``running``, ``paused`` (SIGSTOP) or ``dead``."""
        found = process_of(node.pid) if node.pid else None
        if found is None or found.born != node.born or found.is_dead:
            return DEAD
        return PAUSED if found.state in "Tt" else RUNNING

    def shown_state(self, node: Node) -> str:
        """The same for operators: ``stopped`` when it was a clean stop."""
        state = self.state(node)
        is_clean = os.path.exists(os.path.join(self.data_dir(node.node), CLEAN_FILE))
        return STOPPED if state == DEAD and is_clean else state

    # Doing things

    def start(self, nodes: Iterable[int] | None = None, *, wait: bool = True) -> None:
        """Start the brokers that are not running (all, or ``nodes``) and wait until clients can connect.

        Raises :class:`ClusterError`; :class:`NotYetError` of one that is left running.
        """
        with self._locked():
            self.refresh()
            wanted = [self.node(n) for n in nodes] if nodes is not None else self.nodes
            started = [each for each in wanted if self.state(each) == DEAD]
            for each in started:
                self._require_metadata(each)
                self._require_ports(each)
            with uninterrupted():
                self._spawn(started)
                self._save(_read(self.directory).settings)
        deadline = time.monotonic() + START_TIMEOUT_S
        for each in started if wait else ():
            self._wait_until_up(each, deadline)

    def kill(self, *nodes: int) -> None:
        """SIGKILL, as a crash would, in the same moment; the data stays."""
        for node in nodes:
            self._signal(node, signal.SIGKILL)
        for node in nodes:
            self._reap(self.node(node), STOP_TIMEOUT_S)

    def pause(self, node: int) -> None:
        """SIGSTOP: the broker is there and does nothing."""
        self._signal(node, signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """SIGCONT."""
        self._signal(node, signal.SIGCONT)

    def stop(self, nodes: Iterable[int] | None = None) -> None:
        """SIGTERM and wait for a clean stop; the node that keeps the metadata goes last."""
        wanted = [self.node(n) for n in nodes] if nodes is not None else list(reversed(self.nodes))
        for each in wanted:
            if (state := self.state(each)) != DEAD:
                with contextlib.suppress(ClusterError):  # it may end by itself meanwhile
                    if state == PAUSED:
                        self._signal(each.node, signal.SIGCONT)
                    self._signal(each.node, signal.SIGTERM)
                self._reap(each, STOP_TIMEOUT_S)

    def restart(self, node: int) -> None:
        """Stop cleanly and start again."""
        self.stop([node])
        self.start([node])

    def keeps_metadata(self, node: int) -> bool:
        """Without it the cluster has no controller."""
        return node == 1 and not self._in_etcd

    def discard(self) -> None:
        """Stop what runs and forget the plan; data and logs stay. Another one can be made here."""
        self.stop()
        for name in (FILE, SECRET_FILE):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.directory, name))

    @property
    def settings(self) -> Mapping[str, str]:
        """What every broker is told, by dotted name."""
        return self._document.settings

    def forget(self, node: int) -> None:
        """A dead broker that was taken out of the cluster: its directory stays, and is no part of it."""
        with self._locked():
            self.refresh()
            gone = self.node(node)
            if self.state(gone) != DEAD:
                raise ClusterError(f"node {node} is running: stop it first")
            self.nodes.remove(gone)
            self._save(_read(self.directory).settings)

    @property
    def _in_etcd(self) -> bool:
        return self._document.settings.get("kproto.metadata.store", "").startswith("etcd:")

    def wipe(self, node: int) -> None:
        """Delete the data of a dead broker: it comes back as another store (rule 3)."""
        if self.state(self.node(node)) != DEAD:
            raise ClusterError(f"node {node} is running: stop it first")
        shutil.rmtree(self.data_dir(node), ignore_errors=True)

    # How

    def node_settings(self, node: Node) -> dict[str, str]:
        """Dotted names to text: what this broker is told beside its port and directory."""
        settings = {
            "kproto.internal.listen": f"127.0.0.1:{node.internal_port}",
            "kproto.metrics.listen": f"127.0.0.1:{node.metrics_port}",
            **self._document.settings,
        }
        if node.node != 1 and not self._in_etcd:
            settings["kproto.join"] = f"127.0.0.1:{self.nodes[0].internal_port}"
        return settings

    def arguments(self, node: Node) -> list[str]:
        """Of ``kproto``, to run one broker."""
        arguments = ["serve", "--quiet", "--node-id", str(node.node)]
        arguments += ["--listen", f"127.0.0.1:{node.port}", "--data-dir", self.data_dir(node.node)]
        arguments += ["--config", os.path.join(self.directory, SECRET_FILE)]
        for name, value in self.node_settings(node).items():
            if name != SECRET:
                arguments += ["--set", f"{name}={value}"]
        return arguments

    def within(self, node: Node) -> list[str]:  # noqa: ARG002
        """The command that the broker's own is given to as arguments, when it is to run inside of another
        one."""
        return []

    def _spawn(self, nodes: Sequence[Node]) -> None:
        if not nodes:
            return
        secret = json.dumps(self._document.settings.get(SECRET, ""), ensure_ascii=False)
        secret = secret.replace("\x7f", "\\u007f")  # the one that JSON has as it is and TOML has not
        self._write(SECRET_FILE, f'"{SECRET}" = {secret}\n')
        for each in nodes:
            path = self.log_path(each.node)
            self._logged[each.node] = os.path.getsize(path) if os.path.exists(path) else 0
        brokers = [
            {
                "name": f"kproto-{each.node}",
                "within": self.within(each),
                "arguments": self.arguments(each),
                "log": self.log_path(each.node),
            }
            for each in nodes
        ]
        launched = subprocess.run(
            [sys.executable, "-P", "-m", "kproto.cli.launch", str(os.getpid())],
            input=json.dumps(brokers).encode(),
            capture_output=True,
            check=False,
            start_new_session=True,  # Ctrl-C is for the command, which knows what to do about it
        )
        if launched.returncode:
            said = launched.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise ClusterError(f"brokers cannot be started: {said or f'exit code {launched.returncode}'}")
        for each, found in zip(nodes, json.loads(launched.stdout), strict=True):
            each.pid, each.born = found

    def _require_metadata(self, node: Node) -> None:
        """Without it the broker would be another cluster, which the others do not belong to."""
        file = os.path.join(self.data_dir(node.node), METADATA_FILE)
        if not self.keeps_metadata(node.node) or os.path.exists(file):
            return
        for each in self.nodes:
            cluster_id = _cluster_of(self.data_dir(each.node))
            if cluster_id:
                raise ClusterError(
                    f"node {node.node} cannot start: {file} is gone, the only metadata of cluster"
                    f" {cluster_id}: put a backup of all directories back, or start another with --data-dir"
                )

    def _require_ports(self, node: Node) -> None:
        """Who answers there would be taken for the broker."""
        for port in (node.port, node.internal_port, node.metrics_port):
            if not is_free(port):
                raise ClusterError(f"node {node.node} cannot start: somebody listens on port {port} already")

    def _wait_until_up(self, node: Node, deadline: float) -> None:
        while time.monotonic() < deadline and self.state(node) != DEAD:
            try:
                # The metrics endpoint opens last: the broker is a member then. Clients' port is bound first.
                socket.create_connection(("127.0.0.1", node.metrics_port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.01)
        said = self._said(node.node)
        if self.state(node) == DEAD:
            raise ClusterError(f"node {node.node} did not start: {said or 'it ended and has logged nothing'}")
        raise NotYetError(
            f"node {node.node} has started, but is no member of the cluster yet after {START_TIMEOUT_S:g} s: "
            f"{said or 'it has logged nothing'}"
        )

    def _said(self, number: int) -> str:
        """The end of what a broker has logged since it was started last."""
        with open(self.log_path(number), "rb") as log:
            log.seek(self._logged.get(number, 0))
            return log.read()[-SAID_BYTES:].decode("utf-8", "replace").strip()

    def _signal(self, number: int, what: signal.Signals) -> None:
        node = self.node(number)
        if self.state(node) != DEAD:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.kill(node.pid, what)
                return
        raise ClusterError(f"node {number} is not running")

    def _reap(self, node: Node, timeout_s: float) -> None:
        """Wait until the process has ended, whoever its parent is."""
        deadline = time.monotonic() + timeout_s
        while self.state(node) != DEAD:
            if time.monotonic() > deadline:
                raise ClusterError(f"node {node.node} (pid {node.pid}) does not stop")
            time.sleep(0.005)
        try:
            os.waitpid(node.pid, os.WNOHANG)
        except ChildProcessError:
            pass

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """No other command starts or forgets a broker meanwhile; what is saved has to be read inside."""
        try:
            lock = os.open(os.path.join(self.directory, LOCK_FILE), os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            raise ClusterError(f"{self.directory} has no cluster; {START_ONE}") from None
        except OSError as error:
            raise ClusterError(f"{self.directory}/{LOCK_FILE}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _save(self, settings: Mapping[str, str]) -> None:
        """The nodes as they are known here. ``settings``: those of the file, which an operator may edit."""
        self._write(FILE, json.dumps(asdict(_Document(self.nodes, dict(settings))), indent=1))

    def _write(self, name: str, text: str) -> None:
        path = os.path.join(self.directory, name)
        with open(path + ".new", "w", encoding="utf-8", opener=_private) as file:
            file.write(text)
        os.replace(path + ".new", path)


@contextlib.contextmanager
def heard(numbers: Collection[int], handler: Callable[[int], object]) -> Iterator[None]:
    """``handler`` is called with the signals of these numbers that come meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in another one
        return
    before = {each: signal.signal(each, lambda number, _: handler(number)) for each in numbers}
    try:
        yield
    finally:
        for each, former in before.items():
            signal.signal(each, former or signal.SIG_DFL)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that end this process take effect at the end: processes that were started are known then, and
    can be stopped. Those that it ignores these ignore as well (nohup)."""
    came: list[int] = []
    wanted = [each for each in INTERRUPTS if signal.getsignal(each) is not signal.SIG_IGN]
    try:
        with heard(wanted, came.append):
            yield
    finally:
        for number in came:
            signal.raise_signal(number)


def _read(directory: str) -> _Document:
    """What the file has. Raises :class:`ClusterError`."""
    try:
        with open(os.path.join(directory, FILE), encoding="utf-8") as file:
            document = json.load(file)
        return _Document([Node(**each) for each in document["nodes"]], document["settings"])
    except FileNotFoundError:
        raise ClusterError(f"{directory} has no cluster; {START_ONE}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(f"{directory}/{FILE}: {getattr(error, 'strerror', None) or error}") from None


def _cluster_of(data_dir: str) -> str:
    """Which cluster a broker's directory notes that it is of; nothing when it was never in one."""
    try:
        with open(os.path.join(data_dir, IDENTITY_FILE), encoding="utf-8") as file:
            return str(json.load(file).get("cluster_id", ""))
    except (OSError, ValueError, AttributeError):  # the broker itself says what is wrong with it
        return ""


def check_settings(settings: Iterable[str]) -> None:
    """Raises :class:`ClusterError` for one that is not for all brokers."""
    for name in settings:
        if name in OF_ONE_BROKER:
            raise ClusterError(f"{name} is another one for each broker: kproto cluster sets it")


def _private(path: str, flags: int) -> int:
    """Open for this user only: the file has the cluster's secret."""
    file = os.open(path, flags, 0o600)
    os.fchmod(file, 0o600)
    return file


class Process(NamedTuple):
    """State letter of its first thread, how many threads there are, and its start time (clock ticks since
    boot)."""

    state: str
    threads: int
    born: int

    @property
    def is_dead(self) -> bool:
        """It may wait to be reaped. As long as another thread waits for the disk, its files are open and its
        lock on the data is held."""
        return self.state in "ZX" and self.threads <= 1


def process_of(pid: int) -> Process | None:
    """What is known of it; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process(fields[0], int(fields[17]), int(fields[19]))


def is_free(port: int) -> bool:
    """Nobody listens on a TCP port of 127.0.0.1 at this moment."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # who listened before may just have ended
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """TCP ports of 127.0.0.1 that nobody listens on at this moment, below those that outgoing connections
    get: who is away must find its port free when it comes back. This process does not get them again soon.
    Raises :class:`ClusterError` when there are too few.
    """
    found: list[int] = []
    first = secrets.randbelow(len(FREE_PORTS))
    for port in (*FREE_PORTS[first:], *FREE_PORTS[:first]):
        if port not in _given and is_free(port):
            _given.append(port)
            found.append(port)
            if len(found) == count:
                return found
    raise ClusterError(f"fewer than {count} ports are free from {FREE_PORTS.start} to {FREE_PORTS.stop}")


def free_port() -> int:
    """One of `free_ports`."""
    return free_ports(1)[0]
