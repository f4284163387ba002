"""docs/configuration.md says of kproto's own keys what the tables say."""

import re
from pathlib import Path

from kproto.config import BROKER_CONFIGS, TOPIC_CONFIGS, value_text

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def table(heading: str) -> dict[str, str]:
    """Key -> default of the table below a heading."""
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(kproto[^`]*)` \| ([^|]*) \|", section, re.MULTILINE))


def test_own_broker_keys_and_their_defaults() -> None:
    own = {
        name: value_text(each.default) for name, each in BROKER_CONFIGS.items() if name.startswith("kproto.")
    }
    assert table("kproto's own broker keys") == own


def test_own_topic_configs_and_their_defaults() -> None:
    own = {
        name: "the broker's" if each.synonym else value_text(each.default)
        for name, each in TOPIC_CONFIGS.items()
        if name.startswith("kproto.")
    }
    assert table("kproto's own topic configs") == own
