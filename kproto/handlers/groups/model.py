"""Values that go into and come out of the group state machine. Immutable, except :class:`Member`.

Times: ``mono_ms`` is monotonic (deadlines), ``wall_ms`` is milliseconds since the epoch (stored stamps).
A *token* is whatever the shell hands in with a request that may be answered later; it comes back in the
reply effect, exactly once.
"""

from __future__ import annotations

from typing import NamedTuple

from kproto.errors import ErrorCode

Protocols = tuple[tuple[str, bytes], ...]
"""A member's protocols in its order of preference: name, opaque metadata."""


class Now(NamedTuple):
    """The time of an event."""

    mono_ms: int
    wall_ms: int


class GroupLimits(NamedTuple):
    """The broker settings that the state machine obeys. ``new_member_timeout_ms``: how long a join of a
    member that does not know its id yet may stay parked (such a member cannot send heartbeats)."""

    max_size: int
    initial_rebalance_delay_ms: int
    new_member_timeout_ms: int = 300_000


class Join(NamedTuple):
    """A JoinGroup request. ``new_id`` is the member id to use if this member needs one."""

    member_id: str
    instance_id: str | None
    new_id: str
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    id_required: bool
    """v4+: a new dynamic member is told its id first and joins with the second request (KIP-394)."""
    can_skip_assignment: bool
    """v9+: a returning static leader can be told to keep the assignment (KIP-814)."""


class Sync(NamedTuple):
    """A SyncGroup request; ``assignments`` is empty except from the leader."""

    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    assignments: tuple[tuple[str, bytes], ...]


class Leaving(NamedTuple):
    """One member of a LeaveGroup request: by member id, or by instance id with an empty member id."""

    member_id: str
    instance_id: str | None


class JoinedMember(NamedTuple):
    """What the leader learns about a member."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinReply(NamedTuple):
    """Effect: answer the join that came with ``token``."""

    token: object
    error: ErrorCode
    member_id: str
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class SyncReply(NamedTuple):
    """Effect: answer the sync that came with ``token``."""

    token: object
    error: ErrorCode
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class Store(NamedTuple):
    """Effect: write ``snapshot`` to the log, then report with ``Group.on_stored(now, ticket, error)``."""

    ticket: int
    snapshot: Snapshot


Effect = JoinReply | SyncReply | Store


class SnapshotMember(NamedTuple):
    """A member as the log keeps it."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class Snapshot(NamedTuple):
    """What survives a restart: one generation with its members' assignments."""

    protocol_type: str | None
    generation: int
    protocol: str | None
    leader: str | None
    state_since_ms: int
    """Wall time of the last state change; -1 when unknown (old records)."""
    members: tuple[SnapshotMember, ...]


class Member:
    """One member of a group. Only :class:`kproto.handlers.groups.group.Group` changes it."""

    __slots__ = (
        "assigned_generation",
        "assignment",
        "client_host",
        "client_id",
        "deadline",
        "instance_id",
        "is_new",
        "join_token",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "sync_token",
    )

    def __init__(self, member_id: str, join: Join) -> None:
        self.member_id = member_id
        self.instance_id = join.instance_id
        self.client_id = join.client_id
        self.client_host = join.client_host
        self.session_timeout_ms = join.session_timeout_ms
        self.rebalance_timeout_ms = join.rebalance_timeout_ms
        self.protocols: Protocols = join.protocols
        self.assignment = b""
        self.assigned_generation = -1
        """The generation ``assignment`` is from; equals the group's while the group is stable."""
        self.is_new = True
        """Never yet part of a generation; its parked join does not excuse it from its deadline."""
        self.join_token: object | None = None
        self.sync_token: object | None = None
        self.deadline: int | None = None
        """Monotonic ms at which it is thrown out unless heard of; None while a parked request excuses it."""

    def metadata(self, protocol: str | None) -> bytes:
        """What it said under ``protocol``; empty when it never named it."""
        for name, data in self.protocols:
            if name == protocol:
                return data
        return b""

    def vote(self, candidates: set[str]) -> str | None:
        """Its most preferred protocol among ``candidates``."""
        for name, _ in self.protocols:
            if name in candidates:
                return name
        return None
