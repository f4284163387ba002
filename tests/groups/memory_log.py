"""The partitions of ``__consumer_offsets`` in memory, with durability, refusals and crashes at will."""

import struct
from collections.abc import AsyncIterator, Callable

from kproto.errors import ErrorCode, KafkaError

Done = Callable[[int, KafkaError | None], None]


class MemoryPartition:
    def __init__(self) -> None:
        self.start = 0
        self.end = 0
        self.batches: list[tuple[int, int, bytes]] = []
        """(base offset, next offset, bytes)."""
        self.waiting: list[tuple[int, Done]] = []
        """Appended but not durable: (base offset, callback), in order."""

    def append(self, batch: bytearray, done: Done) -> None:
        (count,) = struct.unpack_from(">i", batch, 57)
        base = self.end
        self.end += count
        self.batches.append((base, self.end, struct.pack(">q", base) + batch[8:]))
        self.waiting.append((base, done))

    def sync(self, most: int | None = None, error: ErrorCode = ErrorCode.NONE) -> None:
        """Make the first ``most`` waiting appends durable."""
        for _ in range(len(self.waiting) if most is None else min(most, len(self.waiting))):
            base, done = self.waiting.pop(0)
            done(base, KafkaError(error) if error else None)

    def crash(self) -> None:
        """What was not durable is lost; nobody is told."""
        durable = self.waiting[0][0] if self.waiting else self.end
        self.batches = [batch for batch in self.batches if batch[0] < durable]
        self.end = durable
        self.waiting.clear()


class MemoryLog:
    """An ``OffsetsLogPort``. With ``auto`` every append is durable at once."""

    def __init__(self, auto: bool = True) -> None:
        self.partitions: dict[int, MemoryPartition] = {}
        self.auto = auto
        self.refuse: ErrorCode | None = None
        self.lacking = False
        """New records get too few copies."""
        self.appends = 0
        self.most = 1 << 20
        """Bytes of the largest batch that is taken."""
        self.room = 1 << 30
        """Larger ones are refused, as by a full disk that leaves some memory."""

    def partition(self, index: int) -> MemoryPartition:
        return self.partitions.setdefault(index, MemoryPartition())

    def append(self, index: int, batch: bytearray, done: Done) -> None:
        refused = self.refuse or (ErrorCode.MESSAGE_TOO_LARGE if len(batch) > self.most else None)
        if len(batch) > self.room:
            refused = ErrorCode.KAFKA_STORAGE_ERROR
        if refused is not None:
            done(-1, KafkaError(refused))
            return
        self.appends += 1
        self.partition(index).append(batch, done)
        if self.auto:
            self.partition(index).sync()

    def bounds(self, index: int) -> tuple[int, int]:
        partition = self.partition(index)
        return partition.start, partition.end

    def most_bytes(self, index: int) -> int:
        return self.most

    def lacks_copies(self, index: int) -> bool:
        return self.lacking

    async def scan(self, index: int) -> AsyncIterator[memoryview]:
        partition = self.partition(index)
        for _, end, batch in list(partition.batches):
            if end > partition.start:
                yield memoryview(batch)

    async def truncate_prefix(self, index: int, offset: int) -> None:
        partition = self.partition(index)
        partition.start = max(partition.start, offset)
        partition.batches = [batch for batch in partition.batches if batch[1] > partition.start]
