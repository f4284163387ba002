"""The data directory: one user at a time, an identity that lasts, and how it was left (rule 3)."""

import errno
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kproto import directory
from kproto.directory import SEEN_FILE, DirectoryError, LeftAs, open_directory
from kproto.disk import Buffer, Disk, SyncError


def test_a_new_directory_gets_an_identity_that_lasts(tmp_path: Path) -> None:
    first = open_directory(str(tmp_path / "d"), 1, Disk())
    assert first.left_as is LeftAs.NEW
    first.close(clean=True)
    again = open_directory(str(tmp_path / "d"), 1, Disk())
    assert (again.store_id, again.left_as) == (first.store_id, LeftAs.CLEAN)
    again.close(clean=False)


class Syncs(Disk):
    """Which directories were synced, in order, before anything was written into a new one."""

    __slots__ = ("directories",)

    def __init__(self) -> None:
        self.directories: list[str] = []

    def sync_directory(self, path: str) -> None:
        self.directories.append(path)
        super().sync_directory(path)


def test_the_names_above_a_new_directory_survive_a_power_loss(tmp_path: Path) -> None:
    """What was acknowledged and synced in it went with its name (36)."""
    path = tmp_path / "a" / "b" / "d"
    disk = Syncs()
    open_directory(str(path), 1, disk).close(clean=True)
    assert disk.directories[:3] == [str(path.parent), str(path.parent.parent), str(tmp_path)]
    disk.directories.clear()
    open_directory(str(path), 1, disk).close(clean=True)
    assert not {str(path.parent), str(tmp_path)}.intersection(disk.directories), "nothing is new there"


def test_so_does_one_that_was_made_by_a_start_that_was_killed_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    monkeypatch.chdir(tmp_path)
    disk = Syncs()
    open_directory("d", 1, disk).close(clean=True)
    assert disk.directories[0] == str(tmp_path)


def test_and_so_do_the_names_above_one_that_somebody_else_made(tmp_path: Path) -> None:
    """`local_cluster` makes what is above those of its brokers, an operator all of it."""
    path = tmp_path / "a" / "b"
    path.mkdir(parents=True)
    disk = Syncs()
    open_directory(str(path), 1, disk).close(clean=True)
    assert disk.directories[:2] == [str(path.parent), str(tmp_path)]
    mount = next(one for one in (path, *path.parents) if one.is_mount())
    assert set(disk.directories) == {str(one) for one in (path, *path.parents) if one.is_relative_to(mount)}


class NoSyncs(Disk):
    """No directory can be synced; or no file, ``whose`` name begins with that."""

    __slots__ = ("whose",)

    def __init__(self, whose: str = "") -> None:
        self.whose = whose

    def datasync(self, fd: int) -> None:
        if self.whose and os.path.basename(os.readlink(f"/proc/self/fd/{fd}")).startswith(self.whose):
            raise SyncError(errno.EIO, os.strerror(errno.EIO))
        super().datasync(fd)

    def sync_directory(self, path: str) -> None:
        if not self.whose:
            raise SyncError(errno.EIO, os.strerror(errno.EIO), path)
        super().sync_directory(path)


@pytest.mark.parametrize("disk", [NoSyncs(), NoSyncs("identity.json"), NoSyncs("running")])
def test_what_a_start_cannot_note_for_another_reason_than_a_full_disk_ends_it(
    tmp_path: Path, disk: NoSyncs
) -> None:
    """It went on, and the next sync of the directory said that all names in it are there (35)."""
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    (tmp_path / "running").write_text("another boot")
    found = open_directory(str(tmp_path), 1, Disk())
    found.disk = disk
    if disk.whose != "running":
        with pytest.raises(SyncError):
            found.join("ours")
    if disk.whose != "identity.json":
        with pytest.raises(SyncError):
            found.distrusted()


@pytest.mark.parametrize("clean", [True, False])
def test_a_directory_that_cannot_be_synced_is_believed_no_more(tmp_path: Path, clean: bool) -> None:
    """The next start would sync it without an error."""
    open_directory(str(tmp_path), 1, Disk()).close(clean=clean)
    with pytest.raises(SyncError):
        open_directory(str(tmp_path), 1, NoSyncs())
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.FAILED


@pytest.mark.parametrize("disk", [NoSyncs(), NoSyncs("running")])
def test_nor_one_in_which_a_new_boot_cannot_be_noted(tmp_path: Path, disk: Disk) -> None:
    """A loss of power would bring the mark of the clean stop back."""
    open_directory(str(tmp_path), 1, Disk()).close(clean=True)
    (tmp_path / "running").write_text("another boot")
    with pytest.raises(SyncError):
        open_directory(str(tmp_path), 1, disk)
    assert open_directory(str(tmp_path), 1, Disk()).left_as.unsynced_gone


def test_on_a_full_disk_too_the_clean_marker_is_gone_for_good(tmp_path: Path) -> None:
    """A loss of power brought it back, and what that had taken was believed (36)."""
    done: list[str] = []

    class Full(Disk):
        def write_atomically(self, path: str, content: bytes, *, sync: bool = True) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", path)

        def unlink(self, path: str) -> None:
            done.append(path)
            super().unlink(path)

        def sync_directory(self, path: str) -> None:
            done.append(path)
            super().sync_directory(path)

    open_directory(str(tmp_path), 1, Disk()).close(clean=True)
    (tmp_path / "running").write_text("another boot")
    found = open_directory(str(tmp_path), 1, Full())
    assert found.left_as is LeftAs.CLEAN
    assert done == [str(tmp_path / "clean"), str(tmp_path)]


def test_without_the_clean_marker_it_was_killed_or_lost_power(tmp_path: Path) -> None:
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    killed = open_directory(str(tmp_path), 1, Disk())
    assert killed.left_as is LeftAs.KILLED
    killed.close(clean=False)
    (tmp_path / "running").write_text("another boot")
    lost = open_directory(str(tmp_path), 1, Disk())
    assert lost.left_as is LeftAs.POWER_LOST
    lost.close(clean=False)


def test_a_power_loss_counts_until_nothing_relies_on_unsynced_bytes(tmp_path: Path) -> None:
    """A broker that waits for its cluster may be killed before it has looked at its log."""
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    (tmp_path / "running").write_text("another boot")
    for _ in range(2):
        lost = open_directory(str(tmp_path), 1, Disk())
        assert lost.left_as is LeftAs.POWER_LOST
        lost.close(clean=False)
    lost = open_directory(str(tmp_path), 1, Disk())
    lost.distrusted()
    lost.close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


@pytest.mark.parametrize("clean", [True, False])
def test_after_a_failed_sync_the_page_cache_counts_as_gone(tmp_path: Path, clean: bool) -> None:
    """In the same boot: the kernel shows what it could not write, and does not try again."""
    failed = open_directory(str(tmp_path), 1, Disk())
    failed.doubt()
    failed.close(clean=clean)
    for _ in range(2):
        found = open_directory(str(tmp_path), 1, Disk())
        assert found.left_as is LeftAs.FAILED
        assert found.left_as.unsynced_gone
        found.close(clean=False)
    found = open_directory(str(tmp_path), 1, Disk())
    found.distrusted()
    found.close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


def test_a_failed_sync_on_a_full_disk_counts_as_well(tmp_path: Path) -> None:
    """Found by simulation (seed 30047379): there was no room for another name, and the next start believed
    the page cache."""

    class Full(Disk):
        def rename(self, source: str, target: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", target)

    failed = open_directory(str(tmp_path), 1, Disk())
    failed.disk = Full()
    failed.doubt()
    failed.close(clean=False)
    for _ in range(2):
        found = open_directory(str(tmp_path), 1, Disk())
        assert found.left_as is LeftAs.POWER_LOST
        found.close(clean=False)
    found = open_directory(str(tmp_path), 1, Disk())
    found.distrusted()
    found.close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


def test_a_full_disk_keeps_nobody_away_after_a_power_loss(tmp_path: Path) -> None:
    class Full(Disk):
        def write_atomically(self, path: str, content: bytes, *, sync: bool = True) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", path)

    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    (tmp_path / "running").write_text("another boot")
    lost = open_directory(str(tmp_path), 1, Full())
    lost.distrusted()
    lost.close(clean=True)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.POWER_LOST


def test_a_failed_sync_in_another_boot_is_a_loss_of_power(tmp_path: Path) -> None:
    failed = open_directory(str(tmp_path), 1, Disk())
    failed.doubt()
    failed.close(clean=False)
    (tmp_path / "failed").write_text("another boot")
    lost = open_directory(str(tmp_path), 1, Disk())
    assert lost.left_as is LeftAs.POWER_LOST
    lost.distrusted()
    lost.close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


def test_what_was_written_before_a_failed_sync_is_told_from_what_was_written_since(tmp_path: Path) -> None:
    def opened(left_as: LeftAs, clean: bool = False, fails: bool = False) -> bytes:
        found = open_directory(str(tmp_path), 1, Disk())
        assert found.left_as is left_as
        found.distrusted()
        if fails:
            found.doubt()
        found.close(clean=clean)
        return found.boot

    first = opened(LeftAs.NEW)
    assert len(first) == 16
    assert opened(LeftAs.KILLED, clean=True) == first
    assert opened(LeftAs.CLEAN, fails=True) == first
    second = opened(LeftAs.FAILED)
    assert second != first
    assert opened(LeftAs.KILLED) == second, "also when the start after the failure was killed at once"
    (tmp_path / "running").write_text(f"another-boot {second.hex()}")
    third = opened(LeftAs.POWER_LOST)
    assert third not in (first, second)
    assert opened(LeftAs.KILLED) == third


def test_a_failure_before_the_start_has_looked_at_its_log_is_not_forgotten(tmp_path: Path) -> None:
    failed = open_directory(str(tmp_path), 1, Disk())
    failed.doubt()
    failed.close(clean=False)
    again = open_directory(str(tmp_path), 1, Disk())
    again.doubt()  # a copy, say, while it waits for its cluster
    again.distrusted()
    again.close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.FAILED


def test_a_failure_that_a_clean_stop_followed_is_over(tmp_path: Path) -> None:
    """A full disk kept the mark; it made a failed sync of some later kill."""
    failed = open_directory(str(tmp_path), 1, Disk())
    failed.doubt()
    failed.close(clean=False)
    open_directory(str(tmp_path), 1, Disk()).close(clean=True)
    clean = open_directory(str(tmp_path), 1, Disk())
    assert clean.left_as is LeftAs.CLEAN
    clean.close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


def test_a_start_that_did_not_get_far_leaves_nothing_to_believe(tmp_path: Path) -> None:
    """What it wrote has a number that no later start has."""
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    (tmp_path / "running").write_text("another boot")
    numbers = set()
    for _ in range(3):
        lost = open_directory(str(tmp_path), 1, Disk())
        numbers.add(lost.boot)
        lost.close(clean=False)
    assert len(numbers) == 3


@pytest.mark.parametrize("name", ["running", "boot_id"])
def test_a_start_that_cannot_read_how_it_was_left_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Found by simulation (seed 30055054): too many files were open, so it was taken for a loss of power, and
    what that start wrote down put what was sound in limbo for good."""
    first = open_directory(str(tmp_path), 1, Disk())
    first.close(clean=False)
    real = open

    def crowded(path: str, *rest: Any, **more: Any) -> Any:
        if os.path.basename(path) == name:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return real(path, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr("builtins.open", crowded)
        with pytest.raises(OSError, match="Too many open files"):
            open_directory(str(tmp_path), 1, Disk())
    found = open_directory(str(tmp_path), 1, Disk())
    assert (found.left_as, found.boot) == (LeftAs.KILLED, first.boot)


def test_a_directory_of_an_older_version_has_the_boot_of_the_machine(tmp_path: Path) -> None:
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    (tmp_path / "running").write_text(directory.boot_id())
    found = open_directory(str(tmp_path), 1, Disk())
    found.close(clean=False)
    assert (found.left_as, found.boot.hex()) == (LeftAs.KILLED, directory.boot_id().replace("-", ""))


def test_where_the_system_does_not_tell_its_boot_nothing_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "boot_id", lambda: directory.UNKNOWN)
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.POWER_LOST


def test_the_clean_marker_holds_for_one_start_only(tmp_path: Path) -> None:
    open_directory(str(tmp_path), 1, Disk()).close(clean=True)
    open_directory(str(tmp_path), 1, Disk()).close(clean=False)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


def test_a_full_disk_is_no_reason_to_keep_the_directory(tmp_path: Path) -> None:
    """Found by simulation: a clean stop on a full disk ended with an error, and left the lock."""

    class Full(Disk):
        def write_atomically(self, path: str, content: bytes, *, sync: bool = True) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", path)

    first = open_directory(str(tmp_path), 1, Disk())
    first.disk = Full()
    first.close(clean=True)
    assert open_directory(str(tmp_path), 1, Disk()).left_as is LeftAs.KILLED


def test_a_second_broker_is_refused(tmp_path: Path) -> None:
    first = open_directory(str(tmp_path), 1, Disk())
    with pytest.raises(DirectoryError, match="another broker is running"):
        open_directory(str(tmp_path), 1, Disk())
    first.close(clean=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_id": 7}, "belongs to node 7"),
        ({"version": 99}, "format 99"),
        ({"store_id": None}, "unreadable"),
    ],
)
def test_a_directory_that_is_not_ours_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    open_directory(str(tmp_path), 1, Disk()).close(clean=True)
    file = tmp_path / "identity.json"
    identity = json.loads(file.read_text()) | change
    file.write_text(json.dumps({name: value for name, value in identity.items() if value is not None}))
    with pytest.raises(DirectoryError, match=message):
        open_directory(str(tmp_path), 1, Disk())


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DirectoryError):
        open_directory(str(tmp_path / "file"), 1, Disk())


def test_a_directory_stays_with_its_cluster(tmp_path: Path) -> None:
    first = open_directory(str(tmp_path), 1, Disk())
    store_id = first.store_id
    first.join("ours")
    first.close(clean=True)
    again = open_directory(str(tmp_path), 1, Disk())
    again.join("ours")
    assert again.store_id == store_id
    with pytest.raises(DirectoryError, match="belongs to cluster ours, this is cluster theirs"):
        again.join("theirs")
    again.close(clean=True)


def test_a_directory_from_before_clusters_were_noted_is_of_the_first_one_it_meets(tmp_path: Path) -> None:
    open_directory(str(tmp_path), 1, Disk()).close(clean=True)
    file = tmp_path / "identity.json"
    identity = json.loads(file.read_text())
    del identity["cluster_id"]
    file.write_text(json.dumps(identity))
    old = open_directory(str(tmp_path), 1, Disk())
    assert (old.store_id, old.cluster_id) == (identity["store_id"], "")
    old.join("ours")
    old.close(clean=True)
    assert open_directory(str(tmp_path), 1, Disk()).cluster_id == "ours"


def test_data_of_apache_kafka_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n")
    with pytest.raises(DirectoryError, match="Apache Kafka"):
        open_directory(str(tmp_path), 1, Disk())


def test_what_was_seen_is_noted_and_believed_only_whole(tmp_path: Path) -> None:
    """A loss of power may leave any mixture of two notes, and zeros."""
    file = tmp_path / SEEN_FILE

    def seen() -> tuple[str, int]:
        directory = open_directory(str(tmp_path), 1, Disk())
        directory.close(clean=True)
        return directory.seen

    notes = []
    for term, revision in (("00ff00ff00ff00ff", 12345), ("1234567812345678", 99999)):
        directory = open_directory(str(tmp_path), 1, Disk())
        directory.saw(term, revision)
        directory.close(clean=True)
        assert seen() == (term, revision)
        notes.append(file.read_bytes())
    before, after = notes
    assert len(before) == len(after)
    for place in range(1, len(after)):
        for torn in (before[:place] + after[place:], after[:place] + before[place:]):
            file.write_bytes(torn)
            assert seen() == (("", 0) if torn not in notes else seen_in(torn))
        for torn in (after[:place], after[:place] + bytes(len(after) - place), bytes(place) + after[place:]):
            file.write_bytes(torn)
            assert seen() == (("", 0) if torn.strip() != after.strip() else seen_in(after))
    file.unlink()
    assert seen() == ("", 0)


def seen_in(note: bytes) -> tuple[str, int]:
    term, revision, _ = note.decode().split(" ")
    return term, int(revision)


def test_what_cannot_be_noted_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Full(Disk):
        def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
            raise OSError(errno.EIO, "it says so")

    directory = open_directory(str(tmp_path), 1, Disk())
    directory.disk = Full()
    for revision in range(3):
        directory.saw("00ff", revision)
    assert directory.seen == ("00ff", 2)
    directory.close(clean=False)
    assert [line for line in caplog.messages if "cannot be noted" in line] == [
        f"{tmp_path}: what it saw of the metadata cannot be noted: it says so"
    ]


def test_a_failed_sync_that_nobody_hears_of_is_known_to_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This one is killed, or fenced, before another sync of its own could fail: the next one took it for
    killed, and its own syncs of the same files worked."""

    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    disk, path = Disk(), tmp_path / "d"
    open_directory(str(path), 1, disk).close(clean=True)
    killed = open_directory(str(path), 1, disk)
    (path / "file").write_bytes(b"1")
    with monkeypatch.context() as kernel:
        kernel.setattr(os, "fdatasync", fail)
        with ThreadPoolExecutor() as threads:
            assert threads.submit(disk.sync_file, str(path / "file")).exception() is not None
    os.close(killed._lock)
    again = open_directory(str(path), 1, Disk())
    assert again.left_as is LeftAs.FAILED
    assert again.boot != killed.boot
    again.close(clean=True)
