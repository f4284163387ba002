"""Look-ups by time that are asked for at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kproto.directory import LeftAs
from kproto.log import reader
from kproto.log.line import Line
from kproto.log.reader import RemoteRange, complete
from kproto.wire import records
from kproto.wire.compression import Codec
from tests.log.support import Log, batch, in_turn

START = 1_700_000_000_000


async def pause() -> None:
    await asyncio.sleep(0)


async def ended(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("newest", [False, True])
@pytest.mark.parametrize("cold", [False, True])
def test_one_batch_is_unpacked_at_a_time(
    tmp_path: Path, newest: bool, cold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty requests of 44 bytes took as many times 64 MB."""
    log = Log(tmp_path)
    log.partition().append(batch(*[1] * 9000, times=[START + i for i in range(9000)], codec=Codec.ZSTD))
    if cold:
        log.restart(LeftAs.CLEAN)
        monkeypatch.setattr(reader, "_RWF_NOWAIT", 0)
    partition = log.partition()
    unpacked, most = 0, 0
    walk = records.iter_times

    def counted(chunk: memoryview) -> Iterator[tuple[int, int]]:
        nonlocal unpacked, most
        unpacked += 1
        most = max(most, unpacked)
        try:
            yield from walk(chunk)
        finally:
            unpacked -= 1

    async def ask(line: Line) -> Any:
        lookup = partition.max_timestamp_offset() if newest else partition.offset_for_time(START + 8999)
        return await complete(lookup, in_turn, pause, line.place("a client"))

    async def go() -> None:
        line = Line()
        tasks = [asyncio.create_task(ask(line)) for _ in range(20)]
        while not unpacked:
            await pause()
        await ended(tasks.pop(0))
        assert await asyncio.gather(*tasks) == [(START + 8999, 8999, 0)] * 19

    monkeypatch.setattr(records, "iter_times", counted)
    asyncio.run(go())
    assert most == 1
    assert unpacked == 0


def test_who_waits_for_a_file_or_a_broker_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path)
    for i in range(20):
        log.partition().append(batch(5_000, time=START + i))
    log.restart(LeftAs.CLEAN)
    partition = log.partition()
    monkeypatch.setattr(reader, "_RWF_NOWAIT", 0)

    async def go() -> None:
        line, hangs = Line(), asyncio.Event()

        async def hanging(load: Any, ranges: Any) -> list[memoryview]:
            await hangs.wait()
            return await in_turn(load, ranges)

        class Elsewhere(RemoteRange):
            async def load(self) -> memoryview:
                await hangs.wait()
                return memoryview(b"found")

        def remote() -> Generator[RemoteRange, list[memoryview], bytes]:
            (found,) = yield Elsewhere(partition, 0, 1, 1, True)
            return bytes(found)

        def ask(lookup: Any, blocking: Any = in_turn) -> asyncio.Task[Any]:
            return asyncio.create_task(complete(lookup, blocking, pause, line.place("a client")))

        cold, gone = (ask(partition.offset_for_time(START + 7), hanging) for _ in range(2))
        far = ask(remote())
        await pause()
        async with asyncio.timeout(5):
            for i in range(20):
                assert await ask(partition.offset_for_time(START + i)) == (START + i, i, 0)
            await ended(gone)
            hangs.set()
            assert await cold == (START + 7, 7, 0)
            assert await far == b"found"

    asyncio.run(go())


def test_clients_take_turns() -> None:
    async def go() -> list[str]:
        line, order = Line(), []

        async def look_up(key: str) -> None:
            place = line.place(key)
            await place.enter()
            await place.enter()
            order.append(key)
            await pause()
            place.leave()
            place.leave()

        await asyncio.gather(*map(look_up, "aaaaabbc"))
        return order

    assert "".join(asyncio.run(go())) == "aabcabaa"


def test_who_goes_out_of_line_is_not_waited_for() -> None:
    async def go() -> None:
        line = Line()
        first, last = line.place("a"), line.place("d")
        await first.enter()
        before, called = (asyncio.create_task(line.place(key).enter()) for key in "bc")
        await pause()
        await ended(before)
        first.leave()
        await ended(called)  # its turn had come
        async with asyncio.timeout(5):
            await last.enter()

    asyncio.run(go())
