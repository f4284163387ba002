"""What ``kproto serve`` prints can be typed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kproto import broker
from kproto.broker import Broker
from kproto.cli.main import main
from kproto.cli.serve import config, serve, settings_from
from kproto.config import Settings, address_text, host_and_port
from tests.groups.members import SECRET, members


@pytest.fixture(autouse=True)
def _announced_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(settings: Settings, announce: Callable[[str, int], None], *, stop_with_stdin: bool) -> int:
        announce(*settings.listen_address())
        return 0

    monkeypatch.setattr(broker, "run", run)


def test_an_ipv6_address_is_shown_in_brackets() -> None:
    for address in ("[::1]:9092", "127.0.0.1:9093", "localhost:9092"):
        said = CliRunner().invoke(serve, ["--listen", address]).output
        assert f"serves Kafka clients on {address}\n" in said
        assert said.count(f"--bootstrap {address}\n") == 2
        assert address_text(*host_and_port(address)) == address


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (
            ["--listen", "0.0.0.0:9092", "--advertise", "kafka.example:19092"],
            " --bootstrap kafka.example:19092",
        ),
        (["--listen", ":9093"], " --bootstrap 127.0.0.1:9093"),
        ([], ""),
    ],
)
def test_the_commands_it_suggests_reach_it(options: list[str], hint: str) -> None:
    said = CliRunner().invoke(serve, options).output.splitlines()
    assert [line.endswith(f" greetings{hint}") for line in said[2:3]] == [True]
    assert said[3].endswith(f" --from-beginning{hint}")


@pytest.mark.parametrize(("charset", "name"), [("utf-8", b"caf\xe9"), ("latin-1", "✓".encode())])
def test_what_the_encoding_of_standard_output_lacks_is_escaped(charset: str, name: bytes) -> None:
    """It used to end the broker that had just started, with a traceback."""
    directory = os.fsdecode(name)
    for command in ("serve", "config"):
        done = CliRunner(charset=charset).invoke(main, [command, "--data-dir", directory])
        assert done.exit_code == 0
        assert directory.encode(charset, "backslashreplace") in done.stdout_bytes


def test_what_nobody_has_set_is_a_default() -> None:
    def source(*options: str) -> dict[str, tuple[str, str]]:
        rows = json.loads(CliRunner().invoke(config, [*options, "--json"]).output)
        return {row["name"]: (row["value"], row["source"]) for row in rows}

    shown = source()
    assert shown["listeners"] == ("PLAINTEXT://127.0.0.1:9092", "default")
    assert shown["log.dirs"] == ("./kproto-data", "default")
    shown = source("--listen", "127.0.0.1:9093", "--set", "log.dir=/a")
    assert shown["listeners"] == ("PLAINTEXT://127.0.0.1:9093", "set")
    assert shown["log.dirs"] == ("/a", "set")


def test_the_address_for_other_brokers_beside_an_ipv6_one(tmp_path: Path) -> None:
    settings = settings_from(1, "[::1]:9092", None, None, "h:1", str(tmp_path), None, {})
    assert settings.kproto_internal_listen == "[::1]:10092"


def test_who_listens_on_any_port_does_so_for_other_brokers_too(tmp_path: Path) -> None:
    """It used to take port 1000. What it gets is what the others are told."""

    async def scenario() -> None:
        async with members(tmp_path, 1) as cluster:
            leader = cluster.brokers[1]._member
            assert leader is not None
            join, secret = f"127.0.0.1:{leader.port}", {"kproto.cluster.secret": SECRET}
            settings = settings_from(2, "127.0.0.1:0", None, None, join, str(tmp_path / "2"), None, secret)
            assert settings.kproto_internal_listen == "127.0.0.1:0"
            joined = cluster.brokers[2] = Broker(settings)
            await joined.start()
            assert joined._member is not None
            await cluster.until(lambda: 2 in cluster.image().brokers)
            found = cluster.image().brokers[2]
            assert (found.port, found.internal_port) == (joined.port, joined._member.port)
            assert 0 not in (found.port, found.internal_port)

    asyncio.run(asyncio.wait_for(scenario(), 120))
