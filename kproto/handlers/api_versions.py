"""ApiVersions (key 18), versions 0-4.

Answers the table of ``registry``: what is advertised is exactly what is served, except that Produce says 0
as its lowest version although 0-2 are rejected (librdkafka misbehaves without, KAFKA-18659). A version
this broker does not know is answered in version 0 with UNSUPPORTED_VERSION and the full table, so that the
client can fall back (KIP-35); the response header is version 0 always (KIP-511). Since version 3 the
client says its software's name and version; malformed ones are INVALID_REQUEST (KIP-511). No feature
levels are advertised: no feature of Kafka that is switched by one exists here.
"""

from __future__ import annotations

import re
from typing import Final

from kproto.errors import ErrorCode
from kproto.handlers.context import Handler, RequestContext
from kproto.handlers.registry import APIS
from kproto.wire.generated.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kproto.wire.messages import codec

KEY: Final = 18
MAX_VERSION: Final = 4

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """The table, or INVALID_REQUEST with an empty one."""
    if context.version >= 3 and not (
        _SOFTWARE.fullmatch(request.client_software_name)
        and _SOFTWARE.fullmatch(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    return _response(ErrorCode.NONE)


def unsupported(correlation_id: int) -> bytes:
    """The whole frame for a version that is not served: version 0, error 35, the table."""
    out = bytearray(4) + correlation_id.to_bytes(4, "big", signed=True)
    codec(KEY).write_response(0, _response(ErrorCode.UNSUPPORTED_VERSION), out)
    out[:4] = (len(out) - 4).to_bytes(4, "big")
    return bytes(out)


def _response(error: ErrorCode) -> ApiVersionsResponse:
    keys = [
        ApiVersion(api_key=api.key, min_version=api.advertised_min, max_version=api.max_version)
        for api in APIS.values()
    ]
    return ApiVersionsResponse(error_code=error, api_keys=keys)


HANDLER: Final = Handler(key=KEY, min_version=0, max_version=MAX_VERSION, handle=handle)
