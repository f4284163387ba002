"""One side of a conversation: sends requests to a broker and writes down the answers as plain trees.

What differs by nature from one broker to the next is replaced here: ports, ids, times of now, the text of
messages (that there is one stays), directories. Everything else is compared.
"""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from compat_tests.support.ports import wait_until
from kproto.net.client import Client
from kproto.wire.batch import HEADER
from kproto.wire.crc import crc32c
from kproto.wire.generated.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.messages import codec

Tree = Any
CLOSED: Final = "connection closed"
SILENT: Final = "no answer"
NO_ID: Final = bytes(15) + b"x"
LIST_OFFSETS, CREATE_TOPICS = 2, 19
PATIENCE_S: Final = 120.0
RAW_S: Final = 10.0
"""Who has not answered a frame by then ignores it."""
_HEADER_FIELDS: Final = (
    "base_offset",
    "length",
    "leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_delta",
    "first_time",
    "max_time",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "count",
)
_TEXTS: Final = frozenset(
    {"error_message", "documentation", "cluster_id", "log_dir", "batch_index_error_message"}
)
_TIMES: Final = frozenset({"log_append_time_ms", "timestamp", "first_time", "max_time"})
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SORT_BY: Final = (
    "api_key",
    "name",
    "topic",
    "topic_name",
    "topic_id",
    "resource_name",
    "index",
    "partition_index",
    "partition",
)


class Talk:
    """A connection to one broker and everything it answered, in order, as ``(what was asked, tree)``.

    ``mark`` is part of all names this conversation makes; it is shown as ``~``. ``now`` is when the
    conversation began, ms since 1970, the same for both sides.
    """

    def __init__(self, address: tuple[str, int], mark: str, *, ours: bool, now: int) -> None:
        self.address = address
        self.mark = mark
        self.ours = ours
        self.now = now
        self.said: list[tuple[str, Tree]] = []
        self.ids: dict[str, bytes] = {}
        self.client = Client(*address, timeout=PATIENCE_S, client_id="compare")

    def name(self, label: str) -> str:
        """The topic name that ``label`` stands for."""
        return f"{self.mark}{label}"

    def close(self) -> None:
        self.client.close()

    def fresh(self) -> None:
        """Another connection."""
        self.client.close()
        self.client = Client(*self.address, timeout=PATIENCE_S, client_id="compare")

    def __call__(self, key: int, version: int, message: Any, label: str = "") -> Any:
        """Send, write down, return the answer; None when the connection was closed or nothing came."""
        answer = self.quietly(key, version, message)
        self.note(f"{codec(key).name} v{version} {label}".rstrip(), answer)
        return None if isinstance(answer, str) else answer

    def quietly(self, key: int, version: int, message: Any) -> Any:
        """The same without writing it down; a str instead of an answer says why there is none."""
        try:
            return self.client.call(key, version, message)
        except TimeoutError:
            self.fresh()
            return SILENT
        except OSError:
            self.fresh()
            return CLOSED

    def versions(self, key: int, build: Callable[[int], Any], label: str = "", start: int = 0) -> None:
        """The request of every version both sides serve, from ``start`` on."""
        from kproto.handlers.registry import APIS

        api = APIS[key]
        for version in range(max(start, api.min_version), api.max_version + 1):
            self(key, version, build(version), label)

    def until(self, key: int, version: int, message: Any, label: str, good: Callable[[Any], bool]) -> Any:
        """Ask until the answer is ``good`` or patience is over; write down the last one."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.quietly(key, version, message)
            if isinstance(answer, str) or good(answer) or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        self.note(f"{codec(key).name} v{version} {label}", answer)
        return answer

    def raw(self, label: str, frame: bytes) -> None:
        """Send a frame on a connection of its own; write down whether it is answered, closed or ignored."""
        with socket.create_connection(self.address, timeout=RAW_S) as sock:
            sock.sendall(frame)
            try:
                head = sock.recv(4, socket.MSG_WAITALL)
                body = sock.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL) if len(head) == 4 else None
            except TimeoutError:
                self.note(label, SILENT)
                return
            except OSError:
                body = None
        self.note(label, CLOSED if body is None else f"answered with {body[4:6].hex()}...")

    def note(self, label: str, value: Any) -> None:
        self.said.append((label, self._tree(value)))

    def settle(self) -> None:
        """Let changes reach the part of the broker that answers questions: later ones do not come before.

        A topic may answer while the broker is still busy with what came along with it; a second one does not.
        """
        for _ in range(2):
            self.make(f"barrier{len(self.ids)}")

    def make(
        self,
        label: str,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        own: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic and wait until its partitions answer; its name. Its id is in ``ids``.

        ``own`` are configs that only kproto has.
        """
        name = self.name(label)
        configs = {**(configs or {}), **((own or {}) if self.ours else {})}
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
        )
        result = self.client.call(CREATE_TOPICS, 7, CreateTopicsRequest(topics=[topic], timeout_ms=9000))
        made = result.topics[0]
        assert made.error_code == 0, f"creating {name}: {made.error_code} {made.error_message}"
        self.ids[name] = made.topic_id
        wait_until(f"leaders of {name}", lambda: self._led(name, partitions), every_s=0.01)
        return name

    def internal(self) -> None:
        """Have ``__consumer_offsets`` made."""
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[self.name("any")])
        wait_until("a coordinator", lambda: not self.client.call(10, 4, request).coordinators[0].error_code)

    def _led(self, name: str, partitions: int) -> bool:
        wanted = [ListOffsetsPartition(partition_index=number, timestamp=-1) for number in range(partitions)]
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=wanted)])
        found = self.client.call(LIST_OFFSETS, 5, request)
        return all(part.error_code == 0 for part in found.topics[0].partitions)

    # --- answers as trees --------------------------------------------------------------------------

    def _tree(self, value: Any, field: str = "") -> Tree:
        if field == "records":
            return None if value is None else _batches(bytes(value), whole=self.ours)
        if hasattr(value, "__slots__") and not isinstance(value, bytes | str | memoryview):
            return {name: self._tree(getattr(value, name), name) for name in value.__slots__}
        if isinstance(value, list | tuple):
            return sorted((self._tree(item, field) for item in value), key=_order)
        if isinstance(value, str):
            return (
                "<text>" if value and field in _TEXTS else _UUID.sub("<uuid>", value.replace(self.mark, "~"))
            )
        if isinstance(value, bytes | memoryview):
            return self._id(bytes(value)) if field == "topic_id" else bytes(value).hex()
        return _number(value, field)

    def _id(self, topic_id: bytes) -> str:
        if topic_id in (bytes(16), NO_ID):
            return "zero" if topic_id == bytes(16) else "no such id"
        known = {value: name for name, value in self.ids.items()}
        return f"id of {known[topic_id].replace(self.mark, '~')}" if topic_id in known else "<id>"


def _number(value: Any, field: str) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        value = int(value)
        if field == "port" and value > 0:
            return "<port>"
        if field == "producer_id" and value >= 0:
            return "<id>"
        if field in ("total_bytes", "usable_bytes") and value > 0:
            return "<bytes>"
        if field in _TIMES and abs(value - time.time() * 1000) < 600_000:
            return "<now>"
    return value


def _order(tree: Tree) -> tuple[str, ...]:
    """Lists are compared without their order, elements by what names them."""
    if isinstance(tree, dict):
        keys = [
            f"{tree[name]:09}" if isinstance(tree[name], int) else str(tree[name])
            for name in _SORT_BY
            if name in tree
        ]
        return tuple(keys) if keys else (repr(tree),)
    return (f"{tree:09}" if isinstance(tree, int) else str(tree),)


def _batches(data: bytes, *, whole: bool) -> list[Tree]:
    """The headers of the whole batches; ``crc`` says whether it is right.

    Clients ignore a batch that is cut at the end, which Apache Kafka may send; ``whole``: there must be none.
    """
    found: list[Tree] = []
    at = 0
    while at + HEADER.size <= len(data):
        fields = dict(zip(_HEADER_FIELDS, HEADER.unpack_from(data, at), strict=True))
        end = at + 12 + fields["length"]
        if end > len(data):
            break
        fields["crc"] = crc32c(data[at + 21 : end]) == fields["crc"]
        found.append({name: _number(value, name) for name, value in fields.items()})
        at = end
    assert at == len(data) or not whole, f"{len(data) - at} bytes are no whole batch"
    return found


def named(items: Sequence[Tree]) -> dict[str, Tree]:
    """The elements of a list by what names them, so that one missing does not move all others."""
    found: dict[str, Tree] = {}
    for item in items:
        label = ",".join(_order(item)[:1]).lstrip("0") or "0"
        found[label if label not in found and len(label) < 60 else f"#{len(found)}"] = item
    return found
