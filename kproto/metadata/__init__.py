"""What the cluster knows: records, the immutable image built from them, and the store that keeps them.

``records`` are the values and their stored form, ``image`` folds store changes into what brokers answer
from, ``vlogs`` folds them into who has copies of which virtual segment, ``store`` is the ``MetadataStore``
interface with the backends ``memory``, ``sqlite`` (``reserve``: room on a full disk) and ``etcd`` with its
parts ``etcd_*``; ``opening`` chooses one, ``history`` tells whether it lost its end. ``client`` is a broker
without the controller, ``exchange`` what it says to the one that has it; ``presence`` who else is there,
``suspects`` what clients are shown of that, ``roll_call`` how it is asked.
May import ``errors check clock trouble disk config wire net``.
"""

from kproto.metadata.image import EMPTY_IMAGE, MetadataImage
from kproto.metadata.records import BrokerRecord, StreamletRecord, TopicRecord
from kproto.metadata.store import (
    ABSENT,
    Change,
    CompactedError,
    Condition,
    EmptyStoreError,
    Entry,
    MetadataStore,
    StoreError,
    Transacted,
)
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord

__all__ = [
    "ABSENT",
    "EMPTY_IMAGE",
    "BrokerRecord",
    "Change",
    "CompactedError",
    "Condition",
    "CopyTarget",
    "EmptyStoreError",
    "Entry",
    "MetadataImage",
    "MetadataStore",
    "StoreError",
    "StreamletRecord",
    "TopicRecord",
    "Transacted",
    "VlogTable",
    "VsegId",
    "VsegRecord",
]
