"""The pytest plugin: fixture ``kafka_broker``, found by pytest through the entry point ``kproto``.

``--kproto-broker=subprocess`` (or ``kproto_broker = subprocess`` in the ini file) runs the broker in a
process of its own instead of a thread of the test process. Nothing is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kproto.testing import InProcessBroker, SubprocessBroker


PLACES = ("in-process", "subprocess")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kproto")
    help_text = "where the kafka_broker fixture runs its broker: in-process (default) or subprocess"
    group.addoption("--kproto-broker", choices=PLACES, default=None, help=help_text)
    parser.addini("kproto_broker", help_text, default="in-process")


def pytest_configure(config: pytest.Config) -> None:
    if _where(config) not in PLACES:
        raise pytest.UsageError(f"kproto_broker = {_where(config)}: in-process or subprocess")


def _where(config: pytest.Config) -> str:
    return str(config.getoption("--kproto-broker") or config.getini("kproto_broker"))


@pytest.fixture
def kafka_broker(request: pytest.FixtureRequest) -> Iterator[InProcessBroker | SubprocessBroker]:
    """An empty Kafka-compatible broker on a free port of 127.0.0.1; its data is deleted afterwards.

    Settings can be given per test: ``@pytest.mark.parametrize("kafka_broker", [{"num.partitions": "3"}],
    indirect=True)``.
    """
    from kproto.testing import kafka_broker as running_broker

    settings = getattr(request, "param", None)
    with running_broker(settings, subprocess=_where(request.config) == "subprocess") as broker:
        yield broker
