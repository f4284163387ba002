"""What a start must know of the store of copies, in one small synced file: JSON, and its CRC-32C on a line of
its own.

That is `DataDirectory.boot`, whether the last stop was clean, which virtual segments are in limbo, and of
which files a power loss may have torn any frame, not only the last one. A name too many in it only costs
reading, so it is written when there are more of them, when none is left, and at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from kproto.disk import NO_SPACE
from kproto.metadata.vlogs import VsegId
from kproto.replica.rules import in_limbo, journal_in_limbo
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegRecord
    from kproto.vlog.worker import Loop

STATE_FILE: Final = "state"
RETRY_S: Final = 1.0
"""A full disk has had no room for what the store knows of itself."""


def read_state(disk: Disk, path: str) -> dict[str, Any]:
    """The content of the file; empty when there is none or it is damaged, which is as bad as a power loss."""
    try:
        fd = disk.open(path, write=False)
    except FileNotFoundError:
        return {}
    try:
        content = disk.pread(fd, disk.size(fd), 0)
    finally:
        disk.close(fd)
    text, _, checksum = content.rpartition(b"\n")
    if checksum != b"%08x" % crc32c(text):
        return {}
    found: dict[str, Any] = json.loads(text)
    return found


def write_state(disk: Disk, path: str, state: dict[str, Any]) -> None:
    """Replace the file, synced. OSError passes through."""
    text = json.dumps(state).encode()
    disk.write_atomically(path, text + b"\n%08x" % crc32c(text))


class StoreState:
    """See the module's text. The file is in ``directory``; ``poison(reason)`` is called when it cannot be
    written. Once ``is_over()``, what would be written is for the next start to find out: only `close` is
    left.

    After a power loss or a failed sync (another ``boot``, no clean stop) the store is ``suspect`` until the
    first metadata table says which copies may have lost what they acknowledged (`judge`).
    """

    def __init__(
        self,
        directory: str,
        disk: Disk,
        loop: Loop,
        boot: bytes,
        new_directory: bool,
        poison: Callable[[str], object],
        is_over: Callable[[], bool],
    ) -> None:
        """OSError passes through, but for a full disk."""
        self._directory = directory
        self._path = os.path.join(directory, STATE_FILE)
        self.disk = disk
        self._loop = loop
        self._boot = boot
        self._poison = poison
        self._is_over = is_over
        self._written = False
        """The file names virtual segments."""
        found = read_state(disk, self._path)
        same_boot = found.get("boot") == boot.hex() and any(boot)
        lost = not (same_boot or found.get("clean") or (new_directory and not found))
        self.limbo = {VsegId(*vseg) for vseg in found.get("limbo", ())}
        self.torn = {VsegId(*vseg) for vseg in found.get("torn", found.get("limbo", ()))}
        """Open when the power was lost: until they are closed any frame here may lack what was not synced,
        also for later processes."""
        self.unread = {VsegId(*vseg) for vseg in found.get("unread", ())}
        """The same of closed ones, until all of the copy was read and is sound, or another one is here."""
        self.unclean = not found.get("clean")
        """An earlier process may have left unsynced files."""
        self.suspect = lost or bool(found.get("suspect"))
        """The power was lost, and no table has said yet what this store should have."""
        self._knows_names = bool(found) and (not found.get("suspect") or bool(found.get("names_kept")))
        self.thorough = self.suspect
        """The power was lost before this process started, and no earlier one was told what this store should
        have, or a write or sync had failed (`doubt`): files are checked chunk by chunk."""
        self.failed = False
        """It was the latter."""
        self.names_kept = False
        """So no file is missing that was there; nor had the power been lost before."""
        try:
            self._write()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            self._begin_without_room(found)

    def _begin_without_room(self, found: dict[str, Any]) -> None:
        """A full disk must not keep a broker away: it has what others need, and deletes what nobody does
        (rule 37). What a killed process left is right as it is. Else no file is better than that one: "clean"
        would vouch for what this process leaves unsynced, while none is as bad as a power loss. That it is
        gone may be room enough for another one."""
        if found == self._content():
            self._written = self._names_some
            self.disk.sync_directory(self._directory)  # its writer may have ended before it did
            return
        with contextlib.suppress(FileNotFoundError):
            self.disk.unlink(self._path)
        self.disk.sync_directory(self._directory)
        self.keep()

    def _content(self, clean: bool = False) -> dict[str, Any]:
        """What the file is to say, as it is read again."""
        only_failed = {"names_kept": True} if self.suspect and self.names_kept else {}
        return {
            "version": 1,
            "boot": self._boot.hex(),
            "clean": clean,
            "suspect": self.suspect,
            "limbo": sorted(map(list, self.limbo)),
            "torn": sorted(map(list, self.torn)),
            "unread": sorted(map(list, self.unread)),
            **only_failed,
        }

    @property
    def _names_some(self) -> bool:
        return bool(self.limbo or self.torn or self.unread)

    def _write(self, clean: bool = False) -> None:
        write_state(self.disk, self._path, self._content(clean))
        self._written = self._names_some

    def keep(self) -> None:
        """Write the file. Until the disk has room for it, the next start judges again, by the file as it
        is."""
        if self._is_over():
            return
        try:
            self._write()
        except OSError as error:
            if error.errno not in NO_SPACE:
                self._poison(f"{self._path}: {error}")
                return
            self._loop.call_later(RETRY_S, self.keep)

    def close(self) -> None:
        """The stop was clean: all copies are synced."""
        with contextlib.suppress(OSError):  # no room: the next start takes this end for a crash
            self._write(clean=True)

    # What cannot be proved

    def doubt(self) -> None:
        """A write or sync had failed (35): as after a power loss, but for the names of files. Before the
        first metadata."""
        self.suspect = self.thorough = self.failed = True
        self.names_kept = self._knows_names
        self.keep()

    def judge(
        self, table: VlogTable, me: CopyTarget, copies: Collection[VsegId], begun: Callable[[VsegId], bool]
    ) -> None:
        """The first table after a power loss: what the store that is ``me`` should have, and cannot prove.
        All ``copies`` are of earlier processes. ``begun``: whether the journal has, or had, a file of a
        virtual segment."""
        self.suspect = False
        for record in table.open_vsegs():
            own = journal_in_limbo(record, me) and (not self.names_kept or begun(record.id))
            if own or in_limbo(record, me):
                self.limbo.add(record.id)
            if record.id in copies:
                self.torn.add(record.id)
        self.unread.update(copies)
        self.unread -= self.torn
        self.keep()

    def may_lack(self, vseg: VsegId) -> bool:
        """The power was lost since this store may have acked something of ``vseg``."""
        return self.suspect or vseg in self.limbo

    def may_be_torn(self, vseg: VsegId) -> bool:
        """Any frame of the copy may be, not only the last one."""
        return self.thorough or vseg in self.torn or vseg in self.unread

    def closed(self, vsegs: Mapping[VsegId, VsegRecord]) -> list[VsegId]:
        """Those that are closed by now: what is missing shows, now that the end is known. They are to be
        read; then `follow`."""
        found = [vseg for vseg in sorted(self.limbo | self.torn) if vseg in vsegs and not vsegs[vseg].open]
        self.unread.update(found)
        return found

    def follow(self, vsegs: Mapping[VsegId, VsegRecord], copies: Collection[VsegId]) -> None:
        """Forget those that are open no more, or not here."""
        for some in (self.limbo, self.torn):
            some.intersection_update([vseg for vseg in some if vseg in vsegs and vsegs[vseg].open])
        self.unread.intersection_update(copies)
        if self._written and not self._names_some:
            self.keep()
