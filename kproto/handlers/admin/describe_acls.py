"""DescribeAcls (key 29), versions 1 to 3: the ACLs that a filter finds (KIP-140).

Behaviour: SECURITY_DISABLED, as Apache Kafka answers without an authorizer. MirrorMaker asks for it unless
told not to, and goes on without ACLs then. A filter with UNKNOWN elements ends the connection, there too.
Version notes: v2 flexible; v3 may name users (KIP-373).
"""

from __future__ import annotations

from kproto.errors import ErrorCode
from kproto.handlers.authorized import NO_AUTHORIZER, check_known
from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def handle(ctx: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:  # noqa: ARG001
    """Say that there are none to look for."""
    check_known(
        request.resource_type_filter, request.pattern_type_filter, request.operation, request.permission_type
    )
    return DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)


HANDLER = Handler(key=29, min_version=1, max_version=3, handle=handle)
