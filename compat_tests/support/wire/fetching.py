"""Conversations about Fetch, its sessions, ListOffsets and OffsetForLeaderEpoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from compat_tests.support.frames import batch
from compat_tests.support.wire.build import (
    FETCH,
    FETCH_IDS_SINCE,
    LIST_OFFSETS,
    T0,
    Wanted,
    fetch,
    fetch_request,
    list_offsets,
    produce,
)
from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.talk import NO_ID, Talk
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest
from kproto.wire.generated.fetch import ReplicaState
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

DELETE_TOPICS, DELETE_RECORDS, LEADER_EPOCH = 20, 21, 23
VERSIONS = range(4, 19)
WAIT_MS = 600
"""Three times of it are waited for, where an answer waits."""


def _filled(talk: Talk, label: str, partitions: int = 2) -> str:
    """Ten batches of three records of 100 bytes in partition 0, times 10 ms apart; the others are empty."""
    name = talk.make(label, partitions)
    for place in range(10):
        stamp = T0 + 10 * place
        produce(talk, f"batch {place}", name, batch([b"x" * 100] * 3, times_ms=(stamp, stamp)))
    return name


def reading(talk: Talk) -> None:
    """Fetch without sessions."""
    name, other = _filled(talk, "read"), talk.make("other")
    size = 61 + 3 * 108 + 2
    for version in VERSIONS:
        for offset in (0, 1, 29, 30, 31, -1, -2, 10**15):
            fetch(talk, f"offset {offset}", (name, 0, offset), version=version)
        fetch(talk, "two topics", (name, 0, 27), (other, 0, 0), version=version)
        fetch(talk, "unknown partition", (name, 7, 0), (name, 0, 27), version=version)
        fetch(talk, "negative partition", (name, -1, 0), version=version)
        unknown = NO_ID if version >= 13 else talk.name("unknown")
        fetch(talk, "unknown topic", (unknown, 0, 0), (name, 0, 27), version=version)
        fetch(talk, "zero id or bad name", (bytes(16) if version >= 13 else "a b", 0, 0), version=version)
        fetch(talk, "nothing", version=version)
        fetch(talk, "read committed", (name, 0, 27), version=version, isolation_level=1)
        fetch(talk, "isolation 2", (name, 0, 27), version=version, isolation_level=2)
        for limit in (0, 1, size, size + 1, 3 * size, -1):
            fetch(talk, f"partition limit {limit}", (name, 0, 0, limit), version=version)
            fetch(talk, f"limit {limit}", (name, 0, 0), version=version, max_bytes=limit)
        fetch(talk, "two partitions, small", (name, 0, 0, 1), (name, 0, 3, 1), (other, 0, 0), version=version)
        if version >= 9:
            for epoch in (0, 1, -1, -2, 5):
                fetch(talk, f"current epoch {epoch}", (name, 0, 27, 1 << 20, epoch), version=version)
        if version >= 12:
            for last in (0, 1, -1, 5):
                fetch(talk, f"last epoch {last}", (name, 0, 27, 1 << 20, 0, last), version=version)
                fetch(talk, f"last epoch {last} at the end", (name, 0, 31, 1 << 20, 0, last), version=version)
    _shared_limits(talk, name)
    _same_partition_twice(talk, name)
    _as_replica(talk, name)
    _waiting(talk, name, other)


def _shared_limits(talk: Talk, name: str) -> None:
    """Several partitions share what a request may hold; the first with data always sends a batch."""
    second, third = _filled(talk, "second"), _filled(talk, "third")
    for limit in (1, 387, 388, 389, 776, 1000, 3880, 3881, 4267, 4268, 5000, 8000, 12_000):
        for version in (4, 12):
            every = [(second, 1, 0), (name, 0, 0), (second, 0, 0), (third, 0, 15)]
            fetch(talk, f"three, {limit}", *every, version=version, max_bytes=limit)
            fetch(talk, f"three, each {limit}", *((*part, limit) for part in every), version=version)
            fetch(
                talk,
                f"at the end first, {limit}",
                (second, 0, 30),
                (name, 0, 0),
                version=version,
                max_bytes=limit,
            )
            behind = ((second, 0, 31), (name, 0, 0, 500), (third, 0, 29, limit))
            fetch(talk, f"out of range first, {limit}", *behind, version=version, max_bytes=1000)


def _same_partition_twice(talk: Talk, name: str) -> None:
    for version in (4, 12, 17):
        fetch(talk, "partition twice", (name, 0, 27), (name, 0, 27), version=version)


def _as_replica(talk: Talk, name: str) -> None:
    """Debuggers and replicas that are none."""
    for replica in (-2, 5):
        fetch(talk, f"replica {replica}", (name, 0, 27), version=11, replica_id=replica)
        state = ReplicaState(replica_id=replica, replica_epoch=-1)
        fetch(talk, f"replica {replica}", (name, 0, 27), version=16, replica_state=state)
    fetch(talk, "rack", (name, 0, 27), version=12, rack_id="r1")
    fetch(talk, "cluster id", (name, 0, 27), version=12, cluster_id="other")


def _waiting(talk: Talk, name: str, empty: str) -> None:
    """Whether an answer waits for more."""

    def waits(ask: Callable[..., object], *details: Any, **fields: Any) -> bool:
        start = time.monotonic()
        ask(*details, **fields)
        return (time.monotonic() - start) * 1000 > 0.9 * WAIT_MS

    def timed(label: str, *wanted: Wanted, **fields: Any) -> None:
        """A broker that does not wait may be slow once: who waits does so each time."""
        again = fetch_request(talk, 12, wanted, **fields)
        slow = waits(fetch, talk, label, *wanted, **fields) and all(
            waits(talk.quietly, FETCH, 12, again) for _ in range(2)
        )
        talk.note(f"{label}: waits", slow)

    timed("nothing there", (empty, 0, 0), max_wait_ms=WAIT_MS)
    timed("something there", (name, 0, 0), max_wait_ms=WAIT_MS)
    timed("not enough there", (name, 0, 0), max_wait_ms=WAIT_MS, min_bytes=10**6)
    timed("min bytes 0", (empty, 0, 0), max_wait_ms=WAIT_MS, min_bytes=0)
    timed("no partitions", max_wait_ms=WAIT_MS)
    timed("out of range", (empty, 0, 7), max_wait_ms=WAIT_MS)
    timed("unknown topic", (talk.name("unknown"), 0, 0), max_wait_ms=WAIT_MS)
    timed("limit 0", (name, 0, 0), max_wait_ms=WAIT_MS, max_bytes=0)
    timed("min above max", (name, 0, 0, 500), max_wait_ms=WAIT_MS, min_bytes=1000)
    for most in (0, 1, 500, 1000):
        timed(f"min above max {most}", (name, 0, 0), max_wait_ms=WAIT_MS, min_bytes=10**6, max_bytes=most)
        timed(f"min as limit {most}", (name, 0, 0, most), max_wait_ms=WAIT_MS, min_bytes=most)
    timed("negative wait", (empty, 0, 0), max_wait_ms=-1)
    timed("negative min", (empty, 0, 0), max_wait_ms=WAIT_MS, min_bytes=-1)


def sessions(talk: Talk) -> None:
    """Fetch sessions (KIP-227)."""
    for version in (7, 12, 13, 18):
        name, other = _filled(talk, f"session{version}"), talk.make(f"other{version}", 2)
        _session(talk, version, name, other)


def _session(talk: Talk, version: int, name: str, other: str) -> None:
    known = 0

    def ask(
        label: str,
        epoch: int,
        *wanted: Wanted,
        forgotten: Sequence[tuple[Any, int]] = (),
        session: int | None = None,
    ) -> None:
        nonlocal known
        number = known if session is None else session
        request = fetch_request(
            talk, version, wanted, forgotten, session_id=number, session_epoch=epoch, max_wait_ms=0
        )
        answer = talk.quietly(FETCH, version, request)
        if not isinstance(answer, str):
            known = answer.session_id or known
            answer.session_id = int(answer.session_id != 0)
        talk.note(f"Fetch v{version} session: {label}", answer)

    ask("none, epoch -1", -1, (name, 0, 27), session=0)
    ask("unknown, epoch 1", 1, (name, 0, 27), session=12345)
    ask("unknown, epoch 0", 0, (name, 0, 27), session=12345)
    ask("unknown, epoch -1", -1, (name, 0, 27), session=12345)
    ask("none, epoch 1", 1, (name, 0, 27), session=0)
    ask("nothing in it", 0, session=0)
    ask("opened", 0, (name, 0, 27), (other, 0, 0), session=0)
    ask("no change", 1)
    ask("wrong epoch", 7)
    ask("epoch again", 1)
    ask("next", 2, (name, 0, 30))
    produce(talk, "more", name, batch([b"y"], times_ms=(T0, T0)))
    ask("news", 3)
    ask("news not taken", 4)
    ask("taken", 5, (name, 0, 31))
    ask("nothing new", 6)
    ask("added", 7, (other, 1, 0))
    produce(talk, "more", other, batch([b"y"], times_ms=(T0, T0)), partition=1)
    ask("added has news", 8)
    ask("forgotten", 9, forgotten=[(other, 1)])
    ask("forgotten unknown", 10, forgotten=[(other, 7), (NO_ID if version >= 13 else "none", 0)])
    ask("forgotten and asked", 11, (other, 1, 0), forgotten=[(other, 1)])
    ask("out of range", 12, (other, 0, 9))
    ask("still out of range", 13)
    ask("in range again", 14, (other, 0, 0))
    ask("unknown partition", 15, (other, 9, 0))
    ask("still unknown", 16)
    ask("unknown topic", 17, (NO_ID if version >= 13 else talk.name("unknown"), 0, 0))
    ask("still unknown topic", 18)
    ask("negative epoch", -5)
    ask("closed, final", -1, (name, 0, 27))
    ask("after closing", 19)
    ask("opened again", 0, (name, 0, 27))
    ask("reopened with its id", 0, (name, 0, 27))
    if version >= 12:
        ask("other version", 1)


def changing(talk: Talk) -> None:
    """What a session fetches is trimmed, deleted, made again, forgotten and asked with other limits."""
    for version in (7, 12, 13, 18):
        name, other = talk.make(f"changing{version}", 3), talk.make(f"beside{version}", 2)
        for topic, partition in ((name, 0), (name, 1), (name, 2), (other, 0), (other, 1)):
            produce(talk, "three", topic, batch([b"y"] * 3, times_ms=(T0, T0)), partition=partition)
        _changing(talk, version, name, other)


def _changing(talk: Talk, version: int, name: str, other: str) -> None:
    known, epoch = 0, 0

    def ask(label: str, *wanted: Wanted, forgotten: Sequence[tuple[Any, int]] = (), **fields: Any) -> None:
        nonlocal known, epoch
        fields = {"session_id": known, "session_epoch": epoch, **fields}
        answer = talk.quietly(FETCH, version, fetch_request(talk, version, wanted, forgotten, **fields))
        if not isinstance(answer, str):
            known = answer.session_id or known
            epoch += not answer.error_code
            answer.session_id = int(answer.session_id != 0)
        talk.note(f"Fetch v{version} changing: {label}", answer)

    def trim(before: int) -> None:
        part = DeleteRecordsPartition(partition_index=0, offset=before)
        topics = [DeleteRecordsTopic(name=name, partitions=[part])]
        talk(DELETE_RECORDS, 2, DeleteRecordsRequest(topics=topics, timeout_ms=9000), f"below {before}")

    ask("opened", (name, 0, 0), (name, 1, 0), (other, 0, 0), (other, 1, 0))
    ask("partition twice", (name, 0, 3), (name, 0, 1))
    ask("a topic forgotten", forgotten=[(name, 0), (name, 1)])
    ask("one asked, another forgotten", (name, 2, 0), forgotten=[(other, 0)])
    ask("forgotten twice", (name, 0, 0), forgotten=[(other, 1), (other, 1)])
    ask("small", max_bytes=1)
    ask("small again", max_bytes=1)
    ask("small once more", max_bytes=1)
    ask("no bytes of a partition", (name, 0, 0, 0), (name, 2, 0, 0))
    asked = {"max_wait_ms": 9000, "min_bytes": 10**6, "max_bytes": 100}
    ask("more asked than may be sent", (name, 0, 0), (name, 2, 0), **asked)
    ask("from the end", (name, 0, 3), (name, 2, 3))
    trim(2)
    ask("the start moved")
    ask("which is known now")
    trim(3)
    ask("an old offset", (name, 0, 2))
    ask("still")
    ask("a new one", (name, 0, 3))
    ask("an epoch to come", (name, 0, 3, 1 << 20, 5))
    ask("still that epoch")
    ask("the epoch", (name, 0, 3, 1 << 20, 0))
    ask("all forgotten", forgotten=[(name, 0), (name, 2)])
    ask("there is no session")
    known, epoch = 0, 0
    ask("opened again", (name, 0, 3), (other, 0, 3))
    old = talk.ids[name]
    talk.client.call(DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=[name], timeout_ms=9000))
    talk.settle()
    talk.make(name.removeprefix(talk.mark), 3)
    ask("made again", (name, 0, 0), forgotten=[(old, 0)] if version >= FETCH_IDS_SINCE else [])
    ask("nothing in it")
    produce(talk, "two", name, batch([b"y"] * 2, times_ms=(T0, T0)))
    ask("something in it")
    ask("taken", (name, 0, 2))
    ask("nothing new")


def rotating(talk: Talk) -> None:
    """Which partitions of a session come first where not all of them fit into an answer."""
    for version in (7, 12, 13):
        name, other = talk.make(f"rotating{version}", 3), talk.make(f"others{version}", 2)
        every = [(other, 1), (name, 2), (name, 0), (other, 0), (name, 1)]
        for topic, partition in every:
            for _ in range(4):
                data = batch([b"x" * 100] * 3, times_ms=(T0, T0))
                produce(talk, "three", topic, data, partition=partition)
        names = {topic_id: made for made, topic_id in talk.ids.items()}
        wanted: list[Wanted] = [(*part, 0) for part in every]
        session = 0
        for epoch, limit in enumerate((800, 800, 388, 1, 1600, 388, 5000, 388, 1600, 388)):
            request = fetch_request(
                talk, version, wanted, session_id=session, session_epoch=epoch, max_bytes=limit
            )
            answer = talk.client.call(FETCH, version, request)
            session = answer.session_id
            order = [
                (
                    names[bytes(topic.topic_id)] if version >= FETCH_IDS_SINCE else topic.topic,
                    part.partition_index,
                )
                for topic in answer.responses
                for part in topic.partitions
            ]
            talk.note(f"Fetch v{version} epoch {epoch}: order", repr(order))
            wanted = [(other, 0, 3)] if epoch == 4 else []


def looking_up(talk: Talk) -> None:
    """ListOffsets and OffsetForLeaderEpoch."""
    name = _filled(talk, "times")
    stamps = (-1, -2, -3, -4, -5, -6, -7, -100, 0, T0 - 1, T0, T0 + 1, T0 + 10, T0 + 45, T0 + 90, T0 + 91)
    for version in range(1, 12):
        list_offsets(talk, "at", name, *stamps, version=version)
        list_offsets(talk, "empty", name, *stamps[:8], T0, version=version, partition=1)
        list_offsets(talk, "unknown partition", name, -1, T0, version=version, partition=9)
        list_offsets(talk, "unknown topic", talk.name("unknown"), -1, T0, version=version)
        list_offsets(talk, "bad name", "a b", -1, version=version)
        if version >= 2:
            list_offsets(talk, "committed", name, -1, -2, T0, T0 + 91, version=version, isolation_level=1)
        if version >= 4:
            for epoch in (0, 1, 5, -2):
                list_offsets(talk, f"epoch {epoch}", name, -1, T0, version=version, epoch=epoch)
        if version >= 10:
            list_offsets(talk, "with timeout", name, -1, T0, version=version, timeout_ms=100)
    _odd_times(talk, name)
    _epochs(talk, name)


def _odd_times(talk: Talk, name: str) -> None:
    """Times that go back and forth, several records of different times in a batch, compressed."""
    back = talk.make("back")
    for place, stamp in enumerate((50, 40, 60, 10, 60, 55)):
        produce(talk, f"back {place}", back, batch([b"v", b"w"], times_ms=(T0 + stamp, T0 + stamp)))
    list_offsets(talk, "back", back, -3, *(T0 + at for at in (0, 5, 10, 11, 40, 45, 50, 51, 56, 60, 61)))
    same = ListOffsetsPartition(partition_index=0, timestamp=-1)
    searched = ListOffsetsPartition(partition_index=0, timestamp=T0)
    for version in (1, 7, 11):
        for label, topics in (
            ("partition twice", [ListOffsetsTopic(name=name, partitions=[same, same])]),
            ("topic twice", [ListOffsetsTopic(name=name, partitions=[same])] * 2),
            ("searched twice", [ListOffsetsTopic(name=name, partitions=[searched, searched])]),
            ("nothing", []),
        ):
            talk(LIST_OFFSETS, version, ListOffsetsRequest(replica_id=-1, topics=topics), label)
        for replica in (-2, 0, 3):
            wanted = [ListOffsetsTopic(name=name, partitions=[same])]
            talk(
                LIST_OFFSETS,
                version,
                ListOffsetsRequest(replica_id=replica, topics=wanted),
                f"replica {replica}",
            )


def _epochs(talk: Talk, name: str) -> None:
    for version in (2, 3, 4):
        for topic, partition in ((name, 0), (name, 1), (name, 9), (talk.name("unknown"), 0), ("a b", 0)):
            for current in (-1, 0, 1):
                for epoch in (-(2**31), -2, -1, 0, 1, 5):
                    part = OffsetForLeaderPartition(
                        partition=partition, current_leader_epoch=current, leader_epoch=epoch
                    )
                    wanted = OffsetForLeaderTopic(topic=topic, partitions=[part])
                    request = OffsetForLeaderEpochRequest(replica_id=-1, topics=[wanted])
                    label = f"{topic.removeprefix(talk.mark)} {partition} current {current} epoch {epoch}"
                    talk(LEADER_EPOCH, version, request, label)
        talk(LEADER_EPOCH, version, OffsetForLeaderEpochRequest(topics=[]), "nothing")


ABORTED = Allowed(r"aborted_transactions: kafka \[\], kproto None", "null and empty: no aborted transactions")
READING = (
    ABORTED,
    Allowed("isolation 2 ", "Kafka fails inside; we take unknown levels for read uncommitted"),
    Allowed("limit -1 ", "Kafka fails inside; we take it for 0"),
    Allowed(
        "last epoch (0 at the end|1|5) ",
        "the last fetched epoch is said by replicas only; we have none that fetch",
    ),
    Allowed("replica 5 ", "there are no replicas that fetch: whoever does is a consumer"),
)
CONVERSATIONS = (
    Conversation("reading", reading, READING),
    Conversation("sessions", sessions, (ABORTED,)),
    Conversation("sessions-changing", changing),
    Conversation("sessions-rotating", rotating),
    Conversation("looking-up", looking_up),
)
