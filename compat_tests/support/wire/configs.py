"""Conversations about configs: shown, set, added to, taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.talk import Talk
from kproto.wire.generated import alter_configs, incremental_alter_configs
from kproto.wire.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

DESCRIBE, ALTER, INCREMENTAL = 32, 33, 44
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
BROKER_KEYS = (
    "advertised.listeners", "auto.create.topics.enable", "auto.leader.rebalance.enable",
    "background.threads", "broker.id", "node.id", "broker.rack", "compression.type",
    "connections.max.idle.ms", "controlled.shutdown.enable", "default.replication.factor",
    "delete.topic.enable", "fetch.max.bytes", "group.initial.rebalance.delay.ms",
    "group.max.session.timeout.ms", "group.min.session.timeout.ms", "group.max.size",
    "inter.broker.listener.name", "listeners", "log.cleaner.enable", "log.flush.interval.messages",
    "log.flush.interval.ms", "log.message.timestamp.type", "log.retention.bytes",
    "log.retention.check.interval.ms", "log.retention.hours", "log.retention.minutes", "log.retention.ms",
    "log.roll.hours", "log.roll.ms", "log.segment.bytes", "log.cleanup.policy",
    "log.segment.delete.delay.ms", "max.connections", "max.connections.per.ip",
    "max.incremental.fetch.session.cache.slots", "message.max.bytes", "min.insync.replicas",
    "num.io.threads", "num.network.threads", "num.partitions", "num.replica.fetchers",
    "offset.metadata.max.bytes", "offsets.retention.minutes", "offsets.topic.num.partitions",
    "offsets.topic.replication.factor", "process.roles", "producer.id.expiration.ms", "queued.max.requests",
    "replica.fetch.max.bytes", "replica.lag.time.max.ms", "request.timeout.ms", "sasl.enabled.mechanisms",
    "security.inter.broker.protocol", "socket.request.max.bytes", "socket.send.buffer.bytes",
    "transaction.max.timeout.ms", "transaction.state.log.min.isr",
    "transaction.state.log.replication.factor", "unclean.leader.election.enable",
)  # fmt: skip


def describe(
    talk: Talk,
    label: str,
    *resources: tuple[int, str],
    version: int = 4,
    keys: Sequence[str] | None = None,
    synonyms: bool = True,
    documentation: bool = False,
) -> Any:
    """DescribeConfigs of (type, name) pairs."""
    wanted = [
        DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=None if keys is None else list(keys)
        )
        for kind, name in resources
    ]
    request = DescribeConfigsRequest(
        resources=wanted, include_synonyms=synonyms, include_documentation=documentation and version >= 3
    )
    return talk(DESCRIBE, version, request, label)


def describing_configs(talk: Talk) -> None:
    """DescribeConfigs."""
    talk.internal()
    plain = talk.make("plain")
    own = talk.make(
        "own", 1, {"retention.ms": "5", "cleanup.policy": "compact,delete", "segment.bytes": "2000000"}
    )
    spelled = {"retention.ms": "+5", "cleanup.policy": "compact , delete", "preallocate": "TRUE"}
    describe(talk, "spelled", (TOPIC, talk.make("spelled", 1, spelled)))
    for version in range(1, 5):
        describe(talk, "all of a topic", (TOPIC, plain), version=version)
        describe(talk, "with overrides", (TOPIC, own), version=version)
        describe(talk, "without synonyms", (TOPIC, own), version=version, synonyms=False)
        describe(talk, "with documentation", (TOPIC, own), version=version, documentation=True)
        describe(
            talk, "some keys", (TOPIC, own), version=version, keys=["retention.ms", "no.such", "retention.ms"]
        )
        describe(talk, "no keys", (TOPIC, own), version=version, keys=[])
        describe(
            talk,
            "several",
            (TOPIC, own),
            (TOPIC, plain),
            (TOPIC, talk.name("unknown")),
            version=version,
            keys=["retention.ms"],
        )
        describe(talk, "twice", (TOPIC, own), (TOPIC, own), version=version, keys=["retention.ms"])
        describe(talk, "none", version=version)
        describe(talk, "broker", (BROKER, "1"), version=version, keys=list(BROKER_KEYS))
        describe(talk, "all brokers", (BROKER, ""), version=version, keys=list(BROKER_KEYS))
        for name in ("2", "-1", "x", "01", " 1"):
            describe(talk, f"broker {name!r}", (BROKER, name), version=version, keys=["num.partitions"])
        for name in ("", "a b", talk.name("unknown"), "x" * 250):
            describe(talk, f"topic {name[:6]!r}", (TOPIC, name), version=version)
        for kind in (0, 1, 3, 5, 64, 127):
            describe(talk, f"type {kind}", (kind, "x"), version=version)
        describe(talk, "logger", (LOGGER, "1"), version=version, keys=["no.such.logger"])
        describe(talk, "logger of none", (LOGGER, ""), version=version)
        describe(talk, "group", (GROUP, talk.name("group")), version=version)
        describe(talk, "metrics", (METRICS, talk.name("metrics")), version=version)
    describe(
        talk,
        "internal topic",
        (TOPIC, "__consumer_offsets"),
        keys=["cleanup.policy", "compression.type", "segment.bytes"],
    )


OPERATIONS: dict[str, tuple[tuple[str, int, str | None], ...]] = {
    "append": (("cleanup.policy", APPEND, "compact"),),
    "append again": (("cleanup.policy", APPEND, "compact"),),
    "append two": (("leader.replication.throttled.replicas", APPEND, "1:1,2:1"),),
    "append twice": (("leader.replication.throttled.replicas", APPEND, "2:1,3:1,3:1"),),
    "subtract one": (("leader.replication.throttled.replicas", SUBTRACT, "1:1"),),
    "subtract what is not there": (("leader.replication.throttled.replicas", SUBTRACT, "9:1"),),
    "subtract to nothing": (("leader.replication.throttled.replicas", SUBTRACT, "2:1,3:1"),),
    "subtract": (("cleanup.policy", SUBTRACT, "delete"),),
    "append nonsense": (("cleanup.policy", APPEND, "nonsense"),),
    "append to a number": (("retention.ms", APPEND, "1"),),
    "subtract from a number": (("retention.ms", SUBTRACT, "1"),),
    "delete": (("retention.ms", DELETE, None),),
    "delete with value": (("retention.ms", DELETE, "1"),),
    "delete unset": (("flush.ms", DELETE, None),),
    "delete unknown": (("no.such", DELETE, None),),
    "append to unknown": (("no.such", APPEND, "1"),),
    "set unknown": (("no.such", SET, "1"),),
    "set null": (("retention.ms", SET, None),),
    "append null": (("cleanup.policy", APPEND, None),),
    "set empty": (("retention.ms", SET, ""),),
    "set wrong": (("retention.ms", SET, "x"),),
    "operation 4": (("retention.ms", 4, "1"),),
    "operation -1": (("retention.ms", -1, "1"),),
    "twice": (("retention.ms", SET, "1"), ("retention.ms", SET, "2")),
    "set and delete": (("retention.ms", SET, "1"), ("retention.ms", DELETE, None)),
    "one good, one bad": (("retention.ms", SET, "11"), ("no.such", SET, "1")),
    "spaces": (("retention.ms", SET, " 12 "),),
    "two good": (("retention.ms", SET, "13"), ("max.message.bytes", SET, "14")),
    "together wrong": (("min.compaction.lag.ms", SET, "9"), ("max.compaction.lag.ms", SET, "2")),
    "empty name": (("", SET, "1"),),
}
"""What is done to one topic, step by step."""


def changing(talk: Talk) -> None:
    """IncrementalAlterConfigs."""
    name = talk.make("changing")

    def ask(
        label: str,
        *ops: tuple[str, int, str | None],
        at: tuple[int, str] = (TOPIC, name),
        version: int = 1,
        validate: bool = False,
    ) -> None:
        configs = [
            incremental_alter_configs.AlterableConfig(name=key, config_operation=op, value=value)
            for key, op, value in ops
        ]
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=at[0], resource_name=at[1], configs=configs
        )
        request = incremental_alter_configs.IncrementalAlterConfigsRequest(
            resources=[resource], validate_only=validate
        )
        talk(INCREMENTAL, version, request, label)

    for version in (0, 1):
        ask("set", ("retention.ms", SET, "7"), version=version)
        ask("validate only", ("retention.bytes", SET, "7"), version=version, validate=True)
        ask("nothing", version=version)
    for label, ops in OPERATIONS.items():
        ask(label, *ops)
        talk.settle()
        describe(
            talk,
            f"after {label}",
            (TOPIC, name),
            keys=[
                "cleanup.policy",
                "retention.ms",
                "max.message.bytes",
                "leader.replication.throttled.replicas",
            ],
        )
    places = {
        "unknown topic": (TOPIC, talk.name("unknown")),
        "bad topic": (TOPIC, "a b"),
        "no topic": (TOPIC, ""),
        "type 0": (0, "x"),
        "type 1": (1, "x"),
        "type 127": (127, "x"),
        "unknown broker": (BROKER, "9"),
        "odd broker": (BROKER, "x"),
        "negative broker": (BROKER, "-1"),
    }
    for label, place in places.items():
        ask(label, ("retention.ms", SET, "1"), at=place)
        ask(f"{label}, broker key", ("log.retention.ms", SET, "100000"), at=place)
    _in_two_ways(talk, name, ask)
    _broker(talk, ask)
    twice = [
        incremental_alter_configs.AlterConfigsResource(resource_type=TOPIC, resource_name=name, configs=[])
    ] * 2
    talk(
        INCREMENTAL,
        1,
        incremental_alter_configs.IncrementalAlterConfigsRequest(resources=twice),
        "resource twice",
    )
    talk(
        INCREMENTAL, 1, incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[]), "no resources"
    )


FAULTY: dict[str, tuple[tuple[str, int, str | None], ...]] = {
    "unknown key, append": (("no.such", APPEND, "1"),),
    "no list, subtract": (("retention.ms", SUBTRACT, "1"),),
    "null, append": (("cleanup.policy", APPEND, None),),
    "unknown key, null": (("no.such", SET, None),),
    "null, then a bad value": (("cleanup.policy", SET, None), ("retention.ms", SET, "x")),
    "bad value, then unknown key": (("retention.ms", SET, "x"), ("no.such", SET, "1")),
    "bad value twice": (("retention.ms", SET, "x"), ("retention.ms", SET, "y")),
}


def _in_two_ways(talk: Talk, name: str, ask: Any) -> None:
    """Which of several faults is told."""
    for where in (name, talk.name("unknown"), "a b"):
        for label, ops in FAULTY.items():
            ask(f"{where.removeprefix(talk.mark)}: {label}", *ops, at=(TOPIC, where))


def _broker(talk: Talk, ask: Any) -> None:
    """Dynamic broker configs, as seen from the broker and from a topic; all is taken back."""
    plain = talk.make("inherits")
    key = "log.cleaner.delete.retention.ms"
    for label, op, at in (
        ("for one broker", (key, SET, "86400001"), (BROKER, "1")),
        ("for all", (key, SET, "86400002"), (BROKER, "")),
        ("taken from one", (key, DELETE, None), (BROKER, "1")),
        ("taken from all", (key, DELETE, None), (BROKER, "")),
    ):
        ask(f"broker: {label}", op, at=at)
        talk.settle()
        describe(talk, f"{label}, topic", (TOPIC, plain), keys=["delete.retention.ms"])
        describe(talk, f"{label}, broker", (BROKER, "1"), keys=[key])
        describe(talk, f"{label}, all", (BROKER, ""), keys=[key])
    for key, value in {
        "log.cleaner.min.cleanable.ratio": "2e-1",
        "log.retention.bytes": "+70000000",
        "producer.id.expiration.ms": "+90000000",
    }.items():
        ask(f"broker: {key} spelled", (key, SET, value), at=(BROKER, "1"))
        talk.settle()
        describe(talk, f"{key} spelled, topic", (TOPIC, plain))
        describe(talk, f"{key} spelled, broker", (BROKER, "1"), keys=[key])
        ask(f"broker: {key} taken", (key, DELETE, None), at=(BROKER, "1"))
    for label, op, at in (
        ("read-only", ("num.partitions", SET, "2"), (BROKER, "1")),
        ("read-only for all", ("num.partitions", SET, "2"), (BROKER, "")),
        ("unknown", ("no.such", SET, "2"), (BROKER, "1")),
        ("wrong", (key, SET, "x"), (BROKER, "1")),
        ("topic key", ("retention.ms", SET, "1000"), (BROKER, "1")),
        ("listeners", ("listeners", SET, "PLAINTEXT://:1"), (BROKER, "1")),
        ("delete unknown", ("no.such", DELETE, None), (BROKER, "1")),
        ("delete read-only", ("num.partitions", DELETE, None), (BROKER, "1")),
        ("delete read-only for all", ("listeners", DELETE, None), (BROKER, "")),
        ("append to a list", ("log.cleanup.policy", APPEND, "compact"), (BROKER, "1")),
    ):
        ask(f"broker: {label}", op, at=at, validate=True)


def limiting(talk: Talk) -> None:
    """Keys that change nothing in kproto, as far as Apache Kafka has limits for them."""

    def ask(label: str, values: dict[str, str | None], op: int = SET) -> None:
        config = incremental_alter_configs.AlterableConfig
        given = [config(name=key, config_operation=op, value=value) for key, value in values.items()]
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=BROKER, resource_name="1", configs=given
        )
        request = incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource])
        talk(INCREMENTAL, 1, request, label)

    for key, values in LIMITED.items():
        for value in values:
            ask(f"{key} {value}", {key: value})
            ask(f"{key} taken", {key: None}, DELETE)
        talk.settle()


LIMITED = {
    "background.threads": ("-1", "0", "5"),
    "log.cleaner.backoff.ms": ("-1", "0"),
    "log.cleaner.dedupe.buffer.size": ("-1", "1048576", "1048577"),
    "log.cleaner.io.buffer.load.factor": ("-1", "2"),
    "log.cleaner.io.buffer.size": ("-1", "0"),
    "log.cleaner.io.max.bytes.per.second": ("-1", "0"),
    "log.cleaner.threads": ("-1", "0", "1"),
    "max.connection.creation.rate": ("-1", "0", "1000000"),
    "num.io.threads": ("-1", "0", "4"),
    "num.network.threads": ("-1", "0"),  # with fewer threads Kafka closes connections
    "num.recovery.threads.per.data.dir": ("-1", "0", "1"),
    "num.replica.fetchers": ("-1", "0", "1"),
}
RATES = (
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)


def throttling(talk: Talk) -> None:
    """The rates that kafka-reassign-partitions sets before it moves anything, and takes back afterwards."""
    one, every = (BROKER, "1"), (BROKER, "")

    def ask(label: str, at: tuple[int, str], op: int, value: str | None) -> None:
        config = incremental_alter_configs.AlterableConfig
        given = [config(name=key, config_operation=op, value=value) for key in RATES]
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=at[0], resource_name=at[1], configs=given
        )
        talk(
            INCREMENTAL,
            1,
            incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource]),
            label,
        )
        talk.settle()
        for place in (one, every):
            describe(talk, f"{label}, {place[1] or 'all'}", place, keys=RATES)

    describe(talk, "unset", one, keys=RATES)
    for value in ("1000", "0", "9223372036854775807", "-1", "9223372036854775808", "1.5", "x", "", None):
        ask(f"set {value!r}", one, SET, value)
    ask("appended", one, APPEND, "1")
    ask("set for all", every, SET, "2000")
    ask("taken from one", one, DELETE, None)
    ask("taken from all", every, DELETE, None)


COARSER = {
    "log.retention.ms": "retention.ms",
    "log.roll.ms": "segment.ms",
    "log.roll.jitter.ms": "segment.jitter.ms",
    "log.flush.interval.ms": "flush.ms",
}
"""Keys that brokers also have in coarser units, and what topics inherit from them."""


def falling_back(talk: Talk) -> None:
    """What comes behind the finest of several keys for the same thing."""
    name = talk.make("falls-back")
    config = incremental_alter_configs.AlterableConfig
    for label, at, op, value in (
        ("for one", "1", SET, "90000000"),
        ("for all", "", SET, "90000001"),
        ("taken from one", "1", DELETE, None),
        ("taken from all", "", DELETE, None),
    ):
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=BROKER,
            resource_name=at,
            configs=[config(name=key, config_operation=op, value=value) for key in COARSER],
        )
        request = incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource])
        talk(INCREMENTAL, 1, request, label)
        talk.settle()
        describe(talk, f"{label}, topic", (TOPIC, name), keys=list(COARSER.values()))
        describe(talk, f"{label}, broker", (BROKER, "1"), keys=list(COARSER))


def replacing(talk: Talk) -> None:
    """AlterConfigs, the older way."""
    name = talk.make("replacing", 1, {"retention.ms": "5", "flush.ms": "6"})

    def ask(
        label: str,
        configs: dict[str, str | None],
        at: tuple[int, str] = (TOPIC, name),
        version: int = 2,
        validate: bool = False,
    ) -> None:
        given = [alter_configs.AlterableConfig(name=key, value=value) for key, value in configs.items()]
        resource = alter_configs.AlterConfigsResource(resource_type=at[0], resource_name=at[1], configs=given)
        talk(
            ALTER,
            version,
            alter_configs.AlterConfigsRequest(resources=[resource], validate_only=validate),
            label,
        )

    for version in range(3):
        ask("replace", {"retention.ms": str(20 + version)}, version=version)
        ask("validate only", {"flush.ms": "8"}, version=version, validate=True)
        talk.settle()
        describe(talk, f"after v{version}", (TOPIC, name), keys=["retention.ms", "flush.ms"])
    ask("wrong", {"retention.ms": "x"})
    ask("unknown", {"no.such": "1"})
    ask("null", {"retention.ms": None})
    ask("empty", {})
    talk.settle()
    describe(talk, "after empty", (TOPIC, name), keys=["retention.ms", "flush.ms"])
    ask("unknown topic", {"retention.ms": "1"}, (TOPIC, talk.name("unknown")))
    ask("bad topic", {"retention.ms": "1"}, (TOPIC, "a b"))
    ask("type 0", {"retention.ms": "1"}, (0, "x"))
    ask("logger", {"kafka": "INFO"}, (LOGGER, "1"))
    ask("read-only of a broker", {"num.partitions": "1"}, (BROKER, "1"), validate=True)
    ask("threads and cleaner", {"num.io.threads": "9", "log.cleaner.backoff.ms": "16000"}, (BROKER, "1"))
    talk(ALTER, 2, alter_configs.AlterConfigsRequest(resources=[]), "no resources")


DESCRIBING = (
    Allowed("(advertised.)?listeners", "ports, and Kafka's controller listener"),
    Allowed(
        r"configs\[(node.id|broker.id|process.roles|inter.broker.listener.name)\]",
        "what the two sides were started with; kproto has no roles and one listener",
    ),
    Allowed("read_only: kafka False, kproto True", "keys of Kafka that kproto cannot change while it runs"),
    Allowed("broker '01'", "a broker is named by its id as it is written"),
    Allowed(
        "(logger|group|metrics) ",
        "resources that are not built: levels of loggers, newer groups, client metrics",
    ),
)
CHANGING = (
    Allowed("operation (4|-1) ", "Kafka fails inside (UNKNOWN_SERVER_ERROR)"),
    Allowed(
        "broker: (unknown|topic key) ",
        "Kafka keeps unknown broker keys for its plug-ins; to us they are mistakes",
    ),
)
CONVERSATIONS = (
    Conversation("describing-configs", describing_configs, DESCRIBING),
    Conversation("changing", changing, CHANGING),
    Conversation("limiting", limiting),
    Conversation("throttling", throttling),
    Conversation("falling-back", falling_back),
    Conversation("replacing", replacing),
)
