"""What a broker adds in a cluster: other brokers, copies for them, the controller or its client.

Part of the wiring in ``broker``, kept apart because a broker that is alone needs none of it. `ClusterMember`
brings up the internal listener, the replica store, the metadata (embedded controller, or client of the one
that is elsewhere) and the registration; `attach` then ties log and virtual logs to them. What a fenced broker
still holds is not its own any more (rule 16): ``on_fenced`` is called once, and the process starts anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kproto.config import address_text, host_and_port
from kproto.controller import Controller
from kproto.controller.election import Candidate, Election, candidacy
from kproto.controller.loop import ControllerLoop
from kproto.controller.missing import owed, possible_copies
from kproto.controller.registration import Registration
from kproto.controller.rules import is_draining, is_leaving, may_hold, sound_copies, was_given
from kproto.controller.service import ControllerService
from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.forwarding import RemoteController
from kproto.leaving import Leaving
from kproto.log.manager import OPENED_PER_LOOK
from kproto.metadata import (
    BrokerRecord,
    CopyTarget,
    MetadataImage,
    MetadataStore,
    StreamletRecord,
    VlogTable,
    VsegId,
)
from kproto.metadata.client import Forward, MetadataClient
from kproto.metadata.history import NOTHING, Seen
from kproto.metadata.presence import Presence
from kproto.net.internal import LIMITS, Caller, InternalListener
from kproto.net.peers import Address, Peers
from kproto.replica.bring_over import BringOver
from kproto.replica.disowning import Disowning
from kproto.replica.handing_over import HandingOver
from kproto.replica.narrowing import Narrowing
from kproto.replica.reach import Reach
from kproto.replica.remote import AllChunks, RemoteChunks
from kproto.replica.rewriting import Rewriting
from kproto.replica.scrub import Scrub
from kproto.replica.service import ReplicaService
from kproto.replica.store import ReplicaStore, Workers
from kproto.replica.takeover import Takeover
from kproto.replica.unneeded import UnneededReports
from kproto.replica.widening import Widening
from kproto.trouble import Trouble
from kproto.vlog.manager import JOURNAL_DIRECTORY
from kproto.vlog.peer_backups import PeerBackups
from kproto.vlog.worker import Worker
from kproto.wire.internal import Api, InternalError

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.controller.seat import AnswerClientOf, Seat
    from kproto.directory import DataDirectory
    from kproto.log.manager import LogManager
    from kproto.log.partition import Partition
    from kproto.replica.messages import PartitionKey
    from kproto.vlog.manager import VlogManager
    from kproto.vlog.ports import OpenVseg

log = logging.getLogger(__name__)

JOIN: Final = -1
"""The peer whose node id is not known before the first answer: the address of ``kproto.join``."""
RETRY_SECONDS: Final = 0.1
TELL_SECONDS: Final = 3.0
"""A broker that waits longer for its cluster says so."""
FINISH_SECONDS: Final = 3.0
"""How long the end of the process waits for the controller."""
SEAT_LOOKS: Final = (0.0, 0.02, 0.05, 0.1, 0.2)
"""Seconds before each look whether a controller that closed its connection still listens."""
ENOUGH_OTHERS: Final = 2
"""Backups of the usual three copies."""
STARTS_SECONDS: Final = 0.2
STARTS_AT_ONCE: Final = 100
"""Log starts in one transaction (rule 19b)."""

Report = Callable[[str], object]


class ClusterMember:
    """See the module's text. One start, one stop, on one event loop."""

    def __init__(
        self,
        settings: Settings,
        directory: DataDirectory,
        clock: Clock,
        on_fenced: Report,
        on_poison: Report,
        most_descriptors: int,
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._clock = clock
        self._on_fenced: Report | None = on_fenced
        self.node_id = settings.node_id
        self._epoch = 0
        self.host, self.port = host_and_port(settings.kproto_internal_listen)
        self.listener = InternalListener(
            settings.kproto_cluster_secret,
            replace(LIMITS, descriptors=most_descriptors),
            node_id=self.node_id,
        )
        self._client: MetadataClient | None = None
        self.peers = Peers(self.node_id, settings.kproto_cluster_secret, self._address_of, lambda: self.epoch)
        loop = asyncio.get_running_loop()
        self._workers = [Worker(loop, f"kproto-replica-{name}") for name in ("ack", "rest", "read", "room")]
        self._fill_worker = Worker(loop, "kproto-bring-over")
        store = ReplicaStore(
            directory.path,
            directory.disk,
            clock,
            loop,
            Workers(*self._workers),
            directory.boot,
            CopyTarget(self.node_id, directory.store_id),
            on_poison,
            new_directory=directory.left_as is LeftAs.NEW,
            cut_off_s=settings.kproto_controller_grace_ms / 1000,
        )
        store.doubt(directory.left_as is LeftAs.FAILED)
        self.replicas = ReplicaService(
            store,
            self.peers,
            f"{directory.path}/{JOURNAL_DIRECTORY}",
            settings.kproto_recovery_read_bytes_per_second,
        )
        self.replicas.register(self.listener)
        self.replicas.on_damage = self._damaged
        self._scrub = Scrub(self.replicas)
        self.controller: Controller | RemoteController
        self._embedded: ControllerLoop | None = None
        self._election: Election | None = None
        self._seat: Seat | None = None
        self._campaign: asyncio.Task[None] | None = None
        self._vlogs: VlogManager | None = None
        self._logs: LogManager | None = None
        self._takeover: Takeover | None = None
        self._handing_over: HandingOver | None = None
        self._bring_over: BringOver | None = None
        self._unneeded: UnneededReports | None = None
        self._disowning: Disowning | None = None
        self._rewriting: Rewriting | None = None
        self._widening: Widening | None = None
        self._narrowing: Narrowing | None = None
        self._starts: dict[tuple[bytes, int], tuple[Partition, int]] = {}
        """Log starts that the store does not know yet, by topic id and partition."""
        self._tasks: dict[asyncio.Task[None], None] = {}
        self.presence = Presence(self.node_id, lambda: self.controller.image, self.peers)
        self.listener.serve(Api.PING, lambda _caller, _body, reply: reply(InternalError.NONE), borrowing=True)
        self.peers.on_lost = self._lost
        self.listener.on_closed = self._closed

    # Start

    def bind(self) -> None:
        """Take the internal address. Raises OSError."""
        self.port = self.listener.bind(self.host, self.port)

    async def lead(self, store: MetadataStore, answer_client_of: AnswerClientOf) -> None:
        """This broker has the metadata: be the controller. Raises StoreError."""
        controller = Controller(store, self._settings, self.node_id)
        await controller.start(*self._known())
        self.controller = controller
        self._embedded = ControllerLoop(
            controller, self.peers, self.peers.refused, self._clock, self._settings
        )
        ControllerService(controller, self._embedded, self.listener, answer_client_of(controller))

    def follow(self) -> None:
        """The controller is elsewhere."""
        session_ms = self._settings.broker_session_timeout_ms
        cluster_id, seen = self._known()
        self._client = MetadataClient(
            self.peers, self._candidates, session_ms, cluster_id=cluster_id, seen=seen
        )
        self._client.on_fenced = self.fenced
        self.controller = RemoteController(self._client)

    def stand(self, store: MetadataStore, answer_client_of: AnswerClientOf) -> None:
        """The store is shared: follow whoever is elected controller, and stand for election."""
        self.follow()
        candidate = Candidate(self.node_id, *self._reached_at(), self._directory.store_id)
        self._election, self._seat = candidacy(
            store,
            self._settings,
            self._clock,
            candidate,
            self.listener,
            self.peers,
            self.peers.refused,
            answer_client_of,
            self._led_by,
        )
        self._seat.known = self._known
        self._campaign = asyncio.get_running_loop().create_task(self._election.run())

    def _known(self) -> tuple[str, Seen]:
        """Of which cluster the directory is (empty while it is of none), and what it has seen of it."""
        if not self._settings.keeps_metadata:
            return "", NOTHING
        return self._directory.cluster_id, Seen(*self._directory.seen)

    def _led_by(self, leader: Candidate | None) -> None:
        """Another broker acts as controller: what the last one was asked goes on to it."""
        if leader is not None and self._client is not None:
            self._client.turn(anew=True)

    def _reached_at(self) -> Address:
        """Where other brokers find the internal listener."""
        advertised = self._settings.kproto_internal_advertise
        host, port = host_and_port(advertised) if advertised else (self.host, self.port)
        return host, port or self.port

    async def register(self, host: str, port: int, rack: str | None) -> int:
        """Become a member under a new epoch (rule 2), which is the answer. Clients reach it at ``host``,
        ``port``. Raises KafkaError; DirectoryError when the data directory is another cluster's, before
        anything of that is seen: what its metadata does not list would be garbage here."""
        self.listener.accept()
        own = (*self._reached_at(), self._directory.store_id)
        if self._client is None:
            assert isinstance(self.controller, Controller)
            self._join_cluster()
            registration = Registration(self.node_id, host, port, rack, *own, self._has_lost_power)
            me = await self.controller.register_broker(registration)
            self._epoch = me.epoch
        else:
            me = await self._registered(self._client, BrokerRecord(self.node_id, 0, host, port, rack, *own))
            self._join_cluster()
        self._reach = Reach(self.peers, self.controller, self.node_id)
        self.remote = RemoteChunks(self._reach, self.controller)
        self.copies = AllChunks(self._reach, self.controller)
        self._unneeded = UnneededReports(
            self._reach, self.controller, lambda: self.epoch, self._knows_without, self._may_lack
        )
        self._disowning = Disowning(self.replicas.store, self.controller)
        self.controller.subscribe(self._on_image)
        self._on_image(self.controller.image)
        if self._client is not None:
            self._client.start()
        if self._embedded is not None:
            self._embedded.start()
        return me.epoch

    def _join_cluster(self) -> None:
        if self._settings.keeps_metadata:
            self._directory.join(self.controller.image.cluster_id)

    @property
    def _has_lost_power(self) -> bool:
        """What was not synced here may be gone, as far as others are concerned."""
        return self._directory.left_as.unsynced_gone

    async def _registered(self, client: MetadataClient, broker: BrokerRecord) -> BrokerRecord:
        """Ask until there is a controller that takes this broker: brokers of a cluster start in any order,
        and its store may be away."""
        telling = asyncio.get_running_loop().create_task(self._tell_of_waiting(client))
        try:
            return await client.register(broker, power_lost=self._has_lost_power)
        finally:
            telling.cancel()

    async def _tell_of_waiting(self, client: MetadataClient) -> None:
        """Say why there is no controller yet, and again when that is something else, until cancelled. (Why
        one that is there does not take this broker ``client`` says.)"""
        told = None
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if asyncio.get_running_loop().time() - client.put_off_at < TELL_SECONDS:
                told = None
                continue
            why = self._why_waiting()
            if why != told:
                log.warning("no controller answers yet: waiting for one; %s", why)
            told = why

    def _why_waiting(self) -> str:
        asked = next(iter(self._candidates()), None)
        address = self._address_of(asked) if asked is not None else None
        if asked is None or address is None:
            return "nobody is elected"
        return self.peers.problem(asked) or f"{address_text(*address)}: the controller is not there, or hangs"

    def attach(self, vlogs: VlogManager, logs: LogManager) -> None:
        """Give the virtual logs their backups, and the log what it takes over from other leaders."""
        self._vlogs = vlogs
        self._logs = logs
        session_s = self._settings.broker_session_timeout_ms / 1000
        self._takeover = Takeover(self._reach, self.controller, logs, self._clock, session_s)
        self._bring_over = BringOver(
            self._reach,
            self.controller,
            logs,
            self._directory.disk,
            self._fill_worker,
            self._clock,
            vlogs,
        )
        self._takeover.on_online = self._bring_over.add
        self._handing_over = HandingOver(
            self.node_id, self.controller, logs, vlogs, lambda: self.epoch, self._clock, self._owed
        )
        self._rewriting = Rewriting(
            self._reach,
            self.controller,
            logs,
            vlogs,
            self.replicas.pace,
            self._clock,
            lambda: self.epoch,
            self._knows_without,
            self.replicas.in_journal,
            self._settings.kproto_repair_delay_ms / 1000,
        )
        self._widening = Widening(
            self.node_id,
            self.controller,
            logs,
            vlogs,
            self._rewriting,
            lambda: self.epoch,
            self._knows_without,
            lambda partition: self.note_log_start(partition, partition.log_start_offset),
            self._clock,
        )
        self._narrowing = Narrowing(
            self.node_id,
            self.controller,
            logs,
            self._fill_worker,
            lambda: self.epoch,
            self._clock,
            vlogs,
        )
        vlogs.replicate(PeerBackups(self.peers, self._store_of, self._known_at), self, self._copies_of)
        vlogs.follow_backups(self._epoch_of)
        vlogs.follow_controller(lambda: self._client is None or self._client.hears())
        vlogs.unsealed = self._unsealed
        vlogs.lacks_copies = self._lacks_copies
        self._tell_members(vlogs)

    def recovering(self) -> dict[str, Any]:
        """What this broker does for recoveries: data it brings over, copies it makes, what it reads for
        others."""
        pace, repairer = self.replicas.pace, self.replicas.repairer
        return {
            "bring_over": self._bring_over.state() if self._bring_over is not None else {},
            "copied_bytes": repairer.bytes,
            "pushed_again_bytes": self._rewriting.bytes if self._rewriting is not None else 0,
            "read_bytes": pace.bytes,
            "read_limit": pace.rate,
            "read_waits_s": round(pace.waited, 3),
        }

    def serve(self) -> None:
        """Log and virtual logs are ready: take over what the metadata gives to this broker."""
        assert self._takeover is not None
        assert self._unneeded is not None
        self._scrub.start()
        self._unneeded.start()
        assert self._rewriting is not None
        self._rewriting.start()
        assert self._widening is not None
        self._widening.start()
        assert self._narrowing is not None
        self._narrowing.start()
        self.controller.subscribe(self._takeover.on_image)
        self._takeover.on_image(self.controller.image)
        assert self._handing_over is not None
        self.controller.subscribe(self._handing_over.on_image)
        self._handing_over.on_image(self.controller.image)

    @property
    def epoch(self) -> int:
        """This process's broker epoch; 0 before it is registered."""
        return self._client.epoch if self._client is not None else self._epoch

    @property
    def forward(self) -> Forward | None:
        """Has the controller answer a client's request; None where it is here."""
        return self._client.forward if self._client is not None else None

    @property
    def table(self) -> VlogTable:
        """Virtual segments and fenced brokers."""
        return self.controller.table

    # Metadata

    def _on_image(self, image: MetadataImage) -> None:
        me = image.brokers.get(self.node_id)
        if me is None or me.epoch != self.epoch:
            self.fenced("the metadata has this broker no more")
            return
        self.presence.on_image(image)
        self.replicas.apply(image, self.table)
        if self._vlogs is not None:
            self._tell_members(self._vlogs)

    def _tell_members(self, vlogs: VlogManager) -> None:
        """Brokers for copies: those that are being drained only while there are too few others (18)."""
        image = self.controller.image
        drained = frozenset(node_id for node_id in image.brokers if is_draining(image, node_id))
        others = [node_id for node_id in image.brokers if node_id != self.node_id]
        staying = [node_id for node_id in others if node_id not in drained]
        vlogs.members_changed(staying if len(staying) >= ENOUGH_OTHERS else others, drained)

    def _copies_of(self, topic_id: bytes, index: int) -> int:
        image = self.controller.image
        topic = image.topics_by_id.get(topic_id)
        return topic.copies_of(image.partition_streamlet(topic, index)) if topic is not None else 1

    def _unsealed(self, owner_epoch: int, vlog: int, seq: int) -> bool:
        vseg = self.table.vsegs.get(VsegId(owner_epoch, vlog, seq))
        return vseg is not None and vseg.open

    def _known_at(self, owner_epoch: int, vlog: int, seq: int) -> int:
        """A revision at which the metadata has the virtual segment; 0: it does not, as far as is known."""
        return self.table.revision if VsegId(owner_epoch, vlog, seq) in self.table.vsegs else 0

    def _lacks_copies(self, owner_epoch: int, vlog: int, seq: int) -> bool:
        """The journal file of this broker's virtual segment is to stay: of one of its own no other member has
        a sound copy (18b), of one of an earlier process, or of one that it gives away (12b), fewer have one
        than could (17). Until they do, that file may be the last: who rebuilt what was in it has it from
        these copies."""
        vseg = self.table.vsegs.get(VsegId(owner_epoch, vlog, seq))
        if vseg is None or vseg.unread:
            return False
        image = self.controller.image
        going = was_given(self.table, vseg) or is_leaving(image, self.table, vseg)
        own = owner_epoch == self.epoch and not going
        could = 1 if own else possible_copies(image, self.table, vseg)
        return len(sound_copies(image, vseg)) < max(could, 1)

    def _owed(self, records: Sequence[StreamletRecord]) -> list[frozenset[VsegId]]:
        return owed(self.controller.image, self.table, records)

    def _epoch_of(self, target: CopyTarget) -> int | None:
        image = self.controller.image
        return image.brokers[target.node_id].epoch if may_hold(image, target) else None

    def _store_of(self, node_id: int) -> str | None:
        broker = self.controller.image.brokers.get(node_id)
        return broker.store_id if broker is not None else None

    def _address_of(self, node_id: int) -> Address | None:
        if node_id == JOIN:
            return host_and_port(self._settings.kproto_join)
        leader = self._election.leader if self._election is not None else None
        if leader is not None and leader.node_id == node_id:
            return leader.host, leader.port
        broker = self.controller.image.brokers.get(node_id)
        return (broker.internal_host, broker.internal_port) if broker and broker.internal_host else None

    def _candidates(self) -> Sequence[int]:
        """Whom the store names first. Behind it the members: the store may be out of reach of this broker
        alone, who is then told by others who is not the controller."""
        if self._election is None:
            return (JOIN,)
        leader = self._election.leader
        first = [leader.node_id] if leader is not None else []
        members = sorted(self._client.image.brokers) if self._client is not None else []
        return first + [node_id for node_id in members if node_id not in first]

    def _closed(self, caller: Caller) -> None:
        """A caller's connection ended. The member's own were of its epoch: those of somebody who was refused
        its node id, or of a process before it, say nothing of it, and would let in the former at the next
        try."""
        known = self.controller.image.brokers.get(caller.node_id)
        if known is None or caller.epoch >= known.epoch:
            self._lost(caller.node_id)

    def _lost(self, node_id: int) -> None:
        """A connection with a broker ended."""
        self.presence.lost(node_id)
        acting = self._embedded or self._seat
        if acting is not None:
            acting.lost(node_id)
        leader = self._election.leader if self._election is not None else None
        if leader is not None and leader.node_id == node_id != self.node_id:
            self._begin(self._look_at_seat(leader))

    async def _look_at_seat(self, leader: Candidate) -> None:
        """The connection to the controller ended: when nobody listens there, its seat is free."""
        assert self._election is not None
        for pause in SEAT_LOOKS:
            await asyncio.sleep(pause)
            if await self.peers.refused(leader.node_id):
                await self._election.vacate(leader)
                return

    def _damaged(self, vseg: Any, problem: str) -> None:
        log.error("the copy of virtual segment %s here is damaged: %s", vseg, problem)
        if self._disowning is not None:
            self._begin(self._disowning.disown(vseg))

    def _knows_without(self, vseg: VsegId, partitions: frozenset[PartitionKey]) -> bool:
        """The state of these partitions is in state frames of this process outside a virtual segment; if not,
        that of some is written down soon."""
        vlogs, logs = self._vlogs, self._logs
        if vlogs is None or logs is None:
            return False
        missing = [key for key in sorted(partitions) if not vlogs.covers(*vseg, key) and logs.has_data(*key)]
        for key in missing[:OPENED_PER_LOOK]:
            with contextlib.suppress(KafkaError, OSError):  # led elsewhere by now; the next look tries again
                partition = logs.partition(*key)
                if partition is not None:
                    vlogs.write_down(partition)
        return not missing

    def _may_lack(self, topic_id: bytes, index: int) -> bool:
        return self._logs is None or self._logs.may_lack(topic_id, index)

    def note_log_start(self, partition: Partition, offset: int) -> None:
        """A partition is to start at ``offset``: the store has to know first (rule 44)."""
        key = partition.topic_id, partition.index
        if not self._starts:
            self._begin(self._propose_starts())
        known = self._starts.get(key)
        if known is None or known[0] is not partition or known[1] < offset:
            self._starts[key] = partition, offset

    def note_hole(self, partition: Partition) -> None:
        """A partition that was opened lacks what others have."""
        assert self._bring_over is not None
        self._bring_over.add([(partition.topic_id, partition.index)])

    async def _propose_starts(self) -> None:
        """Tell the controller what came together, until it has taken it or this owner epoch is over."""
        trouble = Trouble(log, self._clock, "log starts wait to be stored")
        while self._starts:
            await asyncio.sleep(STARTS_SECONDS)
            starts = list(self._starts.items())[:STARTS_AT_ONCE]
            rows = [[topic_id.hex(), index, offset] for (topic_id, index), (_, offset) in starts]
            try:
                known = await self.controller.propose("starts", {"starts": rows})
                for (key, wanted), is_known in zip(starts, known, strict=True):
                    if self._starts[key] == wanted:
                        del self._starts[key]
                    partition, offset = wanted
                    if is_known and not partition.deleted and offset > partition.log_start_offset:
                        partition.start_at(offset)
            except Exception as error:
                if isinstance(error, KafkaError) and error.code is ErrorCode.STALE_BROKER_EPOCH:
                    return
                trouble.failed(error, isinstance(error, KafkaError))
                continue
            trouble.over()

    # Ownership

    def tick(self) -> None:
        """A few times a second: without a controller for too long, a broker stops serving (rule 34)."""
        grace = self._settings.kproto_controller_grace_ms / 1000
        if self._client is not None and self._client.silence() > grace:
            self.fenced(f"no controller was heard for {grace:.0f} s")
        if self._handing_over is not None:
            self._handing_over.tick()

    def fenced(self, reason: str) -> None:
        """This epoch is over: nothing is acked as owner any more (rule 16)."""
        on_fenced, self._on_fenced = self._on_fenced, None
        if on_fenced is not None:
            if self._vlogs is not None:
                self._vlogs.lose_ownership()
            on_fenced(reason)

    def on_ownership_lost(self) -> None:
        """Implements ``vlog.ports.Vsegs``."""
        self.fenced("a backup or the controller says that its epoch is over")

    def open_next(self, request: OpenVseg, done: Callable[[tuple[CopyTarget, ...] | None], object]) -> None:
        """Implements ``vlog.ports.Vsegs``."""
        self._begin(self._open_next(request, done))

    async def _open_next(
        self, request: OpenVseg, done: Callable[[tuple[CopyTarget, ...] | None], object]
    ) -> None:
        arguments = {**request._asdict(), "exclude": sorted(request.exclude)}
        trouble = Trouble(log, self._clock, f"virtual segment {request.seq} of {request.vlog}")
        while True:
            try:
                answer = await self.controller.propose("open_vseg", arguments)
            except Exception as error:
                if isinstance(error, KafkaError) and error.code is ErrorCode.STALE_BROKER_EPOCH:
                    done(None)
                    return
                trouble.failed(error, isinstance(error, KafkaError))
                await asyncio.sleep(RETRY_SECONDS)
                continue
            trouble.over()
            done(tuple(CopyTarget(*target) for target in answer["backups"]))
            return

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    # Stop

    async def leave(self) -> None:
        """End in peace (`leaving`). Nothing when that does not work in time: then the death of this process
        is noticed as any other. What it does not hear of from now on does not end it (`tick`)."""
        self.replicas.store.keep_all()
        if self._vlogs is None or self._on_fenced is None:
            return
        self._on_fenced = None
        if self._handing_over is not None:
            await self._handing_over.close()
        leaving = Leaving(
            self.node_id, self.epoch, self.controller, self._client, lambda: self._acting, self._vlogs
        )
        try:
            async with asyncio.timeout(FINISH_SECONDS):
                await leaving.leave()
        except (KafkaError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            log.warning("this broker could not hand over what it leads: %s", why)

    @property
    def _acting(self) -> Controller | None:
        """The controller, if it is in this process."""
        if self._seat is not None:
            return self._seat.controller
        return self.controller if isinstance(self.controller, Controller) else None

    async def close(self) -> None:
        """Leave: no more requests to or from other brokers; copies are synced."""
        self._on_fenced = None
        for task in list(self._tasks):
            task.cancel()
        self._scrub.stop()
        for part in (
            self._handing_over,
            self._takeover,
            self._bring_over,
            self._unneeded,
            self._widening,
            self._narrowing,
            self._rewriting,
        ):
            if part is not None:
                await part.close()
        if self._client is not None:
            await self._client.close()
        if self._embedded is not None:
            await self._embedded.close()
        if self._campaign is not None:
            self._campaign.cancel()
            await asyncio.gather(self._campaign, return_exceptions=True)
        self.listener.close()
        self.peers.close()
        self.replicas.repairer.close()
        synced = asyncio.Event()
        self.replicas.store.close(synced.set)
        await synced.wait()
        for worker in (*self._workers, self._fill_worker):
            worker.close()
