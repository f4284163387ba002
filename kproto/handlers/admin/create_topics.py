"""CreateTopics (key 19), versions 2 to 7.

Behaviour: each topic succeeds or fails on its own; ``validate_only`` decides without creating. Partitions
and replication factor of -1 take the broker's defaults (KIP-464, from v4; honoured in every version). A topic
exists for everybody when the answer leaves, so ``timeout_ms`` never runs out.
Version notes: v5 the new topic's numbers and configs in the answer (KIP-525); v7 its id.
"""

from __future__ import annotations

from kproto.controller import NewTopic, TopicOutcome
from kproto.handlers.admin.config_view import ConfigViews
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import for_each
from kproto.wire.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


async def handle(ctx: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Create topics and answer with what they became."""
    services = ctx.broker
    wanted: list[NewTopic] = await for_each(request.topics, _wanted)
    views = None
    if ctx.version >= 5:
        views = ConfigViews(services.settings, services.logs.settings, services.image(), services.node_id)
    outcomes = await services.controller.create_topics(wanted, validate_only=request.validate_only)
    known: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]] = {}
    topics = await for_each(outcomes, lambda outcome: _result(outcome, views, known))
    return CreateTopicsResponse(topics=topics)


def _wanted(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        tuple((each.partition_index, tuple(each.broker_ids)) for each in topic.assignments),
        {each.name: each.value for each in topic.configs},
    )


def _result(
    outcome: TopicOutcome,
    views: ConfigViews | None,
    known: dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]],
) -> CreatableTopicResult:
    """``known`` keeps the configs of topics with the same overrides: often a whole request has the same."""
    if outcome.error is not None or outcome.topic is None:
        assert outcome.error is not None
        return CreatableTopicResult(
            name=outcome.name or "",
            error_code=outcome.error.code,
            error_message=outcome.error.message,
            configs=[],
        )
    topic = outcome.topic
    overrides = frozenset(topic.configs.items())
    configs = known.get(overrides)
    if configs is None:
        configs = known[overrides] = [
            CreatableTopicConfigs(
                name=view.name,
                value=view.spelled,
                read_only=view.read_only,
                config_source=view.source,
                is_sensitive=view.sensitive,
            )
            for view in (views.topic(topic.configs) if views is not None else ())
        ]
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_message=None,
        num_partitions=topic.partitions,
        replication_factor=topic.replication_factor,
        configs=configs,
    )


HANDLER = Handler(key=19, min_version=2, max_version=7, handle=handle)
