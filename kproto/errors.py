"""Kafka's error codes (those of Apache Kafka 4.3) as data: number, name, whether a retry can help, meaning.

A failed operation is a :class:`KafkaError`; handlers turn it into the code of the answer. A broken promise
of our own code is a :class:`kproto.check.InvariantError` instead, and a malformed request a
:class:`kproto.wire.WireError`. May be imported from anywhere; imports nothing of kproto.
"""

from enum import IntEnum
from typing import Final, NamedTuple


class ErrorCode(IntEnum):
    """The number an answer carries (int16 on the wire)."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129
    STREAMS_INVALID_TOPOLOGY = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131
    STREAMS_TOPOLOGY_FENCED = 132
    SHARE_SESSION_LIMIT_REACHED = 133


class ErrorInfo(NamedTuple):
    """``name`` as Kafka spells it; ``retriable``: clients try again; ``message``: for people."""

    name: str
    retriable: bool
    message: str


_RETRY = True
_FAIL = False

TABLE: dict[ErrorCode, ErrorInfo] = {
    code: ErrorInfo(code.name, retriable, message)
    for code, retriable, message in (
        (ErrorCode.UNKNOWN_SERVER_ERROR, _FAIL, "The server failed in a way it did not expect"),
        (ErrorCode.NONE, _FAIL, "No error"),
        (ErrorCode.OFFSET_OUT_OF_RANGE, _FAIL, "The offset lies outside what the log holds"),
        (ErrorCode.CORRUPT_MESSAGE, _RETRY, "The batch is damaged: its checksum, length or shape is wrong"),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _RETRY, "This server has no such topic or partition"),
        (ErrorCode.INVALID_FETCH_SIZE, _FAIL, "The fetch size is not valid"),
        (ErrorCode.LEADER_NOT_AVAILABLE, _RETRY, "The partition has no leader at the moment"),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, _RETRY, "This broker is not the leader of the partition"),
        (ErrorCode.REQUEST_TIMED_OUT, _RETRY, "The request was not finished in its time"),
        (ErrorCode.BROKER_NOT_AVAILABLE, _FAIL, "The broker is not available"),
        (ErrorCode.REPLICA_NOT_AVAILABLE, _RETRY, "The replica is not available here"),
        (ErrorCode.MESSAGE_TOO_LARGE, _FAIL, "The batch is larger than max.message.bytes"),
        (ErrorCode.STALE_CONTROLLER_EPOCH, _FAIL, "The controller has moved to another broker"),
        (ErrorCode.OFFSET_METADATA_TOO_LARGE, _FAIL, "The metadata kept beside an offset is too long"),
        (ErrorCode.NETWORK_EXCEPTION, _RETRY, "The connection broke before the answer came"),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, _RETRY, "The coordinator is still loading"),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, _RETRY, "There is no coordinator at the moment"),
        (ErrorCode.NOT_COORDINATOR, _RETRY, "This broker is not the coordinator"),
        (
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            _FAIL,
            "The topic name is not allowed, or the operation is not allowed on this topic",
        ),
        (ErrorCode.RECORD_LIST_TOO_LARGE, _FAIL, "The batch is larger than a segment"),
        (
            ErrorCode.NOT_ENOUGH_REPLICAS,
            _RETRY,
            "Fewer replicas are in sync than min.insync.replicas asks for",
        ),
        (
            ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            _RETRY,
            "The batch is stored, but on fewer replicas than min.insync.replicas asks for",
        ),
        (ErrorCode.INVALID_REQUIRED_ACKS, _FAIL, "acks must be 0, 1 or -1"),
        (ErrorCode.ILLEGAL_GENERATION, _FAIL, "The generation is not the group's current one"),
        (
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            _FAIL,
            "The member's protocols have nothing in common with those of the group",
        ),
        (ErrorCode.INVALID_GROUP_ID, _FAIL, "The group id is not valid"),
        (ErrorCode.UNKNOWN_MEMBER_ID, _FAIL, "The group does not know this member"),
        (
            ErrorCode.INVALID_SESSION_TIMEOUT,
            _FAIL,
            "The session timeout is outside the limits the broker sets",
        ),
        (ErrorCode.REBALANCE_IN_PROGRESS, _FAIL, "The group is rebalancing: join again"),
        (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, _FAIL, "The offset commit is too large"),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, _FAIL, "Not allowed to use this topic"),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, _FAIL, "Not allowed to use this group"),
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, _FAIL, "Not allowed to act on the cluster"),
        (ErrorCode.INVALID_TIMESTAMP, _FAIL, "The timestamp of a record is outside the allowed range"),
        (ErrorCode.UNSUPPORTED_SASL_MECHANISM, _FAIL, "The SASL mechanism is not offered here"),
        (
            ErrorCode.ILLEGAL_SASL_STATE,
            _FAIL,
            "The request does not fit the present state of the SASL exchange",
        ),
        (ErrorCode.UNSUPPORTED_VERSION, _FAIL, "This version of the request is not supported"),
        (ErrorCode.TOPIC_ALREADY_EXISTS, _FAIL, "A topic of this name exists"),
        (ErrorCode.INVALID_PARTITIONS, _FAIL, "The number of partitions is not valid"),
        (
            ErrorCode.INVALID_REPLICATION_FACTOR,
            _FAIL,
            "The replication factor is below 1 or above the number of live brokers",
        ),
        (ErrorCode.INVALID_REPLICA_ASSIGNMENT, _FAIL, "The replica assignment is not valid"),
        (ErrorCode.INVALID_CONFIG, _FAIL, "A configuration value or name is not valid"),
        (ErrorCode.NOT_CONTROLLER, _RETRY, "This broker is not the controller"),
        (ErrorCode.INVALID_REQUEST, _FAIL, "The request makes no sense or is not supported"),
        (
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
            _FAIL,
            "The format of the stored messages does not allow this",
        ),
        (ErrorCode.POLICY_VIOLATION, _FAIL, "A policy of the broker forbids this"),
        (
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            _FAIL,
            "The producer's sequence number does not follow the last one",
        ),
        (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, _FAIL, "The producer's sequence number was seen before"),
        (ErrorCode.INVALID_PRODUCER_EPOCH, _FAIL, "The producer's epoch is older than one already seen"),
        (ErrorCode.INVALID_TXN_STATE, _FAIL, "The transaction is in a state that does not allow this"),
        (
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            _FAIL,
            "The producer id does not belong to the transactional id",
        ),
        (
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
            _FAIL,
            "The transaction timeout is above what the broker allows",
        ),
        (ErrorCode.CONCURRENT_TRANSACTIONS, _RETRY, "Another operation of this transaction is still running"),
        (
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            _FAIL,
            "The coordinator of the transaction has been replaced",
        ),
        (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, _FAIL, "Not allowed to use this transactional id"),
        (ErrorCode.SECURITY_DISABLED, _FAIL, "Security is switched off here"),
        (ErrorCode.OPERATION_NOT_ATTEMPTED, _FAIL, "Not tried, because another part of the request failed"),
        (ErrorCode.KAFKA_STORAGE_ERROR, _RETRY, "The disk of this log has failed"),
        (ErrorCode.LOG_DIR_NOT_FOUND, _FAIL, "The log directory does not exist"),
        (ErrorCode.SASL_AUTHENTICATION_FAILED, _FAIL, "Authentication failed"),
        (ErrorCode.UNKNOWN_PRODUCER_ID, _FAIL, "The broker knows nothing of this producer id"),
        (ErrorCode.REASSIGNMENT_IN_PROGRESS, _FAIL, "The partition is being moved already"),
        (ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, _FAIL, "Delegation tokens are switched off"),
        (ErrorCode.DELEGATION_TOKEN_NOT_FOUND, _FAIL, "There is no such delegation token"),
        (
            ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH,
            _FAIL,
            "The delegation token belongs to another principal",
        ),
        (
            ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            _FAIL,
            "Delegation tokens cannot be asked for over this connection",
        ),
        (ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED, _FAIL, "Not allowed to use this delegation token"),
        (ErrorCode.DELEGATION_TOKEN_EXPIRED, _FAIL, "The delegation token has expired"),
        (ErrorCode.INVALID_PRINCIPAL_TYPE, _FAIL, "The principal type is not supported"),
        (ErrorCode.NON_EMPTY_GROUP, _FAIL, "The group still has members"),
        (ErrorCode.GROUP_ID_NOT_FOUND, _FAIL, "There is no such group"),
        (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, _RETRY, "There is no such fetch session"),
        (
            ErrorCode.INVALID_FETCH_SESSION_EPOCH,
            _RETRY,
            "The epoch of the fetch session is not the expected one",
        ),
        (
            ErrorCode.LISTENER_NOT_FOUND,
            _RETRY,
            "The leader has no listener of the name this request came through",
        ),
        (ErrorCode.TOPIC_DELETION_DISABLED, _FAIL, "Deleting topics is switched off"),
        (ErrorCode.FENCED_LEADER_EPOCH, _RETRY, "The leader epoch in the request is older than the broker's"),
        (
            ErrorCode.UNKNOWN_LEADER_EPOCH,
            _RETRY,
            "The leader epoch in the request is newer than the broker's",
        ),
        (
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            _FAIL,
            "The client does not support the batch's compression",
        ),
        (ErrorCode.STALE_BROKER_EPOCH, _FAIL, "The broker epoch is not the current one"),
        (ErrorCode.OFFSET_NOT_AVAILABLE, _RETRY, "The new leader cannot tell its high watermark yet"),
        (ErrorCode.MEMBER_ID_REQUIRED, _FAIL, "Join again with the member id in this answer"),
        (ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, _RETRY, "The preferred leader is not available"),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, _FAIL, "The group has as many members as it may"),
        (ErrorCode.FENCED_INSTANCE_ID, _FAIL, "A newer member uses the same group.instance.id"),
        (ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, _RETRY, "No replica may become leader now"),
        (ErrorCode.ELECTION_NOT_NEEDED, _RETRY, "The partition has the wanted leader already"),
        (ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, _FAIL, "No move of this partition is under way"),
        (ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, _FAIL, "The group is subscribed to the topic"),
        (ErrorCode.INVALID_RECORD, _FAIL, "The broker refused a record of the batch"),
        (
            ErrorCode.UNSTABLE_OFFSET_COMMIT,
            _RETRY,
            "Offsets of an open transaction hide the committed ones for now",
        ),
        (ErrorCode.THROTTLING_QUOTA_EXCEEDED, _RETRY, "The quota is used up"),
        (ErrorCode.PRODUCER_FENCED, _FAIL, "A newer producer uses the same transactional id"),
        (ErrorCode.RESOURCE_NOT_FOUND, _FAIL, "There is no such resource"),
        (ErrorCode.DUPLICATE_RESOURCE, _FAIL, "The request names a resource twice, or the resource exists"),
        (ErrorCode.UNACCEPTABLE_CREDENTIAL, _FAIL, "The credential does not meet the requirements"),
        (ErrorCode.INCONSISTENT_VOTER_SET, _FAIL, "The set of voters does not match"),
        (ErrorCode.INVALID_UPDATE_VERSION, _FAIL, "The feature update is not valid"),
        (ErrorCode.FEATURE_UPDATE_FAILED, _FAIL, "The feature update failed"),
        (
            ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
            _FAIL,
            "The principal of a forwarded request cannot be read",
        ),
        (ErrorCode.SNAPSHOT_NOT_FOUND, _FAIL, "There is no such snapshot"),
        (ErrorCode.POSITION_OUT_OF_RANGE, _FAIL, "The position lies outside the snapshot"),
        (ErrorCode.UNKNOWN_TOPIC_ID, _RETRY, "This server has no topic of this id"),
        (ErrorCode.DUPLICATE_BROKER_REGISTRATION, _FAIL, "A live broker uses this id already"),
        (ErrorCode.BROKER_ID_NOT_REGISTERED, _FAIL, "The broker id is not registered"),
        (ErrorCode.INCONSISTENT_TOPIC_ID, _RETRY, "The topic id does not match the one in the log"),
        (ErrorCode.INCONSISTENT_CLUSTER_ID, _FAIL, "The cluster id does not match"),
        (ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, _FAIL, "There is no such transactional id"),
        (
            ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
            _RETRY,
            "The fetch session mixes topics with and without ids",
        ),
        (ErrorCode.INELIGIBLE_REPLICA, _FAIL, "The replica may not become in-sync"),
        (ErrorCode.NEW_LEADER_ELECTED, _FAIL, "The request moved leadership to another broker"),
        (ErrorCode.OFFSET_MOVED_TO_TIERED_STORAGE, _FAIL, "The offset is in tiered storage now"),
        (
            ErrorCode.FENCED_MEMBER_EPOCH,
            _FAIL,
            "The member's epoch was fenced: give up the partitions and join again",
        ),
        (ErrorCode.UNRELEASED_INSTANCE_ID, _FAIL, "Another member still uses this group.instance.id"),
        (ErrorCode.UNSUPPORTED_ASSIGNOR, _FAIL, "The group does not offer this assignor"),
        (
            ErrorCode.STALE_MEMBER_EPOCH,
            _FAIL,
            "The member's epoch is behind: fetch the current one and try again",
        ),
        (ErrorCode.MISMATCHED_ENDPOINT_TYPE, _FAIL, "The request came to the wrong kind of endpoint"),
        (ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, _FAIL, "This kind of endpoint is not supported yet"),
        (ErrorCode.UNKNOWN_CONTROLLER_ID, _FAIL, "The controller id is not known"),
        (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, _FAIL, "The telemetry subscription is not the current one"),
        (ErrorCode.TELEMETRY_TOO_LARGE, _FAIL, "The telemetry is larger than telemetry.max.bytes"),
        (ErrorCode.INVALID_REGISTRATION, _FAIL, "The registration is not valid"),
        (ErrorCode.TRANSACTION_ABORTABLE, _FAIL, "Abort the transaction: it cannot go on"),
        (ErrorCode.INVALID_RECORD_STATE, _FAIL, "The record's delivery state does not allow this"),
        (ErrorCode.SHARE_SESSION_NOT_FOUND, _RETRY, "There is no such share session"),
        (
            ErrorCode.INVALID_SHARE_SESSION_EPOCH,
            _RETRY,
            "The epoch of the share session is not the expected one",
        ),
        (ErrorCode.FENCED_STATE_EPOCH, _FAIL, "The share state epoch is older than the broker's"),
        (ErrorCode.INVALID_VOTER_KEY, _FAIL, "The key of the voter does not match"),
        (ErrorCode.DUPLICATE_VOTER, _FAIL, "The voter is in the set already"),
        (ErrorCode.VOTER_NOT_FOUND, _FAIL, "There is no such voter"),
        (ErrorCode.INVALID_REGULAR_EXPRESSION, _FAIL, "The regular expression is not valid"),
        (ErrorCode.REBOOTSTRAP_REQUIRED, _FAIL, "Start again from the bootstrap servers"),
        (ErrorCode.STREAMS_INVALID_TOPOLOGY, _FAIL, "The topology of the streams application is not valid"),
        (ErrorCode.STREAMS_INVALID_TOPOLOGY_EPOCH, _FAIL, "The epoch of the topology is not valid"),
        (ErrorCode.STREAMS_TOPOLOGY_FENCED, _FAIL, "A newer topology has taken over"),
        (ErrorCode.SHARE_SESSION_LIMIT_REACHED, _RETRY, "The broker holds as many share sessions as it may"),
    )
}


MESSAGE_MAX: Final = 1000
"""Characters of an error message."""


class KafkaError(Exception):
    """An operation failed in a way the protocol has a code for.

    ``message`` goes into the answer where its schema has room for one; None leaves the choice to the client,
    which then shows its own text for the code. A longer one than :data:`MESSAGE_MAX` is cut: it may quote
    what a client sent, and an old version's string holds 32,767 bytes.
    """

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        if message is not None and len(message) > MESSAGE_MAX:
            message = message[:MESSAGE_MAX] + "..."
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message or TABLE[self.code].message}"
