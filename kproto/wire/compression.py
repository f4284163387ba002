"""Compression of record batches by codec id, with a limit on what comes out.

snappy is Kafka's: xerial framing (magic, two int32 versions, then blocks behind an int32 length), written
in blocks of 32 KiB; raw snappy is read too. lz4 is the frame format with independent blocks, which is all
the Java client reads. cramjam is imported on first use; gzip is the standard library's, whose output can be
bounded.
"""

import zlib
from enum import IntEnum
from typing import Any, Final

from kproto.wire.primitives import Buf, WireError

DEFAULT_LIMIT: Final = 64 * 1024 * 1024
"""Decompressed bytes of one batch that are accepted unless the caller says otherwise: more is a bomb rather
than a batch, and whoever looks inside (validation, look-ups by time) would have to hold it in memory."""

_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + (1).to_bytes(4, "big") * 2
_XERIAL_BLOCK: Final = 32 * 1024
_NO_ROOM: Final = "whole buffer"
"""What cramjam says when the target is too small; of damage it says something else."""
_FIRST_GUESS: Final = 64 * 1024
_GZIP_STEP: Final = 64 * 1024
_MOST_MEMBERS: Final = 1000
"""Of one gzip batch. Clients write one; an empty one costs time and counts for nothing against the limit."""


class Codec(IntEnum):
    """The number in the attributes of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


NAMES: Final = {codec.name.lower(): codec for codec in Codec}
"""As in ``compression.type``."""


def compress(codec: int, data: Buf) -> bytes:
    """``data`` in ``codec``'s format at its default level. ValueError for a codec that does not exist."""
    if codec == Codec.NONE:
        return bytes(data)
    if codec == Codec.GZIP:
        packer = zlib.compressobj(wbits=31)
        return packer.compress(data) + packer.flush()
    import cramjam

    if codec == Codec.SNAPPY:
        return _compress_snappy(cramjam, memoryview(data))
    if codec == Codec.LZ4:
        frame = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
        frame.compress(bytes(data))
        return bytes(frame.finish())
    if codec == Codec.ZSTD:
        return bytes(cramjam.zstd.compress(data, level=3))
    raise ValueError(f"compression codec {codec}")


def decompress(codec: int, data: Buf, limit: int = DEFAULT_LIMIT) -> Buf:
    """What ``data`` unpacks to; WireError if it is damaged, larger than ``limit`` or ``codec`` is unknown.

    Memory stays within ``limit`` and the size of ``data``, whatever the bytes claim. Codec NONE returns
    ``data`` itself.
    """
    if codec == Codec.NONE:
        return data
    if codec == Codec.GZIP:
        return _decompress_gzip(data, limit)
    import cramjam

    try:
        if codec == Codec.SNAPPY:
            return _decompress_snappy(cramjam, memoryview(data), limit)
        if codec == Codec.LZ4:
            return _decompress_into(cramjam.lz4, data, limit)
        if codec == Codec.ZSTD:
            return _decompress_into(cramjam.zstd, data, limit)
    except (cramjam.DecompressionError, OSError, ValueError) as error:
        raise WireError(f"{Codec(codec).name.lower()}: {error}") from error
    raise WireError(f"compression codec {codec}")


def _too_large(limit: int) -> WireError:
    return WireError(f"a batch unpacks to more than {limit} bytes")


def _decompress_gzip(data: Buf, limit: int) -> bytes:
    """All members, one after the other, as gzip files may have several.

    The bytes go in by steps: behind each member zlib copies all that it was given and did not use.
    """
    view = memoryview(data)
    parts: list[bytes] = []
    left = limit
    at = members = 0
    try:
        while at < len(view):
            members += 1
            if members > _MOST_MEMBERS:
                raise WireError(f"gzip: more than {_MOST_MEMBERS} members")
            unpacker = zlib.decompressobj(wbits=31)
            while not unpacker.eof:
                step = view[at : at + _GZIP_STEP]
                if not step:
                    raise WireError("gzip: the data ends early")
                parts.append(unpacker.decompress(step, left + 1))
                left -= len(parts[-1])
                if left < 0:
                    raise _too_large(limit)
                at += len(step) - len(unpacker.unused_data)
    except zlib.error as error:
        raise WireError(f"gzip: {error}") from error
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _compress_snappy(cramjam: Any, data: memoryview) -> bytes:
    out = bytearray(_XERIAL_HEADER)
    for at in range(0, len(data) or 1, _XERIAL_BLOCK):
        block = cramjam.snappy.compress_raw(data[at : at + _XERIAL_BLOCK])
        out += len(block).to_bytes(4, "big")
        out += bytes(block)
    return bytes(out)


def _decompress_snappy(cramjam: Any, data: memoryview, limit: int) -> bytearray:
    out = bytearray()
    if bytes(data[:8]) != _XERIAL_MAGIC:
        return _snappy_block(cramjam, data, out, limit)
    at = len(_XERIAL_HEADER)
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if size > len(data) - at:
            raise WireError("snappy: a block ends behind the data")
        _snappy_block(cramjam, data[at : at + size], out, limit)
        at += size
    return out


def _snappy_block(cramjam: Any, block: memoryview, out: bytearray, limit: int) -> bytearray:
    """Append one raw block; its size stands in front, so it is checked before memory is taken."""
    size = cramjam.snappy.decompress_raw_len(block)
    if len(out) + size > limit:
        raise _too_large(limit)
    out += bytes(cramjam.snappy.decompress_raw(block))
    return out


def _decompress_into(library: Any, data: Buf, limit: int) -> bytearray:
    """Unpack into buffers that grow up to the limit, since a frame need not say how large its content is."""
    size = min(limit, max(_FIRST_GUESS, 4 * len(data)))
    while True:
        target = bytearray(size + 1)
        try:
            count = library.decompress_into(data, target)
        except Exception as error:
            if size >= limit:
                raise (_too_large(limit) if _NO_ROOM in str(error) else error) from None
        else:
            if count <= size:
                del target[count:]
                return target
            if size >= limit:
                raise _too_large(limit)
        size = min(limit, 8 * size)
