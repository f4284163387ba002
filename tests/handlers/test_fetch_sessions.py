"""KIP-227's rules for sessions: epochs, changes, order, eviction."""

from collections.abc import Callable

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers import fetch_sessions
from kproto.handlers.fetch_sessions import (
    EVICTION_SECONDS,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    MAX_EPOCH,
    MAX_PARTITIONS,
    FetchContext,
    Session,
    SessionCache,
    Wanted,
)


def wanted(*indexes: int, topic: str = "t", offset: int = 0) -> list[Wanted]:
    return [((topic, index), offset, 1000, -1) for index in indexes]


def opened(cache: SessionCache, *indexes: int, now: float = 0.0) -> int:
    return cache.open(0, INITIAL_EPOCH, False, wanted(*indexes), [], now).session_id


def indexes(context: FetchContext) -> list[int]:
    """What is looked at, in order."""
    return [one.index for one in context.session.news]


def error_of(cache: SessionCache, session_id: int, epoch: int, with_ids: bool = False) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        cache.open(session_id, epoch, with_ids, [], [], 0.0)
    return caught.value.code


def test_a_full_request_opens_a_session_and_answers_everything():
    cache = SessionCache(10)
    context = cache.open(0, INITIAL_EPOCH, False, wanted(0, 1), [], 0.0)
    assert context.session_id > 0
    assert not context.incremental
    assert indexes(context) == [0, 1]


def test_incremental_requests_add_change_and_forget():
    cache = SessionCache(10)
    session_id = opened(cache, 0, 1, 2)
    context = cache.open(session_id, 1, False, wanted(1, 3, offset=7), [("t", 0)], 0.0)
    assert context.incremental
    assert [(p.index, p.offset) for p in context.session.news] == [(1, 7), (2, 0), (3, 7)]
    assert len(cache.open(session_id, 2, False, [], [], 0.0).session.partitions) == 3


def test_epochs_count_up_and_wrap_to_one():
    cache = SessionCache(10)
    session_id = opened(cache, 0)
    assert error_of(cache, session_id, 2) is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    context = cache.open(session_id, 1, False, [], [], 0.0)
    assert error_of(cache, session_id, 1) is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    context.session.epoch = MAX_EPOCH
    cache.open(session_id, MAX_EPOCH, False, [], [], 0.0)
    assert cache.open(session_id, 1, False, [], [], 0.0).incremental


def test_unknown_sessions_and_mixed_topic_ids_are_errors():
    cache = SessionCache(10)
    assert error_of(cache, 12345, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert error_of(cache, opened(cache, 0), 1, with_ids=True) is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_closing_ends_the_session_and_a_new_full_request_replaces_it():
    cache = SessionCache(10)
    first = opened(cache, 0)
    assert cache.open(first, FINAL_EPOCH, False, wanted(0), [], 0.0).session_id == 0
    assert error_of(cache, first, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    second = opened(cache, 0)
    cache.open(second, INITIAL_EPOCH, False, wanted(0), [], 0.0)
    assert len(cache) == 1
    assert error_of(cache, second, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_that_forgets_everything_ends():
    cache = SessionCache(10)
    session_id = opened(cache, 0)
    assert cache.open(session_id, 1, False, [], [("t", 0)], 0.0).session_id == 0
    assert len(cache) == 0


def test_only_news_is_told():
    partition = FetchContext.once(wanted(0)).session.news[0]
    assert partition.news(high_watermark=5, log_start=0, size=0, error=0)
    assert not partition.news(5, 0, 0, 0)
    assert partition.news(5, 0, 100, 0)
    assert partition.news(6, 0, 0, 0)
    assert partition.news(6, 2, 0, 0)
    assert partition.news(6, 2, 0, ErrorCode.UNKNOWN_LEADER_EPOCH)
    assert partition.news(6, 2, 0, 0)
    assert not partition.news(6, 2, 0, 0)


def test_what_was_served_comes_last_next_time():
    cache = SessionCache(10)
    session_id = opened(cache, 0, 1, 2)
    context = cache.open(session_id, 1, False, [], [], 0.0)
    context.session.served(context.session.news[:1])
    assert indexes(cache.open(session_id, 2, False, [], [], 0.0)) == [1, 2, 0]


def test_those_served_at_once_keep_their_order():
    cache = SessionCache(10)
    session_id = opened(cache, 0, 1, 2, 3)
    context = cache.open(session_id, 1, False, [], [], 0.0)
    context.session.served([context.session.news[0], context.session.news[2]])
    context = cache.open(session_id, 2, False, [], [], 0.0)
    assert indexes(context) == [1, 3, 0, 2]
    context.session.served(context.session.news)
    assert indexes(cache.open(session_id, 3, False, [], [], 0.0)) == [1, 3, 0, 2]


class Log:
    """What a session sees of a partition's log: who is to be called."""

    def __init__(self) -> None:
        self.waiters: list[Callable[[], object]] = []

    def notify(self) -> None:
        for waiter in tuple(self.waiters):
            waiter()


def watched(cache: SessionCache, count: int = 2) -> tuple[Session, list[Log]]:
    """A session of partitions that have nothing to tell."""
    session_id = opened(cache, *range(count))
    session = cache.open(session_id, 1, False, [], [], 0.0).session
    logs = [Log() for _ in range(count)]
    for one, log in zip(session.news, logs, strict=True):
        one.partition = log  # type: ignore[assignment]
        one.is_news = False
        one.watch()
    session.news = []
    return session, logs


def test_what_has_nothing_to_tell_is_not_looked_at_until_its_log_calls():
    session, logs = watched(SessionCache(10), 3)
    logs[2].notify()
    assert [one.index for one in session.news] == [2]
    session.update(wanted(0), [])
    session.update(wanted(0, 2), [])
    assert [one.index for one in session.news] == [2, 0]


def test_a_session_that_nobody_uses_is_told_twice_and_no_more():
    session, logs = watched(SessionCache(10))
    logs[0].notify()
    assert len(logs[0].waiters) == 1
    logs[0].notify()
    assert logs[0].waiters == []
    assert [one.index for one in session.news] == [0]


def test_a_fetch_that_waits_is_told_of_everything():
    session, logs = watched(SessionCache(10))
    logs[0].notify()
    logs[0].notify()
    woken = []

    def wake() -> None:
        woken.append(1)

    session.wait(wake)
    for log in (*logs, *logs):
        log.notify()
    assert len(woken) == 4
    session.rest(wake)
    for log in (*logs, *logs):
        log.notify()
    assert len(woken) == 4
    assert sorted(one.index for one in session.news) == [0, 1]


def test_who_was_found_again_is_watched_where_it_is():
    session, logs = watched(SessionCache(10))
    one, new = session.partitions["t", 0], Log()
    one.partition = new  # type: ignore[assignment]
    one.watch()
    assert logs[0].waiters == []
    new.notify()
    assert session.news == [one]


@pytest.mark.parametrize("epoch", [INITIAL_EPOCH, FINAL_EPOCH])
def test_a_session_that_ended_hears_nothing(epoch: int):
    cache = SessionCache(10)
    session, logs = watched(cache)
    cache.open(session.id, epoch, False, wanted(0), [], 0.0)
    assert [log.waiters for log in logs] == [[], []]


def test_a_session_that_was_evicted_hears_nothing_once_its_fetch_is_answered():
    cache = SessionCache(1)
    session, logs = watched(cache)
    woken = []

    def wake() -> None:
        woken.append(1)

    session.wait(wake)
    assert opened(cache, 0, now=EVICTION_SECONDS + 1) > 0
    logs[1].notify()
    assert woken == [1]
    session.rest(wake)
    assert [log.waiters for log in logs] == [[], []]


def test_what_is_forgotten_is_neither_heard_nor_looked_at():
    session, logs = watched(SessionCache(10), 3)
    logs[0].notify()
    logs[1].notify()
    session.update([], [("t", 0), ("t", 2)])
    assert [log.waiters for log in (logs[0], logs[2])] == [[], []]
    assert [one.index for one in session.news] == [1]
    session.all_news()
    assert [one.index for one in session.news] == [1]


def test_no_slots_no_sessions():
    assert opened(SessionCache(0), 0) == 0


def test_slots_are_taken_from_the_stale_then_from_the_small():
    cache = SessionCache(2)
    one, two = opened(cache, 0, now=0.0), opened(cache, 0, 1, now=1.0)
    assert opened(cache, 0, 1, 2, now=2.0) == 0, "both are young"
    cache.open(one, 1, False, [], [], EVICTION_SECONDS)
    cache.open(two, 1, False, [], [], EVICTION_SECONDS)
    late = EVICTION_SECONDS + 2
    assert opened(cache, 0, now=late) == 0, "no larger than the smallest"
    three = opened(cache, 0, 1, 2, now=late)
    assert three > 0
    assert error_of(cache, one, 2) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    cache.open(three, 1, False, [], [], late + EVICTION_SECONDS)
    assert opened(cache, 0, now=late + EVICTION_SECONDS) > 0, "two was not used for two minutes"
    assert error_of(cache, two, 2) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert (len(cache), cache.evictions) == (2, 2)


def test_a_session_does_not_grow_beyond_what_one_request_may_name():
    cache = SessionCache(10)
    session, logs = watched(cache)
    cache.open(session.id, 2, False, wanted(*range(MAX_PARTITIONS)), [], 0.0)
    assert len(session.partitions) == MAX_PARTITIONS
    context = cache.open(session.id, 3, False, wanted(MAX_PARTITIONS), [("t", 7)], 0.0)
    assert len(context.session.partitions) == MAX_PARTITIONS
    with pytest.raises(KafkaError) as caught:
        cache.open(session.id, 4, False, wanted(7), [], 0.0)
    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert error_of(cache, session.id, 5) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert (len(cache), cache.partitions) == (0, 0)
    assert [log.waiters for log in logs] == [[], []]
    assert opened(cache, 0) > 0


def test_all_sessions_together_have_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetch_sessions, "MOST_PARTITIONS", 6)
    cache = SessionCache(10)
    one, two = opened(cache, 0, 1, now=1.0), opened(cache, 0, 1, now=2.0)
    assert opened(cache, 0, 1, 2) == 0
    cache.open(two, 1, False, wanted(2, 3), [], 2.0)
    assert cache.partitions == 6
    with pytest.raises(KafkaError) as caught:
        cache.open(one, 1, False, wanted(2), [], 3.0)
    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert error_of(cache, one, 2) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    three = opened(cache, 0, 1, now=3.0)
    cache.open(two, 2, False, [], [("t", 3)], 4.0)
    assert cache.partitions == 5
    assert opened(cache, 0, 1, now=5.0) == 0
    assert opened(cache, 0, now=6.0) > 0
    late = 4.0 + EVICTION_SECONDS
    assert opened(cache, 0, now=late) > 0, "three was not used for two minutes"
    assert opened(cache, 0, 1, 2, 3, 4, now=late) == 0, "room is made by the unused only"
    assert error_of(cache, three, 1) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert opened(cache, 0, 1, 2, 3, 4, now=late + 3) > 0
    assert (len(cache), cache.partitions, cache.evictions) == (2, 6, 3)


def test_what_is_larger_than_all_sessions_may_be_gets_none():
    cache = SessionCache(10, most=2)
    assert opened(cache, 0, 1, 2) == 0, "there is nothing that could make room"
    one = opened(cache, 0)
    late = EVICTION_SECONDS + 1
    assert opened(cache, 0, 1, 2, now=late) == 0
    assert cache.open(one, 1, False, [], [], late).session_id == one, "nobody makes room in vain"
