"""The controller is told of a damaged copy until it is forgotten or whole again, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.replica import disowning
from kproto.replica.disowning import Disowning

ME, OTHER = CopyTarget(1, "mine"), CopyTarget(2, "its")
VSEG = VsegId(7, 1, 3)


class Office:
    """Metadata that lists a damaged copy here; what the controller answers to each proposal is in
    ``answers``, the last one for ever."""

    def __init__(self, *answers: Callable[[], object]) -> None:
        self.image = MetadataImage()
        self.table = VlogTable()
        self.me = ME
        self.whole = False
        self.answers = list(answers)
        self.proposals: list[Any] = []
        self.list(ME, OTHER)

    def list(self, *backups: CopyTarget) -> None:
        self.table.vsegs[VSEG] = VsegRecord(VSEG, 9, "owner", 3, 0, 0, 100, backups)

    def is_whole(self, vseg: VsegId) -> bool:
        assert vseg == VSEG
        return self.whole

    async def propose(self, kind: str, args: Any) -> Any:
        assert kind == "disown"
        self.proposals.append(args)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer()


def run(office: Office, times: int = 1) -> list[Any]:
    """Damage was seen so many times at once; what was proposed until all was done."""

    async def go() -> None:
        one = Disowning(office, office)
        await asyncio.wait_for(asyncio.gather(*(one.disown(VSEG) for _ in range(times))), 60)

    asyncio.run(go())
    return office.proposals


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disowning, "FIRST_SECONDS", 0.0001)
    monkeypatch.setattr(disowning, "MOST_SECONDS", 0.001)


def test_it_is_told_until_the_copy_is_forgotten() -> None:
    def refuse() -> None:
        raise KafkaError(ErrorCode.NOT_CONTROLLER)

    office = Office(lambda: None, refuse, lambda: None, lambda: office.list(OTHER))
    assert run(office) == [{"vsegs": [list(VSEG)]}] * 4


def test_a_copy_that_was_made_anew_is_not_disowned() -> None:
    """Found by simulation: it was listed again before the next look, and taken off the list; then the other
    one was the last."""
    office = Office(lambda: setattr(office, "whole", True))
    assert len(run(office)) == 1


def test_damage_that_is_seen_by_many_reads_is_told_once() -> None:
    office = Office(lambda: office.list(OTHER))
    assert len(run(office, 5)) == 1
    office.list(ME, OTHER)
    assert len(run(office)) == 2, "and again, when it happens again"


def test_a_fenced_broker_has_nothing_to_say() -> None:
    def fenced() -> None:
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH)

    assert len(run(Office(fenced))) == 1


def test_what_is_not_listed_or_not_known_needs_nothing() -> None:
    office = Office(lambda: None)
    office.list(OTHER)
    assert not run(office)
    del office.table.vsegs[VSEG]
    assert not run(office)
