"""The Spark session of this directory's tests, and a topic that most of them read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bench.spark_connector import local_session
from compat_tests.spark.records import Stored, new_topic, produce_in_all_codecs, sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One Spark session for all tests: its JVM takes seconds to start."""
    running = local_session("compat", scratch=tmp_path_factory.mktemp("spark"))
    yield running
    running.stop()


@dataclass(frozen=True, slots=True)
class Filled:
    """A topic and what it holds."""

    topic: str
    partitions: int
    records: list[Stored]

    @property
    def ends(self) -> dict[int, int]:
        return {p: sum(1 for r in self.records if r.partition == p) for p in range(self.partitions)}


@pytest.fixture(scope="session")
def filled(bootstrap: str) -> Filled:
    """1,000 records in 3 partitions, in batches of every codec."""
    topic = new_topic(bootstrap, 3)
    records = sample(1_000, 3)
    produce_in_all_codecs(bootstrap, topic, records)
    return Filled(topic, 3, records)
