"""What the checks know of a log, where a seed that needs it is rare."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.broker import Broker
from kproto.disk import Disk
from kproto.log.files import CHUNKS, partition_directory, segment_stem
from kproto.metadata.image import load_image
from kproto.metadata.records import BrokerRecord, StreamletRecord, TopicRecord
from kproto.metadata.store import Change, Entry
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.replica.copies import Copy
from kproto.replica.stored_file import file_name
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import DIRECT, ENTRY_SIZE, FRAME_SIZE, decode_frame_header, seal
from kproto.vlog.journal import file_name as journal_name
from kproto.vlog.kept import KEPT
from kproto.wire.internal import InternalError
from tests.replica.support import ME, OTHER, Owner

from .checks import Checks
from .clients import Clients, Consumer, Ledger, make_chunk
from .disk import Inode, SimDisk
from .garbage import Garbage
from .loop import RUNNING
from .parts import STORE_IS_DOWN, installed
from .plan import plan_of
from .reading import Reading
from .world import World

KEY = (bytes(16), 0)


def closed_by_journal(suffix: str) -> tuple[Checks, Owner]:
    """A virtual segment of three frames that nobody got; its owner's journal told that it ends behind two."""
    world = World(0, plan_of(0))
    checks = Checks(world)
    owner = Owner(VsegId(2, 1, 6), start=8535)
    frames = [owner.push([KEY], [size]) for size in (100, 200)]
    end = owner.end
    frames.append(owner.push([KEY], [300]))
    with installed(world):
        disk: Disk = SimDisk(world.machines[1])
        folder = f"{world.machines[1].root}/journal"
        disk.makedirs(folder)
        fd = disk.open(f"{folder}/{journal_name(*owner.vseg)}{suffix}", create=True)
        disk.pwritev(fd, [owner.first, *frames, b"what was in the file before"], 0)
    record = owner.record(backups=[])._replace(node_id=1)
    for changed in (record, record._replace(end=end)):
        before = dict(world.table.vsegs)
        change = Change(1, {changed.key: changed.encode()}, ())
        world.table.apply(change)
        checks._changed(change, before)
    return checks, owner


def test_frames_that_only_a_journal_had_are_known_when_it_told_the_end() -> None:
    """A push to a backup that is paused did not arrive. Its owner was asked, and what it has is the log
    (18b): a state frame may tell of it from then on (28b)."""
    for suffix in ("", KEPT):
        checks, owner = closed_by_journal(suffix)
        assert checks.framed == {KEY: owner.chunks[1][2]}, "up to the end, no further"
        assert list(checks.contents[owner.vseg]) == [position for position, _ in owner.frames[:2]]
        assert checks.world.cover["closed by a journal"] == 1
        assert not checks.world.problems


@pytest.mark.parametrize("answer", [InternalError.NONE, InternalError.GAP])
def test_a_wrong_state_frame_is_caught_when_it_is_taken(answer: InternalError) -> None:
    """One that overtakes frames of another connection is refused, and tells of what did not come yet."""
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    frame = bytearray(owner.push_state())
    frame[FRAME_SIZE + 3] += 1  # more partitions than there are
    told = Checks(world)._watch_push(2, bytes(1) + frame)
    assert told is not None
    assert not world.problems
    with contextlib.suppress(AssertionError):  # nobody runs there
        told(answer, b"")
    assert [one[:3] for one in world.problems] == ["28b"] * (answer == InternalError.NONE)


@pytest.mark.parametrize("headless", [False, True])
def test_a_journal_of_an_earlier_process_is_garbage_unless_its_header_is_gone(headless: bool) -> None:
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    node, first = world.nodes[1], owner.first
    with installed(world):
        disk: Disk = SimDisk(node.machine)
        folder = f"{node.machine.root}/journal"
        disk.makedirs(folder)
        fd = disk.open(f"{folder}/{journal_name(*owner.vseg)}", create=True)
        disk.pwritev(fd, [bytes(len(first)) if headless else first, owner.push([KEY], [100])], 0)
        wrong = Garbage(world, Checks(world))._journals(node)
    assert ("still has the journal" in wrong) is not headless


def test_who_is_listed_without_a_copy_is_caught() -> None:
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    checks = Checks(world)
    checks.stores[3] = "c"
    first = CopyTarget(2, "b")
    record = owner.record(100, [first])
    for known, changed in ((None, record), (record, record._replace(backups=(first, CopyTarget(3, "c"))))):
        world.table.apply(Change(1, {changed.key: changed.encode()}, ()))
        checks._changed(
            Change(1, {changed.key: changed.encode()}, ()), {owner.vseg: known} if known is not None else {}
        )
    assert ["rule 17: n3" in problem for problem in world.problems] == [True]


@pytest.mark.parametrize("listed", [ME, OTHER])
def test_who_deletes_a_listed_copy_is_caught_at_once(listed: CopyTarget) -> None:
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    record = owner.record(100, [listed])
    world.table.apply(Change(1, {record.key: record.encode()}, ()))
    deleted: list[Copy] = []
    Checks(world).media._given_up(7, ME, deleted.append, Copy(owner.vseg, "a copy"))
    assert [copy.vseg for copy in deleted] == [owner.vseg]
    assert any("rule 30: n7" in problem for problem in world.problems) == (listed == ME)


def test_who_has_the_store_and_found_it_down_need_not_start_though_it_is_back() -> None:
    world = World(0, replace(plan_of(0), shared=False))
    assert not world.store.down
    assert [world.may_fail(world.nodes[number], STORE_IS_DOWN) for number in (1, 2)] == [True, False]
    assert not world.may_fail(world.nodes[1], "something else")


def test_a_full_disk_keeps_only_a_new_broker_away() -> None:
    world = World(0, plan_of(0))
    node, why = world.nodes[1], "/sim/n1/%s.tmp: No space left on device"
    assert not world.may_fail(node, why % "identity.json")
    node.machine.room = 100
    assert world.may_fail(node, why % "identity.json")
    assert not world.may_fail(node, why % "replicas/state")


@pytest.mark.parametrize("backups", [[], [CopyTarget(2, "b")]])
def test_the_disk_of_who_is_alone_with_something_does_not_fail(backups: list[CopyTarget]) -> None:
    """Its backups had been killed, and it was in doubt whether anything else than its own file, which no sync
    was for, had been acknowledged (seed 30031554)."""
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    Checks(world)
    record = owner.record(None, backups)._replace(node_id=1)
    world.table.apply(Change(1, {record.key: record.encode()}, ()))
    machine = world.machines[1]
    machine.fail_next = "sync"
    with contextlib.suppress(OSError):
        machine.trouble("sync", "/sim/n1/replicas/fences")
    assert machine.failures == len(backups)


def test_a_copy_that_a_failed_sync_cost_is_none_until_it_is_made_again() -> None:
    """The other one is not to be lost meanwhile: it was, and with it all of a closed virtual segment (seed
    30063704)."""
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    checks, frame = Checks(world), owner.push([KEY], [100])
    checks.stores.update({2: "b", 3: "c"})
    record = owner.record(owner.end, [CopyTarget(2, "b"), CopyTarget(3, "c")])._replace(node_id=1)
    world.table.apply(Change(1, {record.key: record.encode()}, ()))
    machine = world.machines[2]
    with installed(world):
        disk: Disk = SimDisk(machine)
        disk.makedirs(f"{machine.root}/replicas")
        fd = disk.open(f"{machine.root}/replicas/{file_name(owner.vseg)}", create=True)
        machine.fail_next = "sync"
        disk.pwritev(fd, [owner.first, frame], 0)
        with pytest.raises(OSError, match="Input/output"):
            disk.datasync(fd)
        assert [checks.may_lose_disk_meanwhile(number) for number in (2, 3)] == [True, True], "it is cached"
        machine.forget_cached(machine.root)
        assert [checks.may_lose_disk_meanwhile(number) for number in (2, 3)] == [True, False]
        disk.pwritev(fd, [owner.first, frame], 0)
        assert [checks.may_lose_disk_meanwhile(number) for number in (2, 3)] == [True, True]


@pytest.mark.parametrize(
    ("end", "policy", "others"),
    [(None, FlushPolicy.MEMORY, False), (None, FlushPolicy.SYNCED, True), (7, FlushPolicy.MEMORY, True)],
    ids=["open", "every ack was synced", "closed"],
)
def test_a_copy_that_is_in_limbo_after_a_failed_sync_is_not_counted_on(
    end: int | None, policy: FlushPolicy, others: bool
) -> None:
    """Two disks were lost one after the other, and an operator had to say that the third copy is as good as
    it was (seed 30091096)."""
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    checks = Checks(world)
    checks.stores.update({2: "b", 3: "c"})
    backups = [CopyTarget(2, "b"), CopyTarget(3, "c")]
    record = owner.record(end, backups)._replace(node_id=1, policy=policy)
    world.table.apply(Change(1, {record.key: record.encode()}, ()))
    assert [checks.may_lose_disk_meanwhile(number) for number in (2, 3)] == [True, True]
    world.machines[2].make_folder(world.machines[2].root)
    world.machines[2].link(f"{world.machines[2].root}/failed", Inode())
    assert [checks.may_lose_disk_meanwhile(number) for number in (2, 3)] == [True, others]


def referring(frame: bytes) -> bytes:
    """A frame of one chunk, as it is when that is in its segment file already."""
    header, head = decode_frame_header(frame), bytearray(frame[: FRAME_SIZE + ENTRY_SIZE])
    assert header is not None
    head[-4:] = DIRECT.to_bytes(4, "big")  # the flags come last
    vseg = header.vlog, header.owner_epoch, header.vseg
    seal(head, *vseg, header.position, len(head), header.previous, header.durable, 1)
    return bytes(head)


@pytest.mark.parametrize(
    ("since", "journal", "sources", "weakest", "stays"),
    [
        ("found", None, (), FlushPolicy.MEMORY, True),
        ("found", KEPT, (), FlushPolicy.MEMORY, True),
        ("found", "", (), FlushPolicy.MEMORY, False),
        ("found", None, (7,), FlushPolicy.MEMORY, False),
        ("found", None, (), FlushPolicy.SYNCED, False),
        ("written", None, (), FlushPolicy.MEMORY, False),
        ("written", "", (), FlushPolicy.MEMORY, False),
        ("direct", "", (), FlushPolicy.MEMORY, True),
        ("direct", KEPT, (), FlushPolicy.MEMORY, False),
        ("direct", "", (7,), FlushPolicy.MEMORY, False),
        ("direct and not", "", (), FlushPolicy.MEMORY, False),
    ],
)
def test_a_failed_sync_does_not_cost_what_was_in_the_page_cache_only(
    since: str, journal: str | None, sources: tuple[int, ...], weakest: FlushPolicy, stays: bool
) -> None:
    """The start had given its journal back, as it does where acks wait for no sync, and the partition has one
    copy (seed 30066152); or the journal only refers to a large chunk (seed 30069586). Of what else was
    written since then a journal must have all."""
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    Checks(world)
    topic = TopicRecord("t", KEY[0], 1, 1, 1, {}, False, weakest=weakest)
    streamlet = StreamletRecord(KEY[0], 0, 1, 1, (1,), sources=sources)
    world.image = load_image(1, [entry(one) for one in (topic, streamlet)])
    frames, machine = [owner.push([KEY], [size]) for size in (100, 200)], world.machines[1]
    if since.startswith("direct"):
        frames[1] = referring(frames[1])
    if since == "direct and not":
        owner.push([KEY], [300])
    synced, *others = (data for _, _, _, data, _ in owner.chunks)
    unsynced = b"".join(others)
    segment = f"{partition_directory(machine.root, KEY[0], 1, 0)}/{segment_stem(0, 0, 0)}{CHUNKS}"
    with installed(world):
        disk: Disk = SimDisk(machine)
        for folder in (segment.rpartition("/")[0], f"{machine.root}/journal"):
            disk.makedirs(folder)
        if journal is not None:
            fd = disk.open(f"{machine.root}/journal/{journal_name(*owner.vseg)}{journal}", create=True)
            disk.pwritev(fd, [owner.first, *frames], 0)
        fd = disk.open(segment, create=True)
        disk.pwritev(fd, [synced], 0)
        disk.datasync(fd)
        if since != "found":
            machine.begin()
        disk.pwritev(fd, [unsynced], len(synced))
        if since == "found":
            machine.begin()
        machine.fail_next = "sync"
        with pytest.raises(OSError, match="Input/output"):
            disk.datasync(fd)
        machine.begin()
        machine.forget_cached(machine.root)
        left = unsynced if stays else bytes(len(unsynced))
        assert disk.pread(fd, 1000, 0) == synced + left


def test_what_comes_back_behind_where_a_later_leader_began_is_caught() -> None:
    world = World(0, plan_of(0))
    leaders = {(*KEY, 1): "n2 at first", (*KEY, 2): "n2 again", (*KEY, 4): "n3", (*KEY, 5): "n3"}
    reading, ledger = Reading(world, leaders), Ledger(world, "t", 0, 3)
    ledger.expect_end(2, 7, "n2 again")
    ledger.expect_end(2, 5, "n2 again, and was overtaken")
    ledger.expect_end(5, 8, "n3, as it was")
    for base, epoch in ((4, 1), (5, 2), (8, 3), (8, 4), (8, 5)):
        reading.look_for_stale(ledger, KEY, base, epoch)
    assert not world.problems
    reading.look_for_stale(ledger, KEY, 5, 1)
    assert ["25: t-0 has epoch 1 at 5" in problem for problem in world.problems] == [True]


def sent_at(seconds: float) -> int:
    """A timestamp, ms."""
    return 1_700_000_000_000 + int(seconds * 1000)


def log_of(*batches: tuple[int, int, float]) -> list[bytes]:
    """Chunks of producer 1, two records each: base offset, first sequence, and when they were made, s."""
    chunks = [(base, make_chunk(1, seq, 2, 20, sent_at(made))) for base, seq, made in batches]
    return [base.to_bytes(8, "big") + chunk[8:] for base, chunk in chunks]


def is_state(world: World, chunks: list[bytes], acked: dict[int, int], known: list[bytes]) -> bool:
    """Whether a leader of the log ``chunks`` may know of producers what ``known`` alone tell."""
    reading, ledger = Reading(world, {}), Ledger(world, "t", 0, 3)
    ledger.acked = acked
    state = reading._fold(ledger, known)[0]
    partition: Any = SimpleNamespace(producers=state, log_start_offset=0)
    reading._compare_producers(ledger, partition, reading._fold(ledger, chunks)[0])
    return not world.problems


@pytest.mark.parametrize(
    ("appended", "expiry", "clocks", "is_allowed"),
    [
        (31.2, 20_000, False, True),
        (21.9, 20_000, False, False),
        (31.2, 86_400_000, False, False),
        (31.2, 20_000, True, False),
    ],
)
def test_a_producer_may_have_been_forgotten_before_it_went_on(
    appended: float, expiry: int, clocks: bool, is_allowed: bool
) -> None:
    """A batch that had no leader for 28 s was old when it was appended, and its producer was forgotten a
    moment later. It went on as one that nobody knew (seed 30069103). What it had sent may be known yet."""
    chunks = log_of((0, 0, 1.0), (2, 2, 2.0), (4, 4, 20.0))
    acked = {0: sent_at(1.1), 2: sent_at(2.1), 4: sent_at(appended)}
    for known, is_right in ((chunks[2:], is_allowed), (chunks[1:], False), (chunks, True)):
        world = World(0, replace(plan_of(0), expiry=expiry, clocks=clocks))
        world.loop.now = 40.0
        assert is_state(world, chunks, acked, known) == is_right


@pytest.mark.parametrize(("acked", "is_allowed"), [({2: 31.2}, True), ({2: 21.9}, False), ({}, True)])
def test_a_batch_may_be_there_twice_if_its_producer_was_forgotten_in_between(
    acked: dict[int, float], is_allowed: bool
) -> None:
    world = World(0, replace(plan_of(0), expiry=20_000, clocks=False))
    world.loop.now = 40.0
    reading, ledger = Reading(world, {}), Ledger(world, "t", 0, 3)
    ledger.acked = {base: sent_at(seconds) for base, seconds in acked.items()}
    reading._fold(ledger, log_of((0, 0, 2.0), (2, 0, 2.0)))
    problems = ["S5: t-0 has sequence 0 at 0 and at 2"] * (not is_allowed)
    assert world.problems == problems


def entry(record: TopicRecord | StreamletRecord | BrokerRecord) -> Entry:
    return Entry(record.key, record.encode(), 1)


class Told(Clients):
    """Whoever is asked names these leaders, one after the other; each of them shows an empty log."""

    def __init__(self, world: World, leaders: list[tuple[int, int]]) -> None:
        super().__init__(world)
        self.leaders = leaders

    def find(self, ledger: Ledger) -> tuple[int, int] | None:
        return self.leaders.pop(0) if len(self.leaders) > 1 else self.leaders[0]

    async def ask(self, number: int, work: Callable[[Broker], Awaitable[Any]], line: Any = None) -> Any:
        return 0, 0, {2: 3, 3: 4}.get(number, 4), b""


@pytest.mark.parametrize("is_known", [True, False])
def test_at_the_end_the_log_is_that_of_the_leader_that_the_store_has(
    monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """A message takes 15 s on a slow link. Its sender was fenced and does not know: it shows a log that has
    not what the next leader acknowledged (31, 34)."""
    world = World(0, plan_of(0))
    reading, ledger = Reading(world, {}), Ledger(world, "t", 0, 3)
    topic = TopicRecord("t", KEY[0], 1, 3, 1, {}, False)
    streamlet = StreamletRecord(KEY[0], 0, 3, 4, (2, 3), sources=(8, 9))
    world.image = load_image(1, [entry(one) for one in (topic, streamlet)])
    read: list[int] = []

    def compare(_: Ledger, consumer: Consumer, __: list[bytes]) -> None:
        read.append(consumer.leader)

    monkeypatch.setattr(reading, "compare", compare)
    clients = Told(world, [(2, 3), (2, 3), (3, 4)] if is_known else [(2, 3)])
    world.loop.run_until_complete(reading.read_all(clients, ledger))
    assert read == ([3] if is_known else [])
    assert ["L2: t-0 cannot be read" in problem for problem in world.problems] == [True] * (not is_known)


def test_nothing_is_at_rest_while_somebody_does_not_know_that_it_was_fenced() -> None:
    world = World(0, plan_of(0))
    checks, clients = Checks(world), Clients(world)
    brokers = [BrokerRecord(number, 10 + number, "", 0, None, "", 0, "") for number in world.nodes]
    world.image = load_image(1, [entry(one) for one in brokers])
    for number, node in world.nodes.items():
        process: Any = SimpleNamespace(state=RUNNING)
        broker: Any = SimpleNamespace(_member=SimpleNamespace(epoch=10 + number))
        node.ready, node.process, node.broker = True, process, broker
    assert checks._unsettled(clients, {}) == ""
    world.image = load_image(2, [entry(one) for one in brokers if one.node_id != 2])
    assert checks._unsettled(clients, {}) == "L1: n2 does not know that it was fenced"
    world.image = load_image(3, [entry(one._replace(epoch=99)) for one in brokers])
    assert checks._unsettled(clients, {}) == "L1: n1 does not know that it was fenced"


def test_a_broker_that_is_being_stopped_is_not_at_rest() -> None:
    """Two disks were lost when a third one was about to end, and what it had was given up (seed 13003224)."""
    world = World(0, plan_of(0))
    node = world.nodes[1]
    process: Any = SimpleNamespace(state=RUNNING)
    node.process, node.ready = process, True
    nobody: Any = None
    assert "does not know that it was fenced" in Checks(world)._unsettled(nobody, {})
    node.told_to_stop = process
    assert "does not serve" in Checks(world)._unsettled(nobody, {})


@pytest.mark.parametrize("is_over", [True, False])
def test_what_a_topic_allows_after_an_owner_has_died_is_in_nothing_of_that_owner(is_over: bool) -> None:
    """Its flush policy was weakened while the controller wrote down that nobody has anything in a virtual
    segment of no flush policy (seed 19006888); weakened before, it may be in there (12c)."""
    world, owner = World(0, plan_of(0)), Owner(VsegId(2, 1, 6))
    checks = Checks(world)
    topic = TopicRecord("t", KEY[0], 1, 3, 1, {}, False, weakest=FlushPolicy.TIMED)
    streamlet = StreamletRecord(KEY[0], 0, 4, 1, (4, 3), sources=(owner.vseg.owner_epoch,))
    broker = BrokerRecord(4, owner.vseg.owner_epoch, "", 0, None, "", 0, "")
    weaker = topic._replace(weakest=FlushPolicy.MEMORY)
    record = owner.record(None, [CopyTarget(2, "b")])._replace(policy=FlushPolicy.MEMORY)
    checks.durable[record.id] = record.start + 100

    def change(puts: dict[str, bytes], *deletes: str) -> None:
        before = dict(world.table.vsegs)
        world.table.apply(Change(1, puts, deletes))
        checks._changed(Change(1, puts, deletes), before)

    world.image = load_image(1, [entry(one) for one in (topic, streamlet, broker)])
    change({broker.key: broker.encode(), record.key: record.encode()})
    if not is_over:
        world.image = load_image(2, [entry(one) for one in (weaker, streamlet, broker)])
    world.image = replace(world.image, brokers={})
    change({}, broker.key)
    world.image = load_image(3, [entry(one) for one in (weaker, streamlet)])
    closed = record._replace(end=record.start, backups=())
    change({closed.key: closed.encode()})
    assert ["rule 21" in problem for problem in world.problems] == [True] * (not is_over)
