"""Sizes that are small in some seeds: how much is done in one turn, frame, read, file or transaction, and
how much is remembered.

A run of seconds has little of everything, so that with the product's own sizes nothing would ever take a
second turn. Each seed draws which of them are small, and how small; the rules hold whatever they are.
"""

from __future__ import annotations

from random import Random
from typing import Any

import kproto.controller.arranging
import kproto.controller.controller
import kproto.controller.freeing
import kproto.controller.giving_up
import kproto.controller.loop
import kproto.controller.moves
import kproto.controller.recoveries
import kproto.controller.recovery
import kproto.controller.retiring
import kproto.controller.sealing
import kproto.controller.service
import kproto.log.checkpoint
import kproto.log.checkpointing
import kproto.log.due
import kproto.log.flushing
import kproto.log.manager
import kproto.log.opening
import kproto.log.partition
import kproto.log.scrubbing
import kproto.log.segment
import kproto.log.times
import kproto.replica.bring_over
import kproto.replica.catalogs
import kproto.replica.copy_files
import kproto.replica.fences
import kproto.replica.handing_over
import kproto.replica.narrowing
import kproto.replica.pace
import kproto.replica.reading
import kproto.replica.remote
import kproto.replica.repair
import kproto.replica.rewriting
import kproto.replica.store
import kproto.replica.survey
import kproto.replica.takeover
import kproto.replica.unneeded
import kproto.replica.widening
import kproto.vlog.inherited
import kproto.vlog.manager
import kproto.vlog.pusher
import kproto.vlog.replicated
import kproto.vlog.scan
import kproto.vlog.space

Size = tuple[tuple[Any, ...], str, tuple[Any, ...]]
"""Modules that use it, its name, and what it may be."""
SMALL: tuple[Size, ...] = (
    ((kproto.log.due, kproto.vlog.pusher, kproto.replica.store), "BYTES_A_TURN", (4_000, 20_000)),
    ((kproto.log.checkpoint,), "_REWRITE_BYTES", (500, 4_000)),
    ((kproto.log.checkpointing,), "BATCH", (1, 3)),
    ((kproto.log.checkpointing,), "AT_ONCE", (0, 1)),
    ((kproto.log.checkpointing,), "SLICES", (1, 3)),
    ((kproto.log.checkpointing,), "SYNC_ALL_FROM", (0, 2)),
    ((kproto.log.flushing,), "REST_S", (0.5, 2.0)),
    ((kproto.log.flushing,), "BLOCKS_PER_SLICE", (1, 3)),
    ((kproto.log.manager,), "OPENED_PER_LOOK", (1, 2)),
    ((kproto.log.manager,), "INDEXES_KEPT", (1, 4)),
    ((kproto.log.manager,), "SUSPECTS_KEPT", (1, 4)),
    ((kproto.log.opening, kproto.log.segment), "HOP_WINDOW", (200, 2_000)),
    ((kproto.log.partition,), "ADOPT_BYTES", (300, 2_000)),
    ((kproto.log.scrubbing,), "CHUNKS_AT_ONCE", (1, 3)),
    ((kproto.log.scrubbing,), "MEND_BYTES", (200, 3_000)),
    ((kproto.log.scrubbing,), "PARTITIONS_AT_ONCE", (1, 2)),
    ((kproto.log.segment,), "AHEAD_FROM", (2_000, 10_000)),
    ((kproto.log.segment,), "AHEAD_BYTES", (1_000, 8_000)),
    ((kproto.log.times,), "_WINDOW", (500, 4_000)),
    ((kproto.log.times,), "_REMOTE_WINDOW", (500, 4_000)),
    ((kproto.vlog.inherited,), "SYNCS_AT_ONCE", (1, 3)),
    ((kproto.vlog.replicated,), "FRAME_BYTES", (1_000, 4_000)),
    ((kproto.vlog.scan,), "_WINDOW", (1_000, 5_000)),
    ((kproto.vlog.space,), "SMALLEST_FILE", (2_000, 5_000)),
    ((kproto.replica.bring_over,), "READ_BYTES", (500, 4_000)),
    ((kproto.replica.bring_over,), "BYTES_PER_PARTITION", (1, 500)),
    ((kproto.replica.bring_over,), "STARTS_AT_ONCE", (1, 2)),
    ((kproto.replica.catalogs,), "KEPT", (1, 4)),
    ((kproto.replica.copy_files,), "SPARE_BYTES", (5_000, 100_000)),
    ((kproto.replica.fences,), "_STEP", (32, 64)),
    ((kproto.replica.handing_over, kproto.replica.narrowing), "PER_PROPOSAL", (1, 2)),
    ((kproto.replica.takeover, kproto.replica.widening), "PER_PROPOSAL", (1, 2)),
    ((kproto.replica.handing_over, kproto.replica.takeover), "ROUNDS_KEPT", (1, 3)),
    ((kproto.replica.pace,), "SMALLEST_TURN", (500, 4_000)),
    ((kproto.replica.pace,), "LONGEST_WAIT", (0.02, 0.2)),
    ((kproto.replica.pace,), "KEPT_S", (0.02, 0.2)),
    ((kproto.replica.reading,), "HEAD_BYTES", (100, 1_000)),
    ((kproto.replica.remote,), "MAPS_KEPT", (1, 2)),
    ((kproto.replica.remote,), "PLACES_KEPT", (1, 2)),
    ((kproto.replica.remote,), "CATALOGS_AT_ONCE", (1, 2)),
    ((kproto.replica.remote,), "MOST_BYTES", (500, 4_000)),
    ((kproto.replica.repair,), "PIECE_BYTES", (500, 4_000)),
    ((kproto.replica.repair,), "REPORT_SECONDS", (0.02, 0.5)),
    ((kproto.replica.rewriting,), "READ_BYTES", (500, 4_000)),
    ((kproto.replica.rewriting,), "WINDOW_BYTES", (1_000, 8_000)),
    ((kproto.replica.store,), "STEP", (500, 4_000)),
    ((kproto.replica.store,), "FIRST_STEP", (500, 4_000)),
    ((kproto.replica.survey,), "READ_BYTES", (500, 4_000)),
    ((kproto.replica.unneeded,), "AT_ONCE", (1, 2)),
    ((kproto.controller.arranging,), "SETTLED_SECONDS", (0.5, 1.0)),
    ((kproto.controller.arranging,), "AGAIN_SECONDS", (1.0, 3.0)),
    ((kproto.controller.arranging,), "REPLACED_AT_ONCE", (1, 2)),
    ((kproto.controller.arranging, kproto.controller.moves), "MOVES_AT_ONCE", (1, 2)),
    ((kproto.controller.controller,), "PRODUCER_IDS_PER_BLOCK", (1, 3)),
    ((kproto.controller.freeing,), "FREED_PER_TRANSACTION", (1, 3)),
    ((kproto.controller.giving_up,), "PER_TRANSACTION", (1, 2)),
    ((kproto.controller.loop,), "STUCK_LOG_SECONDS", (0.1, 1.0)),
    ((kproto.controller.recoveries,), "KEPT", (1, 3)),
    ((kproto.controller.recovery, kproto.controller.retiring), "STREAMLETS_PER_TRANSACTION", (1, 2)),
    ((kproto.controller.sealing,), "CLOSES_PER_TRANSACTION", (1, 2)),
    ((kproto.controller.service,), "HISTORY_CHANGES", (1, 10)),
    ((kproto.controller.service,), "HISTORY_BYTES", (300, 3_000)),
    ((kproto.controller.service,), "UPDATE_BYTES", (1, 500)),
    ((kproto.replica.catalogs,), "ROWS_KEPT", (1, 10)),
)


def drawn(seed: int) -> list[tuple[Any, str, Any]]:
    """What is small in a seed, for `parts.installed`; in half of the seeds nothing is."""
    random = Random(f"sizes {seed}")
    share = random.choice((0.0, 0.0, 0.2, 0.5))
    places: list[tuple[Any, str, Any]] = []
    for modules, name, values in SMALL:
        small, value = random.random() < share, random.choice(values)
        if small:
            places += [(module, name, value) for module in modules]
    return places
