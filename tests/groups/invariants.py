"""What must hold for a group after every event, whatever happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproto.check import check
from kproto.handlers.groups.states import State

if TYPE_CHECKING:
    from kproto.handlers.groups.group import Group


def verify(group: Group) -> None:
    """Raise :class:`kproto.check.InvariantError` when the parts of ``group`` contradict each other."""
    name = f"group {group.group_id} in {group.state.value}"
    _members(group, name)
    _waiting(group, name)
    check(group.wake_at <= group.next_deadline(), f"{name} sleeps past its next deadline")


def _members(group: Group, name: str) -> None:
    members = group.members.values()
    static = {m.instance_id: m.member_id for m in members if m.instance_id is not None}
    check(
        (group.leader is None) == (not group.members),
        f"{name}: leader {group.leader}, {len(members)} members",
    )
    check(
        group.leader is None or group.leader in group.members, f"{name}: leader {group.leader} is no member"
    )
    check(static == group.static_ids, f"{name}: static members {group.static_ids}, should be {static}")
    check(not group.pending.keys() & group.members.keys(), f"{name}: somebody is both pending and a member")
    check(group.state not in (State.EMPTY, State.DEAD) or not group.members, f"{name} has members")
    if group.state is State.STABLE:
        late = [m.member_id for m in members if m.assigned_generation != group.generation]
        check(not late, f"{name}: {late} have no assignment of generation {group.generation}")


def _waiting(group: Group, name: str) -> None:
    joining = [m.member_id for m in group.members.values() if m.join_token is not None]
    syncing = [m.member_id for m in group.members.values() if m.sync_token is not None]
    excused = [m.member_id for m in group.members.values() if m.deadline is None]
    check(group.joining == len(joining), f"{name} counts {group.joining} parked joins, has {joining}")
    check(
        not joining or group.state is State.PREPARING_REBALANCE,
        f"{name}: who answers the joins of {joining}?",
    )
    check(
        not syncing or group.state is State.COMPLETING_REBALANCE,
        f"{name}: who answers the syncs of {syncing}?",
    )
    check(set(excused) <= {*joining, *syncing}, f"{name}: {excused} have no deadline and wait for nothing")
    if group.state is State.PREPARING_REBALANCE:
        check(group.join_deadline is not None, f"{name}: collects joins without an end")
    if group.unsynced:
        check(group.sync_deadline is not None, f"{name}: waits for {group.unsynced} without an end")
