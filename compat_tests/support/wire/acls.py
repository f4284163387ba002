"""Conversations about access control, where there is none: neither side has an authorizer."""

from __future__ import annotations

from compat_tests.support.wire.compare import Conversation
from compat_tests.support.wire.talk import Talk
from kproto.wire.generated.create_acls import AclCreation, CreateAclsRequest
from kproto.wire.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kproto.wire.generated.describe_acls import DescribeAclsRequest

DESCRIBE, CREATE, DELETE = 29, 30, 31
UNKNOWN, ANY, TOPIC, LITERAL, PREFIXED, READ, ALLOW = 0, 1, 2, 3, 4, 3, 3
FILTERS: dict[str, tuple[int, str | None, int, str | None, str | None, int, int]] = {
    "all": (ANY, None, ANY, None, None, ANY, ANY),
    "one": (TOPIC, "t", LITERAL, "User:x", "*", READ, ALLOW),
    "no names": (TOPIC, "", LITERAL, "", "", READ, ALLOW),
    "unknown resource type": (UNKNOWN, None, ANY, None, None, ANY, ANY),
    "unknown pattern type": (ANY, None, UNKNOWN, None, None, ANY, ANY),
    "unknown operation": (ANY, None, ANY, None, None, UNKNOWN, ANY),
    "unknown permission": (ANY, None, ANY, None, None, ANY, UNKNOWN),
    "resource type that is none": (99, None, ANY, None, None, ANY, ANY),
    "pattern type that is none": (ANY, None, 99, None, None, ANY, ANY),
    "operation that is none": (ANY, None, ANY, None, None, 99, ANY),
    "permission that is none": (ANY, None, ANY, None, None, ANY, -1),
}
CREATIONS = {
    "one": (TOPIC, "t", LITERAL, "User:x", "*", READ, ALLOW),
    "a prefix": (TOPIC, "t", PREFIXED, "User:x", "*", READ, ALLOW),
    "no names": (TOPIC, "", LITERAL, "", "", READ, ALLOW),
    "any resource type": (ANY, "t", LITERAL, "User:x", "*", READ, ALLOW),
    "any pattern": (TOPIC, "t", ANY, "User:x", "*", READ, ALLOW),
    "any operation": (TOPIC, "t", LITERAL, "User:x", "*", ANY, ALLOW),
    "bad principal": (TOPIC, "t", LITERAL, "x", "*", READ, ALLOW),
    "unknown resource type": (UNKNOWN, "t", LITERAL, "User:x", "*", READ, ALLOW),
    "unknown pattern type": (TOPIC, "t", UNKNOWN, "User:x", "*", READ, ALLOW),
    "unknown operation": (TOPIC, "t", LITERAL, "User:x", "*", UNKNOWN, ALLOW),
    "unknown permission": (TOPIC, "t", LITERAL, "User:x", "*", READ, UNKNOWN),
    "permission that is none": (TOPIC, "t", LITERAL, "User:x", "*", READ, 77),
}


def describing(talk: Talk) -> None:
    """DescribeAcls."""
    for label, fields in FILTERS.items():
        talk.versions(DESCRIBE, lambda _, fields=fields: DescribeAclsRequest(*fields), label)


def changing(talk: Talk) -> None:
    """CreateAcls and DeleteAcls."""
    for label, given in CREATIONS.items():
        talk.versions(
            CREATE, lambda _, given=given: CreateAclsRequest(creations=[AclCreation(*given)]), label
        )
    for label, fields in FILTERS.items():
        talk.versions(
            DELETE, lambda _, fields=fields: DeleteAclsRequest(filters=[DeleteAclsFilter(*fields)]), label
        )
    good = [AclCreation(*CREATIONS[name]) for name in ("one", "a prefix", "one")]
    talk.versions(CREATE, lambda _: CreateAclsRequest(creations=good), "three")
    talk.versions(CREATE, lambda _: CreateAclsRequest(creations=[]), "none")
    bad = [*good, AclCreation(*CREATIONS["unknown operation"])]
    talk.versions(CREATE, lambda _: CreateAclsRequest(creations=bad), "three and an unknown operation")
    filters = [DeleteAclsFilter(*FILTERS[name]) for name in ("all", "one", "all")]
    talk.versions(DELETE, lambda _: DeleteAclsRequest(filters=filters), "three")
    talk.versions(DELETE, lambda _: DeleteAclsRequest(filters=[]), "none")


CONVERSATIONS = (Conversation("describing-acls", describing), Conversation("changing-acls", changing))
