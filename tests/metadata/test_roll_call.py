"""Who is asked whether they are there, and how long for."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest

from kproto.metadata import roll_call
from kproto.metadata.roll_call import RollCall
from kproto.net.ports import Answer, Buffer, Done, PeersPort
from kproto.wire.internal import Api, InternalError

THERE = Answer(InternalError.NONE, memoryview(b""))


class Others:
    """Requests to other brokers, answered when the test says so."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, Done]] = []
        self.missing: list[int] = []
        self.roll_call = RollCall(cast(PeersPort, self), self.missing.append)

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        assert (api, list(pieces)) == (Api.PING, [])
        self.asked.append((node_id, done))

    @property
    def nodes(self) -> list[int]:
        return [node_id for node_id, _ in self.asked]

    def answer(self, at: int, answer: Answer | None = THERE) -> None:
        self.asked[at][1](answer)


def run(scenario: Callable[[Others], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario(Others())

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_call, "PATIENCE_SECONDS", 600.0)


async def is_waiting(task: "asyncio.Task[None]") -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return not task.done()


@pytest.mark.usefixtures("patient")
def test_all_have_to_answer() -> None:
    async def scenario(others: Others) -> None:
        heard = asyncio.create_task(others.roll_call.hear([2, 3]))
        assert await is_waiting(heard)
        others.answer(0)
        assert await is_waiting(heard), "3 has said nothing"
        others.answer(1)
        await heard
        assert (others.nodes, others.missing) == ([2, 3], [])

    run(scenario)


@pytest.mark.usefixtures("patient")
def test_who_cannot_be_reached_is_missing_before_anybody_goes_on() -> None:
    async def scenario(others: Others) -> None:
        heard = asyncio.create_task(others.roll_call.hear([2]))
        assert await is_waiting(heard)
        others.answer(0, None)
        assert others.missing == [2]
        await heard

    run(scenario)


def test_who_is_busy_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_call, "PATIENCE_SECONDS", 0.01)

    async def scenario(others: Others) -> None:
        for _ in range(10):
            await others.roll_call.hear([2])
        assert (others.nodes, others.missing) == ([2], []), "one request, however many ask"
        others.answer(0)
        assert others.nodes == [2, 2], "somebody came since it was asked"
        others.answer(1)
        assert others.nodes == [2, 2]

    run(scenario)


@pytest.mark.usefixtures("patient")
def test_an_answer_to_an_older_question_does_not_count() -> None:
    """It may have been sent before the end that the client asks after."""

    async def scenario(others: Others) -> None:
        first = asyncio.create_task(others.roll_call.hear([2]))
        assert await is_waiting(first)
        later = [asyncio.create_task(others.roll_call.hear([2])) for _ in range(3)]
        assert await is_waiting(later[0])
        assert others.nodes == [2]
        others.answer(0)
        await first
        assert await is_waiting(later[0])
        others.answer(1, None)
        await asyncio.gather(*later)
        assert (others.nodes, others.missing) == ([2, 2], [2])

    run(scenario)


def test_nobody_else_is_nobody_to_wait_for() -> None:
    async def scenario(others: Others) -> None:
        await others.roll_call.hear([])

    run(scenario)
