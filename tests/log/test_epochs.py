"""The leader-epoch cache: KIP-101 and KIP-279, as LeaderEpochFileCache answers."""

from __future__ import annotations

from pathlib import Path

from kproto.directory import LeftAs
from kproto.log.epochs import EpochCache
from tests.log.support import Log, batch


def cache(*entries: tuple[int, int]) -> EpochCache:
    found = EpochCache()
    for epoch, start in entries:
        found.note(epoch, start)
    return found


def test_end_offsets() -> None:
    epochs = cache((2, 10), (4, 20), (7, 35))
    assert epochs.end_offset(7, 7, 50) == (7, 50)
    assert epochs.end_offset(4, 7, 50) == (4, 35)
    assert epochs.end_offset(5, 7, 50) == (4, 35)
    assert epochs.end_offset(2, 7, 50) == (2, 20)
    assert epochs.end_offset(1, 7, 50) == (1, 10)
    assert epochs.end_offset(8, 7, 50) == (-1, -1)
    assert epochs.end_offset(-1, 7, 50) == (-1, -1)
    assert epochs.end_offset(-2, 7, 50) == (-2, 10), "as in Apache Kafka only -1 is no epoch"


def test_the_leaders_own_epoch_counts_before_its_first_chunk() -> None:
    epochs = cache((2, 10))
    assert epochs.end_offset(3, 3, 25) == (3, 25)
    assert epochs.end_offset(2, 3, 25) == (2, 25)
    assert cache().end_offset(3, 3, 0) == (3, 0)


def test_the_log_start_cuts_the_front() -> None:
    epochs = cache((2, 10), (4, 20), (7, 35))
    epochs.cut_front(25)
    assert list(zip(epochs.epochs, epochs.starts, strict=True)) == [(4, 25), (7, 35)]
    assert epochs.of_offset(24) == -1
    assert epochs.of_offset(25) == 4
    assert EpochCache.decode(epochs.encode()).starts == epochs.starts


def test_every_restart_is_an_epoch(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for left_as in (LeftAs.KILLED, LeftAs.CLEAN, LeftAs.KILLED):
        log.partition().append(batch(b"a", b"b"))
        log.restart(left_as)
    partition = log.partition()
    assert [partition.epoch_end_offset(epoch) for epoch in range(5)] == [
        (0, 2),
        (1, 4),
        (2, 6),
        (3, 6),
        (-1, -1),
    ]
    assert [partition.epoch_of(offset) for offset in (0, 2, 5, 6)] == [0, 1, 2, 3]
