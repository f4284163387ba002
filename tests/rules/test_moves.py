"""A planned move: what was acknowledged before it is found by the one who leads next (rules 11, 12b, 16)."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from kproto.check import InvariantError
from kproto.controller.missing import owed
from kproto.controller.moves import HandOver, Wish, decide_handed_over, decide_moves, decide_tidy
from kproto.controller.repair import Repairs, decide_repaired
from kproto.controller.sources import Sources
from kproto.controller.vsegs import decide_close_vsegs
from kproto.metadata.records import ANYWHERE, ONLINE, RECOVERING
from kproto.metadata.vlogs import VsegId
from kproto.replica.survey import Base
from kproto.replica.takeover import sources_of
from tests.controller.cluster_world import World, cluster
from tests.controller.test_moves import begin, hand_over, led_again, moving
from tests.replica.sealed_world import Vlog
from tests.replica.sealed_world import World as SealedWorld
from tests.replica.test_handing_over import Bench, run
from tests.replica.test_takeover import Run
from tests.replica.test_takeover_failures import directed, written

from .support import needs, promise, waits_for_its_backup
from .test_owners import begun


def found(world: World, node: int) -> int:
    """Up to where the next leader finds what ``node`` wrote: rule 12b lets it read closed segments only."""
    vlogs = sources_of(world.image, world.table, world.epoch(node), (ANYWHERE,))
    return max((vseg.end for vlog in vlogs for vseg in vlog if vseg.end is not None), default=0)


def close_newest(world: World, node: int, end: int) -> None:
    newest = world.table.of_owner(world.epoch(node))[-1]
    world.commit(decide_close_vsegs(world.image, world.table, node, [(newest.id, end)]))


@needs("handed over while open")
def test_the_next_leader_finds_all_that_was_acknowledged() -> None:
    """The leader has acknowledged 600 bytes, the last 100 of them in a virtual segment whose end is not
    recorded yet. It says that it hands over all up to that one. Until the segment is closed it must go on
    leading: who leads next reads closed ones only (11, 12b)."""
    world = moving(target=2)
    hand_over(world, seq=1)
    if world.streamlet("t").state == RECOVERING:
        promise(found(world, 1) == 600, f"S1: 600 bytes were acked, broker 2 begins with {found(world, 1)}")
    assert world.streamlet("t").leader == 1
    assert world.commit(
        decide_moves(world.image, world.table, [Wish(world.streamlet("t").topic_id, 0, 2)])
    ), "the move that could not end begins anew"
    close_newest(world, 1, 600)
    assert hand_over(world, seq=1)
    assert (world.streamlet("t").leader, found(world, 1)) == (2, 600)


@needs("anybody hands over")
def test_who_leads_no_more_hands_nothing_over() -> None:
    """A leader says that it hands over to broker 4, and dies before that arrives. Another one leads and
    acknowledges 100 bytes. Then the message of the dead one arrives: broker 4 would begin without those
    bytes, beside a leader that goes on (12b, 16)."""
    world = moving(target=4)
    record = world.streamlet("t")
    (move,) = world.table.moves.values()
    dead = world.epoch(1)
    world.fence(1)
    world.seal_all(600)
    (assigned, *_) = world.assign()
    world.commit_all([assigned])
    leader = assigned.leader
    assert leader != 4
    world.open(leader)
    said = HandOver(record.topic_id, 0, record.leader_epoch, move.began)
    world.commit(decide_handed_over(world.image, world.table, 1, dead, [said], [(0, 0)]))
    now = world.streamlet("t")
    promise(
        now.leader == leader and now.sources[-1] == world.epoch(leader),
        f"S1: broker {leader} acks 100 bytes that broker {now.leader} finds nowhere",
    )


@needs("every move is that move")
def test_a_late_message_of_a_move_that_was_given_up_moves_nothing() -> None:
    """A leader says that all up to segment 0 is closed; the target dies, the move is given up, and the leader
    takes appends again, 100 bytes into segment 1. The target comes back and the next move begins. What was
    said of the first one arrives now: it says nothing of segment 1 (12b)."""
    world = moving(target=2)
    (first,) = world.table.moves.values()
    world.fence(2)
    assert world.commit(decide_tidy(world.image, world.table)) == 1
    world.register(2)
    world.commit(decide_moves(world.image, world.table, [Wish(first.topic_id, 0, 2)]))
    (second,) = world.table.moves.values()
    assert second.began != first.began
    hand_over(world, seq=0, began=first.began)
    if world.streamlet("t").leader != 1:
        promise(found(world, 1) == 600, f"S1: 600 bytes were acked, broker 2 begins with {found(world, 1)}")
    close_newest(world, 1, 600)
    assert hand_over(world, seq=1)
    assert found(world, 1) == 600


@needs("rolled in flight")
def test_a_segment_is_not_closed_behind_what_its_copies_have() -> None:
    """A chunk is on its way to two backups, one of which is about to break. If the segment were closed now,
    at an end that not all copies have, nobody would push the chunk again to another backup (11, 13)."""
    world, part = begun()
    part.append()
    world.loop.turn()
    (pusher,) = world.pushers
    try:
        pusher.roll()
    except InvariantError:
        pass
    world.backups.cut(world.backups.pushes[0].node)
    world.flow()
    promise(part.high_watermark == 2, "L1: a chunk of a closed segment waits for a lost backup for ever")
    world.check()


@needs("files that were given away are a copy")
def test_files_of_who_handed_over_are_no_copy() -> None:
    """Broker 1 has handed a partition over to broker 2 and lives on: its files of it are given up. The only
    backup of its virtual segment dies, and broker 2. The partition has to wait for that backup: broker 1
    would lead it with a hole (2b, 12b)."""
    world = cluster(4, t=(1, 2, [1]))
    (backup,) = world.open(1, 0, 0, 2).backups
    target = next(node for node in (2, 3, 4) if node != backup.node_id)
    begin(world, target)
    world.open(1, 1, 500, 2, exclude=(backup.node_id,))
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    waits_for_its_backup(world, backup.node_id, target)


@needs("copies that are missing are not waited for")
def test_who_hands_over_leaves_as_many_copies_as_there_may_be_losses() -> None:
    """Broker 1 leads, with two backups of what it wrote. One of them loses its disk, and then broker 1 is to
    hand over; the other one loses its disk. That is what three copies are for: somebody still leads, since
    broker 1 has lost nothing (2b, 12b, 17)."""
    world = moving(target=4)
    first, second = (target.node_id for target in world.table.vsegs[VsegId(world.epoch(1), 0, 0)].backups)
    world.fence(first)
    move = next(iter(world.table.moves.values()), None)
    if move is None or move.target == first:
        begin(world, second)
    hand_over(world)
    world.register(first, store="another")
    world.fence(second)
    world.register(second, store="yet another")
    left = world.assign()
    record = world.streamlet("t")
    can = Sources(world.image, world.table).candidates(record)
    promise(record.leader == 1 or record.leader in can, f"S1: two of three copies are lost: {record}, {left}")
    assert (record.leader, record.state) == (1, ONLINE)


@needs("of two copies one is left")
def test_of_two_copies_one_may_be_lost_after_a_move_as_before() -> None:
    """Broker 1 leads, with one backup of what it wrote, and hands over when it need not wait any more; the
    backup loses its disk at once. Broker 1 has lost nothing, but its files count no more (2b, 12b, 17)."""
    world = cluster(4, t=(1, 2, [1]))
    vseg = world.open(1, 0, 0, 2)
    world.commit(decide_close_vsegs(world.image, world.table, 1, [(vseg.id, 500)]))
    begin(world, 2)
    repairs = Repairs(0)
    while any(owed(world.image, world.table, [world.streamlet("t")])):
        (order,) = repairs.plan(world.image, world.table, world.now).orders
        assert world.commit(decide_repaired(world.image, world.table, order))
    assert hand_over(world)
    (backup,) = vseg.backups
    world.fence(backup.node_id)
    world.register(backup.node_id, store="another")
    can = Sources(world.image, world.table).candidates(world.streamlet("t"))
    promise(can, "S1: one of two copies is lost, and nobody can lead")
    assert can == [1, 2, 3, 4]


@needs("what came later is waited for")
def test_what_an_owner_opened_after_it_gave_a_streamlet_away_holds_nobody_up() -> None:
    """Broker 1 hands over to broker 2, opens a virtual segment for what it still leads, and dies with the
    backups of that; broker 2 dies, too. There is nothing of the streamlet in what waits for its end, so
    broker 3 leads it at once (12b)."""
    world = moving(target=2)
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    world.fence(1)
    world.fence(2)
    leaders = [(one.index, one.leader) for one in world.assign()]
    promise(leaders, "L1: a streamlet waits for the end of what its former leader opened for others")
    assert leaders == [(0, 3)]


@needs("who gave it away leads it no more")
def test_an_owner_that_leads_again_is_waited_for_when_it_dies() -> None:
    """Broker 1 hands over to broker 2, gets the streamlet back, acknowledges 100 bytes in a virtual segment
    that is open, and dies. What it opened after its first time is of the streamlet again: nobody leads before
    that has its end (12b, 20)."""
    world = led_again()
    dead = world.epoch(1)
    world.fence(1)
    leaders = [one.leader for one in world.assign()]
    ends = [vseg.end for vseg in world.table.of_owner(dead)]
    promise(not leaders, f"S1: 600 bytes were acked, broker {leaders} begins with what ends at {ends}")
    world.seal_all(600)
    assert len(world.assign()) == 2


@needs("what is in flight is left")
def test_nothing_is_handed_over_before_it_is_durable() -> None:
    """A record was appended and is on its way to the backups when the move begins. Nobody is told before it
    is there: the next leader reads what the backups have (12b)."""

    async def move(bench: Bench) -> None:
        assert bench.takes_appends()
        bench.office.move()
        bench.look()
        for _ in range(20):
            await asyncio.sleep(0)
        told = len(bench.office.told)
        promise(not told, "S1: handed over with a record that only the old leader has")
        bench.log.journal.push()
        await bench.told()

    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), move)


@needs("whoever knows something led last")
@needs("the newest state is believed")
def test_who_led_between_two_times_of_an_owner_is_asked_too() -> None:
    """Broker 10 leads and writes down what it knows; broker 11 leads and acknowledges a record; then broker
    10 leads again and dies before it has written anything. The newest state of the last leader is of its
    first time: who leads next must ask broker 11's copies, too (12b)."""

    def twice(world: SealedWorld) -> None:
        key = world.keys[0]
        (one,) = written(world, 1)
        (two,) = written(world, 1)
        world.log.epoch += 1
        world.epochs[:] = [10, 11, 10]
        first, second = Vlog(10, 1), Vlog(11, 1)
        first.add([one])
        first.add([], {key: Base(*world.truth[key].state(1) or (0, 0))})
        second.add([two])
        world.vlogs += [first, second]

    async def take_over(run: Run) -> None:
        await run.online()
        found, acked = run.world.log.partition(0).log_end_offset, run.world.truth[run.world.keys[0]].end
        promise(found == acked, f"S1: the log ends at {found}, {acked} was acknowledged")

    directed(take_over, 0, twice)
