"""Asking the copies of a virtual segment: one after the other until one answers (rules 21-23)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegRecord
from kproto.net.ports import PeerError, PeersPort
from kproto.replica.messages import Look, Read
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError

log = logging.getLogger(__name__)

T = TypeVar("T")
FIRST_SECONDS: Final = 1.0
"""How long a copy may take before the next one is asked."""
ANSWER_SECONDS: Final = 5.0
"""The same when all have been asked once."""


_NO_ANSWER: Final = "no answer"


class NoCopyError(Exception):
    """No copy of a virtual segment answers at the moment. ``silent``: a member that has one did not answer
    this broker, which others may reach."""

    def __init__(self, message: str, silent: bool = False) -> None:
        super().__init__(message)
        self.silent = silent


class Metadata(Protocol):
    """The part of ``metadata.client.ControllerPort`` that new leaders use."""

    @property
    def image(self) -> MetadataImage: ...

    @property
    def table(self) -> VlogTable: ...

    async def propose(self, kind: str, args: object) -> Any:
        """JSON in, a committed decision and JSON out. Raises KafkaError."""
        ...


def eligible(image: MetadataImage, target: CopyTarget) -> bool:
    """A copy counts in the data directory that metadata lists it for, on a live member (rules 3 and 22)."""
    broker = image.brokers.get(target.node_id)
    return broker is not None and broker.store_id == target.store_id


def sound_copies(image: MetadataImage, record: VsegRecord) -> list[CopyTarget]:
    """Listed copies that count, but for those that are none, as their brokers said."""
    without = record.deniers(image.is_member)
    return [target for target in record.backups if eligible(image, target) and target.node_id not in without]


class Reach:
    """Sends requests about virtual segments to whoever has copies; counts what came back."""

    def __init__(self, peers: PeersPort, metadata: Metadata, node_id: int) -> None:
        self._peers = peers
        self._metadata = metadata
        self.node_id = node_id
        self._slow: set[int] = set()
        """Nodes whose last answer did not come: asked after the others."""
        self.requests = 0
        self.bytes = 0
        """Of all answers."""

    def nodes(self, record: VsegRecord) -> list[int]:
        """Whom to ask, in order: this node if it has a copy, else beginning with another one for each
        segment; those last whose copy is none, as they said. The owner comes after all: its own journal may
        be the only copy that is here, or that is one (rule 18b)."""
        image = self._metadata.image
        nodes = [target.node_id for target in record.backups if eligible(image, target)]
        last = [record.node_id] if eligible(image, CopyTarget(record.node_id, record.store_id)) else []
        if last and last[0] in nodes:
            last = []
        if self.node_id in nodes:
            nodes.remove(self.node_id)
            return [self.node_id, *nodes, *last]
        turn = (record.id.seq + self.node_id) % len(nodes) if nodes else 0
        later = self._slow | record.deniers(image.is_member)
        return sorted(nodes[turn:] + nodes[:turn], key=later.__contains__) + last

    async def ask(
        self,
        record: VsegRecord,
        api: Api,
        request: Look | Read,
        decode: Callable[[memoryview], T],
        patience: Sequence[float] = (FIRST_SECONDS, ANSWER_SECONDS),
    ) -> T:
        """The answer of the first copy that has a good one. Raises `NoCopyError`. ``patience``: seconds that
        each copy gets, one number for each time that all are asked."""
        problems: dict[int, str] = {}
        for seconds in patience:
            body = request._replace(patience_ms=int(seconds * 1000)).encode()
            for node_id in self.nodes(record):
                if problems.get(node_id, _NO_ANSWER) is not _NO_ANSWER:
                    continue
                self.requests += 1
                try:
                    answer = await self._peers.call(node_id, api, body, seconds)
                    while answer.error == InternalError.WAIT:
                        answer = await self._peers.call(node_id, api, body, seconds)
                    self._slow.discard(node_id)
                    if answer.error == InternalError.NONE:
                        self.bytes += len(answer.body)
                        return decode(answer.body)
                    problems[node_id] = f"error {answer.error}"
                except PeerError:
                    self._slow.add(node_id)
                    problems[node_id] = _NO_ANSWER
                except WireError as error:
                    problems[node_id] = str(error)
        told = (
            ", ".join(f"{node_id}: {why}" for node_id, why in problems.items())
            or "no broker with a copy is a member"
        )
        raise NoCopyError(
            f"virtual segment {record.id} cannot be read ({told})",
            silent=_NO_ANSWER in problems.values(),
        )


async def gather(work: list[Any]) -> list[Any]:
    """Results in order; all are waited for, then the first error is raised."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return list(results)
