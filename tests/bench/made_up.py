"""Results as the suites write them, with figures made up for the tests of the page."""

from __future__ import annotations

from bench.results import KAFKA, KPROTO, Result, Run

ENVIRONMENT = {"cores": 2, "cpu": "a CPU", "python": "CPython 3.11", "java": "17", "load_1m": 0.5}


def curve(scale: float) -> dict[str, dict[str, float]]:
    """Percentiles of a latency in ms."""
    values = {"50": 0.8, "90": 1.4, "99": 4.0, "99.9": 11.0, "99.99": 30.0, "100": 41.0}
    return {
        "publish_ms": {name: scale * value for name, value in values.items()},
        "e2e_ms": {name: 1.3 * scale * value for name, value in values.items()},
    }


def workloads() -> Result:
    """Two cases in two pairs. steady: kproto is better; bursts: its p99 is twice Apache Kafka's."""
    result = Result(
        "omb",
        "fixed-rate",
        "Fixed rates & <markup>",
        "kproto bench omb --workload x.yaml",
        dict(ENVIRONMENT),
        targets={
            "steady": {"cpu_s_per_million": 0.5, "records_per_s": 0.9},
            "bursts": {"publish_p99_ms": 1.0},
        },
        notes=["One core is the clients'."],
    )
    for case, p99 in (("steady", (2.0, 2.2)), ("bursts", (8.0, 9.0))):
        for pair in range(2):
            for system, worse in ((KAFKA, 1.0), (KPROTO, 0.4)):
                metrics = {
                    "records_per_s": 5_000.0 + pair,
                    "cpu_s_per_million": 20.0 * worse,
                    "publish_p99_ms": 4.0 if system == KAFKA else p99[pair],
                    "client_cpu_s": 3.0,
                }
                second = [[float(s), 5_000 - 900 * (s < 8) + 90 * (s % 7) * worse] for s in range(60)]
                result.runs.append(
                    Run(
                        system,
                        case,
                        pair,
                        {"rate": 5_000, "warmup_seconds": 10},
                        metrics,
                        {"records_per_s": second},
                        curve(worse * (1 + pair / 8)),
                    )
                )
    return result


def figure() -> Result:
    """Throughput over the number of streams; variants of kproto beside Apache Kafka."""
    title = "Throughput by the number of streams"
    result = Result("kera", "figure-8", title, "kproto bench kera --figure 8", dict(ENVIRONMENT), x="streams")
    result.shown = ["records_per_s", "cpu_s_per_million"]
    for streams in (32, 64, 128, 256, 512):
        for pair in range(2):
            for system, speed in ((KAFKA, 90.0), (f"{KPROTO}, 1 vlog", 300.0), (f"{KPROTO}, 4 vlogs", 260.0)):
                metrics = {
                    "records_per_s": 1_000 * speed * (1 - streams / 900) * (1 + pair / 20),
                    "cpu_s_per_million": 900 / speed * (1 + streams / 500),
                }
                result.runs.append(Run(system, f"{streams} streams", pair, {"streams": streams}, metrics))
    return result


def alone() -> Result:
    """kproto with nothing beside it, and a limit it misses."""
    result = Result("idle", "idle", "Idle", "kproto bench idle", dict(ENVIRONMENT))
    result.limits["5,000 partitions"] = {"cores": 0.05, "rss_mb": 600.0}
    result.runs.append(Run(KPROTO, "5,000 partitions", 0, {}, {"cores": 0.07, "rss_mb": 212.0}))
    return result
