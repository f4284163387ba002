"""Run many seeds: ``python -m tests.sim.simulate 1000``; ``... --seed 17`` to see one; ``... --mutate`` to
take rules out.

Prints every seed that fails and how to run it again, seconds per seed, and branch coverage of what is
simulated: by `COVERED_SEEDS` seeds alone and, with ``--unit-tests``, by these and the unit tests of the same
packages. The exit code is 1 when a seed failed (with ``--mutate``: when a mutation that should be found was
not).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from multiprocessing import Pool
from multiprocessing.pool import ThreadPool
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .mutations import Mutation

MEASURED = ("log", "vlog", "replica", "controller")
NOT_MEASURED = ("vlog/dump.py", "vlog/worker.py")
"""What the simulator has no place for: `dump` shows journals to people, `worker` is a real thread."""
COVERED_SEEDS = 200
"""Measuring coverage makes a seed several times slower."""
UNIT_TESTS = ("log", "vlog", "replica", "controller", "rules")
KPROTO = Path(__file__).parents[2] / "kproto"
AGAIN = "make simulate SEED={}"


def one(seed: int) -> tuple[int, str, Counter[str], float]:
    """Seed, violation, what happened, seconds."""
    from .run import run_seed

    began = time.process_time()
    outcome = run_seed(seed)
    return seed, outcome.violation, outcome.cover, time.process_time() - began


def mutated(job: tuple[int, int]) -> str:
    """The violation of a seed with a rule taken out; empty when there is none, or one with the rule, too."""
    from .run import run_seed

    number, seed = job
    caught = run_seed(seed, _every_mutation()[number].replaced).caught
    return "" if caught and run_seed(seed).violation else caught


def _every_mutation() -> list[Mutation]:
    """Those that random search is for, then those that directed stories are for."""
    from tests.rules.directed import DIRECTED

    from .mutations import MUTATIONS

    return [*MUTATIONS, *DIRECTED]


def _workers(module: str = "tests.sim.run") -> Any:
    """A process for each core. All share what is imported here, and never look through it for garbage."""
    import_module(module)
    gc.freeze()
    return Pool(os.cpu_count())


def simulate(
    seeds: Iterable[int],
    one: Callable[[int], tuple[int, str, Counter[str], float]] = one,
    again: str = AGAIN,
    module: str = "tests.sim.run",
) -> bool:
    """All cores; True when all is well. ``one`` runs a seed with what is in ``module``, ``again`` says how to
    do that by hand."""
    cover: Counter[str] = Counter()
    failed: list[tuple[int, str]] = []
    spent = 0.0
    count = 0
    with _workers(module) as pool:
        for seed, violation, happened, seconds in pool.imap_unordered(one, seeds):
            count += 1
            spent += seconds
            cover.update(happened)
            if violation:
                failed.append((seed, violation))
                print(f"seed {seed}: {violation}\n    again: {again.format(seed)}", flush=True)
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
    mutations = _every_mutation()
    found: dict[str, int] = {}
    with _workers() as pool:
        for number, mutation in enumerate(mutations):
            first = _first_violation(pool, number, seeds)
            if first is not None:
                found[mutation.name] = first[0]
                told = f"seed {first[0]}: {first[1][:150]}"
            else:
                told = f"not found in {seeds} seeds" + f" ({mutation.masked})" * bool(mutation.masked)
            print(f"{mutation.name} ({mutation.rules}): {told}", flush=True)
    others = [mutation for mutation in mutations if mutation.name not in found]
    first_seeds = ", ".join(f"{name} (seed {seed})" for name, seed in found.items())
    print(f"Found by random search in seeds 0 to {seeds - 1} ({len(found)}): {first_seeds}")
    stories = [mutation.name for mutation in others if mutation.masked]
    print(f"Found by the directed stories of tests/rules alone ({len(stories)}): {', '.join(stories)}")
    missed = [mutation.name for mutation in others if not mutation.masked]
    print(f"Missed, and random search should find them ({len(missed)}): {', '.join(missed)}")
    return not missed


def _first_violation(pool: Any, number: int, seeds: int) -> tuple[int, str] | None:
    """The first seed that notices that a rule is not there, and what it says."""
    at_once = 2 * (os.cpu_count() or 1)
    for first in range(0, seeds, at_once):
        tried = range(first, min(first + at_once, seeds))
        for seed, problem in zip(
            tried, pool.map(mutated, [(number, seed) for seed in tried], 1), strict=True
        ):
            if problem:
                return seed, problem
    return None


def quietly(seeds: Iterable[int]) -> None:
    """Run seeds for their coverage."""
    from .run import run_seed

    for seed in seeds:
        run_seed(seed)


def measure(seeds: range, unit_tests: bool) -> None:
    """Branch coverage of the simulated packages: of everything from the first import on, in processes of
    their own."""
    with TemporaryDirectory() as folder:
        cores = os.cpu_count() or 1
        parts = [seeds[core::cores] for core in range(cores)]
        module = ("-m", "tests.sim.simulate", "--quietly")
        _covered(
            folder, [(*module, str(part.start), str(part.stop), str(part.step)) for part in parts if part]
        )
        _report(folder, f"{len(seeds)} seeds alone")
        if unit_tests:
            folders = [f"tests/{name}" for name in UNIT_TESTS]
            pytest = ("-m", "pytest", "-o", "addopts=", "-q", "-p", "no:cacheprovider", "-m", "not long")
            _covered(folder, [(*pytest, name) for name in folders])
            _report(folder, f"{len(seeds)} seeds and the unit tests")


def _covered(folder: str, commands: list[tuple[str, ...]]) -> None:
    """Run commands under coverage, as many at once as there are cores."""
    sources = ",".join(str(KPROTO / name) for name in MEASURED)
    omitted = ",".join(str(KPROTO / name) for name in NOT_MEASURED)
    run = [sys.executable, "-m", "coverage", "run", "--branch", "-p", f"--data-file={folder}/covered"]
    run += [f"--source={sources}", f"--omit={omitted}"]
    with ThreadPool(os.cpu_count()) as pool:
        for done in pool.imap(
            lambda one: subprocess.run([*run, *one], cwd=KPROTO.parent, check=False), commands
        ):
            assert done.returncode == 0, f"{done.args} ended with {done.returncode}"


def _report(folder: str, of_what: str) -> None:
    import coverage

    data = Path(folder)
    measured = coverage.Coverage(branch=True, data_file=str(data / "all"))
    measured.combine([str(file) for file in data.glob("covered.*")], keep=True)
    measured.json_report(outfile=str(data / "report.json"))
    files = json.loads((data / "report.json").read_text())["files"]
    print(f"Covered by {of_what}, {', '.join(f'kproto/{name}' for name in NOT_MEASURED)} left out:")
    for name in MEASURED:
        found = [file["summary"] for path, file in files.items() if Path(path).parent.name == name]
        branches = sum(one["covered_branches"] for one in found), sum(one["num_branches"] for one in found)
        lines = sum(one["covered_lines"] for one in found), sum(one["num_statements"] for one in found)
        print(
            f"  kproto/{name}: {100 * branches[0] / max(branches[1], 1):.0f} % of {branches[1]} branches, "
            f"{100 * lines[0] / max(lines[1], 1):.0f} % of {lines[1]} lines"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="?", default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--mutate", action="store_true")
    parser.add_argument("--no-coverage", action="store_true")
    parser.add_argument("--unit-tests", action="store_true")
    parser.add_argument("--quietly", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.sim.simulate", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    if options.quietly:
        quietly(range(*options.quietly))
        return 0
    if options.seed is not None:
        return not show(options.seed)
    if options.mutate:
        return not mutate(options.seeds)
    seeds = range(options.first, options.first + options.seeds)
    good = simulate(seeds)
    if not options.no_coverage:
        measure(seeds[:COVERED_SEEDS], options.unit_tests)
    return not good


if __name__ == "__main__":
    sys.exit(main())
