"""Differences between two sides of a conversation, and which of them are meant."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from compat_tests.support.wire.talk import Talk, Tree, named


@dataclass(frozen=True, slots=True)
class Allowed:
    """A difference that is meant: ``line`` (a regular expression) finds it, ``why`` justifies it."""

    line: str
    why: str


EVERYWHERE = (
    Allowed(
        r"error_message: kafka (None|''), kproto '<text>'$", "we say what is wrong where Kafka says nothing"
    ),
    Allowed(r"\.configs\[kproto\.", "configs of our own"),
    Allowed(
        r"\.configs\[min\.insync\.replicas\]",
        "Kafka's format tool sets it for all brokers when it switches eligible leader replicas on (KIP-966)",
    ),
)
"""Differences that any answer may have; others are listed with their conversation."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is said (``speak``) and how the answers may differ."""

    name: str
    speak: Callable[[Talk], None]
    allowed: tuple[Allowed, ...] = ()


MISSING = "(not there)"


def hold(conversation: Conversation, kafka: tuple[str, int], kproto: tuple[str, int], mark: str) -> list[str]:
    """Hold the conversation with both at the same time; the differences, one a line."""

    now = int(time.time() * 1000)

    def one(address: tuple[str, int]) -> Talk:
        talk = Talk(address, mark, ours=address == kproto, now=now)
        try:
            conversation.speak(talk)
        finally:
            talk.close()
        return talk

    with ThreadPoolExecutor(2) as pool:
        theirs, ours = pool.map(one, (kafka, kproto))
    return differences(theirs, ours)


def differences(kafka: Talk, kproto: Talk) -> list[str]:
    """Answer by answer, field by field: ``request .field: kafka ..., kproto ...``."""
    assert [said[0] for said in kafka.said] == [said[0] for said in kproto.said], "not the same conversation"
    lines = []
    for (asked, theirs), (_, ours) in zip(kafka.said, kproto.said, strict=True):
        lines += [f"{asked} {found}" for found in _below("", theirs, ours)]
    return lines


def _below(path: str, kafka: Tree, kproto: Tree) -> Iterator[str]:
    """Where two trees differ; what only one has is one line."""
    if isinstance(kafka, list) and isinstance(kproto, list):
        kafka, kproto, left, right = named(kafka), named(kproto), "[", "]"
    else:
        left, right = ".", ""
    if isinstance(kafka, dict) and isinstance(kproto, dict):
        for name in dict.fromkeys((*kafka, *kproto)):
            below = f"{path}{left}{name}{right}"
            yield from _below(below, kafka.get(name, MISSING), kproto.get(name, MISSING))
    elif kafka != kproto or type(kafka) is not type(kproto):
        yield f"{path}: kafka {kafka!r}, kproto {kproto!r}"


def unexpected(lines: Sequence[str], allowed: Sequence[Allowed]) -> list[str]:
    """The differences no rule allows, and the rules that allow nothing any more (EVERYWHERE may)."""
    used: set[Allowed] = set()
    wrong = []
    for line in lines:
        rules = [rule for rule in (*allowed, *EVERYWHERE) if re.search(rule.line, line)]
        used.update(rules)
        if not rules:
            wrong.append(line)
    wrong += [f"no such difference any more: {rule.line}" for rule in allowed if rule not in used]
    return wrong
