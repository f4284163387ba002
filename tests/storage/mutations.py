"""Mends that can be taken back, one at a time: a simulation that does not notice is worth nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kproto.log.checkpointing import Checkpointing
from kproto.log.manager import LogManager
from kproto.log.producers import Producers
from kproto.log.segment import Segment
from kproto.log.trash import Trash
from kproto.vlog.group_sync import GroupSync


@dataclass(frozen=True)
class Mutation:
    """``caught`` names the invariant that breaks; ``seeds`` are some that find it, at the last look. Which
    ones do changes with whatever seeds do: see `test_a_mend_that_is_taken_back_is_missed`."""

    name: str
    caught: str
    place: tuple[Any, str]
    instead: Any
    seeds: tuple[int, ...]

    @property
    def replaced(self) -> list[tuple[Any, str, Any]]:
        return [(*self.place, self.instead)]


def _nothing(*_: object) -> None:
    """Not done."""


def _closed_only(sync: GroupSync) -> None:
    sync._closed = True


_tear = Segment.tear


def _tear_as_lost(segment: Segment, position: int, offset: int) -> None:
    """What was deleted counts, too."""
    partition = segment.partition
    start, partition.log_start_offset = partition.log_start_offset, -1
    try:
        _tear(segment, position, offset)
    finally:
        partition.log_start_offset = start


MUTATIONS: Final = [
    Mutation(
        "a start after a kill does not know that what was deleted was in no file",
        "S1",
        (Checkpointing, "note_gap"),
        _nothing,
        (1740, 2088),
    ),
    Mutation(
        "journal files wait for syncs that nobody begins after a stop",
        "S6",
        (GroupSync, "close"),
        _closed_only,
        (4, 8),
    ),
    Mutation("what was deleted is told to be lost", "S5", (Segment, "tear"), _tear_as_lost, (32, 36)),
    Mutation(
        "a clean stop leaves what two kills left in files to a start that does not look",
        "S1",
        (LogManager, "_open_unknown"),
        lambda _: True,
        (64,),
    ),
    Mutation(
        "producers of deleted records are forgotten with the last chunk",
        "S4",
        (Producers, "complete"),
        _nothing,
        (412, 700),
    ),
    Mutation(
        "files that a clean stop left to be removed are removed in use",
        "S5",
        (Trash, "take_back"),
        _nothing,
        (197,),
    ),
]
