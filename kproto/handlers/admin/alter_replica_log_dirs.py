"""AlterReplicaLogDirs (key 34), versions 1 to 2: partitions are to be in another log directory (KIP-113).

Behaviour: there is one log directory, the data directory, and what is to go there is there already; of any
other LOG_DIR_NOT_FOUND. ``kafka-reassign-partitions`` asks for the first when it is given the assignment that
it printed as the way back. REPLICA_NOT_AVAILABLE, for which tools wait, of a partition that this broker is no
replica of. As in Apache Kafka a partition that is named twice is answered once, as the last time says.
Version notes: v2 flexible.
"""

from __future__ import annotations

import os

from kproto.config import readable
from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import Steps
from kproto.metadata import MetadataImage
from kproto.wire.generated.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(ctx: RequestContext, request: AlterReplicaLogDirsRequest) -> Steps[AlterReplicaLogDirsResponse]:
    """Say of each partition whether it is where it is to be."""
    services = ctx.broker
    own = readable(os.path.abspath(services.settings.log_dirs))
    image = services.image()
    wanted: dict[str, dict[int, str]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            wanted.setdefault(topic.name, {}).update(dict.fromkeys(topic.partitions, directory.path))
            yield
    response = AlterReplicaLogDirsResponse()
    for name, paths in wanted.items():
        results = []
        for index, path in paths.items():
            code = ErrorCode.LOG_DIR_NOT_FOUND
            if path == own:
                code = _presence(image, name, index, services.node_id)
            results.append(AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code))
            yield
        if results:
            response.results.append(AlterReplicaLogDirTopicResult(topic_name=name, partitions=results))
    return response


def _presence(image: MetadataImage, name: str, index: int, node_id: int) -> ErrorCode:
    topic = image.topics.get(name)
    if topic is None or not 0 <= index < topic.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    streamlet = image.partition_streamlet(topic, index)
    there = node_id == streamlet.leader or node_id in streamlet.replicas
    return ErrorCode.NONE if there else ErrorCode.REPLICA_NOT_AVAILABLE


HANDLER = Handler(key=34, min_version=1, max_version=2, handle=handle)
