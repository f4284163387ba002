"""Frames between brokers: layout, JSON with limits, mixed bodies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.wire import WireError, internal
from kproto.wire.internal import (
    REQUEST,
    REQUEST_HEADER,
    REQUEST_OVERHEAD,
    RESPONSE,
    RESPONSE_OVERHEAD,
    Api,
    decode_json,
    decode_mixed,
    encode_json,
    encode_mixed,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def test_layout():
    packed = REQUEST.pack(24, Api.PUSH, 0, 5, 2, 1 << 40)
    assert packed.hex() == "0000001803f2000000000005000000020000010000000000"
    assert REQUEST_HEADER.unpack(packed[4:]) == (1010, 0, 5, 2, 1 << 40)
    assert len(packed) - 4 == REQUEST_OVERHEAD
    assert RESPONSE.pack(6, 5, 3).hex() == "00000006000000050003"
    assert RESPONSE_OVERHEAD == 6


def test_numbers_of_apis_and_errors_never_change():
    assert [api.value for api in Api] == [*range(1000, 1006), *range(1010, 1018)]
    names = " ".join(error.name for error in internal.InternalError)
    assert names == "NONE FENCED GAP CONFLICT LIMBO FULL UNKNOWN NOT_CONTROLLER REFUSED BAD_REQUEST WAIT"
    assert [error.value for error in internal.InternalError] == list(range(11))


@given(values, st.binary(max_size=30), st.binary(max_size=30))
def test_bodies_come_back(value, one, two):
    assert decode_json(memoryview(encode_json(value))) == value
    again, blob = decode_mixed(b"".join(encode_mixed(value, one, memoryview(two))))
    assert again == value
    assert blob == one + two


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"NaN", b"[Infinity]", b"-Infinity", b"[" * 100_000, b"1" * 5000, b"{} x"]
)
def test_rubbish_is_refused(body):
    with pytest.raises(WireError):
        decode_json(body)
    with pytest.raises(WireError):
        decode_mixed(len(body).to_bytes(4, "big") + body)


@pytest.mark.parametrize("body", [b"", b"\0\0\0", b"\0\0\0\x03{}", b"\xff\xff\xff\xff{}"])
def test_a_mixed_body_must_hold_its_json(body):
    with pytest.raises(WireError):
        decode_mixed(body)


@pytest.mark.parametrize("value", [{1: object()}, b"bytes", float("nan"), {(1, 2): 3}])
def test_what_json_cannot_hold_is_not_written(value):
    with pytest.raises(WireError):
        encode_json(value)


def test_json_has_a_limit(monkeypatch):
    monkeypatch.setattr(internal, "MAX_JSON_BYTES", 10)
    assert decode_json(encode_json("8 bytes!")) == "8 bytes!"
    with pytest.raises(WireError):
        encode_json("9 bytes!!")
    with pytest.raises(WireError):
        decode_json(b'"9 bytes!!"')
