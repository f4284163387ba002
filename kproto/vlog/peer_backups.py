"""Backups that are other brokers: one PUSH request per frame and backup (rule 6).

`kproto.wire.push` has the body. With the file header go the store that is meant, and a revision:
metadata had the record of the virtual segment then, so a backup that does not find it at that revision or a
later one knows that it came and went.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Final

from kproto.vlog.frame import decode_file_header
from kproto.vlog.ports import PushAnswer, PushOutcome
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError
from kproto.wire.push import PushHead

if TYPE_CHECKING:
    from kproto.disk import Buffer
    from kproto.metadata.vlogs import CopyTarget
    from kproto.net.ports import Answer, PeersPort

_NEXT: Final = b"\x00"
_POSITION: Final = Struct(">Q")
_OUTCOMES: Final[dict[int, PushOutcome]] = {
    InternalError.NONE: PushOutcome.STORED,
    InternalError.FENCED: PushOutcome.FENCED,
    InternalError.GAP: PushOutcome.GAP,
    InternalError.FULL: PushOutcome.FULL,
}
"""All other errors: not this backup."""
_UNREACHABLE: Final = PushAnswer(PushOutcome.UNREACHABLE)
_REFUSED: Final = PushAnswer(PushOutcome.REFUSED)


class PeerBackups:
    """Implements `ports.Backups` over the connections to other brokers.

    ``store_of(node id)`` is the store id of a live broker, None when it is none: a broker that came back with
    another data directory has no copy of anything (rule 3), so nothing is sent to it. ``known_at(owner
    epoch, vlog, number)``: a revision at which metadata has that virtual segment, 0 when it does not.
    """

    __slots__ = ("_known_at", "_peers", "_store_of")

    def __init__(
        self,
        peers: PeersPort,
        store_of: Callable[[int], str | None],
        known_at: Callable[[int, int, int], int] = lambda *_: 0,
    ) -> None:
        self._peers = peers
        self._store_of = store_of
        self._known_at = known_at

    def push(
        self,
        target: CopyTarget,
        first: bytes | None,
        pieces: Sequence[Buffer],
        done: Callable[[PushAnswer], object],
    ) -> None:
        """See `ports.Backups`."""
        store_id = self._store_of(target.node_id)
        if store_id is not None and store_id != target.store_id:
            done(_REFUSED)
            return
        head = _NEXT if first is None else self._head(target, first)
        try:
            self._peers.request(target.node_id, Api.PUSH, (head, *pieces), partial(_answered, done))
        except WireError:  # longer than a frame between brokers may be
            done(_REFUSED)

    def _head(self, target: CopyTarget, first: bytes) -> bytes:
        """What precedes the first frame."""
        header = decode_file_header(first)
        known = 0 if header is None else self._known_at(header.owner_epoch, header.vlog, header.vseg)
        return PushHead(True, known, target.store_id, 0).encode() + first


def _answered(done: Callable[[PushAnswer], object], answer: Answer | None) -> None:
    done(_UNREACHABLE if answer is None else read_answer(answer))


def read_answer(answer: Answer) -> PushAnswer:
    """What an answer to PUSH says. Rubbish is a refusal."""
    error, body = answer
    outcome = _OUTCOMES.get(error, PushOutcome.REFUSED)
    if len(body) >= _POSITION.size:
        return PushAnswer(outcome, _POSITION.unpack_from(body)[0])
    return _REFUSED if outcome is PushOutcome.STORED else PushAnswer(outcome)
