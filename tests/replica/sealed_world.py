"""Owners that came and went, as the sealed copies of their virtual logs show it: frames, virtual segments,
state frames, and other brokers that answer for them in memory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kproto.metadata import MetadataImage, StreamletRecord
from kproto.metadata.records import ONLINE, RECOVERING, BrokerRecord
from kproto.metadata.store import Entry
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord, given_key, start_key
from kproto.net.ports import Answer, Buffer, Done, PeerError
from kproto.replica.messages import (
    CatalogRow,
    Look,
    PartitionKey,
    PartitionState,
    Read,
    StateAnswer,
    encode_catalog,
    encode_read_answer,
)
from kproto.replica.survey import Base
from kproto.wire.internal import Api, InternalError
from kproto.wire.records import NO_PRODUCER, Producer
from tests.log.replicated import ME, START, Replicated, Sealed
from tests.log.support import TOPIC_ID, batch

NODES = (2, 3)
"""Who has copies."""


class Chunk(NamedTuple):
    key: PartitionKey
    base: int
    end: int
    data: bytes


class Frame(NamedTuple):
    position: int
    end: int
    chunks: list[Chunk]
    states: dict[PartitionKey, Base] | None


class Vlog:
    """One virtual log of one owner: its frames, and where its segments begin and end."""

    def __init__(self, owner_epoch: int, number: int) -> None:
        self.owner_epoch = owner_epoch
        self.number = number
        self.frames: list[Frame] = []
        self.starts = [0]
        self.end = 0
        self.members: dict[PartitionKey, Base | None] = {}
        """Partitions with data here; with a state: they append elsewhere now."""

    def add(self, chunks: list[Chunk], states: dict[PartitionKey, Base] | None = None) -> None:
        length = 64 + sum(len(chunk.data) for chunk in chunks)
        self.frames.append(Frame(self.end, self.end + length, chunks, states))
        self.end += length

    def records(self) -> list[VsegRecord]:
        ends = [*self.starts[1:], self.end]
        backups = tuple(CopyTarget(node, f"store{node}") for node in NODES)
        return [
            VsegRecord(VsegId(self.owner_epoch, self.number, i + 1), 9, "gone", 3, 0, start, end, backups)
            for i, (start, end) in enumerate(zip(self.starts, ends, strict=True))
        ]

    def inside(self, vseg: VsegId, begin: int, end: int) -> list[Frame]:
        start = self.starts[vseg.seq - 1]
        stop = [*self.starts[1:], self.end][vseg.seq - 1]
        return [one for one in self.frames if max(start, begin) <= one.position and one.end <= min(stop, end)]


class World:
    """Partitions of one topic under several owners; the last one is gone and this broker takes over."""

    def __init__(self, path: Path, seed: int, partitions: int) -> None:
        self.random = random.Random(seed)
        self.keys = [(TOPIC_ID, i) for i in range(partitions)]
        self.truth = {key: Sealed() for key in self.keys}
        self.vlogs: list[Vlog] = []
        self.epochs: list[int] = []
        self.log = Member(path, self, partitions)
        self.metadata = Office(self)
        self.peers = SealedPeers(self)
        self.sequence = 0
        self.freed: set[VsegId] = set()
        self.lost: set[VsegId] = set()
        """Without a copy, and given up."""
        self.shortened: dict[VsegId, int] = {}
        """Their ends; what they had behind was given up."""
        self.bare: set[VsegId] = set()
        """Without a copy."""
        self.unsealed: set[VsegId] = set()
        """Open, though the owner is gone."""
        self.given: dict[tuple[int, int], int] = {}
        """`VlogTable.given_upto`."""
        self.starts: dict[PartitionKey, int] = {}
        """Log starts that were stored."""

    # History

    def owner(self, rounds: int, again: bool = False) -> None:
        """A leader of everything: appends, state frames, rolls, moves between its virtual logs.

        ``again``: one that led before gets it all back, by planned moves: its process has gone on meanwhile.
        """
        self._hand_over()
        self.log.epoch += 1
        if again and self.epochs:
            epoch = self.random.choice(self.epochs)
            mine = [vlog for vlog in self.vlogs if vlog.owner_epoch == epoch]
        else:
            epoch = 10 + len(set(self.epochs))
            mine = [Vlog(epoch, i + 1) for i in range(self.random.randint(1, 3))]
            self.vlogs += mine
        self.epochs.append(epoch)
        place = {key: self.random.choice(mine) for key in self.keys}
        active = self.random.sample(self.keys, self.random.randint(1, len(self.keys)))
        for _ in range(rounds):
            vlog = self.random.choice(mine)
            here = [key for key in active if place[key] is vlog]
            vlog.add([self._chunk(key) for key in here for _ in range(self.random.randint(0, 2))])
            for key in here:
                if self.truth[key].chunks:
                    vlog.members[key] = None
            if self.random.random() < 0.2:
                vlog.add([], {key: state or self.state(key) for key, state in vlog.members.items()})
            if self.random.random() < 0.2:
                vlog.starts.append(vlog.end)
            if self.random.random() < 0.05 and active:
                key = self.random.choice(active)
                if key in place[key].members:
                    place[key].members[key] = self.state(key)
                place[key] = self.random.choice(mine)

    def _hand_over(self) -> None:
        """What the last leader writes down of its partitions stays as it is now; some time it does."""
        for vlog in self.vlogs:
            for key in [key for key, state in vlog.members.items() if state is None]:
                vlog.members[key] = self.state(key)
            if vlog.members and self.random.random() < 0.3:
                vlog.starts.append(vlog.end)
                vlog.add([], {key: state for key, state in vlog.members.items() if state is not None})

    def _chunk(self, key: PartitionKey) -> Chunk:
        producer = NO_PRODUCER
        if self.random.random() < 0.5:
            producer = Producer(self.random.randint(1, 3), self.sequence, 0)
            self.sequence += 1
        values = [self.random.choice((5, 100, 2000))] * self.random.randint(1, 3)
        sealed = self.truth[key]
        sealed.add(batch(*values, time=START + self.sequence, producer=producer), self.log.epoch)
        return Chunk(key, *sealed.chunks[-1])

    def state(self, key: PartitionKey) -> Base:
        found = self.truth[key].state(len(self.truth[key].chunks))
        return Base(*found) if found is not None else Base(0, 0)

    def shorten(self) -> None:
        """The last frames of some open virtual segments are lost."""
        last = [vlog for vlog in self.vlogs if vlog.inside(vlog.records()[-1].id, 0, vlog.end)]
        for vlog in self.random.sample(last, self.random.randint(1, len(last))) if last else ():
            record = vlog.records()[-1]
            frames = vlog.inside(record.id, 0, vlog.end)
            self.shortened[record.id] = self.random.choice(frames[-4:]).position

    def free(self) -> None:
        """Log starts move; segments in which nothing is alive are given up, state frames with them."""
        for sealed in self.truth.values():
            if self.random.random() < 0.5 and sealed.chunks:
                sealed.log_start = self.random.randint(0, sealed.end)
        for vlog in self.vlogs:
            for record in vlog.records()[:-1]:
                frames = vlog.inside(record.id, 0, vlog.end)
                if not any(
                    chunk.end > self.truth[chunk.key].log_start for one in frames for chunk in one.chunks
                ):
                    self.freed.add(record.id)

    # Metadata

    def table(self) -> VlogTable:
        table = VlogTable()
        records = [record for vlog in self.vlogs for record in vlog.records() if record.id not in self.freed]
        records = [one._replace(backups=(), lost=True) if one.id in self.lost else one for one in records]
        records = [one._replace(backups=()) if one.id in self.bare else one for one in records]
        for number, one in enumerate(records):
            if one.id in self.shortened:
                records[number] = one._replace(end=self.shortened[one.id], shortened=True)
        records = [one._replace(end=None) if one.id in self.unsealed else one for one in records]
        entries = [Entry(record.key, record.encode(), 1) for record in records]
        entries += [Entry(given_key(*vlog), str(seq).encode(), 1) for vlog, seq in self.given.items()]
        for key, sealed in self.truth.items():
            start = max(sealed.log_start, self.starts.get(key, 0))
            entries.append(Entry(start_key(*key), str(start).encode(), 1))
        table.load(1, entries)
        return table

    def vseg(self, vseg: VsegId) -> Vlog:
        return next(one for one in self.vlogs if (one.owner_epoch, one.number) == vseg[:2])


class Member(Replicated):
    """The broker that takes over."""

    def __init__(self, path: Path, world: World, partitions: int) -> None:
        self.world = world
        self.online: set[int] = set()
        self.copying: set[int] = set()
        """Streamlets whose first copies are being made here."""
        self.before_me: tuple[int, ...] = ()
        """Live brokers with smaller ids."""
        self.given: tuple[int, ...] = ()
        """See `StreamletRecord`."""
        super().__init__(path, Sealed(), partitions=partitions)
        self.owner = 99
        self.manager.leadership.owner_epoch = 99

    def image(self, **changes: Any) -> MetadataImage:
        old = tuple(self.world.epochs)
        streamlets = tuple(
            StreamletRecord(
                TOPIC_ID,
                i,
                ME,
                self.epoch,
                (ME, 2),
                ONLINE if i in self.online else RECOVERING,
                () if i in self.copying else (*old, self.owner) if i in self.online else old,
                self.given,
            )
            for i in range(self.partitions)
        )
        brokers = {
            node: BrokerRecord(node, node, "h", 1, None, "h", 2, f"store{node}")
            for node in (*self.before_me, ME, *NODES)
        }
        return super().image(streamlets={TOPIC_ID: streamlets}, brokers=brokers, **changes)


class Office:
    """Metadata, and the controller that commits."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.commits: list[int] = []
        self.empty: set[int] = set()
        """Streamlets that a leader said are empty."""
        self.refusals = 0
        self.image = MetadataImage()
        self.table = VlogTable()

    def publish(self) -> None:
        self.world.log.apply()
        self.image = self.world.log.image()
        self.table = self.world.table()

    async def propose(self, kind: str, args: Any) -> list[bool]:
        assert kind in ("commit", "starts")
        await asyncio.sleep(0)
        if kind == "starts":
            starts = {(bytes.fromhex(topic), index): offset for topic, index, offset in args["starts"]}
            assert all(self.world.starts.get(key, 0) <= offset for key, offset in starts.items())
            self.world.starts.update(starts)
            self.publish()
            return [True for _ in starts]
        self.commits.append(len(args["streamlets"]))
        for topic, streamlet in args["empty"]:
            assert not self.world.truth[bytes.fromhex(topic), streamlet].chunks
            self.empty.add(streamlet)
        answers = []
        for topic, streamlet, epoch in args["streamlets"]:
            assert topic == TOPIC_ID.hex()
            good = epoch == self.world.log.epoch and self.refusals == 0
            self.refusals = max(self.refusals - 1, 0)
            if good:
                self.world.log.online.add(streamlet)
            answers.append(good)
        self.publish()
        return answers


class SealedPeers:
    """Other brokers' copies. Implements ``net.ports.PeersPort``; some requests fail."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.failing: dict[int, str] = {}
        self.asked: list[tuple[int, Api]] = []
        self.silent = 0
        """So many requests get no answer."""

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        raise NotImplementedError

    async def call(self, node_id: int, api: int, body: Buffer = b"", timeout: float = 10.0) -> Answer:
        await asyncio.sleep(0)
        self.asked.append((node_id, Api(api)))
        if self.silent > 0:
            self.silent -= 1
            raise PeerError("lost")
        problem = self.failing.get(node_id)
        if problem == "silent":
            await asyncio.sleep(timeout)
            raise PeerError("no answer in time")
        if problem == "gone":
            raise PeerError("gone")
        if problem == "limbo":
            return Answer(InternalError.LIMBO, memoryview(b""))
        if problem == "rubbish":
            return Answer(InternalError.NONE, memoryview(b"rubbish"))
        pieces = {Api.STATE: self._state, Api.READ: self._read, Api.CATALOG: self._catalog}[Api(api)](body)
        return Answer(InternalError.NONE, memoryview(b"".join(pieces)))

    def _state(self, body: Buffer) -> tuple[Buffer, ...]:
        look = Look.decode(body)
        vlog = self.world.vseg(look.vseg)
        found = [one for one in vlog.inside(look.vseg, 0, look.end) if one.states is not None]
        if not found:
            return StateAnswer(-1, vlog.starts[look.vseg.seq - 1], []).encode()
        states = [
            PartitionState(i, *found[-1].states[key])  # type: ignore[index]
            for i, key in enumerate(look.partitions)
            if key in (found[-1].states or {})
        ]
        return StateAnswer(found[-1].position, found[-1].end, states).encode()

    def _read(self, body: Buffer) -> tuple[Buffer, ...]:
        read = Read.decode(body)
        rows, pieces, size, following = [], [], 0, read.begin
        for frame in self.world.vseg(read.vseg).inside(read.vseg, read.begin, read.end):
            assert frame.position == following, "a read begins at a frame"
            following = frame.end
            for chunk in frame.chunks:
                if chunk.key in read.partitions:
                    i = list(read.partitions).index(chunk.key)
                    if not read.offsets or chunk.end > read.offsets[i]:
                        rows.append([i, chunk.base, chunk.end, len(chunk.data)])
                        pieces.append(chunk.data)
                        size += len(chunk.data)
            if size >= read.max_bytes:
                break
        return encode_read_answer(following, rows, pieces)

    def _catalog(self, body: Buffer) -> tuple[Buffer, ...]:
        look = Look.decode(body)
        frames = self.world.vseg(look.vseg).inside(look.vseg, 0, look.end)
        rows = []
        for key in look.partitions:
            mine = [(one.position, chunk) for one in frames for chunk in one.chunks if chunk.key == key]
            if not mine:
                rows.append(CatalogRow(0, 0, 0, -1))
                continue
            chunks = [chunk for _, chunk in mine]
            size = sum(len(chunk.data) for chunk in chunks)
            first, end = min(one.base for one in chunks), max(one.end for one in chunks)
            rows.append(CatalogRow(first, end, size, mine[0][0]))
        return (encode_catalog(rows),)
