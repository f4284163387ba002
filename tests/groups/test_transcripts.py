"""The group state machine, told as stories: see ``transcripts/*.txt`` and ``transcript.py``."""

import os
from pathlib import Path

import pytest

from tests.groups.transcript import play

STORIES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)
def test_story(story: Path) -> None:
    told = story.read_text()
    happened = play(told)
    if os.environ.get("KPROTO_REWRITE_TRANSCRIPTS"):
        story.write_text(happened)
    assert happened == told


def test_stories_exist() -> None:
    assert len(STORIES) >= 10
