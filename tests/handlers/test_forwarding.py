"""Administrative requests at a broker without the controller: two real brokers, one of which has it."""

import asyncio
import socket
import struct
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from conftest import Kafka

from kproto.clock import ManualClock
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers import forwarding, registry
from kproto.handlers.dispatch import Dispatcher
from kproto.handlers.forwarding import FORWARDED, RemoteController
from kproto.local_cluster import free_port
from kproto.metadata import MetadataImage, TopicRecord
from kproto.testing import InProcessBroker
from kproto.wire import WireError
from kproto.wire.framing import request_frame
from kproto.wire.generated.alter_configs import AlterableConfig as OldConfig
from kproto.wire.generated.alter_configs import AlterConfigsRequest, AlterConfigsResource
from kproto.wire.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kproto.wire.generated.create_topics import CreatableTopic, CreateTopicsRequest
from kproto.wire.generated.delete_topics import DeleteTopicsRequest
from kproto.wire.generated.describe_cluster import DescribeClusterRequest
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.incremental_alter_configs import (
    AlterableConfig,
    IncrementalAlterConfigsRequest,
)
from kproto.wire.generated.incremental_alter_configs import (
    AlterConfigsResource as IncrementalResource,
)
from kproto.wire.generated.init_producer_id import InitProducerIdRequest
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[InProcessBroker, InProcessBroker]]:
    """Broker 1 has the controller, broker 2 has joined."""
    internal = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    common = {"kproto.cluster.secret": "pair", "kproto.journal.bytes": str(8 << 20)}
    common |= {"kproto.virtual.segment.bytes": str(1 << 20), "offsets.topic.num.partitions": "4"}
    first = InProcessBroker({**common, "node.id": "1", "kproto.internal.listen": internal[0]})
    second = InProcessBroker(
        {**common, "node.id": "2", "kproto.internal.listen": internal[1], "kproto.join": internal[0]}
    )
    first.start()
    try:
        second.start()
        yield first, second
        second.stop()
    finally:
        first.stop()


@pytest.fixture
def member(pair) -> Iterator[Kafka]:
    """A client of the broker without the controller."""
    with Kafka(pair[1].host, pair[1].port) as client:
        yield client


def topics_of(client: Kafka, *names: str) -> dict[str, tuple[int, int]]:
    """Error code and number of partitions by name."""
    wanted = [MetadataRequestTopic(name=name) for name in names]
    answer = client.call(3, 12, MetadataRequest(topics=wanted, allow_auto_topic_creation=False))
    return {topic.name: (topic.error_code, len(topic.partitions)) for topic in answer.topics}


def create(client: Kafka, *names: str, replication: int = 1, version: int = 7):
    topics = [CreatableTopic(name=name, num_partitions=2, replication_factor=replication) for name in names]
    return client.call(19, version, CreateTopicsRequest(topics=topics, timeout_ms=10_000)).topics


@pytest.mark.parametrize("version", range(2, 8))
def test_topics_created_here_are_known_here_at_once(member, version):
    name = f"here-{version}"
    made = create(member, name, "bad name!", version=version)
    assert [(topic.name, topic.error_code) for topic in made] == [
        (name, 0),
        ("bad name!", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ]
    assert topics_of(member, name) == {name: (0, 2)}


def test_changes_of_a_topic_go_to_the_controller_and_back(member, pair):
    assert create(member, "all")[0].error_code == 0
    grown = member.call(
        37,
        3,
        CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="all", count=5, assignments=None)], timeout_ms=10_000
        ),
    )
    assert grown.results[0].error_code == 0
    assert topics_of(member, "all") == {"all": (0, 5)}
    resource = IncrementalResource(
        resource_type=2,
        resource_name="all",
        configs=[AlterableConfig(name="retention.ms", config_operation=0, value="12345")],
    )
    assert (
        member.call(44, 1, IncrementalAlterConfigsRequest(resources=[resource])).responses[0].error_code == 0
    )
    old = AlterConfigsResource(
        resource_type=2, resource_name="all", configs=[OldConfig(name="no.such.config", value="1")]
    )
    refused = member.call(33, 2, AlterConfigsRequest(resources=[old])).responses[0]
    assert refused.error_code == ErrorCode.INVALID_CONFIG
    with Kafka(pair[0].host, pair[0].port) as at_controller:
        assert topics_of(at_controller, "all") == {"all": (0, 5)}
    gone = member.call(20, 5, DeleteTopicsRequest(topic_names=["all", "never"], timeout_ms=10_000))
    assert {each.name: each.error_code for each in gone.responses} == {
        "all": 0,
        "never": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert topics_of(member, "all") == {"all": (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0)}


@pytest.mark.parametrize("version", [1, 8, 9, 13])
def test_clients_are_sent_to_a_broker_that_answers_not_to_the_controller(pair, version):
    """What hands requests on goes on to the next controller when one hangs; a client would wait for it."""
    for node_id, broker in enumerate(pair, 1):
        with Kafka(broker.host, broker.port) as client:
            assert client.call(3, version, MetadataRequest(topics=[])).controller_id == node_id
            told = client.call(60, 1, DescribeClusterRequest(endpoint_type=1))
            assert told.controller_id == 1, "who asks for the cluster hears the truth"


def test_answers_keep_their_order_among_others(member):
    message = CreateTopicsRequest(topics=[CreatableTopic("piped", 1, 1)], timeout_ms=10_000)
    member.send(19, 7, message)
    member.send(3, 12, MetadataRequest(topics=[]))
    member.send(19, 7, message)
    member.send(3, 12, MetadataRequest(topics=[]))
    assert member.receive().topics[0].error_code == 0
    assert len(member.receive().brokers) == 2
    assert member.receive().topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert len(member.receive().brokers) == 2


def test_requests_that_arrive_in_the_same_moment_are_kept_apart(pair):
    with Kafka(pair[1].host, pair[1].port) as one, Kafka(pair[1].host, pair[1].port) as other:
        clients = {"moment-one": one, "moment-two": other}
        for client in clients.values():
            client.call(3, 12, MetadataRequest(topics=[]))
        pair[1]._loop.call_soon_threadsafe(time.sleep, 0.2)
        for name, client in clients.items():
            client.send(19, 7, CreateTopicsRequest(topics=[CreatableTopic(name, 1, 1)], timeout_ms=10_000))
        made = [client.receive().topics[0] for client in clients.values()]
        assert [(topic.name, topic.error_code) for topic in made] == [("moment-one", 0), ("moment-two", 0)]


def test_topics_asked_for_are_created_here_too(member):
    wanted = [MetadataRequestTopic(name="asked-for")]
    answer = member.call(3, 12, MetadataRequest(topics=wanted, allow_auto_topic_creation=True))
    assert [(topic.name, topic.error_code, len(topic.partitions)) for topic in answer.topics] == [
        ("asked-for", 0, 1)
    ]


def test_a_group_asked_for_here_creates_the_offsets_topic(member):
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])

    def found() -> bool:
        return member.call(10, 4, request).coordinators[0].error_code == 0

    until(found)
    assert topics_of(member, "__consumer_offsets") == {"__consumer_offsets": (0, 4)}


def test_producer_ids_are_never_the_same(member, pair):
    with Kafka(pair[0].host, pair[0].port) as at_controller:
        ids = [
            client.call(22, 4, InitProducerIdRequest(transactional_id=None)).producer_id
            for _ in range(1005)
            for client in (member, at_controller)
        ]
    assert len(set(ids)) == len(ids)
    assert min(ids) >= 0


def test_rubbish_in_a_request_to_be_forwarded_ends_its_connection(pair):
    whole = request_frame(19, 7, CreateTopicsRequest(topics=[CreatableTopic(name="x")]), 1)
    with socket.create_connection((pair[1].host, pair[1].port), 10) as sock:
        sock.sendall(struct.pack(">i", len(whole) - 4 - 3) + whole[4:-3])
        assert sock.recv(1) == b""


def test_what_is_forwarded_is_served_or_nothing():
    served = FORWARDED & registry.APIS.keys()
    assert served == {19, 20, 33, 37, 43, 44, 45, 46, 64}
    assert not any(registry.handler(key).raw for key in served)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"short",
        request_frame(3, 12, MetadataRequest(topics=[]), 1)[4:],
        request_frame(19, 7, CreateTopicsRequest(topics=[]), 1)[4:-1],
        struct.pack(">hhih", 19, 99, 1, -1) + bytes(10),
        struct.pack(">hhih", 0, 9, 1, -1) + bytes(100),
    ],
)
def test_the_controller_answers_other_brokers_only_what_is_to_be_forwarded(frame):
    def answer(forward) -> bytes:
        services = SimpleNamespace(forward=forward, clock=ManualClock())
        return asyncio.run(Dispatcher(services).answer(memoryview(frame), "peer"))

    with pytest.raises(WireError):
        answer(None)
    with pytest.raises(KafkaError) as elsewhere:
        answer(lambda frame, peer: None)
    assert elsewhere.value.code == ErrorCode.NOT_CONTROLLER


class Unreachable:
    """A controller port whose controller never answers."""

    image = MetadataImage()
    table = None

    def subscribe(self, on_image) -> None:
        """Nothing ever comes."""

    async def propose(self, kind: str, args: object) -> None:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, "nobody there")


def test_without_any_controller_proposals_are_answered_with_errors():
    remote = RemoteController(Unreachable())

    async def ask() -> None:
        assert [outcome.error.code for outcome in await remote.auto_create(["a", "b"])] == [
            ErrorCode.NOT_CONTROLLER
        ] * 2
        for call in (remote.ensure_offsets_topic(), remote.next_producer_id()):
            with pytest.raises(KafkaError):
                await call

    asyncio.run(ask())


class Slow(Unreachable):
    """A controller port that answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, object] = {"producer_ids": [5, 10], "auto_create": [["a", 36, None]]}
        self.go = asyncio.Event()

    async def propose(self, kind: str, args: object) -> object:
        self.asked.append(kind)
        await self.go.wait()
        answer = self.answers[kind]
        if isinstance(answer, KafkaError):
            raise answer
        return answer


def test_clients_do_not_wait_for_a_controller_that_is_slow(monkeypatch):
    """None of them, for what they ask next is behind that; what they asked for goes on, once for all, and who
    asks again has it."""
    monkeypatch.setattr(forwarding, "PATIENCE_S", 0.02)

    async def ask() -> None:
        port = Slow()
        remote = RemoteController(port)

        async def codes(count: int) -> set[object]:
            created = await asyncio.gather(*(remote.auto_create(["a"]) for _ in range(count)))
            given = (remote.next_producer_id() for _ in range(count))
            ids = await asyncio.gather(*given, return_exceptions=True)
            assert all(isinstance(each, KafkaError) for each in ids)
            return {each.error.code for (each,) in created} | {each.code for each in ids}

        assert await codes(50) == await codes(5) == {ErrorCode.NOT_CONTROLLER}
        assert sorted(port.asked) == ["auto_create", "producer_ids"]
        port.go.set()
        while remote._once._under_way:
            await asyncio.sleep(0)
        assert [await remote.next_producer_id() for _ in range(3)] == [5, 6, 7]
        assert sorted(port.asked) == ["auto_create", "producer_ids"]
        (outcome,) = await remote.auto_create(["a"])
        assert outcome.error.code == ErrorCode.TOPIC_ALREADY_EXISTS
        remote._producer_id = remote._producer_id_end
        port.answers["producer_ids"] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "full")
        for _ in range(2):
            with pytest.raises(KafkaError, match="full"):
                await remote.next_producer_id()
        assert port.asked.count("producer_ids") == 3, "what failed is asked for anew"

    asyncio.run(asyncio.wait_for(ask(), 60))


def test_clients_of_a_broker_that_was_fenced_are_told_to_try_again():
    """STALE_BROKER_EPOCH is no answer for a client: a Java producer gives up when InitProducerId says it."""

    class Fenced(Unreachable):
        async def propose(self, kind: str, args: object) -> None:
            raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, "This broker has been fenced.")

    remote = RemoteController(Fenced())

    async def ask() -> None:
        (outcome,) = await remote.auto_create(["a"])
        assert outcome.error.code == ErrorCode.NOT_CONTROLLER
        for call in (remote.ensure_offsets_topic(), remote.next_producer_id()):
            with pytest.raises(KafkaError) as refused:
                await call
            assert refused.value.code == ErrorCode.NOT_CONTROLLER

    asyncio.run(ask())


def test_an_offsets_topic_that_is_there_needs_no_controller():
    topic = TopicRecord("__consumer_offsets", bytes(16), 1, 1, 1, {}, True)
    port = Unreachable()
    port.image = MetadataImage(topics={topic.name: topic})
    assert asyncio.run(RemoteController(port).ensure_offsets_topic()) is topic


def test_when_the_controller_is_gone_clients_are_told_to_try_again(monkeypatch):
    monkeypatch.setattr("kproto.metadata.client.REQUEST_SECONDS", 0.3)
    internal = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    first = InProcessBroker({"node.id": "1", "kproto.internal.listen": internal[0]})
    second = InProcessBroker(
        {"node.id": "2", "kproto.internal.listen": internal[1], "kproto.join": internal[0]}
    )
    first.start()
    second.start()
    try:
        first.stop()
        with Kafka(second.host, second.port) as client:
            new = [MetadataRequestTopic(name="new")]
            asked = MetadataRequest(topics=new, allow_auto_topic_creation=True)
            (topic,) = client.call(3, 12, asked).topics
            assert (topic.error_code, topic.name) == (ErrorCode.LEADER_NOT_AVAILABLE, "new")
            given = client.call(22, 5, InitProducerIdRequest(transactional_id=None))
            assert given.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert [topic.error_code for topic in create(client, "one", "two")] == [
                ErrorCode.NOT_CONTROLLER
            ] * 2
            gone = client.call(20, 5, DeleteTopicsRequest(topic_names=["one"], timeout_ms=1000))
            assert [each.error_code for each in gone.responses] == [ErrorCode.NOT_CONTROLLER]
            request = CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name="one", count=5, assignments=None)]
            )
            assert client.call(37, 3, request).results[0].error_code == ErrorCode.NOT_CONTROLLER
            resource = AlterConfigsResource(resource_type=2, resource_name="one", configs=[])
            altered = client.call(33, 2, AlterConfigsRequest(resources=[resource]))
            assert altered.responses[0].error_code == ErrorCode.NOT_CONTROLLER
            known = client.call(3, 12, MetadataRequest(topics=[])).brokers
            assert [broker.node_id for broker in known] == [1, 2], "who left a moment ago stays listed"
    finally:
        second.stop()
