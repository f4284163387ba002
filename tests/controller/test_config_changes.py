"""Decisions on configs. Error codes are those of Apache Kafka 4.3.1 for the same request."""

from __future__ import annotations

import pytest

from kproto.config import load
from kproto.controller import ConfigChange, ConfigOp, OpType, ResourceType
from kproto.controller.config_changes import decide_alter
from kproto.controller.topics import NewTopic, decide_create
from kproto.errors import ErrorCode
from kproto.metadata import MetadataImage

from .worlds import applied, image_of

SETTINGS = load()
SET, DELETE, APPEND, SUBTRACT = OpType.SET, OpType.DELETE, OpType.APPEND, OpType.SUBTRACT
THROTTLED = "leader.replication.throttled.replicas"
PAIRS = "1:1," * 8191 + "1:1"
"""32,767 bytes."""


def image(**configs: str) -> MetadataImage:
    start = image_of(1)
    wanted = {name.replace("_", "."): value for name, value in configs.items()}
    decision = decide_create(start, [NewTopic("t", 4, 1, (), wanted)], SETTINGS, lambda: b"i" * 16, {})
    return applied(start, decision.puts)


def topic(*ops: tuple[str, int, str | None], name: str = "t", replace: bool = False) -> ConfigChange:
    return ConfigChange(ResourceType.TOPIC, name, [ConfigOp(*op) for op in ops], replace)


def broker(*ops: tuple[str, int, str | None], name: str = "1") -> ConfigChange:
    return ConfigChange(ResourceType.BROKER, name, [ConfigOp(*op) for op in ops])


def altered(start: MetadataImage, change: ConfigChange) -> MetadataImage:
    decision = decide_alter(start, [change], SETTINGS)
    assert decision.answer == [None], decision.answer
    return applied(start, decision.puts)


def configs_after(start: MetadataImage, change: ConfigChange) -> dict[str, str]:
    return dict(altered(start, change).topics["t"].configs)


def test_set_and_delete() -> None:
    start = image(retention_ms="5")
    assert configs_after(start, topic(("flush.ms", SET, " 7 "))) == {"retention.ms": "5", "flush.ms": "7"}
    assert configs_after(start, topic(("retention.ms", SET, "6"))) == {"retention.ms": "6"}
    assert configs_after(start, topic(("retention.ms", DELETE, None))) == {}
    assert configs_after(start, topic(("nope", DELETE, None))) == {"retention.ms": "5"}


def test_append_and_subtract_start_from_what_is_inherited() -> None:
    start = image()
    appended = altered(start, topic(("cleanup.policy", APPEND, "compact")))
    assert appended.topics["t"].configs == {"cleanup.policy": "delete,compact"}
    assert configs_after(appended, topic(("cleanup.policy", APPEND, "compact"))) == {
        "cleanup.policy": "delete,compact"
    }
    assert configs_after(appended, topic(("cleanup.policy", SUBTRACT, "delete"))) == {
        "cleanup.policy": "compact"
    }
    twice = topic((THROTTLED, APPEND, "1:1, 2:2,2:2,1:1"))
    assert configs_after(start, twice) == {THROTTLED: "1:1,2:2"}
    both = topic(("cleanup.policy", SUBTRACT, "delete, compact"))
    assert configs_after(appended, both) == {"cleanup.policy": ""}


def test_replacing_forgets_what_is_not_named_but_not_what_is_fixed() -> None:
    start = image(retention_ms="5", kproto_active_groups="2")
    assert configs_after(start, topic(("flush.ms", SET, "7"), replace=True)) == {
        "flush.ms": "7",
        "kproto.active.groups": "2",
    }


def test_a_change_to_the_same_values_writes_nothing() -> None:
    decision = decide_alter(image(retention_ms="5"), [topic(("retention.ms", SET, "5"))], SETTINGS)
    assert decision.answer == [None]
    assert not decision.writes


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (topic(("retention.ms", SET, "1"), name="none"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (topic(("retention.ms", SET, "1"), name="a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(("retention.ms", SET, "1"), name=""), ErrorCode.INVALID_REQUEST),
        (topic(("retention.ms", SET, "z"), name="none"), ErrorCode.INVALID_CONFIG),
        (topic(("retention.ms", SET, "z"), name="a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(("retention.ms", APPEND, "1"), name="a/b"), ErrorCode.INVALID_CONFIG),
        (topic(("nope", SET, "1")), ErrorCode.INVALID_CONFIG),
        (topic(("retention.ms", SET, "z")), ErrorCode.INVALID_CONFIG),
        (topic(("retention.ms", SET, None)), ErrorCode.INVALID_REQUEST),
        (topic(("retention.ms", APPEND, "1")), ErrorCode.INVALID_CONFIG),
        (topic(("nope", APPEND, "1")), ErrorCode.INVALID_CONFIG),
        (topic(("retention.ms", 9, "1")), ErrorCode.INVALID_REQUEST),
        (topic(("retention.ms", SET, "1"), ("retention.ms", DELETE, None)), ErrorCode.INVALID_REQUEST),
        (
            topic(("min.compaction.lag.ms", SET, "77"), ("max.compaction.lag.ms", SET, "7")),
            ErrorCode.INVALID_CONFIG,
        ),
        (topic((THROTTLED, SET, PAIRS)), ErrorCode.NONE),
        (topic((THROTTLED, SET, PAIRS + ","), replace=True), ErrorCode.INVALID_CONFIG),
        (topic((THROTTLED, APPEND, PAIRS + ",2:1")), ErrorCode.NONE),
        (topic((THROTTLED, APPEND, ",".join(f"{n}:1" for n in range(5000)))), ErrorCode.INVALID_CONFIG),
        (topic(("kproto.active.groups", SET, "2")), ErrorCode.INVALID_CONFIG),
        (topic(("kproto.active.groups", SET, "1")), ErrorCode.NONE),
        (broker(("log.retention.ms", SET, "123")), ErrorCode.NONE),
        (broker(("log.retention.ms", SET, "123"), name=""), ErrorCode.NONE),
        (broker(("log.retention.ms", SET, "z")), ErrorCode.INVALID_REQUEST),
        (broker(("log.retention.ms", SET, "0")), ErrorCode.INVALID_REQUEST),
        (broker(("log.retention.ms", SET, "0"), name=""), ErrorCode.INVALID_REQUEST),
        (topic(("retention.ms", SET, "0")), ErrorCode.NONE),
        (broker(("log.retention.ms", SET, "1".rjust(32_768)), name=""), ErrorCode.INVALID_CONFIG),
        (broker(("num.partitions", SET, "3")), ErrorCode.INVALID_REQUEST),
        (broker(("num.partitions", DELETE, None)), ErrorCode.NONE),
        (broker(("log.cleaner.backoff.ms", SET, "16000")), ErrorCode.NONE),
        (broker(("num.io.threads", SET, "16"), name=""), ErrorCode.NONE),
        (broker(("num.io.threads", SET, "many")), ErrorCode.INVALID_REQUEST),
        (broker(("background.threads", DELETE, None)), ErrorCode.NONE),
        (broker(("max.connections.per.ip.overrides", SET, "10.0.0.1:5")), ErrorCode.INVALID_REQUEST),
        (broker(("max.connections.per.ip.overrides", DELETE, None)), ErrorCode.NONE),
        (broker(("queued.max.requests", SET, "600")), ErrorCode.INVALID_REQUEST),
        (broker(("kproto.drain", SET, "true")), ErrorCode.NONE),
        (broker(("kproto.drain", SET, "true"), name=""), ErrorCode.INVALID_REQUEST),
        (broker(("kproto.drain", DELETE, None), name=""), ErrorCode.NONE),
        (broker(("nope.x", SET, "3")), ErrorCode.INVALID_REQUEST),
        (broker(("nope.x", DELETE, None)), ErrorCode.NONE),
        (broker(("log.retention.ms", SET, "1"), name="9"), ErrorCode.INVALID_REQUEST),
        (broker(("log.retention.ms", SET, "1"), name="x"), ErrorCode.INVALID_REQUEST),
        (ConfigChange(ResourceType.GROUP, "g", []), ErrorCode.INVALID_REQUEST),
        (ConfigChange(3, "x", []), ErrorCode.INVALID_REQUEST),
    ],
)
def test_codes(change: ConfigChange, code: ErrorCode) -> None:
    decision = decide_alter(image(), [change], SETTINGS)
    assert [error.code if error else ErrorCode.NONE for error in decision.answer] == [code]
    if code is not ErrorCode.NONE:
        assert not decision.writes


@pytest.mark.parametrize(
    ("key", "least"),
    {
        "background.threads": 1,
        "log.cleaner.backoff.ms": 0,
        "log.cleaner.dedupe.buffer.size": 1_048_577,
        "log.cleaner.io.buffer.size": 0,
        "log.cleaner.threads": 1,
        "max.connection.creation.rate": 1,
        "num.io.threads": 1,
        "num.network.threads": 1,
        "num.recovery.threads.per.data.dir": 1,
        "num.replica.fetchers": 1,
    }.items(),
)
def test_what_changes_nothing_has_limits_all_the_same(key: str, least: int) -> None:
    """Those of Apache Kafka 4.3.1, as it answers when they are set while it runs."""
    for value, codes in ((least, [None]), (least - 1, [ErrorCode.INVALID_REQUEST])):
        decision = decide_alter(image(), [broker((key, SET, str(value)))], SETTINGS)
        assert [error and error.code for error in decision.answer] == codes


def test_a_resource_twice_is_refused_twice_and_others_go_on() -> None:
    twice = topic(("retention.ms", SET, "1"))
    decision = decide_alter(image(), [twice, broker(("log.retention.ms", SET, "1")), twice], SETTINGS)
    assert [error.code if error else None for error in decision.answer] == [
        ErrorCode.INVALID_REQUEST,
        None,
        ErrorCode.INVALID_REQUEST,
    ]


def test_broker_configs_are_kept_for_one_and_for_all() -> None:
    start = altered(image(), broker(("log.retention.ms", SET, "5"), name=""))
    start = altered(start, broker(("log.retention.ms", SET, "6"), ("log.roll.ms", SET, "7")))
    assert start.broker_configs(1) == {"log.retention.ms": "6", "log.roll.ms": "7"}
    assert start.broker_configs(2) == {"log.retention.ms": "5"}
    start = altered(start, broker(("log.retention.ms", DELETE, None)))
    assert start.broker_configs(1) == {"log.retention.ms": "5", "log.roll.ms": "7"}


@pytest.mark.parametrize("name", ["01", "+1", " 1", "1" * 5000, "\u0661"])
def test_a_broker_has_one_name(name: str) -> None:
    """Two of it in a request would each undo what the other did."""
    (error,) = decide_alter(image_of(1), [broker(("log.retention.ms", SET, "5"), name=name)], SETTINGS).answer
    assert error is not None
    assert error.code is ErrorCode.INVALID_REQUEST
