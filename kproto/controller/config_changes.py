"""Pure decisions about configs: IncrementalAlterConfigs (KIP-339) and the older AlterConfigs.

Topic overrides are stored with the topic, dynamic broker configs under the broker's key or that of all
brokers. Error codes are those Apache Kafka 4.3 gives for the same request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from kproto.config import (
    BROKER_CONFIGS,
    FIXED_AT_CREATION,
    TOPIC_CONFIGS,
    ConfigDef,
    ConfigError,
    ConfigType,
    ConfigValue,
    Settings,
    validate_topic_configs,
    value_text,
)
from kproto.controller.decision import Decision
from kproto.controller.names import name_problem
from kproto.controller.rules import DRAIN
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.records import DEFAULT_BROKER, config_key, encode_configs
from kproto.vlog.classes import least_policy

UNSET: Final[Mapping[str, str]] = {}
VALUE_BYTES_MAX: Final = 32_767
"""Of a value that a client sets, as in Apache Kafka: old versions of DescribeConfigs could not show more."""
NODE_ID: Final = re.compile(r"0|[1-9][0-9]{0,9}")
"""As one writes it: else one broker had several names."""


class ResourceType(IntEnum):
    """What a config belongs to; the numbers of the protocol."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class OpType(IntEnum):
    """What happens to one key; the numbers of IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigOp(NamedTuple):
    """One key of a change. ``op`` is the number the client sent, known or not."""

    name: str
    op: int
    value: str | None


class ConfigChange(NamedTuple):
    """The change of one resource. ``replace`` forgets all keys that are not set here (AlterConfigs)."""

    resource_type: int
    resource_name: str
    ops: Sequence[ConfigOp]
    replace: bool = False


def decide_alter(
    image: MetadataImage,
    changes: Sequence[ConfigChange],
    settings: Settings,
    fenced: Collection[int] = (),
) -> Decision[list[KafkaError | None]]:
    """Change configs; one entry of the answer per change, in order. A fault in one does not stop others.

    ``fenced`` are brokers that are away but registered: as in Apache Kafka they have configs, too.
    """
    decision: Decision[list[KafkaError | None]] = Decision([])
    times = Counter((change.resource_type, change.resource_name) for change in changes)
    for change in changes:
        try:
            if times[change.resource_type, change.resource_name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "A resource may be in the request only once.")
            if any(count > 1 for count in Counter(op.name for op in change.ops).values()):
                raise KafkaError(ErrorCode.INVALID_REQUEST, "A config key may be in a change only once.")
            decision.puts.update(_decide_one(image, change, settings, fenced))
        except KafkaError as error:
            decision.answer.append(error)
            continue
        decision.answer.append(None)
    return decision


def _decide_one(
    image: MetadataImage, change: ConfigChange, settings: Settings, fenced: Collection[int]
) -> dict[str, bytes]:
    if change.resource_type == ResourceType.TOPIC:
        return _alter_topic(image, change)
    if change.resource_type == ResourceType.BROKER:
        return _alter_broker(image, change, settings, fenced)
    raise KafkaError(
        ErrorCode.INVALID_REQUEST, f"Configs of resource type {change.resource_type} cannot be changed here."
    )


def _alter_topic(image: MetadataImage, change: ConfigChange) -> dict[str, bytes]:
    """Operations are looked at before the topic's name, values before there is such a topic."""
    topic = image.topics.get(change.resource_name)
    configs = topic.configs if topic is not None else UNSET
    wanted = _applied(configs, change, TOPIC_CONFIGS)
    if not change.resource_name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "There are no configs of all topics.")
    problem = name_problem(change.resource_name)
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if change.replace:
        wanted.update((name, configs[name]) for name in FIXED_AT_CREATION & (configs.keys() - wanted.keys()))
    try:
        checked = validate_topic_configs(wanted)
        for name in FIXED_AT_CREATION:
            if _fixed_value(checked, name) != _fixed_value(configs, name):
                raise ConfigError(f"{name} is fixed when a topic is created.")
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {change.resource_name!r}.")
    changed = topic.with_configs(checked, least_policy(checked))
    return {} if checked == topic.configs else {topic.key: changed.encode()}


def _fixed_value(configs: Mapping[str, str], name: str) -> ConfigValue:
    definition = TOPIC_CONFIGS[name]
    return definition.parse(configs[name]) if name in configs else definition.default


def _alter_broker(
    image: MetadataImage, change: ConfigChange, settings: Settings, fenced: Collection[int]
) -> dict[str, bytes]:
    node_id = _node_id(change.resource_name, {*image.brokers, *fenced})
    current = image.configs.get(DEFAULT_BROKER if node_id is None else str(node_id), UNSET)
    for op in change.ops:
        if op.op == OpType.DELETE:
            continue
        definition = BROKER_CONFIGS.get(op.name)
        if definition is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{op.name}: no such broker config")
        if not definition.dynamic:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"{op.name} cannot be changed while the broker runs; set it at start.",
            )
        if op.name == DRAIN and node_id is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{op.name} is set for one broker, not for all.")
    wanted = _applied(current, change, BROKER_CONFIGS)
    try:
        settings.with_texts(wanted)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
    return {} if wanted == current else {config_key(node_id): encode_configs(wanted)}


def _node_id(resource_name: str, registered: Collection[int]) -> int | None:
    """Node id a broker resource names, None for the default of all brokers."""
    if not resource_name:
        return None
    if not NODE_ID.fullmatch(resource_name):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{resource_name!r} is not the id of a broker.")
    if int(resource_name) not in registered:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"There is no broker {resource_name}.")
    return int(resource_name)


def _applied(
    current: Mapping[str, str], change: ConfigChange, table: Mapping[str, ConfigDef]
) -> dict[str, str]:
    """The overrides after a change; values are not validated yet. Unknown keys may be deleted, not set.

    A list that the resource has not set is changed from the key's own default on, as in Apache Kafka: what it
    inherits does not count.
    """
    wanted = {} if change.replace else dict(current)
    for op in change.ops:
        if op.op == OpType.DELETE:
            wanted.pop(op.name, None)
        elif op.value is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{op.name}: null is not a value.")
        elif op.op == OpType.SET:
            wanted[op.name] = op.value
        elif op.op in (OpType.APPEND, OpType.SUBTRACT):
            definition = table.get(op.name)
            if definition is None or definition.type is not ConfigType.LIST:
                raise KafkaError(ErrorCode.INVALID_CONFIG, f"{op.name} is not a list: it cannot be added to.")
            before = wanted.get(op.name, value_text(definition.default) or "")
            wanted[op.name] = _changed_list(before, op.op, op.value)
        else:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{op.name}: there is no operation {op.op}.")
        check_size(op.name, wanted.get(op.name))
    return wanted


def check_size(name: str, value: str | None) -> None:
    """Raise :class:`KafkaError` INVALID_CONFIG for a value beyond `VALUE_BYTES_MAX`."""
    if value is not None and len(value.encode()) > VALUE_BYTES_MAX:
        problem = f"{name}: a value has at most {VALUE_BYTES_MAX} bytes, not {len(value.encode())}."
        raise KafkaError(ErrorCode.INVALID_CONFIG, problem)


def _changed_list(current: str, op: int, value: str) -> str:
    entries = [entry.strip() for entry in current.split(",") if entry.strip()]
    operands = [entry.strip() for entry in value.split(",") if entry.strip()]
    if op == OpType.APPEND:
        entries += [entry for entry in dict.fromkeys(operands) if entry not in entries]
    else:
        entries = [entry for entry in entries if entry not in operands]
    return ",".join(entries)
