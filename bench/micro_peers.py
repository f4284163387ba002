"""Micro benchmark of the way to a backup: microseconds per push, there and back, over the loopback.

    python -m bench.micro_peers [--seconds 1] [--loop uvloop|asyncio]

One process sends with :class:`~kproto.net.peers.Peers`, another one answers from an
:class:`~kproto.net.internal.InternalListener` whose handler only says yes. Columns: wall time per request and
the CPU time of each side. "window" requests are in flight; each consists of a header and some pieces of
``size`` bytes together.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import Callable
from struct import Struct

from kproto.net.internal import Caller, InternalListener, Reply
from kproto.net.peers import Answer, Peers
from kproto.wire.internal import Api

SECRET = "bench"
POSITION = Struct(">Q")
CPU = Struct(">d")
CASES = ((100, 1, 1), (1024, 3, 1), (1024, 3, 8), (16 << 10, 18, 1), (64 << 10, 66, 1), (256 << 10, 66, 1),
         (1 << 20, 66, 1), (1 << 20, 66, 4))  # fmt: skip
"""Bytes, pieces, window."""


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "asyncio":
        return asyncio.new_event_loop
    import uvloop

    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def serve(write_port: int, loop_name: str) -> None:
    """The other broker: runs until it is killed."""
    stored = 0

    def push(_caller: Caller, body: memoryview, reply: Reply) -> None:
        nonlocal stored
        stored += len(body)
        reply(0, POSITION.pack(stored))

    def cpu(_caller: Caller, _body: memoryview, reply: Reply) -> None:
        reply(0, CPU.pack(time.process_time()))

    async def run() -> None:
        listener = InternalListener(SECRET)
        listener.serve(Api.PUSH, push, borrowing=True)
        listener.serve(Api.PING, cpu)
        os.write(write_port, str(listener.bind("127.0.0.1", 0)).encode())
        os.close(write_port)
        listener.accept()
        await asyncio.Event().wait()

    with asyncio.Runner(loop_factory=loop_factory(loop_name)) as runner:
        runner.run(run())


async def other_cpu(peers: Peers) -> float:
    used: float = CPU.unpack((await peers.call(1, Api.PING)).body)[0]
    return used


async def measure(
    peers: Peers, size: int, pieces: int, window: int, seconds: float
) -> tuple[float, float, float]:
    """Microseconds per request: wall, CPU here, CPU there."""
    body = [memoryview(bytes(size // pieces)) for _ in range(pieces)]
    finished = asyncio.get_running_loop().create_future()
    count = flying = 0
    end = time.perf_counter() + seconds

    def done(answer: Answer | None) -> None:
        nonlocal count, flying
        if answer is None or answer.error:
            raise SystemExit(f"a push was answered with {answer}")
        count += 1
        if time.perf_counter() < end:
            peers.request(1, Api.PUSH, body, done)
        else:
            flying -= 1
            if flying == 0:
                finished.set_result(None)

    there = await other_cpu(peers)
    here, began = time.process_time(), time.perf_counter()
    for _ in range(window):
        flying += 1
        peers.request(1, Api.PUSH, body, done)
    await finished
    wall, here = time.perf_counter() - began, time.process_time() - here
    there = await other_cpu(peers) - there
    return wall * 1e6 / count, here * 1e6 / count, there * 1e6 / count


async def run(port: int, seconds: float) -> None:
    peers = Peers(2, SECRET, lambda _: ("127.0.0.1", port), lambda: 7)
    print(f"{'bytes':>9} {'pieces':>6} {'window':>6} {'wall us':>9} {'sender':>8} {'backup':>8}")
    for size, pieces, window in CASES:
        await measure(peers, size, pieces, window, seconds / 5)
        wall, here, there = await measure(peers, size, pieces, window, seconds)
        print(f"{size:9} {pieces:6} {window:6} {wall:9.1f} {here:8.1f} {there:8.1f}")
    peers.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default="uvloop")
    arguments = parser.parse_args()
    read_port, write_port = os.pipe()
    child = os.fork()
    if child == 0:
        serve(write_port, arguments.loop)
        os._exit(0)
    os.close(write_port)
    try:
        port = int(os.read(read_port, 16))
        with asyncio.Runner(loop_factory=loop_factory(arguments.loop)) as runner:
            runner.run(run(port, arguments.seconds))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
