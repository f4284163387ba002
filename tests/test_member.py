"""What a broker of a cluster remembers for the controller."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kproto import member as members
from kproto.broker import Broker
from kproto.clock import ManualClock
from kproto.config import Settings, load
from kproto.controller.election import Candidate
from kproto.errors import ErrorCode, KafkaError
from kproto.log.partition import Partition
from kproto.member import ClusterMember
from kproto.metadata import CopyTarget, MetadataImage
from kproto.metadata.exchange import encode_refusal
from kproto.metadata.records import ONLINE, BrokerRecord, StreamletRecord
from kproto.metadata.vlogs import Move, VlogTable, VsegId, VsegRecord
from kproto.net.internal import Caller, InternalListener
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.ports import OpenVseg
from kproto.wire.internal import Api, InternalError
from tests.groups.members import members as started


@pytest.mark.parametrize(("advertised", "told"), [("", ("h", 7)), ("b:5", ("b", 5)), ("b:0", ("b", 7))])
def test_where_other_brokers_reach_one(advertised: str, told: tuple[str, int]) -> None:
    """Advertised port 0 is the one that was bound."""
    member: Any = SimpleNamespace(
        _settings=load(None, {"kproto.internal.advertise": advertised}), host="h", port=7
    )
    assert ClusterMember._reached_at(member) == told


def test_members_are_asked_for_the_controller_behind_whom_the_store_names() -> None:
    """A broker that alone cannot reach etcd was fenced as soon as another one became the controller."""
    brokers = {node: BrokerRecord(node, node, "h", 1, None, "h", 2, f"s{node}") for node in (3, 1, 2)}
    member: Any = SimpleNamespace(
        _election=SimpleNamespace(leader=Candidate(2, "h", 2, "s2")),
        _client=SimpleNamespace(image=MetadataImage(1, brokers=brokers)),
    )
    assert ClusterMember._candidates(member) == [2, 1, 3]
    member._election.leader = None
    assert ClusterMember._candidates(member) == [1, 2, 3]
    member._client.image = MetadataImage()
    assert ClusterMember._candidates(member) == []


def test_the_connection_of_somebody_who_was_refused_is_not_the_members(tmp_path: Path) -> None:
    """A copy of its directory was refused at the first try, and let in at the next one: the end of the
    connection it had asked on was taken for the member's."""

    async def body() -> None:
        async with started(tmp_path, 2) as cluster:
            member = cluster.brokers[1]._member
            assert member is not None
            assert member._embedded is not None
            loop = member._embedded
            epoch = cluster.image().brokers[2].epoch
            assert loop.sessions.in_use(2, loop.now())
            for other in (0, epoch - 1):
                member._closed(Caller(2, other))
                assert loop.sessions.in_use(2, loop.now())
            member._closed(Caller(2, epoch))
            assert not loop.sessions.in_use(2, loop.now())

    asyncio.run(body())


def test_a_log_start_that_waits_to_be_stored_does_not_go_back() -> None:
    """Who tells the present one while a later one waits took that from the store, for as long as nobody asked
    for it again (44)."""
    begun: list[object] = []
    member: Any = SimpleNamespace(_starts={}, _begin=begun.append, _propose_starts=object)
    one, again = (cast(Partition, SimpleNamespace(topic_id=b"t" * 16, index=3)) for _ in range(2))
    for offset in (500, 600, 100):
        ClusterMember.note_log_start(member, one, offset)
    assert member._starts == {(b"t" * 16, 3): (one, 600)}
    ClusterMember.note_log_start(member, again, 50)
    assert member._starts == {(b"t" * 16, 3): (again, 50)}, "it was opened anew"
    assert len(begun) == 1


def test_what_is_listed_and_none_is_no_reason_to_let_a_journal_file_go() -> None:
    """Of the last epoch one sound copy is enough, unless it was given away: then, and of those before, as
    many as others can have (12b, 17, 18b). Of two copies none was left to lose after a planned move."""
    brokers = {node: BrokerRecord(node, node, "h", 1, None, "h", 2, f"s{node}") for node in (1, 2, 3)}
    backups = tuple(CopyTarget(node, f"s{node}") for node in (2, 3))
    table = VlogTable()
    member: Any = SimpleNamespace(
        table=table, controller=SimpleNamespace(image=MetadataImage(1, brokers=brokers)), epoch=1
    )
    for denied, given, epoch, lacks in [
        ((), 0, 1, False),
        (((2, 2),), 0, 1, False),
        (((2, 2), (3, 3)), 0, 1, True),
        (((2, 1), (3, 3)), 0, 1, False),
        ((), 1, 1, True),
        ((), 0, 7, False),
        (((2, 2),), 0, 7, True),
    ]:
        table.vsegs[VsegId(1, 1, 1)] = VsegRecord(
            VsegId(1, 1, 1), 1, "s1", 3, 0, 0, 9, backups, denied=denied
        )
        member.epoch = epoch
        table.given_upto = {(1, 1): given}
        assert ClusterMember._lacks_copies(member, 1, 1, 1) is lacks, (denied, given, epoch)
    record = StreamletRecord(b"t" * 16, 0, 1, 3, (1, 2), ONLINE, (1,))
    member.controller.image = MetadataImage(1, brokers=brokers, streamlets={record.topic_id: (record,)})
    member.epoch, table.given_upto = 1, {}
    table.vsegs[VsegId(1, 1, 1)] = VsegRecord(VsegId(1, 1, 1), 1, "s1", 2, 0, 0, 9, backups[:1])
    for moves in (False, True):
        table.moves = {(record.topic_id, 0): Move(record.topic_id, 0, 2, 3, 1)} if moves else {}
        assert ClusterMember._lacks_copies(member, 1, 1, 1) is moves, "what is about to be given away, too"


def test_who_stops_deletes_no_copies_because_nothing_else_ends_it() -> None:
    """It goes on though it hears no controller: what it knows gets as old as the stop is long (30, 34). That
    it was fenced before makes no difference."""

    def retire() -> None:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, "The controller cannot be reached.")

    kept: list[Any] = []
    fenced: list[str] = []
    member: Any = SimpleNamespace(
        replicas=SimpleNamespace(store=SimpleNamespace(keep_all=lambda: kept.append(member._on_fenced))),
        node_id=1,
        epoch=1,
        controller=None,
        fenced=lambda reason: ClusterMember.fenced(member, reason),
        _client=SimpleNamespace(silence=lambda: 3600.0),
        _handing_over=None,
        _settings=load(),
        _vlogs=SimpleNamespace(retire=retire),
    )
    for on_fenced in (fenced.append, None):
        member._on_fenced = on_fenced
        asyncio.run(ClusterMember.leave(member))
        ClusterMember.tick(member)
    assert kept == [fenced.append, None], "before it is no more ended"
    assert not fenced


def test_one_that_waits_for_its_cluster_says_why_and_when_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(members, "TELL_SECONDS", 0.02)
    asyncio.run(_join_in_vain(tmp_path, caplog))
    lines = [text for text in caplog.messages if text.startswith("no controller answers yet")]
    assert [text.rpartition(": ")[2] for text in lines] == [
        "refused the cluster secret",
        "Connection refused",
        "the controller is not there, or hangs",
    ]


def test_one_that_is_put_off_does_not_say_that_no_controller_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(members, "TELL_SECONDS", 0.5)

    async def body() -> None:
        listener = InternalListener("right")
        port = listener.bind("127.0.0.1", 0)
        listener.serve_async(Api.REGISTER, _not_yet)
        listener.accept()
        starting = asyncio.create_task(Broker(_joining(tmp_path, port, "right")).start())
        await asyncio.sleep(4 * members.TELL_SECONDS)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting
        listener.close()

    asyncio.run(body())
    assert caplog.messages == [
        "the controller cannot take this broker yet: KAFKA_STORAGE_ERROR: away",
    ]


def _joining(directory: Path, port: int, secret: str) -> Settings:
    given = {"log.dirs": str(directory), "listeners": "PLAINTEXT://127.0.0.1:0", "node.id": "2"}
    given |= {"kproto.internal.listen": "127.0.0.1:0", "kproto.join": f"127.0.0.1:{port}"}
    return load(None, given | {"kproto.cluster.secret": secret})


async def _not_yet(*_: object) -> tuple[int, tuple[bytes]]:
    """A controller's answer to a registration, while it cannot use its store."""
    return InternalError.REFUSED, (encode_refusal(KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "away")),)


async def _join_in_vain(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Another secret, then nobody, then one that is no controller."""

    async def told(count: int) -> None:
        while sum(text.startswith("no controller answers yet") for text in caplog.messages) < count:
            await asyncio.sleep(0.01)

    listener = InternalListener("right")
    port = listener.bind("127.0.0.1", 0)
    listener.accept()
    starting = asyncio.create_task(Broker(_joining(directory, port, "wrong")).start())
    async with asyncio.timeout(60):
        await told(1)
        await asyncio.sleep(0.2)
        listener.close()
        await told(2)
        listener = InternalListener("wrong")
        listener.bind("127.0.0.1", port)
        listener.accept()
        await told(3)
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    listener.close()


def test_who_waits_for_a_segment_or_a_log_start_goes_on_after_what_nobody_expected(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The task ended: nothing was pushed any more by that virtual log, nor a log start stored."""
    monkeypatch.setattr(members, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(members, "STARTS_SECONDS", 0.0)
    answers: list[Any] = [ValueError("what is this?"), {"backups": [[2, "s2"]]}]
    answers += [ValueError("what is this?"), [True, True], [True]]

    async def propose(kind: str, _: Any) -> Any:
        asked.append(kind)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    asked: list[str] = []
    opened: list[Any] = []
    started: list[int] = []

    def broken(offset: int) -> None:
        raise AssertionError(f"the log cannot start at {offset}")

    first: Any = SimpleNamespace(deleted=False, log_start_offset=0, start_at=broken)
    second: Any = SimpleNamespace(deleted=False, log_start_offset=0, start_at=started.append)
    member: Any = SimpleNamespace(
        controller=SimpleNamespace(propose=propose),
        _clock=ManualClock(),
        _starts={(b"t" * 16, 3): (first, 7), (b"t" * 16, 4): (second, 8)},
    )
    request = OpenVseg(1, 2, 3, FlushPolicy.MEMORY, 0, frozenset())
    asyncio.run(ClusterMember._open_next(member, request, opened.append))
    assert opened == [(CopyTarget(2, "s2"),)]
    asyncio.run(ClusterMember._propose_starts(member))
    assert not member._starts
    assert started == [8]
    assert asked == ["open_vseg", "open_vseg", "starts", "starts", "starts"]
    assert sum(record.exc_info is not None for record in caplog.records) == 2


def test_moves_that_wait_are_looked_at_though_no_image_comes() -> None:
    ticks: list[None] = []
    member: Any = SimpleNamespace(
        _settings=load(), _client=None, _handing_over=SimpleNamespace(tick=lambda: ticks.append(None))
    )
    ClusterMember.tick(member)
    assert ticks
