"""docs/configuration.md says of kproto's own keys what the tables say."""

import re
from pathlib import Path

from kproto.config import BROKER_CONFIGS, TOPIC_CONFIGS, value_text
from kproto.config.definition import ConfigDef

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def table(heading: str) -> dict[str, tuple[str, str]]:
    """Key -> default and range of the table below a heading."""
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \|", section, re.MULTILINE)
    return {key: (default, limits) for key, default, limits in rows}


def limits_of(definition: ConfigDef) -> str:
    """Of a number, by what is said of one that is far too small."""
    if definition.validator is None or not isinstance(definition.default, int | float):
        return ""
    problem = definition.validator(-(10**30))
    assert problem is not None
    return re.sub(r"between (\d+) and", r"\1 to", problem.removeprefix("must be "))


def test_own_broker_keys_their_defaults_and_ranges() -> None:
    shown = table("kproto's own broker keys")
    own = {name for name in BROKER_CONFIGS if name.startswith("kproto.")}
    assert own <= set(shown)
    for name, columns in shown.items():
        definition = BROKER_CONFIGS[name]
        assert columns == (value_text(definition.default), limits_of(definition)), name


def test_own_topic_configs_their_defaults_and_ranges() -> None:
    own = {
        name: ("the broker's" if each.synonym else value_text(each.default), limits_of(each))
        for name, each in TOPIC_CONFIGS.items()
        if name.startswith("kproto.")
    }
    assert table("kproto's own topic configs") == own
