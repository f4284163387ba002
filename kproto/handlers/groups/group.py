"""One classic consumer group as a pure state machine: events in, effects out, deadlines as data.

No socket, clock, task or randomness: time and new member ids come with the events. Every event method
returns the effects in order; the shell answers :class:`JoinReply`/:class:`SyncReply`, writes
:class:`Store` and reports it back with :meth:`Group.on_stored`. ``wake_at`` is the earliest moment at
which :meth:`Group.on_time` has something to do; being woken early or late is harmless.

Rules (the transitions themselves are in ``states.TRANSITIONS``):

1. A generation begins when all members have joined and no pending member is left, or when the join
   deadline passes; members that have not joined by then are removed, static ones stay (KIP-345).
2. The first rebalance of an empty group waits ``initial_rebalance_delay_ms``, again after each newcomer,
   at most the rebalance timeout in all (KIP-134).
3. The leader's assignment becomes valid when it is stored; only then are the syncs answered.
4. Members that do not sync within the rebalance timeout are removed.
5. A parked join or sync excuses a member from its session timeout, except the first join of a member that
   does not know its id yet.
6. A static member that returns without its id gets a new one; the old one is fenced from then on. While
   the group is stable and the chosen protocol stays the same no rebalance follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kproto.check import check
from kproto.errors import ErrorCode
from kproto.handlers.groups.ballot import Ballot
from kproto.handlers.groups.model import (
    Effect,
    GroupLimits,
    Join,
    JoinedMember,
    JoinReply,
    Leaving,
    Member,
    Now,
    Protocols,
    Snapshot,
    SnapshotMember,
    Store,
    Sync,
    SyncReply,
)
from kproto.handlers.groups.states import TRANSITIONS, State

NEVER = 1 << 62


class _Assignment(NamedTuple):
    """A leader's assignment on its way to the log."""

    generation: int
    by_member: dict[str, bytes]


class _Swap(NamedTuple):
    """A static member's new id on its way to the log; what to undo if that fails."""

    instance_id: str
    old_id: str
    new_id: str
    protocols: Protocols
    session_timeout_ms: int
    rebalance_timeout_ms: int
    old_leader: str
    can_skip: bool
    token: object


class Group:
    """See the module docstring. Attributes are for reading only."""

    def __init__(self, group_id: str, limits: GroupLimits, wall_ms: int) -> None:
        self.group_id = group_id
        self.limits = limits
        self.state = State.EMPTY
        self.previous_state = State.EMPTY
        self.state_since_ms = wall_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        """A member's id, or None exactly when there are no members."""
        self.members: dict[str, Member] = {}
        self.static_ids: dict[str, str] = {}
        """Instance id -> member id, for every static member."""
        self.pending: dict[str, int] = {}
        """Member ids given out by MEMBER_ID_REQUIRED -> monotonic ms of their expiry."""
        self.subscriptions: tuple[bytes, ...] | None = None
        """What the members of the newest generation said under its protocol; None before the first one."""
        self.unsynced: set[str] = set()
        """Members of the current generation that have not sent a sync yet."""
        self.wake_at = NEVER
        """Never later than the earliest deadline."""
        self.joining = 0
        """Members with a parked join."""
        self._ballot = Ballot()
        self.join_deadline: int | None = None
        self._initial_delay: tuple[int, int] | None = None
        """(last delay, remaining) in ms while the initial rebalance can still be put off."""
        self._newcomer = False
        """Somebody joined since the initial delay last began."""
        self.sync_deadline: int | None = None
        self._tickets = 0
        self._storing: dict[int, _Assignment | _Swap | None] = {}
        self._effects: list[Effect] = []

    @classmethod
    def restored(cls, group_id: str, limits: GroupLimits, now: Now, snapshot: Snapshot) -> Group:
        """The group as the log knows it: stable with its members (their sessions begin anew), or empty."""
        group = cls(group_id, limits, snapshot.state_since_ms)
        group.generation = snapshot.generation
        group.protocol_type = snapshot.protocol_type or None
        group.subscriptions = tuple(stored.subscription for stored in snapshot.members)
        if not snapshot.members:
            return group
        group.protocol = snapshot.protocol
        group.leader = snapshot.leader
        group.state = State.STABLE
        for stored in snapshot.members:
            group._restore_member(stored, now)
        if group.leader not in group.members:
            group.leader = next(iter(group.members))
        return group

    def _restore_member(self, stored: SnapshotMember, now: Now) -> None:
        protocols = ((self.protocol or "", stored.subscription),)
        join = Join(
            stored.member_id, stored.instance_id, "", stored.client_id, stored.client_host,
            stored.session_timeout_ms, stored.rebalance_timeout_ms, self.protocol_type or "",
            protocols, False, False,
        )  # fmt: skip
        member = Member(stored.member_id, join)
        member.is_new = False
        member.assignment = stored.assignment
        member.assigned_generation = self.generation
        self.members[stored.member_id] = member
        self._ballot.add(protocols)
        if stored.instance_id is not None:
            self.static_ids[stored.instance_id] = stored.member_id
        self._expect_within(now, member, member.session_timeout_ms)

    # ---- events -------------------------------------------------------------------------------------

    def join(self, now: Now, request: Join, token: object) -> list[Effect]:
        """JoinGroup. Bounds of the session timeout and the group id are checked by the shell."""
        if self.state is State.DEAD:
            return self._refuse(token, ErrorCode.COORDINATOR_NOT_AVAILABLE, request.member_id)
        if not self._has_room(request.member_id):
            self._forget(request.member_id)
            self._effects.append(JoinReply(token, ErrorCode.GROUP_MAX_SIZE_REACHED, ""))
            self._complete_join_if_ready(now)
            return self._take_effects()
        if not self._supports(request.protocol_type, request.protocols):
            return self._refuse(token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
        if request.member_id:
            self._join_known(now, request, token)
        elif request.instance_id is not None:
            self._join_new_static(now, request, token)
        elif request.id_required:
            self._set_pending(request.new_id, now.mono_ms + request.session_timeout_ms)
            return self._refuse(token, ErrorCode.MEMBER_ID_REQUIRED, request.new_id)
        else:
            self._add_member(now, request.new_id, request, token)
        return self._take_effects()

    def sync(self, request: Sync, token: object) -> list[Effect]:
        """SyncGroup: parks until the leader's assignment is stored, which the leader's own sync starts."""
        error = self._sync_error(request)
        if error is ErrorCode.NONE and self.state is State.PREPARING_REBALANCE:
            error = ErrorCode.REBALANCE_IN_PROGRESS
        if error is not ErrorCode.NONE:
            return [SyncReply(token, error)]
        member = self.members[request.member_id]
        self._synced(member)
        if self.state is State.STABLE:
            return [SyncReply(token, ErrorCode.NONE, self.protocol_type, self.protocol, member.assignment)]
        if member.sync_token is not None:  # its earlier try; the client has given up on it
            self._answer_sync(member, SyncReply(member.sync_token, ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_token = token
        if member.member_id == self.leader and not self._is_storing_assignment():
            given = dict(request.assignments)
            assignment = {member_id: given.get(member_id, b"") for member_id in self.members}
            self._store(_Assignment(self.generation, assignment), assignment)
        return self._take_effects()

    def heartbeat(self, now: Now, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
        """Heartbeat: extends the session; the error tells the member what to do."""
        if self.state is State.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        error = self._member_error(member_id, instance_id)
        if error is not ErrorCode.NONE:
            return error
        if generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        member = self.members[member_id]
        self._expect_within(now, member, member.session_timeout_ms)
        preparing = self.state is State.PREPARING_REBALANCE
        return ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE

    def leave(self, now: Now, leaving: Sequence[Leaving]) -> tuple[list[ErrorCode], list[Effect]]:
        """LeaveGroup: one error per entry; a rebalance follows when a member left."""
        if self.state is State.DEAD:
            return [ErrorCode.COORDINATOR_NOT_AVAILABLE] * len(leaving), []
        before = len(self.members)
        errors = [self._leave_one(one) for one in leaving]
        if self.state is State.PREPARING_REBALANCE:
            self._complete_join_if_ready(now)
        elif len(self.members) < before:  # nobody has to rejoin because a pending member goes
            self._prepare_rebalance(now)
        return errors, self._take_effects()

    def commit_error(self, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
        """May this member commit offsets now? Generation -1 (no membership) may while nobody is a member."""
        if self.state is State.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if generation < 0 and self.state is State.EMPTY:
            return ErrorCode.NONE
        if generation < 0 and not member_id and instance_id is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = self._member_error(member_id, instance_id)
        if error is not ErrorCode.NONE:
            return error
        if generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        rebalancing = self.state is State.COMPLETING_REBALANCE
        return ErrorCode.REBALANCE_IN_PROGRESS if rebalancing else ErrorCode.NONE

    def touch(self, now: Now, member_id: str) -> None:
        """An accepted commit counts as a sign of life."""
        member = self.members.get(member_id)
        if member is not None:
            self._expect_within(now, member, member.session_timeout_ms)

    def on_stored(self, now: Now, ticket: int, error: ErrorCode) -> list[Effect]:
        """The write of a :class:`Store` effect ended; ``error`` is NONE when it is durable."""
        check(ticket in self._storing, f"{self.group_id}: store {ticket} reported twice or never asked for")
        what = self._storing.pop(ticket)
        if isinstance(what, _Assignment):
            self._assignment_stored(now, what, error)
        elif isinstance(what, _Swap):
            self._swap_stored(now, what, error)
        return self._take_effects()

    def on_time(self, now: Now) -> list[Effect]:
        """Do everything whose deadline has passed and compute the next ``wake_at``."""
        for member_id in [m for m, deadline in self.pending.items() if deadline <= now.mono_ms]:
            del self.pending[member_id]
            self._complete_join_if_ready(now)
        due = [m for m in self.members.values() if m.deadline is not None and m.deadline <= now.mono_ms]
        for member in due:
            self._session_expired(now, member)
        if self.join_deadline is not None and self.join_deadline <= now.mono_ms:
            self._join_deadline_passed(now)
        if self.sync_deadline is not None and self.sync_deadline <= now.mono_ms:
            self._sync_deadline_passed(now)
        self.wake_at = self.next_deadline()
        return self._take_effects()

    def kill(self, now: Now, error: ErrorCode) -> list[Effect]:
        """Deleted, or this broker no longer coordinates it: answer everything that waits with ``error``."""
        for member in list(self.members.values()):
            self._fail_parked(member, member.member_id, error)
        for what in self._storing.values():
            if isinstance(what, _Swap):  # its join waits for the log, the member knows nothing of it
                self._effects.append(JoinReply(what.token, error, ""))
        self._storing.clear()
        self._transition(now, State.DEAD)
        for member_id in list(self.members):
            self._forget(member_id)
        self.pending.clear()
        self.join_deadline = self.sync_deadline = None
        self.wake_at = NEVER
        return self._take_effects()

    def begin_sessions(self, now: Now) -> None:
        """All members can be heard from now on."""
        for member in self.members.values():
            self._expect_within(now, member, member.session_timeout_ms)

    # ---- questions ----------------------------------------------------------------------------------

    def next_deadline(self) -> int:
        """The earliest deadline of all, monotonic ms; :data:`NEVER` when there is none."""
        moments = [m.deadline for m in self.members.values() if m.deadline is not None]
        moments.extend(self.pending.values())
        moments.extend(d for d in (self.join_deadline, self.sync_deadline) if d is not None)
        return min(moments, default=NEVER)

    def is_quiet(self) -> bool:
        """Nothing would be lost by forgetting it: no member, nobody about to be one, no write under way."""
        return self.is_memberless() and not self.pending

    def is_memberless(self) -> bool:
        """Nobody is a member, and no write says otherwise; somebody may have asked to be one."""
        return self.state is State.EMPTY and not self._storing

    def snapshot(self) -> Snapshot:
        """The current generation with the assignments its members have now."""
        return self._snapshot({m.member_id: m.assignment for m in self.members.values()})

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """All members with what they said under the chosen protocol, as the leader gets them."""
        return tuple(
            JoinedMember(m.member_id, m.instance_id, m.metadata(self.protocol)) for m in self.members.values()
        )

    # ---- joining ------------------------------------------------------------------------------------

    def _has_room(self, member_id: str) -> bool:
        """While joins are collected the parked ones count: a lowered limit sends the last ones away."""
        if self.state is State.EMPTY:
            return True
        known = self.members.get(member_id)
        if self.state is State.PREPARING_REBALANCE:
            waits = known is not None and known.join_token is not None
            return waits or self.joining < self.limits.max_size
        return known is not None or len(self.members) < self.limits.max_size

    def _supports(self, protocol_type: str, protocols: Protocols) -> bool:
        if self.state is State.EMPTY:
            return bool(protocol_type) and bool(protocols)
        if protocol_type != self.protocol_type:
            return False
        return self._ballot.has_common(protocols, len(self.members))

    def _join_new_static(self, now: Now, request: Join, token: object) -> None:
        assert request.instance_id is not None
        old_id = self.static_ids.get(request.instance_id)
        if old_id is None:
            self._add_member(now, request.new_id, request, token)
        else:
            self._return_static(now, old_id, request, token)

    def _join_known(self, now: Now, request: Join, token: object) -> None:
        member_id = request.member_id
        if member_id in self.pending and request.instance_id is None:
            self._add_member(now, member_id, request, token)
            return
        error = self._member_error(member_id, request.instance_id)
        if error is not ErrorCode.NONE or self.state is State.EMPTY:
            self._effects.append(JoinReply(token, error or ErrorCode.UNKNOWN_MEMBER_ID, member_id))
            return
        member = self.members[member_id]
        unchanged = member.protocols == request.protocols
        keeps = unchanged and (
            self.state is State.COMPLETING_REBALANCE
            or (self.state is State.STABLE and member_id != self.leader)
        )
        if keeps:  # it missed our answer, or rejoins for no reason: it may sync with what there is
            self._effects.append(self._generation_reply(token, member_id))
            return
        self._update(member, request)
        self._park_join(member, token)
        self._rebalance_or_complete(now)

    def _add_member(self, now: Now, member_id: str, request: Join, token: object) -> None:
        if self.state is State.PREPARING_REBALANCE and self.previous_state is State.EMPTY:
            self._newcomer = True
        if not self.members:
            self.protocol_type = request.protocol_type
        member = Member(member_id, request)
        self.members[member_id] = member
        self._ballot.add(member.protocols)
        if request.instance_id is not None:
            self.static_ids[request.instance_id] = member_id
        if self.leader is None:
            self.leader = member_id
        self.pending.pop(member_id, None)
        self._park_join(member, token)
        self._expect_within(now, member, self.limits.new_member_timeout_ms)
        self._rebalance_or_complete(now)

    def _park_join(self, member: Member, token: object) -> None:
        if member.join_token is not None:  # its earlier try; the client has given up on it
            again = JoinReply(member.join_token, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
            self._answer_join(member, again)
        member.join_token = token
        self.joining += 1

    def _return_static(self, now: Now, old_id: str, request: Join, token: object) -> None:
        """Rule 6: a static member is back without its id (a restart of its process)."""
        assert request.instance_id is not None
        old_leader = self.leader or ""
        member = self._swap_id(request.instance_id, old_id, request.new_id)
        member.client_id, member.client_host = request.client_id, request.client_host
        swap = _Swap(
            request.instance_id, old_id, request.new_id, member.protocols,
            member.session_timeout_ms, member.rebalance_timeout_ms, old_leader,
            request.can_skip_assignment, token,
        )  # fmt: skip
        self._update(member, request)
        self._expect_within(now, member, member.session_timeout_ms)
        if self.state is State.STABLE and self._ballot.choose(self.members.values()) == self.protocol:
            self._store(swap, {m.member_id: m.assignment for m in self.members.values()})
            return
        self._park_join(member, token)
        self._rebalance_or_complete(now)

    def _swap_id(self, instance_id: str, old_id: str, new_id: str) -> Member:
        """Give a static member another id; whatever waits under the old one is fenced."""
        member = self.members.pop(old_id)
        if member.join_token is not None:
            self._answer_join(member, JoinReply(member.join_token, ErrorCode.FENCED_INSTANCE_ID, old_id))
        if member.sync_token is not None:
            self._answer_sync(member, SyncReply(member.sync_token, ErrorCode.FENCED_INSTANCE_ID))
        member.member_id = new_id
        self.members[new_id] = member
        self.static_ids[instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        if old_id in self.unsynced:
            self.unsynced.discard(old_id)
            self.unsynced.add(new_id)
        return member

    # ---- rebalancing --------------------------------------------------------------------------------

    def _rebalance_or_complete(self, now: Now) -> None:
        if self.state is State.PREPARING_REBALANCE:
            self._complete_join_if_ready(now)
        else:
            self._prepare_rebalance(now)

    def _prepare_rebalance(self, now: Now) -> None:
        if self.state is State.COMPLETING_REBALANCE:
            self._drop_assignments(now, ErrorCode.REBALANCE_IN_PROGRESS)
        self.unsynced.clear()
        self.sync_deadline = None
        initial = self.state is State.EMPTY
        self._transition(now, State.PREPARING_REBALANCE)
        if initial:  # rule 2
            delay = self.limits.initial_rebalance_delay_ms
            self._initial_delay = (delay, max(self._rebalance_timeout() - delay, 0))
            self.join_deadline = self._arm(now.mono_ms + delay)
        elif self._all_joined():
            self._complete_join(now)
        else:
            self.join_deadline = self._arm(now.mono_ms + self._rebalance_timeout())

    def _complete_join_if_ready(self, now: Now) -> None:
        """After a join, or when somebody left or expired: an initial rebalance still waits for its delay."""
        if self.state is State.PREPARING_REBALANCE and self._initial_delay is None and self._all_joined():
            self._complete_join(now)

    def _all_joined(self) -> bool:
        return self.joining == len(self.members) and not self.pending

    def _complete_join(self, now: Now) -> None:
        """Rule 1: begin the next generation with those that are here."""
        self.join_deadline = self._initial_delay = None
        self._newcomer = False
        for member in list(self.members.values()):
            if member.join_token is None and member.instance_id is None:
                self._forget(member.member_id)
        if self.members and not self._elect_joined_leader():
            # Only static members are left and none is back: wait until their sessions end.
            self.join_deadline = self._arm(now.mono_ms + max(self._rebalance_timeout(), 100))
            return
        self.generation += 1
        if not self.members:
            self.protocol, self.subscriptions = None, ()
            self._transition(now, State.EMPTY)
            self._store(None, {})
            return
        self.protocol = self._ballot.choose(self.members.values())
        self.subscriptions = tuple(member.metadata(self.protocol) for member in self.members.values())
        self._transition(now, State.COMPLETING_REBALANCE)
        for member in self.members.values():
            if member.join_token is not None:
                self._answer_join(member, self._generation_reply(member.join_token, member.member_id))
            self._expect_within(now, member, member.session_timeout_ms)
            member.is_new = False
        self.unsynced = set(self.members)
        self.sync_deadline = self._arm(now.mono_ms + self._rebalance_timeout())

    def _elect_joined_leader(self) -> bool:
        """The leader must be a member that has joined; the present one if it has. False: nobody has."""
        assert self.leader is not None
        if self.members[self.leader].join_token is not None:
            return True
        for member in self.members.values():
            if member.join_token is not None:
                self.leader = member.member_id
                return True
        return False

    def _drop_assignments(self, now: Now, error: ErrorCode) -> None:
        """The generation ends before its assignment was valid: parked syncs learn it."""
        for member in self.members.values():
            member.assignment = b""
            member.assigned_generation = -1
            if member.sync_token is not None:
                self._answer_sync(member, SyncReply(member.sync_token, error))
                self._expect_within(now, member, member.session_timeout_ms)

    def _assignment_stored(self, now: Now, what: _Assignment, error: ErrorCode) -> None:
        """Rule 3. If another rebalance began meanwhile, the assignment is of no interest any more."""
        if self.state is not State.COMPLETING_REBALANCE or what.generation != self.generation:
            return
        if error is not ErrorCode.NONE:
            self._drop_assignments(now, error)
            self._prepare_rebalance(now)
            return
        self._transition(now, State.STABLE)
        for member in self.members.values():
            member.assignment = what.by_member.get(member.member_id, b"")
            member.assigned_generation = self.generation
            if member.sync_token is not None:
                reply = SyncReply(
                    member.sync_token, ErrorCode.NONE, self.protocol_type, self.protocol, member.assignment
                )
                self._answer_sync(member, reply)
                self._expect_within(now, member, member.session_timeout_ms)

    def _swap_stored(self, now: Now, swap: _Swap, error: ErrorCode) -> None:
        owner = self.static_ids.get(swap.instance_id)
        if error is not ErrorCode.NONE:
            if owner == swap.new_id:
                member = self._swap_id(swap.instance_id, swap.new_id, swap.old_id)
                self._set_protocols(member, swap.protocols)
                member.session_timeout_ms = swap.session_timeout_ms
                member.rebalance_timeout_ms = swap.rebalance_timeout_ms
                if self.state is State.COMPLETING_REBALANCE:  # the leader assigns to an id that is gone
                    self._prepare_rebalance(now)
            self._effects.append(JoinReply(swap.token, error, ""))
            return
        if owner != swap.new_id:
            gone = ErrorCode.UNKNOWN_MEMBER_ID if owner is None else ErrorCode.FENCED_INSTANCE_ID
            self._effects.append(JoinReply(swap.token, gone, swap.new_id))
            return
        member = self.members[swap.new_id]
        self._expect_within(now, member, member.session_timeout_ms)
        if self.state is State.PREPARING_REBALANCE:  # begun meanwhile: it has joined, as the others do
            self._park_join(member, swap.token)
            self._complete_join_if_ready(now)
            return
        leads = self.leader == swap.new_id
        keeps_leading = leads and swap.can_skip
        reply = JoinReply(
            swap.token, ErrorCode.NONE, swap.new_id, self.generation, self.protocol_type, self.protocol,
            # An old client must not learn that it leads, or it would assign anew without a rebalance.
            leader=swap.old_leader if leads and not swap.can_skip else self.leader or "",
            members=self.joined_members() if keeps_leading else (),
            skip_assignment=keeps_leading,
        )  # fmt: skip
        self._effects.append(reply)

    # ---- deadlines ----------------------------------------------------------------------------------

    def _session_expired(self, now: Now, member: Member) -> None:
        if self.members.get(member.member_id) is not member or member.deadline is None:
            return
        if member.deadline > now.mono_ms:  # something earlier in this turn was a sign of life
            return
        if not member.is_new and (member.join_token is not None or member.sync_token is not None):
            member.deadline = None  # rule 5; set again when the request is answered
            return
        self._fail_parked(member, "", ErrorCode.UNKNOWN_MEMBER_ID)
        self._forget(member.member_id)
        if self.state is State.PREPARING_REBALANCE:
            self._complete_join_if_ready(now)
        else:
            self._prepare_rebalance(now)

    def _join_deadline_passed(self, now: Now) -> None:
        if self._initial_delay is not None:
            delay, remaining = self._initial_delay
            if self._newcomer and remaining > 0:
                self._newcomer = False
                again = min(self.limits.initial_rebalance_delay_ms, remaining)
                self._initial_delay = (again, max(remaining - delay, 0))
                self.join_deadline = self._arm(now.mono_ms + again)
                return
        self._complete_join(now)

    def _sync_deadline_passed(self, now: Now) -> None:
        """Rule 4."""
        self.sync_deadline = None
        if not self.unsynced:
            return
        for member_id in list(self.unsynced):
            self._forget(member_id)
        self._prepare_rebalance(now)

    def _rebalance_timeout(self) -> int:
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def _expect_within(self, now: Now, member: Member, timeout_ms: int) -> None:
        member.deadline = self._arm(now.mono_ms + timeout_ms)

    def _set_pending(self, member_id: str, deadline: int) -> None:
        check(member_id not in self.members, f"{self.group_id}: new id {member_id} is taken; not random?")
        self.pending[member_id] = self._arm(deadline)

    def _arm(self, deadline: int) -> int:
        self.wake_at = min(self.wake_at, deadline)
        return deadline

    # ---- leaves -------------------------------------------------------------------------------------

    def _transition(self, now: Now, target: State) -> None:
        check(target in TRANSITIONS[self.state], f"{self.group_id}: {self.state} may not become {target}")
        self.previous_state = self.state
        self.state = target
        self.state_since_ms = now.wall_ms

    def _member_error(self, member_id: str, instance_id: str | None) -> ErrorCode:
        if instance_id is not None:
            owner = self.static_ids.get(instance_id)
            if owner is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if owner != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def _sync_error(self, request: Sync) -> ErrorCode:
        if self.state is State.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        error = self._member_error(request.member_id, request.instance_id)
        if error is not ErrorCode.NONE:
            return error
        if request.generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        for said, ours in ((request.protocol_type, self.protocol_type), (request.protocol, self.protocol)):
            if said is not None and ours is not None and said != ours:
                return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return ErrorCode.NONE

    def _leave_one(self, leaving: Leaving) -> ErrorCode:
        member_id: str | None = leaving.member_id
        if not member_id:  # an administrator removes a static member by its name
            member_id = self.static_ids.get(leaving.instance_id) if leaving.instance_id is not None else None
            if member_id is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        elif self.pending.pop(member_id, None) is not None:
            return ErrorCode.NONE
        else:
            error = self._member_error(member_id, leaving.instance_id)
            if error is not ErrorCode.NONE:
                return error
        self._fail_parked(self.members[member_id], "", ErrorCode.UNKNOWN_MEMBER_ID)
        self._forget(member_id)
        return ErrorCode.NONE

    def _forget(self, member_id: str) -> None:
        self.pending.pop(member_id, None)
        self.unsynced.discard(member_id)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        waits = member.join_token is not None or member.sync_token is not None
        check(not waits, f"{member_id} leaves {self.group_id} with an unanswered request")
        self._ballot.remove(member.protocols)
        if member.instance_id is not None:
            self.static_ids.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def _update(self, member: Member, request: Join) -> None:
        self._set_protocols(member, request.protocols)
        member.session_timeout_ms = request.session_timeout_ms
        member.rebalance_timeout_ms = request.rebalance_timeout_ms

    def _set_protocols(self, member: Member, protocols: Protocols) -> None:
        self._ballot.remove(member.protocols)
        member.protocols = protocols
        self._ballot.add(protocols)

    def _synced(self, member: Member) -> None:
        self.unsynced.discard(member.member_id)
        if not self.unsynced:
            self.sync_deadline = None

    def _is_storing_assignment(self) -> bool:
        pending = (what for what in self._storing.values() if isinstance(what, _Assignment))
        return any(what.generation == self.generation for what in pending)

    def _store(self, what: _Assignment | _Swap | None, assignments: dict[str, bytes]) -> None:
        snapshot = self._snapshot(assignments)  # first: what fails is not waited for
        self._tickets += 1
        self._storing[self._tickets] = what
        self._effects.append(Store(self._tickets, snapshot))

    def _snapshot(self, assignments: dict[str, bytes]) -> Snapshot:
        members = tuple(
            SnapshotMember(
                m.member_id, m.instance_id, m.client_id, m.client_host, m.rebalance_timeout_ms,
                m.session_timeout_ms, m.metadata(self.protocol), assignments[m.member_id],
            )
            for m in self.members.values()
        )  # fmt: skip
        return Snapshot(
            self.protocol_type, self.generation, self.protocol, self.leader, self.state_since_ms, members
        )

    def _generation_reply(self, token: object, member_id: str) -> JoinReply:
        return JoinReply(
            token, ErrorCode.NONE, member_id, self.generation, self.protocol_type, self.protocol,
            leader=self.leader or "",
            members=self.joined_members() if member_id == self.leader else (),
        )  # fmt: skip

    def _answer_join(self, member: Member, reply: JoinReply) -> None:
        member.join_token = None
        self.joining -= 1
        self._effects.append(reply)

    def _answer_sync(self, member: Member, reply: SyncReply) -> None:
        member.sync_token = None
        self._effects.append(reply)

    def _fail_parked(self, member: Member, member_id: str, error: ErrorCode) -> None:
        if member.join_token is not None:
            self._answer_join(member, JoinReply(member.join_token, error, member_id))
        if member.sync_token is not None:
            self._answer_sync(member, SyncReply(member.sync_token, error))

    def _refuse(self, token: object, error: ErrorCode, member_id: str) -> list[Effect]:
        return [JoinReply(token, error, member_id)]

    def _take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects
