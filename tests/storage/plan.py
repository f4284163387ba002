"""What a seed does: which faults there are, and what is small. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

LIVES = 8


@dataclass(frozen=True)
class Plan:
    """``power``: some ends are losses of power, else all are kills and clean stops. ``full``: the disk is
    full now and then."""

    power: bool
    full: bool
    settings: dict[str, str] = field(default_factory=dict)
    lives: int = LIVES


def plan_of(seed: int) -> Plan:
    """Half of all seeds have kills and clean stops only: what holds then is the most."""
    random = Random(f"plan {seed}")
    settings = {
        "kproto.virtual.segment.bytes": "1048576",
        "kproto.journal.bytes": random.choice(("4194304", "8388608")),
        "kproto.log.memory.bytes": random.choice(("1048576", "4194304")),
        "kproto.flush.age.ms": "2000",
        "kproto.flush.bytes": "65536",
        "kproto.checkpoint.interval.ms": "3000",
        "kproto.vlogs.per.broker": "2",
        "kproto.open.files": random.choice(("16", "512")),
        "log.retention.check.interval.ms": "5000",
        "log.segment.delete.delay.ms": random.choice(("0", "1000", "60000")),
    }
    return Plan(power=seed % 4 in (1, 3), full=seed % 4 in (2, 3) and seed % 8 != 3, settings=settings)


def some_configs(random: Random) -> dict[str, str]:
    """Of a topic: everything that storage makes a difference for, by chance."""
    offered: tuple[tuple[float, str, tuple[str, ...]], ...] = (
        (0.5, "flush.messages", ("1", "5", "1000")),
        (0.3, "flush.ms", ("100", "3600000")),
        (0.6, "segment.bytes", ("1048576", "2097152")),
        (0.6, "kproto.segment.file.bytes", ("65536", "1048576")),
        (0.4, "retention.bytes", ("0", "50000", "500000")),
        (0.3, "retention.ms", ("5000", "60000")),
        (0.3, "segment.ms", ("100", "5000")),
        (0.3, "kproto.vlogs", ("1", "2")),
        (0.2, "message.timestamp.type", ("LogAppendTime",)),
        (0.5, "index.interval.bytes", ("100", "4096")),
        (0.3, "file.delete.delay.ms", ("0", "1000", "60000")),
    )
    return {name: random.choice(values) for share, name, values in offered if random.random() < share}
