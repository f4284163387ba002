"""What the controller remembers of recoveries."""

from __future__ import annotations

import pytest

from kproto.controller import recoveries
from kproto.controller.recoveries import Recoveries


def test_an_epoch_that_ends_twice_is_forgotten_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller finds at its start that streamlets of an epoch are to be recovered, and its broker is a
    member yet. When that starts again, and many others after it, registrations must go on."""
    monkeypatch.setattr(recoveries, "KEPT", 2)
    known = Recoveries()
    for number, epoch in enumerate((1, 1, 2, 3, 4)):
        known.ended(7, epoch, "it started again", 0.0, float(number), number)
    assert [row["epoch"] for row in known.rows()] == [3, 4]
    assert set(known._by_epoch) == {3, 4}
