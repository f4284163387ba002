"""kill -9 of a real process: everything it had acked is found again, byte for byte."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vlog.conftest import TestLoop
from tests.vlog.support import World, chunk, recovered_bytes

ROOT = Path(__file__).resolve().parent.parent.parent

WRITER = """
import asyncio, os, sys
from tests.vlog.support import World

async def main(data_dir, epoch):
    world = World.start(data_dir, asyncio.get_running_loop(), epoch=epoch,
        kproto__virtual__segment__bytes="4194304", kproto__journal__bytes="33554432")
    bases = [int(text) for text in sys.argv[3].split(",")]
    flush = [{}, {}, {"flush__messages": "1"}, {"flush__messages": "5"}]
    parts = [world.partition(index=i, base=bases[i], **flush[i]) for i in range(4)]
    sizes = [300, 20_000, 700, 1500]
    while True:
        for part, size in zip(parts, sizes):
            part.append(size + part.log_end_offset % 97)
            part.vlog.when_durable(part.vlog.end, lambda p=part, end=part.log_end_offset:
                os.write(1, b"%d %d\\n" % (p.index, end)))
        await asyncio.sleep(0)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def run_and_kill(data_dir: str, epoch: int, bases: list[int], lines: int) -> list[int]:
    """Acked end offset of each partition when the process was killed after ``lines`` acks."""
    arguments = [sys.executable, "-c", WRITER, data_dir, str(epoch), ",".join(map(str, bases))]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    acked = list(bases)
    try:
        for _ in range(lines):
            index, end = map(int, process.stdout.readline().split())
            acked[index] = end
    finally:
        process.send_signal(signal.SIGKILL)
    for line in process.stdout:
        if line.endswith(b"\n"):
            index, end = map(int, line.split())
            acked[index] = end
    process.stdout.close()
    process.wait()
    return acked


@pytest.mark.timeout(120)
def test_everything_acked_survives_kill_nine_again_and_again(tmp_path: Path, loop: TestLoop) -> None:
    data_dir = str(tmp_path)
    bases = [0, 0, 0, 0]
    sizes = [300, 20_000, 700, 1500]
    epoch_of: list[dict[int, int]] = [{} for _ in bases]
    for epoch, lines in enumerate((1, 40, 700, 1500), start=1):
        acked = run_and_kill(data_dir, epoch, bases, lines)
        reader = World.start(str(tmp_path / "reader"), loop, epoch=99)
        reader.data_dir = data_dir
        parts = [reader.partition(index=i) for i in range(4)]
        found = reader.recover(boot=bytes(range(1, 17)))
        assert not found.losses
        for i, part in enumerate(parts):
            chunks = recovered_bytes(reader, found, part)
            end = max(chunks, default=-1) + 1
            assert end >= acked[i], f"partition {i} lost acked chunks {end}..{acked[i]} in process {epoch}"
            for base in range(bases[i], end):
                epoch_of[i][base] = epoch
            for base, data in chunks.items():
                size = sizes[i] + base % 97
                assert data == chunk(base, size, epoch=epoch_of[i][base], fill=base + i)
            assert sorted(chunks) == list(range(end))
            bases[i] = end
