"""Broker configs: the keys of Apache Kafka 4.3 that clients and operators look at, and kproto's own.

Kafka's names have Kafka's defaults unless the sentence says otherwise. Keys of ``_ACCEPTED`` may be set (a
server.properties can be carried over) but change nothing; keys of ``_FIXED`` name things kproto does not have
and take only their default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kproto.config.definition import (
    INT_MAX,
    LONG_MAX,
    ConfigDef,
    ConfigType,
    ConfigValue,
    Validator,
    at_least,
    between,
    list_of,
    one_of,
    only,
)
from kproto.config.store_url import store_problem
from kproto.config.topic_configs import TOPIC_CONFIGS

BOOLEAN, STRING, INT, LONG = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT, ConfigType.LONG
SHORT, DOUBLE, LIST, CLASS = ConfigType.SHORT, ConfigType.DOUBLE, ConfigType.LIST, ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD

MEGABYTE: Final = 1_048_576


NO_NAME: Final = "has a host that is no host name"


def _listener_problem(entry: str) -> str | None:
    scheme, separator, address = entry.partition("://")
    host, colon, port = address.rpartition(":")
    if not separator or scheme.upper() != "PLAINTEXT":
        return "must be PLAINTEXT://host:port"
    if not colon or not port.isdecimal() or int(port) > 65_535:
        return "must end in :port, a number up to 65535"
    if host.startswith("[") and not host.endswith("]"):
        return "has an unfinished IPv6 address"
    try:
        host.encode("idna")
    except UnicodeError:  # an empty or a too long part, above all
        return NO_NAME
    return None


def _address_problem(value: ConfigValue) -> str | None:
    """An address of host:port, or nothing."""
    text = str(value or "")
    problem = _listener_problem(f"PLAINTEXT://{text}") if text else None
    if problem in (None, NO_NAME):
        return problem
    return "must be host:port, with a port up to 65535"


def _one_listener(value: ConfigValue) -> str | None:
    entries = value if isinstance(value, tuple) else ()
    return _listener_problem(entries[0]) if len(entries) == 1 else "must name exactly one listener"


_ROWS: Final[tuple[tuple[str, ConfigType, ConfigValue, Validator | None, str], ...]] = (
    # identity and listeners
    ("node.id", INT, 1, at_least(0), "Number of this broker in the cluster."),
    ("broker.rack", STRING, None, None, "Rack of this broker, told to clients."),
    ("listeners", LIST, ("PLAINTEXT://:9092",), _one_listener, "Address the broker listens on."),
    (
        "advertised.listeners",
        LIST,
        None,
        _one_listener,
        "Address told to clients; by default the listener's. Port 0: the one that is bound.",
    ),
    (
        "log.dirs",
        STRING,
        "./kproto-data",
        None,
        "Directory of everything the broker stores; exactly one. Without it ``log.dir`` counts.",
    ),
    ("log.dir", STRING, "/tmp/kafka-logs", None, "Counts where ``log.dirs`` is not set."),
    # connections
    (
        "socket.request.max.bytes",
        INT,
        104_857_600,
        at_least(1),
        "Largest request frame; a larger one closes the connection before memory is reserved.",
    ),
    ("connections.max.idle.ms", LONG, 600_000, None, "A connection without traffic for so long is closed."),
    ("max.connections", INT, INT_MAX, at_least(0), "Connections of this broker at the same time."),
    ("max.connections.per.ip", INT, INT_MAX, at_least(1), "Connections from one address at the same time."),
    # fetch
    ("fetch.max.bytes", INT, 57_671_680, at_least(1024), "Upper limit of the bytes in one Fetch response."),
    ("max.incremental.fetch.session.cache.slots", INT, 1000, at_least(0), "Fetch sessions kept (KIP-227)."),
    (
        "max.request.partition.size.limit",
        INT,
        2000,
        at_least(1),
        "Partitions in one page of DescribeTopicPartitions.",
    ),
    # topics
    ("auto.create.topics.enable", BOOLEAN, True, None, "Create a topic when Metadata asks for it by name."),
    ("num.partitions", INT, 1, at_least(1), "Partitions of a topic whose creator does not say."),
    ("default.replication.factor", INT, 1, at_least(1), "Copies of a topic whose creator does not say."),
    ("delete.topic.enable", BOOLEAN, True, None, "Allow DeleteTopics."),
    ("log.retention.check.interval.ms", LONG, 300_000, at_least(1), "How often retention is applied."),
    ("log.retention.hours", INT, 168, None, "Hours form of log.retention.ms."),
    ("log.retention.minutes", INT, None, None, "Minutes form of log.retention.ms."),
    ("log.roll.hours", INT, 168, at_least(1), "Hours form of log.roll.ms."),
    ("log.roll.jitter.hours", INT, 0, at_least(0), "Hours form of log.roll.jitter.ms."),
    ("log.flush.scheduler.interval.ms", LONG, LONG_MAX, None, "Used where log.flush.interval.ms is not set."),
    (
        "producer.id.expiration.ms",
        INT,
        86_400_000,
        at_least(1),
        "How long the state of an idle idempotent producer is kept.",
    ),
    # groups
    ("group.min.session.timeout.ms", INT, 6000, None, "Shortest session timeout a group member may ask for."),
    (
        "group.max.session.timeout.ms",
        INT,
        1_800_000,
        None,
        "Longest session timeout a group member may ask for.",
    ),
    (
        "group.initial.rebalance.delay.ms",
        INT,
        3000,
        None,
        "How long an empty group waits for further members.",
    ),
    ("group.max.size", INT, INT_MAX, at_least(1), "Members of one group."),
    (
        "group.coordinator.rebalance.protocols",
        LIST,
        ("classic",),
        list_of("classic", empty=False),
        "Group protocols served. Kafka's default has more; kproto has the classic one.",
    ),
    ("offset.metadata.max.bytes", INT, 4096, None, "Largest metadata string of a committed offset."),
    ("offsets.commit.timeout.ms", INT, 5000, at_least(1), "How long a commit may wait to become durable."),
    (
        "offsets.retention.minutes",
        INT,
        10_080,
        at_least(1),
        "How long the offsets of an empty group are kept.",
    ),
    (
        "offsets.retention.check.interval.ms",
        LONG,
        600_000,
        at_least(1),
        "How often expired offsets are looked for.",
    ),
    ("offsets.topic.num.partitions", INT, 50, at_least(1), "Partitions of __consumer_offsets."),
    (
        "offsets.topic.replication.factor",
        SHORT,
        3,
        at_least(1),
        "Copies of __consumer_offsets; fewer while fewer brokers are alive.",
    ),
    ("offsets.topic.segment.bytes", INT, 104_857_600, at_least(1), "segment.bytes of __consumer_offsets."),
    # the cluster
    (
        "auto.leader.rebalance.enable",
        BOOLEAN,
        True,
        None,
        "Streamlets go back to their preferred leaders by themselves, while these are members.",
    ),
    (
        "leader.imbalance.check.interval.seconds",
        LONG,
        300,
        at_least(1),
        "How often leaders that are not the preferred ones are looked for.",
    ),
    (
        "kproto.drain",
        BOOLEAN,
        False,
        None,
        "The broker is to be rid of everything: what it leads, its replicas and copies go to others, and it "
        "gets nothing new. Set for one broker, while it runs, before it is taken out of the cluster.",
    ),
    (
        "broker.session.timeout.ms",
        INT,
        3000,
        at_least(500),
        "A broker that was not heard for so long is fenced (Kafka's default: 9000). Heartbeats come every "
        "fifth of it.",
    ),
    (
        "kproto.internal.listen",
        STRING,
        "",
        _address_problem,
        "host:port of the listener for other brokers; empty: with kproto.join that of clients, port + 1000 "
        "(any free port when that of clients is 0), else the broker is alone.",
    ),
    (
        "kproto.internal.advertise",
        STRING,
        "",
        _address_problem,
        "host:port at which other brokers reach that listener; empty, or port 0: the one that is bound.",
    ),
    (
        "kproto.join",
        STRING,
        "",
        _address_problem,
        "host:port of the internal listener of a broker of the cluster to join; empty: this broker keeps the "
        "metadata itself.",
    ),
    (
        "kproto.cluster.secret",
        PASSWORD,
        "",
        None,
        "What brokers of one cluster show each other; empty: whoever reaches kproto.internal.listen is taken "
        "for a broker.",
    ),
    (
        "kproto.backup.stall.ms",
        INT,
        500,
        at_least(10),
        "A backup that does not answer a push for so long is replaced.",
    ),
    (
        "kproto.push.linger.max.ms",
        INT,
        20,
        between(0, 100),
        "Where brokers are busy, a virtual log with backups waits up to so long after a push landed for more "
        "chunks to send with the next one; 0: never.",
    ),
    (
        "replica.lag.time.max.ms",
        LONG,
        30_000,
        at_least(0),
        "When all other brokers fail to keep copies though they are members, acks wait so long before "
        "records are kept in one copy only.",
    ),
    (
        "kproto.repair.delay.ms",
        INT,
        10_000,
        at_least(0),
        "How long a lost copy may stay away before it is made anew elsewhere, unless a recovery waits for it "
        "and its owner is here.",
    ),
    (
        "kproto.controller.grace.ms",
        INT,
        30_000,
        at_least(1000),
        "How long brokers go on serving without a controller.",
    ),
    (
        "kproto.recovery.read.bytes.per.second",
        LONG,
        0,
        at_least(0),
        "What a broker reads at most of its copies for recoveries and repairs; 0: no limit.",
    ),
    (
        "kproto.metrics.listen",
        STRING,
        "",
        _address_problem,
        "host:port of the Prometheus endpoint; empty: there is none.",
    ),
    # kproto's own
    (
        "kproto.segment.file.bytes",
        INT,
        32 * MEGABYTE,
        between(65_536, 1024 * MEGABYTE),
        "Largest segment file inside a group; a larger chunk gets a file of its own.",
    ),
    (
        "kproto.journal.bytes",
        LONG,
        1024 * MEGABYTE,
        at_least(4 * MEGABYTE),
        "Upper size of the journal; beyond it the oldest partitions are written to their segments.",
    ),
    (
        "kproto.virtual.segment.bytes",
        INT,
        64 * MEGABYTE,
        between(MEGABYTE, 1024 * MEGABYTE),
        "Size of one virtual segment, which is one journal file.",
    ),
    (
        "kproto.virtual.segment.ms",
        LONG,
        3_600_000,
        at_least(1_000),
        "Age, from its first record on, at which a virtual segment with backups is closed though not full.",
    ),
    ("kproto.vlogs.per.broker", INT, 1, between(1, 32), "Virtual logs of each class (copies, flush policy)."),
    (
        "kproto.direct.bytes",
        INT,
        16_384,
        at_least(0),
        "From so many bytes of one partition in one push on, unreplicated data goes straight to its "
        "segment file and the journal holds a reference; 0 switches this off.",
    ),
    (
        "kproto.request.memory.bytes",
        LONG,
        256 * MEGABYTE,
        at_least(MEGABYTE),
        "Memory of requests, responses and unsent fetches together, that of open tails and recent data "
        "included (but not more than half); beyond it reading pauses.",
    ),
    (
        "kproto.log.memory.bytes",
        LONG,
        64 * MEGABYTE,
        at_least(MEGABYTE),
        "Memory of open tails and recent data of all partitions together.",
    ),
    (
        "kproto.flush.bytes",
        INT,
        262_144,
        at_least(4096),
        "Dirty bytes of a partition that are written as one piece.",
    ),
    (
        "kproto.flush.age.ms",
        INT,
        5000,
        at_least(1),
        "Age at which a partition's dirty bytes are written anyway.",
    ),
    (
        "kproto.checkpoint.interval.ms",
        INT,
        5000,
        at_least(10),
        "How often changed partitions are checkpointed.",
    ),
    ("kproto.open.files", INT, 512, at_least(16), "Segment files kept open."),
    (
        "kproto.cpu.scheduling",
        STRING,
        "batch",
        one_of("batch", "normal"),
        "batch: when all cores are busy, the broker wakes at the end of others' time slices and finds more "
        "to do at once (Linux); normal: it interrupts them, which takes more CPU time for the same work.",
    ),
    (
        "kproto.metadata.store",
        STRING,
        "sqlite",
        store_problem,
        "Where metadata is kept: sqlite is a file in the data directory; "
        "etcd://host:port[,host:port...]/prefix is etcd, shared by the brokers of a cluster; memory is for "
        "tests, all is lost with the process.",
    ),
)

_NOTHING: Final = "Accepted for compatibility; it changes nothing in kproto."

_ACCEPTED: Final[tuple[tuple[str, ConfigType, ConfigValue], ...]] = (
    ("add.partitions.to.txn.retry.backoff.max.ms", INT, 100),
    ("add.partitions.to.txn.retry.backoff.ms", INT, 20),
    ("alter.log.dirs.replication.quota.window.num", INT, 11),
    ("alter.log.dirs.replication.quota.window.size.seconds", INT, 1),
    ("background.threads", INT, 10),
    ("broker.heartbeat.interval.ms", INT, 2000),
    ("connections.max.reauth.ms", LONG, 0),
    ("connection.failed.authentication.delay.ms", INT, 100),
    ("controlled.shutdown.enable", BOOLEAN, True),
    ("controller.quota.window.num", INT, 11),
    ("controller.quota.window.size.seconds", INT, 1),
    ("controller.socket.timeout.ms", INT, 30_000),
    ("delete.records.purgatory.purge.interval.requests", INT, 1),
    ("fetch.purgatory.purge.interval.requests", INT, 1000),
    ("group.consumer.assignors", LIST, ("uniform", "range")),
    ("group.consumer.heartbeat.interval.ms", INT, 5000),
    ("group.consumer.max.heartbeat.interval.ms", INT, 15_000),
    ("group.consumer.max.session.timeout.ms", INT, 60_000),
    ("group.consumer.max.size", INT, INT_MAX),
    ("group.consumer.migration.policy", STRING, "bidirectional"),
    ("group.consumer.min.heartbeat.interval.ms", INT, 5000),
    ("group.consumer.min.session.timeout.ms", INT, 45_000),
    ("group.consumer.session.timeout.ms", INT, 45_000),
    ("group.coordinator.append.linger.ms", INT, -1),
    ("group.coordinator.background.threads", INT, 2),
    ("group.coordinator.cached.buffer.max.bytes", INT, 1_048_588),
    ("group.coordinator.threads", INT, 4),
    ("initial.broker.registration.timeout.ms", INT, 60_000),
    ("inter.broker.listener.name", STRING, None),
    ("kafka.metrics.polling.interval.secs", INT, 10),
    ("kafka.metrics.reporters", LIST, ()),
    ("log.cleaner.backoff.ms", LONG, 15_000),
    ("log.cleaner.dedupe.buffer.size", LONG, 134_217_728),
    ("log.cleaner.enable", BOOLEAN, True),
    ("log.cleaner.io.buffer.load.factor", DOUBLE, 0.9),
    ("log.cleaner.io.buffer.size", INT, 524_288),
    ("log.cleaner.io.max.bytes.per.second", DOUBLE, 1.7976931348623157e308),
    ("log.cleaner.threads", INT, 1),
    ("log.dir.failure.timeout.ms", LONG, 30_000),
    ("log.flush.offset.checkpoint.interval.ms", INT, 60_000),
    ("log.flush.start.offset.checkpoint.interval.ms", INT, 60_000),
    ("max.connection.creation.rate", INT, INT_MAX),
    ("metadata.log.max.record.bytes.between.snapshots", LONG, 20_971_520),
    ("metadata.log.max.snapshot.interval.ms", LONG, 3_600_000),
    ("metadata.log.segment.bytes", INT, 1_073_741_824),
    ("metadata.log.segment.ms", LONG, 604_800_000),
    ("metadata.max.idle.interval.ms", INT, 500),
    ("metadata.max.retention.bytes", LONG, 104_857_600),
    ("metadata.max.retention.ms", LONG, 604_800_000),
    ("metric.reporters", LIST, ("org.apache.kafka.common.metrics.JmxReporter",)),
    ("metrics.num.samples", INT, 2),
    ("metrics.recording.level", STRING, "INFO"),
    ("metrics.sample.window.ms", LONG, 30_000),
    ("num.io.threads", INT, 8),
    ("num.network.threads", INT, 3),
    ("num.recovery.threads.per.data.dir", INT, 2),
    ("num.replica.alter.log.dirs.threads", INT, None),
    ("num.replica.fetchers", INT, 1),
    ("offsets.load.buffer.size", INT, 5_242_880),
    ("offsets.topic.compression.codec", INT, 0),
    ("producer.purgatory.purge.interval.requests", INT, 1000),
    ("queued.max.request.bytes", LONG, -1),
    ("queued.max.requests", INT, 500),
    ("quota.window.num", INT, 11),
    ("quota.window.size.seconds", INT, 1),
    ("replica.fetch.backoff.ms", INT, 1000),
    ("replica.fetch.max.bytes", INT, MEGABYTE),
    ("replica.fetch.min.bytes", INT, 1),
    ("replica.fetch.response.max.bytes", INT, 10_485_760),
    ("replica.fetch.wait.max.ms", INT, 500),
    ("replica.high.watermark.checkpoint.interval.ms", LONG, 5000),
    ("replica.socket.receive.buffer.bytes", INT, 65_536),
    ("replica.socket.timeout.ms", INT, 30_000),
    ("replication.quota.window.num", INT, 11),
    ("replication.quota.window.size.seconds", INT, 1),
    ("request.timeout.ms", INT, 30_000),
    ("socket.connection.setup.timeout.max.ms", LONG, 30_000),
    ("socket.connection.setup.timeout.ms", LONG, 10_000),
    ("socket.listen.backlog.size", INT, 50),
    ("socket.receive.buffer.bytes", INT, 102_400),
    ("socket.send.buffer.bytes", INT, 102_400),
    ("telemetry.max.bytes", INT, 1_048_576),
    ("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10_000),
    ("transaction.max.timeout.ms", INT, 900_000),
    ("transaction.partition.verification.enable", BOOLEAN, True),
    ("transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3_600_000),
    ("transaction.state.log.load.buffer.size", INT, 5_242_880),
    ("transaction.state.log.min.isr", INT, 2),
    ("transaction.state.log.num.partitions", INT, 50),
    ("transaction.state.log.replication.factor", SHORT, 3),
    ("transaction.state.log.segment.bytes", INT, 104_857_600),
    ("transactional.id.expiration.ms", INT, 604_800_000),
)

_ACCEPTED_LIVE: Final = frozenset(
    {
        "background.threads",
        "log.cleaner.backoff.ms",
        "log.cleaner.dedupe.buffer.size",
        "log.cleaner.io.buffer.load.factor",
        "log.cleaner.io.buffer.size",
        "log.cleaner.io.max.bytes.per.second",
        "log.cleaner.threads",
        "max.connection.creation.rate",
        "max.connections.per.ip.overrides",
        "metric.reporters",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
        "transaction.partition.verification.enable",
    }
)
"""Of `_ACCEPTED` and `_FIXED`, those that Apache Kafka changes while it runs: scripts that do so need not
know better."""

_LIMITS: Final[Mapping[str, Validator]] = {
    "background.threads": at_least(1),
    "log.cleaner.backoff.ms": at_least(0),
    "log.cleaner.dedupe.buffer.size": at_least(MEGABYTE + 1),
    "log.cleaner.io.buffer.size": at_least(0),
    "log.cleaner.threads": at_least(1),
    "max.connection.creation.rate": at_least(1),
    "num.io.threads": at_least(1),
    "num.network.threads": at_least(1),
    "num.recovery.threads.per.data.dir": at_least(1),
    "num.replica.fetchers": at_least(1),
}
"""Of `_ACCEPTED_LIVE`, those whose values Apache Kafka limits by themselves; what it compares with others (no
more than twice, no less than half as many threads; memory for each cleaner) is not limited here. It starts
with a max.connection.creation.rate of 0, which it refuses while it runs: here one limit is for both."""

SHOWN_WHEN_SET: Final = frozenset(
    {
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Keys of no default, which clients see only where they are set. ``kafka-reassign-partitions --throttle``
sets them before it moves anything and takes them back with ``--verify``; they limit nothing in kproto."""

_FIXED: Final[tuple[tuple[str, ConfigType, ConfigValue], ...]] = (
    ("alter.config.policy.class.name", CLASS, None),
    ("authorizer.class.name", STRING, ""),
    ("client.quota.callback.class", CLASS, None),
    ("create.topic.policy.class.name", CLASS, None),
    ("delegation.token.secret.key", PASSWORD, None),
    ("max.connections.per.ip.overrides", STRING, ""),
    ("process.roles", LIST, ("broker", "controller")),
    ("remote.log.storage.system.enable", BOOLEAN, False),
    ("replica.selector.class", STRING, None),
    ("sasl.enabled.mechanisms", LIST, ("GSSAPI",)),
    ("security.inter.broker.protocol", STRING, "PLAINTEXT"),
    ("transaction.two.phase.commit.enable", BOOLEAN, False),
    ("unstable.api.versions.enable", BOOLEAN, False),
)

_SECURITY_MAP: Final = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"

ALIASES: Final[Mapping[str, str]] = {"broker.id": "node.id"}
"""Other names under which a key may be set and is described."""


def _topic_synonyms() -> Iterator[ConfigDef]:
    """The keys topics inherit from, with type, limits and meaning of the topic key; changeable live."""
    described_elsewhere = {"kproto.segment.file.bytes"}
    unset = {"log.retention.ms", "log.roll.ms", "log.roll.jitter.ms", "log.flush.interval.ms"}
    for topic in TOPIC_CONFIGS.values():
        name = topic.synonym
        if name is None or name in described_elsewhere:
            continue
        yield ConfigDef(
            name,
            topic.type,
            None if name in unset else topic.default,
            f"Default of the topic config {topic.name}: {topic.doc}",
            topic.validator,
            enforced=topic.enforced,
            dynamic=True,
        )


_DYNAMIC: Final = frozenset(
    {
        "kproto.backup.stall.ms",
        "kproto.direct.bytes",
        "kproto.drain",
        "kproto.push.linger.max.ms",
        "kproto.virtual.segment.bytes",
        "kproto.virtual.segment.ms",
        "kproto.vlogs.per.broker",
        "producer.id.expiration.ms",
    }
)
"""Of `_ROWS`, those that can be changed while the broker runs."""


def _table() -> dict[str, ConfigDef]:
    definitions = [
        ConfigDef(name, kind, default, doc, validator, dynamic=name in _DYNAMIC)
        for name, kind, default, validator, doc in _ROWS
    ]
    definitions += _topic_synonyms()
    definitions += (
        ConfigDef(
            name,
            kind,
            default,
            _NOTHING,
            _LIMITS.get(name),
            enforced=False,
            dynamic=name in _ACCEPTED_LIVE,
        )
        for name, kind, default in _ACCEPTED
    )
    definitions += (
        ConfigDef(name, LONG, None, _NOTHING, at_least(0), enforced=False, dynamic=True)
        for name in SHOWN_WHEN_SET
    )
    definitions += (
        ConfigDef(
            name,
            kind,
            default,
            "kproto has only what the default says.",
            only(default),
            enforced=False,
            dynamic=name in _ACCEPTED_LIVE,
        )
        for name, kind, default in _FIXED
    )
    definitions.append(
        ConfigDef(
            "listener.security.protocol.map",
            STRING,
            _SECURITY_MAP,
            "Accepted for compatibility; the listener speaks PLAINTEXT.",
            enforced=False,
        )
    )
    definitions.append(ConfigDef("broker.id", INT, -1, "Old name of node.id.", at_least(-1)))
    return {definition.name: definition for definition in sorted(definitions, key=lambda each: each.name)}


BROKER_CONFIGS: Final[Mapping[str, ConfigDef]] = _table()

__all__ = ["ALIASES", "BROKER_CONFIGS", "SHOWN_WHEN_SET"]
