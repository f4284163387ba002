"""What a client may do. There is no authorizer: everything, and ACLs are neither kept nor to be asked for.

The operations are the bit fields of KIP-430.
"""

from enum import IntEnum
from typing import Final

from kproto.wire import WireError


class Operation(IntEnum):
    """Numbers of AclOperation."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


def _bits(*operations: Operation) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = _bits(
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
CLUSTER_OPERATIONS: Final = _bits(
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
NOT_ASKED: Final = -(2**31)
"""What the field says when the client did not ask for it."""
NO_AUTHORIZER: Final = "No Authorizer is configured."
"""The words that Apache Kafka has for it; SECURITY_DISABLED is the code."""


def check_known(*elements: int) -> None:
    """Raise WireError when one of the enumerations of an ACL is UNKNOWN, which only answers may have."""
    if 0 in elements:
        raise WireError("an ACL with UNKNOWN elements")
