"""The bound on what clients make the broker hold: buffers kept for reuse are part of it, and give way."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from kproto.memory import Spares
from kproto.net.budget import MemoryBudget
from kproto.net.connection import Connection, Exchange
from tests.net.test_server import connect, frame, receive, until

LIMIT = Spares.MOST_BYTES + (8 << 20)
STEPS = st.sampled_from(["charge", "give back", "keep", "keep", "take"])
LIMITS = st.sampled_from([1 << 20, 5 << 20, Spares.MOST_BYTES, LIMIT])


@given(LIMITS, st.lists(st.tuples(STEPS, st.integers(0, 5 << 20)), max_size=60))
def test_what_is_held_and_what_is_kept_for_reuse_have_one_bound(limit, steps):
    budget = MemoryBudget(limit)
    for step, size in steps:
        if step == "charge":
            budget.change(size)
        elif step == "give back":
            budget.change(-min(size, budget.used))
        elif step == "keep":
            budget.spares.give(bytearray(size))
        else:
            budget.spares.take(size)
        assert 0 <= budget.spares.bytes <= max(0, min(Spares.MOST_BYTES, budget.soft - budget.used))


def test_spares_are_kept_while_there_is_room_and_those_given_last_stay_longest():
    budget = MemoryBudget(LIMIT)
    for size in (2 << 20, 3 << 20, 4 << 20):
        budget.spares.give(bytearray(size))
    budget.change(budget.soft - (9 << 20))
    assert budget.spares.bytes == 9 << 20
    budget.change(1)
    assert budget.spares.bytes == 7 << 20
    budget.change(LIMIT)
    budget.spares.give(bytearray(1 << 20))
    assert budget.spares.bytes == 0
    budget.change(-budget.used)
    budget.spares.give(bytearray(2 << 20))
    assert budget.spares.take(2 << 20) is not None


def test_frames_that_grow_leave_no_more_behind_than_there_is_room_for(serve):
    """Requests stay open while more arrive, in pieces: each time a frame gets more memory it leaves a buffer
    behind. A broker with 64 MB for requests held 12 MB more."""
    opened: list[Exchange] = []

    def hold(connection: Connection, data: memoryview, owned: bool) -> None:
        budget = connection.server.budget
        assert budget.spares.bytes <= max(0, budget.soft - budget.used)
        opened.append(connection.begin(len(data)))

    running = serve(hold, budget=6 << 20)
    whole = frame(bytes(1_900_000))

    def client() -> None:
        with connect(running.port) as sock:
            for start in range(0, len(whole), 100_000):
                sock.sendall(whole[start : start + 100_000])
            sock.recv(1)

    threads = [threading.Thread(target=client) for _ in range(16)]
    for thread in threads:
        thread.start()
    for count in range(16):
        until(lambda count=count: len(opened) > count)
        if count:
            running.run(lambda count=count: opened[count - 1].respond((b"a",), 1))
    running.run(lambda: opened[-1].respond((b"a",), 1))
    for thread in threads:
        thread.join(120)
    until(lambda: running.budget.used == 0)
    with connect(running.port) as sock:
        sock.sendall(whole[:400_000])
        until(lambda: running.budget.partial >= 400_000)
        sock.sendall(whole[400_000:])
        until(lambda: len(opened) > 16)
        assert running.budget.spares.bytes > 0, "there was room for what it left"
    assert running.errors == []


def test_no_large_frame_waits_for_what_is_kept():
    """Fetch sessions stay: that they held something made each of them wait for half a second."""
    budget, owner = MemoryBudget(LIMIT), object()
    budget.keep(LIMIT // 4)
    assert budget.may_grow(owner, LIMIT, LIMIT)
    assert budget.privileged is owner
    budget.give_up_privilege(owner)
    budget.change(1)
    assert not budget.may_grow(owner, LIMIT, LIMIT)
    budget.keep(-LIMIT // 4)
    assert (budget.kept, budget.used) == (0, 1)


def test_who_is_about_to_be_answered_is_not_closed_for_the_memory_it_holds(serve):
    """Memory is used up in the moment in which an answer is known and not yet sent."""
    opened: list[Exchange] = []
    running = serve(lambda connection, data, owned: opened.append(connection.begin(len(data))), budget=LIMIT)
    with connect(running.port) as sock:
        sock.sendall(frame(b"ask"))
        until(lambda: opened)

        def answer_and_look() -> None:
            server, connection = running.server, opened[0].connection
            opened[0].respond((frame(bytes(LIMIT // 2)),), LIMIT // 2 + 4)
            connection.settle()
            server.out_of_memory()
            server._relieve({connection: connection.sent})

        running.run(answer_and_look)
        assert receive(sock) == bytes(LIMIT // 2)
