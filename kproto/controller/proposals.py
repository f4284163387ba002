"""What the brokers of a cluster propose: kind and JSON arguments in, a committed decision and JSON out.

=================  ==============================================  ===========================================
kind               arguments                                       answer
=================  ==============================================  ===========================================
``open_vseg``      vlog, seq, copies, policy, start, exclude       ``{"backups": [[node, store id], ...]}``
``close_vsegs``    ``{"vsegs": [[vlog, seq, end], ...]}``          ``[bool, ...]``
``commit``         ``{"streamlets": [[topic, streamlet,            ``[bool, ...]``
                   leader epoch], ...], "empty": [[topic,
                   streamlet], ...]}``: those of them without
                   anything in their sources
``cannot``         ``{"streamlets": [[topic, streamlet,            number of streamlets that another broker is
                   leader epoch], ...]}``                          to rebuild now
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

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, Protocol, TypeVar

from kproto.controller import rules
from kproto.controller.arguments import Arguments, integer, items, malformed, rows, topic_id
from kproto.controller.decision import Decision, carry_out
from kproto.controller.denials import Denials
from kproto.controller.draining import draining, left_on
from kproto.controller.fencing import decide_fence
from kproto.controller.freeing import Start, Unneeded, decide_emptied, decide_free, decide_starts
from kproto.controller.giving_up import told
from kproto.controller.moves import HandOver, decide_handed_over
from kproto.controller.reassignment import Copied, decide_copied
from kproto.controller.recoveries import Recoveries, summary
from kproto.controller.recovery import Attempt, decide_cannot, decide_commit, only_copies
from kproto.controller.repair import decide_disowned
from kproto.controller.retiring import decide_retire
from kproto.controller.single import decide_alone
from kproto.controller.unreached import Unreached
from kproto.controller.vsegs import (
    COPIES_MAX,
    Opening,
    backups_json,
    decide_close_vsegs,
    decide_open_vseg,
    decide_widen,
)
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, VlogTable
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VsegId

if TYPE_CHECKING:
    from kproto.controller.controller import Controller

log = logging.getLogger(__name__)

U32: Final = 2**32 - 1
OFFSET_MAX: Final = 2**63 - 1
Answer = TypeVar("Answer")
P = ParamSpec("P")


class Asked(NamedTuple):
    """A proposal: who makes it, as which broker epoch, and its arguments."""

    node_id: int
    epoch: int
    args: object


class LoopPort(Protocol):
    """What the controller's loop knows that proposals ask for, and what they make it do."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        ...

    def stuck(self) -> Sequence[str]:
        """What recoveries wait for, one line each."""
        ...

    def repairs(self) -> dict[str, int]:
        """Figures of the repairs that are under way, or wanted."""
        ...

    def heard_since(self, node_id: int, other: int) -> bool:
        """Whether a broker was heard since another one began (`Sessions.heard_since`)."""
        ...

    def accept_loss(self, vsegs: Sequence[VsegId], named: bool) -> list[bool]:
        """Give up what copies in limbo may have lost (`Sealing.accept_loss`)."""
        ...


class NoLoop:
    """In place of the loop, for a broker that is alone: nothing recovers, and nobody is heard."""

    def now(self) -> float:
        return 0.0

    def stuck(self) -> Sequence[str]:
        return ()

    def repairs(self) -> dict[str, int]:
        return {}

    def heard_since(self, node_id: int, other: int) -> bool:  # noqa: ARG002
        return False

    def accept_loss(self, vsegs: Sequence[VsegId], named: bool) -> list[bool]:  # noqa: ARG002
        return [False for _ in vsegs]


class Proposals:
    """Answers proposals; also keeps what is remembered from one to the next, nothing of which is needed to
    be right: a controller that starts anew learns it again.
    """

    __slots__ = (
        "_controller",
        "_kinds",
        "denials",
        "leaving",
        "loop",
        "recoveries",
        "rewritten",
        "unneeded",
        "unreached",
    )

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self.loop: LoopPort = NoLoop()
        """Says that it is there when it starts."""
        self.unneeded = Unneeded(controller.image.revision)
        self.rewritten = Unneeded(controller.image.revision)
        self.recoveries = Recoveries()
        self.denials = Denials()
        self.unreached = Unreached()
        self.leaving: set[tuple[int, int]] = set()
        """(node id, epoch) of brokers that are being let go."""
        self._kinds: dict[str, Callable[[Asked], Awaitable[Any]]] = {
            "open_vseg": self._open_vseg,
            "close_vsegs": self._close_vsegs,
            "commit": self._commit,
            "cannot": self._cannot,
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
        rules.check_member(self._controller.image, node_id, epoch)
        return await known(Asked(node_id, epoch, args))

    async def _carry_out(
        self,
        decide: Callable[Concatenate[MetadataImage, VlogTable, P], Decision[Answer]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Answer:
        return await carry_out(self._controller, decide, *args, **kwargs)

    async def _open_vseg(self, asked: Asked) -> dict[str, Any]:
        return backups_json(await self._carry_out(decide_open_vseg, Opening.of_arguments(*asked)))

    async def _close_vsegs(self, asked: Asked) -> list[bool]:
        return await self._carry_out(decide_close_vsegs, asked.node_id, _ends(asked))

    async def _commit(self, asked: Asked) -> list[bool]:
        node_id, epoch, _ = asked
        empty = _empty(asked.args)
        attempts = [each._replace(empty=each[:2] in empty) for each in _attempts(asked.args)]

        def decide(image: MetadataImage, table: VlogTable) -> Decision[list[StreamletRecord]]:
            rules.check_member(image, node_id, epoch)
            decision = decide_commit(image, table, node_id, epoch, attempts)
            before = [
                image.streamlet(attempt.topic_id, attempt.streamlet)
                for attempt, done in zip(attempts, decision.answer, strict=True)
                if done
            ]
            self._took_over(asked, before)
            answers.extend(decision.answer)
            return Decision(before, decision.puts)

        answers: list[bool] = []
        before = await self._carry_out(decide)
        for each in before:
            self.unreached.reached((each.topic_id, each.index), node_id, epoch)
        self.recoveries.committed(before, self.loop.now())
        return answers

    async def _cannot(self, asked: Asked) -> int:
        """A leader to be does not reach copies."""
        node_id, epoch, args = asked
        attempts, now = _attempts(args), self.loop.now()
        self.unreached.forget(now)
        image = self._controller.image
        for each in attempts:
            record = image.find_streamlet(each.topic_id, each.streamlet)
            if rules.may_commit(image, record, node_id, epoch, each.leader_epoch):
                self.unreached.said(each[:2], node_id, epoch, now)
        tried = self.unreached.at(image, now)
        turned = await self._carry_out(decide_cannot, node_id, epoch, attempts, tried)
        if turned:
            log.warning("broker %d does not reach copies of %d streamlets: others try", node_id, len(turned))
        self.recoveries.assigned(turned, self.loop.now())
        return len(turned)

    def _took_over(self, asked: Asked, streamlets: Sequence[StreamletRecord]) -> None:
        """A leader gets streamlets by what is being decided: its reports from before say nothing of them."""
        for reports in (self.unneeded, self.rewritten):
            reports.took_over(asked.node_id, asked.epoch, streamlets, self._controller.image.revision)

    async def _handed_over(self, asked: Asked) -> list[bool]:
        """A leader gave streamlets up for a planned move (rule 12b)."""
        fields = Arguments(asked.args)
        attempts = [
            HandOver(
                topic_id(topic),
                integer(streamlet, "a streamlet", 0, U32),
                integer(leader_epoch, "a leader epoch"),
                integer(began, "a revision"),
            )
            for topic, streamlet, leader_epoch, began in fields.rows("streamlets", 4)
        ]
        upto = [
            (integer(vlog, "a virtual log", 0, U32), integer(seq, "a number", 0, U32))
            for vlog, seq in fields.rows("upto", 2)
        ]
        return await self._carry_out(decide_handed_over, asked.node_id, asked.epoch, attempts, upto)

    async def _retire(self, asked: Asked) -> dict[str, bool]:
        """A broker is about to leave, and appends no more: others lead what it leads (rule 12b)."""
        tried = self.unreached.at(self._controller.image, self.loop.now())
        retired = await self._carry_out(decide_retire, asked.node_id, asked.epoch, _ends(asked), tried)
        return {"closed": retired.closed, "more": retired.more}

    async def _starts(self, asked: Asked) -> list[bool]:
        starts = [
            Start(
                topic_id(topic),
                integer(index, "a partition", 0, U32),
                integer(offset, "a start", 0, OFFSET_MAX),
            )
            for topic, index, offset in _rows(asked.args, "starts")
        ]
        return await self._carry_out(decide_starts, asked.node_id, asked.epoch, starts)

    async def _unneeded(self, asked: Asked) -> int:
        taken = self._report(self.unneeded, asked)
        await self.free()
        return taken

    async def _rewritten(self, asked: Asked) -> int:
        """A leader has pushed again what no copy has any more (rule 45)."""
        taken = self._report(self.rewritten, asked)
        await self._carry_out(decide_emptied, self.rewritten)
        return taken

    async def _copied(self, asked: Asked) -> list[bool]:
        """A leader has made copies of streamlets that had one only."""
        node_id, epoch, args = asked
        wanted = [
            Copied(
                topic_id(topic),
                integer(streamlet, "a streamlet", 0, U32),
                integer(leader_epoch, "a leader epoch"),
                [integer(start, "a start", 0, OFFSET_MAX) for start in items(starts, "starts")],
            )
            for topic, streamlet, leader_epoch, starts in Arguments(args).rows("streamlets", 4)
        ]

        def decide(image: MetadataImage, table: VlogTable) -> Decision[list[bool]]:
            decision = decide_copied(image, table, node_id, epoch, wanted)
            mine = [
                image.streamlet(each.topic_id, each.streamlet).copied_by(epoch)
                for each, done in zip(wanted, decision.answer, strict=True)
                if done
            ]
            self._took_over(asked, mine)
            return decision

        return await self._carry_out(decide)

    async def _alone(self, asked: Asked) -> list[bool]:
        """A leader has all of streamlets that are to have one copy."""
        answers = await self._carry_out(decide_alone, asked.node_id, asked.epoch, _attempts(asked.args))
        await self.free()
        return answers

    async def _widen(self, asked: Asked) -> int:
        """An owner has partitions in virtual logs with more copies than those they were in."""
        vlogs = [
            (
                integer(vlog, "a virtual log", 0, U32),
                integer(seq, "a number", 0, U32),
                integer(copies, "copies", 2, COPIES_MAX),
            )
            for vlog, seq, copies in Arguments(asked.args).rows("vlogs", 3)
        ]
        return await self._carry_out(decide_widen, asked.node_id, asked.epoch, vlogs)

    def _report(self, reports: Unneeded, asked: Asked) -> int:
        args = asked.args
        vsegs = [vseg for vseg in _vsegs(args) if vseg in self._controller.table.vsegs]
        revision = args.get("revision") if isinstance(args, dict) else None
        reports.report(asked.node_id, asked.epoch, vsegs, integer(revision, "a revision", 0, OFFSET_MAX))
        return len(vsegs)

    async def free(self) -> list[VsegId]:
        """Delete the records of virtual segments that nobody needs."""
        return await self._carry_out(decide_free, self.unneeded)

    async def _disown(self, asked: Asked) -> list[bool]:
        node_id, epoch, args = asked
        vsegs = _vsegs(args)
        return await self._carry_out(decide_disowned, node_id, epoch, vsegs, self.loop.heard_since)

    async def _leave(self, asked: Asked) -> bool:
        """A broker that ends in peace is no member from now on; others lead what it led (rule 12b)."""
        controller, (node_id, epoch, _) = self._controller, asked
        self.leaving.add((node_id, epoch))
        try:
            return await controller.decide(lambda: decide_fence(controller.image, node_id, epoch)) is not None
        finally:
            self.leaving.discard((node_id, epoch))

    async def _accept_loss(self, asked: Asked) -> list[bool]:
        return self.loop.accept_loss(_vsegs(asked.args), True)

    async def _auto_create(self, asked: Asked) -> list[list[Any]]:
        args = asked.args
        names = items(args.get("names") if isinstance(args, dict) else args, "names")
        if not all(isinstance(name, str) for name in names):
            raise malformed("a name is no text")
        outcomes = await self._controller.auto_create(names)
        return [
            [each.name, int(each.error.code), each.error.message] if each.error else [each.name, 0, None]
            for each in outcomes
        ]

    async def _offsets_topic(self, _: Asked) -> None:
        await self._controller.ensure_offsets_topic()

    async def _producer_ids(self, _: Asked) -> list[int]:
        return list(await self._controller.allocate_producer_ids())

    async def _recoveries(self, _: Asked) -> dict[str, Any]:
        image, table = self._controller.image, self._controller.table
        left = {str(each): left_on(image, table, each) for each in draining(image)}
        rows, lost = self.recoveries.rows(), told(table.vsegs.values())
        waiting = (*self.loop.stuck(), *only_copies(image))
        return {**summary(rows, waiting, self.loop.repairs(), lost), "draining": left}


def _rows(args: object, name: str) -> list[list[Any]]:
    return Arguments(args).rows(name, 3) if isinstance(args, dict) else rows(args, 3, name)


def _attempts(args: object) -> list[Attempt]:
    return [
        Attempt(
            topic_id(topic), integer(index, "a streamlet", 0, U32), integer(leader_epoch, "a leader epoch")
        )
        for topic, index, leader_epoch in _rows(args, "streamlets")
    ]


def _empty(args: object) -> set[tuple[bytes, int]]:
    """Topic id and streamlet of those that are empty; nothing of the kind in a bare list."""
    found = rows(args.get("empty", []) if isinstance(args, dict) else [], 2, "empty")
    return {(topic_id(topic), integer(index, "a streamlet", 0, U32)) for topic, index in found}


def _ends(asked: Asked) -> list[tuple[VsegId, int]]:
    """Virtual segments of an owner, and where each ends."""
    return [
        (
            VsegId(asked.epoch, integer(vlog, "a virtual log", 0, U32), integer(seq, "a number", 0, U32)),
            integer(end, "an end", 0, OFFSET_MAX),
        )
        for vlog, seq, end in _rows(asked.args, "vsegs")
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
