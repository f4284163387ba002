"""Requests between brokers that make no sense: fields are missing, of another kind, too large or too many, or
the bytes are no message at all. Who gets one says so, or ends the connection; nothing else happens (46).

They name an owner epoch that never was and never will be, so that one that happens to be sound harms nobody.

Besides: reads of what is not there of virtual segments that are, answers that are none, and pushes that
arrive once more, much later (6, 20).
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from kproto.metadata.vlogs import VsegId
from kproto.net.internal import Caller
from kproto.replica import messages
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError, encode_mixed

from .net import Replying

if TYPE_CHECKING:
    from .net import SimListener
    from .world import World

VSEG = VsegId(1 << 40, 1, 1)
PARTITIONS = [(bytes(16), 0), (bytes(range(16)), 3)]
REQUESTS: tuple[tuple[int, bytes], ...] = (
    (Api.PUSH, b""),
    (Api.PUSH, bytes(300)),
    (Api.PUSH, b"\1" + bytes(200)),
    (Api.SEAL, messages.Seal(VSEG, 0, "", False).encode()),
    (Api.SEAL, messages.Seal(VSEG, 0, "another store", False).encode()),
    (Api.STATE, messages.Look(VSEG, 0, PARTITIONS).encode()),
    (Api.READ, messages.Read(VSEG, 0, 100, PARTITIONS, 1000, [5, 6]).encode()),
    (Api.CATALOG, messages.Look(VSEG, 10, PARTITIONS).encode()),
    (Api.RAW, messages.Raw(VSEG, 0, 100).encode()),
    (Api.REPAIR, b'{"key": "vsegs/1/1/1", "record": "", "source": 1}'),
    (Api.HEARTBEAT, b'{"revision": 1}'),
    (Api.CHANGES, b'{"revision": 1, "wait_ms": 0}'),
    (Api.PROPOSE, b'{"kind": "recoveries", "args": {}}'),
    (Api.REGISTER, b"{}"),
    (Api.FORWARD, bytes(8)),
)
VALUES: tuple[Any, ...] = (
    *(None, -1, 1 << 70, 1.5, True, "x", [], [1, 2, 3], [[1]], [[1, 2, 3]], ["x"], {}, {"a": 1}),
    *([["00", 1]], [["00" * 16, -1]]),
)
STRANGE: dict[int, tuple[Any, ...]] = {
    Api.READ: (
        [],
        *({"next": 1, "chunks": rows} for rows in (3, [[1]], [["x"] * 4], [[0, 0, 1, 1 << 40]])),
        {"next": -1, "chunks": []},
    ),
    Api.STATE: ([], {"position": 0, "after": 0, "states": [[0, 0, 1, 1 << 40, 0]]}, {"position": "x"}),
}
ANSWERS: dict[int, tuple[bytes, ...]] = {
    **{api: tuple(b"".join(encode_mixed(one)) for one in some) for api, some in STRANGE.items()},
    Api.CATALOG: (b"[[1]]", b"{}", b"[", b""),
    Api.RAW: (b"",),
}
"""What no broker answers, but perhaps one with another version."""
SPOILED = 0.01


def spoiled(body: bytes, random: Random) -> bytes:
    """The same, and wrong somewhere."""
    try:
        fields = json.loads(body)
    except ValueError:
        return body[: random.randrange(len(body) + 1)]
    chance = random.random()
    if chance < 0.15 or not isinstance(fields, dict) or not fields:
        return body[: random.randrange(len(body) + 1)]
    if chance < 0.25:
        return json.dumps(random.choice(VALUES)).encode()
    name = random.choice(sorted(fields))
    if chance < 0.4:
        del fields[name]
    else:
        fields[name] = random.choice(VALUES)
    return json.dumps(fields).encode()


def send(world: World, listener: SimListener, random: Random) -> None:
    """One of these to a broker, from one that is a member or is not."""
    api, body = random.choice(REQUESTS)
    if random.random() < 0.8:
        body = spoiled(body, random)
    members = [(number, broker.epoch) for number, broker in world.image.brokers.items()]
    caller = Caller(*random.choice([(99, 1), *members]))
    found = listener.handlers.get(api)
    if found is None or not listener.accepting:
        return

    def reply(error: int, *_: object) -> None:
        world.count(f"rubbish: {InternalError(error).name}")

    with listener.process.here():
        try:
            found[0](caller, memoryview(body), Replying(reply))
        except WireError:
            world.count("rubbish: the connection ends")


def peek(world: World, listener: SimListener, random: Random) -> None:
    """Somebody wants to read more of a virtual segment than there is."""
    known = list(world.table.vsegs)
    found = listener.handlers.get(Api.READ)
    if not known or found is None or not listener.accepting:
        return
    body = messages.Read(random.choice(known), 0, 1 << 40, PARTITIONS, 1000).encode()

    def reply(error: int, *_: object) -> None:
        world.count(f"reads of too much: {InternalError(error).name}")

    with listener.process.here():
        found[0](Caller(99, 1), memoryview(body), Replying(reply))


def repeat(world: World, listener: SimListener, random: Random) -> None:
    """A push arrives once more. What is stored stays as it is (S10), what is fenced stays so (S7)."""
    network, number = world.network, listener.process.node
    known = [(caller, body) for node, caller, body in network.pushes if node == number]
    found = listener.handlers.get(Api.PUSH)
    if not known or found is None or not listener.accepting:
        return
    caller, body = random.choice(known)
    told = network.watch(number, caller, Api.PUSH, body) if network.watch is not None else None

    def reply(error: int, *pieces: bytes) -> None:
        world.count(f"repeated pushes: {InternalError(error).name}")
        if told is not None:
            told(error, b"".join(pieces))
        if error == InternalError.CONFLICT and not world.plan.rot:
            world.failed(f"6: n{number} has other bytes where it got a push before")

    with listener.process.here():
        found[0](caller, memoryview(bytearray(body)), Replying(reply))


def spoil(world: World, api: int, answer: bytes, random: Random) -> bytes:
    """Some answers to reads of copies are none."""
    if api not in ANSWERS or random.random() >= SPOILED:
        return answer
    world.count("answers that are none")
    return random.choice(ANSWERS[api])
