"""What each closed copy holds per partition: made once, kept in memory and in a file beside the copy.

The file is only a speed-up: ``<name>.catalog`` holds the end it was made for, one row per partition, and a
CRC-32C over both; a damaged or outdated one is made anew.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final

from kproto.replica.messages import CatalogRow, PartitionKey
from kproto.replica.reading import Catalog, Extent, catalogue
from kproto.replica.stored_file import BESIDE
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.replica.copies import Copy
    from kproto.replica.store import ReplicaStore

log = logging.getLogger(__name__)

KEPT: Final = 128
"""Catalogs in memory."""
ROWS_KEPT: Final = 1 << 17
"""And rows of all of them: 50 MB. The one that was used last may be larger."""
_HEAD: Final = Struct(">QI")
_ROW: Final = Struct(">16sIqqQQ")
_CHECKSUM: Final = Struct(">I")
_NONE: Final = CatalogRow(0, 0, 0, -1)


def encode(end: int, catalog: Catalog) -> bytes:
    """The content of a catalog file."""
    rows = b"".join(_ROW.pack(*key, *row) for key, row in catalog.items())
    content = _HEAD.pack(end, len(catalog)) + rows
    return content + _CHECKSUM.pack(crc32c(content))


def decode(content: bytes, end: int) -> Catalog | None:
    """The inverse; None when it is damaged or was made for another ``end``."""
    if len(content) < _HEAD.size + _CHECKSUM.size:
        return None
    body, checksum = content[: -_CHECKSUM.size], content[-_CHECKSUM.size :]
    if _CHECKSUM.unpack(checksum)[0] != crc32c(body):
        return None
    made_for, count = _HEAD.unpack_from(body)
    if made_for != end or len(body) != _HEAD.size + count * _ROW.size:
        return None
    rows = _ROW.iter_unpack(body[_HEAD.size :])
    return {(topic_id, index): list(row) for topic_id, index, *row in rows}


class Catalogs:
    """Catalogs of the copies of one store."""

    def __init__(self, store: ReplicaStore) -> None:
        self._store = store
        self._kept: OrderedDict[Copy, int] = OrderedDict()
        """Copies whose catalog is in memory, and its rows; those used last at the end. Of the worker."""

    def look_up(
        self, copy: Copy, extent: Extent, partitions: Sequence[PartitionKey]
    ) -> Callable[[], list[CatalogRow]]:
        """A job for a worker thread: the rows of ``partitions`` for ``extent``, the copy from its start."""
        closed = self._store.closed_end(copy.vseg) == extent.end

        def job() -> list[CatalogRow]:
            known = copy.catalog
            if known is None or known[0] != extent.end:
                known = extent.end, self._load(extent) if closed else catalogue(self._store.disk, extent)
                copy.catalog = known
            self._keep(copy, len(known[1]))
            return _rows(known[1], partitions)

        return job

    def _keep(self, copy: Copy, rows: int) -> None:
        """In the worker: only now is known how large it is."""
        kept = self._kept
        kept[copy] = rows
        kept.move_to_end(copy)
        while len(kept) > 1 and (len(kept) > KEPT or sum(kept.values()) > ROWS_KEPT):
            kept.popitem(last=False)[0].catalog = None

    def _load(self, extent: Extent) -> Catalog:
        """From the file beside a closed copy, or made and put there. In a worker."""
        kept = self._kept_beside(extent)
        if kept is not None:
            return kept
        found = catalogue(self._store.disk, extent)
        try:
            self._keep_beside(extent, found)
        except OSError as error:  # a full disk, above all: it is made again when it is asked for
            log.info("the catalog of %s is not kept: %s", extent.path, error.strerror)
        return found

    def _kept_beside(self, extent: Extent) -> Catalog | None:
        disk = self._store.disk
        try:
            fd = disk.open(extent.path + BESIDE, write=False)
            try:
                return decode(disk.pread(fd, disk.size(fd), 0), extent.end)
            finally:
                disk.close(fd)
        except OSError:  # there is none, or it cannot be read: it is made again
            return None

    def _keep_beside(self, extent: Extent, catalog: Catalog) -> None:
        disk = self._store.disk
        fd = disk.open(extent.path + BESIDE, create=True)
        try:
            disk.truncate(fd, 0)
            disk.pwritev(fd, [encode(extent.end, catalog)], 0)
        finally:
            disk.close(fd)


def look_up(disk: Disk, extent: Extent, partitions: Sequence[PartitionKey]) -> list[CatalogRow]:
    """The rows of ``partitions`` for ``extent``, which nobody keeps. In a worker."""
    return _rows(catalogue(disk, extent), partitions)


def _rows(catalog: Catalog, partitions: Sequence[PartitionKey]) -> list[CatalogRow]:
    return [CatalogRow(*catalog[key]) if key in catalog else _NONE for key in partitions]
