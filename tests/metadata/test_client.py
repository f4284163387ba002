"""A broker that follows a controller elsewhere, revision by revision, whatever happens to the controller."""

import asyncio

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord, client
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.net.peers import Peers
from kproto.wire.internal import Api
from tests.net.talking import run, until

from .office import CONTROLLER, SECRET, Member, Office, broker, joined

TOPIC = TopicRecord("t", bytes(16), 1, 1, 1, {}, False)
VSEG = VsegRecord(VsegId(1, 0, 0), 7, "store-7", 2, 0, 0, None, (CopyTarget(2, "s"),))


def test_registered_brokers_are_in_the_image_when_register_returns():
    async def test() -> None:
        office = Office()
        await office.found()
        member = Member([office.port])
        registered = await member.join()
        image = member.client.image
        assert registered == broker(7)._replace(epoch=1)
        assert member.client.epoch == 1
        assert member.client.cluster_id == image.cluster_id == "the-cluster"
        assert image.brokers == {7: registered}
        assert (image.controller_id, image.revision, member.client.table.revision) == (CONTROLLER, 2, 2)
        again = Member([office.port])
        assert (await again.join()).epoch == 2
        await until(lambda: member.fenced != [])  # the same node under a new epoch: the old one is over
        assert again.fenced == []
        for each in (member, again):
            await each.close()
        office.close()

    run(test)


@pytest.mark.parametrize("overlapping", [False, True])
def test_each_revision_comes_once_in_order_with_the_table_at_the_same(overlapping):
    async def test() -> None:
        office = Office()
        office.overlapping = overlapping
        await office.found()
        member = Member([office.port])
        await member.join()
        seen: list[tuple[int, int, bool, bool]] = []

        def on_image(image: MetadataImage) -> None:
            table = member.client.table
            assert member.client.image is image
            seen.append((image.revision, table.revision, "t" in image.topics, VSEG.id in table.vsegs))

        member.client.subscribe(on_image)
        record = StreamletRecord(TOPIC.topic_id, 0, 7, 0, (7,))
        await office.put({TOPIC.key: TOPIC.encode(), record.key: record.encode()})
        await office.put({VSEG.key: VSEG.encode()})
        for number in range(50):
            await office.put({"configs/default": b'{"n": "%d"}' % number})
        await office.put({}, [TOPIC.key, record.key, VSEG.key])
        await until(lambda: member.client.image.revision == 55)
        assert [row[0] for row in seen] == list(range(3, 56))
        assert all(row[0] == row[1] for row in seen)
        assert [row[2] for row in seen] == [True] * 52 + [False]
        assert [row[3] for row in seen] == [False] + [True] * 51 + [False]
        await member.close()
        office.close()

    run(test)


def test_who_is_far_behind_gets_everything_at_once():
    async def test() -> None:
        office = Office()
        await office.found()
        for number in range(30):
            await office.put({f"configs/{number}": b"{}"})
        office.forget_changes()
        member = Member([office.port])
        await member.join()
        assert len(member.client.image.configs) == 30
        assert member.client.image.revision == 32
        record = StreamletRecord(TOPIC.topic_id, 0, 7, 0, (7,))
        office.held_changes = asyncio.Event()
        await office.put({TOPIC.key: TOPIC.encode(), record.key: record.encode(), VSEG.key: VSEG.encode()})
        await office.put({}, ["configs/3"])
        office.forget_changes()
        office.held_changes.set()
        await until(lambda: member.client.image.revision == 34)
        assert list(member.client.image.topics) == ["t"]
        assert list(member.client.table.vsegs) == [VSEG.id]
        assert len(member.client.image.configs) == 29
        await member.close()
        office.close()

    run(test)


def test_a_proposal_returns_when_its_effect_is_applied_here():
    async def test() -> None:
        async with joined() as (office, member):
            office.held_changes = held = asyncio.Event()
            proposal = asyncio.ensure_future(member.client.propose("open", {"vlog": 1}))
            second = asyncio.ensure_future(member.client.propose("second", None))
            await until(lambda: office.asked.count(Api.PROPOSE) == 2)
            await asyncio.sleep(0.05)
            assert not proposal.done()
            assert not second.done()
            held.set()
            assert await proposal == ["open", {"vlog": 1}]
            assert await second == ["second", None]
            assert member.client.image.configs["default"] == {"kind": "second"}
            with pytest.raises(KafkaError) as refused:
                await member.client.propose("refuse", None)
            assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_REQUEST, "never")

    run(test)


def test_a_forwarded_request_is_answered_and_applied():
    async def test() -> None:
        async with joined() as (_, member):
            answer = await member.client.forward(memoryview(b"create a topic"), "10.0.0.9")
            assert answer == b"10.0.0.9 said create a topic"
            assert "default" in member.client.image.configs

    run(test)


def test_another_cluster_is_not_joined():
    async def test() -> None:
        office = Office()
        await office.found()
        member = Member([office.port], cluster_id="mine")
        with pytest.raises(KafkaError) as refused:
            await member.join()
        assert refused.value.code == ErrorCode.INCONSISTENT_CLUSTER_ID
        assert office.asked == [Api.REGISTER]
        await member.close()
        office.close()

    run(test)


def test_registration_waits_for_a_controller_but_not_for_ever():
    async def test() -> None:
        office = Office()
        office.acting = False
        await office.found()
        member = Member([office.port])
        with pytest.raises(KafkaError) as late:
            await member.client.register(broker(7), timeout=0.3)
        assert late.value.code == ErrorCode.NOT_CONTROLLER
        asked = len(office.asked)
        joining = asyncio.ensure_future(member.join())
        await until(lambda: len(office.asked) >= asked + 2)
        office.acting = True
        assert (await joining).node_id == 7
        await member.close()
        office.close()

    run(test)


@pytest.mark.parametrize("api", [Api.REGISTER, Api.CHANGES])
def test_a_controller_whose_store_is_away_is_asked_again(api):
    """Found by simulation: a broker that started while the store was away did not come up at all."""

    async def test() -> None:
        office = Office()
        await office.found()
        office.store_away[api] = 2
        member = Member([office.port])
        assert (await member.join()).epoch == 1
        assert office.asked.count(api) >= 3
        assert office.asked.count(Api.REGISTER) == (3 if api is Api.REGISTER else 1)
        assert 7 in member.client.image.brokers
        await member.close()
        office.close()

    run(test)


def test_registration_waits_for_the_store_but_not_for_ever():
    async def test() -> None:
        office = Office()
        await office.found()
        office.store_away[Api.REGISTER] = 1000
        member = Member([office.port])
        with pytest.raises(KafkaError) as late:
            await member.client.register(broker(7), timeout=0.3)
        assert late.value.code == ErrorCode.NOT_CONTROLLER
        await member.close()
        office.close()

    run(test)


def test_the_controller_is_found_among_the_candidates_and_again_when_it_moves():
    async def test() -> None:
        first = Office()
        second = Office(first.store)
        second.acting = False
        await first.found()
        member = Member([second.port, first.port])
        await member.join()
        assert set(second.asked) == {Api.REGISTER}
        second.epochs, second._log = first.epochs, first._log
        first.acting, second.acting = False, True
        assert await member.client.propose("moved", 1) == ["moved", 1]
        assert Api.PROPOSE in second.asked
        assert member.fenced == []
        await member.close()
        first.close()
        second.close()

    run(test)


def test_whom_the_store_names_is_asked_before_those_that_were_tried_in_its_place():
    async def test() -> None:
        first = Office()
        second = Office(first.store)
        second.acting = False
        second.epochs, second._log = first.epochs, first._log
        await first.found()
        member = Member([second.port, first.port])
        await member.join()
        assert Api.PROPOSE not in second.asked
        first.acting, second.acting = False, True
        first.asked.clear()
        member.client.turn(anew=True)
        assert await member.client.propose("moved", 1) == ["moved", 1]
        assert Api.PROPOSE not in first.asked
        await member.close()
        first.close()
        second.close()

    run(test)


def test_changes_are_asked_of_the_next_controller_while_the_last_one_hangs():
    """Found by simulation (seed 541483): heartbeats went to the next one, the question stayed for 15 s."""

    async def test() -> None:
        first = Office()
        second = Office(first.store)
        second.epochs = first.epochs
        await first.found()
        member = Member([first.port, second.port])
        await member.client.register(broker(7))
        first.hanging = True
        member.client.start()
        await until(lambda: Api.HEARTBEAT in second.asked)
        assert Api.CHANGES in first.asked
        revision = await second.put({"configs/default": b"{}"})
        await until(lambda: Api.CHANGES in second.asked and member.client.image.revision == revision)
        assert member.fenced == []
        await member.close()
        first.close()
        second.close()

    run(test)


@pytest.mark.parametrize("api", [Api.PROPOSE, Api.FORWARD])
def test_what_a_controller_that_hangs_was_asked_goes_on_to_the_next_one(api, monkeypatch):
    """It waited for the end of its own time, 10 or 30 s."""
    monkeypatch.setattr(client, "PROPOSAL_SECONDS", 1000.0)
    monkeypatch.setattr(client, "REQUEST_SECONDS", 1000.0)

    async def test() -> None:
        first = Office()
        second = Office(first.store)
        second.epochs, second._log = first.epochs, first._log
        await first.found()
        member = Member([first.port, second.port])
        await member.client.register(broker(7))
        first.hanging = True
        asking: asyncio.Future[object] = asyncio.ensure_future(
            member.client.propose("go on", 1) if api is Api.PROPOSE else member.client.forward(b"it", "me")
        )
        await until(lambda: api in first.asked)
        member.client.start()
        assert await asking == (["go on", 1] if api is Api.PROPOSE else b"me said it")
        assert second.asked.count(api) == 1
        assert member.fenced == []
        await member.close()
        first.close()
        second.close()

    run(test)


def test_who_registers_at_a_controller_that_hangs_turns_to_the_one_that_is_elected(monkeypatch):
    """Before it is a member there are no heartbeats that would tell."""
    monkeypatch.setattr(client, "PROPOSAL_SECONDS", 1000.0)

    async def test() -> None:
        first = Office()
        second = Office(first.store)
        await first.found()
        second._log = first._log
        first.hanging = True
        elected = [1]
        ports = {1: ("127.0.0.1", first.port), 2: ("127.0.0.1", second.port)}
        peers = Peers(7, SECRET, ports.get, lambda: follower.epoch)
        follower = client.MetadataClient(peers, lambda: elected, 500)
        joining = asyncio.ensure_future(follower.register(broker(7)))
        await until(lambda: Api.REGISTER in first.asked)
        elected.clear()
        follower.turn()
        await asyncio.sleep(0.01)
        assert not joining.done()
        assert second.asked == [], "nobody else was known"
        elected.append(2)
        follower.turn()
        assert (await joining).epoch == 1
        assert first.asked == [Api.REGISTER]
        await follower.close()
        peers.close()
        first.close()
        second.close()

    run(test)


def test_a_late_answer_of_the_last_controller_takes_nothing_from_the_next_one():
    async def test() -> None:
        first = Office()
        second = Office(first.store)
        second.epochs, second._log = first.epochs, first._log
        await first.found()
        elected = [1]
        ports = {1: ("127.0.0.1", first.port), 2: ("127.0.0.1", second.port)}
        peers = Peers(7, SECRET, ports.get, lambda: follower.epoch)
        follower = client.MetadataClient(peers, lambda: elected, 500)
        await follower.register(broker(7))
        first.held_changes = asyncio.Event()
        second.hanging = True
        asked = len(first.asked)
        question = asyncio.ensure_future(follower._poll(0))
        await until(lambda: len(first.asked) > asked)
        elected[0] = 2
        asking = asyncio.ensure_future(follower.propose("once", 1))
        await until(lambda: Api.PROPOSE in second.asked)
        first.held_changes.set()
        await question
        await asyncio.sleep(2 * client.RETRY_SECONDS)
        assert (len(first.asked), second.asked) == (asked + 1, [Api.PROPOSE])
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        peers.close()
        first.close()
        second.close()

    run(test)


def test_a_heartbeat_counts_when_what_its_answer_tells_is_applied():
    """Rule 34: who hears the controller and does not get its changes follows nobody."""

    async def test() -> None:
        office = Office()
        await office.found()
        member = Member([office.port])
        await member.client.register(broker(7))
        office.held_changes = held = asyncio.Event()
        member.client.start()
        revision = await office.put({"configs/default": b"{}"})
        applied = office._log[-1:]
        await until(lambda: member.client._due is not None)
        heard = member.client._heard
        for number in range(3):
            await office.put({"configs/default": b'{"n": "%d"}' % number})
            asked = office.asked.count(Api.HEARTBEAT)
            await until(lambda: office.asked.count(Api.HEARTBEAT) == asked + 2)  # noqa: B023
            assert member.client._heard == heard
        member.client._take(client.Update(CONTROLLER, revision, applied))
        now = member.client._heard
        assert now > heard, "the first of them counts: a revision that always moves on would never be reached"
        held.set()
        await until(lambda: member.client._heard > now)
        assert member.client.image.revision == revision + 3
        await member.close()
        office.close()

    run(test)


def test_a_controller_that_starts_again_is_followed_and_proposals_wait_for_it():
    async def test() -> None:
        office = Office()
        await office.found()
        member = Member([office.port])
        await member.join()
        assert member.client.hears()
        office.close()
        proposal = asyncio.ensure_future(member.client.propose("patience", 5))
        await asyncio.sleep(0.3)
        assert not proposal.done()
        silence = member.client.silence()
        assert silence > 0.2
        await until(lambda: not member.client.hears())
        assert not proposal.done()
        again = Office(office.store, office.port)
        again.epochs = office.epochs
        assert await proposal == ["patience", 5]
        await until(lambda: member.client.silence() < 0.2 and member.client.hears())
        assert member.fenced == []
        await member.close()
        again.close()

    run(test)


def test_a_proposal_whose_answer_was_lost_is_made_again():
    async def test() -> None:
        async with joined() as (office, member):
            office.lost_answers = 2
            assert await member.client.propose("again", None) == ["again", None]
            assert office.asked.count(Api.PROPOSE) == 3

    run(test)


def test_a_broker_that_leaves_waits_for_no_image():
    """Who is no member is told no changes: the image of its own leaving may never come."""

    async def test() -> None:
        async with joined() as (office, member):
            office.held_changes = held = asyncio.Event()
            await asyncio.wait_for(member.client.leave(), 60)
            assert Api.PROPOSE in office.asked
            assert "default" not in member.client.image.configs
            held.set()

    run(test)


@pytest.mark.parametrize("leaves", [True, False])
def test_a_broker_that_left_does_not_complain_that_it_is_no_member(caplog, leaves):
    async def test() -> None:
        async with joined() as (office, member):
            office.held_changes = held = asyncio.Event()
            before = office.asked.count(Api.CHANGES)
            await office.put({"configs/default": b"{}"})
            await until(lambda: office.asked.count(Api.CHANGES) > before)
            if leaves:
                await member.client.leave()
            office.epochs[member.node_id] += 1
            held.set()
            if leaves:
                await asyncio.sleep(0.1)
            else:
                await until(lambda: "were not to be had" in caplog.text)

    run(test)
    assert ("were not to be had" in caplog.text) is not leaves


@pytest.mark.parametrize("through", ["heartbeat", "proposal", "image", "new epoch", "older metadata"])
def test_a_fenced_broker_learns_it_once(through):
    async def test() -> None:
        office = Office()
        await office.found()
        short = through in ("heartbeat", "older metadata")
        member = Member([office.port], session_ms=500 if short else 60_000)
        await member.join()
        await asyncio.sleep(0.02)
        assert member.fenced == []
        if through == "heartbeat":
            office.epochs.clear()
        elif through == "proposal":
            office.epochs.clear()
            with pytest.raises(KafkaError) as fenced:
                await member.client.propose("too late", None)
            assert fenced.value.code == ErrorCode.STALE_BROKER_EPOCH
        elif through == "image":
            await office.put({}, ["brokers/7"])
        elif through == "new epoch":
            await office.put({"brokers/7": broker(7, epoch=2).encode()})
        else:
            office.close()
            office = Office(port=office.port)
            office.epochs[7] = 1
            await office.found()
        await until(lambda: len(member.fenced) == 1)
        office.epochs.clear()
        with pytest.raises(KafkaError):
            await member.client.propose("too late", None)
        assert len(member.fenced) == 1
        await member.close()
        office.close()

    run(test)


def test_who_is_fenced_before_it_knows_the_image_registers_again():
    """Answers that take longer than a session: it owns nothing yet, so nobody has to be told."""

    async def test() -> None:
        office = Office()
        await office.found()
        office.held_changes = held = asyncio.Event()
        member = Member([office.port])
        joining = asyncio.ensure_future(member.join())
        await until(lambda: office.asked.count(Api.CHANGES) == 1)
        office.epochs[7] = 5
        held.set()
        assert (await joining).epoch == member.client.epoch == 6
        assert office.asked.count(Api.REGISTER) == 2
        assert member.client.image.brokers[7].epoch == 6
        assert member.fenced == []
        await member.close()
        office.close()

    run(test)


def test_a_controller_that_knows_less_for_a_moment_fences_nobody():
    """One that was deposed and does not know it yet answers with an older revision than the next one gave."""

    async def test() -> None:
        async with joined(session_ms=60_000) as (_, member):
            older = member.client.image.revision - 1
            for _ in range(3):
                with pytest.raises(client.NotController):
                    member.client._take(client.Update(1, older, ()))
            assert member.fenced == []

    run(test)


def test_a_broken_subscriber_does_not_stop_the_others_or_the_rest():
    async def test() -> None:
        async with joined() as (office, member):
            seen: list[int] = []
            member.client.subscribe(lambda image: 1 // 0)
            member.client.subscribe(lambda image: seen.append(image.revision))
            await office.put({"configs/default": b"{}"})
            await until(lambda: seen == [3])
            await office.put({"configs/default": b"{}"})
            await until(lambda: seen == [3, 4])

    run(test)


def test_closing_ends_what_waits():
    async def test() -> None:
        office = Office()
        await office.found()
        member = Member([office.port])
        await member.join()
        office.held_changes = asyncio.Event()
        waiting = asyncio.ensure_future(member.client.propose("never applied", None))
        await until(lambda: Api.PROPOSE in office.asked)
        await asyncio.sleep(0.02)
        await member.close()
        with pytest.raises(KafkaError) as gone:
            await waiting
        assert gone.value.code == ErrorCode.NOT_CONTROLLER
        office.close()

    run(test)


def test_without_a_controller_a_proposal_gives_up(monkeypatch):
    monkeypatch.setattr(client, "REQUEST_SECONDS", 0.3)

    async def test() -> None:
        office = Office()
        await office.found()
        member = Member([office.port])
        await member.join()
        office.close()
        with pytest.raises(KafkaError) as gone:
            await member.client.propose("in vain", None)
        assert gone.value.code == ErrorCode.NOT_CONTROLLER
        await member.close()

    run(test)
