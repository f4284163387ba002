"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs in all their versions."""

from __future__ import annotations

import pytest

from kproto.config import BROKER_CONFIGS, SHOWN_WHEN_SET, TOPIC_CONFIGS, ConfigSource, load
from kproto.controller import NewTopic, OpType, ResourceType
from kproto.errors import ErrorCode
from kproto.handlers.admin.config_view import ConfigViews
from kproto.metadata import MetadataImage
from kproto.wire.generated import alter_configs, incremental_alter_configs
from kproto.wire.generated.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kproto.wire.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

TOPIC, BROKER = ResourceType.TOPIC, ResourceType.BROKER


@pytest.fixture
def world(served):
    topics = [NewTopic("t", configs={"retention.ms": "5", "kproto.active.groups": "2"})]
    served.runner.run(served.controller.create_topics(topics))
    return served


def describe(world, kind: int, name: str, *keys: str, version: int = 4, **fields):
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    (result,) = world.call(32, version, DescribeConfigsRequest(resources=[resource], **fields)).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


def synonyms(config) -> list[tuple[str, str | None, int]]:
    return [(each.name, each.value, each.source) for each in config.synonyms]


def alter(world, kind: int, name: str, *ops: tuple[str, int, str | None], validate_only: bool = False) -> int:
    config = incremental_alter_configs.AlterableConfig
    resource = incremental_alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[config(name=key, config_operation=op, value=value) for key, op, value in ops],
    )
    request = incremental_alter_configs.IncrementalAlterConfigsRequest(
        resources=[resource], validate_only=validate_only
    )
    codes = {world.call(44, version, request).responses[0].error_code for version in (0, 1)}
    (code,) = codes
    return code


@pytest.mark.parametrize("version", range(1, 5))
def test_all_topic_configs(world, version: int) -> None:
    result = describe(world, TOPIC, "t", version=version)
    assert (result.error_code, result.error_message) == (0, "")
    assert [config.name for config in result.configs] == sorted(TOPIC_CONFIGS)
    shown = {config.name: config for config in result.configs}
    assert (shown["retention.ms"].value, shown["retention.ms"].config_source) == (
        "5",
        ConfigSource.DYNAMIC_TOPIC,
    )
    assert (shown["segment.ms"].value, shown["segment.ms"].config_source) == (
        "604800000",
        ConfigSource.DEFAULT,
    )
    assert [name for name in shown if shown[name].read_only] == ["kproto.active.groups"]
    for name, config in shown.items():
        assert config.config_type == (TOPIC_CONFIGS[name].type if version >= 3 else 0)
        assert config.documentation == (None if version >= 3 else "")
        assert config.synonyms == []
        assert not config.is_sensitive


@pytest.mark.parametrize("version", [3, 4])
def test_documentation_and_synonyms_are_given_when_asked_for(world, version: int) -> None:
    result = describe(world, TOPIC, "t", version=version, include_documentation=True, include_synonyms=True)
    assert all(config.documentation.endswith(".") for config in result.configs)
    shown = {config.name: config for config in result.configs}
    assert synonyms(shown["retention.ms"]) == [("retention.ms", "5", ConfigSource.DYNAMIC_TOPIC)]
    assert synonyms(shown["max.message.bytes"]) == [("message.max.bytes", "1048588", ConfigSource.DEFAULT)]
    assert synonyms(shown["preallocate"]) == [("log.preallocate", "false", ConfigSource.DEFAULT)]
    assert synonyms(shown["segment.ms"]) == []


def test_some_keys_and_unknown_ones(world) -> None:
    assert [c.name for c in describe(world, TOPIC, "t", "retention.ms", "nope").configs] == ["retention.ms"]


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "7", ErrorCode.INVALID_REQUEST),
        (BROKER, "x", ErrorCode.INVALID_REQUEST),
        (ResourceType.GROUP, "g", ErrorCode.INVALID_REQUEST),
        (3, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_resources_that_do_not_exist(world, kind: int, name: str, code: ErrorCode) -> None:
    result = describe(world, kind, name)
    assert result.error_code == code
    assert result.error_message
    assert result.configs == []


def test_broker_configs(tuned) -> None:
    result = describe(tuned, BROKER, "1", include_synonyms=True)
    shown = {config.name: config for config in result.configs}
    assert list(shown) == [name for name in BROKER_CONFIGS if name not in SHOWN_WHEN_SET]
    assert shown["num.partitions"].value == "4"
    assert shown["num.partitions"].read_only
    assert synonyms(shown["num.partitions"]) == [("num.partitions", "4", 4), ("num.partitions", "1", 5)]
    assert shown["node.id"].value == shown["broker.id"].value == "1"
    assert shown["advertised.listeners"].value == "PLAINTEXT://host1:9092"
    assert not shown["log.retention.ms"].read_only
    assert shown["delegation.token.secret.key"].is_sensitive
    assert shown["delegation.token.secret.key"].value is None


def test_an_ipv6_address_that_clients_are_told_is_in_brackets() -> None:
    views = ConfigViews(load(), load(), MetadataImage(), 1, ("::1", 9092))
    shown = {view.name: view.value for view in views.broker()}
    assert shown["advertised.listeners"] == "PLAINTEXT://[::1]:9092"


def test_the_secret_of_the_cluster_is_shown_to_nobody() -> None:
    settings = load(None, {"kproto.cluster.secret": "S3CRET"})
    views = ConfigViews(settings, settings, MetadataImage(), 1)
    (shown,) = [view for view in views.broker() if view.name == "kproto.cluster.secret"]
    assert shown.sensitive
    assert "S3CRET" not in repr(views.broker())


def test_a_config_that_this_version_does_not_know_hides_no_others() -> None:
    image = MetadataImage(configs={"default": {"log.retention.ms": "5", "of.a.later.version": "1"}})
    (view,) = ConfigViews(load(), load(), image, 1).all_brokers()
    assert (view.name, view.value) == ("log.retention.ms", "5")


def test_a_topic_shows_what_it_inherits_in_other_units(tuned) -> None:
    tuned.runner.run(tuned.controller.create_topics([NewTopic("t")]))
    (retention,) = describe(tuned, TOPIC, "t", "retention.ms").configs
    assert (retention.value, retention.config_source) == ("3600000", ConfigSource.STATIC_BROKER)


def test_values_are_shown_as_they_were_read_or_as_they_were_spelled(spelled) -> None:
    """As by Apache Kafka 4.3.1: value, strongest synonym, and what CreateTopics answers."""
    assert alter(spelled, BROKER, "", ("log.segment.bytes", OpType.SET, "+2000000")) == 0
    assert alter(spelled, BROKER, "1", ("producer.id.expiration.ms", OpType.SET, "+4000")) == 0
    configs = {"cleanup.policy": "compact , delete", "min.cleanable.dirty.ratio": "1e-1"}
    wanted = CreatableTopic("t", -1, -1, configs=[CreatableTopicConfig(*each) for each in configs.items()])
    (made,) = spelled.call(19, 7, CreateTopicsRequest([wanted])).topics
    shown = {config.name: config for config in describe(spelled, TOPIC, "t", include_synonyms=True).configs}
    expected = {
        "cleanup.policy": ("compact,delete", "compact,delete", "compact , delete"),
        "min.cleanable.dirty.ratio": ("0.1", "0.1", "1e-1"),
        "preallocate": ("true", "TRUE", "TRUE"),
        "segment.bytes": ("2000000", "+2000000", "+2000000"),
        "retention.ms": ("3600000", "+1", "3600000"),
        "flush.messages": (str(2**63 - 1), str(2**63 - 1), str(2**63 - 1)),
    }
    created = {config.name: config.value for config in made.configs}
    assert {
        name: (shown[name].value, shown[name].synonyms[0].value, created[name]) for name in expected
    } == expected
    (partitions,) = describe(spelled, BROKER, "1", "num.partitions", include_synonyms=True).configs
    assert partitions.value == "4"
    assert synonyms(partitions) == [("num.partitions", "+4", 4), ("num.partitions", "1", 5)]
    (expiry,) = describe(spelled, BROKER, "1", "producer.id.expiration.ms", include_synonyms=True).configs
    assert (expiry.value, expiry.read_only) == ("4000", False)
    assert [each.value for each in expiry.synonyms] == ["+4000", "86400000"]


def test_dynamic_broker_configs_reach_topics_by_precedence(world) -> None:
    """The layers of Apache Kafka 4.3.1: topic, this broker, all brokers, default."""
    assert alter(world, BROKER, "", ("log.segment.bytes", OpType.SET, "2000000")) == 0
    assert alter(world, BROKER, "1", ("log.segment.bytes", OpType.SET, "3000000")) == 0
    config = describe(world, TOPIC, "t", "segment.bytes", include_synonyms=True).configs[0]
    assert (config.value, config.config_source) == ("3000000", ConfigSource.DYNAMIC_BROKER)
    assert synonyms(config) == [
        ("log.segment.bytes", "3000000", ConfigSource.DYNAMIC_BROKER),
        ("log.segment.bytes", "2000000", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("log.segment.bytes", "1073741824", ConfigSource.DEFAULT),
    ]
    everywhere = describe(world, BROKER, "").configs
    assert [(c.name, c.value, c.config_source) for c in everywhere] == [("log.segment.bytes", "2000000", 3)]
    assert alter(world, BROKER, "1", ("log.segment.bytes", OpType.DELETE, None)) == 0
    config = describe(world, TOPIC, "t", "segment.bytes").configs[0]
    assert (config.value, config.config_source) == ("2000000", ConfigSource.DYNAMIC_DEFAULT_BROKER)


def test_what_is_set_in_milliseconds_falls_back_to_coarser_keys(world) -> None:
    """As Apache Kafka 4.3.1 says it; what is set nowhere has nothing to fall back to."""
    for key, coarser, default, topic_key in (
        ("log.retention.ms", "log.retention.hours", "168", "retention.ms"),
        ("log.roll.ms", "log.roll.hours", "168", "segment.ms"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours", "0", "segment.jitter.ms"),
        ("log.flush.interval.ms", "log.flush.scheduler.interval.ms", str(2**63 - 1), "flush.ms"),
    ):
        world.runner.run(world.controller.create_topics([NewTopic(topic_key)]))
        assert synonyms(describe(world, BROKER, "1", key, include_synonyms=True).configs[0]) == []
        assert synonyms(describe(world, TOPIC, topic_key, topic_key, include_synonyms=True).configs[0]) == []
        assert alter(world, BROKER, "", (key, OpType.SET, "7000")) == 0
        assert alter(world, BROKER, "1", (key, OpType.SET, "6000")) == 0
        layers = [
            (key, "6000", ConfigSource.DYNAMIC_BROKER),
            (key, "7000", ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (coarser, default, ConfigSource.DEFAULT),
        ]
        assert synonyms(describe(world, BROKER, "1", key, include_synonyms=True).configs[0]) == layers
        shown = describe(world, TOPIC, topic_key, topic_key, include_synonyms=True).configs[0]
        assert (shown.value, synonyms(shown)) == ("6000", layers)


def test_dynamic_configs_that_do_not_go_with_the_brokers_own_are_shown_but_not_used(small) -> None:
    """The broker goes on with what it has instead, and says so; what comes with them counts."""
    assert alter(small, BROKER, "", ("log.segment.bytes", OpType.SET, "+3000000")) == 0
    size = ("kproto.virtual.segment.bytes", OpType.SET, str(512 << 20))
    assert alter(small, BROKER, "", size, ("log.segment.bytes", OpType.SET, "+2000000")) == 0
    (shown,) = describe(small, BROKER, "1", size[0], include_synonyms=True).configs
    assert shown.value == str(64 << 20)
    assert synonyms(shown) == [
        (size[0], size[2], ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (size[0], shown.value, ConfigSource.DEFAULT),
    ]
    assert {c.name: c.value for c in describe(small, BROKER, "").configs}[size[0]] == size[2]
    (made,) = small.call(19, 7, CreateTopicsRequest([CreatableTopic("t", -1, -1)])).topics
    assert made.error_code == 0
    assert {c.name: c.value for c in made.configs}["segment.bytes"] == "2000000"
    (segment,) = describe(small, TOPIC, "t", "segment.bytes").configs
    assert segment.value == "2000000"
    assert alter(small, BROKER, "", (size[0], OpType.DELETE, None)) == 0
    assert describe(small, TOPIC, "t", "segment.bytes").configs[0].value == "2000000"


def test_rates_are_shown_where_they_are_set(world) -> None:
    """`kafka-reassign-partitions --throttle` sets them; unset they are not described, as in Apache Kafka."""
    rate, node = "leader.replication.throttled.rate", "1"
    assert rate not in [config.name for config in describe(world, BROKER, node).configs]
    assert alter(world, BROKER, node, (rate, OpType.SET, "-1")) == ErrorCode.INVALID_REQUEST
    assert alter(world, BROKER, node, (rate, OpType.SET, "1000")) == 0
    (shown,) = describe(world, BROKER, node, rate, include_synonyms=True).configs
    assert (shown.value, shown.read_only) == ("1000", False)
    assert synonyms(shown) == [(rate, "1000", ConfigSource.DYNAMIC_BROKER)]
    assert alter(world, BROKER, node, (rate, OpType.DELETE, None)) == 0
    assert describe(world, BROKER, node, rate).configs == []


def test_incremental_alter(world) -> None:
    assert alter(world, TOPIC, "t", ("flush.ms", OpType.SET, "9"), validate_only=True) == 0
    assert "flush.ms" not in world.controller.image.topics["t"].configs
    assert alter(world, TOPIC, "t", ("flush.ms", OpType.SET, "9"), ("retention.ms", OpType.DELETE, None)) == 0
    assert world.controller.image.topics["t"].configs == {"kproto.active.groups": "2", "flush.ms": "9"}
    assert alter(world, TOPIC, "none", ("flush.ms", OpType.SET, "9")) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert alter(world, TOPIC, "t", ("flush.ms", OpType.SET, "x")) == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize("version", range(3))
def test_alter_replaces(world, version: int) -> None:
    resource = alter_configs.AlterConfigsResource(
        resource_type=TOPIC,
        resource_name="t",
        configs=[alter_configs.AlterableConfig(name="flush.ms", value="9")],
    )
    missing = alter_configs.AlterConfigsResource(resource_type=TOPIC, resource_name="none")
    request = alter_configs.AlterConfigsRequest(resources=[resource, missing], validate_only=True)
    for validate_only in (True, False):
        before = dict(world.controller.image.topics["t"].configs)
        request.validate_only = validate_only
        done, refused = world.call(33, version, request).responses
        assert (done.resource_name, done.error_code, done.error_message) == ("t", 0, None)
        assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        after = dict(world.controller.image.topics["t"].configs)
        assert after == (before if validate_only else {"kproto.active.groups": "2", "flush.ms": "9"})
