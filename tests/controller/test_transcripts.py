"""Recoveries as transcripts: what happens to a cluster, and what its controller then does, with times.

A line ``> command`` is executed; the lines behind it are what followed. Commands: ``brokers N``, ``topic NAME
PARTITIONS COPIES``, ``write BROKER SEQ START END [COPIES]`` (a virtual segment that all backups have up to
END), ``kill``, ``cut`` and ``start BROKER ...``, ``leave BROKER`` (in peace), ``wiped BROKER`` (start with an
empty directory), ``slow BROKER SECONDS`` (its answers), ``copying MINUTES [BROKER ...]`` (what each copy
takes there), ``limbo BROKER`` (after a power loss), ``accept`` (the loss of whatever is in limbo), ``stubborn
BROKER`` (never commits), ``unneeded BROKER`` (needs no closed virtual segment), ``delete TOPIC``,
``controller`` (starts anew), ``run SECONDS``, ``state``. With KPROTO_WRITE_TRANSCRIPTS=1 the files are
written instead of compared.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kproto.controller import rules

from .sim_cluster import SimCluster
from .virtual_time import run_virtual

FOLDER = Path(__file__).parent / "transcripts"
WRITE = os.environ.get("KPROTO_WRITE_TRANSCRIPTS") == "1"


class Scene:
    """Executes commands; every one returns when it is done, with its lines in ``cluster.lines``."""

    def __init__(self) -> None:
        self.cluster: SimCluster | None = None

    async def execute(self, line: str) -> list[str]:
        name, *words = line.split()
        if name == "brokers":
            self.cluster = SimCluster(int(words[0]))
            await self.cluster.start()
            self.cluster.lines.clear()
            return []
        assert self.cluster is not None
        command: Callable[..., Awaitable[None]] = getattr(self, f"do_{name}")
        await command(*words)
        lines, self.cluster.lines = self.cluster.lines, []
        return lines

    async def do_topic(self, name: str, partitions: str, copies: str) -> None:
        await self.cluster.topic(name, int(partitions), int(copies))

    async def do_write(self, node: str, seq: str, start: str, end: str, copies: str = "3") -> None:
        await self.cluster.write(int(node), int(seq), int(start), int(end), int(copies))

    async def do_kill(self, *nodes: str) -> None:
        self.cluster.kill(*map(int, nodes))

    async def do_leave(self, node: str) -> None:
        await self.cluster.leave(int(node))

    async def do_cut(self, *nodes: str) -> None:
        self.cluster.cut(*map(int, nodes))

    async def do_start(self, *nodes: str) -> None:
        for node in nodes:
            await self.cluster.restart(int(node))

    async def do_wiped(self, node: str) -> None:
        await self.cluster.restart(int(node), wiped=True)

    async def do_slow(self, node: str, seconds: str) -> None:
        self.cluster.brokers[int(node)].slow = float(seconds)

    async def do_copying(self, minutes: str, *nodes: str) -> None:
        for node in map(int, nodes or self.cluster.brokers):
            self.cluster.brokers[node].minutes = int(minutes)

    async def do_limbo(self, node: str) -> None:
        self.cluster.brokers[int(node)].directory.limbo = True

    async def do_accept(self) -> None:
        vsegs = [list(vseg.id) for vseg in self.cluster.controller.table.open_vsegs()]
        await self.cluster.controller.propose("accept_loss", {"vsegs": vsegs})

    async def do_stubborn(self, node: str) -> None:
        self.cluster.brokers[int(node)].recovers = False

    async def do_unneeded(self, node: str) -> None:
        controller = self.cluster.controller
        vsegs = [list(vseg) for vseg in controller.table.vsegs]
        args = {"vsegs": vsegs, "revision": controller.image.revision}
        await controller.proposals.handle(int(node), self.cluster.brokers[int(node)].epoch, "unneeded", args)

    async def do_delete(self, name: str) -> None:
        await self.cluster.delete(name)

    async def do_controller(self) -> None:
        await self.cluster.restart_controller()

    async def do_run(self, seconds: str) -> None:
        await self.cluster.sleep(float(seconds))

    async def do_state(self) -> None:
        cluster = self.cluster
        image = cluster.controller.image
        states: Counter[str] = Counter()
        for part in image.streamlets.values():
            for record in part:
                served = rules.leads(image, record, record.leader, record.sources[-1])
                states[f"on {record.leader}" if served else "nowhere"] += 1
        served_by = [f"{count} {where}" for where, count in sorted(states.items())]
        cluster.lines.append(f"streamlets: {', '.join(served_by) or 'none'}")
        seen = await cluster.controller.propose("recoveries", None)
        for row in seen["recoveries"]:
            times = [
                f"{key[:-2]} {row[key]}" for key in ("fenced_s", "sealed_s", "assigned_s", "committed_s")
            ]
            cluster.lines.append(
                f"recovery of {row['node']} ({row['cause']}): {row['vsegs']} vsegs, {row['bytes']} bytes, "
                f"{row['streamlets']} streamlets, {row['attempts']} attempts, {', '.join(times)}"
            )
        cluster.lines += [f"waiting: {line}" for line in seen["waiting"]]


async def replay(path: Path) -> list[str]:
    scene, actual = Scene(), []
    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            actual.append(line)
        elif line.startswith("> "):
            actual += [line, *await scene.execute(line[2:])]
    assert scene.cluster is not None
    await scene.cluster.stop()
    return actual


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    found: list[str] = []

    async def body() -> None:
        found.extend(await replay(path))

    run_virtual(body())
    if WRITE:
        path.write_text("\n".join(found) + "\n")
    assert found == path.read_text().splitlines()


def test_there_are_transcripts() -> None:
    assert len(list(FOLDER.glob("*.txt"))) >= 12
