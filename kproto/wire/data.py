"""Schemas that travel inside other bytes: the consumer protocol and coordinator records.

A consumer's subscription and assignment, and the keys and values of ``__consumer_offsets``, start with
their version as an int16. ``parse`` and ``write`` handle the schema alone, ``parse_versioned`` and
``write_versioned`` the version too. In a coordinator record key that int16 is the record's type: 1 offset
commit (0 in very old logs), 2 group metadata.
"""

from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kproto.wire.messages import parse_with, write_with
from kproto.wire.primitives import Buf, WireError

if TYPE_CHECKING:
    from kproto.wire.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
    from kproto.wire.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
    from kproto.wire.generated.group_metadata_key import GroupMetadataKey
    from kproto.wire.generated.group_metadata_value import GroupMetadataValue
    from kproto.wire.generated.offset_commit_key import OffsetCommitKey
    from kproto.wire.generated.offset_commit_value import OffsetCommitValue

CONSUMER_PROTOCOL = "consumer"
"""The protocol type of groups whose members say these subscriptions and assignments."""
OFFSET_COMMIT_KEY_TYPES = (0, 1)
GROUP_METADATA_KEY_TYPE = 2

_VERSION = Struct(">h")

T = TypeVar("T")


class DataCodec(Generic[T]):
    """Parse and write functions of one schema; its module is imported on first use.

    ``newest_as``: a version above the last known one is parsed as the last one (consumer protocol: later
    versions only add fields at the end).
    """

    __slots__ = ("_module", "_name", "_newest_as", "_parse", "_write", "max_version")

    def __init__(self, module: str, max_version: int, newest_as: bool = False) -> None:
        self._module = module
        self._name = module
        self._newest_as = newest_as
        self.max_version = max_version
        self._parse: dict[int, Any] | None = None
        self._write: dict[int, Any] = {}

    def _load(self) -> dict[int, Any]:
        generated = import_module(f"kproto.wire.generated.{self._module}")
        self._parse = parse = generated.PARSE
        self._write = generated.WRITE
        return parse  # type: ignore[no-any-return]

    def parse(self, version: int, buf: Buf, pos: int = 0) -> tuple[T, int]:
        """(value, position behind it); WireError for bytes or versions that are wrong."""
        if self._newest_as and version > self.max_version:
            version = self.max_version
        source = buf if type(buf) is bytes else bytes(buf)
        return parse_with(self._parse or self._load(), self._name, version, source, pos)

    def write(self, version: int, value: T, out: bytearray) -> None:
        """Append ``value`` without its version."""
        if self._parse is None:
            self._load()
        write_with(self._write, self._name, version, value, out)

    def parse_versioned(self, buf: Buf) -> tuple[int, T]:
        """(version, value) of bytes that start with the version; trailing bytes are ignored."""
        if len(buf) < 2:
            raise WireError(f"{self._name}: {len(buf)} bytes hold no version")
        version: int = _VERSION.unpack_from(buf)[0]
        return version, self.parse(version, buf, 2)[0]

    def write_versioned(self, version: int, value: T) -> bytes:
        """The bytes of ``value`` behind its version."""
        out = bytearray(_VERSION.pack(version))
        self.write(version, value, out)
        return bytes(out)


SUBSCRIPTION: "DataCodec[ConsumerProtocolSubscription]" = DataCodec(
    "consumer_protocol_subscription", 3, newest_as=True
)
ASSIGNMENT: "DataCodec[ConsumerProtocolAssignment]" = DataCodec(
    "consumer_protocol_assignment", 3, newest_as=True
)
OFFSET_COMMIT_KEY: "DataCodec[OffsetCommitKey]" = DataCodec("offset_commit_key", 0)
OFFSET_COMMIT_VALUE: "DataCodec[OffsetCommitValue]" = DataCodec("offset_commit_value", 4)
GROUP_METADATA_KEY: "DataCodec[GroupMetadataKey]" = DataCodec("group_metadata_key", 0)
GROUP_METADATA_VALUE: "DataCodec[GroupMetadataValue]" = DataCodec("group_metadata_value", 4)
