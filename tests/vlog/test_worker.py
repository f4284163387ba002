"""The thread for calls that wait for the disk, on a machine that has no thread to give."""

from __future__ import annotations

import asyncio
import threading

import pytest

from kproto.vlog import worker as module
from kproto.vlog.worker import Worker, in_worker


class Threads:
    """The system's threads: the next ``missing`` cannot be started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, missing: int) -> None:
        self.missing = missing
        start = threading.Thread.start

        def limited(thread: threading.Thread) -> None:
            if thread.name == "test" and self.missing:
                self.missing -= 1
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", limited)


def test_what_no_thread_could_be_started_for_is_done_later_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.01)

    async def test() -> None:
        threads = Threads(monkeypatch, missing=3)
        worker = Worker(asyncio.get_running_loop(), "test")
        done: list[int] = []
        jobs = [in_worker(worker, lambda place=place: done.append(place)) for place in range(5)]  # type: ignore[misc]
        await asyncio.wait_for(asyncio.gather(*jobs), 60)
        assert done == [0, 1, 2, 3, 4]
        assert threads.missing == 0
        assert await in_worker(worker, threading.current_thread) is not threading.current_thread()
        worker.close()

    asyncio.run(test())


def test_a_close_finishes_what_no_thread_could_be_started_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        Threads(monkeypatch, missing=1000)
        worker = Worker(asyncio.get_running_loop(), "test")
        calls: list[str] = []
        errors: list[BaseException | None] = []
        worker.submit(lambda: calls.append("first"), errors.append)
        worker.submit(lambda: calls.append("second"), errors.append)
        worker.close()
        assert calls == ["first", "second"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert errors == [None, None]

    asyncio.run(test())
