"""DeleteTopics (key 20), versions 1 to 6.

Behaviour: metadata forgets the topic at once, its files go after ``file.delete.delay.ms``. As in Apache Kafka
internal topics can be deleted like others. ``timeout_ms`` never runs out.
Version notes: v5 error messages; v6 topics by name or by id (KIP-516).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproto.controller import TopicOutcome, TopicRef
from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import in_parts
from kproto.wire.generated.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

ZERO_UUID: Final = bytes(16)


async def handle(ctx: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Delete topics, each on its own."""
    if ctx.version >= 6:
        refs = [
            TopicRef(topic.name, topic.topic_id if topic.topic_id != ZERO_UUID else None)
            for topic in request.topics
        ]
    else:
        refs = [TopicRef(name) for name in request.topic_names]

    async def delete(some: Sequence[TopicRef]) -> list[DeletableTopicResult]:
        return [_result(outcome) for outcome in await ctx.broker.controller.delete_topics(some)]

    topics = ctx.broker.image().topics_by_id

    def name(ref: TopicRef) -> str | bytes | None:
        topic = topics.get(ref.topic_id or ZERO_UUID)
        if ref.name is None and topic is not None:
            return topic.name
        return ref.name if ref.name is not None else ref.topic_id

    return DeleteTopicsResponse(responses=await in_parts(refs, name, delete))


def _result(outcome: TopicOutcome) -> DeletableTopicResult:
    error = outcome.error
    return DeletableTopicResult(
        name=outcome.name,
        topic_id=outcome.topic_id or ZERO_UUID,
        error_code=error.code if error is not None else ErrorCode.NONE,
        error_message=error.message if error is not None else None,
    )


HANDLER = Handler(key=20, min_version=1, max_version=6, handle=handle)
