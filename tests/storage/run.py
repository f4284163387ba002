"""One seed from begin to end: lives of a process that end in some way, each followed by a start."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Sequence
from typing import Any

from tests.sim.parts import replaced
from tests.sim.run import OWN_FAULT, Outcome
from tests.sim.world import Violation

from .checks import Checks, End
from .disk import NEVER, Killed
from .node import Node
from .operations import Operations
from .plan import Plan, plan_of

STEPS = (3, 40, 250)
START_OPERATIONS = 30
"""About as many operations of the disk as a start, or a stop, takes."""
MOST_STARTS = 50


def run_seed(seed: int, instead: Sequence[tuple[Any, str, Any]] = (), plan: Plan | None = None) -> Outcome:
    """``instead``: what stands in the place of something of kproto."""
    node = Node(seed, plan or plan_of(seed))
    violation = ""
    gc.disable()
    try:
        with node.installed(), replaced(instead):
            Run(node).whole()
    except Violation as error:
        violation = str(error)
    except Exception as error:
        violation = f"{_whose(error)}: {error!r}"
        node.lines.append(traceback.format_exc())
    finally:
        gc.collect(0)
        gc.enable()
    return Outcome(seed, violation, node.cover, node.lines)


def _whose(error: Exception) -> str:
    """What kproto raises is a fault of kproto."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "S5: raised" if "/kproto/" in last.filename else OWN_FAULT


class Run:
    """Of a node: see `whole`."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.random = node.random
        self.checks = Checks(node)
        self.operations = Operations(node, self.checks)

    def whole(self) -> None:
        self._begin()
        self.checks.restarted(End.KILL)
        for _ in range(self.node.plan.lives):
            end = self._live()
            end = max(end, self._begin(deadly=0.2))
            if self.random.random() < 0.4:
                end = max(end, self._idle())
            self.operations.make_room()
            self.checks.restarted(end)
        self.checks.garbage()

    def _begin(self, deadly: float = 0.0) -> End:
        """Start until there is a process; how those ended that died meanwhile. The first one dies with
        probability ``deadly``."""
        end, node = End.CLEAN, self.node
        for _ in range(MOST_STARTS):
            if self.random.random() < deadly:
                node.disk.fuse = self.random.randrange(START_OPERATIONS)
            deadly /= 2
            try:
                node.start()
            except Killed:
                node.cover["killed in a start"] += 1
                end = max(end, self._die())
            except OSError as error:
                node.only_full(error)
                node.note("no room for a start")
                end = max(end, self._die())
                self.operations.make_room()
            else:
                node.disk.fuse = NEVER
                self.checks.look()
                return end
        raise Violation("S7: it never starts")

    def _die(self) -> End:
        self.checks.see_starts()
        if self.node.plan.power and self.random.random() < 0.5:
            self.node.lose_power()
            return End.POWER
        self.node.kill()
        return End.KILL

    def _live(self) -> End:
        """Until its end. Half of all processes are killed at some operation of the disk."""
        node, random = self.node, self.random
        steps = random.choice(STEPS)
        if random.random() < 0.5:
            node.disk.fuse = random.randrange(steps * 4)
        try:
            for _ in range(steps):
                self.operations.step()
            if random.random() < 0.3:
                node.disk.fuse = NEVER if random.random() < 0.7 else random.randrange(START_OPERATIONS)
                if random.random() < 0.7:
                    self.operations.make_room()
                return self._stop()
        except Killed:
            node.cover["killed at an operation"] += 1
        return self._die()

    def _stop(self) -> End:
        clean = self.node.stop()
        self.checks.stopped(clean)
        self.node.bury()
        self.node.machine.kill()
        return End.CLEAN if clean else End.KILL

    def _idle(self) -> End:
        """Nobody asks for anything for a while; then, by chance, another process finds what this one left."""
        node, random = self.node, self.random
        for _ in range(random.choice((0, 5, 40))):
            node.keep_house(random.choice((0.25, 2.0, 30.0)))
            node.spin()
        self.checks.look()
        what = random.random()
        if what < 0.5:
            return End.CLEAN
        end = self._stop() if what < 0.75 else self._die()
        return max(end, self._begin())
