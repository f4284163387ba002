"""Bodies between brokers and controller: round trips, and nothing but WireError for rubbish."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import BrokerRecord, Change, Entry
from kproto.metadata.exchange import (
    Update,
    decode_broker,
    decode_refusal,
    decode_update,
    encode_broker,
    encode_refusal,
    encode_update,
    field_of,
    told_power_lost,
)
from kproto.wire import WireError
from kproto.wire.internal import encode_json, encode_mixed

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
revisions = st.integers(0, 2**63)
changes = st.builds(
    Change,
    revisions,
    st.dictionaries(texts, st.binary(max_size=50), max_size=4),
    st.lists(texts, max_size=3).map(tuple),
)
entries = st.builds(Entry, texts, st.binary(max_size=50), revisions)
updates = st.one_of(
    st.builds(Update, st.integers(-1, 2**31), revisions, st.lists(changes, max_size=4), st.none()),
    st.builds(Update, st.integers(-1, 2**31), revisions, st.just([]), st.lists(entries, max_size=6)),
)
BROKER = BrokerRecord(3, 9, "host", 9092, None, "inner", 10092, "store")


def joined(update: Update) -> bytes:
    return b"".join(encode_update(update))


@given(updates)
def test_updates_come_back(update):
    again = decode_update(joined(update))
    assert again[:2] == update[:2]
    assert list(again.changes) == list(update.changes)
    assert [list(change.puts) for change in again.changes] == [list(change.puts) for change in update.changes]
    assert (again.snapshot is None) == (update.snapshot is None)
    assert list(again.snapshot or ()) == list(update.snapshot or ())


def test_an_update_cut_anywhere_is_rubbish_or_shorter():
    whole = [Change(5, {"a": b"1", "b": b"22"}, ("c",)), Change(6, {"d": b""}, ())]
    body = joined(Update(1, 6, whole))
    for size in range(len(body)):
        try:
            found = decode_update(body[:size])
        except WireError:
            continue
        assert list(found.changes) in ([], whole[:1])


@given(st.binary(max_size=200))
def test_rubbish_is_refused(body):
    for decode in (decode_update, decode_broker):
        with pytest.raises(WireError):
            decode(body)
    assert decode_refusal(body).code in set(ErrorCode)


@pytest.mark.parametrize(
    "body",
    [
        {"revision": 1, "snapshot": False},
        {"controller": "x", "revision": 1, "snapshot": False},
        {"controller": 1, "revision": None, "snapshot": True},
        [],
    ],
)
def test_heads_of_updates_are_checked(body):
    with pytest.raises(WireError):
        decode_update(b"".join(encode_mixed(body)))


def test_registrations():
    assert decode_broker(encode_broker(BROKER, "id")) == (BROKER, "id", 0)
    assert decode_broker(encode_broker(BROKER, "id", 12)) == (BROKER, "id", 12)
    assert not told_power_lost(encode_broker(BROKER, "id"))
    lost = encode_broker(BROKER, "id", power_lost=True)
    assert (decode_broker(lost), told_power_lost(lost)) == ((BROKER, "id", 0), True)


@pytest.mark.parametrize(
    "value",
    [
        {"broker": [1, 2, "h", 3, None, "i", 4, "s"]},
        {"broker": [1, 2, "h", 3, None, "i", 4], "cluster_id": "", "revision": "x"},
        {"broker": ["1", 2, "h", 3, None, "i", 4, "s"], "cluster_id": ""},
        {"broker": [1, 2, "h", 3, 5, "i", 4, "s"], "cluster_id": ""},
        {"broker": [1, 2, "h", 3, None, "i", 4, "s", 5], "cluster_id": ""},
        {"broker": [1], "cluster_id": ""},
        {"broker": 5, "cluster_id": ""},
        [1, 2],
    ],
)
def test_strange_registrations_are_refused(value):
    with pytest.raises(WireError):
        decode_broker(encode_json(value))


def test_refusals():
    error = decode_refusal(encode_refusal(KafkaError(ErrorCode.INVALID_CONFIG, "why")))
    assert (error.code, error.message) == (ErrorCode.INVALID_CONFIG, "why")
    assert decode_refusal(b"").code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert decode_refusal(encode_json([99_999, "?"])).code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_fields():
    assert field_of({"a": None}, "a") is None
    for value in ({}, [], None, "a"):
        with pytest.raises(WireError):
            field_of(value, "a")
