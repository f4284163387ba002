"""Run many seeds: ``python -m tests.sim.simulate 1000``; ``... --seed 17`` to see one; ``... --mutate`` to
take rules out.

Prints every seed that fails and how to run it again, branch coverage of what is simulated, seconds per seed.
The exit code is 1 when a seed failed (with ``--mutate``: when a mutation that should be found was not).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory

MEASURED = ("log", "vlog", "replica", "controller")
COVERED_SEEDS = 60
"""Measuring coverage makes a seed several times slower."""
AGAIN = "make simulate SEED={}"


def one(seed: int) -> tuple[int, str, Counter[str], float]:
    """Seed, violation, what happened, seconds."""
    from .run import run_seed

    began = time.perf_counter()
    outcome = run_seed(seed)
    return seed, outcome.violation, outcome.cover, time.perf_counter() - began


def mutated(job: tuple[int, int]) -> str:
    """The violation of a seed with a rule taken out; empty when there is none."""
    from .mutations import MUTATIONS
    from .run import run_seed

    number, seed = job
    return run_seed(seed, MUTATIONS[number].replaced).violation


def simulate(seeds: Iterable[int]) -> bool:
    """All cores; True when all is well."""
    cover: Counter[str] = Counter()
    failed: list[tuple[int, str]] = []
    spent = 0.0
    count = 0
    with Pool(os.cpu_count()) as pool:
        for seed, violation, happened, seconds in pool.imap_unordered(one, seeds):
            count += 1
            spent += seconds
            cover.update(happened)
            if violation:
                failed.append((seed, violation))
                print(f"seed {seed}: {violation}\n    again: {AGAIN.format(seed)}", flush=True)
    print(", ".join(f"{what} {times}" for what, times in sorted(cover.items())))
    print(f"{count} seeds, {len(failed)} violations, {spent / max(count, 1):.2f} s of one core per seed")
    return not failed


def show(seed: int) -> bool:
    """What happens in one seed."""
    from .plan import plan_of
    from .run import run_seed

    outcome = run_seed(seed)
    print(plan_of(seed))
    print("\n".join(outcome.lines))
    print(outcome.violation or "no violation")
    return not outcome.violation


def mutate(seeds: int) -> bool:
    """Take each rule out for up to ``seeds`` seeds; True when all that must be found are."""
    from .mutations import MUTATIONS

    missed: list[str] = []
    with Pool(os.cpu_count()) as pool:
        for number, mutation in enumerate(MUTATIONS):
            tries = pool.imap(mutated, [(number, seed) for seed in range(seeds)])
            found = next(((seed, problem) for seed, problem in enumerate(tries) if problem), None)
            if found is None:
                missed += [mutation.name] if mutation.found else []
                print(f"{mutation.name} ({mutation.rules}): not found in {seeds} seeds", flush=True)
            else:
                print(f"{mutation.name} ({mutation.rules}): seed {found[0]}: {found[1][:150]}", flush=True)
    return not missed


def measure(seeds: Iterable[int]) -> None:
    """Branch coverage of the simulated packages."""
    import coverage

    from .run import run_seed

    root = Path(__file__).parents[2] / "kproto"
    measured = coverage.Coverage(
        branch=True, data_file=None, include=[f"{root}/{name}/*.py" for name in MEASURED]
    )
    measured.start()
    try:
        for seed in seeds:
            run_seed(seed)
    finally:
        measured.stop()
    with TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        measured.json_report(outfile=str(report))
        files = json.loads(report.read_text())["files"]
    for name in MEASURED:
        found = [file["summary"] for path, file in files.items() if Path(path).parent.name == name]
        taken = sum(one["covered_lines"] + one["covered_branches"] for one in found)
        wanted = sum(one["num_statements"] + one["num_branches"] for one in found)
        print(f"kproto/{name}: {100 * taken / max(wanted, 1):.0f} % of lines and branches")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="?", default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--mutate", action="store_true")
    parser.add_argument("--no-coverage", action="store_true")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.sim.simulate", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    if options.seed is not None:
        return not show(options.seed)
    if options.mutate:
        return not mutate(options.seeds)
    seeds = range(options.first, options.first + options.seeds)
    good = simulate(seeds)
    if not options.no_coverage:
        measure(seeds[:COVERED_SEEDS])
    return not good


if __name__ == "__main__":
    sys.exit(main())
