"""Which embedded protocol (assignor) a group uses: supported by all members, then most votes."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kproto.handlers.groups.model import Member, Protocols


class Ballot:
    """Counts, over a group's members, how many support each protocol name."""

    __slots__ = ("_supporters",)

    def __init__(self) -> None:
        self._supporters: dict[str, int] = {}

    def add(self, protocols: Protocols) -> None:
        """A member with these protocols came (names are unique within a member)."""
        for name, _ in protocols:
            self._supporters[name] = self._supporters.get(name, 0) + 1

    def remove(self, protocols: Protocols) -> None:
        """A member with these protocols went."""
        for name, _ in protocols:
            self._supporters[name] -= 1
            if not self._supporters[name]:
                del self._supporters[name]

    def has_common(self, protocols: Protocols, members: int) -> bool:
        """Is one of ``protocols`` supported by all of the group's ``members``?"""
        return any(self._supporters.get(name, 0) == members for name, _ in protocols)

    def choose(self, members: Collection[Member]) -> str | None:
        """The common protocol with the most votes; the one voted for first wins a tie."""
        candidates = {name for name, count in self._supporters.items() if count == len(members)}
        votes = _votes(members, candidates)
        return max(votes, key=votes.__getitem__, default=None)


def _votes(members: Iterable[Member], candidates: set[str]) -> dict[str, int]:
    votes: dict[str, int] = {}
    for member in members:
        choice = member.vote(candidates)
        if choice is not None:
            votes[choice] = votes.get(choice, 0) + 1
    return votes
