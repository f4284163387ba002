"""Whether what the store has now is what a broker followed: metadata may come back without its end.

An older copy was put back, as when etcd is restored; or a frame of SQLite's log is damaged, behind which it
drops everything without a word. A broker that believed such a store would remove the topics that it does not
know, and a controller would give out epochs and offsets again (rules 1 and 2).

So each controller writes a random mark for its term (``terms/<controller epoch>``), whose revision is where
the term begins, and each data directory notes the term and the revision that its broker saw last. `Terms`
compares them: a revision is of this history if the store reaches it, and was written in that very term.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final, NamedTuple

from kproto.metadata.records import TERMS
from kproto.metadata.store import Entry, StoreError

TERMS_KEPT: Final = 1000


class Seen(NamedTuple):
    """How far the metadata was followed: to ``revision``, which was of the term with this mark."""

    term: str = ""
    revision: int = 0


NOTHING: Final = Seen()
"""By a directory that was of no cluster yet, or whose last broker noted nothing."""


class OlderStoreError(StoreError):
    """The store has not all that a data directory's broker saw of it."""


class Terms:
    """The terms that a store knows of. ``entries`` in key order; others than terms are passed over."""

    __slots__ = ("_terms",)

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._terms = [entry for entry in entries if entry.key.startswith(TERMS)]

    def begin(self, term: Entry) -> None:
        """A term began."""
        self._terms.append(term)

    def lack(self, seen: Seen, revision: int) -> bool:
        """Whether a store at ``revision`` is without what was seen: it ends before, or went on otherwise."""
        if not seen.term:  # nothing, or of a version without terms
            return False
        if seen.revision > revision:
            return True
        end = revision + 1
        for term in reversed(self._terms):
            if term.value.decode() == seen.term:
                return not term.revision <= seen.revision < end
            end = term.revision
        return len(self._terms) < TERMS_KEPT or seen.revision >= end

    def check(self, seen: Seen, revision: int) -> None:
        """Raises :class:`OlderStoreError`, which tells the operator what to do, if they `lack` it."""
        if self.lack(seen, revision):
            raise OlderStoreError(
                f"the metadata is at revision {revision} and is without revision {seen.revision}, which this"
                " broker has seen: its end is lost, or an older copy is in its place. Put the newer one back;"
                ' "Metadata that lost its end" in docs/operating.md says how to go on without'
            )

    def too_many(self) -> tuple[str, ...]:
        """Keys that are to go when another term begins."""
        return tuple(term.key for term in self._terms[: max(0, len(self._terms) + 1 - TERMS_KEPT)])


def term_key(epoch: int) -> str:
    """Where the mark of a controller's term is; such keys come in order."""
    return f"{TERMS}{epoch:016x}"


def new_mark() -> bytes:
    """A mark that no other term has."""
    return os.urandom(8).hex().encode()
