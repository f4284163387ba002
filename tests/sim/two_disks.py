"""Two disks are lost at once, when all copies are there; and, when they are there again, a third one.

Some seeds of the kind ``disks`` end like that, and some of the others, while their topics of one copy or two
get more. What then has a copy nowhere but with its living owner has to
get others (rule 45): the third disk is one of an owner. Sometimes it is given up first, as if the owner had
been away when an operator said so: nothing is lost, since the leaders have it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, TypeVar

from kproto.controller.decision import Decision
from kproto.controller.leader_choice import ElectionType, all_partitions, elect
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.controller.rules import kept_its_power, needs_copy, sound_copies
from kproto.errors import KafkaError

from .clients import Unanswered
from .patience import Patience, bringing_over

if TYPE_CHECKING:
    from kproto.controller import Controller
    from kproto.metadata import MetadataImage, VlogTable
    from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord

    from .checks import Checks
    from .clients import Clients
    from .world import World

Answer = TypeVar("Answer")


async def lose_two(world: World, clients: Clients, checks: Checks) -> None:
    """See the module's text. The world is at rest. In half of the seeds it all happens twice: then that may
    be lost, too, which was pushed again."""
    random = Random(f"two disks {world.seed}")
    await _round(world, clients, checks, random)
    if random.random() < 0.5:
        await _round(world, clients, checks, random)


async def _round(world: World, clients: Clients, checks: Checks, random: Random) -> None:
    await brought_over(world)
    if world.plan.growing:
        await _grow(world, clients, random)
    acting = world.acting()
    spared = _with_only_copies(world) | ({acting[0].node} if acting is not None else set())
    numbers = [number for number in world.nodes if number not in spared]
    able = [number for number in numbers if not _opens_with_one_backup(world, number)]
    pairs = [pair for pair in combinations(able, 2) if _survives(world, checks, pair)]
    if not pairs:
        world.count("two disks: too much moved")
        return
    pair = random.choice(pairs)
    before = [record for record in world.table.vsegs.values() if not record.empty]
    checks.at_owner = {one.id for one in before if not _copies(world, checks, one, pair)}
    world.note(f"n{pair[0]} and n{pair[1]} lose their disks, {len(checks.at_owner)} vsegs all backups")
    world.count("two disks")
    world.count("all backups lost", len(checks.at_owner))
    for number in pair:
        checks.losing_disk(number)
        world.wipe(number)
    await _start(world, pair)
    if random.random() < 0.5:
        try:
            await _give_up(world, clients)
        except KafkaError as error:  # it may be controller no more
            world.count(f"given up: {error.code.name}")
        except Unanswered:
            world.count("given up: unanswered")
    await checks.settle(clients)
    left = [world.table.vsegs[vseg] for vseg in checks.at_owner if vseg in world.table.vsegs]
    checks.at_owner = set()
    world.count("emptied", sum(record.emptied for record in left))
    spared = _with_only_copies(world) | {*pair}
    third = random.choice([number for number in numbers if number not in spared] or [0])
    if third and checks.may_lose_disk(third):
        checks.losing_disk(third)
        world.wipe(third)
        await _start(world, (third,))
        await checks.settle(clients)


async def in_controller(
    world: World, clients: Clients, work: Callable[[Controller], Awaitable[Answer]]
) -> Answer:
    """The answer of ``work``, which runs in the process of the acting controller.

    Awaited from outside, a decision that waits for another one there would make what follows part of that
    process: it would end with it. Raises KafkaError, Unanswered.
    """
    acting = world.acting()
    if acting is None:
        raise Unanswered("there is no controller")
    process, controller = acting
    answer: Answer = await clients.ask(process.node, lambda _: work(controller))
    return answer


async def _grow(world: World, clients: Clients, random: Random) -> None:
    """More copies for some topics, and some time for the first of them to be made."""
    for topic in world.plan.topics:
        acting = world.acting()
        if acting is None or topic.copies == 3 or random.random() < 0.2:
            continue
        _, controller = acting
        image = controller.image
        now = min(len(one.replicas) for one in image.streamlets[image.topics[topic.name].topic_id])
        if now == 3:
            continue
        copies = random.randint(now + 1, 3)
        wanted = []
        for index in range(image.topics[topic.name].partitions):
            leader = image.partition_streamlet(image.topics[topic.name], index).leader
            others = random.sample([number for number in world.nodes if number != leader], copies - 1)
            wanted.append(NewReplicas(topic.name, index, (leader, *others)))
        try:
            answers = await in_controller(world, clients, partial(_reassign, wanted))
        except (KafkaError, Unanswered) as error:
            answers = [error]
        world.note(f"{topic.name} is to have {copies} copies, not {now}: {answers}")
        world.count("more copies are wanted")
        await asyncio.sleep(random.choice((0.0, 0.2, 2.0)) * random.random())


async def _reassign(wanted: list[NewReplicas], controller: Controller) -> list[Exception | None]:
    return [*await controller.decide(lambda: decide_reassign(controller.image, controller.table, wanted))]


def _with_only_copies(world: World) -> set[int]:
    """Leaders of what nobody else has a copy of."""
    parts = world.image.streamlets.values()
    return {record.leader for part in parts for record in part if not record.sources}


def _opens_with_one_backup(world: World, number: int) -> bool:
    """The broker has asked for a virtual segment, and nobody knows who its backup will be: if that is the
    other one, all copies are lost, and nobody can tell that nothing was acknowledged."""
    broker = world.nodes[number].broker
    pushers = broker._vlogs._replicated() if broker is not None else []
    return any(pusher.opening and pusher.vlog.copies == 2 for pusher in pushers)


async def _give_up(world: World, clients: Clients) -> None:
    """The command gives up nothing that its owner may have, and has not lost with its power; here what it
    would do to the others is done."""

    async def work(controller: Controller) -> int:
        names = all_partitions(controller.image)
        before = {vseg for vseg, record in world.table.vsegs.items() if record.lost}
        await elect(controller, ElectionType.UNCLEAN, names, 0.5)
        table = world.table
        lost = (record for vseg, record in table.vsegs.items() if record.lost and vseg not in before)
        if any(kept_its_power(table, record) for record in lost):
            world.failed("what a living owner has was given up by command")
        return await controller.decide(lambda: _lost(controller.image, controller.table))

    answer = await in_controller(world, clients, work)
    world.note(f"{answer} vsegs are given up")
    world.count("given up", answer)


def _lost(image: MetadataImage, table: VlogTable) -> Decision[int]:
    decision = Decision(0)
    for record in table.vsegs.values():
        if not record.open and needs_copy(record) and not sound_copies(image, record):
            decision.puts[record.key] = record._replace(backups=(), lost=True).encode()
    decision.answer = len(decision.puts)
    return decision


async def brought_over(world: World) -> None:
    """Wait until all leaders have what they took over in files of their own. One that lost its power may have
    less than its backups until then: its own copy counts no more than theirs, and two of three are enough to
    lose. And until all have heard of the metadata: who has not may be fenced at once, though the world was at
    rest, and an operator who names partitions gives up what it has (seed 30200491)."""
    patience, revision = Patience(world), world.table.revision
    while (left := _left_to_bring(world, revision)) and not patience.over:
        await asyncio.sleep(0.1)
    if left:
        world.failed(f"L: {patience.seconds:.0f} s after all was at rest: {left}")
        world.look()


def _left_to_bring(world: World, revision: int) -> str:
    for number, node in world.nodes.items():
        if node.up and not (node.serving and node.store.table.revision >= revision):
            return f"n{number} has not heard of the metadata"
        partitions = bringing_over(world, number).get("partitions", 0)
        if partitions:
            return f"n{number} has not brought over all old data of {partitions} partitions"
    return ""


async def _start(world: World, numbers: tuple[int, ...]) -> None:
    """Start brokers once nobody takes them for the ones before them."""
    while any(number in world.image.brokers for number in numbers):
        await asyncio.sleep(0.1)
    for number in numbers:
        world.start(number)


def _copies(world: World, checks: Checks, record: VsegRecord, without: tuple[int, ...]) -> int:
    return sum(
        target.node_id not in without
        and checks.intact(record.id, target)
        and not (record.open and _in_limbo(world, record.id, target))
        for target in record.backups
    )


def _in_limbo(world: World, vseg: VsegId, target: CopyTarget) -> bool:
    """After a loss of power: of an open one it does not count, whatever it has, when nobody else is left."""
    node = world.nodes[target.node_id]
    return node.ready and vseg in node.store.state.limbo


def _survives(
    world: World,
    checks: Checks,
    pair: tuple[int, ...],
    counts: Callable[[VsegRecord], bool] = lambda _: True,
) -> bool:
    """Everything that ``counts`` has a copy besides the two, or an owner besides the two whose files still
    count, also when the moves that are under way are done (12b)."""
    led: dict[int, set[int]] = {}
    for part in world.image.streamlets.values():
        for streamlet in part:
            move = world.table.current_move(streamlet)
            leaders = {streamlet.leader} if move is None else {streamlet.leader, move.target}
            for epoch in streamlet.sources:
                led.setdefault(epoch, set()).update(leaders)
    for record in world.table.vsegs.values():
        if record.empty or not counts(record) or _copies(world, checks, record, pair):
            continue
        if record.open and record.node_id not in pair:
            continue
        if record.node_id in pair or led.get(record.id.owner_epoch, set()) - {record.node_id}:
            return False
    return True
