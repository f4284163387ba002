"""How the commands talk to a cluster: one connection per broker, versions negotiated, leaders looked up."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Final

import click

import kproto
from kproto.cli.arguments import BadArgument, address
from kproto.cli.patience import Passing, Patience
from kproto.config import address_text
from kproto.errors import TABLE, ErrorCode
from kproto.net.client import Client
from kproto.wire import WireError
from kproto.wire.generated.api_versions import ApiVersionsRequest
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.messages import codec

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"
API_VERSIONS: Final = 18
METADATA: Final = 3
FIND_COORDINATOR: Final = 10
DESCRIBE_CLUSTER: Final = 60
CHANGING: Final = frozenset({0, 19, 20, 37, 42, 43, 44, 45, 64})
"""Produce, CreateTopics, DeleteTopics, CreatePartitions, DeleteGroups, ElectLeaders, IncrementalAlterConfigs,
AlterPartitionReassignments and UnregisterBroker: what was asked may be done though no answer comes. A topic
that Metadata creates may be there, too."""
NO_LEADER: Final = -1
PLAINTEXT: Final = re.compile(r"\s*plaintext://", re.IGNORECASE)
LONG_S: Final = 1.0
"""A request that is answered takes less: of several brokers another one is asked then, too."""
GIVE_UP_S: Final = 30.0
"""Who says nothing for so long does not answer."""
NEW_TOPIC_S: Final = 3.0
"""Apache Kafka says of a topic that it makes just now that there is none."""
SOON_S: Final = 5.0
"""The same of what is due at once and will be asked again: others wait meanwhile. See `Cluster.hurry`."""


def bootstrap_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--bootstrap``, the same for every command that needs a broker."""
    return click.option(
        "--bootstrap",
        default=DEFAULT_BOOTSTRAP,
        show_default=True,
        metavar="HOST:PORT[,HOST:PORT...]",
        help="Any broker, or several: the first one that answers is asked.",
    )(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--json``, the same for every command that prints rows."""
    return click.option("--json", "as_json", is_flag=True, help="JSON for machines.")(function)


def require(error_code: int, what: str, message: str | None = None, *, passing: bool = False) -> None:
    """Turn a Kafka error code into one line and exit code 1. ``passing``: what clients try again is
    `Passing`."""
    if error_code != ErrorCode.NONE:
        info = TABLE.get(ErrorCode(error_code)) if error_code in ErrorCode.__members__.values() else None
        name = info.name if info else f"error {error_code}"
        text = message or (info.message if info else "")
        kind = Passing if passing and info and info.retriable else click.ClickException
        raise kind(f"{what}: {name}: {text}" if text else f"{what}: {name}")


def delete_each(names: Iterable[str], delete: Callable[[str], None]) -> None:
    """Delete all that can be, and tell of each; exit code 1 when some could not."""
    refused = False
    for name in names:
        try:
            delete(name)
            click.echo(f"deleted {name}")
        except click.ClickException as error:
            error.show()
            refused = True
    if refused:
        sys.exit(1)


def unled(topics: Iterable[Any]) -> list[tuple[str, int]]:
    """(topic, partition), in order, of those in topics of a Metadata answer that nobody leads."""
    every = ((topic.name, part) for topic in topics for part in topic.partitions)
    return sorted((name, part.partition_index) for name, part in every if part.leader_id == NO_LEADER)


def names_of(partitions: Iterable[tuple[str, int]]) -> str:
    """TOPIC-PARTITION of each."""
    return ", ".join(f"{topic}-{index}" for topic, index in partitions)


def require_leaders(missing: list[tuple[str, int]]) -> None:
    """One line and exit code 1 where there are partitions that nobody leads."""
    if missing:
        raise click.ClickException(f"no leader: {names_of(missing)}")


@dataclass(slots=True)
class Session:
    """One connection; ``call`` picks the highest version both sides speak."""

    client: Client
    versions: dict[int, tuple[int, int]]
    address: str = "the broker"

    def version(self, key: int) -> int:
        """The version to use for an API. Raises ClickException when there is none in common."""
        low, high = self.versions.get(key, (0, -1))
        mine = codec(key)
        chosen = min(high, mine.max_version)
        if chosen < max(low, mine.min_version):
            raise click.ClickException(f"the broker does not serve {mine.name}")
        return chosen

    def call(self, key: int, request: Any) -> Any:
        """Send one request and return its answer. Raises Passing when none comes, ClickException when
        something in the request is no value that Kafka's protocol has room for, BadArgument when it is a
        name of the command line in another encoding than Kafka's."""
        return self.call_version(key, self.version(key), request)

    def call_version(self, key: int, version: int, request: Any) -> Any:
        """`call` in one version."""
        began = time.monotonic()
        try:
            return self.client.call(key, version, request)
        except OSError as error:
            problem = _unanswered(error, time.monotonic() - began)
            doubtful = key in CHANGING or (key == METADATA and request.allow_auto_topic_creation)
            if doubtful:
                problem += "; whether it was done is unknown"
            raise Passing(f"{self.address}: {problem}", doubtful=doubtful) from None
        except WireError as error:
            if isinstance(error.__cause__, UnicodeEncodeError):
                raise BadArgument(f"{error.__cause__.object!a} is no UTF-8") from None
            raise click.ClickException(f"{self.address}: {error}") from None


def _unanswered(error: OSError, seconds: float) -> str:
    """How a request ended that got no answer, and when, if that was not at once."""
    if isinstance(error, TimeoutError):
        return f"no answer in {seconds:.0f} s"
    problem = error.strerror or str(error)
    return f"{problem} after {seconds:.0f} s without an answer" if seconds >= LONG_S else problem


def open_session(host: str, port: int, within_s: float = GIVE_UP_S) -> Session:
    """Connect and ask for the broker's versions. Raises Passing when nobody answers."""
    where = address_text(host, port)
    try:
        client = Client(host, port, timeout=within_s)
    except (OSError, UnicodeError) as error:
        raise Passing(f"{where}: {getattr(error, 'strerror', None) or error}") from None
    request = ApiVersionsRequest(client_software_name="kproto", client_software_version=kproto.__version__)
    answer = Session(client, {}, where).call_version(API_VERSIONS, 3, request)
    require(answer.error_code, where)
    versions = {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}
    return Session(client, versions, where)


def _addresses(bootstrap: str) -> list[tuple[str, int]]:
    """Of a list as Kafka's clients take it: each may be behind ``PLAINTEXT://``."""
    entries = [entry for entry in bootstrap.split(",") if entry.strip()]
    return [address("--bootstrap", PLAINTEXT.sub("", entry)) for entry in entries or [bootstrap]]


def open_any(bootstrap: str, within_s: float = GIVE_UP_S) -> Session:
    """A session with the first broker of a list that answers. Who says nothing is waited for while others are
    asked. Raises ClickException when none does."""
    addresses = list(dict.fromkeys(_addresses(bootstrap)))
    if len(addresses) == 1:
        return open_session(*addresses[0], within_s)
    until = time.monotonic() + within_s
    said: SimpleQueue[tuple[str, int]] = SimpleQueue()
    refused: dict[tuple[str, int], Exception] = {}
    found: list[Session] = []
    lock = Lock()

    def ask(where: tuple[str, int]) -> None:
        try:
            session = open_session(*where, max(until - time.monotonic(), LONG_S))
        except Exception as error:
            refused[where] = error
        else:
            session.client.socket.settimeout(within_s)  # for all that it is asked from now on
            with lock:
                is_first = not found
                found.append(session)
            if not is_first:
                session.client.close()
        said.put(where)

    for each in addresses:
        Thread(target=ask, args=(each,), daemon=True).start()
        with suppress(Empty):
            said.get(timeout=LONG_S)
        if found:
            return found[0]
    while not found and len(refused) < len(addresses):
        said.get()
    if found:
        return found[0]
    first = refused[addresses[0]]
    if isinstance(first, Passing):
        raise Passing(f"{first.message}; of {len(refused)} brokers none answers")
    raise first


class Cluster:
    """All brokers behind a bootstrap address."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._within_s = GIVE_UP_S
        self.any = open_any(bootstrap)
        self._by_node: dict[int, Session] = {}
        self._addresses: dict[int, tuple[str, int]] = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        for session in self._sessions():
            session.client.close()

    def _sessions(self) -> tuple[Session, ...]:
        return self.any, *self._by_node.values()

    def hurry(self) -> None:
        """From now on whoever says nothing for `SOON_S` does not answer."""
        self._within_s = SOON_S
        for session in self._sessions():
            session.client.socket.settimeout(SOON_S)

    def metadata(self, topics: Iterable[str] | None, *, create: bool = False) -> Any:
        """A Metadata answer for ``topics`` (None: all)."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=create)
        answer = self.any.call(METADATA, request)
        self._addresses.update({broker.node_id: (broker.host, broker.port) for broker in answer.brokers})
        return answer

    def topic(self, name: str, *, create: bool = False) -> Any:
        """One topic of Metadata, that may ``create`` it. Raises ClickException when there is none."""
        patience, short = Patience(), Patience(NEW_TOPIC_S)
        while True:
            found = self.metadata([name], create=create).topics[0]
            try:
                require(found.error_code, name, passing=create)
                return found
            except Passing as problem:
                is_unknown = found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                (short if is_unknown else patience).wait(problem)

    def topic_again(self, name: str) -> Any:
        """`topic`, of whichever broker answers now, and all connections from now on are new ones."""
        known = (address_text(*each) for each in self._addresses.values())
        found = open_any(",".join((self._bootstrap, *known)), self._within_s)
        self._close()
        self.any, self._by_node = found, {}
        return self.topic(name)

    def node(self, node_id: int) -> Session:
        """The session with a broker that a Metadata answer named."""
        if node_id not in self._by_node:
            address = self._addresses.get(node_id)
            if address is None:
                raise click.ClickException(f"broker {node_id} is not known (no leader?)")
            self._by_node[node_id] = open_session(*address, self._within_s)
        return self._by_node[node_id]

    def members(self) -> list[int]:
        """Node ids of live brokers. (Metadata of kproto lists those that ended a moment ago, too.)"""
        if DESCRIBE_CLUSTER not in self.any.versions:  # of Apache Kafka before 2.8
            return [broker.node_id for broker in self.metadata([]).brokers]
        from kproto.wire.generated.describe_cluster import DescribeClusterRequest

        answer = self.any.call(DESCRIBE_CLUSTER, DescribeClusterRequest())
        require(answer.error_code, "the cluster", answer.error_message)
        self._addresses.update({broker.broker_id: (broker.host, broker.port) for broker in answer.brokers})
        return [broker.broker_id for broker in answer.brokers]

    def coordinator(self, group: str) -> Session:
        """The session with the coordinator of a consumer group."""
        from kproto.wire.generated.find_coordinator import FindCoordinatorRequest

        request = FindCoordinatorRequest(key=group, key_type=0, coordinator_keys=[group])
        answer = self.any.call(FIND_COORDINATOR, request)
        found = answer.coordinators[0] if self.any.version(FIND_COORDINATOR) >= 4 else answer
        require(found.error_code, f"group {group}", found.error_message)
        self._addresses[found.node_id] = (found.host, found.port)
        return self.node(found.node_id)
