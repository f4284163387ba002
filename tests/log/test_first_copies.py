"""A partition that gets its first other copies: until they are whole, what is here is the only one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kproto.metadata import MetadataImage, StreamletRecord
from kproto.metadata.records import ONLINE
from tests.log.support import TOPIC_ID, Log, batch


def widened(log: Log, sources: tuple[int, ...]) -> MetadataImage:
    """Two more brokers are to have it; ``sources`` are whose virtual segments a recovery would read."""
    log.revision += 1
    image = log.image()
    record = StreamletRecord(TOPIC_ID, 0, 1, log.epoch, (1, 2, 3), ONLINE, sources)
    return replace(image, streamlets={TOPIC_ID: (record,)})


def test_a_file_that_somebody_deleted_is_poison_until_others_have_what_was_in_it(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.manager.ports.copies = object()  # type: ignore[assignment]
    partition = log.partition()
    partition.append(batch(5_000))
    log.manager.apply_image(widened(log, ()))
    assert (partition.copies, partition.has_other_copies) == (3, False)
    assert partition.flush()
    os.unlink(partition.segments[-1].path)
    log.tick(10)
    assert log.poisoned == [f"{partition.segments[-1].path}: somebody deleted it"]
    log.manager.apply_image(widened(log, (7,)))
    assert partition.has_other_copies
