"""The last look: clients read everything again, and it is compared with what they were promised and with
what leaders know."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kproto.errors import KafkaError
from kproto.log.epochs import EpochCache
from kproto.log.producers import Producers
from kproto.wire.batch import hop

from .clients import Clients, Consumer, Unanswered, fetch, services_of

if TYPE_CHECKING:
    from kproto.log.partition import Partition

    from .checks import PartitionKey
    from .world import World


class Reading:
    """``leaders``: partition and leader epoch to the process that served it (`checks`)."""

    def __init__(self, world: World, leaders: dict[tuple[bytes, int, int], str]) -> None:
        self.world = world
        self.leaders = leaders

    async def finish(self, clients: Clients) -> None:
        """Read everything again, and compare what leaders know with what is there."""
        for ledger in clients.ledgers:
            await self.read_all(clients, ledger)
            self.world.look()

    async def read_all(self, clients: Clients, ledger: Any) -> None:
        world = self.world
        consumer = Consumer(clients, ledger)
        for _ in range(100):
            consumer._look()
            if not self._leads(ledger, consumer):
                consumer.leader = -1
            if consumer.leader >= 0 and await consumer.poll(-1, 1) >= 0:
                break
            if max(ledger.ends.values(), default=0) <= consumer.log_start and consumer.leader >= 0:
                break
            await asyncio.sleep(0.1)
        if consumer.leader < 0:
            world.failed(f"L2: {ledger.name} cannot be read")
            return
        at = consumer.log_start
        if ledger.log_start > at and ledger.copies > 1:
            world.failed(
                f"44: {ledger.name} starts at {at}, but its start at {ledger.log_start} was confirmed"
            )
        found: list[bytes] = []
        tries = 0
        while at < consumer.high_watermark and tries < 200:  # copies that come late let it rise yet
            leader = consumer.leader
            data = await self._fetch(clients, consumer, at)
            if not data:
                tries += 1
                consumer.leader = leader
                consumer._look()  # leaders still move back to where they should be
                await asyncio.sleep(0.1)
                continue
            for position, size, fields in hop(memoryview(data)):
                found.append(data[position : position + size])
                at = fields[0] + fields[12]
        if at < consumer.high_watermark:
            world.failed(f"L2: {ledger.name} cannot be read beyond {at} of {consumer.high_watermark}")
            return
        self.compare(ledger, consumer, found)

    def _leads(self, ledger: Any, consumer: Consumer) -> bool:
        """Whether the store says so, too. One that was fenced while the network kept everything from it shows
        what it had until it has heard nobody for too long (31, 34): that is no later log (S1)."""
        image = self.world.image
        record = image.partition_streamlet(image.topics[ledger.topic], ledger.index)
        return (consumer.leader, consumer.epoch) == (record.leader, record.leader_epoch)

    async def _fetch(self, clients: Clients, consumer: Consumer, at: int) -> bytes | None:
        """One fetch from the leader, checked."""
        ledger, epoch = consumer.ledger, consumer.epoch
        try:
            answer = await clients.ask(
                consumer.leader, lambda broker: fetch(broker, ledger, epoch, at, 50_000)
            )
        except (KafkaError, Unanswered) as error:
            self.world.note(f"{ledger.name} at {at}: {error}")
            return None
        consumer._take(consumer.leader, at, *answer)
        chunks: bytes = answer[3]
        return chunks

    def compare(self, ledger: Any, consumer: Consumer, chunks: list[bytes]) -> None:
        """S1: every acknowledged chunk is there; S5: once; S13, S14: what the leader knows is their fold."""
        world = self.world
        producers, epochs, bases = self._fold(ledger, chunks)
        for base in ledger.acked:
            if base >= consumer.log_start and base not in bases:
                world.failed(f"S1: {ledger.name} has lost what was acknowledged at {base}")
        broker = world.nodes[consumer.leader].running
        record = services_of(broker).image().topics[ledger.topic]
        try:
            partition = broker._logs.partition(record.topic_id, ledger.index)
        except KafkaError:  # leaders still move back to where they should be
            return
        if partition is None or partition.leader_epoch != consumer.epoch:
            return
        for chunk in chunks:
            ((_, _, fields),) = hop(memoryview(chunk))
            self.look_for_stale(ledger, (record.topic_id, ledger.index), fields[0], fields[2])
        if partition.log_end_offset != consumer.high_watermark:
            world.count("read, and went on")
            return
        self._compare_producers(ledger, partition, producers)
        told = EpochCache.decode(partition.epochs.encode())
        for cache in (epochs, told):
            cache.cut_front(partition.log_start_offset)
        if chunks and told.encode() != epochs.encode():
            world.failed(
                f"S14: {ledger.name}: epochs {told.epochs} from {told.starts}, "
                f"not {epochs.epochs} from {epochs.starts}"
            )
        world.count("read to the end")

    def _fold(self, ledger: Any, chunks: list[bytes]) -> tuple[Producers, EpochCache, set[int]]:
        """What the chunks tell of producers and leader epochs, and their base offsets. S5, unless a producer
        may have been forgotten in between."""
        producers, epochs = Producers(), EpochCache()
        bases: set[int] = set()
        seen: dict[tuple[int, int], int] = {}
        for chunk in chunks:
            ((_, _, fields),) = hop(memoryview(chunk))
            base, pid, seq, count = fields[0], fields[9], fields[11], fields[12]
            if (pid, seq) in seen and not self._is_forgotten(ledger, producers[pid].last_timestamp, base):
                self.world.failed(f"S5: {ledger.name} has sequence {seq} at {seen[pid, seq]} and at {base}")
            bases.add(base)
            seen[pid, seq] = base
            producers.add(pid, fields[10], seq, count, base, fields[8])
            epochs.note(fields[2], base)
        return producers, epochs, bases

    def _is_forgotten(self, ledger: Any, newest: int, base: int = -1) -> bool:
        """Whether a leader may have forgotten a producer before it got its batch at ``base``, or by now. The
        time counts from the timestamp of the ``newest`` batch before that, and one that was tried again and
        again is old when it is appended (seed 30069103)."""
        until: int = ledger.acked.get(base, self.world.clock.wall_ms())
        forgets_ms: int = self.world.plan.forgets_ms
        return until - newest >= forgets_ms

    def _compare_producers(self, ledger: Any, partition: Partition, known: Producers) -> None:
        """S13. What was deleted is in the state, too, but not in what is ``known``; what a producer sent
        before it was forgotten is not in the state."""
        world, start = self.world, partition.log_start_offset
        for pid, one in known.items():
            told = partition.producers.get(pid)
            if told is None and self._is_forgotten(ledger, one.last_timestamp):
                continue
            batches = [] if told is None else told.batches
            expected = one.batches
            before = expected[: -len(batches)] if batches else []
            if before and self._is_forgotten(ledger, before[-1][3], batches[0][2]):
                expected = expected[len(before) :]
            deleted = batches[: -len(expected)]
            if (
                told is None
                or (told.epoch, told.next_seq) != (one.epoch, one.next_seq)
                or batches[len(deleted) :] != expected
                or any(base >= start for _, _, base, _ in deleted)
            ):
                world.failed(f"S13: {ledger.name}: producer {pid}: {batches}, not {one.batches}")
        for pid, other in partition.producers.items():
            if pid not in known and any(base >= start for _, _, base, _ in other.batches):
                world.failed(f"S13: {ledger.name}: producer {pid} has {other.batches}, and no chunk")

    def look_for_stale(self, ledger: Any, key: PartitionKey, base: int, epoch: int) -> None:
        """25, 33: whoever began to lead without a chunk of an earlier leader epoch never has it. A leader
        that goes on under the next epoch, as it is (18b), may have appended it meanwhile."""
        earlier = self.leaders.get((*key, epoch))
        for later, end in ledger.first_ends.items():
            leader = self.leaders.get((*key, later), earlier)
            if later > epoch and base >= end and earlier not in (None, leader):
                self.world.failed(
                    f"25: {ledger.name} has epoch {epoch} at {base}, but ended at {end} under {later}"
                )
