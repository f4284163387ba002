"""The network between brokers as TCP proxies, one in front of each broker's internal listener, to be cut.

The first request on a connection names its sender, so that each direction between any two brokers can be cut
by itself. A cut direction carries nothing, not even the end of a connection, and goes on where it was when it
heals: what TCP makes of lost packets.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from kproto.local_cluster import free_port

HEADER = struct.Struct(">ihhii")
"""Length, API, version, correlation, sender's node id: how a request between brokers begins."""
RESET = struct.pack("ii", 1, 0)

Direction = tuple[int, int]
"""From node, to node."""


class Links:
    """Proxies for brokers whose internal listeners are at ``targets`` (node -> port of 127.0.0.1)."""

    def __init__(self, targets: dict[int, int]) -> None:
        self._targets = targets
        self._cut: set[Direction] = set()
        self._changed = threading.Condition()
        self._closed = False
        self.carried: Counter[Direction] = Counter()
        """Bytes so far."""
        self.ports: dict[int, int] = {}
        self._listeners: dict[int, socket.socket] = {}
        for node in targets:
            self.ports[node] = free_port()
            self.up(node)

    def up(self, node: int) -> None:
        """The broker starts: its address can be connected to."""
        if node not in self._listeners:
            listener = socket.create_server(("127.0.0.1", self.ports[node]))
            self._listeners[node] = listener
            threading.Thread(target=self._accept, args=(node, listener), daemon=True).start()

    def down(self, node: int) -> None:
        """The broker is dead: connections are refused, as without a proxy."""
        listener = self._listeners.pop(node, None)
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def cut(self, directions: Iterable[Direction]) -> None:
        """Nothing gets through in these directions until `heal`."""
        with self._changed:
            self._cut.update(directions)

    def isolate(self, node: int) -> None:
        """Nothing gets from a broker to the others, or from them to it."""
        others = [other for other in self._targets if other != node]
        self.cut([(node, other) for other in others] + [(other, node) for other in others])

    def heal(self) -> None:
        """Everything gets through, late things first."""
        with self._changed:
            self._cut.clear()
            self._changed.notify_all()

    def close(self) -> None:
        self._closed = True
        for node in self._targets:
            self.down(node)
        self.heal()

    def _accept(self, node: int, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                caller, _ = listener.accept()
                threading.Thread(target=self._connect, args=(node, caller), daemon=True).start()

    def _connect(self, node: int, caller: socket.socket) -> None:
        """Learn who calls, then carry both directions."""
        try:
            broker = socket.create_connection(("127.0.0.1", self._targets[node]), timeout=60)
            broker.settimeout(None)
            head = b""
            while len(head) < HEADER.size and (data := caller.recv(65536)):
                head += data
        except OSError:
            head = b""
        if len(head) < HEADER.size:
            with suppress(OSError):
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            caller.close()
            return
        sender = HEADER.unpack_from(head)[4]
        for each in (caller, broker):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=self._carry, args=(broker, caller, (node, sender), b""), daemon=True)
        back.start()
        self._carry(caller, broker, (sender, node), head)
        back.join()
        for each in (caller, broker):
            each.close()

    def _carry(self, source: socket.socket, sink: socket.socket, direction: Direction, first: bytes) -> None:
        """Until one end is closed; then both are, when the direction carries that."""
        data = first
        with suppress(OSError):
            while data or (data := source.recv(1 << 18)):
                self._wait(direction)
                sink.sendall(data)
                self.carried[direction] += len(data)
                data = b""
        self._wait(direction)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _wait(self, direction: Direction) -> None:
        if direction in self._cut:
            with self._changed:
                self._changed.wait_for(lambda: direction not in self._cut or self._closed)
