"""What clients of groups may be told: the invariants of coordinators.

G1  An acknowledged commit is neither lost nor overwritten by an older one: OffsetFetch tells the last one
    that was acknowledged or told before, or a later one that may have been done.
G2  Who is no member, or of another generation, commits nothing; generations never go back.
G3  In one generation every member gets what its leader sent for it, and no two the same partition.
G4  Nobody waits for ever (`groups.Groups.rest`).

All answers have the *term*, the leader epoch in which their coordinator led its partition of the offsets
topic. A coordinator that has a successor and does not know it yet may tell what was true in its own term, as
in Apache Kafka; it can acknowledge nothing. So an answer must agree with everything of its term and those
before.

An empty group without offsets may be forgotten, and begins with generation 1 again. So the groups have some
from the beginning. What is acknowledged without a sync may be lost with the power; so where there is such a
fault the offsets topic always syncs, and no other rule is needed.
"""

from __future__ import annotations

from struct import pack, unpack_from
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .world import World

Order = tuple[int, int]
"""A generation, and a number that grows: of what is done to an offset the later has the larger one."""
FIRST: Order = (-1, 0)
NOTHING = -1
"""What OffsetFetch tells where there is no offset."""


class Terms(NamedTuple):
    """Of a coordinator when it was asked and when it answered; -1: it was none."""

    asked: int
    answered: int

    @property
    def least(self) -> int:
        return min((one for one in self if one >= 0), default=-1)


class Floors:
    """What answers of each term, and of all later ones, must not be below."""

    def __init__(self) -> None:
        self._of: dict[int, Order] = {}

    def lift(self, terms: Terms, order: Order) -> None:
        term = max(terms)
        if term >= 0:
            self._of[term] = max(order, self._of.get(term, FIRST))

    def now(self) -> dict[int, Order]:
        """To be kept by who asks, for `lowest`: what happens meanwhile does not count."""
        return dict(self._of)


def lowest(floors: dict[int, Order], terms: Terms) -> Order:
    """For an answer, by what its client knew when it asked."""
    return max((order for term, order in floors.items() if term <= terms.least), default=FIRST)


class Slot:
    """The committed offset of one partition in one group. Every commit has another offset."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.floors = Floors()
        self.orders: dict[int, list[Order]] = {NOTHING: [FIRST]}
        """By offset, where in the order it was sent, if it may have been done."""

    def sent(self, order: Order, offset: int) -> None:
        self.orders.setdefault(offset, []).append(order)

    def refused(self, order: Order, offset: int) -> None:
        """It was not done, and never will be."""
        self.orders[offset].remove(order)

    def acked(self, order: Order, terms: Terms) -> None:
        self.floors.lift(terms, order)

    def told(self, offset: int, terms: Terms, floors: dict[int, Order]) -> None:
        """G1. What was shown once is durable, and stays."""
        low = lowest(floors, terms)
        able = [order for order in self.orders.get(offset, ()) if order >= low]
        if able:
            self.floors.lift(terms, min(able))
        else:
            orders = self.orders.get(offset) or "never, or refused"
            self.world.failed(
                f"G1: {self.name} is told to be {offset} in term {terms} (sent as {orders}), but {low} was "
                "acknowledged or told before"
            )


class Plan(NamedTuple):
    """What a leader sent with its SyncGroup."""

    generation: int
    given: dict[str, bytes]


class Book:
    """All that clients of one group know together."""

    def __init__(self, world: World, name: str, slots: dict[tuple[str, int], Slot]) -> None:
        self.world = world
        self.name = name
        self.slots = slots
        self.begun = False
        """It has offsets."""
        self.generations = Floors()
        """Second part 0. Of those of which somebody got an assignment: they are stored."""
        self.number = 0
        self.plans: list[Plan] = []
        self.valid: dict[int, int] = {}
        """The plan by which somebody got its assignment, by generation."""
        self.leaders: dict[tuple[int, int], str] = {}
        """By term and generation."""

    def next_number(self) -> int:
        self.number += 1
        return self.number

    def of_generation(self, generation: int, terms: Terms, floors: dict[int, Order], what: str) -> None:
        """G2, of something that was not refused."""
        low = lowest(floors, terms)[0]
        if generation < low:
            self.world.failed(
                f"G2: {what} of {self.name} in generation {generation}, term {terms}, after generation {low}"
            )

    def led(self, generation: int, leader: str, terms: Terms) -> None:
        """G3: who joined was told who leads. (A static one may have got another id.)"""
        if terms.asked == terms.answered:
            known = self.leaders.setdefault((terms.asked, generation), leader)
            if known != leader and not known.startswith("static"):
                self.world.failed(
                    f"G3: {self.name} has two leaders in generation {generation}: {known}, {leader}"
                )

    def plan(self, generation: int, members: list[str]) -> dict[str, bytes]:
        """What a leader sends: every slot for one of the members."""
        number, given = len(self.plans), {}
        for at, member in enumerate(members):
            some = range(at, len(self.slots), len(members))
            given[member] = pack(f">iii{len(some)}i", number, at, len(some), *some)
        self.plans.append(Plan(generation, given))
        return given

    def synced(
        self, generation: int, member: str, assignment: bytes, terms: Terms, instance: str | None = None
    ) -> list[tuple[str, int]]:
        """G3: what a member got; the places it may commit for. A generation of which somebody got something
        is stored, whoever coordinates it. A static member has what was sent for an id that it had before."""
        number = unpack_from(">i", assignment)[0] if assignment else -1
        plan = self.plans[number] if 0 <= number < len(self.plans) else Plan(-1, {})
        whose = next((name for name, given in plan.given.items() if given == assignment), "")
        sound = whose == member or (instance is not None and whose.startswith(f"{instance}-"))
        if plan.generation != generation or not sound:
            self.world.failed(
                f"G3: {member} of {self.name} got {assignment!r} in generation {generation}, "
                f"not what was sent: {plan}"
            )
            return []
        if self.valid.setdefault(generation, number) != number:
            self.world.failed(
                f"G3: {self.name} has two assignments in generation {generation}: {plan}, and "
                f"{self.plans[self.valid[generation]]}"
            )
        self.generations.lift(terms, (generation, 0))
        places = list(self.slots)
        (count,) = unpack_from(">i", assignment, 8)
        return [places[at] for at in unpack_from(f">{count}i", assignment, 12)]
