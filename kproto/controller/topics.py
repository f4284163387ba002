"""Pure decisions about topics: create, add partitions, delete. Image in, store writes and answers out.

Error codes are those Apache Kafka 4.3 gives for the same request; the sentences are kproto's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kproto.config import ACTIVE_GROUPS, ConfigError, Settings, validate_topic_configs
from kproto.controller.config_changes import check_size
from kproto.controller.decision import Decision
from kproto.controller.names import OFFSETS_TOPIC, PROHIBITED_TOPIC, folded, is_internal, name_problem
from kproto.controller.placement import placeable, rack_order, racks_of, spread
from kproto.controller.rules import is_draining
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.metadata.records import ONLINE
from kproto.vlog.classes import least_policy

PARTITIONS_PER_REQUEST: Final = 10_000
"""As in Apache Kafka: one request cannot ask for more new partitions than this."""

UNSET: Final = -1
"""Partitions or replication factor: take the broker's default, or derive it from the assignment."""

Assignment = Sequence[tuple[int, tuple[int, ...]]]
"""Pairs of partition and its replicas, as the client listed them."""


class NewTopic(NamedTuple):
    """One topic of a CreateTopics request. ``assignments`` empty means: place it automatically."""

    name: str
    partitions: int = UNSET
    replication_factor: int = UNSET
    assignments: Assignment = ()
    configs: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """One topic of a CreatePartitions request: grow to ``count``; ``assignments`` are of the new ones."""

    name: str
    count: int
    assignments: Sequence[tuple[int, ...]] | None = None


class TopicRef(NamedTuple):
    """A topic by name or by id, as DeleteTopics has it; exactly one should be set."""

    name: str | None = None
    topic_id: bytes | None = None


class TopicOutcome(NamedTuple):
    """What became of one topic: ``topic`` when it worked, else ``error``."""

    name: str | None
    error: KafkaError | None = None
    topic: TopicRecord | None = None
    topic_id: bytes | None = None


def decide_create(
    image: MetadataImage,
    requested: Sequence[NewTopic],
    settings: Settings,
    new_id: Callable[[], bytes],
    led: Mapping[int, int],
    fenced: Collection[int] = (),
) -> Decision[list[TopicOutcome]]:
    """Create topics; a fault in one does not stop the others. ``led`` counts streamlets per leader;
    ``fenced`` are brokers that are away but registered: as in Apache Kafka they get replicas where live ones
    are not enough.

    Each answer comes in the order of the request; a name asked for twice is refused once for both.
    """
    decision = _too_many(requested)
    if decision is not None:
        return decision
    decision = Decision([])
    times = Counter(topic.name for topic in requested)
    places = _Places(image, led)
    away = _away(image, fenced)
    taken = {folded(name) for name in image.topics}
    left = PARTITIONS_PER_REQUEST
    for topic in {topic.name: topic for topic in requested}.values():
        try:
            if times[topic.name] > 1:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"{topic.name!r} is in the request more than once."
                )
            _check_name(image, topic.name, taken)
            record, replicas = _new_topic(image, topic, settings, new_id, places, away)
            left -= record.partitions
            _check_budget(left)
        except KafkaError as error:
            decision.answer.append(TopicOutcome(topic.name, error))
            continue
        decision.puts[record.key] = record.encode()
        for index, members in enumerate(replicas):
            streamlet = _new_streamlet(image, record.topic_id, index, members)
            decision.puts[streamlet.key] = streamlet.encode()
        decision.answer.append(TopicOutcome(topic.name, None, record, record.topic_id))
        places.taken += len(replicas)
    return decision


class _Places:
    """The brokers for new replicas, in turn; who leads least comes first."""

    def __init__(self, image: MetadataImage, led: Mapping[int, int]) -> None:
        self._image = image
        self._led = led
        self._found: dict[int, tuple[list[int], int]] = {}
        self.taken = 0
        """Streamlets that have places already."""

    def of(self, copies: int) -> tuple[list[int], int]:
        """Those for topics with so many copies, and with which of them to begin."""
        if copies not in self._found:
            order = rack_order(placeable(self._image, copies))
            first = min(range(len(order)), key=lambda at: self._led.get(order[at], 0)) if order else 0
            self._found[copies] = order, first
        order, first = self._found[copies]
        return order, first + self.taken


def _new_streamlet(
    image: MetadataImage, topic_id: bytes, index: int, members: tuple[int, ...]
) -> StreamletRecord:
    """A streamlet that the first of its live replicas serves at once; that is its only source when there are
    several."""
    leader = next(node_id for node_id in members if node_id in image.brokers)
    sources = (image.brokers[leader].epoch,) if len(members) > 1 else ()
    return StreamletRecord(topic_id, index, leader, 0, members, ONLINE, sources)


def _away(image: MetadataImage, fenced: Collection[int]) -> list[int]:
    """Registered brokers that are not there, and are to come back."""
    return [each for each in sorted(fenced) if each not in image.brokers and not is_draining(image, each)]


def _spread(
    image: MetadataImage, order: Sequence[int], away: Sequence[int], start: int, streamlets: int, factor: int
) -> list[tuple[int, ...]]:
    """Replicas of each new streamlet: on live brokers, then on those that are away."""
    live = spread(order, start, streamlets, min(factor, len(order)), racks_of(image.brokers))
    return [members + tuple(away[: factor - len(members)]) for members in live]


def offsets_topic(image: MetadataImage, settings: Settings) -> NewTopic:
    """``__consumer_offsets`` as the broker creates it: fewer copies while fewer brokers are alive."""
    return NewTopic(
        OFFSETS_TOPIC,
        settings.offsets_topic_num_partitions,
        max(1, min(settings.offsets_topic_replication_factor, len(image.brokers))),
        configs={
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(max(1_048_576, settings.offsets_topic_segment_bytes)),
        },
    )


def _check_name(image: MetadataImage, name: str, taken: set[str]) -> None:
    problem = name_problem(name)
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if name == PROHIBITED_TOPIC:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} cannot be created by clients.")
    if name in image.topics:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if folded(name) in taken:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"{name!r} differs from the name of another topic only in '.' and '_'.",
        )


def _too_many(
    requested: Sequence[NewTopic] | Sequence[NewPartitions],
) -> Decision[list[TopicOutcome]] | None:
    """Every topic refused, before a look at any, when there are more than one request may add partitions."""
    if len(requested) <= PARTITIONS_PER_REQUEST:
        return None
    error = KafkaError(ErrorCode.POLICY_VIOLATION, f"{len(requested)} topics are too many for one request.")
    return Decision([TopicOutcome(name, error) for name in {topic.name: None for topic in requested}])


def _check_budget(left: int) -> None:
    if left < 0:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, f"One request may add at most {PARTITIONS_PER_REQUEST} partitions."
        )


def _new_topic(
    image: MetadataImage,
    topic: NewTopic,
    settings: Settings,
    new_id: Callable[[], bytes],
    places: _Places,
    away: Sequence[int],
) -> tuple[TopicRecord, list[tuple[int, ...]]]:
    """The record of a new topic and the replicas of each of its streamlets."""
    configs = _checked_configs(topic.configs or {})
    active_groups = int(configs.get(ACTIVE_GROUPS, 1))
    if topic.assignments:
        partitions, replicas = _manual(image, topic, active_groups, away)
        factor = len(replicas[0])
    else:
        partitions = settings.num_partitions if topic.partitions == UNSET else topic.partitions
        factor = settings.default_replication_factor
        if topic.replication_factor != UNSET:
            factor = topic.replication_factor
        order, start = places.of(factor)
        _check_counts(partitions, factor, len(order), len(away))
        replicas = _spread(image, order, away, start, -(-partitions // active_groups), factor)
    internal = is_internal(topic.name)
    record = TopicRecord(topic.name, new_id(), partitions, factor, active_groups, configs, internal)
    return record._replace(weakest=least_policy(configs)), replicas


def _checked_configs(configs: Mapping[str, str | None]) -> dict[str, str]:
    for name, value in configs.items():
        check_size(name, value)
    try:
        return validate_topic_configs(configs)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None


def _check_counts(partitions: int, factor: int, live: int, away: int) -> None:
    _check_budget(PARTITIONS_PER_REQUEST - partitions)
    if factor < 1:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR, f"The replication factor is at least 1, not {factor}."
        )
    if partitions < 1:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"A topic has at least 1 partition, not {partitions}.")
    if factor > live + away or not live:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"A replication factor of {factor} needs as many brokers; there are {live + away}.",
        )


def _manual(
    image: MetadataImage, topic: NewTopic, active_groups: int, away: Collection[int]
) -> tuple[int, list[tuple[int, ...]]]:
    """Partition count and replicas per streamlet of a client's own assignment."""
    if topic.partitions != UNSET or topic.replication_factor != UNSET:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "With an assignment, the numbers of partitions and of replicas must both be -1.",
        )
    members = dict(topic.assignments)
    count = len(topic.assignments)
    if set(members) != set(range(count)):
        raise _misassigned(f"The assignment must have each of the partitions 0 to {count - 1} once.")
    _check_budget(PARTITIONS_PER_REQUEST - count)
    for partition in range(count):
        _check_members(image, members[partition], len(members[0]), away)
    return count, _per_streamlet([members[partition] for partition in range(count)], 0, active_groups)


def _check_members(image: MetadataImage, members: Sequence[int], factor: int, away: Collection[int]) -> None:
    if not members:
        raise _misassigned("A partition needs at least one replica.")
    if len(set(members)) != len(members):
        raise _misassigned(f"The replicas {list(members)} name a broker twice.")
    for node_id in members:
        if node_id not in image.brokers and node_id not in away:
            raise _misassigned(f"There is no broker {node_id}.")
    if not any(node_id in image.brokers for node_id in members):
        raise _misassigned(f"None of the brokers {list(members)} is alive.")
    if len(members) != factor:
        raise _misassigned(f"All partitions need {factor} replicas, {list(members)} are {len(members)}.")


def _per_streamlet(
    assignment: Sequence[tuple[int, ...]], first_partition: int, active_groups: int
) -> list[tuple[int, ...]]:
    """Replicas of the streamlets that begin in ``assignment``; partitions of one streamlet must agree."""
    by_streamlet: dict[int, tuple[int, ...]] = {}
    for partition, members in enumerate(assignment, first_partition):
        index = partition // active_groups
        if by_streamlet.setdefault(index, members) != members:
            raise _misassigned(
                f"Partition {partition} is in streamlet {index} with others ({ACTIVE_GROUPS} is "
                f"{active_groups}) and needs the same replicas: {list(by_streamlet[index])}."
            )
    return [by_streamlet[index] for index in sorted(by_streamlet)]


def _misassigned(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def decide_create_partitions(
    image: MetadataImage,
    requested: Sequence[NewPartitions],
    led: Mapping[int, int],
    fenced: Collection[int] = (),
) -> Decision[list[TopicOutcome]]:
    """Grow topics; new partitions first fill the last streamlet, then begin new ones. ``led`` and ``fenced``
    as for `decide_create`."""
    decision = _too_many(requested)
    if decision is not None:
        return decision
    decision = Decision([])
    times = Counter(request.name for request in requested)
    left = PARTITIONS_PER_REQUEST
    for request in {request.name: request for request in requested}.values():
        try:
            if times[request.name] > 1:
                message = f"{request.name!r} is in the request more than once."
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)
            topic = _growable(image, request)
            left -= request.count - topic.partitions
            _check_budget(left)
            streamlets = _added_streamlets(image, topic, request, led, _away(image, fenced))
        except KafkaError as error:
            decision.answer.append(TopicOutcome(request.name, error))
            continue
        grown = topic._replace(partitions=request.count)
        decision.puts[grown.key] = grown.encode()
        decision.puts.update((record.key, record.encode()) for record in streamlets)
        decision.answer.append(TopicOutcome(request.name, None, grown, grown.topic_id))
    return decision


def _growable(image: MetadataImage, request: NewPartitions) -> TopicRecord:
    topic = image.topics.get(request.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {request.name!r}.")
    if topic.name == OFFSETS_TOPIC:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"The number of partitions of {OFFSETS_TOPIC} decides where each group's offsets are; it stays.",
        )
    if request.count <= topic.partitions:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"{topic.name!r} has {topic.partitions} partitions; {request.count} would not be more.",
        )
    return topic


def _added_streamlets(
    image: MetadataImage,
    topic: TopicRecord,
    request: NewPartitions,
    led: Mapping[int, int],
    away: Sequence[int],
) -> list[StreamletRecord]:
    """Records of the streamlets that begin with the new partitions; may be none."""
    old, groups = topic.streamlets, topic.active_groups
    new = -(-request.count // groups)
    if request.assignments is not None:
        replicas = _grown_assignment(image, topic, request, away)
    else:
        order, start = _Places(image, led).of(topic.replication_factor)
        there = len(order) + len(away)
        if (topic.replication_factor > there or not order) and new > old:
            raise KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"New partitions need {topic.replication_factor} brokers; there are {there}.",
            )
        replicas = _spread(image, order, away, start, new - old, topic.replication_factor)
    return [
        _new_streamlet(image, topic.topic_id, index, members) for index, members in enumerate(replicas, old)
    ]


def _grown_assignment(
    image: MetadataImage, topic: TopicRecord, request: NewPartitions, away: Collection[int]
) -> list[tuple[int, ...]]:
    """Replicas of the new streamlets by the client's assignment of the new partitions."""
    assignment = list(request.assignments or ())
    added = request.count - topic.partitions
    if len(assignment) != added:
        raise _misassigned(f"{added} partitions are added, but {len(assignment)} assignments given.")
    last = image.streamlets[topic.topic_id][-1].replicas
    joining = min(added, topic.streamlets * topic.active_groups - topic.partitions)
    for at, members in enumerate(assignment):
        _check_members(image, members, len(last) if at < joining else topic.replication_factor, away)
    _per_streamlet([last, *assignment[:joining]], topic.partitions - 1, topic.active_groups)
    return _per_streamlet(assignment[joining:], topic.partitions + joining, topic.active_groups)


def decide_delete(
    image: MetadataImage, requested: Sequence[TopicRef], settings: Settings
) -> Decision[list[TopicOutcome]]:
    """Delete topics by name or id. As in Apache Kafka an internal topic can be deleted, too."""
    decision: Decision[list[TopicOutcome]] = Decision([])
    names: Counter[str | None] = Counter(ref.name for ref in requested if ref.name is not None)
    ids: Counter[bytes | None] = Counter(ref.topic_id for ref in requested if ref.topic_id is not None)
    by_id = {image.topics_by_id[each].name for each in ids if each and each in image.topics_by_id}
    for ref in dict.fromkeys(requested):
        if ref.topic_id is None and ref.name in by_id:
            continue  # answered once, where it is meant by its id
        name = ref.name
        try:
            _check_reference(ref, names, ids)
            topic = _referenced(image, ref)
            name = topic.name
            if ref.name is None and name in names:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name!r} is meant by its id and by its name.")
            if not settings.delete_topic_enable:
                raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED, "delete.topic.enable is false.")
        except KafkaError as error:
            decision.answer.append(TopicOutcome(name, error, None, ref.topic_id))
            continue
        decision.deletes.append(topic.key)
        decision.deletes += (record.key for record in image.streamlets[topic.topic_id])
        decision.answer.append(TopicOutcome(topic.name, None, topic, topic.topic_id))
    return decision


def _check_reference(ref: TopicRef, names: Counter[str | None], ids: Counter[bytes | None]) -> None:
    if ref.name is not None and ref.topic_id is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "A topic is named by its name or its id, not by both.")
    if ref.name is None and ref.topic_id is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Neither the name nor the id of the topic is given.")
    if names[ref.name] > 1 or ids[ref.topic_id] > 1:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "The topic is in the request more than once.")


def _referenced(image: MetadataImage, ref: TopicRef) -> TopicRecord:
    if ref.topic_id is not None:
        by_id = image.topics_by_id.get(ref.topic_id)
        if by_id is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "There is no topic with this id.")
        return by_id
    topic = image.topics.get(ref.name or "")
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {ref.name!r}.")
    return topic
