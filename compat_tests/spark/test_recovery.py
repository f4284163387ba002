"""What survives: queries stopped and killed between and within batches, a killed broker, deleted records."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from compat_tests.spark.queries import (
    batch,
    files_of,
    offsets_json,
    run_to_files,
    start_to_files,
    stored,
    stream,
    wait_for,
)
from compat_tests.spark.records import Stored, new_topic, produce, sample, without_headers
from compat_tests.support.ports import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def committed_batches(directory: Path) -> int:
    commits = directory / "checkpoint" / "commits"
    return sum(1 for entry in commits.iterdir() if entry.name.isdigit()) if commits.is_dir() else 0


def assert_exactly(session: SparkSession, directory: Path, expected: list[Stored]) -> None:
    """Every record once: sorted lists, so that a duplicate is a difference too."""
    assert files_of(session, directory) == without_headers(expected)


def test_stopped_in_mid_stream_nothing_is_lost_or_doubled(
    session: SparkSession, bootstrap: str, tmp_path: Path
) -> None:
    topic = new_topic(bootstrap, 4)
    options = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 250}
    expected: list[Stored] = []
    for run in range(2):
        records = sample(2_000, 4, start=run * 2_000)
        produce(bootstrap, topic, records, "zstd")
        expected += records
        done = committed_batches(tmp_path)
        query = start_to_files(stream(session, bootstrap, topic, **options), tmp_path, every="1 second")
        try:
            wait_for(query, "two more batches", lambda before=done: committed_batches(tmp_path) >= before + 2)
        finally:
            query.stop()
        assert 0 < session.read.parquet(str(tmp_path / "files")).count() < len(expected)
    run_to_files(session, stream(session, bootstrap, topic, **options), tmp_path)
    assert_exactly(session, tmp_path, expected)


@contextmanager
def driver(bootstrap: str, topic: str, directory: Path) -> Iterator[None]:
    """A Spark driver in a process group of its own, ended by SIGKILL: Python and the JVM at once."""
    command = [sys.executable, "-m", "compat_tests.spark.driver", bootstrap, topic, str(directory)]
    with (directory / "driver.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield
        assert process.poll() is None, (directory / "driver.log").read_text()[-3000:]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_killed_driver_goes_on_from_its_checkpoint(
    session: SparkSession, bootstrap: str, tmp_path: Path
) -> None:
    topic = new_topic(bootstrap, 3)
    records = sample(3_000, 3)
    produce(bootstrap, topic, records)
    with driver(bootstrap, topic, tmp_path):
        wait_until("three batches of the driver", lambda: committed_batches(tmp_path) >= 3, timeout_s=180)
    assert committed_batches(tmp_path) < 15
    later = sample(300, 3, start=3_000)
    produce(bootstrap, topic, later)
    run_to_files(session, stream(session, bootstrap, topic, maxOffsetsPerTrigger=1_000), tmp_path)
    assert_exactly(session, tmp_path, records + later)


@pytest.mark.owns_broker
def test_a_broker_killed_under_a_running_stream(session: SparkSession, tmp_path: Path) -> None:
    from kproto.testing import SubprocessBroker

    broker = SubprocessBroker()
    broker.start()
    try:
        bootstrap = broker.bootstrap_servers
        topic = new_topic(bootstrap, 2)
        options = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 200}
        query = start_to_files(stream(session, bootstrap, topic, **options), tmp_path)
        expected: list[Stored] = []
        try:
            for run in range(3):
                records = sample(1_000, 2, start=run * 1_000)
                produce(bootstrap, topic, records, "zstd")
                expected += records
                done = committed_batches(tmp_path)
                wait_for(query, "a batch", lambda before=done: committed_batches(tmp_path) > before)
                broker.kill()
                broker.start()
            query.processAllAvailable()
        finally:
            query.stop()
        assert_exactly(session, tmp_path, expected)
    finally:
        broker.stop()


def delete_records(bootstrap: str, topic: str, before: dict[int, int]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    places = [TopicPartition(topic, partition, offset) for partition, offset in before.items()]
    for place, future in admin.delete_records(places).items():
        assert future.result(timeout=120).low_watermark == before[place.partition]


def test_fail_on_data_loss(session: SparkSession, bootstrap: str, tmp_path: Path) -> None:
    """Records deleted that a checkpoint still wanted: an error, or what is left, as the query asks."""
    topic = new_topic(bootstrap, 2)
    first, later = sample(200, 2), sample(200, 2, start=200)
    produce(bootstrap, topic, first)
    rows, _ = run_to_files(session, stream(session, bootstrap, topic, startingOffsets="earliest"), tmp_path)
    assert rows == without_headers(first)
    produce(bootstrap, topic, later)
    delete_records(bootstrap, topic, {0: 130, 1: 177})
    with pytest.raises(Exception, match=r"(?i)data.?loss|some data may have been lost"):
        run_to_files(session, stream(session, bootstrap, topic, failOnDataLoss=True), tmp_path)
    assert_exactly(session, tmp_path, first)
    run_to_files(session, stream(session, bootstrap, topic, failOnDataLoss=False), tmp_path)
    left = [r for r in later if r.offset >= {0: 130, 1: 177}[r.partition]]
    assert_exactly(session, tmp_path, first + left)


def test_a_batch_that_begins_below_the_log_start(session: SparkSession, bootstrap: str) -> None:
    topic = new_topic(bootstrap, 1)
    records = sample(100, 1)
    produce(bootstrap, topic, records)
    delete_records(bootstrap, topic, {0: 60})
    start = {"startingOffsets": offsets_json(topic, {0: 20})}
    with pytest.raises(Exception, match=r"(?i)data.?loss|some data may have been lost|out of range"):
        batch(session, bootstrap, topic, failOnDataLoss=True, **start).count()
    assert stored(batch(session, bootstrap, topic)) == without_headers(records[60:])
    assert stored(batch(session, bootstrap, topic, failOnDataLoss=False, **start)) == without_headers(
        records[60:]
    )
