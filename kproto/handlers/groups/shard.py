"""The groups of one ``__consumer_offsets`` partition: state machines, offsets and their log together.

Everything that changes what is stored goes through the log first and is applied when it is durable, in log
order; so what is answered, what is in memory and what a reload finds agree. Only memberships run ahead of
the log, as the state machine says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Final

from kproto.clock import Clock
from kproto.errors import ErrorCode
from kproto.handlers.groups import records
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
from kproto.handlers.groups.offsets import (
    Committed,
    Offsets,
    expired,
    subscribed_topics,
)
from kproto.handlers.groups.offsets_log import WRITTEN, KeyedLog, Pair, runs, weight
from kproto.handlers.groups.records import GroupKey, OffsetKey
from kproto.handlers.groups.states import State
from kproto.handlers.groups.timers import Patience, Timers
from kproto.wire import WireError
from kproto.wire.data import CONSUMER_PROTOCOL

log = logging.getLogger(__name__)

TopicPartition = tuple[str, int]

LOAD_SLICE: Final = 200

_AS_COORDINATOR: Final = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""What a client of the group is told when the log refuses a write: errors it knows how to act on."""


@dataclass(slots=True)
class Entry:
    """One group with its offsets; ``scheduled_at`` belongs to the timers."""

    shard: Shard
    group: Group
    offsets: Offsets
    scheduled_at: int = NEVER
    committing: int = 0
    """Commits on their way to the log."""


class Shard:
    """See the module docstring. Requests may come once :meth:`load` has returned. ``term`` is the leader
    epoch in which the shard lives."""

    def __init__(
        self,
        log_: KeyedLog,
        clock: Clock,
        limits: GroupLimits,
        timers: Timers,
        commit_timeout_s: float,
        term: int = 0,
    ) -> None:
        self.term = term
        self.unloaded = False
        """The term is over: that no group is here says nothing any more."""
        self.entries: dict[str, Entry] = {}
        self.log = log_
        self._clock = clock
        self._limits = limits
        self._timers = timers
        self._patience = Patience(commit_timeout_s, ErrorCode.COORDINATOR_NOT_AVAILABLE)

    # ---- loading and unloading ----------------------------------------------------------------------

    async def load(self, topic_id: Callable[[str], bytes | None]) -> None:
        """Read the partition. Offsets of topics that are gone (``topic_id`` knows no or another id) were
        missed by :meth:`drop_topics` because of a crash; they are deleted now."""
        await self.log.load()
        for i, (key, stored) in enumerate(list(self.log.live.items())):
            if i % LOAD_SLICE == LOAD_SLICE - 1:
                await asyncio.sleep(0)
            try:
                self._restore(key, stored.value)
            except WireError as error:
                log.warning("__consumer_offsets-%d: unreadable record kept: %s", self.log.index, error)
        await self._begin_sessions()
        self._delete(
            [
                (group_id, topic, partition)
                for group_id, entry in self.entries.items()
                for topic, partition, committed in entry.offsets.all()
                if not _is_of(committed, topic_id(topic))
            ],
            None,
        )

    def _restore(self, key: bytes, value: bytes) -> None:
        what = records.parse_key(key)
        if isinstance(what, GroupKey):
            group = Group.restored(what.group, self._limits, self._now(), records.parse_group_value(value))
            old = self.entries.get(what.group)
            entry = Entry(self, group, old.offsets if old is not None else Offsets())
            self.entries[what.group] = entry
        elif isinstance(what, OffsetKey):
            offset = records.parse_offset_value(value)
            self.obtain(what.group).offsets.put(what.topic, what.partition, offset)

    async def _begin_sessions(self) -> None:
        """Only when everything is read: until then nobody hears the members' heartbeats."""
        for i, entry in enumerate(list(self.entries.values())):
            if i % LOAD_SLICE == LOAD_SLICE - 1:
                await asyncio.sleep(0)
            entry.group.begin_sessions(self._now())
            self._timers.schedule(entry, entry.group.wake_at)

    def unload(self, error: ErrorCode) -> None:
        """This broker does not coordinate these groups any more: answer whatever waits with ``error``."""
        self.unloaded = True
        self.log.close()
        self._patience.close(error)
        for entry in self.entries.values():
            if entry.group.state is not State.DEAD:
                self._run(entry, entry.group.kill(self._now(), error))
            self._timers.forget(entry)
            entry.offsets = Offsets()
        self.entries.clear()

    # ---- membership ---------------------------------------------------------------------------------

    def find(self, group_id: str) -> Entry | None:
        return self.entries.get(group_id)

    def obtain(self, group_id: str) -> Entry:
        """The group, created empty when there is none."""
        entry = self.entries.get(group_id)
        if entry is None:
            group = Group(group_id, self._limits, self._clock.wall_ms())
            entry = self.entries[group_id] = Entry(self, group, Offsets())
        return entry

    def join(self, group_id: str, request: Join) -> asyncio.Future[JoinReply]:
        answer: asyncio.Future[JoinReply] = asyncio.get_running_loop().create_future()
        entry = self.entries.get(group_id)
        if entry is None:
            if request.member_id:
                answer.set_result(JoinReply(None, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id))
                return answer
            entry = self.obtain(group_id)
        self._run(entry, entry.group.join(self._now(), request, answer))
        return answer

    def sync(self, group_id: str, request: Sync) -> asyncio.Future[SyncReply]:
        answer: asyncio.Future[SyncReply] = asyncio.get_running_loop().create_future()
        entry = self.entries.get(group_id)
        if entry is None:
            answer.set_result(SyncReply(None, ErrorCode.UNKNOWN_MEMBER_ID))
        else:
            self._run(entry, entry.group.sync(request, answer))
        return answer

    def heartbeat(self, group_id: str, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
        entry = self.entries.get(group_id)
        if entry is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = entry.group.heartbeat(self._now(), member_id, instance_id, generation)
        self._timers.schedule(entry, entry.group.wake_at)
        return error

    def leave(
        self, group_id: str, leaving: Sequence[Leaving]
    ) -> tuple[list[ErrorCode], asyncio.Future[ErrorCode] | None]:
        """One error per member; when the last one left, also what its record's write ends with (as in Apache
        Kafka): whoever loads the group without it would wait for the session of a member that had said
        goodbye."""
        entry = self.entries.get(group_id)
        if entry is None:
            return [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving), None
        errors, effects = entry.group.leave(self._now(), leaving)
        stores = any(isinstance(effect, Store) for effect in effects)
        stored = self._patience.new_answer() if stores else None
        self._run(entry, effects, stored)
        return errors, stored

    def wake(self, entry: Entry) -> None:
        """The moment ``entry`` asked to be woken at has come."""
        if self.entries.get(entry.group.group_id) is entry:
            self._run(entry, entry.group.on_time(self._now()))

    def _run(
        self, entry: Entry, effects: list[Effect], stored: asyncio.Future[ErrorCode] | None = None
    ) -> None:
        for effect in effects:
            if isinstance(effect, Store):
                self._store(entry, effect, stored)
            else:
                answer = effect.token
                assert isinstance(answer, asyncio.Future)
                if not answer.done():  # else the client is gone
                    # Knowing each other, both would stay until a collection, with all that members said.
                    answer.set_result(effect._replace(token=None))
        self._timers.schedule(entry, entry.group.wake_at)

    def _store(self, entry: Entry, store: Store, stored: asyncio.Future[ErrorCode] | None) -> None:
        key = records.group_key(entry.group.group_id)

        def done(error: ErrorCode) -> None:
            code = _AS_COORDINATOR.get(error, error)
            if entry.group.state is not State.DEAD:
                self._run(entry, entry.group.on_stored(self._now(), store.ticket, code))
            if stored is not None and not stored.done():
                stored.set_result(code)

        try:
            value = records.group_value(store.snapshot)
        except Exception:  # for want of memory, say: the group would wait for this store for ever
            log.exception("group %r cannot be stored", entry.group.group_id)
            asyncio.get_running_loop().call_soon(done, ErrorCode.KAFKA_STORAGE_ERROR)
            return
        self.log.put([(key, value)], done)

    # ---- offsets ------------------------------------------------------------------------------------

    def check_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """May this member commit? If so, it also counts as a sign of life. GROUP_ID_NOT_FOUND: no group."""
        entry = self.entries.get(group_id)
        if entry is None:
            return ErrorCode.GROUP_ID_NOT_FOUND if generation >= 0 else ErrorCode.NONE
        error = entry.group.commit_error(member_id, instance_id, generation)
        if error is ErrorCode.NONE and member_id:
            entry.group.touch(self._now(), member_id)
            self._timers.schedule(entry, entry.group.wake_at)
        return error

    def commit(
        self, group_id: str, offsets: Sequence[tuple[str, int, Committed]]
    ) -> asyncio.Future[ErrorCode]:
        """Write offsets that :meth:`check_commit` allowed; the answer comes when they are durable, or is
        COORDINATOR_NOT_AVAILABLE when that takes longer than ``commit_timeout_s`` (they may become durable
        later)."""
        pairs: list[Pair] = [
            (records.offset_key(group_id, topic, partition), records.offset_value(committed))
            for topic, partition, committed in offsets
        ]
        answer = self._patience.new_answer()
        entry = self.obtain(group_id)
        entry.committing += 1

        def stored(error: ErrorCode) -> None:
            entry.committing -= 1
            if error in WRITTEN:
                table = self.obtain(group_id).offsets  # a deletion may have come in between
                for topic, partition, committed in offsets:
                    table.put(topic, partition, committed)
            if not answer.done():
                answer.set_result(_AS_COORDINATOR.get(error, error))

        self.log.put(pairs, stored)
        return answer

    def unsettled(self, group_id: str) -> set[TopicPartition]:
        """Offsets of a group that are on their way to the log: who asks for them waits."""
        return {(topic, partition) for _, topic, partition in self._underway(records.offsets_of(group_id))}

    def settled(self) -> asyncio.Future[ErrorCode]:
        """NONE when everything written so far is durable or refused; COORDINATOR_NOT_AVAILABLE when that
        takes longer than ``commit_timeout_s``, or what `unload` was told."""
        settled = self._patience.new_answer()
        self.log.when_idle(settled)
        return settled

    # ---- deleting -----------------------------------------------------------------------------------

    def delete_group(self, group_id: str) -> ErrorCode | asyncio.Future[ErrorCode]:
        """DeleteGroups for one group: only without members. COORDINATOR_NOT_AVAILABLE when that takes longer
        than ``commit_timeout_s``: it may be gone later. What is deleted is decided now: no commit behind it.
        """
        entry = self.entries.get(group_id)
        if entry is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if entry.group.state is not State.EMPTY:
            return ErrorCode.NON_EMPTY_GROUP
        keys = [(group_id, topic, partition) for topic, partition in self._known_offsets(group_id)]
        return self._deleted(keys, group_id)

    def delete_error(self, group_id: str) -> ErrorCode:
        """May offsets of this group be deleted one by one? As OffsetDelete has it."""
        entry = self.entries.get(group_id)
        if entry is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        group = entry.group
        if group.state is not State.EMPTY and group.protocol_type != CONSUMER_PROTOCOL:
            return ErrorCode.NON_EMPTY_GROUP
        return ErrorCode.NONE

    def subscribed(self, group_id: str) -> set[str] | None:
        """The topics that any member of a consumer group subscribes to, none of another group; None when they
        cannot be known."""
        group = self.entries[group_id].group
        return subscribed_topics(group) if group.protocol_type == CONSUMER_PROTOCOL else set()

    def delete_offsets(
        self, group_id: str, offsets: Sequence[TopicPartition]
    ) -> ErrorCode | asyncio.Future[ErrorCode]:
        """Delete those of ``offsets`` that exist now. COORDINATOR_NOT_AVAILABLE as in `delete_group`."""
        known = self._known_offsets(group_id)
        keys = [(group_id, topic, partition) for topic, partition in offsets if (topic, partition) in known]
        return self._deleted(keys, None) if keys else ErrorCode.NONE

    def _deleted(
        self, offsets: Sequence[tuple[str, str, int]], group_id: str | None
    ) -> asyncio.Future[ErrorCode]:
        """What a client is told of what is deleted for it."""
        answer = self._patience.new_answer()
        self._delete(offsets, group_id, answer)
        return answer

    def drop_topics(self, names: Set[str]) -> None:
        """Topics were deleted: their offsets mean nothing any more."""
        keys = {
            (group_id, name, partition)
            for group_id, entry in self.entries.items()
            for name in entry.offsets.topics.keys() & names
            for partition in entry.offsets.topics[name]
        }
        keys.update(key for key in self._underway() if key[1] in names)
        self._delete(sorted(keys), None)

    def expire(self, group_id: str, retention_ms: int) -> None:
        """Forget the group's offsets that are past their retention, and the group when nothing is left.

        Not while it commits: what is about to be new is no older than what is durable, and a tombstone would
        come behind it.
        """
        entry = self.entries.get(group_id)
        if entry is None or entry.committing:
            return
        past = expired(entry.group, entry.offsets, self._clock.wall_ms(), retention_ms)
        total = sum(len(partitions) for partitions in entry.offsets.topics.values())
        forget = len(past) == total and entry.group.is_quiet()
        if past or forget:
            keys = [(group_id, topic, partition) for topic, partition in past]
            self._delete(keys, group_id if forget else None)

    def _known_offsets(self, group_id: str) -> set[TopicPartition]:
        """Offsets that are there or on their way to the log."""
        known = {(topic, partition) for topic, partition, _ in self.entries[group_id].offsets.all()}
        return known | self.unsettled(group_id)

    def _underway(self, prefix: bytes = b"") -> list[tuple[str, str, int]]:
        keys = (records.parse_key(key) for key in self.log.keys_underway(prefix))
        return [(key.group, key.topic, key.partition) for key in keys if isinstance(key, OffsetKey)]

    def _delete(
        self,
        offsets: Sequence[tuple[str, str, int]],
        group_id: str | None,
        answer: asyncio.Future[ErrorCode] | None = None,
    ) -> None:
        """Write tombstones for ``offsets`` and, last, for the group, in as many writes as that takes; apply
        each when it is durable. ``answer`` is NONE when all of them are."""
        failed: list[ErrorCode] = []
        asked = answer is not None
        last: list[Pair] = [] if group_id is None else [(records.group_key(group_id), None)]
        room = self.log.room - sum(weight(*pair) for pair in last)
        pairs: list[Pair] = [(records.offset_key(*offset), None) for offset in offsets]
        *firsts, rest = runs((weight(*pair) for pair in pairs), room)
        for run in firsts:
            self._write_tombstones(offsets[run], pairs[run], None, failed, None, asked)
        self._write_tombstones(offsets[rest], pairs[rest] + last, group_id, failed, answer, asked)

    def _write_tombstones(
        self,
        offsets: Sequence[tuple[str, str, int]],
        pairs: Sequence[Pair],
        group_id: str | None,
        failed: list[ErrorCode],
        answer: asyncio.Future[ErrorCode] | None,
        asked: bool,
    ) -> None:
        """A client that ``asked`` for this and is refused, for too few copies have it, asks again."""

        def done(error: ErrorCode) -> None:
            if error is ErrorCode.NONE or (error in WRITTEN and not asked):
                for group, topic, partition in offsets:
                    if (entry := self.entries.get(group)) is not None:
                        entry.offsets.drop(topic, partition)
                if group_id is not None:
                    self._forget(group_id, asked=answer is not None)
            if error is not ErrorCode.NONE:
                failed.append(error)
            if answer is not None and not answer.done():
                told = failed[0] if failed else ErrorCode.NONE
                answer.set_result(_AS_COORDINATOR.get(told, told))

        if pairs:
            self.log.put(pairs, done)

    def _forget(self, group_id: str, *, asked: bool) -> None:
        """Its tombstone is durable; a group somebody joined meanwhile lives on and is stored anew later. When
        a client ``asked`` for this, who only has a member id does not count: as in Apache Kafka it is unknown
        then, and asks for another one."""
        entry = self.entries.get(group_id)
        if entry is None or entry.offsets:
            return
        if entry.group.is_quiet() or (asked and entry.group.is_memberless()):
            entry.group.kill(self._now(), ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self._timers.forget(entry)
            del self.entries[group_id]

    def _now(self) -> Now:
        return Now(int(self._clock.monotonic() * 1000), self._clock.wall_ms())


def _is_of(committed: Committed, topic_id: bytes | None) -> bool:
    """Is this an offset of the topic that has ``topic_id`` now (None: there is none of its name)?"""
    return topic_id is not None and committed.is_of(topic_id)
