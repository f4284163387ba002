"""What a pure decision hands to the shell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


@dataclass(slots=True)
class Decision(Generic[Answer]):
    """Store writes of one transaction and the answer to give once they are committed.

    Invariant: an answer that reports an error has no write of its own in here.
    """

    answer: Answer
    puts: dict[str, bytes] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        """True when there is something to commit."""
        return bool(self.puts or self.deletes)
