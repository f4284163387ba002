"""CreateAcls (key 30), versions 1 to 3: who may do what (KIP-140).

Behaviour: SECURITY_DISABLED for each, as Apache Kafka answers without an authorizer; any broker can say so.
One with UNKNOWN elements ends the connection, there too.
Version notes: v2 flexible; v3 may name users (KIP-373).
"""

from __future__ import annotations

from kproto.errors import ErrorCode
from kproto.handlers.authorized import NO_AUTHORIZER, check_known
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.turns import Steps
from kproto.wire.generated.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse


def handle(ctx: RequestContext, request: CreateAclsRequest) -> Steps[CreateAclsResponse]:  # noqa: ARG001
    """Refuse each."""
    response = CreateAclsResponse(results=[])
    for acl in request.creations:
        check_known(acl.resource_type, acl.resource_pattern_type, acl.operation, acl.permission_type)
        response.results.append(
            AclCreationResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
        )
        yield
    return response


HANDLER = Handler(key=30, min_version=1, max_version=3, handle=handle)
