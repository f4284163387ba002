"""The data directory of one broker: who may use it, what it is, and how it was left.

``LOCK`` is held (flock) while a broker runs. ``identity.json`` names the directory (``store_id``, rule 3):
a wiped or replaced directory is another store, whatever broker it belongs to. It also says of which cluster
the directory is: epochs of another one mean nothing here. ``clean`` exists only between
a clean stop and the next start; ``running`` holds the boot id of the machine, so that a start can tell a
killed process (page cache kept) from a lost power supply (page cache gone). After a failed write or sync the
page cache is no better than that (rule 35): the kernel says once that a page did not get to the medium, keeps
it, and has nothing to write at the next sync.

Not only the next start has to know: what was written before stays what nobody can believe unproven. So
``running`` also has a number, `DataDirectory.boot`, which is another one after either, and stands in all that
has to tell what was written since from what was written before.

``seen`` says how far the broker followed the metadata of its cluster, so that a start can tell when that came
back without its end (``metadata/history``).

May import ``disk``, ``errors``, ``check``; knows nothing of what others store in the directory.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
from dataclasses import dataclass
from enum import Enum
from typing import Final
from zlib import crc32

from kproto.disk import NO_SPACE, Disk, SyncError

log = logging.getLogger(__name__)
FORMAT_VERSION: Final = 1
IDENTITY_FILE: Final = "identity.json"
SEEN_FILE: Final = "seen"
BOOT_SIZE: Final = 16
UNKNOWN: Final = "unknown"
_BOOT_ID: Final = "/proc/sys/kernel/random/boot_id"
_KAFKA_FILE: Final = "meta.properties"
"""What every data directory of Apache Kafka has."""


class DirectoryError(Exception):
    """The directory cannot be used; the message is one line for the operator."""


class LeftAs(Enum):
    """How the last process that used the directory ended."""

    NEW = "new"
    CLEAN = "clean"
    KILLED = "killed"
    """The process died, the machine went on: everything written is there, synced or not."""
    POWER_LOST = "power lost"
    """The machine started anew since: bytes that were not synced may be missing or torn. Or a write failed,
    and there was no room to note it; or somebody deleted files."""
    FAILED = "failed"
    """A write or sync had failed: the same, but that all files have their names."""

    @property
    def unsynced_gone(self) -> bool:
        """What was not synced has to be proven."""
        return self in (LeftAs.POWER_LOST, LeftAs.FAILED)


@dataclass(slots=True)
class DataDirectory:
    """An open, locked data directory. ``store_id`` is 32 hex digits, made once per directory; ``boot`` is 16
    bytes: what has the same was written since the machine was started and nothing failed; ``cluster_id`` is
    empty until a broker with it has been a member of a cluster; ``seen`` is the newest revision of that one's
    metadata, after the mark of the term in which it was written, as far as it is noted."""

    path: str
    store_id: str
    node_id: int
    left_as: LeftAs
    boot: bytes
    disk: Disk
    _lock: int
    cluster_id: str = ""
    seen: tuple[str, int] = ("", 0)
    _doubted: bool = False
    _seen_file: int = -1
    _seen_failed: bool = False

    def join(self, cluster_id: str) -> None:
        """The directory is of this cluster from now on. Raises :class:`DirectoryError` when it is of another
        one: its records would be taken for rubbish there, and its epochs for others. A full disk puts off
        that it is noted; OSError passes else."""
        if self.cluster_id and self.cluster_id != cluster_id:
            raise DirectoryError(
                f"{self.path}: belongs to cluster {self.cluster_id}, this is cluster {cluster_id}; "
                "look at kproto.join and kproto.metadata.store, or use another directory"
            )
        if not self.cluster_id:
            self.cluster_id = cluster_id
            try:
                _write_identity(self.disk, self._at(IDENTITY_FILE), self.node_id, self.store_id, cluster_id)
            except OSError as error:
                _only_full(error)
                log.warning("%s: its cluster cannot be noted: %s", self.path, error.strerror)

    def saw(self, term: str, revision: int) -> None:
        """Note how far the metadata was followed, with each change of it: in place and not synced, since a
        loss of power only makes the note older. So does an error, which is logged once. Metadata that an
        older version wrote has no term yet."""
        if not term or (term, revision) == self.seen:
            return
        self.seen = term, revision
        try:
            if self._seen_file < 0:
                self._seen_file = self.disk.open(self._at(SEEN_FILE), create=True)
            self.disk.pwritev(self._seen_file, [_seen_line(term, revision).encode()], 0)
        except OSError as error:
            if not self._seen_failed:
                log.warning("%s: what it saw of the metadata cannot be noted: %s", self.path, error.strerror)
            self._seen_failed = True

    def close(self, *, clean: bool) -> None:
        """Give the directory up; ``clean`` leaves the marker of a clean stop, if the disk has room for it:
        else the next start takes this end for a crash. All else was synced before, so that either is
        true when only the marker was not."""
        try:
            if clean and not self._doubted:
                self.disk.write_atomically(self._at("clean"), boot_id().encode())
        except OSError as error:
            log.warning("%s: the clean stop cannot be noted: %s", self.path, error.strerror)
        finally:
            self.disk.on_failed_sync = int
            if self._seen_file >= 0:
                self.disk.close(self._seen_file)
            os.close(self._lock)

    def doubt(self) -> None:
        """A write or sync failed: the next start believes nothing that was not synced, whatever the page
        cache shows then. A full disk may have no room for another name: then it takes this for a lost power
        supply."""
        self._doubted = True
        _doubt(self.path, self.disk)

    def doubt_names(self) -> None:
        """Somebody deleted files, and who can tell which: the next start takes this for a lost power supply.
        After `LeftAs.FAILED` it would take what has no file for what never had one."""
        self._doubted = True
        for name in ("running", "failed"):
            with contextlib.suppress(OSError):
                self.disk.unlink(self._at(name))

    def distrusted(self) -> None:
        """After `LeftAs.unsynced_gone`: nothing relies on unsynced bytes any more. A process that ends before
        this leaves the directory as it found it, whoever starts next; so does one on a full disk. OSError
        passes else."""
        if self._doubted or not self.left_as.unsynced_gone:
            return
        try:
            self.disk.write_atomically(self._at("running"), _noted(self.boot))
            if os.path.exists(self._at("failed")):
                self.disk.unlink(self._at("failed"))
        except OSError as error:
            _only_full(error)
            log.warning("%s: this start cannot be noted: %s", self.path, error.strerror)

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


def open_directory(path: str, node_id: int, disk: Disk) -> DataDirectory:
    """Lock ``path`` (made when absent), read its identity, remove the clean marker.

    Raises :class:`DirectoryError` when it cannot be made, another broker runs on it, it belongs to another
    node id, it has data of Apache Kafka, or it was written by a newer format; OSError when it cannot be
    written, as a new one on a full disk, or read.
    """
    try:
        _make(path, disk)
        lock = os.open(os.path.join(path, "LOCK"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise DirectoryError(f"{path}: {error.strerror}") from None
    try:
        _lock(lock, path)
        store_id, cluster_id, new = _identity(path, node_id, disk)
        left, boot = _how_left(path, new, disk)
        seen = _seen(_read(os.path.join(path, SEEN_FILE)))
        found = DataDirectory(path, store_id, node_id, left, boot, disk, lock, cluster_id, seen)
        disk.on_failed_sync = found.doubt
        return found
    except BaseException as error:
        if isinstance(error, SyncError):  # the next one would succeed, whatever became of the names
            _doubt(path, disk)
        os.close(lock)
        raise


def _doubt(path: str, disk: Disk) -> None:
    """See `DataDirectory.doubt`."""
    running, failed = os.path.join(path, "running"), os.path.join(path, "failed")
    try:
        disk.rename(running, failed)
    except OSError:
        with contextlib.suppress(OSError):
            disk.unlink(running)


def _only_full(error: OSError) -> None:
    """A full disk is no reason not to start (rule 37); any other error is (rule 35)."""
    if error.errno not in NO_SPACE:
        raise error


def _make(path: str, disk: Disk) -> None:
    """Make what is not there yet of a path, so that a power loss takes no name in it: all that is synced in
    the directory would go with that (36). One that nobody has used yet may have been made a moment ago, and
    those above it: by a process that was killed here, by `local_cluster`, by an operator. OSError passes, but
    from a directory above that may not be read."""
    try:
        disk.makedirs(path)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None
    if os.path.exists(os.path.join(path, IDENTITY_FILE)):
        return
    above = os.path.realpath(path)
    while not os.path.ismount(above):
        above = os.path.dirname(above)
        with contextlib.suppress(PermissionError):
            disk.sync_directory(above)


def _lock(descriptor: int, path: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DirectoryError(f"{path}: another broker is running on this data directory") from None


def _identity(path: str, node_id: int, disk: Disk) -> tuple[str, str, bool]:
    """The store id, the cluster id (may be empty) and whether the directory is new."""
    file = os.path.join(path, IDENTITY_FILE)
    try:
        with open(file, "rb") as stream:
            found = json.load(stream)
        version, owner, store_id = int(found["version"]), int(found["node_id"]), str(found["store_id"])
        cluster_id = str(found.get("cluster_id", ""))
    except FileNotFoundError:
        if os.path.exists(os.path.join(path, _KAFKA_FILE)):
            raise DirectoryError(f"{path}: has data of Apache Kafka, which kproto does not read") from None
        store_id = os.urandom(16).hex()
        _write_identity(disk, file, node_id, store_id, "")
        return store_id, "", True
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DirectoryError(f"{file}: unreadable ({error})") from None
    if version != FORMAT_VERSION:
        raise DirectoryError(f"{path}: format {version}, this kproto reads format {FORMAT_VERSION}")
    if owner != node_id:
        raise DirectoryError(f"{path}: belongs to node {owner}, this broker is node {node_id}")
    return store_id, cluster_id, False


def _write_identity(disk: Disk, file: str, node_id: int, store_id: str, cluster_id: str) -> None:
    document = {"version": FORMAT_VERSION, "node_id": node_id, "store_id": store_id, "cluster_id": cluster_id}
    disk.write_atomically(file, json.dumps(document).encode())


def _how_left(path: str, new: bool, disk: Disk) -> tuple[LeftAs, bytes]:
    """Read and remove the markers; note the boot under which the directory is in use from now on, unless what
    was not synced is gone: see `DataDirectory.distrusted`."""
    running, clean, failed = (os.path.join(path, name) for name in ("running", "clean", "failed"))
    boot = _boot_of(_read(running))
    left = LeftAs.NEW if new else LeftAs.POWER_LOST
    if os.path.exists(clean):
        left = LeftAs.CLEAN
        if os.path.exists(failed):  # of a start that could not note that it had heard of it
            disk.unlink(failed)
        disk.unlink(clean)
    elif os.path.exists(failed) and (boot or _boot_of(_read(failed))):
        left = LeftAs.FAILED
    elif boot:
        left = LeftAs.KILLED
    if left.unsynced_gone:
        return left, os.urandom(BOOT_SIZE)
    if boot:
        disk.sync_directory(path)
        return left, boot
    boot = os.urandom(BOOT_SIZE)
    try:
        disk.write_atomically(running, _noted(boot))
    except OSError as error:  # a full disk: the next start knows of no boot, and believes less than it could
        _only_full(error)
        log.warning("%s: this start cannot be noted: %s", path, error.strerror)
        disk.sync_directory(path)  # else a loss of power brings "clean" back, which would be believed
    return left, boot


def _noted(boot: bytes) -> bytes:
    """What ``running`` says of a boot."""
    return f"{boot_id()} {boot.hex()}".encode()


def _seen_line(term: str, revision: int) -> str:
    """What ``seen`` says, always of the same length, with a checksum: a loss of power may tear it."""
    told = f"{term} {revision:020d}"
    return f"{told} {crc32(told.encode()):08x}\n"


def _seen(noted: str) -> tuple[str, int]:
    """What `DataDirectory.saw` noted; nothing if that is torn."""
    term, _, rest = noted.partition(" ")
    revision = rest.partition(" ")[0]
    if revision.isdecimal() and _seen_line(term, int(revision)) == f"{noted}\n":
        return term, int(revision)
    return "", 0


def _boot_of(noted: str) -> bytes:
    """The number in ``running``, if that is of the machine's present boot; else nothing."""
    boot, _, number = noted.partition(" ")
    if boot != boot_id() or boot == UNKNOWN:
        return b""
    try:
        return bytes.fromhex(number or boot.replace("-", ""))  # older versions had the boot's own
    except ValueError:
        return b""


def _read(path: str) -> str:
    """What a small file says; nothing when there is none. OSError passes: a file that cannot be opened for
    want of a descriptor says something, and to take it for none is to believe less, for good."""
    try:
        with open(path, encoding="ascii") as stream:
            return stream.read().strip()
    except (FileNotFoundError, PermissionError, UnicodeDecodeError):
        return ""


def boot_id() -> str:
    """What tells one start of the machine from the next; `UNKNOWN` where the system does not say."""
    return _read(_BOOT_ID) or UNKNOWN
