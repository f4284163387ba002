"""What a broker of a cluster remembers for the controller."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from kproto.log.partition import Partition
from kproto.member import ClusterMember


def test_a_log_start_that_waits_to_be_stored_does_not_go_back() -> None:
    """Who tells the present one while a later one waits took that from the store, for as long as nobody asked
    for it again (44)."""
    begun: list[object] = []
    member: Any = SimpleNamespace(_starts={}, _begin=begun.append, _propose_starts=object)
    one, again = (cast(Partition, SimpleNamespace(topic_id=b"t" * 16, index=3)) for _ in range(2))
    for offset in (500, 600, 100):
        ClusterMember.note_log_start(member, one, offset)
    assert member._starts == {(b"t" * 16, 3): (one, 600)}
    ClusterMember.note_log_start(member, again, 50)
    assert member._starts == {(b"t" * 16, 3): (again, 50)}, "it was opened anew"
    assert len(begun) == 1
