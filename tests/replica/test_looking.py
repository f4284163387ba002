"""What looks again and again: which failures end it, and which are tried again."""

from __future__ import annotations

import asyncio

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.replica.looking import Looking, LostError, Waits


@pytest.mark.parametrize("last", [LostError(), KafkaError(ErrorCode.STALE_BROKER_EPOCH)])
def test_only_the_end_of_an_epoch_ends_it(last: Exception) -> None:
    outcomes: list[Exception | None] = [None, KafkaError(ErrorCode.NOT_CONTROLLER), ValueError("x"), last]
    calls: list[int] = []

    async def look() -> None:
        calls.append(len(calls))
        outcome = outcomes[calls[-1] % len(outcomes)]
        if outcome is not None:
            raise outcome

    async def scenario() -> None:
        looking = Looking("looking")
        looking.start(0.0, look)
        for _ in range(100):
            await asyncio.sleep(0)
        assert calls == [0, 1, 2, 3]
        await looking.close()

    asyncio.run(scenario())


def test_closing_stops_it() -> None:
    seen: list[int] = []

    async def look() -> None:
        seen.append(1)

    async def scenario() -> None:
        looking = Looking("looking")
        await looking.close()
        looking.start(0.0, look)
        await asyncio.sleep(0.01)
        await looking.close()
        before = len(seen)
        assert before
        await asyncio.sleep(0.01)
        assert len(seen) == before

    asyncio.run(scenario())


def test_what_fails_again_and_again_waits_longer_and_is_forgotten_with_its_reason() -> None:
    waits: Waits[str] = Waits(5.0, 30.0)
    assert [waits.longer("one") for _ in range(5)] == [5.0, 10.0, 20.0, 30.0, 30.0]
    assert waits.longer("other") == 5.0
    waits.keep({"other"})
    assert [waits.longer("one"), waits.longer("other")] == [5.0, 10.0]
