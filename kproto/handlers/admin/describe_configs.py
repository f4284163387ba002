"""DescribeConfigs (key 32), versions 1 to 4: topic and broker configs with their sources.

Behaviour: all keys for a null or empty key list, else those of the list that exist; a broker answers for
itself and, under an empty name, for the dynamic configs of every broker. Loggers, client metrics and groups
have no configs here: INVALID_REQUEST.
Version notes: v1 sources and synonyms (KIP-226); v3 types and documentation (KIP-569); v4 flexible.
"""

from __future__ import annotations

from collections.abc import Sequence

from kproto.controller import ResourceType
from kproto.controller.names import name_problem
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.admin.config_view import ConfigView, ConfigViews
from kproto.handlers.context import Handler, RequestContext, Services
from kproto.wire.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def handle(ctx: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """Describe each resource; a fault in one does not stop the others."""
    services = ctx.broker
    views = ConfigViews(services.settings, services.image(), services.node_id, (services.host, services.port))
    return DescribeConfigsResponse(
        results=[_result(services, views, resource, request) for resource in request.resources]
    )


def _result(
    services: Services,
    views: ConfigViews,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        error_message="", resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    try:
        found = _resource_views(services, views, resource)
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    keys = resource.configuration_keys
    result.configs = [
        _config(view, request.include_synonyms, request.include_documentation)
        for view in found
        if not keys or view.name in keys
    ]
    return result


def _resource_views(
    services: Services, views: ConfigViews, resource: DescribeConfigsResource
) -> Sequence[ConfigView]:
    name = resource.resource_name
    if resource.resource_type == ResourceType.TOPIC:
        problem = name_problem(name)
        if problem is not None:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        topic = services.image().topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name!r}.")
        return views.topic(topic.configs)
    if resource.resource_type == ResourceType.BROKER:
        if not name:
            return views.all_brokers()
        if name != str(services.node_id):
            message = f"This is broker {services.node_id}; it cannot answer for {name!r}."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        return views.broker()
    raise KafkaError(
        ErrorCode.INVALID_REQUEST, f"There are no configs of resource type {resource.resource_type} here."
    )


def _config(view: ConfigView, synonyms: bool, documentation: bool) -> DescribeConfigsResourceResult:
    result = DescribeConfigsResourceResult(
        name=view.name,
        value=view.value,
        read_only=view.read_only,
        config_source=view.source,
        is_sensitive=view.sensitive,
        config_type=view.type,
        documentation=view.doc if documentation else None,
    )
    if synonyms:
        result.synonyms = [
            DescribeConfigsSynonym(name=each.name, value=each.value, source=each.source)
            for each in view.synonyms
        ]
    return result


HANDLER = Handler(key=32, min_version=1, max_version=4, handle=handle)
