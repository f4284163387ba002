"""ListPartitionReassignments (key 46), version 0 (KIP-455).

Behaviour: assignments cannot be changed yet, so there is never a reassignment going on; tools that describe
topics ask anyway.
"""

from __future__ import annotations

from kproto.handlers.context import Handler, RequestContext
from kproto.wire.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


def handle(
    _ctx: RequestContext, _request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Nothing is being reassigned."""
    return ListPartitionReassignmentsResponse(error_message=None)


HANDLER = Handler(key=46, min_version=0, max_version=0, handle=handle)
