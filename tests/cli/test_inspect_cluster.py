"""``kproto vlogs`` and ``kproto recovery`` where not all brokers answer."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kproto.cli import inspect_cluster
from kproto.cli.main import main
from kproto.local_cluster import LocalCluster

VLOG = {"vlog": 3, "copies": 2, "lag": 0}
NOTHING: dict[str, Any] = {"recoveries": [], "waiting": [], "lost": [], "repairs": {}}


@contextmanager
def telling(page: object) -> Iterator[str]:
    """The address of a metrics endpoint that has ``page`` everywhere."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(page).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a broker that hangs: the kernel takes the connection, and that is all."""
    monkeypatch.setattr(inspect_cluster, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        yield f"127.0.0.1:{hanging.getsockname()[1]}"


def ask(command: str, *addresses: str, json_wanted: bool = False) -> Result:
    words = [word for address in addresses for word in ("--metrics", address)]
    return CliRunner().invoke(main, [command, *words, *(["--json"] if json_wanted else [])])


def test_the_others_are_shown_beside_one_that_hangs(silent: str) -> None:
    with telling([VLOG]) as one, telling([VLOG]) as two:
        shown = ask("vlogs", one, silent, two)
        assert shown.exit_code == 1
        assert one in shown.stdout
        assert two in shown.stdout
        assert shown.stderr == f"kproto: {silent}: no answer in 0.2 s\n"
        shown = ask("vlogs", silent, two, json_wanted=True)
        assert shown.exit_code == 1
        assert json.loads(shown.stdout) == [
            {"broker": two, **VLOG},
            {"broker": silent, "error": "no answer in 0.2 s"},
        ]
        assert ask("vlogs", one, two).exit_code == 0


@pytest.mark.parametrize("command", ["vlogs", "recovery"])
def test_nobody_answers(command: str, silent: str) -> None:
    """The cluster did not do it: as of a topic that cannot be created, the exit code is 1."""
    shown = ask(command, silent, "127.0.0.1:1", silent)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr == (
        f"kproto: {silent}: no answer in 0.2 s\nkproto: 127.0.0.1:1: Connection refused\n"
    )


@pytest.mark.parametrize("command", ["vlogs", "recovery"])
def test_no_broker_is_running(command: str, tmp_path: Path) -> None:
    LocalCluster.create(str(tmp_path), 2, 0)
    shown = CliRunner().invoke(main, [command, "--data-dir", str(tmp_path)])
    assert (shown.exit_code, shown.stdout, shown.stderr) == (2, "", "kproto: no broker is running\n")


def test_the_first_broker_that_answers_tells_of_recoveries(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for one that hangs: that is when one looks at recoveries."""
    monkeypatch.setattr(inspect_cluster, "TIMEOUT_S", 3600)
    with telling(NOTHING) as one:
        shown = ask("recovery", silent, one)
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert "copies missing: 0, being made: 0\n" in shown.stdout


@pytest.mark.parametrize(
    ("seen", "missing"), [(7, "4,"), (6, "not looked yet since the last change (4 before),")]
)
def test_a_number_that_nobody_has_counted_is_not_shown(seen: int, missing: str) -> None:
    repairs = {"running": 1, "short": 4, "changes": 7, "seen": seen}
    with telling({**NOTHING, "repairs": repairs}) as one:
        assert f"copies missing: {missing} being made: 1\n" in ask("recovery", one).stdout


def test_a_broker_that_is_drained_is_shown() -> None:
    """Nobody else says so when the command that began it was killed."""
    with telling({**NOTHING, "draining": {"4": {"streamlets": 1, "single": 0, "copies": 7}}}) as one:
        said = "broker 4 is being drained (kproto.drain): it still has 1 streamlets and 7 copies that others"
        assert f"{said} need\n" in ask("recovery", one).stdout


@pytest.mark.parametrize(
    "page", [{"status": "ok"}, ["ok"], "ok", 1, None, {**NOTHING, "repairs": {"short": "1"}}]
)
def test_what_is_no_broker_is_told_apart(page: object) -> None:
    for command in ("vlogs", "recovery"):
        with telling(page) as one:
            shown = ask(command, one)
            said = f"kproto: {one}: what answers there is no broker of kproto\n"
            assert (shown.exit_code, shown.stdout, shown.stderr) == (1, "", said)


@pytest.mark.parametrize("text", ["foo", "127.0.0.1:x", "127.0.0.1:", "127.0.0.1:99999"])
def test_addresses_are_checked_alike(text: str) -> None:
    said = []
    for words in (["topic", "list", "--bootstrap", text], ["vlogs", "--metrics", text]):
        shown = CliRunner().invoke(main, words)
        assert (shown.exit_code, shown.stdout) == (2, "")
        said.append(shown.stderr.replace("--bootstrap", "--metrics"))
    assert said[0] == said[1]
    assert f" {text}: " in said[0]
