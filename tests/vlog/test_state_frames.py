"""State frames: what they hold comes back, and damage anywhere in one is seen (rule 28b)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kproto.vlog.frame import (
    FRAME_SIZE,
    KIND_STATE,
    PartitionSnapshot,
    decode_frame_header,
    decode_state,
    encode_state,
    head_is_sound,
    head_length,
    state_length,
)

OFFSETS = st.integers(0, 2**63 - 1)
SNAPSHOTS = st.lists(
    st.builds(
        PartitionSnapshot,
        st.binary(min_size=16, max_size=16),
        st.integers(0, 2**32 - 1),
        OFFSETS,
        OFFSETS,
        st.binary(max_size=40),
        st.binary(max_size=200),
    ),
    max_size=5,
)


def framed(snapshots: list[PartitionSnapshot]) -> tuple[bytearray, int]:
    return encode_state([one.encode() for one in snapshots], 3, 7, 2, 4096, 0xABCD, 4000)


@given(SNAPSHOTS)
def test_what_a_state_frame_holds_comes_back(snapshots: list[PartitionSnapshot]) -> None:
    frame, chain = framed(snapshots)
    header = decode_frame_header(frame)
    assert header is not None
    assert (header.vlog, header.owner_epoch, header.vseg, header.position) == (3, 7, 2, 4096)
    assert (header.previous, header.durable, header.chain) == (0xABCD, 4000, chain)
    assert (header.kind, header.chunks) == (KIND_STATE, 0)
    assert header.length == head_length(header) == len(frame)
    assert len(frame) == state_length([one.encode() for one in snapshots])
    assert head_is_sound(frame, 0, header)
    assert decode_state(frame) == snapshots


@given(SNAPSHOTS.filter(bool), st.data())
def test_any_changed_byte_is_seen(snapshots: list[PartitionSnapshot], data: st.DataObject) -> None:
    frame, _ = framed(snapshots)
    at = data.draw(st.integers(4, len(frame) - 1))
    frame[at] ^= data.draw(st.integers(1, 255))
    header = decode_frame_header(frame)
    assert header is None or not head_is_sound(frame, 0, header)


@given(SNAPSHOTS.filter(bool), st.data())
def test_lengths_that_do_not_fill_the_frame_are_refused(
    snapshots: list[PartitionSnapshot], data: st.DataObject
) -> None:
    frame, _ = framed(snapshots)
    cut = data.draw(st.integers(0, len(frame) - 1))
    assert decode_state(frame[:cut]) is None
    assert decode_state(frame + bytes(1)) is None
    frame[FRAME_SIZE : FRAME_SIZE + 4] = b"\xff\xff\xff\xff"
    assert decode_state(frame) is None
