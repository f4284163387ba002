"""The settings of one broker process: defaults, ``kproto.toml`` and command-line overrides, typed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from kproto.config.broker_configs import ALIASES, BROKER_CONFIGS
from kproto.config.definition import ConfigError, ConfigValue, value_text
from kproto.config.topic_configs import TOPIC_CONFIGS, TopicConfig, topic_config


class Settings(NamedTuple):
    """Everything a broker can be told. Fields are the enforced keys, dots written as underscores.

    ``values`` has every known key, ``explicit`` those that were set (file, command line, AlterConfigs)
    rather than taken from their default, as they were spelled; ``topic_defaults`` is the config of a topic
    without overrides. Sizes are bytes, times milliseconds unless the name says otherwise.
    """

    node_id: int
    broker_rack: str | None
    listeners: tuple[str, ...]
    advertised_listeners: tuple[str, ...] | None
    log_dirs: str
    socket_request_max_bytes: int
    connections_max_idle_ms: int
    max_connections: int
    max_connections_per_ip: int
    fetch_max_bytes: int
    max_incremental_fetch_session_cache_slots: int
    max_request_partition_size_limit: int
    auto_create_topics_enable: bool
    num_partitions: int
    default_replication_factor: int
    delete_topic_enable: bool
    message_max_bytes: int
    log_retention_check_interval_ms: int
    producer_id_expiration_ms: int
    group_min_session_timeout_ms: int
    group_max_session_timeout_ms: int
    group_initial_rebalance_delay_ms: int
    group_max_size: int
    offset_metadata_max_bytes: int
    offsets_commit_timeout_ms: int
    offsets_retention_minutes: int
    offsets_retention_check_interval_ms: int
    offsets_topic_num_partitions: int
    offsets_topic_replication_factor: int
    offsets_topic_segment_bytes: int
    auto_leader_rebalance_enable: bool
    leader_imbalance_check_interval_seconds: int
    broker_session_timeout_ms: int
    replica_lag_time_max_ms: int
    kproto_internal_listen: str
    kproto_internal_advertise: str
    kproto_join: str
    kproto_cluster_secret: str
    kproto_backup_stall_ms: int
    kproto_push_linger_max_ms: int
    kproto_repair_delay_ms: int
    kproto_controller_grace_ms: int
    kproto_recovery_read_bytes_per_second: int
    kproto_metrics_listen: str
    kproto_segment_file_bytes: int
    kproto_journal_bytes: int
    kproto_virtual_segment_bytes: int
    kproto_virtual_segment_ms: int
    kproto_vlogs_per_broker: int
    kproto_direct_bytes: int
    kproto_request_memory_bytes: int
    kproto_log_memory_bytes: int
    kproto_flush_bytes: int
    kproto_flush_age_ms: int
    kproto_checkpoint_interval_ms: int
    kproto_open_files: int
    kproto_cpu_scheduling: str
    kproto_metadata_store: str
    values: Mapping[str, ConfigValue]
    explicit: Mapping[str, str]
    topic_defaults: TopicConfig | None = None

    def with_texts(self, texts: Mapping[str, str]) -> Settings:
        """These settings with ``texts`` (dotted name -> value) on top; raises :class:`ConfigError`."""
        return _settings({**self.values, **_parsed(texts)}, {**self.explicit, **texts})

    def with_what_goes(self, texts: Mapping[str, str]) -> tuple[Settings, list[str]]:
        """The same with as many of ``texts`` as go, and why the others do not: one of those must not take
        back what it has nothing to do with, such as how long records are kept."""
        try:
            return self.with_texts(texts), []
        except ConfigError:
            settings, left = self, dict(texts)
        refused: dict[str, str] = {}
        while left:  # one may go only with another one that comes later
            for name, text in left.items():
                try:
                    settings = settings.with_texts({name: text})
                    refused.pop(name, None)
                except ConfigError as error:
                    refused[name] = str(error)
            if len(refused) == len(left):
                break
            left = {name: left[name] for name in refused}
        return settings, list(refused.values())

    def listen_address(self) -> tuple[str, int]:
        """Host and port to bind; an empty host means all interfaces."""
        return _address(self.listeners[0])

    def advertised_address(self) -> tuple[str, int] | None:
        """Host and port told to clients, or None when it is the one that is bound."""
        return _address(self.advertised_listeners[0]) if self.advertised_listeners else None

    def told_address(self, port: int) -> tuple[str, int]:
        """Host and port told to clients by a broker that has bound ``port``; of a listener without host this
        machine's own address. Advertised port 0 is the one that is bound, as in Apache Kafka."""
        host, told = self.advertised_address() or (self.listen_address()[0] or THIS_MACHINE, port)
        return host, told or port

    @property
    def keeps_metadata(self) -> bool:
        """The cluster is the same one after a restart: its metadata is not in memory alone."""
        return self.kproto_metadata_store != "memory"

    def effective(self) -> Iterator[tuple[str, str | None, bool]]:
        """``(name, value as text, set explicitly)`` of every key, by name."""
        for name in sorted(self.values):
            yield name, value_text(self.values[name]), name in self.explicit


THIS_MACHINE: Final = "127.0.0.1"
_ADDRESSES: Final = {
    "listeners": "advertised.listeners",
    "kproto.internal.listen": "kproto.internal.advertise",
}
"""What is bound, and what others are told when that is not it."""
_DRAIN: Final = "kproto.drain"
"""The controller reads it, which knows what was set for a broker while it runs."""
_RETENTION: Final = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
"""The first that is set counts. As in Apache Kafka it is not 0, which only a topic's own retention.ms may be:
all topics would lose everything."""
_ANYWHERE: Final = "*"
_MAPPED: Final = bytes(10) + b"\xff\xff"
"""How an address of IPv4 begins as one of IPv6."""
_NOT_KEYS: Final = frozenset({"values", "explicit", "topic_defaults"})
_KEY_OF_FIELD: Final = {name.replace(".", "_"): name for name in BROKER_CONFIGS}
_FIELD_KEYS: Final = tuple(
    (field, _KEY_OF_FIELD[field]) for field in Settings._fields if field not in _NOT_KEYS
)
_DEFAULTS: Final[Mapping[str, ConfigValue]] = {
    definition.name: definition.default for definition in BROKER_CONFIGS.values()
}


def load(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, str] | None = None,
    usual: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings of a broker.

    ``path`` is a TOML file whose keys are Kafka's dotted names, quoted (``"num.partitions" = 3``) or as
    tables (``[num]`` with ``partitions = 3``); ``overrides`` (dotted name -> text) win over it;
    ``usual`` are set where neither says otherwise. Raises :class:`ConfigError` with one line for an
    unreadable file, an unknown key or a value that is refused.
    """
    texts = {**(usual or {}), **_by_present_names(_file_texts(os.fspath(path)) if path is not None else {})}
    texts.update(_by_present_names(overrides or {}))
    texts.update({alias: texts[name] for alias, name in ALIASES.items() if alias in texts})
    values = _parsed(texts)
    if values.get(_DRAIN):
        raise ConfigError(f"{_DRAIN}: does nothing at the start; it is set for one broker while it runs")
    return _settings({**_DEFAULTS, **values}, texts)


def _by_present_names(texts: Mapping[str, str]) -> dict[str, str]:
    """What is set in one place, old names resolved, so that a later place wins whichever name it uses. As
    Kafka: ``log.dir`` counts where ``log.dirs`` is not set in the same place. Raises :class:`ConfigError` for
    an alias that contradicts its key there."""
    named = {"log.dirs": texts["log.dir"], **texts} if "log.dir" in texts else dict(texts)
    for alias, name in ALIASES.items():
        if alias in named and named.setdefault(name, named[alias]) != named[alias]:
            raise ConfigError(f"{alias}: {named[alias]!r} contradicts {name} = {named[name]!r}")
    return named


def _settings(values: Mapping[str, ConfigValue], explicit: Mapping[str, str]) -> Settings:
    _check_together(values)
    typed = {field: values[name] for field, name in _FIELD_KEYS}
    settings = Settings(values=values, explicit=explicit, **typed)  # type: ignore[arg-type]
    defaults = topic_config({}, settings)
    if defaults.retention_ms == 0:
        name = next(name for name in _RETENTION if name in explicit)
        raise ConfigError(f"{name}: {explicit[name]!r} must be -1 (unlimited) or at least 1")
    return settings._replace(topic_defaults=defaults)


def _parsed(texts: Mapping[str, str]) -> dict[str, ConfigValue]:
    parsed: dict[str, ConfigValue] = {}
    for name, text in texts.items():
        definition = BROKER_CONFIGS.get(name)
        if definition is None:
            raise ConfigError(f"{name}: no such broker config{_suggestion(name)}")
        if name not in ("log.dir", "log.dirs") and not _is_unicode(text):  # file names may be any bytes
            raise ConfigError(f"{name}: {text!r} is not UTF-8")
        parsed[name] = definition.parse(text)
    return parsed


def _is_unicode(text: str) -> bool:
    """Command lines have other bytes as lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _suggestion(name: str) -> str:
    topic = TOPIC_CONFIGS.get(name)
    if topic is not None:
        named = f", {topic.synonym} for those without" if topic.synonym in BROKER_CONFIGS else ""
        return f"; it is a config of topics (topic create --set){named}"
    if name.startswith(("controller.quorum.", "zookeeper.")):
        return "; leave it out: who has the metadata is kproto.join and kproto.metadata.store"
    import difflib

    near = difflib.get_close_matches(name, BROKER_CONFIGS, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _check_together(values: Mapping[str, ConfigValue]) -> None:
    """Limits that concern more than one key."""
    for low, high in (
        ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
        ("kproto.virtual.segment.bytes", "kproto.journal.bytes"),
    ):
        smaller, larger = values[low], values[high]
        if isinstance(smaller, int) and isinstance(larger, int) and smaller > larger:
            raise ConfigError(f"{low}: {smaller} is above {high} ({larger})")
    if not str(values["log.dirs"]).strip():
        raise ConfigError("log.dirs: has to name a directory")
    if not _is_file_name(str(values["log.dirs"])):
        raise ConfigError(f"log.dirs: {values['log.dirs']!r} cannot be the name of a directory here")
    if "," in str(values["log.dirs"]):
        raise ConfigError("log.dirs: kproto stores everything in one directory")
    for bound, told in _ADDRESSES.items():
        address = _first(values[told] or values[bound])
        only_bound = bound == "listeners" and not values[told]
        if address and _is_anywhere(host_and_port(address)[0], only_bound):
            where = f"{address} is no address to connect to"
            raise ConfigError(f"{bound}: {where}; {told} has to say one that clients or brokers reach")


def _is_file_name(text: str) -> bool:
    """Whether the system takes it: without NUL, of letters that the locale's encoding has."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _first(value: ConfigValue) -> str:
    """``host:port`` of an address, or of a list of listeners; "" for none."""
    return value[0].partition("://")[2] if isinstance(value, tuple) else str(value or "")


def _is_anywhere(host: str, only_bound: bool) -> bool:
    """Whether nobody can connect to it. Of a listener for clients without a host `told_address` says one."""
    return host == _ANYWHERE or _is_zero(host) or (not host and not only_bound)


def _is_zero(host: str) -> bool:
    """Whether it is the address of all interfaces, however it is written: 0, 0.0.0.0, ::, 0:0::0, ::%0,
    ::ffff:0.0.0.0."""
    import socket  # which most commands do without

    with contextlib.suppress(OSError, ValueError):
        return not any(socket.inet_aton(host))
    with contextlib.suppress(OSError, ValueError):
        return not any(socket.inet_pton(socket.AF_INET6, host.partition("%")[0]).removeprefix(_MAPPED))
    return False


def host_and_port(text: str) -> tuple[str, int]:
    """The parts of ``host:port``; an IPv6 address may be in brackets, the host may be empty."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def address_text(host: str, port: int) -> str:
    """``host:port`` as :func:`host_and_port` reads it, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _address(listener: str) -> tuple[str, int]:
    return host_and_port(listener.partition("://")[2])


def _file_texts(path: str) -> dict[str, str]:
    import tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        form = ' (expected lines like "num.partitions" = 3)' if path.endswith(".properties") else ""
        raise ConfigError(f"{path}: not valid TOML: {error}{form}") from None
    texts: dict[str, str] = {}
    for name, value in _flattened(document, ""):
        if name in texts:
            raise ConfigError(f"{path}: {name} is set twice")
        texts[name] = _toml_text(name, value)
    return texts


def _flattened(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict):
            yield from _flattened(value, name + ".")
        else:
            yield name, value


def _toml_text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, int | float | str) for item in value):
        return ",".join(map(str, value))
    raise ConfigError(f"{name}: a {type(value).__name__} is not a value of a broker config")
