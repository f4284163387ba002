"""Codecs: against kafka-python's, in all the framings clients use, and against bombs."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka import codec as theirs

from kproto.wire import WireError
from kproto.wire.compression import NAMES, Codec, compress, decompress

SAMPLE = b"".join(b"line %d of something that repeats\n" % number for number in range(9000))
PACKED = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
DECODE: dict[Codec, Callable[[bytes], bytes]] = {
    Codec.GZIP: theirs.gzip_decode,
    Codec.SNAPPY: theirs.snappy_decode,
    Codec.LZ4: theirs.lz4_decode,
    Codec.ZSTD: theirs.zstd_decode,
}
ENCODE: dict[Codec, Callable[[bytes], bytes]] = {
    Codec.GZIP: theirs.gzip_encode,
    Codec.SNAPPY: theirs.snappy_encode,
    Codec.LZ4: theirs.lz4_encode,
    Codec.ZSTD: theirs.zstd_encode,
}


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize(
    "data", [b"", b"x", SAMPLE, random.Random(1).randbytes(100_000)], ids=["0", "1", "text", "noise"]
)
def test_kafka_python_agrees(codec: Codec, data: bytes) -> None:
    assert bytes(DECODE[codec](compress(codec, data))) == data
    assert bytes(decompress(codec, ENCODE[codec](data))) == data
    assert bytes(decompress(codec, memoryview(compress(codec, memoryview(bytearray(data)))))) == data


def test_names() -> None:
    assert NAMES == {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
    assert decompress(0, SAMPLE) is SAMPLE
    with pytest.raises(ValueError, match="7"):
        compress(7, b"")
    with pytest.raises(WireError):
        decompress(7, b"")


def test_raw_snappy_is_read() -> None:
    """What librdkafka and Go clients may send instead of xerial's blocks."""
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(SAMPLE))) == SAMPLE


def test_lz4_frames_have_independent_blocks() -> None:
    """The Java client refuses others: bit 5 of the FLG byte."""
    packed = compress(Codec.LZ4, SAMPLE)
    assert packed[:4] == b"\x04\x22\x4d\x18"
    assert packed[4] & 0x20


def test_gzip_files_of_several_members() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"one") + gzip.compress(b"two")) == b"onetwo"
    parts = [random.Random(i).randbytes(size) for i, size in enumerate((65_500, 0, 1, 65_536, 200_000))]
    assert decompress(Codec.GZIP, b"".join(map(gzip.compress, parts))) == b"".join(parts)


def test_gzip_members_without_anything_in_them_do_not_go_on_for_ever() -> None:
    empty = gzip.compress(b"")
    assert decompress(Codec.GZIP, empty * 1000) == b""
    with pytest.raises(WireError, match="members"):
        decompress(Codec.GZIP, empty * 1001)


def test_gzip_members_are_not_copied_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    class Given:
        """A decompressor that counts what it was given."""

        total = 0

        def __init__(self, wbits: int) -> None:
            self._own = real(wbits=wbits)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._own, name)

        def decompress(self, data: memoryview, most: int) -> bytes:
            Given.total += len(data)
            return self._own.decompress(data, most)

    real = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Given)
    data = gzip.compress(b"") * 500 + gzip.compress(random.Random(1).randbytes(10_000_000))
    assert len(decompress(Codec.GZIP, data)) == 10_000_000
    assert Given.total < 500 * 65_536 + len(data)


@pytest.mark.parametrize("codec", PACKED)
def test_the_limit_holds(codec: Codec) -> None:
    packed = compress(codec, SAMPLE)
    assert len(decompress(codec, packed, limit=len(SAMPLE))) == len(SAMPLE)
    for limit in (len(SAMPLE) - 1, len(SAMPLE) - 2, 1000):
        with pytest.raises(WireError, match=f"a batch unpacks to more than {limit} bytes"):
            decompress(codec, packed, limit=limit)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_does_not_get_the_memory_it_wants(codec: Codec) -> None:
    bomb = compress(codec, bytes(64 * 1024 * 1024))
    tracemalloc.start()
    with pytest.raises(WireError, match="unpacks to more"):
        decompress(codec, bomb, limit=1024 * 1024)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 1024 * 1024


def test_a_snappy_block_that_claims_to_be_huge() -> None:
    with pytest.raises(WireError):
        decompress(Codec.SNAPPY, b"\xff\xff\xff\xff\x0f" + bytes(100), limit=1 << 20)


@pytest.mark.parametrize("codec", PACKED)
@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_damage_gives_a_wire_error_or_some_bytes(codec: Codec, seed: int) -> None:
    rng = random.Random(seed)
    packed = bytearray(compress(codec, SAMPLE[: rng.choice((10, 500, 40_000))]))
    for _ in range(rng.randrange(1, 4)):
        packed[rng.randrange(len(packed))] = rng.randrange(256)
    if rng.random() < 0.3:
        del packed[rng.randrange(len(packed)) :]
    try:
        assert len(decompress(codec, bytes(packed), limit=1 << 20)) <= 1 << 20
    except WireError:
        pass
