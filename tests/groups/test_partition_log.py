"""Commits on their way into ``__consumer_offsets``."""

from types import SimpleNamespace
from typing import Any, cast

from kproto.errors import KafkaError
from kproto.handlers.groups.partition_log import PartitionLog
from kproto.vlog.virtual_log import VirtualLog


class OnePartition(PartitionLog):
    """Has one partition, which appends to a virtual log of three copies."""

    def __init__(self) -> None:
        self.vlog = VirtualLog(1, 1, 3)
        self.hurried = 0
        self.vlog.hurry = self._hurry

    def _hurry(self) -> None:
        self.hurried += 1

    def _append(self, _chunk: memoryview, owned: bool) -> tuple[int]:
        assert owned
        self.vlog.append(cast(Any, self))
        return (7,)

    def _partition(self, index: int) -> Any:
        return SimpleNamespace(append=self._append, vlog=self.vlog)

    def _is_short(self, partition: Any) -> bool:
        return False


def test_a_commit_is_not_waited_with_and_is_done_when_all_copies_have_it() -> None:
    log = OnePartition()
    done: list[tuple[int, KafkaError | None]] = []
    log.append(0, bytearray(100), lambda *told: done.append(told))
    assert log.hurried == 1
    for told in log.vlog.note_written(1):
        told()
    assert done == [], "the journal alone is not enough"
    log.vlog.durable = 1
    for _, told in log.vlog.waiters:
        told()
    assert done == [(7, None)]
