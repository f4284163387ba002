"""Journal files for people: what ``kproto dump-log`` shows. Reads only, and stops at the first unsound
place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FileHeader
from kproto.vlog.journal import SPARE_PREFIX, SUFFIX
from kproto.vlog.scan import FileScan, JournalReader, ScannedFrame

if TYPE_CHECKING:
    from kproto.disk import Disk


class DumpedFile(NamedTuple):
    """One journal file. ``header`` is None for a file that holds no virtual segment."""

    path: str
    header: FileHeader | None

    def describe(self) -> dict[str, object]:
        """The header's fields for a table or JSON."""
        header = self.header
        if header is None:
            return {"file": self.path, "virtual log": None}
        return {
            "file": self.path,
            "virtual log": header.vlog,
            "owner epoch": header.owner_epoch,
            "virtual segment": header.vseg,
            "start": header.start,
            "bytes": header.size,
            "copies": header.copies,
            "flush policy": FlushPolicy(header.policy).name.lower(),
        }


def journal_files(disk: Disk, directory: str) -> list[DumpedFile]:
    """The journal files in ``directory`` in order of name: owner epoch, virtual log, virtual segment.

    One that is removed or renamed meanwhile is left out. Raises OSError when one cannot be read.
    """
    names = sorted(
        n for n in disk.listdir(directory) if n.endswith(SUFFIX) and not n.startswith(SPARE_PREFIX)
    )
    files: list[DumpedFile] = []
    for name in names:
        path = os.path.join(directory, name)
        try:
            reader = JournalReader(disk, path)
        except FileNotFoundError:
            continue
        files.append(DumpedFile(path, reader.header))
        reader.close()
    return files


def frames(disk: Disk, path: str) -> Iterator[ScannedFrame]:
    """The frames of one file with their chunks, chain and CRCs verified. Empty for a file without header.

    Raises OSError when the file cannot be read, FileNotFoundError when it is gone.
    """
    reader = JournalReader(disk, path)
    try:
        header = reader.header
        if header is not None:
            yield from FileScan(reader, header, header.start, header.chain).frames()
    finally:
        reader.close()
