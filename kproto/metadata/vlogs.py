"""What the store knows about virtual segments: who has copies of what, and where it ends (rules 1, 4, 11).

Only what has more than one copy is here. `VlogTable` is a fold of the same changes as the image, kept apart
from it because Metadata is never built from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Set
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from kproto.metadata.records import (
    FENCED,
    GIVEN,
    MOVED,
    MOVED_FROM,
    MOVES,
    POWER_LOST,
    TOPIC_ID_DIGITS,
    BrokerRecord,
    Floor,
    StreamletRecord,
    compact,
    parse_value,
    unreadable,
)
from kproto.metadata.store import Change, Entry

VSEGS: Final = "vsegs/"
STARTS: Final = "starts/"

Key = TypeVar("Key")


class CopyTarget(NamedTuple):
    """Where a copy is: a broker and its data directory (rule 3: a wiped one is no copy of anything)."""

    node_id: int
    store_id: str


class VsegId(NamedTuple):
    """One virtual segment in the whole cluster. Owner epochs are broker epochs: never used twice."""

    owner_epoch: int
    vlog: int
    seq: int

    def __str__(self) -> str:
        """For operators, in logs and answers."""
        return f"{self.owner_epoch}/{self.vlog}/{self.seq}"


class VsegRecord(NamedTuple):
    """Metadata of a virtual segment. ``[start, end)`` are positions of its virtual log; ``end`` is None while
    it is open. ``backups`` are the copies besides the owner's; ``node_id`` and ``store_id`` are the owner's.
    """

    id: VsegId
    node_id: int
    store_id: str
    copies: int
    policy: int
    start: int
    end: int | None
    backups: tuple[CopyTarget, ...]
    emptied: bool = False
    """Nothing in it is live, or what is is in later virtual segments, too: nobody reads it (rules 30, 45)."""
    lost: bool = False
    """It had no copy any more, and an operator gave it up: leaders push again what they have of it, and what
    none of them has is gone (rule 22)."""
    fewest: int = 0
    """The copies it was opened with when it wants more since; else 0."""
    denied: tuple[tuple[int, int], ...] = ()
    """Brokers (node id, broker epoch) that are listed and said that they have no sound copy of it (17, 24).
    They stay listed, since no other member that has one was. Who was started again since may have one."""
    shortened: bool = False
    """It may have had more behind its end, which was given up when it was closed (20 to 22, 24b): what its
    partitions have in other virtual logs need not continue what they have here."""

    @property
    def open(self) -> bool:
        """Its owner may still push to it."""
        return self.end is None

    @property
    def empty(self) -> bool:
        """Closed without a byte, or emptied since: it needs no copy (rule 23)."""
        return self.emptied or self.end == self.start

    @property
    def is_over(self) -> bool:
        """No leader has to say that it needs it no more: nobody may lack what was lost with it, or all have
        said so."""
        return self.emptied or (self.empty and not self.shortened)

    @property
    def gave_up(self) -> bool:
        """Chunks that were in it may be nowhere."""
        return self.lost or self.shortened

    @property
    def unread(self) -> bool:
        """Nobody asks for its copies."""
        return self.lost or self.empty

    def may_hold(self, floor: Floor) -> bool:
        """Whether it may have anything of topics with that floor (rule 12c): the class it was opened with
        says so. That it wants more copies since does not bring it chunks of topics that always had as many.
        """
        return (self.fewest or self.copies) >= floor.copies and self.policy >= floor.policy

    def with_more_copies(self, copies: int) -> VsegRecord:
        """The same that wants so many from now on, which are more."""
        return self._replace(copies=copies, fewest=self.fewest or self.copies)

    def deniers(self, is_member: Callable[[int, int], bool]) -> set[int]:
        """The brokers that `denied` it as the members they are now, by ``is_member(node id, epoch)``."""
        return {node_id for node_id, epoch in self.denied if is_member(node_id, epoch)}

    @property
    def key(self) -> str:
        return vseg_key(self.id)

    def encode(self) -> bytes:
        value = [self.node_id, self.store_id, self.copies, self.policy, self.start, self.end, self.backups]
        marks = [int(self.emptied), int(self.lost), self.fewest, self.denied, int(self.shortened)]
        while marks and not marks[-1]:
            marks.pop()
        return compact(value + marks)

    @classmethod
    def decode(cls, key: str, value: bytes) -> VsegRecord:
        node_id, store_id, copies, policy, start, end, backups, *marks = parse_value(value)
        targets = tuple(CopyTarget(*target) for target in backups)
        own = node_id, store_id, copies, policy, start, end, targets
        emptied, lost, fewest, denied, shortened = marks + [0, 0, 0, (), 0][len(marks) :]
        deniers = tuple((node, epoch) for node, epoch in denied)
        return cls(vseg_of_key(key), *own, bool(emptied), bool(lost), fewest, deniers, bool(shortened))


kind: Final[Callable[[VsegRecord], tuple[object, ...]]] = attrgetter(
    "id.owner_epoch", "id.vlog", "node_id", "store_id", "copies", "policy", "unread", "fewest", "denied"
)
"""What closed virtual segments with the same list of copies differ in that says what copies they need."""


def vseg_key(vseg: VsegId) -> str:
    """Keys of one owner, and of one virtual log, are neighbours in order."""
    return f"{VSEGS}{vseg.owner_epoch:016x}/{vseg.vlog:08x}/{vseg.seq:08x}"


def vseg_of_key(key: str) -> VsegId:
    owner_epoch, vlog, seq = key[len(VSEGS) :].split("/")
    return VsegId(int(owner_epoch, 16), int(vlog, 16), int(seq, 16))


def start_key(topic_id: bytes, index: int) -> str:
    """Key of a partition's log start offset."""
    return f"{STARTS}{topic_id.hex()}/{index:08x}"


class Move(NamedTuple):
    """A planned move (rule 12b): who leads the streamlet under ``leader_epoch`` hands it over to ``target``.

    ``began`` is the revision that it is of, which tells it from one that was given up. ``before`` is the
    assignment that a reassignment replaced; empty for a mere change of the leader. With a later leader epoch
    the move is over, or void.
    """

    topic_id: bytes
    streamlet: int
    target: int
    leader_epoch: int
    began: int
    before: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        return f"{MOVES}{self.topic_id.hex()}/{self.streamlet:08x}"

    def encode(self) -> bytes:
        value = [self.target, self.leader_epoch, self.began, self.before]
        return compact(value)

    @classmethod
    def decode(cls, key: str, value: bytes) -> Move:
        target, leader_epoch, began, before = parse_value(value)
        return cls(*_indexed(key, MOVES), target, leader_epoch, began, tuple(before))


def moved_from_key(node_id: int, floor: Floor, since: int = 0) -> str:
    """Key of up to which owner epoch, from ``since`` on, a node's streamlets with that floor, or above it,
    were given away."""
    more = f"/{floor.policy}" if floor.policy or since else ""
    more += f"/{since}" if since else ""
    return f"{MOVED_FROM}{node_id}/{floor.copies}{more}"


def given_key(owner_epoch: int, vlog: int) -> str:
    """Key of how far a live owner gave away what is in a virtual log."""
    return f"{GIVEN}{owner_epoch:016x}/{vlog:08x}"


class VlogTable:
    """The virtual segments, log starts and fenced brokers at ``revision``. Changed in place, in revision
    order.

    Invariant: the virtual segments of a virtual log are in order of ``seq``, each begins where the one before
    it ended, and only the last may be open (rule 11, S9; those at the front may have been freed).
    """

    __slots__ = (
        "_by_owner",
        "_closed_on",
        "_denied",
        "_open",
        "fenced",
        "given_upto",
        "left",
        "moved_from",
        "moved_upto",
        "moves",
        "power_lost_upto",
        "revision",
        "starts",
        "vsegs",
    )

    def __init__(self) -> None:
        self.revision = 0
        self.vsegs: dict[VsegId, VsegRecord] = {}
        self.starts: dict[tuple[bytes, int], int] = {}
        self.fenced: dict[int, BrokerRecord] = {}
        """Brokers that are no live members, as they were registered last."""
        self.moved_upto: dict[int, int] = {}
        """Node id -> newest owner epoch whose streamlets were given to others: the node's own files are no
        copy of what those virtual logs hold any more."""
        self.moved_from: dict[tuple[int, Floor, int], int] = {}
        """(Node id, floor, first owner epoch) -> the same, but only of virtual segments of this or a later
        owner epoch that are not below the floor."""
        self.given_upto: dict[tuple[int, int], int] = {}
        """(Owner epoch, virtual log) -> newest segment that has chunks of streamlets which the owner gave to
        others while it was alive: up to there its own files are no copy of all of it."""
        self.moves: dict[tuple[bytes, int], Move] = {}
        """Planned moves, by topic id and streamlet."""
        self.left: tuple[object, Set[tuple[int, int]]] | None = None
        """A memo of `controller.rules`: of which image, and owners that something leaves. No change outlives
        it."""
        self.power_lost_upto: dict[int, int] = {}
        """Node id -> newest owner epoch before its machine lost power: what was not synced may be gone."""
        self._by_owner: dict[int, dict[VsegId, None]] = {}
        self._open: dict[VsegId, None] = {}
        self._denied: dict[VsegId, None] = {}
        self._closed_on: dict[tuple[CopyTarget, ...], dict[tuple[object, ...], dict[VsegId, None]]] = {}
        """By list of copies and `kind`."""

    @property
    def owners(self) -> Collection[int]:
        """Owner epochs that have virtual segments."""
        return self._by_owner.keys()

    def of_owner(self, owner_epoch: int) -> list[VsegRecord]:
        """Virtual segments of one owner, by virtual log and number."""
        return [self.vsegs[vseg] for vseg in sorted(self._by_owner.get(owner_epoch, ()))]

    def newest_like(self, vseg: VsegId) -> int:
        """The newest number of a virtual segment of the same virtual log; 0 when there is none."""
        of_owner = self.of_owner(vseg.owner_epoch)
        return max((record.id.seq for record in of_owner if record.id.vlog == vseg.vlog), default=0)

    def node_of(self, owner_epoch: int) -> int | None:
        """The broker that was registered under an owner epoch; None when it has no virtual segment."""
        for vseg in self._by_owner.get(owner_epoch, ()):
            return self.vsegs[vseg].node_id
        return None

    def open_vsegs(self) -> list[VsegRecord]:
        """All that are not closed, in order."""
        return [self.vsegs[vseg] for vseg in sorted(self._open)]

    def denied_vsegs(self) -> list[VsegRecord]:
        """Those of which somebody listed said that it has no copy, in order."""
        return [self.vsegs[vseg] for vseg in sorted(self._denied)]

    def copy_lists(self) -> list[tuple[CopyTarget, ...]]:
        """The different lists of copies that closed virtual segments have, but for emptied ones: few, however
        many those are."""
        return list(self._closed_on)

    def closed_on(self, backups: tuple[CopyTarget, ...]) -> list[VsegRecord]:
        """Closed virtual segments with exactly that list of copies that were not emptied, in order."""
        groups = self._closed_on.get(backups, {}).values()
        return [self.vsegs[vseg] for vseg in sorted(chain.from_iterable(groups))]

    def closed_alike(self) -> Iterator[Collection[VsegId]]:
        """All closed virtual segments that were not emptied, in groups that differ in their numbers, in where
        they begin and end, and in what was given up of them. There are few, however large they are."""
        for groups in self._closed_on.values():
            yield from groups.values()

    def is_moved(self, vseg: VsegRecord) -> bool:
        """Whether streamlets that may have chunks in it were given from its owner to others."""
        return self.moved_upto.get(vseg.node_id, -1) >= vseg.id.owner_epoch or any(
            node_id == vseg.node_id and vseg.may_hold(floor) and since <= vseg.id.owner_epoch <= epoch
            for (node_id, floor, since), epoch in self.moved_from.items()
        )

    def current_move(self, record: StreamletRecord) -> Move | None:
        """The move of a streamlet that is under way; one of another leader epoch is over, or void."""
        move = self.moves.get((record.topic_id, record.index))
        return move if move is not None and move.leader_epoch == record.leader_epoch else None

    def log_start(self, topic_id: bytes, index: int) -> int:
        """The log start offset that the store knows; 0 when none was ever written."""
        return self.starts.get((topic_id, index), 0)

    def start_keys(self, topic_id: bytes, partitions: Iterable[int]) -> list[str]:
        """Keys of the log starts that the store has of those partitions."""
        return [start_key(topic_id, index) for index in partitions if (topic_id, index) in self.starts]

    def load(self, revision: int, entries: Iterable[Entry]) -> None:
        """Take the whole store, read at ``revision``, instead of what was known. Raises
        :class:`~kproto.metadata.store.StoreError` for what no kproto of this version has written."""
        self.__init__()  # type: ignore[misc]
        for entry in entries:
            try:
                self._put(entry.key, entry.value)
            except Exception as error:  # whatever comes of a value that is another one than it should be
                raise unreadable(entry.key, error) from error
        self.revision = revision

    def apply(self, change: Change) -> None:
        """Take one store transaction, the next one."""
        self.left = None
        for key in change.deletes:
            self._delete(key)
        for key, value in change.puts.items():
            self._put(key, value)
        self.revision = change.revision

    def _put(self, key: str, value: bytes) -> None:
        if key.startswith(VSEGS):
            self._put_vseg(VsegRecord.decode(key, value))
        elif key.startswith(STARTS):
            self.starts[_partition_of_key(key)] = int(value)
        elif key.startswith(FENCED):
            broker = BrokerRecord.decode(key, value)
            self.fenced[broker.node_id] = broker
        elif key.startswith(MOVED):
            self.moved_upto[int(key[len(MOVED) :])] = int(value)
        elif key.startswith(MOVED_FROM):
            self.moved_from[_moved_of_key(key)] = int(value)
        elif key.startswith(MOVES):
            move = Move.decode(key, value)
            self.moves[move.topic_id, move.streamlet] = move
        elif key.startswith(POWER_LOST):
            self.power_lost_upto[int(key[len(POWER_LOST) :])] = int(value)
        elif key.startswith(GIVEN):
            self.given_upto[_given_of_key(key)] = int(value)

    def _delete(self, key: str) -> None:
        if key.startswith(VSEGS):
            self._forget_vseg(vseg_of_key(key))
        elif key.startswith(STARTS):
            self.starts.pop(_partition_of_key(key), None)
        elif key.startswith(FENCED):
            self.fenced.pop(int(key[len(FENCED) :]), None)
        elif key.startswith(MOVED):
            self.moved_upto.pop(int(key[len(MOVED) :]), None)
        elif key.startswith(MOVED_FROM):
            self.moved_from.pop(_moved_of_key(key), None)
        elif key.startswith(MOVES):
            self.moves.pop(_indexed(key, MOVES), None)
        elif key.startswith(POWER_LOST):
            self.power_lost_upto.pop(int(key[len(POWER_LOST) :]), None)
        elif key.startswith(GIVEN):
            self.given_upto.pop(_given_of_key(key), None)

    def _put_vseg(self, record: VsegRecord) -> None:
        self._forget_vseg(record.id)
        self.vsegs[record.id] = record
        self._by_owner.setdefault(record.id.owner_epoch, {})[record.id] = None
        if record.open:
            self._open[record.id] = None
        elif not record.emptied:
            groups = self._closed_on.setdefault(record.backups, {})
            groups.setdefault(kind(record), {})[record.id] = None
        if record.denied:
            self._denied[record.id] = None

    def _forget_vseg(self, vseg: VsegId) -> None:
        record = self.vsegs.pop(vseg, None)
        if record is None:
            return
        _discard(self._by_owner, vseg.owner_epoch, vseg)
        self._denied.pop(vseg, None)
        if record.open:
            del self._open[vseg]
        elif not record.emptied:
            groups = self._closed_on[record.backups]
            _discard(groups, kind(record), vseg)
            if not groups:
                del self._closed_on[record.backups]


def _discard(groups: dict[Key, dict[VsegId, None]], key: Key, vseg: VsegId) -> None:
    """Take it out of its group, and the group away with the last one."""
    group = groups[key]
    del group[vseg]
    if not group:
        del groups[key]


def _partition_of_key(key: str) -> tuple[bytes, int]:
    return _indexed(key, STARTS)


def _indexed(key: str, prefix: str) -> tuple[bytes, int]:
    begin = len(prefix)
    return bytes.fromhex(key[begin : begin + TOPIC_ID_DIGITS]), int(key[begin + TOPIC_ID_DIGITS + 1 :], 16)


def _moved_of_key(key: str) -> tuple[int, Floor, int]:
    node_id, copies, policy, since, *_ = (*map(int, key[len(MOVED_FROM) :].split("/")), 0, 0)
    return node_id, Floor(copies, policy), since


def _given_of_key(key: str) -> tuple[int, int]:
    owner_epoch, vlog = key[len(GIVEN) :].split("/")
    return int(owner_epoch, 16), int(vlog, 16)
