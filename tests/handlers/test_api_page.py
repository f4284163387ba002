"""docs/kafka-apis.md says what the registry says, and leaves out no API of Kafka's."""

import re
from pathlib import Path

from kproto.handlers.registry import APIS
from kproto.wire.generated import APIS as ALL

PAGE = (Path(__file__).parents[2] / "docs" / "kafka-apis.md").read_text()
SERVED, SKIPPED = PAGE.split("## Skipped")


def test_served_apis_are_those_of_the_registry() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \| ([\d-]+) \| `([\w/]+)\.py` \|$", SERVED, re.MULTILINE)
    listed = {int(key): (name, versions, path) for key, name, versions, path in rows}
    expected = {}
    for key, api in APIS.items():
        low, high = api.min_version, api.max_version
        versions = str(low) if low == high else f"{low}-{high}"
        expected[key] = (ALL[key][1], versions, api.module.removeprefix("kproto.handlers.").replace(".", "/"))
    assert listed == expected


def test_every_other_api_is_named_with_a_reason() -> None:
    listed = {int(key): name for name, key in re.findall(r"(\w+) \((\d+)\)", SKIPPED)}
    assert listed == {key: api[1] for key, api in ALL.items() if key not in APIS}
