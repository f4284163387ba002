"""What a pure decision hands to the shell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Concatenate, Final, Generic, ParamSpec, TypeVar

from kproto.metadata import MetadataImage, VlogTable

if TYPE_CHECKING:
    from kproto.controller.controller import Controller

Answer = TypeVar("Answer")
P = ParamSpec("P")

PER_TRANSACTION: Final = 100
"""Records that one decision writes, about, when there are many: stores allow 128 operations (rule 19b)."""


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


async def carry_out(
    controller: Controller,
    decide: Callable[Concatenate[MetadataImage, VlogTable, P], Decision[Answer]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Answer:
    """Have the controller decide on its newest image and table, and commit that; the answer."""
    return await controller.decide(lambda: decide(controller.image, controller.table, *args, **kwargs))
