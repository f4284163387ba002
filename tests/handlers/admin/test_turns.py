"""Requests that name very much: others are served in between, and each connection in its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.errors import ErrorCode
from kproto.handlers import turns
from kproto.handlers.dispatch import Dispatcher
from kproto.handlers.turns import Steps, Turns, answer_of
from kproto.net.budget import MemoryBudget
from kproto.wire.framing import parse_response_frame, request_frame
from kproto.wire.generated.alter_configs import AlterConfigsRequest
from kproto.wire.generated.alter_configs import AlterConfigsResource as Altered
from kproto.wire.generated.api_versions import ApiVersionsRequest
from kproto.wire.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kproto.wire.generated.create_topics import CreatableTopic, CreateTopicsRequest
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kproto.wire.generated.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from kproto.wire.generated.incremental_alter_configs import AlterConfigsResource as ChangedIncrementally
from kproto.wire.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic

MANY = 20_000
NAMES = [f"unknown-{number}" for number in range(MANY)]


class Asked:
    """What the server's exchange does, for one request."""

    def __init__(self, connection: Client) -> None:
        self.connection = connection
        self.answer: bytes | None = None

    def reply(self, frame: bytes) -> None:
        self.answer = frame


class Client:
    """A connection as the dispatcher sees it; ``asked`` are its requests."""

    def __init__(self) -> None:
        self.peer = "client"
        self.closed = False
        self.server = SimpleNamespace(budget=MemoryBudget(1 << 20), out_of_memory=lambda: None)
        self.asked: list[Asked] = []
        self.pending: list[Asked] = []
        self.held = self.unsent = 0

    def begin(self, size: int, told: Callable[[float], object]) -> Asked:
        self.asked.append(Asked(self))
        return self.asked[-1]

    def close(self, reason: str) -> None:
        self.closed = True

    def settle(self) -> None:
        pass

    @property
    def answered(self) -> list[bool]:
        return [each.answer is not None for each in self.asked]


def send(dispatcher: Dispatcher, client: Client, key: int, version: int, request: Any) -> None:
    frame = bytearray(request_frame(key, version, request, 1)[4:])
    with memoryview(frame) as view:
        dispatcher.dispatch(client, view, False)  # type: ignore[arg-type]
    frame[:] = b"\xff" * len(frame)  # it was lent only


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1_000_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("waited in vain")


MUCH = [
    (3, 12, MetadataRequest([MetadataRequestTopic(name=name) for name in NAMES], False), "topics"),
    (3, 8, MetadataRequest([MetadataRequestTopic(name=name) for name in NAMES], False), "topics"),
    (32, 4, DescribeConfigsRequest([DescribeConfigsResource(2, name) for name in NAMES]), "results"),
    (32, 1, DescribeConfigsRequest([DescribeConfigsResource(2, name) for name in NAMES]), "results"),
    (75, 0, DescribeTopicPartitionsRequest([TopicRequest(name) for name in NAMES]), "topics"),
]


@pytest.fixture
def counted_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn is so many looks at the clock, however long the machine takes between two of them."""
    looks = count()
    monkeypatch.setattr(turns, "perf_counter", lambda: next(looks) * turns.TURN_SECONDS / 10)


@pytest.mark.usefixtures("counted_turns")
@pytest.mark.parametrize(("key", "version", "request_", "field"), MUCH)
def test_others_are_served_while_a_request_that_names_much_goes_on(cluster, key, version, request_, field):
    async def test() -> None:
        dispatcher, much, other = Dispatcher(cluster.services), Client(), Client()
        send(dispatcher, much, key, version, request_)
        send(dispatcher, much, 18, 0, ApiVersionsRequest())
        send(dispatcher, other, 18, 0, ApiVersionsRequest())
        assert (much.answered, other.answered) == ([False, False], [True])
        await until(lambda: all(much.answered))
        answer = parse_response_frame(key, version, much.asked[0].answer[4:])[1]
        assert len(getattr(answer, field)) == MANY

    asyncio.run(test())


CHANGES = [
    (19, 7, CreateTopicsRequest([CreatableTopic(name) for name in NAMES[:2000]], validate_only=True)),
    (37, 3, CreatePartitionsRequest([CreatePartitionsTopic(name, 2) for name in NAMES[:2000]])),
    (20, 6, DeleteTopicsRequest([DeleteTopicState(name) for name in NAMES[:2000]])),
    (33, 2, AlterConfigsRequest([Altered(2, name) for name in NAMES[:2000]])),
    (44, 1, IncrementalAlterConfigsRequest([ChangedIncrementally(2, name) for name in NAMES[:2000]])),
]


@pytest.mark.parametrize(("key", "version", "request_"), CHANGES)
def test_the_controller_decides_about_much_in_parts(served, key, version, request_):
    """Others get their turns of the loop meanwhile, and every part is answered."""
    turns_of_others = 0

    async def others() -> None:
        nonlocal turns_of_others
        while True:
            turns_of_others += 1
            await asyncio.sleep(0)

    before = served.runner.get_loop().create_task(others())
    answer = served.call(key, version, request_)
    before.cancel()
    assert turns_of_others >= 2000 // turns.PART
    (answers,) = (value for field in answer.__slots__ if isinstance(value := getattr(answer, field), list))
    assert len(answers) == 2000


TWICE = [NAMES[0], *NAMES[:2000], NAMES[1]]


@pytest.mark.parametrize(
    ("key", "version", "request_"),
    [
        (20, 6, DeleteTopicsRequest([DeleteTopicState(name) for name in TWICE])),
        (33, 2, AlterConfigsRequest([Altered(2, name) for name in TWICE])),
        (44, 1, IncrementalAlterConfigsRequest([ChangedIncrementally(2, name) for name in TWICE])),
    ],
)
def test_what_is_named_twice_is_refused_however_far_apart(served, key, version, request_):
    answer = served.call(key, version, request_)
    (answers,) = (value for field in answer.__slots__ if isinstance(value := getattr(answer, field), list))
    errors = {getattr(each, "resource_name", None) or each.name: each.error_code for each in answers}
    assert {name for name, error in errors.items() if error == ErrorCode.INVALID_REQUEST} == set(NAMES[:2])


def test_a_topic_that_is_meant_by_its_id_and_by_its_name_is_refused_however_far_apart(served):
    (made,) = served.call(
        19, 7, CreateTopicsRequest([CreatableTopic("both", num_partitions=1, replication_factor=1)])
    ).topics
    others = [DeleteTopicState(name) for name in NAMES[:1000]]
    wanted = [DeleteTopicState(None, made.topic_id), *others, DeleteTopicState("both")]
    errors = [each.error_code for each in served.call(20, 6, DeleteTopicsRequest(wanted)).responses]
    assert errors.count(ErrorCode.INVALID_REQUEST) == 1
    assert errors.count(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) == 1000


def test_what_is_awaited_for_many_is_awaited_in_parts_and_in_order(monkeypatch):
    monkeypatch.setattr(turns, "PART", 2)
    open_now, most = 0, 0

    async def slow(item: int) -> int:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        for _ in range(6 - item):
            await asyncio.sleep(0)
        open_now -= 1
        return -item

    def work(item: int) -> Any:
        return slow(item) if item not in (0, 3) else -item

    assert asyncio.run(turns.for_each(range(6), work)) == [0, -1, -2, -3, -4, -5]
    assert most == 2
    assert asyncio.run(turns.for_each((), work)) == []


@pytest.mark.usefixtures("counted_turns")
def test_what_is_small_is_answered_at_once(cluster):
    async def test() -> None:
        dispatcher, client = Dispatcher(cluster.services), Client()
        send(dispatcher, client, 3, 12, MetadataRequest(topics=None))
        assert client.answered == [True]

    asyncio.run(test())


def test_a_large_request_that_makes_no_sense_closes_its_connection_in_its_turn_too(cluster):
    async def test() -> None:
        dispatcher, first, second, third = Dispatcher(cluster.services), Client(), Client(), Client()
        send(dispatcher, first, *MUCH[0][:3])
        body = memoryview(b"\0\3\0\14\0\0\0\1\xff\xff" + b"\xff" * turns.LARGE_BYTES)
        dispatcher.dispatch(second, body, True)  # type: ignore[arg-type]
        send(dispatcher, second, 18, 0, ApiVersionsRequest())
        send(dispatcher, third, *MUCH[0][:3])
        assert not second.closed
        await until(lambda: all(third.answered))
        assert (first.answered, second.closed, second.answered) == ([True], True, [False, False])

    asyncio.run(test())


# The line itself, with work that says what it does


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the work of :func:`work` did; every step takes a whole turn."""
    monkeypatch.setattr(turns, "TURN_SECONDS", 0.0)
    return []


def work(told: list[str], name: str, steps: int = 2) -> Steps[None]:
    for number in range(steps):
        told.append(f"{name}{number}")
        yield


def test_one_goes_on_at_a_time_and_connections_take_turns(told: list[str]) -> None:
    async def test() -> None:
        line, one, two = Turns(), Client(), Client()
        line.begin(one, work(told, "a"))
        line.wait(one, work(told, "b"))
        line.wait(one, work(told, "c"))
        line.wait(two, work(told, "d"))
        assert told == ["a0"]
        await until(lambda: len(told) == 8)
        assert told == ["a0", "a1", "d0", "d1", "b0", "b1", "c0", "c1"]

    asyncio.run(test())


def test_who_must_wait() -> None:
    async def test() -> None:
        line, one, two = Turns(), Client(), Client()
        assert not line.must_wait(one, turns.LARGE_BYTES)
        line.wait(one, iter_of(()))
        assert line.must_wait(one, 10), "behind what it asked before"
        assert line.must_wait(two, turns.LARGE_BYTES), "it is not even parsed"
        assert not line.must_wait(two, 10)
        await until(lambda: not line.must_wait(one, turns.LARGE_BYTES))

    asyncio.run(test())


def iter_of(steps: tuple[()]) -> Steps[None]:
    yield from steps


def test_the_work_of_a_closed_connection_is_dropped(told: list[str]) -> None:
    async def test() -> None:
        line, gone, there = Turns(), Client(), Client()
        line.begin(gone, work(told, "a", 5))
        line.wait(gone, work(told, "b"))
        gone.closed = True
        line.wait(there, work(told, "c", 1))
        await until(lambda: told == ["a0", "c0"])
        await until(lambda: not line.must_wait(there, turns.LARGE_BYTES))
        assert told == ["a0", "c0"]

    asyncio.run(test())


def short_of_memory(server: SimpleNamespace, *clients: Client) -> MemoryBudget:
    """All of ``clients`` have one server, whose memory is used up."""
    budget: MemoryBudget = server.budget
    budget.change(budget.limit)
    for each in clients:
        each.server = server
    return budget


def test_while_memory_is_used_up_the_line_goes_on_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often others take what is given back: who waits was woken in vain each time, and began to wait
    anew, for ever."""
    monkeypatch.setattr(turns, "LEND_SECONDS", 0.05)

    async def test() -> None:
        line, one, two = Turns(), Client(), Client()
        budget = short_of_memory(one.server, one, two)
        done: list[str] = []
        line.wait(one, work(done, "a", 1))
        line.wait(two, work(done, "b", 1))
        assert done == []
        for _ in range(3_000):
            await asyncio.sleep(0.01)
            budget.privileged = budget
            budget.give_up_privilege(budget)
            if len(done) == 2:
                break
        assert done == ["a0", "b0"]

    asyncio.run(test())


def test_while_memory_is_short_who_holds_nothing_else_comes_first() -> None:
    async def test() -> None:
        line, heavy, gone, light = Turns(), Client(), Client(), Client()
        budget = short_of_memory(heavy.server, heavy, gone, light)
        budget.change(-1)  # there is room for those that are read all the same
        heavy.pending = gone.pending = [Asked(heavy)] * 2
        done: list[str] = []
        for client, name in ((heavy, "a"), (gone, "b"), (light, "c")):
            line.wait(client, work(done, name, 1))
        gone.closed = True
        await until(lambda: done == ["c0"])
        budget.change(-budget.used)
        await until(lambda: done == ["c0", "a0"])

    asyncio.run(test())


def test_while_memory_is_used_up_each_connection_has_one_answer_in_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thousand large answers of one client are not before the one of another; a small one is not held."""
    monkeypatch.setattr(turns, "LEND_SECONDS", 0.01)

    async def test() -> None:
        line, many, one, small = Turns(), Client(), Client(), Client()
        short_of_memory(many.server, many, one, small)
        made: list[str] = []

        def frame(name: str, size: int) -> bytes:
            made.append(name)
            return bytes(size)

        async def answer(client: Client, name: str, size: int = turns.LIGHT_BYTES + 1) -> None:
            await line.reply(Asked(client), lambda: frame(name, size))  # type: ignore[arg-type]

        waiting = [asyncio.create_task(answer(many, f"many {number}")) for number in range(5)]
        await asyncio.sleep(0)
        waiting.append(asyncio.create_task(answer(one, "one")))
        await answer(small, "small", 100)
        assert made == [*(f"many {number}" for number in range(5)), "small"], "to know how large they are"
        made.clear()
        await asyncio.gather(*waiting)
        assert [name for name in made if name != "one"] == [f"many {number}" for number in range(5)]
        assert made.index("one") <= 2

    asyncio.run(test())


def test_an_answer_may_be_awaited_and_made_in_steps_in_any_order(told: list[str]) -> None:
    async def later() -> Steps[str]:
        await asyncio.sleep(0)
        return steps("b")

    def steps(name: str) -> Iterator[None]:
        yield from work(told, name)
        return later() if name == "a" else f"answer {name}"  # type: ignore[return-value]

    assert asyncio.run(answer_of(steps("a"))) == "answer b"
    assert told == ["a0", "a1", "b0", "b1"]
    assert asyncio.run(answer_of("plain")) == "plain"


@pytest.mark.parametrize(("repeats", "described"), [(1, 2), (5_000, 1)])
def test_a_resource_is_described_as_often_as_it_is_named_but_not_thousands_of_times(
    served, repeats, described
):
    named = [DescribeConfigsResource(2, "unknown")] * (1 + repeats)
    assert len(served.call(32, 4, DescribeConfigsRequest(named)).results) == described
