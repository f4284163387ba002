"""Configs as clients are shown them: value, source, and the synonyms they could come from (KIP-226). Pure.

The layers of a broker key, strongest first: dynamic for this broker, dynamic for all brokers, set at start,
default. A topic key puts the topic's own override on top and inherits from its broker synonym.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kproto.config import (
    ALIASES,
    BROKER_CONFIGS,
    FIXED_AT_CREATION,
    TOPIC_CONFIGS,
    ConfigDef,
    ConfigSource,
    ConfigType,
    Settings,
    inherited,
    value_text,
)
from kproto.metadata import MetadataImage
from kproto.metadata.records import DEFAULT_BROKER


class Synonym(NamedTuple):
    """One place a value comes from or would come from."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigView:
    """One config as DescribeConfigs and CreateTopics show it; ``synonyms`` strongest first."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    type: ConfigType
    doc: str
    synonyms: tuple[Synonym, ...]


class ConfigViews:
    """Views of all configs at one image, for one broker."""

    __slots__ = ("_common", "_effective", "_own", "_settings", "_special")

    def __init__(
        self,
        settings: Settings,
        image: MetadataImage,
        node_id: int,
        advertised: tuple[str, int] | None = None,
    ) -> None:
        self._settings = settings
        self._own = image.configs.get(str(node_id), {})
        self._common = image.configs.get(DEFAULT_BROKER, {})
        dynamic = image.broker_configs(node_id)
        self._effective = settings.with_texts(dynamic) if dynamic else settings
        self._special = {alias: value_text(settings.values[name]) for alias, name in ALIASES.items()}
        if advertised is not None:
            self._special["advertised.listeners"] = f"PLAINTEXT://{advertised[0]}:{advertised[1]}"

    def topic(self, overrides: Mapping[str, str]) -> list[ConfigView]:
        """All topic configs of a topic with these overrides, by name."""
        return [self._topic_key(TOPIC_CONFIGS[name], overrides) for name in sorted(TOPIC_CONFIGS)]

    def broker(self) -> list[ConfigView]:
        """All configs of this broker, by name."""
        return [self._broker_key(definition) for definition in BROKER_CONFIGS.values()]

    def all_brokers(self) -> list[ConfigView]:
        """The dynamic configs of every broker: only those that are set, spelled as they were."""
        views = []
        for name in sorted(self._common):
            synonym = Synonym(name, self._common[name], ConfigSource.DYNAMIC_DEFAULT_BROKER)
            views.append(_view(BROKER_CONFIGS[name], (synonym,), None, read_only=False))
        return views

    def _topic_key(self, definition: ConfigDef, overrides: Mapping[str, str]) -> ConfigView:
        synonyms: list[Synonym] = []
        if definition.name in overrides:
            text = value_text(definition.parse(overrides[definition.name]))
            synonyms.append(Synonym(definition.name, text, ConfigSource.DYNAMIC_TOPIC))
        if definition.synonym is not None:
            names = (definition.synonym, *(name for name, _ in definition.scaled))
            for name in names:
                synonyms += self._set_layers(name)
            default = BROKER_CONFIGS[definition.synonym].default
            if default is not None:
                synonyms.append(Synonym(definition.synonym, value_text(default), ConfigSource.DEFAULT))
        fallback = value_text(inherited(definition, self._effective))
        view = _view(definition, tuple(synonyms), fallback, read_only=definition.name in FIXED_AT_CREATION)
        return view if definition.name in overrides else _with_value(view, fallback)

    def _broker_key(self, definition: ConfigDef) -> ConfigView:
        synonyms = tuple(self._layers(definition))
        fallback = self._special.get(definition.name)
        view = _view(definition, synonyms, fallback, read_only=not definition.dynamic)
        return _with_value(view, fallback) if fallback is not None else view

    def _layers(self, definition: ConfigDef) -> Iterator[Synonym]:
        yield from self._set_layers(definition.name)
        if definition.default is not None:
            yield Synonym(definition.name, value_text(definition.default), ConfigSource.DEFAULT)

    def _set_layers(self, name: str) -> Iterator[Synonym]:
        """The layers of a broker key in which it is set, with what it is set to, however that was spelled."""
        parse = BROKER_CONFIGS[name].parse
        if name in self._own:
            yield Synonym(name, value_text(parse(self._own[name])), ConfigSource.DYNAMIC_BROKER)
        if name in self._common:
            yield Synonym(name, value_text(parse(self._common[name])), ConfigSource.DYNAMIC_DEFAULT_BROKER)
        if name in self._settings.explicit:
            yield Synonym(name, value_text(self._settings.values[name]), ConfigSource.STATIC_BROKER)


def _view(
    definition: ConfigDef, synonyms: tuple[Synonym, ...], fallback: str | None, *, read_only: bool
) -> ConfigView:
    """A view whose value is that of the strongest synonym; secrets are not shown."""
    first = synonyms[0] if synonyms else Synonym(definition.name, fallback, ConfigSource.DEFAULT)
    if definition.sensitive:
        first = Synonym(first.name, None, first.source)
        synonyms = tuple(Synonym(name, None, source) for name, _, source in synonyms)
    return ConfigView(
        definition.name,
        first.value,
        first.source,
        read_only,
        definition.sensitive,
        definition.type,
        definition.doc,
        synonyms,
    )


def _with_value(view: ConfigView, value: str | None) -> ConfigView:
    """The view with the effective value, which may be a synonym's in other units."""
    if view.value == value or view.sensitive:
        return view
    return ConfigView(
        view.name, value, view.source, view.read_only, view.sensitive, view.type, view.doc, view.synonyms
    )
