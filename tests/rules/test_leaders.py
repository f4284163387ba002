"""What leaders promise, new ones above all (rules 3, 5, 22, 27, 28b, 32, 33, 40, 44)."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kproto.controller.freeing import Unneeded
from kproto.errors import KafkaError
from kproto.handlers.leading import check_epoch
from kproto.member import ClusterMember
from kproto.metadata import MetadataImage
from kproto.metadata.records import BrokerRecord
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.net.ports import Answer
from kproto.replica.messages import Read, ReadAnswer, encode_read_answer
from kproto.replica.reach import NoCopyError, Reach
from kproto.wire.internal import Api, InternalError
from tests.controller.cluster_world import cluster
from tests.log.replicated import ME, OTHER, START, Replicated, Sealed, check_all
from tests.log.support import TOPIC_ID, batch
from tests.replica.test_unneeded import Leader, start, written

from .support import Broken, needs, promise

KEY = (TOPIC_ID, 0)


@needs("reads go to any store")
def test_a_new_leader_does_not_read_from_an_empty_directory() -> None:
    """A virtual segment has copies on brokers 2 and 3. Broker 2 is back with an empty directory. It does not
    have the chunks and says so; a new leader that took that for an answer would lose them (3, 22)."""
    record = VsegRecord(
        VsegId(9, 1, 1), 9, "gone", 3, 0, 0, 100, (CopyTarget(2, "store2"), CopyTarget(3, "store3"))
    )
    brokers = {
        node: BrokerRecord(node, node, "h", 1, None, "h", 2, store)
        for node, store in ((1, "store1"), (2, "empty"), (3, "store3"))
    }
    office: Any = SimpleNamespace(image=MetadataImage(1, brokers=brokers), table=VlogTable())

    class Peers:
        async def call(self, node_id: int, api: int, body: Any, timeout: float = 1.0) -> Answer:
            rows = [[0, 0, 1, 5]] if node_id == 3 else []
            answer = b"".join(encode_read_answer(100, rows, [b"chunk"] if rows else []))
            return Answer(InternalError.NONE, memoryview(answer))

    for reader in (1, 4):  # they begin with different copies
        peers: Any = Peers()
        request = Read(record.id, 0, 100, [KEY], 1000)
        asked = Reach(peers, office, reader).ask(record, Api.READ, request, ReadAnswer.decode)
        try:
            answer = asyncio.run(asked)
        except NoCopyError:
            continue
        promise(len(answer.chunks) == 1, "S1: an empty directory was believed")


@needs("own files are adopted whatever their epochs")
def test_what_only_the_old_leader_had_is_cut() -> None:
    """A leader appends under epoch 1 and dies before anybody else has the last chunks. Another one leads
    under epoch 2 and gives the same offsets to others. When the first one leads again, under epoch 3, its
    files must be cut where they part from the log (33)."""
    with tempfile.TemporaryDirectory() as folder:
        sealed = Sealed()
        log = Replicated(Path(folder), sealed)
        partition = log.partition()
        for i in range(6):
            chunk = batch(b"mine%d" % i, time=START + i)
            if i < 3:
                sealed.add(memoryview(bytes(chunk)), log.epoch)
            partition.append(chunk)
        log.journal.push()
        partition.flush()
        log.sources = (7,)
        log.lead(OTHER)
        for i in range(5):
            sealed.add(batch(b"theirs%d" % i, time=START + 10 + i), log.epoch)
        log.lead(ME)
        log.take_over(len(sealed.chunks))
        try:
            check_all(log)
        except AssertionError as error:
            raise Broken(f"S2: other records are served than were acked: {error}") from error


@needs("served before the commit")
def test_nothing_is_served_before_the_commit() -> None:
    """The store says that this broker leads a partition, but it has not rebuilt it yet: what it has is an old
    file. It would show a lower high watermark than others did (5, 27)."""
    with tempfile.TemporaryDirectory() as folder:
        sealed = Sealed()
        log = Replicated(Path(folder), sealed)
        log.sources = (7,)
        log.lead(OTHER)
        for i in range(5):
            sealed.add(batch(b"x", time=START + i), log.epoch)
        log.state = 1
        log.lead(ME)
        try:
            shown = log.partition().high_watermark
        except KafkaError:
            shown = sealed.end
        promise(shown == sealed.end, f"S3: the high watermark goes back from {sealed.end} to {shown}")


@needs("client epochs are not compared")
def test_a_client_that_knows_a_newer_leader_is_not_answered() -> None:
    """A client has seen leader epoch 5. An old leader that sleeps through its end has epoch 4: it must not
    answer, because it knows less than the client (32)."""
    old: Any = SimpleNamespace(leader_epoch=4)
    for client, what in ((5, "a deposed leader answers"), (3, "a client does not hear of a new leader")):
        try:
            check_epoch(old, client)
        except KafkaError:
            continue
        raise Broken(f"S3: {what}")
    check_epoch(old, 4)
    check_epoch(old, -1)


@needs("everything is dead")
def test_what_lies_above_the_log_start_is_live() -> None:
    """A virtual segment holds records up to offset 10. While the log starts at 9 one of them is readable; it
    goes when the store knows a log start of 10 (44)."""
    world = cluster(3, t=(1, 3, [1]))
    key = (world.image.topics["t"].topic_id, 0)
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {key: 10}, {key: 20})
    start(world, key, 9)
    promise(leader.look() == 0, "S15: a record above the log start has lost its copies")
    start(world, key, 10)
    assert leader.look() == 1


@needs("freed before its state is elsewhere")
def test_the_last_that_is_known_of_a_producer_is_written_down_before_it_goes() -> None:
    """All records of a virtual segment are deleted. What the partition knows of its producers is in state
    frames of that virtual segment only: freed now, the next leader would take a repeated batch for a new one
    (28b, 40)."""
    world = cluster(3, t=(1, 3, [1]))
    key = (world.image.topics["t"].topic_id, 0)
    written_down: list[Any] = []
    vlogs = SimpleNamespace(covers=lambda *_: bool(written_down), write_down=written_down.append)
    logs = SimpleNamespace(has_data=lambda *_: True, partition=lambda *key: key)
    member: Any = SimpleNamespace(_vlogs=vlogs, _logs=logs)
    leader = Leader(world, 1, Unneeded())
    leader.knows = lambda vseg: ClusterMember._knows_without(member, vseg, frozenset({key}))
    leader.copies.ends = written(world, 1, {key: 10})
    start(world, key, 10)
    promise(leader.look() == 0, "S13: the state of producers went with its last virtual segment")
    assert written_down == [key]
    assert leader.look() == 1, "it is in a newer state frame now"
