"""Every rule that can be taken out has a story that notices."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from .support import BY_NAME, TOLD


def test_every_mutation_has_a_story() -> None:
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        import_module(f"{__package__}.{file.stem}")
    assert sorted(TOLD) == sorted(BY_NAME)
