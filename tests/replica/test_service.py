"""Requests to a backup against a brute-force reading of what the owner made."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.controller.loop import _read_sealed
from kproto.metadata.vlogs import VsegId, VsegRecord
from kproto.net.internal import Caller
from kproto.net.ports import Answer, Done, PeerError
from kproto.replica import catalogs
from kproto.replica.messages import (
    PUSH_ANSWER,
    Look,
    Raw,
    Read,
    ReadAnswer,
    Seal,
    Sealed,
    StateAnswer,
    decode_catalog,
)
from kproto.replica.reading import Extent, verify
from kproto.replica.rules import Worth
from kproto.replica.scrub import Scrub
from kproto.replica.service import ReplicaService
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError
from kproto.wire.push import PUSH_FIRST
from tests.replica.support import ME, OTHERS, TOPIC, MemoryDisk, Metadata, Owner, Replying, Station

VSEG = VsegId(5, 1, 2)
CALLER = Caller(3, 5)
PARTS = [(TOPIC, 0), (TOPIC, 1), (bytes(16), 0), (b"\xff" * 16, 7)]


class LocalPeers:
    """The way to another service in the same loop, as `PeersPort`."""

    def __init__(self) -> None:
        self.services: dict[int, Backup] = {}
        self.answers: Callable[[Answer], Answer] = lambda answer: answer

    def request(self, node_id: int, api: int, pieces: Sequence[Any], done: Done) -> None:
        raise AssertionError("not used here")

    async def call(self, node_id: int, api: int, body: Any = b"", timeout: float = 10.0) -> Answer:
        if node_id not in self.services:
            raise PeerError(f"nobody is {node_id}")
        error, data = self.services[node_id].ask(api, bytes(body))
        return self.answers(Answer(error, memoryview(data)))


class Backup:
    """A service over a store on a disk in memory."""

    def __init__(self, peers: LocalPeers | None = None, read_rate: int = 0) -> None:
        self.station = Station()
        self.service = ReplicaService(self.station.store, peers or LocalPeers(), "data/journal", read_rate)
        self.damage: list[VsegId] = []
        self.service.on_damage = lambda vseg, _problem: self.damage.append(vseg)

    @classmethod
    def of(cls, station: Station) -> Backup:
        """A new process on what a station has."""
        backup = cls()
        backup.station = station
        backup.service = ReplicaService(station.store, LocalPeers(), "data/journal")
        backup.service.on_damage = lambda vseg, _problem: backup.damage.append(vseg)
        return backup

    def ask(self, api: int, body: bytes) -> tuple[int, bytes]:
        handlers = {
            Api.PUSH: self.service.push,
            Api.SEAL: self.service.seal,
            Api.STATE: self.service.state,
            Api.READ: self.service.read,
            Api.CATALOG: self.service.catalog,
            Api.RAW: self.service.raw,
        }
        answers: list[tuple[int, bytes]] = []

        def reply(error: int, *pieces: Any) -> None:
            answers.append((error, b"".join(map(bytes, pieces))))

        handlers[Api(api)](CALLER, memoryview(body), Replying(reply))
        self.station.loop.run()
        assert len(answers) == 1
        return answers[0]

    def hold(self, owner: Owner) -> None:
        for position, frame in owner.frames:
            first = owner.header_for(position)
            body = bytes([PUSH_FIRST]) + first + frame if first else b"\0" + frame
            assert self.ask(Api.PUSH, body) == (0, PUSH_ANSWER.pack(position + len(frame)))

    def apply(self, metadata: Metadata) -> None:
        self.station.store.apply(metadata.table, metadata.live)
        self.station.loop.run()

    def read_all(self, request: Read) -> list[tuple[int, int, int, bytes]]:
        """READ as often as it takes."""
        found = []
        while request.begin < request.end:
            error, body = self.ask(Api.READ, request.encode())
            assert error == 0
            answer = ReadAnswer.decode(body)
            assert answer.next > request.begin
            found += [
                (one.partition, one.base_offset, one.next_offset, bytes(one.data)) for one in answer.chunks
            ]
            request = request._replace(begin=answer.next)
        return found


FRAMES = st.lists(
    st.one_of(
        st.none(), st.lists(st.tuples(st.integers(0, 3), st.integers(61, 400)), min_size=1, max_size=6)
    ),
    min_size=1,
    max_size=12,
)


def owner_of(frames: Sequence[Sequence[tuple[int, int]] | None], start: int = 0) -> Owner:
    """None: a state frame."""
    owner = Owner(VSEG, start)
    for frame in frames:
        if frame is None:
            owner.push_state()
        else:
            owner.push([PARTS[i] for i, _ in frame], [size for _, size in frame])
    return owner


@settings(max_examples=150, deadline=None)
@given(
    frames=FRAMES,
    start=st.sampled_from([0, 123_456]),
    wanted=st.lists(st.integers(0, 3), unique=True, max_size=4),
    max_bytes=st.sampled_from([1, 500, 100_000]),
    cut=st.integers(0, 12),
    at_least=st.integers(0, 30),
)
def test_reads_states_and_catalogs_are_what_the_owner_made(
    frames: Sequence[Sequence[tuple[int, int]] | None],
    start: int,
    wanted: list[int],
    max_bytes: int,
    cut: int,
    at_least: int,
) -> None:
    owner, backup = owner_of(frames, start), Backup()
    backup.hold(owner)
    keys = [PARTS[i] for i in wanted]
    edges = [position for position, _ in owner.frames] + [owner.end]
    end = edges[min(cut, len(edges) - 1)]
    expected = [
        (keys.index(key), base, after, data)
        for key, base, after, data, position in owner.chunks
        if key in keys and position < end
    ]
    assert backup.read_all(Read(VSEG, start, end, keys, max_bytes)) == expected
    offsets = [at_least] * len(keys)
    assert backup.read_all(Read(VSEG, start, end, keys, max_bytes, offsets)) == [
        one for one in expected if one[2] > at_least
    ]

    error, body = backup.ask(Api.CATALOG, Look(VSEG, end, keys).encode())
    assert error == 0
    for i, row in enumerate(decode_catalog(body)):
        mine = [one for one in owner.chunks if one[0] == keys[i] and one[4] < end]
        if mine:
            size = sum(len(one[3]) for one in mine)
            assert row == (min(one[1] for one in mine), max(one[2] for one in mine), size, mine[0][4])
        else:
            assert row.frame == -1

    error, body = backup.ask(Api.STATE, Look(VSEG, end, keys).encode())
    assert error == 0
    answer = StateAnswer.decode(body)
    below = [state for state in owner.states if state[0] < end]
    assert answer.position == (below[-1][0] if below else -1)
    if below:
        assert answer.after == edges[edges.index(answer.position) + 1]
        snapshots = {(one.topic_id, one[1]): one for one in below[-1][1]}
        assert {keys[one.partition]: one[1:] for one in answer.states} == {
            key: snapshots[key][2:] for key in keys if key in snapshots
        }
    else:
        assert answer.after == start
        assert not answer.states


def two_frames() -> Owner:
    return owner_of([[(0, 300), (1, 200)], None, [(0, 250)]])


def test_seal_answers_and_fences() -> None:
    backup, owner = Backup(), two_frames()
    backup.hold(owner)
    error, body = backup.ask(Api.SEAL, Seal(VSEG, 6, ME.store_id).encode())
    assert error == 0
    assert Sealed.decode(body) == Sealed(owner.end, False, durable=owner.frames[-1][0])
    frame = owner.push([PARTS[0]], [300])
    assert backup.ask(Api.PUSH, b"\0" + frame)[0] == InternalError.FENCED
    assert backup.ask(Api.SEAL, Seal(VSEG, 6, "wiped").encode())[0] == InternalError.UNKNOWN
    error, body = backup.ask(Api.SEAL, Seal(VsegId(9, 1, 1), 10).encode())
    assert Sealed.decode(body) == Sealed(-1, False)


class TestWhoAnswersForOthers:
    """24c: a process knows what it once stored, not what the medium made of it."""

    @staticmethod
    def seal(backup: Backup, thorough: bool = True) -> Sealed:
        error, body = backup.ask(Api.SEAL, Seal(VSEG, 6, ME.store_id, thorough=thorough).encode())
        assert error == 0
        return Sealed.decode(body)

    def test_a_sound_copy_answers_the_same_and_is_read_as_before(self) -> None:
        backup, owner = Backup(), two_frames()
        backup.hold(owner)
        assert self.seal(backup) == self.seal(backup, False)
        backup.apply(closed := Metadata(5))
        closed.put(owner.record(owner.end))
        backup.apply(closed)
        assert len(backup.read_all(Read(VSEG, 0, owner.end, PARTS, 1000))) == len(owner.chunks)

    def test_of_what_it_has_nothing_of_it_says_so(self) -> None:
        assert self.seal(Backup()) == Sealed(-1, False)

    @pytest.mark.parametrize("frame", [0, 1])
    def test_damage_anywhere_shows_though_the_process_had_it_whole(self, frame: int) -> None:
        """In the last frame, too: this was not torn, for it was there."""
        backup, owner = Backup(), two_frames()
        backup.hold(owner)
        begin = owner.frames[frame][0]
        backup.station.file(VSEG)[FILE_HEADER_SIZE + begin + 70] ^= 1
        assert self.seal(backup, False).position == owner.end, "nobody has looked"
        answer = self.seal(backup)
        assert (answer.position, answer.limbo) == (begin, True)
        assert self.seal(backup, False) == answer, "it is known from now on"

    @pytest.mark.parametrize("what", ["gone", "unreadable"])
    def test_a_file_that_is_gone_or_cannot_be_read_is_no_copy(self, what: str) -> None:
        """Nor one of something that it never had: what it acknowledged would be nobody's."""
        backup, owner = Backup(), two_frames()
        backup.hold(owner)
        station = backup.station
        if what == "gone":
            station.disk.unlink(station.store.path_of(VSEG))
        else:

            def fail(name: str) -> None:
                if name == "read":
                    raise OSError(errno.EIO, os.strerror(errno.EIO))

            station.disk.fail = fail
        assert self.seal(backup) == Sealed(0, True)
        assert backup.ask(Api.READ, Read(VSEG, 0, 1, PARTS, 10, fence=6).encode())[0] == InternalError.LIMBO

    @pytest.mark.parametrize("start", [0, 5000])
    @pytest.mark.parametrize("while_it_reads", [False, True])
    def test_nothing_is_cut_off_one_that_is_closed_as_it_turns_out_to_be_damaged(
        self, start: int, while_it_reads: bool
    ) -> None:
        """Others were back, and decided: this one is listed. What behind the damage is sound was cut off, or,
        for a length below zero, the directory was poisoned."""
        backup, owner, metadata = Backup(), owner_of([[(0, 300)], [(1, 200)], [(0, 100)]], start), Metadata(5)
        backup.hold(owner)
        metadata.put(owner.record())
        backup.apply(metadata)
        station = backup.station
        size = len(station.file(VSEG))
        station.file(VSEG)[20] ^= 1  # its header: nothing of it can be read
        metadata.put(owner.record(owner.end))
        if while_it_reads:
            body = Seal(VSEG, 6, ME.store_id, thorough=True).encode()
            backup.service.seal(CALLER, memoryview(body), Replying(lambda *_: None))
            while not station.store.copies[VSEG].pins:
                callback, arguments = station.loop.ready.popleft()
                callback(*arguments)
        else:
            self.seal(backup)
        backup.apply(metadata)
        station.loop.run(5.0)
        assert not station.store.poisoned
        assert len(station.file(VSEG)) == size
        assert set(backup.damage) == {VSEG}, "somebody must repair it"
        assert station.store.unfit() == [VSEG]

    def test_its_file_is_not_used_again(self) -> None:
        backup, owner, metadata = Backup(), owner_of([[(0, 900_000)], [(0, 400_000)]]), Metadata(5)
        backup.hold(owner)
        metadata.put(owner.record())
        backup.apply(metadata)
        backup.station.file(VSEG)[FILE_HEADER_SIZE + 170] ^= 1
        self.seal(backup)
        metadata.put(owner.record(owner.end, OTHERS))
        backup.apply(metadata)
        backup.station.loop.run(5.0)
        assert VSEG not in backup.station.store.copies
        assert not backup.station.store.files._spares

    def test_one_read_that_fails_is_tried_again(self) -> None:
        """Else nobody would count it as a copy until the process ends."""
        backup, owner = Backup(), two_frames()
        backup.hold(owner)
        whole, failures = self.seal(backup, False), ["read"]

        def fail(name: str) -> None:
            if name in failures:
                failures.remove(name)
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        backup.station.disk.fail = fail
        assert self.seal(backup) == whole
        assert not failures


def test_a_store_that_does_not_know_yet_what_it_should_have_is_asked_again() -> None:
    """Found by simulation (seed 430549): asked right after it had registered, before it had any metadata, it
    said limbo of a file that was never begun. That counts until its next start."""
    station, metadata = Station(), Metadata(5)
    station.lose_power(1)
    backup = Backup.of(station)
    owner = Owner(VSEG, policy=FlushPolicy.SYNCED)
    body = Seal(VSEG, 6, ME.store_id).encode()
    error, answer = backup.ask(Api.SEAL, body)
    assert error == InternalError.WAIT
    assert _read_sealed(Answer(error, memoryview(answer))) is None, (
        "the controller does not take it for limbo"
    )
    assert 5 in station.store.fences.epochs
    metadata.put(owner.record())
    backup.apply(metadata)
    assert backup.ask(Api.SEAL, body) == (0, Sealed(-1, False).encode())


@pytest.mark.parametrize("api", [Api.STATE, Api.READ, Api.CATALOG])
def test_recovery_reads_fence_like_seals(api: Api) -> None:
    """Rule 20: a reader that counts on the end it sees must not be overtaken by a late push."""
    backup, owner = Backup(), two_frames()
    backup.hold(owner)
    if api is Api.READ:
        body = Read(VSEG, 0, owner.end, PARTS, 1000, fence=6).encode()
    else:
        body = Look(VSEG, owner.end, PARTS, fence=6).encode()
    assert backup.ask(api, body)[0] == 0
    assert backup.station.store.fences.epochs == {5}
    assert backup.ask(Api.PUSH, b"\0" + owner.push([PARTS[0]], [300]))[0] == InternalError.FENCED


def informed(record: VsegRecord) -> Backup:
    """One without a copy, which has heard of ``record``."""
    backup, metadata = Backup(), Metadata(5)
    metadata.put(record)
    backup.apply(metadata)
    return backup


def test_a_copy_that_ends_earlier_says_so() -> None:
    owner = two_frames()
    backup = informed(owner.record(None))
    backup.hold(owner)
    assert backup.ask(Api.READ, Read(VSEG, 0, owner.end + 1, PARTS, 1000).encode())[0] == InternalError.GAP
    assert backup.ask(Api.STATE, Look(VSEG, owner.end + 1, PARTS).encode())[0] == InternalError.GAP
    assert backup.ask(Api.READ, Read(VsegId(5, 1, 3), 0, 1, PARTS, 1).encode())[0] == InternalError.UNKNOWN
    assert backup.ask(Api.RAW, Raw(VsegId(5, 1, 3), 0, 10).encode())[0] == InternalError.UNKNOWN


def test_what_lies_behind_the_end_in_metadata_is_not_shown() -> None:
    """Rule 15."""
    backup, owner, metadata = Backup(), two_frames(), Metadata(5)
    backup.hold(owner)
    end = owner.frames[1][0]
    metadata.put(owner.record(end))
    backup.apply(metadata)
    assert len(backup.read_all(Read(VSEG, 0, end, PARTS, 10_000))) == 2
    error, body = backup.ask(Api.READ, Read(VSEG, 0, owner.end, PARTS, 10_000).encode())
    assert error == 0
    assert ReadAnswer.decode(body).next == end
    error, body = backup.ask(Api.RAW, Raw(VSEG, 0, 1 << 20).encode())
    assert body == owner.first + owner.frames[0][1]
    error, body = backup.ask(Api.STATE, Look(VSEG, owner.end, PARTS).encode())
    assert StateAnswer.decode(body).position == -1


@pytest.mark.parametrize(
    "at", [FILE_HEADER_SIZE + 20, FILE_HEADER_SIZE + 70, FILE_HEADER_SIZE + 60 + 136 + 100]
)
def test_damage_is_never_handed_out(at: int) -> None:
    backup, owner, metadata = Backup(), two_frames(), Metadata(5)
    backup.hold(owner)
    metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    backup.station.file(VSEG)[at] ^= 1
    assert backup.ask(Api.READ, Read(VSEG, 0, owner.end, PARTS, 1000).encode())[0] == InternalError.CONFLICT
    assert backup.damage == [VSEG]
    assert backup.station.store.unfit() == [VSEG], "somebody must repair it"
    assert backup.ask(Api.READ, Read(VSEG, 0, owner.end, PARTS, 1000).encode())[0] == InternalError.GAP


def test_a_copy_for_which_there_is_no_descriptor_is_not_damaged() -> None:
    """It was disowned, and was an error for whoever read it until the process ended."""
    backup, owner, metadata = Backup(), two_frames(), Metadata(5)
    backup.hold(owner)
    metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    refusals: list[str] = []

    def crowded(operation: str) -> None:
        if operation == "open" and len(refusals) % 2 == 0:
            refusals.append(operation)
            raise OSError(errno.EMFILE, "made up")
        refusals.append(operation)

    backup.station.disk.fail = crowded
    assert backup.ask(Api.RAW, Raw(VSEG, 0, 1 << 20).encode())[0] == InternalError.NONE
    assert backup.ask(Api.CATALOG, Look(VSEG, owner.end, PARTS[:2]).encode())[0] == InternalError.NONE
    whole = Extent(backup.station.store.path_of(VSEG), VSEG, FILE_HEADER_SIZE, 0, owner.end)
    assert verify(backup.station.disk, whole, 0, 1 << 20) == owner.end
    assert refusals.count("open") > 3
    assert not backup.damage


VSEG_FIELDS = b'"E":5,"vlog":1,"seq":2'
RUBBISH = [b"", b"[]", b"{", b"{}", b'{"E":-1,"vlog":1,"seq":1}', b'{"E":"5","vlog":1,"seq":1}', b"\xff" * 9]
PARTITIONS = [b"7", b"[7]", b'[["zz",0]]', b"[[1,2,3]]", b'[["00",0]]', b'[["' + b"00" * 16 + b'",-1]]']


@pytest.mark.parametrize("api", [Api.SEAL, Api.STATE, Api.READ, Api.CATALOG, Api.RAW])
@pytest.mark.parametrize("body", RUBBISH)
def test_rubbish_ends_the_connection(api: Api, body: bytes) -> None:
    with pytest.raises(WireError):
        Backup().ask(api, body)


@pytest.mark.parametrize("api", [Api.STATE, Api.READ, Api.CATALOG])
@pytest.mark.parametrize("partitions", PARTITIONS)
def test_so_do_partitions_that_are_none(api: Api, partitions: bytes) -> None:
    body = b'{%b,"from":0,"end":0,"max_bytes":9,"partitions":%b}' % (VSEG_FIELDS, partitions)
    with pytest.raises(WireError):
        Backup().ask(api, body)


@pytest.mark.parametrize(
    "more", [b'"from":1.5', b'"from":true', b'"from":-1', b'"fence":-2', b'"offsets":[1]']
)
def test_and_numbers_out_of_range(more: bytes) -> None:
    body = b'{%b,"from":0,"end":0,"max_bytes":9,"partitions":[],%b}' % (VSEG_FIELDS, more)
    with pytest.raises(WireError):
        Backup().ask(Api.READ, body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0",
        b"\1",
        b"\3",
        b"\0rubbish",
        b"\3rubbish",
        b"\1" + bytes(400),
        b"\3" + bytes(400),
        b"\0" + bytes(100),
    ],
)
def test_a_push_of_rubbish_is_a_bad_request(body: bytes) -> None:
    assert Backup().ask(Api.PUSH, body)[0] == InternalError.BAD_REQUEST


class TestCatalogFiles:
    def held(self) -> tuple[Backup, Owner, bytes]:
        backup, owner, metadata = Backup(), two_frames(), Metadata(5)
        backup.hold(owner)
        metadata.put(owner.record(owner.end))
        backup.apply(metadata)
        return backup, owner, Look(VSEG, owner.end, PARTS).encode()

    def test_it_is_kept_beside_a_closed_copy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        backup, _, look = self.held()
        made = backup.ask(Api.CATALOG, look)
        backup.station.store.copies[VSEG].catalog = None
        monkeypatch.setattr(catalogs, "catalogue", lambda *_: pytest.fail("read again"))
        assert backup.ask(Api.CATALOG, look) == made

    @pytest.mark.parametrize("at", [0, 9, 20, 60, -1])
    def test_a_damaged_one_is_made_anew(self, at: int) -> None:
        backup, _, look = self.held()
        made = backup.ask(Api.CATALOG, look)
        path = backup.station.store.path_of(VSEG) + ".catalog"
        backup.station.disk.content(path)[at] ^= 1
        backup.station.store.copies[VSEG].catalog = None
        assert backup.ask(Api.CATALOG, look) == made

    def test_making_it_reads_the_heads_of_frames_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        backup, metadata = Backup(), Metadata(5)
        owner = owner_of([[(0, 60_000), (1, 40_000)], [(2, 90_000)], None, [(0, 70_000)]])
        backup.hold(owner)
        metadata.put(owner.record(owner.end))
        backup.apply(metadata)
        read: list[int] = []
        pread = MemoryDisk.pread

        def counted(disk: MemoryDisk, fd: int, length: int, position: int) -> bytes:
            data = pread(disk, fd, length, position)
            read.append(len(data))
            return data

        monkeypatch.setattr(MemoryDisk, "pread", counted)
        error, body = backup.ask(Api.CATALOG, Look(VSEG, owner.end, PARTS).encode())
        assert error == 0
        assert [row.bytes for row in decode_catalog(body)] == [
            sum(len(one[3]) for one in owner.chunks if one[0] == key) for key in PARTS
        ]
        assert sum(read) < (owner.end - owner.start) // 3

    def test_a_copy_that_was_cut_behind_a_head_has_none(self) -> None:
        backup, owner, look = self.held()
        content = backup.station.disk.content(backup.station.store.path_of(VSEG))
        del content[FILE_HEADER_SIZE + owner.end - owner.start - 1 :]
        assert backup.ask(Api.CATALOG, look)[0] == InternalError.CONFLICT

    def test_it_goes_with_its_copy(self) -> None:
        backup, owner, look = self.held()
        backup.ask(Api.CATALOG, look)
        metadata = Metadata(5)
        metadata.put(owner.record(owner.end, OTHERS))
        backup.apply(metadata)
        backup.station.loop.run(1.0)
        names = backup.station.disk.listdir(backup.station.store.directory)
        assert not [name for name in names if name.startswith("0")]


class TestPace:
    """One backup reads no more for recoveries and repairs than it may; clients' reads only count."""

    RATE = 1 << 20
    callers = 0

    def backup(self) -> tuple[Backup, Owner]:
        backup = Backup(read_rate=self.RATE)
        owner = owner_of([[(0, 200_000)]] * 4)
        backup.hold(owner)
        return backup, owner

    def begin(self, backup: Backup, api: int, body: bytes) -> list[float]:
        """Times at which answers came, none at first."""
        times: list[float] = []
        handler = backup.service.read if api == Api.READ else backup.service.raw
        clock = backup.station.loop
        self.callers += 1  # each is somebody else

        def reply(error: int, *_pieces: Any) -> None:
            assert error == 0
            times.append(clock.now)

        handler(Caller(self.callers, 5), memoryview(body), Replying(reply))
        return times

    def test_background_reads_and_repairs_share_the_rate(self) -> None:
        backup, owner = self.backup()
        read = Read(VSEG, 0, owner.end, PARTS[:1], 1, background=True).encode()
        raw = Raw(VSEG, 0, 200_000).encode()
        asked = [self.begin(backup, api, read if api == Api.READ else raw) for api in [Api.READ, Api.RAW] * 4]
        began = backup.station.loop.now
        backup.station.loop.run(60)
        times = [found[0] - began for found in asked]
        assert all(len(found) == 1 for found in asked)
        assert times == sorted(times)
        assert times[0] == 0
        assert times[-1] >= (8 - 1) * 200_000 / self.RATE * 0.4
        assert backup.service.pace.bytes >= 4 * 200_000 + 4 * backup.service.pace.turn(200_000)
        assert backup.service.pace.waited > 0

    def test_it_takes_as_long_as_the_bytes_do(self) -> None:
        backup, _ = self.backup()
        raw = Raw(VSEG, 0, 50_000).encode()
        asked = [self.begin(backup, Api.RAW, raw) for _ in range(21)]
        began = backup.station.loop.now
        backup.station.loop.run(60)
        assert asked[-1][0] - began == pytest.approx(20 * 50_000 / self.RATE)

    def test_what_somebody_waits_for_is_read_at_once_and_counts(self) -> None:
        backup, owner = self.backup()
        for _ in range(5):
            urgent = Read(VSEG, 0, owner.end, PARTS[:1], 1 << 20).encode()
            times = self.begin(backup, Api.READ, urgent)
            backup.station.loop.run()
            assert times == [backup.station.loop.now]
        began = backup.station.loop.now
        later = self.begin(backup, Api.RAW, Raw(VSEG, 0, 1000).encode())
        backup.station.loop.run(60)
        assert later[0] - began == pytest.approx(5 * 800_000 / self.RATE, rel=0.01)

    def test_a_copy_stays_while_somebody_waits_his_turn(self) -> None:
        backup, owner = self.backup()
        metadata = Metadata(5)
        metadata.put(owner.record(owner.end))
        backup.apply(metadata)
        self.begin(backup, Api.READ, Read(VSEG, 0, owner.end, PARTS[:1], 1 << 20).encode())
        for _ in range(24):
            self.begin(backup, Api.RAW, Raw(VSEG, 0, 800_000).encode())
        waiting = self.begin(backup, Api.RAW, Raw(VSEG, 0, 1000).encode())
        metadata.put(owner.record(owner.end, OTHERS))
        backup.apply(metadata)
        backup.station.loop.run(2.0)
        assert not waiting
        backup.station.loop.run(60)
        assert len(waiting) == 1
        assert backup.damage == []

    def test_without_a_limit_nothing_waits(self) -> None:
        backup = Backup()
        owner = owner_of([[(0, 200_000)]])
        backup.hold(owner)
        for _ in range(20):
            assert backup.ask(Api.RAW, Raw(VSEG, 0, 200_000).encode())[0] == 0
        assert backup.service.pace.bytes == 20 * 200_000


def scrubbing(*owners: Owner, frames: int) -> tuple[Backup, Scrub]:
    """A backup with closed copies of so many frames of each owner, and a scrub of it that has begun."""
    backup, metadata = Backup(LocalPeers()), Metadata(5)
    for owner in owners:
        for _ in range(frames):
            owner.push(PARTS, [300, 200, 100, 90])
        backup.hold(owner)
        metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    scrub = Scrub(backup.service, piece_bytes=2000, pause_s=1.0, round_s=1000.0)
    scrub.start()
    return backup, scrub


class TestScrub:
    """Rule 37."""

    @pytest.mark.parametrize("at", [-20, 9], ids=["in a chunk", "in the head of the file"])
    def test_damage_is_found_without_a_reader(self, at: int) -> None:
        owners = [Owner(VsegId(5, 1, seq)) for seq in range(1, 4)]
        backup, scrub = scrubbing(*owners, frames=20)
        backup.station.loop.run(200.0)
        assert scrub.rounds == 1
        assert scrub.bytes == sum(owner.end - owner.start for owner in owners)
        assert not backup.damage
        place = at if at >= 0 else owners[1].end + at
        backup.station.file(owners[1].vseg)[place] ^= 1
        backup.station.loop.run(1100.0)
        assert scrub.rounds == 2
        assert backup.damage == [owners[1].vseg]
        scrub.stop()
        backup.station.loop.run(5000.0)
        assert scrub.rounds == 2

    def test_what_is_missing_or_short_is_reported(self) -> None:
        """Rule 33: a broker says what it lacks of what it is listed for."""
        backup, metadata, owner = Backup(), Metadata(5), two_frames()
        backup.hold(owner)
        lost = Owner(VsegId(5, 1, 9))
        metadata.put(owner.record(owner.end + 1))
        metadata.put(lost.record(100))
        metadata.put(Owner(VsegId(5, 1, 10)).record(0))
        backup.apply(metadata)
        assert backup.damage == [owner.vseg], "as it is closed, and has no bytes that count to be synced"
        scrub = Scrub(backup.service, pause_s=1.0)
        scrub.start()
        backup.station.loop.run(10.0)
        assert backup.damage[1:] == [owner.vseg, lost.vseg, owner.vseg]

    def test_after_a_power_loss_whole_files_are_looked_at(self) -> None:
        backup, metadata, owner = Backup(), Metadata(5), two_frames()
        backup.hold(owner)
        metadata.put(owner.record(owner.end))
        station = backup.station
        station.lose_power(4)
        station.store.apply(metadata.table, metadata.live)
        service = ReplicaService(station.store, LocalPeers(), "data/journal")
        damage: list[VsegId] = []
        service.on_damage = lambda vseg, _problem: damage.append(vseg)
        Scrub(service, pause_s=1.0).start()
        station.loop.run(10.0)
        assert damage == [VSEG], "what was never synced is gone, or torn"

    def test_a_file_that_turns_out_to_have_no_header_is_reported(self) -> None:
        """Its name survived the power loss, its bytes did not."""
        backup, metadata, owner = Backup(), Metadata(5), two_frames()
        backup.hold(owner)
        metadata.put(owner.record(owner.end))
        station = backup.station
        station.file(owner.vseg)[:200] = bytes(200)
        station.restart()
        backup = Backup.of(station)
        backup.apply(metadata)
        Scrub(backup.service, pause_s=1.0).start()
        station.loop.run(10.0)
        assert backup.damage == [VSEG]


@pytest.mark.parametrize(
    ("limit", "most", "kept"), [("KEPT", 3, 3), ("ROWS_KEPT", 7, 3), ("ROWS_KEPT", 1, 1)]
)
def test_only_so_many_catalogs_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, kept: int
) -> None:
    monkeypatch.setattr(catalogs, limit, most)
    backup = Backup()
    owners = [Owner(VsegId(5, 1, seq)) for seq in range(6)]
    for owner in owners:
        owner.push(PARTS[:2], [100, 100])
        backup.hold(owner)
        assert backup.ask(Api.CATALOG, Look(owner.vseg, owner.end, PARTS).encode())[0] == 0
    gone = [backup.station.store.copies[owner.vseg].catalog is None for owner in owners]
    assert gone == [True] * (6 - kept) + [False] * kept


def test_a_catalog_that_cannot_be_kept_is_no_damage_of_the_copy() -> None:
    """A full disk: the answer comes all the same, and the copy stays eligible."""
    backup, metadata, owner = Backup(), Metadata(5), two_frames()
    backup.hold(owner)
    metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    disk = backup.station.disk

    def full(operation: str) -> None:
        if operation == "write":
            raise OSError(errno.ENOSPC, "full")

    disk.fail = full
    assert backup.ask(Api.CATALOG, Look(owner.vseg, owner.end, PARTS).encode())[0] == 0
    store = backup.station.store
    assert store.worth(owner.vseg, store.copies[owner.vseg]) is Worth.USE
    assert backup.damage == []
