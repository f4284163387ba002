"""Virtual logs that wait for more chunks where brokers are busy, and those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.config import load
from kproto.vlog.gathering import (
    COUNTED_S,
    CYCLE_S,
    FULL_BYTES,
    LEAST_S,
    MANY,
    MOST_AWAY,
    PAUSE_S,
    REST_TIMES,
    WINDOW_S,
    Gathering,
)
from kproto.vlog.replicated import ReplicatedPusher
from tests.vlog.cluster import ClusterPartition, ClusterWorld, begun

LONGEST = 0.020
QUICK, SLOW = 0.0004, 0.003


def fly(world: ClusterWorld, part: ClusterPartition, chunks: int, seconds: float) -> None:
    """Send so many chunks in one frame, whose flight takes so long."""
    (pusher,) = world.pushers
    before = pusher.pushes
    for _ in range(chunks):
        part.append()
    world.loop.turn()
    while pusher.pushes == before:
        world.vsegs.answer()
        world.loop.turn()
        if pusher.pushes == before:
            world.loop.advance(world.loop.timers[0][0] - world.loop.clock.monotonic())
    world.loop.clock.advance(seconds)
    world.flow()
    assert part.high_watermark == part.log_end_offset


def busy(chunks: int = 8, **overrides: str) -> tuple[ClusterWorld, ClusterPartition, ReplicatedPusher]:
    """Flights have taken longer than the shortest for some seconds; one has just landed."""
    world, part = begun(**overrides)
    (pusher,) = world.pushers
    for seconds in cycle((QUICK, SLOW)):
        if pusher._gathering.rests or world.loop.clock.monotonic() > 4:
            return world, part, pusher
        fly(world, part, chunks, seconds)
    raise AssertionError


def sent_after(world: ClusterWorld, pusher: ReplicatedPusher) -> float:
    """Seconds until the next frame is sent."""
    began, before = world.loop.clock.monotonic(), pusher.pushes
    world.loop.turn()
    while pusher.pushes == before:
        assert world.loop.clock.monotonic() < began + 1, "it is never sent"
        world.loop.advance(0.0005)
    return world.loop.clock.monotonic() - began


def test_a_busy_log_waits_for_more_chunks_and_sends_them_together() -> None:
    world, part, pusher = busy()
    before = pusher.pushes, pusher.chunks
    part.append()
    world.loop.turn()
    assert not world.backups.pushes
    world.loop.advance(0.004)
    part.append()
    assert 0.001 < sent_after(world, pusher) <= LONGEST - 0.004
    world.flow()
    assert part.high_watermark == part.log_end_offset
    assert (pusher.pushes, pusher.chunks) == (before[0] + 1, before[1] + 2)
    assert 0.01 < pusher.state()["rest_ms"] / 1000 <= LONGEST
    part.append()
    world.loop.turn()
    world.loop.advance(0.015)
    part.append()
    assert sent_after(world, pusher) <= 0.005, "the rest counts from the landing, not from each chunk"
    world.check()


def test_it_waits_no_longer_than_the_setting_says_and_never_with_0() -> None:
    world, part, pusher = busy(kproto__push__linger__max__ms="4")
    part.append()
    assert 0.001 < sent_after(world, pusher) <= 0.004 + 0.0005
    world, part, pusher = busy(kproto__push__linger__max__ms="0")
    part.append()
    assert sent_after(world, pusher) == 0
    assert pusher.state()["rest_ms"] == 0


def test_a_setting_that_changes_is_followed_with_the_next_frame() -> None:
    world, part, pusher = busy()
    now = load(None, {"kproto.push.linger.max.ms": "0", "kproto.journal.bytes": "134217728"})
    world.manager.apply_settings(now, [])
    fly(world, part, 8, SLOW)
    part.append()
    assert sent_after(world, pusher) == 0


def test_few_chunks_a_frame_are_not_worth_it() -> None:
    world, part, pusher = busy(chunks=MANY - 1)
    part.append()
    assert sent_after(world, pusher) == 0


def test_a_long_way_is_not_a_busy_broker() -> None:
    world, part = begun()
    for _ in range(200):
        fly(world, part, 8, 0.02)
    part.append()
    assert sent_after(world, world.pushers[0]) == 0


def test_a_log_that_is_not_busy_any_more_waits_no_more() -> None:
    world, part, pusher = busy()
    for _ in range(100):
        fly(world, part, 8, QUICK)
    part.append()
    assert sent_after(world, pusher) == 0


def test_who_waits_for_the_journal_only_ends_the_rest() -> None:
    world, part, pusher = busy()
    told: list[int] = []
    part.append()
    world.loop.turn()
    assert not world.backups.pushes
    part.vlog.when_written(part.vlog.end, lambda: told.append(1))
    assert sent_after(world, pusher) == 0
    assert told == [1], "the journal has it"
    world.flow()
    world.check()


def test_a_log_that_goes_on_in_another_segment_does_not_wait() -> None:
    world, part, pusher = busy()
    part.append()
    world.loop.turn()
    pusher.renew()
    assert pusher.opening


def test_a_log_that_gets_no_more_chunks_does_not_wait_for_them() -> None:
    world, part, _ = busy()
    part.append()
    world.loop.turn()
    assert not world.backups.pushes
    world.manager.retire()
    world.manager.retired()
    assert world.backups.pushes


def test_a_frame_that_is_made_already_does_not_wait() -> None:
    """A state frame comes right behind the chunks it tells of; more chunks have come meanwhile."""
    world, part, pusher = busy()
    before = pusher.states.written
    while True:
        sent = pusher.pushes
        for _ in range(8):
            part.append()
        world.loop.turn()
        while pusher.pushes == sent:
            world.vsegs.answer()
            world.loop.advance(0.001)
        if pusher.states.written > before:
            break
        world.loop.clock.advance(SLOW)
        world.flow()
    pusher._gathering.rests = True
    part.append()
    world.loop.turn()
    world.loop.clock.advance(SLOW)
    sent = pusher.pushes
    for _ in range(len(world.backups.pushes)):
        world.backups.deliver(0)
    for _ in range(len(world.backups.answers)):
        world.backups.answer(0)
    world.loop.turn()
    assert pusher._gathering.rest > 0
    assert pusher.pushes == sent + 1, "the state frame"


def test_other_backups_are_told_of_and_frames_that_none_has_do_not_count() -> None:
    world, part, pusher = busy()
    gathering, before = pusher._gathering, pusher._targets
    assert gathering._least < 1
    pusher.renew()
    world.flow()
    assert pusher._targets != before
    assert gathering._least == float("inf")
    for node in world.nodes.values():
        node.up = False
    world.manager.members_changed([])
    world.pass_time(3)
    counted = gathering._frames
    part.append()
    world.flow()
    assert part.high_watermark == part.log_end_offset
    assert (pusher._targets, gathering._frames) == ((), counted)


def test_synced_frames_are_not_waited_with() -> None:
    """Chunks gather while the disks sync."""
    world = ClusterWorld.begin()
    part = world.partition(flush__messages="1")
    while world.loop.clock.monotonic() < 2 * WINDOW_S:
        for seconds in (QUICK, SLOW):
            for _ in range(8):
                part.append()
            world.loop.turn()
            world.vsegs.answer()
            world.loop.turn()
            world.loop.clock.advance(seconds)
            world.flow()
    part.append()
    assert sent_after(world, world.pushers[0]) == 0


def _more_chunks(waited: float) -> int:
    return 5 + int(1000 * waited)


def _larger_chunks(waited: float) -> int:
    return 1000 + int(100_000 * waited)


MORE_TO_SEND = (_more_chunks, _larger_chunks)
"""Of clients that are asked for less than they have: chunks, and bytes of each, after a wait of so long."""


class Load:
    """Clients of one log: ``arrive(seconds)`` is how many chunks have come so long after an answer."""

    def __init__(self, arrive: Callable[[float], int], size: Callable[[float], int] = lambda _: 1024) -> None:
        self.gathering = Gathering(0.0)
        self.now = 12 * CYCLE_S
        self.arrive = arrive
        self.size = size
        self.flights = cycle((QUICK, SLOW, SLOW, QUICK, SLOW))

    def run(self, seconds: float) -> tuple[int, float]:
        """Bytes carried, and which share of the time there were rests."""
        began, end, carried, rests = self.now, self.now + seconds, 0, 0.0
        while self.now < end:
            wait = self.gathering.left(self.now)
            while not self.arrive(wait):
                wait += 0.0005
            flight = next(self.flights)
            self.now += wait + flight
            chunks = self.arrive(wait)
            carried += chunks * self.size(wait)
            rests += (wait + flight) * (self.gathering.rest > 0)
            self.gathering.landed(flight, chunks, chunks * self.size(wait), self.now, LONGEST)
        return carried, rests / (self.now - began)


def test_producers_that_wait_for_each_answer_are_hardly_held_up() -> None:
    """All of them are back at once; a rest brings nobody else."""
    load = Load(lambda _: 20)
    load.run(10)
    carried, rests = load.run(300)
    assert 0 < rests < 0.05, "it is tried now and then"
    load.gathering = Gathering(0.0)
    load.gathering._not_before = 10**9
    without, _ = load.run(300)
    assert carried > 0.95 * without


def test_producers_that_have_more_to_send_are_let_wait() -> None:
    """The longer they wait the larger are their batches."""
    load = Load(*MORE_TO_SEND)
    load.run(10)
    _, rests = load.run(300)
    assert rests > 0.75, "but for when it is measured how it is without"


def judged(sizes: Iterable[int], now: float = 8 * CYCLE_S) -> list[bool]:
    """Whether there are rests after windows with frames of so many bytes each, the first at ``now``."""
    gathering, flights, found = Gathering(0.0), cycle((QUICK, SLOW)), []
    for size in sizes:
        end = now + 1.02 * WINDOW_S
        while now < end:
            now += 0.003
            gathering.landed(next(flights), 8, size, now, LONGEST)
        found.append(gathering.rests)
    return found


def test_a_load_that_falls_by_itself_is_no_sign_that_rests_are_too_much_for_it() -> None:
    """Producers fill their buffers first, say: what is carried without rests afterwards counts, too."""
    sizes = (9000, 9000, 4000, 4000, 4000, 4000)
    assert judged(sizes) == [False, True, True, False, True, True]


def test_one_uneven_second_gives_nothing_up() -> None:
    """Neither one with rests nor one without; two are enough, if the next one without them says so, too."""
    assert judged((9000, 9000, 4000, 9000, 4000, 9000)) == [False] + 5 * [True]
    assert judged((9000, 9000, 4000, 4000, 9000, 9000)) == [False, True, True, False, False, False]
    end_of_a_cycle = 9 * CYCLE_S - 3 * 1.02 * WINDOW_S
    found = judged((4000, 4000, 4000, 9000, 4000, 4000, 9000, 9000), end_of_a_cycle)
    assert found == [False, True, True, True, True, False, False, False]
    for sizes in ((9000, 9000, 9000), (9000, 6500, 4000, 9000), (9000, 4000, 6500, 9000)):
        begin = 9 * CYCLE_S - len(sizes) * 1.02 * WINDOW_S
        assert judged((9000, *sizes), begin)[1:] == [True] * len(sizes)
    assert judged((9000, 9000, 9000), 9 * CYCLE_S - 2 * 1.02 * WINDOW_S) == [False, True, True]


def test_a_load_that_changes_is_found_out() -> None:
    """Also when as much is carried as before, of a load that was smaller."""
    load = Load(*MORE_TO_SEND)
    load.run(25.5 * CYCLE_S)
    assert load.gathering.rests
    load.arrive, load.size = (lambda _: 50), (lambda _: 10_000)
    load.run(CYCLE_S + 3 * WINDOW_S)
    _, rests = load.run(CYCLE_S)
    assert rests == 0


def test_how_often_rests_are_tried_depends_on_how_it_went_before() -> None:
    load = Load(lambda _: 20)
    tried: list[float] = []
    for _ in range(4000):
        before = load.gathering.rests
        load.run(0.1)
        if load.gathering.rests and not before:
            tried.append(load.now)
    gaps = [later - one for one, later in pairwise(tried)]
    assert gaps[0] < 3 * CYCLE_S
    assert (MOST_AWAY - 1) * CYCLE_S < gaps[-1] < (MOST_AWAY + 1) * CYCLE_S
    load.arrive, load.size = MORE_TO_SEND
    load.run((MOST_AWAY + 1.5) * CYCLE_S)
    assert load.gathering.rests
    load.arrive, load.size = (lambda _: 50), (lambda _: 10_000)
    load.run(2 * CYCLE_S)
    assert load.gathering._away < MOST_AWAY, "it went well meanwhile"


def test_all_logs_measure_without_rests_at_the_same_time_and_try_them_again_at_the_same_time() -> None:
    """Whatever the machine's own clock says (``ahead``), and whenever they began."""
    ahead = 0.75 * CYCLE_S
    one, other = Load(lambda _: 20), Load(lambda _: 20)
    other.gathering, other.now = Gathering(ahead), one.now - ahead
    other.run(0.4 * CYCLE_S)
    one.run(0.4 * CYCLE_S + 0.7)
    for cycles in range(60):
        middle = (13.5 + cycles) * CYCLE_S
        one.run(middle - one.now)
        other.run(middle - ahead - other.now)
    assert one.gathering._not_before == other.gathering._not_before > 0
    more = Load(*MORE_TO_SEND)
    for seconds in (3.1, 1.7, 2.9):
        more.run(seconds)
        assert more.gathering.rests
        start = more.now // CYCLE_S * CYCLE_S + CYCLE_S
        more.run(start + 0.1 - more.now)
        assert not more.gathering.rests
        more.run(WINDOW_S)
        assert more.gathering.rests


class Flushes:
    """Clients that send to every log, wait for all answers, and go on; by turns of half a millisecond."""

    def __init__(self, logs: int, clients: int) -> None:
        self.gatherings = [Gathering(0.0) for _ in range(logs)]
        self.pending: list[list[int]] = [[] for _ in range(logs)]
        self.flying: list[tuple[float, float, list[int]] | None] = [None] * logs
        self.missing = [0] * clients
        self.flights = cycle((QUICK, SLOW, SLOW, QUICK, SLOW))
        self.now = 8 * CYCLE_S

    def run(self, seconds: float, longest: float = LONGEST) -> int:
        """How often a client went on."""
        end, rounds = self.now + seconds, 0
        while self.now < end:
            self.now += 0.0005
            for client, missing in enumerate(self.missing):
                if not missing:
                    rounds += 1
                    self.missing[client] = len(self.gatherings)
                    for pending in self.pending:
                        pending.append(client)
            for log, gathering in enumerate(self.gatherings):
                flight = self.flying[log]
                if flight is not None and flight[1] <= self.now:
                    self.flying[log] = None
                    gathering.landed(
                        self.now - flight[0], len(flight[2]), 1024 * len(flight[2]), self.now, longest
                    )
                    for client in flight[2]:
                        self.missing[client] -= 1
                if self.flying[log] is None and self.pending[log] and not gathering.left(self.now):
                    self.flying[log] = (self.now, self.now + next(self.flights), self.pending[log])
                    self.pending[log] = []
        return rounds


def test_logs_that_have_clients_in_common_do_not_keep_each_other_resting() -> None:
    """While some rest the clients send less to the others, whose own rests seem to cost nothing."""
    without = Flushes(4, 12).run(10, longest=0) / 10
    for apart in (0.3, 0.7, 1.1, 1.5):
        clients = Flushes(4, 12)
        for gathering in clients.gatherings:
            gathering._not_before = 10**9
        for gathering in clients.gatherings:
            clients.run(apart)
            gathering._not_before = 0
        clients.run(CYCLE_S)
        assert clients.run(40) / 40 > 0.85 * without


@pytest.mark.parametrize("frames", [1050, 1250])
def test_bursts_that_end_before_rests_are_judged_are_judged_afterwards(frames: int) -> None:
    load = Load(lambda _: 20)
    took: list[float] = []
    for _ in range(60):
        before = load.now
        for _ in range(frames):
            wait, flight = load.gathering.left(load.now), next(load.flights)
            load.now += wait + flight
            load.gathering.landed(flight, 20, 20_480, load.now, LONGEST)
        took.append(load.now - before)
        load.now += 1.5 * PAUSE_S
    assert max(took) > 1.2 * min(took), "it is tried"
    assert sum(took[10:]) < 1.05 * 50 * min(took)


def test_a_low_rate_is_not_made_lower() -> None:
    """Frames of several chunks, now and then, some with a longer flight: nobody is short of anything."""
    gathering, flights, now = Gathering(0.0), cycle((QUICK, SLOW)), 100.0
    for _ in range(1000):
        now += 0.01
        gathering.landed(next(flights), 8, 8000, now, LONGEST)
        assert gathering.rest == 0


def test_after_a_large_frame_there_is_no_rest() -> None:
    gathering, flights, now = Gathering(0.0), cycle((QUICK, SLOW)), 100.0
    while not gathering.rest:
        flight = next(flights)
        now += flight
        gathering.landed(flight, 8, 8000, now, LONGEST)
    gathering.landed(SLOW, 8, FULL_BYTES, now + SLOW, LONGEST)
    assert (gathering.rests, gathering.rest) == (True, 0)


def test_flights_that_all_take_as_long_are_no_reason() -> None:
    load = Load(lambda waited: 5 + int(waited * 1000))
    load.flights = cycle([SLOW])
    _, rests = load.run(30)
    assert (rests, load.gathering.rests) == (0, False)


def test_a_way_that_has_become_longer_is_not_a_busy_broker() -> None:
    load = Load(lambda _: 1)
    load.flights = cycle([QUICK])
    load.run(1)
    load.flights = cycle([SLOW])
    load.run(5)
    load.arrive = lambda waited: 5 + int(waited * 1000)
    _, rests = load.run(30)
    assert rests == 0


def test_after_a_pause_everything_is_looked_at_anew() -> None:
    """That a load ended does not mean that rests were too much for it; the next one may be another, and its
    first second is not like the others."""
    load = Load(*MORE_TO_SEND)
    load.run(3)
    assert load.gathering.rests
    for pause in (2 * PAUSE_S, 10 * CYCLE_S, 3600.0):
        load.now += pause
        load.now = load.now // CYCLE_S * CYCLE_S + CYCLE_S / 2
        load.run(1.9 * WINDOW_S)
        assert not load.gathering.rests, "there may be other clients"
        load.run(0.3 * WINDOW_S)
        assert load.gathering.rests


@pytest.mark.parametrize("into_the_next_cycle", [-0.3, 0.3])
def test_what_was_carried_before_a_pause_says_nothing_of_a_larger_load(into_the_next_cycle: float) -> None:
    load = Load(*MORE_TO_SEND)
    load.run(4)
    load.run(load.now // CYCLE_S * CYCLE_S + CYCLE_S + into_the_next_cycle - load.now)
    assert load.gathering.rests == (into_the_next_cycle < 0)
    load.now += 5 * PAUSE_S
    load.arrive, load.size = (
        (lambda waited: int(50 + 1e4 * waited)),
        (lambda waited: int(5000 + 1e6 * waited)),
    )
    load.run(3.3 * WINDOW_S)
    assert load.gathering.rests


def test_other_backups_may_be_farther_away() -> None:
    gathering = Gathering(0.0)
    for now in range(100):
        gathering.landed(QUICK, 8, 8000, float(now), LONGEST)
    gathering.moved()
    for now in range(100):
        gathering.landed(0.004, 8, 8000, 100.0 + now * 0.02, LONGEST)
        assert gathering.rest == 0


@settings(deadline=None)
@given(
    flights=st.lists(
        st.tuples(st.floats(0.0001, 0.1), st.integers(1, 50), st.floats(0.0, 0.2)), min_size=1, max_size=200
    ),
    longest=st.floats(0.0, 0.1),
)
def test_how_long_it_rests_is_bounded(flights: list[tuple[float, int, float]], longest: float) -> None:
    """By the setting, and by what flights take beyond the shortest of them all."""
    gathering, now = Gathering(0.0), 5.0
    excess = min(max(one[0] for one in flights) - min(one[0] for one in flights), COUNTED_S)
    for flight, chunks, pause in flights:
        now += flight
        gathering.landed(flight, chunks, 100 * chunks, now, longest)
        assert gathering.rest <= min(longest, REST_TIMES * excess) + 1e-9
        assert gathering.rest == 0 or gathering.rest >= LEAST_S
        assert 0 <= gathering.left(now) <= gathering.rest + 1e-9
        assert gathering.left(now + gathering.rest) == 0
        now += pause
