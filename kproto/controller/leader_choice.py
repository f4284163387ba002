"""ElectLeaders and UnregisterBroker: what an administrator asks the controller to do about leaders.

The decisions are pure; :func:`elect` carries them out and waits until the chosen brokers lead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from kproto.controller import rules
from kproto.controller.decision import Decision, carry_out
from kproto.controller.giving_up import decide_give_up, told, who_lack
from kproto.controller.moves import Wish, decide_moves
from kproto.controller.sources import alike
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.records import MOVED, ONLINE, StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegId

if TYPE_CHECKING:
    from kproto.controller.controller import Controller

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.005
MOST_SECONDS: Final = 8.0
"""No election is waited for longer, whatever the client allows."""
ASKED: Final = "Brokers that may have what it lacks are asked first: try again in some seconds"
AGAIN_SECONDS: Final = 0.5
"""Between looks whether all have been asked for what is to be given up."""

PartitionName = tuple[str, int]


class ElectionType(IntEnum):
    """The numbers of the protocol."""

    PREFERRED = 0
    UNCLEAN = 1


def all_partitions(image: MetadataImage) -> list[PartitionName]:
    """Every partition there is."""
    return [(name, index) for name in sorted(image.topics) for index in range(image.topics[name].partitions)]


def is_led(image: MetadataImage, record: StreamletRecord) -> bool:
    """Somebody serves it."""
    if record.leader not in image.brokers or record.state != ONLINE:
        return False
    return not record.sources or rules.is_served(image, record)


def examine(
    image: MetadataImage, kind: ElectionType, name: PartitionName
) -> tuple[KafkaError | None, StreamletRecord | None]:
    """Whether an election is possible and of use; else the error that Apache Kafka answers."""
    topic = image.topics.get(name[0])
    if topic is None or not 0 <= name[1] < topic.partitions:
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), None
    record = image.partition_streamlet(topic, name[1])
    led = is_led(image, record)
    if kind is ElectionType.UNCLEAN:
        if led:
            return KafkaError(ErrorCode.ELECTION_NOT_NEEDED), None
        return (None, record) if record.sources else (_nobody_else(image, record), None)
    preferred = record.replicas[0]
    if led and record.leader == preferred:
        return KafkaError(ErrorCode.ELECTION_NOT_NEEDED), None
    if not led or not record.sources or preferred not in image.brokers:
        return KafkaError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE), None
    return None, record


def _nobody_else(image: MetadataImage, record: StreamletRecord) -> KafkaError:
    """For a streamlet with one copy, that of its leader, which does not serve it."""
    message = None
    if rules.only_copy_away(image, record):
        message = (
            f"Broker {record.leader} has the only copy: start it (if its directory is lost, with an empty "
            "one: the partition begins anew at offset 0), or delete the topic."
        )
    return KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)


async def elect(
    controller: Controller,
    kind: ElectionType,
    names: Sequence[PartitionName],
    seconds: float,
    *,
    named: bool = True,
) -> list[KafkaError | None]:
    """Elect leaders; one entry of the answer per partition, None where the chosen one leads.

    Not ``named`` one by one, partitions lose nothing that a broker may have which is only away, be there a
    leader or not: in Apache Kafka, too, such an election needs a live replica.
    """
    answers: list[KafkaError | None] = []
    waiting: dict[int, StreamletRecord] = {}
    led: dict[int, StreamletRecord] = {}
    for at, name in enumerate(names):
        error, record = examine(controller.image, kind, name)
        answers.append(error)
        if record is not None:
            waiting[at] = record
        elif kind is ElectionType.UNCLEAN and named and (record := _found(controller.image, name)):
            led[at] = record
    lack = who_lack(controller.image, controller.table, led)
    waiting.update((at, led[at]) for at in lack)
    if not waiting:
        return answers
    records = list(waiting.values())
    lost, short = False, set[int]()
    if kind is ElectionType.PREFERRED:
        wishes = [Wish(one.topic_id, one.index, one.replicas[0]) for one in records]
        await carry_out(controller, decide_moves, wishes)
    else:
        controller.proposals.loop.accept_loss(losses(controller.image, controller.table, records), named)
        lost, short = await _give_up(controller, waiting, named)
    loop = asyncio.get_running_loop()
    until, again_at = loop.time() + min(seconds, MOST_SECONDS), loop.time() + AGAIN_SECONDS
    while True:
        waiting = {
            at: one
            for at, one in waiting.items()
            if at in short or not _is_elected(controller.image, kind, one)
        }
        if not waiting or loop.time() >= until:
            break
        await asyncio.sleep(LOOK_SECONDS)
        if kind is ElectionType.UNCLEAN and loop.time() >= again_at:
            again_at = loop.time() + AGAIN_SECONDS
            more, short = await _give_up(controller, waiting, named)
            lost = lost or more
    if lost:  # else what these lacked is here, and no election was needed
        answers = [None if at in lack else error for at, error in enumerate(answers)]
    for at in waiting:
        answers[at] = _late(kind, at in short)
    return answers


def _late(kind: ElectionType, lacks: bool) -> KafkaError:
    """Why nobody leads it yet, or what it ``lacks`` was not given up."""
    if kind is ElectionType.PREFERRED:
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, ASKED if lacks else None)


def _found(image: MetadataImage, name: PartitionName) -> StreamletRecord | None:
    topic = image.topics.get(name[0])
    if topic is None or not 0 <= name[1] < topic.partitions:
        return None
    return image.partition_streamlet(topic, name[1])


async def _give_up(
    controller: Controller, waiting: Mapping[int, StreamletRecord], named: bool
) -> tuple[bool, set[int]]:
    """Give up closed virtual segments that nobody has a copy of, and that these wait for; whether any was,
    and, when they are ``named``, which of them lack others still."""
    denials, any_lost = controller.proposals.denials, False
    while lost := await carry_out(controller, decide_give_up, list(waiting.values()), denials, named):
        any_lost = True
        for line in told(lost):
            log.error("%s", line)
    image = controller.image
    now = {at: image.find_streamlet(one.topic_id, one.index) for at, one in waiting.items() if named}
    return any_lost, who_lack(
        image, controller.table, {at: one for at, one in now.items() if one is not None}
    )


def _is_elected(image: MetadataImage, kind: ElectionType, before: StreamletRecord) -> bool:
    record = image.find_streamlet(before.topic_id, before.index)
    if record is None or not is_led(image, record):
        return False
    return kind is ElectionType.UNCLEAN or record.leader == before.replicas[0]


def losses(image: MetadataImage, table: VlogTable, records: Sequence[StreamletRecord]) -> list[VsegId]:
    """Virtual segments that may hold something of them and wait for their ends, which they wait for."""
    different = {alike(image, one): one for one in records}.values()  # there may be thousands
    return [
        vseg.id
        for vseg in table.open_vsegs()
        if rules.is_sealing(image, vseg)
        and any(
            vseg.id.owner_epoch in one.sources and rules.is_for(image, table, one, vseg) for one in different
        )
    ]


def decide_unregister(image: MetadataImage, table: VlogTable, node_id: int) -> Decision[None]:
    """Forget a broker for good. Raises KafkaError: BROKER_ID_NOT_REGISTERED for an unknown one; unlike Apache
    Kafka, INVALID_REQUEST for one that is alive, or that has the only copy of something."""
    if node_id in image.brokers:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker {node_id} is alive: drain it and stop it first.")
    gone = table.fenced.get(node_id)
    if gone is None:
        raise KafkaError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered"
        )
    only = sum(record.leader == node_id and not is_led(image, record) for record in image.every_streamlet())
    if only:
        message = f"Broker {node_id} has the only copy of {only} streamlets: they would be lost."
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    decision = Decision(None, {f"{MOVED}{node_id}": str(gone.epoch).encode()}, [gone.fenced_key])
    if str(node_id) in image.configs:
        decision.deletes.append(f"configs/{node_id}")
    return decision
