"""A backup in a process of its own, over real connections and files: pushed to, killed, sealed and read."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from kproto.clock import SystemClock
from kproto.disk import Disk
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.net import server
from kproto.net.connection import MAX_HELD
from kproto.net.internal import MEMORY_BYTES, InternalListener
from kproto.net.peers import Peers
from kproto.replica.awaited import AT_ONCE
from kproto.replica.messages import Look, Raw, Read, ReadAnswer, Seal, Sealed, StateAnswer
from kproto.replica.rules import Push
from kproto.replica.service import ReplicaService
from kproto.replica.store import ReplicaStore, Workers
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.peer_backups import PeerBackups
from kproto.vlog.ports import PushAnswer, PushOutcome
from kproto.vlog.worker import Worker
from kproto.wire.internal import (
    REQUEST,
    REQUEST_OVERHEAD,
    RESPONSE,
    RESPONSE_OVERHEAD,
    Api,
    InternalError,
    encode_json,
)
from tests.replica.support import BOOT, ME, TOPIC, Owner

ROOT = Path(__file__).resolve().parent.parent.parent
SECRET = "of the test"

BACKUP = """
import asyncio, sys
from kproto.clock import SystemClock
from kproto.disk import Disk
from kproto.net.internal import InternalListener
from kproto.net.peers import Peers
from kproto.replica.service import ReplicaService
from kproto.replica.store import ReplicaStore, Workers
from kproto.vlog.worker import Worker
from tests.replica.support import BOOT, ME

async def main(data_dir):
    loop = asyncio.get_running_loop()
    workers = Workers(*[Worker(loop, name) for name in ("acks", "rest", "reads", "room")])
    store = ReplicaStore(data_dir, Disk(), SystemClock(), loop, workers, BOOT, ME, print, True)
    listener = InternalListener("of the test", node_id=ME.node_id)
    peers = Peers(ME.node_id, "of the test", lambda node: None, lambda: 9)
    ReplicaService(store, peers, data_dir + "/journal").register(listener)
    port = listener.bind("127.0.0.1", 0)
    listener.accept()
    print(port, flush=True)
    await asyncio.Event().wait()

asyncio.run(main(sys.argv[1]))
"""


@contextmanager
def backup(data_dir: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A process with a store and a listener; its port."""
    data_dir.mkdir(exist_ok=True)
    arguments = [sys.executable, "-c", BACKUP, str(data_dir)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline()), process
    finally:
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        process.wait()


@asynccontextmanager
async def peers_to(ports: dict[int, int]) -> AsyncIterator[Peers]:
    peers = Peers(3, SECRET, lambda node: ("127.0.0.1", ports[node]), lambda: 5)
    try:
        yield peers
    finally:
        peers.close()


async def push(peers: Peers, owner: Owner, number: int) -> PushAnswer:
    position, frame = owner.frames[number]
    future: asyncio.Future[PushAnswer] = asyncio.get_running_loop().create_future()
    backups = PeerBackups(peers, lambda _node: ME.store_id)
    half = len(frame) // 2
    backups.push(ME, owner.header_for(position), [frame[:half], frame[half:]], future.set_result)
    return await asyncio.wait_for(future, 60)


def an_owner(policy: FlushPolicy) -> Owner:
    owner = Owner(VsegId(5, 1, 1), 4096, policy, 64 << 20)
    for i in range(40):
        owner.push([(TOPIC, i % 3), (TOPIC, 3)], [1000 + i, 20_000])
    owner.push_state()
    owner.push([(TOPIC, 0)], [500_000])
    return owner


@pytest.mark.timeout(120)
@pytest.mark.parametrize("policy", [FlushPolicy.MEMORY, FlushPolicy.SYNCED])
def test_what_was_acked_is_there_after_a_kill(tmp_path: Path, policy: FlushPolicy) -> None:
    owner = an_owner(policy)
    parts = [(TOPIC, 0), (TOPIC, 2)]

    async def before(port: int) -> None:
        async with peers_to({ME.node_id: port}) as peers:
            for number, (position, frame) in enumerate(owner.frames[:-1]):
                assert await push(peers, owner, number) == (PushOutcome.STORED, position + len(frame))
            assert await push(peers, owner, 3) == (PushOutcome.STORED, owner.frames[-1][0]), "again"

    async def after(port: int) -> None:
        async with peers_to({ME.node_id: port}) as peers:
            assert await push(peers, owner, 5) == (PushOutcome.STORED, owner.frames[-1][0])
            assert await push(peers, owner, len(owner.frames) - 1) == (PushOutcome.STORED, owner.end)
            answer = await peers.call(ME.node_id, Api.SEAL, Seal(owner.vseg, 6, ME.store_id).encode())
            assert Sealed.decode(answer.body) == Sealed(owner.end, False, durable=owner.frames[-1][0])
            assert (await push(peers, owner, 5)).outcome is PushOutcome.FENCED
            look = Look(owner.vseg, owner.end, parts)
            state = StateAnswer.decode((await peers.call(ME.node_id, Api.STATE, look.encode())).body)
            assert state.position == owner.states[0][0]
            assert {parts[one.partition]: one.end_offset for one in state.states} == {
                (one.topic_id, one[1]): one.end_offset
                for one in owner.states[0][1]
                if (one.topic_id, one[1]) in parts
            }
            read = Read(owner.vseg, owner.start, owner.end, parts, 4000)
            chunks: list[tuple[tuple[bytes, int], int, bytes]] = []
            while read.begin < owner.end:
                found = ReadAnswer.decode((await peers.call(ME.node_id, Api.READ, read.encode())).body)
                chunks += [(parts[one[0]], one.base_offset, bytes(one.data)) for one in found.chunks]
                read = read._replace(begin=found.next)
            assert chunks == [(one[0], one[1], one[3]) for one in owner.chunks if one[0] in parts]

    with backup(tmp_path) as (port, _):
        asyncio.run(before(port))
    with backup(tmp_path) as (port, _):
        asyncio.run(after(port))


@pytest.mark.timeout(120)
def test_a_kill_between_pushes_leaves_whole_frames(tmp_path: Path) -> None:
    """The process is killed while frames arrive, again and again: what it acked is there, nothing else."""
    owner = an_owner(FlushPolicy.MEMORY)
    edges = [position for position, _ in owner.frames] + [owner.end]
    acked = 0

    async def push_until_killed(port: int, process: subprocess.Popen[bytes], kill_at: int) -> int:
        done = acked
        async with peers_to({ME.node_id: port}) as peers:
            for number in range(acked, len(owner.frames)):
                if number == kill_at:
                    asyncio.get_running_loop().call_soon(os.kill, process.pid, signal.SIGKILL)
                answer = await push(peers, owner, number)
                if answer.outcome is PushOutcome.UNREACHABLE:
                    return done
                assert answer == (PushOutcome.STORED, edges[number + 1])
                done = number + 1
        return done

    for kill_at in (1, 2, 11, 25, 41):
        with backup(tmp_path) as (port, process):
            acked = asyncio.run(push_until_killed(port, process, kill_at))
    with backup(tmp_path) as (port, _):

        async def look(port: int) -> int:
            async with peers_to({ME.node_id: port}) as peers:
                answer = await peers.call(ME.node_id, Api.SEAL, Seal(owner.vseg, 6).encode())
                return Sealed.decode(answer.body).position

        end = asyncio.run(look(port))
    assert end in edges[acked:]


@pytest.mark.timeout(120)
def test_a_repair_goes_over_the_network(tmp_path: Path) -> None:
    owner = an_owner(FlushPolicy.MEMORY)
    (tmp_path / "target").mkdir()
    with backup(tmp_path / "source") as (port, _):
        asyncio.run(_with_target(tmp_path / "target", CopyTarget(8, "b" * 32), port, owner, owner.end))


async def _with_target(data_dir: Path, me: CopyTarget, port: int, owner: Owner, end: int) -> None:
    """The repairing store in this process, the source in the other."""
    loop = asyncio.get_running_loop()
    workers = [Worker(loop, name) for name in ("acks", "rest", "reads", "room")]
    store = ReplicaStore(
        str(data_dir), Disk(), SystemClock(), loop, Workers(*workers), BOOT, me, pytest.fail, True
    )
    async with peers_to({ME.node_id: port}) as peers:
        for number in range(len(owner.frames)):
            await push(peers, owner, number)
        service = ReplicaService(store, peers, str(data_dir / "journal"))
        assert await service.repairer.repair(owner.record(end), ME.node_id) is InternalError.NONE
        copy = store.copies[owner.vseg]
        assert (copy.start, copy.end) == (owner.start, owner.end)
        stored = Path(copy.path).read_bytes()
        assert stored == owner.first + b"".join(frame for _, frame in owner.frames)
        verdicts: list[Push] = []
        _, frame = owner.frames[7]
        store.push(None, memoryview(frame), lambda verdict, _end: verdicts.append(verdict))
        assert verdicts == [Push.CLOSED]
    closed = asyncio.Event()
    store.close(closed.set)
    await closed.wait()
    for worker in workers:
        worker.close()


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that has said HELLO, of somebody who need not take his answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)
    body = encode_json({"secret": SECRET, "to": ME.node_id})
    writer.write(REQUEST.pack(REQUEST_OVERHEAD + len(body), Api.HELLO, 0, 0, 3, 5) + body)
    assert RESPONSE.unpack(await reader.readexactly(RESPONSE.size))[2] == InternalError.NONE
    return reader, writer


@pytest.mark.timeout(120)
@pytest.mark.parametrize("memory", [MEMORY_BYTES, 4 * MEMORY_BYTES])
def test_answers_that_are_not_taken_do_not_heap_up(
    tmp_path: Path, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred requests take a few kilobytes, and their answers took more than a gigabyte."""
    monkeypatch.setattr(server, "RELIEF_SECONDS", 600.0)  # nobody is closed for that meanwhile
    size = 2_000_000
    owner = Owner(VsegId(5, 1, 1), size=64 << 20)
    owner.push([(TOPIC, 0)], [size])
    body = Raw(owner.vseg, 0, size).encode()
    request = REQUEST.pack(REQUEST_OVERHEAD + len(body), Api.RAW, 0, 1, 3, 5) + body

    async def test() -> None:
        loop = asyncio.get_running_loop()
        workers = [Worker(loop, name) for name in ("acks", "rest", "reads", "room")]
        store = ReplicaStore(
            str(tmp_path), Disk(), SystemClock(), loop, Workers(*workers), BOOT, ME, pytest.fail, True
        )
        listener = InternalListener(SECRET, node_id=ME.node_id, memory_bytes=memory)
        port = listener.bind("127.0.0.1", 0)
        listener.accept()
        async with peers_to({ME.node_id: port}) as peers:
            service = ReplicaService(store, peers, str(tmp_path / "journal"))
            service.register(listener)
            assert (await push(peers, owner, 0)).outcome is PushOutcome.STORED
            greedy = [await connected(port) for _ in range(3)]
            for _, writer in greedy:
                writer.write(request * 100)
            while (await peers.call(ME.node_id, Api.RAW, body, 60)).error or service._reads._line:
                await asyncio.sleep(0.01)  # who takes his answers gets them meanwhile
            unseen = 2 * AT_ONCE * size  # under way, or just read, when somebody is seen to take nothing
            assert listener.memory.used <= min(memory, len(greedy) * MAX_HELD) + len(greedy) * unseen
            reader, writer = greedy[0]
            errors = []
            for _ in range(100):
                length, _, error = RESPONSE.unpack(await reader.readexactly(RESPONSE.size))
                await reader.readexactly(length - RESPONSE_OVERHEAD)
                errors.append(error)
            assert set(errors) == {InternalError.NONE, InternalError.WAIT}
            assert errors.count(InternalError.NONE) * size <= MAX_HELD + 16 * size, (
                "what the kernel takes, too"
            )
            writer.write(request)
            assert RESPONSE.unpack(await reader.readexactly(RESPONSE.size))[2] == InternalError.NONE
            for _, writer in greedy:
                writer.close()
        listener.close()
        store.close(lambda: None)
        for worker in workers:
            worker.close()

    asyncio.run(test())
