"""Conversations about the protocol itself: which APIs there are, versions, coordinators."""

from __future__ import annotations

import struct
from typing import Any

from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.talk import Talk
from kproto.handlers.registry import APIS
from kproto.wire.framing import request_frame
from kproto.wire.generated.api_versions import ApiVersionsRequest
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest

NOT_BUILT = frozenset(
    (
        *(17, 36),  # SASL
        *(24, 25, 26, 27, 28, 61, 65, 66),  # transactions
        *(38, 39, 40, 41, 48, 49, 50, 51),  # tokens, quotas, SCRAM users
        *(55, 57, 80, 81),  # the quorum, features
        *(68, 69, 76, 77, 78, 79, *range(83, 93)),  # the newer kinds of groups
        74,  # ListConfigResources
    )
)
"""What Apache Kafka advertises and kproto has not."""
API_VERSIONS, FIND_COORDINATOR = 18, 10


def versions(talk: Talk) -> None:
    """ApiVersions, and requests in versions that do not exist."""
    for version in range(5):
        for label, fields in {
            "as clients do": {"client_software_name": "kproto-test", "client_software_version": "1.0"},
            "no name": {"client_software_name": "", "client_software_version": "1"},
            "bad name": {"client_software_name": "a b!", "client_software_version": "1"},
            "bad version": {"client_software_name": "a", "client_software_version": "-"},
        }.items():
            answer = talk.quietly(
                API_VERSIONS, version, ApiVersionsRequest(**(fields if version >= 3 else {}))
            )
            if not isinstance(answer, str):
                answer.finalized_features_epoch = min(answer.finalized_features_epoch, 0)
                keys = {each.api_key for each in answer.api_keys}
                answer.api_keys = [each for each in answer.api_keys if each.api_key not in NOT_BUILT]
                if answer.error_code == 0:
                    talk.note("not built", sorted(NOT_BUILT if talk.ours else keys - APIS.keys()))
                    talk.note("not built, but advertised", sorted(keys & NOT_BUILT) if talk.ours else [])
            talk.note(f"ApiVersions v{version} {label}", answer)
    for version in (5, 6, 99, 32767, -1):
        head = struct.pack(">hhih", API_VERSIONS, version, 7, -1) + b"\0\2a\2b\0"
        talk.raw(f"ApiVersions v{version}", struct.pack(">i", len(head)) + head)
    for key, api in APIS.items():
        for version in (api.min_version - 1, api.max_version + 1):
            if key != API_VERSIONS and version >= 0:
                head = struct.pack(">hhih", key, version, 7, -1) + bytes(64)
                talk.raw(f"key {key} v{version}", struct.pack(">i", len(head)) + head)
    for key in (-1, 4, 5, 6, 7, 52, 58, 1000):
        head = struct.pack(">hhih", key, 0, 7, -1) + bytes(64)
        talk.raw(f"key {key} v0", struct.pack(">i", len(head)) + head)
    whole = request_frame(API_VERSIONS, 2, ApiVersionsRequest(), 7)
    talk.raw("bytes behind the request", struct.pack(">i", len(whole) - 4 + 3) + whole[4:] + b"abc")
    talk.raw("short frame", struct.pack(">ih", 2, 18))
    talk.raw("empty frame", struct.pack(">i", 0))
    talk.raw("negative frame", struct.pack(">i", -1))
    talk.raw("huge frame", struct.pack(">i", 2**31 - 1) + bytes(100))


def coordinators(talk: Talk) -> None:
    """FindCoordinator."""
    for version in range(7):
        for kind in (0, 1, 2, 3, -1) if version else (0,):
            for key in (talk.name("group"), ""):
                if version < 4:
                    request = FindCoordinatorRequest(key=key, key_type=kind)
                else:
                    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                label = f"type {kind} of {key.removeprefix(talk.mark)!r}"
                talk.until(FIND_COORDINATOR, version, request, label, _found)
        if version >= 4:
            keys = [talk.name("g"), "", talk.name("h"), talk.name("g")]
            request = FindCoordinatorRequest(key_type=0, coordinator_keys=keys)
            talk(FIND_COORDINATOR, version, request, "several")
            talk(FIND_COORDINATOR, version, FindCoordinatorRequest(key_type=0), "none")


def _found(answer: Any) -> bool:
    """Whether the answer does not say "ask again"."""
    codes = [one.error_code for one in answer.coordinators] or [answer.error_code]
    return 15 not in codes


VERSIONS = (
    Allowed(
        r"(supported|finalized)_features",
        "feature levels belong to Kafka's cluster upgrades; kproto has none",
    ),
)
COORDINATORS = (
    Allowed("type 1 of ", "until there are transactions nobody coordinates them"),
    Allowed(
        "error_message: kafka ('<text>'|''), kproto None",
        "Kafka's message for success is NONE or empty, ours null",
    ),
)
CONVERSATIONS = (
    Conversation("versions", versions, VERSIONS),
    Conversation("coordinators", coordinators, COORDINATORS),
)
