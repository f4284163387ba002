"""``kproto topic``: list, create, describe, alter and delete topics of any Kafka cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import click

from kproto.cli.arguments import set_option
from kproto.cli.cluster import Cluster, bootstrap_option, delete_each, json_option, require
from kproto.wire.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kproto.wire.generated.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kproto.wire.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

CREATE_TOPICS: Final = 19
DELETE_TOPICS: Final = 20
DESCRIBE_CONFIGS: Final = 32
CREATE_PARTITIONS: Final = 37
INCREMENTAL_ALTER_CONFIGS: Final = 44
TOPIC_RESOURCE: Final = 2
TIMEOUT_MS: Final = 30_000
SET: Final = 0
DELETE: Final = 1
DEFAULT_SOURCE: Final = 5
COUNT: Final = click.IntRange(-1, 2**31 - 1)
COPIES: Final = click.IntRange(-1, 2**15 - 1)


@click.group()
def topic() -> None:
    """List, create, describe, alter and delete topics."""


@topic.command("list")
@click.option("--internal", is_flag=True, help="Internal topics too.")
@bootstrap_option
@json_option
def list_topics(internal: bool, bootstrap: str, as_json: bool) -> None:
    """Print all topics."""
    from kproto.cli.output import print_rows

    with Cluster(bootstrap) as cluster:
        rows = [
            {
                "name": found.name,
                "partitions": len(found.partitions),
                "replication": max((len(p.replica_nodes) for p in found.partitions), default=0),
                "id": found.topic_id.hex(),
            }
            for found in sorted(cluster.metadata(None).topics, key=lambda found: str(found.name))
            if internal or not found.is_internal
        ]
    print_rows(rows, ("name", "partitions", "replication", "id"), as_json=as_json)


@topic.command()
@click.argument("name")
@click.option("--partitions", type=COUNT, default=-1, help="Default: the broker's num.partitions.")
@click.option("--replication", type=COPIES, default=-1, help="Default: default.replication.factor.")
@set_option("given", "A topic config; may be repeated.")
@bootstrap_option
def create(name: str, partitions: int, replication: int, given: dict[str, str], bootstrap: str) -> None:
    """Create topic NAME."""
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in given.items()]
    wanted = CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=replication, configs=configs
    )
    with Cluster(bootstrap) as cluster:
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS)
        answer = cluster.any.call(CREATE_TOPICS, request).topics[0]
    require(answer.error_code, name, answer.error_message)
    click.echo(f"created {name}")


@topic.command()
@click.argument("names", nargs=-1, required=True)
@bootstrap_option
def delete(names: tuple[str, ...], bootstrap: str) -> None:
    """Delete topics NAMES."""
    with Cluster(bootstrap) as cluster:
        states = [DeleteTopicState(name=name) for name in names]
        request = DeleteTopicsRequest(topics=states, topic_names=list(names), timeout_ms=TIMEOUT_MS)
        answers = cluster.any.call(DELETE_TOPICS, request).responses
    told = {answer.name or "?": answer for answer in answers}
    delete_each(told, lambda name: require(told[name].error_code, name, told[name].error_message))


@topic.command()
@click.argument("name")
@bootstrap_option
@json_option
def describe(name: str, bootstrap: str, as_json: bool) -> None:
    """Print the partitions of topic NAME, and its configs that differ from the default."""
    from kproto.cli.output import print_json, print_rows

    with Cluster(bootstrap) as cluster:
        found = cluster.topic(name)
        known = _configs(cluster, name)
    configs = {config.name: config.value for config in known if config.config_source != DEFAULT_SOURCE}
    partitions: list[dict[str, Any]] = [
        {
            "partition": partition.partition_index,
            "leader": partition.leader_id,
            "epoch": partition.leader_epoch,
            "replicas": partition.replica_nodes,
            "isr": partition.isr_nodes,
        }
        for partition in sorted(found.partitions, key=lambda p: int(p.partition_index))
    ]
    if as_json:
        print_json({"name": name, "id": found.topic_id.hex(), "configs": configs, "partitions": partitions})
        return
    print_rows(partitions, ("partition", "leader", "epoch", "replicas", "isr"), as_json=False, title=name)
    print_rows(
        [{"config": key, "value": value} for key, value in sorted(configs.items())],
        ("config", "value"),
        as_json=False,
    )


def _configs(cluster: Cluster, name: str) -> list[Any]:
    """All configs of a topic, of a DescribeConfigs answer. Raises ClickException when it is unknown."""
    resource = DescribeConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None
    )
    answer = cluster.any.call(DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=[resource])).results[0]
    require(answer.error_code, name, answer.error_message)
    return list(answer.configs)


@topic.command()
@click.argument("name")
@set_option("given", "Set a topic config; may be repeated.")
@click.option("--unset", "removed", multiple=True, metavar="NAME", help="Back to the default.")
@click.option("--partitions", type=COUNT, help="Raise the number of partitions.")
@bootstrap_option
def alter(
    name: str, given: dict[str, str], removed: tuple[str, ...], partitions: int | None, bootstrap: str
) -> None:
    """Change configs or the number of partitions of topic NAME."""
    changes = [AlterableConfig(name=k, config_operation=SET, value=v) for k, v in given.items()]
    changes += [AlterableConfig(name=key, config_operation=DELETE, value=None) for key in removed]
    if not changes and partitions is None:
        raise click.UsageError("nothing to change: give --set, --unset or --partitions")
    with Cluster(bootstrap) as cluster:
        if removed:
            _check_known(cluster, name, removed)
        if changes:
            if partitions is not None:
                _grow(cluster, name, partitions, name, validate_only=True)
            resource = AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=name, configs=changes)
            request = IncrementalAlterConfigsRequest(resources=[resource])
            answer = cluster.any.call(INCREMENTAL_ALTER_CONFIGS, request).responses[0]
            require(answer.error_code, name, answer.error_message)
        if partitions is not None:
            _grow(cluster, name, partitions, f"{name} (its configs are changed)" if changes else name)
    click.echo(f"altered {name}")


def _grow(cluster: Cluster, name: str, count: int, what: str, *, validate_only: bool = False) -> None:
    """More partitions for a topic, or only the question whether it can have them. Raises ClickException, of
    ``what``, when it cannot."""
    more = CreatePartitionsTopic(name=name, count=count, assignments=None)
    request = CreatePartitionsRequest(topics=[more], timeout_ms=TIMEOUT_MS, validate_only=validate_only)
    result = cluster.any.call(CREATE_PARTITIONS, request).results[0]
    require(result.error_code, what, result.error_message)


def _check_known(cluster: Cluster, name: str, removed: Iterable[str]) -> None:
    """Brokers, Apache Kafka's too, do not mind when a config that does not exist is to go."""
    known = {config.name for config in _configs(cluster, name)}
    for config in removed:
        if config not in known:
            raise click.ClickException(f"{name}: --unset {config}: there is no such topic config")
