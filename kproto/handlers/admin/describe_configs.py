"""DescribeConfigs (key 32), versions 1 to 4: topic and broker configs with their sources.

Behaviour: all keys for a null or empty key list, else those of the list that exist; a broker answers for
itself and, under an empty name, for the dynamic configs of every broker. Loggers, client metrics and groups
have no configs here: INVALID_REQUEST. As in Apache Kafka a resource that is named twice is described twice;
when that is done very often each is described once, as the last time says (see ``repeats``).
Version notes: v1 sources and synonyms (KIP-226); v3 types and documentation (KIP-569); v4 flexible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproto.controller import ResourceType
from kproto.controller.names import name_problem
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.admin.config_view import ConfigView, ConfigViews
from kproto.handlers.context import Handler, RequestContext, Services
from kproto.handlers.repeats import few_repeats
from kproto.handlers.turns import Steps
from kproto.wire.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kproto.wire.messages import codec
from kproto.wire.primitives import uvarint

KEY: Final = 32
_THROTTLE: Final = bytes(4)


def handle(ctx: RequestContext, request: DescribeConfigsRequest) -> Steps[bytes]:
    """Describe each resource; a fault in one does not stop the others.

    The body of the answer is written piece by piece: that of a thousand topics takes long.
    """
    services = ctx.broker
    told = services.host, services.port
    views = ConfigViews(services.settings, services.logs.settings, services.image(), services.node_id, told)
    resources = few_repeats(request.resources, lambda each: (each.resource_type, each.resource_name))
    yield
    flexible = codec(KEY).flexible(ctx.version)
    body = bytearray(_THROTTLE)
    if flexible:
        uvarint(body, len(resources) + 1)
    else:
        body += len(resources).to_bytes(4, "big")
    for resource in resources:
        body += _written(ctx.version, flexible, _result(services, views, resource, request))
        yield
    if flexible:
        body.append(0)
    return bytes(body)


def _written(version: int, flexible: bool, result: DescribeConfigsResult) -> memoryview:
    """One element of the answer's array: an answer with it alone, without what is around."""
    out = bytearray()
    codec(KEY).write_response(version, DescribeConfigsResponse(results=[result]), out)
    return memoryview(out)[5:-1] if flexible else memoryview(out)[8:]


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


HANDLER = Handler(key=KEY, min_version=1, max_version=4, handle=handle)
