"""Start-up: what the journal of earlier processes holds that may not be in segment files.

`recover` reads the journal directory and returns, per partition, its chunks in order of offset with where
their bytes are. The log applies a partition's list (as `Recovered.runs`) when it opens it, on first use or in
background slices. Once they are in synced segment files, which ``VlogManager.tick`` asks the log, the old
journal files go.

Virtual logs of class ``MEMORY`` are scanned from the position in the checkpoint when the machine was not
restarted since; everything before is in segment files. The others are scanned from their oldest file, and so
is everything after a power loss: what is not in a *synced* segment file is in the journal still.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from kproto.log.ports import JournalRun
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FileHeader
from kproto.vlog.journal import SPARE_PREFIX, SUFFIX
from kproto.vlog.scan import CHUNK_HEAD, CRC_FROM, FileScan, JournalReader, ScannedChunk, Verdict, decide
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.vlog.scan_point import ScanStart

SegmentPath = Callable[[bytes, int, int, int], str | None]
"""``(topic id, partition, group, segment)`` -> path of the segment file; None when it was deleted on
purpose."""
PartitionKey = tuple[bytes, int]
_ATTEMPT_AND_OFFSET: Final = itemgetter(8, 5)


class JournalCorruptError(Exception):
    """Acked bytes are damaged (rule 24c) and this is their only copy. The message tells where and what to
    do."""


class InheritedFile:
    """A journal file of an earlier process; ``needed`` maps the partitions that need it to the end offset of
    their last chunk in it."""

    __slots__ = ("_disk", "_fd", "needed", "path", "size")

    def __init__(self, disk: Disk, path: str, size: int) -> None:
        self._disk = disk
        self._fd = -1
        self.path = path
        self.size = size
        self.needed: dict[PartitionKey, int] = {}

    def read(self, position: int, length: int) -> bytes:
        """Bytes of the file. OSError passes through."""
        if self._fd < 0:
            self._fd = self._disk.open(self.path, write=False)
        return self._disk.pread(self._fd, length, position)

    def close(self) -> None:
        if self._fd >= 0:
            self._disk.close(self._fd)
            self._fd = -1


class Recovered:
    """The result of `recover`. ``losses`` are lines for the operator about acked data that is not there."""

    __slots__ = ("bytes", "chunks", "files", "losses")

    def __init__(self) -> None:
        self.chunks: dict[PartitionKey, list[ScannedChunk]] = {}
        self.files: list[list[InheritedFile]] = []
        """Per virtual log, oldest file first."""
        self.bytes = 0
        self.losses: list[str] = []

    def runs(self) -> Iterator[tuple[PartitionKey, list[JournalRun]]]:
        """Per partition, its chunks that are in the journal, neighbours joined; direct ones need no run."""
        readers = {file.path: file.read for files in self.files for file in files}
        for key, chunks in self.chunks.items():
            runs: list[JournalRun] = []
            path, begin, end, first, last = "", -1, -1, -1, -1
            for chunk in chunks:
                if chunk.file_position < 0:
                    continue
                if chunk.file_position != end or chunk.base_offset != last or chunk.path != path:
                    if begin >= 0:
                        runs.append(JournalRun(readers[path], begin, end - begin, first, last))
                    path, begin, first = chunk.path, chunk.file_position, chunk.base_offset
                end, last = chunk.file_position + chunk.length, chunk.next_offset
            if begin >= 0:
                runs.append(JournalRun(readers[path], begin, end - begin, first, last))
            yield key, runs

    def settle(self, settled: Callable[[bytes, int, int], bool]) -> None:
        """Ask ``settled(topic id, partition, end offset)`` what is in synced segment files (or deleted) by
        now."""
        for files in self.files:
            for file in files:
                file.needed = {key: end for key, end in file.needed.items() if not settled(*key, end)}

    def waiting(self) -> Iterator[PartitionKey]:
        """Partitions that the oldest file of each virtual log waits for."""
        for files in self.files:
            yield from tuple(files[0].needed)

    def droppable(self) -> list[tuple[str, int]]:
        """Remove and return (path, bytes) of files nobody needs; the oldest of a virtual log first."""
        gone: list[tuple[str, int]] = []
        for files in self.files:
            while files and not files[0].needed:
                file = files.pop(0)
                file.close()
                gone.append((file.path, file.size))
        self.files = [files for files in self.files if files]
        return gone


def recover(
    disk: Disk,
    directory: str,
    starts: Iterable[ScanStart],
    boot: bytes,
    segment_path: SegmentPath,
    accept_loss: bool = False,
) -> Recovered:
    """Read all journal files in ``directory``; ``starts`` come from the checkpoint, ``boot`` from `boot_id`.

    Raises `JournalCorruptError` for damage that only a broken medium or a stranger's hand explains, unless
    ``accept_loss`` (unclean.leader.election.enable): then, as for data lost with the page cache, what is
    behind the damage is kept, each partition ends at its first gap, and ``losses`` says so.
    """
    collecting = gc.isenabled()
    gc.disable()  # many small tuples and no garbage: collections would take half of the time
    try:
        return _Recovery(disk, boot, segment_path, accept_loss).run(directory, starts)
    finally:
        if collecting:
            gc.enable()


class _Recovery:
    """The state of one `recover`."""

    def __init__(self, disk: Disk, boot: bytes, segment_path: SegmentPath, accept_loss: bool) -> None:
        self._disk = disk
        self._boot = boot
        self._segment_path = segment_path
        self._accept_loss = accept_loss
        self._result = Recovered()

    def run(self, directory: str, starts: Iterable[ScanStart]) -> Recovered:
        begin = {(start.owner_epoch, start.vlog): start for start in starts}
        by_vlog = self._headers(directory)
        found: dict[PartitionKey, list[ScannedChunk]] = {}
        trusted = True
        for key in sorted(by_vlog):
            files = by_vlog[key]
            inherited = [InheritedFile(self._disk, path, header.size) for header, path in files]
            self._result.files.append(inherited)
            self._result.bytes += sum(file.size for file in inherited)
            trusted = trusted and files[0][0].boot_id == self._boot
            self._vlog(files, inherited, begin.get(key), found)
        for partition, chunks in found.items():
            self._result.chunks[partition] = self._ordered(partition, chunks, trusted)
        return self._result

    def _headers(self, directory: str) -> dict[tuple[int, int], list[tuple[FileHeader, str]]]:
        """Readable files by (owner epoch, vlog), in order of vseg; files that never began are deleted."""
        by_vlog: dict[tuple[int, int], list[tuple[FileHeader, str]]] = {}
        for name in self._disk.listdir(directory):
            if not name.endswith(SUFFIX) or name.startswith(SPARE_PREFIX):
                continue
            path = os.path.join(directory, name)
            header = self._header(path)
            if header is None:
                self._result.losses.append(f"{path}: no journal file header; ignored, and deleted")
                self._disk.unlink(path)
                continue
            by_vlog.setdefault((header.owner_epoch, header.vlog), []).append((header, path))
        for files in by_vlog.values():
            files.sort(key=lambda file: file[0].vseg)
        return by_vlog

    def _header(self, path: str) -> FileHeader | None:
        reader = JournalReader(self._disk, path)
        try:
            return reader.header
        finally:
            reader.close()

    def _vlog(
        self,
        files: Sequence[tuple[FileHeader, str]],
        inherited: Sequence[InheritedFile],
        start: ScanStart | None,
        found: dict[PartitionKey, list[ScannedChunk]],
    ) -> None:
        """Scan the files of one virtual log, as far as they are not known to be in segment files."""
        usable = (
            start is not None
            and files[0][0].policy == FlushPolicy.MEMORY
            and files[0][0].boot_id == self._boot
        )
        first = start.vseg if start is not None and usable else 0
        expected: FileHeader | None = None
        for i, (header, path) in enumerate(files):
            if header.vseg < first:
                continue
            if expected is not None and header.vseg != expected.vseg + 1:
                self._damage(
                    path, header.start, True, self._survives(header), "a virtual segment before it is missing"
                )
            expected = header
            follower = files[i + 1][0] if i + 1 < len(files) else None
            at = (start.position, start.chain) if start is not None and header.vseg == first else None
            self._file(header, path, at, follower, inherited[i], found)

    def _survives(self, header: FileHeader) -> bool:
        return header.policy == FlushPolicy.SYNCED or (header.boot_id == self._boot and any(self._boot))

    def _file(
        self,
        header: FileHeader,
        path: str,
        at: tuple[int, int] | None,
        follower: FileHeader | None,
        inherited: InheritedFile,
        found: dict[PartitionKey, list[ScannedChunk]],
    ) -> None:
        """Scan one file; ``follower`` is the header of the next virtual segment."""
        position, chain = at or (header.start, header.chain)
        needed = inherited.needed
        reader = JournalReader(self._disk, path)
        try:
            scan = FileScan(reader, header, position, chain)
            while True:
                for frame in scan.frames():
                    for chunk in frame.chunks:
                        partition = chunk[:2]
                        needed[partition] = chunk[6]
                        mine = found.get(partition)
                        if mine is None:
                            mine = found[partition] = []
                        mine.append(chunk)
                if follower is not None and scan.position == follower.start:
                    return
                later = scan.later()
                durable = max(scan.durable, later.durable if later else 0, follower.start if follower else 0)
                proven = durable > scan.position
                self._damage(path, scan.position, proven, reader.survives(self._boot), "a frame is damaged")
                if later is None or not proven:
                    return
                scan.resume(later)
        finally:
            reader.close()

    def _damage(self, path: str, position: int, proven: bool, survives: bool, what: str) -> None:
        """Act on the verdict about a place where the sound part of a virtual segment ends."""
        verdict = decide(True, proven, survives)
        if verdict is Verdict.CUT:
            return
        line = f"{path}: {what} at position {position}, below what was durable ({verdict.value})"
        if verdict is Verdict.CORRUPT and not self._accept_loss:
            raise JournalCorruptError(
                f"{line}; this is the only copy. Restore the file, or start with "
                "unclean.leader.election.enable=true to give up the acknowledged records in it"
            )
        self._result.losses.append(line)

    def _ordered(
        self, partition: PartitionKey, found: list[ScannedChunk], trusted: bool
    ) -> list[ScannedChunk]:
        """The chunks of one partition by offset. A later attempt replaces what an earlier one left above."""
        found.sort(key=_ATTEMPT_AND_OFFSET)
        chunks: list[ScannedChunk] = []
        end = -1
        for chunk in found:
            if chunk.base_offset < end:
                while chunks and chunks[-1].next_offset > chunk.base_offset:
                    chunks.pop()
            chunks.append(chunk)
            end = chunk.next_offset
        keep = self._checked_direct(partition, chunks, trusted)
        return chunks if len(keep) == len(chunks) else chunks[keep.start : keep.stop]

    def _checked_direct(
        self, partition: PartitionKey, chunks: Sequence[ScannedChunk], trusted: bool
    ) -> range:
        """Which ``chunks`` count, once the direct ones were looked for in their segment files.

        Files are deleted from the oldest on (retention, DeleteRecords), so nothing up to the last chunk of a
        deleted file counts. The first one after that whose bytes are damaged ends the partition. While the
        page cache survived, the first and the last one prove those between them.
        """
        direct = [i for i, chunk in enumerate(chunks) if chunk.file_position < 0]
        if not direct:
            return range(len(chunks))
        checker = _SegmentChecker(self._disk, self._segment_path)
        try:
            if (
                trusted
                and checker.sound(chunks[direct[-1]], full=True)
                and checker.sound(chunks[direct[0]], full=False)
            ):
                return range(len(chunks))
            first = 0
            for i in direct:
                if checker.sound(chunks[i], full=True):
                    continue
                if checker.deleted(chunks[i]):
                    first = i + 1
                    continue
                self._result.losses.append(
                    f"partition {partition[0].hex()}-{partition[1]}: the segment file lacks the chunk at "
                    f"offset {chunks[i].base_offset}; the partition ends there"
                )
                return range(first, i)
            return range(first, len(chunks))
        finally:
            checker.close()


class _SegmentChecker:
    """Compares references in the journal with the segment files of one partition."""

    def __init__(self, disk: Disk, segment_path: SegmentPath) -> None:
        self._disk = disk
        self._segment_path = segment_path
        self._key: tuple[int, int] | None = None
        self._fd = -1

    def close(self) -> None:
        if self._fd >= 0:
            self._disk.close(self._fd)
        self._fd, self._key = -1, None

    def _open(self, chunk: ScannedChunk) -> int:
        """Descriptor of the chunk's segment file, -1 when there is none."""
        key = (chunk.group, chunk.segment)
        if key != self._key:
            self.close()
            path = self._segment_path(chunk.topic_id, chunk.partition, chunk.group, chunk.segment)
            try:
                self._fd = -1 if path is None else self._disk.open(path, write=False)
            except FileNotFoundError:
                self._fd = -1
            self._key = key
        return self._fd

    def deleted(self, chunk: ScannedChunk) -> bool:
        return self._open(chunk) < 0

    def sound(self, chunk: ScannedChunk, full: bool) -> bool:
        """Whether the segment file holds ``chunk``; ``full`` verifies its CRC-32C too."""
        fd = self._open(chunk)
        if fd < 0:
            return False
        data = self._disk.pread(fd, chunk.length if full else CHUNK_HEAD.size, chunk.segment_position)
        if len(data) < CHUNK_HEAD.size or (full and len(data) != chunk.length):
            return False
        base, after, epoch, magic, crc, _, delta = CHUNK_HEAD.unpack_from(data)
        if (base, after, epoch, magic, crc) != (
            chunk.base_offset,
            chunk.length - 12,
            chunk.leader_epoch,
            2,
            chunk.crc,
        ):
            return False
        if delta != chunk.next_offset - chunk.base_offset - 1:
            return False
        return not full or crc32c(memoryview(data)[CRC_FROM:]) == crc
