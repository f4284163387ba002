"""A leader hands streamlets over to other live brokers, as the metadata asks for (rule 12b).

Appends are refused for those streamlets alone; when everything that was appended is durable, each virtual log
goes on in a new segment, so that all their chunks are in closed ones; then the controller is told, and with
the image that follows another broker leads. What was not told yet can be taken back at any time: when the
move is gone from the metadata, or lasts too long, appends are taken again.

With two copies the leader's own files are one, and cease to be when another one leads: nothing is refused
until what was closed before has two more (`controller.missing.owed`). The journal files of what is closed
since stay here until it has them, too.

All moves that are asked for while a round is running make up the next round.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VsegId
from kproto.replica.looking import LostError
from kproto.trouble import Trouble

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.partition import Partition
    from kproto.metadata import MetadataImage
    from kproto.replica.reach import Metadata

log = logging.getLogger(__name__)

PER_PROPOSAL: Final = 50
PATIENCE_SECONDS: Final = 3.0
"""How long appends are refused before the leader takes them again and begins anew."""
REST_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 0.1
LOOK_SECONDS: Final = 0.001
TOLD_SECONDS: Final = 5.0
"""A move that waits for copies for so long is told of."""
ROUNDS_KEPT: Final = 100


class Going(NamedTuple):
    """A streamlet that is to be handed over, and the leader epoch under which it is led here."""

    topic_id: bytes
    streamlet: int
    leader_epoch: int
    began: int
    """Revision of the move."""


class Logs(Protocol):
    """The part of `LogManager` that is used."""

    def hand_over(self, topic_id: bytes, streamlet: int, going: bool) -> list[Partition]: ...


class Vlogs(Protocol):
    """The part of `VlogManager` that is used."""

    def leave_behind(self) -> dict[int, int]: ...

    def left_behind(self, marks: Mapping[int, int]) -> bool: ...


Owed = Callable[[Sequence[StreamletRecord]], Sequence[frozenset[VsegId]]]
"""For each streamlet, the virtual segments that are to have more copies before it is handed over."""


def all_durable(partitions: Sequence[Partition]) -> bool:
    """Nothing that was appended is still on its way to copies (rule 12b). What is closed has appended nothing
    that counts: its topic is gone, or its leader is another one already."""
    return all(one.high_watermark >= one.log_end_offset for one in partitions if not one.deleted)


class HandingOver:
    """See the module's text. Call `on_image` with every image, after the log has it; ``epoch`` is this
    broker's."""

    def __init__(
        self,
        node_id: int,
        metadata: Metadata,
        logs: Logs,
        vlogs: Vlogs,
        epoch: Callable[[], int],
        clock: Clock,
        owed: Owed,
    ) -> None:
        self._node_id = node_id
        self._metadata = metadata
        self._logs = logs
        self._vlogs = vlogs
        self._epoch = epoch
        self._clock = clock
        self._copies_owed = owed
        self._owed: dict[Going, frozenset[VsegId]] = {}
        """What moves wait for, of what was closed when they were first seen; nothing for good once it is."""
        self._waiting_since: float | None = None
        self._waiting = Trouble(log, clock, "streamlets that others are to lead wait for copies (12b)")
        self._refusing: dict[Going, None] = {}
        self._told: set[Going] = set()
        """Those of which the controller was told and nobody knows yet what it did."""
        self._running: asyncio.Task[None] | None = None
        self.rounds: deque[dict[str, Any]] = deque(maxlen=ROUNDS_KEPT)
        """Figures, one row per round: streamlets, how many were handed over, seconds."""

    def on_image(self, image: MetadataImage) -> None:
        """Look for streamlets that are to be handed over."""
        if not self._metadata.table.moves and not self._refusing and not self._owed:
            return
        wanted = dict.fromkeys(self._wanted(image))
        self.tick()
        for going in [one for one in self._refusing if one not in wanted]:
            self._resume(going)
        if wanted and self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())

    def tick(self) -> None:
        """Now and then: have the operator know, who sees a move that does not end; not of each that ends
        soon. No image comes while copies cannot be made."""
        waiting = [owed for owed in self._owed.values() if owed]
        if not waiting:
            self._waiting_since = None
            self._waiting.over()
            return
        now = self._clock.monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
        if now - self._waiting_since >= TOLD_SECONDS:
            vsegs = frozenset().union(*set(waiting))
            self._waiting.failed(f"{len(waiting)} of them, of {len(vsegs)} virtual segments")

    async def close(self) -> None:
        """Stop; moves that are under way end with the owner epoch."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def _wanted(self, image: MetadataImage) -> list[Going]:
        """Moves of streamlets that this broker leads, in the order of their names, which need not wait."""
        found: dict[Going, StreamletRecord] = {}
        for (topic_id, streamlet), move in sorted(self._metadata.table.moves.items()):
            record = image.find_streamlet(topic_id, streamlet)
            if (
                record is not None
                and record.leader_epoch == move.leader_epoch
                and self._is_led(image, record)
            ):
                found[Going(topic_id, streamlet, move.leader_epoch, move.began)] = record
        before, waiting = self._owed, [one for one in found if self._owed.get(one, True)]
        self._owed = dict.fromkeys(found, frozenset())
        left: dict[tuple[frozenset[VsegId], frozenset[VsegId]], frozenset[VsegId]] = {}
        for going, owed in zip(waiting, self._copies_owed([found[one] for one in waiting]), strict=True):
            both = owed, before.get(going, owed)  # thousands wait for the same thousands
            self._owed[going] = left[both] if both in left else left.setdefault(both, both[0] & both[1])
        return [one for one in found if not self._owed[one]]

    def _resume(self, going: Going) -> None:
        del self._refusing[going]
        self._told.discard(going)
        self._logs.hand_over(going.topic_id, going.streamlet, False)

    # Rounds

    async def _run(self) -> None:
        trouble = Trouble(log, self._clock, "streamlets could not be handed over in time")
        try:
            while wanted := self._wanted(self._metadata.image):
                began = self._clock.monotonic()
                try:
                    done = await self._round(wanted)
                except LostError:
                    return
                except TimeoutError:
                    trouble.failed(f"{len(wanted)} of them, which take appends again until the next try")
                    done = 0
                except Exception as error:
                    trouble.failed(error, expected=False)
                    done = 0
                else:
                    trouble.over()
                took = self._clock.monotonic() - began
                self.rounds.append(
                    {"streamlets": len(wanted), "handed_over": done, "seconds": round(took, 6)}
                )
                if not done:
                    await asyncio.sleep(REST_SECONDS)
        finally:
            self._running = None

    async def _round(self, wanted: Sequence[Going]) -> int:
        """Hand over what can be; returns how much. Raises LostError, TimeoutError."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._settle(wanted)
                marks = self._vlogs.leave_behind()
                while not self._vlogs.left_behind(marks):
                    await asyncio.sleep(LOOK_SECONDS)
        except LostError:
            raise
        except Exception:
            for going in [one for one in wanted if one in self._refusing and one not in self._told]:
                self._resume(going)
            raise
        done = 0
        for at in range(0, len(wanted), PER_PROPOSAL):
            done += await self._tell(wanted[at : at + PER_PROPOSAL], marks)
        return done

    async def _settle(self, wanted: Sequence[Going]) -> None:
        """Take no more appends, and wait until all there were are durable."""
        partitions: list[Partition] = []
        for going in wanted:
            self._refusing[going] = None
            partitions += self._logs.hand_over(going.topic_id, going.streamlet, True)
        while not all_durable(partitions):
            vlogs = {id(one.vlog): one.vlog for one in partitions if one.vlog is not None}
            if any(vlog.lost for vlog in vlogs.values()):
                raise LostError
            await asyncio.sleep(LOOK_SECONDS)

    async def _tell(self, wanted: Sequence[Going], marks: Mapping[int, int]) -> int:
        """Until it is known what became of it, appends are refused: the other one may lead already."""
        told = [going for going in wanted if going in self._refusing]
        rows = [[going.topic_id.hex(), *going[1:]] for going in told]
        upto = [list(mark) for mark in marks.items()]
        trouble = Trouble(log, self._clock, f"{len(rows)} streamlets wait to be handed over")
        self._told.update(told)
        while rows:
            try:
                answers = await self._metadata.propose("handed_over", {"streamlets": rows, "upto": upto})
            except KafkaError as error:
                if error.code is ErrorCode.STALE_BROKER_EPOCH:
                    raise LostError from error
                trouble.failed(error)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            trouble.over()
            self._told.difference_update(told)
            for going, answer in zip(told, answers, strict=True):
                if not answer and going in self._refusing:
                    self._resume(going)
            return sum(map(bool, answers))
        return 0

    def _is_led(self, image: MetadataImage, record: StreamletRecord) -> bool:
        """Rule 5: this broker leads it under the epoch that it is registered with."""
        me = image.brokers.get(self._node_id)
        epoch = self._epoch()
        serves = record.leader == self._node_id and record.is_served_by(epoch)
        return serves and me is not None and me.epoch == epoch
