"""One conversation about texts of config values: which are accepted, and how they are shown. Raw requests.

``speak`` returns what was answered, a line each. Recording Apache Kafka's side:
``python tests/handlers/config_values.py HOST:PORT`` (with the repository in ``PYTHONPATH``) against broker 1
with the settings of ``STATIC``; the output is ``answers/kafka-4.3.1-config-values.txt``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from kproto.wire.generated import alter_configs, incremental_alter_configs
from kproto.wire.generated.create_topics import CreatableTopic, CreatableTopicConfig
from kproto.wire.generated.describe_configs import DescribeConfigsResource

CREATE_TOPICS, DESCRIBE_CONFIGS, ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS = 19, 32, 33, 44
TOPIC, BROKER = 2, 4
SET, APPEND, SUBTRACT = 0, 2, 3

Call = Callable[..., Awaitable[Any]]

STATIC: Final = {
    "num.partitions": "+3",
    "log.cleaner.min.cleanable.ratio": "1e-1",
    "log.preallocate": "TRUE",
    "log.cleanup.policy": "compact , delete",
    "message.max.bytes": "+2000000",
    "offsets.topic.replication.factor": "+1",
}
"""What the broker is started with."""

_WHOLE: Final = (
    "+5", " 5 ", "\t5\n", "005", "-0", "+-5", "- 5", "5.0", "1e3", "0x10", "0b1", "1_000", "1,000", "5L", "",
    " ", "+", "-", "\u0665", "\uff15", "1\u0665", "\u00b2", "\U0001d7d3", "\u00a05", "\u30005", "\x005",
    "\x1f5", "5\x85", "2147483647", "+2147483647", "2147483648", "-2147483648", "9223372036854775807",
    "+9223372036854775807", "9223372036854775808", "null",
)  # fmt: skip
_FRACTIONS: Final = (
    "0.5", "+0.5", " 0.5 ", ".5", "1.", "1", "1e-1", "5E-1", "0x1p-1", "0X1.8P-1", "0x1", "0.5f", "0.5D",
    "0.5L", "NaN", "+NaN", "-NaN", "nan", "NAN", "Infinity", "-Infinity", "inf", "-0", "-0.0", "0,5", "0_1e0",
    "1e-5", "0.001", "0.0001", "0.00012345", "1e-400", "00.5", "0.30000000000000004", ".", "", "e1", "1e",
    "1e+0", "0.\u0665", "\uff11", "\u00a00.5", "\x000.5", "0.5 f", "half", "2", "0.1d", "0x.8p0", "0x1p",
    "0x1.p-2", "0x1p-1f", "0.3", "0.7e0", "123e-3", "NaNf", "1e-3", "9.999e-4",
)  # fmt: skip
_YES_NO: Final = (
    "true", "TRUE", " true ", "tRuE", "yes", "1", "on", "", " ", "t", "false ", "FALSE\n", "\uff34rue",
    "\u00a0true", "\x00true", "fal\u017fe",
)  # fmt: skip
_LISTS: Final = (
    "compact , delete", "delete,delete", "compact,delete,compact", "delete,", ",delete", ",", " ", "",
    "COMPACT", "delete\u00a0", "delete\u3000,compact", "\x1fdelete", "delete\t,\x0bcompact", "delete;compact",
)  # fmt: skip
_THROTTLED: Final = (
    "0:1, 1:2", " * ", "0:1,0:1", "\u0660:1", "0:1,*", "*,*", "+0:1", "-1:1", "0:1,", "", "0", "0:", "0:1:2",
)  # fmt: skip
_TEXTS: Final = {
    "compression.type": (" gzip ", "GZIP", "\u00a0gzip", "\x1fgzip", "", "gzip,"),
    "message.timestamp.type": (" LogAppendTime ", "logappendtime", "1"),
    "compression.gzip.level": ("+9", " -1 ", "0", "+0", "9.0"),
    "compression.zstd.level": ("+22", "-131072", "23"),
    "segment.bytes": ("+1048576", "1048575", " 2097152"),
    "segment.jitter.ms": ("+0", "-0"),
}


def _topic_values() -> Iterator[tuple[str, str]]:
    for name in ("retention.bytes", "max.message.bytes"):
        yield from ((name, text) for text in _WHOLE)
    yield from (("min.cleanable.dirty.ratio", text) for text in _FRACTIONS)
    yield from (("preallocate", text) for text in _YES_NO)
    yield from (("cleanup.policy", text) for text in _LISTS)
    yield from (("leader.replication.throttled.replicas", text) for text in _THROTTLED)
    for name, texts in _TEXTS.items():
        yield from ((name, text) for text in texts)


_BROKER_VALUES: Final = (
    ("message.max.bytes", ("+5", " 5 ", "0x10", "1e3", "", "5_0", "\u0665", "-1", "2147483648")),
    ("log.retention.ms", ("+5", " 5 ", "5L", "", "-1", "\x005")),
    ("log.cleaner.min.cleanable.ratio", ("+.5", "NaN", "0x1p-1", "0.5f", "2", "1e-5", " 1 ", "")),
    ("log.preallocate", (" TRUE ", "yes", "")),
    ("log.cleanup.policy", ("compact , delete", "delete,delete", "", "DELETE")),
    ("compression.type", (" gzip ", "GZIP")),
    ("log.cleaner.io.buffer.load.factor", ("9e-1", "1d", "x")),
)


class Conversation:
    """Speaks, and writes down what is answered."""

    def __init__(self, call: Call, broker: str, pause: float) -> None:
        self.call = call
        self.broker = broker
        self.pause = pause
        self.lines: list[str] = []
        self._topics = 0
        self._id = os.urandom(4).hex()

    def say(self, *words: Any) -> None:
        self.lines.append(" ".join(ascii(word) if isinstance(word, str) else str(word) for word in words))

    @property
    def topic(self) -> str:
        """The topic that was created last."""
        return f"v{self._topics}-{self._id}"

    async def create(self, *configs: tuple[str, str | None]) -> int:
        """Create the next topic: the error."""
        self._topics += 1
        topic = CreatableTopic(
            name=self.topic,
            num_partitions=1,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs],
        )
        (result,) = (await self.call(CREATE_TOPICS, 7, topics=[topic], timeout_ms=5000)).topics
        return int(result.error_code)

    async def set_one(self, kind: int, name: str, key: str, value: str | None, op: int = SET) -> int:
        config = incremental_alter_configs.AlterableConfig(name=key, config_operation=op, value=value)
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[config]
        )
        answer = await self.call(INCREMENTAL_ALTER_CONFIGS, 1, resources=[resource], validate_only=False)
        return int(answer.responses[0].error_code)

    async def replace(self, kind: int, name: str, **values: str | None) -> int:
        configs = [
            alter_configs.AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in values.items()
        ]
        resource = alter_configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        answer = await self.call(ALTER_CONFIGS, 2, resources=[resource], validate_only=False)
        return int(answer.responses[0].error_code)

    async def described(self, kind: int, name: str, key: str) -> list[Any]:
        """Value and source of one config."""
        resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=[key])
        for _ in range(20):
            (result,) = (await self.call(DESCRIBE_CONFIGS, 4, resources=[resource])).results
            if result.error_code == 0:
                break
            await asyncio.sleep(0.05)  # Apache Kafka's brokers hear of a topic later
        return [(config.value, int(config.config_source)) for config in result.configs]

    async def comes(self, kind: int, name: str, key: str, expected: list[Any]) -> list[Any]:
        """The same a moment after a change."""
        for _ in range(20):
            shown = await self.described(kind, name, key)
            if shown == expected:
                break
            await asyncio.sleep(0.05)
        return shown

    async def static(self) -> None:
        for key in STATIC:
            self.say("static", key, await self.described(BROKER, self.broker, key))
        await self.create()
        for key in ("min.cleanable.dirty.ratio", "preallocate", "cleanup.policy", "max.message.bytes"):
            self.say("inherited", key, await self.described(TOPIC, self.topic, key))

    async def topics(self) -> None:
        for key, text in _topic_values():
            code = await self.create((key, text))
            shown = await self.described(TOPIC, self.topic, key) if code == 0 else []
            self.say("create", key, text, code, shown)
            await self.create()
            unset = await self.described(TOPIC, self.topic, key)
            code = await self.set_one(TOPIC, self.topic, key, text)
            self.say(
                "  set", code, await self.comes(TOPIC, self.topic, key, shown or unset) == (shown or unset)
            )
            code = await self.replace(TOPIC, self.topic, **{key.replace(".", "_"): text})
            self.say("  replace", code)

    async def together(self) -> None:
        for low, high in (("+5", " 4 "), ("+4", " 5 "), ("\uff15", "4")):
            lags = ("min.compaction.lag.ms", low), ("max.compaction.lag.ms", high)
            self.say("lags", low, high, await self.create(*lags))
        for text in (" TRUE ", "\x00true", " FALSE "):
            self.say("remote", text, await self.create(("remote.storage.enable", text)))
        for configs in (
            [("retention.ms", None)],
            [("no.such.key", "1")],
            [(" retention.ms", "1")],
            [("retention.ms", "1"), ("retention.ms", "+2")],
        ):
            self.say("create", configs, await self.create(*configs))
        await self.create()
        self.say("null", await self.set_one(TOPIC, self.topic, "retention.ms", None))
        self.say("null", await self.replace(TOPIC, self.topic, retention_ms=None))
        for op in (APPEND, SUBTRACT):
            for text in ("compact", ",", "delete,", "\uff34", "compact,compact", "delete"):
                code = await self.set_one(TOPIC, self.topic, "cleanup.policy", text, op)
                await asyncio.sleep(self.pause)
                self.say("list", op, text, code, await self.described(TOPIC, self.topic, "cleanup.policy"))

    async def brokers(self) -> None:
        for name in (self.broker, ""):
            for key, texts in _BROKER_VALUES:
                for text in texts:
                    code = await self.set_one(BROKER, name, key, text)
                    await asyncio.sleep(0 if code else self.pause)
                    shown = await self.described(BROKER, name, key)
                    self.say("broker" if name else "brokers", key, text, code, shown)
            await self.replace(BROKER, name)


async def speak(call: Call, broker: str, pause: float = 0) -> list[str]:
    """The whole conversation with a broker of that id, which knows of a change after ``pause`` seconds."""
    talk = Conversation(call, broker, pause)
    await talk.static()
    await talk.topics()
    await talk.together()
    await talk.brokers()
    return talk.lines


async def _record(address: str) -> None:
    from tests.groups.conversation import Remote

    host, _, port = address.rpartition(":")
    sys.stdout.write("\n".join(await speak(Remote(host, int(port)).call, "1", 0.4)) + "\n")


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1]))
