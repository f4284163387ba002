from pathlib import Path

from kproto.wire.batch import hop
from tests.log.support import Log, batch, everything


def test_append_then_read(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    assert partition.append(batch(b"a", b"b")) == (0, -1, 0, False)
    assert partition.append(batch(b"c")) == (2, -1, 0, False)
    assert partition.high_watermark == 3
    data = everything(partition)
    assert [(f[0], f[2], f[12]) for _, _, f in hop(data)] == [(0, 0, 2), (2, 0, 1)]
