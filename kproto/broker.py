"""One broker process, wired together: the only module that knows every sub-package.

Start: lock the data directory -> open the metadata store -> take a new broker epoch (rule 2) -> read the
checkpoint and the journal of earlier processes -> serve. Stop: drain the connections, flush and sync what
is in memory, leave the clean marker. What happens in between is in the sub-packages; here are only the
calls upwards (durable -> high watermark, image -> log) and the timer.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.clock import Clock, SystemClock
from kproto.config import Settings, address_text, host_and_port
from kproto.config.store_url import SCHEME as SHARED_STORE
from kproto.controller import Controller
from kproto.controller.registration import Registration
from kproto.directory import DataDirectory, DirectoryError, LeftAs, open_directory
from kproto.disk import Disk, SyncError
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.context import Services
from kproto.handlers.dispatch import Dispatcher
from kproto.handlers.groups.coordinator import GroupCoordinator
from kproto.handlers.groups.partition_log import PartitionLog
from kproto.log.manager import LogManager
from kproto.log.ports import LogPorts
from kproto.log.scrubbing import Scrub
from kproto.metadata import EmptyStoreError, MetadataImage, MetadataStore, StoreError, VsegId
from kproto.metadata.history import OlderStoreError, Seen
from kproto.metadata.opening import wait_for_store
from kproto.net import descriptors
from kproto.net.budget import MemoryBudget
from kproto.net.server import Connection, Limits, Server, take_address
from kproto.net.threads import BlockingPool
from kproto.trouble import Quietly, Trouble
from kproto.vlog.manager import JOURNAL_DIRECTORY, VlogManager
from kproto.vlog.recovery import JournalCorruptError, recover
from kproto.vlog.scan_point import decode_starts
from kproto.vlog.worker import Worker, in_worker

if TYPE_CHECKING:
    from kproto.controller.service import AnswerClient
    from kproto.handlers.forwarding import RemoteController
    from kproto.member import ClusterMember
    from kproto.metrics import Metric
    from kproto.metrics_endpoint import MetricsEndpoint

log = logging.getLogger(__name__)

TICK_SECONDS: Final = 0.25
BUSY_TICK_SECONDS: Final = 0.002
BUSY_REST: Final = 3.0
"""How long clients have the loop to themselves after a piece of housekeeping, in times of its length."""
DRAIN_SECONDS: Final = 10.0
PUT_OFF_SECONDS: Final = 5.0
"""Until a partition that could not be opened is tried again."""
GC_THRESHOLD: Final = 20_000
"""Objects made before a young collection; the data path makes no cycles, so seldom is enough."""
START_ANEW: Final = -1
STARTED_ANEW: Final = "KPROTO_STARTED_ANEW"
"""In the environment of a process that was a member already, and was fenced."""
FOREIGN_REST_S: Final = 1.0
Announce = Callable[[str, int], None]


class StartError(Exception):
    """The broker cannot start; the message is one line for the operator."""


class ForeignError(StartError):
    """What there is now is not the cluster that the data directory is of."""


class Broker:
    """See the module docstring. All methods on one running event loop; one start, one stop."""

    def __init__(self, settings: Settings, clock: Clock | None = None, disk: Disk | None = None) -> None:
        self._descriptors = descriptors.share(
            descriptors.allowed(), settings.kproto_open_files, descriptors.taken()
        )
        if self._descriptors.segments < settings.kproto_open_files:
            settings = settings.with_texts({"kproto.open.files": str(self._descriptors.segments)})
        self._settings = settings
        self._clock = clock or SystemClock()
        self._disk = disk or Disk()
        self.host, self.port = settings.listen_address()
        self.failed = asyncio.Event()
        """Set when a write or sync failed for good: nothing is acked, the process must exit (rule 35)."""
        self.fenced = asyncio.Event()
        """Set when this process's broker epoch is over (rule 16): it must start anew."""
        self._untouched = True
        """Nothing in the data directory was changed."""
        self._poisoned_together: list[Callable[[str], object]] = []
        """The parts of the data directory that ack."""
        self._put_off: dict[tuple[bytes, int], float] = {}
        self._ticker: asyncio.Task[None] | None = None
        self._member: ClusterMember | None = None
        self._metrics: MetricsEndpoint | None = None
        self._services: Services | None = None
        self._dispatcher: Dispatcher | None = None
        self._store: MetadataStore | None = None
        self._controller: Controller | RemoteController

    # Start

    async def start(self) -> None:
        """Return once clients are served; ``port`` is then the real one. Raises :class:`StartError`."""
        settings = self._settings
        try:
            self._directory = open_directory(settings.log_dirs, settings.node_id, self._disk)
        except DirectoryError as error:
            raise StartError(str(error)) from None
        except OSError as error:
            raise self._start_error(error) from None
        async with contextlib.AsyncExitStack() as undo:
            undo.callback(self._leave)
            try:
                await self._start_in(self._directory, undo)
            except (EmptyStoreError, OlderStoreError) as error:
                raise ForeignError(str(error)) from None
            except (StoreError, JournalCorruptError, DirectoryError) as error:
                raise StartError(str(error)) from None
            except OSError as error:
                if isinstance(error, SyncError):
                    self._directory.doubt()
                raise self._start_error(error) from None
            undo.pop_all()

    def _leave(self) -> None:
        """The start failed: before it could change anything, what was left clean is as clean as it was."""
        clean = self._untouched and self._directory.left_as is LeftAs.CLEAN
        self._directory.close(clean=clean)

    def _start_error(self, error: OSError) -> StartError:
        """For what the system refused. (What fails in a thread meanwhile is poison as ever: `_on_poison`.)"""
        what = error.strerror or str(error) or type(error).__name__
        return StartError(f"{error.filename or self._settings.log_dirs}: {what}")

    async def _start_in(self, directory: DataDirectory, undo: contextlib.AsyncExitStack) -> None:
        """``undo`` gets what must be closed when a later step fails."""
        settings = self._settings
        if directory.left_as.unsynced_gone:
            cause = "storage failed" if directory.left_as is LeftAs.FAILED else "the machine was restarted"
            log.warning("%s: unsynced data may be missing", cause)
            self._disk.forget_cached(directory.path)
        budget = MemoryBudget(_clients_memory(settings))
        self._server = Server(self._dispatch, budget, _limits(settings, self._descriptors.clients))
        undo.callback(self._server.close)
        if settings.kproto_internal_listen:
            self._member = self._new_member(directory)
            undo.push_async_callback(self._member.close)
        self._bind(undo)
        self._untouched = False
        host, port = settings.told_address(self.port)
        if not (self.host or settings.advertised_listeners):
            log.warning("listeners names no host: clients are told %s:%d (advertised.listeners)", host, port)
        if self._member is not None:
            epoch = await self._join(self._member, undo, host, port)
        else:
            controller = Controller(await self._open_store(undo), settings, settings.node_id)
            await controller.start()
            registration = Registration(settings.node_id, host, port, settings.broker_rack)
            if settings.keeps_metadata:
                directory.join(controller.image.cluster_id)
            epoch = (await controller.register_broker(registration)).epoch
            self._controller = controller
        self._note_seen(self._controller.image)
        self._open_logs(directory, epoch)
        self._groups = GroupCoordinator(
            settings,
            settings.node_id,
            self._clock,
            lambda: self._controller.image,
            self._controller.ensure_offsets_topic,
            PartitionLog(lambda: self._controller.image, settings.node_id, self._logs),
        )
        self._controller.subscribe(self._on_image)
        self._blocking = BlockingPool()
        services = Services(
            settings=settings,
            node_id=settings.node_id,
            clock=self._clock,
            image=lambda: self._controller.image,
            controller=self._controller,
            logs=self._logs,
            groups=self._groups,
            budget=budget,
            blocking=self._blocking,
            host=host,
            port=port,
            table=self._controller.table,
            forward=self._member.forward if self._member is not None else None,
            suspects=self._member.presence.suspects if self._member is not None else None,
        )
        self._services = services
        self._dispatcher = Dispatcher(services)
        self._server.dispatch, self._server.refuse = self._dispatcher.dispatch, self._dispatcher.refuse
        self._groups.start()
        if self._member is not None:
            self._member.serve()
        if self._metrics is not None:
            self._start_metrics(self._metrics, self._dispatcher)
        self._scrub_worker = Worker(asyncio.get_running_loop(), "kproto-scrub")
        self._scrub = Scrub(self._logs, partial(in_worker, self._scrub_worker))
        self._scrub.start()
        self._ticker = asyncio.get_running_loop().create_task(self._tick())
        self._server.accept()

    def _start_metrics(self, endpoint: MetricsEndpoint, dispatcher: Dispatcher) -> None:
        from kproto import figures

        replicas = self._member.replicas if self._member is not None else None
        pages = {
            "/vlogs": self._vlogs.state,
            "/recovery": lambda: self._controller.propose("recoveries", None),
            "/recovery/here": lambda: self._member.recovering() if self._member is not None else {},
        }

        def metrics() -> Iterator[Metric]:
            yield from figures.served(self._server, dispatcher)
            yield from figures.cluster(self._controller.image, self._settings.node_id)
            yield from figures.stored(self._vlogs, self._logs, replicas)

        async def topics() -> list[Metric]:
            return await figures.topics(
                self._controller.image, self._settings.node_id, self._logs, self._groups.loaded
            )

        with _listening(*host_and_port(self._settings.kproto_metrics_listen)):
            endpoint.start({"/metrics": metrics, "/metrics/topics": topics}, pages)

    async def _open_store(self, undo: contextlib.AsyncExitStack) -> MetadataStore:
        kind, directory = self._settings.kproto_metadata_store, self._directory
        known = directory.cluster_id, Seen(*directory.seen)
        self._store = await wait_for_store(kind, directory.path, self._clock, *known)
        undo.push_async_callback(self._store.close)
        return self._store

    def _new_member(self, directory: DataDirectory) -> ClusterMember:
        from kproto.member import ClusterMember

        member = ClusterMember(
            self._settings,
            directory,
            self._clock,
            self._on_fenced,
            self._on_poison,
            self._descriptors.brokers,
        )
        self._poisoned_together.append(member.replicas.store.poison)
        return member

    def _bind(self, undo: contextlib.AsyncExitStack) -> None:
        """Take every address that the broker listens on."""
        with _listening(self.host, self.port):
            self.port = self._server.bind(self.host, self.port)
        if self._member is not None:
            with _listening(self._member.host, self._member.port):
                self._member.bind()
        if self._settings.kproto_metrics_listen:
            from kproto.metrics_endpoint import MetricsEndpoint

            host, port = host_and_port(self._settings.kproto_metrics_listen)
            with _listening(host, port):
                self._metrics = MetricsEndpoint(take_address(host, port))
            undo.callback(self._metrics.close)

    async def _join(
        self, member: ClusterMember, undo: contextlib.AsyncExitStack, host: str, port: int
    ) -> int:
        """Become a member of a cluster; this process's broker epoch."""
        if self._settings.kproto_metadata_store.startswith(SHARED_STORE):
            member.stand(await self._open_store(undo), self._answer_client_of)
        elif self._settings.kproto_join:
            member.follow()
        else:
            await member.lead(await self._open_store(undo), self._answer_client_of)
        try:
            epoch = await member.register(host, port, self._settings.broker_rack)
        except KafkaError as error:
            kind = ForeignError if error.code is ErrorCode.INCONSISTENT_CLUSTER_ID else StartError
            raise kind(f"the cluster does not take this broker: {error}") from None
        self._controller = member.controller
        return epoch

    def _open_logs(self, directory: DataDirectory, owner_epoch: int) -> None:
        """Open log and virtual logs, and hand the journal of earlier processes to the partitions."""
        settings, loop = self._settings, asyncio.get_running_loop()
        self._removals = Worker(loop, "kproto-removals")
        self._vlogs = VlogManager(
            directory.path,
            settings,
            self._disk,
            self._clock,
            loop,
            owner_epoch,
            self._on_poison,
            directory.boot,
        )
        self._vlogs.on_files_gone = directory.doubt_names
        self._poisoned_together.append(self._vlogs.poison)
        if self.failed.is_set():  # a copy did while this broker was joining its cluster
            self._stop_acks("storage failed before")
        ports = LogPorts(
            assign_vlog=self._vlogs.assign,
            defer=loop.call_soon,
            on_poison=self._vlogs.poison,
            scan_point=self._vlogs.scan_point,
            in_background=self._removals.submit,
            on_deleted=self._vlogs.forget_topic,
        )
        if self._member is not None:
            ports.remote = self._member.remote
            ports.copies = self._member.copies
            ports.on_log_start = self._member.note_log_start
            ports.on_hole = self._member.note_hole
        self._logs = LogManager(
            directory.path, self._disk, self._clock, settings, ports, directory.left_as, owner_epoch
        )
        if self._member is not None:
            self._member.attach(self._vlogs, self._logs)
        self._logs.pool.spares = self._server.spares
        self._apply_image(self._controller.image)
        recovered = recover(
            self._disk,
            os.path.join(directory.path, JOURNAL_DIRECTORY),
            decode_starts(self._logs.checkpointing.file.point),
            directory.boot,
            accept_loss=bool(settings.values["unclean.leader.election.enable"]),
            power_lost=directory.left_as.unsynced_gone,
            listed=self._is_listed,
        )
        for line in recovered.losses:
            log.warning("%s", line)
        for (topic_id, index), runs in recovered.runs():
            self._logs.unopened.recovered(topic_id, index, runs)
        self._vlogs.on_flushed = self._logs.checkpointing.write_soon
        self._vlogs.cleaner.deletions = self._logs.checkpointing.deletions
        self._vlogs.inherit(recovered, self._logs.settled, self._logs.unsynced)
        if self._logs.checkpointing.noted:  # and files that lost their header are gone
            directory.distrusted()

    def _is_listed(self, owner_epoch: int, vlog: int, seq: int) -> bool:
        """The store has a virtual segment of an earlier process."""
        member = self._member
        return member is not None and VsegId(owner_epoch, vlog, seq) in member.table.vsegs

    def _answer_client_of(self, controller: Controller) -> AnswerClient:
        """Answers requests of clients of other brokers: by the decisions of ``controller``, which runs in
        this process, with everything else this broker's."""

        async def answer(frame: memoryview, peer: str) -> bytes:
            if self._services is None:
                raise KafkaError(ErrorCode.NOT_CONTROLLER, "The controller is starting.")
            services = replace(
                self._services,
                controller=controller,
                forward=None,
                image=lambda: controller.image,
                table=controller.table,
            )
            return await Dispatcher(services).answer(frame, peer)

        return answer

    def _dispatch(self, connection: Connection, frame: memoryview, owned: bool) -> None:  # noqa: ARG002
        connection.close("the broker is still starting")

    # Running

    def _note_seen(self, image: MetadataImage) -> None:
        """Before anything is done by it."""
        if self._settings.keeps_metadata:
            self._directory.saw(image.term, image.revision)

    def _on_image(self, image: MetadataImage) -> None:
        self._note_seen(image)
        try:
            self._apply_image(image)
        finally:  # whatever the logs make of it, groups are where the metadata says
            self._groups.on_image(image)

    def _apply_image(self, image: MetadataImage) -> None:
        before = self._logs.settings
        self._logs.apply_image(image)
        if self._logs.settings is not before:  # dynamic broker configs changed
            self._vlogs.apply_settings(self._logs.settings, list(self._logs.partitions_open()))

    def _on_fenced(self, reason: str) -> None:
        log.warning("this broker is fenced (%s): starting anew", reason)
        self.fenced.set()

    def _on_poison(self, reason: str) -> None:
        """The journal, segment files or copies cannot be trusted."""
        if self.failed.is_set():
            return
        log.critical("storage failed, nothing is acked any more: %s", reason)
        self._directory.doubt()
        self.failed.set()
        self._stop_acks(reason)

    def _stop_acks(self, reason: str) -> None:
        """Nothing in the directory acks any more, whichever part of it failed (35)."""
        for poison in self._poisoned_together:
            poison(reason)

    async def _tick(self) -> None:
        while True:
            began = self._clock.monotonic()
            more = self._keep_house(began)
            rest = max(BUSY_TICK_SECONDS, BUSY_REST * (self._clock.monotonic() - began))
            await asyncio.sleep(rest if more else TICK_SECONDS)

    def _keep_house(self, now: float) -> bool:
        """Do what is due at monotonic time ``now`` (s); True: call again soon. What fails keeps nothing else
        from being done."""
        more = False
        parts: list[Callable[[], bool | None]] = [partial(self._logs.tick, now), self._open_recovered]
        parts += [self._vlogs.tick] if self._member is None else [self._vlogs.tick, self._member.tick]
        for part in parts:
            try:
                more |= bool(part())
            except Exception:
                log.exception("housekeeping failed; trying again")
        return more

    def _open_recovered(self) -> bool:
        """Open one partition that has chunks in old journals, so that these can go; True: there are more. One
        that cannot be opened keeps no others waiting."""
        now = self._clock.monotonic()
        waiting = [key for key in self._logs.to_open() if now >= self._put_off.get(key, now)]
        if waiting:
            try:
                self._logs.open(*waiting[0])
            except (OSError, KafkaError) as error:
                log.warning(
                    "partition %s-%d cannot be opened yet: %s", waiting[0][0].hex(), waiting[0][1], error
                )
                self._put_off[waiting[0]] = now + PUT_OFF_SECONDS
        return len(waiting) > 1

    # Stop

    async def stop(self) -> None:
        """Answer what is in flight, close the connections, sync everything, leave the clean marker."""
        if self._ticker is not None:
            self._ticker.cancel()
        if self._member is not None:
            await self._member.leave()
        self._groups.close()
        if self._metrics is not None:
            self._metrics.close()
        await self._server.drain(DRAIN_SECONDS)
        if self._dispatcher is not None:
            await self._dispatcher.drain()
        self._blocking.close()
        await self._scrub.close()
        self._scrub_worker.close()
        clean = not self.failed.is_set() and await self._close_logs()
        if self._member is not None:
            await self._member.close()
        if self._store is not None:
            await self._store.close()
        self._directory.close(clean=clean)

    async def _close_logs(self) -> bool:
        """Push, flush, sync; True when nothing of the journal is needed by the next start."""
        while not self._vlogs.drain():
            if self._vlogs.stuck:
                return False
            self._open_recovered()
            self._vlogs.tick()
            await asyncio.sleep(0.01)
        self._logs.hasten()
        self._removals.close()
        self._vlogs.await_threads()
        await asyncio.sleep(0)  # if a sync failed there, the next one of the file would say nothing (35)
        if self._vlogs.poisoned is not None:
            return False
        clean = self._logs.close()
        self._removals.close()
        self._vlogs.close()
        return clean and self._vlogs.poisoned is None


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[None]:
    """What the system refuses inside is told as what it is about. Raises `StartError`."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StartError(f"cannot listen on {address_text(host, port)}: {why}") from None


def _clients_memory(settings: Settings) -> int:
    """What clients can make the broker hold: the data kept in memory counts, too, so that the whole process
    stays within ``kproto.request.memory.bytes`` and what it needs when idle; half of it at least.
    """
    both = settings.kproto_request_memory_bytes
    return max(both // 2, both - settings.kproto_log_memory_bytes)


def _limits(settings: Settings, most_descriptors: int) -> Limits:
    return Limits(
        max_frame_bytes=settings.socket_request_max_bytes,
        idle_ms=settings.connections_max_idle_ms,
        max_connections=settings.max_connections,
        max_connections_per_ip=settings.max_connections_per_ip,
        descriptors=most_descriptors,
    )


def run(settings: Settings, announce: Announce, *, stop_with_stdin: bool = False) -> int:
    """Run a broker until SIGTERM or SIGINT; the exit code. Raises :class:`StartError`.

    ``stop_with_stdin``: the end of standard input, a pipe, is as good as SIGTERM. A broker that was fenced
    starts anew, in the same process.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    _take_descriptors(settings)
    if settings.kproto_cpu_scheduling == "batch":
        _be_patient()
    code = 0
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        code = runner.run(_serve(settings, announce, stop_with_stdin))
        if code == START_ANEW:
            # The same process image as after a crash: nothing of the old epoch is left (rules 2 and 16).
            os.environ[STARTED_ANEW] = "1"
            os.execv(sys.executable, sys.orig_argv)
    return code


def _take_descriptors(settings: Settings) -> None:
    """All that the process may have. Raises :class:`StartError` when that is not enough for anything."""
    limit = descriptors.raise_limit()
    if limit < descriptors.FEWEST:
        raise StartError(
            f"{limit} open files are allowed (ulimit -n), and {descriptors.FEWEST} are needed at least"
        )
    descriptors.make_room(limit)
    shares = descriptors.share(limit, settings.kproto_open_files)
    if shares.segments < settings.kproto_open_files:
        log.warning(
            "only %d open files are allowed (ulimit -n): not many more than %d connections are taken",
            limit,
            shares.clients - descriptors.FEWEST_SEGMENTS,
        )


def _be_patient() -> None:
    """Interrupt no other process to be woken (SCHED_BATCH), where the system knows that and allows it.

    On busy cores a broker that waits its turn finds several frames when it wakes, which cost less together:
    code and data come back into the caches of a core that somebody else has used once for all of them.
    Whoever starts it with another policy (chrt) means that.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):  # musl, the C library of Alpine Linux, does not even ask the system
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's event loop where it is installed (``kproto[uvloop]``), else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _stop_with_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Set ``stop`` when nobody has the other end of the pipe any more, however its process ended."""
    pipe = sys.stdin.fileno()

    def on_readable() -> None:
        if not os.read(pipe, 4096):
            loop.remove_reader(pipe)
            stop.set()

    loop.add_reader(pipe, on_readable)


async def _started(settings: Settings) -> Broker:
    """A broker that serves. One that was a member waits while another cluster is in the place of its own, or
    none: whoever did that by mistake puts the right one back."""
    clock = SystemClock()
    trouble, quietly = Trouble(log, clock, "this broker waits for its cluster"), Quietly(clock)
    while True:
        broker = Broker(settings, clock)
        try:
            with quietly:
                await broker.start()
        except ForeignError as error:
            if STARTED_ANEW not in os.environ:
                raise
            trouble.failed(error)
            await asyncio.sleep(FOREIGN_REST_S)
            continue
        trouble.over()
        return broker


async def _serve(settings: Settings, announce: Announce, stop_with_stdin: bool) -> int:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if stop_with_stdin:
        _stop_with_stdin(loop, stop)
    starting, stopping = asyncio.ensure_future(_started(settings)), asyncio.ensure_future(stop.wait())
    await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        starting.cancel()  # it may have been waiting for its cluster
        await asyncio.wait((starting,))
        return 0
    broker = starting.result()
    announce(broker.host, broker.port)
    gc.freeze()  # clients wait: a collection first would take 15 ms and find next to nothing
    gc.set_threshold(GC_THRESHOLD, 20, 50)
    endings = [asyncio.ensure_future(event.wait()) for event in (stop, broker.failed, broker.fenced)]
    await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
    for ending in endings:
        ending.cancel()
    if broker.failed.is_set():
        return 1
    if broker.fenced.is_set() and not stop.is_set():
        return START_ANEW
    await broker.stop()
    return 0
