"""What the cluster knows: records, the immutable image built from them, and the store that keeps them.

``records`` are the values and their stored form, ``image`` folds store changes into what brokers answer
from, ``vlogs`` folds them into who has copies of which virtual segment, ``store`` is the ``MetadataStore``
interface with the backends ``memory``, ``sqlite`` and ``etcd``.
May import ``errors check clock disk config wire net``.
"""

from kproto.metadata.image import EMPTY_IMAGE, MetadataImage
from kproto.metadata.records import BrokerRecord, StreamletRecord, TopicRecord
from kproto.metadata.store import (
    ABSENT,
    Change,
    CompactedError,
    Condition,
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
