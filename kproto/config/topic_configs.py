"""Topic configs: every key of Apache Kafka 4.3 with its type and default, and kproto's own.

``TOPIC_CONFIGS`` is the table, :func:`topic_config` folds a topic's overrides and the broker's settings into
the typed :class:`TopicConfig` that the storage uses. Keys with ``enforced=False`` are only stored and
described, but for ``unclean.leader.election.enable``, which the controller asks for by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.config.definition import (
    LONG_MAX,
    ConfigDef,
    ConfigError,
    ConfigType,
    ConfigValue,
    at_least,
    between,
    list_of,
    one_of,
    trim,
)

if TYPE_CHECKING:
    from kproto.config.settings import Settings

ACTIVE_GROUPS: Final = "kproto.active.groups"

BOOLEAN, STRING, INT, LONG = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT, ConfigType.LONG
DOUBLE, LIST = ConfigType.DOUBLE, ConfigType.LIST

CODECS: Final = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")


_REPLICA: Final = re.compile(r"(\d+:\d+)?", re.ASCII)


def _throttled_replicas(value: ConfigValue) -> str | None:
    """``*``, or a list of ``partition:broker`` pairs (KIP-73); some may be left empty."""
    entries = value if isinstance(value, tuple) else ()
    if entries == ("*",) or all(_REPLICA.fullmatch(entry) for entry in entries):
        return None
    return "must be * or a list of partition:broker pairs"


def _gzip_level(value: ConfigValue) -> str | None:
    return None if value == -1 else between(1, 9)(value)


_RETENTION = (
    ConfigDef(
        "cleanup.policy",
        LIST,
        ("delete",),
        "How old data goes: delete drops whole groups by age and size; compact keeps the newest record "
        "of every key and is stored, but not acted on yet.",
        list_of("compact", "delete"),
        "log.cleanup.policy",
    ),
    ConfigDef(
        "retention.ms",
        LONG,
        604_800_000,
        "Closed groups whose newest record is older than so many milliseconds go; -1 keeps them.",
        at_least(-1),
        "log.retention.ms",
        (("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000)),
    ),
    ConfigDef(
        "retention.bytes",
        LONG,
        -1,
        "A partition larger than this many bytes loses its oldest closed groups; -1 sets no limit.",
        None,
        "log.retention.bytes",
    ),
    ConfigDef(
        "file.delete.delay.ms",
        LONG,
        60_000,
        "How long the files of deleted data stay on disk before they are removed.",
        at_least(0),
        "log.segment.delete.delay.ms",
    ),
    ConfigDef(
        "delete.retention.ms",
        LONG,
        86_400_000,
        "How long compaction keeps the tombstone of a deleted key.",
        at_least(0),
        "log.cleaner.delete.retention.ms",
        enforced=False,
    ),
    ConfigDef(
        "min.compaction.lag.ms",
        LONG,
        0,
        "Records younger than this are left alone by compaction.",
        at_least(0),
        "log.cleaner.min.compaction.lag.ms",
        enforced=False,
    ),
    ConfigDef(
        "max.compaction.lag.ms",
        LONG,
        LONG_MAX,
        "Records older than this become due for compaction whatever the dirty ratio.",
        at_least(1),
        "log.cleaner.max.compaction.lag.ms",
        enforced=False,
    ),
    ConfigDef(
        "min.cleanable.dirty.ratio",
        DOUBLE,
        0.5,
        "Share of uncompacted bytes from which a partition is due for compaction.",
        between(0, 1),
        "log.cleaner.min.cleanable.ratio",
        enforced=False,
    ),
)

_SEGMENTS = (
    ConfigDef(
        "segment.bytes",
        INT,
        1_073_741_824,
        "Size at which the open group of a partition is closed and the next one opened.",
        at_least(1_048_576),
        "log.segment.bytes",
    ),
    ConfigDef(
        "segment.ms",
        LONG,
        604_800_000,
        "Age at which the open group is closed even when it is not full.",
        at_least(1),
        "log.roll.ms",
        (("log.roll.hours", 3_600_000),),
    ),
    ConfigDef(
        "segment.jitter.ms",
        LONG,
        0,
        "Up to this much is taken off segment.ms at random, so that partitions do not roll together.",
        at_least(0),
        "log.roll.jitter.ms",
        (("log.roll.jitter.hours", 3_600_000),),
    ),
    ConfigDef(
        "segment.index.bytes",
        INT,
        10_485_760,
        "Upper size of Kafka's offset index; kproto's indexes are as large as they need to be.",
        at_least(4),
        "log.index.size.max.bytes",
        enforced=False,
    ),
    ConfigDef(
        "index.interval.bytes",
        INT,
        4096,
        "One index entry is written for about this many bytes of a segment.",
        at_least(0),
        "log.index.interval.bytes",
    ),
    ConfigDef(
        "preallocate",
        BOOLEAN,
        False,
        "Reserve the space of a new segment file at once; kproto reserves journal space instead.",
        None,
        "log.preallocate",
        enforced=False,
    ),
    ConfigDef(
        "flush.messages",
        LONG,
        LONG_MAX,
        "Records after which data must be on stable storage; 1 means before every acknowledgement.",
        at_least(1),
        "log.flush.interval.messages",
    ),
    ConfigDef(
        "flush.ms",
        LONG,
        LONG_MAX,
        "Milliseconds after which written data must be on stable storage.",
        at_least(0),
        "log.flush.interval.ms",
        (("log.flush.scheduler.interval.ms", 1),),
    ),
)

_MESSAGES = (
    ConfigDef(
        "max.message.bytes",
        INT,
        1_048_588,
        "Largest record batch that is accepted, in bytes, after compression.",
        at_least(0),
        "message.max.bytes",
    ),
    ConfigDef(
        "message.timestamp.type",
        STRING,
        "CreateTime",
        "CreateTime keeps the producer's timestamps, LogAppendTime replaces them by the broker's.",
        one_of("CreateTime", "LogAppendTime"),
        "log.message.timestamp.type",
    ),
    ConfigDef(
        "message.timestamp.before.max.ms",
        LONG,
        LONG_MAX,
        "How far a record's timestamp may lie behind the broker's clock.",
        at_least(0),
        "log.message.timestamp.before.max.ms",
    ),
    ConfigDef(
        "message.timestamp.after.max.ms",
        LONG,
        3_600_000,
        "How far a record's timestamp may lie ahead of the broker's clock.",
        at_least(0),
        "log.message.timestamp.after.max.ms",
    ),
    ConfigDef(
        "compression.type",
        STRING,
        "producer",
        "producer stores batches as they were sent; other values are kept but nothing is recompressed.",
        one_of(*CODECS),
        "compression.type",
    ),
    ConfigDef(
        "compression.gzip.level",
        INT,
        -1,
        "Level for recompression with gzip.",
        _gzip_level,
        "compression.gzip.level",
        enforced=False,
    ),
    ConfigDef(
        "compression.lz4.level",
        INT,
        9,
        "Level for recompression with lz4.",
        between(1, 17),
        "compression.lz4.level",
        enforced=False,
    ),
    ConfigDef(
        "compression.zstd.level",
        INT,
        3,
        "Level for recompression with zstd.",
        between(-131_072, 22),
        "compression.zstd.level",
        enforced=False,
    ),
)

_REPLICATION = (
    ConfigDef(
        "min.insync.replicas",
        INT,
        1,
        "Copies that must exist for a write with acks=all to be accepted.",
        at_least(1),
        "min.insync.replicas",
    ),
    ConfigDef(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        "Accept the loss of acknowledged records when no complete copy of them is left and no broker that "
        "may have one came back for kproto.repair.delay.ms, or broker.session.timeout.ms if that is longer.",
        None,
        "unclean.leader.election.enable",
        enforced=False,
    ),
    ConfigDef(
        "leader.replication.throttled.replicas",
        LIST,
        (),
        "Replicas whose leader side is throttled, as partition:broker pairs or *.",
        _throttled_replicas,
        enforced=False,
        repeats=True,
    ),
    ConfigDef(
        "follower.replication.throttled.replicas",
        LIST,
        (),
        "Replicas whose follower side is throttled, as partition:broker pairs or *.",
        _throttled_replicas,
        enforced=False,
        repeats=True,
    ),
)

_TIERING = (
    ConfigDef(
        "remote.storage.enable",
        BOOLEAN,
        False,
        "Keep old groups in object storage; there is none yet.",
        enforced=False,
    ),
    ConfigDef(
        "remote.log.copy.disable",
        BOOLEAN,
        False,
        "Stop uploading to object storage and keep what is there readable.",
        enforced=False,
    ),
    ConfigDef(
        "remote.log.delete.on.disable",
        BOOLEAN,
        False,
        "Delete what is in object storage when it is switched off for the topic.",
        enforced=False,
    ),
    ConfigDef(
        "local.retention.ms",
        LONG,
        -2,
        "How long uploaded data stays on local disks too; -2 takes retention.ms.",
        at_least(-2),
        "log.local.retention.ms",
        enforced=False,
    ),
    ConfigDef(
        "local.retention.bytes",
        LONG,
        -2,
        "How many bytes of a partition stay on local disks too; -2 takes retention.bytes.",
        at_least(-2),
        "log.local.retention.bytes",
        enforced=False,
    ),
)

_OWN = (
    ConfigDef(
        ACTIVE_GROUPS,
        INT,
        1,
        "Partitions that form one streamlet, the unit of leadership and placement. Fixed at creation.",
        between(1, 10_000),
    ),
    ConfigDef(
        "kproto.segment.file.bytes",
        INT,
        33_554_432,
        "Largest segment file inside a group; a larger chunk gets a file of its own.",
        between(65_536, 1_073_741_824),
        "kproto.segment.file.bytes",
    ),
    ConfigDef(
        "kproto.validate.records",
        BOOLEAN,
        False,
        "Unpack every batch and check its records, not only the batch header and the CRC: the first 20,000; "
        "what unpacks to more than 16 MiB is refused.",
    ),
    ConfigDef(
        "kproto.vlogs",
        INT,
        0,
        "Virtual logs of the topic's own on each broker; 0 shares those of the broker.",
        between(0, 32),
    ),
)

TOPIC_CONFIGS: Final[Mapping[str, ConfigDef]] = {
    definition.name: definition
    for table in (_RETENTION, _SEGMENTS, _MESSAGES, _REPLICATION, _TIERING, _OWN)
    for definition in table
}

FIXED_AT_CREATION: Final = frozenset({ACTIVE_GROUPS})


class TopicConfig(NamedTuple):
    """What the storage does with a topic: the enforced keys, typed. Sizes are bytes, times milliseconds."""

    active_groups: int
    segment_bytes: int
    segment_ms: int
    segment_jitter_ms: int
    segment_file_bytes: int
    index_interval_bytes: int
    max_message_bytes: int
    timestamp_type: str
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    flush_messages: int
    flush_ms: int
    retention_ms: int
    retention_bytes: int
    file_delete_delay_ms: int
    compression_type: str
    cleanup_policy: tuple[str, ...]
    min_insync_replicas: int
    validate_records: bool
    vlogs: int
    keyed: bool
    """The policy has ``compact`` in it: what has no key cannot be compacted, so it is refused."""

    @property
    def log_append_time(self) -> bool:
        """True when batches get the broker's timestamp."""
        return self.timestamp_type == "LogAppendTime"

    @property
    def lasting(self) -> bool:
        """Records stay until somebody deletes them: no limit, or only compaction would remove any."""
        return "delete" not in self.cleanup_policy or (self.retention_ms < 0 and self.retention_bytes < 0)


_FIELDS: Final = {
    "active_groups": ACTIVE_GROUPS,
    "segment_bytes": "segment.bytes",
    "segment_ms": "segment.ms",
    "segment_jitter_ms": "segment.jitter.ms",
    "segment_file_bytes": "kproto.segment.file.bytes",
    "index_interval_bytes": "index.interval.bytes",
    "max_message_bytes": "max.message.bytes",
    "timestamp_type": "message.timestamp.type",
    "timestamp_before_max_ms": "message.timestamp.before.max.ms",
    "timestamp_after_max_ms": "message.timestamp.after.max.ms",
    "flush_messages": "flush.messages",
    "flush_ms": "flush.ms",
    "retention_ms": "retention.ms",
    "retention_bytes": "retention.bytes",
    "file_delete_delay_ms": "file.delete.delay.ms",
    "compression_type": "compression.type",
    "cleanup_policy": "cleanup.policy",
    "min_insync_replicas": "min.insync.replicas",
    "validate_records": "kproto.validate.records",
    "vlogs": "kproto.vlogs",
}


def inherited(definition: ConfigDef, settings: Settings) -> ConfigValue:
    """What a topic that does not set the key gets: the broker's value, else the key's own default.

    Where Kafka has the key in several units (``log.retention.ms``, ``.minutes``, ``.hours``) the finest one
    that is set wins.
    """
    names = ((definition.synonym, 1), *definition.scaled) if definition.synonym else ()
    for name, factor in names:
        value = settings.values.get(name)
        if value is not None and (factor == 1 or name in settings.explicit):
            return value if factor == 1 else _scaled(value, factor)
    return definition.default


def _scaled(value: ConfigValue, factor: int) -> int:
    number = value if isinstance(value, int) else 0
    return max(number * factor, -1)  # as Kafka: what is negative is unlimited


def topic_config(overrides: Mapping[str, str], settings: Settings) -> TopicConfig:
    """The effective config of a topic. ``overrides`` are stored values, so they were validated before."""
    cached = settings.topic_defaults
    if not overrides and cached is not None:
        return cached
    values: dict[str, ConfigValue] = {}
    for field, name in _FIELDS.items():
        definition = TOPIC_CONFIGS[name]
        text = overrides.get(name)
        values[field] = inherited(definition, settings) if text is None else definition.parse(text)
    keyed = "compact" in values["cleanup_policy"]  # type: ignore[operator]
    return TopicConfig(**values, keyed=keyed)  # type: ignore[arg-type]


def validate_topic_configs(overrides: Mapping[str, str | None]) -> dict[str, str]:
    """Check what a client asks for; raises :class:`ConfigError`, returns the overrides to store."""
    checked: dict[str, str] = {}
    for name, text in overrides.items():
        definition = TOPIC_CONFIGS.get(name)
        if definition is None:
            raise ConfigError(f"{name}: no such topic config")
        if text is None:
            raise ConfigError(f"{name}: null is not a value of a topic config")
        definition.parse(text)
        checked[name] = trim(text)
    _check_together(checked)
    return checked


def _check_together(overrides: Mapping[str, str]) -> None:
    """Limits that concern more than one key."""
    low, high = (
        int(overrides.get(name, TOPIC_CONFIGS[name].default))  # type: ignore[arg-type]
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
    )
    if low > high:
        raise ConfigError(f"min.compaction.lag.ms: {low} is above max.compaction.lag.ms ({high})")
    if overrides.get("remote.storage.enable", "false").upper() == "TRUE":
        raise ConfigError("remote.storage.enable: this broker has no object storage to keep groups in")
