"""What is said when a broker does not answer."""

from __future__ import annotations

import socket
import time
from threading import Thread
from types import SimpleNamespace
from typing import Any

import click
import pytest

from kproto.cli import cluster
from kproto.cli.arguments import BadArgument
from kproto.cli.cluster import Cluster, Session
from kproto.errors import ErrorCode
from kproto.wire.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kproto.wire.generated.create_topics import CreateTopicsRequest
from kproto.wire.generated.metadata import MetadataRequest

METADATA, CREATE_TOPICS, REASSIGN = 3, 19, 45
ASKS = MetadataRequest(allow_auto_topic_creation=False)
TOPICS = CreateTopicsRequest()
MOVES = AlterPartitionReassignmentsRequest()
TIMED_OUT = TimeoutError("timed out")
CREATES = MetadataRequest(allow_auto_topic_creation=True)


@pytest.mark.parametrize(
    ("key", "asked", "seconds", "error", "said"),
    [
        (CREATE_TOPICS, TOPICS, 30.0, TIMED_OUT, "no answer in 30 s; whether it was done is unknown"),
        (
            CREATE_TOPICS,
            TOPICS,
            29.8,
            ConnectionError("the broker closed the connection"),
            "the broker closed the connection after 30 s without an answer; whether it was done is unknown",
        ),
        (REASSIGN, MOVES, 30.0, TIMED_OUT, "no answer in 30 s; whether it was done is unknown"),
        (METADATA, ASKS, 30.0, TIMED_OUT, "no answer in 30 s"),
        (METADATA, CREATES, 30.0, TIMED_OUT, "no answer in 30 s; whether it was done is unknown"),
        (METADATA, ASKS, 0.1, ConnectionResetError(104, "Reset by peer"), "Reset by peer"),
    ],
)
def test_it_is_said_how_long_there_was_no_answer(
    key: int, asked: object, seconds: float, error: OSError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0

    def call(_key: int, _version: int, _request: object) -> object:
        nonlocal now
        now += seconds
        raise error

    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now))
    client: Any = SimpleNamespace(call=call)
    with pytest.raises(click.ClickException) as failed:
        Session(client, {key: (0, 100)}, "h:1").call(key, asked)
    assert failed.value.message == f"h:1: {said}"


def test_a_bootstrap_list_as_clients_take_it() -> None:
    found = cluster._addresses("PLAINTEXT://a:1, plaintext://[::1]:2,b:3")
    assert found == [("a", 1), ("::1", 2), ("b", 3)]
    with pytest.raises(BadArgument):
        cluster._addresses("a:1,PLAINTEXT://")


def test_who_speaks_something_else() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = Thread(target=lambda: server.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        answering.start()
        with pytest.raises(click.ClickException, match="does it speak TLS, or HTTP"):
            cluster.open_any(f"127.0.0.1:{server.getsockname()[1]}")
        answering.join()


def test_brokers_that_say_nothing_are_waited_for_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those that wait for a controller. It took half a minute for each; and one that hangs, named first,
    kept the others from being asked for so long."""
    monkeypatch.setattr(cluster, "LONG_S", 0.1)
    silent = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
    names = [f"127.0.0.1:{each.getsockname()[1]}" for each in silent]
    began = time.monotonic()
    with pytest.raises(click.ClickException) as failed:
        cluster.open_any(",".join(names), 2.0)
    assert time.monotonic() - began < 6.0
    assert failed.value.message == f"{names[0]}: no answer in 2 s; of 4 brokers none answers"
    with socket.create_server(("127.0.0.1", 0)) as server:
        name = f"127.0.0.1:{server.getsockname()[1]}"
        Thread(target=_answer, args=(server,), daemon=True).start()
        began = time.monotonic()
        session = cluster.open_any(",".join((*names, name)), 60.0)
        assert session.client.socket.gettimeout() == 60.0, "it had as much less as others were waited for"
        session.client.close()
        assert time.monotonic() - began < 30.0
        assert session.address == name
    for each in silent:
        each.close()


def _answer(server: socket.socket) -> None:
    """One request, which is ApiVersions, as a broker that serves nothing."""
    with server.accept()[0] as connection:
        request = connection.recv(1000)
        body = request[8:12] + b"\0\0\1" + b"\0\0\0\0\0"
        connection.sendall(len(body).to_bytes(4) + body)
        connection.recv(1)


@pytest.mark.parametrize("first", [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE])
@pytest.mark.parametrize("create", [True, False])
def test_a_topic_that_is_being_created_is_asked_for_again(first: ErrorCode, create: bool) -> None:
    """Apache Kafka's first answer is that there is none; `kproto produce` ended with it."""
    answers = iter([first, first, ErrorCode.NONE])

    def metadata(names: list[str], *, create: bool) -> Any:
        return SimpleNamespace(topics=[SimpleNamespace(error_code=next(answers), name=names[0])])

    asked: Any = SimpleNamespace(metadata=metadata)
    if create:
        assert Cluster.topic(asked, "t", create=True).name == "t"
    else:
        with pytest.raises(click.ClickException, match=first.name):
            Cluster.topic(asked, "t")
        assert next(answers) == first


def test_a_topic_that_is_not_created_is_soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "NEW_TOPIC_S", 0.2)
    unknown = SimpleNamespace(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    asked: Any = SimpleNamespace(metadata=lambda *_, **__: SimpleNamespace(topics=[unknown]))
    with pytest.raises(click.ClickException, match=r"UNKNOWN_TOPIC_OR_PARTITION.*; tried again for 0.2 s"):
        Cluster.topic(asked, "t", create=True)
