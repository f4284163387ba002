"""What is said when a broker cannot be taken out."""

from __future__ import annotations

import time

import pytest

from kproto.cli import decommission
from kproto.local_cluster import ClusterError, Node


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"streamlets": 16, "copies": 3}, "it still has 16 streamlets and 3 copies that others need"),
        ({}, "the controller has not said what it still has"),
    ],
)
def test_what_is_left_is_said_in_a_sentence(
    left: dict[str, int], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decommission, "_left", lambda _other, _number: left)
    with pytest.raises(ClusterError) as refused:
        decommission._drain(Node(1, 1, 2, 3), 4, time.monotonic() - 1)
    assert str(refused.value) == f"broker 4 is not drained in time and stays: {said}"
