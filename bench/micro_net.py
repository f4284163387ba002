"""What one pipelined request costs the broker in CPU, without a client library in the way.

    python -m bench.micro_net null            the server alone: frames in, a fixed answer out
    python -m bench.micro_net produce         the whole broker: Produce of one chunk per partition
    python -m bench.micro_net fetch           the whole broker: what `produce` wrote, read back

The driver is a process of its own that sends prepared bytes and counts answered bytes; the figures are the
server process's user and system time per request. Name the Python build beside any figure you keep.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from itertools import count

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from kproto.net.budget import MemoryBudget
from kproto.net.client import Client
from kproto.net.connection import Connection
from kproto.net.server import Server
from kproto.testing import SubprocessBroker
from kproto.wire.framing import request_frame
from kproto.wire.generated.create_topics import CreatableTopic, CreateTopicsRequest
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Record, build_batch

TICK = os.sysconf("SC_CLK_TCK")
ANSWER = struct.pack(">iii", 8, 0, 0)


def cpu_of(pid: int) -> tuple[float, float]:
    """User and system seconds of a process so far."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) / TICK, int(fields[12]) / TICK


def exchange(port: int, frames: list[bytes], requests: int, depth: int) -> int:
    """Keep ``depth`` requests open on one connection until ``requests`` are answered; bytes received."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        buffer = bytearray(1 << 20)
        view = memoryview(buffer)
        sent = answered = total = have = 0
        skip = 0
        unsent = b""
        while answered < requests:
            room = min(depth - (sent - answered), requests - sent)
            if not unsent and room > 0:
                unsent = b"".join(frames[(sent + i) % len(frames)] for i in range(room))
                sent += room
            if unsent:
                try:
                    unsent = unsent[sock.send(unsent) :]
                except BlockingIOError:
                    pass
            select.select([sock], [sock] if unsent else [], [])
            try:
                received = sock.recv_into(view[have:])
            except BlockingIOError:
                continue
            if received == 0:
                raise ConnectionError("the broker closed the connection")
            total += received
            end = have + received
            at = 0
            while True:
                if skip:
                    step = min(skip, end - at)
                    skip -= step
                    at += step
                    if skip:
                        break
                    answered += 1
                if end - at < 4:
                    break
                skip = struct.unpack_from(">i", buffer, at)[0]
                at += 4
            have = end - at
            buffer[:have] = buffer[at:end]
        return total


def report(name: str, requests: int, user: float, system: float, wall: float, size: int) -> None:
    each = 1e6 / requests
    print(
        f"{name}: {requests} requests, user {user * each:.2f} us, system {system * each:.2f} us, "
        f"wall {wall * each:.2f} us per request, {size / 1e6 / wall:.0f} MB/s"
    )


def in_child(work: Callable[[], object]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


async def null_server(options: argparse.Namespace) -> None:
    def dispatch(connection: Connection, frame: memoryview, _owned: bool) -> None:
        connection.begin(len(frame)).reply(ANSWER)

    server = Server(dispatch, MemoryBudget(1 << 28))
    port = server.listen("127.0.0.1", 0)
    frame = struct.pack(">i", options.size) + bytes(options.size)
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    child = in_child(lambda: exchange(port, [frame], options.requests, options.depth))
    await asyncio.get_running_loop().run_in_executor(None, os.waitpid, child, 0)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    report("null", options.requests, user, system, wall, options.size * options.requests)
    server.close()


def produce_frames(options: argparse.Namespace, topic_id: bytes) -> list[bytes]:
    """One frame for every group of ``--per-request`` partitions."""
    value = os.urandom(max(1, options.size - 72))
    chunk = build_batch([Record(None, value, timestamp=time.time_ns() // 1_000_000)])
    ids = count(1)
    frames = []
    for first in range(0, options.partitions, options.per_request):
        parts = [
            PartitionProduceData(index=index, records=memoryview(chunk))
            for index in range(first, min(first + options.per_request, options.partitions))
        ]
        topic = TopicProduceData(name="micro", topic_id=topic_id, partition_data=parts)
        request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])
        frames.append(request_frame(0, options.version, request, next(ids)))
    return frames


def fetch_frame(options: argparse.Namespace, topic_id: bytes) -> bytes:
    topic = FetchTopic(
        topic="micro",
        topic_id=topic_id,
        partitions=[
            FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=options.fetch_bytes)
            for index in range(options.partitions)
        ],
    )
    request = FetchRequest(
        max_wait_ms=0, min_bytes=1, max_bytes=options.fetch_bytes, session_epoch=-1, topics=[topic]
    )
    return request_frame(1, 13 if options.version >= 13 else 12, request, 1)


def whole_broker(options: argparse.Namespace) -> None:
    broker = SubprocessBroker()
    broker.start()
    try:
        with Client("127.0.0.1", broker.port) as client:
            new = CreatableTopic(name="micro", num_partitions=options.partitions, replication_factor=1)
            client.call(19, 7, CreateTopicsRequest(topics=[new], timeout_ms=10_000))
            answer = client.call(3, 12, MetadataRequest(topics=[MetadataRequestTopic(name="micro")]))
            topic_id = answer.topics[0].topic_id
        frames = produce_frames(options, topic_id)
        exchange(broker.port, frames, min(2000, options.requests), options.depth)
        measure(broker, "produce", frames, options)
        if options.what == "fetch":
            measure(broker, "fetch", [fetch_frame(options, topic_id)], options)
    finally:
        broker.stop()


def measure(broker: SubprocessBroker, name: str, frames: list[bytes], options: argparse.Namespace) -> None:
    user, system = cpu_of(broker.pid)
    start = time.perf_counter()
    received = exchange(broker.port, frames, options.requests, options.depth)
    wall = time.perf_counter() - start
    user_after, system_after = cpu_of(broker.pid)
    size = received if name == "fetch" else len(frames[0]) * options.requests
    report(name, options.requests, user_after - user, system_after - system, wall, size)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("null", "produce", "fetch"))
    parser.add_argument("--size", type=int, default=1000, help="bytes of a chunk (of a frame with null)")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--depth", type=int, default=64, help="requests open at a time")
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--per-request", type=int, default=1, help="partitions in one produce request")
    parser.add_argument("--version", type=int, default=10, help="of Produce: 10 as librdkafka, 13 as Java")
    parser.add_argument("--fetch-bytes", type=int, default=1 << 20)
    options = parser.parse_args()
    if options.what == "null":
        asyncio.run(null_server(options))
    else:
        whole_broker(options)


if __name__ == "__main__":
    main()
