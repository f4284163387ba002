"""`python -m compat_tests.spark.driver BOOTSTRAP TOPIC DIRECTORY`: a Spark driver of its own, to be killed.

Copies the topic into Parquet files under DIRECTORY in small batches until it is killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.spark_connector import local_session
from compat_tests.spark.queries import start_to_files, stream


def main(bootstrap: str, topic: str, directory: Path) -> None:
    session = local_session("driver", scratch=directory / "scratch")
    frame = stream(session, bootstrap, topic, startingOffsets="earliest", maxOffsetsPerTrigger=200)
    start_to_files(frame, directory, every="1 second").awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
