"""A TCP proxy that keeps what clients ask, so that real requests can be mutated afterwards."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

from kproto.local_cluster import free_port


class RecordingProxy:
    """Forwards to the broker on `target`, which may be set once it has started; keeps one frame (with its
    size) per API key, version and length."""

    def __init__(self) -> None:
        self.target: tuple[str, int] | None = None
        self.port = free_port()
        self.frames: dict[tuple[int, int, int], bytes] = {}
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                assert self.target is not None
                broker = socket.create_connection(self.target)
                threading.Thread(target=self._requests, args=(client, broker), daemon=True).start()
                threading.Thread(target=self._answers, args=(broker, client), daemon=True).start()

    def _requests(self, client: socket.socket, broker: socket.socket) -> None:
        with suppress(OSError), client, broker, client.makefile("rb") as stream:
            while head := stream.read(4):
                frame = head + stream.read(struct.unpack(">i", head)[0])
                key, version = struct.unpack_from(">hh", frame, 4)
                self.frames.setdefault((key, version, len(frame)), frame)
                broker.sendall(frame)

    def _answers(self, broker: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := broker.recv(65536):
                client.sendall(data)

    def close(self) -> None:
        self._listener.close()

    def keys(self) -> set[int]:
        return {key for key, _, _ in self.frames}
