"""DeleteAcls (key 31), versions 1 to 3: the ACLs that filters find are to go (KIP-140).

Behaviour: SECURITY_DISABLED for each, as Apache Kafka answers without an authorizer; any broker can say so.
One with UNKNOWN elements ends the connection, there too.
Version notes: v2 flexible; v3 may name users (KIP-373).
"""

from __future__ import annotations

from kproto.errors import ErrorCode
from kproto.handlers.authorized import NO_AUTHORIZER, check_known
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import Steps
from kproto.wire.generated.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse


def handle(ctx: RequestContext, request: DeleteAclsRequest) -> Steps[DeleteAclsResponse]:  # noqa: ARG001
    """Refuse each."""
    response = DeleteAclsResponse(filter_results=[])
    for each in request.filters:
        check_known(each.resource_type_filter, each.pattern_type_filter, each.operation, each.permission_type)
        response.filter_results.append(
            DeleteAclsFilterResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
        )
        yield
    return response


HANDLER = Handler(key=31, min_version=1, max_version=3, handle=handle)
