"""Options that cannot be meant are refused, with a real broker and with what it has stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from kproto.cli.main import main
from kproto.testing import InProcessBroker

Call = tuple[int, str]


def run(*words: str, given: str | None = None) -> Call:
    """Exit code, and the last line that is printed."""
    done = CliRunner().invoke(main, words, input=given)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, (done.output.splitlines() or [""])[-1]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[InProcessBroker]:
    broker = InProcessBroker({}, tmp_path)
    broker.start()
    yield broker
    broker.stop()


def test_a_config_that_does_not_exist_is_not_unset(broker: InProcessBroker) -> None:
    where = ("--bootstrap", broker.bootstrap_servers)
    assert run("topic", "create", "t", "--set", "retention.ms=1000", *where) == (0, "created t")
    refused = (1, "Error: t: --unset nosuch: there is no such topic config")
    assert run("topic", "alter", "t", "--unset", "retention.ms", "--unset", "nosuch", *where) == refused
    assert "1000" in CliRunner().invoke(main, ["topic", "describe", "t", *where]).output
    assert run("topic", "alter", "t", "--unset", "retention.ms", *where) == (0, "altered t")
    assert run("topic", "alter", "t", "--unset", "retention.ms", *where) == (0, "altered t")
    assert "1000" not in CliRunner().invoke(main, ["topic", "describe", "t", *where]).output
    code, said = run("topic", "alter", "absent", "--unset", "retention.ms", *where)
    assert (code, said.split(":")[:3]) == (1, ["Error", " absent", " UNKNOWN_TOPIC_OR_PARTITION"])


def test_a_topic_is_altered_as_a_whole_or_not_at_all(broker: InProcessBroker) -> None:
    """Configs used to be changed when there was no way to have so many partitions."""
    where = ("--bootstrap", broker.bootstrap_servers)

    def described() -> tuple[dict[str, str], int]:
        shown = json.loads(CliRunner().invoke(main, ["topic", "describe", "t", "--json", *where]).output)
        return shown["configs"], len(shown["partitions"])

    assert run("topic", "create", "t", "--partitions", "2", *where)[0] == 0
    alter = ("topic", "alter", "t", "--set", "retention.ms=1000", "--partitions")
    code, said = run(*alter, "1", *where)
    assert (code, said.split(":")[:3]) == (1, ["Error", " t", " INVALID_PARTITIONS"])
    assert described() == ({}, 2)
    assert run(*alter, "3", *where) == (0, "altered t")
    assert described() == ({"retention.ms": "1000"}, 3)
    code, said = run("topic", "alter", "t", "--set", "retention.ms=soon", "--partitions", "4", *where)
    assert (code, said.split(":")[:3]) == (1, ["Error", " t", " INVALID_CONFIG"])
    assert described() == ({"retention.ms": "1000"}, 3)


def test_what_is_consumed_is_said_once(broker: InProcessBroker) -> None:
    where = ("--bootstrap", broker.bootstrap_servers)
    assert run("produce", "t", *where, given="a\nb\n")[0] == 0
    assert run("consume", "t", "--from-beginning", "--max-records", "2", *where) == (0, "b")
    code, said = run("consume", "t", "--from-beginning", "--from-time", "5", "--max-records", "1", *where)
    assert (code, said) == (2, "Error: --from-beginning and --from-time: give one of them")
    code, said = run("consume", "t", "--from-beginning", "--max-records", "-1", *where)
    assert code == 2
    assert "--max-records" in said


def test_what_is_there_is_printed_however_short_one_waits(broker: InProcessBroker) -> None:
    """Also what no single answer has room for. It used to be nothing."""
    where = ("--bootstrap", broker.bootstrap_servers)
    lines = [f"{number}" * 150_000 for number in range(9)]
    assert run("produce", "t", *where, given="\n".join(lines))[0] == 0
    words = ["consume", "t", "--from-beginning", "--timeout", "0", *where]
    assert CliRunner().invoke(main, words).stdout.split() == lines
    for other in ("-1", "nan", "inf"):
        code, said = run("consume", "t", "--timeout", other, *where)
        assert (code, "--timeout" in said) == (2, True)


def test_json_is_utf_8_wherever_it_is_printed(broker: InProcessBroker) -> None:
    where = ("--bootstrap", broker.bootstrap_servers)
    assert run("produce", "t", *where, given="ü☃\n")[0] == 0
    done = CliRunner(charset="latin-1").invoke(
        main, ["consume", "t", "--from-beginning", "--max-records", "1", "--json", *where]
    )
    assert json.loads(done.stdout_bytes.decode())["value"] == "ü☃"


def test_what_is_not_stored_is_not_dumped(broker: InProcessBroker, tmp_path: Path) -> None:
    run("topic", "create", "t", "--partitions", "2", "--bootstrap", broker.bootstrap_servers)
    run("topic", "create", "wide", "--partitions", "9", "--bootstrap", broker.bootstrap_servers)
    broker.stop()
    dump = ("dump-log", str(tmp_path))
    for index in ("2", "-1"):
        missing = (1, f"Error: there is no partition {index} of t")
        assert run(*dump, "--topic", "t", "--partition", index) == missing
    assert run(*dump, "--partition", "9") == (1, "Error: there is no partition 9 of any topic")
    assert run(*dump, "--partition", "8")[0] == 0
    assert run(*dump, "--topic", "t", "--partition", "1")[0] == 0
    assert run(*dump, "--journal")[0] == 0
    for words in (("--topic", "t"), ("--partition", "0"), ("--chunks",)):
        code, said = run(*dump, "--journal", *words)
        assert code == 2
        assert said.startswith("Error: --journal shows files of all topics")
