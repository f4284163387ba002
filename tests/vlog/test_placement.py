"""Which topics share virtual logs."""

from __future__ import annotations

import pytest

from kproto.config import load, topic_config
from kproto.vlog.classes import VlogClass
from kproto.vlog.placement import place

FOREVER = ({"cleanup.policy": "compact"}, {"retention.ms": "-1"})
LIMITED = ({}, {"cleanup.policy": "compact,delete"}, {"retention.ms": "-1", "retention.bytes": "1000"})


def klass(configs: dict[str, str], copies: int) -> VlogClass:
    return place(bytes(16), 0, topic_config(configs, load(None, {})), 1, copies).klass


@pytest.mark.parametrize("configs", FOREVER)
def test_what_stays_for_ever_is_not_among_what_goes_soon(configs: dict[str, str]) -> None:
    """A copy of a virtual segment stays as long as anything in it."""
    assert klass(configs, 3) == klass({}, 3)._replace(lasting=True)
    assert klass(configs, 1) == klass({}, 1), (
        "what has no copies shares a journal, whose files go by themselves"
    )


@pytest.mark.parametrize("configs", LIMITED)
def test_what_has_a_limit_goes(configs: dict[str, str]) -> None:
    assert klass(configs, 3) == klass({}, 3)
