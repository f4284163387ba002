"""Reads of copies that begin or end inside a frame are wrong, not the copy."""

from __future__ import annotations

import pytest

from kproto.replica.messages import Look, Read
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.wire.internal import Api, InternalError
from tests.replica.support import Metadata, Owner
from tests.replica.test_service import PARTS, VSEG, Backup, two_frames


class TestPlacesInsideFrames:
    """Whoever asks for a part that begins or ends in one asks for something that is none."""

    @staticmethod
    def asked(owner: Owner) -> list[tuple[Api, bytes]]:
        (_, first), (state, frame), (last, _) = owner.frames
        return [
            (Api.READ, Read(VSEG, 1, owner.end, PARTS, 1000).encode()),
            (Api.READ, Read(VSEG, last + 9, owner.end, PARTS, 1000).encode()),
            (Api.READ, Read(VSEG, 0, len(first) - 1, PARTS, 1000).encode()),
            (Api.READ, Read(VSEG, 0, owner.end - 1, PARTS, 1000).encode()),
            (Api.CATALOG, Look(VSEG, last + 1, PARTS).encode()),
            (Api.STATE, Look(VSEG, state + len(frame) - 1, PARTS).encode()),
        ]

    @pytest.mark.parametrize("number", range(6))
    @pytest.mark.parametrize("closed", [False, True])
    def test_a_sound_copy_stays_one(self, number: int, closed: bool) -> None:
        """Two such reads, one of each backup, were the end of a partition whose leader died then."""
        backup, owner, metadata = Backup(), two_frames(), Metadata(5)
        backup.hold(owner)
        metadata.put(owner.record(owner.end if closed else None))
        backup.apply(metadata)
        assert backup.ask(*self.asked(owner)[number]) == (InternalError.BAD_REQUEST, b"")
        assert not backup.damage
        assert len(backup.read_all(Read(VSEG, 0, owner.end, PARTS, 1000))) == len(owner.chunks)

    @pytest.mark.parametrize("frame", [0, 2])
    def test_damage_before_it_or_there_is_damage(self, frame: int) -> None:
        backup, owner = Backup(), two_frames()
        backup.hold(owner)
        at, content = owner.frames[frame]
        backup.station.file(VSEG)[FILE_HEADER_SIZE + at + 70] ^= 1
        body = Read(VSEG, at + len(content) - 3, owner.end, PARTS, 1000).encode()
        assert backup.ask(Api.READ, body)[0] == InternalError.CONFLICT
        assert backup.damage == [VSEG]

    def test_a_file_of_another_segment_is_damage(self) -> None:
        """Frames of that one lie across any place."""
        backup, owner = Backup(), two_frames()
        backup.hold(owner)
        other = Owner(VSEG._replace(vlog=9))
        other.push(PARTS[:1], [owner.end])
        content = other.first + other.frames[0][1]
        backup.station.file(VSEG)[: len(content)] = content
        body = Read(VSEG, owner.frames[1][0], owner.end, PARTS, 1000).encode()
        assert backup.ask(Api.READ, body)[0] == InternalError.CONFLICT
        assert backup.damage == [VSEG]

    @pytest.mark.parametrize("restart", [False, True])
    def test_a_copy_with_a_frame_across_the_end_in_metadata_is_none(self, restart: bool) -> None:
        """That is not what its owner made; what is behind the end is cut off (15), but not by a process that
        only reads it."""
        backup, owner, metadata = Backup(), two_frames(), Metadata(5)
        backup.hold(owner)
        if restart:
            backup.station.restart()
            backup = Backup.of(backup.station)
        metadata.put(owner.record(owner.end - 1))
        backup.apply(metadata)
        body = Read(VSEG, 0, owner.end, PARTS, 1000).encode()
        assert backup.ask(Api.READ, body)[0] == InternalError.CONFLICT
        assert backup.damage == [VSEG]
