"""Workload and driver files with the OpenMessaging benchmark's own keys; unknown ones are ignored."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Final

import yaml

BEYOND_REACH = 1_000_000
"""Records per second; from here on a producerRate means: as fast as it goes."""
KEY_DISTRIBUTORS = ("NO_KEY", "KEY_ROUND_ROBIN", "RANDOM_NANO")
WHOLE: Final = {
    **dict.fromkeys(("topics", "partitionsPerTopic", "producersPerTopic"), 1),
    **dict.fromkeys(("subscriptionsPerTopic", "consumerPerSubscription", "messageSize", "producerRate"), 0),
    "randomizedPayloadPoolSize": 0,
}
"""Keys of whole numbers, and the least of each."""
MOST: Final = {
    **dict.fromkeys(("testDurationMinutes", "warmupDurationMinutes", "consumerBacklogSizeGB"), math.inf),
    **dict.fromkeys(("randomBytesRatio", "backlogDrainRatio"), 1.0),
}
"""Keys of other numbers, from 0 on, and the most of each."""


class SettingsError(ValueError):
    """A file that cannot be used; the text names the file and the key."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload file. The names are those of its keys."""

    name: str
    topics: int
    partitionsPerTopic: int
    messageSize: int
    """Bytes of a record's value."""
    subscriptionsPerTopic: int
    consumerPerSubscription: int
    producersPerTopic: int
    producerRate: int
    """Records per second of all producers together; 0: search for what consumers keep up with."""
    testDurationMinutes: float
    """0: without end, as in the OpenMessaging benchmark; refused here."""
    warmupDurationMinutes: float = 1
    keyDistributor: str = "NO_KEY"
    useRandomizedPayloads: bool = False
    randomBytesRatio: float = 0.0
    randomizedPayloadPoolSize: int = 0
    payloadFile: str | None = None
    consumerBacklogSizeGB: float = 0
    """Of 2^30 bytes: consumers stop after the warm-up until they are that far behind."""
    backlogDrainRatio: float = 1.0

    @property
    def fixed(self) -> bool:
        """The producerRate is one to be reached."""
        return 0 < self.producerRate < BEYOND_REACH

    def payload(self, beside: Path) -> dict[str, Any]:
        """What a worker sends, as in `bench.workers.Spec.payload`.

        A relative file is looked for as from here, then below ``beside``, the workload file's directory, then
        below the directory around that: as in a clone of the OpenMessaging benchmark.
        Raises SettingsError for a file that is missing or not `messageSize` long.
        """
        if self.useRandomizedPayloads:
            pool = self.randomizedPayloadPoolSize
            return {"bytes": self.messageSize, "randomRatio": self.randomBytesRatio, "pool": pool}
        if self.payloadFile is None:
            raise SettingsError(f"{self.name}: neither payloadFile nor useRandomizedPayloads")
        around = beside.resolve().parent
        for path in (Path(self.payloadFile), beside / self.payloadFile, around / self.payloadFile):
            if path.is_file():
                if path.stat().st_size != self.messageSize:
                    size = path.stat().st_size
                    raise SettingsError(f"payloadFile {path}: {size} bytes, messageSize {self.messageSize}")
                return {"file": str(path.resolve())}
        raise SettingsError(f"payloadFile {self.payloadFile}: no such file")


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver file of the Kafka driver. The four texts of properties are parsed."""

    name: str
    driverClass: str
    replicationFactor: int
    topicConfig: Mapping[str, str]
    commonConfig: Mapping[str, str]
    producerConfig: Mapping[str, str]
    consumerConfig: Mapping[str, str]


def properties(text: str) -> dict[str, str]:
    """Java's properties: name=value (or a colon, or a space) a line; # and ! comment; a backslash goes on."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    pairs = (re.match(r"\s*([^#!=:\s][^=:\s]*)\s*[=:\s]?\s*(.*?)\s*$", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair}


def _mapping(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise SettingsError(f"{path}: {problem}") from problem
    if not isinstance(found, dict):
        raise SettingsError(f"{path}: not a mapping of keys")
    return found


def read_workload(path: Path) -> Workload:
    """Read a workload file. Raises SettingsError for what the OpenMessaging benchmark cannot run either."""
    found = _mapping(path)
    missing = [each.name for each in fields(Workload) if each.default is MISSING and each.name not in found]
    if missing:
        raise SettingsError(f"{path}: {', '.join(missing)} missing")
    known = {field.name for field in fields(Workload)}
    for name, value in found.items():
        if problem := _wrong(name, value):
            raise SettingsError(f"{path}: {name} {value!r} is {problem}")
    workload = Workload(**{name: value for name, value in found.items() if name in known})
    if workload.keyDistributor not in KEY_DISTRIBUTORS:
        raise SettingsError(f"{path}: keyDistributor {workload.keyDistributor} is none of {KEY_DISTRIBUTORS}")
    if workload.consumerBacklogSizeGB > 0 and not workload.producerRate:
        raise SettingsError(f"{path}: a backlog needs a producerRate, 0 searches for one")
    if workload.subscriptionsPerTopic and not workload.consumerPerSubscription:
        raise SettingsError(f"{path}: subscriptions need a consumerPerSubscription, or nobody is ever ready")
    if not workload.subscriptionsPerTopic and (workload.consumerBacklogSizeGB or not workload.producerRate):
        what = "a backlog" if workload.consumerBacklogSizeGB else "a producerRate of 0"
        raise SettingsError(
            f"{path}: {what} needs subscriptions, it is about what their consumers keep up with"
        )
    if workload.consumerBacklogSizeGB > 0 and not workload.messageSize:
        raise SettingsError(f"{path}: a backlog needs a messageSize")
    if workload.testDurationMinutes <= 0:
        raise SettingsError(f"{path}: testDurationMinutes must be more than 0")
    return workload


def _wrong(name: str, value: Any) -> str:
    """What the value of a key is instead of what it should be; "" when it is right, or nobody reads it."""
    if name in WHOLE:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return "" if whole and value >= WHOLE[name] else f"no whole number from {WHOLE[name]} on"
    if name in MOST:
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        to = "" if math.isinf(MOST[name]) else f" to {MOST[name]:g}"
        return "" if number and 0 <= value <= MOST[name] else f"no number from 0{to or ' on'}"
    if name == "useRandomizedPayloads":
        return "" if isinstance(value, bool) else "neither true nor false"
    if name == "payloadFile":
        return "" if value is None or isinstance(value, str) else "no name of a file"
    return ""


def read_driver(path: Path, bootstrap: str | None = None) -> Driver:
    """Read a driver file; ``bootstrap`` (host:port,...) instead of the bootstrap.servers in it.

    Raises SettingsError for a file of another driver than the Kafka driver, or one without a name.
    """
    found = _mapping(path)
    texts = {}
    for name in ("topicConfig", "commonConfig", "producerConfig", "consumerConfig"):
        text = found.get(name) or ""
        if not isinstance(text, str):
            raise SettingsError(f"{path}: {name} is no text of properties (name: | and a line for each)")
        texts[name] = properties(text)
    if bootstrap is not None:
        texts["commonConfig"]["bootstrap.servers"] = bootstrap
    if not str(found.get("driverClass", "")).endswith(".KafkaBenchmarkDriver"):
        raise SettingsError(f"{path}: driverClass {found.get('driverClass')} is not the Kafka driver")
    try:
        copies = found["replicationFactor"]
        if not isinstance(copies, int) or copies < 1:
            raise SettingsError(f"{path}: replicationFactor {copies!r} is no whole number from 1 on")
        return Driver(str(found["name"]), found["driverClass"], copies, **texts)
    except KeyError as missing:
        raise SettingsError(f"{path}: {missing} is missing") from missing
