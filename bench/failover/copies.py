"""All copies of every virtual segment, compared byte by byte; the chain of every virtual log (S9).

For brokers that are dead and idle before that: files are read as they lie. A closed virtual segment's copies
are the replica files of the brokers it lists, clipped to [start, end) (rule 15), and, while its owner's files
count (rules 2b and 12b), the chunks in the owner's segment files and journal. Copies of an open one are
compared as far as all of them go.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from kproto.clock import SystemClock
from kproto.controller.rules import was_given
from kproto.disk import Disk
from kproto.log.files import CHUNKS, STREAMS
from kproto.metadata import VlogTable, VsegId
from kproto.metadata.opening import SQLITE_FILE, open_store
from kproto.metadata.vlogs import CopyTarget, VsegRecord
from kproto.replica.store import DIRECTORY
from kproto.replica.stored_file import file_name
from kproto.vlog.dump import frames, journal_files
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.manager import JOURNAL_DIRECTORY
from kproto.vlog.scan import FileScan, JournalReader, ScannedChunk
from kproto.wire.batch import hop

PIECE: Final = 1 << 20
PROBLEMS_SHOWN: Final = 50

ChunkKey = tuple[bytes, int, int, int]
"""Topic id, partition, base offset, leader epoch: a leader gives an offset away once."""
Place = tuple[str, int]


@dataclass(slots=True)
class Found:
    """What the comparison says. ``problems`` is empty when all is well."""

    vsegs: int = 0
    open_vsegs: int = 0
    bytes_compared: int = 0
    chunks_of_owners: int = 0
    copies: Counter[str] = field(default_factory=Counter)
    """"3 of 3" -> how many closed virtual segments have so many sound copies of those that they should."""
    chains: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """For the results file."""
        return {
            "vsegs": self.vsegs,
            "open_vsegs": self.open_vsegs,
            "bytes_compared": self.bytes_compared,
            "chunks_of_owners": self.chunks_of_owners,
            "copies": dict(self.copies),
            "chains": self.chains,
            "problems": self.problems[:PROBLEMS_SHOWN],
        }


def read_table(store: str, data_dir: Path) -> tuple[VlogTable, frozenset[bytes]]:
    """Virtual segments and topic ids of the store ``kproto.metadata.store`` names; SQLite's file is copied
    first."""

    async def load(directory: str) -> tuple[VlogTable, frozenset[bytes]]:
        opened = await open_store(store, directory, SystemClock())
        try:
            revision, entries = await opened.range("")
        finally:
            await opened.close()
        table = VlogTable()
        table.load(revision, entries)
        topics = [json.loads(entry.value)[0] for entry in entries if entry.key.startswith("topics/")]
        return table, frozenset(bytes.fromhex(topic) for topic in topics)

    with tempfile.TemporaryDirectory(prefix="kproto-copies-") as copy:
        for path in data_dir.glob(f"{SQLITE_FILE}*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, copy)
        return asyncio.run(load(copy))


class OwnChunks:
    """Where the chunks are that one broker has as their leader: segment files, then the journal."""

    def __init__(self, data_dir: Path) -> None:
        self._places: dict[ChunkKey, Place] = {}
        self._read_journal(data_dir)
        for path in sorted((data_dir / STREAMS).glob(f"*/*/*{CHUNKS}")):
            topic = bytes.fromhex(path.parent.parent.name)
            partition = int(path.parent.name.split(".")[1])
            for position, _, fields in hop(path.read_bytes()):
                self._places[topic, partition, fields[0], fields[2]] = (str(path), position)

    def _read_journal(self, data_dir: Path) -> None:
        disk = Disk()
        for file in journal_files(disk, str(data_dir / JOURNAL_DIRECTORY)):
            for frame in frames(disk, file.path) if file.header is not None else ():
                for chunk in frame.chunks:
                    if chunk.file_position >= 0:
                        self._places[_key(chunk)] = (chunk.path, chunk.file_position)

    def read(self, chunk: ScannedChunk) -> bytes | None:
        """Its bytes here; None when it is not here."""
        place = self._places.get(_key(chunk))
        if place is None:
            return None
        with open(place[0], "rb") as file:
            return os.pread(file.fileno(), chunk.length, place[1])


def _key(chunk: ScannedChunk) -> ChunkKey:
    return chunk.topic_id, chunk.partition, chunk.base_offset, chunk.leader_epoch


class Comparison:
    """Of a cluster's data directories, by node."""

    def __init__(self, table: VlogTable, topics: frozenset[bytes], directories: Mapping[int, Path]) -> None:
        self._table = table
        self._topics = topics
        self._directories = directories
        self._stores = {node: _store_id(path) for node, path in directories.items()}
        self._own: dict[int, OwnChunks] = {}
        self.found = Found()

    def run(self) -> Found:
        """Compare everything."""
        self._chains()
        for _, vseg in sorted(self._table.vsegs.items()):
            if vseg.open:
                self._compare_open(vseg)
            elif not vseg.empty:
                self._compare_closed(vseg)
        return self.found

    def _problem(self, vseg: VsegId, text: str) -> None:
        self.found.problems.append(f"{_name(vseg)}: {text}")

    def _chains(self) -> None:
        """end(i) = start(i + 1), numbers without gaps, only the last one open."""
        by_vlog: dict[tuple[int, int], list[VsegRecord]] = {}
        for vseg_id, vseg in sorted(self._table.vsegs.items()):
            by_vlog.setdefault((vseg_id.owner_epoch, vseg_id.vlog), []).append(vseg)
        for (epoch, vlog), chain in by_vlog.items():
            for before, after in pairwise(chain):
                if before.end != after.start or before.id.seq + 1 != after.id.seq:
                    self._problem(after.id, f"begins at {after.start}, the one before ends at {before.end}")
            end = "open" if chain[-1].open else str(chain[-1].end)
            links = " ".join(f"{vseg.id.seq}[{vseg.start},{'' if vseg.open else vseg.end})" for vseg in chain)
            self.found.chains.append(
                f"owner {chain[0].node_id} epoch {epoch} vlog {vlog}: {len(chain)} virtual segments, "
                f"{chain[0].start} to {end}: {links}"
            )

    def _file_of(self, vseg: VsegRecord, target: CopyTarget) -> Path | None:
        """The file of a listed copy; None when its data directory is another one now (rule 3)."""
        if self._stores.get(target.node_id) != target.store_id:
            return None
        return self._directories[target.node_id] / DIRECTORY / file_name(vseg.id)

    def _compare_closed(self, vseg: VsegRecord) -> None:
        assert vseg.end is not None
        self.found.vsegs += 1
        length, good = vseg.end - vseg.start, 0
        first: Path | None = None
        for target in vseg.backups:
            path = self._file_of(vseg, target)
            if path is None:
                continue
            problem = self._differs(path, first, length)
            if problem is not None:
                self._problem(vseg.id, f"the copy of node {target.node_id} {problem}")
                continue
            first = first or path
            good += 1
        if first is None:
            self._problem(vseg.id, "no copy on any backup")
            return
        owner = CopyTarget(vseg.node_id, vseg.store_id)
        kept = not self._table.is_moved(vseg) and not was_given(self._table, vseg)
        own = self._scan(vseg, first, kept and self._stores.get(owner.node_id) == owner.store_id)
        self.found.copies[f"{good + own} of {vseg.copies}"] += 1

    def _differs(self, path: Path, first: Path | None, length: int) -> str | None:
        """What is wrong with a file when it should be ``length`` bytes of frames like those of ``first``."""
        try:
            with path.open("rb") as mine, (first or path).open("rb") as other:
                at, end = FILE_HEADER_SIZE, FILE_HEADER_SIZE + length
                while at < end:
                    size = min(PIECE, end - at)
                    left, right = os.pread(mine.fileno(), size, at), os.pread(other.fileno(), size, at)
                    if len(left) < size:
                        return f"is {at + len(left) - FILE_HEADER_SIZE} bytes long, not {length}"
                    if left != right:
                        return f"differs from that of {first} within {size} bytes at {at - FILE_HEADER_SIZE}"
                    at += size
                    self.found.bytes_compared += size
        except FileNotFoundError:
            return "is not there"
        return None

    def _scan(self, vseg: VsegRecord, path: Path, compare_owner: bool) -> bool:
        """Check chains and checksums of one copy, and each chunk against the owner's files; whether these
        have all of it."""
        end = vseg.end
        assert end is not None
        complete = compare_owner
        reader = JournalReader(Disk(), str(path))
        try:
            header = reader.header
            if header is None or header.start != vseg.start:
                self._problem(vseg.id, f"{path} has no sound header")
                return False
            scan = FileScan(reader, header, header.start, header.chain)
            for frame in scan.frames(end):
                for chunk in frame.chunks:
                    if compare_owner:
                        complete &= self._owner_has(vseg, chunk, path)
            if scan.position != end:
                self._problem(vseg.id, f"{path} has sound frames up to {scan.position}, not {end}")
        finally:
            reader.close()
        return complete

    def _owner_has(self, vseg: VsegRecord, chunk: ScannedChunk, path: Path) -> bool:
        gone = chunk.next_offset <= self._table.log_start(chunk.topic_id, chunk.partition)
        if gone or chunk.topic_id not in self._topics:
            return True
        if vseg.node_id not in self._own:
            self._own[vseg.node_id] = OwnChunks(self._directories[vseg.node_id])
        mine = self._own[vseg.node_id].read(chunk)
        where = f"{chunk.topic_id.hex()}-{chunk.partition} offset {chunk.base_offset}"
        if mine is None:
            self._problem(vseg.id, f"its owner, node {vseg.node_id}, does not have {where}")
            return False
        with path.open("rb") as file:
            if os.pread(file.fileno(), chunk.length, chunk.file_position) != mine:
                self._problem(vseg.id, f"the chunk of node {vseg.node_id} at {where} differs")
                return False
        self.found.chunks_of_owners += 1
        return True

    def _compare_open(self, vseg: VsegRecord) -> None:
        """The sound parts of all copies agree as far as the shortest goes."""
        self.found.open_vsegs += 1
        paths = [path for target in vseg.backups if (path := self._file_of(vseg, target)) is not None]
        paths = [path for path in paths if path.exists()]
        ends = [_sound_end(path) for path in paths]
        for path in paths[1:]:
            problem = self._differs(path, paths[0], min(ends) - vseg.start)
            if problem is not None:
                self._problem(vseg.id, f"open, {path} {problem}")


def _sound_end(path: Path) -> int:
    reader = JournalReader(Disk(), str(path))
    try:
        if reader.header is None:
            return 0
        scan = FileScan(reader, reader.header, reader.header.start, reader.header.chain)
        for _ in scan.frames():
            pass
        return scan.position
    finally:
        reader.close()


def _name(vseg: VsegId) -> str:
    return f"virtual segment {vseg.owner_epoch}/{vseg.vlog}/{vseg.seq}"


def _store_id(data_dir: Path) -> str:
    identity: dict[str, Any] = json.loads((data_dir / "identity.json").read_text())
    return str(identity["store_id"])


def compare(store: str, directories: Mapping[int, Path]) -> Found:
    """The copies in the data directories of dead brokers; ``store`` as in ``kproto.metadata.store``."""
    table, topics = read_table(store, directories[1])
    return Comparison(table, topics, directories).run()
