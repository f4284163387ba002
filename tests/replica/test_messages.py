"""Rubbish in a request or an answer about copies is refused, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kproto.metadata.vlogs import VsegId
from kproto.replica import messages
from kproto.replica.messages import (
    Look,
    Raw,
    Read,
    ReadAnswer,
    Repair,
    Seal,
    Sealed,
    StateAnswer,
    decode_catalog,
)
from kproto.wire.internal import encode_json, encode_mixed
from kproto.wire.primitives import WireError
from tests.replica.support import TOPIC, Owner

VSEG = {"E": 5, "vlog": 1, "seq": 2}
LOOK = {**VSEG, "end": 10, "partitions": [[TOPIC.hex(), 0]], "fence": 0}
READ = {**LOOK, "from": 0, "max_bytes": 100, "offsets": [3]}

REQUESTS: dict[str, tuple[Callable[[bytes], Any], Any]] = {
    "no object": (Seal.decode, [1, 2]),
    "no vseg": (Seal.decode, {"fence": 1}),
    "a text for a number": (Seal.decode, {**VSEG, "seq": "2", "fence": 1}),
    "true for a number": (Seal.decode, {**VSEG, "fence": True}),
    "a negative fence": (Seal.decode, {**VSEG, "fence": -1}),
    "a position below nothing": (Sealed.decode, {"position": -2, "limbo": False}),
    "no list of partitions": (Look.decode, {**LOOK, "partitions": {}}),
    "a topic id of 15 bytes": (Look.decode, {**LOOK, "partitions": [["00" * 15, 0]]}),
    "a topic id that is no hex": (Look.decode, {**LOOK, "partitions": [["zz" * 16, 0]]}),
    "a negative index": (Look.decode, {**LOOK, "partitions": [[TOPIC.hex(), -1]]}),
    "a partition without index": (Look.decode, {**LOOK, "partitions": [[TOPIC.hex()]]}),
    "offsets of other partitions": (Read.decode, {**READ, "offsets": [1, 2]}),
    "offsets that are no list": (Read.decode, {**READ, "offsets": 3}),
    "an offset that is a text": (Read.decode, {**READ, "offsets": ["3"]}),
    "raw from before the begin": (Raw.decode, {**VSEG, "from": -1, "length": 3}),
    "a repair without record": (Repair.decode, {**VSEG, "source": 1}),
    "a repair with a broken record": (Repair.decode, {**VSEG, "source": 1, "record": "["}),
    "a catalog that is no list": (decode_catalog, {}),
    "a catalog row of three": (decode_catalog, [[1, 2, 3]]),
    "a catalog row of texts": (decode_catalog, [["1", 2, 3, 4]]),
    "a catalog row that is none": (decode_catalog, [7]),
}

ANSWERS: dict[str, tuple[Callable[[bytes], Any], Any]] = {
    "chunks: no object": (ReadAnswer.decode, [1]),
    "chunks: none": (ReadAnswer.decode, {"next": 3}),
    "chunks: more bytes than there are": (ReadAnswer.decode, {"next": 3, "chunks": [[0, 1, 2, 5]]}),
    "chunks: more bytes in all": (ReadAnswer.decode, {"next": 3, "chunks": [[0, 1, 2, 3], [0, 2, 3, 2]]}),
    "chunks: a negative length": (ReadAnswer.decode, {"next": 3, "chunks": [[0, 1, 2, -1]]}),
    "chunks: no next": (ReadAnswer.decode, {"chunks": []}),
    "states: no object": (StateAnswer.decode, [1]),
    "states: more bytes than there are": (
        StateAnswer.decode,
        {"position": 0, "after": 9, "states": [[0, 0, 1, 3, 2]]},
    ),
    "states: negative epochs": (
        StateAnswer.decode,
        {"position": 0, "after": 9, "states": [[0, 0, 1, -1, 2]]},
    ),
    "states: negative producers": (
        StateAnswer.decode,
        {"position": 0, "after": 9, "states": [[0, 0, 1, 2, -1]]},
    ),
    "states: a position below nothing": (StateAnswer.decode, {"position": -2, "after": 9, "states": []}),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_body_that_is_rubbish(case: str) -> None:
    decode, body = REQUESTS[case]
    with pytest.raises(WireError):
        decode(encode_json(body))


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_with_bytes_that_is_rubbish(case: str) -> None:
    decode, fields = ANSWERS[case]
    with pytest.raises(WireError):
        decode(b"".join(map(bytes, encode_mixed(fields, b"four"))))


def test_too_many_partitions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Look(VsegId(5, 1, 2), 10, [(TOPIC, 0), (TOPIC, 1)]).encode()
    assert len(Look.decode(request).partitions) == 2
    monkeypatch.setattr(messages, "MAX_PARTITIONS", 1)
    with pytest.raises(WireError):
        Look.decode(request)


def test_what_is_well_formed_comes_back() -> None:
    record = Owner(VsegId(5, 1, 2)).record(77)
    assert Repair.decode(Repair(record, 8).encode()) == Repair(record, 8)
    assert Read.decode(encode_json(READ)).offsets == [3]
    big = {**READ, "max_bytes": 1 << 40}
    assert Read.decode(encode_json(big)).max_bytes == messages.MAX_READ_BYTES
