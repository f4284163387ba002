"""What is said when a broker does not answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import click
import pytest

from kproto.cli import cluster
from kproto.cli.cluster import Session

METADATA, CREATE_TOPICS = 3, 19


@pytest.mark.parametrize(
    ("key", "seconds", "error", "said"),
    [
        (CREATE_TOPICS, 30.0, TimeoutError("timed out"), "no answer in 30 s; whether it was done is unknown"),
        (
            CREATE_TOPICS,
            29.8,
            ConnectionError("the broker closed the connection"),
            "the broker closed the connection after 30 s without an answer; whether it was done is unknown",
        ),
        (METADATA, 30.0, TimeoutError("timed out"), "no answer in 30 s"),
        (METADATA, 0.1, ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer"),
    ],
)
def test_it_is_said_how_long_there_was_no_answer(
    key: int, seconds: float, error: OSError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0

    def call(_key: int, _version: int, _request: object) -> object:
        nonlocal now
        now += seconds
        raise error

    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now))
    client: Any = SimpleNamespace(call=call)
    with pytest.raises(click.ClickException) as failed:
        Session(client, {key: (0, 100)}, "h:1").call(key, None)
    assert failed.value.message == f"h:1: {said}"
