"""The anomalies of Jepsen's Kafka checker in a history (without transactions). Pure.

====================  ====================================================================================
inconsistent-offsets  two values at one offset
duplicate             one value at two offsets
lost-write            acknowledged, below the highest offset that anybody read, and read by nobody
unseen                acknowledged, and not read although everything was read at the end
aborted-read          a value was read whose send certainly failed
phantom-read          a value was read that nobody sent
poll-skip             a consumer went over offsets that have records
nonmonotonic-poll     a consumer went back, or stayed
nonmonotonic-send     one client's records of a key got falling offsets in the order of their sends
====================  ====================================================================================

``int-poll-skip``, ``int-nonmonotonic-poll`` and ``int-nonmonotonic-send`` are the same inside one operation.
Kafka allows sends of others in between (int-send-skip), and with ``subscribe`` any jump across a rebalance: a
consumer's positions are forgotten there, and at ``assign`` for partitions it did not have before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from compat_tests.black_box.history import Kind, Op, Poll, Record, Result, Send

ANOMALIES: Final = (
    "inconsistent-offsets",
    "duplicate",
    "lost-write",
    "unseen",
    "aborted-read",
    "phantom-read",
    "poll-skip",
    "nonmonotonic-poll",
    "nonmonotonic-send",
    "int-poll-skip",
    "int-nonmonotonic-poll",
    "int-nonmonotonic-send",
)

Anomalies = dict[str, list[str]]
"""Name -> descriptions; only those that were found."""


def anomalies(history: Sequence[Op], complete: bool = True) -> Anomalies:
    """What is wrong in a history. ``complete``: at the end everything was read; nothing may be unseen.

    Operations of one process are in their order; how those of different processes interleave does not matter.
    """
    found: Anomalies = defaultdict(list)
    log = _Log(history)
    log.check(found, complete)
    by_process: dict[int, list[Op]] = defaultdict(list)
    for op in history:
        by_process[op.process].append(op)
    for process, ops in sorted(by_process.items()):
        _check_polls(process, ops, log, found)
        _check_sends(process, ops, found)
    return {name: found[name] for name in ANOMALIES if found[name]}


class _Log:
    """What is known of the partitions from all clients together."""

    def __init__(self, history: Iterable[Op]) -> None:
        self.sends: dict[tuple[int, int], Send] = {}
        self.polled: dict[tuple[int, int], set[int]] = defaultdict(set)
        """(key, value) -> offsets at which it was read."""
        self.values: dict[tuple[int, int], set[int]] = defaultdict(set)
        """(key, offset) -> values that were acknowledged or read there."""
        self.offsets: dict[tuple[int, int], set[int]] = defaultdict(set)
        """(key, value) -> offsets at which it was acknowledged or read."""
        for op in history:
            for part in op.parts:
                if isinstance(part, Send):
                    self._sent(part)
                else:
                    for record in part.records:
                        self._seen(record)
        order: dict[int, set[int]] = defaultdict(set)
        for key, offset in self.values:
            order[key].add(offset)
        self.order = {key: sorted(offsets) for key, offsets in order.items()}

    def _sent(self, send: Send) -> None:
        self.sends[send.key, send.value] = send
        if send.result is Result.OK and send.offset is not None:
            self.values[send.key, send.offset].add(send.value)
            self.offsets[send.key, send.value].add(send.offset)

    def _seen(self, record: Record) -> None:
        self.polled[record.key, record.value].add(record.offset)
        self.values[record.key, record.offset].add(record.value)
        self.offsets[record.key, record.value].add(record.offset)

    def between(self, key: int, low: int, high: int) -> list[int]:
        """Offsets with records, low < offset < high."""
        order = self.order.get(key, [])
        return order[bisect_left(order, low + 1) : bisect_left(order, high)]

    def check(self, found: Anomalies, complete: bool) -> None:
        for (key, offset), values in sorted(self.values.items()):
            if len(values) > 1:
                found["inconsistent-offsets"].append(f"{key}@{offset}: {sorted(values)}")
        for (key, value), offsets in sorted(self.offsets.items()):
            if len(offsets) > 1:
                found["duplicate"].append(f"{key}: {value} at {sorted(offsets)}")
        self._check_acknowledged(found, complete)
        for key, value in sorted(self.polled):
            send = self.sends.get((key, value))
            if send is None:
                found["phantom-read"].append(f"{key}: {value}")
            elif send.result is Result.FAIL:
                found["aborted-read"].append(f"{key}: {value}")

    def _check_acknowledged(self, found: Anomalies, complete: bool) -> None:
        highest: dict[int, int] = {}
        for (key, _), offsets in self.polled.items():
            highest[key] = max(highest.get(key, -1), *offsets)
        for (key, value), send in sorted(self.sends.items()):
            if send.result is not Result.OK or (key, value) in self.polled:
                continue
            where = f"{key}: {value}, acknowledged at {send.offset}"
            if send.offset is not None and send.offset <= highest.get(key, -1):
                found["lost-write"].append(where)
            elif complete:
                found["unseen"].append(where)


def _check_polls(process: int, ops: Iterable[Op], log: _Log, found: Anomalies) -> None:
    """Positions of one consumer, from poll to poll and inside one operation."""
    last: dict[int, int] = {}
    for op in ops:
        if op.kind is Kind.ASSIGN:
            last = {key: offset for key, offset in last.items() if key in op.keys}
        elif op.kind is Kind.SUBSCRIBE or op.rebalanced:
            last = {}
        if op.rebalanced:
            continue
        inside: set[int] = set()
        for part in op.parts:
            for record in part.records if isinstance(part, Poll) else ():
                prefix = "int-" if record.key in inside else ""
                if record.key in last:
                    _check_step(f"client {process}", prefix, last[record.key], record, log, found)
                last[record.key] = record.offset
                inside.add(record.key)


def _check_step(who: str, prefix: str, before: int, record: Record, log: _Log, found: Anomalies) -> None:
    where = f"{who}, {record.key}: from {before} to {record.offset}"
    if record.offset <= before:
        found[f"{prefix}nonmonotonic-poll"].append(where)
    elif skipped := log.between(record.key, before, record.offset):
        found[f"{prefix}poll-skip"].append(f"{where} over {skipped[:5]}")


def _check_sends(process: int, ops: Iterable[Op], found: Anomalies) -> None:
    last: dict[int, int] = {}
    for op in ops:
        inside: set[int] = set()
        for part in op.parts:
            if not isinstance(part, Send) or part.result is not Result.OK or part.offset is None:
                continue
            before = last.get(part.key)
            if before is not None and part.offset <= before:
                prefix = "int-" if part.key in inside else ""
                found[f"{prefix}nonmonotonic-send"].append(
                    f"client {process}, {part.key}: {part.value} at {part.offset} after {before}"
                )
            last[part.key] = part.offset
            inside.add(part.key)
