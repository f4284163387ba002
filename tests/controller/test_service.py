"""The controller over real sockets: brokers register, follow, propose, die, and learn of their fences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from kproto.clock import SystemClock
from kproto.config import load
from kproto.controller import Controller, NewTopic
from kproto.controller import service as service_module
from kproto.controller.loop import ControllerLoop
from kproto.controller.registration import Registration
from kproto.controller.service import ControllerService
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import BrokerRecord, MetadataImage
from kproto.metadata.client import MetadataClient
from kproto.metadata.memory import MemoryStore
from kproto.metadata.records import ONLINE, RECOVERING, StreamletRecord
from kproto.net.internal import Caller, InternalListener
from kproto.net.peers import Peers
from kproto.replica import messages
from kproto.wire.internal import Api, InternalError, encode_json

from .worlds import run

SECRET = "s"
SESSION_MS = 90_000


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> float:
    """Wait for a condition; how long that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "waited in vain"
        await asyncio.sleep(0.002)
    return time.monotonic() - began


class Head:
    """The broker with the controller, node 1."""

    def __init__(self, session_ms: int = SESSION_MS) -> None:
        self.settings = load(overrides={"broker.session.timeout.ms": str(session_ms)})
        self.listener = InternalListener(SECRET, node_id=1)
        self.peers = Peers(1, SECRET, self.address_of, lambda: 1)
        self.controller = Controller(MemoryStore(), self.settings, 1)
        self.control = ControllerLoop(
            self.controller, self.peers, self.peers.refused, SystemClock(), self.settings
        )

    async def start(self) -> None:
        await self.controller.start()
        ControllerService(self.controller, self.control, self.listener, self.answer)
        self.listener.on_closed = self.on_closed
        self.peers.on_lost = self.control.lost
        self.port = self.listener.bind("127.0.0.1", 0)
        self.listener.accept()
        own = Registration(1, "h1", 9092, None, "127.0.0.1", self.port, "store1")
        await self.controller.register_broker(own)
        self.control.start()

    def start_again(self) -> None:
        """The controller's loop and listener were closed; they begin anew with what is stored."""
        self.listener = InternalListener(SECRET, node_id=1)
        self.control = ControllerLoop(
            self.controller, self.peers, self.peers.refused, SystemClock(), self.settings
        )
        ControllerService(self.controller, self.control, self.listener, self.answer)
        self.listener.bind("127.0.0.1", self.port)
        self.listener.accept()
        self.control.start(took_over=True)

    def on_closed(self, caller: Caller) -> None:
        self.control.lost(caller.node_id)

    async def answer(self, frame: memoryview, peer: str) -> bytes:
        if frame == b"refuse":
            raise KafkaError(ErrorCode.POLICY_VIOLATION, "not this")
        return peer.encode() + b" asked " + bytes(frame)

    def address_of(self, node_id: int) -> tuple[str, int] | None:
        broker = self.controller.image.brokers.get(node_id)
        return (broker.internal_host, broker.internal_port) if broker is not None else None

    async def stop(self) -> None:
        await self.control.close()
        self.listener.close()
        self.peers.close()


class Member:
    """Another broker: a client of the controller, a listener that answers SEAL."""

    def __init__(self, head: Head, node: int, store: str = "") -> None:
        self.node, self.store, self.position = node, store or f"store{node}", 640
        self.listener = InternalListener(SECRET, node_id=node)
        self.listener.serve(Api.SEAL, self.seal)
        self.port = self.listener.bind("127.0.0.1", 0)
        self.listener.accept()
        port = head.port
        self.peers = Peers(node, SECRET, lambda _: ("127.0.0.1", port), lambda: self.client.epoch)
        self.client = MetadataClient(self.peers, lambda: [1], head.settings.broker_session_timeout_ms)
        self.fenced: list[str] = []
        self.seals = 0

    def seal(self, caller: Caller, body: memoryview, reply: Callable[..., None]) -> None:
        self.seals += 1
        reply(InternalError.NONE, messages.Sealed(self.position, False).encode())

    def record(self) -> BrokerRecord:
        return BrokerRecord(self.node, 0, "h", 9092, None, "127.0.0.1", self.port, self.store)

    async def join(self) -> None:
        self.client.on_fenced = self.fenced.append
        await self.client.register(self.record(), 5)
        self.client.start()

    async def die(self) -> None:
        """As a killed process: listener and connections go at once."""
        self.listener.close()
        self.peers.close()
        await self.client.close()


def with_cluster(members: int, body: Callable[..., Awaitable[None]], session_ms: int = SESSION_MS) -> None:
    async def work() -> None:
        head = Head(session_ms)
        await head.start()
        others = [Member(head, node) for node in range(2, members + 2)]
        for member in others:
            await member.join()
        try:
            await body(head, *others)
        finally:
            for member in others:
                await member.die()
            await head.stop()

    run(work)


def test_a_death_is_repaired_before_its_session_ends() -> None:
    """From the loss of the connections to committed leaders, over sockets, the takeover itself left out."""

    async def body(head: Head, two: Member, three: Member) -> None:
        (outcome,) = await head.controller.create_topics([NewTopic("t", 3, 3)])
        assert outcome.error is None
        args = {"vlog": 0, "seq": 0, "copies": 3, "policy": 0, "start": 0, "exclude": []}
        answer = await two.client.propose("open_vseg", args)
        assert sorted(answer["backups"]) == [[1, "store1"], [3, "store3"]]
        assert len(two.client.table.vsegs) == 1

        async def commit(member: Member) -> None:
            image = member.client.image
            mine = [
                [record.topic_id.hex(), record.index, record.leader_epoch]
                for part in image.streamlets.values()
                for record in part
                if record.state == RECOVERING and record.leader == 3
            ]
            if mine:
                assert await member.client.propose("commit", {"streamlets": mine}) == [True] * len(mine)

        head.listener.serve(Api.SEAL, three.seal)
        tasks = []
        three.client.subscribe(lambda image: tasks.append(asyncio.ensure_future(commit(three))))
        part = lambda: head.controller.image.streamlets[outcome.topic_id or b""]  # noqa: E731
        began = time.monotonic()
        await two.die()
        await until(lambda: 2 not in head.controller.image.brokers)
        await until(lambda: all(record.leader != 2 for record in part()))
        assert time.monotonic() - began < SESSION_MS / 1000, "a lost connection is enough"
        assert three.seals == 2
        if any(record.leader == 3 and record.leader_epoch for record in part()):
            await until(lambda: all(record.state == ONLINE for record in part() if record.leader == 3))
        (row,) = (await three.client.propose("recoveries", None))["recoveries"]
        assert (row["node"], row["vsegs"], row["bytes"], row["streamlets"]) == (2, 1, 640, 1)

    with_cluster(2, body)


def test_who_does_not_reach_the_copies_is_followed_by_another() -> None:
    """One that is told twice is told once; it is an attempt more of the recovery."""

    async def body(head: Head, two: Member, three: Member, four: Member) -> None:
        (outcome,) = await head.controller.create_topics([NewTopic("t", assignments=((0, (2, 3, 4)),))])
        topic_id = outcome.topic_id or b""

        def record() -> StreamletRecord:
            return head.controller.image.streamlet(topic_id, 0)

        await two.die()
        await until(lambda: record().leader == 3)
        row = [topic_id.hex(), 0, record().leader_epoch]
        told = {"streamlets": [row]}
        with pytest.raises(KafkaError):
            await three.client.propose("cannot", {"streamlets": [["what?", 0, 0]]})
        assert await four.client.propose("cannot", told) == 0, "it is none of its business"
        assert await three.client.propose("cannot", told) == 1
        assert (record().state, record().leader, record().leader_epoch) == (RECOVERING, 4, row[2] + 1)
        assert await three.client.propose("cannot", told) == 0
        assert await three.client.propose("commit", told) == [False]
        tried = head.controller.proposals.unreached.at(head.controller.image, head.control.now())
        assert tried((topic_id, 0)) == [3]
        row[2] += 1
        assert await four.client.propose("cannot", told) == 1
        row[2] += 1
        assert await head.controller.propose("cannot", told) == 0, "nobody else is left"
        assert sorted(tried((topic_id, 0))) == [1, 3, 4]
        assert await head.controller.propose("commit", told) == [True]
        assert sorted(tried((topic_id, 0))) == [3, 4], "it has read it after all"
        (recovery,) = (await three.client.propose("recoveries", None))["recoveries"]
        assert [recovery[name] for name in ("streamlets", "attempts", "leaders")] == [1, 3, [1, 3, 4]]

    with_cluster(3, body)


def test_what_is_said_of_missing_copies_names_the_changes_that_were_looked_at() -> None:
    """Whoever asks between a change and the next look is told what was true before."""

    async def body(head: Head, two: Member, three: Member) -> None:
        await head.controller.create_topics([NewTopic("t", 3, 3)])
        for seq, start in ((0, 0), (1, 640)):
            args = {"vlog": 0, "seq": seq, "copies": 3, "policy": 0, "start": start, "exclude": []}
            await two.client.propose("open_vseg", args)
            await two.client.propose("close_vsegs", {"vsegs": [[0, seq, 640 + start]]})
        await two.client.propose("open_vseg", {**args, "seq": 2, "start": 1280})
        told: list[dict[str, int]] = []

        def note(image: MetadataImage) -> None:
            if not {2, 3} & set(image.brokers):
                told.append(head.control.repairs())

        await until(lambda: head.control.repairs()["seen"] == head.control.repairs()["changes"])
        assert head.control.repairs()["short"] == 0
        head.controller.subscribe(note)
        await three.die()
        await two.die()
        await until(lambda: bool(told))
        assert told[0]["seen"] < told[0]["changes"]
        assert told[0]["sealing"] == 1, "it is no use to look at it yet"
        await until(lambda: head.control.repairs()["seen"] >= told[0]["changes"])
        assert head.control.repairs()["short"] == 2

    with_cluster(2, body)


def test_a_fenced_broker_is_told_by_whatever_it_asks() -> None:
    async def body(head: Head, two: Member) -> None:
        from kproto.controller.fencing import decide_fence

        await head.controller.decide(lambda: decide_fence(head.controller.image, 2, two.client.epoch))
        assert await until(lambda: bool(two.fenced)) < SESSION_MS / 1000
        with pytest.raises(KafkaError) as refused:
            await two.client.propose("producer_ids", None)
        assert refused.value.code is ErrorCode.STALE_BROKER_EPOCH

    with_cluster(1, body)


def test_who_is_fenced_while_its_proposal_waits_gets_no_answer_to_it() -> None:
    """It knows nothing of what changed before: a leader that handed over, and did not hear that it was done,
    would take the answer that there is no such move for a reason to go on."""

    async def body(head: Head, two: Member) -> None:
        from kproto.controller.fencing import decide_fence

        lock = head.controller._busy
        await lock.acquire()
        fence = head.controller.decide(lambda: decide_fence(head.controller.image, 2, two.client.epoch))
        fencing = asyncio.create_task(fence)
        await asyncio.sleep(0.01)
        attempt = [bytes(16).hex(), 0, 0, 0]
        asked = asyncio.create_task(two.client.propose("handed_over", {"streamlets": [attempt], "upto": []}))
        await asyncio.sleep(0.1)
        lock.release()
        await fencing
        with pytest.raises(KafkaError) as refused:
            await asyncio.wait_for(asked, 60)
        assert refused.value.code is ErrorCode.STALE_BROKER_EPOCH

    with_cluster(1, body)


def test_a_broker_that_leaves_does_not_wait_for_changes_that_it_is_not_told() -> None:
    async def body(head: Head, two: Member) -> None:
        assert await asyncio.wait_for(two.client.propose("leave", None), 60) is True
        assert 2 not in head.controller.image.brokers

    with_cluster(1, body)


def test_silence_ends_a_session_and_heartbeats_keep_it() -> None:
    async def body(head: Head, two: Member, three: Member) -> None:
        two.client._tasks[0].cancel()
        two.client._tasks[1].cancel()
        await until(lambda: 2 not in head.controller.image.brokers)
        assert 3 in head.controller.image.brokers
        assert three.fenced == []

    with_cluster(2, body, session_ms=500)


def test_a_broker_may_be_found_dead_twice_while_the_store_is_slow() -> None:
    """Silent and with a lost connection: the looks at sessions ended with the second one before."""

    async def body(head: Head, two: Member) -> None:
        epoch, now = two.client.epoch, head.control.now()
        fences = [head.control._fence(2, epoch, cause, now) for cause in ("silence", "a lost connection")]
        await asyncio.gather(*fences)
        assert 2 not in head.controller.image.brokers

    with_cluster(1, body)


def test_registrations_that_cannot_be(caplog: pytest.LogCaptureFixture) -> None:
    """Who starts the controller with an empty directory sees in its log, too, that it is another cluster."""

    async def body(head: Head, two: Member) -> None:
        twin = Member(head, 2, store="another")
        with pytest.raises(KafkaError) as refused:
            await twin.client.register(twin.record(), 1)
        assert refused.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
        twin.client.cluster_id = "of-somebody-else"
        for _ in range(2):
            with pytest.raises(KafkaError) as refused:
                await twin.client.register(twin.record(), 5)
            assert refused.value.code is ErrorCode.INCONSISTENT_CLUSTER_ID
        ours = head.controller.image.cluster_id
        refusals = [text for text in caplog.messages if "is refused" in text]
        assert refusals == [f"broker 2 is refused: This is cluster {ours}, not of-somebody-else."]
        own = Member(head, 1, store="another")
        with pytest.raises(KafkaError) as refused:
            await own.client.register(own.record(), 1)
        assert refused.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
        assert two.fenced == []
        for member in (twin, own):
            await member.die()

    with_cluster(1, body)


def test_a_copy_of_the_directory_of_a_broker_that_runs_is_refused() -> None:
    """It fenced that one, which started anew and fenced the copy, and so on."""

    async def body(head: Head, two: Member) -> None:
        copy = Member(head, 2)
        with pytest.raises(KafkaError, match="with a copy of this data directory is here as 2") as no:
            await copy.client.register(copy.record(), 1)
        assert no.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
        first = two.client.epoch
        await two.client.register(two.record(), 5)  # its end may not have been noticed
        assert two.client.epoch > first
        await copy.die()

    with_cluster(1, body)


def test_a_broker_whose_machine_went_comes_back_at_another_address_when_its_session_is_over() -> None:
    """Nobody told the controller that its connections ended."""

    async def body(head: Head, two: Member) -> None:
        first = two.client.epoch
        for task in two.client._tasks:
            task.cancel()
        back = Member(head, 2)
        began = time.monotonic()
        await back.client.register(back.record(), 60)
        assert time.monotonic() - began > 0.5
        assert back.client.epoch > first
        assert head.controller.image.brokers[2].internal_port == back.port
        await back.die()

    with_cluster(1, body, session_ms=2000)


def test_two_at_different_addresses_are_not_waited_for_longer_than_two_sessions() -> None:
    async def body(head: Head, two: Member) -> None:
        copy = Member(head, 2)
        began = time.monotonic()
        with pytest.raises(KafkaError, match="is here as 2"):
            await copy.client.register(copy.record(), 60)
        assert 0.8 < time.monotonic() - began < 50
        assert two.fenced == []
        await copy.die()

    with_cluster(1, body, session_ms=1000)


def test_a_copy_that_waits_is_not_taken_by_the_next_controller() -> None:
    async def body(head: Head, two: Member) -> None:
        copy = Member(head, 2)
        asking = asyncio.ensure_future(copy.client.register(copy.record(), 60))
        await asyncio.sleep(0.3)
        head.listener.close()
        await head.control.close()
        head.start_again()
        with pytest.raises(KafkaError, match="is here as 2"):
            await asking
        assert two.fenced == []
        await copy.die()

    with_cluster(1, body, session_ms=3000)


@pytest.mark.parametrize("told", [False, True], ids=["by nobody before", "by one that went"])
def test_the_two_sessions_begin_when_a_controller_says_that_the_id_is_in_use(told: bool) -> None:
    """A starting one takes whom it finds for there; who had waited for it longer than that was refused, and
    so was who had been told so by the one before (found by simulation, seed 30129938)."""

    async def body(head: Head, two: Member) -> None:
        back = Member(head, 2, store="fresh")
        if told:
            asking = asyncio.ensure_future(back.client.register(back.record()))
            while back.client.put_off_at <= 0:
                await asyncio.sleep(0.01)
        await head.control.close()
        head.listener.close()
        await two.die()
        if not told:
            asking = asyncio.ensure_future(back.client.register(back.record()))
        await asyncio.sleep(2.5)
        head.start_again()
        await asking
        assert head.controller.image.brokers[2].store_id == "fresh"
        await back.die()

    with_cluster(1, body, session_ms=1000)


def test_a_process_that_starts_again_is_taken_at_once_even_with_an_empty_directory() -> None:
    async def body(head: Head, two: Member) -> None:
        first = two.client.epoch
        await two.die()
        again = Member(head, 2, store="fresh")
        await asyncio.sleep(0.05)
        await again.join()
        assert again.client.epoch > first
        assert head.controller.image.brokers[2].store_id == "fresh"
        await again.die()

    with_cluster(1, body)


def test_requests_of_clients_are_handed_on_with_their_answers_and_errors() -> None:
    async def body(head: Head, two: Member) -> None:
        assert await two.client.forward(b"frame", "10.0.0.1") == b"10.0.0.1 asked frame"
        with pytest.raises(KafkaError) as refused:
            await two.client.forward(b"refuse", "10.0.0.1")
        assert refused.value.code is ErrorCode.POLICY_VIOLATION

    with_cluster(1, body)


def test_who_is_far_behind_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "HISTORY_CHANGES", 3)

    async def body(head: Head, two: Member) -> None:
        for number in range(8):
            await head.controller.create_topics([NewTopic(f"t{number}", 1, 1)])
        late = Member(head, 3)
        await late.join()
        await until(lambda: late.client.image.revision == head.controller.image.revision)
        assert sorted(late.client.image.topics) == [f"t{number}" for number in range(8)]
        assert late.client.image.brokers == head.controller.image.brokers
        await until(lambda: two.client.image.revision == head.controller.image.revision)
        assert sorted(two.client.image.topics) == sorted(late.client.image.topics)
        await late.die()

    with_cluster(1, body)


def test_large_changes_come_in_several_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "UPDATE_BYTES", 1000)

    async def body(head: Head, two: Member) -> None:
        await asyncio.gather(
            *(head.controller.create_topics([NewTopic(f"t{number}", 20, 1)]) for number in range(10))
        )
        await until(lambda: len(two.client.image.topics) == 10)

    with_cluster(1, body)


@pytest.mark.parametrize(
    ("api", "value"),
    [
        (Api.CHANGES, {"revision": "x", "wait_ms": 1}),
        (Api.CHANGES, {"revision": 1}),
        (Api.CHANGES, []),
        (Api.PROPOSE, {"kind": 5, "args": None}),
        (Api.PROPOSE, {"kind": "commit"}),
        (Api.HEARTBEAT, None),
        (Api.REGISTER, {"broker": [1, 2], "cluster_id": ""}),
        (Api.FORWARD, {"peer": 1}),
    ],
)
def test_rubbish_is_refused_and_harms_nobody(api: Api, value: object) -> None:
    async def body(head: Head, two: Member) -> None:
        revision = head.controller.image.revision
        answer = await two.peers.call(1, api, encode_json(value), 5)
        assert answer.error == InternalError.BAD_REQUEST
        assert head.controller.image.revision == revision

    with_cluster(1, body)


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("nothing", None),
        ("open_vseg", {"vlog": "x"}),
        ("commit", {"streamlets": [[1, 2]]}),
        ("commit", {"streamlets": [["zz", 0, 0]]}),
        ("starts", {"starts": [["00" * 16, -1, 0]]}),
        ("unneeded", {"vsegs": [[1, 2, 2**32]], "revision": 1}),
        ("unneeded", {"vsegs": []}),
        ("disown", 7),
        ("auto_create", [5]),
    ],
)
def test_proposals_of_the_wrong_form_are_refused(kind: str, args: object) -> None:
    async def body(head: Head, two: Member) -> None:
        with pytest.raises(KafkaError) as refused:
            await two.client.propose(kind, args)
        assert refused.value.code is ErrorCode.INVALID_REQUEST

    with_cluster(1, body)


def test_what_brokers_ask_for_themselves() -> None:
    async def body(head: Head, two: Member) -> None:
        assert await two.client.propose("auto_create", ["a", "a/b"]) == [
            ["a", 0, None],
            ["a/b", int(ErrorCode.INVALID_TOPIC_EXCEPTION), two_message(head)],
        ]
        assert "a" in two.client.image.topics
        await two.client.propose("offsets_topic", None)
        assert "__consumer_offsets" in two.client.image.topics
        first, count = await two.client.propose("producer_ids", None)
        again, _ = await two.client.propose("producer_ids", None)
        assert again == first + count

    def two_message(head: Head) -> object:
        from kproto.controller.names import name_problem

        return name_problem("a/b")

    with_cluster(1, body)
