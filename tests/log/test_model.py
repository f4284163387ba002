"""Random histories of one partition against a model: appends, pushes, flushes, syncs, evictions, rolls,
deletions, and stops of every kind, with files that are cut or damaged above what was synced.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kproto.directory import LeftAs
from kproto.log.epochs import EpochCache
from kproto.log.producers import Producers
from kproto.log.reader import load_blocking
from kproto.wire.batch import CRC_FROM, hop
from kproto.wire.crc import crc32c
from kproto.wire.records import NO_PRODUCER, Producer
from tests.log.support import Log, batch, everything

CONFIGS = {"kproto.segment.file.bytes": "65536", "index.interval.bytes": "300", "flush.messages": "1"}
SETTINGS = {"kproto.log.memory.bytes": "1048576", "kproto.flush.bytes": "65536"}
START = 1_700_000_000_000


def complete(lookup: Generator[Any, list[memoryview], Any]) -> Any:
    """The end of a look-up that finds everything in files."""
    try:
        wanted = next(lookup)
        while True:
            wanted = lookup.send(load_blocking(wanted))
    except StopIteration as stop:
        return stop.value


class History:
    """The log under test and what it must hold: every appended chunk, as stored, by base offset."""

    def __init__(self, path: Path, seed: int, deletes: bool) -> None:
        self.random = random.Random(seed)
        self.log = Log(path, CONFIGS, settings=SETTINGS, automatic=False)
        self.chunks: list[tuple[int, int, bytes]] = []
        self.sequence = 0
        self.synced: dict[str, int] = {}
        """So many bytes of each file are on stable storage."""
        self.deletes = deletes
        self.deleted = False

    def append(self) -> None:
        partition = self.log.partition()
        producer = NO_PRODUCER
        count = self.random.randint(1, 3)
        if self.random.random() < 0.6:
            producer = Producer(7, 0, self.sequence)
            self.sequence += count
        size = self.random.choice((5, 100, 3000, 30_000))
        chunk = batch(*[size] * count, time=START + self.random.randint(-50, 50), producer=producer)
        sent = memoryview(bytes(chunk))
        base, _, _, again = partition.append(chunk, self.random.random() < 0.5)
        assert not again
        assert base == (self.chunks[-1][1] if self.chunks else 0)
        stored = bytearray(chunk)
        stored[0:8] = base.to_bytes(8, "big")
        stored[12:16] = self.log.epoch.to_bytes(4, "big")
        self.chunks.append((base, base + count, bytes(stored)))
        if producer is not NO_PRODUCER and self.random.random() < 0.3:
            found = partition.append(sent)
            assert (found[0], found[3]) == (base, True)

    def push(self) -> None:
        self.log.journal.push()

    def flush(self) -> None:
        assert self.log.partition().flush()

    def wait(self) -> None:
        self.log.tick(self.random.choice((0.1, 3.0, 20.0)))

    def clean_journal(self) -> None:
        """What the journal cleaner does: sync, then drop what is in synced segment files, once a checkpoint
        knows what was deleted."""
        partition = self.log.partition()
        assert partition.flush()
        for segment in partition.unsynced():
            segment.sync()
        self.log.tick()
        assert self.log.manager.checkpointing.deletions.all_known
        key = (partition.topic_id, partition.index)
        kept = [
            run for run in self.log.journal.stored.get(key, []) if not self.log.manager.settled(*key, run[1])
        ]
        self.log.journal.stored[key] = kept
        assert not kept

    def evict(self) -> None:
        while self.log.manager.pool.evict():
            pass

    def roll(self) -> None:
        self.log.partition().roll_group()

    def delete(self) -> None:
        partition = self.log.partition()
        if not self.deletes or partition.high_watermark == partition.log_start_offset:
            return
        target = self.random.randint(partition.log_start_offset, partition.high_watermark)
        assert partition.delete_records(target) == target
        self.deleted = True
        self.log.tick()

    def read(self) -> None:
        partition = self.log.partition()
        expected = self.expected(partition.high_watermark)
        found = everything(partition, self.random.choice((1, 2000, 1 << 20)))
        assert found == expected

    def expected(self, end: int) -> bytes:
        start = self.log.partition().log_start_offset
        return b"".join(data for _, stop, data in self.chunks if start < stop <= end)

    def look_up_time(self) -> None:
        from kproto.wire.records import iter_times

        partition = self.log.partition()
        time = START + self.random.randint(-60, 60)
        records = [
            record
            for base, end, data in self.chunks
            if end <= partition.high_watermark
            for record in iter_times(data)
            if record[1] >= partition.log_start_offset
        ]
        expected = next((record for record in records if record[0] >= time), None)
        found = complete(partition.offset_for_time(time))
        assert (found and (found.timestamp, found.offset)) == expected
        newest = max(records, key=lambda record: (record[0], -record[1]), default=None)
        found = complete(partition.max_timestamp_offset())
        assert (found and (found.timestamp, found.offset)) == newest

    def stop(self, left_as: LeftAs) -> None:
        partition = self.log.partition()
        durable, start = partition.high_watermark, partition.log_start_offset
        if left_as is LeftAs.CLEAN:
            self.push()
            durable = partition.high_watermark
        partition.size_bytes()
        for segment in partition.segments:
            self.synced[segment.path] = max(segment.synced, self.synced.get(segment.path, 0))
        if left_as is LeftAs.POWER_LOST:
            self.damage({segment.path: segment.flushed for segment in partition.segments})
        self.log.restart(left_as)
        partition = self.log.partition()
        self.chunks = [chunk for chunk in self.chunks if chunk[1] <= partition.log_end_offset]
        end = self.chunks[-1][1] if self.chunks else 0
        assert partition.log_end_offset == max(end, partition.log_start_offset)
        assert partition.log_end_offset >= durable, "durable chunks are lost"
        assert partition.high_watermark == partition.log_end_offset
        for path in self.synced:
            size = os.path.getsize(path) if os.path.exists(path) else 0
            self.synced[path] = min(self.synced[path], size)
        assert partition.log_start_offset <= start
        if left_as is LeftAs.CLEAN:
            assert partition.log_start_offset == start
        self.sequence = partition.producers[7].next_seq if 7 in partition.producers else self.sequence
        self.read()

    def damage(self, sizes: dict[str, int]) -> None:
        """What a power loss can do to bytes that were never synced, in this process or an earlier one."""
        for path, size in sizes.items():
            safe = min(self.synced[path], size)
            if not os.path.exists(path) or safe == size:
                continue
            with open(path, "r+b") as file:
                at = self.random.randint(safe, size)
                if self.random.random() < 0.5:
                    file.truncate(at)
                elif at < size:
                    file.seek(at)
                    file.write(bytes(min(4096, size - at)))
            index = path.replace(".chunks", ".index")
            if os.path.exists(index) and self.random.random() < 0.3:
                os.truncate(index, os.path.getsize(index) // 2)

    def check_folds(self) -> None:
        """S13 and S14: producers and epochs are what the chunks say; every CRC still holds."""
        partition = self.log.partition()
        producers, epochs = Producers(), EpochCache()
        for _, _, data in self.chunks:
            for _, _, fields in hop(data):
                assert crc32c(data[CRC_FROM:]) == fields[4]
                epochs.note(fields[2], fields[0])
                if fields[9] >= 0:
                    producers.add(fields[9], fields[10], fields[11], fields[12], fields[0], fields[8])
        if not self.deleted:
            assert partition.producers.encode() == producers.encode()
            assert (partition.epochs.epochs, partition.epochs.starts) == (epochs.epochs, epochs.starts)


STEPS = st.lists(
    st.sampled_from(
        ["append"] * 8
        + ["push"] * 4
        + ["flush", "wait", "clean_journal", "evict", "roll", "delete", "read", "look_up_time"]
        + ["clean", "killed", "power"]
    ),
    max_size=60,
)
STOPS = {"clean": LeftAs.CLEAN, "killed": LeftAs.KILLED, "power": LeftAs.POWER_LOST}


def play(steps: list[str], seed: int, deletes: bool) -> None:
    path = Path(tempfile.mkdtemp(prefix="kproto-log-"))
    history = History(path, seed, deletes)
    try:
        for step in steps:
            if step in STOPS:
                history.stop(STOPS[step])
            else:
                getattr(history, step)()
        history.push()
        history.read()
        history.look_up_time()
        history.check_folds()
        assert not history.log.poisoned
    finally:
        history.log.manager.files.close_all()
        shutil.rmtree(path)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, seed=st.integers(0, 1 << 30), deletes=st.booleans())
def test_random_histories(steps: list[str], seed: int, deletes: bool) -> None:
    play(steps, seed, deletes)


@pytest.mark.parametrize("seed", range(12))
def test_long_histories(seed: int) -> None:
    """Longer than hypothesis makes them, so that groups, segments and indexes come and go."""
    choose = random.Random(seed)
    names = (
        ["append"] * 20 + ["push"] * 5 + ["flush", "wait", "clean_journal", "evict", "read", "look_up_time"]
    )
    names += ["roll", "delete", "clean", "killed", "power"]
    play([choose.choice(names) for _ in range(250)], seed, seed % 2 == 0)
