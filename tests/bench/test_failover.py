"""`bench failover`: what it counts at the end, when it begins, and what it does about broken promises."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from bench.failover import clusters
from bench.failover.census import Census
from bench.failover.clusters import await_whole, session_settings
from bench.failover.command import _tell
from bench.failover.load import FailoverLoad
from bench.failover.promises import UNTOLD, value_of
from bench.failover.report import census_run
from bench.failover.rounds import Round, Rounds
from bench.failover.whole import Whole
from bench.page.gathered import gather
from bench.results import KAFKA, KPROTO, Result

SIZE = 500


def log_of(partition: int, *numbers: int) -> dict[int, bytes]:
    """These records, one after the other."""
    return {offset: value_of(partition, number, SIZE) for offset, number in enumerate(numbers)}


def counted(acked: dict[int, int], values: dict[int, bytes]) -> Census:
    found = Census()
    found.add(3, acked, values, SIZE)
    return found


def test_records_where_they_were_acknowledged_are_kept() -> None:
    found = counted({0: 0, 1: 1}, log_of(3, 0, 1, 2))
    assert (found, found.kept) == (Census(2, 3), True)


def test_what_is_gone_or_elsewhere_or_twice_or_damaged_is_counted() -> None:
    acked = {number: number for number in range(4)}
    assert counted(acked, log_of(3, 2, 3)) == Census(4, 2, lost=2, elsewhere=2)
    assert counted(acked, log_of(3, 0, 1, 1, 2, 3)) == Census(4, 5, elsewhere=2, twice=1)
    torn = {**log_of(3, 0, 1, 2, 3), 1: b"3:1:torn", 4: b"", 5: value_of(4, 5, SIZE), 6: b"3:x:"}
    assert counted(acked, torn) == Census(4, 7, lost=1, damaged=4)
    assert counted({0: UNTOLD, 1: 1}, log_of(3, 0, 1)) == Census(2, 2)
    assert counted({0: 0, 1: UNTOLD}, log_of(3, 0)) == Census(2, 1, lost=1)
    overtaken = {124: 0, 125: 1, 0: 2, 1: 3, 126: 4}
    assert counted(overtaken, log_of(3, 124, 125, 0, 1, 126)) == Census(5, 5, disordered=2)
    for one in (
        Census(disordered=1),
        Census(1, 1, lost=1),
        Census(1, 1, elsewhere=1),
        Census(1, 1, twice=1),
        Census(damaged=1),
    ):
        assert not one.kept
    assert census_run(KAFKA, counted(acked, log_of(3, 2, 3)), {}).metrics["lost"] == 2


def test_a_session_comes_with_heartbeats_where_they_would_be_too_few() -> None:
    assert session_settings(KPROTO, None) == session_settings(KAFKA, None) == {}
    assert session_settings(KPROTO, 1000) == {"broker.session.timeout.ms": "1000"}
    told = session_settings(KAFKA, 1000)
    assert told == {"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "200"}


class Flapping:
    """Whole or not, look after look, a third of a second apart."""

    name = "flapping"

    def __init__(self, monkeypatch: pytest.MonkeyPatch, looks: str) -> None:
        self.looks: Iterator[str] = iter(looks)
        self.now = 0.0
        monkeypatch.setattr(clusters, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep))

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def watch(self, _topic: str) -> Callable[[], bool]:
        return lambda: next(self.looks) == "y"


def test_the_load_waits_until_copies_have_been_in_sync_for_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster: Any = Flapping(monkeypatch, "nyyyyyyynyyy" + "y" * 20 + "!")
    assert await_whole(cluster, "t", 60, 5.0) == pytest.approx(9 * clusters.LOOK_S)
    assert cluster.now == pytest.approx(9 * clusters.LOOK_S + 5.1, abs=clusters.LOOK_S)
    brief: Any = Flapping(monkeypatch, "nyyy!")
    assert await_whole(brief, "t", 60) == pytest.approx(clusters.LOOK_S)
    with pytest.raises(TimeoutError, match="not whole"):
        await_whole(Flapping(monkeypatch, "yyyn" * 100), "t", 20, 5.0)  # type: ignore[arg-type]


def shown(changes: int, seen: int, waiting: str = "", **lacking: int) -> dict[str, Any]:
    """What `kproto recovery` shows."""
    repairs = {"short": 0, "sealing": 0, "running": 0, **lacking, "changes": changes, "seen": seen}
    return {"waiting": waiting.split(), "repairs": repairs}


def test_copies_are_whole_by_a_look_that_is_not_older_than_the_question() -> None:
    whole = Whole()
    assert not whole.by(shown(5, 4)), "it has not looked since the last change"
    assert not whole.by(shown(9, 4)), "nor now"
    assert whole.by(shown(9, 5)), "others came after the question"
    assert not whole.by(shown(9, 9, short=1))
    assert Whole().by(shown(5, 5))


@pytest.mark.parametrize("lacking", ["short", "sealing", "running"])
def test_copies_are_not_whole_while_something_lacks_or_waits(lacking: str) -> None:
    assert not Whole().by(shown(5, 5, "", **{lacking: 1}))
    assert not Whole().by(shown(5, 5, waiting="for-broker-3"))


def test_another_controller_begins_to_count_anew() -> None:
    whole = Whole()
    assert not whole.by(shown(500, 499))
    assert not whole.by({"waiting": [], "repairs": {}}), "it is starting"
    assert not whole.by(shown(2, 1))
    assert whole.by(shown(3, 2))


def load(forgiving: bool) -> FailoverLoad:
    """Without producers."""
    found = FailoverLoad.__new__(FailoverLoad)
    found.forgiving, found.problems, found.partitions = forgiving, [], 1
    found.producers, found.readers = [], []
    return found


class Broken(FailoverLoad):
    """A reader has found another value."""

    def failures(self) -> list[str]:
        return ["reader: partition 0, offset 0: another value"]

    def acked(self) -> dict[int, int]:
        return {0: 60}


def test_broken_promises_end_the_load_or_are_told_at_the_end() -> None:
    strict, forgiving = load(False), load(True)
    strict.__class__ = forgiving.__class__ = Broken
    with pytest.raises(AssertionError, match="another value"):
        strict._await("anything", lambda: False, 5)
    forgiving._await("what comes all the same", lambda: bool(forgiving.problems), 5)
    assert forgiving.problems == forgiving.failures()
    with pytest.raises(AssertionError, match="lost"):
        strict.forgive(AssertionError("lost"))
    forgiving.forgive(AssertionError("later"))
    assert forgiving.problems == forgiving.failures(), "the first ones"


def test_rounds_check_nothing_any_more_once_something_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: Any = load(True)
    broken.__class__ = Broken
    checks: list[int] = []

    def another_value(*_: object) -> int:
        checks.append(1)
        raise AssertionError("another value")

    monkeypatch.setattr(Broken, "await_read", lambda _self: {0: 60})
    monkeypatch.setattr(Broken, "verify", another_value)
    noted: list[Round] = []
    cluster: Any = None
    rounds = Rounds(cluster, broken, random.Random(1), noted.append)
    for number in range(2):
        rounds._check(Round(number, "restart", [], False))
    assert len(checks) == 1
    assert [(this.records, this.checked) for this in noted] == [(60, 0)] * 2
    broken.forgiving, broken.problems = False, []
    with pytest.raises(AssertionError, match="another value"):
        rounds._check(Round(2, "restart", [], False))


def test_a_broken_promise_is_among_what_failed(tmp_path: Path) -> None:
    kept = Census(acknowledged=100, found=100)
    result = Result("failover", "failover", "t", "kproto bench failover", {})
    for kind, failed in ((KAFKA, ""), (KPROTO, "partition 3: 4711 stored, 4712 acknowledged")):
        cluster = SimpleNamespace(kind=kind, name=kind)
        session: Any = SimpleNamespace(
            console=Console(quiet=True), cluster=cluster, census=kept, results={"rounds": []}
        )
        _tell(session, failed, tmp_path / kind, {}, result)
    result.save(tmp_path)
    assert gather(tmp_path).failed == ["1 run of failover-failover"]
