"""ACLs, where there is no authorizer: what is asked for is refused by the code by which tools know it."""

from __future__ import annotations

import pytest

from kproto.errors import ErrorCode
from kproto.wire.generated.create_acls import AclCreation, CreateAclsRequest
from kproto.wire.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kproto.wire.generated.describe_acls import DescribeAclsRequest

VERSIONS = [1, 2, 3]
EVERYTHING = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
READ = {
    "resource_type": 2,
    "resource_name": "t",
    "principal": "User:x",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}


@pytest.mark.parametrize("version", VERSIONS)
def test_security_is_disabled(kafka, version: int) -> None:
    described = kafka.call(29, version, DescribeAclsRequest(**EVERYTHING))
    assert (described.error_code, described.resources) == (ErrorCode.SECURITY_DISABLED, [])
    made = kafka.call(30, version, CreateAclsRequest(creations=[AclCreation(**READ)] * 2))
    assert [each.error_code for each in made.results] == [ErrorCode.SECURITY_DISABLED] * 2
    gone = kafka.call(31, version, DeleteAclsRequest(filters=[DeleteAclsFilter(**EVERYTHING)] * 2))
    assert [(each.error_code, each.matching_acls) for each in gone.filter_results] == [
        (ErrorCode.SECURITY_DISABLED, [])
    ] * 2


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("key", [29, 30, 31])
def test_unknown_elements_end_the_connection(kafka, key: int, version: int) -> None:
    odd, odd_filter = AclCreation(**READ | {"operation": 0}), EVERYTHING | {"operation": 0}
    request = {
        29: DescribeAclsRequest(**odd_filter),
        30: CreateAclsRequest(creations=[AclCreation(**READ), odd]),
        31: DeleteAclsRequest(filters=[DeleteAclsFilter(**EVERYTHING), DeleteAclsFilter(**odd_filter)]),
    }[key]
    with pytest.raises(ConnectionError):
        kafka.call(key, version, request)
