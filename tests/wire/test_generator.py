"""The generator: its parts, what it makes of a schema, and whether the modules are up to date."""

import json
import os
from pathlib import Path

import pytest

from kproto.wire.generator.__main__ import TARGET, generate
from kproto.wire.generator.modules import module_code
from kproto.wire.generator.schema import Versions, parse_message, snake

JARS = "KPROTO_KAFKA_CLIENTS_JAR"
"""Paths of the kafka-clients and kafka-group-coordinator jars, separated as in PATH."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TopicId", "topic_id"),
        ("timeoutMs", "timeout_ms"),
        ("ISRNodes", "isr_nodes"),
        ("From", "from_"),
        ("V2Id", "v2_id"),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert snake(name) == expected


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("3", [3], [2, 4]),
        ("3-5", [3, 5], [2, 6]),
        ("3+", [3, 99], [2]),
        ("none", [], [0, 1]),
        (None, [], [0, 1]),
    ],
)
def test_versions(text: str | None, inside: list[int], outside: list[int]) -> None:
    versions = Versions.parse(text)
    assert all(version in versions for version in inside)
    assert not any(version in versions for version in outside)


def test_a_schema_without_versions_is_dropped() -> None:
    assert parse_message('{"name": "StopReplicaRequest", "type": "request", "validVersions": "none"}') is None


def test_runs_of_fixed_fields_become_one_call() -> None:
    schema = {
        "name": "Sample",
        "type": "data",
        "validVersions": "0-1",
        "flexibleVersions": "1+",
        "fields": [
            {"name": "One", "type": "int32", "versions": "0+"},
            {"name": "Two", "type": "int64", "versions": "0+"},
            {"name": "Name", "type": "string", "versions": "0+"},
        ],
    }
    message = parse_message("// a comment\n" + json.dumps(schema))
    assert message is not None
    source = module_code("Sample", [("", message)])
    assert "m.one, m.two, n = u_iqh(buf, pos)" in source
    assert "m.one, m.two, n = u_iqB(buf, pos)" in source
    namespace: dict[str, object] = {}
    exec(source, namespace)
    out = bytearray()
    namespace["WRITE"][1](namespace["Sample"](one=1, two=2, name="abc"), out)  # type: ignore[index, operator]
    assert out == b"\0\0\0\1" + b"\0\0\0\0\0\0\0\2" + b"\x04abc" + b"\0"


def test_generated_modules_say_so() -> None:
    for path in TARGET.glob("*.py"):
        assert "Written by kproto.wire.generator: do not edit." in path.read_text()[:300], path.name


def test_generated_modules_are_up_to_date() -> None:
    """Against the jars named by the environment; without it, against the modules' own list."""
    jars = os.environ.get(JARS)
    present = {path.name: path.read_text() for path in Path(TARGET).glob("*.py")}
    if jars is None:
        from kproto.wire.generated import APIS

        assert {f"{module}.py" for module, *_ in APIS.values()} <= present.keys()
        return
    assert generate(jars.split(os.pathsep)) == present
