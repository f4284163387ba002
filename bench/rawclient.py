"""A client of a few requests in hand-made frames: nothing to import, nothing to wait for, no retries.

Only what measurements need: CreateTopics v4, Produce v8 (one batch per partition), ListOffsets v4, Metadata
v4.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable

import crc32c

CREATE_TOPICS, PRODUCE, LIST_OFFSETS, METADATA = 19, 0, 2, 3
NONE, UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS = 0, 3, 36
LATEST = -1


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack(">h", len(raw)) + raw


def varint(value: int) -> bytes:
    """Zigzag."""
    left = (value << 1) ^ (value >> 63)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def one_record_batch(value: bytes) -> bytes:
    """A record batch v2 with one record without key or headers."""
    body = b"\0\0\0" + varint(-1) + varint(len(value)) + value + varint(0)
    record = varint(len(body)) + body
    checked = struct.pack(">hiqqqhii", 0, 0, 1_700_000_000_000, 1_700_000_000_000, -1, -1, -1, 1) + record
    head = struct.pack(">ib", -1, 2) + struct.pack(">I", crc32c.crc32c(checked))
    return struct.pack(">qi", 0, len(head) + len(checked)) + head + checked


class RawClient:
    """One connection; requests may be pipelined with `send` and `receive`. Raises OSError when it breaks."""

    def __init__(self, port: int, timeout_s: float = 60.0) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self.sock.close()

    def send(self, key: int, version: int, body: bytes) -> None:
        head = struct.pack(">hhi", key, version, 0) + text("bench")
        self.sock.sendall(struct.pack(">i", len(head) + len(body)) + head + body)

    def receive(self) -> bytes:
        """The body of the next response."""
        size = struct.unpack(">i", self._exactly(4))[0]
        return self._exactly(size)[4:]

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            piece = self.sock.recv(size - len(parts))
            if not piece:
                raise ConnectionResetError("the broker closed the connection")
            parts += piece
        return bytes(parts)

    def create_topic(self, name: str, partitions: int, timeout_s: float = 60.0) -> int:
        """The error code."""
        topic = text(name) + struct.pack(">ihii", partitions, 1, 0, 0)
        self.send(
            CREATE_TOPICS, 4, struct.pack(">i", 1) + topic + struct.pack(">iB", int(timeout_s * 1e3), 0)
        )
        answer = self.receive()
        return int(struct.unpack_from(">h", answer, 4 + 4 + 2 + len(name.encode()))[0])

    def send_produce(self, topic: str, batches: Iterable[tuple[int, bytes]], acks: int = -1) -> None:
        """One Produce request: (partition, batch) pairs of one topic."""
        parts = [struct.pack(">ii", partition, len(batch)) + batch for partition, batch in batches]
        head = struct.pack(">hhii", -1, acks, 30_000, 1) + text(topic) + struct.pack(">i", len(parts))
        self.send(PRODUCE, 8, head + b"".join(parts))

    def receive_produce(self, topic: str) -> list[int]:
        """The error codes of the partitions of the oldest Produce request not yet answered."""
        answer = self.receive()
        pos = 4 + 2 + len(topic.encode())
        count = struct.unpack_from(">i", answer, pos)[0]
        pos += 4
        codes = []
        for _ in range(count):
            codes.append(int(struct.unpack_from(">h", answer, pos + 4)[0]))
            pos += 4 + 2 + 8 + 8 + 8
            errors = struct.unpack_from(">i", answer, pos)[0]
            if errors:
                raise ValueError("record errors in the answer")
            size = struct.unpack_from(">h", answer, pos + 4)[0]
            pos += 6 + max(size, 0)
        return codes

    def produce(self, topic: str, partition: int, batch: bytes) -> int:
        """The error code."""
        self.send_produce(topic, [(partition, batch)])
        return self.receive_produce(topic)[0]

    def _brokers(self, topics: Iterable[str]) -> tuple[bytes, dict[int, int], int]:
        """The answer to Metadata, node -> port in it, and where that ends."""
        named = b"".join(map(text, topics))
        self.send(METADATA, 4, struct.pack(">i", 1 if named else 0) + named + b"\0")
        answer = self.receive()
        ports: dict[int, int] = {}
        count = struct.unpack_from(">i", answer, 4)[0]
        pos = 8
        for _ in range(count):
            node, size = struct.unpack_from(">ih", answer, pos)
            ports[node], rack = struct.unpack_from(">ih", answer, pos + 6 + size)
            pos += 12 + size + max(rack, 0)
        return answer, ports, pos

    def broker_ids(self) -> set[int]:
        """Live brokers."""
        return set(self._brokers(())[1])

    def leader_ports(self, topic: str) -> dict[int, int]:
        """Partition -> port of its leader, for partitions that have one."""
        answer, ports, pos = self._brokers((topic,))
        pos += 2 + max(struct.unpack_from(">h", answer, pos)[0], 0) + 4 + 4  # cluster, controller, one topic
        pos += 2 + 2 + struct.unpack_from(">h", answer, pos + 2)[0] + 1
        count = struct.unpack_from(">i", answer, pos)[0]
        pos += 4
        found = {}
        for _ in range(count):
            _, index, leader, replicas = struct.unpack_from(">hiii", answer, pos)
            pos += 14 + 4 * replicas
            pos += 4 + 4 * struct.unpack_from(">i", answer, pos)[0]
            if leader in ports:
                found[index] = ports[leader]
        return found

    def end_offsets(self, topic: str, partitions: int) -> dict[int, tuple[int, int]]:
        """Partition -> (error code, high watermark)."""
        wanted = b"".join(struct.pack(">iiq", partition, -1, LATEST) for partition in range(partitions))
        head = struct.pack(">ibi", -1, 0, 1) + text(topic) + struct.pack(">i", partitions)
        self.send(LIST_OFFSETS, 4, head + wanted)
        answer = self.receive()
        pos = 4 + 4 + 2 + len(topic.encode()) + 4
        found = {}
        for row in struct.iter_unpack(">ihqqi", answer[pos:]):
            found[row[0]] = (row[1], row[3])
        return found
