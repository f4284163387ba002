"""Bytes from an enemy: nothing but WireError comes out, in bounded memory."""

import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.wire import WireError
from kproto.wire.messages import codec
from kproto.wire.primitives import MAX_ELEMENTS, MAX_REQUEST_ELEMENTS

from . import kio_oracle

CASES = kio_oracle.cases()
SEEDS = st.integers(0, 2**32)


def attempt(key: int, version: int, kind: str, data: bytes) -> bool:
    """Whether ``data`` is a message; anything but WireError is a failure of the test."""
    function = codec(key).parse_request if kind == "request" else codec(key).parse_response
    try:
        _, end = function(version, data)
    except WireError:
        return False
    assert 0 <= end <= len(data)
    return True


def honest(case: tuple[int, int, str], seed: int) -> bytes:
    return kio_oracle.write(kio_oracle.build(kio_oracle.entity(*case), random.Random(seed)))


@settings(max_examples=1500, deadline=None)
@given(case=st.sampled_from(CASES), seed=SEEDS, cut=st.floats(0, 1, exclude_max=True))
def test_a_message_cut_short_is_refused(case: tuple[int, int, str], seed: int, cut: float) -> None:
    data = honest(case, seed)
    if data:
        assert not attempt(*case, data[: int(len(data) * cut)])


def test_every_cut_of_every_message() -> None:
    for case in CASES:
        data = honest(case, 7)
        for cut in {0, 1, 2, 3, len(data) // 2, len(data) - 2, len(data) - 1}:
            if 0 <= cut < len(data):
                assert not attempt(*case, data[:cut]), (case, cut)


@settings(max_examples=3000, deadline=None)
@given(case=st.sampled_from(CASES), seed=SEEDS)
def test_damaged_messages(case: tuple[int, int, str], seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(honest(case, seed))
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        choice = rng.randrange(4)
        if choice == 0:
            data[at:at] = rng.randbytes(rng.randrange(1, 6))
        elif choice == 1:
            del data[at : at + rng.randrange(1, 6)]
        elif choice == 2 and at < len(data):
            data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        else:
            data[at : at + 4] = rng.choice(
                (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\x0f\xff\xff")
            )
    attempt(*case, bytes(data))


@settings(max_examples=1500, deadline=None)
@given(case=st.sampled_from(CASES), data=st.binary(max_size=200))
def test_random_bytes(case: tuple[int, int, str], data: bytes) -> None:
    attempt(*case, data)


@pytest.mark.parametrize("count", [0x7FFFFFFF, 500_001, 400_000, 2**31 - 2])
def test_a_huge_count_costs_nothing(count: int) -> None:
    """The count of an array is held against the bytes that are there before anything is made."""
    frame = b"\xff\xff" + b"\0\1\0\0\0\1" + count.to_bytes(4, "big") + bytes(1000)
    codec(0)  # Modules of messages are imported when they are first asked for.
    tracemalloc.start()
    assert not attempt(0, 3, "request", frame)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_too_many_elements_are_refused_even_if_they_are_there() -> None:
    """In one array, and in many arrays together: the bytes would become hundreds of times as much memory."""
    most = MAX_REQUEST_ELEMENTS
    assert attempt(3, 0, "request", most.to_bytes(4, "big") + bytes(2 * most))
    assert not attempt(3, 0, "request", (most + 1).to_bytes(4, "big") + bytes(2 * (most + 1)))
    assert attempt(21, 0, "request", (99).to_bytes(4, "big") + 99 * _delete_topic(1000) + bytes(4))
    assert not attempt(21, 0, "request", (100).to_bytes(4, "big") + 100 * _delete_topic(1000) + bytes(4))
    answer = b"\0\0" * MAX_ELEMENTS  # a third of an answer to ApiVersions: there may be more in answers
    longest = MAX_ELEMENTS.to_bytes(4, "big") + answer * 3
    assert attempt(18, 0, "response", b"\0\0" + longest)
    assert not attempt(18, 0, "response", b"\0\0" + (MAX_ELEMENTS + 1).to_bytes(4, "big") + answer * 4)


def _delete_topic(partitions: int) -> bytes:
    """A topic of DeleteRecords v0: a name, then index and offset of each partition."""
    return b"\0\0" + partitions.to_bytes(4, "big") + bytes(12 * partitions)


def test_ten_thousand_tagged_fields_are_too_many() -> None:
    tags = b"\x91\x4e" + b"\x05\x00" * 10_001
    assert not attempt(18, 3, "request", b"\x02n\x021" + tags)
    fewer = b"\x90\x4e" + b"\x05\x00" * 10_000
    assert attempt(18, 3, "request", b"\x02n\x021" + fewer)


@pytest.mark.parametrize(
    "length", [b"\xff\xff\xff\xff\xff", b"\xff\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x80\x01"]
)
def test_varints_without_an_end(length: bytes) -> None:
    assert not attempt(18, 3, "request", length + bytes(100))


def test_the_size_of_a_tagged_field_must_be_right() -> None:
    """Fetch v17: cluster id is tag 0; its declared size says one byte less than it has."""
    from kproto.wire.generated.fetch import FetchRequest

    out = bytearray()
    codec(1).write_request(17, FetchRequest(cluster_id="abc"), out)
    at = out.index(b"\x00\x04\x04abc")
    assert attempt(1, 17, "request", bytes(out))
    out[at + 1] = 3
    assert not attempt(1, 17, "request", bytes(out))


def test_text_that_is_not_utf8() -> None:
    assert not attempt(12, 0, "request", b"\0\1\xff" + bytes(4) + b"\0\1m")
