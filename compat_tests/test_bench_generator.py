"""The load generator against a real broker: what was due is counted, however late it was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.brokers import Kproto
from bench.generator import Load, measure

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

OUT_OF_REACH = 2_000_000
SECONDS = 0.3


def test_a_rate_out_of_reach_hides_no_latency(tmp_path: Path) -> None:
    broker = Kproto(tmp_path / "broker")
    broker.start()
    try:
        load = Load(100, 16384, rate=OUT_OF_REACH, seconds=SECONDS, warmup_seconds=0.1)
        found = measure(broker, load).load
    finally:
        broker.stop()
    assert found["ack_us"]["count"] == pytest.approx(OUT_OF_REACH * SECONDS, rel=0.1)
    assert found["acked_total"] == found["consumed_total"]
    assert found["ack_us"]["max"] >= found["ack_us"]["p50"] > 0
