"""The records of the metadata store: typed values, their keys and their stored form.

Keys and values are text and bytes that any of the stores can keep::

    format                            "1", the version of everything below
    cluster                           the cluster id, as Kafka prints it
    epochs/broker                     the newest broker epoch given out
    epochs/controller                 the acting controller's
    terms/<controller epoch>          a random mark, written when its term began (``history``)
    producers/next                    first producer id not given out yet
    brokers/<node id>                 [epoch, host, port, rack, internal host, internal port, store id]
    fenced/<node id>                  the same, of a broker that is no live member any more (rule 19)
    moved/<node id>                   newest owner epoch whose streamlets were given to others
    moved-from/<node id>/<copies>     the same, where only those were given that never had fewer copies
    .../<copies>/<policy>             ... nor a weaker flush policy (left out when it is 0)
    .../<policy>/<E>                  ... from that owner epoch on (left out when it is 0)
    given/<E>/<vlog>                  newest virtual segment of what its live owner gave away (``vlogs``)
    power-lost/<node id>              newest owner epoch before its machine last lost power
    moves/<topic id>/<index>          a planned move of a streamlet (see ``vlogs``; rule 12b)
    configs/<node id, or default>     {name: value}, dynamic broker configs
    topics/<name>                     [topic id, partitions, R, Q, {name: value}, internal, fewest copies,
                                      weakest flush policy]
    streamlets/<topic id>/<index>     [leader, leader epoch, [replica, ...], state, [source, ...],
                                      [given, ...], [before, ...], [was, ...]], three of owner epochs,
                                      the last one of replicas
    vsegs/<E>/<vlog>/<seq>            a virtual segment (see ``vlogs``)
    starts/<topic id>/<index>         log start offset of a partition with more than one copy (rule 44)

The fields of a streamlet from its state on are left out while it has only one copy, nobody led it before
who could be asked, and no reassignment is under way; the last three also when they are empty. Of a topic the
weakest policy is left out when it is 0, as in records of older versions, and then the fewest copies, too,
when they are R. Values are compact JSON. Topic ids are 32 hex digits in keys and values, 16 raw bytes in
memory; streamlet indexes have 8 hex digits, so that a range comes in order.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any, Final, NamedTuple

from kproto.check import check
from kproto.metadata.store import StoreError

FORMAT: Final = b"1"
FORMAT_KEY: Final = "format"
CLUSTER_KEY: Final = "cluster"
BROKER_EPOCH_KEY: Final = "epochs/broker"
NEXT_PRODUCER_KEY: Final = "producers/next"
BROKERS: Final = "brokers/"
CONFIGS: Final = "configs/"
TOPICS: Final = "topics/"
STREAMLETS: Final = "streamlets/"
FENCED: Final = "fenced/"
MOVED: Final = "moved/"
MOVED_FROM: Final = "moved-from/"
GIVEN: Final = "given/"
MOVES: Final = "moves/"
POWER_LOST: Final = "power-lost/"
TERMS: Final = "terms/"
DEFAULT_BROKER: Final = "default"
"""In place of a node id: the dynamic configs of every broker."""

TOPIC_ID_DIGITS: Final = 32
NO_LEADER: Final = -1

RESTORE: Final = "restore the metadata from a backup"
"""What to do when it is damaged."""

_DECODER: Final = json.JSONDecoder()
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False)
"""Made once: ``json.dumps`` makes a new one for each call with options."""

ONLINE: Final = 0
"""The leader of a streamlet serves it."""
TRANSIT_COPIES: Final = 2
"""Copies that new records of a topic with a single one get at least while they are to get somewhere else."""
RECOVERING: Final = 1
"""Its leader is rebuilding it from the copies of the owners before; nothing is served (rule 27)."""


class BrokerRecord(NamedTuple):
    """A registered broker. ``epoch`` is new at every registration (rules 1 and 2).

    The internal address is where other brokers reach it (no host: it is alone); ``store_id`` names its data
    directory (rule 3).
    """

    node_id: int
    epoch: int
    host: str
    port: int
    rack: str | None
    internal_host: str = ""
    internal_port: int = 0
    store_id: str = ""

    @property
    def key(self) -> str:
        return f"{BROKERS}{self.node_id}"

    @property
    def fenced_key(self) -> str:
        """Where the record stays when the broker is no live member any more."""
        return f"{FENCED}{self.node_id}"

    def encode(self) -> bytes:
        return compact(self[1:])

    @classmethod
    def decode(cls, key: str, value: bytes) -> BrokerRecord:
        """The record under ``brokers/`` or ``fenced/``; records of older versions are shorter."""
        return cls(int(key.rpartition("/")[2]), *parse_value(value))


class Floor(NamedTuple):
    """What a virtual segment has at least that may hold anything of a topic (rule 12c)."""

    copies: int
    policy: int
    """A flush policy (``vlog.classes.FlushPolicy``): a greater number syncs more."""


ANYWHERE: Final = Floor(0, 0)
"""Any virtual segment may hold it."""


def weaker(before: int, now: int) -> int:
    """The weakest flush policy that a topic ever had. It never becomes stronger: what was written before is
    still there (rule 12c)."""
    return min(before, now)


class TopicRecord(NamedTuple):
    """A topic (a stream, in KerA's words).

    ``partitions`` is at least 1; ``active_groups`` (Q) never changes; ``configs`` are the overrides as the
    client wrote them. Partition p belongs to streamlet ``p // active_groups``. How many copies a streamlet
    has says its own record; ``replication_factor`` is the number of the first one, and what new ones get.
    ``fewest``: `fewest_copies`; ``weakest``: the weakest flush policy that its own configs ever allowed,
    whatever those of brokers say.
    """

    name: str
    topic_id: bytes
    partitions: int
    replication_factor: int
    active_groups: int
    configs: Mapping[str, str]
    internal: bool
    fewest: int = 0
    weakest: int = 0

    @property
    def key(self) -> str:
        return topic_key(self.name)

    @property
    def fewest_copies(self) -> int:
        """No virtual segment with fewer copies than this can hold anything of it (rule 12c): the least number
        above 1 that any of its streamlets ever had."""
        return self.fewest or self.replication_factor

    @property
    def floor(self) -> Floor:
        """No virtual segment below this can hold anything of it."""
        return Floor(self.fewest_copies, self.weakest)

    def with_configs(self, configs: Mapping[str, str], policy: int) -> TopicRecord:
        """The record with other overrides; ``policy``: the weakest flush policy that they allow."""
        return self._replace(configs=configs, weakest=weaker(self.weakest, policy))

    def with_copies(self, streamlet: int, copies: int) -> TopicRecord:
        """The record when a streamlet gets another number of copies. One with a single copy may have had
        something in virtual segments on its way (see `copies_of`)."""
        before = max(TRANSIT_COPIES, self.fewest_copies)
        fewest = before if copies == 1 else min(copies, before)
        factor = copies if streamlet == 0 else self.replication_factor
        usual = TRANSIT_COPIES if factor == 1 else factor
        return self._replace(replication_factor=factor, fewest=fewest if fewest != usual else 0)

    def copies_of(self, record: StreamletRecord) -> int:
        """How many copies new records of one of its streamlets get: as many as it has replicas.

        With a single one they get more while the streamlet is on its way: as long as recoveries read it from
        virtual segments, or its leader, who has the only copy, is no replica any more.
        """
        if len(record.replicas) > 1:
            return len(record.replicas)
        led = record.leader in record.replicas or record.leader == NO_LEADER
        return 1 if led and not record.sources else max(TRANSIT_COPIES, self.fewest_copies)

    def is_copying(self, record: StreamletRecord) -> bool:
        """One of its streamlets is to have more copies than its leader's, which is the only one yet."""
        return not record.sources and self.copies_of(record) > 1

    @property
    def streamlets(self) -> int:
        """Number of streamlets; the last one may be partial."""
        return -(-self.partitions // self.active_groups)

    def partitions_of(self, streamlet: int) -> range:
        """The partitions of the streamlet with that index."""
        first = streamlet * self.active_groups
        return range(first, min(first + self.active_groups, self.partitions))

    def encode(self) -> bytes:
        fields: list[object] = [
            self.topic_id.hex(),
            self.partitions,
            self.replication_factor,
            self.active_groups,
        ]
        fields += [dict(self.configs), int(self.internal)]
        if self.weakest:
            fields += [self.fewest, self.weakest]
        elif self.fewest:
            fields += [self.fewest]
        return compact(fields)

    @classmethod
    def decode(cls, key: str, value: bytes) -> TopicRecord:
        return cls.of_fields(key[len(TOPICS) :], parse_value(value))

    @classmethod
    def of_fields(cls, name: str, fields: list[object]) -> TopicRecord:
        """The record of an already parsed value."""
        topic_id, partitions, factor, active_groups, configs, internal, *floor = fields
        return cls(
            name,
            bytes.fromhex(topic_id),  # type: ignore[arg-type]
            partitions,  # type: ignore[arg-type]
            factor,  # type: ignore[arg-type]
            active_groups,  # type: ignore[arg-type]
            configs,  # type: ignore[arg-type]
            bool(internal),
            *floor,  # type: ignore[arg-type]
        )


class StreamletRecord:
    """Leadership of one streamlet. ``leader`` is -1 while there is none; ``leader_epoch`` only grows.

    ``replicas`` is the assignment, the preferred leader first. With more than one copy, ``sources`` are the
    owner epochs whose virtual logs hold its chunks, oldest first (rule 27b), and ``state`` says whether the
    leader serves it. ``given`` are the sources that handed it over and have not led it since (12b): what they
    opened afterwards has nothing of it. ``before`` are those that led it before somebody was alone with it,
    if they had virtual segments then. ``was`` is the assignment before a reassignment from, to or of a single
    copy, until that is done. A plain class: there may be many thousands.
    """

    __slots__ = (
        "before",
        "given",
        "index",
        "leader",
        "leader_epoch",
        "replicas",
        "sources",
        "state",
        "topic_id",
        "was",
    )

    def __init__(
        self,
        topic_id: bytes,
        index: int,
        leader: int,
        leader_epoch: int,
        replicas: tuple[int, ...],
        state: int = ONLINE,
        sources: tuple[int, ...] = (),
        given: tuple[int, ...] = (),
        before: tuple[int, ...] = (),
        was: tuple[int, ...] = (),
    ) -> None:
        self.topic_id = topic_id
        self.index = index
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.replicas = replicas
        self.state = state
        self.sources = sources
        self.given = given
        self.before = before
        self.was = was

    def __repr__(self) -> str:
        return (
            f"StreamletRecord({self.topic_id.hex()}, {self.index}, leader={self.leader}, "
            f"leader_epoch={self.leader_epoch}, replicas={self.replicas}, state={self.state}, "
            f"sources={self.sources}, given={self.given}, before={self.before}, was={self.was})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StreamletRecord) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> tuple[object, ...]:
        return (
            self.topic_id,
            self.index,
            self.leader,
            self.leader_epoch,
            self.replicas,
            self.state,
            self.sources,
            self.given,
            self.before,
            self.was,
        )

    @classmethod
    def of_fields(
        cls,
        topic_id: bytes,
        index: int,
        fields: list[Any],
        shared: dict[tuple[int, ...], tuple[int, ...]],
    ) -> StreamletRecord:
        """The record of an already parsed value; what `encode` leaves out is empty. Equal lists of replicas
        and of sources are one tuple in ``shared``: thousands of streamlets have the same ones."""
        leader, leader_epoch, members, *more = fields
        replicas = tuple(members)
        record = cls(topic_id, index, leader, leader_epoch, shared.setdefault(replicas, replicas))
        if more:
            record.state, owners, *rest = more
            sources = tuple(owners)
            record.sources = shared.setdefault(sources, sources)
            if rest:
                record.given, record.before, record.was = (*map(tuple, rest), (), ())[:3]
        return record

    @property
    def key(self) -> str:
        return streamlet_key(self.topic_id, self.index)

    def is_served_by(self, owner_epoch: int) -> bool:
        """The owner leads and serves it. With a single copy nobody does in this sense: it has no sources."""
        return self.state == ONLINE and self.sources[-1:] == (owner_epoch,)

    def encode(self) -> bytes:
        replicas = _listed(self.replicas)
        if not self.sources and self.state == ONLINE and not self.before and not self.was:
            return f"[{self.leader},{self.leader_epoch},{replicas}]".encode()
        more = f",{_listed(self.given)}" if self.given or self.before or self.was else ""
        more += f",{_listed(self.before)}" if self.before or self.was else ""
        more += f",{_listed(self.was)}" if self.was else ""
        sources = _listed(self.sources)
        return f"[{self.leader},{self.leader_epoch},{replicas},{self.state},{sources}{more}]".encode()

    def _changed(self, **fields: Any) -> StreamletRecord:
        return StreamletRecord(**{name: fields.get(name, getattr(self, name)) for name in self.__slots__})

    def led_by(self, leader: int) -> StreamletRecord:
        """The record after ``leader`` took over (or started again): the next leader epoch."""
        return self._changed(leader=leader, leader_epoch=self.leader_epoch + 1)

    def copied_by(self, owner_epoch: int) -> StreamletRecord:
        """The record when its leader, as ``owner_epoch``, has everything in segments with backups."""
        was = self.was if len(self.replicas) == 1 else ()
        return self._changed(state=ONLINE, sources=(owner_epoch,), given=(), was=was)

    def alone(self, owners: Container[int]) -> StreamletRecord:
        """The record when its leader needs nobody else for what it has: the next leader epoch, so that what
        was said about copies before is void. ``owners``: owner epochs that have virtual segments."""
        before = tuple(one for one in dict.fromkeys((*self.before, *self.sources)) if one in owners)
        return self.led_by(self.leader)._changed(state=ONLINE, sources=(), given=(), before=before, was=())

    def recovering(self, leader: int) -> StreamletRecord:
        """The record after ``leader`` was told to rebuild it: the next leader epoch, nothing served."""
        return self._changed(leader=leader, leader_epoch=self.leader_epoch + 1, state=RECOVERING)

    def handed_over(self, leader: int, owner_epoch: int) -> StreamletRecord:
        """The same, after ``owner_epoch``, which led it, gave it to ``leader`` (rule 12b)."""
        return self.recovering(leader)._changed(given=(*self.given, owner_epoch))

    def assigned_to(self, replicas: tuple[int, ...], was: tuple[int, ...] = ()) -> StreamletRecord:
        """The record with another assignment; who leads it is not changed."""
        return self._changed(replicas=replicas, was=was)

    def read_from(self, sources: tuple[int, ...]) -> StreamletRecord:
        """The record when nothing is left in virtual logs of other owners."""
        return self._changed(sources=sources, given=tuple(one for one in self.given if one in sources))

    def online(self, owner_epoch: int) -> StreamletRecord:
        """The record after its leader committed (rule 27b): its own virtual logs are sources from now on.

        An owner that leads it again is there again, also behind itself, when a move that failed gave it back:
        its files went when it handed over. Only its first and last times matter. The first may have been
        before somebody was alone with it: what it wrote down then is not the newest there is, either.
        """
        sources = (*self.sources, owner_epoch)
        if owner_epoch in self.before and owner_epoch not in self.sources:
            sources = (owner_epoch, *sources)
        if sources.count(owner_epoch) > 2:
            middle = sources.index(owner_epoch, sources.index(owner_epoch) + 1)
            sources = sources[:middle] + sources[middle + 1 :]
        given = still_given(self.given, owner_epoch)
        return self._changed(state=ONLINE, sources=sources, given=given)


def _listed(numbers: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def still_given(given: tuple[int, ...], owner_epoch: int) -> tuple[int, ...]:
    """Without an owner that leads again: from now on it may have anything (12b)."""
    return tuple(one for one in given if one != owner_epoch)


def topic_key(name: str) -> str:
    return TOPICS + name


def streamlet_key(topic_id: bytes, index: int) -> str:
    return f"{STREAMLETS}{topic_id.hex()}/{index:08x}"


def streamlet_of_key(key: str) -> tuple[bytes, int]:
    """Topic id and index in a streamlet's key."""
    start = len(STREAMLETS)
    check(key[start + TOPIC_ID_DIGITS] == "/", f"{key!r} is no streamlet key; which version wrote it?")
    return bytes.fromhex(key[start : start + TOPIC_ID_DIGITS]), int(key[start + TOPIC_ID_DIGITS + 1 :], 16)


def config_key(node_id: int | None) -> str:
    """Key of a broker's dynamic configs; None for those of every broker."""
    return CONFIGS + (DEFAULT_BROKER if node_id is None else str(node_id))


def encode_configs(configs: Mapping[str, str]) -> bytes:
    return compact(dict(configs))


def parse_value(value: bytes) -> Any:
    """One stored value. Raises ValueError."""
    return _DECODER.decode(value.decode())


def parse_values(values: list[bytes]) -> list[list[object]]:
    """Many stored values with one call of the JSON parser: a third of the time of one call each."""
    parsed: list[list[object]] = parse_value(b"[" + b",".join(values) + b"]")
    return parsed


def unreadable(key: str, error: Exception) -> StoreError:
    """For a value in the store that is none of kproto's, or of a version that wrote other ones."""
    what = f"the metadata under {key!r} cannot be read ({type(error).__name__}: {error})"
    return StoreError(f"{what}; which version of kproto wrote it? If this one: {RESTORE}")


def compact(value: object) -> bytes:
    """The stored form of a value."""
    return _ENCODER.encode(value).encode()
