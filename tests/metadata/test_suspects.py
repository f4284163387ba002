"""What clients are shown while a broker seems to be dead."""

from dataclasses import replace

from kproto.handlers.metadata_wire import topic_entry
from kproto.handlers.partitions import leader_of
from kproto.metadata import BrokerRecord, MetadataImage, TopicRecord
from kproto.metadata.records import NO_LEADER, ONLINE, RECOVERING, StreamletRecord
from kproto.metadata.suspects import Suspects

TOPIC = TopicRecord("t", b"t" * 16, 3, 3, 1, {}, False)
ONE, TWO = BrokerRecord(1, 11, "a", 9092, None), BrokerRecord(2, 12, "b", 9092, None)
STREAMLETS = (
    StreamletRecord(TOPIC.topic_id, 0, 1, 5, (1, 2), sources=(11,)),
    StreamletRecord(TOPIC.topic_id, 1, 2, 5, (2, 1), sources=(12,)),
    StreamletRecord(TOPIC.topic_id, 2, 2, 0, (2,)),
)
IMAGE = MetadataImage(
    revision=7,
    brokers={1: ONE, 2: TWO},
    topics={"t": TOPIC},
    topics_by_id={TOPIC.topic_id: TOPIC},
    streamlets={TOPIC.topic_id: STREAMLETS},
)


def leaders(image: MetadataImage) -> list[int]:
    return [leader_of(image, record) for record in image.streamlets[TOPIC.topic_id]]


def test_what_a_suspect_leads_has_no_leader_for_clients() -> None:
    suspects = Suspects()
    assert suspects.shown(IMAGE) is IMAGE
    suspects.add(2, 12)
    assert leaders(suspects.shown(IMAGE)) == [1, NO_LEADER, 2], "a single copy waits for its broker anyway"
    assert leaders(IMAGE) == [1, 2, 2]
    assert sorted(suspects.shown(IMAGE).brokers) == [1, 2], "clients keep its address"


def test_the_memo_of_the_image_is_not_used_for_it() -> None:
    suspects = Suspects()
    plain = topic_entry(IMAGE, TOPIC, 12)
    suspects.add(2, 12)
    assert topic_entry(suspects.shown(IMAGE), TOPIC, 12) != plain
    assert topic_entry(IMAGE, TOPIC, 12) == plain


def test_one_image_is_shown_as_one_image() -> None:
    """So that its own memo is of use while many clients ask."""
    suspects = Suspects()
    suspects.add(2, 12)
    assert suspects.shown(IMAGE) is suspects.shown(IMAGE)
    suspects.add(1, 11)
    assert leaders(suspects.shown(IMAGE)) == [NO_LEADER, NO_LEADER, 2]


def test_suspicion_ends() -> None:
    suspects = Suspects()
    suspects.add(2, 12)
    suspects.remove(2, 11)
    assert leaders(suspects.shown(IMAGE))[1] == NO_LEADER, "that was about an earlier epoch"
    suspects.remove(2, 12)
    assert suspects.shown(IMAGE) is IMAGE


def test_a_broker_that_is_back_is_not_suspected() -> None:
    suspects = Suspects()
    suspects.add(2, 9)
    assert leaders(suspects.shown(IMAGE)) == [1, 2, 2]


def test_the_dead_stay_listed_for_a_while() -> None:
    suspects, three = Suspects(), BrokerRecord(3, 13, "c", 9092, None)
    suspects.gone(three)
    assert suspects.listed(IMAGE) == [three, ONE, TWO]
    back = three._replace(epoch=14, port=9093)
    with_it = replace(IMAGE, brokers={**IMAGE.brokers, 3: back})
    assert sorted(suspects.listed(with_it)) == [ONE, TWO, back], "as it is now"
    suspects.gone(back)
    suspects.forget(three)
    assert back in suspects.listed(IMAGE), "that was about the death before"
    suspects.forget(back)
    assert suspects.listed(IMAGE) == [ONE, TWO]


def chosen(image: MetadataImage, *recovering: int) -> MetadataImage:
    """The image in which the leaders of the streamlets ``recovering`` are not ready; those of others are."""
    records = tuple(
        record
        if (record.state == RECOVERING) == (record.index in recovering)
        else StreamletRecord(
            TOPIC.topic_id,
            record.index,
            record.leader,
            record.leader_epoch + 1,
            record.replicas,
            RECOVERING if record.index in recovering else ONLINE,
            sources=record.sources,
        )
        for record in image.streamlets[TOPIC.topic_id]
    )
    revision, touched = image.revision + 1, frozenset({TOPIC.topic_id})
    return replace(image, revision=revision, streamlets={TOPIC.topic_id: records}, touched=touched)


def test_a_leader_is_awaited_from_when_it_is_chosen_until_it_is_ready() -> None:
    suspects = Suspects()
    assert not suspects.awaits(None)
    first = chosen(IMAGE, 0, 1)
    assert suspects.chosen(IMAGE, first) == [(TOPIC.topic_id, 0), (TOPIC.topic_id, 1)]
    assert suspects.awaits(None)
    assert suspects.awaits({TOPIC.topic_id})
    assert not suspects.awaits({b"u" * 16})
    second = chosen(first, 1)
    assert suspects.chosen(first, second) == []
    assert suspects.awaits(None), "the other one is not ready"
    assert suspects.chosen(second, chosen(second)) == []
    assert not suspects.awaits(None)


def test_a_leader_that_does_not_get_ready_is_awaited_for_a_moment_whatever_happens_to_others() -> None:
    suspects = Suspects()
    first = chosen(IMAGE, 0)
    stuck = suspects.chosen(IMAGE, first)
    second = chosen(first, 0, 1)
    others = suspects.chosen(first, second)
    suspects.settled(stuck, first.revision)
    third = chosen(second, 0)
    assert suspects.chosen(second, third) == []
    assert not suspects.awaits(None), "its record has not changed since"
    suspects.settled(others, second.revision)
    assert not suspects.awaits(None)
