"""What a seed does: cluster, topics, which faults. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

ROOM_FOR_STATES = 400_000
"""Bytes of the smallest journal beside the hasty, of whom each batch is another producer's: state frames have
up to 19 KB then, and there may be a sixteenth of it for one (seed 30049391)."""


@dataclass(eq=False)
class Topic:
    name: str
    partitions: int
    copies: int
    configs: dict[str, str | None] = field(default_factory=dict)
    fewest: int = 0
    """Some of its partitions may get so few copies; 0: none gets another number."""

    @property
    def least(self) -> int:
        """Copies that each of its partitions always has."""
        return self.fewest or self.copies


@dataclass
class Plan:
    """``kind``: which promises hold, and so which faults there may be.

    ``disks``: every topic has three copies; single disks are lost, as the budget allows. ``synced``: every
    ack is synced, in some topics from some time on; any machine may lose power, all at once too. ``kills``:
    processes only, and topics with two copies and one. In some but those of ``disks`` operators change how
    many copies single partitions have.
    """

    kind: str
    nodes: int
    topics: list[Topic]
    seconds: float
    vlogs: int
    vseg_bytes: int
    segment_bytes: int
    min_insync: int
    pace: float
    calm: float
    """Seconds between two faults, about."""
    deletes: bool
    zombies: bool
    trouble: bool
    """The disk may fail, be full or slow."""
    moves: bool = True
    """Leaders and replicas are changed all the time (rule 12b)."""
    shared: bool = False
    """The store is shared and every broker may be controller; else broker 1 is."""
    outages: bool = False
    """The store may be slow, or away, or not be reached by some."""
    rot: bool = False
    """Bytes of copies may change by themselves."""
    clocks: bool = False
    """Wall clocks jump."""
    two_disks: bool = False
    """At the end two disks are lost at once."""
    growing: bool = False
    """They are, while topics get more copies."""
    emptied: bool = True
    """At the end all records are deleted, and everything is to be freed (L4)."""
    hasty: bool = False
    """Some write with acks=1, so that several frames are in flight."""
    late_s: float = 0.0
    """When the topics that begin without syncs are told to sync (`late`)."""
    outage: bool = False
    """As soon as they do all machines lose their power."""
    harmed: bool = False
    """Files of leaders get damaged (`damage`)."""
    busy: bool = False
    """Work takes time, which brokers notice when they look at the clock."""
    memory: int = 1 << 20
    """kproto.log.memory.bytes."""
    journal: int = 0
    """kproto.journal.bytes; 0: as it is."""
    rate: int = 0
    """kproto.recovery.read.bytes.per.second; 0: no limit."""
    files: int = 512
    """kproto.open.files."""
    expiry: int = 86_400_000
    """producer.id.expiration.ms, but where wall clocks jump (`forgets_ms`). The same batch may be tried again
    for longer than the shorter one."""
    racks: bool = False
    """Brokers are in racks."""
    scarce: bool = False
    """Brokers run out of file descriptors."""
    hectic: bool = False
    """Disks are lost, one at a time, while owners are dead."""
    torn: bool = False
    """Processes are killed in the middle of a write."""
    requests: int = 256 << 20
    """kproto.request.memory.bytes: so much more memory than `memory` may hold what is not in files yet."""
    groups: int = 0
    """So many consumer groups have members (`groups`); 0: there are none at all."""

    @property
    def forgets_ms(self) -> int:
        """When brokers forget producers: clocks jump by less than a day."""
        return 86_400_000 if self.clocks else self.expiry


def plan_of(seed: int) -> Plan:
    """The plan of a seed."""
    random = Random(f"plan {seed}")
    late = Random(f"late {seed}")
    counts = Random(f"counts {seed}")
    scarce = Random(f"scarce {seed}")
    kind = random.choice(("disks", "disks", "synced", "kills"))
    topics = [Topic("three", random.choice((1, 2, 3)), 3)]
    if kind != "disks":
        topics += [Topic("two", 1, 2), Topic("one", 1, 1)]
    if kind == "synced":
        for topic in topics:
            topic.configs["flush.messages"] = "1"
        for topic in late.choice(((), (), topics[2:], topics)):
            del topic.configs["flush.messages"]
    if kind != "disks" and counts.random() < 0.4:
        for topic in topics:
            topic.partitions = max(topic.partitions, counts.choice((1, 2, 3)))
            topic.fewest = counts.randint(1, min(2, topic.copies))
    if kind == "kills" and scarce.random() < 0.4:
        for topic in topics:
            topic.configs.update(scarce.choice(({}, {"flush.messages": "3"}, {"flush.ms": "100"})))
    nodes = random.choice((3, 4, 4, 5))
    plan = Plan(
        kind,
        nodes=nodes,
        topics=topics,
        seconds=random.choice((3.0, 6.0, 9.0)),
        vlogs=random.choice((1, 1, 2)),
        vseg_bytes=random.choice((6_000, 16_000, 64_000)),
        segment_bytes=random.choice((4_096, 16_384)),
        min_insync=random.choice((1, 1, 2)),
        pace=random.choice((0.7, 1.5, 3.0)),
        calm=random.choice((0.3, 0.6, 1.2)),
        deletes=random.random() < 0.3,
        zombies=random.random() < 0.6,
        trouble=random.random() < 0.3,
        moves=random.random() < 0.6,
        shared=random.random() < 0.35,
        outages=random.random() < 0.3,
        rot=random.random() < 0.4 and kind == "disks",
        clocks=random.random() < 0.25,
        two_disks=random.random() < 0.2 and kind == "disks" and nodes > 3,
        emptied=random.random() < 0.4,
        hasty=random.random() < 0.4,
        growing=random.random() < 0.2 and kind != "disks" and nodes > 3,
        late_s=late.choice((0.05, 0.5, 1.5)),
        outage=late.random() < 0.6,
        harmed=scarce.random() < 0.5,
        busy=scarce.random() < 0.5,
        memory=scarce.choice((1 << 20, 1 << 20, 100_000, 30_000)),
        journal=scarce.choice((0, 0, 0, 400_000, 150_000)),
        rate=scarce.choice((0, 0, 0, 0, 200_000, 50_000)),
        files=scarce.choice((512, 512, 4, 1)),
        expiry=scarce.choice((86_400_000, 20_000)),
        racks=scarce.random() < 0.3,
        scarce=scarce.random() < 0.3,
        requests=scarce.choice((256 << 20, 256 << 20, 300_000)),
        hectic=scarce.random() < 0.3,
        torn=Random(f"torn {seed}").random() < 0.4,
        groups=Random(f"groups of {seed}").choice((0, 0, 0, 0, 0, 0, 1, 2)),
    )
    if plan.hasty and plan.journal:
        plan.journal = ROOM_FOR_STATES
    return plan
