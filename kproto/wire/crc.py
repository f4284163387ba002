"""CRC-32C (Castagnoli), as record batches and journal frames use it; releases the GIL for large input."""

from crc32c import crc32c

__all__ = ["crc32c"]
