"""What precedes the frame in a PUSH from the owner of a virtual segment to a backup (rule 6).

The body is ``flags u8 | [revision u64 when flags & 2] | [length u8 | store id when flags & 4] | [file header
128 B when flags & 1] | frame``.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from kproto.wire.primitives import WireError

PUSH_FIRST: Final = 1
"""Flag of a push: the file header precedes the frame; set on the first push to every backup of a vseg."""
PUSH_KNOWN: Final = 2
"""Flag of a first push: a revision of metadata precedes the file header; the owner saw the record of the vseg
at it."""
PUSH_STORE: Final = 4
"""Flag of a first push: it is for the store of that id (rule 3). A broker whose directory was replaced starts
a moment before metadata tells, and must not take what the old one is listed for."""
_REVISION: Final = Struct(">Q")


class PushHead(NamedTuple):
    """What precedes the file header or frame of a PUSH, which begins at byte ``end``."""

    first: bool
    known: int
    """0: the owner does not say."""
    store_id: str
    """Empty: whichever."""
    end: int

    @classmethod
    def decode(cls, body: bytes | memoryview) -> PushHead:
        """WireError when it is cut off."""
        flags, known, store_id, at = body[0] if len(body) else 0, 0, "", 1
        if flags & PUSH_KNOWN:
            if len(body) < at + _REVISION.size:
                raise WireError("a push ends within its revision")
            (known,) = _REVISION.unpack_from(body, at)
            at += _REVISION.size
        if flags & PUSH_STORE:
            end = at + 1 + body[at] if len(body) > at else len(body) + 1
            if len(body) < end:
                raise WireError("a push ends within its store id")
            store_id = bytes(body[at + 1 : end]).decode("ascii", "replace")
            at = end
        return cls(bool(flags & PUSH_FIRST), known, store_id, at)

    def encode(self) -> bytes:
        """The bytes before a file header."""
        flags, name = PUSH_FIRST, self.store_id.encode()
        revision = _REVISION.pack(self.known) if self.known else b""
        flags |= (PUSH_KNOWN if revision else 0) | (PUSH_STORE if name else 0)
        return bytes((flags,)) + revision + (bytes((len(name),)) + name if name else b"")
