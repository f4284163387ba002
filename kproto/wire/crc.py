"""CRC-32C (Castagnoli), as record batches and journal frames use it; releases the GIL for large input.

The package ``crc32c`` imports importlib.metadata for its version number, which is 30 ms of the broker's
start; so its extension module is loaded without the package around it, where that works.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

__all__ = ["crc32c"]


def _extension() -> Callable[..., int] | None:
    """``crc32c`` of the extension module; None when the package is laid out in another way."""
    package = PathFinder.find_spec("crc32c")
    inside = package and PathFinder.find_spec("_crc32c", package.submodule_search_locations)
    if not inside or inside.loader is None:
        return None
    module = module_from_spec(inside)
    inside.loader.exec_module(module)
    function: Callable[..., int] | None = getattr(module, "crc32c", None)
    return function if function is not None and function(b"123456789") == 0xE3069283 else None


def _package() -> Callable[..., int]:
    import crc32c as package

    return package.crc32c


crc32c: Callable[..., int] = _extension() or _package()
