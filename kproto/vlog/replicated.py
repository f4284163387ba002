"""The only sender of a virtual log with backups: each frame to the journal and, as one request, to each of
them.

One frame is in flight; while it flies references accumulate, and the next frame takes them (up to
`FRAME_BYTES`), a little later where brokers are busy (see `gathering`). It is durable when the journal and
every backup of the segment have it (rule 9). When somebody waits for the journal only (acks=1) and backups
take longer than `EARLY_S`, the next frame does not wait for them: it is written, and sent behind the others.
What else can happen to the open segment, always when nothing is in flight or by giving up what is:

- *roll* (rule 11): it is full or old, or should have other backups. Everything in it is durable; it is closed
  at its end, and one proposal records that and the next one.
- *replace* (rule 13): a backup is unreachable, refuses, or does not answer for ``kproto.backup.stall.ms``
  (`stall_of`). It is closed at its durable header at once, whatever is answered later; the rest is pending
  again, and one proposal records that end and the next segment without the failed one.
- *wait*: when replacing would leave one copy only, though others are there (see `patience`).
- *lost* (rule 16): a backup or the store says that the owner epoch is over. Nothing is sent any more.

The memory of a frame is safe after it was given up: the views that the connection to a slow backup still
holds keep its blocks from being used again.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kproto.check import check
from kproto.disk import NO_SPACE
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.encode import encode
from kproto.vlog.frame import ENTRY_SIZE, FILE_HEADER_SIZE, FRAME_SIZE
from kproto.vlog.gathering import Gathering
from kproto.vlog.later import Later
from kproto.vlog.patience import AGAIN_S, Patience
from kproto.vlog.ports import OpenVseg, PushOutcome
from kproto.vlog.pusher import Pusher, how_many_fit
from kproto.vlog.replication import counts, fenced, may_leave, may_roll, may_widen, stalled, stored
from kproto.vlog.states import States
from kproto.vlog.virtual_log import OWNER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kproto.log.chunk import ChunkRef
    from kproto.metadata.vlogs import CopyTarget
    from kproto.vlog.journal import JournalFile
    from kproto.vlog.ports import PushAnswer
    from kproto.vlog.replication import Replication
    from kproto.vlog.virtual_segment import Frame, VirtualSegment

FRAME_BYTES: Final = 4 * 1024 * 1024
"""A frame takes no more than this, but for one chunk that is larger: a slow network must be able to carry it
well within the stall time."""
FRAME_CHUNKS: Final = 4096
"""Nor more chunks than this: making it holds up the loop."""
LATE_TIMES: Final = 8
"""A frame may have so many times that when a state frame has been due for long: it has to take everything."""
SECOND_LOOK: Final = 0.1
"""A stall counts when it is still one after this part of the stall time: after a pause of this process, the
answers that came meanwhile are read first."""
LEAST_LOOK_S: Final = 0.001
"""Nor is it looked at sooner again: what is left of the stall time may be less than the clock can tell."""
EARLY_S: Final = 0.005
"""Rather many chunks in one frame than many frames, unless it takes longer than this."""
BEHIND_FRAMES: Final = 32
BEHIND_BYTES: Final = 2 * FRAME_BYTES
"""So much is on its way at once to a backup that lacks more."""
WIDEN_S: Final = 5.0
WIDEN_MOST_S: Final = 80.0


def stall_of(length: int, stall_s: float) -> float:
    """How long a backup may take for a frame of so many bytes. One that is larger than usual, with the state
    of many partitions above all, is too slow for a slow network however often it is sent: nothing older would
    ever be freed (28b, 30)."""
    return stall_s * max(length / FRAME_BYTES, 1.0)


class ReplicatedPusher(Pusher):
    """Drives one virtual log with backups. Everything runs on the loop; only fdatasync runs in a thread."""

    __slots__ = (
        "_again",
        "_busy",
        "_doubted",
        "_early",
        "_epochs",
        "_filled_at",
        "_flight",
        "_flying_since",
        "_gathering",
        "_offers",
        "_patience",
        "_proposed",
        "_recorded",
        "_renewing",
        "_rest_over",
        "_retry",
        "_sent_at",
        "_shared",
        "_stall_look",
        "_targets",
        "_unrecorded",
        "_widen_at",
        "_widen_wait",
        "bytes",
        "chunks",
        "late",
        "pushes",
        "replaced",
        "resting",
        "stalls",
        "states",
    )

    def __init__(self, shared: Replication, *arguments: Any) -> None:
        """``arguments`` as for `Pusher`."""
        super().__init__(*arguments)
        self._shared = shared
        self._targets: tuple[CopyTarget, ...] = ()
        """The backups of the open segment; of the last one between two."""
        self._epochs: list[int | None] = []
        """Their broker epochs."""
        self._flight: Frame | None = None
        """The last frame, as long as some copy does not have it."""
        self._filled_at = math.inf
        """When the first chunk came into the open segment."""
        self._flying_since = 0.0
        """When the oldest such frame was sent, or the one before it became durable."""
        self._sent_at = 0.0
        """When the last one was."""
        self._gathering = Gathering(self._clock.wall_ms() / 1000 - self._clock.monotonic())
        self._rest_over = Later(self._loop, self.run)
        """The end of a rest between two frames."""
        self._early = Later(self._loop, self._overtake)
        """When who waits for the journal only has waited for backups long enough."""
        self._stall_look = Later(self._loop, self._look)
        """When a backup may have been silent for too long."""
        self._doubted: Frame | None = None
        self._patience = Patience(shared, self._clock)
        self._offers = Later(self._loop, self._offer)
        """When a backup that had no room may have some."""
        self._proposed: JournalFile | None = None
        """The journal file of the segment that is being proposed: at most one is."""
        self._recorded: tuple[CopyTarget, ...] | None = None
        """Its backups, when the store has it and the full disk has no room for the file's new name."""
        self._unrecorded: list[JournalFile] = []
        """Files of closed segments whose end the store does not know yet: if all backups are gone, too, they
        are asked for it (rule 18b), so they are pinned."""
        self._renewing = False
        """A new segment is wanted though nothing asks for room."""
        self._busy = False
        self._again = False
        self._retry = Later(self._loop, self.wake)
        """The next try with backups that have all failed."""
        self._widen_at = 0.0
        self._widen_wait = WIDEN_S
        self.vlog.hurry = self._hurry
        self.resting = False
        """Nobody appends here, and the store knows where the last segment ended. See `rest`."""
        self.states = States()
        self.pushes = 0
        """Frames sent; each is one request to every backup."""
        self.chunks = 0
        self.bytes = 0
        self.replaced = 0
        """Segments closed because a backup failed."""
        self.stalls = 0
        """How many of those because it did not answer in time."""
        self.late = 0
        """Answers that came when nothing depended on them any more."""
        self._estimate()

    # What the manager asks

    @property
    def idle(self) -> bool:
        """Nothing is pending or on its way, nor ever will be."""
        vlog = self.vlog
        return vlog.lost or (
            vlog.durable == vlog.end and self._flight is None and not self._syncing and not self._unsent()
        )

    @property
    def opening(self) -> bool:
        """The store is being asked for another segment."""
        return self._proposed is not None

    @property
    def is_on_drained(self) -> bool:
        """A backup of the open segment is drained: it is needed until that is closed."""
        drained = self._shared.drained
        return bool(drained) and any(target.node_id in drained for target in self._targets)

    @property
    def _at_rest(self) -> bool:
        return self.idle and not (self.opening or self._renewing)

    @property
    def wants_room(self) -> bool:
        """Call `wake` when there is room."""
        return self._renewing or self._recorded is not None or not self.idle

    @property
    def last_end(self) -> tuple[int, int] | None:
        """Number and end of the last segment, when all of it is durable and no other is being opened."""
        vlog = self.vlog
        if not self.idle or vlog.lost or self._proposed is not None or not vlog.numbered:
            return None
        return vlog.numbered, vlog.position

    def run(self) -> None:
        """Send what may be sent now."""
        self._scheduled = False
        if self._busy:
            self._again = True
            return
        self._busy = True
        try:
            if self._recorded is not None and not self._space.full:
                self._opened(self.vlog.numbered + 1, self._recorded)
            self._again = True
            while self._again:
                self._again = False
                while self._free():
                    frame = self._next_frame()
                    if frame is None or not self._send(frame):
                        break
        finally:
            self._busy = False

    def roll(self) -> None:
        """Close the open segment, all of which is durable (rule 11). The store learns it with the proposal of
        the next one, which is made when something is to be pushed; until then a recovery finds the end by
        itself."""
        segment = self.vlog.open_segment
        if segment is not None and not self._stopped:
            if not may_roll(segment):
                check(False, f"vseg {segment.number} rolled at {segment.end}: {segment.durable} durable")
            self._pin()
            super().roll()

    def renew(self) -> None:
        """Go on in a new segment, with new backups, as soon as all of this one is durable."""
        self._renewing = True
        self.run()

    def write_down(self) -> None:
        """Write a state frame soon, in a segment opened for it if there is none."""
        self.states.begun(self._clock.monotonic())
        if self.vlog.open_segment is None and self._proposed is None:
            self.renew()

    def leave_behind(self) -> int:
        """Have everything that is durable now in closed segments soon (rule 12b). Returns the number of the
        last segment with any of it: it is closed, and the store knows, once a later one is open."""
        vlog, segment = self.vlog, self.vlog.open_segment
        if self.resting:
            return vlog.numbered
        if segment is not None and segment.end == segment.start:
            return vlog.numbered - 1
        if vlog.numbered and self._proposed is None:
            self.renew()
        return vlog.numbered

    def rest(self) -> tuple[int, int] | None:
        """Close the open segment without wanting another: no partition appends here any more. Returns its
        number and end, for the store, each time until `rested` is called. None when it is in use, or rests.
        """
        if self.resting or not self.idle or self.states.used or self._renewing or self._stopped:
            return None
        self.roll()
        return self.last_end

    def rested(self, told: tuple[int, int]) -> None:
        """The store knows what `rest` returned. If another segment was opened meanwhile, and closed, its end
        is to be told yet."""
        if self.vlog.open_segment is None and self._proposed is None and self.last_end == told:
            self._unpin()
            self._targets, self._epochs = (), []
            self.resting = True

    def tick(self, now: float) -> None:
        """What is due by time: more backups, another segment, state frames of partitions without traffic."""
        segment = self.vlog.open_segment
        if segment is None:
            return
        gone = self._shared.restarted(self._targets, self._epochs)
        if gone and not self._stopped:
            self._replace(gone)
            for target in self._targets:
                if self._shared.epoch_of(target) is not None:
                    self._shared.suspects.clear(target.node_id)  # another process, and it is there
            self.run()
        elif now >= self._widen_at and (self._may_widen() or self._may_leave()):
            self._widen_at = now + self._widen_wait
            self._widen_wait = min(self._widen_wait * 2, WIDEN_MOST_S)
            self.renew()
        elif now >= self._filled_at + self._shared.age_s:
            self.renew()  # only what is closed can be read elsewhere, mended and freed
        elif self.idle and self.states.overdue(now):
            if not self._add_state(segment) and self._fits_next():
                self._renewing = True  # it does not fit here, and without traffic nobody else goes on
            self.run()

    def members_changed(self, gone: frozenset[int]) -> None:
        """The live brokers changed; ``gone`` are none any more."""
        self._patience.left(gone)
        if self._stopped or self._proposed is not None:
            return
        self._widen_at, self._widen_wait = 0.0, WIDEN_S
        failed = [target.node_id for target in self._targets if target.node_id in gone]
        if self.vlog.open_segment is None:
            self._estimate()
            self._renewing = self._renewing or bool(failed)
        elif failed:
            self._replace(failed)
        self.tick(self._clock.monotonic())
        self.wake()

    def fail(self) -> None:
        """The owner epoch is over (rule 16): stop, and tell whoever waits."""
        self.stop()
        self._flight = None
        self._tell(self.vlog.fail())

    def _tell(self, waiters: Sequence[Callable[[], object]]) -> None:
        for callback in waiters:
            try:
                callback()
            except Exception as error:
                self._report("a waiter's", error)

    def _hurry(self) -> None:
        """Somebody waits for the journal only."""
        if self._flight is None:
            if self._rest_over.due:
                self.wake()
        else:
            self._early.ask(EARLY_S)

    def _overtake(self) -> None:
        if self.vlog.hurried and not self._stopped:
            self.run()
            self._hurry()

    def close(self) -> JournalFile | None:
        """Stop and hand over the open file; one that was for the next segment becomes a spare."""
        if self._proposed is not None:
            self._journal.spares.append(self._proposed)
            self._proposed = None
        return super().close()

    def state(self) -> dict[str, Any]:
        """For ``kproto vlogs``. ``lag`` counts references that are not durable."""
        vlog, segment = self.vlog, self.vlog.open_segment
        return {
            "vseg": segment.number if segment else None,
            "backups": [target.node_id for target in self._targets] if segment else [],
            "filled": (segment.end - segment.start) / segment.capacity if segment else 0.0,
            "live_copies": vlog.live_copies,
            "lag": vlog.end - vlog.durable,
            "in_flight": self._flight.length if self._flight else 0,
            "proposing": self._proposed is not None,
            "pushes": self.pushes,
            "chunks_per_push": self.chunks / self.pushes if self.pushes else 0.0,
            "bytes_per_push": self.bytes / self.pushes if self.pushes else 0.0,
            "replaced": self.replaced,
            "stalls": self.stalls,
            "late_answers": self.late,
            "rest_ms": self._gathering.rest * 1000,
            "state_frames": self.states.written,
            "state_bytes": self.states.last_bytes,
        }

    # Making a frame

    def _free(self) -> bool:
        """The next frame, or the next segment, may begin: nothing is in flight, nor is more waited for."""
        if self._stopped or self._syncing or self._proposed is not None:
            return False
        return not self._gathers() if self._flight is None else self._overtakes()

    def _gathers(self) -> bool:
        """Whether the next frame waits for more chunks: not when somebody waits for the journal only, when no
        more may come, when a segment is to end, or when the frame is made already."""
        vlog = self.vlog
        if not self._gathering.rest or not vlog.pending:
            return False
        if vlog.hurried or vlog.blocked or self._renewing or self._unsent():
            return False
        left = self._gathering.left(self._clock.monotonic())
        if left:
            self._rest_over.ask(left)
        return left > 0

    def _overtakes(self) -> bool:
        """Whether the next frame goes though not all copies have the last one."""
        late = self._clock.monotonic() - self._sent_at >= EARLY_S
        return late and bool(self.vlog.hurried) and not self._renewing

    def _unsent(self) -> bool:
        segment = self.vlog.open_segment
        return segment is not None and segment.unsent(OWNER) is not None

    def _next_frame(self) -> Frame | None:
        """The frame to send next; None when there is none, or no segment for it yet."""
        vlog = self.vlog
        segment = vlog.open_segment
        if segment is not None:
            again = segment.unsent(OWNER)
            if again is not None:
                return again
        refs = vlog.pending
        if self._flight is not None:
            return self._early_frame(segment, refs)
        if self._renewing or (refs and segment is None):
            self._next_segment(self._wanted(refs))
            return None
        if not refs or segment is None:
            return None
        count, size = self._measure(refs)
        if size > segment.room():
            first = [ref[6] + ENTRY_SIZE for ref in refs[:count]] if segment.end == segment.start else []
            count = how_many_fit(first, segment.room())
            if not count:
                self._next_segment(self._wanted(refs))
                return None
        frame = encode(vlog, segment, vlog.take(count))
        vlog.add(frame)
        self.states.since += frame.length
        if not vlog.pending and self.states.due(segment.number):
            self._add_state(segment)
        return frame

    def _early_frame(self, segment: VirtualSegment | None, refs: Sequence[ChunkRef]) -> Frame | None:
        """The next frame while others are on their way, if it fits."""
        vlog = self.vlog
        if not refs or segment is None:
            return None
        count, size = self._measure(refs)
        if size > segment.room():
            return None
        frame = encode(vlog, segment, vlog.take(count))
        vlog.add(frame)
        self.states.since += frame.length
        return frame

    def _wanted(self, refs: Sequence[ChunkRef]) -> int:
        """Bytes that the next segment should have room for: the next frame, and the state after it; at least
        one chunk, at most an ordinary file, or a larger one when the state needs it."""
        least = FRAME_SIZE + ENTRY_SIZE + (refs[0][6] if refs else 0)
        state = self.states.last_bytes * 2
        wanted = min(self._measure(refs)[1] + state, self._space.file_bytes - FILE_HEADER_SIZE)
        return max(least, wanted, min(state, self._space.most))

    def _measure(self, refs: Sequence[ChunkRef]) -> tuple[int, int]:
        """How many of ``refs`` go into the next frame, room permitting, and its bytes."""
        times = LATE_TIMES if self.states.late else 1
        most = FRAME_BYTES * times
        count = min(len(refs), FRAME_CHUNKS * times)
        size = FRAME_SIZE + ENTRY_SIZE * count + sum([ref[6] for ref in refs[:count]])
        if size > most:
            sizes = [ref[6] + ENTRY_SIZE for ref in refs[:count]]
            count = max(how_many_fit(sizes, most), 1)
            size = FRAME_SIZE + sum(sizes[:count])
        return count, size

    def _fits_next(self) -> bool:
        """The next segment would have room for the last state frame."""
        ordinary = self._space.file_bytes - FILE_HEADER_SIZE
        return self.states.last_bytes <= max(ordinary, self._wanted(()))

    def _add_state(self, segment: VirtualSegment) -> bool:
        """Whether a state frame fits: it is the next one then."""
        frame = self.states.make(self.vlog, segment)
        if frame is not None:
            self.vlog.add(frame)
        return frame is not None

    # The next segment

    def _next_segment(self, size: int) -> None:
        """Propose a segment for a frame of ``size`` bytes (rules 4, 11 and 13), once its file is there. The
        one before stays in the journal until the store knows this one, and others stay behind it."""
        avoided, wait = self._patience.choice()
        if wait:
            self._retry.ask(wait)
            return
        file = self._space.get(size, owed=bool(self._unrecorded))
        if file is None:
            return
        self.roll()
        vlog = self.vlog
        self._proposed = file
        self._renewing = False
        number = vlog.numbered + 1
        request = OpenVseg(
            vlog.vlog_id,
            number,
            self.klass.copies,
            self.klass.policy,
            vlog.position,
            avoided,
        )
        self._shared.vsegs.open_next(request, partial(self._opened, number))

    def _opened(self, number: int, targets: tuple[CopyTarget, ...] | None) -> None:
        """The store has recorded segment ``number`` with these backups; None: it is not ours to open."""
        file, vlog = self._proposed, self.vlog
        if self._stopped or file is None or number != vlog.numbered + 1:
            return
        if targets is None:
            self._shared.lose()
            return
        self._unpin()
        try:
            self._journal.start(
                file, vlog.vlog_id, number, vlog.position, self.klass.copies, self.klass.policy
            )
        except OSError as error:
            if error.errno in NO_SPACE:
                self._recorded = targets
                self._space.failed(error)
            else:
                self._owner.poison(f"journal file {file.path}: {error}")
            return
        self._proposed = self._recorded = None
        self.resting = False
        vlog.open(file.size - FILE_HEADER_SIZE, file.chain, 1 + len(targets))
        self._filled_at = math.inf
        if targets != self._targets:
            self._gathering.moved()
        self._targets = targets
        self._epochs = [self._shared.epoch_of(target) for target in targets]
        self._file = file
        if number > 1:
            self.states.begun(self._clock.monotonic())
        if len(targets) + 1 >= self.klass.copies and not self._may_leave():
            self._widen_wait = WIDEN_S
        if self.klass.policy is FlushPolicy.SYNCED:
            self._sync(file, vlog.position)  # see `Pusher._make_room`
        self.run()

    # Sending

    def _send(self, frame: Frame) -> bool:
        """Write ``frame`` to the journal and send it to every backup; True when all have it already."""
        file, segment = self._file, self.vlog.segments[-1]
        if file is None:
            return False
        older = self._write(file, frame)
        if older is None:
            return False
        end = frame.position + frame.length
        self._sent_at = self._clock.monotonic()
        if frame.refs and self._sent_at < self._filled_at:
            self._filled_at = self._sent_at
        if self._flight is None:
            self._flying_since = self._sent_at
        self._flight = frame
        self.pushes += 1
        self.chunks += len(frame.refs)
        self.bytes += frame.length
        segment.sent(OWNER, frame)
        if (end - segment.start) * 4 > segment.capacity * 3:
            self._space.ahead()
        if self.klass.policy is FlushPolicy.SYNCED:
            self._sync(file, end, older)
        for copy, target in enumerate(self._targets, 1):
            if segment.closed or self._stopped:
                return False
            if segment.takes(copy, frame, BEHIND_BYTES):
                self._push(segment, copy, target, frame)
        if self.klass.policy is not FlushPolicy.SYNCED and not (segment.closed or self._stopped):
            self._copied(segment, OWNER, end)
        if self._flight is not None:
            self._stall_look.ask(self._shared.stall_s)
        if self.vlog.hurried:
            self._hurry()
        return self._flight is None

    def _push(self, segment: VirtualSegment, copy: int, target: CopyTarget, frame: Frame) -> None:
        """Send ``frame`` to a backup of the open segment."""
        segment.sent(copy, frame)
        file = self._file
        first = file.header if file is not None and frame.position == segment.start else None
        begin, end = frame.position, frame.position + frame.length
        done = partial(self._answered, segment, copy, target.node_id, begin, end)
        self._shared.backups.push(target, first, frame.pieces, done)

    def _answered(
        self, segment: VirtualSegment, copy: int, node_id: int, begin: int, end: int, answer: PushAnswer
    ) -> None:
        """A backup answered the push of the frame from ``begin`` to ``end``."""
        if self._stopped:
            return
        if fenced(answer):
            self._shared.lose()
        elif not counts(segment, self.vlog.open_segment):
            self.late += 1
        elif stored(answer, end):
            self._patience.stored(node_id)
            self._copied(segment, copy, end)
            if segment.copies[copy].sent != segment.end:
                self._send_behind(segment, copy, BEHIND_FRAMES)
        elif not self._put_off(segment, copy, node_id, begin, end, answer):
            self._replace([node_id])
            self.run()

    def _synced(
        self, file: JournalFile, segment: VirtualSegment, end: int, error: BaseException | None
    ) -> None:
        """The fdatasync that covers everything below ``end`` is over."""
        self._syncing = False
        file.pins -= 1
        if error is not None:
            self._owner.poison(f"fdatasync of {file.path}: {error}")
        elif not self._stopped:
            if counts(segment, self.vlog.open_segment):
                self._copied(segment, OWNER, end)
            self.run()

    def _copied(self, segment: VirtualSegment, copy: int, end: int) -> None:
        """``copy`` holds ``segment`` up to ``end``; when all do, the next frame may go."""
        flight = self._flight
        if flight is not None:
            if copy == OWNER and (told := self.vlog.note_written(flight.upto)):
                self._tell(told)
            before = segment.durable
            segment.acked(copy, end)
            if segment.durable == before:
                return
            if segment.durable >= flight.position + flight.length:
                self._landed(flight)
            else:
                self._flying_since = self._clock.monotonic()
        self._acked(segment, end, copy)
        self.states.landed(segment)
        self.run()

    def _landed(self, flight: Frame) -> None:
        """All copies have the last frame. (While disks sync, chunks gather anyway.)"""
        self._flight = None
        if flight.refs and self._targets and self.klass.policy is not FlushPolicy.SYNCED:
            now, linger = self._clock.monotonic(), self._shared.linger_s
            self._gathering.landed(now - self._sent_at, len(flight.refs), flight.length, now, linger)

    # Failures

    def _put_off(
        self, segment: VirtualSegment, copy: int, node_id: int, begin: int, end: int, answer: PushAnswer
    ) -> bool:
        """Whether who refused the frame from ``begin`` to ``end`` is asked again: it has no room, and is
        hoped for. What it says about the frames behind that one counts for nothing: they do not continue its
        copy. The answer to the one before may be behind this one, where acks wait for syncs.

        Nor is it asked again when another segment is wanted: nothing goes on before this one is closed."""
        if answer.outcome is PushOutcome.UNREACHABLE:
            return False
        if segment.copies[copy].sent < end:
            return True
        if answer.outcome is not PushOutcome.FULL:
            return False
        waited = self._patience.has_no_room(node_id, self._clock.monotonic() - self._flying_since)
        if (self._renewing and self._shared.heard()) or not self._patience.hopes([node_id], waited):
            return False
        segment.failed(copy, begin)
        self._offers.ask(AGAIN_S)
        return True

    def _offer(self) -> None:
        """Ask backups without room whether they have some: one frame each."""
        segment = self.vlog.open_segment
        for copy in range(1, 1 + len(self._targets)):
            if segment is not None:
                self._send_behind(segment, copy, 1)

    def _send_behind(self, segment: VirtualSegment, copy: int, most: int) -> None:
        """Send what a copy lacks, no more than ``most`` frames at once. The connection takes only so much,
        also of other virtual logs, and this loop has more to do: each answer asks for more."""
        progress, journal = segment.copies[copy], segment.copies[OWNER]
        for frame in segment.lacks(copy, most, BEHIND_BYTES):
            if segment.closed or self._stopped or not progress.sent == frame.position < journal.sent:
                return
            self._push(segment, copy, self._targets[copy - 1], frame)

    def _look(self) -> None:
        """Has a backup not answered for too long (rule 13)?"""
        segment = self.vlog.open_segment
        if self._flight is None or segment is None or self._stopped:
            return
        frame = segment.frames[0]
        usual = self._shared.stall_s
        stall = stall_of(frame.length, usual)
        waited = self._clock.monotonic() - self._flying_since
        if not stalled(waited, stall):  # however large this one is, the next one may be small
            self._stall_look.ask(min(max(stall - waited, LEAST_LOOK_S), usual))
            return
        if self._doubted is not frame:
            self._doubted = frame
            self._stall_look.ask(stall * SECOND_LOOK)
            return
        end = frame.position + frame.length
        late = [
            target.node_id for copy, target in enumerate(self._targets, 1) if segment.copies[copy].acked < end
        ]
        if not late:
            self._stall_look.ask(usual)  # it is the own disk
            return
        if self._patience.hopes(late, waited):
            self._stall_look.ask(usual * SECOND_LOOK)
            return
        self.stalls += 1
        self._replace(late, waited)
        self.run()

    def _replace(self, failed: Sequence[int], waited: float = 0.0) -> None:
        """Rule 13: close the open segment at its durable header; what is not durable is pending again."""
        vlog, file = self.vlog, self._file
        segment = vlog.open_segment
        if segment is None or file is None:
            return
        for node_id in failed:
            self._patience.failed(node_id, waited)
        self._pin()
        self._file = None
        self._flight = self._doubted = None
        self._renewing = True
        vlog.abandon()
        vlog.live_copies = 1 + sum(target.node_id not in failed for target in self._targets)
        self.replaced += 1
        self.states.abandoned(self._clock.monotonic())
        if self.group_sync is not None:
            self.group_sync.left(file, segment.end)
        self._owner.segment_closed(vlog, segment, file)

    def _pin(self) -> None:
        """Keep the file of the open segment, which is about to be closed, until the store knows its end."""
        if self._file is not None:
            self._file.pins += 1
            self._unrecorded.append(self._file)

    def _unpin(self) -> None:
        for file in self._unrecorded:
            file.pins -= 1
        self._unrecorded = []

    def _may_widen(self) -> bool:
        backups = [target.node_id for target in self._targets]
        shared = self._shared
        return may_widen(self.klass.copies, backups, shared.members, self._patience.unwanted())

    def _may_leave(self) -> bool:
        shared, unwanted = self._shared, self._patience.unwanted
        if not shared.drained:
            return False
        backups = [target.node_id for target in self._targets]
        return may_leave(self.klass.copies, backups, shared.members, shared.drained, unwanted())

    def _estimate(self) -> None:
        """How many copies the first segment will have, as far as one can tell."""
        self.vlog.live_copies = min(self.klass.copies, 1 + len(self._shared.members))
