"""A partition in several virtual logs: what one of them gives back must not stand behind what only the
journal of another has. A start cuts a partition at the first byte that its files lack, and goes on with the
journal.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from random import Random

import pytest

from kproto.config import load
from kproto.log.partition import Partition
from kproto.vlog.crossing import Crossing
from kproto.vlog.side import OldChunks
from kproto.vlog.virtual_log import VirtualLog
from tests.log.support import batch, everything

from . import test_with_log
from .test_with_log import Node, PowerDisk

CHUNK = 90_000
VSEG = 4 << 20


class Everything(Random):
    """A power loss that takes all that was not synced."""

    def randint(self, a: int, b: int) -> int:
        return a

    def random(self) -> float:
        return 0.0


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    """Segment files are smaller than virtual segments, and nothing is flushed by age."""
    for name, value in (
        ("kproto.virtual.segment.bytes", str(VSEG)),
        ("kproto.journal.bytes", str(16 * VSEG)),
        ("kproto.log.memory.bytes", str(16 * VSEG)),
        ("kproto.flush.age.ms", "3600000"),
    ):
        monkeypatch.setitem(test_with_log.SETTINGS, name, value)
    monkeypatch.setitem(
        test_with_log.TOPICS,
        "synced",
        {"flush.messages": "1", "kproto.segment.file.bytes": "1048576", "segment.bytes": "1048576"},
    )
    node = Node(tmp_path, PowerDisk())
    node.start()
    return node


def append(node: Node, size: int) -> None:
    """So many bytes at least, acked."""
    rng, key, partition = Random(size), ("synced", 0), node.partition("synced", 0)
    for _ in range(-(-size // CHUNK)):
        data = batch(rng.randbytes(CHUNK))
        base = partition.append(memoryview(bytearray(data)), owned=True)[0]
        node.sent.setdefault(key, {})[base] = bytes(data)
        end, vlog = partition.log_end_offset, partition.vlog
        assert isinstance(vlog, VirtualLog | Crossing)
        vlog.when_durable(vlog.end, partial(node.ack, key, end, vlog))
        node.loop.until(node.vlogs.drain)


def move(node: Node, partition: Partition) -> None:
    """To another virtual log of the same class."""
    before = partition.vlog
    for number in (1, 2, 3):
        settings = load(None, {**test_with_log.SETTINGS, "kproto.vlogs.per.broker": str(number)})
        node.vlogs.apply_settings(settings, [partition])
        if partition.vlog is not before:
            return
    raise AssertionError("it did not move")


def give_back(node: Node) -> None:
    """All closed virtual segments that the cleaner can give back under pressure."""
    assert node.vlogs.cleaner.closed

    def done() -> bool:
        node.vlogs.cleaner.press()
        return not node.vlogs.cleaner.closed

    node.loop.until(done)


def test_a_partition_that_moved_loses_nothing_with_the_power(node: Node) -> None:
    partition = node.partition("synced", 0)
    append(node, (1 << 20) + CHUNK)
    assert len(partition.segments) == 2
    assert partition.synced_offset == 0
    move(node, partition)
    append(node, VSEG + CHUNK)
    give_back(node)
    node.lose_power(Everything())


def test_nor_does_one_that_moved_while_the_other_virtual_log_was_in_use(node: Node) -> None:
    partition = node.partition("synced", 0)
    append(node, CHUNK)
    move(node, partition)
    append(node, (2 << 20) + CHUNK)
    move(node, partition)
    append(node, VSEG + CHUNK)
    give_back(node)
    node.lose_power(Everything())


def test_nor_one_whose_beginning_is_in_the_journal_of_an_earlier_process(node: Node) -> None:
    append(node, (1 << 20) + CHUNK)
    node.lose_power(Everything())
    append(node, VSEG + CHUNK)
    give_back(node)
    node.lose_power(Everything())


def test_what_was_pushed_again_waits_for_no_file(node: Node) -> None:
    """It is in the side virtual log (rule 45); the journal that has it keeps what the files lack."""
    partition = node.partition("synced", 0)
    append(node, (1 << 20) + CHUNK)
    side = node.vlogs.side(partition)
    for ref in OldChunks(partition).references(
        memoryview(everything(partition)), 0, partition.high_watermark
    ):
        side.append(ref)
    node.loop.until(node.vlogs.drain)
    (pusher,) = [one for one in node.vlogs._pushers.values() if one.vlog is side]
    pusher.roll()
    give_back(node)
    assert partition.synced_offset == 0
    node.lose_power(Everything())


def test_a_journal_file_that_somebody_deleted_is_poison_and_no_error_of_the_loop(node: Node) -> None:
    """It was a traceback, and the process went on with what else may be gone."""
    append(node, VSEG + CHUNK)
    (closed,) = node.vlogs.cleaner.closed
    os.unlink(closed.file.path)

    def done() -> bool:
        node.vlogs.cleaner.press()
        return bool(node.poison or node.loop.errors)

    node.loop.until(done)
    assert not node.loop.errors
    (reason,) = node.poison
    assert closed.file.path in reason
    assert node.partition("synced", 0).vlog.blocked  # type: ignore[union-attr]


def test_a_stop_is_clean_though_somebody_deleted_the_journal(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    """All of it is in synced segment files by then. It was a traceback, and the next start had to recover."""
    append(node, VSEG + CHUNK)
    paths = [one for one in (node.path / "journal").iterdir() if not one.name.startswith("spare")]
    assert paths
    for path in paths:
        path.unlink()
    assert node.logs.close()
    node.vlogs.close()
    assert not node.poison
    said = [one.getMessage() for one in caplog.records]
    assert said == [f"{path} is gone: somebody else deleted it" for path in sorted(paths)]
