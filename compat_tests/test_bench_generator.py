"""The load generator against a real broker: what was due is counted, however late it was sent, and nothing
that clients send before they are compiled."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.brokers import Kproto
from bench.generator import Load, measure, parameters
from bench.jars import generator_classpath

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

OUT_OF_REACH = 2_000_000
SECONDS = 0.3
WINDOWS_S = 4 * 3
"""The first of three seconds is the most so far, three more without growth are steady."""

RANKS = """
public final class Ranks {
  public static void main(String[] arguments) {
    var samples = new LoadGenerator.Samples();
    for (long micros = 1; micros <= 1000; micros++) {
      samples.add(micros * 1000);
    }
    System.out.println(LoadGenerator.Samples.json(java.util.List.of(samples)));
  }
}
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Kproto]:
    broker = Kproto(tmp_path / "broker")
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def test_a_rate_out_of_reach_hides_no_latency(broker: Kproto) -> None:
    load = Load(100, 16384, rate=OUT_OF_REACH, seconds=SECONDS, warmup_seconds=0.1, steady_seconds=60)
    found = measure(broker, load).load
    assert found["seconds"] >= SECONDS, "on a busy machine it is told late that they are over"
    assert found["ack_us"]["count"] == pytest.approx(OUT_OF_REACH * found["seconds"], rel=0.01)
    assert found["acked_total"] == found["consumed_total"]
    assert found["ack_us"]["max"] >= found["ack_us"]["p50"] > 0
    assert found["warmup_seconds"] < WINDOWS_S, "at a rate, the time that was asked for"


def test_a_percentile_is_the_least_that_so_many_do_not_exceed(tmp_path: Path) -> None:
    """By doubles 99.9 % of 1,000 are more than 999: the p99.9 of so many was the greatest of all."""
    (tmp_path / "Ranks.java").write_text(RANKS)
    places = f"{tmp_path}:{generator_classpath()}"
    subprocess.run(["javac", "-cp", places, "-d", tmp_path, tmp_path / "Ranks.java"], check=True)
    done = subprocess.run(["java", "-cp", places, "Ranks"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert {name: found[name] for name in ("p50", "p90", "p99", "p999", "max")} == {
        "p50": 500,
        "p90": 900,
        "p99": 990,
        "p999": 999,
        "max": 1000,
    }


@pytest.mark.long
def test_the_warm_up_ends_when_no_more_is_carried_or_its_time_is_over(broker: Kproto) -> None:
    load = Load(100, 1024, partitions=4, linger_ms=1, seconds=SECONDS, warmup_seconds=0.5)
    short = measure(broker, replace(load, steady_seconds=2)).load
    assert short["warmup_seconds"] == pytest.approx(2, abs=0.5)
    steady = measure(broker, replace(load, steady_seconds=120))
    warmup = parameters(load, steady)["warmup_seconds"]
    assert WINDOWS_S <= warmup < 120
    seconds = [acked for _, acked, *_ in steady.load["per_second"]]
    assert sum(seconds[: int(warmup)]) > steady.load["acked_records"], "the load had begun"
