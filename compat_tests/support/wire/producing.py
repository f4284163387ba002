"""Conversations about Produce: what is stored, and how everything else is refused."""

from __future__ import annotations

import struct
from typing import Any

from compat_tests.support.frames import batch, old_message, record
from compat_tests.support.wire.build import T0, fetch, list_offsets, produce
from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.talk import NO_ID, RAW_S, Talk
from kproto.wire.compression import compress
from kproto.wire.generated.init_producer_id import InitProducerIdRequest
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Producer, Record, build_batch

PRODUCE, INIT_PRODUCER_ID = 0, 22
STAMP = (T0, T0)
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
DAY_MS = 86_400_000


def good(size: int = 1, **fields: object) -> bytes:
    """A batch of ``size`` records with fixed times."""
    return batch([b"value"] * size, **{"times_ms": STAMP, **fields})  # type: ignore[arg-type]


def squeezed(codec: int) -> bytes:
    """Two records compressed."""
    body = bytes(compress(codec, record(0, b"v" * 100) + record(1, b"v" * 100)))
    return good(2, attributes=codec, records=body)


def with_base(data: bytes, base: int) -> bytes:
    return struct.pack(">q", base) + data[8:]


def storing(talk: Talk) -> None:
    """What is right, in every version."""
    name = talk.make("right", 3)
    for version in range(3, 14):
        produce(talk, "one", name, good(), version=version)
        produce(talk, "three partitions", name, good(2), good(1), good(3), version=version)
        produce(talk, "acks 1", name, good(), version=version, acks=1)
        produce(talk, "empty transactional id", name, good(), version=version, transactional_id="")
        produce(talk, "partition unknown", name, good(), version=version, partition=9)
        produce(talk, "good, bad and unknown", name, good(), good(crc=1), good(), good(), version=version)
        produce(talk, "no partitions", name, version=version)
        for codec, number in CODECS.items():
            produce(talk, codec, name, squeezed(number), version=version)
        for acks in (2, -2, 32767):
            produce(talk, f"acks {acks}", name, good(), version=version, acks=acks)
        unknown = NO_ID if version >= 13 else talk.name("unknown")
        produce(talk, "topic unknown", unknown, good(), version=version)
        produce(talk, "topic id zero", bytes(16), good(), version=version)
        if version < 13:
            produce(talk, "bad name", "a b", good(), version=version)
            produce(talk, "no name", "", good(), version=version)
        talk(PRODUCE, version, ProduceRequest(acks=-1, timeout_ms=1000), "no topics")
    fetch(talk, "what was stored", (name, 0, 0), (name, 1, 0), (name, 2, 0))
    _odd(talk)


def _odd(talk: Talk) -> None:
    """A partition twice in a request, a topic twice in a request, no records at all."""
    name = talk.make("odd")
    parts = [PartitionProduceData(index=0, records=memoryview(good())) for _ in range(2)]
    one = TopicProduceData(name=name, partition_data=parts)
    talk(PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[one]), "partition twice")
    two = [TopicProduceData(name=name, partition_data=[part]) for part in parts]
    talk(PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=two), "topic twice")
    talk.client.socket.settimeout(RAW_S)
    produce(talk, "null records", name, None, version=9)
    talk.fresh()


def refusing(talk: Talk) -> None:
    """Batches that are not right, with the full look that Kafka always takes."""
    name = talk.make("refusing", own={"kproto.validate.records": "true"})
    whole = good(3)
    cases: dict[str, bytes] = {
        "crc": good(crc=1),
        "empty records": b"",
        "one byte": b"\0",
        "header cut": whole[:40],
        "header only": whole[:61],
        "cut by one": whole[:-1],
        "two batches": whole + whole,
        "length too large": good(3, length=100_000),
        "length 13": good(3, length=13),
        "length 0": good(3, length=0),
        "length -1": good(3, length=-1),
        "count 0": good(3, count=0),
        "count -1": good(3, count=-1),
        "count 2 of 3": good(3, count=2),
        "count 4 of 3": good(3, count=4),
        "count 2, delta 1, 3 records": good(3, count=2, last_delta=1),
        "count 4, delta 3, 3 records": good(3, count=4, last_delta=3),
        "delta -1": good(3, last_delta=-1),
        "delta 5": good(3, last_delta=5),
        "no records": batch([], times_ms=STAMP),
        "no records, count 1": batch([], times_ms=STAMP, count=1, last_delta=0),
        "rubbish records": good(1, records=b"\xff" * 30),
        "base offset 5": with_base(whole, 5),
        "base offset -1": with_base(whole, -1),
        "control": good(1, attributes=0x20),
        "control, transactional": good(1, attributes=0x30, producer=(1, 0, 0)),
        "transactional": good(1, attributes=0x10, producer=(1, 0, 0)),
        "transactional without producer": good(1, attributes=0x10),
        "codec 5": good(1, attributes=5),
        "codec 7": good(1, attributes=7),
        "gzip rubbish": good(1, attributes=1),
        "zstd rubbish": good(1, attributes=4),
        "too large": good(1, records=record(0, b"x" * 1_048_588)),
        "largest": good(1, records=record(0, b"x" * (1_048_588 - 61 - 12))),
        "no times": good(1, times_ms=(-1, -1)),
        "1970": good(1, times_ms=(0, 0)),
    }
    for magic in (0, 1):
        cases[f"magic {magic}"] = old_message(b"old", magic)
    for magic in (3, 127, -1):
        cases[f"magic {magic}"] = good(1, magic=magic)
    for version in (3, 8, 12):
        for label, data in cases.items():
            produce(talk, label, name, data, version=version)
    list_offsets(talk, "after", name, -1, -2, -3)
    fetch(talk, "what was stored", (name, 0, 0, 1 << 23))
    _too_small(talk)


def lying(talk: Talk) -> None:
    """Headers that say something else than their records, bits nobody may set."""
    whole = good(3)
    cases = {
        "one byte more": whole + b"\0",
        "seventeen bytes more": whole + bytes(17),
        "length 49 of more": good(3, length=49),
        "length max": good(3, length=2**31 - 1),
        "log append time": good(1, attributes=0x08),
        "delete horizon": good(1, attributes=0x40),
        "reserved bit": good(1, attributes=0x80),
        "reserved high bit": good(1, attributes=0x4000),
        "negative times": good(1, times_ms=(-5, -5)),
        "first above max": good(1, times_ms=(T0 + 5, T0)),
        "max above the last": good(1, times_ms=(T0, T0 + 5)),
        "epoch -1": good(1, producer=(904, -1, 0)),
        "negative id": good(1, producer=(-2, 0, 0)),
    }
    for place, (label, data) in enumerate(cases.items()):
        name = talk.make(f"lying{place}")
        produce(talk, label, name, data, version=9)
        fetch(talk, label, (name, 0, 0))


def _too_small(talk: Talk) -> None:
    name = talk.make("small", 1, {"max.message.bytes": "200"})
    produce(talk, "above the topic's limit", name, good(40))
    produce(talk, "at the topic's limit", name, batch([b"x" * (200 - 61 - 9)], times_ms=STAMP))
    produce(talk, "above by one", name, batch([b"x" * (200 - 61 - 7)], times_ms=STAMP))


def compacted(talk: Talk) -> None:
    """Topics that are compacted take no record without a key."""

    def of(*keys: bytes | None, codec: int = 0, **batch: Any) -> bytes:
        records = [Record(key, b"v", timestamp=T0) for key in keys]
        return bytes(build_batch(records, codec=codec, **batch))

    damaged = bytearray(of(None))
    damaged[-1] ^= 1
    cases: dict[str, bytes] = {
        "with keys": of(b"k", b""),
        "without": of(None, None),
        "mixed": of(b"k", None, b"", None),
        "without, compressed": of(None, codec=1),
        "without, damaged": bytes(damaged),
        "two batches": of(None) + of(None),
        "without, of a producer": of(None, producer=Producer(906, 0, 5)),
        "with keys, of a producer": of(b"k", producer=Producer(907, 0, 0)),
    }
    for policy in ("compact", "compact,delete"):
        name = talk.make(policy.replace(",", "-"), 1, {"cleanup.policy": policy})
        for version in (3, 7, 8, 12, 13):
            for label, data in cases.items():
                produce(talk, label, name, data, version=version)
        produce(talk, "above the limit", name, of(None, *[b"k" * 1000] * 1100))
        fetch(talk, "what was stored", (name, 0, 0))


def timing(talk: Talk) -> None:
    """Timestamps, of the producer and of the broker."""
    now = talk.now
    name = talk.make(
        "create-time",
        1,
        {"message.timestamp.before.max.ms": "60000", "message.timestamp.after.max.ms": "60000"},
    )
    late = talk.make("append-time", 1, {"message.timestamp.type": "LogAppendTime"})
    cases = {
        "now": (now, now),
        "too old": (now - DAY_MS, now - DAY_MS),
        "too new": (now + DAY_MS, now + DAY_MS),
        "no time": (-1, -1),
    }
    for label, times in cases.items():
        for version in (7, 12):
            produce(talk, label, name, batch([b"v"], times_ms=times), version=version)
            produce(talk, f"{label}, append time", late, batch([b"v"], times_ms=times), version=version)
    produce(talk, "append time bit", late, good(1, attributes=0x08))
    produce(talk, "append time compressed", late, squeezed(1))
    fetch(talk, "times", (late, 0, 0), (name, 0, 0))
    list_offsets(talk, "append times", late, -1, -2, T0, 1, 10**14)
    single = talk.make("one-append", 1, {"message.timestamp.type": "LogAppendTime"})
    produce(talk, "three at once", single, good(3))
    list_offsets(talk, "one append", single, -3, T0, 10**14)
    several = talk.make("several-times")
    body = b"".join(record(place, b"v", delta) for place, delta in enumerate((0, 7, 3, 7)))
    produce(talk, "four times", several, good(4, records=body, times_ms=(T0, T0 + 7)))
    list_offsets(talk, "four times", several, -3, T0, T0 + 1, T0 + 4, T0 + 7, T0 + 8)
    plain = talk.make("default-time")
    for label, ahead in {"an hour ahead": 3_590_000, "more than an hour ahead": 3_660_000}.items():
        produce(talk, label, plain, batch([b"v"], times_ms=(now + ahead, now + ahead)))


def numbering(talk: Talk) -> None:
    """Idempotent producers."""
    for version in range(6):
        one = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        talk.until(INIT_PRODUCER_ID, version, one, "new", lambda answer: answer.error_code == 0)
        cases: dict[str, dict[str, Any]] = {
            "empty transactional id": {"transactional_id": ""},
            "timeout 0": {"transaction_timeout_ms": 0},
            "timeout -1": {"transaction_timeout_ms": -1},
        }
        for label, fields in cases.items():
            request = InitProducerIdRequest(
                **{"transactional_id": None, "transaction_timeout_ms": 1000, **fields}
            )
            talk(INIT_PRODUCER_ID, version, request, label)
        if version >= 3:
            for pid, epoch in ((5, 3), (5, -1), (-1, 3), (5, 32767), (-2, -2)):
                request = InitProducerIdRequest(
                    transactional_id=None, transaction_timeout_ms=1000, producer_id=pid, producer_epoch=epoch
                )
                talk(INIT_PRODUCER_ID, version, request, f"again {pid} {epoch}")
    name = talk.make("numbered", 4)
    steps: list[tuple[str, int, int, int, int]] = [
        ("first", 3, 900, 0, 0),
        ("next", 2, 900, 0, 3),
        ("repeated", 2, 900, 0, 3),
        ("older repeated", 3, 900, 0, 0),
        ("gap", 1, 900, 0, 6),
        ("behind", 1, 900, 0, 4),
        ("overlapping", 3, 900, 0, 3),
        ("negative sequence", 1, 900, 0, -1),
        ("no sequence, no epoch", 1, 900, -1, -1),
        ("no id, but epoch", 1, -1, 0, 0),
        ("new epoch not at 0", 1, 900, 1, 5),
        ("new epoch", 1, 900, 1, 0),
        ("old epoch", 1, 900, 0, 5),
        ("old epoch repeated", 3, 900, 0, 0),
        ("epoch skipped", 1, 900, 7, 0),
        ("unknown producer at 5", 1, 901, 0, 5),
        ("and next", 1, 901, 0, 6),
        ("near the wrap", 2, 902, 0, 2**31 - 3),
        ("over the wrap", 3, 902, 0, 2**31 - 1),
        ("behind the wrap", 1, 902, 0, 2),
        ("wrap repeated", 3, 902, 0, 2**31 - 1),
        ("largest epoch", 1, 903, 32767, 0),
        ("id 0", 1, 0, 0, 0),
    ]
    for version in (3, 8, 12):
        partition = {3: 0, 8: 1, 12: 2}[version]
        for label, size, pid, epoch, sequence in steps:
            data = good(size, producer=(pid, epoch, sequence))
            produce(talk, f"{label}", name, data, version=version, partition=partition)
    for sequence in range(7):
        produce(talk, f"window {sequence}", name, good(1, producer=(905, 0, sequence)), partition=3)
    for sequence in range(7):
        produce(talk, f"window again {sequence}", name, good(1, producer=(905, 0, sequence)), partition=3)
    mixed = good(1, producer=(905, 0, 7))
    produce(talk, "good and repeated", name, good(1, producer=(900, 7, 1)), mixed, partition=2)
    produce(talk, "larger than repeated", name, good(2, producer=(905, 0, 7)), partition=3)
    list_offsets(talk, "end", name, -1)


def internal(talk: Talk) -> None:
    """Topics that belong to the broker; transactional ids."""
    talk.internal()
    name = talk.make("mine")
    for version in (3, 9, 12):
        produce(talk, "to an internal topic", "__consumer_offsets", good(), version=version)
        produce(talk, "with transactional id", name, good(), version=version, transactional_id="t")
        produce(
            talk,
            "transactional",
            name,
            good(1, attributes=0x10, producer=(1, 0, 0)),
            version=version,
            transactional_id="t",
        )


NO_TRANSACTIONS = "until there are transactions every transactional producer gets the same fatal error"
LOG_START = Allowed(
    "log_start_offset: kafka 0, kproto -1",
    "Kafka tells the log start with some INVALID_RECORD; nobody looks at it there",
)
STORING = (
    Allowed(
        "(partition|topic) twice ",
        "Kafka stores the last one only and forgets the others; we store and answer all",
    ),
    Allowed("null records : kafka 'no answer'", "Kafka fails and never answers"),
)
REFUSING = (
    LOG_START,
    Allowed(
        "(rubbish records|codec [57]|gzip rubbish|zstd rubbish) .*error_code: kafka -1, kproto 87",
        "Kafka fails inside",
    ),
)
LYING = (
    Allowed("(one byte|seventeen bytes) more ", "a partition's bytes must be one batch and nothing else"),
    Allowed(
        "length (49|max).* .*error_code: kafka (2|-1), kproto 87", "the same finding, called a bad batch"
    ),
    Allowed(
        "(log append time|delete horizon|reserved bit|reserved high bit) ", "bits producers must not set"
    ),
    Allowed(
        "(negative times|first above max|max above the last) ",
        "Kafka reads all records and corrects the header; we never unpack them, and refuse headers that "
        "contradict themselves (kproto.validate.records refuses the rest)",
    ),
    Allowed("(epoch -1|negative id) ", "producer fields that contradict each other are refused"),
)
TIMING = (
    Allowed(
        r"\.record_errors", "which record is wrong is not known without unpacking; the batch fails as a whole"
    ),
)
INTERNAL = (Allowed("with transactional id ", NO_TRANSACTIONS), Allowed("transactional ", NO_TRANSACTIONS))
CONVERSATIONS = (
    Conversation("storing", storing, STORING),
    Conversation("refusing", refusing, REFUSING),
    Conversation("lying", lying, LYING),
    Conversation("compacted", compacted),
    Conversation("timing", timing, TIMING),
    Conversation("numbering", numbering, (LOG_START,)),
    Conversation("internal", internal, INTERNAL),
)
