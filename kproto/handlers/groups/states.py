"""The states of a classic group and the only transitions between them.

========================  ==========================================================================
state                     what it answers
========================  ==========================================================================
``EMPTY``                 no members; may still hold offsets. Join of a new member: yes. Sync,
                          heartbeat, leave: UNKNOWN_MEMBER_ID. Commits of generation -1: yes.
``PREPARING_REBALANCE``   collects joins. Heartbeat and sync: REBALANCE_IN_PROGRESS. Commits of the
                          old generation: yes.
``COMPLETING_REBALANCE``  the generation has begun, the leader's assignment is awaited. Heartbeat: yes.
                          Sync: parked. Commits: REBALANCE_IN_PROGRESS.
``STABLE``                every member has its assignment. Heartbeat, sync, commits: yes.
``DEAD``                  deleted or moved away; every request: COORDINATOR_NOT_AVAILABLE.
========================  ==========================================================================
"""

from enum import Enum
from typing import Final


class State(Enum):
    """The values are the names that DescribeGroups and ListGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.EMPTY: frozenset({State.PREPARING_REBALANCE, State.DEAD}),
    State.PREPARING_REBALANCE: frozenset({State.COMPLETING_REBALANCE, State.EMPTY, State.DEAD}),
    State.COMPLETING_REBALANCE: frozenset({State.STABLE, State.PREPARING_REBALANCE, State.DEAD}),
    State.STABLE: frozenset({State.PREPARING_REBALANCE, State.DEAD}),
    State.DEAD: frozenset(),
}
