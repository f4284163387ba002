"""Tables of partitions by topic, and what it takes to delete one topic of many."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from kproto.log.by_topic import ByTopic, Key
from kproto.log.checkpoint import Entry
from kproto.metadata import MetadataImage
from tests.log.support import TOPIC_ID, Log, image
from tests.steps import steps

ENTRY = Entry(*range(11))


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_dict_by_topic_and_partition(seed: int) -> None:
    rng = random.Random(seed)
    table: ByTopic[int] = ByTopic()
    model: dict[Key, int] = {}
    for number in range(1, 300):
        topic, key = bytes([rng.randrange(4)]), (bytes([rng.randrange(4)]), rng.randrange(4))
        what = rng.random()
        if what < 0.6:
            table[key] = model[key] = number
        elif what < 0.8:
            assert table.pop(key) == model.pop(key, None)
        elif what < 0.95:
            table.forget(topic)
            model = {key: value for key, value in model.items() if key[0] != topic}
        elif what < 0.96:
            table.clear()
            model.clear()
        assert dict(table.items()) == model
        assert sorted(table) == sorted(model)
        assert sorted(table.values()) == sorted(model.values())
        assert (len(table), bool(table)) == (len(model), bool(model))
        assert set(table.topics()) == {topic for topic, _ in model}
        assert table.of(topic) == {key[1]: value for key, value in model.items() if key[0] == topic}
        assert table.get(key) == model.get(key)


def test_entries_come_and_go_while_somebody_looks_at_the_keys() -> None:
    table: ByTopic[int] = ByTopic()
    for topic in (b"a", b"b", b"c"):
        table[topic, 0] = table[topic, 1] = 1
    seen = []
    for key in table:
        seen.append(key)
        table.pop((b"a", 1))
        table[b"a", 7] = table[b"d", 0] = 1
        table.forget(b"b")
    assert seen == [(b"a", 0), (b"a", 1), (b"c", 0), (b"c", 1)]


def among(others: int) -> MetadataImage:
    """TOPIC_ID and so many other topics."""
    whole = image()
    for number in range(others):
        one = image(topic_id=number.to_bytes(16))
        whole = replace(
            whole,
            topics_by_id={**whole.topics_by_id, **one.topics_by_id},
            streamlets={**whole.streamlets, **one.streamlets},
        )
    return whole


def deletion(path: Path, others: int) -> int:
    """What is done when TOPIC_ID is deleted, with something known of it and ``others`` in every table."""
    path.mkdir()
    log = Log(path)
    log.revision = 2
    log.manager.apply_image(replace(among(others), revision=2, base_revision=1))
    before = log.manager.leadership.image
    assert before is not None
    log.manager.checkpointing.file.write([(topic, 0, ENTRY) for topic in before.topics_by_id], b"")
    for topic in before.topics_by_id:
        log.manager.take_over(topic, 0, 1, None, [], 0)
        log.manager.unopened.recovered(topic, 0, [])
        log.manager.unopened.release(topic, 0, ENTRY)
        log.manager.checkpointing.released(topic, 0, ENTRY)
    gone = replace(
        before,
        revision=3,
        base_revision=2,
        topics={},
        topics_by_id={key: one for key, one in before.topics_by_id.items() if key != TOPIC_ID},
        touched=frozenset({TOPIC_ID}),
    )
    taken = steps(lambda: log.manager.apply_image(gone))
    manager = log.manager
    assert len(manager.checkpointing.file.entries) == others
    assert manager.unopened.released(TOPIC_ID, 0) is None
    assert manager.unopened.taken(TOPIC_ID, 0) is None
    assert manager.unopened.released(bytes(16), 0) == ENTRY
    return taken


def test_one_topic_is_deleted_without_a_look_at_the_others(tmp_path: Path) -> None:
    """Deleting 250 of 5,000 with four partitions each held the event loop for most of a second."""
    assert deletion(tmp_path / "many", 300) == deletion(tmp_path / "few", 3)
