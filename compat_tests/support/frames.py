"""Kafka frames and record batches made by hand, whole or damaged on purpose, and a raw connection.

Offsets of a v2 batch's header: base offset 0, length 8, leader epoch 12, magic 16, crc 17, attributes 21,
last offset delta 23, first timestamp 27, max timestamp 35, producer id 43, producer epoch 51, base sequence
53, count 57.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable

import crc32c

PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS = 0, 1, 2, 3, 18
CRC_FROM = 21
BATCH_HEADER = 61


def string(text: str | None) -> bytes:
    """A nullable string of the not flexible versions."""
    if text is None:
        return struct.pack(">h", -1)
    return struct.pack(">h", len(text.encode())) + text.encode()


def sized(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def request(
    key: int, version: int, body: bytes, correlation: int = 1, client_id: str | None = "raw"
) -> bytes:
    """A frame with request header v1."""
    return sized(struct.pack(">hhi", key, version, correlation) + string(client_id) + body)


def varint(value: int) -> bytes:
    """Zigzag, as records use it."""
    number = (value << 1) ^ (value >> 63)
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def record(delta: int, value: bytes, time_delta: int = 0) -> bytes:
    body = b"\0" + varint(time_delta) + varint(delta) + varint(-1) + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(
    values: Iterable[bytes],
    *,
    attributes: int = 0,
    magic: int = 2,
    count: int | None = None,
    last_delta: int | None = None,
    length: int | None = None,
    crc: int | None = None,
    producer: tuple[int, int, int] = (-1, -1, -1),
    times_ms: tuple[int, int] | None = None,
    records: bytes | None = None,
) -> bytes:
    """A record batch v2 that is right unless told otherwise; the CRC fits what is in it unless given."""
    values = list(values)
    now = int(time.time() * 1000)
    first, last = times_ms or (now, now)
    body = (
        b"".join(record(place, value) for place, value in enumerate(values)) if records is None else records
    )
    deltas = len(values) - 1 if last_delta is None else last_delta
    number = len(values) if count is None else count
    tail = struct.pack(">hiqqqhii", attributes, deltas, first, last, *producer, number) + body
    checksum = crc32c.crc32c(tail) if crc is None else crc
    size = 9 + len(tail) if length is None else length
    return struct.pack(">qiibI", 0, size, -1, magic, checksum) + tail


def old_message(value: bytes, magic: int) -> bytes:
    """A message of format 0 or 1 (with its own kind of CRC)."""
    import zlib

    stamp = b"" if magic == 0 else struct.pack(">q", 1)
    tail = struct.pack(">bb", magic, 0) + stamp + struct.pack(">i", -1) + sized(value)
    return struct.pack(">qi", 0, len(tail) + 4) + struct.pack(">I", zlib.crc32(tail)) + tail


def produce(
    topic: str, partition: int, records: bytes, *, acks: int = -1, version: int = 7, correlation: int = 1
) -> bytes:
    """A Produce request v3..8 for one partition."""
    body = string(None) + struct.pack(">hi", acks, 10_000) + struct.pack(">i", 1) + string(topic)
    body += struct.pack(">ii", 1, partition) + sized(records)
    return request(PRODUCE, version, body, correlation)


def fetch(
    topic: str,
    partition: int,
    offset: int,
    *,
    max_bytes: int = 50_000_000,
    wait_ms: int = 0,
    correlation: int = 1,
) -> bytes:
    """A Fetch request v4 for one partition."""
    body = struct.pack(">iiiib", -1, wait_ms, 1, max_bytes, 0) + struct.pack(">i", 1) + string(topic)
    body += struct.pack(">iiqi", 1, partition, offset, max_bytes)
    return request(FETCH, 4, body, correlation)


class RawConnection:
    """A socket to the broker; a context manager."""

    def __init__(self, address: tuple[str, int], timeout_s: float = 60.0) -> None:
        self.sock = socket.create_connection(address, timeout=timeout_s)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def exactly(self, size: int) -> bytes | None:
        """So many bytes; None when the broker closed first; TimeoutError when it stays silent."""
        parts = bytearray()
        while len(parts) < size:
            try:
                part = self.sock.recv(size - len(parts))
            except ConnectionError:
                return None
            if not part:
                return None
            parts += part
        return bytes(parts)

    def answer(self) -> bytes | None:
        """One response without its size and correlation id, None when the connection was closed instead."""
        head = self.exactly(4)
        if head is None:
            return None
        body = self.exactly(struct.unpack(">i", head)[0])
        return None if body is None else body[4:]

    def ask(self, data: bytes) -> bytes | None:
        """Send and read one answer; a connection that breaks while sending counts as closed."""
        try:
            self.send(data)
        except ConnectionError:
            return None
        return self.answer()

    def closed(self) -> bool:
        """Whether the broker closes without another byte; TimeoutError when it does neither."""
        return self.exactly(1) is None

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()


def produce_error(answer: bytes, version: int = 7) -> tuple[int, int]:
    """(error code, base offset) of the one partition in a Produce answer v3..8."""
    topics, length = struct.unpack_from(">ih", answer)
    assert topics == 1
    place = 6 + length
    _, _, code, offset = struct.unpack_from(">iihq", answer, place)
    return code, offset
