"""Random histories of one group: whatever clients, time and the log do, the promises hold.

Promises: the invariants of ``invariants.verify`` after every event; every parked request is answered
exactly once; generations only grow and all members of one learn the same leader and protocol; a member is
given what the leader assigned to it in that generation; a fenced member never commits; and with no more
clients the group becomes empty in bounded time.
"""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kproto.errors import ErrorCode
from kproto.handlers.groups.group import NEVER, Group
from kproto.handlers.groups.model import (
    Effect,
    GroupLimits,
    Join,
    JoinReply,
    Leaving,
    Now,
    Store,
    Sync,
    SyncReply,
)
from kproto.handlers.groups.states import State
from tests.groups.invariants import verify

CLIENTS = 5
PROTOCOLS = [
    (("range", b"1"),),
    (("range", b"2"), ("sticky", b"2")),
    (("sticky", b"3"), ("range", b"3")),
]


class GroupHistory(RuleBasedStateMachine):
    """Clients 0 and 1 are static; each client remembers what it was told and may act late or wrongly."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = GroupLimits(max_size=4, initial_rebalance_delay_ms=300, new_member_timeout_ms=20_000)
        self.group = Group("g", self.limits, 0)
        self.now = 0
        self.tokens = 0
        self.waiting: dict[int, int] = {}
        """Token -> client."""
        self.member_id = [""] * CLIENTS
        self.generation = [-1] * CLIENTS
        self.agreed: dict[int, tuple[str | None, str]] = {}
        """Generation -> protocol and leader, as first told to anybody."""
        self.assigned: dict[tuple[int, str], bytes] = {}
        self.stores: dict[int, Store] = {}
        self.stable_members: set[str] = set()
        self.replaced: set[tuple[str, str]] = set()
        self.highest = 0

    # ---- helpers ----

    def at(self) -> Now:
        return Now(self.now, 1_000_000 + self.now)

    def instance(self, client: int) -> str | None:
        return f"i{client}" if client < 2 else None

    def token(self, client: int) -> int:
        self.tokens += 1
        self.waiting[self.tokens] = client
        return self.tokens

    def take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Store):
                self.stores[effect.ticket] = effect
            else:
                assert isinstance(effect.token, int)
                client = self.waiting.pop(effect.token)  # KeyError: answered twice
                if isinstance(effect, JoinReply):
                    self.joined(client, effect)
                else:
                    self.synced(client, effect)

    def joined(self, client: int, reply: JoinReply) -> None:
        if reply.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id[client] = reply.member_id
        elif reply.error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.member_id[client] = ""
        elif reply.error is ErrorCode.NONE:
            self.member_id[client] = reply.member_id
            self.generation[client] = reply.generation
            agreed = self.agreed.setdefault(reply.generation, (reply.protocol, reply.leader))
            assert agreed[0] == reply.protocol
            assert not reply.members or reply.leader == reply.member_id

    def synced(self, client: int, reply: SyncReply) -> None:
        if reply.error is ErrorCode.NONE and self.member_id[client] in self.group.members:
            member = self.group.members[self.member_id[client]]
            assert reply.assignment == member.assignment

    def send_join(self, client: int, protocols: int, with_id: bool, version: int) -> None:
        join = Join(
            member_id=self.member_id[client] if with_id else "",
            instance_id=self.instance(client),
            new_id=f"c{client}-{self.tokens}",
            client_id=f"c{client}",
            client_host="/h",
            session_timeout_ms=1_000 * (client + 1),
            rebalance_timeout_ms=2_000,
            protocol_type="consumer",
            protocols=PROTOCOLS[protocols],
            id_required=version >= 4,
            can_skip_assignment=version >= 9,
        )
        owner = self.group.static_ids.get(f"i{client}")
        self.take(self.group.join(self.at(), join, self.token(client)))
        if owner is not None and self.group.static_ids.get(f"i{client}") not in (None, owner):
            self.replaced.add((f"i{client}", owner))

    # ---- what can happen ----

    @rule(client=st.integers(0, CLIENTS - 1), protocols=st.integers(0, 2), version=st.sampled_from([3, 5, 9]))
    def join(self, client: int, protocols: int, version: int) -> None:
        self.send_join(client, protocols, True, version)

    @rule(client=st.integers(0, CLIENTS - 1), version=st.sampled_from([3, 5, 9]))
    def restarted_client_joins(self, client: int, version: int) -> None:
        self.send_join(client, 1, False, version)

    @rule(client=st.integers(0, CLIENTS - 1))
    def sync(self, client: int) -> None:
        give = tuple((m, f"{m}@{self.generation[client]}".encode()) for m in self.group.members)
        request = Sync(
            self.member_id[client], self.instance(client), self.generation[client], None, None, give
        )
        self.take(self.group.sync(request, self.token(client)))

    @rule(client=st.integers(0, CLIENTS - 1))
    def heartbeat(self, client: int) -> None:
        error = self.group.heartbeat(
            self.at(), self.member_id[client], self.instance(client), self.generation[client]
        )
        if self.member_id[client] not in self.group.members:
            assert error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)

    @rule(client=st.integers(0, CLIENTS - 1), by_name=st.booleans())
    def leave(self, client: int, by_name: bool) -> None:
        who = Leaving("" if by_name else self.member_id[client], self.instance(client))
        errors, effects = self.group.leave(self.at(), [who])
        assert len(errors) == 1
        self.take(effects)

    @rule(client=st.integers(0, CLIENTS - 1))
    def commit(self, client: int) -> None:
        error = self.group.commit_error(
            self.member_id[client], self.instance(client), self.generation[client]
        )
        if error is ErrorCode.NONE and self.generation[client] >= 0:
            assert self.member_id[client] in self.group.members
            assert self.generation[client] == self.group.generation

    @rule(ms=st.sampled_from([1, 100, 500, 1_000, 3_000]))
    def time_passes(self, ms: int) -> None:
        end = self.now + ms
        turns = 0
        while self.group.wake_at <= end:
            self.now = max(self.now, self.group.wake_at)
            self.take(self.group.on_time(self.at()))
            verify(self.group)
            turns += 1
            assert turns < 1_000, "woken again and again without progress"
        self.now = end

    @precondition(lambda self: self.stores)
    @rule(which=st.integers(0, 5), ok=st.booleans())
    def store_ends(self, which: int, ok: bool) -> None:
        """Writes end in order; the log may refuse one."""
        store = self.stores.pop(min(self.stores))
        error = ErrorCode.NONE if ok else ErrorCode.NOT_COORDINATOR
        before = self.group.state
        self.take(self.group.on_stored(self.at(), store.ticket, error))
        for instance_id, member_id in list(self.replaced):
            if self.group.static_ids.get(instance_id) == member_id:  # a refused swap was undone
                self.replaced.discard((instance_id, member_id))
        if before is not State.STABLE and self.group.state is State.STABLE:
            for member in self.group.members.values():
                assert member.assignment == f"{member.member_id}@{self.group.generation}".encode()

    @rule()
    def restart(self) -> None:
        """The broker restarts: parked requests are gone with their connections."""
        snapshot = self.group.snapshot()
        if self.group.state is State.STABLE and not self.stores:
            self.waiting.clear()
            self.group = Group.restored("g", self.limits, self.at(), snapshot)
            assert self.group.snapshot() == snapshot

    # ---- what must hold ----

    @invariant()
    def parts_agree(self) -> None:
        verify(self.group)

    @invariant()
    def generations_grow(self) -> None:
        assert self.group.generation >= self.highest
        self.highest = self.group.generation

    @invariant()
    def fenced_members_cannot_commit(self) -> None:
        for instance_id, member_id in self.replaced:
            for generation in (self.group.generation, self.group.generation - 1):
                error = self.group.commit_error(member_id, instance_id, generation)
                empty_simple = generation < 0 and self.group.state is State.EMPTY
                assert error is not ErrorCode.NONE or empty_simple

    def teardown(self) -> None:
        """Nobody says anything any more: all is answered and the group empties."""
        for _ in range(1_000):
            while self.stores:
                store = self.stores.pop(min(self.stores))
                self.take(self.group.on_stored(self.at(), store.ticket, ErrorCode.NONE))
            if self.group.wake_at == NEVER:
                break
            self.now = max(self.now, self.group.wake_at)
            self.take(self.group.on_time(self.at()))
            verify(self.group)
        assert not self.waiting
        assert self.group.state is State.EMPTY
        assert self.group.is_quiet()


TestGroupHistory = GroupHistory.TestCase
TestGroupHistory.settings = settings(
    max_examples=200,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
