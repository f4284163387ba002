"""Kafka's own shell tools, by the classes behind bin/*.sh, run one after the other in one warm JVM."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.support.java import Jvm, ToolResult, jvm_command
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import unique

NewTopic = Callable[..., str]
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONFIGS = "kafka.admin.ConfigCommand"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
PRODUCER_PERF = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER_PERF = "org.apache.kafka.tools.ConsumerPerformance"
VERIFIABLE_PRODUCER = "org.apache.kafka.tools.VerifiableProducer"
VERIFIABLE_CONSUMER = "org.apache.kafka.tools.VerifiableConsumer"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"


class Tools:
    """Runs a tool against the broker under test and demands that it succeeds."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm

    def run(self, main: str, *args: object, stdin: str = "") -> ToolResult:
        result = self.jvm.tool(main, "--bootstrap-server", self.jvm.bootstrap, *args, stdin=stdin)
        assert result.exit == 0, f"{main} {args}: exit {result.exit}\n{result.stdout}\n{result.stderr}"
        return result

    def run_alone(self, main: str, *args: object) -> ToolResult:
        """In a JVM of its own: for tools that finish their work in a shutdown hook of the JVM."""
        command = jvm_command(main, "--bootstrap-server", self.jvm.bootstrap, *(str(arg) for arg in args))
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{main} {args}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return ToolResult(done.returncode, done.stdout, done.stderr)

    def fails(self, main: str, *args: object) -> str:
        result = self.jvm.tool(main, "--bootstrap-server", self.jvm.bootstrap, *args)
        assert result.exit != 0, f"{main} {args} succeeded:\n{result.stdout}"
        return result.stdout + result.stderr


@pytest.fixture
def tools(jvm: Jvm) -> Tools:
    return Tools(jvm)


def test_topics(tools: Tools) -> None:
    topic = unique("shell")
    created = tools.run(
        TOPICS,
        "--create",
        "--topic",
        topic,
        "--partitions",
        3,
        "--replication-factor",
        1,
        "--config",
        "retention.ms=777000",
    )
    assert f"Created topic {topic}." in created.stdout
    assert topic in tools.run(TOPICS, "--list").lines()
    text = tools.run(TOPICS, "--describe", "--topic", topic).stdout
    assert re.search(
        rf"Topic: {topic}\s+TopicId: \S{{22}}\s+PartitionCount: 3\s+ReplicationFactor: 1", text
    ), text
    assert "retention.ms=777000" in text
    for number in range(3):
        assert re.search(rf"Partition: {number}\s+Leader: (\d+)\s+Replicas: \1\s+Isr: \1", text), text
    tools.run(TOPICS, "--alter", "--topic", topic, "--partitions", 5)
    assert "PartitionCount: 5" in tools.run(TOPICS, "--describe", "--topic", topic).stdout
    overridden = tools.run(TOPICS, "--describe", "--topics-with-overrides").stdout
    assert f"Topic: {topic}" in overridden
    for nothing in (
        "--under-replicated-partitions",
        "--unavailable-partitions",
        "--under-min-isr-partitions",
    ):
        assert tools.run(TOPICS, "--describe", nothing).lines() == []
    assert "already exists" in tools.fails(TOPICS, "--create", "--topic", topic)
    assert "5 partition" in tools.fails(TOPICS, "--alter", "--topic", topic, "--partitions", 2)
    tools.run(TOPICS, "--delete", "--topic", topic)
    assert topic not in tools.run(TOPICS, "--list").lines()
    assert "does not exist" in tools.fails(TOPICS, "--describe", "--topic", topic)


def test_console_producer_and_consumer(tools: Tools, new_topic: NewTopic, group: str) -> None:
    topic = new_topic()
    lines = [f"h:{i}\tkey {i}\tvalue {i} \u00e9\u2603" for i in range(200)]
    lines.append("h:200\tNULL\tNULL")
    tools.run(
        CONSOLE_PRODUCER,
        "--topic",
        topic,
        "--compression-codec",
        "lz4",
        "--reader-property",
        "parse.key=true",
        "--reader-property",
        "parse.headers=true",
        "--reader-property",
        "null.marker=NULL",
        stdin="\n".join(lines) + "\n",
    )
    reading = (
        "--topic",
        topic,
        "--group",
        group,
        "--from-beginning",
        "--max-messages",
        201,
        "--timeout-ms",
        120_000,
        "--formatter-property",
        "print.key=true",
        "--formatter-property",
        "print.headers=true",
        "--formatter-property",
        "print.offset=true",
        "--formatter-property",
        "null.literal=NULL",
    )
    result = tools.run(CONSOLE_CONSUMER, *reading)
    assert result.stdout.splitlines() == [f"Offset:{i}\t{line}" for i, line in enumerate(lines)]
    assert "Processed a total of 201 messages" in result.stderr
    tools.run(CONSOLE_PRODUCER, "--topic", topic, stdin="one more\n")
    limits = ("--max-messages", 1, "--timeout-ms", 120_000)
    again = tools.run(CONSOLE_CONSUMER, "--topic", topic, "--group", group, *limits)
    assert again.stdout == "one more\n", "committed records were delivered again"


def consume(tools: Tools, topic: str, group: str, count: int) -> None:
    limits = ("--max-messages", count, "--timeout-ms", 120_000)
    result = tools.run(CONSOLE_CONSUMER, "--topic", topic, "--group", group, "--from-beginning", *limits)
    assert len(result.lines()) == count


def described_offsets(text: str, group: str) -> dict[int, tuple[str, str, str]]:
    """partition -> (current offset, end offset, lag) of consumer-groups --describe."""
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if fields and fields[0] == group and len(fields) > 5:
            found[int(fields[2])] = (fields[3], fields[4], fields[5])
    return found


def test_consumer_groups(tools: Tools, new_topic: NewTopic, group: str) -> None:
    topic = new_topic(partitions=1)
    tools.run(CONSOLE_PRODUCER, "--topic", topic, stdin="".join(f"{i}\n" for i in range(100)))
    consume(tools, topic, group, 60)
    assert group in tools.run(GROUPS, "--list").lines()
    assert re.search(rf"{group}\s+(Empty|Stable)", tools.run(GROUPS, "--list", "--state").stdout)
    wait_until(
        "the group to be empty",
        lambda: "Empty" in tools.run(GROUPS, "--describe", "--group", group, "--state").stdout,
    )
    text = tools.run(GROUPS, "--describe", "--group", group).stdout
    assert described_offsets(text, group)[0] == ("60", "100", "40"), text
    reset = ("--reset-offsets", "--group", group, "--topic", topic, "--execute")
    tools.run(GROUPS, *reset, "--to-offset", 7)
    assert described_offsets(tools.run(GROUPS, "--describe", "--group", group).stdout, group)[0][0] == "7"
    tools.run(GROUPS, *reset, "--shift-by", 3)
    tools.run(GROUPS, *reset, "--to-current")
    assert described_offsets(tools.run(GROUPS, "--describe", "--group", group).stdout, group)[0][0] == "10"
    tools.run(GROUPS, *reset, "--to-latest")
    assert described_offsets(tools.run(GROUPS, "--describe", "--group", group).stdout, group)[0][2] == "0"
    deleted = tools.run(GROUPS, "--delete-offsets", "--group", group, "--topic", topic).stdout
    assert re.search(rf"{topic}\s+(0|\S+)\s+Successful", deleted) or "Successful" in deleted, deleted
    tools.run(GROUPS, *reset, "--to-earliest")
    tools.run(GROUPS, "--delete", "--group", group)
    assert group not in tools.run(GROUPS, "--list").lines()


def test_configs(tools: Tools, new_topic: NewTopic) -> None:
    topic = new_topic()
    entity = ("--entity-type", "topics", "--entity-name", topic)
    tools.run(CONFIGS, "--alter", *entity, "--add-config", "retention.ms=4242,flush.messages=9")
    text = tools.run(CONFIGS, "--describe", *entity).stdout
    assert "retention.ms=4242" in text
    assert "flush.messages=9" in text
    tools.run(CONFIGS, "--alter", *entity, "--delete-config", "flush.messages")
    text = tools.run(CONFIGS, "--describe", *entity).stdout
    assert "flush.messages" not in text
    every = tools.run(CONFIGS, "--describe", "--all", *entity).stdout
    assert (
        "max.message.bytes=1048588 sensitive=false synonyms={DEFAULT_CONFIG:message.max.bytes=1048588}"
        in every
    )
    assert "InvalidConfigurationException" in tools.fails(
        CONFIGS, "--alter", *entity, "--add-config", "retention.ms=never"
    )
    brokers = tools.run(CONFIGS, "--describe", "--all", "--entity-type", "brokers").stdout
    assert "message.max.bytes=1048588" in brokers


def test_get_offsets(tools: Tools, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=2)
    tools.run(CONSOLE_PRODUCER, "--topic", topic, stdin="".join(f"{i}\n" for i in range(50)))

    def offsets(time: str) -> int:
        found = tools.run(GET_OFFSETS, "--topic", topic, "--time", time).lines()
        assert {line.rsplit(":", 1)[0] for line in found} <= {f"{topic}:0", f"{topic}:1"}, found
        return sum(int(line.rsplit(":", 1)[1]) for line in found)

    assert offsets("latest") == 50
    assert offsets("earliest") == 0
    assert offsets("0") == 0
    only = tools.run(GET_OFFSETS, "--topic-partitions", f"{topic}:1", "--time", "-1").lines()
    assert len(only) == 1


def test_producer_and_consumer_performance(tools: Tools, jvm: Jvm, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=3)
    sent = jvm.tool(
        PRODUCER_PERF,
        "--topic",
        topic,
        "--num-records",
        20000,
        "--record-size",
        200,
        "--throughput",
        -1,
        "--command-property",
        f"bootstrap.servers={jvm.bootstrap}",
        "acks=all",
    )
    assert sent.exit == 0, sent.stderr
    assert "20000 records sent" in sent.stdout
    read = tools.run(CONSUMER_PERF, "--topic", topic, "--num-records", 20000, "--timeout", 120_000)
    header, figures = (line.split(", ") for line in read.lines()[-2:])
    assert figures[header.index("data.consumed.in.nMsg")] == "20000", read.stdout


def events(text: str, name: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [event for event in found if event["name"] == name]


def test_verifiable_producer_and_consumer(tools: Tools, new_topic: NewTopic, group: str) -> None:
    topic = new_topic(partitions=2)
    sent = tools.run_alone(VERIFIABLE_PRODUCER, "--topic", topic, "--max-messages", 1000, "--acks", -1)
    acked = events(sent.stdout, "producer_send_success")
    assert len(acked) == 1000
    assert {(int(str(event["partition"])), int(str(event["offset"]))) for event in acked} == {
        (p, o) for p in (0, 1) for o in range(sum(1 for event in acked if event["partition"] == p))
    }
    verify = ("--topic", topic, "--group-id", group, "--max-messages", 1000, "--reset-policy", "earliest")
    read = tools.run_alone(VERIFIABLE_CONSUMER, *verify, "--verbose")
    values = sorted(int(str(event["value"])) for event in events(read.stdout, "record_data"))
    assert values == list(range(1000))
    assert all(event["success"] for event in events(read.stdout, "offsets_committed"))


def test_verifiable_consumer_killed(
    tools: Tools, bootstrap: str, new_topic: NewTopic, group: str, tmp_path: Path
) -> None:
    """A member in a process of its own is killed: after its session timeout the other one owns everything."""
    topic = new_topic(partitions=4)
    common = (
        "--bootstrap-server",
        bootstrap,
        "--topic",
        topic,
        "--group-id",
        group,
        "--reset-policy",
        "earliest",
        "--session-timeout",
        "6000",
        "--group-protocol",
        "classic",
        "--verbose",
    )
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    members = []
    try:
        for log in logs:
            with log.open("wb") as out:
                members.append(subprocess.Popen(jvm_command(VERIFIABLE_CONSUMER, *common), stdout=out))

        def owned(log: Path) -> int:
            sizes = [
                len(list(event["partitions"])) for event in events(log.read_text(), "partitions_assigned")
            ]
            return sizes[-1] if sizes else 0

        wait_until("both members to own two", lambda: [owned(log) for log in logs] == [2, 2])
        tools.run_alone(VERIFIABLE_PRODUCER, "--topic", topic, "--max-messages", 400)
        members[0].kill()
        members[0].wait()
        wait_until("the survivor to own all four", lambda: owned(logs[1]) == 4)
        tools.run_alone(VERIFIABLE_PRODUCER, "--topic", topic, "--max-messages", 400)
        wait_until(
            "everything to be read",
            lambda: sum(len(events(log.read_text(), "record_data")) for log in logs) >= 800,
        )
        wait_until(
            "everything to be committed",
            lambda: (
                sum(
                    int(lag)
                    for _, _, lag in described_offsets(
                        tools.run(GROUPS, "--describe", "--group", group).stdout, group
                    ).values()
                    if lag != "-"
                )
                == 0
            ),
        )
    finally:
        for member in members:
            if member.poll() is None:
                member.terminate()
                member.wait(120)
    values: list[int] = []
    for log in logs:
        values += [int(str(event["value"])) for event in events(log.read_text(), "record_data")]
    assert sorted(set(values)) == list(range(400)), "a record was delivered to neither member"
    assert len(values) >= 800


def test_delete_records_log_dirs_api_versions(tools: Tools, new_topic: NewTopic, tmp_path: Path) -> None:
    topic = new_topic()
    tools.run(CONSOLE_PRODUCER, "--topic", topic, stdin="".join(f"{i}\n" for i in range(100)))
    wish = tmp_path / "delete.json"
    wish.write_text(
        json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": 0, "offset": 30}]})
    )
    text = tools.run(DELETE_RECORDS, "--offset-json-file", wish).stdout
    assert f"partition: {topic}-0\tlow_watermark: 30" in text
    assert tools.run(GET_OFFSETS, "--topic", topic, "--time", "earliest").lines() == [f"{topic}:0:30"]
    dirs = tools.run(LOG_DIRS, "--describe", "--topic-list", topic).stdout
    described = json.loads(next(line for line in dirs.splitlines() if line.startswith("{")))
    found = [p["partition"] for p in described["brokers"][0]["logDirs"][0]["partitions"]]
    assert found == [f"{topic}-0"]
    versions = tools.run(API_VERSIONS).stdout
    for line in (
        "Produce(0): 0 to 13",
        "Fetch(1): 4 to 18",
        "JoinGroup(11): 0 to 9",
        "CreateTopics(19): 2 to 7",
    ):
        assert line in versions, versions
