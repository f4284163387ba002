"""What the owner of a virtual log promises to those whose chunks it takes (rules 9, 13, 15, 16, 18)."""

from __future__ import annotations

from kproto.config.topic_configs import topic_config
from tests.vlog.cluster import ClusterPartition, ClusterWorld

from .support import needs, promise


def begun(others: int = 3) -> tuple[ClusterWorld, ClusterPartition]:
    """One partition of three copies, whose first chunk is on all of them."""
    world = ClusterWorld.begin(3, others)
    part = world.partition()
    part.append()
    world.flow()
    assert part.high_watermark == 1
    return world, part


def backups_of(world: ClusterWorld, seq: int) -> list[int]:
    return [target.node_id for target in world.vsegs.records[1, seq].backups]


def newest_backups(world: ClusterWorld) -> list[int]:
    return backups_of(world, max(seq for _, seq in world.vsegs.records))


@needs("any answer counts as an ack")
def test_a_refusal_is_no_ack() -> None:
    """One backup stores the chunk, the other one refuses it: its disk is full. The high watermark stays until
    the chunk is on two backups (9, 13)."""
    world, part = begun()
    part.append()
    world.loop.turn()
    world.nodes[backups_of(world, 1)[1]].full = True
    for _ in range(2):
        world.backups.deliver(0)
    for _ in range(2):
        world.backups.answer(0)
    holders = [node for node in backups_of(world, 1) if not world.nodes[node].full]
    promise(part.high_watermark == 1, f"S4: exposed with a copy on {holders} only")


@needs("older records stay unsynced")
def test_an_ack_with_a_sync_means_that_what_is_before_it_is_synced_too() -> None:
    """A topic with records gets flush.messages=1, then one more record. A start after a loss of power ends
    the log where something is missing (24b): what is behind must not have been acknowledged (8)."""
    world = ClusterWorld.begin(copies=1)
    part = world.partition()
    part.append(1000)
    world.loop.turn()
    part.config = topic_config({"flush.messages": "1"}, world.settings)
    world.manager.assign(part)  # type: ignore[arg-type]
    part.append()
    world.loop.turn()
    promise(
        part.high_watermark == 2 and part.segment.synced >= 1000,
        "S1: acknowledged behind a record that a power loss takes",
    )


@needs("answers about closed segments count", noticed=True)
def test_a_late_answer_moves_nothing() -> None:
    """A backup does not answer in time. The virtual segment is ended at its durable header, which the store
    records; the chunk is pushed again, to others. Then the old answers come: the ended segment must not grow
    behind its recorded end, where readers are clipped (13, 15)."""
    world, part = begun()
    silent = world.nodes[backups_of(world, 1)[0]]
    silent.up = False
    part.append()
    world.flow()
    world.loop.advance(0.56)
    assert world.vsegs.records[1, 1].end is not None
    stale = [message for message in world.backups.pushes if message.node is silent]
    world.backups.pushes.clear()
    for message in stale:
        message.done(message.node.push(message.first, b"".join(message.pieces)))
    (pusher,) = world.pushers
    promise(
        part.high_watermark == 1 and pusher.vlog.segments[0].durable == world.vsegs.records[1, 1].end,
        "S4: a chunk is exposed that no reader finds below the recorded end",
    )


@needs("FENCED is taken for a failure")
def test_a_fenced_owner_is_no_owner() -> None:
    """A backup answers FENCED: somebody has sealed what this owner began, its partitions have another
    leader. It must not look for other backups and acknowledge there (16)."""
    world, part = begun()
    for node in world.nodes.values():
        node.fence = 2
    told: list[bool] = []
    part.vlog.when_durable(part.append(), lambda: told.append(part.vlog.lost))
    world.flow()
    world.loop.advance(1.0)
    asked = [request.seq for request in world.vsegs.requests]
    promise(world.manager.lost and told == [True], "16: whoever waits is not told that nobody knows")
    promise(asked == [1], f"S6: a fenced owner proposes virtual segments {asked}")


@needs("sets stay small")
def test_a_smaller_set_is_widened_when_there_are_brokers_again() -> None:
    """Two of three brokers are away, so the virtual segment has one copy less. They come back: without
    anything else happening the next one has all copies (18)."""
    world, part = begun()
    staying, *away = sorted(world.nodes)
    for number in away:
        world.nodes[number].up = False
        world.backups.cut(world.nodes[number])
    world.manager.members_changed([staying])
    part.append()
    world.flow()
    assert len(newest_backups(world)) == 1
    for number in away:
        world.nodes[number].up = True
    world.manager.members_changed(sorted(world.nodes))
    for _ in range(100):
        world.flow()
        world.loop.advance(0.25)
        world.manager.tick()
    part.append()
    world.flow()
    copies = 1 + len(newest_backups(world))
    promise(copies == 3, f"L3: {copies} copies for ever")
