"""Kafka's wire formats: bytes to values and back, no I/O.

- ``messages``: a :class:`~kproto.wire.messages.Codec` per API key, loaded on first use; ``data``: the
  schemas Kafka puts inside other bytes (consumer protocol, group coordinator records).
- ``framing``: request headers and frames, size limits. ``batch``: the header of a record batch v2, read and
  stamped in place. ``records``: the records inside. ``compression``, ``crc``: what both need.
- ``internal``: frames between brokers; ``push``: the head of the most frequent one.
- ``generated``: one module per API, never edited, over ``primitives``. ``generator`` writes them from
  Kafka's own message definitions, which are inside the kafka-clients jar (and, for the coordinator's
  records, the kafka-group-coordinator jar)::

      python -m kproto.wire.generator kafka-clients-4.3.1.jar kafka-group-coordinator-4.3.1.jar

Rules of the generated classes: one class holds the fields of all versions; a field that a version lacks has
its default after parsing and is left out in writing; a tagged struct is None when absent; unknown tagged
fields are skipped. Whatever bytes come in, parsing raises :class:`WireError` or nothing, and never makes a
list longer than the bytes allow.

May import ``errors check clock disk config``.
"""

from kproto.wire.primitives import ZERO_UUID, WireError

__all__ = ["ZERO_UUID", "WireError"]
