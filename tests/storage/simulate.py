"""Run many seeds: ``python -m tests.storage.simulate 1000 --first 5000``; ``... --seed 17`` to see one.

Prints every seed that fails and how to run it again, what happened how often, and seconds per seed. The exit
code is 1 when a seed failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter

from tests.sim.simulate import simulate

MODULE = "tests.storage.simulate"
AGAIN = "make simulate-storage SEED={}"


def one(seed: int) -> tuple[int, str, Counter[str], float]:
    """Seed, violation, what happened, seconds."""
    from .run import run_seed

    began = time.process_time()
    outcome = run_seed(seed)
    return seed, outcome.violation, outcome.cover, time.process_time() - began


def show(seed: int) -> bool:
    """What happens in one seed."""
    from .plan import plan_of
    from .run import run_seed

    outcome = run_seed(seed)
    print(plan_of(seed))
    print("\n".join(outcome.lines))
    print(outcome.violation or "no violation")
    return not outcome.violation


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="?", default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        again = [sys.executable, "-m", MODULE, *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, "PYTHONHASHSEED": "0"})
    if options.seed is not None:
        return not show(options.seed)
    from .simulate import one as importable  # this module is __main__, which others do not have

    seeds = range(options.first, options.first + options.seeds)
    return not simulate(seeds, importable, AGAIN, "tests.storage.run")


if __name__ == "__main__":
    sys.exit(main())
