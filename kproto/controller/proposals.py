"""What the brokers of a cluster propose: kind and JSON arguments in, a committed decision and JSON out.

=================  ==============================================  ===========================================
kind               arguments                                       answer
=================  ==============================================  ===========================================
``open_vseg``      vlog, seq, copies, policy, start, exclude       ``{"backups": [[node, store id], ...]}``
``close_vsegs``    ``{"vsegs": [[vlog, seq, end], ...]}``          ``[bool, ...]``
``commit``         ``{"streamlets": [[topic, streamlet,            ``[bool, ...]``
                   leader epoch], ...]}``
``handed_over``    ``{"streamlets": [[topic, streamlet, leader     ``[bool, ...]``
                   epoch, began], ...], "upto": [[vlog, seq]]}``
``retire``         ``{"vsegs": [[vlog, seq, end], ...]}``          ``{"closed": bool, "more": bool}``
``starts``         ``{"starts": [[topic, partition, offset]]}``    ``[bool, ...]``
``unneeded``       ``{"vsegs": [[E, vlog, seq], ...],``            number of reports taken
                   ``"revision"}``, of the image they rest on
``rewritten``      as ``unneeded``: what was live in them has      number of reports taken
                   been pushed again
``copied``         ``{"streamlets": [[topic, streamlet, leader     ``[bool, ...]``
                   epoch, [log start, ...]], ...]}``
``alone``          ``{"streamlets": [[topic, streamlet,            ``[bool, ...]``
                   leader epoch], ...]}``
``widen``          ``{"vlogs": [[vlog, seq, copies], ...]}``       number of virtual segments that want more
                                                                   copies now
``leave``          nothing                                         bool
``disown``         ``{"vsegs": [[E, vlog, seq], ...]}``            ``[bool, ...]``
``accept_loss``    ``{"vsegs": [[E, vlog, seq], ...]}``            ``[bool, ...]``: which are sealing
``auto_create``    ``{"names": [...]}``                            ``[[name, error code, message], ...]``
``offsets_topic``  nothing                                         null
``producer_ids``   nothing                                         ``[first, count]``
``recoveries``     nothing                                         figures of recoveries and what waits
=================  ==============================================  ===========================================

Topics are 32 hex digits. ``commit`` and ``starts`` also take the bare list. Leaders repeat ``unneeded`` until
the records are gone. Every proposal of an owner is checked against the epoch it is registered under (rule
16): STALE_BROKER_EPOCH means that its ownership is over.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from kproto.controller import rules
from kproto.controller.arguments import Arguments, integer, items, malformed, rows, topic_id
from kproto.controller.decision import Decision
from kproto.controller.denials import Denials
from kproto.controller.draining import draining, left_on
from kproto.controller.fencing import decide_fence
from kproto.controller.freeing import Start, Unneeded, decide_emptied, decide_free, decide_starts
from kproto.controller.giving_up import told
from kproto.controller.moves import HandOver, decide_handed_over
from kproto.controller.reassignment import Copied, decide_copied
from kproto.controller.recoveries import Recoveries, summary
from kproto.controller.recovery import Attempt, decide_commit
from kproto.controller.repair import decide_disowned
from kproto.controller.retiring import decide_retire
from kproto.controller.single import decide_alone
from kproto.controller.vsegs import (
    COPIES_MAX,
    Opening,
    backups_json,
    decide_close_vsegs,
    decide_open_vseg,
    decide_widen,
)
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VsegId

if TYPE_CHECKING:
    from kproto.controller.controller import Controller

U32: Final = 2**32 - 1
OFFSET_MAX: Final = 2**63 - 1
Kind = Callable[[int, int, object], Awaitable[Any]]


class Proposals:
    """Answers proposals; also keeps what is remembered from one to the next, nothing of which is needed to
    be right: a controller that starts anew learns it again.
    """

    __slots__ = (
        "_controller",
        "_kinds",
        "accept_loss",
        "clock",
        "denials",
        "heard_since",
        "leaving",
        "look_for_copies",
        "recoveries",
        "repairs",
        "rewritten",
        "stuck",
        "unneeded",
    )

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self.unneeded = Unneeded(controller.image.revision)
        self.rewritten = Unneeded(controller.image.revision)
        self.recoveries = Recoveries()
        self.clock: Callable[[], float] = lambda: 0.0
        """Monotonic seconds; the loop sets it."""
        self.stuck: Callable[[], Sequence[str]] = list
        """What recoveries wait for, one line each; the loop sets it."""
        self.repairs: Callable[[], dict[str, int]] = dict
        self.accept_loss: Callable[[Sequence[VsegId], bool], list[bool]] = lambda vsegs, _: [
            False for _ in vsegs
        ]
        """Gives up what copies in limbo may have lost (`Sealing.accept_loss`); the loop sets it."""
        self.denials = Denials()
        self.look_for_copies: Callable[[], object] = lambda: None
        """Something lacks copies that no record shows; the loop sets it."""
        self.heard_since: Callable[[int, int], bool] = lambda *_: False
        """Whether a broker was heard since another one began; the loop sets it."""
        self.leaving: set[tuple[int, int]] = set()
        """(node id, epoch) of brokers that are being let go."""
        self._kinds: dict[str, Kind] = {
            "open_vseg": self._open_vseg,
            "close_vsegs": self._close_vsegs,
            "commit": self._commit,
            "handed_over": self._handed_over,
            "retire": self._retire,
            "starts": self._starts,
            "unneeded": self._unneeded,
            "rewritten": self._rewritten,
            "copied": self._copied,
            "alone": self._alone,
            "widen": self._widen,
            "leave": self._leave,
            "disown": self._disown,
            "accept_loss": self._accept_loss,
            "auto_create": self._auto_create,
            "offsets_topic": self._offsets_topic,
            "producer_ids": self._producer_ids,
            "recoveries": self._recoveries,
        }

    async def handle(self, node_id: int, epoch: int, kind: str, args: object) -> Any:
        """Decide what broker ``node_id``, registered as ``epoch``, proposes. Raises :class:`KafkaError`."""
        known = self._kinds.get(kind)
        if known is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"There is no proposal {kind!r}.")
        if not rules.is_current(self._controller.image, node_id, epoch):
            raise _fenced(node_id, epoch)
        return await known(node_id, epoch, args)

    async def _open_vseg(self, node_id: int, epoch: int, args: object) -> dict[str, Any]:
        controller = self._controller
        opening = Opening.of_arguments(node_id, epoch, args)
        return backups_json(
            await controller.decide(lambda: decide_open_vseg(controller.image, controller.table, opening))
        )

    async def _close_vsegs(self, node_id: int, epoch: int, args: object) -> list[bool]:
        controller = self._controller
        closes = _ends(epoch, args)
        return await controller.decide(
            lambda: decide_close_vsegs(controller.image, controller.table, node_id, closes)
        )

    async def _commit(self, node_id: int, epoch: int, args: object) -> list[bool]:
        controller = self._controller
        attempts = _attempts(args)

        def decide() -> Decision[list[StreamletRecord]]:
            image = controller.image
            if not rules.is_current(image, node_id, epoch):
                raise _fenced(node_id, epoch)
            decision = decide_commit(image, controller.table, node_id, epoch, attempts)
            before = [
                image.streamlet(attempt.topic_id, attempt.streamlet)
                for attempt, done in zip(attempts, decision.answer, strict=True)
                if done
            ]
            for reports in (self.unneeded, self.rewritten):
                reports.took_over(node_id, epoch, before, image.revision)
            answers.extend(decision.answer)
            return Decision(before, decision.puts)

        answers: list[bool] = []
        before = await controller.decide(decide)
        self.recoveries.committed(before, self.clock())
        return answers

    async def _handed_over(self, node_id: int, epoch: int, args: object) -> list[bool]:
        """A leader gave streamlets up for a planned move (rule 12b)."""
        controller = self._controller
        attempts = [
            HandOver(
                topic_id(topic),
                integer(streamlet, "a streamlet", 0, U32),
                integer(leader_epoch, "a leader epoch"),
                integer(began, "a revision"),
            )
            for topic, streamlet, leader_epoch, began in Arguments(args).rows("streamlets", 4)
        ]
        upto = [
            (integer(vlog, "a virtual log", 0, U32), integer(seq, "a number", 0, U32))
            for vlog, seq in Arguments(args).rows("upto", 2)
        ]
        return await controller.decide(
            lambda: decide_handed_over(controller.image, controller.table, node_id, epoch, attempts, upto)
        )

    async def _retire(self, node_id: int, epoch: int, args: object) -> dict[str, bool]:
        """A broker is about to leave, and appends no more: others lead what it leads (rule 12b)."""
        controller = self._controller
        closes = _ends(epoch, args)
        retired = await controller.decide(
            lambda: decide_retire(controller.image, controller.table, node_id, epoch, closes)
        )
        return {"closed": retired.closed, "more": retired.more}

    async def _starts(self, node_id: int, epoch: int, args: object) -> list[bool]:
        controller = self._controller
        starts = [
            Start(
                topic_id(topic),
                integer(index, "a partition", 0, U32),
                integer(offset, "a start", 0, OFFSET_MAX),
            )
            for topic, index, offset in _rows(args, "starts")
        ]
        return await controller.decide(
            lambda: decide_starts(controller.image, controller.table, node_id, epoch, starts)
        )

    async def _unneeded(self, node_id: int, epoch: int, args: object) -> int:
        taken = self._report(self.unneeded, node_id, epoch, args)
        await self.free()
        return taken

    async def _rewritten(self, node_id: int, epoch: int, args: object) -> int:
        """A leader has pushed again what no copy has any more (rule 45)."""
        controller = self._controller
        taken = self._report(self.rewritten, node_id, epoch, args)
        await controller.decide(lambda: decide_emptied(controller.image, controller.table, self.rewritten))
        return taken

    async def _copied(self, node_id: int, epoch: int, args: object) -> list[bool]:
        """A leader has made copies of streamlets that had one only."""
        controller = self._controller
        wanted = [
            Copied(
                topic_id(topic),
                integer(streamlet, "a streamlet", 0, U32),
                integer(leader_epoch, "a leader epoch"),
                [integer(start, "a start", 0, OFFSET_MAX) for start in items(starts, "starts")],
            )
            for topic, streamlet, leader_epoch, starts in Arguments(args).rows("streamlets", 4)
        ]

        def decide() -> Decision[list[bool]]:
            image = controller.image
            decision = decide_copied(image, controller.table, node_id, epoch, wanted)
            mine = [
                image.streamlet(each.topic_id, each.streamlet).copied_by(epoch)
                for each, done in zip(wanted, decision.answer, strict=True)
                if done
            ]
            for reports in (self.unneeded, self.rewritten):
                reports.took_over(node_id, epoch, mine, image.revision)
            return decision

        return await controller.decide(decide)

    async def _alone(self, node_id: int, epoch: int, args: object) -> list[bool]:
        """A leader has all of streamlets that are to have one copy."""
        controller, attempts = self._controller, _attempts(args)
        answers = await controller.decide(
            lambda: decide_alone(controller.image, controller.table, node_id, epoch, attempts)
        )
        await self.free()
        return answers

    async def _widen(self, node_id: int, epoch: int, args: object) -> int:
        """An owner has partitions in virtual logs with more copies than those they were in."""
        controller = self._controller
        vlogs = [
            (
                integer(vlog, "a virtual log", 0, U32),
                integer(seq, "a number", 0, U32),
                integer(copies, "copies", 2, COPIES_MAX),
            )
            for vlog, seq, copies in Arguments(args).rows("vlogs", 3)
        ]
        return await controller.decide(
            lambda: decide_widen(controller.image, controller.table, node_id, epoch, vlogs)
        )

    def _report(self, reports: Unneeded, node_id: int, epoch: int, args: object) -> int:
        vsegs = [vseg for vseg in _vsegs(args) if vseg in self._controller.table.vsegs]
        revision = args.get("revision") if isinstance(args, dict) else None
        reports.report(node_id, epoch, vsegs, integer(revision, "a revision", 0, OFFSET_MAX))
        return len(vsegs)

    async def free(self) -> list[VsegId]:
        """Delete the records of virtual segments that nobody needs."""
        controller = self._controller
        return await controller.decide(lambda: decide_free(controller.image, controller.table, self.unneeded))

    async def _disown(self, node_id: int, epoch: int, args: object) -> list[bool]:
        controller = self._controller
        vsegs = _vsegs(args)
        answers = await controller.decide(
            lambda: decide_disowned(
                controller.image, controller.table, node_id, epoch, vsegs, self.heard_since
            )
        )
        for each, done in zip(vsegs, answers, strict=True):
            vseg = controller.table.vsegs.get(each)
            listed = vseg is not None and any(target.node_id == node_id for target in vseg.backups)
            if vseg is not None and listed and not vseg.open and not done:
                self.denials.disowned(vseg, node_id, epoch)
                self.look_for_copies()
        return answers

    async def _leave(self, node_id: int, epoch: int, args: object) -> bool:  # noqa: ARG002
        """A broker that ends in peace is no member from now on; others lead what it led (rule 12b)."""
        controller = self._controller
        self.leaving.add((node_id, epoch))
        try:
            return await controller.decide(lambda: decide_fence(controller.image, node_id, epoch)) is not None
        finally:
            self.leaving.discard((node_id, epoch))

    async def _accept_loss(self, node_id: int, epoch: int, args: object) -> list[bool]:  # noqa: ARG002
        return self.accept_loss(_vsegs(args), True)

    async def _auto_create(self, node_id: int, epoch: int, args: object) -> list[list[Any]]:  # noqa: ARG002
        names = items(args.get("names") if isinstance(args, dict) else args, "names")
        if not all(isinstance(name, str) for name in names):
            raise malformed("a name is no text")
        outcomes = await self._controller.auto_create(names)
        return [
            [each.name, int(each.error.code), each.error.message] if each.error else [each.name, 0, None]
            for each in outcomes
        ]

    async def _offsets_topic(self, node_id: int, epoch: int, args: object) -> None:  # noqa: ARG002
        await self._controller.ensure_offsets_topic()

    async def _producer_ids(self, node_id: int, epoch: int, args: object) -> list[int]:  # noqa: ARG002
        return list(await self._controller.allocate_producer_ids())

    async def _recoveries(self, node_id: int, epoch: int, args: object) -> dict[str, Any]:  # noqa: ARG002
        image, table = self._controller.image, self._controller.table
        left = {str(each): left_on(image, table, each) for each in draining(image)}
        lost = told(table.vsegs.values())
        return {**summary(self.recoveries.rows(), self.stuck(), self.repairs(), lost), "draining": left}


def _rows(args: object, name: str) -> list[list[Any]]:
    return Arguments(args).rows(name, 3) if isinstance(args, dict) else rows(args, 3, name)


def _attempts(args: object) -> list[Attempt]:
    return [
        Attempt(
            topic_id(topic), integer(index, "a streamlet", 0, U32), integer(leader_epoch, "a leader epoch")
        )
        for topic, index, leader_epoch in _rows(args, "streamlets")
    ]


def _ends(epoch: int, args: object) -> list[tuple[VsegId, int]]:
    """Virtual segments of an owner, and where each ends."""
    return [
        (
            VsegId(epoch, integer(vlog, "a virtual log", 0, U32), integer(seq, "a number", 0, U32)),
            integer(end, "an end", 0, OFFSET_MAX),
        )
        for vlog, seq, end in _rows(args, "vsegs")
    ]


def _vsegs(args: object) -> list[VsegId]:
    return [
        VsegId(
            integer(epoch, "an owner epoch", 0),
            integer(vlog, "a virtual log", 0, U32),
            integer(seq, "a number", 0, U32),
        )
        for epoch, vlog, seq in _rows(args, "vsegs")
    ]


def _fenced(node_id: int, epoch: int) -> KafkaError:
    return KafkaError(ErrorCode.STALE_BROKER_EPOCH, f"Broker {node_id} is no member as {epoch}.")
