"""Clients of consumer groups, which speak with whole coordinators through their handlers.

In some seeds there are some groups of members, which join, sync, beat, commit, fetch, leave or vanish, and
say what must be refused; one of a loner, who commits without being a member, and deletes offsets and its
group; and perhaps one for a topic that comes and goes. Meanwhile leaders of the offsets topic are moved, too.
What may be told to them is in `group_checks`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import kproto.handlers.groups.answers
import kproto.handlers.groups.coordinator
import kproto.handlers.groups.offsets_log
import kproto.handlers.groups.partition_log
import kproto.handlers.groups.shard
from kproto.controller import NewTopic, TopicRef
from kproto.controller.names import OFFSETS_TOPIC
from kproto.controller.topics import offsets_topic
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import RequestContext
from kproto.handlers.groups import (
    delete_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)
from kproto.handlers.groups.records import partition_of
from kproto.wire.generated.delete_groups import DeleteGroupsRequest
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.heartbeat import HeartbeatRequest
from kproto.wire.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kproto.wire.generated.leave_group import LeaveGroupRequest, MemberIdentity
from kproto.wire.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproto.wire.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kproto.wire.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from .clients import Clients, Line, Unanswered, answered, services_of
from .group_checks import NOTHING, Book, Order, Slot, Terms
from .moves import Moves
from .patience import SETTLE_SECONDS

if TYPE_CHECKING:
    from kproto.broker import Broker
    from kproto.controller import Controller

    from .plan import Plan
    from .world import World

Place = tuple[str, int]
NONE = ErrorCode.NONE
FLEETING = "fleeting"
REFUSED = (
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
"""After these it was not done. After others nobody knows."""
SESSIONS_MS = (700, 3000, 10_000)
REBALANCES_MS = (300, 1000)
"""Shorter than clients wait for an answer."""
SMALL: tuple[tuple[Any, str, tuple[Any, ...]], ...] = (
    (kproto.handlers.groups.offsets_log, "GARBAGE_BYTES", (400, 2_000, 10_000)),
    (kproto.handlers.groups.offsets_log, "BATCH_BYTES", (300, 2_000)),
    (kproto.handlers.groups.offsets_log, "LOAD_SLICE_RECORDS", (1, 3)),
    (kproto.handlers.groups.partition_log, "READ_BYTES", (300, 2_000)),
    (kproto.handlers.groups.shard, "LOAD_SLICE", (1, 3)),
    (kproto.handlers.groups.coordinator, "LOAD_RETRY_S", (0.05, 0.3)),
    (kproto.handlers.groups.coordinator, "LOAD_PATIENCE_S", (0.1, 0.5)),
    (kproto.handlers.groups.coordinator, "EXPIRY_SLICE", (1, 2)),
)
"""Sizes and times of coordinators that are small in some seeds with groups; garbage in all of them."""
AT_REST = 4.0
"""So many times slower they are when nothing happens any more."""


def places(world: World) -> list[tuple[Any, str, Any]]:
    """For `parts.installed`: member ids of this seed; and as far as there are groups, what is small."""
    random = Random(f"member ids {world.seed}")
    found: list[tuple[Any, str, Any]] = [
        (kproto.handlers.groups.answers, "os", SimpleNamespace(urandom=random.randbytes))
    ]
    for module, name, values in SMALL if world.plan.groups else ():
        small, value = random.random() < 0.4, random.choice(values)
        if small or name == "GARBAGE_BYTES":
            found.append((module, name, value))
    return found


def topic_of_offsets(plan: Plan, controller: Controller) -> NewTopic:
    """As brokers make it. Where all may lose their power what is acknowledged has to be synced."""
    new = offsets_topic(controller.image, controller._settings)
    synced = {"flush.messages": "1"} if plan.kind == "synced" else {}
    return new._replace(configs={**(new.configs or {}), **synced})


class Groups:
    """All of one world."""

    def __init__(self, world: World, clients: Clients) -> None:
        self.world = world
        self.clients = clients
        self.random = Random(f"groups {world.seed}")
        self.members: list[Asker] = []
        for number in range(world.plan.groups):
            book = self._book(f"group {number}")
            for _ in range(self.random.choice((1, 2, 3))):
                self.members.append(Member(self, book))
        self.members.append(Loner(self, self._book("loner")))
        if self.random.random() < 0.5:
            self.members.append(Fleeting(self, Book(world, "fleeting", {})))

    def _book(self, name: str) -> Book:
        slots = {
            (topic.name, index): Slot(self.world, f"{topic.name}-{index} of {name}")
            for topic in self.world.plan.topics
            for index in range(topic.partitions)
        }
        return Book(self.world, name, slots)

    async def run(self) -> None:
        """Until the clients stop."""
        await asyncio.gather(self._move(), *(member.run() for member in self.members))

    async def _move(self) -> None:
        """Other leaders for the offsets, until the faults end."""
        world = self.world
        end = world.loop.now + world.plan.seconds
        mover, pace = Moves(world), self.random.choice((0.5, 2.0))
        while world.plan.moves and world.loop.now < end:
            await asyncio.sleep(2 * pace * self.random.random())
            acting = world.acting()
            if acting is not None:
                target = (self.random.choice((0, 1)), self.random.choice(list(world.nodes)))
                acting[0].spawn(mover._lead(acting[1], OFFSETS_TOPIC, [target]))

    async def rest(self) -> None:
        """G4: everybody can do all there is to be done, now that nothing is broken."""
        until = self.world.loop.now + SETTLE_SECONDS
        await asyncio.gather(*(member.settle(until) for member in self.members))
        self.world.look()
        self.world.count("groups: at rest")

    async def end(self) -> None:
        """Nothing is left of them."""
        for name in (FLEETING, OFFSETS_TOPIC):
            while name in self.world.image.topics:
                acting = self.world.acting()
                if acting is not None:
                    with contextlib.suppress(KafkaError, Unanswered):
                        work = partial(acting[1].delete_topics, [TopicRef(name)])
                        await self.clients.ask(acting[0].node, lambda _, work=work: work())  # type: ignore[misc]
                await asyncio.sleep(0.1)
                self.world.look()


def _terms_of(broker: Broker, group: str) -> int:
    """The term in which a broker coordinates a group."""
    services = services_of(broker)
    topic = services.image().topics.get(OFFSETS_TOPIC)
    return -1 if topic is None else services.groups._terms.get(partition_of(group, topic.partitions), -1)


class Asker:
    """Somebody with one connection, who asks one thing after the other."""

    def __init__(self, groups: Groups, book: Book) -> None:
        self.groups = groups
        self.world = groups.world
        self.random = groups.random
        self.book = book
        self.line: Line = {}
        self.coordinator = -1
        self.trouble = "nothing was asked"
        """What went wrong last."""
        self.settled = False

    async def run(self) -> None:
        """Do something every now and then, until the clients stop."""
        while self.groups.clients.running:
            slow = AT_REST if self.world.pace >= 4.0 else 1.0
            await asyncio.sleep(0.7 * slow * self.random.random())
            if await self._ready():
                await self._try(self.random.choice(self._doings()))

    async def settle(self, until: float) -> None:
        """Do all there is without trouble, and be there until the others of the group have done so."""
        fellows = [one for one in self.groups.members if one.book is self.book]
        while not all(one.settled for one in fellows):
            if self.world.loop.now > until:
                if not self.settled:
                    self.world.failed(
                        f"G4: {self.book.name}: {SETTLE_SECONDS:.0f} s at rest, and {self.trouble}"
                    )
                return
            self.settled = self.settled or await self._all_done()
            await asyncio.sleep(0.1)
            if await self._ready():
                await self._try(self._beat)

    async def _all_done(self) -> bool:
        """Whether all of it went well."""
        return await self._ready() and await self._try(self._commit) and await self._try(self._fetch)

    async def _ready(self) -> bool:
        """Know the coordinator; be a member."""
        return self.coordinator >= 0 or await self._try(self._find)

    async def _try(self, doing: Callable[[], Awaitable[bool]]) -> bool:
        try:
            return await doing()
        except (Unanswered, KafkaError) as error:
            self.coordinator = -1
            self.trouble = f"{doing.__name__}: {error}"
            return False

    async def _ask(self, module: ModuleType, version: int, request: Any, node: int = -1) -> tuple[Any, Terms]:
        """What a handler of the coordinator, or of some node, answers."""

        async def work(broker: Broker) -> tuple[Any, Terms]:
            context = RequestContext(version, 0, "sim", "client", services_of(broker))
            before = _terms_of(broker, self.book.name)
            answer = await answered(module.HANDLER.handle(context, request))
            return answer, Terms(before, _terms_of(broker, self.book.name))

        number = self.coordinator if node < 0 else node
        found: tuple[Any, Terms] = await self.groups.clients.ask(number, work, self.line)
        return found

    async def _find(self) -> bool:
        node = self.random.choice(list(self.world.nodes))
        request = FindCoordinatorRequest(coordinator_keys=[self.book.name])
        answer, _ = await self._ask(find_coordinator, 4, request, node)
        (found,) = answer.coordinators
        self.coordinator = found.node_id
        return self._is_good(found.error_code, "find")

    def _is_good(self, code: int, what: str) -> bool:
        """Whether it is no error; what a client does at one."""
        if code == NONE:
            self.world.count(f"groups: {what}")
            return True
        self.trouble = f"{what}: {ErrorCode(code).name}"
        self.world.count(f"groups: {self.trouble}")
        if code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE):
            self.coordinator = -1
        return False

    def _doings(self) -> tuple[Callable[[], Awaitable[bool]], ...]:
        raise NotImplementedError

    async def _beat(self) -> bool:
        return True

    async def _commit(self) -> bool:
        raise NotImplementedError

    # Offsets

    async def _commit_for(
        self,
        some: list[Place],
        generation: int,
        member: str,
        instance: str | None = None,
        *,
        sound: bool = True,
    ) -> ErrorCode:
        """Commit for these places, as a member or as none (-1); the group's error. If not ``sound`` it must
        be refused."""
        book, floors = self.book, self.book.generations.now()
        sent: dict[Place, tuple[Order, int]] = {}
        for place in some:
            number = book.next_number()
            sent[place] = (max(generation, 0), number), number
            book.slots[place].sent(*sent[place])
        request = OffsetCommitRequest(
            group_id=book.name,
            generation_id_or_member_epoch=generation,
            member_id=member,
            group_instance_id=instance,
            topics=[
                OffsetCommitRequestTopic(
                    name=name,
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=index, committed_offset=sent[name, index][1]
                        )
                    ],
                )
                for name, index in some
            ],
        )
        answer, terms = await self._ask(offset_commit, 9, request)
        codes = {
            (topic.name, part.partition_index): ErrorCode(part.error_code)
            for topic in answer.topics
            for part in topic.partitions
        }
        for place, code in codes.items():
            if code is NONE:
                book.slots[place].acked(sent[place][0], terms)
                book.of_generation(max(generation, 0), terms, floors, "a commit")
            elif code in REFUSED:
                book.slots[place].refused(*sent[place])
            if code is NONE and not sound:
                self.world.failed(
                    f"G2: {member} commits to {book.name} in generation {generation}, term {terms}"
                )
        return max(codes.values(), key=lambda code: code is not NONE)

    async def _fetch(self) -> bool:
        """All offsets of the group, by name or not."""
        names: dict[str, list[int]] = {}
        for name, index in self.book.slots:
            names.setdefault(name, []).append(index)
        wanted: Any = [
            OffsetFetchRequestTopics(name=name, partition_indexes=some) for name, some in names.items()
        ]
        group = OffsetFetchRequestGroup(
            group_id=self.book.name, topics=None if self.random.random() < 0.3 else wanted
        )
        request = OffsetFetchRequest(groups=[group], require_stable=self.random.random() < 0.5)
        floors = {place: slot.floors.now() for place, slot in self.book.slots.items()}
        answer, terms = await self._ask(offset_fetch, 8, request)
        (found,) = answer.groups
        if not self._is_good(found.error_code, "fetch"):
            return False
        told = dict.fromkeys(self.book.slots, NOTHING)
        for topic in found.topics:
            for part in topic.partitions:
                if part.error_code == NONE:
                    told[topic.name, part.partition_index] = part.committed_offset
                else:
                    self.world.count(f"groups: offset: {ErrorCode(part.error_code).name}")
                    del told[topic.name, part.partition_index]
        for place, offset in told.items():
            self.book.slots[place].told(offset, terms, floors[place])
        return len(told) == len(self.book.slots)


class Member(Asker):
    """A member of a group, as a consumer of Java's is one; a static one has a name (``instance``), under
    which it comes back with another id."""

    def __init__(self, groups: Groups, book: Book) -> None:
        super().__init__(groups, book)
        self.id = ""
        self.generation = -1
        self.mine: list[Place] = []
        self.session_ms = self.random.choice(SESSIONS_MS)
        self.rebalance_ms = self.random.choice(REBALANCES_MS)
        self.version = self.random.choice((3, 9, 9))
        self.instance = f"static {len(groups.members)}" if self.random.random() < 0.25 else None
        self.former = ""
        self.last = ""
        """The id that it had before the one that it got last, and that."""
        self.first = not any(one.book is book for one in groups.members)

    def _doings(self) -> tuple[Callable[[], Awaitable[bool]], ...]:
        if self.random.random() < 0.05:
            return (self._leave, self._vanish, self._again)
        return (self._beat, self._beat, self._commit, self._commit, self._fetch, self._lie)

    async def _ready(self) -> bool:
        if not await super()._ready():
            return False
        if not self.book.begun:
            if self.first:
                await self._try(self._begin)
            return False
        return self.generation >= 0 or await self._try(self._join)

    async def _begin(self) -> bool:
        """Offsets of all there is, from somebody who is no member: a group that has none and is empty may be
        forgotten, and with it its generations."""
        self.book.begun = self._is_good(await self._commit_for(list(self.book.slots), -1, ""), "begin")
        return self.book.begun

    async def _join(self) -> bool:
        request = JoinGroupRequest(
            group_id=self.book.name,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.id,
            group_instance_id=self.instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        floors = self.book.generations.now()
        answer, terms = await self._ask(join_group, self.version, request)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.id = request.member_id = answer.member_id
            answer, terms = await self._ask(join_group, self.version, request)
        if not self._is_member(answer.error_code, "join"):
            return False
        self._is_called(answer.member_id)
        self.book.of_generation(answer.generation_id, terms, floors, "a join")
        self.book.led(answer.generation_id, answer.leader, terms)
        given: dict[str, bytes] = {}
        if answer.leader == self.id and not answer.skip_assignment:
            members = [member.member_id for member in answer.members]
            given = self.book.plan(answer.generation_id, members)
        if self.random.random() < 0.1:
            await asyncio.sleep(self.random.random())
        return await self._sync(answer.generation_id, given)

    async def _sync(self, generation: int, given: dict[str, bytes]) -> bool:
        request = SyncGroupRequest(
            group_id=self.book.name,
            generation_id=generation,
            member_id=self.id,
            group_instance_id=self.instance,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=member, assignment=what)
                for member, what in given.items()
            ],
        )
        floors = self.book.generations.now()
        answer, terms = await self._ask(sync_group, 5, request)
        if not self._is_member(answer.error_code, "sync"):
            return False
        self.book.of_generation(generation, terms, floors, "a sync")
        self.mine = self.book.synced(generation, self.id, answer.assignment, terms, self.instance)
        self.generation = generation
        return True

    def _is_called(self, member: str) -> None:
        """Who is in the group now; the id before that is nobody's any more."""
        if member != self.last:
            self.world.count("groups: static, back with another id", bool(self.instance and self.last))
            self.former, self.last = self.last, member
        self.id = member

    def _is_member(self, code: int, what: str) -> bool:
        """The same as `_is_good`; whoever is no member any more begins anew."""
        if code in (
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.GROUP_ID_NOT_FOUND,
            ErrorCode.FENCED_INSTANCE_ID,
        ):
            self.id, self.generation = "", -1
        elif code in (ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS):
            self.generation = -1
        return self._is_good(code, what)

    async def _beat(self) -> bool:
        request = HeartbeatRequest(
            group_id=self.book.name,
            generation_id=self.generation,
            member_id=self.id,
            group_instance_id=self.instance,
        )
        answer, _ = await self._ask(heartbeat, 4, request)
        return self._is_member(answer.error_code, "beat")

    async def _commit(self) -> bool:
        if not self.mine:
            return True
        some = self.mine if self.random.random() < 0.5 else [self.random.choice(self.mine)]
        code = await self._commit_for(some, self.generation, self.id, self.instance)
        return self._is_member(code, "commit")

    async def _lie(self) -> bool:
        """A commit of another generation, or of nobody."""
        generation, member = self.random.choice(
            (
                (self.generation - 1, self.id),
                (self.generation + 1000, self.id),
                (self.generation, "nobody"),
                (self.generation, self.former),
            )
        )
        place = self.random.choice(list(self.book.slots))
        if generation >= 0:
            instance = self.instance if member else None
            await self._commit_for([place], generation, member, instance, sound=False)
            self.world.count("groups: commits that must be refused")
        return True

    async def _leave(self) -> bool:
        request = LeaveGroupRequest(
            group_id=self.book.name,
            members=[MemberIdentity(member_id=self.id, group_instance_id=self.instance)],
        )
        self.id, self.generation = "", -1
        answer, _ = await self._ask(leave_group, 5, request)
        return self._is_good(answer.error_code, "leave")

    async def _vanish(self) -> bool:
        """It dies, and is somebody else afterwards."""
        self.id, self.generation = "", -1
        return True

    async def _again(self) -> bool:
        """It joins again without being told to."""
        self.generation = -1
        return True


class Loner(Asker):
    """Commits without being a member, and deletes."""

    def _doings(self) -> tuple[Callable[[], Awaitable[bool]], ...]:
        if self.random.random() < 0.1:
            return (self._delete_group, self._delete_offsets, self._delete_offsets)
        return (self._commit, self._commit, self._fetch)

    async def _commit(self) -> bool:
        some = self.random.sample(list(self.book.slots), self.random.randint(1, len(self.book.slots)))
        return self._is_good(await self._commit_for(some, -1, ""), "commit alone")

    async def _delete_offsets(self) -> bool:
        name, index = self.random.choice(list(self.book.slots))
        topic = OffsetDeleteRequestTopic(
            name=name, partitions=[OffsetDeleteRequestPartition(partition_index=index)]
        )
        request = OffsetDeleteRequest(group_id=self.book.name, topics=[topic])

        async def work() -> tuple[int, Terms]:
            answer, terms = await self._ask(offset_delete, 0, request)
            return answer.error_code or answer.topics[0].partitions[0].error_code, terms

        return await self._delete([(name, index)], work)

    async def _delete_group(self) -> bool:
        async def work() -> tuple[int, Terms]:
            request = DeleteGroupsRequest(groups_names=[self.book.name])
            answer, terms = await self._ask(delete_groups, 2, request)
            return answer.results[0].error_code, terms

        return await self._delete(list(self.book.slots), work)

    async def _delete(self, some: list[Place], work: Callable[[], Awaitable[tuple[int, Terms]]]) -> bool:
        """That a group is not there says that it has no offsets (G1)."""
        slots = self.book.slots
        order = (0, self.book.next_number())
        floors = {place: slot.floors.now() for place, slot in slots.items()}
        for place in some:
            slots[place].sent(order, NOTHING)
        code, terms = await work()
        for place in some:
            if code == NONE:
                slots[place].acked(order, terms)
            elif code in REFUSED:
                slots[place].refused(order, NOTHING)
        if code == ErrorCode.GROUP_ID_NOT_FOUND:
            for place, slot in slots.items():
                slot.told(NOTHING, terms, floors[place])
        return self._is_good(code, "delete")


class Fleeting(Asker):
    """Commits alone for a topic that is deleted and made anew: what was committed for one of that name is
    told of no other. Which one a broker means says its metadata, so there is a slot for each of them."""

    def __init__(self, groups: Groups, book: Book) -> None:
        super().__init__(groups, book)
        self.slots: dict[bytes, Slot] = {}
        self.doubtful: set[int] = set()
        """Offsets of which nobody knows whether they were committed, and for which topic."""

    def _doings(self) -> tuple[Callable[[], Awaitable[bool]], ...]:
        if self.random.random() < 0.2:
            return (self._renew,)
        return (self._commit, self._commit, self._fetch)

    async def _all_done(self) -> bool:
        there = FLEETING in self.world.image.topics or await self._try(self._renew)
        return there and await super()._all_done()

    async def _renew(self) -> bool:
        """Make the topic, or delete it."""
        plan, acting = self.world.plan, self.world.acting()
        if acting is None:
            raise Unanswered("there is no controller")
        process, controller = acting
        if FLEETING in self.world.image.topics:
            gone = [TopicRef(FLEETING)]
            (outcome,) = await self.groups.clients.ask(process.node, lambda _: controller.delete_topics(gone))
        else:
            new = [NewTopic(FLEETING, 1, 3, (), {"flush.messages": "1"} if plan.kind == "synced" else {})]
            (outcome,) = await self.groups.clients.ask(process.node, lambda _: controller.create_topics(new))
        return self._is_good(outcome.error.code if outcome.error is not None else NONE, "renew")

    async def _ask_about(self, module: ModuleType, version: int, request: Any) -> tuple[Any, Terms, bytes]:
        """The same as `_ask`, with the id of the topic that the broker meant; empty: perhaps another."""
        ids: list[bytes] = []

        async def handle(context: RequestContext, request: Any) -> Any:
            ids.append(_id_of(context))
            answer = await answered(module.HANDLER.handle(context, request))
            ids.append(_id_of(context))
            return answer

        handler: Any = SimpleNamespace(HANDLER=SimpleNamespace(handle=handle))
        answer, terms = await self._ask(handler, version, request)
        known = ids[0] if ids[0] and ids[0] == ids[-1] else b""
        if known and known not in self.slots:
            self.slots[known] = Slot(self.world, f"{FLEETING} {known.hex()[:6]}")
        return answer, terms, known

    async def _commit(self) -> bool:
        number = self.book.next_number()
        part = OffsetCommitRequestPartition(partition_index=0, committed_offset=number)
        request = OffsetCommitRequest(
            group_id=self.book.name, topics=[OffsetCommitRequestTopic(name=FLEETING, partitions=[part])]
        )
        self.doubtful.add(number)
        answer, terms, known = await self._ask_about(offset_commit, 9, request)
        code = ErrorCode(answer.topics[0].partitions[0].error_code)
        if code in REFUSED:
            self.doubtful.remove(number)
        elif code is NONE and known:
            self.doubtful.remove(number)
            self.slots[known].sent((0, number), number)
            self.slots[known].acked((0, number), terms)
        return self._is_good(code, "commit for a fleeting topic")

    async def _fetch(self) -> bool:
        topic = OffsetFetchRequestTopics(name=FLEETING, partition_indexes=[0])
        group = OffsetFetchRequestGroup(group_id=self.book.name, topics=[topic])
        floors = {name: slot.floors.now() for name, slot in self.slots.items()}
        answer, terms, known = await self._ask_about(offset_fetch, 8, OffsetFetchRequest(groups=[group]))
        (found,) = answer.groups
        if found.error_code == NONE:
            offset = found.topics[0].partitions[0].committed_offset
            if known and offset not in self.doubtful:
                self.slots[known].told(offset, terms, floors.get(known, {}))
        return self._is_good(found.error_code, "fetch")


def _id_of(context: RequestContext) -> bytes:
    topic = context.broker.image().topics.get(FLEETING)
    return topic.topic_id if topic is not None else b""
