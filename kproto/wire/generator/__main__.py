"""``python -m kproto.wire.generator JAR...``: rewrite kproto/wire/generated (``--check``: only compare)."""

import argparse
import sys
from pathlib import Path

from kproto.wire.generator.modules import api_modules, data_modules
from kproto.wire.generator.schema import read_jars

DATA = (
    "ConsumerProtocolAssignment",
    "ConsumerProtocolSubscription",
    "GroupMetadataKey",
    "GroupMetadataValue",
    "OffsetCommitKey",
    "OffsetCommitValue",
)
"""Schemas inside other bytes that kproto reads or writes."""
TARGET = Path(__file__).parent.parent / "generated"


def generate(jars: list[str]) -> dict[str, str]:
    """File name -> source of everything in ``generated``."""
    messages = read_jars(jars)
    missing = [name for name in DATA if name not in messages]
    if missing:
        raise SystemExit(
            f"not in these jars: {', '.join(missing)} (name the kafka-group-coordinator jar too)"
        )
    return {**data_modules(messages, DATA), **api_modules(messages)}


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 if ``--check`` finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m kproto.wire.generator", description=__doc__)
    parser.add_argument("jars", nargs="+", metavar="JAR", help="kafka-clients and kafka-group-coordinator")
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    options = parser.parse_args(arguments)
    files = generate(options.jars)
    present = {path.name: path.read_text() for path in TARGET.glob("*.py")}
    stale = sorted(name for name in files.keys() | present.keys() if files.get(name) != present.get(name))
    if options.check:
        print("\n".join(stale) or "up to date")
        return 1 if stale else 0
    for name in present.keys() - files.keys():
        (TARGET / name).unlink()
    for name, text in files.items():
        (TARGET / name).write_text(text)
    print(f"{len(files)} modules, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
