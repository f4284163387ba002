"""New leaders for streamlets whose owner is gone, or that another one cannot rebuild, and their commit (rules
2b, 19b, 27, 27b, 29). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from kproto.controller import rules
from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.controller.given_away import GivenAway
from kproto.controller.sources import Sources, alike
from kproto.controller.unreached import NodesOf, nobody
from kproto.metadata import MetadataImage
from kproto.metadata.records import RECOVERING, StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegRecord

NAMED: Final = 10
"""Partitions in one line for the operator."""


class Attempt(NamedTuple):
    """What a new leader commits: the streamlet and the leader epoch under which it was rebuilt. ``empty``: it
    looked at all sources, and there was never anything of it in any."""

    topic_id: bytes
    streamlet: int
    leader_epoch: int
    empty: bool = False


def due_streamlets(image: MetadataImage) -> list[StreamletRecord]:
    """Streamlets with several copies that nobody serves or recovers, by topic and index."""
    return [record for record in image.streamlets_in_order() if rules.is_due(image, record)]


def being_rebuilt(image: MetadataImage) -> dict[tuple[int, ...], list[StreamletRecord]]:
    """Streamlets that a member was told to rebuild, by their sources."""
    found: dict[tuple[int, ...], list[StreamletRecord]] = {}
    for record in image.every_streamlet():
        if record.state == RECOVERING and record.leader in image.brokers:
            found.setdefault(record.sources, []).append(record)
    return found


def choose_leader(record: StreamletRecord, able: Sequence[int], load: Counter[int]) -> int:
    """The leader it had when that is back (2b), else of its replicas, else of all, who leads the fewest.

    A leader that is back and leads more than the preferred one gives it back to that: so what one broker
    gathered while others were away is spread again.
    """
    preferred = record.replicas[0]
    if record.leader in able:
        gathered = preferred in able and load[preferred] < load[record.leader]
        return preferred if gathered else record.leader
    members = [node_id for node_id in record.replicas if node_id in able]
    return min(members or able, key=lambda node_id: (load[node_id], node_id))


def next_leader(
    image: MetadataImage,
    record: StreamletRecord,
    sources: Sources,
    load: Counter[int],
    leaving: int | None = None,
    unreached: NodesOf = nobody,
) -> int | None:
    """Who is to rebuild the streamlet, which counts in ``load`` from now on; not who is ``leaving``, and a
    broker that is being drained, or did not reach the copies, only when nobody else can. None: nobody can."""
    able = _able(image, record, sources, () if leaving is None else (leaving,))
    tried = unreached((record.topic_id, record.index))
    able = [node for node in able if node not in tried] or able
    if not able:
        return None
    leader = choose_leader(record, able, load)
    load[leader] += 1
    return leader


def _able(
    image: MetadataImage, record: StreamletRecord, sources: Sources, without: Collection[int]
) -> list[int]:
    """Who could rebuild the streamlet; those that are being drained only when nobody else can. Who led it
    last when that is back, whoever was told to since, and has yet to push again what it has of something that
    was given up: to others all of that is lost (18b, 45)."""
    able = [node for node in sources.candidates(record) if node not in without]
    last = sources.last_leader(record)
    if last in able and sources.is_saving(record):
        return [last]
    return [node for node in able if not rules.is_draining(image, node)] or able


def _tell(
    decision: Decision[list[StreamletRecord]], given: GivenAway, record: StreamletRecord, leader: int
) -> None:
    """Have ``leader`` rebuild the streamlet."""
    assigned = record.recovering(leader)
    decision.puts[assigned.key] = assigned.encode()
    decision.answer.append(assigned)
    given.note(record, leader)


def awaits_preferred(image: MetadataImage, table: VlogTable, record: StreamletRecord) -> bool:
    """Its leader is back, and its preferred one, which may be starting, too, has left or died before."""
    preferred = record.replicas[0]
    return record.leader in image.brokers and preferred in table.fenced and preferred not in image.brokers


def led_now(image: MetadataImage) -> Counter[int]:
    """Streamlets per live leader, those being recovered included."""
    return Counter(
        record.leader
        for record in image.every_streamlet()
        if record.leader in image.brokers and not rules.is_due(image, record)
    )


def decide_assign(
    image: MetadataImage,
    table: VlogTable,
    due: Iterable[StreamletRecord],
    load: Counter[int],
    unreached: NodesOf = nobody,
) -> Decision[list[StreamletRecord]]:
    """Give streamlets whose sources are sealed a leader to recover them, at most 100 at a time (19b).

    The answer: the new records. ``due`` may be older than the image. ``load`` counts streamlets per leader
    and is kept up to date; ``unreached``: see `decide_cannot`. Streamlets that cannot be recovered yet are
    left as they are: see :func:`awaited`.
    """
    decision: Decision[list[StreamletRecord]] = Decision([])
    sources = Sources(image, table)
    given = GivenAway(image, table, sources)
    for each in due:
        if len(decision.answer) == PER_TRANSACTION:
            break
        record = image.find_streamlet(each.topic_id, each.index)
        if record is None or not rules.is_due(image, record) or not sources.sealed(record):
            continue
        leader = next_leader(image, record, sources, load, unreached=unreached)
        if leader is not None:
            _tell(decision, given, record, leader)
    decision.puts.update(given.puts())
    return decision


def decide_cannot(
    image: MetadataImage,
    table: VlogTable,
    node_id: int,
    epoch: int,
    attempts: Sequence[Attempt],
    unreached: NodesOf,
) -> Decision[list[StreamletRecord]]:
    """A member that is to rebuild streamlets does not reach copies of them: another one is to try (29), who
    led it to the end if that lives (12b); nobody who is in ``unreached`` for it, having said so already.

    The answer: the new records. Those that nobody else could lead, or whose leader's files are needed (18b),
    stay as they are.
    """
    decision: Decision[list[StreamletRecord]] = Decision([])
    sources = Sources(image, table)
    given = GivenAway(image, table, sources)
    load = led_now(image)
    for attempt in attempts:
        record = image.find_streamlet(attempt.topic_id, attempt.streamlet)
        if record is None or not rules.may_commit(image, record, node_id, epoch, attempt.leader_epoch):
            continue
        tried = {node_id, *unreached((record.topic_id, record.index))}
        able = _able(image, record, sources, tried)
        if not able or not sources.sealed(record) or sources.keeps_leader(record):
            continue
        last = next((node for node in able if rules.is_current(image, node, record.sources[-1])), None)
        leader = choose_leader(record, able, load) if last is None else last
        load[leader] += 1
        _tell(decision, given, record, leader)
    decision.puts.update(given.puts())
    return decision


def awaited(
    image: MetadataImage,
    table: VlogTable,
    due: Iterable[StreamletRecord],
    rebuilt: Mapping[tuple[int, ...], Sequence[StreamletRecord]] = MappingProxyType({}),
) -> Counter[VsegRecord]:
    """The virtual segments without which streamlets cannot be recovered, and how many streamlets that are;
    nothing is given up. Of those that are ``rebuilt`` (`being_rebuilt`) the last copies may have gone since
    somebody was told to.
    """
    sources = Sources(image, table)
    known = (image.find_streamlet(each.topic_id, each.index) for each in due)
    groups: dict[tuple[bool, Hashable], list[StreamletRecord]] = {}
    for record in known:  # thousands may wait for ten thousand virtual segments
        if record is not None and rules.is_due(image, record) and sources.sealed(record):
            groups.setdefault((False, alike(image, record)), []).append(record)
    for owners, records in rebuilt.items():
        for each in records if sources.lack(owners) else ():
            record = image.find_streamlet(each.topic_id, each.index)
            if record is not None and record.state == RECOVERING:
                groups.setdefault((True, alike(image, record)), []).append(record)
    waiting: Counter[VsegRecord] = Counter()
    for (is_rebuilt, _), (first, *others) in groups.items():
        able = sources.candidates(first)
        if first.leader not in able if is_rebuilt else not able:
            for vseg in sources.orphans(first):
                waiting[vseg] += 1 + len(others)
    return waiting


def stuck(waiting: Counter[VsegRecord]) -> list[str]:
    """One line for each virtual segment that is `awaited`."""
    lines = []
    for vseg, count in sorted(waiting.items()):
        holders = sorted({vseg.node_id, *(target.node_id for target in vseg.backups)})
        none = ", ".join(str(node_id) for node_id, _ in vseg.denied)
        lines.append(
            f"{count} streamlets wait for virtual segment {vseg.id}: "
            f"no broker with a copy is here; copies were on {', '.join(map(str, holders))}"
            + (f", of which {none} said to have none" if none else "")
        )
    return lines


def only_copies(image: MetadataImage) -> list[str]:
    """One line for each broker that is away and has the only copy of partitions; it names `NAMED` of them."""
    found: dict[int, list[str]] = {}
    for name, topic in sorted(image.topics.items()):
        for record in image.streamlets[topic.topic_id]:
            if rules.only_copy_away(image, record):
                partitions = topic.partitions_of(record.index)
                found.setdefault(record.leader, []).extend(f"{name}-{each}" for each in partitions)
    lines = []
    for node_id, names in sorted(found.items()):
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        lines.append(f"on broker {node_id} only, which is away: {', '.join(names[:NAMED])}{more}")
    return lines


def decide_commit(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, attempts: Sequence[Attempt]
) -> Decision[list[bool]]:
    """The commit point (27, 27b): streamlets that their new leader has rebuilt go online.

    One answer per attempt, False for one that is not the newest any more. The same again gives the same.
    """
    decision: Decision[list[bool]] = Decision([])
    sources = Sources(image, table)
    for attempt in attempts:
        record = image.find_streamlet(attempt.topic_id, attempt.streamlet)
        done = rules.leads(image, record, node_id, epoch)
        if record is not None and rules.may_commit(image, record, node_id, epoch, attempt.leader_epoch):
            done = sources.sealed(record)
            if done:
                again = epoch in record.sources  # by a move back: see `owner_has`
                kept = record if again and not attempt.empty else _pruned(image, table, record, attempt.empty)
                online = kept.online(epoch)
                decision.puts[online.key] = online.encode()
        elif record is not None:
            done = done and record.leader_epoch == attempt.leader_epoch
        decision.answer.append(done)
    return decision


def _pruned(image: MetadataImage, table: VlogTable, record: StreamletRecord, empty: bool) -> StreamletRecord:
    """Without the sources that have no virtual segment left, or nothing of the streamlet because that is
    ``empty``: they hold nothing (rule 4). A live owner may still write down what it knew of the streamlet
    when it handed that over, and lead it again: it stays. Else who has many topics without a record, and
    restarts brokers now and then, would have each of them looked for at every owner there ever was."""
    live = {broker.epoch for broker in image.brokers.values()}
    owners = () if empty else table.owners
    return record.read_from(tuple(one for one in record.sources if one in live or one in owners))
