"""A new leader rebuilds streamlets from copies of their sources and commits them (rules 25, 27b, 28b, 29).

The controller says what to take over: streamlets that are RECOVERING with this broker as leader. For each of
their partitions the newest state frame is looked for in the virtual logs of the newest source, then of those
before, until it is found; all virtual logs are read in parallel, and for all partitions at once. With the
chunks behind it that is all the log needs (`LogManager.take_over`); nothing is read of what is older, however
often the partition had another leader. Then one proposal for up to 100 streamlets puts them online.

What arrives while one round is running makes up the next round. What cannot be read now is tried again,
alone; what has a newer leader epoch by then is dropped. When members that have copies do not answer this
broker for a while, the controller is told that it cannot: another member may reach them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from kproto.errors import ErrorCode, KafkaError
from kproto.log.adopting import GapError
from kproto.log.epochs import EpochCache
from kproto.metadata.records import ANYWHERE, RECOVERING, Floor, StreamletRecord
from kproto.replica.looking import Waits
from kproto.replica.messages import PartitionKey, ReadChunk
from kproto.replica.reach import Metadata, NoCopyError, Reach, sound_copies
from kproto.replica.survey import Base, Found, ordered, survey
from kproto.trouble import Trouble
from kproto.wire.batch import read_header

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.ports import Snapshot
    from kproto.metadata import MetadataImage
    from kproto.metadata.vlogs import VlogTable, VsegRecord

log = logging.getLogger(__name__)

PER_PROPOSAL: Final = 100
"""Streamlets per commit (rule 19b)."""
RETRY_SECONDS: Final = 0.2
MOST_RETRY_SECONDS: Final = 5.0
CANNOT_SECONDS: Final = 5.0
FENCED_SECONDS: Final = 2.0
"""How long copies may be silent before another broker is to try: the former, or the latter longer than a
session. A broker that is gone is fenced by then."""
ROUNDS_KEPT: Final = 100
PARTS_A_TURN: Final = 50
"""So many are gone through before others get the loop: each may have hundreds of sources."""


class Claim(NamedTuple):
    """One attempt: this broker recovers a streamlet under a leader epoch (rule 29)."""

    topic_id: bytes
    streamlet: int
    leader_epoch: int


class Failure(NamedTuple):
    """Why an attempt came to nothing for now. ``silent``: see `NoCopyError`."""

    why: str
    silent: bool = False
    at: float = 0.0
    """When that was, seconds of the monotonic clock."""

    def after(self, other: Failure | None) -> Failure:
        """Both, if there was another one."""
        return self if other is None else self._replace(silent=self.silent or other.silent)


class Logs(Protocol):
    """The part of `LogManager` that is used."""

    def take_over(
        self,
        topic_id: bytes,
        index: int,
        leader_epoch: int,
        snapshot: Snapshot | None,
        chunks: Sequence[memoryview],
        log_start: int,
    ) -> int: ...


class Part:
    """One partition while it is rebuilt."""

    __slots__ = (
        "all_sources",
        "chunks",
        "claim",
        "floor",
        "given",
        "key",
        "log_start",
        "lost",
        "sources",
        "state",
        "stride",
    )

    def __init__(
        self,
        claim: Claim,
        key: PartitionKey,
        sources: Sequence[int],
        log_start: int,
        floor: Floor = ANYWHERE,
        given: Sequence[int] = (),
    ) -> None:
        self.claim = claim
        self.key = key
        self.floor = floor
        """See `TopicRecord`."""
        self.given = given
        """See `StreamletRecord`."""
        self.all_sources = sources
        self.sources = by_last_time(sources)
        """Owner epochs to look at, the newest last."""
        self.stride = 1
        """How many of them are looked at next while there is no state."""
        self.log_start = log_start
        self.state: Base | None = None
        self.chunks: list[ReadChunk] = []
        self.lost = False
        """An operator gave up something that it may have had chunks in."""

    @property
    def needed_from(self) -> int:
        """The first offset that matters: what was deleted behind the state tells about producers (40)."""
        return self.state.end_offset if self.state is not None else 0

    def add(self, found: Found) -> None:
        """What one virtual log had of it."""
        state = found.states.get(self.key)
        if state is not None and (self.state is None or state.end_offset > self.state.end_offset):
            self.state = state
        self.chunks += found.chunks.get(self.key, ())

    def outcome(self) -> tuple[Base, list[ReadChunk], int | None]:
        """State, the chunks behind it in order, and the first missing offset (None: it is all there).

        What is missing below the log start was freed, and the state behind it, too, or another source has it:
        then the state that is returned is not the one that was found, but begins at the log start. When there
        is no other source, nobody knows what producers sent before: a sequence that is taken for wrong would
        stop its producer for good.
        """
        state = self.state or Base(self.log_start, 0)
        run, missing = ordered(self.chunks, state.end_offset)
        if missing is None and (run[-1].next_offset if run else state.end_offset) >= self.log_start:
            return state, run, None
        if state.end_offset < self.log_start:
            alive = [chunk for chunk in self.chunks if chunk.next_offset > self.log_start]
            first = min((chunk.base_offset for chunk in alive), default=self.log_start)
            begin = min(first, self.log_start)
            if begin > state.end_offset:
                state = state._replace(end_offset=begin, producers=b"")
        run, missing = ordered(self.chunks, state.end_offset)
        return state, run, missing

    def pass_over(self) -> bool:
        """Everything was looked at. Where chunks are missing that were given up, the log starts behind them,
        and nobody knows what producers sent before; whether that was so."""
        missing = self.outcome()[2] if self.lost else None
        if missing is None:
            return False
        while missing is not None:
            start = min(chunk.base_offset for chunk in self.chunks if chunk.base_offset > missing)
            log.error(
                "partition %s/%d starts at %d: what was before is lost", self.key[0].hex(), self.key[1], start
            )
            epochs = self.state.epochs if self.state is not None else b""
            self.state, self.log_start = Base(start, start, epochs), start
            missing = self.outcome()[2]
        return True

    @property
    def done(self) -> bool:
        """No older source has to be looked at."""
        if not self.sources:
            return True
        if self.state is None:
            return False
        state, run, missing = self.outcome()
        if missing is not None or state != self.state:
            return False  # what was deleted in between is known to others, and what it told of producers (40)
        newest = read_header(run[-1].data).leader_epoch if run else EpochCache.decode(state.epochs).last
        return is_last_leader(newest, self.claim.leader_epoch) or may_stop(self.all_sources, self.sources)

    @property
    def empty(self) -> bool:
        """It has nothing in any source, nor ever had."""
        return not (self.sources or self.state or self.chunks or self.log_start or self.lost)

    def next_sources(self) -> list[int]:
        """Owner epochs to look at next, which are left no more: those that have to be, else the newest ones,
        twice as many each time."""
        chosen = between(self.all_sources, self.sources) if self.state is not None else []
        if not chosen:
            chosen = self.sources[-self.stride :]
            self.stride *= 2
        looked_at = set(chosen)
        self.sources = [epoch for epoch in self.sources if epoch not in looked_at]
        return chosen

    def put_back(self, *epochs: int) -> None:
        """They could not be looked at: they are left, and matter only if those behind them do not tell
        enough."""
        left = {*epochs, *self.sources}
        self.sources = [one for one in by_last_time(self.all_sources) if one in left]


def rows_of(claims: Iterable[Claim]) -> list[list[Any]]:
    """As proposals name them."""
    return [[claim.topic_id.hex(), claim.streamlet, claim.leader_epoch] for claim in claims]


def by_last_time(sources: Sequence[int]) -> list[int]:
    """Owner epochs, each once, in order of the last time that they led."""
    return list(reversed(dict.fromkeys(reversed(sources))))


def is_last_leader(newest: int, leader_epoch: int) -> bool:
    """Whether the newest chunk that was found, of leader epoch ``newest``, is of who led right before this
    attempt: then nobody led in between, and what the log has up to there was written by, or known to, its
    leader (28)."""
    return newest == leader_epoch - 1


def between(sources: Sequence[int], left: Sequence[int]) -> list[int]:
    """Owners in ``left`` that led after one of the others first did."""
    unknown = set(left)
    first = next((at for at, epoch in enumerate(sources) if epoch not in unknown), len(sources))
    later = set(sources[first:])
    return [epoch for epoch in left if epoch in later]


def may_stop(sources: Sequence[int], left: Sequence[int]) -> bool:
    """Whether the owners in ``left`` need not be looked at when the others have told a state.

    An owner that led the streamlet more than once (12b) has written down states each time, and the newest of
    them may be of an earlier time: who led it in between knows more.
    """
    return not between(sources, left)


def _nobody(_: list[PartitionKey]) -> None:
    """Nobody wants to know what was taken over."""


class NotSealedError(Exception):
    """A source still has an open virtual segment though its owner is gone; the metadata will close it."""


class Takeover:
    """See the module's text. Call `on_image` with every image; all on one event loop."""

    def __init__(
        self, reach: Reach, metadata: Metadata, logs: Logs, clock: Clock, session_s: float = 0.0
    ) -> None:
        self._reach = reach
        self._metadata = metadata
        self._logs = logs
        self._clock = clock
        self._due: dict[tuple[bytes, int], int] = {}
        """Topic id and streamlet to leader epoch: to be taken over, not begun."""
        self._claimed: dict[tuple[bytes, int], int] = {}
        """The same for what is due, running or waiting for another try."""
        self._revision = -1
        self._running: asyncio.Task[None] | None = None
        self._later: set[asyncio.Task[None]] = set()
        self._trouble = Trouble(log, clock, "streamlets cannot be taken over yet")
        self._waits: Waits[Claim] = Waits(RETRY_SECONDS, MOST_RETRY_SECONDS)
        self._silent_since: dict[Claim, float] = {}
        """When copies of it were first asked that did not answer."""
        self._cannot_s = max(CANNOT_SECONDS, session_s + FENCED_SECONDS)
        self._telling: asyncio.Task[None] | None = None
        self.on_online: Callable[[list[PartitionKey]], object] = _nobody
        """Called with the partitions that went online (`BringOver.add`)."""
        self.rounds: deque[dict[str, Any]] = deque(maxlen=ROUNDS_KEPT)
        """Figures, one row per round: streamlets, partitions, bytes read, seconds."""

    def on_image(self, image: MetadataImage) -> None:
        """Look for streamlets that this broker has to recover."""
        known = image.base_revision == self._revision
        self._revision = image.revision
        for topic_id in sorted(image.touched) if known else sorted(image.streamlets):
            for record in image.streamlets.get(topic_id, ()):
                key = (topic_id, record.index)
                if self._is_mine(record) and self._claimed.get(key, -1) < record.leader_epoch:
                    if key in self._due:
                        self._forget([Claim(*key, self._due[key])])
                    self._claimed[key] = self._due[key] = record.leader_epoch
        self._start()

    async def close(self) -> None:
        """Stop; what is not committed yet is somebody else's, or the next process's."""
        tasks = [task for task in (self._running, self._telling, *self._later) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """Streamlets that are being recovered here."""
        return len(self._claimed)

    def _is_mine(self, record: StreamletRecord) -> bool:
        return record.leader == self._reach.node_id and record.state == RECOVERING

    def _is_current(self, claim: Claim) -> bool:
        """Rule 29: nobody began another attempt."""
        record = self._metadata.image.find_streamlet(claim.topic_id, claim.streamlet)
        return record is not None and self._is_mine(record) and record.leader_epoch == claim.leader_epoch

    # Rounds

    def _start(self) -> None:
        if self._due and self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while self._due:
                due, self._due = self._due, {}
                claims = [Claim(*key, epoch) for key, epoch in due.items()]
                try:
                    await self._round(claims)
                except Exception as error:
                    log.exception("taking over failed; trying again")
                    for claim in claims:
                        self._put_off(claim, Failure(repr(error)))
        finally:
            self._running = None

    async def _round(self, claims: list[Claim]) -> None:
        """Take over what can be taken over; the rest is put off."""
        began, read = self._clock.monotonic(), self._reach.bytes
        parts = await self._parts(claims)
        failed: dict[Claim, Failure] = {}
        committed = 0
        open_claims = dict.fromkeys(claims)
        while parts:
            await self._look(parts, failed)
            unfinished = {part.claim for part in parts if not part.done}
            ready = [claim for claim in open_claims if claim not in unfinished and claim not in failed]
            for claim in ready:
                del open_claims[claim]
            committed += await self._finish(ready, parts, failed)
            parts = [part for part in parts if part.claim in open_claims and part.claim not in failed]
        hopeless = [claim for claim, failure in failed.items() if self._is_hopeless(claim, failure, began)]
        for claim, failure in failed.items():
            self._put_off(claim, failure)
        self._tell(hopeless)
        self._forget([claim for claim in claims if claim not in failed])
        self.rounds.append(
            {
                "streamlets": len(claims),
                "committed": committed,
                "bytes": self._reach.bytes - read,
                "seconds": round(self._clock.monotonic() - began, 6),
            }
        )

    async def _parts(self, claims: list[Claim]) -> list[Part]:
        table = self._metadata.table
        parts: list[Part] = []
        paused_at = 0
        for claim in claims:
            if len(parts) - paused_at >= PARTS_A_TURN:
                paused_at = len(parts)
                await asyncio.sleep(0)
            image = self._metadata.image
            topic = image.topics_by_id.get(claim.topic_id)
            if topic is None or not self._is_current(claim):
                continue
            record = image.streamlets[claim.topic_id][claim.streamlet]
            for index in topic.partitions_of(claim.streamlet):
                key = (claim.topic_id, index)
                start = table.log_start(*key)
                parts.append(Part(claim, key, record.sources, start, topic.floor, record.given))
        return parts

    async def _look(self, parts: list[Part], failed: dict[Claim, Failure]) -> None:
        """Ask the next older sources of every partition that is not done."""
        by_source: dict[tuple[int, bool], list[Part]] = {}
        for part in parts:
            if not part.done:
                for epoch in part.next_sources():
                    by_source.setdefault((epoch, epoch in part.given), []).append(part)
        results = await asyncio.gather(
            *(self._source(epoch, wanted) for (epoch, _), wanted in by_source.items()), return_exceptions=True
        )
        unread: dict[Part, Failure] = {}
        back: dict[Part, list[int]] = {}
        for ((epoch, _), wanted), result in zip(by_source.items(), results, strict=True):
            if isinstance(result, BaseException) and not isinstance(result, NotSealedError):
                raise result
            failing = result if isinstance(result, dict) else dict.fromkeys(wanted, self._failure(result))
            for part, failure in failing.items():
                back.setdefault(part, []).append(epoch)
                unread[part] = failure.after(unread.get(part))
        for part, failure in unread.items():
            part.put_back(*back[part])
            if not part.done:
                failed[part.claim] = failure.after(failed.get(part.claim))

    async def _source(self, epoch: int, parts: list[Part], deep: bool = False) -> dict[Part, Failure]:
        """Look at all virtual logs of one owner; returns what could not be read for want of a copy, and why:
        nothing is known of that."""
        floors, given = {part.floor for part in parts}, all(epoch in part.given for part in parts)
        looks: list[tuple[list[Part], Awaitable[Found]]] = []
        for vsegs in sources_of(self._metadata.image, self._metadata.table, epoch, floors, given):
            held = may_be_in(floors, vsegs)
            given_up = may_be_in(floors, [record for record in vsegs if record.gave_up])
            mine = [part for part in parts if part.floor in held]
            for part in mine:
                part.lost |= part.floor in given_up
            wanted = {part.key: part.needed_from for part in mine}
            looks.append((mine, survey(self._reach, vsegs, wanted, deep)))
        results = await asyncio.gather(*(look for _, look in looks), return_exceptions=True)
        unread: dict[Part, Failure] = {}
        for (mine, _), result in zip(looks, results, strict=True):
            if isinstance(result, NoCopyError):
                unread.update((part, self._failure(result).after(unread.get(part))) for part in mine)
            elif isinstance(result, BaseException):
                raise result
        for (mine, _), result in zip(looks, results, strict=True):
            if isinstance(result, Found):
                for part in mine:
                    if part not in unread:
                        part.add(result)
        return unread

    async def _finish(self, ready: list[Claim], parts: list[Part], failed: dict[Claim, Failure]) -> int:
        """Give the log what was found, and commit. Returns how many streamlets are online."""
        of_claim: dict[Claim, list[Part]] = {}
        for part in parts:
            of_claim.setdefault(part.claim, []).append(part)
        commits: dict[Claim, bool] = {}
        starts: dict[Claim, list[list[Any]]] = {}
        for claim in ready:
            mine = of_claim.get(claim, [])
            try:
                for part in mine:
                    if part.outcome()[2] is not None:
                        await self._search(part)
                    if part.pass_over():
                        starts.setdefault(claim, []).append([part.key[0].hex(), part.key[1], part.log_start])
                if mine and self._is_current(claim):
                    self._hand_over(mine)
                    commits[claim] = all(part.empty for part in mine)
            except (GapError, NoCopyError, NotSealedError) as error:
                failed[claim] = self._failure(error)
        committed = 0
        rows = list(commits.items())
        for at in range(0, len(rows), PER_PROPOSAL):
            committed += await self._commit(dict(rows[at : at + PER_PROPOSAL]), failed)
        begins = [row for claim in commits if claim not in failed for row in starts.get(claim, ())]
        for at in range(0, len(begins), PER_PROPOSAL):
            await self._propose("starts", {"starts": begins[at : at + PER_PROPOSAL]})
        self.on_online([part.key for claim in commits if claim not in failed for part in of_claim[claim]])
        return committed

    async def _search(self, part: Part) -> None:
        """Chunks are missing behind the newest state: look everywhere, and do not stop at the first state."""
        for epoch in dict.fromkeys(reversed(part.all_sources)):
            for failure in (await self._source(epoch, [part], deep=True)).values():
                raise NoCopyError(failure.why, failure.silent)

    def _hand_over(self, parts: list[Part]) -> None:
        for part in parts:
            state, run, missing = part.outcome()
            if missing is not None:
                later = [chunk.base_offset for chunk in part.chunks if chunk.base_offset > missing]
                raise GapError(missing, min(later))
            data = [chunk.data for chunk in run]
            self._logs.take_over(*part.key, part.claim.leader_epoch, state, data, part.log_start)

    async def _commit(self, claims: dict[Claim, bool], failed: dict[Claim, Failure]) -> int:
        """Rule 27: the commit point. The claims, and whether there is nothing of them in any source."""
        rows = rows_of(claims)
        empty = [row[:2] for row, is_empty in zip(rows, claims.values(), strict=True) if is_empty]
        answers = await self._propose("commit", {"streamlets": rows, "empty": empty})
        if answers is None:
            return 0
        for claim, answer in zip(claims, answers, strict=True):
            if not answer:
                failed[claim] = Failure("the controller did not commit it")
        return sum(map(bool, answers))

    async def _propose(self, kind: str, args: object) -> Any:
        """The controller's answer, however long it takes; None when this owner epoch is over."""
        trouble = Trouble(log, self._clock, f"{kind} waits for the controller")
        while True:
            try:
                answer = await self._metadata.propose(kind, args)
            except KafkaError as error:
                if error.code is ErrorCode.STALE_BROKER_EPOCH:
                    return None
                trouble.failed(error)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            trouble.over()
            return answer

    # Another try

    def _forget(self, claims: list[Claim]) -> None:
        for claim in claims:
            self._waits.over(claim)
            self._silent_since.pop(claim, None)
            if self._claimed.get(claim[:2]) == claim.leader_epoch:
                del self._claimed[claim[:2]]
        if not self._waits:
            self._trouble.over()

    def _failure(self, error: BaseException) -> Failure:
        silent = isinstance(error, NoCopyError) and error.silent
        return Failure(str(error), silent, self._clock.monotonic())

    def _put_off(self, claim: Claim, failure: Failure) -> None:
        """Try again after a while, a longer one each time."""
        seconds = self._waits.longer(claim)
        waiting = f"{claim.topic_id.hex()}/{claim.streamlet}, one of {len(self._waits)}"
        self._trouble.failed(f"{waiting}: {failure.why}")
        task = asyncio.get_running_loop().create_task(self._again(claim, seconds))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def _is_hopeless(self, claim: Claim, failure: Failure, began: float) -> bool:
        """Members with copies have been silent for too long, and in more than one round; this one ``began``
        then."""
        if not failure.silent:
            self._silent_since.pop(claim, None)
            return False
        since = self._silent_since.setdefault(claim, began)
        return since < began and failure.at - since >= self._cannot_s

    def _tell(self, claims: list[Claim]) -> None:
        """Tell the controller what is hopeless here, of one round at a time; others wait for another try."""
        if claims and self._telling is None:
            self._telling = asyncio.get_running_loop().create_task(self._give_up(claims))

    async def _give_up(self, claims: list[Claim]) -> None:
        """Have the controller tell another broker to rebuild them, if one could. Until it does, and when it
        is not there, they are tried again here."""
        try:
            for at in range(0, len(claims), PER_PROPOSAL):
                told = claims[at : at + PER_PROPOSAL]
                await self._metadata.propose("cannot", {"streamlets": rows_of(told)})
                now = self._clock.monotonic()
                self._silent_since.update((claim, now) for claim in told if claim in self._silent_since)
        except Exception as error:
            self._trouble.failed(error, isinstance(error, KafkaError))
        finally:
            self._telling = None

    async def _again(self, claim: Claim, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self._is_current(claim):
            self._due.setdefault(claim[:2], claim.leader_epoch)
            self._start()
        else:
            self._forget([claim])


def sources_of(
    image: MetadataImage, table: VlogTable, epoch: int, floors: Collection[Floor], given: bool = False
) -> list[list[VsegRecord]]:
    """The closed virtual segments of an owner, by virtual log, in order: those that can hold chunks of topics
    with any of these ``floors``. ``given``: it handed over all that is asked for.

    The open ones of an owner that lives, or has given all, hold nothing of what it handed over (rule 12b),
    nor do those that it opened since and closed: without a sound copy they are left out. Those of another one
    that is gone must be closed first (rule 20): `NotSealedError`.
    """
    vlogs: dict[int, list[VsegRecord]] = {}
    given = given or any(broker.epoch == epoch for broker in image.brokers.values())
    for record in table.of_owner(epoch):
        if not any(map(record.may_hold, floors)):
            continue
        if not record.open:
            mine = not given or table.given_upto.get(record.id[:2], -1) >= record.id.seq
            if mine or sound_copies(image, record):
                vlogs.setdefault(record.id.vlog, []).append(record)
        elif not given:
            raise NotSealedError(f"virtual segment {record.id} is not sealed")
    return list(vlogs.values())


def may_be_in(floors: Iterable[Floor], vsegs: Collection[VsegRecord]) -> set[Floor]:
    """Those floors whose topics any of the virtual segments may hold something of (rule 12c)."""
    return {floor for floor in floors if any(vseg.may_hold(floor) for vseg in vsegs)}


def floors_of(image: MetadataImage, keys: Iterable[PartitionKey]) -> dict[bytes, Floor]:
    """`TopicRecord.floor` of each topic of the partitions; of deleted ones, ANYWHERE."""
    topics = {topic_id: image.topics_by_id.get(topic_id) for topic_id, _ in keys}
    return {topic_id: ANYWHERE if one is None else one.floor for topic_id, one in topics.items()}


def gave_all(image: MetadataImage, epoch: int, keys: Iterable[PartitionKey]) -> bool:
    """Whether an owner handed over all of these partitions, and has led none of them since."""
    known = ((image.topics_by_id.get(topic_id), index) for topic_id, index in keys)
    return all(
        epoch in image.partition_streamlet(one, index).given for one, index in known if one is not None
    )


def older_sources(image: MetadataImage, node_id: int, record: StreamletRecord) -> tuple[int, ...]:
    """Owner epochs that can hold what is not in files here, oldest first: what this process appended since it
    took over is all here."""
    me = image.brokers.get(node_id)
    sources = record.sources
    if me is not None and sources and sources[-1] == me.epoch:
        sources = sources[:-1]
    return tuple(dict.fromkeys(sources))
