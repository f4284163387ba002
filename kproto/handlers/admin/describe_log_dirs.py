"""DescribeLogDirs (key 35), versions 1 to 5: how many bytes partitions take on disk (KIP-113).

Behaviour: one log directory, the data directory; all partitions for a null topic list, else those of the list
that exist, none for an empty list. A broker has the partitions that it leads: copies for others are virtual
segments with chunks of many partitions (``kproto vlogs``), on whatever brokers, so a follower's size would be
invented. Sizes are those of the record batches; partitions that are not open are answered from the last
checkpoint, so that asking does not open thousands of them.
Version notes: v3 top-level error; v4 size of the file system (KIP-827); v5 cordoned, which kproto's never is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from kproto.config import readable
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import Steps
from kproto.metadata import MetadataImage, TopicRecord
from kproto.wire.generated.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def handle(ctx: RequestContext, request: DescribeLogDirsRequest) -> Steps[DescribeLogDirsResponse]:
    """Describe the data directory."""
    services = ctx.broker
    directory = os.path.abspath(services.settings.log_dirs)
    disk = os.statvfs(directory)
    result = DescribeLogDirsResult(
        log_dir=readable(directory),
        total_bytes=disk.f_frsize * disk.f_blocks,
        usable_bytes=disk.f_frsize * disk.f_bavail,
    )
    image = services.image()
    for topic, partitions in _wanted(image, request):
        shown = DescribeLogDirsTopic(name=topic.name)
        for index in partitions:
            if image.partition_streamlet(topic, index).leader != services.node_id:
                continue
            size = services.logs.size_bytes(topic.topic_id, index)
            shown.partitions.append(DescribeLogDirsPartition(partition_index=index, partition_size=size))
            yield
        if shown.partitions:
            result.topics.append(shown)
    return DescribeLogDirsResponse(results=[result])


def _wanted(
    image: MetadataImage, request: DescribeLogDirsRequest
) -> Iterator[tuple[TopicRecord, Iterable[int]]]:
    """Topics that exist with those of their partitions that are asked for, each once."""
    topics = image.topics
    if request.topics is None:
        for topic in topics.values():
            yield topic, range(topic.partitions)
        return
    wanted: dict[str, dict[int, None]] = {}
    for asked in request.topics:
        wanted.setdefault(asked.topic, {}).update(dict.fromkeys(asked.partitions))
    for name, partitions in wanted.items():
        known = topics.get(name)
        if known is not None:
            yield known, [index for index in partitions if 0 <= index < known.partitions]


HANDLER = Handler(key=35, min_version=1, max_version=5, handle=handle)
