"""What ``kproto.metadata.store`` may say."""

from __future__ import annotations

import pytest

from kproto.config import BROKER_CONFIGS, ConfigError
from kproto.config.store_url import EtcdUrl, parse_etcd_url


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("etcd://localhost:2379/kproto", EtcdUrl(("localhost:2379",), "kproto")),
        (
            "etcd://10.0.0.1:2379,[::1]:2380,c.example:1/prod/a-1._x",
            EtcdUrl(("10.0.0.1:2379", "[::1]:2380", "c.example:1"), "prod/a-1._x"),
        ),
    ],
)
def test_the_parts_of_an_etcd_url(text: str, parts: EtcdUrl) -> None:
    assert parse_etcd_url(text) == parts
    assert BROKER_CONFIGS["kproto.metadata.store"].parse(text) == text


@pytest.mark.parametrize("text", ["sqlite", "memory"])
def test_stores_without_a_service(text: str) -> None:
    assert BROKER_CONFIGS["kproto.metadata.store"].parse(text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("zookeeper", "must be one of sqlite, memory or etcd://"),
        ("etcd:/a:1/p", "must be one of"),
        ("etcd://a:1", "must end in /prefix"),
        ("etcd://a:1/", "must end in /prefix"),
        ("etcd://a:1/p/", "must end in /prefix"),
        ("etcd://a:1//p", "must end in /prefix"),
        ("etcd://a:1/p@x", "must end in /prefix"),
        ("etcd://a:1/p\n", "must end in /prefix"),
        ("etcd:///p", "must have host:port"),
        ("etcd://a/p", "must have host:port"),
        ("etcd://a:0/p", "must have host:port"),
        ("etcd://a:65536/p", "must have host:port"),
        ("etcd://a:1,/p", "must have host:port"),
        ("etcd://a b:1/p", "must have host:port"),
        ("etcd://a:1,a:1/p", "must name every member of etcd once"),
    ],
)
def test_what_is_refused(text: str, problem: str) -> None:
    if text.startswith("etcd://"):
        with pytest.raises(ValueError, match=problem):
            parse_etcd_url(text)
    if text == text.strip():
        with pytest.raises(ConfigError, match=problem):
            BROKER_CONFIGS["kproto.metadata.store"].parse(text)
