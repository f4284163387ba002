"""How a streamlet comes to have one copy again (18b). Pure.

A streamlet that is to have a single copy gets nothing new at once: it has sources, and is served, recovered
and moved as before. When its leader has all of it in files of its own, and what is known of its producers, it
says so, and one transaction takes the sources away. Then nobody else can lead it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.recovery import Attempt
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import VlogTable


def decide_alone(
    image: MetadataImage, table: VlogTable, node_id: int, epoch: int, wanted: Sequence[Attempt]
) -> Decision[list[bool]]:
    """Streamlets need no copy elsewhere from now on: their leader, as ``epoch``, has all of them. One answer
    each: False for one that it does not lead under that leader epoch, or that is to be elsewhere."""
    decision: Decision[list[bool]] = Decision([])
    for each in wanted:
        record = image.find_streamlet(each.topic_id, each.streamlet)
        done = (
            record is not None
            and rules.may_be_alone(image, record, node_id, epoch)
            and record.leader_epoch == each.leader_epoch
            and table.current_move(record) is None
        )
        decision.answer.append(done)
        if done and record is not None:
            decision.puts[record.key] = record.alone(table.owners).encode()
    for topic_id in {each.topic_id for each, done in zip(wanted, decision.answer, strict=True) if done}:
        topic = image.topics_by_id[topic_id]
        left = [one for one in image.streamlets[topic_id] if one.key not in decision.puts]
        if topic.fewest and all(topic.copies_of(one) == 1 for one in left):
            decision.puts[topic.key] = topic._replace(fewest=0).encode()
    return decision
