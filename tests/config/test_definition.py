"""How texts become values, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.config import BROKER_CONFIGS, TOPIC_CONFIGS, ConfigDef, ConfigError, ConfigType, value_text

ALL = [*TOPIC_CONFIGS.values(), *BROKER_CONFIGS.values()]


@pytest.mark.parametrize("definition", ALL, ids=lambda each: each.name)
def test_every_default_is_a_value_of_its_own_key(definition: ConfigDef) -> None:
    text = value_text(definition.default)
    assert definition.parse(text) == definition.default
    assert definition.doc.endswith(".")


@pytest.mark.parametrize("definition", [each for each in TOPIC_CONFIGS.values() if each.synonym])
def test_a_topic_key_and_its_synonym_have_the_same_type(definition: ConfigDef) -> None:
    synonym = BROKER_CONFIGS[definition.synonym]
    assert synonym.type is definition.type
    for name, _ in definition.scaled:
        assert BROKER_CONFIGS[name].type in (ConfigType.INT, ConfigType.LONG)


def test_topic_configs_are_those_of_kafka_4_3() -> None:
    """Names, types and defaults as LogConfig of Apache Kafka 4.3.1 has them (its internal key excepted)."""
    kafka = {
        name: (each.type.name, value_text(each.default))
        for name, each in TOPIC_CONFIGS.items()
        if not name.startswith("kproto.")
    }
    long_max = str(2**63 - 1)
    assert kafka == {
        "cleanup.policy": ("LIST", "delete"),
        "compression.gzip.level": ("INT", "-1"),
        "compression.lz4.level": ("INT", "9"),
        "compression.type": ("STRING", "producer"),
        "compression.zstd.level": ("INT", "3"),
        "delete.retention.ms": ("LONG", "86400000"),
        "file.delete.delay.ms": ("LONG", "60000"),
        "flush.messages": ("LONG", long_max),
        "flush.ms": ("LONG", long_max),
        "follower.replication.throttled.replicas": ("LIST", ""),
        "index.interval.bytes": ("INT", "4096"),
        "leader.replication.throttled.replicas": ("LIST", ""),
        "local.retention.bytes": ("LONG", "-2"),
        "local.retention.ms": ("LONG", "-2"),
        "max.compaction.lag.ms": ("LONG", long_max),
        "max.message.bytes": ("INT", "1048588"),
        "message.timestamp.after.max.ms": ("LONG", "3600000"),
        "message.timestamp.before.max.ms": ("LONG", long_max),
        "message.timestamp.type": ("STRING", "CreateTime"),
        "min.cleanable.dirty.ratio": ("DOUBLE", "0.5"),
        "min.compaction.lag.ms": ("LONG", "0"),
        "min.insync.replicas": ("INT", "1"),
        "preallocate": ("BOOLEAN", "false"),
        "remote.log.copy.disable": ("BOOLEAN", "false"),
        "remote.log.delete.on.disable": ("BOOLEAN", "false"),
        "remote.storage.enable": ("BOOLEAN", "false"),
        "retention.bytes": ("LONG", "-1"),
        "retention.ms": ("LONG", "604800000"),
        "segment.bytes": ("INT", "1073741824"),
        "segment.index.bytes": ("INT", "10485760"),
        "segment.jitter.ms": ("LONG", "0"),
        "segment.ms": ("LONG", "604800000"),
        "unclean.leader.election.enable": ("BOOLEAN", "false"),
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retention.ms", "x"),
        ("retention.ms", "-2"),
        ("retention.ms", "1_000"),
        ("retention.ms", "9223372036854775808"),
        ("retention.ms", ""),
        ("segment.bytes", "1048575"),
        ("segment.bytes", "2147483648"),
        ("preallocate", "yes"),
        ("cleanup.policy", "delete,forget"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("min.cleanable.dirty.ratio", "half"),
        ("compression.type", "LZ4"),
        ("compression.gzip.level", "0"),
        ("compression.lz4.level", "18"),
        ("min.insync.replicas", "0"),
        ("leader.replication.throttled.replicas", "0:1,x"),
        ("kproto.active.groups", "0"),
        ("kproto.vlogs", "33"),
    ],
)
def test_refused_topic_values(name: str, text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        TOPIC_CONFIGS[name].parse(text)
    message = str(refused.value)
    assert message.startswith(name + ":")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " 100 ", 100),
        ("preallocate", "TRUE", True),
        ("cleanup.policy", "compact , delete", ("compact", "delete")),
        ("cleanup.policy", "", ()),
        ("min.cleanable.dirty.ratio", "0.25", 0.25),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,1:2", ("0:1", "1:2")),
        ("compression.gzip.level", "-1", -1),
    ],
)
def test_accepted_topic_values(name: str, text: str, value: object) -> None:
    assert TOPIC_CONFIGS[name].parse(text) == value


@given(st.sampled_from(ALL), st.text(max_size=30))
def test_any_text_gives_a_value_or_a_config_error(definition: ConfigDef, text: str) -> None:
    value, refused = parsed(definition, text)
    if refused is not None:
        assert refused.startswith(definition.name)
        return
    again = value_text(value)
    assert again is not None
    assert definition.parse(again) == value or value != value  # NaN is a double like any other


def parsed(definition: ConfigDef, text: str) -> tuple[object, str | None]:
    """The value, or why there is none."""
    try:
        return definition.parse(text), None
    except ConfigError as error:
        return None, str(error)


def test_a_secret_is_not_told() -> None:
    with pytest.raises(ConfigError) as refused:
        BROKER_CONFIGS["delegation.token.secret.key"].parse("hunter2")
    assert "hunter2" not in str(refused.value)
