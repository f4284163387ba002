"""Typed settings: broker configs (``Settings``, ``load``), topic configs (``TopicConfig``, ``topic_config``).

May import nothing else of kproto. ``definition`` says what a key is, ``broker_configs`` and ``topic_configs``
are the tables, ``settings`` reads ``kproto.toml``; ``store_url`` is where the metadata may be.
"""

from kproto.config.broker_configs import ALIASES, BROKER_CONFIGS, SHOWN_WHEN_SET
from kproto.config.definition import (
    ConfigDef,
    ConfigError,
    ConfigSource,
    ConfigType,
    ConfigValue,
    readable,
    value_text,
)
from kproto.config.settings import THIS_MACHINE, Settings, address_text, host_and_port, load
from kproto.config.topic_configs import (
    ACTIVE_GROUPS,
    FIXED_AT_CREATION,
    TOPIC_CONFIGS,
    TopicConfig,
    inherited,
    topic_config,
    validate_topic_configs,
)

__all__ = [
    "ACTIVE_GROUPS",
    "ALIASES",
    "BROKER_CONFIGS",
    "FIXED_AT_CREATION",
    "SHOWN_WHEN_SET",
    "THIS_MACHINE",
    "TOPIC_CONFIGS",
    "ConfigDef",
    "ConfigError",
    "ConfigSource",
    "ConfigType",
    "ConfigValue",
    "Settings",
    "TopicConfig",
    "address_text",
    "host_and_port",
    "inherited",
    "load",
    "readable",
    "topic_config",
    "validate_topic_configs",
    "value_text",
]
