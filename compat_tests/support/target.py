"""Which broker the tests run against."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat_tests.support.broker import ApacheKafka, Kproto, Subprocess

ENV_BOOTSTRAP = "KPROTO_COMPAT_BOOTSTRAP"
ENV_TARGET = "KPROTO_COMPAT_TARGET"


@dataclass(frozen=True, slots=True)
class Target:
    """A running broker: what it is (kproto, kafka, other), where it listens, its process if it is ours."""

    name: str
    bootstrap: str
    process: Subprocess | None

    @property
    def host_port(self) -> tuple[str, int]:
        host, _, port = self.bootstrap.rpartition(":")
        return host, int(port)


def chosen(option: str | None) -> str:
    """kproto, kafka or other."""
    if os.environ.get(ENV_BOOTSTRAP):
        return "other"
    return option or os.environ.get(ENV_TARGET) or "kproto"


@contextmanager
def running_target(name: str, directory: Path) -> Iterator[Target]:
    """The chosen broker, started and stopped if it is ours; it must not have died meanwhile."""
    if name == "other":
        yield Target(name, os.environ[ENV_BOOTSTRAP], None)
        return
    broker = ApacheKafka(directory) if name == "kafka" else Kproto(directory)
    with broker:
        yield Target(name, broker.bootstrap, broker)
        assert broker.running(), f"the broker died during the tests:\n{broker.log_tail()}"


def own_broker(config: pytest.Config, directory: Path, settings: Mapping[str, object]) -> Subprocess:
    """A broker of the test's own, of the chosen kind, not started; Kafka gets no kproto settings."""
    if chosen(config.getoption("--target")) == "kafka":
        return ApacheKafka(directory, {k: v for k, v in settings.items() if not k.startswith("kproto.")})
    return Kproto(directory, settings)
