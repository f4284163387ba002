"""Somebody deletes the file of a segment while it is written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from tests.log.replicated import check_all
from tests.log.support import TOPIC_ID, Log, batch
from tests.log.test_scrubbing import append, impatient, scrubbed, three_copies

__all__ = ["impatient"]
CHECKPOINT_S = 6.0


def written(tmp_path: Path, configs: dict[str, str] | None = None) -> Log:
    """A log of one copy of which the first three records are in its file."""
    log = Log(tmp_path, configs)
    for _ in range(3):
        log.partition().append(batch(5_000))
    assert log.partition().flush()
    log.tick(CHECKPOINT_S)
    return log


def test_no_checkpoint_vouches_for_a_file_that_somebody_deleted(tmp_path: Path) -> None:
    """What was flushed to it was in no journal that a start reads, and gone with the process."""
    log = written(tmp_path)
    path = log.partition().segments[-1].path
    os.unlink(path)
    log.partition().append(batch(5_000))
    assert log.partition().flush(), "the descriptor takes it"
    log.tick(CHECKPOINT_S)
    assert log.poisoned == [f"{path}: somebody deleted it"]
    entry = log.manager.checkpointing.file.get(TOPIC_ID, 0)
    assert entry is not None
    assert entry.next_offset == 3
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 4, "the journal has it"


@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_is_gone_is_not_made_anew_without_its_beginning(tmp_path: Path, folder: bool) -> None:
    """Its descriptor had been closed because others were wanted."""
    log = written(tmp_path)
    path = log.partition().segments[-1].path
    log.manager.files.close_all()
    if folder:
        shutil.rmtree(os.path.dirname(path))
    else:
        os.unlink(path)
    log.partition().append(batch(5_000))
    assert not log.partition().flush()
    assert log.poisoned == [f"{path}: No such file or directory"]
    assert not os.path.exists(path)


def test_it_is_noticed_when_the_segment_is_full(tmp_path: Path) -> None:
    """A file that is written quickly is full before the next checkpoint."""
    log = written(tmp_path, {"kproto.segment.file.bytes": "65536"})
    path = log.partition().segments[-1].path
    os.unlink(path)
    for _ in range(20):
        log.partition().append(batch(5_000))
    log.run_deferred()
    assert log.poisoned[0] == f"{path}: somebody deleted it"


@pytest.mark.parametrize("descriptor", ["open", "closed"])
def test_what_others_have_is_written_again(tmp_path: Path, descriptor: str) -> None:
    log, copies = three_copies(tmp_path)
    append(log, 4)
    segment = log.partition().segments[-1]
    if descriptor == "closed":
        log.manager.files.close_all()
    os.unlink(segment.path)
    append(log, 1)
    log.tick(CHECKPOINT_S)
    for block in list(segment.blocks):
        segment.evict(block)
    scrubbed(log, lambda scrub: bool(scrub.mended), pause_s=100.0)
    check_all(log)
    assert copies.reads
    assert not log.poisoned


def test_a_closed_file_that_is_gone_before_it_was_synced_is_written_again(tmp_path: Path) -> None:
    """It ended the broker, with everything that it leads."""
    log, copies = three_copies(tmp_path)
    append(log, 20)
    log.run_deferred()
    segment = log.partition().segments[-2]
    assert segment.flushed > segment.synced
    os.unlink(segment.path)
    segment.sync()
    scrubbed(log, lambda scrub: bool(scrub.mended), pause_s=100.0)
    check_all(log)
    assert os.path.getsize(segment.path) == segment.size
    assert copies.reads
    assert not log.poisoned


def test_nothing_is_taken_for_synced_of_the_only_copy_when_its_file_is_gone(tmp_path: Path) -> None:
    log = written(tmp_path)
    segment = log.partition().segments[-1]
    os.unlink(segment.path)
    with pytest.raises(AssertionError, match="has disappeared"):
        segment.sync()
    assert not segment.synced
