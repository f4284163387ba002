"""Configs as clients are shown them: value, source, and the synonyms they could come from (KIP-226). Pure.

As in Apache Kafka values are shown as they were read (``5``), so is a topic's own override among the
synonyms; those of brokers are shown as they were spelled (``+5``), and in the answer of CreateTopics all are.

The layers of a broker key, strongest first: dynamic for this broker, dynamic for all brokers, set at start,
default. A topic key puts the topic's own override on top and inherits from its broker synonym.

Dynamic configs may be stored that this broker does not use, because they do not go with its own file: its
values are those in force, the stored ones are among the synonyms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final, NamedTuple

from kproto.config import (
    ALIASES,
    BROKER_CONFIGS,
    FIXED_AT_CREATION,
    SHOWN_WHEN_SET,
    TOPIC_CONFIGS,
    ConfigDef,
    ConfigSource,
    ConfigType,
    Settings,
    address_text,
    inherited,
    readable,
    value_text,
)
from kproto.metadata import MetadataImage
from kproto.metadata.records import DEFAULT_BROKER

_COARSER: Final[Mapping[str, Sequence[str]]] = {
    names[place]: names[place + 1 :]
    for names in (
        (topic.synonym, *(name for name, _ in topic.scaled))
        for topic in TOPIC_CONFIGS.values()
        if topic.synonym is not None
    )
    for place in range(len(names) - 1)
}
"""Broker keys that are another's in coarser units: a key falls back to them in this order."""


class Synonym(NamedTuple):
    """One place a value comes from or would come from."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigView:
    """One config as DescribeConfigs shows it; ``synonyms`` strongest first.

    ``spelled`` is what CreateTopics shows: the value as it was set, if that was in the key's own unit.
    """

    name: str
    value: str | None
    spelled: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    type: ConfigType
    doc: str
    synonyms: tuple[Synonym, ...]


class ConfigViews:
    """Views of all configs at one image, for one broker."""

    __slots__ = ("_common", "_in_force", "_own", "_settings", "_special", "_unused")

    def __init__(
        self,
        settings: Settings,
        in_force: Settings,
        image: MetadataImage,
        node_id: int,
        advertised: tuple[str, int] | None = None,
    ) -> None:
        self._settings = settings
        self._in_force = in_force
        """``settings`` are those of the start; over these lie the dynamic configs that fit."""
        self._own = image.configs.get(str(node_id), {})
        self._common = image.configs.get(DEFAULT_BROKER, {})
        dynamic = image.broker_configs(node_id)
        self._unused = not dynamic.items() <= in_force.explicit.items()
        """Whether this broker goes without some of the dynamic configs that are stored."""
        self._special = {alias: value_text(settings.values[name]) for alias, name in ALIASES.items()}
        if advertised is not None:
            self._special["advertised.listeners"] = f"PLAINTEXT://{address_text(*advertised)}"

    def topic(self, overrides: Mapping[str, str]) -> list[ConfigView]:
        """All topic configs of a topic with these overrides, by name."""
        return [self._topic_key(TOPIC_CONFIGS[name], overrides) for name in sorted(TOPIC_CONFIGS)]

    def broker(self) -> list[ConfigView]:
        """All configs of this broker, by name."""
        return [
            self._broker_key(definition)
            for name, definition in BROKER_CONFIGS.items()
            if name not in SHOWN_WHEN_SET or any(self._set_layers(name))
        ]

    def all_brokers(self) -> list[ConfigView]:
        """The dynamic configs of every broker: only those that are set, spelled as they were."""
        views = []
        for name in sorted(self._common.keys() & BROKER_CONFIGS.keys()):  # a later version knew others
            synonym = Synonym(name, self._common[name], ConfigSource.DYNAMIC_DEFAULT_BROKER)
            views.append(_view(BROKER_CONFIGS[name], (synonym,), self._common[name], read_only=False))
        return views

    def _topic_key(self, definition: ConfigDef, overrides: Mapping[str, str]) -> ConfigView:
        synonyms: list[Synonym] = []
        own = overrides.get(definition.name)
        value = value_text(inherited(definition, self._in_force) if own is None else definition.parse(own))
        if own is not None:
            synonyms.append(Synonym(definition.name, value, ConfigSource.DYNAMIC_TOPIC))
        if definition.synonym is not None:
            synonyms += self._layers(definition.synonym)
        read_only = definition.name in FIXED_AT_CREATION
        spelled = value if own is None and self._unused else own
        return _view(definition, tuple(synonyms), value, read_only=read_only, spelled=spelled)

    def _broker_key(self, definition: ConfigDef) -> ConfigView:
        layers = self._layers(definition.name)
        synonyms = tuple(dropwhile(lambda each: each.name != definition.name, layers))
        value = self._special.get(definition.name) or value_text(self._in_force.values[definition.name])
        return _view(definition, synonyms, value, read_only=not definition.dynamic)

    def _layers(self, name: str) -> list[Synonym]:
        """The layers of a broker key and its coarser forms, whose defaults count where it is set itself."""
        names = (name, *_COARSER.get(name, ()))
        layers = [layer for each in names for layer in self._set_layers(each)]
        layers.sort(key=lambda layer: layer.source)
        for each in names if any(layer.name == name for layer in layers) else (name,):
            default = BROKER_CONFIGS[each].default
            if default is not None:
                layers.append(Synonym(each, value_text(default), ConfigSource.DEFAULT))
        return layers

    def _set_layers(self, name: str) -> Iterator[Synonym]:
        """The layers of a broker key in which it is set."""
        for texts, source in (
            (self._own, ConfigSource.DYNAMIC_BROKER),
            (self._common, ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (self._settings.explicit, ConfigSource.STATIC_BROKER),
        ):
            if name in texts:
                yield Synonym(name, readable(texts[name]), source)


def _view(
    definition: ConfigDef,
    synonyms: tuple[Synonym, ...],
    value: str | None,
    *,
    read_only: bool,
    spelled: str | None = None,
) -> ConfigView:
    """A view with the source of the strongest synonym; secrets are not shown."""
    first = synonyms[0] if synonyms else Synonym(definition.name, value, ConfigSource.DEFAULT)
    if spelled is None:
        spelled = value if first.name in dict(definition.scaled) else first.value
    if definition.sensitive:
        value = spelled = None
        synonyms = tuple(Synonym(name, None, source) for name, _, source in synonyms)
    return ConfigView(
        definition.name,
        value,
        spelled,
        first.source,
        read_only,
        definition.sensitive,
        definition.type,
        definition.doc,
        synonyms,
    )
