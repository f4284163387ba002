"""kproto.toml and overrides into Settings."""

import os
import re
from pathlib import Path

import pytest

import kproto
from kproto.config import BROKER_CONFIGS, ConfigError, Settings, load, topic_config, validate_topic_configs


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "kproto.toml"
    path.write_text(text)
    return path


def test_defaults_are_kafkas() -> None:
    settings = load()
    assert settings.node_id == 1
    assert settings.socket_request_max_bytes == 104_857_600
    assert settings.auto_create_topics_enable is True
    assert settings.offsets_topic_num_partitions == 50
    assert settings.group_initial_rebalance_delay_ms == 3000
    assert settings.kproto_virtual_segment_bytes == 67_108_864
    assert settings.listen_address() == ("", 9092)
    assert settings.advertised_address() is None
    assert settings.explicit == {}


def test_every_field_is_a_key_and_every_enforced_key_has_an_effect() -> None:
    """An enforced key is a field of Settings, or folded into topic configs or another key."""
    settings = load()
    names = set(Settings._fields)
    folded = {
        name for name in BROKER_CONFIGS if name.startswith(("log.", "compression.", "message.", "min."))
    }
    folded |= {"broker.id", "group.coordinator.rebalance.protocols"}
    folded |= {"kproto.drain"}  # read by the controller, of every broker
    for name, definition in BROKER_CONFIGS.items():
        field = name.replace(".", "_")
        if field in names:
            assert getattr(settings, field) == settings.values[name]
            assert definition.enforced
        elif name not in folded:
            assert not definition.enforced, f"{name} says it is enforced, but nothing reads it"


def test_every_field_is_read_by_the_code_outside_config() -> None:
    """A key that says it is enforced must be looked at by somebody."""
    package = Path(kproto.__file__).parent
    sources = [path for path in package.rglob("*.py") if path.parent != package / "config"]
    text = "\n".join(path.read_text() for path in sources)
    through_methods = {"listeners", "advertised_listeners", "values", "explicit", "topic_defaults"}
    through_topics = {"message_max_bytes", "kproto_segment_file_bytes"}
    unread = {
        name
        for name in set(Settings._fields) - through_methods - through_topics
        if not re.search(rf"settings\.{name}\b", text)
    }
    assert unread == set()


def test_quoted_and_nested_keys_are_the_same(tmp_path: Path) -> None:
    nested = load(write(tmp_path, "[num]\npartitions = 3\n[auto.create.topics]\nenable = false\n"))
    quoted = load(write(tmp_path, '"num.partitions" = 3\n"auto.create.topics.enable" = "false"\n'))
    assert nested.num_partitions == quoted.num_partitions == 3
    assert nested.auto_create_topics_enable is quoted.auto_create_topics_enable is False
    spelled = {"num.partitions": "3", "auto.create.topics.enable": "false"}
    assert nested.explicit == quoted.explicit == spelled


def test_overrides_win_over_the_file(tmp_path: Path) -> None:
    settings = load(write(tmp_path, "num.partitions = 3\n"), {"num.partitions": "5"})
    assert settings.num_partitions == 5


def test_lists_and_numbers(tmp_path: Path) -> None:
    path = write(
        tmp_path, 'listeners = ["PLAINTEXT://127.0.0.1:0"]\nlog.cleanup.policy = ["compact", "delete"]\n'
    )
    settings = load(path)
    assert settings.listen_address() == ("127.0.0.1", 0)
    assert settings.topic_defaults is not None
    assert settings.topic_defaults.cleanup_policy == ("compact", "delete")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("num.partitons = 1\n", "num.partitons: no such broker config; did you mean num.partitions?"),
        ("controller.quorum.voters = 1\n", "controller.quorum.voters: no such broker config; leave it out"),
        ("num.partitions = 'many'\n", "num.partitions: 'many' is not a number of type INT"),
        ("num.partitions = 0\n", "num.partitions: '0' must be at least 1"),
        ("num.partitions = \n", "not valid TOML"),
        ("num.partitions = 1\n'num.partitions' = 2\n", "num.partitions is set twice"),
        ("num.partitions = 1979-05-27\n", "num.partitions: a date is not a value"),
        ("listeners = 'SSL://a:1'\n", "listeners: 'SSL://a:1' must be PLAINTEXT://host:port"),
        ("listeners = 'PLAINTEXT://a:1,PLAINTEXT://b:2'\n", "must name exactly one listener"),
        ("listeners = 'PLAINTEXT://a:99999'\n", "must end in :port"),
        ("listeners = 'PLAINTEXT://0.0.0.0:1'\n", "listeners: 0.0.0.0:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://[::]:1'\n", "advertised.listeners has to say one"),
        ("advertised.listeners = 'PLAINTEXT://:1'\n", "listeners: :1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://0:1'\n", "0:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://[::0]:1'\n", "[::0]:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://[0:0::0]:1'\n", "[0:0::0]:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://[::%0]:1'\n", "[::%0]:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://[::ffff:0.0.0.0]:1'\n", "0.0.0.0]:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://0:1'\n", "listeners: 0:1 is no address to connect to"),
        ("listeners = 'PLAINTEXT://*:1'\n", "is no address to connect to"),
        ("advertised.listeners = 'PLAINTEXT://0.0.0.0:1'\n", "0.0.0.0:1 is no address to connect to"),
        ("advertised.listeners = 'PLAINTEXT://.a:1'\n", "'PLAINTEXT://.a:1' has a host that is no host name"),
        ("kproto.join = 'b..example:1'\n", "kproto.join: 'b..example:1' has a host that is no host name"),
        ("kproto.join = '[::1:1'\n", "kproto.join: '[::1:1' must be host:port"),
        ("kproto.join = 'a:65536'\n", "kproto.join: 'a:65536' must be host:port, with a port up to 65535"),
        ("kproto.internal.listen = '0.0.0.0:1'\n", "kproto.internal.advertise has to say one"),
        ("kproto.internal.listen = ':1'\n", "kproto.internal.listen: :1 is no address to connect to"),
        ("kproto.active.groups = 2\n", "such broker config; it is a config of topics (topic create --set)"),
        ("retention.ms = 2\n", "(topic create --set), log.retention.ms for those without"),
        ("log.dirs = '/a,/b'\n", "log.dirs: kproto stores everything in one directory"),
        ("log.dirs = ''\n", "log.dirs: has to name a directory"),
        ("max.connections.per.ip = 0\n", "max.connections.per.ip: '0' must be at least 1"),
        ("replica.selector.class = 'x'\n", "replica.selector.class: 'x' is not supported"),
        ("max.connections.per.ip.overrides = 'a:1'\n", "overrides: 'a:1' is not supported; only '' is"),
        ("group.min.session.timeout.ms = 2000000\n", "group.min.session.timeout.ms: 2000000 is above"),
        ("broker.id = 1\nnode.id = 2\n", "broker.id: '1' contradicts node.id = '2'"),
        ("log.retention.ms = 0\n", "log.retention.ms: '0' must be -1 (unlimited) or at least 1"),
        ("log.retention.ms = -2\n", "log.retention.ms: '-2' must be at least -1"),
        ("log.retention.minutes = 0\nlog.retention.hours = 1\n", "log.retention.minutes: '0' must be -1"),
        ("log.retention.hours = 0\n", "log.retention.hours: '0' must be -1 (unlimited) or at least 1"),
        ("kproto.journal.bytes = 4194304\n", "is above kproto.journal.bytes"),
        ('log.dirs = "a\\u0000b"\n', r"log.dirs: 'a\x00b' cannot be the name of a directory here"),
        ("kproto.drain = true\n", "kproto.drain: does nothing at the start; it is set for one broker while"),
    ],
)
def test_bad_files_give_one_clear_line(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(write(tmp_path, text))
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["broker.rack", "kproto.cluster.secret"])
def test_text_of_a_command_line_that_is_not_utf_8(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}: 'caf\\udce9' is not UTF-8"):
        load(None, {name: os.fsdecode(b"caf\xe9")})
    assert load(None, {"log.dirs": os.fsdecode(b"caf\xe9")}).log_dirs == os.fsdecode(b"caf\xe9")


def test_a_missing_file_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none.toml")


def test_properties_are_no_toml_and_the_line_says_so(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("node.id=1\nlisteners=PLAINTEXT://:9092\n")
    with pytest.raises(ConfigError, match=r'not valid TOML: .*\(expected lines like "num.partitions" = 3\)'):
        load(path)


def test_log_dir_counts_when_log_dirs_is_not_set_as_kafkas() -> None:
    assert load(None, {"log.dir": "/a"}).log_dirs == "/a"
    assert load(None, {"log.dir": "/a", "log.dirs": "/b"}).log_dirs == "/b"
    assert load(None).log_dirs == "./kproto-data"


def test_log_dir_on_the_command_line_wins_over_log_dirs_in_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "log.dirs = '/a'\n")
    assert load(file, {"log.dir": "/b"}).log_dirs == "/b"
    assert load(write(tmp_path, "log.dir = '/a'\n"), {"log.dirs": "/b"}).log_dirs == "/b"


@pytest.mark.parametrize("bound", ["0.0.0.0:1", "[::]:1", ":1"])
def test_everywhere_may_be_bound_when_others_are_told_an_address(bound: str) -> None:
    settings = load(
        None,
        {
            "listeners": f"PLAINTEXT://{bound}",
            "advertised.listeners": "PLAINTEXT://broker:1",
            "kproto.internal.listen": bound,
            "kproto.internal.advertise": "broker:2",
        },
    )
    assert settings.advertised_address() == ("broker", 1)


def test_advertised_port_0_is_the_one_that_is_bound() -> None:
    settings = load(None, {"listeners": "PLAINTEXT://h:0", "advertised.listeners": "PLAINTEXT://broker:0"})
    assert settings.told_address(7) == ("broker", 7)
    assert settings.with_texts({"advertised.listeners": "PLAINTEXT://broker:5"}).told_address(7) == (
        "broker",
        5,
    )


def test_what_is_set_while_a_broker_runs_may_be_what_it_cannot_start_with() -> None:
    started = load(None, {"kproto.drain": "false"})
    assert started.with_texts({"kproto.drain": "true"}).values["kproto.drain"] is True


def test_broker_id_is_an_alias() -> None:
    assert load(None, {"broker.id": "7"}).node_id == 7


@pytest.mark.parametrize(
    ("file", "given", "node_id"),
    [
        ("broker.id = 1\n", {"node.id": "2"}, 2),
        ("node.id = 1\n", {"broker.id": "2"}, 2),
        ("broker.id = 1\n", {"broker.id": "2"}, 2),
        ("broker.id = 2\n", {}, 2),
    ],
)
def test_an_alias_in_the_file_does_not_defeat_the_command_line(
    tmp_path: Path, file: str, given: dict[str, str], node_id: int
) -> None:
    settings = load(write(tmp_path, file), given)
    assert settings.node_id == node_id
    shown = {name: value for name, value, _ in settings.effective()}
    assert shown["node.id"] == shown["broker.id"] == str(node_id)


def test_an_alias_does_not_contradict_its_key_on_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"broker\.id: '3' contradicts node\.id = '2'"):
        load(write(tmp_path, "broker.id = 1\n"), {"node.id": "2", "broker.id": "3"})


def test_topic_config_inherits_from_the_broker_in_kafkas_order() -> None:
    """The finest unit that is set wins, and a topic's own value over all of them."""
    hours = load(None, {"log.retention.hours": "1", "log.roll.hours": "2"})
    assert topic_config({}, hours).retention_ms == 3_600_000
    assert topic_config({}, hours).segment_ms == 7_200_000
    minutes = hours.with_texts({"log.retention.minutes": "3"})
    assert topic_config({}, minutes).retention_ms == 180_000
    millis = minutes.with_texts({"log.retention.ms": "4"})
    assert topic_config({}, millis).retention_ms == 4
    assert topic_config({"retention.ms": "5"}, millis).retention_ms == 5
    for unlimited in ("-1", "-5"):
        assert topic_config({}, load(None, {"log.retention.hours": unlimited})).retention_ms == -1
    unused = load(None, {"log.retention.hours": "0", "log.retention.ms": "4"})
    assert topic_config({}, unused).retention_ms == 4
    assert topic_config({"retention.ms": "0"}, unused).retention_ms == 0


def test_what_does_not_go_leaves_the_rest_in_force() -> None:
    own = load(None, {"kproto.journal.bytes": "16777216", "kproto.virtual.segment.bytes": "4194304"})
    wanted = {
        "group.min.session.timeout.ms": "2000000",  # goes only with the next one
        "group.max.session.timeout.ms": "3000000",
        "kproto.virtual.segment.bytes": "33554432",
        "log.retention.ms": "-1",
        "num.io.threads": "-1",
    }
    settings, problems = own.with_what_goes(wanted)
    assert sorted(problem.split(":")[0] for problem in problems) == [
        "kproto.virtual.segment.bytes",
        "num.io.threads",
    ]
    assert settings.topic_defaults.retention_ms == -1
    assert settings.group_min_session_timeout_ms == 2_000_000
    assert own.with_what_goes({"log.retention.ms": "5"})[1] == []


def test_topic_config_types() -> None:
    config = topic_config(
        {
            "message.timestamp.type": "LogAppendTime",
            "kproto.active.groups": "4",
            "kproto.validate.records": "true",
        },
        load(None, {"message.max.bytes": "2000000", "kproto.segment.file.bytes": "65536"}),
    )
    assert config.log_append_time
    assert config.active_groups == 4
    assert config.validate_records is True
    assert config.max_message_bytes == 2_000_000
    assert config.segment_file_bytes == 65_536
    assert config.flush_messages == config.flush_ms == 2**63 - 1


@pytest.mark.parametrize(
    ("configs", "part"),
    [
        ({"retention.msec": "1"}, "retention.msec: no such topic config"),
        ({"retention.ms": None}, "retention.ms: null is not a value"),
        ({"min.compaction.lag.ms": "100", "max.compaction.lag.ms": "10"}, "is above max.compaction.lag.ms"),
        ({"remote.storage.enable": "true"}, "no object storage"),
    ],
)
def test_topic_overrides_that_are_refused(configs: dict[str, str | None], part: str) -> None:
    with pytest.raises(ConfigError) as refused:
        validate_topic_configs(configs)
    assert part in str(refused.value)


def test_effective_lists_every_key_once() -> None:
    settings = load(None, {"num.partitions": "4"})
    listed = list(settings.effective())
    assert [name for name, _, _ in listed] == sorted(BROKER_CONFIGS)
    assert ("num.partitions", "4", True) in listed
    assert ("default.replication.factor", "1", False) in listed
