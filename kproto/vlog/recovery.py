"""Start-up: what the journal of earlier processes holds that may not be in segment files.

`recover` reads the journal directory and returns, per partition, its chunks in order of offset with where
their bytes are. The log applies a partition's list (as `Recovered.runs`) when it opens it, on first use or in
background slices. Once they are in synced segment files, which ``VlogManager.tick`` asks the log, the old
journal files go.

Virtual logs of class ``MEMORY`` are scanned from the position in the checkpoint when the machine was not
restarted since; everything before is in segment files. The others are scanned from their oldest file, and so
is everything after a power loss: what is not in a *synced* segment file is in the journal still. What a class
with syncs finds is synced before anybody uses it: a repeated request for it is answered at once (rule 8).

Direct chunks are not looked at here: the log checks its segment files itself as far as its checkpoint does
not vouch for them, and ends a partition at the first gap. Where a reference points may be out of date by now,
because a restart may have laid out the segments after it anew.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from kproto.disk import NO_SPACE
from kproto.log.ports import EVERYTHING, JournalRun
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE, FileHeader
from kproto.vlog.journal import SPARE_PREFIX, SUFFIX, file_name
from kproto.vlog.kept import EMPTIED, HEADLESS, vseg_of_headless, vseg_of_name
from kproto.vlog.scan import FileScan, JournalReader, ScannedChunk, Verdict, decide

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.vlog.scan_point import ScanStart

PartitionKey = tuple[bytes, int]
_ATTEMPT_AND_OFFSET: Final = itemgetter(8, 5)


class JournalCorruptError(Exception):
    """Acked bytes are damaged (rule 24c) and this is their only copy. The message tells where and what to
    do."""


class InheritedFile:
    """A journal file of an earlier process; ``needed`` maps the partitions that need it to the end offset of
    their last chunk in it."""

    __slots__ = ("_disk", "_fd", "header", "needed", "path", "size", "synced")

    def __init__(self, disk: Disk, path: str, header: FileHeader) -> None:
        self._disk = disk
        self._fd = -1
        self.path = path
        self.header = header
        self.size = header.size
        self.needed: dict[PartitionKey, int] = {}
        self.synced = False
        """What was found in it is on the medium."""

    def read(self, position: int, length: int) -> bytes:
        """Bytes of the file. OSError passes through."""
        if self._fd < 0:
            self._fd = self._disk.open(self.path, write=False)
        return self._disk.pread(self._fd, length, position)

    def shorten(self, used: int) -> None:
        """Give the disk what lies behind the last sound frame: reserved space, and a torn tail (row 24b)."""
        if used < self.size:
            fd = self._disk.open(self.path)
            try:
                self._disk.truncate(fd, used)
            finally:
                self._disk.close(fd)
            self.size = used

    def sync(self) -> None:
        """What was found is on the medium from now on: the process that wrote it may have ended before it
        could sync."""
        self._disk.sync_file(self.path)
        self.synced = True

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
        by_path = {file.path: file for files in self.files for file in files}
        for key, chunks in self.chunks.items():
            runs: list[JournalRun] = []
            path, begin, end, first, last, epoch = "", -1, -1, -1, -1, -1
            for chunk in chunks:
                if chunk.file_position < 0:
                    continue
                follows = chunk.file_position == end and chunk.base_offset == last
                if not follows or chunk.path != path or chunk.leader_epoch != epoch:
                    if begin >= 0:
                        runs.append(_run(by_path[path], begin, end, first, last, epoch))
                    path, begin, first = chunk.path, chunk.file_position, chunk.base_offset
                    epoch = chunk.leader_epoch
                end, last = chunk.file_position + chunk.length, chunk.next_offset
            if begin >= 0:
                runs.append(_run(by_path[path], begin, end, first, last, epoch))
            yield key, runs

    def release(self, partition: PartitionKey) -> None:
        """A partition needs no old file any more."""
        for files in self.files:
            for file in files:
                file.needed.pop(partition, None)

    def is_unsynced(self, partition: PartitionKey) -> bool:
        """Some of its chunks are in files that nobody has synced, and perhaps nowhere else."""
        return any(
            file.header.policy == FlushPolicy.MEMORY and partition in file.needed
            for files in self.files
            for file in files
        )

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

    def droppable(self, unsealed: Callable[[FileHeader], bool]) -> list[InheritedFile]:
        """Files nobody needs; the oldest of a virtual log first.

        One that is ``unsealed`` stays: the controller may yet ask where its virtual segment ended (rule 18b).
        """
        return [
            file
            for files in self.files
            for file in takewhile(lambda one: not (one.needed or unsealed(one.header)), files)
        ]

    def dropped(self, file: InheritedFile) -> None:
        """It is gone, as are those of its virtual log before it."""
        file.close()
        (mine,) = (files for files in self.files if files[0] is file)
        del mine[0]
        if not mine:
            self.files.remove(mine)


def _run(file: InheritedFile, begin: int, end: int, first: int, last: int, epoch: int) -> JournalRun:
    """Of chunks of one leader epoch."""
    return JournalRun(file.read, begin, end - begin, first, last, epoch, file.synced)


def _nowhere(*_: int) -> bool:
    """Without a cluster the store has no virtual segments."""
    return False


def recover(
    disk: Disk,
    directory: str,
    starts: Iterable[ScanStart],
    boot: bytes,
    accept_loss: bool = False,
    power_lost: bool = False,
    listed: Callable[[int, int, int], bool] = _nowhere,
) -> Recovered:
    """Read all journal files in ``directory``; ``starts`` come from the checkpoint, ``boot`` from the data
    directory. After ``power_lost`` a file may have lost the header of what was never acknowledged, and
    segment files what was not synced. ``listed``: whether the store has a virtual segment, by owner epoch,
    virtual log and number.

    Raises `JournalCorruptError` for damage that only a broken medium or a stranger's hand explains, unless
    ``accept_loss`` (unclean.leader.election.enable): then, as for data lost with the page cache, what is
    behind the damage is kept, each partition ends at its first gap, and ``losses`` says so.
    """
    collecting = gc.isenabled()
    gc.disable()  # many small tuples and no garbage: collections would take half of the time
    try:
        return _Recovery(disk, boot, accept_loss, power_lost, listed).run(directory, starts)
    finally:
        if collecting:
            gc.enable()


class _Recovery:
    """The state of one `recover`."""

    def __init__(
        self,
        disk: Disk,
        boot: bytes,
        accept_loss: bool,
        power_lost: bool,
        listed: Callable[[int, int, int], bool],
    ) -> None:
        self._disk = disk
        self._boot = bytes(len(boot)) if power_lost else boot
        """Nothing is of this boot after a failed sync, though the machine went on."""
        self._accept_loss = accept_loss
        self._power_lost = power_lost
        self._listed = listed
        self._result = Recovered()

    def run(self, directory: str, starts: Iterable[ScanStart]) -> Recovered:
        begin = {(start.owner_epoch, start.vlog): start for start in starts}
        by_vlog = self._headers(directory)
        found: dict[PartitionKey, list[ScannedChunk]] = {}
        for key in sorted(by_vlog):
            files = by_vlog[key]
            inherited = [InheritedFile(self._disk, path, header) for header, path in files]
            self._result.files.append(inherited)
            self._vlog(files, inherited, begin.get(key), found)
            self._result.bytes += sum(file.size for file in inherited)
            if files[0][0].policy != FlushPolicy.MEMORY:
                for file in inherited:
                    file.sync()
                self._disk.sync_directory(directory)
        for partition, chunks in found.items():
            self._result.chunks[partition] = ordered(chunks)
        return self._result

    def _headers(self, directory: str) -> dict[tuple[int, int], list[tuple[FileHeader, str]]]:
        """Readable files by (owner epoch, vlog), in order of vseg; files that never began are deleted, as are
        those that an earlier start found without header once the store has no such virtual segment.

        The header of a recycled file may be the one of its former life, when a power loss took the new one:
        then nothing in it was acked with a sync (see `Pusher`), and the former life is in segment files.
        """
        by_vlog: dict[tuple[int, int], list[tuple[FileHeader, str]]] = {}
        for name in self._disk.listdir(directory):
            path = os.path.join(directory, name)
            headless = vseg_of_headless(name)
            if headless is not None and not self._listed(*headless):
                self._disk.unlink(path)
            if not name.endswith(SUFFIX) or name.startswith(SPARE_PREFIX):
                continue
            header = self._header(path)
            if header is None or name != file_name(header.owner_epoch, header.vlog, header.vseg):
                self._headless(path, name)
                continue
            by_vlog.setdefault((header.owner_epoch, header.vlog), []).append((header, path))
        for files in by_vlog.values():
            files.sort(key=lambda file: file[0].vseg)
        return by_vlog

    def _headless(self, path: str, name: str) -> None:
        """A file has its name when its header is written: if frames are in it, only a loss of power, or
        damage (24c), takes that away. As long as the store has the virtual segment the file stays, under
        another name: whoever is told that there is none takes that for the end (18b), and later starts, when
        the store has it no more, for the only copy of something."""
        vseg = vseg_of_name(name)
        begun = vseg is not None and self._was_begun(path, vseg)
        damaged = begun and not self._power_lost
        what = "its header is damaged" if damaged else "its header was never written"
        listed = vseg is not None and self._listed(*vseg)
        if damaged and not listed:
            self._refuse(f"{path}: {what}")
        if listed:
            self._set_aside(path, whole=begun or not self._power_lost)
        else:
            self._disk.unlink(path)
        self._result.losses.append(f"{path}: {what}; ignored, and " + ("kept" if listed else "deleted"))

    def _set_aside(self, path: str, whole: bool) -> None:
        """`EMPTIED`, unless it is to stay ``whole``: the power took the header before it was synced, and no
        frame is there. On a disk that has no room for that, or for another name, it stays as it is: the next
        start tries again (37)."""
        try:
            if not whole:
                fd = self._disk.open(path)
                try:
                    self._disk.truncate(fd, EMPTIED)
                finally:
                    self._disk.close(fd)
            self._disk.rename(path, path + HEADLESS)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise

    def _was_begun(self, path: str, vseg: tuple[int, int, int]) -> bool:
        reader = JournalReader(self._disk, path)
        try:
            return reader.was_begun(*vseg)
        finally:
            reader.close()

    def _refuse(self, line: str) -> None:
        """The only copy is damaged: raise, unless that was accepted."""
        if not self._accept_loss:
            raise JournalCorruptError(
                f"{line}; this is the only copy. Restore the file, or start with "
                "unclean.leader.election.enable=true to give up the acknowledged records in it"
            )

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
                missing = "a virtual segment before it is missing"
                self._damage(path, header, header.start, True, self._survives(header), missing)
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
        """Scan one file; ``follower`` is the header of the next virtual segment.

        Frames at or above its start are surplus: they were given up when a backup was replaced, and their
        chunks framed again in the next virtual segment (rules 13 and 15).
        """
        position, chain = at or (header.start, header.chain)
        needed = inherited.needed
        reader = JournalReader(self._disk, path)
        try:
            scan = FileScan(reader, header, position, chain)
            while True:
                for frame in scan.frames(follower.start if follower is not None else EVERYTHING):
                    for chunk in frame.chunks:
                        partition = chunk[:2]
                        needed[partition] = chunk[6]
                        mine = found.get(partition)
                        if mine is None:
                            mine = found[partition] = []
                        mine.append(chunk)
                if follower is not None and scan.position == follower.start:
                    break
                later = list(scan.later())
                durable = max((frame.durable for frame in later), default=scan.durable)
                durable = max(durable, scan.durable, follower.start if follower else 0)
                proven = durable > scan.position
                self._damage(
                    path, header, scan.position, proven, reader.survives(self._boot), "a frame is damaged"
                )
                if not proven:
                    break
                if not later:
                    return
                scan.resume(later[0])
        finally:
            reader.close()
        inherited.shorten(FILE_HEADER_SIZE + scan.position - header.start)

    def _damage(
        self, path: str, header: FileHeader, position: int, proven: bool, survives: bool, what: str
    ) -> None:
        """Act on the verdict about a place where the sound part of a virtual segment ends.

        Where backups have copies, too, damage costs only this copy: the partitions end at their first gap
        here, and what follows is taken from a backup.
        """
        verdict = decide(True, proven, survives)
        if verdict is Verdict.CUT:
            return
        line = f"{path}: {what} at position {position}, below what was durable ({verdict.value})"
        if verdict is Verdict.CORRUPT and header.copies < 2:
            self._refuse(line)
        self._result.losses.append(line)


def ordered(found: list[ScannedChunk]) -> list[ScannedChunk]:
    """The chunks of one partition, as they were found in all journals, by offset. A later attempt replaces
    what an earlier one left above: what an owner had that was never acknowledged, and others have no copy of,
    is in its journal until somebody has opened the partition."""
    found.sort(key=_ATTEMPT_AND_OFFSET)
    chunks: list[ScannedChunk] = []
    end = -1
    for chunk in found:
        if chunk.base_offset < end:
            while chunks and chunks[-1].next_offset > chunk.base_offset:
                chunks.pop()
        chunks.append(chunk)
        end = chunk.next_offset
    return chunks
