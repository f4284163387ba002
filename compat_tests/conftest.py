"""Fixtures of the compatibility tests: the broker under test, new topics, the JVM, the franz-go program."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from compat_tests.support.java import Jvm
from compat_tests.support.ports import FREE_PORTS, PATIENCE_S
from compat_tests.support.target import Target, chosen, running_target
from compat_tests.support.topics import create_topic, unique
from kproto import local_cluster, testing

local_cluster.FREE_PORTS = FREE_PORTS  # type: ignore[misc]
local_cluster.START_TIMEOUT_S = PATIENCE_S  # type: ignore[misc]
local_cluster.STOP_TIMEOUT_S = PATIENCE_S  # type: ignore[misc]
testing.START_TIMEOUT_S = PATIENCE_S  # type: ignore[misc]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--target", choices=["kproto", "kafka"], default=None, help="the broker under test")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "owns_broker: starts and kills a broker of its own")
    config.addinivalue_line("markers", "kproto_only: demands what only kproto promises")
    config.addinivalue_line("markers", "crash: kills the broker KPROTO_CRASH_ROUNDS times")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Against another broker, the tests that need a kproto of their own are not part of the run."""
    name = chosen(config.getoption("--target"))
    if name == "kproto":
        return
    foreign = [item for item in items if item.get_closest_marker("kproto_only")]
    if name == "other":
        foreign += [item for item in items if item.get_closest_marker("owns_broker")]
    config.hook.pytest_deselected(items=foreign)
    items[:] = [item for item in items if item not in foreign]


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    name = chosen(request.config.getoption("--target"))
    with running_target(name, tmp_path_factory.mktemp("target")) as running:
        yield running


@pytest.fixture(scope="session")
def bootstrap(target: Target) -> str:
    return target.bootstrap


@pytest.fixture
def new_topic(bootstrap: str) -> Callable[..., str]:
    """new_topic(partitions=1, **configs with _ for .) -> the name of a new topic."""

    def make(partitions: int = 1, **configs: object) -> str:
        named = {name.replace("_", "."): str(value) for name, value in configs.items()}
        return create_topic(bootstrap, unique("t"), partitions, named)

    return make


@pytest.fixture
def group() -> str:
    return unique("g")


@pytest.fixture(scope="session")
def jvm(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jvm]:
    driver = Jvm(bootstrap, tmp_path_factory.mktemp("jvm") / "stderr.log")
    yield driver
    driver.close()
